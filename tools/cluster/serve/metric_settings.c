/* SPDX-License-Identifier: Apache-2.0
 * Flags about metrics. Source: pflag's string_slice.go and string_to_string.go, v1.0.
 */
#include "tools/cluster/serve/metric_settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/format/json.h"
#include "tools/format/yaml.h"

#define LABEL_NAME  "[a-zA-Z_][a-zA-Z0-9_]*"
#define METRIC_NAME "[a-zA-Z_:][a-zA-Z0-9_:]*"

static bool is_name(struct bt_str text, bool colons)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && !(colons && c == ':') && !(i > 0 && c >= '0' && c <= '9')) {
			return false;
		}
	}
	return text.len > 0;
}

static void add_item(struct bt_str_list *list, struct bt_arena *arena, struct bt_str item)
{
	struct bt_str *items = bt_arena_alloc(arena, (list->n + 1) * sizeof(*items), _Alignof(struct bt_str));

	for (uint32_t i = 0; i < list->n; i++) {
		items[i] = list->items[i];
	}
	items[list->n] = item;
	*list = (struct bt_str_list){items, list->n + 1, true};
}

static bool has_item(const struct bt_str_list *list, struct bt_str item)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_eq(list->items[i], item)) {
			return true;
		}
	}
	return false;
}

bool bt_metric_settings_disable(struct bt_metric_settings *settings, struct bt_arena *arena,
	struct bt_str text, struct bt_buf *out_error)
{
	for (size_t at = 0, end; text.len && at <= text.len; at = end + 1) {
		end = bt_str_find(text, ',', at);
		struct bt_str name = bt_str_sub(text, at, end);

		if (!is_name(name, true)) {
			bt_buf_printf(out_error,
				"must be fully qualified metric names matching \"^" METRIC_NAME
				"$\", got \"%.*s\"",
				BT_STR_ARG(name));
			return false;
		}
		if (!has_item(&settings->disabled, name)) {
			add_item(&settings->disabled, arena, name);
		}
	}
	return true;
}

/* ---- values of labels ---- */

/* The emptied allowance of a metric's label. */
static struct bt_label_allowance *begin_allowance(struct bt_metric_settings *settings, struct bt_arena *arena,
	struct bt_str metric, struct bt_str label)
{
	uint32_t n = settings->allowance_n;

	for (uint32_t i = 0; i < n; i++) {
		struct bt_label_allowance *allowance = &settings->allowances[i];

		if (bt_str_eq(allowance->metric, metric) && bt_str_eq(allowance->label, label)) {
			allowance->values = (struct bt_str_list){0};
			return allowance;
		}
	}
	struct bt_label_allowance *all =
		bt_arena_alloc(arena, (n + 1) * sizeof(*all), _Alignof(struct bt_label_allowance));

	for (uint32_t i = 0; i < n; i++) {
		all[i] = settings->allowances[i];
	}
	all[n] = (struct bt_label_allowance){.metric = metric, .label = label};
	settings->allowances = all;
	settings->allowance_n = n + 1;
	return &all[n];
}

static bool add_allowance(struct bt_metric_settings *settings, struct bt_arena *arena, struct bt_str key,
	struct bt_str values, struct bt_buf *out_error)
{
	size_t comma = bt_str_find(key, ',', 0);
	struct bt_str metric = bt_str_sub(key, 0, comma), label = {0};

	if (comma < key.len) {
		label = bt_str_sub(key, comma + 1, key.len);
	}
	if (!is_name(metric, true) || !is_name(label, false)) {
		bt_buf_printf(out_error,
			"must have keys with format `metricName,labelName` where metricName matches "
			"\"" METRIC_NAME "\" and labelName matches \"" LABEL_NAME "\", got \"%.*s\"",
			BT_STR_ARG(key));
		return false;
	}
	struct bt_label_allowance *allowance = begin_allowance(settings, arena, metric, label);

	for (size_t at = 0, end; at <= values.len; at = end + 1) {
		end = bt_str_find(values, ',', at);
		add_item(&allowance->values, arena, bt_str_sub(values, at, end));
	}
	return true;
}

static bool add_pair(struct bt_metric_settings *settings, struct bt_arena *arena, struct bt_str pair,
	struct bt_buf *out_error)
{
	size_t equals = bt_str_find(pair, '=', 0);

	if (equals >= pair.len) {
		bt_buf_printf(out_error, "%.*s must be formatted as key=value", BT_STR_ARG(pair));
		return false;
	}
	return add_allowance(settings, arena, bt_str_sub(pair, 0, equals),
		bt_str_sub(pair, equals + 1, pair.len), out_error);
}

static struct bt_str trim_quotes(struct bt_str text)
{
	while (text.len && text.ptr[0] == '"') {
		text = bt_str_sub(text, 1, text.len);
	}
	while (text.len && text.ptr[text.len - 1] == '"') {
		text.len--;
	}
	return text;
}

/* Takes the next comma-separated field off a text: a quoted one, or up to the next comma. */
static bool next_field(
	struct bt_str *text, struct bt_arena *arena, struct bt_str *out_field, struct bt_buf *out_error)
{
	size_t end = 0, n = 0;

	if (!bt_str_starts(*text, "\"")) {
		end = bt_str_find(*text, ',', 0);
		*out_field = bt_str_sub(*text, 0, end);
		*text = bt_str_sub(*text, end < text->len ? end + 1 : end, text->len);
		if (bt_str_find(*out_field, '"', 0) < out_field->len) {
			bt_buf_text(out_error, "bare \" in non-quoted field");
			return false;
		}
		return true;
	}
	char *bytes = bt_arena_alloc(arena, text->len, 1);

