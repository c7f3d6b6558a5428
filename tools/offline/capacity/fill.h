/* SPDX-License-Identifier: Apache-2.0
 * Fills the cluster with copies of a unit until one does not fit, reads the result, and removes them.
 */
#pragma once

#include "tools/kube/report/refusals.h"
#include "tools/kube/report/utilization.h"
#include "tools/offline/capacity/templates.h"

/* Zero-initialized, it is empty. Owns: bt_capacity_fill_fini. */
struct bt_capacity_fill {
	uint64_t fits; /* units */
	bool limited;  /* more might fit */
	uint32_t used_node_n;
	uint64_t *pods_by_node; /* by slot: pods of copies, while slot < slot_n */
	uint32_t slot_n;
	/* The pod of the next copy that fits nowhere, and why; none when limited. */
	struct bt_str stops_at;
	struct bt_refusal_rows refusals;
	struct bt_cluster_utilization full; /* the cluster with the copies */
};

/*
 * Adds at most limit copies. Afterwards the cluster is as before. progress counts copies. Returns:
 * BT_EXIT_OK; BT_EXIT_INTERRUPTED.
 */
int bt_capacity_fill(struct bt_loaded_cluster *cluster, const struct bt_capacity_unit *unit, uint64_t limit,
	struct bt_capacity_fill *out);
void bt_capacity_fill_fini(struct bt_capacity_fill *fill);
