/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: what plugins and scores may read: the snapshot (what nodes are) and the usage (what is on them),
 * as columns. rcu: a snapshot does not change while it can be read. owner: usage is written by the scheduling
 * thread between cycles only.
 */
#pragma once

#include <assert.h>
#include <stddef.h>

#include "engine/base/bitmap.h"
#include "engine/base/buf.h"
#include "engine/base/compiler.h"
#include "engine/base/map.h"
#include "engine/model/device.h"
#include "engine/model/resource.h"
#include "engine/model/signature.h"
#include "engine/model/taint.h"

#define BT_NO_NODE UINT32_MAX

struct bt_taint_set {
	const struct bt_taint *items; /* in the order of the node's spec */
	uint32_t n;
};

/* An image name that some node has; or a vacant entry, which no node has. */
struct bt_image {
	uint32_t name;
	uint32_t node_n;    /* live nodes that have it */
	int64_t size_bytes; /* as the first of them reported */
};

/* Images share stamps of their changes, so many. */
#define BT_IMAGE_STAMPS 1024

/* What a node is. */
struct bt_node {
	uint32_t name;
	struct bt_labels labels;
	uint32_t taint_set; /* index in bt_snapshot.taint_sets; 0 is the empty set */
	bool unschedulable;
	const uint32_t *images; /* names, ascending, each once */
	uint32_t image_n;
	uint32_t features; /* enum bt_feature bits */
};

/* What is allocatable of rare resources on a node: slots from first to last; all zeroes: nothing. */
struct bt_rare {
	struct bt_amounts amounts;
	uint32_t first, last;
};

/* What is allocatable on a node of the resources that most pods ask for, by slot, and for how many pods. */
struct bt_node_room {
	int64_t alloc[BT_FIRST_SCALAR];
	int64_t pods;
};

/* What all nodes are. Columns are indexed by node slot; a slot without a live node reads as zero. */
struct bt_snapshot {
	const struct bt_dictionary *dictionary;
	uint64_t version;      /* grows with every change of a description, but for images; and by
				  bt_snapshot_touch */
	uint64_t node_version; /* the same without bt_snapshot_touch: the descriptions themselves */
	uint32_t slot_n;       /* slots in use, vacant ones included */
	uint32_t node_n;       /* live nodes */
	const uint64_t *live;
	const struct bt_node *nodes;
	const struct bt_node_room *rooms;
	const int64_t
		*scalars[BT_FIRST_RARE]; /* allocatable, from BT_FIRST_SCALAR on; NULL: no node has any */
	const struct bt_rare *rare;	 /* the same of rare resources; NULL: no node has any */
	const struct bt_taint_set *taint_sets;
	uint32_t taint_set_n;
	const struct bt_image *images;
	uint32_t image_n;
	/* Grows with every change of an image's nodes or size; image_stamps[name % BT_IMAGE_STAMPS] is what
	 * it was after the last change of an image with such a name. */
	uint64_t image_version;
	const uint64_t *image_stamps;
};

/* The host ports that are taken on a node, each once. */
struct bt_port_list {
	struct bt_host_port *items;
	uint32_t n, cap;
};

/* What is on a node: what a placement changes lies in one line of the cache, because of very many nodes none
 * is there. */
struct bt_node_use {
	int64_t used[BT_FIRST_SCALAR]; /* by resource slot */
	int64_t nonzero_milli_cpu, nonzero_memory;
	int64_t pod_n;
	/* Private to the ledger: the first pod on it, and that it was promised to, and one, or 0; and pods
	 * whose status_ix it is. */
	uint32_t first_on, first_nominated, status_n;
};

static_assert(sizeof(struct bt_node_use) == BT_CACHELINE, "a line of the cache");

/* What is on the nodes: scheduled and assumed pods together. */
struct bt_usage {
	const struct bt_node_use *nodes;       /* by node slot; NULL: nothing is on any */
	const int64_t *scalars[BT_FIRST_RARE]; /* used, from BT_FIRST_SCALAR on; NULL: nobody uses any */
	/* Of rare resources: bt_rare_key -> index in rare_used; NULL: nobody uses any. */
	const struct bt_map *rare;
	const int64_t *rare_used;
	const struct bt_port_list *ports;
	/* The nodes whose usage, or the pods that they are promised to, changed, newest last: entry i is
	 * journal[i & journal_mask] for the last journal_mask + 1. */
	const uint32_t *journal;
	uint64_t journal_mask, journal_end;
	uint64_t release_n;	       /* how often something happened that may have made room on a node */
	uint64_t cleared_nomination_n; /* how often a promise of a node ended */
	bool is_empty; /* it is none of a ledger: scores are to see nodes with neither pods nor images */
};

