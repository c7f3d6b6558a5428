/* SPDX-License-Identifier: Apache-2.0
 * Encodes structs as JSON.
 */
#include "tools/format/encode.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/duration.h"
#include "engine/base/quote.h"
#include "tools/format/base64.h"
#include "tools/format/object_schema.h"
#include "tools/format/time.h"

#define MEMBER_MAX	 64
#define FLOAT_DIGITS_MAX 9 /* enough for any float */

/* The output, and its string style. */
struct encode_writer {
	struct bt_buf *out;
	void (*quote)(struct bt_buf *out, struct bt_str text);
	const struct bt_encode_go *go; /* NULL: an object of the API */
};

static void write_struct(const struct bt_schema *schema, const void *in, const struct encode_writer *w);

/* ---- values ---- */

static void write_time(int64_t ns, struct bt_buf *out)
{
	char text[BT_TIME_TEXT_MAX];

	bt_buf_char(out, '"');
	bt_buf_add(out, text, bt_time_text(ns, text));
	bt_buf_char(out, '"');
}

static void write_quantity(const struct bt_quantity *quantity, struct bt_buf *out)
{
	char text[BT_QUANTITY_TEXT_MAX];
	size_t n = bt_quantity_text(*quantity, text);

	bt_buf_char(out, '"');
	bt_buf_add(out, text, n);
	bt_buf_char(out, '"');
}

/* The fewest digits that read back as the same number, as Go writes them. */
static void write_float(float value, struct bt_buf *out)
{
	char text[32];
	int digits = 1;

	do {
		snprintf(text, sizeof(text), "%.*e", digits - 1, (double)value);
	} while (strtof(text, NULL) != value && ++digits < FLOAT_DIGITS_MAX);
	int exponent = atoi(strchr(text, 'e') + 1);

	if (exponent < -6 || exponent >= 21) {
		bt_buf_text(out, text);
	} else {
		bt_buf_printf(
			out, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0, strtod(text, NULL));
	}
}

static void write_bytes(struct bt_str bytes, struct bt_buf *out)
{
	bt_buf_char(out, '"');
	bt_base64_encode(bytes, out);
	bt_buf_char(out, '"');
}

static void write_duration(int64_t ns, struct bt_buf *out)
{
	bt_buf_char(out, '"');
	bt_duration_text(out, ns);
	bt_buf_char(out, '"');
}

static void write_bool(bool value, struct bt_buf *out)
{
	bt_buf_text(out, value ? "true" : "false");
}

static void comma(uint32_t ix, struct bt_buf *out)
{
	if (ix) {
		bt_buf_char(out, ',');
	}
}

static void key(uint32_t ix, struct bt_str name, const struct encode_writer *w)
{
	comma(ix, w->out);
	w->quote(w->out, name);
	bt_buf_char(w->out, ':');
}

static void write_str_list(const struct bt_str_list *list, const struct encode_writer *w)
{
	bt_buf_char(w->out, '[');
	for (uint32_t i = 0; i < list->n; i++) {
		comma(i, w->out);
		w->quote(w->out, list->items[i]);
	}
	bt_buf_char(w->out, ']');
}

static void write_keys(const struct bt_str_list *list, const struct encode_writer *w)
{
	bt_buf_char(w->out, '{');
	for (uint32_t i = 0; i < list->n; i++) {
		key(i, list->items[i], w);
		bt_buf_text(w->out, "null");
	}
	bt_buf_char(w->out, '}');
}

static void write_names(
	const struct bt_schema *schema, const struct bt_str_list *list, const struct encode_writer *w)
{
	bt_buf_char(w->out, '[');
	for (uint32_t i = 0; i < list->n; i++) {
		comma(i, w->out);
		write_struct(schema, &list->items[i], w);
	}
	bt_buf_char(w->out, ']');
}

static void write_str_map(const struct bt_str_map *map, const struct encode_writer *w)
{
	bt_buf_char(w->out, '{');
	for (uint32_t i = 0; i < map->n; i++) {
		key(i, map->items[i].key, w);
		w->quote(w->out, map->items[i].value);
	}
	bt_buf_char(w->out, '}');
}

static void write_resources(const struct bt_resource_list *list, const struct encode_writer *w)
{
	bt_buf_char(w->out, '{');
	for (uint32_t i = 0; i < list->n; i++) {
		key(i, list->items[i].name, w);
		write_quantity(&list->items[i].quantity, w->out);
	}
	bt_buf_char(w->out, '}');
}

/* ---- fields ---- */

static uint32_t number_at(const char *in, uint32_t member)
{
	uint32_t n;

	memcpy(&n, in + member - 1, sizeof(n));
	return n;
}

static const char *items_at(const char *in, const struct bt_field *field)
{
	const char *items;

	memcpy(&items, in + field->offset, sizeof(items));
	return items;
}

