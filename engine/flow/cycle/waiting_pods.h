/* SPDX-License-Identifier: Apache-2.0
 * Pods that wait at Permit: they are assumed on their nodes, and in flight for the queue, until enough pods
 * of their group are assumed, or their time is over. Source: waiting_pods_map.go, RunPermitPlugins,
 * WaitOnPermit, v1.35.4.
 *
 * Owns: the list (bt_waiting_pods_fini). Writer: waiting_pods.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "plugins/points.h"

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
	struct bt_buf text; /* of the last end */
};

void bt_waiting_pods_fini(struct bt_waiting_pods *waiting);

static inline size_t bt_waiting_pods_n(const struct bt_waiting_pods *waiting)
{
	return waiting->n;
}

/* The pod that began to wait as the i-th of those that wait. */
static inline struct bt_waiting_pod bt_waiting_pods_at(const struct bt_waiting_pods *waiting, size_t i)
{
	BT_REQUIRE(i < waiting->n);
	return waiting->items[i];
}

/* The text of the last end, which whoever ends a wait sets. */
static inline struct bt_buf *bt_waiting_pods_text(struct bt_waiting_pods *waiting)
{
	return &waiting->text;
}

bool bt_waiting_pods_has(const struct bt_waiting_pods *waiting, uint32_t pod_ix);

/* A pod begins to wait. Requires: it does not wait yet; a hook. */
void bt_waiting_pods_add(struct bt_waiting_pods *waiting, const struct bt_waiting_pod *pod);

/* Takes a pod off the list. Requires: it waits. */
struct bt_waiting_pod bt_waiting_pods_take(struct bt_waiting_pods *waiting, uint32_t pod_ix);

/* Preemption has chosen a pod that waits: it is rejected, not deleted. Requires: it waits. */
void bt_waiting_pods_preempt(struct bt_waiting_pods *waiting, uint32_t pod_ix);

/* When the first wait ends by itself of those that began by begun_by_ns, or INT64_MAX. */
int64_t bt_waiting_pods_next_end(const struct bt_waiting_pods *waiting, int64_t begun_by_ns);
