/* SPDX-License-Identifier: Apache-2.0
 * Transactions: what is tried counts inside, and is gone, or stays, afterwards.
 * tests/model/test_transaction.c compares with an engine that had none.
 */
#include "trial.h"

#include "engine/flow/cycle/transaction.h"

static uint32_t place(struct trial *t, uint32_t pod)
{
	uint32_t node;
	enum bt_outcome outcome = bt_transaction_place(t->engine, pod, &node);

	assert_int_equal(outcome == BT_PLACED, node != BT_NO_NODE);
	return node;
}

static const struct bt_pod *pod_at(const struct trial *t, uint32_t pod)
{
	return bt_ledger_pod(bt_engine_cache(t->engine)->ledger, pod);
}

static enum bt_wait where(const struct trial *t, uint32_t pod)
{
	return bt_queue_info(bt_engine_queue(t->engine), pod).where;
}

static void placed_pods_count_until_the_rollback(void **state)
{
	struct trial t = begin(state);
	uint32_t node = add_node(&t, "n1", "4"), first = add_pod(&t, "name: p1", CPU("3"), ""),
		 second = add_pod(&t, "name: p2", CPU("2"), "");

	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, first), node);
	assert_int_equal(place(&t, second), BT_NO_NODE);
	assert_string_equal(message(&t, second), "0/1 nodes are available: 1 Insufficient cpu. preemption: "
						 "0/1 nodes are available: 1 No preemption "
						 "victims found for incoming pod.");
	assert_int_equal(where(&t, first), BT_WAIT_ACTIVE);
	bt_transaction_roll_back(t.engine);
	assert_int_equal(bt_transaction_depth(t.engine), 0);
	assert_int_equal(pod_at(&t, first)->state, BT_POD_QUEUED);
	assert_int_equal(bt_engine_counts(t.engine).cycle_n, 0);
	assert_int_equal(decide(&t, first).node_ix, node);
	end(&t);
}

static void an_inner_transaction_rolls_back_alone(void **state)
{
	struct trial t = begin(state);
	uint32_t node = add_node(&t, "n1", "4"), first = add_pod(&t, "name: p1", CPU("3"), ""),
		 second = add_pod(&t, "name: p2", CPU("2"), "");

	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, first), node);
	bt_transaction_begin(t.engine);
	bt_transaction_evict(t.engine, first);
	assert_int_equal(place(&t, second), node);
	bt_transaction_roll_back(t.engine);
	assert_int_equal(pod_at(&t, first)->state, BT_POD_ASSUMED);
	assert_int_equal(place(&t, second), BT_NO_NODE);
	bt_transaction_roll_back(t.engine);
	end(&t);
}

static void an_evicted_pod_makes_room_until_it_is_restored(void **state)
{
	struct trial t = begin(state);
	uint32_t node = add_node(&t, "n1", "4"),
		 bound = add_pod(&t, "name: b", "nodeName: n1, " CPU("3"), ""),
		 pod = add_pod(&t, "name: p", CPU("2"), "");

	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, pod), BT_NO_NODE);
	bt_transaction_evict(t.engine, bound);
	assert_true(bt_transaction_has_evicted(t.engine, bound));
	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, pod), node);
	bt_transaction_roll_back(t.engine);
	bt_transaction_restore(t.engine, bound);
	assert_false(bt_transaction_has_evicted(t.engine, bound));
	assert_int_equal(place(&t, pod), BT_NO_NODE);
	bt_transaction_roll_back(t.engine);
	end(&t);
}

static void closing_a_node_drops_no_plan(void **state)
{
	struct trial t = begin(state);
	uint32_t first = add_node(&t, "n1", "4"), second = add_node(&t, "n2", "2"),
		 pod = add_pod(&t, "name: p", CPU("1"), "");
	const struct bt_snapshot *snapshot = bt_engine_cache(t.engine)->view.snapshot;

	bt_transaction_begin(t.engine);
	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, pod), first);
	bt_transaction_roll_back(t.engine);
	uint64_t layout = snapshot->layout_version;
	bt_transaction_begin(t.engine);
	bt_transaction_close_node(t.engine, first, true);
	assert_int_equal(place(&t, pod), second);
	bt_transaction_roll_back(t.engine);
	assert_int_equal(place(&t, pod), first);
	assert_int_equal(snapshot->layout_version, layout);
	bt_transaction_roll_back(t.engine);
	assert_false(snapshot->nodes[first].unschedulable);
	end(&t);
}

