/* SPDX-License-Identifier: Apache-2.0
 * Clocks: a virtual one returns its owner's time, the machine's advance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/clock.h"

static void a_virtual_clock_shows_the_time_that_its_owner_sets(void **state)
{
	int64_t now_ns = 5;
	struct bt_clock clock = bt_clock_virtual(&now_ns);

	(void)state;
	assert_true(bt_clock_now_ns(&clock) == 5);
	assert_true(bt_clock_now_ns(&clock) == 5);
	now_ns = INT64_MAX;
	assert_true(bt_clock_now_ns(&clock) == INT64_MAX);
	now_ns = -1;
	assert_true(bt_clock_now_ns(&clock) == -1);
}

static void the_real_clock_counts_nanoseconds_since_1970(void **state)
{
	struct bt_clock clock = bt_clock_real();

	(void)state;
	/* After the year 2020 and before 2200: the unit and the epoch are right. */
	assert_true(bt_clock_now_ns(&clock) > 1577836800ll * 1000000000);
	assert_true(bt_clock_now_ns(&clock) < 7258118400ll * 1000000000);
}

static void the_monotonic_clock_never_runs_back(void **state)
{
	int64_t last = bt_clock_monotonic_ns();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		int64_t now = bt_clock_monotonic_ns();

		assert_true(now >= last);
		last = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_virtual_clock_shows_the_time_that_its_owner_sets),
		cmocka_unit_test(the_real_clock_counts_nanoseconds_since_1970),
		cmocka_unit_test(the_monotonic_clock_never_runs_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
