/* SPDX-License-Identifier: Apache-2.0
 * NodePorts: each host port is used once per node.
 */
#pragma once

#include "plugins/plugin.h"

extern const struct bt_plugin bt_plugin_node_ports;
