/* SPDX-License-Identifier: Apache-2.0
 * Storage objects in interned names: PersistentVolumes, claims, storage classes, CSI nodes, drivers and
 * capacities, with in-tree volumes translated to their CSI drivers. Source: component-helpers storage/volume
 * and csi-translation-lib, v1.36.3.
 */
#pragma once

#include "engine/model/selector.h"

/* In-tree volume plugins that have become CSI drivers. */
enum bt_in_tree {
	BT_IN_TREE_NONE = 0,
	BT_IN_TREE_GCE_PD,
	BT_IN_TREE_AWS_EBS,
	BT_IN_TREE_AZURE_DISK,
	BT_IN_TREE_CINDER,
	BT_IN_TREE_PORTWORX,
	BT_IN_TREE_COUNTED_N, /* volumes of the kinds above count as the drivers' */
	BT_IN_TREE_AZURE_FILE = BT_IN_TREE_COUNTED_N,
	BT_IN_TREE_VSPHERE,
	BT_IN_TREE_N
};

/* Access modes as bits. */
#define BT_READ_WRITE_ONCE     1u
#define BT_READ_ONLY_MANY      2u
#define BT_READ_WRITE_MANY     4u
#define BT_READ_WRITE_ONCE_POD 8u
#define BT_OTHER_ACCESS	       16u

/* A disk as the CSI driver names it. */
struct bt_csi_disk {
	enum bt_in_tree in_tree; /* an in-tree volume, which counts as the driver's on nodes with a CSINode */
	uint32_t driver, handle; /* names; empty when it is not a CSI disk or not translatable */
	uint32_t error;		 /* a name: why it is not translatable, or BT_NAME_NONE */
};

/* A volume of a pod that scheduling depends on. */
struct bt_pod_volume {
	enum bt_volume_type type;
	uint32_t name, source, pool; /* names; for an ephemeral volume, source is the generated claim */
	const uint32_t *monitors;    /* rbd */
	uint32_t monitor_n;
	bool read_only;
	struct bt_csi_disk disk; /* of inline volumes; only the driver if they never count */
};

struct bt_claim_ref {
	uint32_t namespace_, name, uid; /* uid: BT_NAME_EMPTY when absent */
};

/* A volume's zones or regions, from one of its labels. */
struct bt_volume_zone {
	uint32_t key;
	const uint32_t *values;
	uint32_t value_n;
};

#define BT_VOLUME_ZONES 4

/* A PersistentVolume. */
struct bt_pv {
	uint32_t name;
	bool live, deleting, available;
	bool has_claim, has_affinity;
	uint32_t class_, mode, attributes_class; /* empty when there is none */
	uint32_t access_modes;
	struct bt_quantity capacity;
	struct bt_labels labels;
	struct bt_node_selector affinity;     /* of its own claim */
	struct bt_node_selector csi_affinity; /* translated; when has_csi_affinity */
	bool has_csi_affinity;
	struct bt_csi_disk disk;
	struct bt_volume_zone zones[BT_VOLUME_ZONES];
	uint32_t zone_n;
	struct bt_claim_ref claim; /* when has_claim */
	uint64_t shown;		   /* its resource version; 0: none */
	/* Private to the cache: the assumed claim, and the object's identity. */
	bool assumed;
	struct bt_claim_ref assumed_claim;
	uint64_t version;
};

/* A PersistentVolumeClaim. */
struct bt_claim {
	uint32_t namespace_, name, uid,
		owner_uid; /* owner_uid: of the controlling owner; BT_NAME_NONE: none */
	bool live, deleting, lost;
	bool bind_completed;
	uint32_t volume, class_, mode, attributes_class; /* empty when there is none */
	uint32_t access_modes;
	bool has_request;
	struct bt_quantity request;
	bool has_selector;
	struct bt_selector selector;
	uint32_t selector_error; /* a name: why it is invalid, or BT_NAME_NONE */
	bool has_node;
	uint32_t node;	/* the node that was selected for provisioning */
	uint64_t shown; /* as for a volume */
	/* Private to the cache: the node of an assumed pod, and the object's identity. */
	bool assumed;
	uint32_t assumed_node;
	uint64_t version;
};

