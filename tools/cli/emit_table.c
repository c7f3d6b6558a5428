/* SPDX-License-Identifier: Apache-2.0
 * Lays a report out as aligned text and as CSV. Both see it as sections; the columns of a section of rows are
 * the paths of plain values in its rows, in order of first appearance.
 */
#include "engine/base/buf.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/base/utf8.h"
#include "tools/cli/emit_int.h"

#define PATH_BYTES 128

struct emit_table_column {
	char path[PATH_BYTES];	/* "cpu.mean" */
	char title[PATH_BYTES]; /* the column's title in tables */
	size_t width;
	bool numeric;
};

struct layout {
	struct emit_table_column *columns;
	size_t column_n, column_cap;
	bool for_table; /* without hidden members */
};

/* An iterator over a row's plain values. */
struct cursor {
	const struct bt_emit_value *row, *value;
};

/* Descends to the first value that is not an object; an empty object counts as a value. */
static const struct bt_emit_value *descend(const struct bt_emit_value *value)
{
	while (value->type == BT_EMIT_OBJECT && value->members.first) {
		value = value->members.first;
	}
	return value;
}

/* The next value of the row that is not an object, in order; NULL after the last. */
static const struct bt_emit_value *next_leaf(struct cursor *cursor)
{
	const struct bt_emit_value *value = cursor->value;

	while (value && value != cursor->row && !value->next) {
		value = value->parent;
	}
	cursor->value = value && value != cursor->row ? descend(value->next) : NULL;
	return cursor->value;
}

static const struct bt_emit_value *first_leaf(struct cursor *cursor, const struct bt_emit_value *row)
{
	*cursor = (struct cursor){row, row->members.first ? descend(row->members.first) : NULL};
	return cursor->value;
}

static void prepend(char *path, const char *part)
{
	char joined[PATH_BYTES];
	size_t n = strlen(part), rest = strlen(path);

	if (n == 0 || n + 1 + rest >= PATH_BYTES) {
		return;
	}
	memcpy(joined, part, n);
	if (rest > 0) {
		joined[n++] = '.';
	}
	memcpy(joined + n, path, rest + 1);
	memcpy(path, joined, n + rest + 1);
}

static void name_of(
	const struct bt_emit_value *value, const struct bt_emit_value *row, bool label, char *path)
{
	path[0] = 0;
	for (; value != row; value = value->parent) {
		prepend(path, label && value->label ? value->label : value->key ? value->key : "");
	}
	for (char *c = path; label && *c; c++) {
		if (*c == '.') {
			*c = ' ';
		}
	}
}

static bool is_hidden(const struct bt_emit_value *value, const struct bt_emit_value *row)
{
	for (; value != row; value = value->parent) {
		if (value->hidden) {
			return true;
		}
	}
	return false;
}

/* The value's column, created if necessary. Numbers are right-aligned. */
static struct emit_table_column *column_of(
	struct layout *layout, const struct bt_emit_value *value, const struct bt_emit_value *row)
{
	char path[PATH_BYTES];

	name_of(value, row, false, path);
	for (size_t i = 0; i < layout->column_n; i++) {
		if (strcmp(layout->columns[i].path, path) == 0) {
			return &layout->columns[i];
		}
	}
	layout->columns =
		bt_mem_grow(layout->columns, layout->column_n, &layout->column_cap, sizeof(*layout->columns));
	struct emit_table_column *column = &layout->columns[layout->column_n++];

	*column = (struct emit_table_column){.numeric = true};
	memcpy(column->path, path, PATH_BYTES);
	name_of(value, row, true, column->title);
	column->width = strlen(column->title);
	return column;
}

static void cell_text(const struct bt_emit_value *value, bool for_table, struct bt_buf *out)
{
	bt_buf_clear(out);
	if (for_table && value->type == BT_EMIT_STR) {
		bt_printable(out,
			value->str); /* a control character would break the table, or drive the terminal */
	} else {
		bt_emit_value_text(value, for_table, out);
	}
	if (for_table && value->unit) {
		bt_buf_printf(out, "%s%s", strcmp(value->unit, "%") == 0 ? "" : " ", value->unit);
	}
	if (for_table && value->type == BT_EMIT_NULL) {
		bt_buf_char(out, '-');
	}
}

static void measure(struct layout *layout, const struct bt_emit_value *array)
{
	struct bt_buf text = {0};
	struct cursor cursor;

	for (const struct bt_emit_value *row = array->members.first; row; row = row->next) {
		const struct bt_emit_value *value = first_leaf(&cursor, row);

		for (; value; value = next_leaf(&cursor)) {
			if (layout->for_table && is_hidden(value, row)) {
				continue;
			}
			struct emit_table_column *column = column_of(layout, value, row);

			cell_text(value, layout->for_table, &text);
			size_t width = bt_utf8_rune_n(bt_buf_view(&text));

			column->width = width > column->width ? width : column->width;
			column->numeric =
				column->numeric && (bt_emit_is_number(value) || value->type == BT_EMIT_NULL);
		}
	}
	bt_buf_fini(&text);
}

