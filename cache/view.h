/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: what plugins and scores may read: the snapshot (what nodes are) and the usage (what is on them), as columns.
 * rcu: a snapshot does not change while it can be read. owner: usage is written by the scheduling thread between cycles only.
 */
#pragma once

#include "engine/base/bitmap.h"
#include "engine/model/resource.h"
#include "engine/model/signature.h"
#include "engine/model/taint.h"

#define BT_NO_NODE UINT32_MAX

struct bt_taint_set {
	const struct bt_taint *items; /* in the order of the node's spec */
	uint32_t n;
};

/* An image name that some node has. */
struct bt_image {
	uint32_t name;
	uint32_t node_n;   /* live nodes that have it */
	int64_t size_bytes; /* as the first of them reported */
};

/* What a node is. */
struct bt_node {
	uint32_t name;
	struct bt_labels labels;
	uint32_t taint_set; /* index in bt_snapshot.taint_sets; 0 is the empty set */
	bool unschedulable;
	const uint32_t *images; /* indices in bt_snapshot.images, ascending, each once */
	uint32_t image_n;
};

/* What all nodes are. Columns are indexed by node slot; a slot without a live node reads as zero. */
struct bt_snapshot {
	const struct bt_dictionary *dictionary;
	uint64_t version; /* grows with every change of a description */
	uint32_t slot_n;  /* slots in use, vacant ones included */
	uint32_t node_n;  /* live nodes */
	const uint64_t *live;
	const struct bt_node *nodes;
	const int64_t *alloc[BT_RESOURCE_MAX]; /* allocatable by resource slot; NULL: no node has any */
	const int64_t *alloc_pods;
	const struct bt_taint_set *taint_sets;
	uint32_t taint_set_n;
	const struct bt_image *images;
	uint32_t image_n;
};

/* The host ports that are taken on a node, each as often as it is taken. */
struct bt_port_list {
	struct bt_host_port *items;
	uint32_t n, cap;
};

/* What is on the nodes: scheduled and assumed pods together. */
struct bt_usage {
	const int64_t *used[BT_RESOURCE_MAX]; /* by resource slot; NULL: nobody uses any */
	const int64_t *nonzero_milli_cpu, *nonzero_memory;
	const int64_t *pod_n;
	const struct bt_port_list *ports;
	/* The nodes whose usage changed, newest last: entry i is journal[i & journal_mask] for the last journal_mask + 1. */
	const uint32_t *journal;
	uint64_t journal_mask, journal_end;
	uint64_t release_n; /* how often something was taken off a node */
};

struct bt_view {
	const struct bt_snapshot *snapshot;
	const struct bt_usage *usage;
};

static inline int64_t bt_column_get(const int64_t *column, uint32_t node_ix)
{
	return column ? column[node_ix] : 0;
}

/* Do two host ports exclude each other? Source: framework.HostPortInfo, v1.36.3. */
static inline bool bt_ports_conflict(const struct bt_host_port *a, const struct bt_host_port *b)
{
	return a->port == b->port && a->protocol == b->protocol &&
		(a->ip == b->ip || a->ip == BT_NAME_ANY_IP || b->ip == BT_NAME_ANY_IP);
}
