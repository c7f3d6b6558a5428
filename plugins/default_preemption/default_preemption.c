/* SPDX-License-Identifier: Apache-2.0
 * DefaultPreemption's rules. Source: framework/preemption and plugins/defaultpreemption, v1.36.3.
 */
#include "plugins/default_preemption/default_preemption.h"

#include "engine/base/check.h"

#define NOT_STARTED INT64_MAX

uint32_t bt_preemption_candidate_n(const struct bt_preemption_settings *settings, uint32_t node_n)
{
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

bool bt_preemption_cheaper(const struct bt_preemption_cost *a, const struct bt_preemption_cost *b)
{
	if (a->violation_n != b->violation_n) {
		return a->violation_n < b->violation_n;
	}
	if (a->highest != b->highest) {
		return a->highest < b->highest;
	}
	if (a->priority_sum != b->priority_sum) {
		return a->priority_sum < b->priority_sum;
	}
	if (a->victim_n != b->victim_n) {
		return a->victim_n < b->victim_n;
	}
	return a->start_ns > b->start_ns;
}

/* Whether it fits then is for the plugins to say that refused it. */
static bool after_pod_deleted(const struct bt_hint_env *env, const struct bt_event *event)
{
	(void)env;
	(void)event;
	return false;
}

const struct bt_registration bt_default_preemption_events[BT_DEFAULT_PREEMPTION_EVENTS] = {
	{BT_EVENT_POD, BT_DELETE, after_pod_deleted},
};
