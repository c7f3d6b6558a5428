/* SPDX-License-Identifier: Apache-2.0
 * berth whatif: what changes of a cluster do to its pods; one question, or one for each node, zone, label
 * value or pair of nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/offline/sweep/sweep.h"
#include "tools/offline/whatif/changes.h"
#include "tools/offline/whatif/report.h"

#define ZONE "topology.kubernetes.io/zone"

/* One question: the changes, and nodes that are taken away together. */
struct asked {
	char *name;
	uint32_t *node_ixs;
	size_t node_n, node_cap;
};

struct whatif {
	struct bt_invocation *invocation;
	struct bt_loaded_cluster cluster;
	struct bt_inventory inventory;
	struct bt_changes changes;
	struct asked *asked;
	size_t asked_n, asked_cap;
	bool by_loss; /* nodes are lost, not drained */
	struct bt_whatif_row *rows;
	struct bt_arena answers;
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

static struct asked *add_question(struct whatif *w, struct bt_str name)
{
	w->asked = bt_mem_grow(w->asked, w->asked_n, &w->asked_cap, sizeof(*w->asked));
	w->asked[w->asked_n] = (struct asked){.name = bt_mem_copy(name.ptr, name.len)};
	return &w->asked[w->asked_n++];
}

static void add_node(struct asked *question, uint32_t node_ix)
{
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

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct asked *)a)->name, ((const struct asked *)b)->name);
}

/* One question for each node, or for the nodes of each value of a label. Nodes without the label are left
 * out. */
static int ask_for_each(struct whatif *w, const char *what)
{
	const struct bt_snapshot *snapshot = cache_of(w)->view.snapshot;
	bool nodes = strcmp(what, "node") == 0;
	struct bt_str label = bt_str(strcmp(what, "zone") == 0 ? ZONE : what);

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		struct bt_str value;
		size_t q = 0;

		if (!bt_bitmap_test(snapshot->live, i)) {
			continue;
		}
		value = nodes ? slot_name(w, i) : label_of(w, i, label);
		while (!nodes && q < w->asked_n && !bt_str_is(value, w->asked[q].name)) {
			q++;
		}
		if (value.len) {
			add_node(!nodes && q < w->asked_n ? &w->asked[q] : add_question(w, value), i);
		}
	}
	if (w->asked_n == 0) {
		bt_message("berth whatif: --each %s: no node has that label\n", what);
		return BT_EXIT_INPUT;
	}
	qsort(w->asked, w->asked_n, sizeof(*w->asked), by_name);
	return BT_EXIT_OK;
}

static void ask_for_pair(struct whatif *w, uint32_t a, uint32_t b)
{
	struct bt_str x = slot_name(w, a), y = slot_name(w, b);
	bool swapped = bt_str_cmp(x, y) > 0;
	struct bt_buf name = {0};

	bt_buf_printf(&name, "%.*s, %.*s", BT_STR_ARG(swapped ? y : x), BT_STR_ARG(swapped ? x : y));
	struct asked *question = add_question(w, bt_buf_view(&name));
	bt_buf_fini(&name);
	add_node(question, swapped ? b : a);
	add_node(question, swapped ? a : b);
}

/* Different pairs of the n nodes by the seed; all of them when there are no more. */
static void ask_for_pairs_of(struct whatif *w, const uint32_t *nodes, uint32_t n, uint64_t pair_n)
{
	uint64_t all = n > 1 ? (uint64_t)n * (n - 1) / 2 : 0;
	struct bt_rng rng = {.state = bt_invocation_number(w->invocation, "seed")};
	struct bt_map drawn = {0};
	uint32_t unused;

	if (pair_n >= all) {
		for (uint32_t a = 0; a < n; a++) {
			for (uint32_t b = a + 1; b < n; b++) {
				ask_for_pair(w, nodes[a], nodes[b]);
			}
		}
		return;
	}
	while (w->asked_n < pair_n) {
		uint32_t a = bt_rng_below(&rng, n), b = bt_rng_below(&rng, n);
		uint64_t key = bt_pair_key(a < b ? a : b, a < b ? b : a);

		if (a != b && !bt_map_get(&drawn, key, &unused)) {
			bt_map_put(&drawn, key, 1);
			ask_for_pair(w, nodes[a], nodes[b]);
		}
	}
	bt_map_fini(&drawn);
}

static int ask_for_pairs(struct whatif *w, uint64_t pair_n)
{
	const struct bt_snapshot *snapshot = cache_of(w)->view.snapshot;
	uint32_t *nodes = bt_mem_zalloc((size_t)snapshot->node_n + 1, sizeof(*nodes)), n = 0;

	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (bt_bitmap_test(snapshot->live, i)) {
			nodes[n++] = i;
		}
	}
	ask_for_pairs_of(w, nodes, n, pair_n);
	bt_mem_free(nodes);
	w->by_loss = true;
	if (w->asked_n == 0) {
		bt_message("berth whatif: --pairs: the cluster has only one node\n");
		return BT_EXIT_INPUT;
	}
	qsort(w->asked, w->asked_n, sizeof(*w->asked), by_name);
	return BT_EXIT_OK;
}

