/* SPDX-License-Identifier: Apache-2.0
 * Synthetic clusters in memory: nodes and pods as API objects, one after the other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/object.h"
#include "tools/offline/generate/profile.h"

#define BT_GENERATE_NODES_MAX UINT32_C(1000000)
#define BT_GENERATE_PODS_MAX  UINT64_C(100000000)

#define BT_GENERATE_LOAD	0.88
#define BT_GENERATE_MEMORY_LOAD 0.80 /* with that load */

struct bt_generate_options {
	uint64_t pod_n, seed;
	uint32_t node_n, zone_n, signature_n; /* zone_n and signature_n at least 1 */
	uint32_t profiles;		      /* a set of enum bt_generate_profile */
	uint32_t gang_size; /* pods of each PodGroup, with profile gangs, and all pods in one; 0: as drawn */
	bool workloads;	    /* gangs are groups of Workloads (BT_RULE_PODS_NAME_WORKLOADS), not PodGroups */
	double bound;	    /* share of bound pods */
	double load; /* share of the nodes' CPU that all pods together request; of memory a tenth less */
	/* Signatures have distinct requests; otherwise they share a few dozen sizes, as in real clusters. */
	bool distinct_requests;
};

/* 5,000 nodes in 5 zones, 100,000 pods of 1,000 signatures, profile everyday, nothing bound, seed 1. */
struct bt_generate_options bt_generate_defaults(void);

/*
 * Takes one object, which is valid during the call only.
 * Returns : false to stop.
 */
typedef bool bt_generate_take(void *context, const struct bt_object *object);

/*
 * Makes the cluster's objects in this order: namespaces, priority classes, device classes, nodes (each
 * followed by its ResourceSlice), disruption budgets, pods in order of creation (each preceded by its
 * ResourceClaim, and by the PodGroup or Workload whose first member it is). The same options give the same
 * objects.
 * Defaults that the API server would set, and that matter to the scheduler, are set.
 * Context : any thread; allocates.
 * Returns : false when take stopped it.
 */
bool bt_generate(const struct bt_generate_options *options, bt_generate_take *take, void *context);
