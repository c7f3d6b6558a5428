/* SPDX-License-Identifier: Apache-2.0
 * Bitmaps against an array of bools.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "engine/base/bitmap.h"
#include "engine/base/rng.h"
#include "seed.h"

static void words_round_up(void **state)
{
	(void)state;
	assert_int_equal(bt_bitmap_words(0), 0);
	assert_int_equal(bt_bitmap_words(1), 1);
	assert_int_equal(bt_bitmap_words(64), 1);
	assert_int_equal(bt_bitmap_words(65), 2);
}

static void setting_a_bit_leaves_its_neighbours(void **state)
{
	static const size_t bits[] = {0, 1, 31, 32, 62, 63, 64, 65, 127, 128};

	(void)state;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		uint64_t words[3] = {0};

		bt_bitmap_set(words, bits[i]);
		bt_bitmap_set(words, bits[i]);
		for (size_t bit = 0; bit < 192; bit++) {
			assert_int_equal(bt_bitmap_test(words, bit), bit == bits[i]);
		}
		assert_int_equal(bt_bitmap_count(words, 192), 1);
		bt_bitmap_clear(words, bits[i]);
		bt_bitmap_clear(words, bits[i]);
		assert_int_equal(bt_bitmap_count(words, 192), 0);
	}
}

static void random_changes_agree_with_an_array(void **state)
{
	enum { BIT_N = 777 };
	static bool want[BIT_N];
	uint64_t words[(BIT_N + 63) / 64] = {0};
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (int step = 0; step < 20000; step++) {
		size_t bit = bt_rng_below(&rng, BIT_N), count = 0;

		want[bit] = bt_rng_below(&rng, 2);
		if (want[bit]) {
			bt_bitmap_set(words, bit);
		} else {
			bt_bitmap_clear(words, bit);
		}
		size_t other = bt_rng_below(&rng, BIT_N);
		assert_int_equal(bt_bitmap_test(words, other), want[other]);
		if (step % 100 == 0) {
			for (size_t i = 0; i < BIT_N; i++) {
				count += want[i];
			}
			assert_int_equal(bt_bitmap_count(words, BIT_N), count);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_round_up),
		cmocka_unit_test(setting_a_bit_leaves_its_neighbours),
		cmocka_unit_test(random_changes_agree_with_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
