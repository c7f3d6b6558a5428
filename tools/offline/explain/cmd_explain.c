/* SPDX-License-Identifier: Apache-2.0
 * berth explain: why a pod is pending and what would help, or why it is on its node.
 */
#include <string.h>
#include <unistd.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "tools/cli/entry.h"
#include "tools/cli/message.h"
#include "tools/cli/print.h"
#include "tools/offline/explain/fixes.h"
#include "tools/offline/explain/record.h"
#include "tools/offline/simulate/loaded_cluster.h"
#include "tools/offline/simulate/pod_names.h"

#define SCHEMA "berth.explain/v1"

enum pod_state {
	PLACED = 0, /* by the engine */
	BOUND,	    /* by the input */
	PENDING,
	GATED,
	GONE,	/* preempted, or ended */
	IGNORED /* not this scheduler's, or has ended */
};

struct explaining {
	struct bt_invocation *invocation;
	struct bt_loaded_cluster cluster;
	struct bt_explain_subject subject;
	struct bt_simulate_run_watch watch;
	struct bt_buf pod; /* namespace/name */
	uint64_t wanted;   /* --attempt; 0: the last one */
	uint32_t attempt_n;
	struct bt_explain_record record;
	struct bt_explain_search search;
	bool searched;
	enum pod_state state;
	struct bt_buf fate; /* what else became of the pod */
};

static uint32_t find_pod(const struct explaining *e)
{
	return bt_engine_find_pod(e->cluster.engine, e->subject.namespace_, e->subject.name);
}

static const struct bt_cache *cache_of(const struct explaining *e)
{
	return bt_engine_cache(e->cluster.engine);
}

static struct bt_str text_of(const struct explaining *e, uint32_t name)
{
	return bt_intern_str(cache_of(e)->dictionary->intern, name);
}

static struct bt_str name_of_node(const struct explaining *e, uint32_t node_ix)
{
	return node_ix == BT_NO_NODE ? (struct bt_str){0}
				     : text_of(e, cache_of(e)->view.snapshot->nodes[node_ix].name);
}

/* ---- what happens to the pod ---- */

static void search(struct explaining *e)
{
	struct bt_progress *progress = &e->cluster.progress;

	bt_explain_search_fini(&e->search);
	bt_progress_begin(progress, "trying changes", 0, e->cluster.quiet);
	bt_explain_search(e->cluster.engine, &e->subject, &e->record.refusals, progress, &e->search);
	bt_progress_end(progress);
	e->searched = true;
}

/* Right before an attempt. */
static void before_attempt(void *context, struct bt_simulate_run_watch *watch, uint32_t pod_ix)
{
	struct explaining *e = context;

	(void)watch;
	e->attempt_n++;
	if (e->wanted && e->wanted != e->attempt_n) {
		return;
	}
	bt_explain_record_make(e->cluster.engine, pod_ix, &e->record);
	e->record.attempt = e->attempt_n;
	if (e->wanted && e->record.scores.n == 0) {
		search(e);
	}
}

static void after_attempt(
	void *context, struct bt_simulate_run_watch *watch, const struct bt_decision *decision)
{
	struct explaining *e = context;

	(void)watch;
	if (e->record.made && e->record.attempt == e->attempt_n) {
		bt_explain_record_end(e->cluster.engine, decision, &e->record);
	}
}

/* A pod that the input has bound is explained as if it was to be placed anew, in the cluster of the input. */
static void explain_bound(struct explaining *e, uint32_t pod_ix)
{
	struct bt_engine *engine = e->cluster.engine;
	uint32_t node_ix = bt_ledger_pod(cache_of(e)->ledger, pod_ix)->node_ix;
	bool absent = bt_engine_absent_begin(engine, pod_ix);

	bt_explain_record_make(engine, pod_ix, &e->record);
	if (absent) {
		bt_engine_absent_end(engine, pod_ix);
	}
	e->record.node_ix = node_ix;
	e->state = BOUND;
}

