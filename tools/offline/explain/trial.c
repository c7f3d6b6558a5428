/* SPDX-License-Identifier: Apache-2.0
 * Tries edits in transactions.
 */
#include "tools/offline/explain/trial.h"

#include <string.h>

#include "cache/node_view.h"
#include "engine/base/check.h"

#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"
#define OF_NODES      "node.kubernetes.io/" /* taints of a node's condition, which a new node has not */

/* Names with a dot at the end are invalid, so that no object of the cluster has them. */
#define POD_NAME  "explained."
#define NODE_NAME "added."

static bool has_kind(const struct bt_explain_edit *edits, size_t n, enum bt_explain_kind kind)
{
	for (size_t i = 0; i < n; i++) {
		if (edits[i].kind == kind) {
			return true;
		}
	}
	return false;
}

/* An uncordoned node loses its taint, too: the pod tolerates it, and may go there alone. */
static void tolerate_cordon(struct bt_pod_object *pod, struct bt_arena *arena)
{
	struct bt_explain_edit edit = {.kind = BT_EXPLAIN_TOLERATE,
		.taint = {.key = bt_str(UNSCHEDULABLE), .effect = bt_str("NoSchedule")}};
	struct bt_pod_object changed;

	bt_explain_edits_apply(&edit, 1, pod, arena, &changed);
	*pod = changed;
}

/* An ephemeral volume's claim has the pod's own name, which the tried pod does not have. */
static void name_claims(struct bt_explain_trial *trial, struct bt_pod_object *pod)
{
	struct bt_volume_object *volumes =
		bt_arena_zalloc(&trial->arena, (pod->spec.volume_n + 1) * sizeof(*volumes));

	for (uint32_t i = 0; i < pod->spec.volume_n; i++) {
		struct bt_buf name = {0};

		volumes[i] = pod->spec.volumes[i];
		if (volumes[i].type == BT_VOLUME_EPHEMERAL) {
			bt_buf_printf(&name, "%.*s-%.*s", BT_STR_ARG(trial->pod->meta.name),
				BT_STR_ARG(volumes[i].name));
			volumes[i].type = BT_VOLUME_CLAIM;
			volumes[i].source =
				(struct bt_str){bt_arena_copy(&trial->arena, name.ptr, name.len), name.len};
			bt_buf_fini(&name);
		}
	}
	pod->spec.volumes = volumes;
}

void bt_explain_trial_pod(struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n,
	struct bt_pod_object *out)
{
	bt_explain_edits_apply(edits, n, trial->pod, &trial->arena, out);
	if (has_kind(edits, n, BT_EXPLAIN_UNCORDON)) {
		tolerate_cordon(out, &trial->arena);
	}
	name_claims(trial, out);
	out->meta.name = bt_str(POD_NAME);
	out->meta.deletion_ns = 0;
	out->spec.node_name = (struct bt_str){0};
	out->spec.scheduling_gates.n = 0;
	out->nominated_node_name = (struct bt_str){0};
	out->phase = (struct bt_str){0};
}

/* A new node like this one: schedulable, and in good condition. */
static void add_node(struct bt_explain_trial *trial, const struct bt_node_object *like)
{
	struct bt_node_object node = *like;
	uint32_t node_ix, kept = 0;

	node.meta.name = bt_str(NODE_NAME);
	node.meta.uid = bt_str(NODE_NAME);
	node.unschedulable = false;
	node.taints = bt_arena_zalloc(&trial->arena, (like->taint_n + 1) * sizeof(*node.taints));
	for (uint32_t i = 0; i < like->taint_n; i++) {
		if (!bt_str_starts(like->taints[i].key, OF_NODES)) {
			node.taints[kept++] = like->taints[i];
		}
	}
	node.taint_n = kept;
	node.meta.labels.items =
		bt_arena_zalloc(&trial->arena, (like->meta.labels.n + 1) * sizeof(*node.meta.labels.items));
	for (uint32_t i = 0; i < like->meta.labels.n; i++) {
		struct bt_str_pair label = like->meta.labels.items[i];

		label.value = bt_str_eq(label.value, like->meta.name) ? node.meta.name : label.value;
		node.meta.labels.items[i] = label;
	}
	(void)bt_transaction_apply_node(trial->engine, &node, &node_ix);
}

static void change_cluster(struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct bt_explain_edit *edit = &edits[i];

		if (edit->kind == BT_EXPLAIN_UNCORDON) {
			bt_transaction_close_node(trial->engine, edit->node_ix, false);
		} else if (edit->kind == BT_EXPLAIN_ADD_NODE) {
			add_node(trial, edit->node);
		}
		for (uint32_t p = 0; p < edit->pod_n; p++) {
			bt_transaction_evict(trial->engine, edit->pod_ixs[p]);
		}
	}
}

