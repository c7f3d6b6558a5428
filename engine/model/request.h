/* SPDX-License-Identifier: Apache-2.0
 * A pod's requests: sums over its containers, in the scheduler's four variants.
 * Source: component-helpers resource.PodRequests and scheduler framework PodInfo.CalculateResource, v1.36.3
 * and v1.37.2.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/release.h"
#include "engine/model/resource.h"

/* The score's default request of a container without one. */
#define BT_DEFAULT_MILLI_CPU	100
#define BT_DEFAULT_MEMORY_BYTES (200ll * 1024 * 1024)

struct bt_requests {
	struct bt_amounts fit;	/* for Filter: spec only, with pod-level requests and overhead */
	struct bt_amounts used; /* usage on a node: as fit, but with resizes from the status */
	/* used in thousandths, for resources other than cpu where that is not 1000 times the amount:
	 * fractions, and amounts beyond int64. */
	struct bt_amounts used_milli;
	/* The same two without what claims take of the node (bt_request_rules.node_claims). */
	struct bt_amounts own, own_milli;
	struct bt_amounts score; /* for NodeResourcesFit's score: containers only, with defaults for cpu and
				    memory */
	int64_t nonzero_milli_cpu,
		nonzero_memory; /* usage on a node for scores: as used, with the defaults */
	bool too_many_names;	/* the pod requests more than BT_REQUEST_MAX resources: all of them count, but
				   it is not scheduled */
	bool names_missing;	/* resources without a slot were omitted: there are more names than
				   BT_RESOURCE_POD_MAX, and no node offers these; or the pod is pending and
				   requests too many */
	bool resize_waits;	/* the kubelet has deferred the resize of this assigned pod, and the scheduler
				   must make room */
};

/* Does the pod have requests that prevent scheduling it? */
static inline bool bt_requests_incomplete(const struct bt_requests *requests)
{
	return requests->too_many_names || requests->names_missing;
}

/* How a resize in a pod's status counts. */
struct bt_request_rules {
	bool sums_by_state;    /* BT_RULE_RESIZE_SUMS_BY_STATE */
	bool pod_level_status; /* the pod's own status counts, in addition to its containers' */
	bool resizes_wait;     /* deferred ones are queued for scheduling */
	bool node_claims;      /* what claims take of the node counts, too */
	bool claims_map_alone; /* BT_RULE_DEVICES_MAP_ALONE */
};

/* gates: by enum bt_gate. */
struct bt_request_rules bt_request_rules_of(const struct bt_release *release, const bool *gates);

/* May the resource be requested at pod level, instead of by containers? Source:
 * IsSupportedPodLevelResource, component-helpers, v1.36.3. */
bool bt_pod_level_name(struct bt_str name);

/* Adds up a pod. Context: the owner of dictionary. Owns: the amounts live in arena. */
void bt_requests_compute(struct bt_dictionary *dictionary, const struct bt_request_rules *rules,
	struct bt_arena *arena, const struct bt_pod_object *pod, struct bt_requests *out_requests);