static int ask(struct whatif *w)
{
	const char *each = bt_invocation_text(w->invocation, "each");

	if (each) {
		return ask_for_each(w, each);
	}
	if (bt_invocation_has(w->invocation, "pairs")) {
		return ask_for_pairs(w, bt_invocation_number(w->invocation, "pairs"));
	}
	add_question(w, bt_buf_view(&w->changes.text));
	return BT_EXIT_OK;
}

/* ---- answers ---- */

static void answer(void *context, uint64_t ix, struct bt_buf *out)
{
	struct whatif *w = context;
	const struct asked *asked = &w->asked[ix];
	size_t n = 0;
	const struct bt_step **steps = bt_mem_zalloc(w->changes.step_n + asked->node_n + 1, sizeof(*steps));
	struct bt_step *own = bt_mem_zalloc(asked->node_n + 1, sizeof(*own));
	struct bt_arena arena = {0};
	struct bt_whatif_answer result;

	for (; n < w->changes.step_n; n++) {
		steps[n] = w->changes.steps[n];
	}
	for (size_t i = 0; i < asked->node_n; i++) {
		own[i] = (struct bt_step){.kind = w->by_loss ? BT_STEP_LOSE : BT_STEP_DRAIN,
			.change_ix = w->changes.change_n,
			.name = slot_name(w, asked->node_ixs[i])};
		steps[n++] = &own[i];
	}
	const struct bt_question question = {.steps = steps,
		.step_n = n,
		.tries_pending =
			w->changes.helps_pending && !bt_invocation_has(w->invocation, "ignore-pending"),
		.preempts = !bt_invocation_has(w->invocation, "no-preemption"),
		.explains_all = w->asked_n == 1};
	bt_question_answer(&w->cluster, &w->inventory, &question, &arena, &result);
	bt_answer_write(&result, out);
	bt_arena_fini(&arena);
	bt_mem_free(own);
	bt_mem_free(steps);
}

static void take_answer(void *context, uint64_t ix, struct bt_str bytes)
{
	struct whatif *w = context;
	const char *copy = bt_arena_copy(&w->answers, bytes.ptr, bytes.len);

	w->rows[ix].question = bt_str(w->asked[ix].name);
	bt_answer_read((struct bt_str){copy, bytes.len}, &w->answers, &w->rows[ix].answer);
}

static int answer_all(struct whatif *w)
{
	struct bt_progress *progress = &w->cluster.progress;

	w->rows = bt_mem_zalloc(w->asked_n, sizeof(*w->rows));
	/* Once for all questions: explanations list nodes in this order. */
	(void)bt_snapshot_order(cache_of(w)->snapshot);
	bt_progress_begin(progress, "answering questions", w->asked_n, w->cluster.quiet);
	int status = bt_sweep_run(&(struct bt_sweep){.command = "whatif",
		.question_n = w->asked_n,
		.job_n = (uint32_t)bt_invocation_number(w->invocation, "jobs"),
		.answer = answer,
		.take = take_answer,
		.context = w,
		.progress = progress});
	bt_progress_end(progress);
	return status;
}

static void cmd_whatif_end(struct whatif *w)
{
	for (size_t i = 0; i < w->asked_n; i++) {
		bt_mem_free(w->asked[i].name);
		bt_mem_free(w->asked[i].node_ixs);
	}
	bt_mem_free(w->asked);
	bt_mem_free(w->rows);
	bt_arena_fini(&w->answers);
	bt_changes_fini(&w->changes);
	bt_loaded_cluster_close(&w->cluster);
	bt_inventory_fini(&w->inventory);
}

static int load_and_answer(struct whatif *w)
{
	int status = bt_loaded_cluster_open(&w->cluster, w->invocation);

	if (status == BT_EXIT_OK && !bt_invocation_has(w->invocation, "ignore-pending")) {
		status = bt_loaded_cluster_settle(&w->cluster);
	}
	if (status == BT_EXIT_OK) {
		status = bt_changes_read(&w->changes);
	}
	if (status == BT_EXIT_OK) {
		status = ask(w);
	}
	if (status == BT_EXIT_OK) {
		status = answer_all(w);
	}
	return status == BT_EXIT_OK ? bt_whatif_report(&w->cluster, w->rows, w->asked_n) : status;
}

int bt_cmd_whatif(struct bt_invocation *invocation)
{
	struct whatif w = {.invocation = invocation};
	bool each = bt_invocation_text(invocation, "each"), pairs = bt_invocation_has(invocation, "pairs");
	bool changes = bt_changes_need_objects(invocation);

	if (!changes && !each && !pairs) {
		return bt_invocation_wrong(invocation->command,
			"no question; give --drain NODE or --each node, or another change");
	}
	if (each && pairs) {
		return bt_invocation_wrong(invocation->command,
			"--each and --pairs are two sets of questions; give one of them");
	}
	w.inventory = (struct bt_inventory){
		.recreates_all = bt_invocation_has(invocation, "recreate-all"), .keeps_objects = changes};
	w.cluster.entered = bt_inventory_note_pod;
	w.cluster.object_entered = bt_inventory_note_object;
	w.cluster.context = &w.inventory;
	w.changes = (struct bt_changes){.cluster = &w.cluster, .inventory = &w.inventory};
	int status = load_and_answer(&w);
	cmd_whatif_end(&w);
	return status;
}
