/* SPDX-License-Identifier: Apache-2.0
 * Builds a report's tree, and writes it as JSON and YAML.
 */
#include "tools/cli/emit.h"

#include <math.h>

#include "engine/base/arena.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/cli/doc_write.h"
#include "tools/cli/emit_int.h"

struct bt_emit {
	struct bt_arena arena;
	struct bt_emit_value *root, *open, *last;
};

struct bt_emit *bt_emit_create(void)
{
	struct bt_emit *emit = bt_mem_zalloc(1, sizeof(*emit));

	emit->root = bt_arena_zalloc(&emit->arena, sizeof(*emit->root));
	*emit->root = (struct bt_emit_value){.type = BT_EMIT_OBJECT};
	emit->open = emit->root;
	emit->last = emit->root;
	return emit;
}

void bt_emit_destroy(struct bt_emit *emit)
{
	if (!emit) {
		return;
	}
	bt_arena_fini(&emit->arena);
	bt_mem_free(emit);
}

static const char *copy(struct bt_emit *emit, const char *text)
{
	return text ? bt_arena_copy(&emit->arena, text, strlen(text)) : NULL;
}

static struct bt_emit_value *emit_add(struct bt_emit *emit, const char *key, enum bt_emit_type type)
{
	struct bt_emit_value *value = bt_arena_zalloc(&emit->arena, sizeof(*value));
	struct bt_emit_value *parent = emit->open;

	BT_REQUIRE((key == NULL) == (parent->type == BT_EMIT_ARRAY));
	*value = (struct bt_emit_value){.type = type, .key = copy(emit, key), .parent = parent};
	if (parent->members.last) {
		parent->members.last->next = value;
	} else {
		parent->members.first = value;
	}
	parent->members.last = value;
	emit->last = value;
	return value;
}

void bt_emit_begin_object(struct bt_emit *emit, const char *key)
{
	emit->open = emit_add(emit, key, BT_EMIT_OBJECT);
}

void bt_emit_begin_array(struct bt_emit *emit, const char *key)
{
	emit->open = emit_add(emit, key, BT_EMIT_ARRAY);
}

void bt_emit_end(struct bt_emit *emit)
{
	BT_REQUIRE(emit->open != emit->root);
	emit->open = emit->open->parent;
}

void bt_emit_str(struct bt_emit *emit, const char *key, struct bt_str value)
{
	struct bt_emit_value *member = emit_add(emit, key, BT_EMIT_STR);

	member->str = (struct bt_str){
		bt_arena_copy(&emit->arena, value.ptr ? value.ptr : "", value.len), value.len};
}

void bt_emit_text(struct bt_emit *emit, const char *key, const char *value)
{
	bt_emit_str(emit, key, bt_str(value));
}

void bt_emit_int(struct bt_emit *emit, const char *key, int64_t value)
{
	emit_add(emit, key, BT_EMIT_INT)->integer = value;
}

void bt_emit_real(struct bt_emit *emit, const char *key, double value, int digits)
{
	struct bt_emit_value *member = emit_add(emit, key, isfinite(value) ? BT_EMIT_REAL : BT_EMIT_NULL);

	member->real = value;
	member->digits = digits;
}

void bt_emit_bool(struct bt_emit *emit, const char *key, bool value)
{
	emit_add(emit, key, BT_EMIT_BOOL)->truth = value;
}

void bt_emit_null(struct bt_emit *emit, const char *key)
{
	emit_add(emit, key, BT_EMIT_NULL);
}

void bt_emit_label(struct bt_emit *emit, const char *label)
{
	emit->last->label = copy(emit, label);
}

void bt_emit_unit(struct bt_emit *emit, const char *unit)
{
	emit->last->unit = copy(emit, unit);
}

void bt_emit_count(struct bt_emit *emit, const char *key, const char *label, uint64_t n)
{
	bt_emit_int(emit, key, (int64_t)n);
	bt_emit_label(emit, label);
}

void bt_emit_hide(struct bt_emit *emit)
{
	emit->last->hidden = true;
}

void bt_emit_heading(struct bt_emit *emit, const char *heading)
{
	emit->last->heading = copy(emit, heading);
}

bt_emit_row *bt_emit_last_row(struct bt_emit *emit)
{
	return emit->open->members.last;
}

