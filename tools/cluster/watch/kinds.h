/* SPDX-License-Identifier: Apache-2.0
 * Which kinds are watched. Source: the informers that kube-scheduler and its plugins register, v1.36.3.
 */
#pragma once

#include "engine/flow/config/gates.h"
#include "engine/model/kind.h"

#define BT_WATCH_KINDS_MAX 32u

/* Field selector of pods that have not ended, URL-encoded. Pods that have ended use no resources, so the
 * server omits them, and reports it when one ends. */
#define BT_WATCH_ALIVE "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

/* The kinds that these gates need, always in the same order. Returns: how many there are. Context: any
 * thread. */
uint32_t bt_watch_kinds(const struct bt_gates *gates, const struct bt_kind_info *out[BT_WATCH_KINDS_MAX]);
