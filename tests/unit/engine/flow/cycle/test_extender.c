/* SPDX-License-Identifier: Apache-2.0
 * Extenders: their requests, and the effect of their responses. Expected results were derived by hand from
 * upstream's sources.
 */
#include "trial.h"

#include "engine/flow/cycle/messages.h"

#define EXTENDERS 3

/* The responses of an extender, as names of nodes and UIDs. */
struct script {
	const char *keeps;	  /* feasible nodes, with blanks around each */
	const char *refuses;	  /* the same: failed nodes */
	const char *unresolvable; /* the same: unresolvable ones */
	const char *names;	  /* a node that it returns although it is not in the request */
	const char *error;
	const char *likes; /* the node with a score */
	int64_t points;
	const char *candidate, *victims[3]; /* preempt: the only remaining node, and UIDs */
	const char *candidates_as_they_are; /* preempt: returns unchanged the candidates with
					     * this in their names */
	int64_t violation_n;
	bool objects;			  /* it returns feasible nodes as objects */
	const char *strangers;		  /* failed nodes, in the request or not, with blanks around each */
	uint32_t call_n;		  /* of all verbs */
	uint32_t filtered_n, preempted_n; /* nodes in the last request */
};

struct extender_test {
	struct trial t;
	struct bt_extender_config extenders[EXTENDERS];
	struct script scripts[EXTENDERS];
};

static bool holds(const char *list, struct bt_str name)
{
	char word[64];

	snprintf(word, sizeof(word), " %.*s ", BT_STR_ARG(name));
	return list && strstr(list, word);
}

/* The script of an extender's address, which ends in its number. */
static struct script *script_of(void *context, const struct bt_extender_call *call)
{
	struct extender_test *test = context;
	struct bt_str url = call->extender->url_prefix;
	struct script *script = &test->scripts[url.ptr[url.len - 1] - '0'];

	script->call_n++;
	return script;
}

static struct bt_str name_of(const struct bt_extender_call *call, uint32_t node_ix)
{
	return bt_intern_str(
		call->cache->dictionary->intern, call->cache->view.snapshot->nodes[node_ix].name);
}

static void filter(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	struct script *script = script_of(context, call);

	script->filtered_n = call->node_n;
	for (uint32_t i = 0; i < call->node_n; i++) {
		struct bt_str name = name_of(call, call->nodes[i]);

		if (holds(script->keeps, name)) {
			bt_extender_keep(reply, name);
		}
		if (holds(script->unresolvable, name)) {
			bt_extender_refuse(reply, name, true, bt_str("too old"));
		}
		if (holds(script->refuses, name)) {
			bt_extender_refuse(reply, name, false, bt_str("not today"));
		}
	}
	if (script->objects) {
		bt_extender_keep_objects(reply);
	}
	for (const char *at = script->strangers; at && at[1];) {
		const char *end = strchr(at + 1, ' ');

		bt_extender_refuse(
			reply, (struct bt_str){at + 1, (size_t)(end - at - 1)}, false, bt_str("stranger"));
		at = end;
	}
	if (script->names) {
		bt_extender_keep(reply, bt_str(script->names));
	}
	if (script->error) {
		bt_extender_fail(reply, bt_str(script->error));
	}
}

static void prioritize(void *context, const struct bt_extender_call *calls, uint32_t n,
	struct bt_extender_reply *const *replies)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct script *script = script_of(context, &calls[i]);

		if (script->likes) {
			bt_extender_score(replies[i], bt_str(script->likes), script->points);
			bt_extender_score(replies[i], bt_str("no such node"), 10);
		}
		if (script->error) {
			bt_extender_fail(replies[i], bt_str(script->error));
		}
	}
}

static void preempt(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	struct script *script = script_of(context, call);
	const struct bt_intern *intern = call->cache->dictionary->intern;

	script->preempted_n = call->candidate_n;
	if (script->candidate) {
		bt_extender_candidate(reply, bt_str(script->candidate), script->violation_n);
		for (int i = 0; i < 3 && script->victims[i]; i++) {
			bt_extender_victim(reply, bt_str(script->victims[i]));
		}
	}
	for (uint32_t c = 0; c < call->candidate_n && script->candidates_as_they_are; c++) {
		const struct bt_preempt_candidate *candidate = &call->candidates[c];

		if (!holds(script->candidates_as_they_are, name_of(call, candidate->node_ix))) {
			continue;
		}
		bt_extender_candidate(reply, name_of(call, candidate->node_ix), candidate->cost.violation_n);
		for (uint32_t i = 0; i < candidate->cost.victim_n; i++) {
			uint32_t pod_ix = call->victims[candidate->first_victim + i].pod_ix;

			bt_extender_victim(reply,
				bt_intern_str(intern, bt_ledger_pod(call->cache->ledger, pod_ix)->uid));
		}
	}
	if (script->error) {
		bt_extender_fail(reply, bt_str(script->error));
	}
}

