/* SPDX-License-Identifier: Apache-2.0
 * The API calls of a cycle, their order, and upstream's texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/flow/cycle/cycle_api_calls.h"

static const struct bt_pod_condition unschedulable = {.type = BT_STR("PodScheduled"),
	.status = BT_STR("False"),
	.reason = BT_STR("Unschedulable"),
	.message = BT_STR("0/1 nodes are available: 1 Insufficient cpu."),
	.transition_s = 50,
	.observed_generation = 4};

static struct bt_api_pod pod_named(const char *name)
{
	return (struct bt_api_pod){.namespace_ = bt_str("ns"),
		.name = bt_str(name),
		.uid = bt_str("u"),
		.scheduler_name = bt_str("mine"),
		.generation = 4};
}

static struct bt_api_cycle cycle_of(const struct bt_api_pod *pod, enum bt_cycle_end end)
{
	return (struct bt_api_cycle){.pod = pod,
		.end = end,
		.host = bt_str("h"),
		.now_s = 100,
		.message = bt_str("0/1 nodes are available: 1 Insufficient cpu.")};
}

static void describe_status(const struct bt_api_status *status, struct bt_buf *out)
{
	if (status->has_condition) {
		const struct bt_pod_condition *c = &status->condition;

		bt_buf_printf(out, " %.*s=%.*s/%.*s @%d g%d", BT_STR_ARG(c->type), BT_STR_ARG(c->status),
			BT_STR_ARG(c->reason), (int)c->transition_s, (int)c->observed_generation);
	}
	if (status->nomination != BT_NOMINATION_LEAVE) {
		bt_buf_printf(out, " nominated=%.*s", BT_STR_ARG(status->nominated_node_name));
	}
}

/* Compares the calls, joined into one text. */
static void expect(const struct bt_api_cycle *cycle, const char *want)
{
	struct bt_api_calls calls = {.n = 0};
	struct bt_buf text = {.len = 0};

	bt_api_calls_of(cycle, &calls);
	for (size_t i = 0; i < calls.n; i++) {
		const struct bt_api_call *call = &calls.items[i];

		bt_buf_printf(&text, "%s%.*s", call->caller == BT_API_SERVER ? "server " : "",
			BT_STR_ARG(call->pod->name));
		if (call->verb == BT_API_EVENT) {
			bt_buf_printf(&text, " %s %s/%s: %.*s%s%.*s",
				call->event.warning ? "Warning" : "Normal", call->event.reason,
				call->event.action, BT_STR_ARG(call->event.note),
				call->event.related ? " <- " : "",
				call->event.related ? (int)call->event.related->name.len : 0,
				call->event.related ? call->event.related->name.ptr : "");
			assert_true(bt_str_is(call->event.reporting_controller, "mine"));
			assert_true(bt_str_is(call->event.reporting_instance, "mine-h"));
		} else if (call->verb == BT_API_PATCH_STATUS) {
			describe_status(&call->status, &text);
		} else if (call->verb == BT_API_BIND) {
			bt_buf_printf(&text, " -> %.*s", BT_STR_ARG(call->node));
		} else {
			bt_buf_text(&text, " deleted");
		}
		bt_buf_char(&text, '\n');
	}
	assert_string_equal(text.len ? text.ptr : "", want);
	bt_buf_fini(&text);
	bt_api_calls_fini(&calls);
}

static void a_placed_pod_is_bound_and_then_reported(void **state)
{
	struct bt_api_pod pod = pod_named("p");
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_PLACED);

	(void)state;
	cycle.node = bt_str("n1");
	expect(&cycle, "p -> n1\n"
		       "server p PodScheduled=True/ @100 g0\n"
		       "p Normal Scheduled/Binding: Successfully assigned ns/p to n1\n");
	pod.nominated_node_name = bt_str("n2");
	pod.conditions = &unschedulable;
	pod.condition_n = 1;
	expect(&cycle, "p -> n1\n"
		       "server p PodScheduled=True/ @100 g0 nominated=\n"
		       "p Normal Scheduled/Binding: Successfully assigned ns/p to n1\n");
}

