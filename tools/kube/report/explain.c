/* SPDX-License-Identifier: Apache-2.0
 * The table of every node for one pod.
 */
#include "tools/kube/report/explain.h"

#include <stdlib.h>

#include "engine/base/mem.h"
#include "tools/kube/report/refusals.h"
#include "tools/kube/report/utilization.h"

struct explainer {
	struct bt_emit *emit;
	struct bt_engine *engine;
	const struct bt_cache *cache;
	struct bt_explanation explanation;
	struct bt_buf pod, text;
	struct bt_buf heading; /* of the rows, until written to the first one; empty: none */
	bool numbered;
	uint32_t attempt;
};

/* A node's row in the order of printing. */
struct row {
	struct bt_str node;
	int64_t total;
	uint32_t at; /* in feasible or visited */
};

static struct bt_str node_name(const struct explainer *e, uint32_t node_ix)
{
	return bt_intern_str(e->cache->dictionary->intern, e->cache->view.snapshot->nodes[node_ix].name);
}

static void begin_row(struct explainer *e, struct bt_str node, const char *verdict)
{
	bt_emit_begin_object(e->emit, NULL);
	if (e->heading.len) {
		bt_emit_heading(e->emit, e->heading.ptr);
		bt_buf_clear(&e->heading);
	}
	bt_emit_str(e->emit, "pod", bt_buf_view(&e->pod));
	bt_emit_str(e->emit, "node", node);
	bt_emit_text(e->emit, "verdict", verdict);
	if (e->numbered) {
		bt_emit_int(e->emit, "attempt", e->attempt);
		bt_emit_hide(e->emit);
	}
}

static int by_total(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->total != y->total) {
		return x->total > y->total ? -1 : 1;
	}
	return bt_str_cmp(x->node, y->node);
}

static void add_feasible(struct explainer *e, const struct row *row)
{
	const struct bt_evaluation *evaluation = &e->explanation.evaluation;
	const struct bt_profile *profile = e->explanation.plan->profile;

	begin_row(e, row->node, "feasible");
	bt_emit_int(e->emit, "total", row->total);
	bt_emit_begin_object(e->emit, "scores");
	bt_emit_label(e->emit, ""); /* the plugins' names head the columns */
	for (uint32_t k = 0; k < profile->score_n; k++) {
		bt_emit_int(e->emit, profile->uses[profile->score[k]].plugin->name,
			evaluation->scores[(size_t)k * evaluation->feasible_n + row->at]);
	}
	bt_emit_end(e->emit);
	bt_emit_end(e->emit);
}

/* Appends "needs 4, free 3.2" to a reason that has numbers. */
static void add_numbers(struct bt_engine *engine, const struct bt_reason *reason, struct bt_buf *text)
{
	const struct bt_str resource = bt_reason_resource(bt_engine_cache(engine)->dictionary, reason);

	bt_buf_text(text, " (needs ");
	bt_amount_text(resource, (double)reason->wanted, text);
	bt_buf_text(text, ", free ");
	bt_amount_text(resource, (double)reason->available, text);
	bt_buf_char(text, ')');
}

static void add_rejected(struct explainer *e, const struct row *row)
{
	struct bt_refusal refusal;

	bt_explanation_refusal(e->engine, &e->explanation, row->at, &refusal);
	bt_buf_clear(&e->text);
	for (uint32_t i = 0; i < bt_refusal_reason_n(&refusal); i++) {
		bt_buf_text(&e->text, i ? ", " : "");
		bt_refusal_reason(e->engine, &refusal, i, &e->text);
		if (refusal.judge && refusal.rejection.reasons[i].has_numbers) {
			add_numbers(e->engine, &refusal.rejection.reasons[i], &e->text);
		}
	}
	begin_row(e, row->node, "rejected");
	bt_emit_text(e->emit, "plugin", refusal.plugin);
	bt_emit_str(e->emit, "reason", bt_buf_view(&e->text));
	bt_emit_bool(e->emit, "preemption_might_help", refusal.rejection.code == BT_UNSCHEDULABLE);
	bt_emit_hide(e->emit);
	bt_emit_end(e->emit);
}

static void add_nodes(struct explainer *e)
{
	const struct bt_evaluation *evaluation = &e->explanation.evaluation;
	struct row *rows = bt_mem_zalloc(evaluation->visited_n, sizeof(*rows));
	size_t n = 0;

	for (uint32_t i = 0; i < evaluation->feasible_n && !evaluation->error; i++) {
		rows[n++] = (struct row){node_name(e, evaluation->feasible[i]), evaluation->totals[i], i};
	}
	qsort(rows, n, sizeof(*rows), by_total);
	for (size_t i = 0; i < n; i++) {
		add_feasible(e, &rows[i]);
	}
	n = 0;
	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		if (evaluation->refused_by[i] != BT_PASSED) {
			rows[n++] = (struct row){node_name(e, evaluation->visited[i]), 0, i};
		}
	}
	qsort(rows, n, sizeof(*rows), by_total);
	for (size_t i = 0; i < n; i++) {
		add_rejected(e, &rows[i]);
	}
	bt_mem_free(rows);
}

