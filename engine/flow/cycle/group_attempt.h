/* SPDX-License-Identifier: Apache-2.0
 * The attempt to schedule a PodGroup that waits as one, and of a tree of them (gate CompositePodGroup): its
 * PodGroups are decided one after the other, as long as what has been scheduled may do for the composites
 * above them. Source: schedule_one_podgroup.go, v1.37.2. Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/group_cycle.h"
#include "queue/queue.h"

/* An attempt under way, of a PodGroup or of a whole tree: its members are members[from .. to) of the
 * cycle. */
struct bt_group_attempt {
	struct bt_engine *engine;
	struct bt_group_cycle *cycle;
	const struct bt_group_watch *watch; /* or NULL */
	const struct bt_profile_runtime *runtime;
	const struct bt_pod_group *group;
	uint32_t number;
	uint32_t from, to;
	struct bt_buf *text; /* what is said of the group */
	struct bt_placements *placements;
	uint64_t scheduled_n, remaining_n; /* members on nodes, with those of this cycle; and to be tried */
	uint32_t culprit;
	bool any_scheduled;
	bool trial;	    /* nothing of it is to stay */
	bool rehearsal;	    /* nor of what it is a part of */
	bool enough;	    /* PlacementFeasible accepts, even where no pod has a node */
	bool unschedulable; /* the text says no more of its end than that the group is unschedulable */
	bool waits;	    /* for a preemption of its own */
	bool cannot;	    /* what is done for the group as a whole has failed */
	enum bt_queue_attempt result;
};

/* A group of a tree, behind its parent, and what has come of it. */
struct bt_group_node {
	uint32_t number; /* bt_pod_groups_number */
	uint32_t end;	 /* behind the last node below it */
	uint32_t from, to;
	bool composite;
	bool there;	    /* something has come of it; else it was not tried */
	bool lost;	    /* what came of its members does not count: a group above it is not scheduled */
	bool unschedulable; /* as in struct bt_group_attempt */
	bool any_scheduled;
	enum bt_queue_attempt result;
	uint32_t says; /* the node whose result and text it has in the end */
	struct bt_buf text;
	size_t plain_len; /* of the text, before PodGroupPostFilter */
	struct bt_placements placements;
};

/* ---- PodGroups (group_attempt.c) ---- */

/* Decides the members of a PodGroup in its placements, if there are any; they stay on their nodes if that
 * does. */
void bt_group_attempt_decide(struct bt_group_attempt *a);

/* Nobody has been tried yet. */
void bt_group_attempt_begin_again(struct bt_group_attempt *a, bool trial);

/* All are taken back, the last one first; the nominations that their statuses tell are there again. */
void bt_group_attempt_take_back(struct bt_group_attempt *a);

/* Decides the members while the pods that may be victims are lifted, and adds where they would be. They stay
 * there if that does and stay; else they are released. */
enum bt_group_fit bt_group_attempt_place(
	struct bt_group_attempt *a, struct bt_group_preemption *out, bool stay);

/* Those that stayed from a place on are released, the last one first. */
void bt_group_attempt_release(
	const struct bt_group_attempt *a, const struct bt_group_preemption *out, size_t from);

/* PlacementFeasible of a group in that state. */
enum bt_feasible bt_group_attempt_feasible(const struct bt_group_attempt *a,
	const struct bt_group_state *group, uint64_t remaining_n, struct bt_buf *text);

void bt_group_attempt_add_pods(struct bt_group_attempt *a, const struct bt_pod_group *leaf);

/* How many pods of a PodGroup are on nodes, assumed ones too. */
uint64_t bt_group_attempt_scheduled_in(const struct bt_group_attempt *a, const struct bt_pod_group *leaf);

/* What is lacking becomes what is said of a group; the same of one that fits in no placement. */
void bt_group_say_unschedulable(struct bt_buf *text);
void bt_group_say_no_placement(
	const struct bt_placements *placements, bool unschedulable, struct bt_buf *text);

/* ---- trees (group_tree.c) ---- */

/* What is said of a composite before what is said of a group below it that has failed. */
#define BT_GROUP_CHILD_ERROR "composite pod group evaluation failed due to child error: "

/* Sorts the members by their leaves, and lists the groups of the tree. */
void bt_group_tree_begin(struct bt_group_attempt *a);

/* Decides the tree. */
void bt_group_tree_decide(struct bt_group_attempt *a);

/* bt_group_preempt_request.fits of a tree. */
enum bt_group_fit bt_group_tree_place(const struct bt_group_attempt *a, struct bt_group_preemption *out);

/* What PodGroupPostFilter has appended to the cycle's text from a place on is said of all groups. */
void bt_group_tree_append(struct bt_group_attempt *a, size_t from);

/* The node whose result a member's leaf has. Requires: there is a tree. */
static inline const struct bt_group_node *bt_group_tree_result(
	const struct bt_group_cycle *cycle, const struct bt_group_member *member)
{
	return &cycle->nodes[cycle->nodes[member->leaf].says];
}