	for (end = 1; end < text->len; end++) {
		bool quote = text->ptr[end] == '"',
		     twice = quote && end + 1 < text->len && text->ptr[end + 1] == '"';

		if (quote && !twice) {
			break;
		}
		bytes[n++] = text->ptr[end];
		end += twice;
	}
	if (end >= text->len || (end + 1 < text->len && text->ptr[end + 1] != ',')) {
		bt_buf_text(out_error, "extraneous or missing \" in quoted-field");
		return false;
	}
	*out_field = (struct bt_str){bytes, n};
	*text = bt_str_sub(*text, end + 2 < text->len ? end + 2 : text->len, text->len);
	return true;
}

/* Source: stringToStringValue.Set: with one equals sign it is one pair, whatever its commas. */
bool bt_metric_settings_allow(struct bt_metric_settings *settings, struct bt_arena *arena, struct bt_str text,
	struct bt_buf *out_error)
{
	size_t first = bt_str_find(text, '=', 0);
	struct bt_str field;

	if (first >= text.len || bt_str_find(text, '=', first + 1) >= text.len) {
		return add_pair(settings, arena, trim_quotes(text), out_error);
	}
	while (text.len) {
		if (!next_field(&text, arena, &field, out_error) ||
			!add_pair(settings, arena, field, out_error)) {
			return false;
		}
	}
	return true;
}

/* ---- the same from a file ---- */

static bool read_file(const char *path, struct bt_buf *out, struct bt_buf *out_error)
{
	FILE *file = fopen(path, "re");
	size_t n = 1;

	while (file && n && !ferror(file)) {
		bt_buf_reserve(out, 4096);
		n = fread(out->ptr + out->len, 1, 4096, file);
		out->len += n;
	}
	bool good = file && !ferror(file);

	if (!good) {
		bt_buf_printf(out_error, "failed to read allow list manifest: %s: %s", path, strerror(errno));
	}
	if (file) {
		fclose(file);
	}
	return good;
}

static bool read_mapping(struct bt_metric_settings *settings, struct bt_arena *arena, struct bt_str json,
	struct bt_buf *out_error)
{
	struct bt_json *cursor = bt_json_create();
	struct bt_str key, values;

	bt_json_begin(cursor, json, arena);
	bool good = bt_json_enter_object(cursor);

	if (!good) {
		bt_buf_text(out_error, "failed to parse allow list manifest: it is no mapping");
	}
	while (good && bt_json_next_key(cursor, &key)) {
		struct bt_str name = {bt_arena_copy(arena, key.ptr, key.len), key.len};

		good = bt_json_string(cursor, &values);
		if (!good) {
			bt_buf_printf(out_error,
				"failed to parse allow list manifest: the value of %.*s is no text: write "
				"\"METRIC,LABEL\": \"VALUE,VALUE\"",
				BT_STR_ARG(name));
			break;
		}
		struct bt_str kept = {
			bt_arena_copy(arena, values.len ? values.ptr : "", values.len), values.len};

		good = add_allowance(settings, arena, name, kept, out_error);
	}
	bt_json_destroy(cursor);
	return good;
}

bool bt_metric_settings_allow_file(struct bt_metric_settings *settings, struct bt_arena *arena,
	const char *path, struct bt_buf *out_error)
{
	struct bt_yaml *yaml = bt_yaml_create();
	struct bt_buf text = {0};
	struct bt_str json;
	bool good = read_file(path, &text, out_error);

	bt_yaml_begin(yaml, bt_buf_view(&text));
	enum bt_status status = good ? bt_yaml_next(yaml, &json) : BT_NOT_FOUND;

	if (status == BT_OK) {
		good = read_mapping(settings, arena, json, out_error);
	} else if (status != BT_NOT_FOUND) {
		const struct bt_yaml_error *bad = bt_yaml_error(yaml);

		bt_buf_printf(out_error, "failed to parse allow list manifest: %s:%zu: %s", path, bad->line,
			bad->message);
		good = false;
	}
	bt_yaml_destroy(yaml);
	bt_buf_fini(&text);
	return good;
}

bool bt_metric_settings_show_hidden(
	const struct bt_release *release, struct bt_str version, struct bt_buf *out_error)
{
	const char *before = bt_release_binary(release)->before;
	bool good = !version.len || bt_str_is(version, before);

	if (!good) {
		bt_buf_printf(out_error,
			"must be omitted or have the value '%s'; only the previous minor version is allowed",
			before);
	}
	return good;
}

/* ---- queries ---- */

bool bt_metric_is_disabled(const struct bt_metric_settings *settings, const char *metric)
{
	return has_item(&settings->disabled, bt_str(metric));
}

bool bt_metric_is_allowanced(const struct bt_metric_settings *settings, const char *metric)
{
	for (uint32_t i = 0; i < settings->allowance_n; i++) {
		if (bt_str_is(settings->allowances[i].metric, metric)) {
			return true;
		}
	}
	return false;
}

bool bt_metric_allows(
	const struct bt_metric_settings *settings, const char *metric, const char *label, struct bt_str value)
{
	for (uint32_t i = 0; i < settings->allowance_n; i++) {
		const struct bt_label_allowance *allowance = &settings->allowances[i];

		if (bt_str_is(allowance->metric, metric) && bt_str_is(allowance->label, label)) {
			return has_item(&allowance->values, value);
		}
	}
	return true;
}
