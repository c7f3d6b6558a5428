/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesBalancedAllocation: likes nodes on which the pod evens out the use of resources.
 */
#pragma once

#include "plugins/plugin.h"

/* settings of the plugin: resource slots in the configured order; -1 for a name that the scheduler knows
 * nothing of. */
struct bt_balanced_settings {
	const int *slots;
	uint32_t slot_n;
};

extern const struct bt_plugin bt_plugin_node_resources_balanced_allocation;
