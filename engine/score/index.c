/* SPDX-License-Identifier: Apache-2.0
 * Slots by value, in three-level bitmaps.
 */
#include "engine/score/index.h"

#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

static uint64_t *row_of(const struct bt_index *index, uint32_t value)
{
	return index->rows + (size_t)value * index->row_n;
}

size_t bt_index_bytes(uint32_t slot_n, uint32_t value_n)
{
	size_t words = bt_bitmap_words(slot_n), above = bt_bitmap_words(words);

	return value_n * (sizeof(uint32_t) + (words + above + bt_bitmap_words(above)) * sizeof(uint64_t));
}

/* Updates the higher bitmaps after a word got its first bit. */
BT_INLINE void begin_word(struct bt_index *index, uint64_t *top, uint32_t word)
{
	uint64_t *above = top + index->top_n;

	if (above[word / 64] == 0) {
		bt_bitmap_set(top, word / 64);
	}
	bt_bitmap_set(above, word);
}

/* Updates the higher bitmaps after a word lost its last bit. */
BT_INLINE void end_word(struct bt_index *index, uint64_t *top, uint32_t word)
{
	uint64_t *above = top + index->top_n;

	bt_bitmap_clear(above, word);
	if (above[word / 64] == 0) {
		bt_bitmap_clear(top, word / 64);
	}
}

BT_INLINE void insert(struct bt_index *index, uint32_t slot, uint32_t value)
{
	uint64_t *top = row_of(index, value), *word = top + index->above_n + slot / 64;

	BT_INVARIANT(!(*word >> (slot % 64) & 1));
	if (*word == 0) {
		begin_word(index, top, slot / 64);
	}
	*word |= (uint64_t)1 << (slot % 64);
	if (index->counts[value]++ == 0) {
		bt_bitmap_set(index->present, value);
	}
}

BT_INLINE void take_out(struct bt_index *index, uint32_t slot, uint32_t value)
{
	uint64_t *top = row_of(index, value), *word = top + index->above_n + slot / 64;

	BT_INVARIANT(*word >> (slot % 64) & 1);
	BT_INVARIANT(index->counts[value] > 0);
	*word &= ~((uint64_t)1 << (slot % 64));
	if (*word == 0) {
		end_word(index, top, slot / 64);
	}
	if (--index->counts[value] == 0) {
		bt_bitmap_clear(index->present, value);
	}
}

void bt_index_build(struct bt_index *index, const uint16_t *values, uint32_t slot_n, uint32_t value_n)
{
	size_t word_n = bt_bitmap_words(slot_n), above_n = bt_bitmap_words(word_n);

	BT_REQUIRE(value_n <= BT_INDEX_VALUES);
	bt_index_fini(index);
	index->slot_n = slot_n;
	index->top_n = (uint32_t)bt_bitmap_words(above_n);
	index->above_n = index->top_n + (uint32_t)above_n;
	index->row_n = index->above_n + (uint32_t)word_n;
	index->value_n = value_n;
	index->rows = bt_mem_zalloc((size_t)value_n * index->row_n, sizeof(*index->rows));
	index->counts = bt_mem_zalloc(value_n, sizeof(*index->counts));
	for (uint32_t i = 0; i < slot_n; i++) {
		if (values[i]) {
			insert(index, i, values[i]);
		}
	}
}

void bt_index_fini(struct bt_index *index)
{
	bt_mem_free(index->rows);
	bt_mem_free(index->counts);
	*index = (struct bt_index){0};
}

uint32_t bt_index_ranges(const struct bt_index *index, const struct bt_shards *shards)
{
	size_t bytes = bt_bitmap_words(index->slot_n) * sizeof(*index->rows);

	return bytes < BT_SHARD_LEAST_BYTES ? 0 : (index->value_n - 1) * bt_team_size(shards->team);
}

void bt_index_place(struct bt_index *index, const struct bt_shards *shards)
{
	BT_REQUIRE(index->slot_n >= shards->slot_n);
	index->placed = true;
	for (uint32_t v = 1; bt_index_ranges(index, shards) && v < index->value_n; v++) {
		bt_shards_place(shards, row_of(index, v) + index->above_n, sizeof(*index->rows), 64);
	}
}

