/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the slots of a column by value: for each value a bitmap of its slots, above it a bitmap of the
 * non-empty words, and on top one of that bitmap's non-empty words. The best slot of a group is found without
 * visiting others, however few there are.
 * Context: the scheduling thread; only bt_index_build allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/score/shard.h"

#define BT_INDEX_NONE UINT32_MAX

/* Values from this on are not indexed: the bitmaps would be too many. */
#define BT_INDEX_VALUES 1024

/* owner: private to index.c, except for reading in tests. Zero-initialized, it is empty. */
struct bt_index {
	uint32_t slot_n;
	uint32_t top_n;				/* words of the top bitmap */
	uint32_t above_n;			/* plus those of the middle bitmap */
	uint32_t row_n;				/* plus those of the bitmap of slots */
	uint32_t value_n;			/* values are below this */
	uint64_t *rows;				/* by value: row_n words in that order; value 0 has no row */
	uint32_t *counts;			/* by value: number of its slots */
	uint64_t present[BT_INDEX_VALUES / 64]; /* the values with a non-zero count */
	bool placed;				/* bt_index_place was called */
};

/* Bytes of an index over this many slots and values; only those of values that occur are touched. */
size_t bt_index_bytes(uint32_t slot_n, uint32_t value_n);

/*
 * Indexes a column. Requires: all values are below value_n, which is at most BT_INDEX_VALUES.
 * Owns: bt_index_fini.
 */
void bt_index_build(struct bt_index *index, const uint16_t *values, uint32_t slot_n, uint32_t value_n);
void bt_index_fini(struct bt_index *index);

/* The maximum number of page ranges that bt_index_place binds: 0 when bitmaps are too small to be placed. */
uint32_t bt_index_ranges(const struct bt_index *index, const struct bt_shards *shards);

/* Places the pages of each value's bitmap near the workers of their slots. The higher bitmaps, of which a
 * page covers two million slots, stay. Requires: the index has room for shards->slot_n. */
void bt_index_place(struct bt_index *index, const struct bt_shards *shards);

/* Moves a slot from one value to another. Value 0 has no row. */
void bt_index_move(struct bt_index *index, uint32_t slot, uint16_t from, uint16_t to);

/* Prefetches what moving a slot will write. */
static inline void bt_index_fetch(const struct bt_index *index, uint32_t slot, uint16_t from, uint16_t to)
{
	const uint64_t *words = index->rows + index->above_n + slot / 64;

	__builtin_prefetch(words + (size_t)from * index->row_n, 1);
	__builtin_prefetch(words + (size_t)to * index->row_n, 1);
}

/* The highest value of any slot, and the highest one below a value; 0 when there is none. value is below
 * value_n (asserted). */
uint32_t bt_index_highest(const struct bt_index *index);
uint32_t bt_index_below(const struct bt_index *index, uint32_t value);

/* The highest value that remains without the slot_n slots of the highest values; 0 when none does. */
uint32_t bt_index_behind(const struct bt_index *index, uint32_t slot_n);

/* The first slot at or after start, cyclically, with the value and in mask (NULL: any); or BT_INDEX_NONE. */
uint32_t bt_index_first(const struct bt_index *index, uint32_t value, const uint64_t *mask, uint32_t start);