/* One of a list of plain values. */
static void write_plain(enum bt_field_type type, const char *at, const struct encode_writer *w)
{
	switch (type) {
	case BT_FIELD_INTS:
		bt_buf_int(w->out, *(const int64_t *)(const void *)at);
		break;
	case BT_FIELD_BOOLS:
		write_bool(*(const bool *)at, w->out);
		break;
	default:
		write_quantity((const struct bt_quantity *)(const void *)at, w->out);
		break;
	}
}

static void write_array(const struct bt_field *field, const char *in, const struct encode_writer *w)
{
	const char *items = items_at(in, field);
	uint32_t n = number_at(in, field->count);
	size_t plain_bytes = bt_field_plain_bytes(field->type);

	bt_buf_char(w->out, '[');
	for (uint32_t i = 0; i < n; i++) {
		comma(i, w->out);
		if (plain_bytes) {
			write_plain(field->type, items + i * plain_bytes, w);
		} else {
			write_struct(field->schema, items + (size_t)i * field->schema->bytes, w);
		}
	}
	bt_buf_char(w->out, ']');
}

/* The structs of a map begin with their key. */
static void write_map(const struct bt_field *field, const char *in, const struct encode_writer *w)
{
	const char *items = items_at(in, field);
	uint32_t n = number_at(in, field->count);

	bt_buf_char(w->out, '{');
	for (uint32_t i = 0; i < n; i++) {
		const char *item = items + (size_t)i * field->schema->bytes;
		struct bt_str name;

		memcpy(&name, item, sizeof(name));
		key(i, name, w);
		write_struct(field->schema, item, w);
	}
	bt_buf_char(w->out, '}');
}

/* Writes the items of a list or map. */
static void write_items(const struct bt_field *field, const char *in, const struct encode_writer *w)
{
	const void *at = in + field->offset;

	switch (field->type) {
	case BT_FIELD_RESOURCES:
		write_resources(at, w);
		break;
	case BT_FIELD_STR_LIST:
		write_str_list(at, w);
		break;
	case BT_FIELD_STR_MAP:
		write_str_map(at, w);
		break;
	case BT_FIELD_KEYS:
		write_keys(at, w);
		break;
	case BT_FIELD_NAMES:
		write_names(field->schema, at, w);
		break;
	case BT_FIELD_ARRAY:
	case BT_FIELD_QUANTITIES:
	case BT_FIELD_INTS:
	case BT_FIELD_BOOLS:
		write_array(field, in, w);
		break;
	case BT_FIELD_MAP:
		write_map(field, in, w);
		break;
	default:
		break;
	}
}

static void write_value(const struct bt_schema *schema, const struct bt_field *field, const char *in,
	const struct encode_writer *w)
{
	const void *at = in + field->offset;

	switch (field->type) {
	case BT_FIELD_STR:
		w->quote(w->out, *(const struct bt_str *)at);
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_TRUE:
		write_bool(*(const bool *)at, w->out);
		break;
	case BT_FIELD_IS:
		bt_quote_json(w->out, bt_str(field->word));
		break;
	case BT_FIELD_I32:
		bt_buf_int(w->out, *(const int32_t *)at);
		break;
	case BT_FIELD_I64:
		bt_buf_int(w->out, *(const int64_t *)at);
		break;
	case BT_FIELD_TIME:
		write_time(*(const int64_t *)at, w->out);
		break;
	case BT_FIELD_QUANTITY:
		write_quantity(at, w->out);
		break;
	case BT_FIELD_OBJECT:
		write_struct(field->schema, at, w);
		break;
	case BT_FIELD_RAW:
		if (w->go) {
			w->go->raw(in, w->go, w->out);
		} else {
			bt_buf_str(w->out, *(const struct bt_str *)at);
		}
		break;
	case BT_FIELD_CUSTOM:
		bt_buf_text(w->out, field->word);
		break;
	case BT_FIELD_F32:
		write_float(*(const float *)at, w->out);
		break;
	case BT_FIELD_DURATION:
		write_duration(*(const int64_t *)at, w->out);
		break;
	case BT_FIELD_BYTES:
		write_bytes(*(const struct bt_str *)at, w->out);
		break;
	case BT_FIELD_META:
		w->quote(w->out,
			bt_str(bt_str_is(field->name, "kind") ? schema->go_name : w->go->api_version));
		break;
	default:
		write_items(field, in, w);
		break;
	}
}

