/* SPDX-License-Identifier: Apache-2.0
 * The time as pods see it, and the times of the flush.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/flow/cycle/scheduling_clock.h"

#define SECOND BT_QUEUE_SECOND

struct trial {
	int64_t now_ns;
	struct bt_scheduling_clock clock;
	struct bt_queue *queue;
};

static bool always_queue(
	void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins)
{
	(void)context, (void)pod_ix, (void)event, (void)plugins;
	return true;
}

static void begin(struct trial *t, int64_t now_ns)
{
	const struct bt_queue_options options = {.initial_backoff_ns = BT_QUEUE_INITIAL_BACKOFF,
		.max_backoff_ns = BT_QUEUE_MAX_BACKOFF,
		.max_unschedulable_ns = BT_QUEUE_MAX_UNSCHEDULABLE,
		.hooks = {.hint = always_queue}};

	t->now_ns = now_ns;
	const struct bt_clock now = bt_clock_virtual(&t->now_ns);
	bt_scheduling_clock_init(&t->clock, &now);
	t->queue = bt_queue_create(&options);
}

/* Plugin 0 refuses a pod; without plugins it fails. */
static void refuse(struct trial *t, bt_plugin_set plugins)
{
	bt_queue_add(t->queue, 0, (struct bt_queue_kind){.signature_ix = 1}, t->now_ns);
	assert_int_equal(bt_queue_pop(t->queue), 0);
	bt_queue_refuse(t->queue, 0, plugins, 0, t->now_ns);
}

static void without_a_clock_the_latest_object_sets_the_time(void **state)
{
	const struct bt_clock none = {0};
	struct bt_scheduling_clock clock;

	(void)state;
	bt_scheduling_clock_init(&clock, &none);
	bt_scheduling_clock_saw(&clock, 20);
	bt_scheduling_clock_saw(&clock, 10);
	assert_int_equal(bt_scheduling_clock_now(&clock), 20);
	assert_true(bt_scheduling_clock_known(&clock) == INT64_MAX);
}

static void with_a_clock_objects_do_not_move_the_time(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, 5);
	bt_scheduling_clock_saw(&t.clock, 20);
	assert_int_equal(bt_scheduling_clock_now(&t.clock), 5);
	assert_int_equal(bt_scheduling_clock_known(&t.clock), 5);
	bt_queue_destroy(t.queue);
}

static void a_wait_counts_from_the_start_at_the_earliest(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, 100);
	t.now_ns = 150;
	bt_scheduling_clock_start(&t.clock);
	t.now_ns = 200;
	assert_int_equal(bt_scheduling_clock_waited(&t.clock, 20), 50);
	assert_int_equal(bt_scheduling_clock_waited(&t.clock, 180), 20);
	bt_queue_destroy(t.queue);
}

static void a_backoff_ends_at_the_next_whole_second(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, 10 * SECOND + 1);
	assert_true(bt_scheduling_clock_next_backoff(t.queue) == INT64_MAX);
	refuse(&t, 0);
	assert_true(bt_scheduling_clock_next_backoff(t.queue) == 12 * SECOND);
	bt_queue_destroy(t.queue);
}

static void a_tick_ends_backoffs_that_are_over(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, 10 * SECOND);
	refuse(&t, 0);
	bt_scheduling_clock_tick(&t.clock, t.queue);
	assert_int_equal(bt_queue_info(t.queue, 0).where, BT_WAIT_BACKOFF);
	t.now_ns = 13 * SECOND;
	bt_scheduling_clock_tick(&t.clock, t.queue);
	assert_int_equal(bt_queue_info(t.queue, 0).where, BT_WAIT_ACTIVE);
	bt_queue_destroy(t.queue);
}

/* At the flush 300 s after the start the pod has waited for 299 s; the next one requeues it. */
static void a_flush_is_at_a_multiple_of_thirty_seconds_from_the_start(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, 7 * SECOND);
	assert_true(bt_scheduling_clock_next_flush(&t.clock, t.queue, INT64_MAX) == INT64_MAX);
	t.now_ns = 8 * SECOND;
	refuse(&t, 1);
	int64_t flush_ns = bt_scheduling_clock_next_flush(&t.clock, t.queue, INT64_MAX);
	assert_true(flush_ns == (7 + 330) * SECOND);
	t.now_ns = (7 + 300) * SECOND;
	bt_scheduling_clock_tick(&t.clock, t.queue);
	t.now_ns = flush_ns - 1;
	bt_scheduling_clock_tick(&t.clock, t.queue);
	assert_int_equal(bt_queue_info(t.queue, 0).where, BT_WAIT_UNSCHEDULABLE);
	t.now_ns = flush_ns;
	bt_scheduling_clock_tick(&t.clock, t.queue);
	assert_int_equal(bt_queue_info(t.queue, 0).where, BT_WAIT_ACTIVE);
	bt_queue_destroy(t.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_clock_the_latest_object_sets_the_time),
		cmocka_unit_test(with_a_clock_objects_do_not_move_the_time),
		cmocka_unit_test(a_wait_counts_from_the_start_at_the_earliest),
		cmocka_unit_test(a_backoff_ends_at_the_next_whole_second),
		cmocka_unit_test(a_tick_ends_backoffs_that_are_over),
		cmocka_unit_test(a_flush_is_at_a_multiple_of_thirty_seconds_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