static void nodes_are_added_and_removed(void **state)
{
	struct trial t = begin(state);
	uint32_t first = add_node(&t, "n1", "2"), pod = add_pod(&t, "name: p", CPU("3"), ""), second;
	const struct bt_snapshot *snapshot = bt_engine_cache(t.engine)->view.snapshot;

	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, pod), BT_NO_NODE);
	assert_int_equal(bt_transaction_apply_node(t.engine,
				 &read(&t,
					 "{apiVersion: v1, kind: Node, metadata: {%s}, status: {allocatable: "
					 "{cpu: %s, pods: '9'}}}",
					 "name: n2", "4")
					  ->node,
				 &second),
		BT_OK);
	bt_transaction_remove_node(t.engine, first);
	assert_int_equal(snapshot->node_n, 1);
	assert_int_equal(place(&t, pod), second);
	bt_transaction_roll_back(t.engine);
	assert_int_equal(snapshot->node_n, 1);
	assert_int_equal(snapshot->slot_n, 1);
	assert_true(bt_bitmap_test(snapshot->live, first));
	assert_int_equal(add_node(&t, "n3", "4"), second);
	assert_int_equal(decide(&t, pod).node_ix, second);
	end(&t);
}

static void copies_have_names_that_are_free(void **state)
{
	struct trial t = begin(state);
	const struct bt_intern *intern = bt_engine_cache(t.engine)->dictionary->intern;

	add_node(&t, "n1", "4");
	uint32_t pod = add_pod(&t, "name: p", CPU("1500m"), "");
	add_pod(&t, "name: p-1", CPU("1"), "");
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n = 0;

		bt_transaction_begin(t.engine);
		for (uint32_t copy = pod; place(&t, copy) != BT_NO_NODE; n++) {
			copy = bt_transaction_add_copy(t.engine, pod);
			assert_true(bt_str_eq(
				bt_intern_str(intern, pod_at(&t, copy)->name), bt_str(n ? "p-3" : "p-2")));
		}
		assert_int_equal(n, 2);
		bt_transaction_roll_back(t.engine);
	}
	assert_int_equal(bt_engine_find_pod(t.engine, bt_str("default"), bt_str("p-2")), BT_NO_POD);
	end(&t);
}

static void pods_that_make_no_sense_are_not_added(void **state)
{
	struct trial t = begin(state);
	struct bt_pod_object pod = {.meta = {.name = bt_str("p"), .namespace_ = bt_str("default")}};
	uint32_t ix;

	add_pod(&t, "name: p", CPU("1"), "");
	bt_transaction_begin(t.engine);
	pod.spec.scheduler_name = bt_str("another");
	assert_int_equal(bt_transaction_add_pod(t.engine, &pod, &ix), BT_NOT_FOUND);
	pod.spec.scheduler_name = bt_str("default-scheduler");
	assert_int_equal(bt_transaction_add_pod(t.engine, &pod, &ix), BT_EXISTS);
	pod.meta.name = bt_str("q");
	pod.spec.node_name = bt_str("nowhere");
	assert_int_equal(bt_transaction_add_pod(t.engine, &pod, &ix), BT_NOT_FOUND);
	pod.spec.node_name = bt_str("");
	pod.phase = bt_str("Failed");
	assert_int_equal(bt_transaction_add_pod(t.engine, &pod, &ix), BT_NOT_FOUND);
	assert_int_equal(ix, BT_NO_POD);
	pod.phase = bt_str("");
	assert_int_equal(bt_transaction_add_pod(t.engine, &pod, &ix), BT_OK);
	bt_transaction_roll_back(t.engine);
	assert_false(bt_ledger_has(bt_engine_cache(t.engine)->ledger, ix));
	end(&t);
}

static void a_restriction_ends_with_its_transaction(void **state)
{
	struct trial t = begin(state);
	uint32_t first = add_node(&t, "n1", "2"), second = add_node(&t, "n2", "4"),
		 pod = add_pod(&t, "name: p", CPU("1"), "");

	bt_transaction_begin(t.engine);
	bt_transaction_begin(t.engine);
	assert_true(bt_transaction_restrict(t.engine, &first, 1));
	bt_transaction_begin(t.engine);
	assert_false(bt_transaction_restrict(t.engine, &second, 1));
	bt_transaction_roll_back(t.engine);
	assert_int_equal(place(&t, pod), first);
	bt_transaction_roll_back(t.engine);
	assert_int_equal(place(&t, pod), second);
	bt_transaction_roll_back(t.engine);
	end(&t);
}

