/* SPDX-License-Identifier: Apache-2.0
 * NodeName: a pod that names a node fits only there.
 */
#pragma once

#include "plugins/plugin.h"

extern const struct bt_plugin bt_plugin_node_name;
