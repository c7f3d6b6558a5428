/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the slots of a column by value: for each value a bitmap of the slots that have it, with a bitmap
 * of its non-empty words above, and one of the non-empty words of that on top. The best slot of a group is
 * then found without looking at the others, however few there are.
 * Context: the scheduling thread; only bt_index_build allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/score/shard.h"

#define BT_INDEX_NONE UINT32_MAX

/* Values at or above this are not indexed: the bitmaps would be too many. */
#define BT_INDEX_VALUES 1024

/* owner: private to index.c, but for reading in tests. All zeroes is an empty index. */
struct bt_index {
	uint32_t slot_n;
	uint32_t top_n;	  /* words of the bitmap on top */
	uint32_t above_n; /* and with those of the bitmap above */
	uint32_t row_n;	  /* and with those of the bitmap itself */
	uint32_t value_n; /* values are below this */
	uint64_t *rows;	  /* by value: row_n words in that order; value 0 has none that is kept */
	uint32_t *counts; /* by value: slots that have it */
	uint64_t present[BT_INDEX_VALUES / 64]; /* the values whose count is not 0 */
	bool placed;				/* bt_index_place has been asked to */
};

/* Bytes of an index over so many slots and values; it touches only those of values that occur. */
size_t bt_index_bytes(uint32_t slot_n, uint32_t value_n);

/*
 * Indexes a column. Requires: all values are below value_n, which is at most BT_INDEX_VALUES.
 * Owns: bt_index_fini.
 */
void bt_index_build(struct bt_index *index, const uint16_t *values, uint32_t slot_n, uint32_t value_n);
void bt_index_fini(struct bt_index *index);

/* How many ranges of pages bt_index_place would bind at most: 0 when bitmaps are so small that they stay. */
uint32_t bt_index_ranges(const struct bt_index *index, const struct bt_shards *shards);

/* Puts the pages of each value's bitmap beside the workers of their slots. The bitmaps above, of which a page
 * stands for two million slots, stay where they are. Requires: shards->slot_n is the index's. */
void bt_index_place(struct bt_index *index, const struct bt_shards *shards);

/* A slot's value changed. 0 is no value: such a slot is nowhere. */
void bt_index_move(struct bt_index *index, uint32_t slot, uint16_t from, uint16_t to);

/* Fetches into the cache what moving a slot will change. */
static inline void bt_index_fetch(const struct bt_index *index, uint32_t slot, uint16_t from, uint16_t to)
{
	const uint64_t *words = index->rows + index->above_n + slot / 64;

	__builtin_prefetch(words + (size_t)from * index->row_n, 1);
	__builtin_prefetch(words + (size_t)to * index->row_n, 1);
}

/* The highest value that any slot has, and the highest one below a value; 0 when there is none. value is
 * below value_n (asserted). */
uint32_t bt_index_highest(const struct bt_index *index);
uint32_t bt_index_below(const struct bt_index *index, uint32_t value);

/* The highest value that a slot still has when so many slots have lost theirs, the highest first; 0 when
 * there is none. */
uint32_t bt_index_behind(const struct bt_index *index, uint32_t slot_n);

/* The first slot at or after start, cyclically, that has the value and is in mask (NULL: any); or
 * BT_INDEX_NONE. */
uint32_t bt_index_first(const struct bt_index *index, uint32_t value, const uint64_t *mask, uint32_t start);
