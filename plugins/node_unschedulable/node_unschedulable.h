/* SPDX-License-Identifier: Apache-2.0
 * NodeUnschedulable: cordoned nodes take only pods that tolerate it.
 */
#pragma once

#include "plugins/plugin.h"

/* settings: const bool *, the gate TaintTolerationComparisonOperators. */
extern const struct bt_plugin bt_plugin_node_unschedulable;
