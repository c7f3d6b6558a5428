/* SPDX-License-Identifier: Apache-2.0
 * The table of PodGroups.
 */
#include "engine/flow/cycle/pod_groups.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/model/cluster_event.h"

/* Names are never 0, so the key is not either. */
static uint64_t pod_groups_key_of(uint32_t namespace_, uint32_t name)
{
	return (uint64_t)namespace_ << 32 | name;
}

void bt_pod_groups_init(struct bt_pod_groups *groups, struct bt_intern *intern, const struct bt_gates *gates)
{
	bool tracked = gates->on[BT_GATE_GENERIC_WORKLOAD];
	bool alone = tracked && bt_release_has(gates->release, BT_RULE_PODS_NAME_WORKLOADS);
	bool whole = tracked && bt_release_has(gates->release, BT_RULE_GROUPS_ARE_QUEUED);

	*groups = (struct bt_pod_groups){.intern = intern,
		.tracked = tracked,
		.alone = alone,
		.gangs = whole || gates->on[BT_GATE_GANG_SCHEDULING],
		.preempt = gates->on[BT_GATE_WORKLOAD_AWARE_PREEMPTION],
		.whole = whole,
		.policies = gates->on[BT_GATE_POD_GROUP_PREEMPTION_POLICY],
		.trees = whole && gates->on[BT_GATE_COMPOSITE_POD_GROUP],
		.placements = tracked && gates->on[BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING],
		.as_victims = tracked && bt_release_has(gates->release, BT_RULE_PODS_PREEMPT_GROUPS)};
	groups->leaves = groups->trees ? bt_mem_zalloc(1, sizeof(*groups->leaves)) : NULL;
}

void bt_pod_groups_fini(struct bt_pod_groups *groups)
{
	for (size_t i = 0; i < groups->group_n; i++) {
		bt_mem_free(groups->groups[i].members);
	}
	bt_mem_free(groups->groups);
	bt_mem_free(groups->free_ixs);
	if (groups->leaves) {
		bt_mem_free(groups->leaves->items);
		bt_mem_free(groups->leaves);
	}
	bt_pod_workloads_fini(&groups->workloads, groups->intern);
	bt_map_fini(&groups->ixs);
	bt_map_fini(&groups->composites);
	*groups = (struct bt_pod_groups){.tracked = false};
}

static struct bt_map *names_of(struct bt_pod_groups *groups, bool composite)
{
	return composite ? &groups->composites : &groups->ixs;
}

static struct bt_pod_group *pod_groups_find(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool composite)
{
	const struct bt_map *names = composite ? &groups->composites : &groups->ixs;
	uint32_t ix;

	return namespace_ != BT_NAME_NONE && bt_map_get(names, pod_groups_key_of(namespace_, name), &ix)
		       ? &groups->groups[ix]
		       : NULL;
}

/* Finds the names in "workload/group/replica". Holds them. */
static void name_workload(struct bt_intern *intern, struct bt_pod_group *group)
{
	struct bt_str text = bt_intern_str(intern, group->name);
	size_t end = bt_str_find(text, '/', 0), next = end < text.len ? bt_str_find(text, '/', end + 1) : end;

	if (next < text.len) {
		group->workload = bt_intern_hold(intern, bt_str_sub(text, 0, end));
		group->workload_group = bt_intern_hold(intern, bt_str_sub(text, end + 1, next));
	}
}

static struct bt_pod_group *find_or_make(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool composite)
{
	struct bt_pod_group *group = pod_groups_find(groups, namespace_, name, composite);
	uint32_t ix;

	if (group) {
		return group;
	}
	if (groups->free_n) {
		ix = groups->free_ixs[--groups->free_n];
	} else {
		groups->groups = bt_mem_grow(
			groups->groups, groups->group_n, &groups->group_cap, sizeof(*groups->groups));
		ix = (uint32_t)groups->group_n++;
	}
	groups->groups[ix] = (struct bt_pod_group){.namespace_ = namespace_,
		.name = name,
		.number = ix,
		.composite = composite,
		.parent = BT_NO_POD_GROUP};
	if (groups->intern) {
		bt_intern_hold_again(groups->intern, namespace_);
		bt_intern_hold_again(groups->intern, name);
	}
	if (groups->alone) {
		name_workload(groups->intern, &groups->groups[ix]);
	}
	bt_map_put(names_of(groups, composite), pod_groups_key_of(namespace_, name), ix);
	BT_INVARIANT(groups->groups[ix].member_n == 0 && !groups->groups[ix].known);
	return &groups->groups[ix];
}

