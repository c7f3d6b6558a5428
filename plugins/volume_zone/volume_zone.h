/* SPDX-License-Identifier: Apache-2.0
 * VolumeZone: requires nodes in the zones and regions of the bound volumes' labels.
 */
#pragma once

#include "plugins/plugin.h"

extern const struct bt_plugin bt_plugin_volume_zone;
