/* SPDX-License-Identifier: Apache-2.0
 * The table of all nodes for one pod: refusing plugins and amounts, or scores by plugin.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/emit.h"

/*
 * Adds one row per node to the array that is open: feasible nodes first, the best on top, then the others by
 * name. A pod that is gated, refused before Filter or in error gets a single row.
 */
void bt_report_explain(struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix);

/*
 * The same for an attempt of the pod (from 1; 0: of none), under a separate heading. A bound pod is
 * evaluated as if it were absent, and its node's row comes first. Context: not within a cycle of the pod.
 * Returns : the first row, for bt_report_explain_mark.
 */
bt_emit_row *bt_report_explain_attempt(
	struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix, uint32_t attempt);

/* Marks the result of the attempt with the given first row: moves the node's row first, with the mark. */
void bt_report_explain_mark(struct bt_emit *emit, struct bt_engine *engine, bt_emit_row *first,
	uint32_t pod_ix, uint32_t node_ix, const char *mark);

/* The row of a pod without rows of nodes. heads: it is the first such row, and gets the heading. */
struct bt_report_verdict {
	struct bt_str pod;
	const char *verdict, *plugin, *reason;
};
void bt_report_explain_verdict(struct bt_emit *emit, const struct bt_report_verdict *fate, bool heads);
