/* SPDX-License-Identifier: Apache-2.0
 * The pods that were not placed, by signature, with the rejection reasons: for each group the node counts sum
 * to all nodes.
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
	uint64_t untried_n;	     /* pods not tried: the run was interrupted */
	uint64_t fragmented_n; /* refused pods blocked by fragmentation: they would fit if the free resources
				* of nodes that refuse them only for resources were on one node */
};

/* Collects the queued pods of the ledger. Owns: bt_unplaced_fini. */
void bt_unplaced_collect(struct bt_engine *engine, struct bt_unplaced *out);
void bt_unplaced_fini(struct bt_unplaced *unplaced);

/*
 * Adds the section "unplaced" for the first shown groups: a row per reason, whose nodes sum to all nodes
 * in each group. The reasons are those of the current cluster.
 */
void bt_report_unplaced(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_unplaced *unplaced, size_t shown);