#define BT_NO_DOMAIN UINT32_MAX

/* A tally remembers so many changes. */
#define BT_DOMAIN_COUNTS_JOURNAL 256

/* How many pods of some kind are in each domain of a topology key. The ledger keeps it up to date. */
struct bt_domain_counts {
	const uint32_t *domain; /* by node slot; BT_NO_DOMAIN when the node lacks the key */
	uint32_t domain_n;
	const int32_t *sums;	/* by domain */
	const int32_t *by_node; /* by node slot: the sum of its domain, 0 without one; NULL when domains have
				   many nodes */
	/* With by_node: the nodes of domain d are members[first[d]] up to members[first[d + 1] - 1]; NULL:
	 * node d is domain d. */
	const uint32_t *members, *first;
	/* With by_node: the domains whose sums changed, newest last: entry i is
	 * journal[i % BT_DOMAIN_COUNTS_JOURNAL], for the last so many. */
	const uint32_t *journal;
	uint64_t journal_end;
	int64_t total;
	uint32_t counted_n; /* domains that have a node that counts */
	int32_t lowest;	    /* the smallest sum of such a domain; INT32_MAX when there is none */
};

enum bt_existing_affinity_term_kind {
	BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY = 0,
	BT_EXISTING_AFFINITY_TERM_AFFINITY,
	BT_EXISTING_AFFINITY_TERM_PREFERENCE /* for (weight above 0) or against (below 0) */
};

/* A pod affinity term that pods on nodes carry; equal terms of many pods are one. */
struct bt_existing_affinity_term {
	enum bt_existing_affinity_term_kind kind;
	int32_t weight;
	int64_t pod_n;			      /* pods on nodes that have it */
	const struct bt_domain_counts *tally; /* of them, by the term's topology key */
};

struct bt_namespace {
	uint32_t name;
	struct bt_labels labels;
	bool live;
};

/*
 * Pods counted by what they are. A counter, once asked for, follows the ledger: a pod that comes or goes
 * touches only the counters that it matches. Context of all functions: the scheduling thread, between writes
 * of the ledger; they may allocate.
 */
struct bt_counting {
	/* Grows whenever a pod that no term concerned may be concerned by one, or one that had no default
	 * constraints may get some. */
	uint64_t version;
	uint64_t namespace_version, workload_version;
	void *context;

	/* The counter of the pods that satisfy a query. */
	uint32_t (*counter)(void *context, const struct bt_pod_query *query);

	/* The number of a set of nodes, given by a flag per slot. Valid until the snapshot's version changes.
	 * 0 is all live nodes. */
	uint32_t (*node_set)(void *context, const uint8_t *member);

	/*
	 * A counter's pods by the domains of a topology key, counting the nodes of a set only; with the key
	 * BT_NAME_NONE each node is a domain. lacking: a node that lacks the key has it with the empty value.
	 * Valid until the snapshot's version changes.
	 */
	const struct bt_domain_counts *(*tally)(
		void *context, uint32_t counter, uint32_t key, uint32_t node_set, bool lacking);

	/* The carried terms that concern pods of a signature, n of them. Valid until the next call or change.
	 */
	const struct bt_existing_affinity_term *const *(*concerning)(
		void *context, const struct bt_signature *signature, uint32_t *out_n);

	/*
	 * A pending pod's term with its namespace selector turned into names, for the present namespaces.
	 * Valid until a counter was asked for.
	 */
	struct bt_pod_match (*resolve)(void *context, const struct bt_pod_term *term);

	/* What the services and the owner of a signature's pods select; valid until the next call. */
	struct bt_selector (*default_selector)(void *context, const struct bt_signature *signature);
};

#define BT_NO_VOLUME UINT32_MAX

/* The pods on a node that have volumes, by their signatures, each as often as it is there. */
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
	const uint64_t *disks; /* those that pods use, by bt_disk_id; ascending, each once */
	uint32_t disk_n;
	const struct bt_driver_count *counts; /* with those that are attached but not used */
	uint32_t count_n;
	uint32_t error; /* a name: why they cannot be counted, or BT_NAME_NONE */
};

