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
	uint32_t first_ix; /* the first of the nodes that were visited; BT_NO_NODE: none was */
};

#define BT_REFUSAL_NEAREST 5

/* A node that lacks nothing but amounts of resources. */
struct bt_refusal_near {
	uint32_t node_ix;
	double lacks; /* as bt_refusal_row.lacks */
};

struct bt_refusal_rows {
	struct bt_refusal_row *items; /* the most nodes first */
	size_t n, cap;
	struct bt_refusal_near nearest[BT_REFUSAL_NEAREST]; /* the least lacking first */
	uint32_t nearest_n;
};

/* The nodes of an explanation. Context: the scheduling thread, while the explanation is valid; allocates.
 * Owns: bt_refusal_rows_fini. */
void bt_refusal_rows_of(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_refusal_rows *out);

/* Explains the pod in the present state of the cluster. Context: the scheduling thread, between cycles;
 * allocates. Owns: bt_refusal_rows_fini. */
void bt_refusal_rows_collect(struct bt_engine *engine, uint32_t pod_ix, struct bt_refusal_rows *out);
/* Adds nodes that a plugin refuses for a reason; plugin outlives the rows. */
void bt_refusal_rows_add(
	struct bt_refusal_rows *rows, const char *plugin, struct bt_str text, uint64_t node_n);
void bt_refusal_rows_fini(struct bt_refusal_rows *rows);

/* The resource that a reason with numbers concerns; "pods" for the number of pods. Requires: has_numbers. */
struct bt_str bt_reason_resource(const struct bt_dictionary *dictionary, const struct bt_reason *reason);
