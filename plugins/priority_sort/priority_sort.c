/* SPDX-License-Identifier: Apache-2.0
 * PrioritySort: sorts by priority, then time. Implemented by the queue itself (queue/active.c).
 */
#include "plugins/plugin.h"

const struct bt_plugin bt_plugin_priority_sort = {
	.name = "PrioritySort",
	.points = BT_AT(QUEUE_SORT),
};
