/* SPDX-License-Identifier: Apache-2.0
 * PodGroups: which of them there are, what they demand, and which pods belong to them. Source: podGroupState
 * and plugins/gangscheduling, v1.36.3.
 *
 * A group is known by its namespace and name, both names of the dictionary. It is here as long as its object
 * is or as pods belong to it (I7). With the gate CompositePodGroup groups may have a parent, a
 * CompositePodGroup, which may have one, too: a tree, whose leaves are PodGroups. Composites have names of
 * their own, and are here as long as their object is or groups name them. Source: workload_forest.go,
 * compositePodGroupState, v1.37.2. Context: the scheduling thread.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/map.h"
#include "engine/base/status.h"
#include "engine/flow/config/gates.h"
#include "engine/model/intern.h"
#include "engine/model/object.h"
#include "plugins/points.h"

/* What preemption asks of a group. */
struct bt_group_terms {
	int32_t priority;
	bool together;	      /* its pods are disrupted together or not at all */
	bool has_constraints; /* its schedulingConstraints are there */
	bool constrained;     /* and there are some of topology */
	bool has_policy;      /* its preemptionPolicy is there */
	bool never_preempts;  /* and is Never */
};

#define BT_NO_POD_GROUP UINT32_MAX

/* Trees that are deeper are not resolved: their pods wait for a root. Upstream allows templates of 4
 * levels. */
#define BT_TREE_LEVELS 64u

struct bt_pod_group {
	uint32_t namespace_, name;
	uint32_t number; /* bt_pod_groups_number */
	uint32_t uid;	 /* of its object; a name, or BT_NAME_NONE */
	bool known;	 /* its object is there */
	bool composite;	 /* its members are groups */
	bool gang; /* what is below needs a minimum of its pods, or groups, to be placed together; else the
		      policy is basic */
	int32_t min_count;
	struct bt_group_terms terms; /* of its object */
	uint32_t topology_key; /* a label key: its pods go to nodes with one value of it; or BT_NAME_NONE */
	uint32_t parent;       /* the number of its composite; or BT_NO_POD_GROUP */
	int64_t creation_ns;   /* of its object */
	uint32_t *members; /* pods, in no order; of a composite the numbers of groups that are known, in the
			      order in which they are decided */
	size_t member_n, member_cap;
};

/* Groups, by their numbers. */
struct bt_leaves {
	uint32_t *items;
	size_t n, cap;
};

/* All of them. All zeroes is an empty table without trees. Private. */
struct bt_pod_groups {
	struct bt_pod_group *groups;
	size_t group_n, group_cap;
	uint32_t *free_ixs;
	size_t free_n, free_cap;
	struct bt_map ixs;	  /* by namespace and name */
	struct bt_map composites; /* the same of composites */
	struct bt_leaves *leaves; /* of the last tree that was asked for; NULL: there are no trees */
	struct bt_intern *intern; /* init: where the names of groups are held; NULL: they are not */
	bool tracked;		  /* init: the members are counted (gate GenericWorkload) */
	bool gangs;		  /* init: pods that come concern gangs */
	bool preempt;		  /* init: groups preempt as a whole, their members do not */
	bool as_victims;	  /* init: single pods, too, preempt groups that go together */
	bool whole;		  /* init: a group waits in the queue as one (BT_RULE_GROUPS_ARE_QUEUED) */
	bool policies;		  /* init: gate PodGroupPreemptionPolicy */
	bool trees;		  /* init: gate CompositePodGroup */
	bool placements;	  /* init: gate TopologyAwareWorkloadScheduling */
	uint64_t version;
};

/* intern: where the names of groups are held, or NULL. */
void bt_pod_groups_init(struct bt_pod_groups *groups, struct bt_intern *intern, const struct bt_gates *gates);
void bt_pod_groups_fini(struct bt_pod_groups *groups);

/* Are pods of groups decided together? And does a pod that comes concern gangs? */
static inline bool bt_pod_groups_tracked(const struct bt_pod_groups *groups)
{
	return groups->tracked;
}

/* Do groups preempt as a whole? Then their members do not. */
static inline bool bt_pod_groups_preempt(const struct bt_pod_groups *groups)
{
	return groups->preempt;
}

static inline bool bt_pod_groups_gangs(const struct bt_pod_groups *groups)
{
	return groups->gangs;
}

/* Do the pods of a group wait in the queue as one? */
static inline bool bt_pod_groups_whole(const struct bt_pod_groups *groups)
{
	return groups->whole;
}

/* Are placements tried for groups? */
static inline bool bt_pod_groups_have_placements(const struct bt_pod_groups *groups)
{
	return groups->placements;
}

/* A group's object, new or changed. Returns whether it was there before. */
bool bt_pod_groups_apply(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool gang, int32_t min_count);

