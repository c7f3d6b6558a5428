/* SPDX-License-Identifier: Apache-2.0
 * TopologyPlacementGenerator: known by name. The engine refuses the gate that it is for.
 */
#include "plugins/plugin.h"

const struct bt_plugin bt_plugin_topology_placement_generator = {
	.name = "TopologyPlacementGenerator",
	.points = BT_AT(PLACEMENT_GENERATE),
};
