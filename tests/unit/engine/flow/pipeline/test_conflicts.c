/* SPDX-License-Identifier: Apache-2.0
 * Between a decision and the binder's answer objects change: events end assumptions, each exactly once, and
 * no pod is on two nodes (I1, I2, I4).
 */
#include "lab.h"

#define TIMEOUT (31 * LAB_SECOND)
#define TTL	(61 * LAB_SECOND)

/* A node, and a pod with an open binding. Returns the binding's handle. */
static uint64_t begin_binding(struct lab *lab)
{
	lab_node(lab, "n1");
	lab_pod(lab, "p", ", 'uid': 'u1', 'resourceVersion': '10'");
	lab_settle(lab);
	assert_int_equal(lab->request_n, 1);
	lab_assert_sets(lab, 0, 1, 0);
	return lab->bind_requests[0].handle;
}

/* The same, but the binder thread has not processed it. */
static void begin_decision(struct lab *lab)
{
	lab_node(lab, "n1");
	lab_pod(lab, "p", ", 'uid': 'u1', 'resourceVersion': '10'");
	lab_take_in(lab);
	bt_pipeline_decide_step(lab->pipeline, 1);
	lab_assert_sets(lab, 0, 1, 0);
	assert_int_equal(lab->request_n, 0);
}

static void fail_binding(struct lab *lab, uint64_t handle)
{
	assert_int_equal(bt_pipeline_bind_failed(lab->pipeline, handle, bt_str("no")), BT_OK);
	lab_settle(lab);
}

static void answer_bound(struct lab *lab, uint64_t handle)
{
	assert_int_equal(bt_pipeline_bound(lab->pipeline, handle), BT_OK);
	lab_settle(lab);
}

/* Processes pending events; no binding is sent. */
static void settle_unsent(struct lab *lab)
{
	lab_take_in(lab);
	lab_settle(lab);
	assert_int_equal(lab->request_n, 0);
}

static void delete_pod(struct lab *lab)
{
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "p", ", 'uid': 'u1'", "");
}

static void a_pod_whose_binding_failed_is_tried_again(void **state)
{
	struct lab *lab = *state;

	fail_binding(lab, begin_binding(lab));
	lab_assert_sets(lab, 1, 0, 0);
	assert_int_equal(lab_counts(lab).failed_n, 1);
	lab_wait(lab, 2 * LAB_SECOND);
	assert_int_equal(lab->request_n, 2);
	answer_bound(lab, lab->bind_requests[1].handle);
	lab_assert_sets(lab, 0, 0, 1);
}

static void an_overdue_binding_keeps_its_node(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_wait(lab, TIMEOUT);
	assert_int_equal(lab_counts(lab).overdue_n, 1);
	lab_assert_sets(lab, 0, 1, 0);
	assert_int_equal(lab->request_n, 1);
	answer_bound(lab, handle);
	assert_int_equal(lab_counts(lab).late_n, 1);
	lab_assert_sets(lab, 0, 0, 1);
}

static void a_lost_answer_is_looked_up_until_the_outcome_is_known(void **state)
{
	struct lab *lab = *state;

	begin_binding(lab);
	lab_wait(lab, TTL);
	assert_int_equal(lab->request_n, 2);
	assert_int_equal(lab->bind_requests[1].verb, 'c');
	assert_string_equal(lab->bind_requests[1].pod, "p");
	assert_string_equal(lab->bind_requests[1].node, "n1");
	assert_int_equal(bt_pipeline_unknown(lab->pipeline, lab->bind_requests[1].handle), BT_OK);
	lab_wait(lab, TTL);
	assert_int_equal(lab->request_n, 3);
	assert_int_equal(lab_counts(lab).check_n, 2);
	lab_assert_sets(lab, 0, 1, 0);
	answer_bound(lab, lab->bind_requests[2].handle);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).recovered_n, 1);
	assert_int_equal(lab_counts(lab).binding_n, 0);
}

static void a_pod_that_is_not_bound_after_all_is_tried_again(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_wait(lab, TTL);
	fail_binding(lab, lab->bind_requests[1].handle);
	lab_assert_sets(lab, 1, 0, 0);
	assert_int_equal(bt_pipeline_bound(lab->pipeline, handle), BT_CONFLICT);
	assert_int_equal(lab_counts(lab).repeated_n, 1);
	lab_wait(lab, 2 * LAB_SECOND);
	assert_int_equal(lab->bind_requests[2].verb, 'b');
}

