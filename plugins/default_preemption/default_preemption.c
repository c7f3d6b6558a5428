/* SPDX-License-Identifier: Apache-2.0
 * DefaultPreemption's rules. Source: framework/preemption and plugins/defaultpreemption, v1.36.3.
 */
#include "plugins/default_preemption/default_preemption.h"

#include "engine/base/check.h"

#define NOT_STARTED INT64_MAX

uint32_t bt_preemption_candidate_n(const void *opaque, uint32_t node_n)
{
	const struct bt_preemption_settings *settings = opaque;
	BT_INVARIANT(
		settings->min_candidate_nodes_percentage >= 0 && settings->min_candidate_nodes_absolute >= 0);
	/* Upstream multiplies in 32 bits. */
	int32_t n = (int32_t)(node_n * (uint32_t)settings->min_candidate_nodes_percentage) / 100;

	n = n < settings->min_candidate_nodes_absolute ? settings->min_candidate_nodes_absolute : n;
	n = n > (int32_t)node_n ? (int32_t)node_n : n;
	return n < 0 ? 0 : (uint32_t)n;
}

static int64_t start_of(const struct bt_victim *victim)
{
	return victim->start_ns ? victim->start_ns : NOT_STARTED;
}

struct bt_preemption_cost bt_preemption_cost_of(
	const struct bt_victim *victims, uint32_t n, uint32_t violation_n)
{
	BT_REQUIRE(n > 0);

	struct bt_preemption_cost cost = {
		.violation_n = violation_n,
		.victim_n = n,
		.highest = victims[0].priority,
		.start_ns = start_of(&victims[0]),
	};
	int32_t highest = victims[0].priority;
	for (uint32_t i = 0; i < n; i++) {
		int64_t start_ns = start_of(&victims[i]);

		cost.priority_sum += (int64_t)victims[i].priority + INT64_C(0x80000000);
		if (victims[i].priority > highest ||
			(victims[i].priority == highest && start_ns < cost.start_ns)) {
			highest = victims[i].priority;
			cost.start_ns = start_ns;
		}
	}
	return cost;
}

/* The plugins that refused the pod check whether it fits then. */
static bool after_pod_deleted(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	(void)event;
	return false;
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_DELETE, after_pod_deleted, BT_NEEDS(SCHEDULER_ASYNC_PREEMPTION)},
};

/* Explanations ignore it: they assume that the pod's victims are deleted. */
static bool pre_enqueue(const struct bt_pod_env *env, struct bt_buf *out_why)
{
	(void)out_why;
	return env->traits & BT_TRAIT_PREEMPTS;
}

static void post_filter(
	const struct bt_post_filter_env *env, struct bt_post_filter_result *out, struct bt_buf *out_text)
{
	BT_REQUIRE_HOT(env->preempt);
	out->nominates = true;
	out->outcome = env->preempt(env->context, out_text);
}

static const struct bt_preemption_policy policy = {
	bt_preemption_candidate_n, bt_victims_sort, bt_preemption_cost_of};

const struct bt_plugin bt_plugin_default_preemption = {
	.name = "DefaultPreemption",
	.points = BT_AT(PRE_ENQUEUE) | BT_AT(POST_FILTER) | BT_AT(POD_GROUP_POST_FILTER),
	.args = &bt_default_preemption_args_info,
	.settings = bt_default_preemption_make_settings,
	.traits = BT_TRAIT_PREEMPTS,
	.pre_enqueue = pre_enqueue,
	.post_filter = post_filter,
	.preemption = &policy,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