void bt_index_move(struct bt_index *index, uint32_t slot, uint16_t from, uint16_t to)
{
	BT_INVARIANT(slot < index->slot_n && from < index->value_n && to < index->value_n);
	if (from == to) {
		return;
	}
	if (from) {
		take_out(index, slot, from);
	}
	if (to) {
		insert(index, slot, to);
	}
}

uint32_t bt_index_highest(const struct bt_index *index)
{
	for (uint32_t word = (index->value_n + 63) / 64; word-- > 0;) {
		if (index->present[word]) {
			return word * 64 + 63 - (uint32_t)__builtin_clzll(index->present[word]);
		}
	}
	return 0;
}

uint32_t bt_index_below(const struct bt_index *index, uint32_t value)
{
	BT_REQUIRE_HOT(value < index->value_n);
	uint32_t word = value / 64;
	uint64_t bits = index->present[word] & (((uint64_t)1 << (value % 64)) - 1);

	while (bits == 0) {
		if (word == 0) {
			return 0;
		}
		bits = index->present[--word];
	}
	return word * 64 + 63 - (uint32_t)__builtin_clzll(bits);
}

uint32_t bt_index_behind(const struct bt_index *index, uint32_t slot_n)
{
	uint32_t value = bt_index_highest(index);

	while (value && index->counts[value] <= slot_n) {
		slot_n -= index->counts[value];
		value = bt_index_below(index, value);
	}
	BT_INVARIANT(value == 0 || index->counts[value] > slot_n);
	return value;
}

/* The first slot in the mask, in the words that word i of the middle bitmap covers. */
BT_INLINE uint32_t first_below(const uint64_t *row, const uint64_t *mask, uint32_t i, uint64_t full)
{
	for (; full; full &= full - 1) {
		uint32_t word = i * 64 + (uint32_t)__builtin_ctzll(full);
		uint64_t bits = row[word] & (mask ? mask[word] : ~(uint64_t)0);

		if (bits) {
			return word * 64 + (uint32_t)__builtin_ctzll(bits);
		}
	}
	return BT_INDEX_NONE;
}

/* The bits of a word from one on, which may be 64. */
static inline uint64_t bits_from(uint32_t bit)
{
	return bit < 64 ? ~(uint64_t)0 << bit : 0;
}

/* The first slot at or after from in the row and in the mask. A row has no slots after the last one. */
BT_INLINE uint32_t first_from(
	const struct bt_index *index, const uint64_t *top, const uint64_t *mask, uint32_t from)
{
	const uint64_t *above = top + index->top_n, *row = top + index->above_n;
	uint32_t word = from / 64, i = word / 64;
	uint64_t bits = row[word] & ~(uint64_t)0 << (from % 64) & (mask ? mask[word] : ~(uint64_t)0);

	if (bits) {
		return word * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	uint32_t slot = first_below(row, mask, i, above[i] & bits_from(word % 64 + 1));
	uint64_t cut = bits_from(i % 64 + 1); /* only for the first top word */
	for (uint32_t t = i / 64; slot == BT_INDEX_NONE && t < index->top_n; t++, cut = ~(uint64_t)0) {
		for (uint64_t rest = top[t] & cut; rest && slot == BT_INDEX_NONE; rest &= rest - 1) {
			i = t * 64 + (uint32_t)__builtin_ctzll(rest);
			slot = first_below(row, mask, i, above[i]);
		}
	}
	return slot;
}

BT_INLINE uint32_t first(const struct bt_index *index, uint32_t value, const uint64_t *mask, uint32_t start)
{
	const uint64_t *top = row_of(index, value);
	uint32_t slot = first_from(index, top, mask, start);

	/* None from start on: the first one of all is before it. */
	return slot != BT_INDEX_NONE ? slot : first_from(index, top, mask, 0);
}

uint32_t bt_index_first(const struct bt_index *index, uint32_t value, const uint64_t *mask, uint32_t start)
{
	BT_REQUIRE_HOT(value < index->value_n && start < index->slot_n);
	return mask ? first(index, value, mask, start) : first(index, value, NULL, start);
}