/* Does the member differ from the result of decoding an absent one? Objects are checked by their members. */
static bool is_set(const struct bt_field *field, const char *in, const struct bt_encode_go *go)
{
	const void *at = in + field->offset;

	switch (field->type) {
	case BT_FIELD_RAW:
		return go ? go->raw(in, go, NULL) : ((const struct bt_str *)at)->len > 0;
	case BT_FIELD_STR:
	case BT_FIELD_BYTES:
		return ((const struct bt_str *)at)->len > 0;
	case BT_FIELD_BOOL:
	case BT_FIELD_TRUE:
	case BT_FIELD_IS:
	case BT_FIELD_CUSTOM:
		return *(const bool *)at;
	case BT_FIELD_I32:
		return *(const int32_t *)at != 0;
	case BT_FIELD_I64:
	case BT_FIELD_TIME:
	case BT_FIELD_DURATION:
		return *(const int64_t *)at != 0;
	case BT_FIELD_F32:
		return *(const float *)at != 0;
	case BT_FIELD_QUANTITY:
		return ((const struct bt_quantity *)at)->nano != 0;
	case BT_FIELD_RESOURCES:
		return ((const struct bt_resource_list *)at)->set ||
		       ((const struct bt_resource_list *)at)->n > 0;
	case BT_FIELD_STR_LIST:
	case BT_FIELD_KEYS:
	case BT_FIELD_NAMES:
		return (!go && ((const struct bt_str_list *)at)->set) ||
		       ((const struct bt_str_list *)at)->n > 0;
	case BT_FIELD_STR_MAP:
		return (!go && ((const struct bt_str_map *)at)->set) ||
		       ((const struct bt_str_map *)at)->n > 0;
	case BT_FIELD_ARRAY:
	case BT_FIELD_QUANTITIES:
	case BT_FIELD_INTS:
	case BT_FIELD_BOOLS:
	case BT_FIELD_MAP:
		return number_at(in, field->count) > 0;
	case BT_FIELD_OBJECT:
		return true;
	case BT_FIELD_META:
		return go;
	case BT_FIELD_IGNORED:
		break;
	}
	return false;
}

static bool is_there(const struct bt_field *field, const char *in, const struct bt_encode_go *go)
{
	bool flag;

	if (field->type == BT_FIELD_IGNORED) {
		return false;
	}
	if (go && go->zeroes && field->always) {
		return true;
	}
	if (field->flag && !(go && field->type == BT_FIELD_ARRAY)) {
		memcpy(&flag, in + field->flag - 1, sizeof(flag));
		return flag;
	}
	return field->tag ? number_at(in, field->tag) == field->tag_value : is_set(field, in, go);
}

static int by_name(const void *a, const void *b)
{
	return bt_str_cmp(
		(*(const struct bt_field *const *)a)->name, (*(const struct bt_field *const *)b)->name);
}

/* Appends a member unless it is empty, after ix others. Returns whether it was appended. */
static bool write_member(const struct bt_schema *schema, const struct bt_field *field, const char *in,
	uint32_t ix, const struct encode_writer *w)
{
	size_t before = w->out->len;

	if (!is_there(field, in, w->go)) {
		return false;
	}
	key(ix, field->name, w);
	size_t value = w->out->len;
	write_value(schema, field, in, w);
	/* An empty object is omitted, unless its presence has a meaning. */
	bool may_be_empty = field->flag || field->tag || (w->go && w->go->zeroes && field->always);

	if (field->type == BT_FIELD_OBJECT && !may_be_empty && w->out->len - value == 2) {
		w->out->len = before;
		return false;
	}
	return true;
}

static void write_members(
	const struct bt_schema *schema, const char *in, uint32_t ix, const struct encode_writer *w)
{
	for (uint32_t i = 0; i < schema->field_n; i++) {
		ix += write_member(schema, &schema->fields[i], in, ix, w);
	}
}

static void write_members_by_name(
	const struct bt_schema *schema, const char *in, const struct encode_writer *w)
{
	const struct bt_field *members[MEMBER_MAX];
	uint32_t ix = 0;

	BT_REQUIRE(schema->field_n <= MEMBER_MAX);
	for (uint32_t i = 0; i < schema->field_n; i++) {
		members[i] = &schema->fields[i];
	}
	qsort(members, schema->field_n, sizeof(members[0]), by_name);
	for (uint32_t i = 0; i < schema->field_n; i++) {
		ix += write_member(schema, members[i], in, ix, w);
	}
}

static void write_struct(const struct bt_schema *schema, const void *in, const struct encode_writer *w)
{
	bt_buf_char(w->out, '{');
	if (w->go) {
		write_members_by_name(schema, in, w);
	} else {
		write_members(schema, in, 0, w);
	}
	bt_buf_char(w->out, '}');
}

void bt_schema_encode_go(
	const struct bt_schema *schema, const void *in, const struct bt_encode_go *go, struct bt_buf *out)
{
	write_struct(schema, in, &(struct encode_writer){out, bt_quote_json_go, go});
}

void bt_object_encode(const struct bt_object *object, struct bt_buf *out)
{
	const struct bt_kind_schema *kind = object->kind_name.len
						    ? bt_kind_schema(object->api_version, object->kind_name)
						    : bt_kind_schema_of(object->kind);

	const struct bt_kind_info *info = bt_kind_info(kind->id);

	bt_buf_text(out, "{\"apiVersion\":");
	bt_quote_json(out, object->kind_name.len ? object->api_version : bt_kind_api_version(info));
	bt_buf_text(out, ",\"kind\":");
	bt_quote_json(out, object->kind_name.len ? object->kind_name : bt_str(info->name));
	write_members(&kind->schema, (const char *)&object->meta, 2,
		&(struct encode_writer){out, bt_quote_json, NULL});
	bt_buf_char(out, '}');
}
