/* SPDX-License-Identifier: Apache-2.0
 * NodeUnschedulable: cordoned nodes accept only pods that tolerate the taint.
 */
#pragma once

#include "plugins/plugin.h"

/* settings: const bool *, the gate TaintTolerationComparisonOperators. */
extern const struct bt_plugin bt_plugin_node_unschedulable;
