/* SPDX-License-Identifier: Apache-2.0
 * What the engine says about the pod at one time: every node's verdict, the scores, and kube-scheduler's
 * message.
 */
#pragma once

#include "tools/kube/report/refusals.h"
#include "tools/kube/report/scores.h"

/* Zero-initialized, it is empty. Owns: bt_explain_record_fini. */
struct bt_explain_record {
	bool made;
	uint32_t attempt;   /* from 1; 0: of none */
	bool gated, failed; /* a plugin of PreEnqueue holds the pod back; the cycle ends in an error */
	struct bt_score_rows scores;
	struct bt_refusal_rows refusals;
	struct bt_buf message; /* empty: the pod fits */
	/* The outcome, if the attempt has ended. */
	uint32_t node_ix;    /* BT_NO_NODE: refused */
	struct bt_buf after; /* what preemption does */
};

/* Records the pod in the present state. Replaces what was recorded. Context: the scheduling thread, between
 * cycles, or right before the pod's. */
void bt_explain_record_make(struct bt_engine *engine, uint32_t pod_ix, struct bt_explain_record *out);

/* Records how the attempt ended. */
void bt_explain_record_end(
	struct bt_engine *engine, const struct bt_decision *decision, struct bt_explain_record *record);

void bt_explain_record_fini(struct bt_explain_record *record);

/* Adds the scores: the chosen node first and marked, then the best. all: every node, not just the first 20.
 */
void bt_explain_record_scores(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_explain_record *record, bool all);

/* Adds why nodes are refused: groups of equal verdict that sum to all nodes. lacks: what the pod lacks on a
 * node, or NULL. */
void bt_explain_record_refusals(struct bt_emit *emit, struct bt_engine *engine,
	const struct bt_refusal_rows *refusals, const char *(*lacks)(const void *context, struct bt_str node),
	const void *context);
