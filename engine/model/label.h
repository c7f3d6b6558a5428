/* SPDX-License-Identifier: Apache-2.0
 * Labels as pairs of interned names, sorted by key.
 */
#pragma once

#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/model/name_refs.h"
#include "engine/model/object.h"

struct bt_label {
	uint32_t key, value;
};

struct bt_labels {
	const struct bt_label *items; /* ascending keys, each once */
	uint32_t n;
};

/* Sorts the interned pairs of map into items, which has room for map->n. Context: the ingesting
 * thread, as the name table's writer. */
void bt_labels_fill(struct bt_label *items, struct bt_name_refs *held, const struct bt_str_map *map);

/* As bt_labels_fill, into the arena, which owns the items. */
struct bt_labels bt_labels_intern(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_str_map *map);

/* The value of a key, or BT_NAME_NONE. */
static inline uint32_t bt_labels_get(struct bt_labels labels, uint32_t key)
{
	uint32_t low = 0, n = labels.n;

	while (n) {
		uint32_t half = n / 2;

		if (labels.items[low + half].key < key) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low < labels.n && labels.items[low].key == key ? labels.items[low].value : BT_NAME_NONE;
}
