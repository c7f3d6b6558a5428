/* SPDX-License-Identifier: Apache-2.0
 * PodTopologySpread: pods that want to be spread evenly over the domains of a topology key.
 */
#pragma once

#include "plugins/plugin.h"

/* settings of the plugin. */
struct bt_spread_settings {
	const struct bt_spread_constraint
		*defaults; /* for pods without constraints of their own; their selectors do not count */
	uint32_t default_n;
	bool system_defaults;  /* nodes that lack a key are scored by the other defaults */
	bool match_label_keys; /* the gate MatchLabelKeysInPodTopologySpread */
	bool compare_numbers;  /* the gate TaintTolerationComparisonOperators */
};

/* What kube-scheduler spreads by when the configuration says System. */
extern const struct bt_spread_constraint bt_spread_system_defaults[2];

extern const struct bt_plugin bt_plugin_pod_topology_spread;