/* The first n extenders get all verbs. */
static struct extender_test *configure(void **state, uint32_t n)
{
	static const char *const urls[EXTENDERS] = {"http://0", "http://1", "http://2"};

	struct extender_test *test = calloc(1, sizeof(*test));

	test->t.f = *state;
	for (uint32_t i = 0; i < n; i++) {
		test->extenders[i] = (struct bt_extender_config){
			.url_prefix = bt_str(urls[i]),
			.filter_verb = bt_str("filter"),
			.prioritize_verb = bt_str("prioritize"),
			.preempt_verb = bt_str("preempt"),
			.weight = 1,
		};
		test->scripts[i].keeps = " n1 n2 n3 n4 n5 n6 n7 n8 n9 ";
	}
	bt_config_init_default(&test->t.config, NULL);
	test->t.config.extenders = test->extenders;
	test->t.config.extender_n = n;
	return test;
}

static void end_test(struct extender_test *test)
{
	end(&test->t);
	free(test);
}

static void start_nodes(struct extender_test *test, uint32_t node_n)
{
	const struct bt_engine_options options = {
		.extending = {
			.filter = filter, .prioritize = prioritize, .preempt = preempt, .context = test}};
	char name[16];

	start(&test->t, &options);
	for (uint32_t i = 1; i <= node_n; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		add_node(&test->t, name, "2");
	}
}

static uint32_t slot_of(const struct extender_test *test, const char *name)
{
	const struct bt_cache *cache = bt_engine_cache(test->t.engine);

	return bt_snapshot_find(cache->snapshot, bt_intern_find(cache->dictionary->intern, bt_str(name)));
}

#define AFTER " preemption: "

static void a_pod_goes_where_every_extender_lets_it(void **state)
{
	struct extender_test *s = configure(state, 2);

	s->scripts[0].keeps = " n1 n3 ";
	s->scripts[1].keeps = " n3 n2 ";
	start_nodes(s, 3);
	struct bt_decision decision = decide(&s->t, add_pod(&s->t, "name: p", CPU("1"), ""));
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, slot_of(s, "n3"));
	/* The second request has the feasible nodes of the first. A single node is not scored. */
	assert_int_equal(s->scripts[1].filtered_n, 2);
	assert_int_equal(s->scripts[0].call_n, 1);
	end_test(s);
}

static void reasons_of_extenders_are_counted_like_plugins_reasons(void **state)
{
	struct extender_test *s = configure(state, 2);

	s->scripts[0].keeps = " n1 n2 n5 ";
	s->scripts[0].refuses = " n3 n4 n1 ";
	s->scripts[0].unresolvable = " n4 ";
	s->scripts[1].keeps = "";
	s->scripts[1].refuses = " n2 ";
	s->scripts[1].unresolvable = " n1 ";
	start_nodes(s, 6);
	add_pod(&s->t, "name: full", "nodeName: n6, priority: 9, " CPU("2"), "");
	/* The first one returned n1 as feasible and as failed; n5 is dropped without a reason. */
	assert_string_equal(message(&s->t, add_pod(&s->t, "name: p", CPU("1"), "")),
		"0/6 nodes are available: 1 Insufficient cpu, 2 not today, 2 too old." AFTER
		"0/6 nodes are available: 3 No preemption victims found for incoming pod, 3 Preemption is "
		"not "
		"helpful for scheduling.");
	struct bt_refusal refusal;
	bt_explanation_refusal(s->t.engine, &s->t.explanation, 1, &refusal);
	assert_string_equal(refusal.plugin, "Extender");
	assert_int_equal(refusal.rejection.code, BT_UNSCHEDULABLE);
	end_test(s);
}

