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
 * Runs Permit for an assumed pod. Returns: true: the pod is to be bound, and the waiting pods of its group
 * have been; false: it waits (decision->waits), or Permit has failed and the pod is requeued. Requires: the
 * pods of groups are decided one by one (bt_pod_groups_alone).
 */
bool bt_engine_permit(struct bt_engine *engine, struct bt_decision *decision);

/* Rejects a waiting pod. hook: the rejecting plugin's; NULL: that of the plugin it waits for. why: the
 * reason. Requires: it waits. */
void bt_engine_reject(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_hook *hook, struct bt_str why);

/* End the waits that have timed out, and, after a preemption, those of its victims. */
void bt_engine_end_overdue(struct bt_engine *engine);
void bt_engine_end_preempted(struct bt_engine *engine);

/* Ends the wait, if any, of a pod that was deleted or is on a node, and removes the pod from the queue. */
void bt_engine_drop_wait(struct bt_engine *engine, uint32_t pod_ix);
