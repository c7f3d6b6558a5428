/* SPDX-License-Identifier: Apache-2.0
 * Which nominated pods a cycle's pod has to fit with: those of its own or a higher priority count on their
 * nodes while its plugins are asked. The nominations themselves are the ledger's. Source:
 * addGENominatedPods, v1.36.3.
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
	struct bt_yields_to yields_to;
	uint32_t pod_ix; /* the pod whose cycle it is */
};

/* nominated: stays where it is. */
void bt_nominated_pods_init(struct bt_nominated_pods *nominated, struct bt_cache *cache,
	const struct bt_queue *queue, const struct bt_release *release);

/* Lets plugins see pods one by one, and which one it is whose cycle it is. */
void bt_nominated_pods_show(struct bt_nominated_pods *nominated);

/* The pod whose cycle it is, or that is looked at, from now on. */
void bt_nominated_pods_of(struct bt_nominated_pods *nominated, uint32_t pod_ix);

/* The same. Returns the nominations that matter for it, or NULL. */
const struct bt_yields_to *bt_nominated_pods_begin(struct bt_nominated_pods *nominated, uint32_t pod_ix);

/* Does a pod that comes into the queue gated count on its nominated node? */
static inline bool bt_nominated_pods_gated_count(const struct bt_nominated_pods *nominated)
{
	return nominated->gated_count;
}

/* Those of the present pod, whether they matter or not. */
static inline const struct bt_yields_to *bt_nominated_pods_yields(const struct bt_nominated_pods *nominated)
{
	return &nominated->yields_to;
}