static void reasons_for_nodes_that_were_not_in_the_request_count(void **state)
{
	struct extender_test *s = configure(state, 2);

	s->scripts[0].keeps = " n2 n3 ";
	s->scripts[0].refuses = " n1 ";
	s->scripts[0].strangers = " elsewhere n4 ";
	s->scripts[1].keeps = "";
	s->scripts[1].refuses = " n2 n3 ";
	s->scripts[1].strangers = " elsewhere n1 ";
	start_nodes(s, 5);
	add_pod(&s->t, "name: full", "nodeName: n4, priority: 9, " CPU("2"), "");
	add_pod(&s->t, "name: full-too", "nodeName: n5, priority: 9, " CPU("2"), "");
	/* n4 overrides the plugin's reason, n1 the first extender's; one node is unknown. */
	assert_string_equal(message(&s->t, add_pod(&s->t, "name: p", CPU("1"), "")),
		"0/5 nodes are available: 1 Insufficient cpu, 2 not today, 3 stranger." AFTER
		"0/5 nodes are available: 5 No preemption victims found for incoming pod.");
	end_test(s);
}

static void the_message_of_a_cycle_calls_no_extender_again(void **state)
{
	struct bt_messages messages = {.engine = NULL};
	struct extender_test *s = configure(state, 1);

	s->scripts[0].keeps = "";
	s->scripts[0].refuses = " n1 n2 ";
	start_nodes(s, 2);
	uint32_t pod = add_pod(&s->t, "name: p", CPU("1"), ""),
		 like = add_pod(&s->t, "name: q", CPU("1"), "");
	struct bt_decision decision;

	messages.engine = s->t.engine;
	assert_int_equal(bt_engine_pop(s->t.engine), pod);
	bt_engine_begin(s->t.engine, pod, &decision);
	s->scripts[0].error = "it would say something else now";
	assert_non_null(strstr(bt_messages_of(&messages, pod).ptr, "2 not today"));
	assert_int_equal(s->scripts[0].call_n, 1);
	bt_engine_end(s->t.engine, &decision);
	/* A pod of the same kind has its own cycle and message. */
	assert_int_equal(bt_engine_pop(s->t.engine), like);
	bt_engine_begin(s->t.engine, like, &decision);
	assert_int_equal(decision.outcome, BT_FAILED);
	assert_string_equal(bt_messages_of(&messages, like).ptr, "it would say something else now");
	assert_int_equal(s->scripts[0].call_n, 2);
	bt_engine_end(s->t.engine, &decision);
	bt_messages_fini(&messages);
	end_test(s);
}

/* With two of four cpus free, and two of two, LeastAllocated prefers the latter;
 * with all free, the former. */
static void nodes_given_as_objects_are_scored_as_empty(void **state)
{
	for (int objects = 0; objects < 2; objects++) {
		struct extender_test *s = configure(state, 1);

		s->extenders[0].prioritize_verb = bt_str("");
		s->scripts[0].keeps = " large small ";
		s->scripts[0].objects = objects;
		start_nodes(s, 0);
		add_node(&s->t, "large", "4");
		add_node(&s->t, "small", "2");
		add_pod(&s->t, "name: load", "nodeName: large, " CPU("2"), "");
		struct bt_decision decision = decide(&s->t, add_pod(&s->t, "name: p", CPU("500m"), ""));

		assert_int_equal(decision.node_ix, slot_of(s, objects ? "large" : "small"));
		end_test(s);
	}
}

static void nodes_dropped_silently_have_no_reason(void **state)
{
	struct extender_test *s = configure(state, 1);

	s->scripts[0].keeps = "";
	start_nodes(s, 2);
	assert_string_equal(message(&s->t, add_pod(&s->t, "name: p", CPU("1"), "")),
		"0/2 nodes are available:" AFTER
		"0/2 nodes are available: 2 Preemption is not helpful for scheduling.");
	end_test(s);
}

