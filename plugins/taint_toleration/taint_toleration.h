/* SPDX-License-Identifier: Apache-2.0
 * TaintToleration: taints keep pods away, or lower a node's score, unless the pod tolerates them.
 */
#pragma once

#include "plugins/plugin.h"

/* settings: const bool *, the gate TaintTolerationComparisonOperators. */
extern const struct bt_plugin bt_plugin_taint_toleration;
