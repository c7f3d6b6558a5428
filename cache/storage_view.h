/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the storage data that plugins may read: PersistentVolumes, claims, StorageClasses and CSI objects.
 * owner: written by the scheduling thread between cycles only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/map.h"
#include "engine/model/signature.h"
#include "engine/model/volume.h"

#define BT_NO_VOLUME UINT32_MAX

/* The pods on a node that have volumes, by their signatures, one entry for each pod. */
struct bt_volume_users {
	const struct bt_signature **items;
	uint32_t n, cap;
};

/* How many volumes of a driver are attached to a node. */
struct bt_driver_count {
	uint32_t driver;
	int64_t n;
};

/* The CSI volumes on a node that has a CSINode. */
struct bt_attached {
	const uint64_t *disks; /* used by pods, by bt_disk_id; ascending, each once */
	uint32_t disk_n;
	const struct bt_driver_count *counts; /* including attached unused ones */
	uint32_t count_n;
	uint32_t error; /* a name: why they cannot be counted, or BT_NAME_NONE */
};

/* The change by trials of how many pod volumes name a claim. */
struct bt_claim_trial {
	uint32_t claim; /* its name, in any namespace */
	int32_t volume_n;
};

/* A claim's volume, or its provisioning. */
struct bt_volume_binding {
	uint32_t claim_ix;
	uint32_t pv_ix; /* BT_NO_VOLUME: it is provisioned on the pod's node */
};

/* PersistentVolumes, claims and related objects. Indices are stable; deleted objects are not live. */
struct bt_storage {
	uint64_t version; /* incremented by every change, including assumptions */
	const struct bt_pv *pvs;
	const uint32_t *next_of_class; /* by PersistentVolume: the next of its class, plus one, or 0 */
	const struct bt_claim *claims;
	const struct bt_storage_class *classes;
	const struct bt_csi_node *csi_nodes;
	const struct bt_csi_driver *drivers;
	const struct bt_csi_capacity *capacities;
	uint32_t capacity_n;
	/* Names to indices, for bt_storage_pv and similar functions. */
	struct bt_map pv_ixs, claim_ixs, class_ixs, csi_node_ixs, driver_ixs;
	struct bt_map class_pvs;	     /* class -> index plus one of its first PersistentVolume */
	const struct bt_volume_users *users; /* by node slot, for user_slot_n slots; none after these */
	uint32_t user_slot_n;
	const struct bt_claim_trial *trials; /* of active trials, trial_n of them, each claim once */
	uint32_t trial_n;
	struct bt_arena *scratch;    /* for VolumeBinding, per cycle */
	bool nodes_migrate_portworx; /* BT_RULE_NODES_MIGRATE_PORTWORX */
	void *context;

	/* The disk of a claim on a node with a CSINode; without a driver when it does not count. */
	struct bt_csi_disk (*disk)(void *context, const struct bt_claim *claim);

	/* Does a pod on a live node use the claim, other than as an ephemeral volume? */
	bool (*in_use)(void *context, const struct bt_claim *claim);

	/* The volumes attached to a node. Valid until the next change. May allocate. */
	const struct bt_attached *(*attached)(void *context, uint32_t node_ix);
};

static inline uint32_t bt_volume_users_n(const struct bt_storage *storage, uint32_t node_ix)
{
	return node_ix < storage->user_slot_n ? storage->users[node_ix].n : 0;
}

/* Does a disk count as its driver's on a node with that CSINode (NULL: none)? */
static inline bool bt_storage_counts_on(
	const struct bt_storage *storage, const struct bt_csi_node *csi_node, enum bt_in_tree in_tree)
{
	if (in_tree == BT_IN_TREE_NONE) {
		return true;
	}
	bool migrates = storage->nodes_migrate_portworx && in_tree == BT_IN_TREE_PORTWORX;

	return csi_node && (!migrates || (csi_node->migrated >> in_tree & 1));
}

static inline uint64_t bt_disk_id(const struct bt_csi_disk *disk)
{
	return bt_pair_key(disk->driver, disk->handle);
}

/* The current object with that name, or NULL. */
static inline const struct bt_pv *bt_storage_pv(const struct bt_storage *storage, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&storage->pv_ixs, name, &ix) && storage->pvs[ix].live ? &storage->pvs[ix] : NULL;
}

static inline const struct bt_claim *bt_storage_claim(
	const struct bt_storage *storage, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&storage->claim_ixs, bt_pair_key(namespace_, name), &ix) && storage->claims[ix].live
		       ? &storage->claims[ix]
		       : NULL;
}

static inline const struct bt_storage_class *bt_storage_class(const struct bt_storage *storage, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&storage->class_ixs, name, &ix) && storage->classes[ix].live ? &storage->classes[ix]
										       : NULL;
}

static inline const struct bt_csi_node *bt_storage_csi_node(const struct bt_storage *storage, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&storage->csi_node_ixs, name, &ix) && storage->csi_nodes[ix].live
		       ? &storage->csi_nodes[ix]
		       : NULL;
}

static inline const struct bt_csi_driver *bt_storage_driver(const struct bt_storage *storage, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&storage->driver_ixs, name, &ix) && storage->drivers[ix].live
		       ? &storage->drivers[ix]
		       : NULL;
}