/* Where PreFilter has restricted the nodes, those dropped without a reason count as excluded by it. */
static void nodes_dropped_silently_look_left_out(void **state)
{
	struct extender_test *s = configure(state, 1);

	s->scripts[0].keeps = "";
	start_nodes(s, 3);
	uint32_t pod = add_pod(&s->t, "name: p",
		"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
		"{nodeSelectorTerms: "
		"[{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]}}}, " CPU("1"),
		"");
	assert_string_equal(message(&s->t, pod),
		"0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]." AFTER
		"0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
	assert_int_equal(s->scripts[0].filtered_n, 1);
	end_test(s);
}

static void an_extender_that_fails_fails_the_cycle_unless_it_may_be_ignored(void **state)
{
	struct extender_test *s = configure(state, 2);

	s->extenders[0].ignorable = true;
	s->scripts[0].error = "connection refused";
	s->scripts[1].keeps = " n2 n1 ";
	start_nodes(s, 3);
	uint32_t pod = add_pod(&s->t, "name: p", CPU("1"), "");
	assert_int_equal(decide(&s->t, pod).outcome, BT_PLACED);
	/* It is called last, although it is listed first. */
	assert_int_equal(s->scripts[0].filtered_n, 2);
	s->scripts[1].error = "failed filter with extender at URL http://1/filter, code 500";
	pod = add_pod(&s->t, "name: q", CPU("1"), "");
	assert_int_equal(decide(&s->t, pod).outcome, BT_FAILED);
	assert_string_equal(message(&s->t, pod), s->scripts[1].error);
	end_test(s);
}

static void an_extender_may_not_invent_nodes(void **state)
{
	struct extender_test *s = configure(state, 1);

	s->scripts[0].names = "n2";
	start_nodes(s, 2);
	add_pod(&s->t, "name: full", "nodeName: n2, priority: 9, " CPU("2"), "");
	assert_string_equal(message(&s->t, add_pod(&s->t, "name: p", CPU("1"), "")),
		"extender \"http://0\" claims a filtered node \"n2\" which is not found in the input node "
		"list");
	s->scripts[0].names = "n77";
	assert_string_equal(message(&s->t, add_pod(&s->t, "name: q", CPU("1"), "")),
		"extender \"http://0\" claims a filtered node \"n77\" which is not found in the input node "
		"list");
	end_test(s);
}

static void an_extender_is_called_for_pods_that_request_its_resources(void **state)
{
	struct bt_extender_resource resources[] = {
		{.name = bt_str("example.com/a")}, {.name = bt_str("example.com/b")}};
	struct extender_test *s = configure(state, 1);

	s->extenders[0].resources = resources;
	s->extenders[0].resource_n = 2;
	s->scripts[0].keeps = "";
	start_nodes(s, 2);
	assert_int_equal(decide(&s->t, add_pod(&s->t, "name: p", CPU("1"), "")).outcome, BT_PLACED);
	assert_int_equal(s->scripts[0].call_n, 0);
	assert_int_equal(bt_engine_counts(s->t.engine).by_columns_n, 1);
	uint32_t pod = add_pod(&s->t, "name: q",
		"containers: [{name: a}], initContainers: [{name: i, resources: {requests: {example.com/b: "
		"'0'}}}]",
		"");
	assert_int_equal(decide(&s->t, pod).outcome, BT_REFUSED);
	assert_true(s->scripts[0].call_n > 0);
	end_test(s);
}

static void points_count_ten_times_their_weight(void **state)
{
	struct extender_test *s = configure(state, 3);

	s->extenders[1].weight = 3;
	s->scripts[0].likes = "n2";
	s->scripts[0].points = 5;
	s->scripts[1].likes = "n3";
	s->scripts[1].points = 2;
	s->scripts[2].likes = "n1";
	s->scripts[2].points = 10;
	s->scripts[2].error = "out of order";
	s->extenders[2].ignorable = true;
	start_nodes(s, 3);
	uint32_t pod = add_pod(&s->t, "name: p", CPU("1"), "");
	bt_engine_explain(s->t.engine, pod, &s->t.explanation);
	const struct bt_evaluation *e = &s->t.explanation.evaluation;
	assert_int_equal(e->feasible_n, 3);
	assert_int_equal(e->totals[1] - e->totals[0], 50);
	assert_int_equal(e->totals[2] - e->totals[0], 60);
	assert_int_equal(decide(&s->t, pod).node_ix, slot_of(s, "n3"));
	end_test(s);
}

static void a_nominated_node_needs_the_extenders_too(void **state)
{
	struct extender_test *s = configure(state, 1);

	s->scripts[0].keeps = " n2 ";
	start_nodes(s, 2);
	uint32_t pod = add_pod(&s->t, "name: p", CPU("1"), "nominatedNodeName: n1");
	assert_int_equal(decide(&s->t, pod).node_ix, slot_of(s, "n2"));
	end_test(s);
}

/* ---- preemption ---- */

static void fill(struct extender_test *s)
{
	add_pod(&s->t, "name: a, uid: ua", "nodeName: n1, priority: 1, " CPU("1"),
		"startTime: '2026-01-01T00:00:00Z'");
	add_pod(&s->t, "name: b, uid: ub", "nodeName: n1, priority: 2, " CPU("1"),
		"startTime: '2026-01-02T00:00:00Z'");
	add_pod(&s->t, "name: c, uid: uc", "nodeName: n2, priority: 3, " CPU("2"),
		"startTime: '2026-01-03T00:00:00Z'");
}

/* Two full nodes, and the cycle of a pod that must preempt on one of them. */
static struct bt_decision preempt_on_full_nodes(struct extender_test *test)
{
	start_nodes(test, 2);
	fill(test);
	return decide(&test->t, add_pod(&test->t, "name: p", "priority: 7, " CPU("1"), ""));
}

static void extenders_choose_among_candidates(void **state)
{
	struct extender_test *s = configure(state, 2);

	s->scripts[0].candidates_as_they_are = " n1 n2 ";
	s->scripts[1].candidates_as_they_are = " n2 ";
	struct bt_decision decision = preempt_on_full_nodes(s);
	assert_int_equal(decision.nominated_ix, slot_of(s, "n2"));
	assert_int_equal(decision.victim_n, 1);
	assert_int_equal(s->scripts[1].preempted_n, 2);
	end_test(s);
}

static void extenders_name_the_victims(void **state)
{
	struct extender_test *s = configure(state, 1);

	s->scripts[0].candidate = "n1";
	s->scripts[0].victims[0] = "ub";
	s->scripts[0].victims[1] = "ua";
	struct bt_decision decision = preempt_on_full_nodes(s);
	assert_int_equal(decision.victim_n, 2);
	assert_int_equal(decision.victims[0].priority, 2);
	assert_int_equal(decision.victims[1].priority, 1);
	end_test(s);
}

static void no_candidate_may_be_left(void **state)
{
	struct extender_test *s = configure(state, 2);

	s->scripts[1].candidates_as_they_are = " n1 n2 ";
	struct bt_decision decision = preempt_on_full_nodes(s);
	assert_int_equal(decision.nominated_ix, BT_NO_NODE);
	/* Without candidates, no further extender is called. */
	assert_int_equal(s->scripts[1].call_n, 0);
	assert_string_equal(message(&s->t, decision.pod_ix),
		"0/2 nodes are available: 2 Insufficient cpu." AFTER "no candidate node for preemption");
	end_test(s);
}

struct mistake {
	const char *candidate, *victim, *error, *text;
};

static const struct mistake mistakes[] = {
	{"n1", NULL, NULL, "expected at least one victim pod on node \"n1\""},
	{"n9", "ua", NULL, "nodeinfo not found for node name \"n9\""},
	{"n1", "uc", NULL,
		"extender: http://0 claims to preempt pod (UID: &{uc}) on node: n1, but the pod is not found "
		"on that "
		"node"},
	{"n1", "ua", "connection refused", "connection refused"},
};

static void an_extender_that_errs_about_victims_fails_preemption(void **state)
{
	for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
		struct bt_buf want = {0};
		struct extender_test *s = configure(state, 1);

		s->scripts[0].candidate = mistakes[i].candidate;
		s->scripts[0].victims[0] = mistakes[i].victim;
		s->scripts[0].error = mistakes[i].error;
		s->extenders[0].filter_verb = bt_str("");
		start_nodes(s, 2);
		fill(s);
		uint32_t pod = add_pod(&s->t, "name: p", "priority: 7, " CPU("1"), "nominatedNodeName: n2");
		assert_int_equal(decide(&s->t, pod).nominated_ix, BT_NO_NODE);
		bt_buf_printf(&want, "0/2 nodes are available: 2 Insufficient cpu. preemption: %s",
			mistakes[i].text);
		assert_string_equal(message(&s->t, pod), want.ptr);
		/* An error leaves the nomination unchanged. */
		assert_int_equal(bt_ledger_pod(bt_engine_cache(s->t.engine)->ledger, pod)->nominated_ix,
			slot_of(s, "n2"));
		bt_buf_fini(&want);
		end_test(s);
	}
}

