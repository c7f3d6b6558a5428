/* SPDX-License-Identifier: Apache-2.0
 * Timers fire in the order of their times, then of their creation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/rng.h"
#include "tools/cluster/net/timers_int.h"

static void nothing(void *context)
{
	(void)context;
}

static void timers_are_taken_in_the_order_of_their_times(void **state)
{
	uint64_t seed = seed_or(20261121);
	struct bt_rng rng = {.state = seed};
	struct bt_timers timers = {0};
	struct bt_timer timer, before = {.due_ns = INT64_MIN};
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		bt_timers_add(&timers, (int64_t)(bt_rng_next(&rng) % 100), nothing, NULL);
		if (i % 3 == 0 && bt_timers_take(&timers, 10, &timer)) {
			assert_true(timer.due_ns <= 10);
			n++;
		}
	}
	while (bt_timers_take(&timers, INT64_MAX - 1, &timer)) {
		assert_true(timer.due_ns > before.due_ns ||
			    (timer.due_ns == before.due_ns && timer.number > before.number));
		before = timer;
		n++;
	}
	assert_int_equal(n, 2000);
	assert_true(bt_timers_due_ns(&timers) == INT64_MAX);
	bt_timers_fini(&timers);
}

static void a_timer_is_not_taken_before_its_time(void **state)
{
	struct bt_timers timers = {0};
	struct bt_timer timer;

	(void)state;
	assert_false(bt_timers_take(&timers, INT64_MAX, &timer));
	bt_timers_add(&timers, 5, nothing, &timers);
	assert_true(bt_timers_due_ns(&timers) == 5);
	assert_false(bt_timers_take(&timers, 4, &timer));
	assert_true(bt_timers_take(&timers, 5, &timer));
	assert_ptr_equal(timer.context, &timers);
	bt_timers_fini(&timers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_are_taken_in_the_order_of_their_times),
		cmocka_unit_test(a_timer_is_not_taken_before_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
