/* SPDX-License-Identifier: Apache-2.0
 * VolumeRestrictions: disks that a node can mount only once, and ReadWriteOncePod claims.
 */
#pragma once

#include "plugins/plugin.h"

extern const struct bt_plugin bt_plugin_volume_restrictions;
