/* SPDX-License-Identifier: Apache-2.0
 * The events that PodTopologySpread registers.
 */
#pragma once

#include "plugins/plugin.h"

#define BT_SPREAD_EVENTS 3
extern const struct bt_registration bt_spread_events[BT_SPREAD_EVENTS];