static void note_reason(struct bt_explain_trial *trial, uint32_t pod_ix)
{
	struct bt_refusal_rows rows;
	size_t at = 0;

	/* Nodes to which the trial is not restricted count as nodes that the pod does not name. */
	bt_refusal_rows_collect(trial->engine, pod_ix, &rows);
	while (at + 1 < rows.n && rows.items[at].first_ix == BT_NO_NODE) {
		at++;
	}
	if (rows.n) {
		bt_buf_text(&trial->reason, rows.items[at].text);
	}
	bt_refusal_rows_fini(&rows);
}

static void note_node(
	struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(trial->engine);
	struct bt_str name =
		bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);

	for (size_t i = 0; i < n; i++) {
		if (edits[i].kind == BT_EXPLAIN_ADD_NODE && bt_str_is(name, NODE_NAME)) {
			bt_buf_text(&trial->node, "the new node");
			return;
		}
	}
	bt_buf_str(&trial->node, name);
}

static bool try_edits(struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n,
	uint32_t node_ix, bool with_reason)
{
	struct bt_engine *engine = trial->engine;
	struct bt_pod_object pod;
	uint32_t pod_ix;

	trial->trial_n++;
	trial->placed = false;
	bt_buf_clear(&trial->node);
	bt_buf_clear(&trial->reason);
	bt_arena_reset(&trial->arena);
	bt_explain_trial_pod(trial, edits, n, &pod);
	pod.spec.preemption_policy = bt_str("Never"); /* the reason is asked for, and not who may leave */
	for (size_t i = 0; i < n; i++) {
		if (edits[i].kind == BT_EXPLAIN_UNCORDON) {
			BT_REQUIRE(node_ix == BT_NO_NODE || node_ix == edits[i].node_ix);
			node_ix = edits[i].node_ix;
		}
	}
	bt_transaction_begin(engine);
	change_cluster(trial, edits, n);
	(void)bt_transaction_add_pod(engine, &pod, &pod_ix);
	if (pod_ix != BT_NO_POD) {
		if (node_ix != BT_NO_NODE) {
			bool restricted = bt_transaction_restrict(engine, &node_ix, 1);

			BT_INVARIANT(restricted);
		}
		trial->placed = bt_transaction_place(engine, pod_ix, &trial->node_ix) == BT_PLACED;
		if (trial->placed) {
			note_node(trial, edits, n, trial->node_ix);
		} else if (with_reason) {
			note_reason(trial, pod_ix);
		}
	}
	bt_transaction_roll_back(engine);
	return trial->placed;
}

bool bt_explain_try(
	struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n, uint32_t node_ix)
{
	return try_edits(trial, edits, n, node_ix, false);
}

bool bt_explain_try_with_reason(
	struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n, uint32_t node_ix)
{
	return try_edits(trial, edits, n, node_ix, true);
}

/* Begins a transaction with the pod as it is. Returns: its index, or BT_NO_POD. */
static uint32_t begin_with_pod(struct bt_explain_trial *trial, const char *preemption_policy)
{
	struct bt_pod_object pod;
	uint32_t pod_ix;

	bt_arena_reset(&trial->arena);
	bt_explain_trial_pod(trial, NULL, 0, &pod);
	pod.spec.preemption_policy = bt_str(preemption_policy);
	bt_transaction_begin(trial->engine);
	(void)bt_transaction_add_pod(trial->engine, &pod, &pod_ix);
	return pod_ix;
}

void bt_explain_trial_refusals(struct bt_explain_trial *trial, struct bt_refusal_rows *out)
{
	uint32_t pod_ix = begin_with_pod(trial, "Never");

	*out = (struct bt_refusal_rows){0};
	if (pod_ix != BT_NO_POD) {
		bt_refusal_rows_collect(trial->engine, pod_ix, out);
	}
	bt_transaction_roll_back(trial->engine);
}

uint32_t bt_explain_victims(struct bt_explain_trial *trial, struct bt_arena *arena, uint32_t **out_pod_ixs,
	uint32_t *out_violation_n)
{
	struct bt_engine *engine = trial->engine;
	struct bt_explanation explanation = {0};
	const struct bt_preemption *preemption = &explanation.preemption;
	uint32_t pod_ix = begin_with_pod(trial, "PreemptLowerPriority"), n = 0;

	if (pod_ix != BT_NO_POD) {
		bt_engine_explain(engine, pod_ix, &explanation);
		n = explanation.preempts ? preemption->victim_n : 0;
		*out_pod_ixs = bt_arena_zalloc(arena, (n + 1) * sizeof(**out_pod_ixs));
		*out_violation_n = n ? preemption->violation_n : 0;
		for (uint32_t i = 0; i < n; i++) {
			(*out_pod_ixs)[i] = preemption->victims[i].pod_ix;
		}
		bt_explanation_fini(&explanation);
	}
	bt_transaction_roll_back(engine);
	return n;
}

void bt_explain_trial_fini(struct bt_explain_trial *trial)
{
	bt_arena_fini(&trial->arena);
	bt_buf_fini(&trial->node);
	bt_buf_fini(&trial->reason);
}
