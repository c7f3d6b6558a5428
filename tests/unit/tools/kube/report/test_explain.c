/* SPDX-License-Identifier: Apache-2.0
 * The table of all nodes for one pod: in which order, with which reasons and scores, and what stands there
 * for a pod without nodes to show.
 */
#include "rendered.h"
#include "trial.h"

#include "tools/kube/report/explain.h"

#define ROWS "nodes"

static struct bt_emit *begin_rows(void)
{
	struct bt_emit *emit = bt_emit_create();

	bt_emit_begin_array(emit, ROWS);
	return emit;
}

/* Ends the rows. Returns: the report in a format. */
static const char *end_rows(struct bt_emit *emit, enum bt_emit_format format)
{
	bt_emit_end(emit);
	const char *text = rendered(emit, format);

	bt_emit_destroy(emit);
	return text;
}

static const char *explained(struct trial *t, uint32_t pod)
{
	struct bt_emit *emit = begin_rows();

	bt_report_explain(emit, t->engine, pod);
	return end_rows(emit, BT_EMIT_JSON);
}

/* These texts are in it, one behind the other. */
#define assert_order(text, ...) assert_texts(text, (const char *const[]){__VA_ARGS__, NULL})

static void assert_texts(const char *text, const char *const *wanted)
{
	const char *rest = text;

	for (; *wanted; wanted++) {
		const char *found = strstr(rest, *wanted);

		if (!found) {
			fail_msg("no '%s' there in %s", *wanted, text);
		}
		rest = found + strlen(*wanted);
	}
}

static void feasible_nodes_come_by_total_and_refused_ones_by_name(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "z-small", "1");
	add_node(&t, "b", "4");
	add_node(&t, "a", "4");
	add_node(&t, "large", "16");
	add_node(&t, "c-small", "1");
	const char *text = explained(&t, add_pod(&t, "name: p", CPU("2"), ""));
	assert_order(text, "\"pod\": \"default/p\"", "large", "\"feasible\"", "\"total\": ", "\"scores\": {",
		"\"NodeResourcesFit\": ", "\"node\": \"a\"", "\"node\": \"b\"", "c-small", "\"rejected\"",
		"z-small", "\"rejected\"");
	end(&t);
}

static void a_refusal_has_every_reason_with_its_amounts(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n0", "1");
	const char *text = explained(&t,
		add_pod(&t, "name: p",
			"containers: [{name: a, resources: {requests: {cpu: '1500m', memory: 9Gi}}}]", ""));
	assert_order(text, "\"plugin\": \"NodeResourcesFit\"",
		"\"reason\": \"Insufficient cpu (needs 1.5, free 1), Insufficient memory (needs 9Gi, free "
		"8Gi)\"");
	end(&t);
}

static void only_what_pods_take_may_be_helped_by_preemption(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n0", "4");
	assert_int_equal(decide(&t, add_pod(&t, "name: holder", CPU("3"), "")).outcome, BT_PLACED);
	assert_order(explained(&t, add_pod(&t, "name: p", CPU("2"), "")), "\"preemption_might_help\": true");
	assert_order(explained(&t, add_pod(&t, "name: q", "nodeSelector: {a: b}, " CPU("1"), "")),
		"\"plugin\": \"NodeAffinity\"", "\"preemption_might_help\": false");
	end(&t);
}

static void a_pod_without_nodes_to_show_has_one_row_for_all(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n0", "4");
	assert_order(explained(&t, add_pod(&t, "name: g", "schedulingGates: [{name: g}], " CPU("1"), "")),
		"\"node\": \"*\"", "\"verdict\": \"gated\"", "\"plugin\": \"SchedulingGates\"");
	assert_order(explained(&t,
			     add_pod(&t, "name: v",
				     "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], " CPU("1"),
				     "")),
		"\"node\": \"*\"", "\"verdict\": \"rejected\"", "\"plugin\": \"VolumeRestrictions\"",
		"persistentvolumeclaim \\\"c\\\" not found");
	end(&t);
}

static void nodes_that_the_pod_excludes_by_name_share_a_row(void **state)
{
	struct trial t = begin(state);

	add_labeled_nodes(&t, 3);
	const char *text = explained(
		&t, add_pod(&t, "name: p",
			    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "
			    "[n1]}]}]}}}, " CPU("1"),
			    ""));
	assert_order(text, "\"node\": \"n1\"", "\"feasible\"", "\"node\": \"*\"", "\"verdict\": \"left out\"",
		"\"plugin\": \"NodeAffinity\"");
	assert_null(strstr(text, "\"n0\""));
	end(&t);
}

static void an_attempt_stands_under_its_own_heading_with_its_node_first(void **state)
{
	struct trial t = begin(state);
	struct bt_emit *emit = begin_rows();

	add_node(&t, "large", "16");
	add_node(&t, "other", "2");
	uint32_t node = add_node(&t, "small", "4");
	uint32_t pod = add_pod(&t, "name: p", CPU("1"), "");
	bt_emit_row *first = bt_report_explain_attempt(emit, t.engine, pod, 2);
	bt_report_explain_mark(emit, t.engine, first, pod, node, "chosen");
	const char *text = end_rows(emit, BT_EMIT_TABLE);
	assert_order(text, "Node verdicts at attempt 2: default/p", "small", "chosen", "large");
	assert_null(strstr(strstr(text, "verdicts") + 1, "verdicts"));
	end(&t);
}

static void a_bound_pod_is_judged_as_if_it_were_not_there(void **state)
{
	struct trial t = begin(state);
	struct bt_emit *emit = begin_rows();

	add_node(&t, "large", "16");
	add_node(&t, "n0", "2");
	uint32_t pod = add_pod(&t, "name: p", "nodeName: n0, " CPU("2"), "");
	bt_report_explain_attempt(emit, t.engine, pod, 0);
	const char *text = end_rows(emit, BT_EMIT_TABLE);
	assert_order(text, "Node verdicts without an attempt: default/p", "n0 ", "feasible", "already bound",
		"large");
	/* Not so in between: the node is full again. */
	assert_order(
		explained(&t, add_pod(&t, "name: q", CPU("2"), "")), "\"large\"", "\"n0\"", "\"rejected\"");
	end(&t);
}

static void pods_that_are_gone_share_a_heading(void **state)
{
	struct bt_emit *emit = begin_rows();
	const struct bt_report_verdict fates[] = {
		{bt_str("default/a"), "evicted", "DefaultPreemption", "for default/b"},
		{bt_str("default/c"), "ignored", "", "completed"}};

	(void)state;
	bt_report_explain_verdict(emit, &fates[0], true);
	bt_report_explain_verdict(emit, &fates[1], false);
	const char *text = end_rows(emit, BT_EMIT_TABLE);
	assert_order(text, "Evicted and ignored pods", "default/a", "evicted", "for default/b", "default/c",
		"ignored", "completed");
	assert_null(strstr(strstr(text, "Evicted") + 1, "Evicted"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(feasible_nodes_come_by_total_and_refused_ones_by_name),
		FIXTURE_TEST(a_refusal_has_every_reason_with_its_amounts),
		FIXTURE_TEST(only_what_pods_take_may_be_helped_by_preemption),
		FIXTURE_TEST(a_pod_without_nodes_to_show_has_one_row_for_all),
		FIXTURE_TEST(nodes_that_the_pod_excludes_by_name_share_a_row),
		FIXTURE_TEST(an_attempt_stands_under_its_own_heading_with_its_node_first),
		FIXTURE_TEST(a_bound_pod_is_judged_as_if_it_were_not_there),
		cmocka_unit_test(pods_that_are_gone_share_a_heading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
