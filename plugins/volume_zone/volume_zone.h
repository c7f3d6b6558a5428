/* SPDX-License-Identifier: Apache-2.0
 * VolumeZone: nodes in the zones and regions that bound volumes' labels name.
 */
#pragma once

#include "plugins/plugin.h"

extern const struct bt_plugin bt_plugin_volume_zone;
