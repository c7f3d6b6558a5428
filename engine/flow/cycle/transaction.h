/* SPDX-License-Identifier: Apache-2.0
 * Transactions: trial changes of the cluster, which are then rolled back or carried out. In a transaction,
 * pods are placed, added and evicted, and nodes change; later calls in the transaction see that at once, but
 * the queue, the binder and the source do not. Rolling back restores the cache, the counters that decisions
 * depend on, and the order of every list: the next decision is the one that the engine would have made
 * without the transaction. Committing the outermost transaction rolls it back, and then carries out its net
 * changes as if the source had shown them: pods and nodes are added, changed and deleted, placed pods are
 * assumed and bound, and the queue gets all these events.
 *
 *   begin --place, add, evict, restore, nodes--> (open) --roll_back--> as before begin
 *                                                 |  ^  \--commit----> as if it had happened
 *                                                 +--+ begin: nested; its commit leaves all to the outer one
 *
 * Each change is a record with its inverse, undone newest first: rolling back costs as much as the changes.
 * A pod costs O(1), plus its volumes and claims; a node that changes, comes or goes is evaluated again by the
 * plans in use, each on its next use. Rebuilt are plans that read domain counts or, when a node comes or
 * goes, images that nodes have; and all plans when there is no room for a further slot.
 *
 * The clock does not advance in a transaction. PostFilter runs only in bt_transaction_preempt;
 * Permit and PreEnqueue do not run, and pods of a PodGroup are placed one by one, except by
 * bt_transaction_place_workload and bt_transaction_place_group. A victim's ResourceClaims
 * stay allocated.
 *
 * Context: the scheduling thread, between cycles; while a transaction is open, the engine gets no cycle,
 * event or binder's response (asserted). Explanations are allowed (bt_engine_explain).
 * Owns: struct bt_transactions, by the engine. Writer: transaction.c, transaction_group.c,
 *       transaction_preempt.c.
 */
#pragma once

#include "cache/node_change.h"
#include "engine/base/map.h"
#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/node_list.h"

struct bt_transaction_level;
struct bt_transaction_record;

/* Zero-initialized at first. Private. */
struct bt_transactions {
	struct bt_transaction_record *records; /* in order */
	size_t record_n, record_cap;
	struct bt_transaction_level *levels;
	size_t level_n, level_cap;
	struct bt_map newest; /* kind and pod -> its newest record that adds or evicts it */
	uint64_t copy_n;      /* for names of copies */
	struct bt_node_part part;
	size_t part_cap, part_of_cap;
	uint32_t refused_ix; /* the pod that was refused, with no change since then; or BT_NO_POD */
	struct bt_preemption preemption; /* the last one */
};

/* Is a transaction open? */
static inline bool bt_transactions_are_open(const struct bt_transactions *transactions)
{
	return transactions->level_n > 0;
}

void bt_transactions_fini(struct bt_transactions *transactions);

/* Opens a transaction, nested in the open one if there is one. Requires: no cycle is running. */
void bt_transaction_begin(struct bt_engine *engine);

/* The number of open transactions. */
uint32_t bt_transaction_depth(const struct bt_engine *engine);

/* Undoes everything since the innermost bt_transaction_begin. Requires: a transaction is open. */
void bt_transaction_roll_back(struct bt_engine *engine);

/* Gets the placements that a commit carries out: as bt_scheduling_cycle.ended, after bt_engine_end. */
struct bt_commit_observer {
	void (*decided)(void *context, const struct bt_decision *decision, const struct bt_queue_info *info);
	void *context;
};

/*
 * Ends the innermost transaction and keeps its changes: in the outer one, or, if it is the outermost, in
 * the engine. observer may be NULL. Requires: a transaction is open.
 */
void bt_transaction_commit(struct bt_engine *engine, const struct bt_commit_observer *observer);

/* Restricts bt_transaction_place to these nodes, until the innermost transaction ends; n 0: to all of them.
 * Costs O(nodes). Requires: slots of live nodes; until then no node is added or removed.
 * Returns: false, and nothing has changed, when an outer transaction has restricted it. */
bool bt_transaction_restrict(struct bt_engine *engine, const uint32_t *node_ixs, uint32_t n);

/* Is bt_transaction_place restricted? */
bool bt_transaction_restricts(const struct bt_engine *engine);

/*
 * Finds a node for a pod without one, as its next cycle would, and assumes it there.
 * Returns: BT_PLACED with the node; BT_REFUSED, BT_FAILED or BT_SKIPPED (it is being deleted), where only
 *          the number of cycles has changed. bt_engine_explain has the reasons.
 * Requires: the pod is in the ledger, on no node, and of a profile.
 */
enum bt_outcome bt_transaction_place(struct bt_engine *engine, uint32_t pod_ix, uint32_t *out_node_ix);

/* What bt_transaction_preempt has done. Valid until it is called again. */
struct bt_transaction_preemption {
	const struct bt_victim *victims; /* evicted, the most important first */
	uint32_t victim_n;		 /* 0: preemption does not help */
	uint32_t violation_n;		 /* of them, whose eviction violates a disruption budget */
	uint32_t nominated_ix;		 /* victim_n > 0: the pod's node without them */
};

