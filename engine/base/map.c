/* SPDX-License-Identifier: Apache-2.0
 * A hash table with linear probing; removal shifts the run back, so there are no tombstones.
 */
#include "engine/base/map.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"

void bt_map_fini(struct bt_map *map)
{
	bt_mem_free(map->entries);
	*map = (struct bt_map){0};
}

static size_t home_of(const struct bt_map *map, uint64_t key)
{
	return bt_hash_u64(key) & (map->slot_n - 1);
}

/* The entry of the key, or the free entry where it belongs. The map is never full. */
static size_t map_find(const struct bt_map *map, uint64_t key)
{
	BT_INVARIANT(map->slot_n > 0 && map->count < map->slot_n);
	size_t slot = home_of(map, key);

	while (map->entries[slot].key && map->entries[slot].key != key) {
		slot = (slot + 1) & (map->slot_n - 1);
	}
	return slot;
}

bool bt_map_get(const struct bt_map *map, uint64_t key, uint32_t *out_value)
{
	BT_INVARIANT(key);
	if (map->count == 0) {
		return false;
	}
	size_t slot = map_find(map, key);
	if (!map->entries[slot].key) {
		return false;
	}
	*out_value = map->entries[slot].value;
	return true;
}

void bt_map_prefetch(const struct bt_map *map, uint64_t key)
{
	if (map->slot_n) {
		__builtin_prefetch(&map->entries[home_of(map, key)]);
	}
}

/* A map with more slots than this shrinks when it is sparse. */
#define KEPT_SLOTS 4096
#define EMPTY_PART 16

static void resize(struct bt_map *map, size_t slot_n)
{
	struct bt_map old = *map;

	map->slot_n = slot_n;
	map->entries = bt_mem_zalloc(map->slot_n, sizeof(*map->entries));
	for (size_t i = 0; i < old.slot_n; i++) {
		if (old.entries[i].key) {
			map->entries[map_find(map, old.entries[i].key)] = old.entries[i];
		}
	}
	BT_INVARIANT(map->count * 2 <= map->slot_n);
	bt_mem_free(old.entries);
}

void bt_map_put(struct bt_map *map, uint64_t key, uint32_t value)
{
	BT_INVARIANT(key);
	if ((map->count + 1) * 2 > map->slot_n) {
		resize(map, map->slot_n ? map->slot_n * 2 : 16);
	}
	struct bt_map_entry *entry = &map->entries[map_find(map, key)];
	map->count += !entry->key;
	*entry = (struct bt_map_entry){key, value};
}

void bt_map_remove(struct bt_map *map, uint64_t key)
{
	if (map->count == 0) {
		return;
	}
	size_t mask = map->slot_n - 1, hole = map_find(map, key);
	if (!map->entries[hole].key) {
		return;
	}
	BT_INVARIANT(map->count > 0);
	map->count--;
	for (size_t slot = (hole + 1) & mask; map->entries[slot].key; slot = (slot + 1) & mask) {
		size_t home = home_of(map, map->entries[slot].key);

		/* Shift back entries that a lookup would no longer find after the hole. */
		if (((slot - home) & mask) >= ((slot - hole) & mask)) {
			map->entries[hole] = map->entries[slot];
			hole = slot;
		}
	}
	map->entries[hole].key = 0;
	if (map->slot_n > KEPT_SLOTS && map->count * EMPTY_PART < map->slot_n) {
		resize(map, map->slot_n / 4);
	}
}