/* The row's value for the column, or NULL. */
static const struct bt_emit_value *find_cell(
	const struct bt_emit_value *row, const struct emit_table_column *column)
{
	struct cursor cursor;
	char path[PATH_BYTES];

	for (const struct bt_emit_value *value = first_leaf(&cursor, row); value;
		value = next_leaf(&cursor)) {
		name_of(value, row, false, path);
		if (strcmp(path, column->path) == 0) {
			return value;
		}
	}
	return NULL;
}

static void pad(struct bt_buf *out, size_t n)
{
	while (n-- > 0) {
		bt_buf_char(out, ' ');
	}
}

static void add_cell(struct bt_buf *out, struct bt_str text, size_t width, bool right, bool last)
{
	size_t fill = width > bt_utf8_rune_n(text) ? width - bt_utf8_rune_n(text) : 0;

	pad(out, right ? fill : 0);
	bt_buf_str(out, text);
	pad(out, right || last ? 0 : fill);
}

static const char *title_of(const struct bt_emit_value *value)
{
	return value->label ? value->label : value->key;
}

static void add_heading(struct bt_buf *out, const char *title, bool color)
{
	if (out->len > 0) {
		bt_buf_char(out, '\n');
	}
	bt_buf_text(out, color ? "\033[1m" : "");
	bt_printable(out, bt_str(title));
	bt_buf_text(out, color ? "\033[0m\n" : "\n");
}

static void add_titles(const struct layout *layout, bool color, struct bt_buf *out)
{
	bt_buf_text(out, color ? "\033[2m" : "");
	for (size_t i = 0; i < layout->column_n; i++) {
		pad(out, 2);
		add_cell(out, bt_str(layout->columns[i].title), layout->columns[i].width,
			layout->columns[i].numeric, i + 1 == layout->column_n);
	}
	bt_buf_text(out, color ? "\033[0m\n" : "\n");
}

static void add_rows(const struct bt_emit_value *section, bool color, struct bt_buf *out)
{
	struct layout layout = {.for_table = true};
	struct bt_buf text = {0};

	measure(&layout, section);
	for (const struct bt_emit_value *row = section->members.first; row; row = row->next) {
		if (row->heading) {
			add_heading(out, row->heading, color);
		}
		if (row->heading || row == section->members.first) {
			add_titles(&layout, color, out);
		}
		for (size_t i = 0; i < layout.column_n; i++) {
			const struct bt_emit_value *value = find_cell(row, &layout.columns[i]);

			bt_buf_clear(&text);
			if (value) {
				cell_text(value, true, &text);
			}
			pad(out, 2);
			add_cell(out, bt_buf_view(&text), layout.columns[i].width, layout.columns[i].numeric,
				i + 1 == layout.column_n);
		}
		bt_buf_char(out, '\n');
	}
	bt_buf_fini(&text);
	bt_mem_free(layout.columns);
}

/* Names and values of an object: the plain ones of the report itself, or all of a section. */
static void add_pairs(const struct bt_emit_value *object, bool only_plain, struct bt_buf *out)
{
	struct bt_buf text = {0};
	char name[PATH_BYTES];
	struct cursor cursor;
	size_t width = 0;

	for (int pass = 0; pass < 2; pass++) {
		const struct bt_emit_value *value = first_leaf(&cursor, object);

		for (; value; value = next_leaf(&cursor)) {
			if (is_hidden(value, object) || bt_emit_has_rows(value) ||
				(only_plain && (value->parent != object || !bt_emit_is_plain(value)))) {
				continue;
			}
			name_of(value, object, true, name);
			size_t n = bt_utf8_rune_n(bt_str(name));

			if (pass == 0) {
				width = n > width ? n : width;
				continue;
			}
			cell_text(value, true, &text);
			pad(out, only_plain ? 0 : 2);
			add_cell(out, bt_str(name), width, false, false);
			bt_buf_printf(out, "  %.*s\n", BT_STR_ARG(bt_buf_view(&text)));
		}
	}
	bt_buf_fini(&text);
}