/* Who has preempted the pod? */
static void note_preemption(struct explaining *e)
{
	const struct bt_simulate_tally *tally = &e->cluster.run.tally;

	for (size_t i = 0; i < tally->preemption_n; i++) {
		const struct bt_report_preemption *p = &tally->preemptions[i];

		for (size_t v = p->first_victim; v < p->first_victim + p->victim_n; v++) {
			if (!bt_str_eq(text_of(e, tally->victims[v].name), e->subject.name) ||
				!bt_str_eq(text_of(e, tally->victims[v].namespace_), e->subject.namespace_)) {
				continue;
			}
			bt_buf_clear(&e->fate);
			bt_buf_printf(&e->fate, "preempted by %.*s/%.*s on node %.*s",
				BT_STR_ARG(text_of(e, p->pod.namespace_)),
				BT_STR_ARG(text_of(e, p->pod.name)), BT_STR_ARG(text_of(e, p->node)));
		}
	}
}

/* After the pending pods have been placed, or have not. */
static void conclude(struct explaining *e)
{
	uint32_t pod_ix = find_pod(e);

	note_preemption(e);
	if (e->state == BOUND || e->wanted) {
		return;
	}
	if (pod_ix == BT_NO_POD) {
		e->state = GONE;
		return;
	}
	if (bt_ledger_pod(cache_of(e)->ledger, pod_ix)->node_ix != BT_NO_NODE) {
		e->state = PLACED;
		return;
	}
	bt_explain_record_make(e->cluster.engine, pod_ix, &e->record);
	e->state = e->record.gated ? GATED : PENDING;
	search(e);
}

static int place_pending(struct explaining *e)
{
	struct bt_loaded_cluster *cluster = &e->cluster;
	bool ignores = bt_invocation_has(e->invocation, "ignore-pending");
	int status = BT_EXIT_OK;

	if (!ignores) {
		cluster->run.watches = &e->watch;
		cluster->run.watch_n = 1;
		cluster->run.explain = before_attempt;
		cluster->run.explained = after_attempt;
		cluster->run.context = e;
		status = bt_loaded_cluster_settle(cluster);
	}
	if (status == BT_EXIT_OK && e->wanted > e->attempt_n) {
		bt_message("berth explain: --attempt %llu: the pod has %u attempts%s\n",
			(unsigned long long)e->wanted, e->attempt_n, ignores ? " with --ignore-pending" : "");
		return BT_EXIT_INPUT;
	}
	if (status == BT_EXIT_OK) {
		e->state = e->wanted ? (e->record.node_ix == BT_NO_NODE ? PENDING : PLACED) : e->state;
		conclude(e);
	}
	return status;
}

static void note_other_scheduler(struct explaining *e)
{
	bt_buf_text(&e->fate, e->subject.ignored);
	if (bt_engine_is_other_schedulers(e->cluster.engine, &e->subject.pod)) {
		bt_buf_printf(&e->fate, ": no profile of the configuration has its schedulerName %.*s",
			BT_STR_ARG(e->subject.pod.spec.scheduler_name));
	}
	e->state = IGNORED;
}

static int explain(struct explaining *e)
{
	uint32_t pod_ix = find_pod(e);

	if (!e->subject.found) {
		bt_pod_names_unknown(e->cluster.engine, "explain:", e->pod.ptr);
		return BT_EXIT_INPUT;
	}
	if (pod_ix == BT_NO_POD || e->subject.ignored) {
		note_other_scheduler(e);
		return BT_EXIT_OK;
	}
	if (bt_ledger_pod(cache_of(e)->ledger, pod_ix)->node_ix != BT_NO_NODE) {
		if (e->wanted) {
			bt_message("berth explain: --attempt: the input has bound the pod; leave the option "
				   "out\n");
			return BT_EXIT_INPUT;
		}
		explain_bound(e, pod_ix);
	}
	return place_pending(e);
}

/* ---- report ---- */

static const char *state_text(const struct explaining *e)
{
	static const char *const texts[] = {"placed", "bound", "pending", "gated", "gone", "ignored"};

	return texts[e->state];
}

static void hide_empty(struct bt_emit *emit, bool empty)
{
	if (empty) {
		bt_emit_hide(emit);
	}
}

/* What the pod lacks on a node; NULL: that was not looked at, or it is not known. */
static const char *lacks_on(const void *context, struct bt_str node)
{
	const struct explaining *e = context;

	for (size_t i = 0; i < e->search.miss_n; i++) {
		if (bt_str_is(node, e->search.misses[i].node) && !e->search.misses[i].stuck) {
			return e->search.misses[i].lacks;
		}
	}
	return NULL;
}