/*
 * Preempts for a pod that fits nowhere, as PostFilter of its cycle would: evicts the victims, clears the
 * nominations of less important pods to their node (which a commit does not carry out), and places the pod as
 * its next cycle would once the victims are gone. DynamicResources' PostFilter releases no claims here.
 * Returns: BT_PLACED with the node; BT_REFUSED or BT_FAILED: the pod has no node, but victims may have left.
 * Requires: bt_transaction_place has just returned BT_REFUSED for the pod.
 */
enum bt_outcome bt_transaction_preempt(struct bt_engine *engine, uint32_t pod_ix, uint32_t *out_node_ix,
	struct bt_transaction_preemption *out_preemption);

/* Whether pods can be placed as one workload (bt_transaction_place_workload). */
enum bt_workload_kind {
	BT_WORKLOAD_PODS = 0,	/* pods without a PodGroup, or whose PodGroups do not count */
	BT_WORKLOAD_GROUP,	/* pods of one PodGroup, or of one tree of groups */
	BT_WORKLOAD_MIXED,	/* neither, or not of one profile */
	BT_WORKLOAD_UNKNOWN,	/* the PodGroup, or one above it, has no object */
	BT_WORKLOAD_UNSUPPORTED /* the PodGroup does not wait as a unit (before 1.37) */
};

/* Requires: n > 0; pods of the ledger, of profiles. */
enum bt_workload_kind bt_transaction_workload_kind(
	const struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n);

/*
 * Places pods together, in this order: pods of a PodGroup as its cycle does (in the best of its placements,
 * if it has topology constraints; of a gang at least minCount, with those that are on nodes), others all or
 * none. If that fails, only the number of cycles has changed.
 * Returns: BT_PLACED; BT_REFUSED or BT_FAILED. out_node_ixs, with room for n: the pods' nodes; BT_NO_NODE: it
 *          is not placed. out_text, which may be NULL, gets upstream's message of the PodGroup that does not
 *          fit, or of the first pod that does not.
 * Requires: a transaction is open; bt_transaction_workload_kind returns BT_WORKLOAD_PODS or
 *           BT_WORKLOAD_GROUP; the pods are different, and as for bt_transaction_place.
 */
enum bt_outcome bt_transaction_place_workload(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_node_ixs, struct bt_buf *out_text);

/*
 * Adds a pod that waits for a node, or is on one that is live. Not in the queue.
 * Returns: BT_OK or, with resources missing, BT_FULL as bt_engine_add_pod; BT_EXISTS when the namespace has a
 *          pod of that name; BT_NOT_FOUND when its node is not live or its scheduler none of the profiles, or
 *          it has ended. out_pod_ix is BT_NO_POD unless it was added.
 */
enum bt_status bt_transaction_add_pod(
	struct bt_engine *engine, const struct bt_pod_object *object, uint32_t *out_pod_ix);

/* Adds a copy of a known pod that has no node, is new, and has the next free name of the form NAME-N.
 * Returns: its index. Requires: pod_ix is in the ledger. */
uint32_t bt_transaction_add_copy(struct bt_engine *engine, uint32_t pod_ix);

/*
 * Adds a PodGroup or CompositePodGroup. Not committed by the outermost transaction (asserted).
 * Returns: BT_OK; BT_EXISTS. Requires: groups are tracked (bt_pod_groups_tracked), for a composite trees.
 */
enum bt_status bt_transaction_add_group(struct bt_engine *engine, const struct bt_object *object);

/*
 * Places pods of a PodGroup, or of a tree of groups, together, as the cycle of the group would decide them in
 * that order: all that it needs, or none; in placements if there are any.
 * Returns: BT_PLACED, where pods that the group does not need may have no node; BT_REFUSED or BT_FAILED, with
 *          the reason in out_text.
 * Requires: as bt_engine_try_group.
 */
enum bt_outcome bt_transaction_place_group(
	struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n, struct bt_buf *out_text);

/* Takes a pod off its node, as if it was deleted; it keeps its index. Requires: it is on a node, and is not
 * evicted. */
void bt_transaction_evict(struct bt_engine *engine, uint32_t pod_ix);

/* Puts an evicted pod back on its node, whether it still fits or not. Requires: it was evicted in an open
 * transaction. */
void bt_transaction_restore(struct bt_engine *engine, uint32_t pod_ix);

/* Has an open transaction evicted the pod? */
bool bt_transaction_has_evicted(const struct bt_engine *engine, uint32_t pod_ix);

/* Adds or changes a node. Returns: as bt_engine_apply_node. Requires: a node is added or removed only while
 * placements are not restricted. */
enum bt_status bt_transaction_apply_node(
	struct bt_engine *engine, const struct bt_node_object *object, uint32_t *out_node_ix);

/* Cordons a live node (spec.unschedulable), or uncordons it. Costs as much as a changed label. */
void bt_transaction_close_node(struct bt_engine *engine, uint32_t node_ix, bool closed);

/* Removes a live node; its pods stay on its slot, and may be evicted. */
void bt_transaction_remove_node(struct bt_engine *engine, uint32_t node_ix);
