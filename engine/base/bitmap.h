/* SPDX-License-Identifier: Apache-2.0
 * Bitmaps over small integers, 64 to a word. The words belong to the caller.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t bt_bitmap_words(size_t bit_n)
{
	return (bit_n + 63) / 64;
}

static inline bool bt_bitmap_test(const uint64_t *words, size_t bit)
{
	return words[bit / 64] >> (bit % 64) & 1;
}

static inline void bt_bitmap_set(uint64_t *words, size_t bit)
{
	words[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static inline void bt_bitmap_clear(uint64_t *words, size_t bit)
{
	words[bit / 64] &= ~((uint64_t)1 << (bit % 64));
}

static inline size_t bt_bitmap_count(const uint64_t *words, size_t bit_n)
{
	size_t n = 0;

	for (size_t i = 0; i < bt_bitmap_words(bit_n); i++) {
		n += (size_t)__builtin_popcountll(words[i]);
	}
	return n;
}
