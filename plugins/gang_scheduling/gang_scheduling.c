/* SPDX-License-Identifier: Apache-2.0
 * GangScheduling's queueing hints.
 */
#include "plugins/gang_scheduling/gang_scheduling.h"

/* Another pod of the group may be the one that was lacking. */
static bool after_pod_added(const struct bt_hint_env *env, const struct bt_event *event)
{
	const struct bt_signature *waiting = env->signature, *added = event->pod.new.signature;

	return waiting->pod_group != BT_NAME_NONE && waiting->pod_group == added->pod_group &&
	       waiting->namespace_ == added->namespace_;
}

static bool after_pod_group_added(const struct bt_hint_env *env, const struct bt_event *event)
{
	return env->signature->pod_group != BT_NAME_NONE && env->signature->pod_group == event->object.name &&
	       env->signature->namespace_ == event->object.namespace_;
}

const struct bt_registration bt_gang_scheduling_events[BT_GANG_SCHEDULING_EVENTS] = {
	{BT_EVENT_POD, BT_ADD, after_pod_added},
	{BT_EVENT_POD_GROUP, BT_ADD, after_pod_group_added},
};
