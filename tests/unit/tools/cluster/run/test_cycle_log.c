/* SPDX-License-Identifier: Apache-2.0
 * kube-scheduler's log lines for cycles: texts, keys and levels.
 */
#include "lab.h"

#include "caught.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/run/cycle_log.h"
#include "tools/cluster/run/event_log.h"
#include "tools/cluster/run/queue_log.h"

struct desk {
	struct lab lab;
	struct bt_cycle_log *log;
};

static void look(void *context, uint32_t pod_ix)
{
	struct desk *desk = context;

	bt_cycle_log_begins(desk->log, bt_pipeline_engine(desk->lab.pipeline), pod_ix);
}

static void on_cycle_ended(void *context, const struct bt_decision *decision,
	const struct bt_queue_info *info, uint32_t nominated, struct bt_str message)
{
	struct desk *desk = context;

	(void)info;
	(void)nominated;
	bt_cycle_log_ended(desk->log, bt_pipeline_engine(desk->lab.pipeline), decision, message);
}

static void bound(void *context, uint32_t pod_ix, bool yes, const struct bt_queue_info *info, int64_t took_ns)
{
	struct desk *desk = context;

	(void)took_ns;
	bt_cycle_log_bound(desk->log, bt_pipeline_engine(desk->lab.pipeline), pod_ix, yes, info);
}

static void on_event(
	void *context, enum bt_cluster_event_resource resource, uint32_t action, const struct bt_delta *delta)
{
	const struct desk *desk = context;

	bt_event_log(bt_engine_cache(bt_pipeline_engine(desk->lab.pipeline))->dictionary->intern, resource,
		action, delta);
}

/* A full node and two empty ones. */
static struct desk *begin(int verbosity, bool binds)
{
	struct desk *desk = calloc(1, sizeof(*desk));
	struct bt_pipeline_options options = lab_options(&desk->lab);

	desk->log = bt_cycle_log_create(binds);
	options.sink = (struct bt_pipeline_sink){.event = on_event,
		.cycle_begins = look,
		.cycle_ended = on_cycle_ended,
		.bound = bound,
		.context = desk};
	options.engine.observer = bt_queue_log_observer(&desk->lab.pipeline);
	lab_begin(&desk->lab, &options);
	lab_node(&desk->lab, "n1");
	lab_node(&desk->lab, "n2");
	lab_node(&desk->lab, "n3");
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "a", "", ", 'nodeName': 'n1'");
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "b", "", ", 'nodeName': 'n1'");
	lab_settle(&desk->lab);
	desk->lab.answers = true;
	caught_begin();
	bt_log_setup(BT_LOG_TEXT, verbosity);
	return desk;
}

static void end(struct desk *desk)
{
	caught_end();
	lab_end(&desk->lab);
	bt_cycle_log_destroy(desk->log);
	free(desk);
}

/* Each of these line starts occurs once, in this order, and no other line. */
static void assert_lines(const char *text, const char *const *lines, size_t n)
{
	const char *at = text;

	for (size_t i = 0; i < n; i++) {
		const char *found = strstr(at, lines[i]);

		if (!found) {
			caught_end();
			fail_msg("no '%s' in '%s'", lines[i], at);
		}
		at = strchr(found, '\n');
		assert_int_equal(at - found, strlen(lines[i]));
		at++;
	}
	assert_string_equal(at, "");
}

