/* SPDX-License-Identifier: Apache-2.0
 * An index over slots returns the same as a search through all of them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/bitmap.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/score/index.h"

#define SLOTS_MAX 9000 /* several words of the bitmap above */

struct slots {
	uint16_t value[SLOTS_MAX];
	uint64_t mask[(SLOTS_MAX + 63) / 64];
	uint32_t n, value_n;
};

/* The highest value below a limit. */
static uint32_t highest(const struct slots *s, uint32_t limit)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		best = s->value[i] < limit && s->value[i] > best ? s->value[i] : best;
	}
	return best;
}

static uint32_t first(const struct slots *s, uint32_t value, bool masked, uint32_t start)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t slot = (start + i) % s->n;

		if (s->value[slot] == value && (!masked || bt_bitmap_test(s->mask, slot))) {
			return slot;
		}
	}
	return BT_INDEX_NONE;
}

/* The highest value, ignoring the n slots with the highest ones. */
static uint32_t highest_but(const struct slots *s, uint32_t n)
{
	uint32_t counts[BT_INDEX_VALUES] = {0}, value = s->value_n - 1, sum = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		counts[s->value[i]]++;
	}
	for (; value > 0; value--) {
		sum += counts[value];
		if (sum > n) {
			break;
		}
	}
	return value;
}

/* Few slots have a value, or most have. */
static uint16_t any_value(struct bt_rng *rng, const struct slots *s, bool sparse)
{
	return (uint16_t)(sparse && bt_rng_below(rng, 200) ? 0 : bt_rng_below(rng, s->value_n));
}

static void compare(struct bt_rng *rng, struct slots *s, struct bt_index *index, bool sparse)
{
	uint32_t start = bt_rng_below(rng, s->n), slot = bt_rng_below(rng, s->n);
	uint32_t value = bt_rng_below(rng, 2) ? bt_index_highest(index) : bt_rng_below(rng, s->value_n);
	uint16_t after = any_value(rng, s, sparse);

	assert_int_equal(bt_index_highest(index), highest(s, s->value_n));
	assert_int_equal(bt_index_below(index, value), highest(s, value));
	uint32_t but = bt_rng_below(rng, 2) ? bt_rng_below(rng, 8) : slot;
	assert_int_equal(bt_index_behind(index, but), highest_but(s, but));
	for (int masked = 0; value && masked < 2; masked++) {
		assert_int_equal(bt_index_first(index, value, masked ? s->mask : NULL, start),
			first(s, value, masked, start));
	}
	bt_index_move(index, slot, s->value[slot], after);
	s->value[slot] = after;
}

static void an_index_answers_as_a_search_does(void **state)
{
	struct bt_rng rng = {seed_or(21)};
	struct slots *s = bt_mem_zalloc(1, sizeof(*s));

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct bt_index index = {0};
		bool sparse = round % 2;

		s->n = 1 + bt_rng_below(&rng, round % 3 ? 300 : SLOTS_MAX);
		s->value_n = 2 + bt_rng_below(&rng, round % 5 ? 20 : BT_INDEX_VALUES - 1);
		for (uint32_t i = 0; i < s->n; i++) {
			s->value[i] = any_value(&rng, s, sparse);
		}
		for (size_t w = 0; w < sizeof(s->mask) / sizeof(s->mask[0]); w++) {
			s->mask[w] = bt_rng_next(&rng) & bt_rng_next(&rng);
		}
		bt_index_build(&index, s->value, s->n, s->value_n);
		for (int step = 0; step < 200; step++) {
			compare(&rng, s, &index, sparse);
		}
		bt_index_fini(&index);
	}
	bt_mem_free(s);
}

/* Too many for one word of the top bitmap. */
#define MANY 600000
#define FEW  24

/* A random slot, often at a boundary of a bitmap's words. */
static uint32_t any_slot(struct bt_rng *rng)
{
	static const uint32_t borders[] = {0, 63, 64, 4095, 4096, 262143, 262144, 524287, 524288, MANY - 1};

	return bt_rng_below(rng, 2) ? bt_rng_below(rng, MANY)
				    : borders[bt_rng_below(rng, sizeof(borders) / sizeof(*borders))];
}

/* The first of the slots from start on, cyclically. */
static uint32_t first_of(const uint32_t *slots, uint32_t n, const uint64_t *mask, uint32_t start)
{
	uint32_t best = BT_INDEX_NONE, least = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t away = (slots[i] + MANY - start) % MANY;

		if (away < least && (!mask || bt_bitmap_test(mask, slots[i]))) {
			best = slots[i];
			least = away;
		}
	}
	return best;
}

/* Adds a slot to those that have the value, or removes it. */
static uint32_t turn_over(struct bt_index *index, uint32_t *slots, uint32_t n, uint32_t slot)
{
	for (uint32_t i = 0; i < n; i++) {
		if (slots[i] == slot) {
			bt_index_move(index, slot, 1, 2);
			slots[i] = slots[n - 1];
			return n - 1;
		}
	}
	bt_index_move(index, slot, 2, 1);
	slots[n] = slot;
	return n + 1;
}

/* A top bit is set exactly for each word above that has bits; otherwise searches would be long. */
static void assert_top_is_right(const struct bt_index *index, uint32_t value)
{
	const uint64_t *top = index->rows + (size_t)value * index->row_n, *above = top + index->top_n;

	for (uint32_t i = 0; i < index->above_n - index->top_n; i++) {
		assert_int_equal(bt_bitmap_test(top, i), above[i] != 0);
	}
}

static void a_few_of_very_many_slots_are_found(void **state)
{
	struct bt_rng rng = {seed_or(22)};
	uint16_t *values = bt_mem_zalloc(MANY, sizeof(*values));
	uint64_t *mask = bt_mem_zalloc(bt_bitmap_words(MANY), sizeof(*mask));
	uint32_t slots[FEW + 1], n = 0, found_n = 0;
	struct bt_index index = {0};

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		values[i] = 2;
	}
	for (uint32_t w = 0; w < bt_bitmap_words(MANY); w++) {
		mask[w] = bt_rng_next(&rng);
	}
	bt_index_build(&index, values, MANY, 3);
	for (int step = 0; step < 20000; step++) {
		uint32_t start = any_slot(&rng);

		n = turn_over(&index, slots, n,
			n < FEW && bt_rng_below(&rng, 3) ? any_slot(&rng)
			: n				 ? slots[bt_rng_below(&rng, n)]
							 : 7);
		uint32_t slot = bt_index_first(&index, 1, NULL, start);
		assert_int_equal(slot, first_of(slots, n, NULL, start));
		assert_int_equal(bt_index_first(&index, 1, mask, start), first_of(slots, n, mask, start));
		found_n += slot != BT_INDEX_NONE;
		assert_top_is_right(&index, 1);
	}
	assert_in_range(found_n, 10000, 19999);
	bt_index_fini(&index);
	bt_mem_free(mask);
	bt_mem_free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_answers_as_a_search_does),
		cmocka_unit_test(a_few_of_very_many_slots_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
