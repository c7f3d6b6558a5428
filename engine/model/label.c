/* SPDX-License-Identifier: Apache-2.0
 * Labels from the API's maps.
 */
#include "engine/model/label.h"
#include "engine/base/check.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
	const struct bt_label *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

void bt_labels_fill(struct bt_label *items, struct bt_name_refs *held, const struct bt_str_map *map)
{
	for (uint32_t i = 0; i < map->n; i++) {
		items[i].key = bt_name_refs_add(held, map->items[i].key);
		items[i].value = bt_name_refs_add(held, map->items[i].value);
	}
	if (map->n > 1) {
		qsort(items, map->n, sizeof(*items), by_key);
	}
	BT_INVARIANT(map->n < 2 || items[0].key <= items[map->n - 1].key);
}

struct bt_labels bt_labels_intern(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_str_map *map)
{
	struct bt_label *items = bt_arena_alloc(arena, map->n * sizeof(*items), 8);

	bt_labels_fill(items, held, map);
	return (struct bt_labels){items, map->n};
}
