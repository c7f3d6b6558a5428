/* SPDX-License-Identifier: Apache-2.0
 * Random numbers: the published sequence, reproducible by stream and by counter, and uniform.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "seed.h"

/* The first outputs of SplitMix64 for seed 1234567, from its reference implementation. */
static void the_sequence_is_splitmix64(void **state)
{
	static const uint64_t want[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
		4593380528125082431u, 16408922859458223821u};
	struct bt_rng rng = {.state = 1234567};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_true(bt_rng_next(&rng) == want[i]);
	}
}

static void the_counter_form_is_the_stream(void **state)
{
	uint64_t seed = seed_of_test();
	struct bt_rng rng = {.state = seed};

	(void)state;
	for (uint64_t counter = 0; counter < 1000; counter++) {
		assert_true(bt_rng_at(seed, counter) == bt_rng_next(&rng));
	}
}

static void numbers_stay_below_their_bound(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	assert_int_equal(bt_rng_scale(UINT64_MAX, 7), 6);
	assert_int_equal(bt_rng_scale(0, 7), 0);
	assert_int_equal(bt_rng_scale(UINT64_MAX, UINT32_MAX), UINT32_MAX - 1);
	for (int i = 0; i < 10000; i++) {
		uint32_t n = 1 + bt_rng_below(&rng, 1000);

		assert_true(bt_rng_below(&rng, n) < n);
	}
	assert_int_equal(bt_rng_below(&rng, 1), 0);
}

/* 10 cells of 10,000 expected hits: the standard deviation is 95, so 600 off does not happen by chance. */
static void numbers_are_spread_evenly(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};
	int hits[10] = {0};

	(void)state;
	for (int i = 0; i < 100000; i++) {
		hits[bt_rng_below(&rng, 10)]++;
	}
	for (int i = 0; i < 10; i++) {
		assert_in_range(hits[i], 9400, 10600);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sequence_is_splitmix64),
		cmocka_unit_test(the_counter_form_is_the_stream),
		cmocka_unit_test(numbers_stay_below_their_bound),
		cmocka_unit_test(numbers_are_spread_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
