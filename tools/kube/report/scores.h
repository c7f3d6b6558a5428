/* SPDX-License-Identifier: Apache-2.0
 * The scores of a pod's feasible nodes, copied out of an explanation: they outlive the plan that gave them.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/emit.h"

struct bt_score_row {
	uint32_t node_ix;
	int64_t total;
	const int64_t *scores; /* by plugin, normalized and weighted */
};

/* Zero-initialized, it is empty. Owns: bt_score_rows_fini. */
struct bt_score_rows {
	struct bt_score_row *items; /* the best first, then by name */
	size_t n;
	const char **plugins; /* names; the engine has them */
	uint32_t plugin_n;
	int64_t *scores; /* private: of all rows */
};

/* Copies the scores of an explanation, or none if it has no feasible node. Context: the scheduling thread,
 * while the explanation is valid; allocates. */
void bt_score_rows_of(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_score_rows *out);
void bt_score_rows_fini(struct bt_score_rows *rows);

/* The row of a node; NULL: it is not feasible. */
const struct bt_score_row *bt_score_rows_find(const struct bt_score_rows *rows, uint32_t node_ix);

/* The nodes with the highest total. */
size_t bt_score_rows_tied(const struct bt_score_rows *rows);

/* Appends by what one node's total is above another's: "NodeResourcesFit +12, ImageLocality -3". */
void bt_score_rows_difference(const struct bt_score_rows *rows, const struct bt_score_row *a,
	const struct bt_score_row *b, struct bt_buf *out);