/* Forgets a group that has neither an object nor members. */
static void drop_if_empty(struct bt_pod_groups *groups, struct bt_pod_group *group)
{
	if (group->known || group->member_n) {
		return;
	}
	BT_INVARIANT(group >= groups->groups && group < groups->groups + groups->group_n);
	BT_INVARIANT(group->parent == BT_NO_POD_GROUP);
	bt_map_remove(names_of(groups, group->composite), pod_groups_key_of(group->namespace_, group->name));
	if (groups->intern) {
		bt_intern_release(groups->intern, group->namespace_);
		bt_intern_release(groups->intern, group->name);
		bt_intern_release(groups->intern, group->topology_key);
		bt_intern_release(groups->intern, group->uid);
		bt_intern_release(groups->intern, group->workload);
		bt_intern_release(groups->intern, group->workload_group);
	}
	bt_mem_free(group->members);
	group->members = NULL;
	group->member_cap = 0;
	groups->free_ixs =
		bt_mem_grow(groups->free_ixs, groups->free_n, &groups->free_cap, sizeof(*groups->free_ixs));
	groups->free_ixs[groups->free_n++] = (uint32_t)(group - groups->groups);
	BT_INVARIANT(groups->free_n <= groups->group_n);
}

static bool pod_groups_apply(
	struct bt_pod_groups *groups, struct bt_pod_group *group, bool gang, int32_t min_count)
{
	bool known = group->known;

	groups->version++;
	group->known = true;
	group->gang = gang;
	group->min_count = min_count;
	return known;
}

bool bt_pod_groups_apply(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool gang, int32_t min_count)
{
	BT_REQUIRE(namespace_ != BT_NAME_NONE && name != BT_NAME_NONE);
	return pod_groups_apply(groups, find_or_make(groups, namespace_, name, false), gang, min_count);
}

bool bt_pod_groups_apply_composite(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool gang, int32_t min_count)
{
	BT_REQUIRE(groups->trees && namespace_ != BT_NAME_NONE && name != BT_NAME_NONE);
	return pod_groups_apply(groups, find_or_make(groups, namespace_, name, true), gang, min_count);
}

void bt_pod_groups_set_terms(
	struct bt_pod_groups *groups, uint32_t number, const struct bt_group_terms *terms)
{
	BT_REQUIRE(number < groups->group_n && groups->groups[number].known);
	groups->groups[number].terms = *terms;
}

static void replace_name(const struct bt_pod_groups *groups, uint32_t *name, uint32_t by)
{
	if (groups->intern) {
		bt_intern_hold_again(groups->intern, by);
		bt_intern_release(groups->intern, *name);
	}
	*name = by;
}

void bt_pod_groups_set_uid(struct bt_pod_groups *groups, uint32_t number, uint32_t uid)
{
	BT_REQUIRE(number < groups->group_n && groups->groups[number].known);
	replace_name(groups, &groups->groups[number].uid, uid);
}

void bt_pod_groups_set_topology(struct bt_pod_groups *groups, uint32_t number, uint32_t topology_key)
{
	BT_REQUIRE(number < groups->group_n && groups->groups[number].known);
	replace_name(groups, &groups->groups[number].topology_key, topology_key);
}

/* ---- trees ---- */

static struct bt_str name_of(const struct bt_pod_groups *groups, const struct bt_pod_group *group)
{
	return groups->intern ? bt_intern_str(groups->intern, group->name) : (struct bt_str){.ptr = ""};
}

