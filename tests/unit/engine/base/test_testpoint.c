/* SPDX-License-Identifier: Apache-2.0
 * Testpoints: a thread is held at the chosen point, and hits are recorded. Without BT_TESTPOINTS,
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>

#include "engine/base/testpoint.h"
#include "seed.h"

#define LONG_NS 10000000000

static int begin(void **state)
{
	(void)state;
	bt_testpoint_off();
	return 0;
}

static _Atomic uint32_t step;

static void *walk(void *context)
{
	(void)context;
	for (uint32_t i = 0; i < 3; i++) {
		BT_TESTPOINT("test.walk.first");
		bt_add(&step, 1);
		BT_TESTPOINT("test.walk.second");
		bt_add(&step, 1);
	}
	return NULL;
}

static void walk_elsewhere(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, walk, NULL), 0);
	pthread_join(thread, NULL);
}

static void testpoints_do_nothing_until_enabled(void **state)
{
	const char *names[4];

	(void)state;
	walk(NULL);
	assert_int_equal(bt_testpoint_points(names, 4), 0);
	assert_false(bt_testpoint_await_held(0));
}

static void hit_testpoints_are_known_by_name(void **state)
{
	const char *names[4];

	(void)state;
	bt_testpoint_record();
	walk(NULL);
	walk_elsewhere();
	if (!bt_testpoint_is_built()) {
		assert_int_equal(bt_testpoint_points(names, 4), 0);
		skip();
	}
	assert_int_equal(bt_testpoint_points(names, 4), 2);
	assert_true(strcmp(names[0], "test.walk.first") == 0 || strcmp(names[1], "test.walk.first") == 0);
	assert_true(strcmp(names[0], "test.walk.second") == 0 || strcmp(names[1], "test.walk.second") == 0);
	assert_int_equal(bt_testpoint_points(names, 1), 2);
	bt_testpoint_off();
	assert_int_equal(bt_testpoint_points(names, 4), 0);
}

static void a_thread_stops_at_the_chosen_point(void **state)
{
	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	for (uint32_t skip_n = 0; skip_n < 3; skip_n++) {
		pthread_t thread;

		bt_store_relaxed(&step, 0);
		bt_testpoint_hold("test.walk.second", skip_n);
		assert_int_equal(pthread_create(&thread, NULL, walk, NULL), 0);
		assert_true(bt_testpoint_await_held(LONG_NS));
		assert_int_equal(bt_load_acquire(&step), 2 * skip_n + 1);
		walk_elsewhere(); /* others pass */
		assert_int_equal(bt_load_acquire(&step), 2 * skip_n + 7);
		bt_testpoint_release();
		assert_false(bt_testpoint_await_held(LONG_NS));
		pthread_join(thread, NULL);
		assert_int_equal(bt_load_acquire(&step), 12);
	}
}

static void a_hold_that_no_thread_reached_can_be_cancelled(void **state)
{
	(void)state;
	bt_testpoint_hold("test.walk.nowhere", 0);
	walk_elsewhere();
	assert_false(bt_testpoint_await_held(1000));
	bt_testpoint_release();
	bt_testpoint_hold("test.walk.first", 0);
	bt_testpoint_off();
	walk_elsewhere();
}

static void delays_change_nothing_but_time(void **state)
{
	(void)state;
	bt_testpoint_delay(seed_of_test());
	for (uint32_t i = 0; i < 100; i++) {
		bt_store_relaxed(&step, 0);
		walk_elsewhere();
		assert_int_equal(bt_load_relaxed(&step), 6);
	}
}

#define RACE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RACE_TEST(testpoints_do_nothing_until_enabled),
		RACE_TEST(hit_testpoints_are_known_by_name),
		RACE_TEST(a_thread_stops_at_the_chosen_point),
		RACE_TEST(a_hold_that_no_thread_reached_can_be_cancelled),
		RACE_TEST(delays_change_nothing_but_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