static void an_extender_that_may_be_ignored_leaves_the_candidates(void **state)
{
	for (size_t i = 1; i < COUNT_OF(mistakes); i++) {
		struct extender_test *s = configure(state, 1);

		s->extenders[0].ignorable = true;
		s->scripts[0].candidate = mistakes[i].candidate;
		s->scripts[0].victims[0] = mistakes[i].victim;
		s->scripts[0].error = mistakes[i].error;
		struct bt_decision decision = preempt_on_full_nodes(s);
		assert_int_equal(decision.nominated_ix, slot_of(s, "n1"));
		end_test(s);
	}
}

/* An ignorable extender's node without victims is removed from the candidates. */
static void an_ignorable_extenders_nodes_without_victims_go(void **state)
{
	struct extender_test *s = configure(state, 1);

	s->extenders[0].ignorable = true;
	s->scripts[0].candidate = "n1";
	s->scripts[0].candidates_as_they_are = " n2 ";
	struct bt_decision decision = preempt_on_full_nodes(s);
	assert_int_equal(decision.nominated_ix, slot_of(s, "n2"));
	end_test(s);
}

static void violations_are_those_that_the_extender_counts(void **state)
{
	struct extender_test *s = configure(state, 1);

	s->scripts[0].candidate = "n1";
	s->scripts[0].victims[0] = "ua";
	s->scripts[0].violation_n = 1;
	s->scripts[0].candidates_as_they_are = " n2 ";
	struct bt_decision decision = preempt_on_full_nodes(s);
	assert_int_equal(decision.nominated_ix, slot_of(s, "n2"));
	end_test(s);
}

