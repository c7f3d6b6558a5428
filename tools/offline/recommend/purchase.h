/* SPDX-License-Identifier: Apache-2.0
 * Which nodes to buy so that pending pods fit, at the lowest price that is found.
 *
 *   greedy: the node that takes the most of what is left for its price --> replay
 *      ^------------------ pods are left -------------------------------------+
 *   then fewer or cheaper nodes, as long as a replay places as many pods
 *
 * A replay adds all nodes to the cluster as it is, and places the pods in the queue's order, as
 * kube-scheduler would: only what a replay has placed is recommended. Context: the scheduling thread, between
 * cycles.
 */
#pragma once

#include "engine/base/rng.h"
#include "tools/cli/progress.h"
#include "tools/offline/recommend/node_types.h"
#include "tools/offline/whatif/importance.h"

/* A pod without a place. */
struct bt_wanting_pod {
	struct bt_importance order; /* ix: the pod's. The first member: pods are sorted by it. */
	uint32_t class_ix;	    /* pods of one class have the same signature */
	uint32_t node_ix;	    /* private: in the present replay, or BT_NO_NODE */
	struct bt_str node;	    /* in the last replay; empty: it fits nowhere. In the purchase's arena. */
};

struct bt_pod_class {
	const struct bt_signature *signature;
	double value;	/* of one pod: what its requests cost at the lowest unit prices */
	uint64_t *fits; /* bitmap: the types on an empty node of which a pod fits */
	bool only_new;	/* whatever is bought, it fits on no node that is there already */
};

/* Zero-initialized except for the first five fields. Owns: bt_purchase_fini. */
struct bt_purchase {
	struct bt_engine *engine;
	const struct bt_node_types *types;
	struct bt_progress *progress;
	uint64_t trial_max; /* replays for finding a lower price */
	struct bt_rng rng;
	/* The result. */
	struct bt_wanting_pod *pods; /* in the queue's order */
	size_t pod_n;
	uint64_t gated_n, grouped_n; /* pods that are left out: they are gated, or of a PodGroup */
	uint32_t *counts;	     /* nodes to buy, by type */
	double price;
	uint64_t placed_n; /* of pods, in a replay with these nodes */
	double bound;	   /* no nodes at a lower price hold the requests of the pods that were placed */
	uint64_t trial_n;
	/* private: */
	struct bt_pod_class *classes;
	size_t class_n, class_cap, pod_cap;
	uint32_t *class_order;		/* by value, the highest first */
	uint32_t *tried, *best;		/* counts */
	uint32_t *left;			/* places in pods */
	double *ratios;			/* by type: worth for the price, at most */
	bool *fresh;			/* by type: that was found in this step */
	size_t *first_left, *next_left; /* chains in left: by class, and by place */
	uint32_t next_number;		/* for names of nodes */
	uint64_t trial_end;
	struct bt_arena arena;
};

/* Finds the nodes to buy. Returns: BT_EXIT_OK; BT_EXIT_INTERRUPTED. */
int bt_purchase_find(struct bt_purchase *purchase);

void bt_purchase_fini(struct bt_purchase *purchase);
