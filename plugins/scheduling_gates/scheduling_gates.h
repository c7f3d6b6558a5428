/* SPDX-License-Identifier: Apache-2.0
 * SchedulingGates: a pod with scheduling gates is kept out of the active queue.
 */
#pragma once

#include "plugins/plugin.h"

/*
 * Appends why a pod with these gates (their names joined by blanks, as one name) may not enter the active
 * queue. Returns false, and appends nothing, when there are no gates. Source: plugins/schedulinggates,
 * v1.36.3.
 */
bool bt_scheduling_gates_refuse(const struct bt_intern *intern, uint32_t gates, struct bt_buf *out_reason);

/* The events that concern pods with gates. */
#define BT_SCHEDULING_GATES_EVENTS 1
extern const struct bt_registration bt_scheduling_gates_events[BT_SCHEDULING_GATES_EVENTS];
