/* SPDX-License-Identifier: Apache-2.0
 * Free indices of an array, reused lowest first: the array is as long as its peak use, and its end becomes
 * free when less is in use. A bitmap, with summary bitmaps of nonzero words above it, up to a single word.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BT_INDEX_ALLOCATOR_LEVELS 6 /* 64 to the power of 6 is above 32 bits */

/* All zeroes: empty. Private to index_allocator.c, except n. */
struct bt_index_allocator {
	uint64_t *levels[BT_INDEX_ALLOCATOR_LEVELS]; /* level 0: the indices */
	size_t word_n[BT_INDEX_ALLOCATOR_LEVELS];
	uint32_t level_n;
	size_t n; /* the number of free indices */
};

void bt_index_allocator_fini(struct bt_index_allocator *vacant);

/* Requires: the index is not free. May allocate. */
void bt_index_allocator_give(struct bt_index_allocator *vacant, uint32_t ix);

/* Takes the lowest index. Returns false when empty. */
bool bt_index_allocator_take(struct bt_index_allocator *vacant, uint32_t *out_ix);

/* The lowest index. Requires: not empty. */
uint32_t bt_index_allocator_first(const struct bt_index_allocator *vacant);

/* The length of an array of end elements without its free indices at the end. */
size_t bt_index_allocator_end(const struct bt_index_allocator *vacant, size_t end);

/* Takes the free indices at the end of an array of end elements. Returns: its new length; the last element is
 * in use. */
size_t bt_index_allocator_cut(struct bt_index_allocator *vacant, size_t end);

/* The capacity for an array with left_n elements: its current one, or less when that is much too large. */
static inline size_t bt_index_allocator_room(size_t left_n, size_t cap)
{
	return cap > 256 && left_n <= cap / 4 ? (left_n < 64 ? 128 : 2 * left_n) : cap;
}

/* Shrinks an array of *cap_n elements of that size (bt_index_allocator_room).
 * Returns: the
 * array, which may have moved. */
#define bt_index_allocator_shrink(array, left_n, cap_n, size)                                                \
	bt_index_allocator_shrink_for(__func__, array, left_n, cap_n, size)

/* The same; caller: the calling function's name, a constant. */
void *bt_index_allocator_shrink_for(
	const char *caller, void *array, size_t left_n, size_t *cap_n, size_t size);
