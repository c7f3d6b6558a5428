/* SPDX-License-Identifier: Apache-2.0
 * Why a pod fits nowhere: its nodes by plugin and reasons; the counts sum to all nodes.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

/* Nodes that a plugin refuses for the same reasons. */
struct bt_refusal_row {
	const char *plugin; /* empty: none refuses them */
	char *text;
	uint64_t node_n;
	/* The node that lacks least, where all reasons are amounts of resources, and what it lacks ("300m cpu
	 * short"); BT_NO_NODE and NULL: there is none. */
	uint32_t nearest_ix;
	double lacks; /* the largest of its reasons' shares of what the pod requests */
	char *lack_text;
};

struct bt_refusal_rows {
	struct bt_refusal_row *items; /* the most nodes first */
	size_t n, cap;
};

/* Explains the pod in the present state of the cluster. Context: the scheduling thread, between cycles;
 * allocates. Owns: bt_refusal_rows_fini. */
void bt_refusal_rows_collect(struct bt_engine *engine, uint32_t pod_ix, struct bt_refusal_rows *out);
/* Adds nodes that a plugin refuses for a reason; plugin outlives the rows. */
void bt_refusal_rows_add(
	struct bt_refusal_rows *rows, const char *plugin, struct bt_str text, uint64_t node_n);
void bt_refusal_rows_fini(struct bt_refusal_rows *rows);
