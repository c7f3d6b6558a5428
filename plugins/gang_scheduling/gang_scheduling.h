/* SPDX-License-Identifier: Apache-2.0
 * GangScheduling: which events concern the pods of a PodGroup that is not complete. Source:
 * plugins/gangscheduling, v1.36.3.
 */
#pragma once

#include "plugins/plugin.h"

#define BT_GANG_SCHEDULING_EVENTS 2
extern const struct bt_registration bt_gang_scheduling_events[BT_GANG_SCHEDULING_EVENTS];
