/* SPDX-License-Identifier: Apache-2.0
 * VolumeRestrictions: disks that one node can mount once, and claims that one pod may use.
 */
#pragma once

#include "plugins/plugin.h"

extern const struct bt_plugin bt_plugin_volume_restrictions;
