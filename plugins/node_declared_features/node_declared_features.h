/* SPDX-License-Identifier: Apache-2.0
 * NodeDeclaredFeatures: nodes must have declared the features that the pod needs.
 */
#pragma once

#include "plugins/plugin.h"

/* Settings: a bool, whether the gate NodeDeclaredFeatures is on. */
extern const struct bt_plugin bt_plugin_node_declared_features;