/* How the chosen node compares with the others. */
static void add_choice(const struct explaining *e, struct bt_emit *emit)
{
	const struct bt_score_rows *scores = &e->record.scores;
	const struct bt_score_row *chosen = bt_score_rows_find(scores, e->record.node_ix), *other = NULL;
	size_t tied = bt_score_rows_tied(scores);
	struct bt_buf text = {0};

	for (size_t i = 0; i < scores->n && !other; i++) {
		other = &scores->items[i] == chosen ? NULL : &scores->items[i];
	}
	bt_emit_count(emit, "feasible", "feasible nodes", scores->n);
	bt_emit_count(emit, "tied", "nodes with the highest total", tied);
	if (chosen && other) {
		bt_emit_str(emit, "runner_up", name_of_node(e, other->node_ix));
		bt_emit_label(emit, "best other node");
		bt_emit_int(emit, "ahead", chosen->total - other->total);
		bt_emit_label(emit, "ahead of it by");
		bt_score_rows_difference(scores, chosen, other, &text);
		bt_emit_str(emit, "ahead_in", bt_buf_view(&text));
		bt_emit_label(emit, "ahead in");
		hide_empty(emit, text.len == 0);
	}
	if (e->state == BOUND) {
		bt_buf_clear(&text);
		bt_buf_text(&text, !scores->n ? "nowhere"
				   : chosen && chosen->total == scores->items[0].total
					   ? (tied > 1 ? "this node, or one of equal score" : "this node")
					   : "");
		if (text.len == 0) {
			bt_buf_str(&text, name_of_node(e, scores->items[0].node_ix));
			bt_buf_text(&text, chosen ? "" : "; its own node does not fit now");
		}
		bt_emit_str(emit, "anew", bt_buf_view(&text));
		bt_emit_label(emit, "placed anew, it would go to");
	}
	bt_buf_fini(&text);
}

