/* SPDX-License-Identifier: Apache-2.0
 * Structs into JSON.
 */
#include "tools/format/encode.h"

#include "engine/base/quote.h"
#include "tools/format/object_schema.h"
#include "tools/format/time.h"

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

static void key(uint32_t ix, struct bt_str name, struct bt_buf *out)
{
	comma(ix, out);
	bt_quote_json(out, name);
	bt_buf_char(out, ':');
}

static void write_str_list(const struct bt_str_list *list, struct bt_buf *out)
{
	bt_buf_char(out, '[');
	for (uint32_t i = 0; i < list->n; i++) {
		comma(i, out);
		bt_quote_json(out, list->items[i]);
	}
	bt_buf_char(out, ']');
}

static void write_keys(const struct bt_str_list *list, struct bt_buf *out)
{
	bt_buf_char(out, '{');
	for (uint32_t i = 0; i < list->n; i++) {
		key(i, list->items[i], out);
		bt_buf_text(out, "null");
	}
	bt_buf_char(out, '}');
}

static void write_names(const struct bt_schema *schema, const struct bt_str_list *list, struct bt_buf *out)
{
	bt_buf_char(out, '[');
	for (uint32_t i = 0; i < list->n; i++) {
		comma(i, out);
		bt_schema_encode(schema, &list->items[i], out);
	}
	bt_buf_char(out, ']');
}

static void write_str_map(const struct bt_str_map *map, struct bt_buf *out)
{
	bt_buf_char(out, '{');
	for (uint32_t i = 0; i < map->n; i++) {
		key(i, map->items[i].key, out);
		bt_quote_json(out, map->items[i].value);
	}
	bt_buf_char(out, '}');
}

static void write_resources(const struct bt_resource_list *list, struct bt_buf *out)
{
	bt_buf_char(out, '{');
	for (uint32_t i = 0; i < list->n; i++) {
		key(i, list->items[i].name, out);
		write_quantity(&list->items[i].quantity, out);
	}
	bt_buf_char(out, '}');
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

static void write_array(const struct bt_field *field, const char *in, struct bt_buf *out)
{
	const char *items = items_at(in, field);
	uint32_t n = number_at(in, field->count);

	bt_buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		comma(i, out);
		if (field->type == BT_FIELD_QUANTITIES) {
			write_quantity((const struct bt_quantity *)(const void *)items + i, out);
		} else {
			bt_schema_encode(field->schema, items + (size_t)i * field->schema->bytes, out);
		}
	}
	bt_buf_char(out, ']');
}

/* The structs of a map begin with their key. */
static void write_map(const struct bt_field *field, const char *in, struct bt_buf *out)
{
	const char *items = items_at(in, field);
	uint32_t n = number_at(in, field->count);

	bt_buf_char(out, '{');
	for (uint32_t i = 0; i < n; i++) {
		const char *item = items + (size_t)i * field->schema->bytes;
		struct bt_str name;

		memcpy(&name, item, sizeof(name));
		key(i, name, out);
		bt_schema_encode(field->schema, item, out);
	}
	bt_buf_char(out, '}');
}

