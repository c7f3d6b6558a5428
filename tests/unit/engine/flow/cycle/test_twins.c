/* SPDX-License-Identifier: Apache-2.0
 * Results cached for one pod and used for another: pods that differ in one field are distinguished.
 */
#include "engine/flow/cycle/messages.h"
#include "trial.h"

#define FULL "nodeName: n1, " CPU("1500m")

/* A node with a pod that may be preempted. */
static struct trial begin_full(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "2");
	add_pod(&t, "name: run", FULL, "");
	return t;
}

static void assert_preempts(const struct bt_decision *decision)
{
	assert_int_equal(decision->outcome, BT_REFUSED);
	assert_int_equal(decision->preempt, BT_PREEMPT_FOUND);
	assert_int_equal(decision->victim_n, 1);
}

static void a_twin_that_may_preempt_does_not_reuse_a_result_of_one_that_may_not(void **state)
{
	struct trial t = begin_full(state);
	uint32_t never = add_pod(&t, "name: a", "priority: 7, preemptionPolicy: Never, " CPU("2"), "");
	uint32_t may = add_pod(&t, "name: b", "priority: 7, " CPU("2"), "");
	struct bt_decision decision = decide(&t, never);

	assert_int_equal(decision.preempt, BT_PREEMPT_INELIGIBLE);
	decision = decide(&t, may);
	assert_preempts(&decision);
	end(&t);
}

static void a_twin_that_must_not_preempt_does_not_reuse_a_result_of_one_that_may(void **state)
{
	struct trial t = begin(state);
	struct bt_decision decision;

	add_node(&t, "n1", "2");
	add_pod(&t, "name: run", "priority: 9, " FULL, "");
	uint32_t may = add_pod(&t, "name: a", "priority: 7, " CPU("2"), "");
	uint32_t never = add_pod(&t, "name: b", "priority: 7, preemptionPolicy: Never, " CPU("2"), "");
	decision = decide(&t, may);
	assert_int_equal(decision.preempt, BT_PREEMPT_NOWHERE);
	decision = decide(&t, never);
	assert_int_equal(decision.preempt, BT_PREEMPT_INELIGIBLE);
	end(&t);
}

static void a_twin_of_higher_priority_does_not_reuse_a_failed_preemption(void **state)
{
	struct trial t = begin(state);
	struct bt_decision decision;

	add_node(&t, "n1", "2");
	add_pod(&t, "name: run", "priority: 5, " FULL, "");
	add_pod(&t, "name: low", "priority: 5, " CPU("2"), "");
	assert_int_equal(bt_engine_pop(t.engine), 1);
	bt_engine_decide(t.engine, 1, &decision);
	assert_int_equal(decision.preempt, BT_PREEMPT_NOWHERE);
	decision = decide(&t, add_pod(&t, "name: high", "priority: 6, " CPU("2"), ""));
	assert_preempts(&decision);
	end(&t);
}

/* An infeasible kind is parked behind the others; a pod that may preempt is of another kind. */
static void a_pod_that_may_not_preempt_does_not_hold_its_twin_back(void **state)
{
	struct trial t = begin_full(state);
	uint32_t never = add_pod(&t, "name: a", "priority: 7, preemptionPolicy: Never, " CPU("2"), "");
	struct bt_decision decision = decide(&t, never);

	assert_int_equal(decision.outcome, BT_REFUSED);
	uint32_t may = add_pod(&t, "name: b", "priority: 7, " CPU("2"), "");
	add_pod(&t, "name: low", "priority: 0, " CPU("1"), "");
	decision = decide(&t, may);
	assert_preempts(&decision);
	end(&t);
}

static void a_preemptor_deleted_during_its_cycle_leaves_no_result_for_its_twin(void **state)
{
	struct trial t = begin_full(state);
	struct bt_decision decision;
	uint32_t goes = add_pod(&t, "name: a", "priority: 7, " CPU("2"), "");
	uint32_t twin = add_pod(&t, "name: b", "priority: 7, " CPU("2"), "");

	assert_int_equal(bt_engine_pop(t.engine), goes);
	bt_engine_begin(t.engine, goes, &decision);
	bt_engine_remove_pod(t.engine, goes);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(decision.preempt, BT_PREEMPT_FAILED);
	decision = decide(&t, twin);
	assert_preempts(&decision);
	end(&t);
}

