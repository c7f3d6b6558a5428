/* SPDX-License-Identifier: Apache-2.0
 * What a handle tells when it is asked.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/lib/lib_int.h"
#include "tools/report/explain.h"

/* Begins a call about a pod, which out_ix is BT_NO_POD of when it is not known. */
static enum berth_status enter(struct berth *berth, const char *pod_namespace, const char *name,
	struct bt_lib **out, uint32_t *out_ix)
{
	enum berth_status status = bt_lib_enter(berth, out);

	if (status != BERTH_OK) {
		return status;
	}
	if (!name) {
		bt_lib_leave(*out);
		return bt_lib_fail(berth, BERTH_INVALID, "name is NULL");
	}
	*out_ix = bt_engine_find_pod(
		(*out)->engine, bt_str(pod_namespace ? pod_namespace : "default"), bt_str(name));
	return BERTH_OK;
}

static enum berth_status no_such_pod(const struct berth *berth, const char *pod_namespace, const char *name)
{
	return bt_lib_fail(berth, BERTH_NOT_FOUND, "there is no pod %s/%s",
		pod_namespace ? pod_namespace : "default", name);
}

static enum berth_pod_state state_of(const struct bt_lib *lib, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(lib->engine)->ledger, pod_ix);

	if (pod->state == BT_POD_ASSUMED) {
		return BERTH_POD_ASSUMED;
	}
	if (pod->state == BT_POD_SCHEDULED) {
		return BERTH_POD_ON_NODE;
	}
	return bt_queue_info(bt_engine_queue(lib->engine), pod_ix).where == BT_WAIT_GATED ? BERTH_POD_GATED
											  : BERTH_POD_WAITING;
}

/* Sets lib->text to the name of the node where the pod is, or to nothing. */
static void set_node(struct bt_lib *lib, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(lib->engine);
	uint32_t node_ix = bt_ledger_pod(cache->ledger, pod_ix)->node_ix;

	bt_buf_clear(&lib->text);
	if (node_ix != BT_NO_NODE) {
		bt_buf_str(&lib->text,
			bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name));
	}
}

enum berth_status berth_find_pod(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_pod_state *out_state, const char **out_node)
{
	struct bt_lib *lib;
	uint32_t pod_ix = BT_NO_POD;
	enum berth_status status = enter(berth, pod_namespace, name, &lib, &pod_ix);

	if (status != BERTH_OK) {
		return status;
	}
	if (pod_ix == BT_NO_POD) {
		status = no_such_pod(berth, pod_namespace, name);
	} else if (out_node) {
		set_node(lib, pod_ix);
		*out_node = lib->text.len ? lib->text.ptr : "";
	}
	if (out_state) {
		*out_state = pod_ix == BT_NO_POD ? BERTH_POD_UNKNOWN : state_of(lib, pod_ix);
	}
	bt_lib_leave(lib);
	return status;
}

/* Only a pod that waits has something to be explained. */
static enum berth_status check_waits(
	struct bt_lib *lib, const char *pod_namespace, const char *name, uint32_t pod_ix)
{
	if (pod_ix == BT_NO_POD) {
		return no_such_pod(lib->handle, pod_namespace, name);
	}
	enum berth_pod_state state = state_of(lib, pod_ix);
	if (state == BERTH_POD_ON_NODE || state == BERTH_POD_ASSUMED) {
		set_node(lib, pod_ix);
		return bt_lib_fail(lib->handle, BERTH_NOT_FOUND, "the pod does not wait: it is on node %s",
			lib->text.ptr);
	}
	return BERTH_OK;
}

static char *explain(struct bt_lib *lib, uint32_t pod_ix, enum berth_format format)
{
	struct bt_emit *emit = bt_emit_create();
	struct bt_buf text = {0};
	struct bt_output output;

	bt_emit_begin_array(emit, "explain");
	bt_emit_label(emit, "every node for the pod");
	bt_report_explain(emit, lib->engine, pod_ix);
	bt_emit_end(emit);
	bt_output_open_buf(&text, &output);
	bt_emit_write(emit, format == BERTH_JSON ? BT_EMIT_JSON : BT_EMIT_TABLE, false, &output);
	bt_output_flush(&output);
	bt_emit_destroy(emit);
	return text.ptr;
}

enum berth_status berth_explain(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_format format, char **out_text)
{
	struct bt_lib *lib;
	uint32_t pod_ix = BT_NO_POD;
	enum berth_status status = enter(berth, pod_namespace, name, &lib, &pod_ix);

	if (status != BERTH_OK) {
		return status;
	}
	if (!out_text || (format != BERTH_TEXT && format != BERTH_JSON)) {
		status = bt_lib_fail(
			berth, BERTH_INVALID, out_text ? "there is no such format" : "out_text is NULL");
	} else {
		status = check_waits(lib, pod_namespace, name, pod_ix);
	}
	if (status == BERTH_OK) {
		*out_text = explain(lib, pod_ix, format);
	}
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_message(
	struct berth *berth, const char *pod_namespace, const char *name, char **out_text)
{
	struct bt_explanation explanation = {0};
	struct bt_buf text = {0};
	struct bt_lib *lib;
	uint32_t pod_ix = BT_NO_POD;
	enum berth_status status = enter(berth, pod_namespace, name, &lib, &pod_ix);

	if (status != BERTH_OK) {
		return status;
	}
	status = out_text ? check_waits(lib, pod_namespace, name, pod_ix)
			  : bt_lib_fail(berth, BERTH_INVALID, "out_text is NULL");
	if (status == BERTH_OK) {
		bt_buf_reserve(&text, 1);
		text.ptr[0] = '\0';
		bt_engine_explain(lib->engine, pod_ix, &explanation);
		if (explanation.gated) {
			bt_buf_text(&text, explanation.refusal.text);
		} else if (explanation.error || explanation.evaluation.feasible_n == 0) {
			bt_engine_message(lib->engine, &explanation, &text);
		}
		bt_explanation_fini(&explanation);
		*out_text = text.ptr;
	}
	bt_lib_leave(lib);
	return status;
}

void berth_free(char *text)
{
	bt_mem_free(text);
}

enum berth_status berth_get_counts(struct berth *berth, struct berth_counts *out)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!out || out->size < sizeof(*out)) {
		status = bt_lib_fail(berth, BERTH_INVALID,
			out ? "out's size is wrong: use BERTH_INIT on it first" : "out is NULL");
		bt_lib_leave(lib);
		return status;
	}
	const struct bt_engine_counts counts = bt_engine_counts(lib->engine);
	*out = (struct berth_counts){
		.size = out->size,
		.decisions = lib->decision_n,
		.placed = counts.placed_n,
		.refused = counts.refused_n,
		.failed = counts.failed_n,
		.preemptions = counts.preemption_n,
		.by_columns = counts.by_columns_n,
		.by_evaluation = counts.by_evaluation_n,
		.bound = lib->bound_n,
		.bind_failed = lib->bind_failed_n,
		.nodes = bt_engine_cache(lib->engine)->view.snapshot->node_n,
		.pods = counts.sets.queued + counts.sets.assumed + counts.sets.scheduled,
		.pods_waiting = counts.sets.queued,
		.pods_assumed = counts.sets.assumed,
		.pods_on_nodes = counts.sets.scheduled,
		.active = counts.queue.active,
		.backoff = counts.queue.backoff,
		.unschedulable = counts.queue.unschedulable,
		.gated = counts.queue.gated,
		.open_bindings = lib->tickets.count,
	};
	bt_lib_leave(lib);
	return BERTH_OK;
}
