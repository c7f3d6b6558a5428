/* SPDX-License-Identifier: Apache-2.0
 * A hash table from 64-bit keys to 32-bit values. Key 0 is not allowed. An empty map is all zeroes.
 * Context: one writer; readers only while no thread writes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bt_map_entry {
	uint64_t key; /* 0: free */
	uint32_t value;
};

struct bt_map {
	struct bt_map_entry *entries;
	size_t slot_n; /* a power of two, or 0 */
	size_t count;
};

void bt_map_fini(struct bt_map *map);

/* Finds a key. Returns false, with out_value untouched, when it is absent. */
bool bt_map_get(const struct bt_map *map, uint64_t key, uint32_t *out_value);

/* Prefetches the slot of a key. */
void bt_map_prefetch(const struct bt_map *map, uint64_t key);

/* Sets the value of a key, new or not. May allocate. */
void bt_map_put(struct bt_map *map, uint64_t key, uint32_t value);

/* Removes a key; no effect when absent. A large sparse map shrinks, so it may allocate. */
void bt_map_remove(struct bt_map *map, uint64_t key);

/* A key of two numbers. */
static inline uint64_t bt_pair_key(uint32_t first, uint32_t second)
{
	return (uint64_t)first << 32 | second;
}