/* How many more volumes of pods that are tried out on nodes name a claim; below zero: how many fewer. */
struct bt_claim_trial {
	uint32_t claim; /* its name, in whatever namespace */
	int32_t volume_n;
};

/* A claim's volume, or its provisioning. */
struct bt_volume_binding {
	uint32_t claim_ix;
	uint32_t pv_ix; /* BT_NO_VOLUME: it is provisioned on the pod's node */
};

/* PersistentVolumes, claims and what belongs to them. Indices stay; what has gone is not live. */
struct bt_storage {
	uint64_t version; /* grows with every change, of assumptions too */
	const struct bt_pv *pvs;
	const uint32_t *next_of_class; /* by PersistentVolume: the next of its class, plus one, or 0 */
	const struct bt_claim *claims;
	const struct bt_storage_class *classes;
	const struct bt_csi_node *csi_nodes;
	const struct bt_csi_driver *drivers;
	const struct bt_csi_capacity *capacities;
	uint32_t capacity_n;
	/* Names to indices: bt_storage_pv and its like ask them. */
	struct bt_map pv_ixs, claim_ixs, class_ixs, csi_node_ixs, driver_ixs;
	struct bt_map class_pvs;	     /* class -> index plus one of its first PersistentVolume */
	const struct bt_volume_users *users; /* by node slot, user_slot_n of them; nobody behind */
	uint32_t user_slot_n;
	const struct bt_claim_trial *trials; /* of the trials that go on, trial_n of them, each claim once */
	uint32_t trial_n;
	struct bt_arena *scratch; /* VolumeBinding's, for one cycle */
	void *context;

	/* The disk of a claim on a node with a CSINode; without a driver when it counts nowhere. */
	struct bt_csi_disk (*disk)(void *context, const struct bt_claim *claim);

	/* Does a pod on a live node use the claim, other than as an ephemeral volume? */
	bool (*in_use)(void *context, const struct bt_claim *claim);

	/* What is attached to a node. Valid until the next change. May allocate. */
	const struct bt_attached *(*attached)(void *context, uint32_t node_ix);
};

#define BT_NO_CLAIM UINT32_MAX

/* What of dynamic resources is on, by gates. */
struct bt_device_features {
	bool admin_access, prioritized_list, partitionable, taints, binding_conditions, consumable_capacity,
		extended_resources;
};

/* What is allocated of a device, whichever slices show it. */
struct bt_device_use {
	uint32_t driver, pool, device;
	uint32_t shown_n;	      /* devices of slices that it is */
	bool allocated;		      /* a claim has it */
	uint32_t pending_n;	      /* so many claims of decided pods get it */
	uint32_t share_n;	      /* claims that have or get a share of it */
	bool consumes;		      /* a share takes of its capacity, be it nothing */
	struct bt_consumed *consumed; /* by all shares together */
	uint32_t consumed_n, consumed_cap;
};

/* The newest generation of a pool, as far as a node can reach it. */
struct bt_device_pool {
	uint32_t driver, pool;
	bool incomplete, invalid; /* nothing can be allocated from it */
	const uint32_t *slices;	  /* with devices for the node, by name */
	const uint32_t *others;	  /* with devices that the node cannot reach, but that take of the counters */
	const struct bt_counter *counters;
	uint32_t slice_n, other_n, counter_n;
};

/* Pools by driver and name; those with binding conditions come last. */
struct bt_device_pools {
	const struct bt_device_pool *items;
	uint32_t n;
};

/* What a claim of a decided pod gets. */
struct bt_device_choice {
	uint32_t claim_ix; /* BT_NO_CLAIM: the claim that is made for the pod's extended resources */
	struct bt_allocation allocation;
};

enum bt_device_answer { BT_DEVICE_NO = 0, BT_DEVICE_YES, BT_DEVICE_BAD_EXPRESSION, BT_DEVICE_FAILED };

/* Evaluates selectors of devices. init: const, static. */
struct bt_device_judge {
	/* A judge with memory of its own. Owns: destroy. */
	void *(*create)(void);
	void (*destroy)(void *judge);
	/* Says of failures why in out_error. */
	enum bt_device_answer (*ask)(void *judge, struct bt_intern *intern, uint32_t expression,
		uint32_t driver, const struct bt_device *device, struct bt_buf *out_error);
};

