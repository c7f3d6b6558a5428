/* SPDX-License-Identifier: Apache-2.0
 * The token bucket admits the same calls as golang.org/x/time/rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/cluster/write/rate_limiter.h"

#define S INT64_C(1000000000)

static void a_burst_goes_at_once_and_then_qps_a_second(void **state)
{
	struct bt_rate_limiter throttle;
	int64_t now_ns = 5 * S, wait_ns;

	(void)state;
	bt_rate_limiter_init(&throttle, 50, 100, now_ns);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(bt_rate_limiter_take(&throttle, now_ns), 0);
	}
	wait_ns = bt_rate_limiter_take(&throttle, now_ns);
	assert_in_range(wait_ns, S / 50, S / 50 + 2);
	assert_int_not_equal(bt_rate_limiter_take(&throttle, now_ns + wait_ns - 10), 0);
	for (int i = 0; i < 250; i++) {
		now_ns += S / 50 + 1;
		assert_int_equal(bt_rate_limiter_take(&throttle, now_ns), 0);
		assert_int_not_equal(bt_rate_limiter_take(&throttle, now_ns), 0);
	}
}

static void idle_time_fills_it_up_to_the_burst_and_no_further(void **state)
{
	struct bt_rate_limiter throttle;
	int n = 0;

	(void)state;
	bt_rate_limiter_init(&throttle, 10, 3, 0);
	while (!bt_rate_limiter_take(&throttle, 3600 * S)) {
		n++;
	}
	assert_int_equal(n, 3);
}

static void a_backpressured_event_waits_from_then_on(void **state)
{
	struct bt_rate_limiter throttle;

	(void)state;
	bt_rate_limiter_init(&throttle, 10, 2, 0);
	assert_int_equal(bt_rate_limiter_take(&throttle, 0), 0);
	assert_int_equal(bt_rate_limiter_waited(&throttle, 0, 0), 0);
	assert_int_equal(bt_rate_limiter_take(&throttle, 0), 0);
	assert_int_not_equal(bt_rate_limiter_take(&throttle, 0), 0);
	assert_int_equal(bt_rate_limiter_take(&throttle, S / 10 + 1), 0);
	assert_int_equal(bt_rate_limiter_waited(&throttle, 0, S / 10 + 1), S / 10 + 1);
	/* The next one was due all the while; one that came later has waited less. */
	assert_int_not_equal(bt_rate_limiter_take(&throttle, S / 10 + 1), 0);
	assert_int_equal(bt_rate_limiter_take(&throttle, S / 5 + 2), 0);
	assert_int_equal(bt_rate_limiter_waited(&throttle, 0, S / 5 + 2), S / 5 + 2);
	assert_int_equal(bt_rate_limiter_waited(&throttle, S / 5, S / 5 + 2), 2);
	/* With tokens available no call waits, however long ago it came. */
	assert_int_equal(bt_rate_limiter_take(&throttle, 10 * S), 0);
	assert_int_equal(bt_rate_limiter_waited(&throttle, 0, 10 * S), 0);
}

static void without_a_limit_no_call_waits(void **state)
{
	struct bt_rate_limiter throttle;

	(void)state;
	bt_rate_limiter_init(&throttle, -1, 1, 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(bt_rate_limiter_take(&throttle, i), 0);
		assert_int_equal(bt_rate_limiter_waited(&throttle, 0, i), 0);
	}
}

static void returned_tokens_can_be_taken_again(void **state)
{
	struct bt_rate_limiter throttle;

	(void)state;
	bt_rate_limiter_init(&throttle, 1, 1, 0);
	bt_rate_limiter_return(&throttle);
	assert_int_equal(bt_rate_limiter_take(&throttle, 0), 0);
	assert_int_not_equal(bt_rate_limiter_take(&throttle, 0), 0);
	bt_rate_limiter_return(&throttle);
	assert_int_equal(bt_rate_limiter_take(&throttle, 0), 0);
	assert_int_not_equal(bt_rate_limiter_take(&throttle, 0), 0);
}

static void a_clock_that_goes_back_gives_nothing(void **state)
{
	struct bt_rate_limiter throttle;

	(void)state;
	bt_rate_limiter_init(&throttle, 1, 1, 10 * S);
	assert_int_equal(bt_rate_limiter_take(&throttle, 10 * S), 0);
	assert_int_not_equal(bt_rate_limiter_take(&throttle, 0), 0);
	assert_int_not_equal(bt_rate_limiter_take(&throttle, 10 * S + S / 2), 0);
	assert_int_equal(bt_rate_limiter_take(&throttle, 11 * S), 0);
}

static void below_zero_there_is_no_limit(void **state)
{
	struct bt_rate_limiter throttle;

	(void)state;
	bt_rate_limiter_init(&throttle, -1, 1, 0);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(bt_rate_limiter_take(&throttle, 0), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_goes_at_once_and_then_qps_a_second),
		cmocka_unit_test(idle_time_fills_it_up_to_the_burst_and_no_further),
		cmocka_unit_test(a_backpressured_event_waits_from_then_on),
		cmocka_unit_test(without_a_limit_no_call_waits),
		cmocka_unit_test(returned_tokens_can_be_taken_again),
		cmocka_unit_test(a_clock_that_goes_back_gives_nothing),
		cmocka_unit_test(below_zero_there_is_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