static void a_check_without_an_answer_is_repeated(void **state)
{
	struct lab *lab = *state;

	begin_binding(lab);
	lab_wait(lab, TTL);
	assert_int_equal(lab->request_n, 2);
	for (int i = 0; i < 4; i++) {
		lab_wait(lab, TTL);
	}
	assert_true(lab_counts(lab).check_n >= 3);
	lab_assert_sets(lab, 0, 1, 0);
}

static void an_answer_may_arrive_during_a_check(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_wait(lab, TTL);
	answer_bound(lab, handle);
	lab_assert_sets(lab, 0, 0, 1);
	fail_binding(lab, lab->bind_requests[1].handle);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).recovered_n, 0);
}

static void a_second_answer_changes_nothing(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	answer_bound(lab, handle);
	assert_int_equal(bt_pipeline_bound(lab->pipeline, handle), BT_CONFLICT);
	assert_int_equal(bt_pipeline_bind_failed(lab->pipeline, handle, bt_str("no")), BT_CONFLICT);
	lab_settle(lab);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).repeated_n, 2);
}

static void answers_to_nothing_are_counted(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	assert_int_equal(bt_pipeline_bound(lab->pipeline, 0), BT_CONFLICT);
	assert_int_equal(bt_pipeline_bound(lab->pipeline, UINT64_MAX), BT_CONFLICT);
	assert_int_equal(bt_pipeline_bound(lab->pipeline, handle + (UINT64_C(1) << 32)), BT_CONFLICT);
	assert_int_equal(bt_pipeline_evicted(lab->pipeline, handle), BT_CONFLICT);
	assert_int_equal(lab_counts(lab).bogus_n, 4);
	answer_bound(lab, handle);
}

static void a_pod_that_is_deleted_in_time_is_not_bound(void **state)
{
	struct lab *lab = *state;

	begin_decision(lab);
	delete_pod(lab);
	settle_unsent(lab);
	assert_int_equal(lab_counts(lab).cancelled_n, 1);
	assert_int_equal(lab_counts(lab).pod_gone_n, 1);
	lab_assert_sets(lab, 0, 0, 0);
}

static void a_pod_that_is_deleted_while_it_is_bound_is_gone(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	delete_pod(lab);
	lab_settle(lab);
	assert_null(lab_find(lab, "p"));
	fail_binding(lab, handle);
	lab_assert_sets(lab, 0, 0, 0);
}

static void a_deleted_pod_needs_no_answer(void **state)
{
	struct lab *lab = *state;

	begin_binding(lab);
	delete_pod(lab);
	lab_wait(lab, TTL);
	lab_assert_sets(lab, 0, 0, 0);
	assert_int_equal(lab_counts(lab).binding_n, 0);
	assert_int_equal(lab_counts(lab).recovered_n, 1);
	assert_int_equal(lab->request_n, 1);
}

static void a_recreated_pod_is_another_pod(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_pod(lab, "p", ", 'uid': 'u2', 'resourceVersion': '20'");
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).replaced_n, 1);
	assert_int_equal(lab->request_n, 2);
	assert_string_equal(lab->bind_requests[1].uid, "u2");
	fail_binding(lab, handle);
	answer_bound(lab, lab->bind_requests[1].handle);
	lab_assert_sets(lab, 0, 0, 1);
}

static void a_pod_that_changes_while_it_is_bound_stays_on_its_node(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_pod(lab, "p", ", 'uid': 'u1', 'resourceVersion': '11', 'labels': {'a': 'b'}");
	lab_settle(lab);
	lab_assert_sets(lab, 0, 1, 0);
	answer_bound(lab, handle);
	lab_assert_sets(lab, 0, 0, 1);
}

static void a_pod_that_begins_to_be_deleted_in_time_is_not_bound(void **state)
{
	struct lab *lab = *state;

	begin_decision(lab);
	lab_pod(lab, "p",
		", 'uid': 'u1', 'resourceVersion': '11', 'deletionTimestamp': '2026-01-01T00:00:00Z'");
	settle_unsent(lab);
	lab_assert_sets(lab, 1, 0, 0);
	lab_wait(lab, 20 * LAB_SECOND);
	assert_int_equal(lab->request_n, 0);
}

static void the_source_shows_the_binding_before_the_answer(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '11'",
		", 'nodeName': 'n1'");
	lab_settle(lab);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).shown_early_n, 1);
	answer_bound(lab, handle);
	lab_assert_sets(lab, 0, 0, 1);
}