/* Claims, slices and classes of devices. What has gone is not live. */
struct bt_device_store {
	uint64_t version; /* grows with every change, of allocations too */
	struct bt_device_features features;
	const struct bt_resource_claim *claims;
	const struct bt_resource_slice *slices;
	const struct bt_device_class *classes;
	const struct bt_device_use *uses;
	uint32_t claim_n, slice_n, use_n; /* vacant ones included */
	/* Names to indices; resource_classes: of extended resources to classes. */
	struct bt_map claim_ixs, slice_ixs, class_ixs, resource_classes;
	uint32_t special_n;	    /* live claims that were made for extended resources */
	uint32_t pending_n;	    /* decided pods that get devices, until their bindings are over */
	uint32_t pod_name, pod_uid; /* of the pod whose cycle it is */
	int64_t now_ns;		    /* when it began; INT64_MAX: nobody knows */
	/* Of the plugin, for one cycle; marks: by use, all zero between questions. */
	struct bt_arena *scratch;
	uint32_t *marks;
	void *context;

	/* The pools that a live node can reach. Valid until a slice or a node changes. */
	const struct bt_device_pools *(*pools)(void *context, uint32_t node_ix);

	/* Does an expression match a device? single: it is shown as one that is not shared. Of failures
	 * out_error says why, in upstream's words. */
	enum bt_device_answer (*match)(void *context, uint32_t expression, const struct bt_device *device,
		bool single, struct bt_buf *out_error);
};

struct bt_view {
	const struct bt_snapshot *snapshot;
	const struct bt_usage *usage;
	const struct bt_counting *counting;
	const struct bt_storage *storage;
	const struct bt_device_store *devices;
};

static inline uint64_t bt_pair_key(uint32_t first, uint32_t second)
{
	return (uint64_t)first << 32 | second;
}

static inline uint64_t bt_disk_id(const struct bt_csi_disk *disk)
{
	return bt_pair_key(disk->driver, disk->handle);
}

/* What has that name now, or NULL. */
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

/* What stands for a pod among a claim's consumers: its UID; of one that has none, as in hand-written files,
 * its name, which is no other pod's beside the claim. */
static inline uint32_t bt_consumer_uid(uint32_t pod_name, uint32_t pod_uid)
{
	return pod_uid ? pod_uid : pod_name;
}

static inline const struct bt_resource_claim *bt_device_store_claim(
	const struct bt_device_store *store, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&store->claim_ixs, bt_pair_key(namespace_, name), &ix) && store->claims[ix].live
		       ? &store->claims[ix]
		       : NULL;
}

static inline const struct bt_device_class *bt_device_store_class(
	const struct bt_device_store *store, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&store->class_ixs, name, &ix) && store->classes[ix].live ? &store->classes[ix]
										   : NULL;
}

/* The class whose devices serve for an extended resource, or NULL. */
static inline const struct bt_device_class *bt_device_store_resource(
	const struct bt_device_store *store, uint32_t resource)
{
	uint32_t ix;

	return bt_map_get(&store->resource_classes, resource, &ix) ? &store->classes[ix] : NULL;
}

/* Can a node be reached, by a slice's or a device's words? Source: NodeMatches, v1.36.3. */
static inline bool bt_device_reaches(const struct bt_snapshot *snapshot, uint32_t node_ix, uint32_t node_name,
	bool all_nodes, const struct bt_node_selector *selector)
{
	const struct bt_node *node = &snapshot->nodes[node_ix];

	if (node_name) {
		return node_name == node->name;
	}
	return all_nodes || (selector && bt_node_selector_matches(snapshot->dictionary->intern, selector,
						 node->labels, node->name));
}

static inline int64_t bt_column_get(const int64_t *column, uint32_t node_ix)
{
	return column ? column[node_ix] : 0;
}

/* The bits (bt_resource_bit) of the resources that have columns. */
#define BT_SCALARS (bt_resource_bit(BT_FIRST_RARE) - bt_resource_bit(BT_FIRST_SCALAR))

/* A number of each node: of node i first[i * step]; NULL: 0 of all. */
struct bt_cells {
	const int64_t *first;
	size_t step;
};

static inline struct bt_cells bt_cells_from(struct bt_cells cells, uint32_t node_ix)
{
	return (struct bt_cells){cells.first ? cells.first + node_ix * cells.step : NULL, cells.step};
}

static inline int64_t bt_cell(struct bt_cells cells, uint32_t node_ix)
{
	return cells.first ? cells.first[node_ix * cells.step] : 0;
}

