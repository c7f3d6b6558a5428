/* SPDX-License-Identifier: Apache-2.0
 * The pods that were not placed, by signature, and what each node has against them: for each group the nodes
 * sum to all nodes.
 */
#pragma once

#include "engine/flow/cycle/group_cycle.h"
#include "tools/cli/emit.h"

struct bt_unplaced_group {
	const struct bt_signature *signature;
	uint32_t example; /* a pod */
	uint64_t pod_n;
	enum bt_outcome why; /* BT_REFUSED or BT_GATED */
};

struct bt_unplaced {
	struct bt_unplaced_group *groups; /* the largest first */
	size_t group_n, group_cap;
	uint64_t refused_n, gated_n; /* pods */
	uint64_t untried_n;	     /* pods whose turn did not come: the run was interrupted */
	uint64_t fragmented_n; /* refused pods that would fit what is free on the nodes that refuse them for
				* their resources alone, if that were on one node */
};

/* Collects the queued pods of the ledger. Owns: bt_unplaced_fini. */
void bt_unplaced_collect(struct bt_engine *engine, struct bt_unplaced *out);
void bt_unplaced_fini(struct bt_unplaced *unplaced);

/*
 * Adds the section "unplaced" for the first shown groups: a row per reason, whose nodes sum to all nodes
 * in each group. The reasons are those of the cluster as it is now.
 */
void bt_report_unplaced(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_unplaced *unplaced, size_t shown);
