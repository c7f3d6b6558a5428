/* SPDX-License-Identifier: Apache-2.0
 * The log of decisions: a line for each decision, and for each deleted pod.
 */
#include "trial.h"

#include "tools/offline/simulate/decision_log.h"

struct log {
	struct bt_buf text;
	struct bt_output output;
	struct bt_decision_log decisions;
};

static void begin_log(struct log *log, struct trial *t)
{
	*log = (struct log){0};
	bt_output_open_buf(&log->text, &log->output);
	log->decisions = (struct bt_decision_log){.output = &log->output, .engine = t->engine};
}

static void expect_log(struct log *log, const char *lines)
{
	bt_output_flush(&log->output);
	assert_string_equal(log->text.len ? log->text.ptr : "", lines);
}

static void end_log(struct log *log)
{
	bt_decision_log_fini(&log->decisions);
	bt_buf_fini(&log->text);
}

static void a_placed_pod_has_its_node_and_no_message(void **state)
{
	struct trial t = begin(state);
	struct log log;

	begin_log(&log, &t);
	add_node(&t, "n0", "4");
	const struct bt_decision decision = decide(&t, add_pod(&t, "name: a", CPU("1"), ""));
	bt_decision_log_decision(&log.decisions, &decision, bt_str("why not"));
	expect_log(&log, "{\"pod\":\"default/a\",\"node\":\"n0\"}\n");
	end_log(&log);
	end(&t);
}

static void a_refused_pod_has_no_node_and_a_reason(void **state)
{
	struct trial t = begin(state);
	struct log log;

	begin_log(&log, &t);
	add_node(&t, "n0", "4");
	const struct bt_decision decision = decide(&t, add_pod(&t, "name: a", CPU("9"), ""));
	bt_decision_log_decision(&log.decisions, &decision, bt_str("too \"large\""));
	expect_log(&log, "{\"pod\":\"default/a\",\"node\":null,\"message\":\"too \\\"large\\\"\"}\n");
	end_log(&log);
	end(&t);
}

/* The node is full of b and c, which p preempts. */
static struct bt_decision decide_preemptor(struct trial *t)
{
	add_node(t, "n0", "2");
	add_pod(t, "name: b", "nodeName: n0, " CPU("1"), "");
	add_pod(t, "name: c", "nodeName: n0, " CPU("1"), "");
	const struct bt_decision decision = decide(t, add_pod(t, "name: p", "priority: 7, " CPU("2"), ""));

	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(decision.victim_n, 2);
	return decision;
}

static void victims_are_listed_that_go_because_of_the_decision(void **state)
{
	struct trial t = begin(state);
	struct log log;

	begin_log(&log, &t);
	const struct bt_decision decision = decide_preemptor(&t);
	for (uint32_t i = 0; i < 2; i++) {
		bt_decision_log_evict(&log.decisions, decision.victims[i].pod_ix);
	}
	bt_decision_log_decision(&log.decisions, &decision, bt_str("m"));
	expect_log(&log, "{\"pod\":\"default/p\",\"node\":null,\"nominated\":\"n0\","
			 "\"evicted\":[\"default/b\",\"default/c\"],\"message\":\"m\"}\n");
	end_log(&log);
	end(&t);
}

static void victims_that_were_going_before_are_not_listed_again(void **state)
{
	struct trial t = begin(state);
	struct log log;

	begin_log(&log, &t);
	const struct bt_decision decision = decide_preemptor(&t);
	bt_decision_log_evict(&log.decisions, decision.victims[1].pod_ix);
	bt_decision_log_decision(&log.decisions, &decision, bt_str("m"));
	bt_decision_log_decision(&log.decisions, &decision, bt_str("m"));
	expect_log(&log, "{\"pod\":\"default/p\",\"node\":null,\"nominated\":\"n0\","
			 "\"evicted\":[\"default/c\"],\"message\":\"m\"}\n"
			 "{\"pod\":\"default/p\",\"node\":null,\"nominated\":\"n0\",\"message\":\"m\"}\n");
	end_log(&log);
	end(&t);
}

static void pods_that_are_gated_or_skipped_have_no_line(void **state)
{
	struct trial t = begin(state);
	struct log log;

	begin_log(&log, &t);
	const uint32_t pod = add_pod(&t, "name: a", CPU("1"), "");
	bt_decision_log_decision(
		&log.decisions, &(struct bt_decision){.pod_ix = pod, .outcome = BT_GATED}, bt_str("m"));
	bt_decision_log_decision(
		&log.decisions, &(struct bt_decision){.pod_ix = pod, .outcome = BT_SKIPPED}, bt_str("m"));
	expect_log(&log, "");
	end_log(&log);
	end(&t);
}

static void a_pod_that_goes_has_a_line_of_its_own(void **state)
{
	struct trial t = begin(state);
	struct log log;

	begin_log(&log, &t);
	bt_decision_log_delete(&log.decisions, add_pod(&t, "name: a, namespace: other", CPU("1"), ""));
	expect_log(&log, "{\"pod\":\"other/a\",\"delete\":true}\n");
	end_log(&log);
	end(&t);
}

static void without_an_output_nothing_is_kept(void **state)
{
	struct trial t = begin(state);
	struct bt_decision_log decisions = {.engine = t.engine};
	const struct bt_decision decision = decide_preemptor(&t);

	bt_decision_log_evict(&decisions, decision.victims[0].pod_ix);
	bt_decision_log_decision(&decisions, &decision, bt_str("m"));
	bt_decision_log_delete(&decisions, decision.victims[0].pod_ix);
	assert_int_equal(decisions.evicted.n, 0);
	assert_int_equal(decisions.line.len, 0);
	bt_decision_log_fini(&decisions);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_placed_pod_has_its_node_and_no_message),
		FIXTURE_TEST(a_refused_pod_has_no_node_and_a_reason),
		FIXTURE_TEST(victims_are_listed_that_go_because_of_the_decision),
		FIXTURE_TEST(victims_that_were_going_before_are_not_listed_again),
		FIXTURE_TEST(pods_that_are_gated_or_skipped_have_no_line),
		FIXTURE_TEST(a_pod_that_goes_has_a_line_of_its_own),
		FIXTURE_TEST(without_an_output_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
