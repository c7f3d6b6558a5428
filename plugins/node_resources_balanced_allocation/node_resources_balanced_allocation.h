/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesBalancedAllocation: likes nodes on which the pod evens out the use of resources, or on which
 * it is even with the pod.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_balanced_allocation_args {
	struct bt_config_resource_list resources;
};

extern const struct bt_plugin_args bt_balanced_allocation_args_info;
const void *bt_balanced_allocation_make_settings(const struct bt_settings_env *env, const void *args);

/* settings of the plugin: resource slots in the configured order; -1 for a name that the scheduler knows
 * nothing of. */
struct bt_balanced_settings {
	const int *slots;
	uint32_t slot_n;
	bool state; /* a node is worth its balance with the pod, not what that gains */
};

extern const struct bt_plugin bt_plugin_node_resources_balanced_allocation;