static void a_refused_pod_gets_an_event_and_a_condition(void **state)
{
	struct bt_api_pod pod = pod_named("p");
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_UNSCHEDULABLE);

	(void)state;
	expect(&cycle, "p Warning FailedScheduling/Scheduling: 0/1 nodes are available: 1 Insufficient cpu.\n"
		       "p PodScheduled=False/Unschedulable @100 g4\n");
	cycle.end = BT_CYCLE_ERROR;
	cycle.nomination = BT_NOMINATION_CLEAR;
	cycle.message = bt_str("running PreFilter plugin \"X\": 100%");
	expect(&cycle, "p Warning FailedScheduling/Scheduling: running PreFilter plugin \"X\": 100%\n"
		       "p PodScheduled=False/SchedulerError @100 g4\n");
}

static void a_condition_that_stays_is_not_patched_and_keeps_its_time(void **state)
{
	struct bt_api_pod pod = pod_named("p");
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_UNSCHEDULABLE);

	(void)state;
	pod.conditions = &unschedulable;
	pod.condition_n = 1;
	pod.generation = 5;
	expect(&cycle, "p Warning FailedScheduling/Scheduling: 0/1 nodes are available: 1 Insufficient "
		       "cpu.\n");
	cycle.message = bt_str("no nodes available to schedule pods");
	expect(&cycle, "p Warning FailedScheduling/Scheduling: no nodes available to schedule pods\n"
		       "p PodScheduled=False/Unschedulable @50 g5\n");
}

static void the_nomination_is_set_cleared_or_left(void **state)
{
	struct bt_api_pod pod = pod_named("p");
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_UNSCHEDULABLE);
	const char *event = "p Warning FailedScheduling/Scheduling: 0/1 nodes are available: 1 Insufficient "
			    "cpu.\n";
	struct bt_buf want = {.len = 0};

	(void)state;
	pod.conditions = &unschedulable;
	pod.condition_n = 1;
	pod.nominated_node_name = bt_str("n1");
	cycle.nomination = BT_NOMINATION_LEAVE;
	expect(&cycle, event);
	cycle.nomination = BT_NOMINATION_SET;
	cycle.node = bt_str("n1");
	expect(&cycle, event);
	cycle.node = bt_str("n2");
	bt_buf_printf(&want, "%sp PodScheduled=False/Unschedulable @50 g4 nominated=n2\n", event);
	expect(&cycle, want.ptr);
	cycle.nomination = BT_NOMINATION_CLEAR;
	bt_buf_clear(&want);
	bt_buf_printf(&want, "%sp PodScheduled=False/Unschedulable @50 g4 nominated=\n", event);
	expect(&cycle, want.ptr);
	pod.nominated_node_name = (struct bt_str){.len = 0};
	expect(&cycle, event);
	bt_buf_fini(&want);
}

/* A preemptor with three victims, one of which is being deleted and one is only in
 * memory, and a lower nomination. */
static void preempt(bool in_turn, const char *want)
{
	struct bt_api_pod pod = pod_named("p"), a = pod_named("a"), b = pod_named("b"), c = pod_named("c");
	struct bt_api_pod lower = pod_named("lower");
	const struct bt_api_pod *cleared_nominations[] = {&lower};
	const struct bt_api_victim victims[] = {
		{.pod = &a}, {.pod = &b, .terminating = true}, {.pod = &c, .in_memory = true}};
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_UNSCHEDULABLE);

	pod.uid = bt_str("u-p");
	lower.nominated_node_name = bt_str("n1");
	cycle.node = bt_str("n1");
	cycle.nomination = BT_NOMINATION_SET;
	cycle.victims = victims;
	cycle.victim_n = 3;
	cycle.cleared_nominations = cleared_nominations;
	cycle.cleared_nominations_n = 1;
	cycle.preempts_in_turn = in_turn;
	expect(&cycle, want);
}

#define REFUSED                                                                                              \
	"p Warning FailedScheduling/Scheduling: 0/1 nodes are available: 1 Insufficient cpu.\n"              \
	"p PodScheduled=False/Unschedulable @100 g4 nominated=n1\n"
#define VICTIMS                                                                                              \
	"a DisruptionTarget=True/PreemptionByScheduler @100 g4\n"                                            \
	"a deleted\n"                                                                                        \
	"a Normal Preempted/Preempting: Preempted by pod u-p on node n1 <- p\n"                              \
	"c Normal Preempted/Preempting: Preempted by pod u-p on node n1 (in kube-scheduler memory). <- p\n"
