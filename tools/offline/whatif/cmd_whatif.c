/* SPDX-License-Identifier: Apache-2.0
 * berth whatif: what becomes of the pods of nodes that are drained or lost, for one set of nodes or for each.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/cli/terminal.h"
#include "tools/offline/whatif/drain.h"

#define SCHEMA	 "berth.whatif/v1"
#define ROWS_MAX 20 /* rows of a section for people */
#define ZONE	 "topology.kubernetes.io/zone"

/* One question: nodes that are taken away together. */
struct question {
	char *name;
	uint32_t *node_ixs;
	size_t node_n, node_cap;
	struct bt_drain result;
};

struct whatif {
	struct bt_invocation *invocation;
	struct bt_loaded_cluster cluster;
	struct bt_drain_roles roles;
	struct question *questions;
	size_t question_n, question_cap;
	uint64_t moved_n;
};

static const struct bt_cache *cache_of(const struct whatif *w)
{
	return bt_engine_cache(w->cluster.engine);
}

static struct bt_str text_of(const struct whatif *w, uint32_t name)
{
	return bt_intern_str(cache_of(w)->dictionary->intern, name);
}

static struct bt_str slot_name(const struct whatif *w, uint32_t node_ix)
{
	return text_of(w, cache_of(w)->view.snapshot->nodes[node_ix].name);
}

/* ---- questions ---- */

static struct question *add_question(struct whatif *w, struct bt_str name)
{
	w->questions = bt_mem_grow(w->questions, w->question_n, &w->question_cap, sizeof(*w->questions));
	w->questions[w->question_n] = (struct question){.name = bt_mem_copy(name.ptr, name.len)};
	return &w->questions[w->question_n++];
}

static void add_node(struct question *question, uint32_t node_ix)
{
	for (size_t i = 0; i < question->node_n; i++) {
		if (question->node_ixs[i] == node_ix) {
			return;
		}
	}
	question->node_ixs = bt_mem_grow(
		question->node_ixs, question->node_n, &question->node_cap, sizeof(*question->node_ixs));
	question->node_ixs[question->node_n++] = node_ix;
}

/* The value of a node's label; empty: it has none. */
static struct bt_str label_of(const struct whatif *w, uint32_t node_ix, struct bt_str label)
{
	uint32_t key = bt_intern_find(cache_of(w)->dictionary->intern, label);

	if (key == BT_NAME_NONE) {
		return (struct bt_str){0};
	}
	return text_of(w, bt_labels_get(cache_of(w)->view.snapshot->nodes[node_ix].labels, key));
}

/* Adds the nodes that a name or KEY=VALUE selects. Returns: false when there are none. */
static bool select_nodes(const struct whatif *w, const char *selector, struct question *question)
{
	const struct bt_snapshot *snapshot = cache_of(w)->view.snapshot;
	const char *equals = strchr(selector, '=');
	size_t before = question->node_n;
	bool seen = false;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		struct bt_str key = {selector, equals ? (size_t)(equals - selector) : 0};
		struct bt_str value = equals ? label_of(w, i, key) : slot_name(w, i);

		if (bt_str_is(value, equals ? equals + 1 : selector)) {
			seen = true;
			add_node(question, i);
		}
	}
	return seen || question->node_n > before;
}

static int add_drain_question(struct whatif *w)
{
	struct question *question;
	const char *selector;
	struct bt_buf name = {0};

	for (size_t i = 0; (selector = bt_invocation_item(w->invocation, "drain", i)); i++) {
		bt_buf_printf(&name, "%s%s", i ? ", " : "drain ", selector);
	}
	if (name.len == 0) {
		return BT_EXIT_OK;
	}
	question = add_question(w, bt_buf_view(&name));
	bt_buf_fini(&name);
	for (size_t i = 0; (selector = bt_invocation_item(w->invocation, "drain", i)); i++) {
		if (!select_nodes(w, selector, question)) {
			bt_message(
				"berth whatif: --drain %s selects no node of the cluster; give a node's name "
				"or "
				"a label as KEY=VALUE\n",
				selector);
			return BT_EXIT_INPUT;
		}
	}
	return BT_EXIT_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct question *)a)->name, ((const struct question *)b)->name);
}

/* One question for each node, or for the nodes of each value of a label. Nodes without the label are left
 * out. */