static void a_commit_does_it_for_good(void **state)
{
	struct trial t = begin(state);
	uint32_t node = add_node(&t, "n1", "4"),
		 bound = add_pod(&t, "name: b", "nodeName: n1, " CPU("3"), ""),
		 pod = add_pod(&t, "name: p", CPU("2"), ""), big = add_pod(&t, "name: q", CPU("4"), ""), copy;

	assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	bt_transaction_begin(t.engine);
	bt_transaction_evict(t.engine, bound);
	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, pod), node);
	copy = bt_transaction_add_copy(t.engine, pod);
	assert_int_equal(place(&t, copy), node);
	bt_transaction_commit(t.engine, NULL);
	assert_int_equal(where(&t, pod), BT_WAIT_UNSCHEDULABLE);
	bt_transaction_commit(t.engine, NULL);
	assert_int_equal(bt_engine_find_pod(t.engine, bt_str("default"), bt_str("b")), BT_NO_POD);
	assert_int_equal(pod_at(&t, pod)->state, BT_POD_SCHEDULED);
	assert_int_equal(where(&t, pod), BT_WAIT_NOWHERE);
	copy = bt_engine_find_pod(t.engine, bt_str("default"), bt_str("p-1"));
	assert_int_not_equal(copy, BT_NO_POD);
	assert_int_equal(pod_at(&t, copy)->node_ix, node);
	assert_int_equal(decide(&t, big).outcome, BT_REFUSED);
	end(&t);
}

static void apply(struct trial *t, const char *yaml)
{
	assert_int_equal(bt_engine_apply_object(t->engine, read(t, yaml, "", "")), BT_OK);
}

/* The claim's volume is to be made on the first pod's node; the source has not shown it yet. */
static void a_claim_that_another_pod_has_assumed_stays_so(void **state)
{
	struct trial t = begin(state);
	const char *spec = CPU("1") ", volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]";

	add_node(&t, "n1", "2");
	add_node(&t, "n2", "4");
	apply(&t, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: wait%s%s}, "
		  "provisioner: p, "
		  "volumeBindingMode: WaitForFirstConsumer}");
	apply(&t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: "
		  "c%s%s}, spec: "
		  "{storageClassName: wait, accessModes: [ReadWriteMany], resources: {requests: {storage: "
		  "1Gi}}}}");
	uint32_t first = add_pod(&t, "name: p1", spec, ""), node = decide(&t, first).node_ix,
		 second = add_pod(&t, "name: p2", spec, "");
	const struct bt_storage *storage = bt_engine_cache(t.engine)->view.storage;
	assert_true(storage->claims[0].assumed);
	bt_transaction_begin(t.engine);
	assert_int_equal(place(&t, second), node);
	bt_transaction_roll_back(t.engine);
	assert_true(storage->claims[0].assumed);
	assert_int_equal(decide(&t, second).node_ix, node);
	end(&t);
}

/* ---- groups ---- */

#define RACKS "schedulingConstraints: {topology: [{key: rack}]}, "

/* An engine with the gates of groups, and two racks of nodes: a with 2 and 1 CPUs, b with 2. */
static struct trial begin_with_racks(void **state)
{
	const struct bt_engine_options options = {.no_backoff = true};
	struct trial t = {.f = *state};

	fixture_config(&t.config, "1.37",
		"GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true");
	start(&t, &options);
	add_node(&t, "n1, labels: {rack: a}", "2");
	add_node(&t, "n2, labels: {rack: a}", "1");
	add_node(&t, "n3, labels: {rack: b}", "2");
	return t;
}

static enum bt_status try_group(struct trial *t, const char *name, const char *spec)
{
	return bt_transaction_add_group(t->engine,
		read(t,
			"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {namespace: "
			"default, name: %s}, spec: {%s}}",
			name, spec));
}

static void try_members(struct trial *t, const char *group, uint32_t n, uint32_t *out)
{
	for (uint32_t i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s-%" PRIu32, group, i);
		assert_int_equal(
			bt_transaction_add_pod(t->engine,
				&read(t,
					"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: "
					"%s}, spec: {schedulerName: default-scheduler, schedulingGroup: "
					"{podGroupName: %s}, " CPU("1") "}}",
					name, group)
					 ->pod,
				&out[i]),
			BT_OK);
	}
}