/* Source: GetChildGroups, v1.37.2. */
static bool is_decided_before(
	const struct bt_pod_groups *groups, const struct bt_pod_group *a, const struct bt_pod_group *b)
{
	if (a->creation_ns != b->creation_ns) {
		return a->creation_ns < b->creation_ns;
	}
	return bt_str_cmp(name_of(groups, a), name_of(groups, b)) < 0;
}

void bt_pod_groups_place(
	struct bt_pod_groups *groups, uint32_t number, struct bt_str parent, int64_t creation_ns)
{
	BT_REQUIRE(number < groups->group_n && groups->groups[number].parent == BT_NO_POD_GROUP);
	groups->groups[number].creation_ns = creation_ns;
	if (!groups->trees || !parent.len) {
		return;
	}
	uint32_t name = bt_intern_hold(groups->intern, parent);
	struct bt_pod_group *above = find_or_make(groups, groups->groups[number].namespace_, name, true);
	bt_intern_release(groups->intern, name); /* the parent holds it */
	size_t at = above->member_n;
	above->members =
		bt_mem_grow(above->members, above->member_n, &above->member_cap, sizeof(*above->members));
	for (; at > 0 &&
		is_decided_before(groups, &groups->groups[number], &groups->groups[above->members[at - 1]]);
		at--) {
		above->members[at] = above->members[at - 1];
	}
	above->members[at] = number;
	above->member_n++;
	groups->groups[number].parent = (uint32_t)(above - groups->groups);
}

/* Takes a group whose object was deleted from its parent. */
static void leave_parent(struct bt_pod_groups *groups, uint32_t number)
{
	if (groups->groups[number].parent == BT_NO_POD_GROUP) {
		return;
	}
	struct bt_pod_group *above = &groups->groups[groups->groups[number].parent];
	size_t at = 0;

	while (at < above->member_n && above->members[at] != number) {
		at++;
	}
	BT_INVARIANT(at < above->member_n);
	memmove(above->members + at, above->members + at + 1,
		(--above->member_n - at) * sizeof(*above->members));
	groups->groups[number].parent = BT_NO_POD_GROUP;
	drop_if_empty(groups, above);
}

const struct bt_pod_group *bt_pod_groups_root(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group)
{
	for (uint32_t level = 0; group && group->known && level < BT_TREE_LEVELS; level++) {
		if (group->parent == BT_NO_POD_GROUP) {
			return group;
		}
		group = &groups->groups[group->parent];
	}
	return NULL;
}

static void list_leaves(const struct bt_pod_groups *groups, const struct bt_pod_group *group, uint32_t level)
{
	struct bt_leaves *leaves = groups->leaves;

	if (!group->composite) {
		leaves->items = bt_mem_grow(leaves->items, leaves->n, &leaves->cap, sizeof(*leaves->items));
		leaves->items[leaves->n++] = group->number;
		return;
	}
	for (size_t i = 0; i < group->member_n && level < BT_TREE_LEVELS; i++) {
		list_leaves(groups, &groups->groups[group->members[i]], level + 1);
	}
}

const uint32_t *bt_pod_groups_leaves(const struct bt_pod_groups *groups, uint32_t number, size_t *out_n)
{
	BT_REQUIRE(number < groups->group_n);
	const struct bt_pod_group *group = &groups->groups[number];

	if (!group->composite) {
		*out_n = 1;
		return &group->number;
	}
	groups->leaves->n = 0;
	list_leaves(groups, group, 0);
	*out_n = groups->leaves->n;
	return groups->leaves->items;
}

const struct bt_pod_group *bt_pod_groups_unit(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group, int32_t *out_priority)
{
	const struct bt_pod_group *highest = NULL;

	/* Source: WorkloadMaxTreeDepth. */
	for (uint32_t level = 0; group && group->known && level < 4; level++) {
		*out_priority = group->terms.priority;
		highest = group->terms.together ? group : highest;
		group = group->parent == BT_NO_POD_GROUP ? NULL : &groups->groups[group->parent];
	}
	return highest;
}

const struct bt_pod_group *bt_pod_groups_unit_of(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, int32_t *out_priority)
{
	return bt_pod_groups_unit(groups, bt_pod_groups_known(groups, namespace_, name), out_priority);
}

