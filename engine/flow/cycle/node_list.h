/* SPDX-License-Identifier: Apache-2.0
 * The live nodes in the order in which a cycle visits them: ascending slots, or upstream's order from where
 * the last sample ended. Source: findNodesThatPassFilters, v1.36.3.
 * Owns: its arrays (bt_node_list_fini). Writer: node_list.c. Thread: the scheduling thread.
 */
#pragma once

#include "cache/snapshot.h"
#include "engine/base/check.h"
#include "engine/score/evaluate.h"

/* A part of the live nodes: the placement that a PodGroup is tried in. Owned by whoever made it. */
struct bt_node_part {
	const uint32_t *nodes; /* ascending */
	const uint32_t *order; /* in upstream's order, twice */
	uint32_t n;
	uint32_t ix;		 /* among the parts that the nodes are divided into */
	const uint32_t *part_of; /* by node slot: ix of the part that the node is in */
	uint64_t number;	 /* of its own, never 0 */
};

/* All zeroes is an empty one. Private. */
struct bt_node_list {
	uint32_t *live; /* ascending, for live_version of the snapshot; NULL: not listed */
	uint32_t live_n;
	uint64_t live_version;
	/* The live nodes in upstream's order, twice, for order_version of the snapshot, and where the next
	 * sample begins. */
	uint32_t *order;
	uint64_t order_version;
	uint32_t next_start;
	const struct bt_node_part *part; /* the nodes that count; NULL: all */
	uint64_t part_n;		 /* parts that were made so far */
	uint32_t *turned;		 /* room for a few nodes in another order */
	size_t turned_cap;
};

void bt_node_list_fini(struct bt_node_list *list);

/* Nodes have got other slots: what is known of them is given up. */
void bt_node_list_forget(struct bt_node_list *list);

/* Lists what is live in a snapshot that has changed. */
void bt_node_list_again(struct bt_node_list *list, const struct bt_snapshot *snapshot);

/* Brings the list up to the snapshot. */
static inline void bt_node_list_follow(struct bt_node_list *list, const struct bt_snapshot *snapshot)
{
	if (!list->live || list->live_version != snapshot->version) {
		bt_node_list_again(list, snapshot);
	}
}

/* From now on these nodes alone count, as long as the part is there; NULL: all live ones do. Requires: the
 * list has followed the snapshot that the part was made of. */
static inline void bt_node_list_restrict(struct bt_node_list *list, const struct bt_node_part *part)
{
	BT_REQUIRE(!part || (part->n > 0 && part->n <= list->live_n && part->number));
	list->part = part;
}

/* The number of a part that is being made. */
static inline uint64_t bt_node_list_number(struct bt_node_list *list)
{
	return ++list->part_n;
}

/* The part that counts; NULL: all nodes do. */
static inline const struct bt_node_part *bt_node_list_part(const struct bt_node_list *list)
{
	return list->part;
}

/* Does the live node count? */
static inline bool bt_node_list_has(const struct bt_node_list *list, uint32_t node_ix)
{
	return !list->part || list->part->part_of[node_ix] == list->part->ix;
}

/* Where the next sample begins; and it begins there again. */
static inline uint32_t bt_node_list_mark(const struct bt_node_list *list)
{
	return list->next_start;
}

static inline void bt_node_list_rewind(struct bt_node_list *list, uint32_t mark)
{
	list->next_start = mark;
}

/* How many live nodes count, as bt_node_list_follow has found. */
static inline uint32_t bt_node_list_n(const struct bt_node_list *list)
{
	return BT_UNLIKELY(list->part) ? list->part->n : list->live_n;
}

/* Those, ascending. Valid until the list changes. */
static inline const uint32_t *bt_node_list_live(const struct bt_node_list *list)
{
	return BT_UNLIKELY(list->part) ? list->part->nodes : list->live;
}

/* Brings upstream's order up to the snapshot. Call in every cycle that samples, because upstream, too, takes
 * the order of nodes then. Requires: bt_node_list_follow. */
void bt_node_list_follow_order(struct bt_node_list *list, struct bt_snapshot_writer *snapshot);

/* The live nodes that count in that order. Valid until the list changes. */
static inline const uint32_t *bt_node_list_order(const struct bt_node_list *list)
{
	return BT_UNLIKELY(list->part) ? list->part->order : list->order;
}

/*
 * The nodes that PreFilter has left; and also_ix (or BT_NO_NODE), which has refused the pod already, because
 * what it says counts wherever it is. Valid until the next call.
 */
const uint32_t *bt_node_list_candidates(
	struct bt_node_list *list, const struct bt_plan *plan, uint32_t also_ix, uint32_t *out_n);

/*
 * Evaluates nodes from where the last sample ended until limit feasible ones are found. refused_ix: a node
 * that has refused the pod in this cycle already, or BT_NO_NODE. Requires: bt_node_list_follow_order.
 */
void bt_node_list_evaluate_sample(struct bt_node_list *list, const struct bt_plan *plan,
	const struct bt_view *view, uint32_t limit, uint32_t refused_ix, struct bt_evaluation *out);
