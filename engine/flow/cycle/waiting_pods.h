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
	const struct bt_hook *hook; /* of the plugin that it waits for, in its profile; NULL: the wait is
				       imposed (bt_engine_impose), and never over by itself */
	int64_t wait_ns, until_ns;
	bool preempted; /* its wait ends when the preemption is over */
};

/* All zeroes: none waits. Private. */
struct bt_waiting_pods {
	struct bt_waiting_pod *items; /* in the order in which their waits began */
	size_t n, cap;
	struct bt_buf text; /* of the last end */
};

void bt_waiting_pods_fini(struct bt_waiting_pods *waiting);

static inline size_t bt_waiting_pods_n(const struct bt_waiting_pods *waiting)
{
	return waiting->n;
}

/* The i-th waiting pod, by when its wait began. */
static inline struct bt_waiting_pod bt_waiting_pods_at(const struct bt_waiting_pods *waiting, size_t i)
{
	BT_REQUIRE(i < waiting->n);
	return waiting->items[i];
}

/* The text of the last ended wait, set by the caller that ends it. */
static inline struct bt_buf *bt_waiting_pods_text(struct bt_waiting_pods *waiting)
{
	return &waiting->text;
}

bool bt_waiting_pods_has(const struct bt_waiting_pods *waiting, uint32_t pod_ix);

/* Adds a pod that begins to wait. Requires: it does not wait yet. */
void bt_waiting_pods_add(struct bt_waiting_pods *waiting, const struct bt_waiting_pod *pod);

/* Removes a pod from the list. Requires: it waits. */
struct bt_waiting_pod bt_waiting_pods_take(struct bt_waiting_pods *waiting, uint32_t pod_ix);

/* Marks a waiting pod as a victim of preemption: it is rejected, not deleted. Requires: it waits. */
void bt_waiting_pods_preempt(struct bt_waiting_pods *waiting, uint32_t pod_ix);

/* The first timeout of the waits that began by begun_by_ns, or INT64_MAX. */
int64_t bt_waiting_pods_next_end(const struct bt_waiting_pods *waiting, int64_t begun_by_ns);