static void write_value(const struct bt_field *field, const char *in, struct bt_buf *out)
{
	const void *at = in + field->offset;

	switch (field->type) {
	case BT_FIELD_STR:
		bt_quote_json(out, *(const struct bt_str *)at);
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_TRUE:
		write_bool(*(const bool *)at, out);
		break;
	case BT_FIELD_IS:
		bt_quote_json(out, bt_str(field->word));
		break;
	case BT_FIELD_I32:
		bt_buf_int(out, *(const int32_t *)at);
		break;
	case BT_FIELD_I64:
		bt_buf_int(out, *(const int64_t *)at);
		break;
	case BT_FIELD_TIME:
		write_time(*(const int64_t *)at, out);
		break;
	case BT_FIELD_QUANTITY:
		write_quantity(at, out);
		break;
	case BT_FIELD_RESOURCES:
		write_resources(at, out);
		break;
	case BT_FIELD_STR_LIST:
		write_str_list(at, out);
		break;
	case BT_FIELD_STR_MAP:
		write_str_map(at, out);
		break;
	case BT_FIELD_KEYS:
		write_keys(at, out);
		break;
	case BT_FIELD_NAMES:
		write_names(field->schema, at, out);
		break;
	case BT_FIELD_OBJECT:
		bt_schema_encode(field->schema, at, out);
		break;
	case BT_FIELD_ARRAY:
	case BT_FIELD_QUANTITIES:
		write_array(field, in, out);
		break;
	case BT_FIELD_MAP:
		write_map(field, in, out);
		break;
	case BT_FIELD_RAW:
		bt_buf_str(out, *(const struct bt_str *)at);
		break;
	case BT_FIELD_CUSTOM:
		bt_buf_text(out, field->word);
		break;
	case BT_FIELD_F32:
	case BT_FIELD_DURATION:
	case BT_FIELD_BYTES:
	case BT_FIELD_META:
	case BT_FIELD_IGNORED:
		break;
	}
}

/* Is there something that decoding would not give by itself? Of objects, what they hold decides. */
static bool is_set(const struct bt_field *field, const char *in)
{
	const void *at = in + field->offset;

	switch (field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW:
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
		return *(const int64_t *)at != 0;
	case BT_FIELD_QUANTITY:
		return ((const struct bt_quantity *)at)->nano != 0;
	case BT_FIELD_RESOURCES:
		return ((const struct bt_resource_list *)at)->set ||
		       ((const struct bt_resource_list *)at)->n > 0;
	case BT_FIELD_STR_LIST:
	case BT_FIELD_KEYS:
	case BT_FIELD_NAMES:
		return ((const struct bt_str_list *)at)->set || ((const struct bt_str_list *)at)->n > 0;
	case BT_FIELD_STR_MAP:
		return ((const struct bt_str_map *)at)->set || ((const struct bt_str_map *)at)->n > 0;
	case BT_FIELD_ARRAY:
	case BT_FIELD_QUANTITIES:
	case BT_FIELD_MAP:
		return number_at(in, field->count) > 0;
	case BT_FIELD_OBJECT:
		return true;
	case BT_FIELD_F32:
	case BT_FIELD_DURATION:
	case BT_FIELD_BYTES:
	case BT_FIELD_META:
	case BT_FIELD_IGNORED:
		break;
	}
	return false;
}

static bool is_there(const struct bt_field *field, const char *in)
{
	bool flag;

	if (field->type == BT_FIELD_IGNORED) {
		return false;
	}
	if (field->flag) {
		memcpy(&flag, in + field->flag - 1, sizeof(flag));
		return flag;
	}
	return field->tag ? number_at(in, field->tag) == field->tag_value : is_set(field, in);
}

/* Appends the members of a struct, the first one after ix others. */
static void write_members(const struct bt_schema *schema, const char *in, uint32_t ix, struct bt_buf *out)
{
	for (uint32_t i = 0; i < schema->field_n; i++) {
		const struct bt_field *field = &schema->fields[i];
		size_t before = out->len;

		if (!is_there(field, in)) {
			continue;
		}
		key(ix, field->name, out);
		size_t value = out->len;
		write_value(field, in, out);
		/* An object of which nothing is known is left out, unless that it is there says something. */
		if (field->type == BT_FIELD_OBJECT && !field->flag && !field->tag && out->len - value == 2) {
			out->len = before;
			continue;
		}
		ix++;
	}
}

void bt_schema_encode(const struct bt_schema *schema, const void *in, struct bt_buf *out)
{
	bt_buf_char(out, '{');
	write_members(schema, in, 0, out);
	bt_buf_char(out, '}');
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
	write_members(&kind->schema, (const char *)&object->meta, 2, out);
	bt_buf_char(out, '}');
}
