/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: what plugins and scores may read of nodes: the snapshot (what nodes are) and the usage (what is on
 * them), as columns. rcu: a snapshot does not change while it can be read. owner: usage is written by the
 * scheduling thread between cycles only.
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

/* An image name that some node has; or a vacant entry, which no node has. */
struct bt_image {
	uint32_t name;
	uint32_t node_n;    /* live nodes that have it */
	int64_t size_bytes; /* as the first of them reported */
};

/* Stamps of changes, which images share. */
#define BT_IMAGE_STAMPS 1024

/* What a node is. */
struct bt_node {
	uint32_t name;
	struct bt_labels labels;
	uint32_t taint_set; /* index in bt_snapshot.taint_sets; 0 is the empty set */
	bool unschedulable;
	bool keeps_resizes_waiting; /* it forbids preemption for the sake of resizes */
	const uint32_t *images;	    /* names, ascending, each once */
	uint32_t image_n;
	uint32_t features; /* enum bt_feature bits */
};

/* What is allocatable of rare resources on a node: slots from first to last; all zeroes: nothing. */
struct bt_rare {
	struct bt_amounts amounts;
	uint32_t first, last;
};

/* What is allocatable on a node of the resources that most pods request, by slot, and for how many pods. */
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
	struct bt_owner owner; /* of the snapshot, and of counters, volumes and devices beside it */
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
	/* Private to the ledger: the first pod on it, and the first nominated to it, and one, or 0; and pods
	 * whose status_ix it is. */
	uint32_t first_on, first_nominated, status_n;
};

static_assert(sizeof(struct bt_node_use) == BT_CACHELINE, "a line of the cache");

struct bt_signature;

/* A pod by itself, as plugins of others may see it. */
struct bt_pod_facts {
	const struct bt_signature *signature;
	uint32_t name, uid; /* names */
	int32_t priority;
};

/* Pods one by one: those on nodes, trials included, and the one whose cycle it is. */
struct bt_pods_view {
	void *context;
	const uint32_t *cycle_ix; /* the index of the pod whose cycle it is */
	struct bt_pod_facts (*facts)(void *context, uint32_t pod_ix);
	/* Shows the pods on a node. Context: any thread while no trial is on, else the scheduling thread;
	 * not from inside a visit. */
	void (*each)(void *context, uint32_t node_ix,
		void (*visit)(void *visitor, const struct bt_pod_facts *pod), void *visitor);
};

/* What is on the nodes: scheduled and assumed pods together. */
struct bt_usage {
	const struct bt_node_use *nodes;       /* by node slot; NULL: nothing is on any */
	const int64_t *scalars[BT_FIRST_RARE]; /* used, from BT_FIRST_SCALAR on; NULL: no pod uses it */
	/* Of rare resources: bt_rare_key -> index in rare_used; NULL: no pod uses one. */
	const struct bt_map *rare;
	const int64_t *rare_used;
	const struct bt_port_list *ports;
	const struct bt_pods_view *pods; /* NULL: no plugin of the engine sees pods one by one */
	/* The nodes whose usage, or the pods nominated to them, changed, newest last: entry i is
	 * journal[i & journal_mask] for the last journal_mask + 1. */
	const uint32_t *journal;
	uint64_t journal_mask, journal_end;
	uint64_t release_n;	       /* how often something happened that may have made room on a node */
	uint64_t cleared_nomination_n; /* how often a nomination ended */
	struct bt_owner owner;	       /* of the ledger, and of columns that follow its journal */
	bool is_empty; /* it is none of a ledger: scores are to see nodes with neither pods nor images */
};

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