/* The claim that the volume is bound to or reserved for, or NULL. */
static inline const struct bt_claim_ref *bt_pv_claim(const struct bt_pv *pv)
{
	return pv->assumed ? &pv->assumed_claim : pv->has_claim ? &pv->claim : NULL;
}

/* Is it an in-tree volume that the node's kubelet has migrated? migrated: bits by enum bt_in_tree. */
static inline bool bt_pv_is_migrated(const struct bt_pv *pv, uint32_t migrated)
{
	return pv->disk.in_tree && (migrated >> pv->disk.in_tree & 1);
}

/* The node selected for provisioning the claim, or BT_NAME_NONE. */
static inline uint32_t bt_claim_node(const struct bt_claim *claim)
{
	return claim->assumed ? claim->assumed_node : claim->has_node ? claim->node : BT_NAME_NONE;
}

struct bt_storage_class {
	uint32_t name, provisioner;
	bool live, has_mode, waits; /* waits: WaitForFirstConsumer */
	const struct bt_selector *topologies;
	uint32_t topology_n;
	bool any_topology;
	uint64_t topology_hash; /* of allowedTopologies, verbatim */
};

struct bt_csi_limit {
	uint32_t driver;
	bool limited;
	int64_t count;
};

struct bt_csi_node {
	uint32_t name;
	bool live;
	const struct bt_csi_limit *drivers;
	uint32_t driver_n;
	uint32_t migrated;	/* bits by enum bt_in_tree: the node's kubelet has migrated these */
	uint32_t migrated_list; /* a name: the annotation with these; empty when absent */
};

struct bt_csi_driver {
	uint32_t name;
	bool live, tracks_capacity, prevents_if_missing;
};

struct bt_csi_capacity {
	uint32_t namespace_, name, class_;
	bool live, has_limit, has_topology;
	int64_t limit, capacity;
	struct bt_selector topology;
};

struct bt_attachment {
	uint32_t name, node, attacher, volume;
	bool live;
};

/*
 * The functions below fill all but live, from an object with the API's defaults.
 * Context: the owner of held. Owns: arrays live in arena.
 */
void bt_pv_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_persistent_volume_object *object, struct bt_pv *out);
void bt_claim_compile(struct bt_name_refs *held, struct bt_arena *arena, const struct bt_claim_object *object,
	struct bt_claim *out);
void bt_storage_class_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_storage_class_object *object, struct bt_storage_class *out);
void bt_csi_node_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_csi_node_object *object, struct bt_csi_node *out);
void bt_csi_capacity_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_storage_capacity_object *object, struct bt_csi_capacity *out);

/* The in-tree plugins that a CSINode lists as migrated, as bits by enum bt_in_tree. */
uint32_t bt_migrated_plugins(const struct bt_csi_node_object *object);

/* Is a volume accessible from a node with these labels? translated: uses its translated affinity. */
bool bt_pv_reaches(
	const struct bt_intern *intern, const struct bt_pv *pv, bool translated, struct bt_labels labels);

/* Does an in-tree volume of that type have a CSI driver? */
bool bt_volume_migrates(enum bt_volume_type type);

/* Can a pod's volume of that type affect a volume plugin? */
bool bt_volume_matters(enum bt_volume_type type);

/* Does a volume of that type, which does not affect scheduling, affect queueing hints? */
bool bt_volume_noted(enum bt_volume_type type);

/* Does the volume use a claim? */
static inline bool bt_volume_claims(enum bt_volume_type type)
{
	return type == BT_VOLUME_CLAIM || type == BT_VOLUME_EPHEMERAL;
}

/* A pod's volume; pod_name names the claim of an ephemeral one. Context and Owns: as above. */
void bt_pod_volume_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_volume_object *object, struct bt_str pod_name, struct bt_pod_volume *out);

/* The in-tree plugin with that name (such as kubernetes.io/gce-pd), or BT_IN_TREE_NONE. */
enum bt_in_tree bt_in_tree_named(struct bt_str name);

/* The CSI driver's name for an in-tree plugin. */
struct bt_str bt_in_tree_driver(enum bt_in_tree in_tree);