/* The same for a composite's. Requires: bt_pod_groups_have_trees. */
bool bt_pod_groups_apply_composite(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool gang, int32_t min_count);

/* Where a group whose object is new stands: its parent's name ("": it has none) and when it was made, which
 * is the order of those with one parent. Without trees that is ignored. */
void bt_pod_groups_place(
	struct bt_pod_groups *groups, uint32_t number, struct bt_str parent, int64_t creation_ns);

/* What that changes of one that is there: enum bt_object_change bits. */
uint32_t bt_pod_groups_changes(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name,
	const struct bt_pod_group_object *object);

/* What preemption asks of a group whose object is there. */
void bt_pod_groups_set_terms(
	struct bt_pod_groups *groups, uint32_t number, const struct bt_group_terms *terms);

/* The UID of a group whose object is there; a name, or BT_NAME_NONE. */
void bt_pod_groups_set_uid(struct bt_pod_groups *groups, uint32_t number, uint32_t uid);

/* The label key of the topology constraint of a group whose object is there; a name, or BT_NAME_NONE: it has
 * no constraint. */
void bt_pod_groups_set_topology(struct bt_pod_groups *groups, uint32_t number, uint32_t topology_key);

/* Its object has gone; its pods, or groups, may still be there. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_pod_groups_remove(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);
enum bt_status bt_pod_groups_remove_composite(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

/* A pod belongs to a group from now on, or does not any more. A pod that leaves is a member
 * (asserted), and joins once. */
void bt_pod_groups_join(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix);
void bt_pod_groups_leave(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix);

/* A group that has an object or members, or NULL. Valid until the table changes. */
const struct bt_pod_group *bt_pod_groups_find(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

const struct bt_pod_group *bt_pod_groups_find_composite(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

/* ---- trees ---- */

/* The topmost group of the tree that a group is in, itself if it has no parent; NULL: an object between them
 * is not there, or the tree is too deep. group: or NULL. Source: getRootLookupInfoForParentCPG, v1.37.2. */
const struct bt_pod_group *bt_pod_groups_root(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group);

/* The numbers of the PodGroups below a group, itself if it is one, in the order in which they are decided.
 * Valid until this is called again. Source: GetChildGroups, v1.37.2. */
const uint32_t *bt_pod_groups_leaves(const struct bt_pod_groups *groups, uint32_t number, size_t *out_n);

/* The group that has the disruption mode All, and is the highest of those above a PodGroup and itself that
 * has; NULL: none has. out_priority: of the topmost that is there. Source: getHighestAllAncestor,
 * GetPodPriority, v1.37.2. */
const struct bt_pod_group *bt_pod_groups_unit(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group, int32_t *out_priority);

/* The same by what a pod names. Of a pod whose group is not there out_priority is left alone. */
const struct bt_pod_group *bt_pod_groups_unit_of(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, int32_t *out_priority);

/* Are there trees? */
static inline bool bt_pod_groups_have_trees(const struct bt_pod_groups *groups)
{
	return groups->trees;
}

static inline const struct bt_pod_group *bt_pod_groups_at(const struct bt_pod_groups *groups, uint32_t number)
{
	return &groups->groups[number];
}

/* The same for a group that has an object. name: or BT_NAME_NONE. */
static inline const struct bt_pod_group *bt_pod_groups_known(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	const struct bt_pod_group *group =
		name == BT_NAME_NONE ? NULL : bt_pod_groups_find(groups, namespace_, name);

	return group && group->known ? group : NULL;
}

/* The groups that matter for victims of single pods, too: they go together there, and have their groups'
 * priorities; or NULL. */
static inline const struct bt_pod_groups *bt_pod_groups_as_victims(const struct bt_pod_groups *groups)
{
	return groups->as_victims && groups->group_n > groups->free_n ? groups : NULL;
}

/* Why pods of that group do not preempt by themselves, or NULL: they do. */
const char *bt_pod_groups_ineligible(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

/* Do groups have preemption policies of their own? */
static inline bool bt_pod_groups_have_policies(const struct bt_pod_groups *groups)
{
	return groups->policies;
}

/* Grows whenever a group's object comes, changes or goes. */
static inline uint64_t bt_pod_groups_version(const struct bt_pod_groups *groups)
{
	return groups->version;
}

/* A number of its own, as long as the group is here; they are as few as can be. */
static inline uint32_t bt_pod_groups_number(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group)
{
	(void)groups;
	return group->number;
}

/* A group as plugins see it whose members are counted; of a composite these are groups. scheduled_n: how many
 * of them are on nodes. Requires: group. */
struct bt_group_state bt_pod_group_state(const struct bt_pod_group *group, uint64_t scheduled_n);

/* The group as plugins see it, whether it is there or not; scheduled_n is 0. */
struct bt_group_state bt_pod_groups_state(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);
