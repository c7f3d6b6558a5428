/* SPDX-License-Identifier: Apache-2.0
 * Indices of an array that were given back, to be given anew, the lowest first: so the array is as long as
 * what it held at most, however often that changes, and its end becomes empty when there is less to hold.
 * A bitmap, with bitmaps above it of the words that are not zero, up to a single word.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BT_INDEX_ALLOCATOR_LEVELS 6 /* 64 to the power of 6 is above 32 bits */

/* All zeroes is none. Private to index_allocator.c, but for n. */
struct bt_index_allocator {
	uint64_t *levels[BT_INDEX_ALLOCATOR_LEVELS]; /* the indices first */
	size_t word_n[BT_INDEX_ALLOCATOR_LEVELS];
	uint32_t level_n;
	size_t n; /* how many there are */
};

void bt_index_allocator_fini(struct bt_index_allocator *vacant);

/* Requires: the index is not there. May allocate. */
void bt_index_allocator_give(struct bt_index_allocator *vacant, uint32_t ix);

/* Takes the lowest. Returns false when there is none. */
bool bt_index_allocator_take(struct bt_index_allocator *vacant, uint32_t *out_ix);

/* The lowest. Requires: there is one. */
uint32_t bt_index_allocator_first(const struct bt_index_allocator *vacant);

/* How many of so many elements are left when those at the end are left out that are vacant. */
size_t bt_index_allocator_end(const struct bt_index_allocator *vacant, size_t end);

/* Takes the indices at the end of an array of so many elements. Returns: how many elements are left, the last
 * of which is not vacant. */
size_t bt_index_allocator_cut(struct bt_index_allocator *vacant, size_t end);

/* The room that an array should have of which so many elements are left: what it has, or less when that is
 * much too large. */
static inline size_t bt_index_allocator_room(size_t left_n, size_t cap)
{
	return cap > 256 && left_n <= cap / 4 ? (left_n < 64 ? 128 : 2 * left_n) : cap;
}

/* Gives back what is too much (bt_index_allocator_room) of an array of *cap_n elements of that size.
 * Returns: the
 * array, which may have moved. */
#define bt_index_allocator_shrink(array, left_n, cap_n, size)                                                \
	bt_index_allocator_shrink_for(__func__, array, left_n, cap_n, size)

/* The same; who: the function that wants it, a constant. */
void *bt_index_allocator_shrink_for(const char *who, void *array, size_t left_n, size_t *cap_n, size_t size);