static enum bt_outcome place_group(struct trial *t, const uint32_t *pods, uint32_t n)
{
	struct bt_buf why = {0};
	enum bt_outcome outcome = bt_transaction_place_group(t->engine, pods, n, &why);

	assert_int_equal(outcome == BT_PLACED, why.len == 0);
	bt_buf_fini(&why);
	return outcome;
}

static void a_group_gets_the_rack_that_has_room_for_all_of_it(void **state)
{
	struct trial t = begin_with_racks(state);
	uint32_t pods[3], others[3];

	bt_transaction_begin(t.engine);
	for (uint32_t round = 0; round < 2; round++) {
		bt_transaction_begin(t.engine);
		assert_int_equal(try_group(&t, "g", RACKS "schedulingPolicy: {gang: {minCount: 3}}"), BT_OK);
		assert_int_equal(try_group(&t, "g", ""), BT_EXISTS);
		try_members(&t, "g", 3, pods);
		assert_int_equal(place_group(&t, pods, 3), BT_PLACED);
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(pod_at(&t, pods[i])->state, BT_POD_ASSUMED);
			assert_int_not_equal(pod_at(&t, pods[i])->node_ix, 2);
		}
		assert_int_equal(try_group(&t, "h", "schedulingPolicy: {gang: {minCount: 3}}"), BT_OK);
		try_members(&t, "h", 3, others);
		assert_int_equal(place_group(&t, others, 3), BT_REFUSED);
		assert_int_equal(pod_at(&t, others[0])->state, BT_POD_QUEUED);
		bt_transaction_roll_back(t.engine);
	}
	bt_transaction_roll_back(t.engine);
	end(&t);
}

static void pods_that_a_group_does_not_need_may_have_no_node(void **state)
{
	struct trial t = begin_with_racks(state);
	uint32_t pods[4], placed_n = 0;

	bt_transaction_begin(t.engine);
	assert_int_equal(try_group(&t, "g", RACKS "schedulingPolicy: {gang: {minCount: 3}}"), BT_OK);
	try_members(&t, "g", 4, pods);
	assert_int_equal(place_group(&t, pods, 4), BT_PLACED);
	for (uint32_t i = 0; i < 4; i++) {
		placed_n += pod_at(&t, pods[i])->state == BT_POD_ASSUMED;
	}
	assert_int_equal(placed_n, 3);
	bt_transaction_roll_back(t.engine);
	end(&t);
}

static void a_group_with_pods_of_two_priorities_is_refused(void **state)
{
	struct trial t = begin_with_racks(state);
	struct bt_buf why = {0};
	uint32_t pods[1];

	bt_transaction_begin(t.engine);
	assert_int_equal(try_group(&t, "g", "priority: 7, schedulingPolicy: {basic: {}}"), BT_OK);
	try_members(&t, "g", 1, pods);
	assert_int_equal(bt_transaction_place_group(t.engine, pods, 1, &why), BT_REFUSED);
	assert_string_equal(why.ptr,
		"all pods in a single pod group should have the same priority as the pod "
		"group's priority, got 0 and 7");
	bt_transaction_roll_back(t.engine);
	bt_buf_fini(&why);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(placed_pods_count_until_the_rollback),
		FIXTURE_TEST(an_inner_transaction_rolls_back_alone),
		FIXTURE_TEST(an_evicted_pod_makes_room_until_it_is_restored),
		FIXTURE_TEST(closing_a_node_drops_no_plan),
		FIXTURE_TEST(nodes_are_added_and_removed),
		FIXTURE_TEST(copies_have_names_that_are_free),
		FIXTURE_TEST(pods_that_make_no_sense_are_not_added),
		FIXTURE_TEST(a_restriction_ends_with_its_transaction),
		FIXTURE_TEST(a_commit_does_it_for_good),
		FIXTURE_TEST(a_claim_that_another_pod_has_assumed_stays_so),
		FIXTURE_TEST(a_group_gets_the_rack_that_has_room_for_all_of_it),
		FIXTURE_TEST(pods_that_a_group_does_not_need_may_have_no_node),
		FIXTURE_TEST(a_group_with_pods_of_two_priorities_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
