/* SPDX-License-Identifier: Apache-2.0
 * Takes nodes away and places their pods again, in a transaction that is rolled back: which pods are
 * displaced, where each lands, and why some land nowhere.
 */
#pragma once

#include "tools/kube/report/refusals.h"
#include "tools/offline/simulate/loaded_cluster.h"

/* What becomes of a pod whose node is taken away. */
enum bt_drain_role {
	BT_DRAIN_MOVES = 0, /* its controller makes another one */
	BT_DRAIN_STAYS,	    /* a DaemonSet's or a static one: it ends with its node */
	BT_DRAIN_ENDS	    /* no controller: nobody makes another one */
};

/* The roles of the cluster's pods, by index. Zero-initialized, it is empty. Owns: bt_drain_roles_fini. */
struct bt_drain_roles {
	uint8_t *items;
	size_t n, cap;
	bool recreates_all; /* also pods without a controller move; set before the first pod */
};

/* Records a pod: bt_loaded_cluster.entered, with the roles as context. */
void bt_drain_roles_note(void *roles, uint32_t pod_ix, const struct bt_pod_object *pod);
void bt_drain_roles_fini(struct bt_drain_roles *roles);

struct bt_drain_move {
	uint32_t pod_ix, from_ix;
	uint32_t to_ix; /* BT_NO_NODE: it fits nowhere, or nobody makes another one */
	enum bt_drain_role role;
};

/* Zero-initialized, it is empty. Owns: bt_drain_fini. */
struct bt_drain {
	uint64_t displaced_n; /* pods that move or end */
	uint64_t placed_n, unplaced_n, ended_n;
	uint64_t forbidden_n;	     /* displaced pods whose eviction violates a PodDisruptionBudget */
	char *budget;		     /* namespace/name of the first such budget; NULL: none */
	char *reason;		     /* why the first pod fits nowhere, on most nodes; NULL: all fit */
	uint32_t example;	     /* that pod */
	struct bt_drain_move *moves; /* in the order of placing */
	size_t move_n, move_cap;
};

/*
 * Closes the nodes, evicts their pods, and places a new pod for each that moves: the most important first,
 * then the oldest. Afterwards the cluster is as before. Requires: live nodes, each once.
 */
void bt_drain_nodes(struct bt_loaded_cluster *cluster, const struct bt_drain_roles *roles,
	const uint32_t *node_ixs, size_t node_n, struct bt_drain *out);
void bt_drain_fini(struct bt_drain *drain);
