/* SPDX-License-Identifier: Apache-2.0
 * Event counts: a wake-up between preparing and waiting is not lost, and a wait ends at its timeout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "engine/base/clock.h"
#include "engine/base/eventcount.h"

enum { MILLISECOND_NS = 1000000 };

static void a_wake_up_after_preparing_is_not_lost(void **state)
{
	struct bt_eventcount park;

	(void)state;
	bt_eventcount_init(&park);
	uint32_t key = bt_eventcount_prepare(&park);
	bt_eventcount_wake(&park);
	assert_true(bt_eventcount_wait(&park, key, BT_EVENTCOUNT_FOREVER));
	assert_true(bt_load_relaxed(&park.wakes) == 1);
}

static void waking_without_waiters_has_no_effect(void **state)
{
	struct bt_eventcount park;

	(void)state;
	bt_eventcount_init(&park);
	bt_eventcount_wake(&park);
	bt_eventcount_wake(&park);
	assert_true(bt_load_relaxed(&park.wakes) == 0);
	uint32_t key = bt_eventcount_prepare(&park);
	assert_false(bt_eventcount_wait(&park, key, 1));
}

static void a_wait_ends_with_its_time(void **state)
{
	struct bt_eventcount park;

	(void)state;
	bt_eventcount_init(&park);
	for (int64_t timeout_ns = 0; timeout_ns <= MILLISECOND_NS; timeout_ns += MILLISECOND_NS / 2) {
		uint32_t key = bt_eventcount_prepare(&park);
		int64_t begin_ns = bt_clock_monotonic_ns();

		assert_false(bt_eventcount_wait(&park, key, timeout_ns));
		assert_true(bt_clock_monotonic_ns() - begin_ns >= timeout_ns);
	}
	assert_false(bt_eventcount_wait(&park, bt_eventcount_prepare(&park), -5));
}

static void a_wake_up_in_time_counts_even_when_the_time_is_over(void **state)
{
	struct bt_eventcount park;

	(void)state;
	bt_eventcount_init(&park);
	uint32_t key = bt_eventcount_prepare(&park);
	bt_eventcount_wake(&park);
	assert_true(bt_eventcount_wait(&park, key, 0));
}

static void one_wake_up_serves_all_that_prepared(void **state)
{
	struct bt_eventcount park;

	(void)state;
	bt_eventcount_init(&park);
	uint32_t first = bt_eventcount_prepare(&park);
	uint32_t second = bt_eventcount_prepare(&park);
	bt_eventcount_wake(&park);
	bt_eventcount_wake(&park);
	assert_true(bt_load_relaxed(&park.wakes) == 1);
	assert_true(bt_eventcount_wait(&park, first, BT_EVENTCOUNT_FOREVER));
	assert_true(bt_eventcount_wait(&park, second, BT_EVENTCOUNT_FOREVER));
}

struct sleeper {
	struct bt_eventcount park;
	_Atomic uint32_t flag, seen;
};

static void *sleep_for_flag(void *context)
{
	struct sleeper *sleeper = context;

	while (!bt_load_acquire(&sleeper->flag)) {
		uint32_t key = bt_eventcount_prepare(&sleeper->park);

		if (!bt_load_acquire(&sleeper->flag)) {
			assert_true(bt_eventcount_wait(&sleeper->park, key, BT_EVENTCOUNT_FOREVER));
		}
	}
	bt_add(&sleeper->seen, 1);
	return NULL;
}

static void every_sleeper_wakes(void **state)
{
	struct sleeper sleeper = {.flag = 0};
	pthread_t threads[3];

	(void)state;
	bt_eventcount_init(&sleeper.park);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, sleep_for_flag, &sleeper), 0);
	}
	while (!bt_load_relaxed(&sleeper.park.armed)) {
		bt_cpu_relax();
	}
	bt_store_release(&sleeper.flag, 1);
	bt_eventcount_wake(&sleeper.park);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
	}
	assert_int_equal(bt_load_relaxed(&sleeper.seen), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wake_up_after_preparing_is_not_lost),
		cmocka_unit_test(waking_without_waiters_has_no_effect),
		cmocka_unit_test(a_wait_ends_with_its_time),
		cmocka_unit_test(a_wake_up_in_time_counts_even_when_the_time_is_over),
		cmocka_unit_test(one_wake_up_serves_all_that_prepared),
		cmocka_unit_test(every_sleeper_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