static void a_binding_that_is_shown_needs_no_answer(void **state)
{
	struct lab *lab = *state;

	begin_binding(lab);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '11'",
		", 'nodeName': 'n1'");
	lab_wait(lab, TTL);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).binding_n, 0);
	assert_int_equal(lab->request_n, 1);
}

static void a_watch_event_confirms_a_binding_that_returned_an_error(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '11'",
		", 'nodeName': 'n1'");
	lab_settle(lab);
	fail_binding(lab, handle);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).shown_failed_n, 1);
}

static void a_pod_bound_by_another_scheduler_is_on_that_node(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_node(lab, "n2");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '11'",
		", 'nodeName': 'n2'");
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).elsewhere_n, 1);
	fail_binding(lab, handle);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_find(lab, "p")->node_ix, 1);
	lab_wait(lab, 20 * LAB_SECOND);
	assert_int_equal(lab->request_n, 1);
}

static void a_pod_bound_by_another_scheduler_is_not_bound_again(void **state)
{
	struct lab *lab = *state;

	begin_decision(lab);
	lab_node(lab, "n2");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '11'",
		", 'nodeName': 'n2'");
	settle_unsent(lab);
	lab_assert_sets(lab, 0, 0, 1);
}

static void the_reservation_of_a_pod_bound_elsewhere_is_freed(void **state)
{
	struct lab *lab = *state;

	lab_node(lab, "n1");
	lab_pod(lab, "p", ", 'uid': 'u1', 'resourceVersion': '10'");
	lab_pod(lab, "q", "");
	lab_pod(lab, "waits", "");
	lab_settle(lab);
	lab_assert_sets(lab, 1, 2, 0);
	lab_feed(lab,
		lab_watch_event(lab, BT_WATCH_EVENT_APPLY,
			"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n2'}, 'spec': "
			"{'unschedulable': true}, 'status': {'allocatable': {'cpu': '2', 'memory': '8Gi', "
			"'pods': '10'}}}"));
	lab_wait(lab, 20 * LAB_SECOND);
	assert_int_equal(lab->request_n, 2);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '11'",
		", 'nodeName': 'n2'");
	lab_settle(lab);
	lab_wait(lab, 5 * LAB_SECOND);
	assert_int_equal(lab->request_n, 3);
	assert_string_equal(lab->bind_requests[2].pod, "waits");
	lab_assert_sets(lab, 0, 2, 1);
}

static void a_pod_is_not_sent_to_a_node_that_has_gone(void **state)
{
	struct lab *lab = *state;

	begin_decision(lab);
	lab_node_event(lab, BT_WATCH_EVENT_DELETE, "n1", "");
	settle_unsent(lab);
	assert_int_equal(lab_counts(lab).node_gone_n, 1);
	assert_int_equal(lab_counts(lab).cancelled_n, 1);
	lab_assert_sets(lab, 1, 0, 0);
}

static void a_recreated_node_is_another_node(void **state)
{
	struct lab *lab = *state;

	begin_decision(lab);
	lab_node_event(lab, BT_WATCH_EVENT_DELETE, "n1", "");
	lab_node(lab, "n1");
	lab_take_in(lab);
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).cancelled_n, 1);
	lab_wait(lab, 2 * LAB_SECOND);
	assert_int_equal(lab->request_n, 1);
	answer_bound(lab, lab->bind_requests[0].handle);
	lab_assert_sets(lab, 0, 0, 1);
}

static void a_node_of_another_uid_is_another_node(void **state)
{
	struct lab *lab = *state;

	lab_node_event(lab, BT_WATCH_EVENT_APPLY, "n1", ", 'uid': 'a', 'resourceVersion': '1'");
	lab_pod(lab, "p", "");
	lab_take_in(lab);
	bt_pipeline_decide_step(lab->pipeline, 1);
	lab_node_event(lab, BT_WATCH_EVENT_APPLY, "n1", ", 'uid': 'a', 'resourceVersion': '2'");
	lab_take_in(lab);
	assert_int_equal(lab_counts(lab).node_gone_n, 0);
	lab_node_event(lab, BT_WATCH_EVENT_APPLY, "n1", ", 'uid': 'b', 'resourceVersion': '3'");
	lab_take_in(lab);
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).node_gone_n, 1);
	assert_int_equal(lab_counts(lab).cancelled_n, 1);
	assert_int_equal(lab->request_n, 0);
}

static void a_node_that_goes_while_its_pod_is_bound_leaves_it_to_the_answer(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_node_event(lab, BT_WATCH_EVENT_DELETE, "n1", "");
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).node_gone_n, 1);
	lab_assert_sets(lab, 0, 1, 0);
	fail_binding(lab, handle);
	lab_assert_sets(lab, 1, 0, 0);
}

