/* SPDX-License-Identifier: Apache-2.0
 * The table of PodGroups.
 */
#include "engine/flow/cycle/pod_groups.h"

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
	bool whole = tracked && bt_release_has(gates->release, BT_RULE_GROUPS_ARE_QUEUED);

	*groups = (struct bt_pod_groups){.intern = intern,
		.tracked = tracked,
		.gangs = whole || gates->on[BT_GATE_GANG_SCHEDULING],
		.preempt = gates->on[BT_GATE_WORKLOAD_AWARE_PREEMPTION],
		.whole = whole,
		.policies = gates->on[BT_GATE_POD_GROUP_PREEMPTION_POLICY],
		.as_victims = tracked && bt_release_has(gates->release, BT_RULE_PODS_PREEMPT_GROUPS)};
}

void bt_pod_groups_fini(struct bt_pod_groups *groups)
{
	for (size_t i = 0; i < groups->group_n; i++) {
		bt_mem_free(groups->groups[i].members);
	}
	bt_mem_free(groups->groups);
	bt_mem_free(groups->free_ixs);
	bt_map_fini(&groups->ixs);
	*groups = (struct bt_pod_groups){.tracked = false};
}

static struct bt_pod_group *pod_groups_find(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return namespace_ != BT_NAME_NONE &&
			       bt_map_get(&groups->ixs, pod_groups_key_of(namespace_, name), &ix)
		       ? &groups->groups[ix]
		       : NULL;
}

static struct bt_pod_group *find_or_make(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	struct bt_pod_group *group = pod_groups_find(groups, namespace_, name);
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
	groups->groups[ix] = (struct bt_pod_group){.namespace_ = namespace_, .name = name};
	if (groups->intern) {
		bt_intern_hold_again(groups->intern, namespace_);
		bt_intern_hold_again(groups->intern, name);
	}
	bt_map_put(&groups->ixs, pod_groups_key_of(namespace_, name), ix);
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
	bt_map_remove(&groups->ixs, pod_groups_key_of(group->namespace_, group->name));
	if (groups->intern) {
		bt_intern_release(groups->intern, group->namespace_);
		bt_intern_release(groups->intern, group->name);
	}
	bt_mem_free(group->members);
	group->members = NULL;
	groups->free_ixs =
		bt_mem_grow(groups->free_ixs, groups->free_n, &groups->free_cap, sizeof(*groups->free_ixs));
	groups->free_ixs[groups->free_n++] = (uint32_t)(group - groups->groups);
	BT_INVARIANT(groups->free_n <= groups->group_n);
}

bool bt_pod_groups_apply(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, bool gang, int32_t min_count)
{
	BT_REQUIRE(namespace_ != BT_NAME_NONE && name != BT_NAME_NONE);
	struct bt_pod_group *group = find_or_make(groups, namespace_, name);
	bool known = group->known;

	groups->version++;
	group->known = true;
	group->gang = gang;
	group->min_count = min_count;
	return known;
}

void bt_pod_groups_set_terms(
	struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, const struct bt_group_terms *terms)
{
	struct bt_pod_group *group = pod_groups_find(groups, namespace_, name);

	BT_REQUIRE(group && group->known);
	group->terms = *terms;
}

uint32_t bt_pod_groups_changes(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name,
	const struct bt_pod_group_object *object)
{
	const struct bt_pod_group *group = pod_groups_find(groups, namespace_, name);
	bool gangs = group && group->known && group->gang && object->gang;

	return gangs && object->min_count < group->min_count ? BT_CHANGED_MIN_COUNT_FELL : 0;
}

enum bt_status bt_pod_groups_remove(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	struct bt_pod_group *group = pod_groups_find(groups, namespace_, name);

	if (!group || !group->known) {
		return BT_NOT_FOUND;
	}
	groups->version++;
	group->known = false;
	drop_if_empty(groups, group);
	return BT_OK;
}

void bt_pod_groups_join(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix)
{
	struct bt_pod_group *group = find_or_make(groups, namespace_, name);

	group->members =
		bt_mem_grow(group->members, group->member_n, &group->member_cap, sizeof(*group->members));
	group->members[group->member_n++] = pod_ix;
}

void bt_pod_groups_leave(struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name, uint32_t pod_ix)
{
	struct bt_pod_group *group = pod_groups_find(groups, namespace_, name);
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
	return pod_groups_find(groups, namespace_, name);
}

struct bt_group_state bt_pod_groups_state(
	const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	const struct bt_pod_group *group = pod_groups_find(groups, namespace_, name);

	if (!group) {
		return (struct bt_group_state){.counted = groups->tracked};
	}
	return (struct bt_group_state){.known = group->known,
		.gang = group->gang,
		.counted = groups->tracked,
		.min_count = group->min_count,
		.member_n = group->member_n};
}
