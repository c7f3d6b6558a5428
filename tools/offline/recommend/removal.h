/* SPDX-License-Identifier: Apache-2.0
 * Which nodes could go: drained one after the other, their pods fit on the nodes that are left, as
 * kube-scheduler places them. Budgets are respected for each node; between two nodes the moved pods become
 * ready again. Context: the scheduling thread, between cycles.
 */
#pragma once

#include "tools/cli/progress.h"
#include "tools/offline/recommend/node_types.h"
#include "tools/offline/whatif/importance.h"
#include "tools/offline/whatif/inventory.h"
#include "tools/offline/simulate/loaded_cluster.h"

/* Why a node stays. */
enum bt_stay {
	BT_GOES = 0,
	BT_STAYS_PODS,	  /* a pod of it fits nowhere else */
	BT_STAYS_BUDGET,  /* a PodDisruptionBudget forbids an eviction */
	BT_STAYS_UNOWNED, /* a pod of it has no controller that would make another one */
	BT_STAY_N
};

struct bt_removable_node {
	struct bt_str name, type; /* type: its label node.kubernetes.io/instance-type, or empty */
	uint32_t moved_n;	  /* pods that move */
};

/* Zero-initialized except for the first three fields. Owns: bt_removal_fini. */
struct bt_removal {
	struct bt_engine *engine;
	const struct bt_inventory *inventory;
	struct bt_progress *progress;
	/* The result. */
	struct bt_removable_node *nodes; /* in the order in which they can be drained */
	size_t node_n;
	uint64_t stays[BT_STAY_N]; /* nodes by reason */
	/* private: */
	size_t node_cap, pod_cap;
	struct bt_importance *pods; /* of the node that is tried */
	struct bt_arena arena;
};

/* Finds the nodes. Returns: BT_EXIT_OK; BT_EXIT_INTERRUPTED. */
int bt_removal_find(struct bt_removal *removal);

void bt_removal_fini(struct bt_removal *removal);