/* Nodes before the pod's; deleting them moves it to another slot. */
static void move_node(struct lab *lab, enum bt_watch_event_kind kind)
{
	char name[16];

	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "before-%d", i);
		lab_node_event(lab, kind, name, ", 'labels': {'small': 'yes'}");
		lab_take_in(lab);
	}
	for (int i = 0; kind == BT_WATCH_EVENT_DELETE && i < 2; i++) {
		lab_pod(lab, "event", "");
		lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "event", "", "");
		lab_take_in(lab);
	}
}

static uint64_t moved_n(const struct lab *lab)
{
	return bt_engine_counts(bt_pipeline_engine(lab->pipeline)).node_move_n;
}

#define ON_N1 ", 'nodeSelector': {'large': 'yes'}"

/* A pod is decided for n1, the ninth node. sent: the binder has the request. */
static void begin_on_last(struct lab *lab, bool sent)
{
	move_node(lab, BT_WATCH_EVENT_APPLY);
	lab_node_event(lab, BT_WATCH_EVENT_APPLY, "n1", ", 'labels': {'large': 'yes'}");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '10'", ON_N1);
	lab_take_in(lab);
	bt_pipeline_decide_step(lab->pipeline, 1);
	if (sent) {
		lab_settle(lab);
	}
	assert_int_equal(lab->request_n, sent);
	assert_int_equal(lab_find(lab, "p")->node_ix, 8);
	move_node(lab, BT_WATCH_EVENT_DELETE);
	assert_true(moved_n(lab) > 0);
	assert_in_range(lab_find(lab, "p")->node_ix, 0, 3);
}

static void a_binding_on_its_way_is_its_nodes_whatever_slot_that_has(void **state)
{
	struct lab *lab = *state;

	begin_on_last(lab, true);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '11'",
		ON_N1 ", 'nodeName': 'n1'");
	lab_take_in(lab);
	assert_int_equal(lab_counts(lab).shown_early_n, 1);
	assert_int_equal(lab_counts(lab).elsewhere_n, 0);
	answer_bound(lab, lab->bind_requests[0].handle);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).bound_n, 1);
}

static void a_node_that_has_another_slot_takes_back_what_was_not_sent_when_it_goes(void **state)
{
	struct lab *lab = *state;

	begin_on_last(lab, false);
	/* Others that have its old slot, and would have its new one, are deleted first. */
	move_node(lab, BT_WATCH_EVENT_APPLY);
	move_node(lab, BT_WATCH_EVENT_DELETE);
	assert_int_equal(lab_counts(lab).node_gone_n, 0);
	lab_node_event(lab, BT_WATCH_EVENT_DELETE, "n1", "");
	lab_take_in(lab);
	assert_int_equal(lab_counts(lab).node_gone_n, 1);
	lab_settle(lab);
	assert_int_equal(lab->request_n, 0);
	assert_int_equal(lab_counts(lab).cancelled_n, 1);
	lab_assert_sets(lab, 1, 0, 0);
}

static void a_late_event_does_not_undo_a_later_one(void **state)
{
	struct lab *lab = *state;
	uint64_t handle = begin_binding(lab);

	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '12'",
		", 'nodeName': 'n1'");
	lab_pod(lab, "p", ", 'uid': 'u1', 'resourceVersion': '11'");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u1', 'resourceVersion': '12'",
		", 'nodeName': 'n1'");
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).stale_n, 2);
	answer_bound(lab, handle);
	lab_assert_sets(lab, 0, 0, 1);
}

static void a_late_delete_does_not_take_the_new_pod_away(void **state)
{
	struct lab *lab = *state;

	begin_binding(lab);
	lab_pod(lab, "p", ", 'uid': 'u2', 'resourceVersion': '20'");
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "p", ", 'uid': 'u1', 'resourceVersion': '15'", "");
	lab_settle(lab);
	assert_non_null(lab_find(lab, "p"));
	assert_int_equal(lab_counts(lab).stale_n, 1);
}

static void stale_events_do_not_restore_deleted_objects(void **state)
{
	struct lab *lab = *state;

	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "p", ", 'uid': 'u1', 'resourceVersion': '15'", "");
	lab_pod(lab, "p", ", 'uid': 'u1', 'resourceVersion': '14'");
	lab_settle(lab);
	assert_null(lab_find(lab, "p"));
	assert_int_equal(lab_counts(lab).unknown_n, 1);
	assert_int_equal(lab_counts(lab).stale_n, 1);
	assert_int_equal(lab->decision_n, 0);
}

