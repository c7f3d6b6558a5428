/* SPDX-License-Identifier: Apache-2.0
 * Makes decoded structs independent of the text that they were decoded from, by the tables that decoded them.
 */
#include <string.h>

#include "engine/model/object.h"
#include "tools/format/schema.h"

static void own_struct(const struct bt_schema *schema, struct bt_arena *arena, char *base);

static void own_str(struct bt_arena *arena, struct bt_str *text)
{
	if (text->len) {
		text->ptr = bt_arena_copy(arena, text->ptr, text->len);
	}
}

static void *own_array(struct bt_arena *arena, const void *items, size_t n, size_t bytes)
{
	void *copy = bt_arena_alloc(arena, n * bytes, 16);

	memcpy(copy, items, n * bytes);
	return copy;
}

static void own_str_list(struct bt_arena *arena, struct bt_str_list *list)
{
	if (list->n == 0) {
		return;
	}
	list->items = own_array(arena, list->items, list->n, sizeof(*list->items));
	for (uint32_t i = 0; i < list->n; i++) {
		own_str(arena, &list->items[i]);
	}
}

static void own_str_map(struct bt_arena *arena, struct bt_str_map *map)
{
	if (map->n == 0) {
		return;
	}
	map->items = own_array(arena, map->items, map->n, sizeof(*map->items));
	for (uint32_t i = 0; i < map->n; i++) {
		own_str(arena, &map->items[i].key);
		own_str(arena, &map->items[i].value);
	}
}

static void own_resources(struct bt_arena *arena, struct bt_resource_list *list)
{
	if (list->n == 0) {
		return;
	}
	list->items = own_array(arena, list->items, list->n, sizeof(*list->items));
	for (uint32_t i = 0; i < list->n; i++) {
		own_str(arena, &list->items[i].name);
	}
}

/* A pointer to n elements; those of a map begin with their key. */
static void own_elements(const struct bt_field *field, struct bt_arena *arena, char *base)
{
	char **items = (char **)(void *)(base + field->offset);
	uint32_t n = *(const uint32_t *)(const void *)(base + field->count - 1);
	size_t plain_bytes = bt_field_plain_bytes(field->type);
	size_t bytes = plain_bytes ? plain_bytes : field->schema->bytes;

	if (n == 0) {
		return;
	}
	*items = own_array(arena, *items, n, bytes);
	for (uint32_t i = 0; i < n && !plain_bytes; i++) {
		if (field->type == BT_FIELD_MAP) {
			own_str(arena, (struct bt_str *)(void *)(*items + i * bytes));
		}
		own_struct(field->schema, arena, *items + i * bytes);
	}
}

static void own_field(const struct bt_field *field, struct bt_arena *arena, char *base)
{
	void *at = base + field->offset;

	switch (field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_BYTES:
	case BT_FIELD_RAW:
		own_str(arena, at);
		break;
	case BT_FIELD_STR_LIST:
	case BT_FIELD_KEYS:
	case BT_FIELD_NAMES:
		own_str_list(arena, at);
		break;
	case BT_FIELD_STR_MAP:
		own_str_map(arena, at);
		break;
	case BT_FIELD_RESOURCES:
		own_resources(arena, at);
		break;
	case BT_FIELD_ARRAY:
	case BT_FIELD_MAP:
	case BT_FIELD_QUANTITIES:
	case BT_FIELD_INTS:
	case BT_FIELD_BOOLS:
		own_elements(field, arena, base);
		break;
	case BT_FIELD_OBJECT:
		own_struct(field->schema, arena, at);
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_TRUE:
	case BT_FIELD_IS:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
	case BT_FIELD_F32:
	case BT_FIELD_TIME:
	case BT_FIELD_DURATION:
	case BT_FIELD_QUANTITY:
	case BT_FIELD_CUSTOM: /* writes numbers and truths only */
	case BT_FIELD_META:
	case BT_FIELD_IGNORED:
		break;
	}
}

/* Members of a union share memory; only the one of the tag is valid. */
static bool is_there(const struct bt_field *field, const char *base)
{
	return !field->tag || *(const uint32_t *)(const void *)(base + field->tag - 1) == field->tag_value;
}

static void own_struct(const struct bt_schema *schema, struct bt_arena *arena, char *base)
{
	for (uint32_t i = 0; i < schema->field_n; i++) {
		if (is_there(&schema->fields[i], base)) {
			own_field(&schema->fields[i], arena, base);
		}
	}
}

void bt_schema_own(const struct bt_schema *schema, struct bt_arena *arena, void *object)
{
	own_struct(schema, arena, object);
}