void bt_emit_write_table(const struct bt_emit_value *root, bool color, struct bt_buf *out)
{
	struct bt_buf text = {0};

	add_pairs(root, true, out);
	for (const struct bt_emit_value *section = root->members.first; section; section = section->next) {
		if (section->hidden || bt_emit_is_plain(section) || !section->members.first) {
			continue;
		}
		if (!section->members.first->heading) {
			add_heading(out, title_of(section), color);
		}
		if (section->type == BT_EMIT_OBJECT) {
			add_pairs(section, false, out);
		} else if (bt_emit_has_rows(section)) {
			add_rows(section, color, out);
		} else {
			for (const struct bt_emit_value *item = section->members.first; item;
				item = item->next) {
				cell_text(item, true, &text);
				bt_buf_printf(out, "  %.*s\n", BT_STR_ARG(bt_buf_view(&text)));
			}
		}
	}
	bt_buf_fini(&text);
}

/* Lines and tabs stay, as readers of CSV expect; other control characters are escaped. */
static void add_csv_text(struct bt_buf *out, struct bt_str text)
{
	size_t from = 0;

	for (size_t i = 0; i <= text.len; i++) {
		if (i == text.len || text.ptr[i] == '"' || text.ptr[i] == '\n' || text.ptr[i] == '\t') {
			bt_printable(out, bt_str_sub(text, from, i));
			bt_buf_add(out, text.ptr + i, i < text.len);
			bt_buf_text(out, i < text.len && text.ptr[i] == '"' ? "\"" : "");
			from = i + 1;
		}
	}
}

static void add_csv_cell(struct bt_buf *out, struct bt_str text)
{
	bool quote = false;

	for (size_t i = 0; i < text.len; i++) {
		quote = quote || strchr(",\"\r\n", text.ptr[i]);
	}
	bt_buf_text(out, quote ? "\"" : "");
	add_csv_text(out, text);
	bt_buf_text(out, quote ? "\"" : "");
}

static void add_csv_pairs(
	const struct bt_emit_value *object, const char *section, bool only_plain, struct bt_buf *out)
{
	struct bt_buf text = {0};
	char name[PATH_BYTES];
	struct cursor cursor;

	bt_buf_text(out, "section,key,value\n");
	for (const struct bt_emit_value *value = first_leaf(&cursor, object); value;
		value = next_leaf(&cursor)) {
		if (bt_emit_has_rows(value) ||
			(only_plain && (value->parent != object || !bt_emit_is_plain(value)))) {
			continue;
		}
		name_of(value, object, false, name);
		cell_text(value, false, &text);
		add_csv_cell(out, bt_str(section));
		bt_buf_char(out, ',');
		add_csv_cell(out, bt_str(name));
		bt_buf_char(out, ',');
		add_csv_cell(out, bt_buf_view(&text));
		bt_buf_char(out, '\n');
	}
	bt_buf_fini(&text);
}

static void add_csv_rows(const struct bt_emit_value *section, struct bt_buf *out)
{
	struct layout layout = {.for_table = false};
	struct bt_buf text = {0};

	measure(&layout, section);
	bt_buf_text(out, "section");
	for (size_t i = 0; i < layout.column_n; i++) {
		bt_buf_char(out, ',');
		add_csv_cell(out, bt_str(layout.columns[i].path));
	}
	bt_buf_char(out, '\n');
	for (const struct bt_emit_value *row = section->members.first; row; row = row->next) {
		add_csv_cell(out, bt_str(section->key));
		for (size_t i = 0; i < layout.column_n; i++) {
			const struct bt_emit_value *value = find_cell(row, &layout.columns[i]);

			bt_buf_clear(&text);
			if (value) {
				cell_text(value, false, &text);
			}
			bt_buf_char(out, ',');
			add_csv_cell(out, bt_buf_view(&text));
		}
		bt_buf_char(out, '\n');
	}
	bt_buf_fini(&text);
	bt_mem_free(layout.columns);
}

void bt_emit_write_csv(const struct bt_emit_value *root, struct bt_buf *out)
{
	add_csv_pairs(root, "", true, out);
	for (const struct bt_emit_value *section = root->members.first; section; section = section->next) {
		if (bt_emit_is_plain(section) || !section->members.first) {
			continue;
		}
		bt_buf_char(out, '\n');
		if (bt_emit_has_rows(section)) {
			add_csv_rows(section, out);
		} else if (section->type == BT_EMIT_OBJECT) {
			add_csv_pairs(section, section->key, false, out);
		} else {
			bt_buf_text(out, "section,value\n");
			for (const struct bt_emit_value *item = section->members.first; item;
				item = item->next) {
				struct bt_buf text = {0};

				cell_text(item, false, &text);
				add_csv_cell(out, bt_str(section->key));
				bt_buf_char(out, ',');
				add_csv_cell(out, bt_buf_view(&text));
				bt_buf_char(out, '\n');
				bt_buf_fini(&text);
			}
		}
	}
}
