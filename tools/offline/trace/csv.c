/* SPDX-License-Identifier: Apache-2.0
 * A CSV reader over a view of the whole text. Fields point into the text, unless they hold doubled quotes.
 */
#include "tools/offline/trace/csv.h"

#include <string.h>

void bt_csv_init(struct bt_csv *csv, struct bt_str text, struct bt_arena *arena)
{
	*csv = (struct bt_csv){.text = text, .arena = arena, .next_line = 1};
	if (bt_str_starts(text, "\xef\xbb\xbf")) {
		csv->at = 3;
	}
}

static char peek(const struct bt_csv *csv, size_t ahead)
{
	return csv->at + ahead < csv->text.len ? csv->text.ptr[csv->at + ahead] : 0;
}

static bool at_end(const struct bt_csv *csv)
{
	return csv->at >= csv->text.len;
}

static bool at_line_end(const struct bt_csv *csv)
{
	return at_end(csv) || peek(csv, 0) == '\n' || (peek(csv, 0) == '\r' && peek(csv, 1) == '\n');
}

static void skip_line_end(struct bt_csv *csv)
{
	if (peek(csv, 0) == '\r') {
		csv->at++;
	}
	if (!at_end(csv)) {
		csv->at++;
	}
	csv->next_line++;
}

/* The text between the quotes with each doubled quote made one. */
static struct bt_str unquote(struct bt_csv *csv, size_t from, size_t to, bool doubled)
{
	struct bt_str raw = bt_str_sub(csv->text, from, to);

	if (!doubled) {
		return raw;
	}
	char *copy = bt_arena_copy(csv->arena, raw.ptr, raw.len);
	size_t n = 0;

	for (size_t i = 0; i < raw.len; i++) {
		copy[n++] = raw.ptr[i];
		i += raw.ptr[i] == '"';
	}
	return (struct bt_str){copy, n};
}

static struct bt_str quoted_field(struct bt_csv *csv)
{
	size_t from = ++csv->at;
	bool doubled = false;

	while (!at_end(csv)) {
		if (peek(csv, 0) == '"' && peek(csv, 1) != '"') {
			csv->at++;
			return unquote(csv, from, csv->at - 1, doubled);
		}
		if (peek(csv, 0) == '"') {
			doubled = true;
			csv->at++;
		}
		csv->next_line += peek(csv, 0) == '\n';
		csv->at++;
	}
	csv->error = "a quote is opened and never closed; close it, or double it to mean a quote";
	return (struct bt_str){0};
}

static struct bt_str plain_field(struct bt_csv *csv)
{
	size_t from = csv->at;

	while (!at_line_end(csv) && peek(csv, 0) != ',') {
		if (peek(csv, 0) == '"') {
			csv->error =
				"a quote inside a field that does not start with one; quote the whole field";
		}
		csv->at++;
	}
	return bt_str_sub(csv->text, from, csv->at);
}

static void add_field(struct bt_csv *csv, struct bt_str field)
{
	if (csv->field_n == BT_CSV_COLUMNS_MAX) {
		csv->error = "more than 64 columns";
		return;
	}
	csv->fields[csv->field_n++] = field;
}

enum bt_status bt_csv_next(struct bt_csv *csv)
{
	csv->field_n = 0;
	csv->error = NULL;
	while (!at_end(csv) && at_line_end(csv)) {
		skip_line_end(csv);
	}
	if (at_end(csv)) {
		return BT_NOT_FOUND;
	}
	csv->line = csv->next_line;
	while (true) {
		add_field(csv, peek(csv, 0) == '"' ? quoted_field(csv) : plain_field(csv));
		if (at_line_end(csv)) {
			break;
		}
		if (peek(csv, 0) != ',') {
			csv->error = "text behind a closing quote; put a comma between fields";
			plain_field(csv);
			continue;
		}
		csv->at++;
	}
	skip_line_end(csv);
	return csv->error ? BT_INVALID : BT_OK;
}
