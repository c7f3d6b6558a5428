/* SPDX-License-Identifier: Apache-2.0
 * PodGroups: the known groups, their requirements, and their pods. Source: podGroupState and
 * plugins/gangscheduling, v1.36.3.
 *
 * A group is identified by its namespace and name, both names of the dictionary. It exists while its object
 * or any of its pods does (I7). With the gate CompositePodGroup groups may have a parent, a
 * CompositePodGroup, which may have one, too: a tree, whose leaves are PodGroups. Composites have a separate
 * name space, and exist while their object does or groups name them. Source: workload_forest.go,
 * compositePodGroupState, v1.37.2. Context: the scheduling thread.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/map.h"
#include "engine/base/status.h"
#include "engine/flow/config/gates.h"
#include "engine/flow/cycle/pod_workloads.h"
#include "engine/model/intern.h"
#include "engine/model/object.h"
#include "plugins/points.h"

/* A group's fields that preemption depends on. */
struct bt_group_terms {
	int32_t priority;
	bool together;	      /* its pods are disrupted as a unit */
	bool has_constraints; /* it has schedulingConstraints */
	bool constrained;     /* and one of them is a topology constraint */
	bool has_policy;      /* it has a preemptionPolicy */
	bool never_preempts;  /* and is Never */
};

#define BT_NO_POD_GROUP UINT32_MAX

/* Deeper trees are not resolved: their pods wait for a root. Upstream allows templates of 4 levels. */
#define BT_TREE_LEVELS 64u

