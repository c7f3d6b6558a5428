/* SPDX-License-Identifier: Apache-2.0
 * PrioritySort: the queue sorts by priority, then time. The queue itself does it (queue/active.c).
 */
#include "plugins/plugin.h"

const struct bt_plugin bt_plugin_priority_sort = {
	.name = "PrioritySort",
	.points = BT_AT(QUEUE_SORT),
};
