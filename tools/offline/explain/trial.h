/* SPDX-License-Identifier: Apache-2.0
 * Tries edits: makes them in a transaction, places the pod by a whole scheduling cycle, and rolls back.
 */
#pragma once

#include "engine/flow/cycle/transaction.h"
#include "tools/kube/report/refusals.h"
#include "tools/offline/explain/edit.h"

/* Zero-initialized except for the first two fields. Owns: bt_explain_trial_fini. Context: one thread. */
struct bt_explain_trial {
	struct bt_engine *engine;
	const struct bt_pod_object *pod; /* as admission left it */
	struct bt_arena arena;		 /* of the present trial */
	uint64_t trial_n;
	/* The result of the last trial. */
	bool placed;
	uint32_t node_ix;     /* if placed; no longer valid when the node was added */
	struct bt_buf node;   /* the node's name, or "the new node" */
	struct bt_buf reason; /* if asked for, why it was refused */
};

/*
 * Tries the edits. node_ix: the only node that may take the pod, or BT_NO_NODE. Context: the scheduling
 * thread, between cycles. Requires: the edits are sorted; none adds a node while node_ix is given.
 * Returns: whether the pod was placed.
 */
bool bt_explain_try(
	struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n, uint32_t node_ix);

/* The same; if the pod is refused, trial->reason has why. */
bool bt_explain_try_with_reason(
	struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n, uint32_t node_ix);

/*
 * Finds the pods that the engine would evict for the pod if its preemptionPolicy allowed it, the most
 * important first. out_pod_ixs: in arena. Returns: their number; 0: preemption does not help.
 */
uint32_t bt_explain_victims(struct bt_explain_trial *trial, struct bt_arena *arena, uint32_t **out_pod_ixs,
	uint32_t *out_violation_n);

/* Collects why nodes refuse the pod as it is, without its gates. Owns: bt_refusal_rows_fini. */
void bt_explain_trial_refusals(struct bt_explain_trial *trial, struct bt_refusal_rows *out);

/* The pod as it is tried, without its gates, on no node, under a name that no pod has. */
void bt_explain_trial_pod(struct bt_explain_trial *trial, const struct bt_explain_edit *edits, size_t n,
	struct bt_pod_object *out);

void bt_explain_trial_fini(struct bt_explain_trial *trial);
