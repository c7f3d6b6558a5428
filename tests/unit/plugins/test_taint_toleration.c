/* SPDX-License-Identifier: Apache-2.0
 * TaintToleration, NodeUnschedulable, NodeName and SchedulingGates: plugins that exclude nodes, or gate
 * pods.
 */
#include "plugins/node_name/node_name.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugin_fixture.h"

extern const struct bt_plugin bt_plugin_scheduling_gates;

static const bool off = false, on = true;

static void untolerated_hard_taints_refuse(void **state)
{
	struct fixture *f = *state;
	uint32_t no_schedule =
		fixture_node(f, "name: n1", "taints: [{key: k, value: v, effect: NoSchedule}]", "");
	uint32_t no_execute =
		fixture_node(f, "name: n2", "taints: [{key: k, value: v, effect: NoExecute}]", "");
	uint32_t soft =
		fixture_node(f, "name: n3", "taints: [{key: k, value: v, effect: PreferNoSchedule}]", "");
	struct subject subject = compile_pod(f, &bt_plugin_taint_toleration, &off, "containers: []");

	assert_refused(
		&subject, no_schedule, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) had untolerated taint(s)");
	assert_refused(
		&subject, no_execute, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) had untolerated taint(s)");
	assert_true(passes(&subject, soft));
	subject = compile_pod(f, &bt_plugin_taint_toleration, &off,
		"tolerations: [{key: k, operator: Exists, effect: NoSchedule}]");
	assert_true(passes(&subject, no_schedule));
	assert_false(passes(&subject, no_execute));
}

static void comparing_operators_need_their_gate(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "taints: [{key: k, value: '7', effect: NoSchedule}]", "");
	static const char spec[] = "tolerations: [{key: k, operator: Gt, value: '5'}]";
	struct subject subject = compile_pod(f, &bt_plugin_taint_toleration, &off, spec);

	assert_false(passes(&subject, node));
	subject = compile_pod(f, &bt_plugin_taint_toleration, &on, spec);
	assert_true(passes(&subject, node));
}

static void soft_taints_are_counted_unless_tolerated(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1",
		"taints: [{key: a, effect: PreferNoSchedule}, {key: b, effect: PreferNoSchedule}, {key: c, "
		"effect: NoSchedule}]",
		"");
	struct subject subject = compile_pod(f, &bt_plugin_taint_toleration, &off, "containers: []");

	assert_int_equal(score(&subject, node), 2);
	subject = compile_pod(
		f, &bt_plugin_taint_toleration, &off, "tolerations: [{key: a, operator: Exists}]");
	assert_int_equal(score(&subject, node), 1);
	subject = compile_pod(f, &bt_plugin_taint_toleration, &off,
		"tolerations: [{key: a, operator: Exists, effect: NoSchedule}]");
	assert_int_equal(score(&subject, node), 2);
	assert_int_equal(subject.plugin->normalize, BT_NORMALIZE_REVERSED);
}

static void ranges_of_nodes_are_answered_as_single_nodes_are(void **state)
{
	struct fixture *f = *state;
	static const char *const specs[] = {"", "taints: [{key: a, effect: NoSchedule}]",
		"taints: [{key: a, effect: PreferNoSchedule}, {key: b, effect: PreferNoSchedule}]"};
	uint8_t pass[60];
	int64_t raw[60];
	char metadata[32];

	for (uint32_t i = 0; i < 60; i++) {
		snprintf(metadata, sizeof(metadata), "name: n%" PRIu32, i);
		fixture_node(f, metadata, specs[(i / 7 + i / 3) % 3], "");
	}
	struct subject subject = compile_pod(
		f, &bt_plugin_taint_toleration, &off, "tolerations: [{key: b, operator: Exists}]");
	subject.plugin->filter(subject.compiled.term, &f->cache->view, 0, 60, pass);
	subject.plugin->score(subject.compiled.term, &f->cache->view, 0, 60, raw);
	for (uint32_t i = 0; i < 60; i++) {
		assert_int_equal(pass[i], passes(&subject, i));
		assert_int_equal(raw[i], score(&subject, i));
	}
}

static void cordoned_nodes_refuse_unless_tolerated(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "unschedulable: true", "");
	uint32_t tainted = fixture_node(
		f, "name: n2", "taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]", "");
	struct subject subject = compile_pod(f, &bt_plugin_node_unschedulable, &off, "containers: []");

	assert_refused(&subject, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) were unschedulable");
	assert_true(passes(&subject, tainted)); /* the taint is handled by another plugin */
	subject = compile_pod(f, &bt_plugin_node_unschedulable, &off,
		"tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists, effect: "
		"NoSchedule}]");
	assert_true(passes(&subject, node));
	subject = compile_pod(f, &bt_plugin_node_unschedulable, &off,
		"tolerations: [{key: node.kubernetes.io/unschedulable, operator: Equal, value: 'true'}]");
	assert_false(passes(&subject, node));
}

static void waiting_pods_name_no_node(void **state)
{
	struct subject subject = compile_pod(*state, &bt_plugin_node_name, NULL, "containers: []");

	assert_true(subject.compiled.filter_skip);
}

static void gates_are_listed_in_order(void **state)
{
	struct fixture *f = *state;
	uint32_t gated = fixture_pod(f, "schedulingGates: [{name: b}, {name: a}]"),
		 open = fixture_pod(f, "containers: []");
	struct bt_buf reason = {0};
	struct bt_pod_env env = {
		.view = &f->cache->view, .gates = bt_ledger_pod(f->cache->ledger, open)->gates};

	assert_false(bt_plugin_scheduling_gates.pre_enqueue(&env, &reason));
	assert_int_equal(reason.len, 0);
	env.gates = bt_ledger_pod(f->cache->ledger, gated)->gates;
	assert_true(bt_plugin_scheduling_gates.pre_enqueue(&env, NULL));
	assert_true(bt_plugin_scheduling_gates.pre_enqueue(&env, &reason));
	assert_string_equal(reason.ptr, "waiting for scheduling gates: [b a]");
	bt_buf_fini(&reason);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(untolerated_hard_taints_refuse),
		FIXTURE_TEST(comparing_operators_need_their_gate),
		FIXTURE_TEST(soft_taints_are_counted_unless_tolerated),
		FIXTURE_TEST(ranges_of_nodes_are_answered_as_single_nodes_are),
		FIXTURE_TEST(cordoned_nodes_refuse_unless_tolerated),
		FIXTURE_TEST(waiting_pods_name_no_node),
		FIXTURE_TEST(gates_are_listed_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