static void add_misses(const struct explaining *e, struct bt_emit *emit)
{
	bt_emit_begin_array(emit, "nearest");
	bt_emit_label(emit, "Nearest nodes, and all that the pod lacks there");
	for (size_t i = 0; i < e->search.miss_n; i++) {
		const struct bt_explain_miss *miss = &e->search.misses[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "node", miss->node);
		bt_emit_text(emit, "lacks", miss->lacks);
		bt_emit_bool(emit, "helped", !miss->stuck);
		bt_emit_hide(emit);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_fixes(const struct explaining *e, struct bt_emit *emit)
{
	bt_emit_begin_array(emit, "fixes");
	bt_emit_label(emit, "Changes that place the pod, the cheapest first");
	for (size_t i = 0; i < e->search.fix_n; i++) {
		const struct bt_explain_fix *fix = &e->search.fixes[i];
		struct bt_buf kinds = {0};

		for (size_t k = 0; k < fix->n; k++) {
			bt_buf_printf(&kinds, "%s%s", k ? "+" : "", bt_explain_kind_name(fix->edits[k].kind));
		}
		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "change", fix->text);
		bt_emit_text(emit, "node", fix->node);
		bt_emit_label(emit, "then it goes to");
		bt_emit_str(emit, "kind", bt_buf_view(&kinds));
		bt_emit_hide(emit);
		bt_emit_text(emit, "objects", fix->objects);
		bt_emit_hide(emit);
		bt_emit_text(emit, "patch", fix->patch);
		bt_emit_hide(emit);
		bt_emit_end(emit);
		bt_buf_fini(&kinds);
	}
	bt_emit_end(emit);
}

/* What to read first. */
static const char *advice(const struct explaining *e)
{
	return !e->searched			     ? NULL
	       : e->search.fits && e->state == GATED ? "it fits as soon as it is not gated any more"
	       : e->search.fits			     ? "it fits now; it waits in the queue, or for its group"
	       : e->search.fix_n == 0		     ? "no change that was tried helps"
	       : e->search.single_n == 0	     ? "no single change helps; several together do"
						     : NULL;
}

static void add_state(const struct explaining *e, struct bt_emit *emit)
{
	const char *hint = advice(e);
	struct bt_str node = e->record.made ? name_of_node(e, e->record.node_ix) : (struct bt_str){0};

	bt_emit_str(emit, "pod", bt_buf_view(&e->pod));
	bt_emit_text(emit, "state", state_text(e));
	bt_emit_str(emit, "node", node);
	hide_empty(emit, node.len == 0);
	if (e->record.attempt) {
		bt_emit_count(emit, "attempt", "explained at attempt", e->record.attempt);
	}
	if (e->attempt_n) {
		bt_emit_count(emit, "attempts", "attempts", e->attempt_n);
	}
	if (e->record.message.len) {
		bt_emit_str(emit, "message", bt_buf_view(&e->record.message));
	}
	if (e->record.after.len) {
		bt_emit_str(emit, "preemption", bt_buf_view(&e->record.after));
	}
	if (e->fate.len) {
		bt_emit_str(emit, "fate", bt_buf_view(&e->fate));
		bt_emit_label(emit, "what became of it");
	}
	if (hint) {
		bt_emit_text(emit, "hint", hint);
	}
}

static struct bt_emit *report_of(const struct explaining *e, bool all)
{
	struct bt_engine *engine = e->cluster.engine;
	struct bt_emit *emit = bt_emit_create();
	bool scored = e->record.scores.n > 0;

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_str(emit, "source", bt_buf_view(&e->cluster.source));
	bt_emit_count(emit, "nodes", "nodes", e->cluster.intake.counts.nodes);
	add_state(e, emit);
	if (scored || e->state == BOUND) {
		add_choice(e, emit);
	}
	bt_emit_begin_array(emit, "explain");
	bt_emit_label(emit, scored ? "Scores, weighted" : "Nodes by verdict");
	if (scored) {
		bt_explain_record_scores(emit, engine, &e->record, all);
	} else if (e->record.made) {
		bt_explain_record_refusals(emit, engine, &e->record.refusals, lacks_on, e);
	}
	bt_emit_end(emit);
	if (scored || e->search.ungated.n) {
		bt_emit_begin_array(emit, "verdicts");
		bt_emit_label(emit, scored ? "Nodes by verdict" : "Nodes by verdict without the gates");
		bt_explain_record_refusals(
			emit, engine, scored ? &e->record.refusals : &e->search.ungated, lacks_on, e);
		bt_emit_end(emit);
	}
	if (e->searched && !e->search.fits) {
		add_misses(e, emit);
	}
	if (e->searched) {
		add_fixes(e, emit);
	}
	return emit;
}

static int write_report(const struct explaining *e)
{
	enum bt_emit_format format = bt_emit_format_of(bt_invocation_text(e->invocation, "output"));
	struct bt_emit *emit = report_of(e, format != BT_EMIT_TABLE);

	int status = bt_print_report(emit, e->invocation);

	return status != BT_EXIT_OK			 ? status
	       : e->state == PLACED || e->state == BOUND ? BT_EXIT_OK
							 : BT_EXIT_NO;
}

static void cmd_explain_end(struct explaining *e)
{
	bt_explain_search_fini(&e->search);
	bt_explain_record_fini(&e->record);
	bt_loaded_cluster_close(&e->cluster);
	bt_explain_subject_fini(&e->subject);
	bt_buf_fini(&e->fate);
	bt_buf_fini(&e->pod);
	bt_mem_free(e);
}

int bt_cmd_explain(struct bt_invocation *invocation)
{
	const char *typed = bt_invocation_take_last(invocation);
	struct explaining *e;

	if (!typed) {
		return bt_invocation_wrong(
			invocation->command, "no pod; give NAMESPACE/NAME as the last argument");
	}
	e = bt_mem_zalloc(1, sizeof(*e));
	e->invocation = invocation;
	e->wanted = bt_invocation_number(invocation, "attempt");
	e->cluster.entered = bt_explain_subject_entered;
	e->cluster.ignored = bt_explain_subject_ignored;
	e->cluster.node = bt_explain_subject_node;
	e->cluster.context = &e->subject;
	int status = bt_pod_names_read(typed, &e->pod, &e->subject.namespace_, &e->subject.name)
			     ? bt_loaded_cluster_open(&e->cluster, invocation)
			     : bt_invocation_wrong(invocation->command,
				       "'%s' is no pod; give NAMESPACE/NAME as the last argument", typed);
	e->watch.pod = bt_buf_view(&e->pod);
	if (status == BT_EXIT_OK) {
		status = explain(e);
	}
	if (status == BT_EXIT_OK) {
		status = write_report(e);
	}
	cmd_explain_end(e);
	return status;
}
