/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the node data that plugins and scores may read: the snapshot (descriptions) and the usage (pods'
 * resources), as columns. rcu: a snapshot does not change while it has readers. owner: usage is written by
 * the scheduling thread between cycles only.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/owner.h"
#include "engine/base/compiler.h"
#include "engine/base/map.h"
#include "engine/model/resource.h"
#include "engine/model/signature.h"
#include "engine/model/taint.h"

#define BT_NO_NODE UINT32_MAX

struct bt_taint_set {
	const struct bt_taint *items; /* in the order of the node's spec */
	uint32_t n;
};

/* An image that some node has; or a vacant entry. */
struct bt_image {
	uint32_t name;
	uint32_t node_n;    /* number of live nodes with it */
	int64_t size_bytes; /* reported by the first of them */
};

/* A node got an image, lost it, or reports another size of it. */
struct bt_image_change {
	uint32_t name, slot;
};

/* Stamps of changes, which images share. */
#define BT_IMAGE_STAMPS 1024

/* A node's description. */
struct bt_node {
	uint32_t name;
	struct bt_labels labels;
	uint32_t taint_set; /* index in bt_snapshot.taint_sets; 0 is the empty set */
	bool unschedulable;
	bool keeps_resizes_waiting; /* it disables preemption for resizes */
	const uint32_t *images;	    /* names, ascending, each once */
	uint32_t image_n;
	uint32_t features; /* enum bt_feature bits */
};

/* A node's allocatable rare resources: slots from first to last; all zeroes: none. */
struct bt_rare {
	struct bt_amounts amounts;
	uint32_t first, last;
};

/* A node's allocatable amounts of common resources, by slot, and of pods. */
struct bt_node_room {
	int64_t alloc[BT_FIRST_SCALAR];
	int64_t pods;
};

/* All nodes' descriptions. Columns are indexed by node slot; slots without a live node are zero. */
struct bt_snapshot {
	const struct bt_dictionary *dictionary;
	uint64_t version; /* incremented by every change of a description except images, and by
				  bt_snapshot_touch */
	/* Incremented when slots are moved or cut, when slot_room changes, and by bt_snapshot_touch. While it
	 * stays the same, single nodes change, come and go: */
	uint64_t layout_version;
	uint64_t slot_version; /* the same without bt_snapshot_touch */
	/* The slots whose nodes changed, came or went, and the slots that were added, newest last: entry i is
	 * changes[i & changes_mask] for the last changes_mask + 1. A slot may have been taken back since: it
	 * is not below slot_n then. */
	const uint32_t *changes;
	uint64_t changes_mask, changes_end;
	uint64_t live_version; /* incremented when a node comes, goes or moves */
	uint32_t slot_n;       /* slots in use, vacant ones included */
	uint32_t slot_room;    /* data by slot that readers keep has room for as many; at least slot_n, except
				  between a freeze and a thaw */
	uint32_t node_n;       /* live nodes */
	uint32_t unschedulable_n; /* of these: spec.unschedulable */
	const uint64_t *live;
	const struct bt_node *nodes;
	const struct bt_node_room *rooms;
	const int64_t
		*scalars[BT_FIRST_RARE]; /* allocatable, from BT_FIRST_SCALAR on; NULL: no node has any */
	const struct bt_rare *rare;	 /* the same of rare resources; NULL: no node has any */
	const struct bt_taint_set *taint_sets;
	uint32_t taint_set_n;
	uint64_t taint_set_version; /* incremented when a set gets an index */
	const struct bt_image *images;
	uint32_t image_n;
	/* Incremented by every change of an image's nodes or size; image_stamps[name % BT_IMAGE_STAMPS] is
	 * its value after the last change of an image with that hash. */
	uint64_t image_version;
	const uint64_t *image_stamps;
	/* The change that led to version v is image_changes[v & image_changes_mask], for the last
	 * image_changes_mask + 1 versions. */
	const struct bt_image_change *image_changes;
	uint64_t image_changes_mask;
	struct bt_owner owner; /* of the snapshot, counters, volumes and devices */
};

/* The host ports in use on a node, each once. */
struct bt_port_list {
	struct bt_host_port *items;
	uint32_t n, cap;
};

/* A node's usage: a placement changes one cache line, since with very many nodes it is a cache miss. */
struct bt_node_use {
	int64_t used[BT_FIRST_SCALAR]; /* by resource slot */
	int64_t nonzero_milli_cpu, nonzero_memory;
	int64_t pod_n;
	/* Private to the ledger: index plus one of the first pod on it, and of the first nominated to it, or
	 * 0; and the number of pods whose status_ix it is. */
	uint32_t first_on, first_nominated, status_n;
};

