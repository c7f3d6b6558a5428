/* SPDX-License-Identifier: Apache-2.0
 * Pods on nodes that wait in the queue for the resources of their resizes.
 */
#include "trial.h"

#include "queue/queue.h"

static struct trial begin_with_gate(void **state)
{
	const struct bt_engine_options options = {.no_backoff = true, .strict_order = true};
	struct trial t = {.f = *state};
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_find(bt_str("1.37")));
	gates.on[BT_GATE_IN_PLACE_POD_VERTICAL_SCALING_SCHEDULER_PREEMPTION] = true;
	bt_config_init_default(&t.config, &gates);
	start(&t, &options);
	return t;
}

#define POD                                                                                                  \
	"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: grows}, spec: {nodeName: n1, "     \
	"schedulerName: default-scheduler, priority: 5, nodeSelector: {disk: none}, containers: [{name: a, " \
	"resources: {requests: {cpu: '%s'}}}]}, status: {conditions: [{type: PodResizePending, "             \
	"reason: %s}]}}"

static uint32_t add_resized(struct trial *t, const char *cpu)
{
	enum bt_entry entry;
	uint32_t ix;

	assert_int_equal(
		bt_engine_add_pod(t->engine, &read(t, POD, cpu, "Deferred")->pod, &entry, &ix), BT_OK);
	assert_int_equal(entry, BT_ENTERED_SCHEDULED);
	return ix;
}

static enum bt_wait where(struct trial *t, uint32_t pod)
{
	return bt_queue_info(bt_engine_queue(t->engine), pod).where;
}

static int64_t used(struct trial *t, uint32_t node)
{
	return bt_engine_cache(t->engine)->view.usage->nodes[node].used[BT_CPU];
}

static void apply_node(struct trial *t, const char *cpu, const char *policy)
{
	uint32_t ix;

	assert_int_equal(bt_engine_apply_node(t->engine,
				 &read(t,
					 "{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: "
					 "{podPreemptionPolicy: "
					 "{disableResizePreemption: [%2$s]}}, status: {allocatable: {cpu: "
					 "%1$s, pods: 9}}}",
					 cpu, policy)
					  ->node,
				 &ix),
		BT_OK);
}

static void a_resize_without_room_waits_in_the_queue_and_counts_on_its_node(void **state)
{
	struct trial t = begin_with_gate(state);
	uint32_t node = add_node(&t, "n1", "2");

	add_node(&t, "n2", "8");
	uint32_t pod = add_resized(&t, "3");
	assert_int_equal(where(&t, pod), BT_WAIT_ACTIVE);
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_string_equal(message(&t, pod), "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't "
					      "satisfy plugin(s) [NodeName].");
	assert_int_equal(where(&t, pod), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(used(&t, node), 3000);
	assert_int_equal(bt_engine_counts(t.engine).sets.scheduled, 1);
	assert_int_equal(bt_engine_counts(t.engine).sets.queued, 0);
	end(&t);
}

static void a_resize_takes_room_from_lower_pods_of_its_node_alone(void **state)
{
	struct trial t = begin_with_gate(state);

	add_node(&t, "n1", "4");
	add_node(&t, "n2", "4");
	add_pod(&t, "name: elsewhere", "nodeName: n2, " CPU("4"), "");
	uint32_t lower = add_pod(&t, "name: lower", "nodeName: n1, " CPU("2"), "");
	uint32_t pod = add_resized(&t, "3");
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.preempt, BT_PREEMPT_FOUND);
	assert_int_equal(decision.victim_n, 1);
	assert_int_equal(decision.victims[0].pod_ix, lower);
	assert_int_equal(bt_ledger_pod(bt_engine_cache(t.engine)->ledger, pod)->nominated_ix, BT_NO_NODE);
	bt_engine_remove_pod(t.engine, lower);
	assert_int_equal(where(&t, pod), BT_WAIT_ACTIVE);
	end(&t);
}

static void a_resize_with_room_is_tried_again_and_never_bound(void **state)
{
	struct trial t = begin_with_gate(state);
	uint32_t node = add_node(&t, "n1", "4"), pod = add_resized(&t, "3");

	for (int i = 0; i < 2; i++) {
		struct bt_decision decision = decide(&t, pod);

		assert_int_equal(decision.outcome, BT_FAILED);
		assert_int_equal(where(&t, pod), BT_WAIT_ACTIVE);
	}
	assert_int_equal(bt_engine_counts(t.engine).placed_n, 0);
	assert_int_equal(used(&t, node), 3000);
	end(&t);
}

static void a_node_may_keep_resizes_waiting(void **state)
{
	struct trial t = begin_with_gate(state);

	add_node(&t, "n1", "4");
	apply_node(&t, "4", "example.com/owner");
	add_pod(&t, "name: lower", "nodeName: n1, " CPU("2"), "");
	uint32_t pod = add_resized(&t, "3");
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.victim_n, 0);
	assert_string_equal(
		message(&t, pod), "0/1 nodes are available: 1 node had resize preemption disabled.");
	apply_node(&t, "8", "example.com/owner");
	assert_int_equal(where(&t, pod), BT_WAIT_UNSCHEDULABLE);
	apply_node(&t, "8", "");
	assert_int_equal(where(&t, pod), BT_WAIT_ACTIVE);
	end(&t);
}

