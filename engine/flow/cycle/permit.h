/* SPDX-License-Identifier: Apache-2.0
 * Permit of pods that name Workloads: how they begin and cease to wait. Source: waiting_pods_map.go,
 * RunPermitPlugins, WaitOnPermit, v1.35.4.
 *
 *   (assumed) --bt_engine_permit--> waits --bt_engine_permit of another pod--> bound by the binder
 *                                   waits --bt_engine_reject, _end_overdue, _end_preempted--> queued again
 *                                   waits --bt_engine_drop_wait--> gone, or on a node
 *
 * Thread: the scheduling thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"

struct bt_engine;
struct bt_decision;
struct bt_hook;

/*
 * Permit of a pod that has been assumed. Returns: true, it is to be bound, and the pods of its group that
 * have waited are; false, it waits (the decision says so), or Permit has failed, and the pod is queued again.
 * Requires: groups are decided one by one (bt_pod_groups_alone).
 */
bool bt_engine_permit(struct bt_engine *engine, struct bt_decision *decision);

/* A pod that waits is refused: by the hook's plugin, or by nobody in particular (NULL). why: the reason.
 * Requires: it waits. */
void bt_engine_reject(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_hook *hook, struct bt_str why);

/* Ends the waits that have lasted too long; and, after a preemption, those of its victims. */
void bt_engine_end_overdue(struct bt_engine *engine);
void bt_engine_end_preempted(struct bt_engine *engine);

/* A pod has gone, or is on a node: it does not wait any more, if it did, and is not in the queue. */
void bt_engine_drop_wait(struct bt_engine *engine, uint32_t pod_ix);
