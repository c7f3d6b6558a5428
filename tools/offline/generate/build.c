/* SPDX-License-Identifier: Apache-2.0
 * Makes parts of API objects in an arena.
 */
#include "tools/offline/generate/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The array with room for one more; arrays grow when their count is a power of two. */
static void *grow(struct bt_arena *arena, void *items, uint32_t n, size_t size)
{
	if (n != 0 && (n & (n - 1)) != 0) {
		return items;
	}
	void *bigger = bt_arena_zalloc(arena, (n == 0 ? 1 : 2 * (size_t)n) * size);

	if (n > 0) {
		memcpy(bigger, items, n * size);
	}
	return bigger;
}

struct bt_str bt_build_text(struct bt_arena *arena, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	size_t n = strlen(text);

	return (struct bt_str){bt_arena_copy(arena, text, n), n};
}

struct bt_str_list bt_build_list(struct bt_arena *arena, struct bt_str item)
{
	struct bt_str_list list = {0};

	bt_build_item(arena, &list, item);
	return list;
}

void bt_build_pair(struct bt_arena *arena, struct bt_str_map *map, struct bt_str key, struct bt_str value)
{
	map->items = grow(arena, map->items, map->n, sizeof(*map->items));
	map->items[map->n++] = (struct bt_str_pair){key, value};
	map->set = true;
}

void bt_build_item(struct bt_arena *arena, struct bt_str_list *list, struct bt_str item)
{
	list->items = grow(arena, list->items, list->n, sizeof(*list->items));
	list->items[list->n++] = item;
	list->set = true;
}

void bt_build_quantity(
	struct bt_arena *arena, struct bt_resource_list *list, const char *name, struct bt_quantity quantity)
{
	list->items = grow(arena, list->items, list->n, sizeof(*list->items));
	list->items[list->n++] = (struct bt_named_quantity){bt_str(name), quantity};
	list->set = true;
}

struct bt_requirement_object *bt_build_requirement(struct bt_arena *arena,
	struct bt_requirement_object_list *list, const char *key, const char *operator_)
{
	list->items = grow(arena, list->items, list->n, sizeof(*list->items));
	list->items[list->n] =
		(struct bt_requirement_object){.key = bt_str(key), .operator_ = bt_str(operator_)};
	return &list->items[list->n++];
}

struct bt_node_term_object *bt_build_required_term(
	struct bt_arena *arena, struct bt_node_affinity_object *affinity)
{
	if (affinity->required.term_n == 0) {
		affinity->set = true;
		affinity->required.set = true;
		affinity->required.terms = bt_arena_zalloc(arena, sizeof(*affinity->required.terms));
		affinity->required.term_n = 1;
	}
	return &affinity->required.terms[0];
}