struct bt_pod_group {
	uint32_t namespace_, name;
	uint32_t number; /* bt_pod_groups_number */
	uint32_t uid;	 /* of its object; a name, or BT_NAME_NONE */
	bool known;	 /* its object exists */
	bool composite;	 /* its members are groups */
	bool gang; /* what is below needs a minimum of its pods, or groups, to be placed together; else the
		      policy is basic */
	int32_t min_count;
	uint32_t workload, workload_group; /* of a Workload's: names, held; else BT_NAME_NONE */
	int64_t deadline_ns;		   /* until when its pods wait at Permit; 0: none has waited */
	struct bt_group_terms terms;	   /* of its object */
	uint32_t topology_key; /* a label key: its pods need nodes with one value of it; or BT_NAME_NONE */
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

/* All groups. Zero-initialized, it is empty and has no trees. Private. */
struct bt_pod_groups {
	struct bt_pod_group *groups;
	size_t group_n, group_cap;
	uint32_t *free_ixs;
	size_t free_n, free_cap;
	struct bt_pod_workloads workloads; /* where pods name Workloads */
	bool alone;			   /* init: pods name Workloads, and are decided one by one */
	struct bt_map ixs;		   /* by namespace and name */
	struct bt_map composites;	   /* the same of composites */
	struct bt_leaves *leaves;	   /* result of the last bt_pod_groups_leaves; NULL: no trees */
	struct bt_intern *intern;	   /* init: holder of the groups' names; NULL: not held */
	bool tracked;			   /* init: the members are counted (gate GenericWorkload) */
	bool gangs;			   /* init: new pods are events for gangs */
	bool preempt;			   /* init: groups preempt as a whole, not their members */
	bool as_victims;		   /* init: single pods, too, preempt groups as units */
	bool whole;	 /* init: a group waits in the queue as a unit (BT_RULE_GROUPS_ARE_QUEUED) */
	bool policies;	 /* init: gate PodGroupPreemptionPolicy */
	bool trees;	 /* init: gate CompositePodGroup */
	bool placements; /* init: gate TopologyAwareWorkloadScheduling */
	uint64_t version;
};

/* intern: holder of the groups' names, or NULL. */
void bt_pod_groups_init(struct bt_pod_groups *groups, struct bt_intern *intern, const struct bt_gates *gates);
void bt_pod_groups_fini(struct bt_pod_groups *groups);

/* Are pods of groups decided together? And is a new pod an event for gangs? */
static inline bool bt_pod_groups_tracked(const struct bt_pod_groups *groups)
{
	return groups->tracked;
}

/* Are they decided one by one, and wait at Permit for each other? */
static inline bool bt_pod_groups_alone(const struct bt_pod_groups *groups)
{
	return groups->alone;
}

/* Applies a Workload's object, new or changed; removes it. As bt_pod_workloads_apply, _remove. */
bool bt_pod_groups_apply_workload(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name,
	const struct bt_pod_workload_object *object);
enum bt_status bt_pod_groups_remove_workload(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

/* How long a pod of a group may wait at Permit from now on: all pods of a group wait until the same time.
 * Requires: the group has members. Source: SchedulingTimeout, backend/workloadmanager, v1.35.4. */
int64_t bt_pod_groups_timeout_ns(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, int64_t now_ns);

/* Do groups preempt as a whole, instead of their members? */
static inline bool bt_pod_groups_preempt(const struct bt_pod_groups *groups)
{
	return groups->preempt;
}

static inline bool bt_pod_groups_gangs(const struct bt_pod_groups *groups)
{
	return groups->gangs;
}

/* Do the pods of a group wait in the queue as a unit? */
static inline bool bt_pod_groups_whole(const struct bt_pod_groups *groups)
{
	return groups->whole;
}

/* Do groups have placements? */
static inline bool bt_pod_groups_have_placements(const struct bt_pod_groups *groups)
{
	return groups->placements;
}

/* Applies a group's object. Returns: whether it existed before. */
bool bt_pod_groups_apply(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool gang, int32_t min_count);

/* The same for a composite's. Requires: bt_pod_groups_have_trees. */
bool bt_pod_groups_apply_composite(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool gang, int32_t min_count);

/* Applies the object of a PodGroup or a composite: its policy, terms, UID, topology key and, if it is new,
 * its place in its tree. Returns: whether it existed before. Requires: for a composite,
 * bt_pod_groups_have_trees. */
bool bt_pod_groups_apply_object(struct bt_pod_groups *groups, bool composite, uint32_t namespace_,
	uint32_t name, const struct bt_pod_group_object *object);

/* Places a new group in its tree: its parent's name ("": none) and its creation time, by which siblings are
 * ordered. Ignored without trees. */
void bt_pod_groups_place(
	struct bt_pod_groups *groups, uint32_t number, struct bt_str parent, int64_t creation_ns);

/* The changes by an update of a group: enum bt_object_change bits. */
uint32_t bt_pod_groups_changes(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name,
	const struct bt_pod_group_object *object);

/* Sets the preemption terms of a group with an object. */
void bt_pod_groups_set_terms(
	struct bt_pod_groups *groups, uint32_t number, const struct bt_group_terms *terms);

/* Sets the UID of a group with an object; a name, or BT_NAME_NONE. */
void bt_pod_groups_set_uid(struct bt_pod_groups *groups, uint32_t number, uint32_t uid);

/* Sets the label key of the topology constraint of a group with an object; a name, or BT_NAME_NONE: none. */
void bt_pod_groups_set_topology(struct bt_pod_groups *groups, uint32_t number, uint32_t topology_key);

/* Removes a group's object; its pods, or groups, may still exist. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_pod_groups_remove(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);
enum bt_status bt_pod_groups_remove_composite(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

/* A pod joins or leaves a group. A pod that leaves is a member (asserted), and joins once. */
void bt_pod_groups_join(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix);
void bt_pod_groups_leave(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix);

/* A group that has an object or members, or NULL. Valid until the table changes. */
const struct bt_pod_group *bt_pod_groups_find(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

const struct bt_pod_group *bt_pod_groups_find_composite(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

/* ---- trees ---- */

/* The root of a group's tree, itself if it has no parent; NULL: an object between them is missing, or the
 * tree is too deep. group may be NULL. Source: getRootLookupInfoForParentCPG, v1.37.2. */
const struct bt_pod_group *bt_pod_groups_root(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group);

/* The numbers of the PodGroups below a group, or its own if it is one, in the order in which they are
 * decided. Valid until the next call. Source: GetChildGroups, v1.37.2. */
const uint32_t *bt_pod_groups_leaves(const struct bt_pod_groups *groups, uint32_t number, size_t *out_n);

/* The highest group with disruption mode All among a PodGroup and those above it; NULL: none. out_priority:
 * that of the topmost existing one. Source: getHighestAllAncestor, GetPodPriority, v1.37.2. */
const struct bt_pod_group *bt_pod_groups_unit(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group, int32_t *out_priority);

/* The same by the group that a pod names. If that group is unknown, out_priority is unchanged. */
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

/* The groups, if single pods preempt them, too: as units with their groups' priorities; otherwise NULL. */
static inline const struct bt_pod_groups *bt_pod_groups_as_victims(const struct bt_pod_groups *groups)
{
	return groups->as_victims && groups->group_n > groups->free_n ? groups : NULL;
}

/* Why pods of that group do not preempt by themselves, or NULL. */
const char *bt_pod_groups_ineligible(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);

/* Do groups have preemption policies of their own? */
static inline bool bt_pod_groups_have_policies(const struct bt_pod_groups *groups)
{
	return groups->policies;
}

/* Incremented when a group's object is added, changed or deleted. */
static inline uint64_t bt_pod_groups_version(const struct bt_pod_groups *groups)
{
	return groups->version;
}

/* The group's number, unique while the group exists; numbers are as low as possible. */
static inline uint32_t bt_pod_groups_number(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group)
{
	(void)groups;
	return group->number;
}

/* A group's state for plugins; the members of a composite are groups. scheduled_n: how many of them are on
 * nodes. Requires: group. */
struct bt_group_state bt_pod_group_state(const struct bt_pod_group *group, uint64_t scheduled_n);

/* The group's state for plugins, even if the group is unknown; scheduled_n is 0. */
struct bt_group_state bt_pod_groups_state(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name);
