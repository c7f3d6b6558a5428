/* SPDX-License-Identifier: Apache-2.0
 * Queries of a handle.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/libberth/lib/lib_int.h"
#include "tools/kube/report/explain.h"

#define NODE_BYTES 512

/* A query about a pod, and its result. */
struct pod_question {
	struct bt_str namespace_, name;
	bool wants_message, wants_table, wants_json;
	enum berth_pod_state state;
	char node[NODE_BYTES];
	char *text; /* for a pending pod */
};

enum berth_pod_state bt_lib_state_of(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix);

	if (pod->state == BT_POD_ASSUMED) {
		return BERTH_POD_ASSUMED;
	}
	if (pod->state == BT_POD_SCHEDULED) {
		return BERTH_POD_ON_NODE;
	}
	return bt_queue_info(bt_engine_queue(engine), pod_ix).where == BT_WAIT_GATED ? BERTH_POD_GATED
										     : BERTH_POD_WAITING;
}

static void write_node(struct bt_engine *engine, uint32_t pod_ix, char out[NODE_BYTES])
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t node_ix = bt_ledger_pod(cache->ledger, pod_ix)->node_ix;

	if (node_ix != BT_NO_NODE) {
		snprintf(out, NODE_BYTES, "%.*s",
			BT_STR_ARG(bt_intern_str(
				cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name)));
	}
}

static char *query_explain(struct bt_engine *engine, uint32_t pod_ix, bool json)
{
	struct bt_emit *emit = bt_emit_create();
	struct bt_buf text = {0};
	struct bt_output output;

	bt_emit_begin_array(emit, "explain");
	bt_emit_label(emit, "every node for the pod");
	bt_report_explain(emit, engine, pod_ix);
	bt_emit_end(emit);
	bt_output_open_buf(&text, &output);
	bt_emit_write(emit, json ? BT_EMIT_JSON : BT_EMIT_TABLE, false, &output);
	bt_output_flush(&output);
	bt_emit_destroy(emit);
	return text.ptr;
}

char *bt_lib_message(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_explanation explanation = {0};
	struct bt_buf text = {0};

	bt_buf_reserve(&text, 1);
	text.ptr[0] = '\0';
	if (pod_ix == BT_NO_POD) {
		return text.ptr;
	}
	bt_engine_explain(engine, pod_ix, &explanation);
	if (explanation.gated) {
		bt_buf_text(&text, explanation.refusal.text);
	} else if (explanation.error || explanation.evaluation.feasible_n == 0) {
		bt_engine_message(engine, &explanation, &text);
	}
	bt_explanation_fini(&explanation);
	return text.ptr;
}

static void answer(void *context, struct bt_engine *engine)
{
	struct pod_question *question = context;
	uint32_t pod_ix = bt_engine_find_pod(engine, question->namespace_, question->name);

	if (pod_ix == BT_NO_POD || bt_transaction_has_evicted(engine, pod_ix)) {
		return;
	}
	question->state = bt_lib_state_of(engine, pod_ix);
	write_node(engine, pod_ix, question->node);
	if (question->state != BERTH_POD_WAITING && question->state != BERTH_POD_GATED) {
		return;
	}
	if (question->wants_message) {
		question->text = bt_lib_message(engine, pod_ix);
	} else if (question->wants_table || question->wants_json) {
		question->text = query_explain(engine, pod_ix, question->wants_json);
	}
}

/* Queries a pod. Returns: BERTH_OK; else with the error set. */
static enum berth_status query_pod(
	struct bt_lib *lib, const char *pod_namespace, const char *name, struct pod_question *question)
{
	if (!name) {
		return bt_lib_fail(lib->handle, BERTH_INVALID, "name is NULL");
	}
	question->namespace_ = bt_str(pod_namespace ? pod_namespace : "default");
	question->name = bt_str(name);
	bt_lib_visit(lib, answer, question);
	if (question->state == BERTH_POD_UNKNOWN) {
		return bt_lib_fail(lib->handle, BERTH_NOT_FOUND, "there is no pod %s/%s",
			question->namespace_.ptr, question->name.ptr);
	}
	return BERTH_OK;
}

enum berth_status berth_find_pod(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_pod_state *out_state, const char **out_node)
{
	static _Thread_local char node[NODE_BYTES];
	struct pod_question question = {.state = BERTH_POD_UNKNOWN};
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	status = query_pod(lib, pod_namespace, name, &question);
	if (out_state) {
		*out_state = question.state;
	}
	if (out_node) {
		memcpy(node, question.node, sizeof(node));
		*out_node = node;
	}
	bt_lib_leave(lib);
	return status;
}

/* A query with a text result, for pending pods only. */
static enum berth_status query_text(struct berth *berth, const char *pod_namespace, const char *name,
	struct pod_question *question, char **out_text)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!out_text) {
		status = bt_lib_fail(berth, BERTH_INVALID, "out_text is NULL");
	} else if (!question->wants_message && !question->wants_table && !question->wants_json) {
		status = bt_lib_fail(berth, BERTH_INVALID, "there is no such format");
	} else {
		status = query_pod(lib, pod_namespace, name, question);
	}
	if (status == BERTH_OK && !question->text) {
		status = bt_lib_fail(
			berth, BERTH_NOT_FOUND, "the pod does not wait: it is on node %s", question->node);
	} else if (status == BERTH_OK) {
		*out_text = question->text;
	}
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_explain(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_format format, char **out_text)
{
	struct pod_question question = {
		.wants_table = format == BERTH_TEXT, .wants_json = format == BERTH_JSON};

	return query_text(berth, pod_namespace, name, &question, out_text);
}

enum berth_status berth_message(
	struct berth *berth, const char *pod_namespace, const char *name, char **out_text)
{
	struct pod_question question = {.wants_message = true};

	return query_text(berth, pod_namespace, name, &question, out_text);
}

void berth_free(char *text)
{
	bt_mem_free(text);
}

static void query_count(void *context, struct bt_engine *engine)
{
	const struct bt_engine_counts counts = bt_engine_counts(engine);
	struct berth_counts *out = context;

	out->placed = counts.placed_n;
	out->refused = counts.refused_n;
	out->failed = counts.failed_n;
	out->preemptions = counts.preemption_n;
	out->evict_failed = counts.evict_failed_n;
	out->by_columns = counts.by_columns_n;
	out->by_evaluation = counts.by_evaluation_n;
	out->nodes = bt_engine_cache(engine)->view.snapshot->node_n;
	out->pods_waiting = counts.sets.queued;
	out->pods_assumed = counts.sets.assumed;
	out->pods_on_nodes = counts.sets.scheduled;
	out->pods = out->pods_waiting + out->pods_assumed + out->pods_on_nodes;
	out->active = counts.queue.active;
	out->backoff = counts.queue.backoff;
	out->unschedulable = counts.queue.unschedulable;
	out->gated = counts.queue.gated;
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
	bt_lib_visit(lib, query_count, out);
	if (lib->threads) {
		bt_lib_threads_count(lib, out);
	} else {
		out->decisions = lib->decision_n;
		out->bound = lib->bound_n;
		out->bind_failed = lib->bind_failed_n;
		out->open_bindings = lib->tickets.count;
	}
	bt_lib_leave(lib);
	return BERTH_OK;
}