/* An extender may return something else each time. */
static void an_extender_is_called_again_though_nothing_changed(void **state)
{
	struct extender_test *s = configure(state, 1);

	assert_int_equal(preempt_on_full_nodes(s).victim_n, 0);
	s->scripts[0].candidates_as_they_are = " n1 ";
	assert_int_equal(decide(&s->t, add_pod(&s->t, "name: q", "priority: 7, " CPU("1"), "")).victim_n, 1);
	end_test(s);
}

static void without_a_frontend_extenders_are_not_called(void **state)
{
	const struct bt_engine_options options = {0};
	struct extender_test *s = configure(state, 1);

	s->scripts[0].keeps = "";
	start(&s->t, &options);
	add_node(&s->t, "n1", "2");
	assert_int_equal(decide(&s->t, add_pod(&s->t, "name: p", CPU("1"), "")).outcome, BT_PLACED);
	end_test(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_pod_goes_where_every_extender_lets_it),
		FIXTURE_TEST(reasons_of_extenders_are_counted_like_plugins_reasons),
		FIXTURE_TEST(reasons_for_nodes_that_were_not_in_the_request_count),
		FIXTURE_TEST(the_message_of_a_cycle_calls_no_extender_again),
		FIXTURE_TEST(nodes_given_as_objects_are_scored_as_empty),
		FIXTURE_TEST(nodes_dropped_silently_have_no_reason),
		FIXTURE_TEST(nodes_dropped_silently_look_left_out),
		FIXTURE_TEST(an_extender_that_fails_fails_the_cycle_unless_it_may_be_ignored),
		FIXTURE_TEST(an_extender_may_not_invent_nodes),
		FIXTURE_TEST(an_extender_is_called_for_pods_that_request_its_resources),
		FIXTURE_TEST(points_count_ten_times_their_weight),
		FIXTURE_TEST(a_nominated_node_needs_the_extenders_too),
		FIXTURE_TEST(extenders_choose_among_candidates),
		FIXTURE_TEST(extenders_name_the_victims),
		FIXTURE_TEST(no_candidate_may_be_left),
		FIXTURE_TEST(an_extender_that_errs_about_victims_fails_preemption),
		FIXTURE_TEST(an_extender_that_may_be_ignored_leaves_the_candidates),
		FIXTURE_TEST(an_ignorable_extenders_nodes_without_victims_go),
		FIXTURE_TEST(violations_are_those_that_the_extender_counts),
		FIXTURE_TEST(an_extender_is_called_again_though_nothing_changed),
		FIXTURE_TEST(without_a_frontend_extenders_are_not_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
