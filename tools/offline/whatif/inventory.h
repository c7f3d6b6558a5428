/* SPDX-License-Identifier: Apache-2.0
 * What questions need to know of the input besides the engine's state: what becomes of each pod when it
 * leaves its node, which workload it is of, and the nodes and workloads as objects. Context: one thread.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/map.h"
#include "engine/model/object.h"

/* What becomes of a pod that leaves its node. */
enum bt_pod_role {
	BT_ROLE_MOVES = 0, /* its controller makes another one */
	BT_ROLE_STAYS,	/* a DaemonSet's: it ends with its node; on a node that stays another one is made */
	BT_ROLE_STATIC, /* of its node's kubelet: it ends with its node */
	BT_ROLE_ENDS,	/* no controller recreates it */
	BT_ROLE_N
};

struct bt_pod_note {
	uint64_t workload; /* bt_workload_key; 0: none */
	enum bt_pod_role role;
	int32_t deletion_cost; /* its annotation */
};

/* Zero-initialized but for recreates_all and keeps_objects, it is empty. Owns: bt_inventory_fini. */
struct bt_inventory {
	bool recreates_all;	  /* also pods without a controller move; set before the first pod */
	bool keeps_objects;	  /* nodes and workloads are kept */
	struct bt_pod_note *pods; /* by index */
	size_t pod_n, pod_cap;
	struct bt_object *objects; /* in the order of the input, then of changes */
	size_t object_n, object_cap;
	struct bt_map by_name; /* bt_workload_key -> the newest of objects */
	struct bt_arena arena;
};

/* Identifies a workload, or a node without a namespace; never 0. */
uint64_t bt_workload_key(struct bt_str kind, struct bt_str namespace_, struct bt_str name);

/* The note of a pod from its object. */
struct bt_pod_note bt_pod_note_of(const struct bt_inventory *inventory, const struct bt_pod_object *pod);

/* Record a pod and an object of the input: the callbacks of bt_loaded_cluster, with the inventory as
 * context. */
void bt_inventory_note_pod(void *inventory, uint32_t pod_ix, const struct bt_pod_object *pod);
void bt_inventory_note_object(void *inventory, const struct bt_object *object);

/* The note of a pod by its index; of one that is not of the input: it moves. */
struct bt_pod_note bt_inventory_pod(const struct bt_inventory *inventory, uint32_t pod_ix);

/* The newest object of that kind and name, or NULL. */
const struct bt_object *bt_inventory_find(const struct bt_inventory *inventory, struct bt_str kind,
	struct bt_str namespace_, struct bt_str name);

/* Adds a copy of an object, which replaces one of the same name. Returns: the copy. */
const struct bt_object *bt_inventory_put(struct bt_inventory *inventory, const struct bt_object *object);

void bt_inventory_fini(struct bt_inventory *inventory);