/* A number of the records of nodes. */
static inline struct bt_cells bt_node_room_cells(const struct bt_snapshot *snapshot, size_t offset_bytes)
{
	const int64_t *rooms = (const int64_t *)(const void *)snapshot->rooms;

	return (struct bt_cells){rooms ? rooms + offset_bytes / sizeof(int64_t) : NULL,
		sizeof(struct bt_node_room) / sizeof(int64_t)};
}

static inline struct bt_cells bt_node_use_cells(const struct bt_usage *usage, size_t offset_bytes)
{
	const int64_t *nodes = (const int64_t *)(const void *)usage->nodes;

	return (struct bt_cells){nodes ? nodes + offset_bytes / sizeof(int64_t) : NULL,
		sizeof(struct bt_node_use) / sizeof(int64_t)};
}

/* What is allocatable of a resource, and what is used. Requires: it is not rare. */
static inline struct bt_cells bt_alloc_cells(const struct bt_snapshot *snapshot, uint32_t slot)
{
	return slot < BT_FIRST_SCALAR ? bt_node_room_cells(snapshot, slot * sizeof(int64_t))
				      : (struct bt_cells){snapshot->scalars[slot], 1};
}

static inline struct bt_cells bt_used_cells(const struct bt_usage *usage, uint32_t slot)
{
	return slot < BT_FIRST_SCALAR ? bt_node_use_cells(usage, slot * sizeof(int64_t))
				      : (struct bt_cells){usage->scalars[slot], 1};
}

/* For how many pods there is room, and how many there are. */
static inline struct bt_cells bt_room_cells(const struct bt_snapshot *snapshot)
{
	return bt_node_room_cells(snapshot, offsetof(struct bt_node_room, pods));
}

static inline struct bt_cells bt_pod_cells(const struct bt_usage *usage)
{
	return bt_node_use_cells(usage, offsetof(struct bt_node_use, pod_n));
}

/* What is used for scores: requests with defaults for cpu and memory, real sums for the rest. Requires: the
 * resource is not rare. */
static inline struct bt_cells bt_used_for_score(const struct bt_usage *usage, uint32_t slot)
{
	if (slot == BT_CPU) {
		return bt_node_use_cells(usage, offsetof(struct bt_node_use, nonzero_milli_cpu));
	}
	return slot == BT_MEMORY ? bt_node_use_cells(usage, offsetof(struct bt_node_use, nonzero_memory))
				 : bt_used_cells(usage, slot);
}

static inline uint64_t bt_rare_key(uint32_t slot, uint32_t node_ix)
{
	return bt_pair_key(slot, node_ix);
}

/* What is allocatable, and what is used, of any resource on a node. */
static inline int64_t bt_node_alloc(const struct bt_snapshot *snapshot, uint32_t slot, uint32_t node_ix)
{
	if (BT_LIKELY(slot < BT_FIRST_SCALAR)) {
		return snapshot->rooms[node_ix].alloc[slot];
	}
	if (slot < BT_FIRST_RARE) {
		return bt_column_get(snapshot->scalars[slot], node_ix);
	}
	if (!snapshot->rare) {
		return 0;
	}
	const struct bt_rare *rare = &snapshot->rare[node_ix];
	return slot < rare->first || slot > rare->last ? 0 : bt_amounts_search(rare->amounts, slot);
}

static inline int64_t bt_node_used(const struct bt_usage *usage, uint32_t slot, uint32_t node_ix)
{
	uint32_t ix;

	if (BT_LIKELY(slot < BT_FIRST_SCALAR)) {
		return usage->nodes ? usage->nodes[node_ix].used[slot] : 0;
	}
	if (slot < BT_FIRST_RARE) {
		return bt_column_get(usage->scalars[slot], node_ix);
	}
	return usage->rare && bt_map_get(usage->rare, bt_rare_key(slot, node_ix), &ix) ? usage->rare_used[ix]
										       : 0;
}

/* Do two host ports exclude each other? Source: framework.HostPortInfo, v1.36.3. */
static inline bool bt_ports_conflict(const struct bt_host_port *a, const struct bt_host_port *b)
{
	return a->port == b->port && a->protocol == b->protocol &&
	       (a->ip == b->ip || a->ip == BT_NAME_ANY_IP || b->ip == BT_NAME_ANY_IP);
}
