/* SPDX-License-Identifier: Apache-2.0
 * Vacant indices as a tree of words.
 */
#include "engine/base/index_allocator.h"

#include <string.h>

#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

void bt_index_allocator_fini(struct bt_index_allocator *v)
{
	for (uint32_t i = 0; i < v->level_n; i++) {
		bt_mem_free(v->levels[i]);
	}
	*v = (struct bt_index_allocator){0};
}

static void resize(struct bt_index_allocator *v, uint32_t level, size_t word_n)
{
	size_t old = v->word_n[level];

	v->levels[level] = bt_mem_realloc(v->levels[level], word_n, sizeof(*v->levels[level]));
	if (word_n > old) {
		memset(v->levels[level] + old, 0, (word_n - old) * sizeof(*v->levels[level]));
	}
	v->word_n[level] = word_n;
}

/* Makes room for n words of indices. */
static void grow(struct bt_index_allocator *v, size_t word_n)
{
	size_t cap = v->word_n[0] ? v->word_n[0] : 1;

	while (cap < word_n) {
		cap *= 2;
	}
	for (uint32_t level = 0;; level++) {
		bool new = level == v->level_n;
		BT_INVARIANT(level < BT_INDEX_ALLOCATOR_LEVELS);

		v->level_n += new;
		resize(v, level, cap);
		/* The old top level now has one word above it. */
		if (level > 0 && new && v->levels[level - 1][0]) {
			v->levels[level][0] = 1;
		}
		if (cap == 1) {
			return;
		}
		cap = bt_bitmap_words(cap);
	}
}

void bt_index_allocator_give(struct bt_index_allocator *v, uint32_t ix)
{
	size_t bit = ix;

	if (ix / 64 >= v->word_n[0]) {
		grow(v, (size_t)ix / 64 + 1);
	}
	BT_INVARIANT(!bt_bitmap_test(v->levels[0], ix));
	for (uint32_t level = 0; level < v->level_n; level++, bit /= 64) {
		bt_bitmap_set(v->levels[level], bit);
	}
	v->n++;
}

static void remove_ix(struct bt_index_allocator *v, size_t bit)
{
	BT_INVARIANT(v->n > 0 && bt_bitmap_test(v->levels[0], bit));
	for (uint32_t level = 0; level < v->level_n; level++, bit /= 64) {
		bt_bitmap_clear(v->levels[level], bit);
		if (v->levels[level][bit / 64]) {
			break;
		}
	}
	v->n--;
}

uint32_t bt_index_allocator_first(const struct bt_index_allocator *v)
{
	size_t word = 0;

	BT_REQUIRE(v->n > 0);
	for (uint32_t level = v->level_n; level-- > 0;) {
		word = word * 64 + (size_t)__builtin_ctzll(v->levels[level][word]);
	}
	BT_INVARIANT(bt_bitmap_test(v->levels[0], word));
	return (uint32_t)word;
}

bool bt_index_allocator_take(struct bt_index_allocator *v, uint32_t *out_ix)
{
	if (v->n == 0) {
		return false;
	}
	*out_ix = bt_index_allocator_first(v);
	remove_ix(v, *out_ix);
	return true;
}

size_t bt_index_allocator_end(const struct bt_index_allocator *v, size_t end)
{
	while (end > 0 && (end - 1) / 64 < v->word_n[0]) {
		size_t word = (end - 1) / 64;
		uint64_t taken = ~v->levels[0][word] << (63 - (end - 1) % 64);

		if (taken) {
			return end - (size_t)__builtin_clzll(taken);
		}
		end = word * 64;
	}
	return end;
}

/* Frees empty words at the end. */
static void shrink(struct bt_index_allocator *v, size_t end)
{
	size_t room = bt_index_allocator_room(bt_bitmap_words(end), v->word_n[0]);

	if (room == v->word_n[0]) {
		return;
	}
	for (uint32_t level = 0; level < v->level_n; level++) {
		resize(v, level, room);
		room = bt_bitmap_words(room);
	}
}

size_t bt_index_allocator_cut(struct bt_index_allocator *v, size_t end)
{
	while (end > 0 && (end - 1) / 64 < v->word_n[0] && bt_bitmap_test(v->levels[0], end - 1)) {
		remove_ix(v, --end);
	}
	shrink(v, end);
	BT_INVARIANT(v->n == 0 || end > bt_index_allocator_first(v));
	return end;
}

void *bt_index_allocator_shrink_for(
	const char *caller, void *array, size_t left_n, size_t *cap_n, size_t size)
{
	size_t room = bt_index_allocator_room(left_n, *cap_n);

	BT_INVARIANT(left_n <= *cap_n || room == *cap_n);
	if (room < *cap_n) {
		array = bt_mem_realloc_for(caller, array, room, size);
		*cap_n = room;
	}
	return array;
}