#define LOWER "lower nominated=\n"

static void victims_go_after_the_refusal_or_before_it_in_turn(void **state)
{
	(void)state;
	preempt(false, REFUSED LOWER VICTIMS);
	preempt(true, VICTIMS LOWER REFUSED);
}

static void victims_events_name_the_group_and_no_node(void **state)
{
	struct bt_api_pod pod = pod_named("p"), a = pod_named("a"), c = pod_named("c");
	struct bt_api_pod group = {.name = bt_str("g"), .uid = bt_str("u-g"), .group_version = bt_str("v")};
	const struct bt_api_victim victims[] = {{.pod = &a}, {.pod = &c, .in_memory = true}};
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_UNSCHEDULABLE);
	struct bt_api_calls calls = {.n = 0};

	(void)state;
	cycle.node = bt_str("n1");
	cycle.nomination = BT_NOMINATION_SET;
	cycle.victims = victims;
	cycle.victim_n = 2;
	cycle.group = &group;
	expect(&cycle,
		REFUSED "a DisruptionTarget=True/PreemptionByScheduler @100 g4\n"
			"a deleted\n"
			"a Normal Preempted/Preempting: Preempted by podgroup u-g on node cluster <- g\n"
			"c Normal Preempted/Preempting: Preempted by podgroup u-g on node cluster (in "
			"kube-scheduler memory). <- g\n");
	bt_api_calls_of(&cycle, &calls);
	assert_true(bt_str_is(calls.items[2].status.condition.message,
		"mine: preempting to accommodate a higher priority podgroup"));
	group.composite = true;
	bt_api_calls_of(&cycle, &calls);
	assert_true(bt_str_is(calls.items[2].status.condition.message,
		"mine: preempting to accommodate a higher priority compositepodgroup"));
	assert_true(
		bt_str_is(calls.items[4].event.note, "Preempted by compositepodgroup u-g on node cluster"));
	bt_api_calls_fini(&calls);
}

static void nothing_is_sent_when_all_victims_are_going(void **state)
{
	struct bt_api_pod pod = pod_named("p"), a = pod_named("a"), lower = pod_named("lower");
	const struct bt_api_pod *cleared_nominations[] = {&lower};
	const struct bt_api_victim victim = {.pod = &a, .terminating = true};
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_UNSCHEDULABLE);

	(void)state;
	lower.nominated_node_name = bt_str("n1");
	cycle.node = bt_str("n1");
	cycle.nomination = BT_NOMINATION_SET;
	cycle.victims = &victim;
	cycle.victim_n = 1;
	cycle.cleared_nominations = cleared_nominations;
	cycle.cleared_nominations_n = 1;
	expect(&cycle, REFUSED);
	cycle.preempts_in_turn = true;
	expect(&cycle, LOWER REFUSED);
}

static void a_resizes_events_concern_its_victims_only(void **state)
{
	struct bt_api_pod pod = pod_named("p"), low = pod_named("low"), lower = pod_named("lower");
	const struct bt_api_victim victim = {.pod = &low};
	const struct bt_api_pod *cleared_nominations[] = {&lower};
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_ERROR);

	(void)state;
	cycle.resizes = true;
	expect(&cycle, "");
	cycle.end = BT_CYCLE_UNSCHEDULABLE;
	cycle.nomination = BT_NOMINATION_SET;
	cycle.node = bt_str("n1");
	cycle.victims = &victim;
	cycle.victim_n = 1;
	lower.nominated_node_name = bt_str("n1");
	cycle.cleared_nominations = cleared_nominations;
	cycle.cleared_nominations_n = 1;
	expect(&cycle, "lower nominated=\n"
		       "low DisruptionTarget=True/PreemptionByScheduler @100 g4\n"
		       "low deleted\n"
		       "low Normal Preempted/Preempting: Preempted by pod u on node n1 <- p\n");
}

