/* SPDX-License-Identifier: Apache-2.0
 * Pods that wait at Permit: they are assumed on their nodes, and in flight for the queue, until enough pods
 * of their group are assumed, or their time is over. Source: waiting_pods_map.go, RunPermitPlugins,
 * WaitOnPermit, v1.35.4.
 *
 *   (assumed) --bt_engine_permit--> waits --bt_engine_permit of another pod--> bound by the binder
 *                                   waits --bt_engine_reject, _end_overdue, _end_preempted--> queued again
 *                                   waits --bt_engine_drop_wait--> gone, or on a node
 *
 * Owns: the list (bt_waiting_pods_fini). Writer: waiting_pods.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/base/buf.h"
#include "plugins/points.h"

struct bt_engine;
struct bt_decision;
struct bt_hook;

struct bt_waiting_pod {
	uint32_t pod_ix;
	const struct bt_hook *hook; /* the plugin that lets it wait; of its profile */
	int64_t wait_ns, until_ns;
	bool preempted; /* it ends when the preemption is over */
};

/* All zeroes: none waits. Private. */
struct bt_waiting_pods {
	struct bt_waiting_pod *items; /* in the order in which they began to wait */
	size_t n, cap;
	struct bt_buf text;
};

void bt_waiting_pods_fini(struct bt_waiting_pods *waiting);

bool bt_waiting_pods_has(const struct bt_waiting_pods *waiting, uint32_t pod_ix);

/* Preemption has chosen a pod that waits: it is rejected, not deleted. Requires: it waits. */
void bt_waiting_pods_preempt(struct bt_waiting_pods *waiting, uint32_t pod_ix);

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

/* When the first wait ends by itself of those that began by begun_by_ns, or INT64_MAX. */
int64_t bt_waiting_pods_next_end(const struct bt_waiting_pods *waiting, int64_t begun_by_ns);
