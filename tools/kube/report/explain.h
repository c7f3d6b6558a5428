/* SPDX-License-Identifier: Apache-2.0
 * The table of every node for one pod: who refuses it and by how much, or what it scores and for what.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/emit.h"

/*
 * Adds one row per node to the array that is open: feasible nodes first, the best on top, then the others by
 * name. A pod that is gated, refused as a whole or in error gets one row that says so.
 */
void bt_report_explain(struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix);

/*
 * The same for an attempt of the pod (from 1; 0: of none), under a heading of its own. A pod that is on a
 * node is looked at as if it were not there, and the node's row comes first. Context: not within a cycle of
 * the pod.
 * Returns : the first row, for bt_report_explain_mark.
 */
bt_emit_row *bt_report_explain_attempt(
	struct bt_emit *emit, struct bt_engine *engine, uint32_t pod_ix, uint32_t attempt);

/* What became of the attempt whose first row is given: the row of the node comes first, with the mark. */
void bt_report_explain_mark(struct bt_emit *emit, struct bt_engine *engine, bt_emit_row *first,
	uint32_t pod_ix, uint32_t node_ix, const char *mark);

/* A row for a pod of which there are no nodes to show; heads: it is the first one of these. */
struct bt_report_fate {
	struct bt_str pod;
	const char *verdict, *plugin, *reason;
};
void bt_report_explain_fate(struct bt_emit *emit, const struct bt_report_fate *fate, bool heads);
