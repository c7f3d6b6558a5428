/* SPDX-License-Identifier: Apache-2.0
 * Which kinds are watched. Source: the informers that kube-scheduler and its plugins register, v1.36.3.
 */
#pragma once

#include "engine/flow/config/gates.h"
#include "engine/model/kind.h"

#define BT_WATCH_KINDS_MAX 26u

/* Selector of pods that have not ended, as it stands in a query: those that have take no room, so the server
 * leaves them out, and says so when one ends. */
#define BT_WATCH_ALIVE "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

/* The kinds that are needed with these gates. The order is always the same. Returns: how
 * many there are. Context: any thread. */
uint32_t bt_watch_kinds(const struct bt_gates *gates, const struct bt_kind_info *out[BT_WATCH_KINDS_MAX]);
