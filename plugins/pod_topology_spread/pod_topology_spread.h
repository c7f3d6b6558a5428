/* SPDX-License-Identifier: Apache-2.0
 * PodTopologySpread: spreads pods evenly over the domains of a topology key.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_pod_topology_spread_args {
	struct bt_spread_constraint_object *constraints;
	uint32_t constraint_n;
	struct bt_str defaulting_type; /* System or List once validated */
};

extern const struct bt_plugin_args bt_pod_topology_spread_args_info;
const void *bt_pod_topology_spread_make_settings(const struct bt_settings_env *env, const void *args);

/* settings of the plugin. */
struct bt_spread_settings {
	const struct bt_spread_constraint
		*defaults; /* for pods without constraints; their selectors are ignored */
	uint32_t default_n;
	bool system_defaults;  /* nodes that lack a key are scored by the other constraints */
	bool match_label_keys; /* the gate MatchLabelKeysInPodTopologySpread */
	bool compare_numbers;  /* the gate TaintTolerationComparisonOperators */
};

extern const struct bt_plugin bt_plugin_pod_topology_spread;
