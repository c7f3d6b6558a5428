/* SPDX-License-Identifier: Apache-2.0
 * Rules that hold in some releases of Kubernetes only, in an engine. Those of preemption and
 * nominations are in test_preempt.c.
 */
#include "engine/flow/cycle/messages.h"
#include "trial.h"

/* Does a pod with anti-affinity to pods of the selected namespaces fit beside one of a namespace that has
 * a team? */
static bool keeps_away(void **state, const char *release, const char *selector)
{
	static const char spec[] =
		"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
		"kubernetes.io/hostname, labelSelector: {}, namespaceSelector: %s}]}}, containers: [{name: "
		"a}]";
	struct trial t = begin_of_release(state, release);
	struct bt_buf text = {0};

	add_labeled_nodes(&t, 1);
	bt_engine_apply_object(t.engine,
		read(&t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {team: %s}}}",
			"other", "red"));
	add_pod(&t, "name: run, namespace: other", "nodeName: n0, containers: [{name: a}]", "");
	bt_buf_printf(&text, spec, selector);
	struct bt_decision decision = decide(&t, add_pod(&t, "name: p", text.ptr, ""));
	bt_buf_fini(&text);
	end(&t);
	return decision.outcome == BT_REFUSED;
}

static void selectors_that_want_no_labels_took_every_namespace_until_1_36(void **state)
{
	static const char absent[] = "{matchExpressions: [{key: team, operator: DoesNotExist}]}",
			  not_blue[] = "{matchExpressions: [{key: team, operator: NotIn, values: [red]}]}",
			  red[] = "{matchLabels: {team: red}}", any[] = "{}";

	assert_true(keeps_away(state, "1.36", absent));
	assert_true(keeps_away(state, "1.36", not_blue));
	assert_false(keeps_away(state, "1.37", absent));
	assert_false(keeps_away(state, "1.37", not_blue));
	assert_true(keeps_away(state, "1.37", red));
	assert_true(keeps_away(state, "1.37", any));
}

/* A pod on n1 with two containers; the status of one reports more than it requests. */
static const struct bt_object *resized(struct trial *t, const char *in_force)
{
	return read(t,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: p}, spec: {nodeName: n1, "
		"containers: [{name: a, resources: {requests: {cpu: 2}}}, "
		"{name: b, resources: {requests: {cpu: 1}}}]}, "
		"status: {containerStatuses: [{name: a, resources: {requests: {cpu: 1}}}, "
		"{name: b, resources: {requests: {cpu: '%s'}}}]}%s}",
		in_force, "");
}

/* Checks usage during the resize. */
static void check_resize(void **state, const char *release, int64_t with_three, int64_t with_five)
{
	struct trial t = begin_of_release(state, release);
	uint32_t node = add_node(&t, "n1", "9"), ix;
	const struct bt_node_use *used = &bt_engine_cache(t.engine)->view.usage->nodes[node];
	enum bt_entry entry;

	assert_int_equal(bt_engine_add_pod(t.engine, &resized(&t, "3")->pod, &entry, &ix), BT_OK);
	assert_int_equal(used->used[BT_CPU], with_three);
	assert_int_equal(bt_engine_update_pod(t.engine, ix, &resized(&t, "5")->pod), BT_OK);
	assert_int_equal(used->used[BT_CPU], with_five);
	bt_engine_remove_pod(t.engine, ix);
	assert_int_equal(used->used[BT_CPU], 0);
	end(&t);
}

static void a_node_counts_a_resize_by_container_until_1_36_and_then_by_state(void **state)
{
	check_resize(state, "1.36", 5000, 7000);
	check_resize(state, "1.37", 4000, 6000);
}

/* The queue of a pod that needs features which no node has, after its container gets this. */
static enum bt_wait waits_after_change(void **state, const char *release, const char *more)
{
	struct trial t = begin_of_release(state, release);
	static const char text[] = "{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: p}, "
				   "spec: {schedulerName: default-scheduler, containers: [{name: a, "
				   "restartPolicyRules: [{action: RestartAllContainers}]%s}]}%s}";
	enum bt_entry entry;
	uint32_t ix;

	add_node(&t, "n1", "9");
	assert_int_equal(bt_engine_add_pod(t.engine, &read(&t, text, "", "")->pod, &entry, &ix), BT_OK);
	assert_int_equal(decide(&t, ix).outcome, BT_REFUSED);
	struct bt_queue *queue = bt_engine_queue(t.engine);
	assert_int_equal(bt_queue_info(queue, ix).where, BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_engine_update_pod(t.engine, ix, &read(&t, text, more, "")->pod), BT_OK);
	enum bt_wait where = bt_queue_info(queue, ix).where;
	end(&t);
	return where;
}

static void features_that_a_release_does_not_look_at_wake_no_pod(void **state)
{
	static const char options[] = ", volumeMounts: [{name: v, bindMountOptions: [noexec]}]";

	assert_int_equal(waits_after_change(state, "1.36", options), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(waits_after_change(state, "1.37", options), BT_WAIT_ACTIVE);
}

static void a_pod_is_nominated_by_its_own_cycle_and_not_by_its_twins(void **state)
{
	struct trial t = begin_of_release(state, "1.37");
	struct bt_messages messages = {.engine = t.engine};
	char first[256] = "", name[16], metadata[32], spec[128];
	bool other = false;

	for (uint32_t i = 0; i < 8; i++) {
		add_node(&t, numbered(name, sizeof(name), "n", i), "1");
		snprintf(spec, sizeof(spec), "nodeName: n%" PRIu32 ", " CPU("1"), i);
		numbered(name, sizeof(name), "run", i);
		snprintf(metadata, sizeof(metadata), "name: %s", name);
		add_pod(&t, metadata, spec, "");
	}
	uint32_t pod = add_pod(&t, "name: p, labels: {app: late}", "priority: 7, " CPU("1"), "");
	assert_int_equal(bt_engine_take(t.engine, pod), BT_OK);
	/* Each cycle starts the search at another node; these change nothing else. */
	for (int i = 0; i < 16; i++) {
		struct bt_decision decision;

		snprintf(metadata, sizeof(metadata), "name: never%d", i);
		uint32_t never = add_pod(&t, metadata, "priority: 7, preemptionPolicy: Never, " CPU("2"), "");
		decision = decide(&t, never);
		assert_int_equal(decision.preempt, BT_PREEMPT_INELIGIBLE);
		bt_engine_remove_pod(t.engine, never);
		struct bt_str text = bt_messages_of(&messages, pod);
		assert_non_null(strstr(text.ptr, "found a potential placement for pod on node n"));
		assert_string_equal(text.ptr, message(&t, pod));
		other |= first[0] && strcmp(first, text.ptr) != 0;
		snprintf(first, sizeof(first), "%s", text.ptr);
	}
	assert_true(other);
	bt_messages_fini(&messages);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(selectors_that_want_no_labels_took_every_namespace_until_1_36),
		FIXTURE_TEST(a_node_counts_a_resize_by_container_until_1_36_and_then_by_state),
		FIXTURE_TEST(features_that_a_release_does_not_look_at_wake_no_pod),
		FIXTURE_TEST(a_pod_is_nominated_by_its_own_cycle_and_not_by_its_twins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