static void a_resize_that_ends_leaves_the_queue_and_one_that_begins_enters_it(void **state)
{
	struct trial t = begin_with_gate(state);
	uint32_t node = add_node(&t, "n1", "2"), pod = add_resized(&t, "3");

	assert_int_equal(bt_engine_update_pod(t.engine, pod, &read(&t, POD, "1", "Infeasible")->pod), BT_OK);
	assert_int_equal(where(&t, pod), BT_WAIT_NOWHERE);
	assert_int_equal(bt_engine_update_pod(t.engine, pod, &read(&t, POD, "3", "Deferred")->pod), BT_OK);
	assert_int_equal(where(&t, pod), BT_WAIT_ACTIVE);
	decide(&t, pod);
	assert_int_equal(where(&t, pod), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_engine_update_pod(t.engine, pod, &read(&t, POD, "4", "Deferred")->pod), BT_OK);
	assert_int_equal(where(&t, pod), BT_WAIT_ACTIVE);
	bt_engine_remove_pod(t.engine, pod);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	assert_int_equal(used(&t, node), 0);
	end(&t);
}

static void twins_that_are_on_two_nodes_are_judged_each_on_its_own(void **state)
{
	static const char twin[] =
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: %s}, spec: {nodeName: %s, "
		"schedulerName: default-scheduler, " CPU("3") "}, status: {conditions: [{type: "
							      "PodResizePending, reason: Deferred}]}}";
	struct trial t = begin_with_gate(state);
	enum bt_entry entry;
	uint32_t full, free;

	add_node(&t, "n1", "2");
	add_node(&t, "n2", "4");
	bt_engine_add_pod(t.engine, &read(&t, twin, "a", "n1")->pod, &entry, &full);
	bt_engine_add_pod(t.engine, &read(&t, twin, "b", "n2")->pod, &entry, &free);
	assert_int_equal(decide(&t, full).outcome, BT_REFUSED);
	assert_int_equal(decide(&t, free).outcome, BT_FAILED);
	assert_int_equal(where(&t, full), BT_WAIT_UNSCHEDULABLE);
	end(&t);
}

/* Changes the pod between its cycle's halves. Returns its queue afterwards. */
static enum bt_wait end_of_cycle(void **state, const char *reason)
{
	struct trial t = begin_with_gate(state);
	struct bt_decision decision;

	add_node(&t, "n1", "2");
	uint32_t pod = add_resized(&t, "3");
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	if (reason) {
		bt_engine_update_pod(t.engine, pod, &read(&t, POD, "3", reason)->pod);
	} else {
		bt_engine_remove_pod(t.engine, pod);
	}
	bt_engine_end(t.engine, &decision);
	enum bt_wait after = where(&t, pod);
	assert_int_equal(bt_engine_counts(t.engine).sets.scheduled, reason != NULL);
	end(&t);
	return after;
}

static void a_resize_that_ends_during_its_cycle_is_not_queued_again(void **state)
{
	assert_int_equal(end_of_cycle(state, "Infeasible"), BT_WAIT_NOWHERE);
	assert_int_equal(end_of_cycle(state, NULL), BT_WAIT_NOWHERE);
	assert_int_equal(end_of_cycle(state, "Deferred"), BT_WAIT_UNSCHEDULABLE);
}

static void without_the_gate_or_a_profile_a_resize_waits_for_the_kubelet_alone(void **state)
{
	struct trial t = begin(state), other = begin_with_gate(state);
	enum bt_entry entry;
	uint32_t ix;

	add_node(&t, "n1", "2");
	assert_int_equal(where(&t, add_resized(&t, "3")), BT_WAIT_NOWHERE);
	end(&t);
	add_node(&other, "n1", "2");
	assert_int_equal(
		bt_engine_add_pod(other.engine,
			&read(&other,
				"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: p}, "
				"spec: {nodeName: n1, schedulerName: %s, " CPU(
					"3") "}, status: "
					     "{conditions: [{type: PodResizePending, reason: %s}]}}",
				"another", "Deferred")
				 ->pod,
			&entry, &ix),
		BT_OK);
	assert_int_equal(bt_engine_pop(other.engine), BT_NO_POD);
	end(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_resize_without_room_waits_in_the_queue_and_counts_on_its_node),
		FIXTURE_TEST(a_resize_takes_room_from_lower_pods_of_its_node_alone),
		FIXTURE_TEST(a_resize_with_room_is_tried_again_and_never_bound),
		FIXTURE_TEST(a_node_may_keep_resizes_waiting),
		FIXTURE_TEST(a_resize_that_ends_leaves_the_queue_and_one_that_begins_enters_it),
		FIXTURE_TEST(twins_that_are_on_two_nodes_are_judged_each_on_its_own),
		FIXTURE_TEST(a_resize_that_ends_during_its_cycle_is_not_queued_again),
		FIXTURE_TEST(without_the_gate_or_a_profile_a_resize_waits_for_the_kubelet_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
