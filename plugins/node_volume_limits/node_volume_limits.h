/* SPDX-License-Identifier: Apache-2.0
 * NodeVolumeLimits: no more CSI volumes on a node than its CSINode allows.
 */
#pragma once

#include "plugins/plugin.h"

/* Settings: a bool, whether the gate VolumeLimitScaling is on. */
extern const struct bt_plugin bt_plugin_node_volume_limits;
