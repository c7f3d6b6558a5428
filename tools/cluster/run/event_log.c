/* SPDX-License-Identifier: Apache-2.0
 * kube-scheduler's log lines about events.
 */
#include "tools/cluster/run/event_log.h"

#include <stdio.h>

#include "engine/model/cluster_event.h"
#include "tools/kube/log/log.h"

/* kube-scheduler's levels */
enum { ABOUT_OBJECTS = 3, ABOUT_UPDATES = 4 };

void bt_event_log(const struct bt_intern *intern, enum bt_cluster_event_resource resource, uint32_t action,
	const struct bt_delta *delta)
{
	const char *of = resource == BT_CLUSTER_EVENT_NODE	     ? "node"
			 : resource == BT_CLUSTER_EVENT_ASSIGNED_POD ? "scheduled pod"
								     : "unscheduled pod";
	int level = action == BT_UPDATE ? ABOUT_UPDATES : ABOUT_OBJECTS;
	char text[64];

	if (!bt_log_enabled(level)) {
		return;
	}
	struct bt_str name = bt_intern_str(intern, delta->name);

	snprintf(text, sizeof(text), "%s event for %s",
		action == BT_UPDATE   ? "Update"
		: action == BT_DELETE ? "Delete"
				      : "Add",
		of);
	bt_log(BT_LOG_INFO, level, text,
		bt_log_fields(
			resource == BT_CLUSTER_EVENT_NODE
				? bt_log_str("node", name)
				: bt_log_object("pod", bt_intern_str(intern, delta->namespace_), name)));
}
