/* SPDX-License-Identifier: Apache-2.0
 * An index over slots answers as a search through all of them does.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

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
	for (int masked = 0; value && masked < 2; masked++) {
		assert_int_equal(bt_index_first(index, value, masked ? s->mask : NULL, start),
			first(s, value, masked, start));
	}
	bt_index_move(index, slot, s->value[slot], after);
	s->value[slot] = after;
}

static void an_index_answers_as_a_search_does(void **state)
{
	const char *given = getenv("BT_SEED");
	struct bt_rng rng = {given ? strtoull(given, NULL, 10) : 21};
	struct slots *s = bt_mem_zalloc(1, sizeof(*s));

	(void)state;
	print_message("BT_SEED=%" PRIu64 "\n", rng.state);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_answers_as_a_search_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
