/* SPDX-License-Identifier: Apache-2.0
 * The attempt to schedule a PodGroup that waits as a unit, or a tree of them (gate CompositePodGroup): its
 * PodGroups are decided one by one, as long as those scheduled can still satisfy the composites above them.
 * Source: schedule_one_podgroup.go, v1.37.2. Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/group_cycle.h"
#include "queue/queue.h"

/* A running attempt, of a PodGroup or of a whole tree: its members are members[from .. to) of the cycle. */
struct bt_group_attempt {
	struct bt_engine *engine;
	struct bt_group_cycle *cycle;
	const struct bt_group_watch *watch; /* or NULL */
	const struct bt_profile_runtime *runtime;
	const struct bt_pod_group *group;
	uint32_t number;
	uint32_t from, to;
	struct bt_buf *text; /* the group's message */
	struct bt_placements *placements;
	uint64_t scheduled_n,
		remaining_n; /* members on nodes, including those of this cycle; members still to be tried */
	uint32_t culprit;
	bool any_scheduled;
	bool trial;	    /* it will be reverted */
	bool in_trial;	    /* so will the attempt that contains it */
	bool enough;	    /* PlacementFeasible accepts, even if no pod has a node */
	bool unschedulable; /* the message only says that the group is unschedulable */
	bool waits;	    /* for its own preemption */
	bool cannot;	    /* a step for the group as a whole has failed */
	enum bt_queue_attempt result;
};

/* A group of a tree, after its parent, and its result. */
struct bt_group_node {
	uint32_t number; /* bt_pod_groups_number */
	uint32_t end;	 /* index after the last node below it */
	uint32_t from, to;
	bool composite;
	bool there;	    /* it was tried and has a result */
	bool lost;	    /* its members' results do not count: a group above it is not scheduled */
	bool unschedulable; /* as in struct bt_group_attempt */
	bool any_scheduled;
	enum bt_queue_attempt result;
	uint32_t result_ix; /* the node with its final result and message */
	struct bt_buf text;
	size_t plain_len; /* of the text, before PodGroupPostFilter */
	struct bt_placements placements;
};

/* ---- PodGroups (group_attempt.c) ---- */

/* Decides the members of a PodGroup, in placements if there are any; they stay assumed if that succeeds. */
void bt_group_attempt_decide(struct bt_group_attempt *a);

/* Resets the attempt: no member is tried yet. */
void bt_group_attempt_begin_again(struct bt_group_attempt *a, bool trial);

/* Reverts all members in reverse order, and restores the nominations of their statuses. */
void bt_group_attempt_take_back(struct bt_group_attempt *a);

/* Decides the members while the potential victims are off their nodes, and records the members' nodes. With
 * stay they remain held if all fit; otherwise they are released. */
enum bt_group_fit bt_group_attempt_place(
	struct bt_group_attempt *a, struct bt_group_preemption *out, bool stay);

/* Releases the held members from an index on, in reverse order. */
void bt_group_attempt_release(
	const struct bt_group_attempt *a, const struct bt_group_preemption *out, size_t from);

/* PlacementFeasible of a group in that state. */
enum bt_feasible bt_group_attempt_feasible(const struct bt_group_attempt *a,
	const struct bt_group_state *group, uint64_t remaining_n, struct bt_buf *text);

void bt_group_attempt_add_pods(struct bt_group_attempt *a, const struct bt_pod_group *leaf);

/* How many pods of a PodGroup are on nodes, including assumed ones. */
uint64_t bt_group_attempt_scheduled_in(const struct bt_group_attempt *a, const struct bt_pod_group *leaf);

/* Turn a reason into a group's message: that it is unschedulable; that it fits in no placement. */
void bt_group_write_unschedulable(struct bt_buf *text);
void bt_group_write_no_placement(
	const struct bt_placements *placements, bool unschedulable, struct bt_buf *text);

/* ---- trees (group_tree.c) ---- */

/* Prefix of a composite's message for the error of a group below it. */
#define BT_GROUP_CHILD_ERROR "composite pod group evaluation failed due to child error: "

/* Sorts the members by their leaves, and lists the groups of the tree. */
void bt_group_tree_begin(struct bt_group_attempt *a);

/* Decides the tree. */
void bt_group_tree_decide(struct bt_group_attempt *a);

/* bt_group_preempt_request.fits of a tree, or of a PodGroup, which is a tree of one. With stay the members
 * that have nodes remain held if it fits. */
enum bt_group_fit bt_group_tree_place(
	const struct bt_group_attempt *a, struct bt_group_preemption *out, bool stay);

/* Appends PodGroupPostFilter's part of the cycle's text, from an offset on, to the messages of all groups. */
void bt_group_tree_append(struct bt_group_attempt *a, size_t from);

/* The node whose result a member's leaf has. Requires: there is a tree. */
static inline const struct bt_group_node *bt_group_tree_result(
	const struct bt_group_cycle *cycle, const struct bt_group_member *member)
{
	return &cycle->nodes[cycle->nodes[member->leaf].result_ix];
}
