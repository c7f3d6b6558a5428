/* SPDX-License-Identifier: Apache-2.0
 * The reasons why pods entered their queues. Source: scheduler_queue_incoming_pods_total, v1.36.3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "queue/queue_int.h"

static void an_event_is_its_own_cause(void **state)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};

	(void)state;
	assert_int_equal(
		bt_cause_of(&event, BT_QUEUE_EMPTY), bt_cluster_event_label(BT_CLUSTER_EVENT_NODE, BT_ADD));
}

static void a_wildcard_is_time_for_all_and_force_for_one(void **state)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_WILDCARD};

	(void)state;
	assert_int_equal(bt_cause_of(&event, BT_QUEUE_EMPTY), BT_CAUSE_TIMEOUT);
	assert_int_equal(bt_cause_of(&event, 3), BT_CAUSE_FORCE_ACTIVATE);
}

static void gated_and_unschedulable_are_one_place(void **state)
{
	struct bt_slot slot = {.pod_ix = 0};
	struct bt_queue queue = {.slots = &slot, .slot_n = 1, .cause = BT_CAUSE_TIMEOUT};

	(void)state;
	bt_incoming_count(&queue, 0, BT_WAIT_GATED, BT_WAIT_UNSCHEDULABLE);
	bt_incoming_count(&queue, 0, BT_WAIT_UNSCHEDULABLE, BT_WAIT_GATED);
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_UNSCHEDULABLE, BT_CAUSE_TIMEOUT), 0);
	bt_incoming_count(&queue, 0, BT_WAIT_IN_FLIGHT, BT_WAIT_UNSCHEDULABLE);
	bt_incoming_count(&queue, 0, BT_WAIT_ACTIVE, BT_WAIT_GATED);
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_UNSCHEDULABLE, BT_CAUSE_TIMEOUT), 2);
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_GATED, BT_CAUSE_TIMEOUT), 2);
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_ACTIVE, BT_CAUSE_TIMEOUT), 0);
}

static void a_queued_pod_is_counted_by_queue_and_event(void **state)
{
	struct bt_slot slot = {.pod_ix = 0};
	struct bt_queue queue = {.slots = &slot, .slot_n = 1, .cause = BT_CAUSE_BACKOFF_COMPLETE};

	(void)state;
	bt_incoming_count(&queue, 0, BT_WAIT_BACKOFF, BT_WAIT_ACTIVE);
	queue.cause = BT_CAUSE_ATTEMPT_FAILED;
	bt_incoming_count(&queue, 0, BT_WAIT_IN_FLIGHT, BT_WAIT_BACKOFF);
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_ACTIVE, BT_CAUSE_BACKOFF_COMPLETE), 1);
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_BACKOFF, BT_CAUSE_ATTEMPT_FAILED), 1);
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_BACKOFF, BT_CAUSE_BACKOFF_COMPLETE), 0);
}

static void newcomers_that_are_neither_gated_nor_late_are_active(void **state)
{
	const struct bt_queue queue = {.orders = 10, .gated_n = 3, .late_n = 2};

	(void)state;
	assert_int_equal(bt_queue_incoming(&queue, BT_WAIT_ACTIVE, BT_CAUSE_NEWCOMER), 5);
}

static void kept_events_are_counted_by_cause(void **state)
{
	struct bt_logged log[] = {
		{.event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD}, .only = BT_QUEUE_EMPTY},
		{.event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD}, .only = BT_QUEUE_EMPTY},
		{.event = {.resource = BT_CLUSTER_EVENT_WILDCARD}, .only = 4}};
	const struct bt_queue queue = {.log = log, .log_n = 3};
	uint64_t n[BT_CAUSE_N];

	(void)state;
	bt_queue_logged(&queue, n);
	assert_int_equal(n[bt_cluster_event_label(BT_CLUSTER_EVENT_NODE, BT_ADD)], 2);
	assert_int_equal(n[BT_CAUSE_FORCE_ACTIVATE], 1);
	assert_int_equal(n[BT_CAUSE_TIMEOUT], 0);
}

static void causes_are_written_as_upstream_writes_them(void **state)
{
	char text[BT_CLUSTER_EVENT_LABEL_BYTES];

	(void)state;
	bt_queue_cause_text(bt_release_default(), BT_CAUSE_ATTEMPT_FAILED, text);
	assert_string_equal(text, "ScheduleAttemptFailure");
	bt_queue_cause_text(bt_release_default(), BT_CAUSE_TIMEOUT, text);
	assert_string_equal(text, "UnschedulableTimeout");
	bt_queue_cause_text(
		bt_release_default(), bt_cluster_event_label(BT_CLUSTER_EVENT_NODE, BT_ADD), text);
	assert_string_equal(text, "NodeAdd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_its_own_cause),
		cmocka_unit_test(a_wildcard_is_time_for_all_and_force_for_one),
		cmocka_unit_test(gated_and_unschedulable_are_one_place),
		cmocka_unit_test(a_queued_pod_is_counted_by_queue_and_event),
		cmocka_unit_test(newcomers_that_are_neither_gated_nor_late_are_active),
		cmocka_unit_test(kept_events_are_counted_by_cause),
		cmocka_unit_test(causes_are_written_as_upstream_writes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
