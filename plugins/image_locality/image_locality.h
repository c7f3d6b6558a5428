/* SPDX-License-Identifier: Apache-2.0
 * ImageLocality: likes nodes that have the pod's images already.
 */
#pragma once

#include "plugins/plugin.h"

extern const struct bt_plugin bt_plugin_image_locality;