static int add_each_questions(struct whatif *w, const char *what)
{
	const struct bt_snapshot *snapshot = cache_of(w)->view.snapshot;
	bool nodes = strcmp(what, "node") == 0;
	struct bt_str label = bt_str(strcmp(what, "zone") == 0 ? ZONE : what);
	size_t first = w->question_n;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		struct bt_str value;
		size_t q = first;

		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		value = nodes ? slot_name(w, i) : label_of(w, i, label);
		while (!nodes && q < w->question_n && !bt_str_is(value, w->questions[q].name)) {
			q++;
		}
		if (value.len) {
			add_node(!nodes && q < w->question_n ? &w->questions[q] : add_question(w, value), i);
		}
	}
	if (w->question_n == first) {
		bt_message("berth whatif: --each %s: no node has that label\n", what);
		return BT_EXIT_INPUT;
	}
	qsort(w->questions + first, w->question_n - first, sizeof(*w->questions), by_name);
	return BT_EXIT_OK;
}

static int answer_all(struct whatif *w)
{
	struct bt_progress *progress = &w->cluster.progress;

	bt_progress_begin(progress, "draining nodes", w->question_n, w->cluster.quiet);
	for (size_t i = 0; i < w->question_n && !bt_interrupt_pending(); i++) {
		struct question *question = &w->questions[i];

		bt_drain_nodes(
			&w->cluster, &w->roles, question->node_ixs, question->node_n, &question->result);
		w->moved_n += question->result.placed_n;
		bt_progress_update(progress, i + 1);
	}
	bt_progress_end(progress);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

/* ---- report ---- */

static void write_pod(const struct whatif *w, uint32_t pod_ix, struct bt_buf *out)
{
	const struct bt_pod *pod = bt_ledger_pod(cache_of(w)->ledger, pod_ix);

	bt_buf_clear(out);
	bt_buf_printf(out, "%.*s/%.*s", BT_STR_ARG(text_of(w, pod->signature->namespace_)),
		BT_STR_ARG(text_of(w, pod->name)));
}

static void add_answer(const struct whatif *w, struct bt_emit *emit, const struct question *question)
{
	const struct bt_drain *result = &question->result;
	struct bt_buf pod = {0};

	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "question", question->name);
	bt_emit_int(emit, "nodes", (int64_t)question->node_n);
	bt_emit_int(emit, "displaced", (int64_t)result->displaced_n);
	bt_emit_int(emit, "placed", (int64_t)result->placed_n);
	bt_emit_int(emit, "unplaced", (int64_t)result->unplaced_n);
	bt_emit_int(emit, "not_recreated", (int64_t)result->ended_n);
	bt_emit_label(emit, "not recreated");
	bt_emit_int(emit, "forbidden", (int64_t)result->forbidden_n);
	bt_emit_label(emit, "forbidden by budget");
	bt_emit_text(emit, "budget", result->budget ? result->budget : "");
	if (result->reason) {
		write_pod(w, result->example, &pod);
	}
	bt_emit_str(emit, "example", bt_buf_view(&pod));
	bt_emit_text(emit, "reason", result->reason ? result->reason : "");
	bt_emit_end(emit);
	bt_buf_fini(&pod);
}

static bool is_bad(const struct bt_drain *result)
{
	return result->unplaced_n || result->forbidden_n || result->ended_n;
}

/* The questions that people see first: those with trouble. */
static int by_trouble(const void *a, const void *b)
{
	const struct bt_drain *x = &(*(const struct question *const *)a)->result;
	const struct bt_drain *y = &(*(const struct question *const *)b)->result;

	if (x->unplaced_n != y->unplaced_n) {
		return x->unplaced_n > y->unplaced_n ? -1 : 1;
	}
	if (x->forbidden_n != y->forbidden_n) {
		return x->forbidden_n > y->forbidden_n ? -1 : 1;
	}
	return strcmp((*(const struct question *const *)a)->name, (*(const struct question *const *)b)->name);
}

static void add_answers(const struct whatif *w, struct bt_emit *emit, bool all)
{
	const struct question **order = bt_mem_zalloc(w->question_n, sizeof(*order));
	size_t shown = all || w->question_n < ROWS_MAX ? w->question_n : ROWS_MAX, bad_n = 0;

	for (size_t i = 0; i < w->question_n; i++) {
		order[i] = &w->questions[i];
		bad_n += is_bad(&w->questions[i].result);
	}
	if (!all) {
		qsort(order, w->question_n, sizeof(*order), by_trouble);
	}
	bt_emit_count(emit, "questions", "questions", w->question_n);
	bt_emit_count(emit, "with_trouble", "of them with pods that do not move", bad_n);
	bt_emit_begin_array(emit, "whatif");
	bt_emit_label(emit, "Pods of the nodes");
	for (size_t i = 0; i < shown; i++) {
		add_answer(w, emit, order[i]);
	}
	bt_emit_end(emit);
	if (shown < w->question_n) {
		bt_emit_count(emit, "more", "more questions, not shown (-o json shows them)",
			w->question_n - shown);
	}
	bt_mem_free(order);
}

