/* SPDX-License-Identifier: Apache-2.0
 * Which pods of the cluster an application's workloads keep: a pod counts for its workload when it is as the
 * manifest would make it today, in all that matters to scheduling. The others are replaced.
 *
 *   note (each pod of the cluster) --> add (each pod that the manifests make) --> match --> kept, old, new
 */
#pragma once

#include "cache/ingest.h"
#include "tools/offline/check/app.h"

/* A pod of the cluster that belongs to a workload of the application. */
struct bt_old_pod {
	uint32_t pod_ix, workload;
	const struct bt_signature *shape; /* held */
	uint32_t name;			  /* held */
	bool kept;
};

/* A pod that the manifests make. */
struct bt_new_pod {
	struct bt_object object; /* in the arena */
	uint32_t workload;
	const struct bt_signature *shape; /* held */
	uint32_t kept_ix; /* the pod of the cluster that counts for it, or BT_NO_POD: it is to be placed */
};

/* Zero-initialized but for app, it is empty. Owns: bt_rollout_fini, before the cache. */
struct bt_rollout {
	const struct bt_app *app;
	struct bt_cache *cache;
	struct bt_old_pod *old_pods;
	struct bt_new_pod *new_pods;
	size_t old_n, old_cap, new_n, new_cap;
	struct bt_arena arena, scratch;
};

/* Records a pod of the cluster, if it is of a workload. */
void bt_rollout_note(struct bt_rollout *rollout, uint32_t pod_ix, const struct bt_pod_object *pod);

/* How many pods of a workload the cluster has. */
uint32_t bt_rollout_count(const struct bt_rollout *rollout, uint32_t workload);

/* Adds a pod that a manifest makes. Owns: a copy. */
void bt_rollout_add(struct bt_rollout *rollout, const struct bt_object *pod, uint32_t workload);

/* Finds the pods that count: of a StatefulSet by name, of others pods on nodes first. Sets kept of the old,
 * kept_ix of the new ones. Pods that are gone meanwhile are dropped. */
void bt_rollout_match(struct bt_rollout *rollout);

void bt_rollout_fini(struct bt_rollout *rollout);