static void a_victim_is_evicted_and_counts_as_leaving(void **state)
{
	struct lab *lab = *state;

	lab->answers = true;
	lab_node(lab, "n1");
	lab_pod(lab, "low1", ", 'uid': 'u1'");
	lab_pod(lab, "low2", ", 'uid': 'u2'");
	lab_settle(lab);
	lab_assert_sets(lab, 0, 0, 2);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high", ", 'uid': 'u3'", ", 'priority': 10");
	lab_settle(lab);
	assert_int_equal(lab->decision_n, 3);
	assert_int_equal(lab->decisions[2].outcome, BT_REFUSED);
	assert_int_equal(lab->decisions[2].victim_n, 1);
	assert_string_equal(lab->decisions[2].nominated, "n1");
	assert_int_equal(lab->request_n, 3);
	assert_int_equal(lab->bind_requests[2].verb, 'e');
	assert_int_equal(lab->bind_requests[2].preemption, 0);
	assert_int_equal(lab->bind_requests[2].after_n, 0);
	assert_int_equal(bt_pipeline_evicted(lab->pipeline, lab->bind_requests[2].handle), BT_OK);
	lab_settle(lab);
	assert_true(lab_find(lab, lab->bind_requests[2].pod)->terminating);
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, lab->bind_requests[2].pod, "", "");
	lab_wait(lab, 2 * LAB_SECOND);
	assert_int_equal(lab->decisions[3].outcome, BT_PLACED);
	assert_string_equal(lab->decisions[3].pod, "high");
}

static void the_last_of_several_victims_is_to_wait_for_the_others(void **state)
{
	struct lab *lab = *state;

	lab->answers = true;
	lab_node(lab, "n1");
	lab_pod(lab, "low1", ", 'uid': 'u1'");
	lab_pod(lab, "low2", ", 'uid': 'u2'");
	lab_settle(lab);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high", ", 'uid': 'u3'",
		", 'priority': 10, 'overhead': {'cpu': '1'}");
	lab_settle(lab);
	assert_int_equal(lab->decisions[2].victim_n, 2);
	assert_int_equal(lab->request_n, 4);
	assert_int_not_equal(lab->bind_requests[2].preemption, 0);
	assert_int_equal(lab->bind_requests[2].preemption, lab->bind_requests[3].preemption);
	assert_int_equal(lab->bind_requests[2].after_n, 0);
	assert_int_equal(lab->bind_requests[3].after_n, 1);
}

/* Two pods fill the only node; a third one must evict one of them. */
static void begin_eviction(struct lab *lab)
{
	lab->answers = true;
	lab_node(lab, "n1");
	lab_pod(lab, "low1", ", 'uid': 'u1'");
	lab_pod(lab, "low2", ", 'uid': 'u2'");
	lab_settle(lab);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high", ", 'uid': 'u3'", ", 'priority': 10");
	lab_settle(lab);
	assert_int_equal(lab->decision_n, 3);
	assert_int_equal(lab->request_n, 3);
	assert_int_equal(lab->bind_requests[2].verb, 'e');
}

/* The next attempt succeeds. */
static void evict_after_all(struct lab *lab)
{
	assert_int_equal(lab->decision_n, 4);
	assert_int_equal(lab->bind_requests[3].verb, 'e');
	assert_int_equal(bt_pipeline_evicted(lab->pipeline, lab->bind_requests[3].handle), BT_OK);
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, lab->bind_requests[3].pod, "", "");
	lab_wait(lab, 6 * LAB_SECOND);
	assert_int_equal(lab->decisions[4].outcome, BT_PLACED);
	assert_string_equal(lab->decisions[4].pod, "high");
}

static void a_pod_whose_victim_could_not_be_evicted_is_tried_again_after_its_backoff(void **state)
{
	struct lab *lab = *state;

	begin_eviction(lab);
	assert_int_equal(
		bt_pipeline_evict_failed(lab->pipeline, lab->bind_requests[2].handle, bt_str("no")), BT_OK);
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).evict_failed_n, 1);
	assert_int_equal(lab_counts(lab).evict_again_n, 1);
	assert_int_equal(lab->decision_n, 3);
	lab_wait(lab, 2 * LAB_SECOND);
	evict_after_all(lab);
}