#define LINES(text, ...)                                                                                     \
	assert_lines(text, (const char *const[]){__VA_ARGS__},                                               \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void a_binding_is_a_line_with_how_many_nodes_were_looked_at_and_fit(void **state)
{
	struct desk *desk = begin(2, true);

	(void)state;
	lab_pod(&desk->lab, "p", "");
	lab_settle(&desk->lab);
	const char *node = lab_find(&desk->lab, "p")->node_ix == 1 ? "n2" : "n3";
	char line[256];

	snprintf(line, sizeof(line),
		"] \"Successfully bound pod to node\" pod=\"default/p\" node=\"%s\" evaluatedNodes=3 "
		"feasibleNodes=2",
		node);
	LINES(caught_text(), line);
	end(desk);
}

static void the_end_of_a_group_is_a_line(void **state)
{
	struct desk *desk = begin(2, true);
	struct bt_engine *engine = bt_pipeline_engine(desk->lab.pipeline);
	struct bt_intern *intern = bt_engine_cache(engine)->dictionary->intern;
	struct bt_group_end ended = {.namespace_ = bt_intern_hold(intern, bt_str("default")),
		.name = bt_intern_hold(intern, bt_str("g")),
		.outcome = BT_GROUP_SCHEDULED,
		.scheduled_n = 3,
		.unschedulable_n = 1};

	(void)state;
	bt_cycle_log_group_ended(desk->log, engine, &ended);
	ended.outcome = BT_GROUP_WAITS_ON_PREEMPTION;
	ended.message = bt_str("m");
	bt_cycle_log_group_ended(desk->log, engine, &ended);
	ended.outcome = BT_GROUP_UNSCHEDULABLE;
	bt_cycle_log_group_ended(desk->log, engine, &ended);
	bt_log_set_verbosity(0); /* errors are logged at every level */
	ended.outcome = BT_GROUP_ERROR;
	bt_cycle_log_group_ended(desk->log, engine, &ended);
	LINES(caught_text(),
		"] \"Successfully scheduled a pod group\" podGroup=\"default/g\" scheduledPods=3 "
		"unschedulablePods=1",
		"] \"Pod group is waiting for preemption\" podGroup=\"default/g\" unschedulablePods=1 "
		"err=\"m\"",
		"] \"Unable to schedule a pod group\" podGroup=\"default/g\" unschedulablePods=1 err=\"m\"",
		"] \"Error scheduling pod group\" err=\"m\" podGroup=\"default/g\" errorPods=1 heldBack=0");
	bt_intern_release(intern, ended.namespace_);
	bt_intern_release(intern, ended.name);
	end(desk);
}

static void levels_three_and_four_log_the_start_of_a_cycle(void **state)
{
	struct desk *desk = begin(4, true);

	(void)state;
	lab_pod(&desk->lab, "p", "");
	lab_settle(&desk->lab);
	const char *text = caught_text();

	assert_non_null(strstr(text, "] \"About to try and schedule pod\" pod=\"default/p\"\n"));
	assert_non_null(strstr(text, "] \"Attempting to schedule pod\" pod=\"default/p\"\n"));
	end(desk);
}

static void a_pod_that_fits_nowhere_is_reported_with_the_reason(void **state)
{
	struct desk *desk = begin(2, true);

	(void)state;
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&desk->lab);
	LINES(caught_text(),
		"] \"No preemption candidate is found; preemption is not helpful for scheduling\" "
		"pod=\"default/p\"",
		"] \"Unable to schedule pod; no fit; waiting\" pod=\"default/p\" err=\"0/3 nodes are "
		"available: 3 "
		"node(s) didn't match Pod's node affinity/selector. preemption: "
		"0/3 "
		"nodes are available: 3 Preemption is not helpful for scheduling.\"");
	end(desk);
}

static void a_preemption_names_its_node_and_counts_its_victims(void **state)
{
	struct desk *desk = begin(2, true);

	(void)state;
	lab_node_event(&desk->lab, BT_WATCH_EVENT_DELETE, "n2", "");
	lab_node_event(&desk->lab, BT_WATCH_EVENT_DELETE, "n3", "");
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'priority': 5");
	lab_settle(&desk->lab);
	LINES(caught_text(),
		"] \"the target node for the preemption is determined\" node=\"n1\" pod=\"default/p\"",
		"] \"Start the preemption asynchronously\" preemptor=\"default/p\" node=\"n1\" numVictims=1 "
		"numVictimsToDelete=1",
		"] \"Unable to schedule pod; no fit; waiting\" pod=\"default/p\" err=\"0/1 nodes are "
		"available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, "
		"preempting 1 victims\"");
	end(desk);
}

static void missing_nodes_are_reported(void **state)
{
	struct desk *desk = begin(2, true);

	(void)state;
	for (int i = 1; i <= 3; i++) {
		lab_node_event(
			&desk->lab, BT_WATCH_EVENT_DELETE, (const char *[]){"n1", "n2", "n3"}[i - 1], "");
	}
	lab_pod(&desk->lab, "p", "");
	lab_settle(&desk->lab);
	LINES(caught_text(), "] \"Unable to schedule pod; no nodes are registered to the cluster; waiting\" "
			     "pod=\"default/p\"");
	end(desk);
}

static void nothing_is_logged_or_counted_below_level_two(void **state)
{
	struct desk *desk = begin(1, true);

	(void)state;
	lab_pod(&desk->lab, "p", "");
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "q", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&desk->lab);
	assert_string_equal(caught_text(), "");
	end(desk);
}