bt_emit_row *bt_emit_row_after(struct bt_emit *emit, bt_emit_row *row)
{
	return row ? row->next : emit->open->members.first;
}

static bool has_text(const struct bt_emit_value *row, const char *key, struct bt_str text)
{
	for (const struct bt_emit_value *member = row->members.first; member; member = member->next) {
		if (member->type == BT_EMIT_STR && strcmp(member->key, key) == 0) {
			return bt_str_eq(member->str, text);
		}
	}
	return false;
}

/* Moves a later row in front of first. */
static void move_before(struct bt_emit_value *array, struct bt_emit_value *first, struct bt_emit_value *row)
{
	struct bt_emit_value **link = &array->members.first, *before = first;

	while (before->next != row) {
		before = before->next;
	}
	before->next = row->next;
	array->members.last = row->next ? array->members.last : before;
	while (*link != first) {
		link = &(*link)->next;
	}
	row->next = first;
	*link = row;
	row->heading = first->heading;
	first->heading = NULL;
}

bool bt_emit_raise(struct bt_emit *emit, bt_emit_row *first, const struct bt_emit_choice *choice)
{
	struct bt_emit_value *row = first, *open = emit->open;

	while (row && !(has_text(row, choice->key, choice->value) &&
			      has_text(row, choice->second, choice->second_value))) {
		row = row->next;
	}
	if (!row) {
		return false;
	}
	emit->open = row;
	bt_emit_text(emit, choice->mark_key, choice->mark);
	bt_emit_label(emit, "");
	emit->open = open;
	if (row != first) {
		move_before(row->parent, first, row);
	}
	return true;
}

enum bt_emit_format bt_emit_format_of(const char *word)
{
	switch (*word) {
	case 'j':
		return BT_EMIT_JSON;
	case 'y':
		return BT_EMIT_YAML;
	case 'c':
		return BT_EMIT_CSV;
	default:
		return BT_EMIT_TABLE;
	}
}

/* One value, without its members. */
static void write_value(struct bt_doc *doc, const struct bt_emit_value *value)
{
	if (value->key) {
		bt_doc_key(doc, value->key);
	}
	switch (value->type) {
	case BT_EMIT_OBJECT:
		bt_doc_begin_object(doc);
		break;
	case BT_EMIT_ARRAY:
		bt_doc_begin_array(doc);
		break;
	case BT_EMIT_STR:
		bt_doc_str(doc, value->str);
		break;
	case BT_EMIT_INT:
		bt_doc_int(doc, value->integer);
		break;
	case BT_EMIT_REAL:
		bt_doc_real(doc, value->real, value->digits);
		break;
	case BT_EMIT_BOOL:
		bt_doc_bool(doc, value->truth);
		break;
	case BT_EMIT_NULL:
		bt_doc_null(doc);
		break;
	}
}

/* Walks the tree in order, with parent links instead of recursion. */
static void write_document(const struct bt_emit_value *root, enum bt_doc_style style, struct bt_buf *out)
{
	const struct bt_emit_value *value = root;
	struct bt_doc doc;

	bt_doc_init(&doc, style, out);
	while (value) {
		write_value(&doc, value);
		if (!bt_emit_is_plain(value) && value->members.first) {
			value = value->members.first;
			continue;
		}
		if (!bt_emit_is_plain(value)) {
			bt_doc_end(&doc);
		}
		while (value && !value->next) {
			value = value->parent;
			if (value) {
				bt_doc_end(&doc);
			}
		}
		value = value ? value->next : NULL;
	}
	if (style != BT_DOC_YAML) {
		bt_buf_char(out, '\n');
	}
}

void bt_emit_write(
	const struct bt_emit *emit, enum bt_emit_format format, bool color, struct bt_output *output)
{
	struct bt_buf out = {0};

	BT_REQUIRE(emit->open == emit->root);
	switch (format) {
	case BT_EMIT_TABLE:
		bt_emit_write_table(emit->root, color, &out);
		break;
	case BT_EMIT_CSV:
		bt_emit_write_csv(emit->root, &out);
		break;
	case BT_EMIT_JSON:
		write_document(emit->root, BT_DOC_JSON_PRETTY, &out);
		break;
	case BT_EMIT_YAML:
		write_document(emit->root, BT_DOC_YAML, &out);
		break;
	}
	bt_output_add(output, out.ptr, out.len);
	bt_buf_fini(&out);
}
