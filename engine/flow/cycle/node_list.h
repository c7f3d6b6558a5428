/* SPDX-License-Identifier: Apache-2.0
 * The live nodes in the order in which a cycle visits them: ascending slots, or upstream's order from where
 * the last sample ended. Source: findNodesThatPassFilters, v1.36.3.
 * Owns: its arrays (bt_node_list_fini). Writer: node_list.c. Thread: the scheduling thread.
 */
#pragma once

#include "cache/snapshot.h"
#include "engine/base/check.h"
#include "engine/score/evaluate.h"

/* A part of the live nodes: a placement in which a PodGroup is tried. Its creator owns it. */
struct bt_node_part {
	const uint32_t *nodes; /* ascending */
	const uint32_t *order; /* in upstream's order, twice */
	uint32_t n;
	uint32_t ix;		 /* index among the parts that the nodes are divided into */
	const uint32_t *part_of; /* by node slot: ix of the node's part */
	uint64_t number;	 /* unique, never 0 */
};

/* Zero-initialized, it is empty. Private. */
struct bt_node_list {
	const struct bt_snapshot *snapshot; /* the one that was followed */
	uint32_t live_n;
	uint32_t *live; /* ascending, for live_version of the snapshot; NULL: not listed */
	uint64_t live_version;
	/* The live nodes in upstream's order, twice, for order_version of the snapshot. */
	uint32_t *order;
	uint64_t order_version;
	uint32_t next_start, last_start; /* where the next sample starts, and the last one did */
	const struct bt_node_part *part; /* restricts the list; NULL: all nodes */
	uint64_t part_n;		 /* parts created so far */
	uint32_t *rotated;		 /* scratch for a few nodes in another order */
	size_t rotated_cap;
};

void bt_node_list_fini(struct bt_node_list *list);

/* Clears the list after nodes have moved to other slots. */
void bt_node_list_forget(struct bt_node_list *list);

/* Lists the live nodes again. */
void bt_node_list_rebuild(struct bt_node_list *list);

/* Updates the list for the snapshot: their number at once, the nodes on demand. */
static inline void bt_node_list_follow(struct bt_node_list *list, const struct bt_snapshot *snapshot)
{
	list->snapshot = snapshot;
	list->live_n = snapshot->node_n;
}

/* Restricts the list to a part, which must outlive the restriction; NULL: all live nodes. Requires: the list
 * has followed the snapshot of the part. */
static inline void bt_node_list_restrict(struct bt_node_list *list, const struct bt_node_part *part)
{
	BT_REQUIRE(!part || (part->n > 0 && part->n <= list->live_n && part->number));
	list->part = part;
}

/* The number for a new part. */
static inline uint64_t bt_node_list_number(struct bt_node_list *list)
{
	return ++list->part_n;
}

/* The part that restricts the list; NULL: none. */
static inline const struct bt_node_part *bt_node_list_part(const struct bt_node_list *list)
{
	return list->part;
}

/* Is the live node in the list? */
static inline bool bt_node_list_has(const struct bt_node_list *list, uint32_t node_ix)
{
	return !list->part || list->part->part_of[node_ix] == list->part->ix;
}

/* Save and restore the start of the next sample. */
static inline uint32_t bt_node_list_mark(const struct bt_node_list *list)
{
	return list->next_start;
}

static inline void bt_node_list_rewind(struct bt_node_list *list, uint32_t mark)
{
	list->next_start = mark;
}

/* The number of nodes in the list, as of bt_node_list_follow. */
static inline uint32_t bt_node_list_n(const struct bt_node_list *list)
{
	return BT_UNLIKELY(list->part) ? list->part->n : list->live_n;
}

/* These nodes, ascending. Valid until the list changes. Requires: the snapshot has not changed since
 * bt_node_list_follow. */
static inline const uint32_t *bt_node_list_live(struct bt_node_list *list)
{
	if (BT_UNLIKELY(list->part)) {
		return list->part->nodes;
	}
	BT_REQUIRE_HOT(list->live_n == list->snapshot->node_n);
	if (!list->live || list->live_version != list->snapshot->live_version) {
		bt_node_list_rebuild(list);
	}
	return list->live;
}

/* Updates upstream's order for the snapshot. Call in every cycle that samples, because upstream, too, takes
 * the order of nodes then. Requires: bt_node_list_follow. */
void bt_node_list_follow_order(struct bt_node_list *list, struct bt_snapshot_writer *snapshot);

/* Forgets that order: the snapshot's has been forgotten. */
static inline void bt_node_list_forget_order(struct bt_node_list *list)
{
	list->order_version = UINT64_MAX;
}

/* The nodes of the list in that order. Valid until the list changes. */
static inline const uint32_t *bt_node_list_order(const struct bt_node_list *list)
{
	return BT_UNLIKELY(list->part) ? list->part->order : list->order;
}

/*
 * The nodes that PreFilter has left; and also_ix (or BT_NO_NODE), which has refused the pod already and whose
 * reason counts even outside them. Valid until the next call.
 */
const uint32_t *bt_node_list_candidates(
	struct bt_node_list *list, const struct bt_plan *plan, uint32_t also_ix, uint32_t *out_n);

/*
 * Evaluates nodes from where the last sample ended until limit feasible ones are found. refused_ix: a node
 * that has refused the pod in this cycle already, or BT_NO_NODE. Requires: bt_node_list_follow_order.
 */
void bt_node_list_evaluate_sample(struct bt_node_list *list, const struct bt_plan *plan,
	const struct bt_view *view, uint32_t limit, uint32_t refused_ix, struct bt_evaluation *out);

/*
 * Evaluates all nodes, or those that PreFilter has left and also_ix (or BT_NO_NODE), in upstream's order;
 * the next sample starts where it would have. decided: from the start of the last sample instead of the
 * next one's. Requires: bt_node_list_follow_order.
 */
void bt_node_list_evaluate_in_order(struct bt_node_list *list, const struct bt_plan *plan,
	const struct bt_view *view, bool decided, uint32_t also_ix, struct bt_evaluation *out);