/* The event lines since the last call, without their heads, each up to its object. */
static void assert_events(const char *const *lines, size_t n)
{
	const char *at = caught_text();

	for (size_t i = 0; i < n; i++) {
		at = strstr(at, " event for ");
		const char *begin = at;

		while (begin && *begin != '"') {
			begin--;
		}
		if (!begin || strncmp(begin + 1, lines[i], strlen(lines[i])) != 0) {
			caught_end();
			fail_msg("no '%s' in '%s'", lines[i], begin ? begin : "");
		}
		at++;
	}
	if (strstr(at, " event for ")) {
		caught_end();
		fail_msg("more events in '%s'", at);
	}
}

#define EVENTS(...)                                                                                          \
	assert_events((const char *const[]){__VA_ARGS__},                                                    \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void added_and_deleted_nodes_and_pods_are_logged_from_level_three(void **state)
{
	struct desk *desk = begin(3, true);
	struct lab *lab = &desk->lab;

	(void)state;
	lab_node_event(lab, BT_WATCH_EVENT_APPLY, "n4", "");
	lab_node_event(lab, BT_WATCH_EVENT_APPLY, "n4", ", 'unschedulable': true");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "c", "", ", 'nodeName': 'n2'");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "c", "", ", 'nodeName': 'n2', 'priority': 0");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "w", "", ", 'nodeSelector': {'a': 'b'}");
	lab_feed(lab,
		lab_watch_event(lab, BT_WATCH_EVENT_APPLY,
			"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': "
			"'other'}, 'spec': {'schedulerName': 'other', 'containers': [{'name': 'a'}]}}"));
	lab_settle(lab);
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "c", "", "");
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "w", "", "");
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "other", "", "");
	lab_node_event(lab, BT_WATCH_EVENT_DELETE, "n4", "");
	lab_node_event(lab, BT_WATCH_EVENT_DELETE, "unknown", "");
	lab_settle(lab);
	EVENTS("Add event for node\" node=\"n4\"", "Add event for scheduled pod\" pod=\"default/c\"",
		"Add event for unscheduled pod\" pod=\"default/w\"",
		"Delete event for scheduled pod\" pod=\"default/c\"",
		"Delete event for unscheduled pod\" pod=\"default/w\"",
		"Delete event for node\" node=\"n4\"");
	end(desk);
}

static void changes_are_logged_from_level_four(void **state)
{
	struct desk *desk = begin(4, true);
	struct lab *lab = &desk->lab;

	(void)state;
	lab_node_event(lab, BT_WATCH_EVENT_APPLY, "n3", ", 'unschedulable': true");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "a", "", ", 'nodeName': 'n1', 'priority': 7");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "w", "", ", 'nodeSelector': {'a': 'b'}");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "w", "", ", 'nodeSelector': {'a': 'c'}");
	lab_settle(lab);
	EVENTS("Update event for node\" node=\"n3\"", "Update event for scheduled pod\" pod=\"default/a\"",
		"Add event for unscheduled pod\" pod=\"default/w\"",
		"Update event for unscheduled pod\" pod=\"default/w\"");
	end(desk);
}

/* As in upstream's informer: the response to the binding is not an event. */
static void a_binding_is_an_addition_when_the_pod_is_shown(void **state)
{
	struct desk *desk = begin(4, true);
	struct lab *lab = &desk->lab;

	(void)state;
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", "", "");
	lab_settle(lab);
	const char *node = lab_find(lab, "p")->node_ix == 1 ? ", 'nodeName': 'n2'" : ", 'nodeName': 'n3'";

	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", "", node);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", "", node);
	lab_settle(lab);
	EVENTS("Add event for unscheduled pod\" pod=\"default/p\"",
		"Add event for scheduled pod\" pod=\"default/p\"",
		"Delete event for unscheduled pod\" pod=\"default/p\"",
		"Update event for scheduled pod\" pod=\"default/p\"");
	end(desk);
}

static void a_shadow_writes_neither_bindings_nor_events(void **state)
{
	struct desk *desk = begin(2, false);

	(void)state;
	lab_pod(&desk->lab, "p", "");
	lab_settle(&desk->lab);
	assert_string_equal(caught_text(), "");
	end(desk);
}

