/* SPDX-License-Identifier: Apache-2.0
 * PodGroupPodsCount: known by name. The engine refuses the gate that it is for.
 */
#include "plugins/plugin.h"

const struct bt_plugin bt_plugin_pod_group_pods_count = {
	.name = "PodGroupPodsCount",
	.points = BT_AT(PLACEMENT_SCORE),
};