static void a_long_note_is_cut_but_not_the_condition(void **state)
{
	struct bt_api_pod pod = pod_named("p");
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_UNSCHEDULABLE);
	struct bt_api_calls calls = {.n = 0};
	char message[1026];

	(void)state;
	memset(message, 'x', sizeof(message) - 1);
	message[1025] = '\0';
	cycle.message = (struct bt_str){message, 1024};
	bt_api_calls_of(&cycle, &calls);
	assert_int_equal(calls.items[0].event.note.len, 1024);
	assert_true(bt_str_ends(calls.items[0].event.note, "xxxxx"));
	cycle.message = (struct bt_str){message, 1025};
	bt_api_calls_of(&cycle, &calls);
	assert_int_equal(calls.items[0].event.note.len, 1024);
	assert_true(bt_str_ends(calls.items[0].event.note, "x ..."));
	assert_int_equal(calls.items[1].status.condition.message.len, 1025);
	bt_api_calls_fini(&calls);
}

static void pods_without_a_cycle_are_noted(void **state)
{
	struct bt_api_pod pod = pod_named("p");
	struct bt_api_cycle cycle = cycle_of(&pod, BT_CYCLE_DELETING);
	struct bt_api_calls calls = {.n = 0};

	(void)state;
	expect(&cycle, "p Warning FailedScheduling/Scheduling: skip schedule deleting pod: ns/p\n");
	cycle.end = BT_CYCLE_GATED;
	expect(&cycle, "server p PodScheduled=False/SchedulingGated @100 g0\n");
	bt_api_calls_of(&cycle, &calls);
	assert_true(bt_str_is(calls.items[0].status.condition.message,
		"Scheduling is blocked due to non-empty scheduling gates"));
	bt_api_calls_fini(&calls);
	pod.conditions = &unschedulable;
	pod.condition_n = 1;
	expect(&cycle, "");
}

static void decisions_have_the_outcome_and_the_new_nomination(void **state)
{
	static const struct {
		struct bt_decision decision;
		enum bt_cycle_end end;
		enum bt_nomination nomination;
	} cases[] = {
		{{.outcome = BT_PLACED}, BT_CYCLE_PLACED, BT_NOMINATION_LEAVE},
		{{.outcome = BT_FAILED}, BT_CYCLE_ERROR, BT_NOMINATION_CLEAR},
		{{.outcome = BT_GATED}, BT_CYCLE_GATED, BT_NOMINATION_LEAVE},
		{{.outcome = BT_SKIPPED}, BT_CYCLE_DELETING, BT_NOMINATION_LEAVE},
		{{.outcome = BT_REFUSED, .preempt = BT_PREEMPT_FOUND}, BT_CYCLE_UNSCHEDULABLE,
			BT_NOMINATION_SET},
		{{.outcome = BT_REFUSED, .preempt = BT_PREEMPT_NOWHERE}, BT_CYCLE_UNSCHEDULABLE,
			BT_NOMINATION_CLEAR},
		{{.outcome = BT_REFUSED, .preempt = BT_PREEMPT_INELIGIBLE}, BT_CYCLE_UNSCHEDULABLE,
			BT_NOMINATION_LEAVE},
		{{.outcome = BT_REFUSED, .preempt = BT_PREEMPT_FAILED}, BT_CYCLE_UNSCHEDULABLE,
			BT_NOMINATION_LEAVE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(bt_cycle_end_of(&cases[i].decision), cases[i].end);
		assert_int_equal(bt_nomination_of(&cases[i].decision), cases[i].nomination);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_placed_pod_is_bound_and_then_reported),
		cmocka_unit_test(a_refused_pod_gets_an_event_and_a_condition),
		cmocka_unit_test(a_condition_that_stays_is_not_patched_and_keeps_its_time),
		cmocka_unit_test(the_nomination_is_set_cleared_or_left),
		cmocka_unit_test(victims_go_after_the_refusal_or_before_it_in_turn),
		cmocka_unit_test(victims_events_name_the_group_and_no_node),
		cmocka_unit_test(nothing_is_sent_when_all_victims_are_going),
		cmocka_unit_test(a_resizes_events_concern_its_victims_only),
		cmocka_unit_test(a_long_note_is_cut_but_not_the_condition),
		cmocka_unit_test(pods_without_a_cycle_are_noted),
		cmocka_unit_test(decisions_have_the_outcome_and_the_new_nomination),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