static_assert(sizeof(struct bt_node_use) == BT_CACHELINE, "a line of the cache");

struct bt_signature;

/* A single pod, for out-of-tree plugins. */
struct bt_pod_facts {
	const struct bt_signature *signature;
	uint32_t name, uid; /* names */
	int32_t priority;
};

/* Single pods: those on nodes, trials included, and the cycle's pod. */
struct bt_pods_view {
	void *context;
	const uint32_t *cycle_ix; /* the index of the cycle's pod */
	struct bt_pod_facts (*facts)(void *context, uint32_t pod_ix);
	/* Visits the pods on a node. Context: any thread without active trials, else the scheduling thread;
	 * not from inside a visit. */
	void (*each)(void *context, uint32_t node_ix,
		void (*visit)(void *visitor, const struct bt_pod_facts *pod), void *visitor);
};

/* The nodes' usage: scheduled and assumed pods. */
struct bt_usage {
	const struct bt_node_use *nodes;       /* by node slot; NULL: all nodes are empty */
	const int64_t *scalars[BT_FIRST_RARE]; /* used, from BT_FIRST_SCALAR on; NULL: no pod uses it */
	/* Of rare resources: bt_rare_key -> index in rare_used; NULL: no pod uses one. */
	const struct bt_map *rare;
	const int64_t *rare_used;
	const struct bt_port_list *ports;
	const struct bt_pods_view *pods; /* NULL: no plugin of the engine reads single pods */
	/* The nodes whose usage, or the pods nominated to them, changed, newest last: entry i is
	 * journal[i & journal_mask] for the last journal_mask + 1. */
	const uint32_t *journal;
	uint64_t journal_mask, journal_end;
	uint64_t release_n;	       /* number of changes that may have made room on a node */
	uint64_t redescribed_n;	       /* of these: nodes that changed, came or went */
	uint64_t cleared_nomination_n; /* number of ended nominations */
	struct bt_owner owner;	       /* of the ledger, and of columns built from its journal */
	bool is_empty;		       /* not a ledger's usage: for scores of nodes without pods and images */
};

/* Does a slot have a live node? slot_ix may be that of a slot that was taken back. */
static inline bool bt_slot_is_live(const struct bt_snapshot *snapshot, uint32_t slot_ix)
{
	return slot_ix < snapshot->slot_n && bt_bitmap_test(snapshot->live, slot_ix);
}

/* How often a pod, or a nomination, has left a node. */
static inline uint64_t bt_usage_left_n(const struct bt_usage *usage)
{
	return usage->release_n - usage->redescribed_n + usage->cleared_nomination_n;
}

static inline int64_t bt_column_get(const int64_t *column, uint32_t node_ix)
{
	return column ? column[node_ix] : 0;
}

/* The bits (bt_resource_bit) of the resources that have columns. */
#define BT_SCALARS (bt_resource_bit(BT_FIRST_RARE) - bt_resource_bit(BT_FIRST_SCALAR))

/* A number per node: first[i * step] for node i; NULL: 0 for all. */
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

/* A member of the node records. */
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

/* Allocatable and used amounts of a resource. Requires: it is not rare. */
static inline struct bt_cells bt_alloc_cells(const struct bt_snapshot *snapshot, uint32_t slot)
{
	BT_REQUIRE_HOT(slot < BT_FIRST_RARE);
	return slot < BT_FIRST_SCALAR ? bt_node_room_cells(snapshot, slot * sizeof(int64_t))
				      : (struct bt_cells){snapshot->scalars[slot], 1};
}

static inline struct bt_cells bt_used_cells(const struct bt_usage *usage, uint32_t slot)
{
	BT_REQUIRE_HOT(slot < BT_FIRST_RARE);
	return slot < BT_FIRST_SCALAR ? bt_node_use_cells(usage, slot * sizeof(int64_t))
				      : (struct bt_cells){usage->scalars[slot], 1};
}

/* Allocatable and used pod counts. */
static inline struct bt_cells bt_room_cells(const struct bt_snapshot *snapshot)
{
	return bt_node_room_cells(snapshot, offsetof(struct bt_node_room, pods));
}

static inline struct bt_cells bt_pod_cells(const struct bt_usage *usage)
{
	return bt_node_use_cells(usage, offsetof(struct bt_node_use, pod_n));
}

/* Used amounts for scores: requests with defaults for cpu and memory, real sums for other resources.
 * Requires: the resource is not rare. */
static inline struct bt_cells bt_used_for_score(const struct bt_usage *usage, uint32_t slot)
{
	BT_REQUIRE_HOT(slot < BT_FIRST_RARE);
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

/* Allocatable and used amounts of any resource on a node. */
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