/* Are there as many pods and groups as the group needs? Source: isCPGTreeReady, isPGReady, v1.37.2. */
static bool is_complete(const struct bt_pod_groups *groups, const struct bt_pod_group *group, uint32_t level)
{
	const int64_t needed = group->gang ? group->min_count : 1;
	int64_t there = group->composite ? 0 : (int64_t)group->member_n;

	for (size_t i = 0; group->composite && i < group->member_n && level < BT_TREE_LEVELS; i++) {
		there += is_complete(groups, &groups->groups[group->members[i]], level + 1);
	}
	return there >= needed;
}

uint32_t bt_pod_groups_changes(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name,
	const struct bt_pod_group_object *object)
{
	const struct bt_pod_group *group = pod_groups_find(groups, namespace_, name, false);
	bool gangs = group && group->known && group->gang && object->gang;

	return gangs && object->min_count < group->min_count ? BT_CHANGED_MIN_COUNT_FELL : 0;
}

static enum bt_status pod_groups_remove(struct bt_pod_groups *groups, struct bt_pod_group *group)
{
	if (!group || !group->known) {
		return BT_NOT_FOUND;
	}
	groups->version++;
	group->known = false;
	leave_parent(groups, (uint32_t)(group - groups->groups));
	drop_if_empty(groups, group);
	return BT_OK;
}

static struct bt_group_terms terms_of(const struct bt_pod_group_object *object)
{
	return (struct bt_group_terms){.priority = object->priority,
		.together = object->together,
		.has_constraints = object->has_constraints,
		.constrained = object->topology_keys.n > 0,
		.has_policy = object->preemption_policy.len > 0,
		.never_preempts = bt_str_is(object->preemption_policy, "Never")};
}

bool bt_pod_groups_apply_object(struct bt_pod_groups *groups, bool composite, uint32_t namespace_,
	uint32_t name, const struct bt_pod_group_object *object)
{
	BT_REQUIRE(groups->intern);
	bool known = composite
			     ? bt_pod_groups_apply_composite(
				       groups, namespace_, name, object->gang, object->min_count)
			     : bt_pod_groups_apply(groups, namespace_, name, object->gang, object->min_count);
	const struct bt_group_terms terms = terms_of(object);
	uint32_t number = pod_groups_find(groups, namespace_, name, composite)->number;
	uint32_t topology_key = object->topology_keys.n
					? bt_intern_hold(groups->intern, object->topology_keys.items[0])
					: BT_NAME_NONE;
	uint32_t uid = bt_intern_hold(groups->intern, object->meta.uid);

	bt_pod_groups_set_terms(groups, number, &terms);
	bt_pod_groups_set_topology(groups, number, topology_key);
	bt_pod_groups_set_uid(groups, number, uid);
	bt_intern_release(groups->intern, topology_key);
	bt_intern_release(groups->intern, uid);
	if (!known) {
		bt_pod_groups_place(groups, number, object->parent, object->meta.creation_ns);
	}
	return known;
}

enum bt_status bt_pod_groups_remove(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	return pod_groups_remove(groups, pod_groups_find(groups, namespace_, name, false));
}

enum bt_status bt_pod_groups_remove_composite(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	return pod_groups_remove(groups, pod_groups_find(groups, namespace_, name, true));
}

void bt_pod_groups_join(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix)
{
	struct bt_pod_group *group = find_or_make(groups, namespace_, name, false);

	group->members =
		bt_mem_grow(group->members, group->member_n, &group->member_cap, sizeof(*group->members));
	group->members[group->member_n++] = pod_ix;
}

void bt_pod_groups_leave(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix)
{
	struct bt_pod_group *group = pod_groups_find(groups, namespace_, name, false);
	size_t i = 0;

	BT_REQUIRE(group);
	while (i < group->member_n && group->members[i] != pod_ix) {
		i++;
	}
	BT_REQUIRE(i < group->member_n);
	group->members[i] = group->members[--group->member_n];
	drop_if_empty(groups, group);
}

const struct bt_pod_group *bt_pod_groups_find(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	return pod_groups_find(groups, namespace_, name, false);
}

