/* SPDX-License-Identifier: Apache-2.0
 * GangScheduling: the pods of a PodGroup wait until there are enough of them, and are placed together or not
 * at all; so do the groups of a CompositePodGroup. The pods of a group of a Workload wait at Permit. Source:
 * plugins/gangscheduling, v1.35.4, v1.36.3 and v1.37.2.
 */
#include "plugins/plugin.h"

/* A group of a Workload. Returns: whether it lacks something, which it appends to out_why unless that is
 * NULL. Source: PreEnqueue, v1.35.4. */
static bool lacks_workload(
	const struct bt_pod_env *env, const struct bt_group_state *group, struct bt_buf *out_why)
{
	const struct bt_str name = bt_view_str(env->view, group->workload),
			    listed = bt_view_str(env->view, group->workload_group);

	if (group->known && group->listed && (!group->gang || (int64_t)group->member_n >= group->min_count)) {
		return false;
	}
	if (!out_why) {
		return true;
	}
	if (!group->known) {
		bt_buf_printf(out_why, "waiting for pods's workload \"%.*s\" to appear in scheduling queue",
			BT_STR_ARG(name));
	} else if (!group->listed) {
		bt_buf_printf(out_why, "pod group \"%.*s\" doesn't exist for a workload \"%.*s\"",
			BT_STR_ARG(listed), BT_STR_ARG(name));
	} else {
		bt_buf_text(out_why, "waiting for minCount pods from a gang to appear in scheduling queue");
	}
	return true;
}

/* Source: preEnqueueWithHierarchies, v1.37.2. */
static bool is_complete(const struct bt_group_state *group)
{
	if (group->known && group->tree != BT_NAME_NONE) {
		return group->tree_is_complete;
	}
	return group->known &&
	       (!group->gang || (group->counted && (int64_t)group->member_n >= group->min_count));
}

static bool pre_enqueue(const struct bt_pod_env *env, struct bt_buf *out_why)
{
	const struct bt_group_state *group = env->group;

	if (group && group->workload != BT_NAME_NONE) {
		return lacks_workload(env, group, out_why);
	}
	if (!group || is_complete(group)) {
		return false;
	}
	if (!out_why) {
		return true;
	}
	if (!group->known) {
		bt_buf_printf(out_why, "waiting for pods's pod group \"%.*s\" to appear in scheduling queue",
			BT_STR_ARG(bt_view_str(env->view, env->signature->pod_group)));
	} else if (group->tree != BT_NAME_NONE) {
		bt_buf_printf(out_why, "waiting for composite pod group \"%.*s\" tree to meet quorum",
			BT_STR_ARG(bt_view_str(env->view, group->tree)));
	} else if (group->counted) {
		bt_buf_text(out_why, "waiting for minCount pods from a gang to appear in scheduling queue");
	} else {
		bt_buf_printf(out_why, "pod group state not found for pod group %.*s/%.*s",
			BT_STR_ARG(bt_view_str(env->view, env->signature->namespace_)),
			BT_STR_ARG(bt_view_str(env->view, env->signature->pod_group)));
	}
	return true;
}

/* A group's object, or its Workload's, was deleted. */
static void write_not_found(const struct bt_pod_env *env, const char *word, const char *resource,
	struct bt_str name, struct bt_buf *out_why)
{
	bt_buf_printf(out_why, "failed to get %s %.*s/%.*s: %s.scheduling.k8s.io \"%.*s\" not found", word,
		BT_STR_ARG(bt_view_str(env->view, env->signature->namespace_)), BT_STR_ARG(name), resource,
		BT_STR_ARG(name));
}

static enum bt_permit permit(const struct bt_pod_env *env, struct bt_buf *out_why)
{
	const struct bt_group_state *group = env->group;
	const bool of_workload = group && group->workload != BT_NAME_NONE;

	if (of_workload && group->known && !group->listed) {
		if (out_why) {
			bt_buf_printf(out_why, "pod group \"%.*s\" doesn't exist for a workload \"%.*s\"",
				BT_STR_ARG(bt_view_str(env->view, group->workload_group)),
				BT_STR_ARG(bt_view_str(env->view, group->workload)));
		}
		return BT_PERMIT_FAILS;
	}
	if (group && group->known) {
		return group->gang && (int64_t)group->scheduled_n < group->min_count ? BT_PERMIT_WAIT
										     : BT_PERMIT_OK;
	}
	if (out_why && of_workload) {
		write_not_found(
			env, "workload", "workload", bt_view_str(env->view, group->workload), out_why);
	} else if (out_why) {
		write_not_found(env, "podGroup", "podgroup",
			bt_view_str(env->view, env->signature->pod_group), out_why);
	}
	return BT_PERMIT_FAILS;
}

static enum bt_feasible placement_feasible(
	const struct bt_group_state *group, uint64_t remaining_n, struct bt_buf *out_why)
{
	const int64_t min_count = group->gang ? group->min_count : 1;
	const bool never = (int64_t)(remaining_n + group->scheduled_n) < min_count;

	if ((int64_t)group->scheduled_n >= min_count) {
		return BT_FEASIBLE;
	}
	bt_buf_printf(out_why, "minCount (%lld) %s: %llu scheduled, %llu remaining", (long long)min_count,
		never ? "cannot be satisfied" : "is not yet satisfied",
		(unsigned long long)group->scheduled_n, (unsigned long long)remaining_n);
	return never ? BT_INFEASIBLE : BT_FEASIBLE_LATER;
}

/* Another pod of the group, or of its tree, may be the missing one. Source: areSameHierarchy,
 * v1.37.2. */
static bool after_pod_added(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_signature *waiting = env->signature, *added = event->pod.new.signature;

	return waiting->pod_group != BT_NAME_NONE &&
	       (env->same_tree ||
		       (waiting->pod_group == added->pod_group && waiting->namespace_ == added->namespace_));
}

static bool after_pod_group_added(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	return env->signature->pod_group != BT_NAME_NONE &&
	       (env->same_tree || (env->signature->pod_group == event->object.name &&
					  env->signature->namespace_ == event->object.namespace_));
}

static bool after_pod_group_updated(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	return (event->object.changes & BT_CHANGED_MIN_COUNT_FELL) && after_pod_group_added(env, event);
}

static bool after_composite_added(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)event;
	return env->same_tree;
}

/* Source: isSchedulableAfterWorkloadAdded, v1.35.4. */
static bool after_workload_added(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)event;
	return env->same_tree;
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_ADD, after_pod_added, 0},
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_ADD, after_pod_added, 0},
	{BT_CLUSTER_EVENT_POD_GROUP, BT_ADD, after_pod_group_added, 0},
	{BT_CLUSTER_EVENT_POD_GROUP, BT_UPDATE, after_pod_group_updated, BT_NEEDS_RULE(GROUPS_ARE_QUEUED)},
	{BT_CLUSTER_EVENT_COMPOSITE_POD_GROUP, BT_ADD, after_composite_added, BT_NEEDS(COMPOSITE_POD_GROUP)},
	{BT_CLUSTER_EVENT_WORKLOAD, BT_ADD, after_workload_added, BT_NEEDS_RULE(PODS_NAME_WORKLOADS)},
};

const struct bt_plugin bt_plugin_gang_scheduling = {
	.name = "GangScheduling",
	.points = BT_AT(PRE_ENQUEUE) | BT_AT(PERMIT),
	.traits = BT_TRAIT_GROUP,
	.pre_enqueue = pre_enqueue,
	.permit = permit,
	.placement_feasible = placement_feasible,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
