/* SPDX-License-Identifier: Apache-2.0
 * What a pod requests: the sums over its containers, in the four ways in which the scheduler adds them up.
 * Source: component-helpers resource.PodRequests and scheduler framework PodInfo.CalculateResource, v1.36.3
 * and v1.37.2.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/release.h"
#include "engine/model/resource.h"

/* The request of a container that says nothing, as scores see it. */
#define BT_DEFAULT_MILLI_CPU	100
#define BT_DEFAULT_MEMORY_BYTES (200ll * 1024 * 1024)

struct bt_requests {
	struct bt_amounts
		fit; /* what must be free: spec only, pod-level requests honoured, overhead included */
	struct bt_amounts used; /* what counts on a node: as fit, but resizes in the status count too */
	/* used in thousandths, where these are not 1000 times the amount (which cpu is in already): of parts
	 * of units, and of amounts beyond int64. */
	struct bt_amounts used_milli;
	struct bt_amounts score; /* what NodeResourcesFit scores: containers only, defaults for missing cpu
				    and memory */
	int64_t nonzero_milli_cpu,
		nonzero_memory; /* what counts on a node for scores: as used, with the defaults */
	bool too_many_names;	/* the pod requests more than BT_REQUEST_MAX resources: all of them count, but
				   nobody decides where it goes */
	bool names_missing;	/* resources were left out that had no slot: there are more names than
				   BT_RESOURCE_POD_MAX, and no node offers these; or the pod waits and
				   asks for too many */
	bool resize_waits;	/* the pod is on a node whose kubelet has deferred its resize, and the
				   scheduler is to make room */
};

/* Does the pod ask for something that nobody decides about? */
static inline bool bt_requests_incomplete(const struct bt_requests *requests)
{
	return requests->too_many_names || requests->names_missing;
}

/* How a resize counts that a pod's status tells of. */
struct bt_request_rules {
	bool sums_by_state;    /* BT_RULE_RESIZE_SUMS_BY_STATE */
	bool pod_level_status; /* the pod's own status counts, beside those of its containers */
	bool resizes_wait;     /* deferred ones, for the scheduler */
};

/* gates: by enum bt_gate. */
struct bt_request_rules bt_request_rules_of(const struct bt_release *release, const bool *gates);

/* Adds up a pod. Context: the owner of dictionary. Owns: the amounts live in arena. */
void bt_requests_compute(struct bt_dictionary *dictionary, const struct bt_request_rules *rules,
	struct bt_arena *arena, const struct bt_pod_object *pod, struct bt_requests *out_requests);