/* Nor does one that waits for its victims. */
static void a_pod_that_waits_for_its_victims_does_not_hold_its_twin_back(void **state)
{
	struct trial t = begin_full(state);
	struct bt_decision decision;

	add_pod(&t, "name: other", "nodeName: n1, priority: 6, " CPU("100m"), "");
	uint32_t waits = add_pod(&t, "name: a", "priority: 7, " CPU("2"), "nominatedNodeName: n1");
	bt_engine_evict(t.engine, 0);
	decision = decide(&t, waits);
	assert_int_equal(decision.preempt, BT_PREEMPT_INELIGIBLE);
	uint32_t twin = add_pod(&t, "name: b", "priority: 7, " CPU("2"), "");
	uint32_t low = add_pod(&t, "name: low", "priority: 0, " CPU("1"), "");
	assert_int_equal(bt_engine_pop(t.engine), twin);
	assert_int_not_equal(low, twin);
	end(&t);
}

static const char *refusal(struct bt_messages *messages, uint32_t pod)
{
	struct bt_decision decision;
	struct bt_str text;

	assert_int_equal(bt_engine_pop(messages->engine), pod);
	bt_engine_begin(messages->engine, pod, &decision);
	assert_int_equal(decision.outcome, BT_REFUSED);
	text = bt_messages_of(messages, pod);
	bt_engine_end(messages->engine, &decision);
	assert_true(text.len > 0 && text.ptr[text.len] == '\0');
	return text.ptr;
}

#define NO_ROOM "0/1 nodes are available: 1 Insufficient cpu. preemption: "

/* The verdict of a pod with a nomination is used for no other pod. */
static void a_text_about_a_nominated_pod_is_not_used_for_its_twin(void **state)
{
	struct trial t = begin(state);
	struct bt_messages messages = {.engine = t.engine};

	add_node(&t, "n1", "2");
	uint32_t victim = add_pod(&t, "name: run", "priority: -1, " FULL, "");
	add_pod(&t, "name: high", "nodeName: n1, priority: 9, " CPU("500m"), "");
	bt_engine_evict(t.engine, victim);
	uint32_t waits = add_pod(&t, "name: a", CPU("2"), "nominatedNodeName: n1");
	uint32_t twin = add_pod(&t, "name: b", CPU("2"), "");

	assert_string_equal(refusal(&messages, waits),
		NO_ROOM "not eligible due to a terminating pod on the nominated node.");
	assert_string_equal(refusal(&messages, twin), NO_ROOM "0/1 nodes are available: 1 Insufficient cpu.");
	bt_messages_fini(&messages);
	end(&t);
}

static void a_refusal_ends_with_the_labels_of_namespaces(void **state)
{
	static const char refuses[] =
		"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
		"kubernetes.io/hostname, labelSelector: {}, namespaceSelector: {matchLabels: {team: "
		"red}}}]}}, "
		"containers: [{name: a}]";
	static const char namespace_[] =
		"{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {team: %s}}}";
	struct trial t = begin(state);
	struct bt_messages messages = {.engine = t.engine};

	add_labeled_nodes(&t, 1);
	bt_engine_apply_object(t.engine, read(&t, namespace_, "other", "red"));
	add_pod(&t, "name: run, namespace: other", "nodeName: n0, containers: [{name: a}]", "");
	uint32_t pod = add_pod(&t, "name: a", refuses, "");
	assert_non_null(strstr(refusal(&messages, pod), "anti-affinity rules"));
	bt_engine_apply_object(t.engine, read(&t, namespace_, "other", "blue"));
	struct bt_decision decision = decide(&t, add_pod(&t, "name: b", refuses, ""));
	assert_int_equal(decision.outcome, BT_PLACED);
	bt_messages_fini(&messages);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_twin_that_may_preempt_does_not_reuse_a_result_of_one_that_may_not),
		FIXTURE_TEST(a_twin_that_must_not_preempt_does_not_reuse_a_result_of_one_that_may),
		FIXTURE_TEST(a_twin_of_higher_priority_does_not_reuse_a_failed_preemption),
		FIXTURE_TEST(a_pod_that_may_not_preempt_does_not_hold_its_twin_back),
		FIXTURE_TEST(a_preemptor_deleted_during_its_cycle_leaves_no_result_for_its_twin),
		FIXTURE_TEST(a_pod_that_waits_for_its_victims_does_not_hold_its_twin_back),
		FIXTURE_TEST(a_text_about_a_nominated_pod_is_not_used_for_its_twin),
		FIXTURE_TEST(a_refusal_ends_with_the_labels_of_namespaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