static void add_moves_of(const struct whatif *w, struct bt_emit *emit, const struct question *question)
{
	struct bt_buf pod = {0};

	for (size_t i = 0; i < question->result.move_n; i++) {
		const struct bt_drain_move *move = &question->result.moves[i];

		write_pod(w, move->pod_ix, &pod);
		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "pod", bt_buf_view(&pod));
		bt_emit_str(emit, "from", slot_name(w, move->from_ix));
		bt_emit_str(emit, "to",
			move->to_ix == BT_NO_NODE ? (struct bt_str){0} : slot_name(w, move->to_ix));
		bt_emit_text(emit, "result",
			move->role == BT_DRAIN_ENDS ? "not recreated: it has no controller"
			: move->to_ix == BT_NO_NODE ? "fits nowhere"
						    : "placed");
		bt_emit_end(emit);
	}
	bt_buf_fini(&pod);
}

static int report_answers(const struct whatif *w)
{
	enum bt_emit_format format = bt_emit_format_of(bt_invocation_text(w->invocation, "output"));
	struct bt_emit *emit = bt_emit_create();
	struct bt_output output;
	bool bad = false;

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_str(emit, "source", bt_buf_view(&w->cluster.source));
	bt_emit_count(emit, "nodes", "nodes", w->cluster.intake.counts.nodes);
	bt_emit_count(emit, "pods_on_nodes", "pods on nodes", w->cluster.intake.counts.scheduled);
	bt_emit_count(emit, "pods_placed_first", "pending pods placed first", w->cluster.placed_n);
	add_answers(w, emit, format != BT_EMIT_TABLE);
	if (bt_invocation_item(w->invocation, "drain", 0)) {
		bt_emit_begin_array(emit, "moves");
		bt_emit_label(emit, "Displaced pods");
		add_moves_of(w, emit, &w->questions[0]);
		bt_emit_end(emit);
	}
	for (size_t i = 0; i < w->question_n; i++) {
		bad |= is_bad(&w->questions[i].result);
	}
	bt_output_open_standard(false, &output);
	bt_emit_write(emit, format,
		bt_terminal_color(bt_invocation_text(w->invocation, "color"), STDOUT_FILENO), &output);
	int status = bt_output_close(&output);
	bt_emit_destroy(emit);
	return status != BT_EXIT_OK ? status : bad ? BT_EXIT_NO : BT_EXIT_OK;
}

static void cmd_whatif_end(struct whatif *w)
{
	for (size_t i = 0; i < w->question_n; i++) {
		bt_mem_free(w->questions[i].name);
		bt_mem_free(w->questions[i].node_ixs);
		bt_drain_fini(&w->questions[i].result);
	}
	bt_mem_free(w->questions);
	bt_drain_roles_fini(&w->roles);
	bt_loaded_cluster_close(&w->cluster);
}

static int load_and_answer(struct whatif *w)
{
	const char *each = bt_invocation_text(w->invocation, "each");
	int status = bt_loaded_cluster_open(&w->cluster, w->invocation);

	if (status == BT_EXIT_OK && !bt_invocation_has(w->invocation, "ignore-pending")) {
		status = bt_loaded_cluster_settle(&w->cluster);
	}
	if (status == BT_EXIT_OK) {
		status = add_drain_question(w);
	}
	if (status == BT_EXIT_OK && each) {
		status = add_each_questions(w, each);
	}
	if (status == BT_EXIT_OK) {
		status = answer_all(w);
	}
	return status == BT_EXIT_OK ? report_answers(w) : status;
}

int bt_cmd_whatif(struct bt_invocation *invocation)
{
	struct whatif w = {.invocation = invocation};

	if (!bt_invocation_item(invocation, "drain", 0) && !bt_invocation_text(invocation, "each")) {
		return bt_invocation_wrong(
			invocation->command, "no question; give --drain NODE or --each node");
	}
	w.roles.recreates_all = bt_invocation_has(invocation, "recreate-all");
	w.cluster.entered = bt_drain_roles_note;
	w.cluster.context = &w.roles;
	int status = load_and_answer(&w);
	cmd_whatif_end(&w);
	return status;
}
