/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesBalancedAllocation: prefers nodes whose resource usage the pod balances, or whose usage is
 * balanced with the pod.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_balanced_allocation_args {
	struct bt_config_resource_list resources;
};

extern const struct bt_plugin_args bt_balanced_allocation_args_info;
const void *bt_balanced_allocation_make_settings(const struct bt_settings_env *env, const void *args);

/* settings of the plugin: resource slots in the configured order; -1 for an unknown name. */
struct bt_balanced_settings {
	const int *slots;
	uint32_t slot_n;
	bool state; /* the score is the balance with the pod, not the gain */
};

extern const struct bt_plugin bt_plugin_node_resources_balanced_allocation;
