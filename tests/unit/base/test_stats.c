/* SPDX-License-Identifier: Apache-2.0
 * Counters: each thread raises its own, sums lose nothing while threads come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/stats.h"
#include "engine/base/thread.h"

enum { PODS, WAITS, COUNTER_N };

static const struct bt_counter counters[COUNTER_N] = {
	[PODS] = {"pods_taken", "pods", "Pods taken."},
	[WAITS] = {"waits", "1", "Waits for a full ring."},
};

static void what_threads_count_is_added_up(void **state)
{
	struct bt_stats_set *set = bt_stats_create(counters, COUNTER_N);
	struct bt_stats *one = bt_stats_join(set, "one"), *two = bt_stats_join(set, "two");
	uint64_t values[COUNTER_N];

	(void)state;
	bt_count(one, PODS, 3);
	bt_count(two, PODS, 4);
	bt_count(two, WAITS, 1);
	bt_stats_read(set, values);
	assert_int_equal(values[PODS], 7);
	assert_int_equal(values[WAITS], 1);
	bt_stats_leave(&two);
	assert_null(two);
	bt_stats_leave(&two);
	bt_count(one, PODS, 1);
	bt_stats_read(set, values);
	assert_int_equal(values[PODS], 8);
	assert_int_equal(values[WAITS], 1);
	bt_stats_leave(&one);
	bt_stats_read(set, values);
	assert_int_equal(values[PODS], 8);
	bt_stats_destroy(set);
	bt_stats_destroy(NULL);
}

/* Threads that leave in any order leave the others on the list. */
static void leaving_from_the_middle_keeps_the_others(void **state)
{
	struct bt_stats_set *set = bt_stats_create(counters, COUNTER_N);
	struct bt_stats *stats[5];
	static const int order[] = {2, 0, 4, 1, 3};
	uint64_t values[COUNTER_N];

	(void)state;
	for (int i = 0; i < 5; i++) {
		stats[i] = bt_stats_join(set, "any");
		bt_count(stats[i], PODS, 1u << i);
	}
	for (int i = 0; i < 5; i++) {
		bt_stats_read(set, values);
		assert_int_equal(values[PODS], 31);
		bt_stats_leave(&stats[order[i]]);
	}
	bt_stats_read(set, values);
	assert_int_equal(values[PODS], 31);
	bt_stats_destroy(set);
}

static void counters_lie_on_cache_lines_of_their_thread(void **state)
{
	struct bt_stats_set *set = bt_stats_create(counters, COUNTER_N);
	struct bt_stats *one = bt_stats_join(set, "one"), *two = bt_stats_join(set, "two");
	uintptr_t a = (uintptr_t)&one->counters[0], b = (uintptr_t)&two->counters[0];

	(void)state;
	assert_int_equal(a % BT_CACHELINE, 0);
	assert_int_equal(b % BT_CACHELINE, 0);
	assert_true((a > b ? a - b : b - a) >= BT_CACHELINE);
	bt_stats_leave(&one);
	bt_stats_leave(&two);
	bt_stats_destroy(set);
}

static void append(void *context, const char *thread, const uint64_t *values)
{
	struct bt_buf *text = context;

	bt_buf_printf(text, "%s %llu %llu;", thread, (unsigned long long)values[PODS],
		(unsigned long long)values[WAITS]);
}

static void threads_are_shown_by_name_and_counters_by_row(void **state)
{
	struct bt_stats_set *set = bt_stats_create(counters, COUNTER_N);
	struct bt_stats *one = bt_stats_join(set, "scheduling"), *two = bt_stats_join(set, "binder-0");
	struct bt_buf text = {0};

	(void)state;
	bt_count(one, PODS, 5);
	bt_count(two, WAITS, 2);
	bt_stats_leave(&two);
	bt_stats_visit(set, append, &text);
	assert_string_equal(text.ptr, "scheduling 5 0;ended 0 2;");
	bt_buf_clear(&text);
	bt_stats_rows(set, &text);
	assert_string_equal(
		text.ptr, "pods_taken\t5\tpods\tPods taken.\nwaits\t2\t1\tWaits for a full ring.\n");
	bt_buf_fini(&text);
	bt_stats_leave(&one);
	bt_stats_destroy(set);
}

#define THREADS 4
#define JOINS	50
#define COUNTS	500

static void come_count_and_go(void *context)
{
	for (int join = 0; join < JOINS; join++) {
		struct bt_stats *mine = bt_stats_join(context, bt_thread_name());

		for (int i = 0; i < COUNTS; i++) {
			bt_count(mine, PODS, 1);
		}
		bt_stats_leave(&mine);
	}
}

static void a_sum_never_shrinks_while_threads_come_and_go(void **state)
{
	struct bt_stats_set *set = bt_stats_create(counters, COUNTER_N);
	struct bt_thread_options options = {.name = "counter"};
	struct bt_thread *threads[THREADS];
	uint64_t values[COUNTER_N], last = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(bt_thread_start(&options, come_count_and_go, set, &threads[i], NULL), BT_OK);
	}
	for (int i = 0; i < 2000; i++) {
		bt_stats_read(set, values);
		assert_true(values[PODS] >= last && values[PODS] <= THREADS * JOINS * COUNTS);
		last = values[PODS];
	}
	for (int i = 0; i < THREADS; i++) {
		bt_thread_join(&threads[i]);
	}
	bt_stats_read(set, values);
	assert_int_equal(values[PODS], THREADS * JOINS * COUNTS);
	bt_stats_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_threads_count_is_added_up),
		cmocka_unit_test(leaving_from_the_middle_keeps_the_others),
		cmocka_unit_test(counters_lie_on_cache_lines_of_their_thread),
		cmocka_unit_test(threads_are_shown_by_name_and_counters_by_row),
		cmocka_unit_test(a_sum_never_shrinks_while_threads_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
