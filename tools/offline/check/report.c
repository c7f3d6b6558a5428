/* SPDX-License-Identifier: Apache-2.0
 * The report of berth check.
 */
#include "tools/offline/check/report.h"

#include <string.h>
#include <unistd.h>

#include "cache/node_view.h"
#include "tools/cli/emit.h"
#include "tools/cli/terminal.h"

#define SCHEMA "berth.check/v1"

/* ---- sections ---- */

static const char *verdict_of(const struct bt_check *check, uint32_t workload)
{
	return check->results[workload].reason		? "does not fit"
	       : check->results[workload].victim_n	? "fits by preemption"
	       : check->results[workload].wanted_n == 0 ? "has no pods"
							: "fits";
}

static void add_result(const struct bt_check *check, struct bt_emit *emit, uint32_t workload)
{
	const struct bt_app_workload *object = &check->app.workloads[workload];
	const struct bt_workload_result *result = &check->results[workload];

	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "workload", object->label);
	bt_emit_text(emit, "file", object->file);
	bt_emit_hide(emit);
	bt_emit_int(emit, "line", (int64_t)object->line);
	bt_emit_hide(emit);
	bt_emit_int(emit, "wanted", (int64_t)result->wanted_n);
	bt_emit_int(emit, "running", (int64_t)result->running_n);
	bt_emit_int(emit, "placed", (int64_t)result->placed_n);
	bt_emit_int(emit, "unplaced", (int64_t)result->unplaced_n);
	bt_emit_int(emit, "replaced", (int64_t)result->replaced_n);
	bt_emit_label(emit, "old pods replaced");
	bt_emit_int(emit, "victims", (int64_t)result->victim_n);
	bt_emit_text(emit, "verdict", verdict_of(check, workload));
	bt_emit_bool(emit, "passes", !bt_check_workload_fails(check, workload));
	bt_emit_hide(emit);
	bt_emit_text(emit, "reason", result->reason ? result->reason : "");
	bt_emit_end(emit);
}

static struct bt_str check_node_name(const struct bt_check *check, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(check->cluster.engine);

	return node_ix == BT_NO_NODE
		       ? (struct bt_str){0}
		       : bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

static void add_check_refusals(const struct bt_check *check, struct bt_emit *emit, uint32_t workload)
{
	const struct bt_workload_result *result = &check->results[workload];

	for (size_t i = 0; i < result->refusals.n; i++) {
		const struct bt_refusal_row *row = &result->refusals.items[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "workload", check->app.workloads[workload].label);
		bt_emit_text(emit, "pod", result->example);
		bt_emit_int(emit, "nodes", (int64_t)row->node_n);
		bt_emit_text(emit, "plugin", row->plugin);
		bt_emit_text(emit, "reason", row->text);
		bt_emit_str(emit, "nearest_node", check_node_name(check, row->nearest_ix));
		bt_emit_label(emit, "nearest node");
		bt_emit_text(emit, "lacks", row->lack_text ? row->lack_text : "");
		bt_emit_end(emit);
	}
}

static void add_victims(const struct bt_check *check, struct bt_emit *emit)
{
	for (size_t i = 0; i < check->victim_n; i++) {
		const struct bt_check_victim *victim = &check->victims[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "workload", check->app.workloads[victim->workload].label);
		bt_emit_text(emit, "pod", victim->preemptor);
		bt_emit_text(emit, "victim", victim->victim);
		bt_emit_int(emit, "priority", victim->priority);
		bt_emit_label(emit, "its priority");
		bt_emit_text(emit, "node", victim->node);
		bt_emit_text(emit, "budget", victim->budget ? victim->budget : "");
		bt_emit_label(emit, "violates budget");
		bt_emit_end(emit);
	}
}

/* For programs: where each pod is. */
static void add_pods(const struct bt_check *check, struct bt_emit *emit)
{
	for (size_t i = 0; i < check->pod_n; i++) {
		const struct bt_check_pod *pod = &check->pods[i];
		uint32_t node_ix = bt_check_node_of(check, pod);

		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "workload", check->app.workloads[pod->workload].label);
		bt_emit_text(emit, "pod", pod->name);
		bt_emit_str(emit, "node", check_node_name(check, node_ix));
		bt_emit_text(emit, "result",
			pod->preempted_by	? "preempted"
			: node_ix == BT_NO_NODE ? "not placed"
			: pod->kept		? "running"
						: "placed");
		bt_emit_end(emit);
	}
}

static struct bt_emit *check_report_of(const struct bt_check *check)
{
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_str(emit, "source", bt_buf_view(&check->cluster.source));
	bt_emit_label(emit, "cluster");
	bt_emit_count(emit, "nodes", "nodes", check->cluster.intake.counts.nodes);
	bt_emit_bool(emit, "passes", bt_check_passes(check));
	bt_emit_hide(emit);
	bt_emit_begin_array(emit, "check");
	bt_emit_label(emit, "Pods of the application");
	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		add_result(check, emit, i);
	}
	bt_emit_end(emit);
	bt_emit_begin_array(emit, "refusals");
	bt_emit_label(emit, "Why a pod has no place");
	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		add_check_refusals(check, emit, i);
	}
	bt_emit_end(emit);
	bt_emit_begin_array(emit, "victims");
	bt_emit_label(emit, "Preempted pods");
	add_victims(check, emit);
	bt_emit_end(emit);
	if (!bt_str_is(bt_str(bt_invocation_text(check->cluster.invocation, "output")), "table")) {
		bt_emit_begin_array(emit, "pods");
		add_pods(check, emit);
		bt_emit_end(emit);
	}
	return emit;
}

int bt_check_report(const struct bt_check *check)
{
	const struct bt_invocation *invocation = check->cluster.invocation;
	const char *format = bt_invocation_text(invocation, "output");
	struct bt_buf text = {0};
	struct bt_output output;

	bt_output_open_standard(false, &output);
	if (strcmp(format, "sarif") == 0) {
		bt_check_write_sarif(check, &text);
	} else if (strcmp(format, "junit") == 0) {
		bt_check_write_junit(check, &text);
	} else {
		struct bt_emit *emit = check_report_of(check);

		bt_emit_write(emit, bt_emit_format_of(format),
			bt_terminal_color(bt_invocation_text(invocation, "color"), STDOUT_FILENO), &output);
		bt_emit_destroy(emit);
	}
	bt_output_str(&output, bt_buf_view(&text));
	bt_buf_fini(&text);
	return bt_output_close(&output);
}
