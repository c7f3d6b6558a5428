/* SPDX-License-Identifier: Apache-2.0
 * NodeVolumeLimits: no more CSI volumes on a node than its CSINode allows.
 */
#pragma once

#include "plugins/plugin.h"

/* Which drivers of new volumes must be on a node: none unless the gate VolumeLimitScaling is on. */
enum bt_driver_demand {
	BT_DEMAND_NO_DRIVER = 0,
	BT_DEMAND_DRIVERS_THAT_INSIST, /* their CSIDriver sets preventPodSchedulingIfMissing */
	BT_DEMAND_EVERY_DRIVER	       /* that has a CSIDriver */
};

/* settings of the plugin. */
struct bt_node_volume_limits_settings {
	enum bt_driver_demand demand;
};

extern const struct bt_plugin bt_plugin_node_volume_limits;