/* A row for all nodes at once. */
static void add_whole(struct explainer *e, const char *verdict, const char *plugin, const char *reason)
{
	begin_row(e, bt_str("*"), verdict);
	bt_emit_text(e->emit, "plugin", plugin);
	bt_emit_text(e->emit, "reason", reason);
	bt_emit_end(e->emit);
}

static void add_explanation(struct explainer *e, uint32_t pod_ix)
{
	const struct bt_explanation *explanation = &e->explanation;

	bt_engine_explain(e->engine, pod_ix, &e->explanation);
	if (explanation->gated) {
		add_whole(e, "gated", explanation->refusal.plugin, explanation->refusal.text);
		return;
	}
	if (explanation->error) {
		add_whole(e, "error", "", explanation->error);
	}
	if (explanation->refused) {
		add_whole(e, "rejected", explanation->refusal.plugin, explanation->refusal.text);
		return;
	}
	if (explanation->plan) {
		add_nodes(e);
	}
	if (explanation->narrowed) {
		add_whole(e, "left out",
			explanation->plan->profile->uses[explanation->plan->narrowed_by].plugin->name,
			"all other nodes: the pod names the nodes that it may run on");
	}
}

static void open_explainer(
	struct explainer *e, struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix)
{
	*e = (struct explainer){.emit = emit, .engine = engine, .cache = bt_engine_cache(engine)};
	const struct bt_pod *pod = bt_ledger_pod(e->cache->ledger, pod_ix);
	const struct bt_intern *intern = e->cache->dictionary->intern;

	bt_buf_printf(&e->pod, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, pod->name)));
}

static void close_explainer(struct explainer *e)
{
	bt_explanation_fini(&e->explanation);
	bt_buf_fini(&e->pod);
	bt_buf_fini(&e->text);
	bt_buf_fini(&e->heading);
}

void bt_report_explain(struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix)
{
	struct explainer e;

	open_explainer(&e, emit, engine, pod_ix);
	add_explanation(&e, pod_ix);
	close_explainer(&e);
}

static void mark(struct explainer *e, bt_emit_row *first, uint32_t node_ix, const char *text)
{
	const struct bt_emit_choice choice = {.key = "node",
		.value = node_name(e, node_ix),
		.second = "pod",
		.second_value = bt_buf_view(&e->pod),
		.mark_key = "mark",
		.mark = text};

	(void)bt_emit_raise(e->emit, first, &choice); /* no row: the pod was refused before Filter */
}

bt_emit_row *bt_report_explain_attempt(
	struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix, uint32_t attempt)
{
	bt_emit_row *before = bt_emit_last_row(emit);
	struct explainer e;

	open_explainer(&e, emit, engine, pod_ix);
	uint32_t node_ix = bt_ledger_pod(e.cache->ledger, pod_ix)->node_ix;
	bool absent = bt_engine_absent_begin(engine, pod_ix);
	e.numbered = true;
	e.attempt = attempt;
	bt_buf_printf(&e.heading, "Node verdicts %s", attempt ? "at attempt" : "without an attempt");
	if (attempt) {
		bt_buf_printf(&e.heading, " %u", attempt);
	}
	bt_buf_printf(&e.heading, ": %.*s", BT_STR_ARG(bt_buf_view(&e.pod)));
	add_explanation(&e, pod_ix);
	bt_emit_row *first = bt_emit_row_after(emit, before);
	if (absent) {
		mark(&e, first, node_ix, "already bound");
		bt_engine_absent_end(engine, pod_ix);
	}
	close_explainer(&e);
	return first;
}

void bt_report_explain_mark(struct bt_emit *emit, struct bt_engine *engine, bt_emit_row *first,
	uint32_t pod_ix, uint32_t node_ix, const char *text)
{
	struct explainer e;

	open_explainer(&e, emit, engine, pod_ix);
	mark(&e, first, node_ix, text);
	close_explainer(&e);
}

void bt_report_explain_verdict(struct bt_emit *emit, const struct bt_report_verdict *fate, bool heads)
{
	struct explainer e = {.emit = emit, .numbered = true};

	bt_buf_str(&e.pod, fate->pod);
	bt_buf_text(&e.heading, heads ? "Evicted and ignored pods" : "");
	add_whole(&e, fate->verdict, fate->plugin, fate->reason);
	close_explainer(&e);
}
