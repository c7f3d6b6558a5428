/* SPDX-License-Identifier: Apache-2.0
 * SchedulingGates: keeps pods with scheduling gates out of the active queue. Source:
 * plugins/schedulinggates, v1.36.3.
 */
#include "plugins/plugin.h"

static bool pre_enqueue(const struct bt_pod_env *env, struct bt_buf *out_why)
{
	if (env->gates == BT_NAME_NONE) {
		return false;
	}
	if (out_why) {
		bt_buf_printf(out_why, "waiting for scheduling gates: [%.*s]",
			BT_STR_ARG(bt_view_str(env->view, env->gates)));
	}
	return true;
}

static bool after_gates_eliminated(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)event;
	return env->own;
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_GATES_ELIMINATED, after_gates_eliminated, 0},
};

const struct bt_plugin bt_plugin_scheduling_gates = {
	.name = "SchedulingGates",
	.points = BT_AT(PRE_ENQUEUE),
	.traits = BT_TRAIT_GATES,
	.pre_enqueue = pre_enqueue,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