const struct bt_pod_group *bt_pod_groups_find_composite(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	return pod_groups_find(groups, namespace_, name, true);
}

const char *bt_pod_groups_ineligible(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	const struct bt_pod_group *group = bt_pod_groups_known(groups, namespace_, name);

	if (groups->placements && !groups->whole && !group) {
		return "pod group for pod not found";
	}
	if (groups->placements && !groups->whole && group->terms.has_constraints) {
		return "not eligible due to placement-based pod group scheduling limitation";
	}
	return groups->preempt ? "not eligible due to workload aware preemption enabled" : NULL;
}

struct bt_group_state bt_pod_group_state(const struct bt_pod_group *group, uint64_t scheduled_n)
{
	BT_REQUIRE(group);
	return (struct bt_group_state){.known = group->known,
		.gang = group->gang,
		.counted = true,
		.min_count = group->min_count,
		.topology_key = group->topology_key,
		.member_n = group->member_n,
		.scheduled_n = scheduled_n};
}

/* Pods of a PodGroup below more composites than these wait for a tree that is never complete. Source:
 * BuildHierarchySnapshotFromPod, v1.37.2. */
#define COMPOSITES_MAX 4

static bool is_too_deep(const struct bt_pod_groups *groups, const struct bt_pod_group *group)
{
	uint32_t level = 0;

	for (uint32_t above = group->parent; above != BT_NO_POD_GROUP && level <= COMPOSITES_MAX; level++) {
		above = groups->groups[above].parent;
	}
	return level > COMPOSITES_MAX;
}

/* ---- Workloads ---- */

bool bt_pod_groups_apply_workload(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name,
	const struct bt_pod_workload_object *object)
{
	BT_REQUIRE(groups->alone);
	groups->version++;
	return bt_pod_workloads_apply(&groups->workloads, groups->intern, namespace_, name, object);
}

enum bt_status bt_pod_groups_remove_workload(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	BT_REQUIRE(groups->alone);
	groups->version++;
	return bt_pod_workloads_remove(&groups->workloads, groups->intern, namespace_, name);
}

int64_t bt_pod_groups_timeout_ns(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, int64_t now_ns)
{
	static const int64_t longest_ns = INT64_C(300000000000); /* DefaultSchedulingTimeoutDuration */
	struct bt_pod_group *group = pod_groups_find(groups, namespace_, name, false);

	BT_REQUIRE(group && group->member_n > 0);
	if (!group->deadline_ns || group->deadline_ns < now_ns) {
		group->deadline_ns = now_ns + longest_ns;
	}
	BT_INVARIANT(group->deadline_ns - now_ns <= longest_ns);
	return group->deadline_ns - now_ns;
}

static struct bt_group_state state_in_workload(
	const struct bt_pod_groups *groups, const struct bt_pod_group *group)
{
	const struct bt_pod_workload *workload =
		bt_pod_workloads_find(&groups->workloads, group->namespace_, group->workload);
	const struct bt_pod_workload_policy *policy =
		workload ? bt_pod_workload_policy_of(workload, group->workload_group) : NULL;

	return (struct bt_group_state){.known = workload,
		.listed = policy,
		.gang = policy && policy->gang,
		.min_count = policy ? policy->min_count : 0,
		.counted = true,
		.workload = group->workload,
		.workload_group = group->workload_group,
		.member_n = group->member_n};
}

struct bt_group_state bt_pod_groups_state(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	const struct bt_pod_group *group = pod_groups_find(groups, namespace_, name, false);

	if (!group) {
		return (struct bt_group_state){.counted = groups->tracked};
	}
	if (group->workload != BT_NAME_NONE) {
		return state_in_workload(groups, group);
	}
	struct bt_group_state state = bt_pod_group_state(group, 0);
	const struct bt_pod_group *root = bt_pod_groups_root(groups, group);

	state.counted = groups->tracked;
	if (root && root->composite) {
		state.tree = root->name;
		state.tree_is_complete = !is_too_deep(groups, group) && is_complete(groups, root, 0);
	}
	return state;
}
