/* SPDX-License-Identifier: Apache-2.0
 * SchedulingGates, at PreEnqueue.
 */
#include "plugins/scheduling_gates/scheduling_gates.h"

bool bt_scheduling_gates_refuse(const struct bt_intern *intern, uint32_t gates, struct bt_buf *out_reason)
{
	if (gates == BT_NAME_NONE) {
		return false;
	}
	bt_buf_printf(
		out_reason, "waiting for scheduling gates: [%.*s]", BT_STR_ARG(bt_intern_str(intern, gates)));
	return true;
}

static bool after_gates_eliminated(const struct bt_hint_env *env, const struct bt_event *event)
{
	(void)event;
	return env->own;
}

const struct bt_registration bt_scheduling_gates_events[BT_SCHEDULING_GATES_EVENTS] = {
	{BT_EVENT_POD, BT_UPDATE_POD_GATES_ELIMINATED, after_gates_eliminated},
};
