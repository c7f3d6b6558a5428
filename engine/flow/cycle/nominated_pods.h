/* SPDX-License-Identifier: Apache-2.0
 * The nominated pods that a cycle's pod has to fit with: those of its own or a higher priority count on their
 * nodes while the pod is evaluated. The ledger owns the nominations. Source: addGENominatedPods, v1.36.3.
 * Owns: nothing outside of the struct. Writer: nominated_pods.c. Thread: the scheduling thread.
 */
#pragma once

#include "cache/ingest.h"
#include "engine/model/release.h"
#include "engine/score/evaluate.h"
#include "queue/queue.h"

/* Private. */
struct bt_nominated_pods {
	struct bt_cache *cache;	      /* init: */
	const struct bt_queue *queue; /* init: */
	bool gated_count;	      /* init: by the release's rule */
	struct bt_nominations_ahead nominations_ahead;
	uint32_t pod_ix; /* the cycle's pod */
};

/* nominated: its address must not change. */
void bt_nominated_pods_init(struct bt_nominated_pods *nominated, struct bt_cache *cache,
	const struct bt_queue *queue, const struct bt_release *release);

/* Gives plugins access to single pods, and to the cycle's pod. */
void bt_nominated_pods_attach(struct bt_nominated_pods *nominated);

/* Sets the pod that is evaluated or explained from now on. */
void bt_nominated_pods_set(struct bt_nominated_pods *nominated, uint32_t pod_ix);

/* The pod that was set or evaluated last. */
static inline uint32_t bt_nominated_pods_last(const struct bt_nominated_pods *nominated)
{
	return nominated->pod_ix;
}

/* The same. Returns: the nominations that the pod must fit with, or NULL. */
const struct bt_nominations_ahead *bt_nominated_pods_begin(
	struct bt_nominated_pods *nominated, uint32_t pod_ix);

/* Does a pod that enters the queue gated count on its nominated node? */
static inline bool bt_nominated_pods_gated_count(const struct bt_nominated_pods *nominated)
{
	return nominated->gated_count;
}

/* The nominations ahead of the current pod, even if none affects it. */
static inline const struct bt_nominations_ahead *bt_nominated_pods_ahead(
	const struct bt_nominated_pods *nominated)
{
	return &nominated->nominations_ahead;
}