static void a_level_that_is_raised_while_a_pod_is_being_bound_is_safe(void **state)
{
	struct desk *desk = begin(0, true);

	(void)state;
	desk->lab.answers = false;
	lab_pod(&desk->lab, "p", "");
	lab_settle(&desk->lab);
	bt_log_set_verbosity(2);
	bt_pipeline_bound(desk->lab.pipeline, desk->lab.bind_requests[0].handle);
	lab_settle(&desk->lab);
	assert_non_null(strstr(caught_text(), "evaluatedNodes=0 feasibleNodes=0\n"));
	end(desk);
}

static void assert_says(const char *text, const char *line)
{
	if (!strstr(text, line)) {
		fprintf(stdout, "in '%s'\n", text);
		caught_end();
		fail_msg("no '%s'", line);
	}
}

static void level_three_logs_the_queue_of_a_refused_pod(void **state)
{
	struct desk *desk = begin(3, true);

	(void)state;
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&desk->lab);
	const char *text = caught_text();

	assert_says(text, "] \"Pod moved to an internal scheduling queue\" pod=\"default/p\" "
			  "event=\"ScheduleAttemptFailure\" "
			  "queue=\"Unschedulable\" unschedulable plugins=\"NodeAffinity\"\n");
	assert_null(strstr(text, "UnscheduledPodAdd"));
	lab_node(&desk->lab, "n4");
	lab_settle(&desk->lab);
	assert_null(strstr(caught_text(), "Queueing hint"));
	end(desk);
}

static void level_five_logs_hints_and_queue_moves(void **state)
{
	struct desk *desk = begin(5, true);

	(void)state;
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "gated", "", ", 'schedulingGates': [{'name': 'g'}]");
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&desk->lab);
	const char *text = caught_text();

	assert_says(text, "] \"Pod moved to an internal scheduling queue, because the pod is gated\" "
			  "pod=\"default/gated\" "
			  "event=\"UnscheduledPodAdd\" queue=\"Unschedulable\"\n");
	assert_says(text, "] \"Pod moved to an internal scheduling queue\" pod=\"default/p\" "
			  "event=\"UnscheduledPodAdd\" "
			  "queue=\"Active\"\n");
	lab_node(&desk->lab, "n4");
	lab_settle(&desk->lab);
	text = caught_text();
	assert_says(text,
		"] \"Queueing hint returned\" pod=\"default/p\" plugin=\"NodeAffinity\" event=\"NodeAdd\" "
		"hint=\"QueueSkip\"\n");
	assert_says(text, "] \"Event is not making pod schedulable\" pod=\"default/p\" event=\"NodeAdd\"\n");
	lab_node_event(&desk->lab, BT_WATCH_EVENT_APPLY, "n4", ", 'labels': {'a': 'b'}");
	lab_settle(&desk->lab);
	text = caught_text();
	assert_says(text, "] \"Queueing hint returned\" pod=\"default/p\" plugin=\"NodeAffinity\" "
			  "event=\"NodeUpdateNodeLabel\" "
			  "hint=\"Queue\"\n");
	assert_says(text, "] \"Pod moved to an internal scheduling queue\" pod=\"default/p\" "
			  "event=\"NodeUpdateNodeLabel\"");
	end(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_binding_is_a_line_with_how_many_nodes_were_looked_at_and_fit),
		cmocka_unit_test(the_end_of_a_group_is_a_line),
		cmocka_unit_test(levels_three_and_four_log_the_start_of_a_cycle),
		cmocka_unit_test(a_pod_that_fits_nowhere_is_reported_with_the_reason),
		cmocka_unit_test(a_preemption_names_its_node_and_counts_its_victims),
		cmocka_unit_test(missing_nodes_are_reported),
		cmocka_unit_test(nothing_is_logged_or_counted_below_level_two),
		cmocka_unit_test(added_and_deleted_nodes_and_pods_are_logged_from_level_three),
		cmocka_unit_test(changes_are_logged_from_level_four),
		cmocka_unit_test(a_binding_is_an_addition_when_the_pod_is_shown),
		cmocka_unit_test(a_shadow_writes_neither_bindings_nor_events),
		cmocka_unit_test(a_level_that_is_raised_while_a_pod_is_being_bound_is_safe),
		cmocka_unit_test(level_three_logs_the_queue_of_a_refused_pod),
		cmocka_unit_test(level_five_logs_hints_and_queue_moves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