static void an_eviction_without_an_answer_is_given_up_and_tried_again(void **state)
{
	struct lab *lab = *state;

	begin_eviction(lab);
	lab_wait(lab, 200 * LAB_SECOND);
	assert_int_equal(lab_counts(lab).evict_lost_n, 1);
	assert_int_equal(lab_counts(lab).evict_again_n, 1);
	assert_int_equal(bt_pipeline_evicted(lab->pipeline, lab->bind_requests[2].handle), BT_CONFLICT);
	evict_after_all(lab);
}

static void a_failed_eviction_of_a_deleted_pod_changes_nothing(void **state)
{
	struct lab *lab = *state;

	begin_eviction(lab);
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, lab->bind_requests[2].pod, "", "");
	lab_settle(lab);
	assert_int_equal(
		bt_pipeline_evict_failed(lab->pipeline, lab->bind_requests[2].handle, bt_str("gone")), BT_OK);
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).evict_failed_n, 1);
	assert_int_equal(lab_counts(lab).evict_again_n, 0);
}

static void a_failed_eviction_is_nothing_to_the_next_pod_of_that_name(void **state)
{
	struct lab *lab = *state;

	begin_eviction(lab);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high", ", 'uid': 'u4'", "");
	lab_settle(lab);
	assert_int_equal(lab->decision_n, 4);
	assert_int_equal(
		bt_pipeline_evict_failed(lab->pipeline, lab->bind_requests[2].handle, bt_str("no")), BT_OK);
	lab_wait(lab, 2 * LAB_SECOND);
	assert_int_equal(lab_counts(lab).evict_again_n, 0);
	assert_int_equal(lab->decision_n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(a_pod_whose_binding_failed_is_tried_again),
		LAB_TEST(an_overdue_binding_keeps_its_node),
		LAB_TEST(a_lost_answer_is_looked_up_until_the_outcome_is_known),
		LAB_TEST(a_pod_that_is_not_bound_after_all_is_tried_again),
		LAB_TEST(a_check_without_an_answer_is_repeated),
		LAB_TEST(an_answer_may_arrive_during_a_check),
		LAB_TEST(a_second_answer_changes_nothing),
		LAB_TEST(answers_to_nothing_are_counted),
		LAB_TEST(a_pod_that_is_deleted_in_time_is_not_bound),
		LAB_TEST(a_pod_that_is_deleted_while_it_is_bound_is_gone),
		LAB_TEST(a_deleted_pod_needs_no_answer),
		LAB_TEST(a_recreated_pod_is_another_pod),
		LAB_TEST(a_pod_that_changes_while_it_is_bound_stays_on_its_node),
		LAB_TEST(a_pod_that_begins_to_be_deleted_in_time_is_not_bound),
		LAB_TEST(the_source_shows_the_binding_before_the_answer),
		LAB_TEST(a_binding_that_is_shown_needs_no_answer),
		LAB_TEST(a_watch_event_confirms_a_binding_that_returned_an_error),
		LAB_TEST(a_pod_bound_by_another_scheduler_is_on_that_node),
		LAB_TEST(a_pod_bound_by_another_scheduler_is_not_bound_again),
		LAB_TEST(the_reservation_of_a_pod_bound_elsewhere_is_freed),
		LAB_TEST(a_pod_is_not_sent_to_a_node_that_has_gone),
		LAB_TEST(a_recreated_node_is_another_node),
		LAB_TEST(a_node_of_another_uid_is_another_node),
		LAB_TEST(a_node_that_goes_while_its_pod_is_bound_leaves_it_to_the_answer),
		LAB_TEST(a_binding_on_its_way_is_its_nodes_whatever_slot_that_has),
		LAB_TEST(a_node_that_has_another_slot_takes_back_what_was_not_sent_when_it_goes),
		LAB_TEST(a_late_event_does_not_undo_a_later_one),
		LAB_TEST(a_late_delete_does_not_take_the_new_pod_away),
		LAB_TEST(stale_events_do_not_restore_deleted_objects),
		LAB_TEST(a_victim_is_evicted_and_counts_as_leaving),
		LAB_TEST(the_last_of_several_victims_is_to_wait_for_the_others),
		LAB_TEST(a_pod_whose_victim_could_not_be_evicted_is_tried_again_after_its_backoff),
		LAB_TEST(an_eviction_without_an_answer_is_given_up_and_tried_again),
		LAB_TEST(a_failed_eviction_of_a_deleted_pod_changes_nothing),
		LAB_TEST(a_failed_eviction_is_nothing_to_the_next_pod_of_that_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
