/* SPDX-License-Identifier: Apache-2.0
 * The API writes of PreBind (VolumeBinding, DynamicResources) as plain values. The binder makes them before
 * it binds the pod. They are computed from the pod's reservations when the binding is requested; only pods
 * with volumes, claims, or extended resources that devices provide have any.
 *
 * Source: BindPodVolumes, bindClaim, createExtendedResourceClaimInAPI, patchPodExtendedResourceClaimStatus
 * and Unreserve, v1.36.3; patchNodeAllocatableResourceClaimStatus, v1.37.2 and v1.36.3.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/flow/cycle/engine.h"
#include "engine/model/object.h"

/*
 * A PersistentVolumeClaim in the pod's namespace that must be bound. The binder writes each
 * PersistentVolume's claimRef (with the annotation pv.kubernetes.io/bound-by-controller: yes), then each
 * claim's annotation, and waits until all claims are bound. A failed binding reverts none of it.
 */
struct bt_bind_request_volume {
	struct bt_str claim, claim_uid;
	/* The PersistentVolume to bind; empty: one is provisioned, by the claim's annotation
	 * volume.kubernetes.io/selected-node with the name of the bind request's node. */
	struct bt_str volume;
};

/* A request of a claim that gets devices, or its chosen alternative. */
struct bt_bind_request_device {
	struct bt_str name; /* "request" or "request/alternative" */
	/* Its DeviceClass. allocation.devices.config lists each class's config once, with source FromClass,
	 * for all requests of that class; then the claim's own configs, with source FromClaim: those for all
	 * requests, and those that name one of these requests (without the alternative). */
	struct bt_str class_;
};

/* The device request for an extended resource of a container, in status.extendedResourceClaimStatus. */
struct bt_bind_request_mapping {
	uint32_t container; /* its index, init containers first */
	struct bt_str resource, request;
};

/*
 * A ResourceClaim in the pod's namespace. The binder adds the pod to status.reservedFor; if it is reserved
 * already, nothing is written.
 *
 * A claim that gets devices (allocates) first gets the finalizer resource.kubernetes.io/delete-protection.
 * The write fails if the claim was allocated meanwhile. A result's tolerations are those of its request in
 * the claim's spec.
 *
 * The claim for extended resources (special) is created first. Its generateName is the pod's name and
 * "-extended-resources-", the pod is its controlling owner, and it has the annotation
 * resource.kubernetes.io/extended-resource-claim: "true". Its spec has each of requests with its class,
 * allocation mode ExactCount, and the number of results for it as the count. After all writes, the pod's
 * status gets the mappings and the claim's name.
 *
 * When a write or the binding fails, the binder removes the pod from reservedFor of all written or reserved
 * claims, which stay allocated, and deletes the special claim. Then it answers with the present state of each
 * written claim (struct bt_binding_answer), without a deleted one.
 */
struct bt_bind_request_claim {
	struct bt_str name, uid; /* empty when special */
	/* The PodGroup that is added to reservedFor instead of the pod, and is never removed; an empty name:
	 * the pod is added. */
	struct bt_str group, group_uid;
	bool allocates; /* it gets devices; otherwise it has them */
	bool special;
	bool reserved;	  /* for the pod, since before this cycle */
	bool conditional; /* the binding waits for the binding conditions of its devices */
	/* If it gets devices: status.allocation. */
	const struct bt_device_result_object *results;
	uint32_t result_n;
	struct bt_node_selector_object node_selector;
	const struct bt_bind_request_device *requests; /* in the order of the claim */
	uint32_t request_n;
	bool timed; /* sets allocationTimestamp if it is empty */
	/* If special. */
	const struct bt_bind_request_mapping *mappings;
	uint32_t mapping_n;
};

/*
 * All writes for a pod. After the claims, and before waiting for devices, node_claims are patched into the
 * pod's status.nodeAllocatableResourceClaimStatuses if there are any. When a write or the binding fails, the
 * list is cleared, even if this cycle has not written it.
 */
struct bt_prebind_writes {
	struct bt_arena arena;
	const struct bt_bind_request_volume *volumes;
	const struct bt_bind_request_claim *claims;
	const struct bt_node_claim_object *node_claims; /* by the names of the claims */
	uint32_t volume_n, claim_n, node_claim_n;
};

/*
 * The writes for an assumed pod (asserted).
 * Context : the scheduling thread, when the bind request is made; allocates if there are any.
 * Returns : NULL when there are none.
 * Owns    : bt_prebind_writes_destroy, from any thread.
 */
struct bt_prebind_writes *bt_prebind_writes_of(struct bt_engine *engine, uint32_t pod_ix);
void bt_prebind_writes_destroy(struct bt_prebind_writes *writes);
