/* SPDX-License-Identifier: Apache-2.0
 * What a binder has to write of a pod's volumes and claims before it binds the pod, as plain values: what
 * VolumeBinding and DynamicResources write in PreBind. Made when the binding is requested, out of what the
 * pod has reserved; only for pods that have volumes, claims, or extended resources that devices serve
 * for.
 *
 * Source: BindPodVolumes, bindClaim, createExtendedResourceClaimInAPI, patchPodExtendedResourceClaimStatus
 * and Unreserve, v1.36.3; patchNodeAllocatableResourceClaimStatus, v1.37.2 and v1.36.3.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/flow/cycle/engine.h"
#include "engine/model/object.h"

/*
 * A PersistentVolumeClaim, of the pod's namespace, that the pod needs bound. Written is, in this order, each
 * PersistentVolume's claimRef (with the annotation pv.kubernetes.io/bound-by-controller: yes), then each
 * claim's annotation; then the binder waits until all claims are bound. None of it is taken back when the
 * binding fails.
 */
struct bt_bind_request_volume {
	struct bt_str claim, claim_uid;
	/* The PersistentVolume that it is to have; empty: one is to be provisioned, which the annotation
	 * volume.kubernetes.io/selected-node says, with the name of the bind request's node. */
	struct bt_str volume;
};

/* A request of a claim that gets devices, or the alternative of it that was chosen. */
struct bt_bind_request_device {
	struct bt_str name; /* "request" or "request/alternative" */
	/* Its DeviceClass. allocation.devices.config has the config of each class once, from FromClass and
	 * for all requests of that class; then the claim's own, from FromClaim: those for all requests, and
	 * those that name one of these, or what is before its slash. */
	struct bt_str class_;
};

/* The request that serves for an extended resource of a container, for status.extendedResourceClaimStatus. */
struct bt_bind_request_mapping {
	uint32_t container; /* its index, init containers first */
	struct bt_str resource, request;
};

/*
 * A ResourceClaim of the pod's namespace. To status.reservedFor the pod is to be added, unless it is there
 * already (reserved): then nothing is written before the binding.
 *
 * One that gets devices has to have the finalizer resource.kubernetes.io/delete-protection before, and nobody
 * may have allocated it meanwhile. A result's tolerations are those of its request in the claim's spec.
 *
 * The special one, for extended resources, is created first: generateName is the pod's name and
 * "-extended-resources-", the pod is its controlling owner, it is annotated with
 * resource.kubernetes.io/extended-resource-claim: "true", and its spec requests each of requests, of its
 * class, ExactCount, as often as results name it. When all is written, the pod's status gets mappings and its
 * name.
 *
 * When a write fails, or the binding: the pod is taken out of the reservedFor of the claims that were
 * written or reserved, which stay allocated, and the special one is deleted. Then the binder answers, with
 * what is so of each claim that it has written (struct bt_binding_answer); a special one that is deleted is
 * none of them.
 */
struct bt_bind_request_claim {
	struct bt_str name, uid; /* empty when special */
	/* The PodGroup that is to be added to reservedFor instead of the pod, and is not taken out again; an
	 * empty name: the pod is. */
	struct bt_str group, group_uid;
	bool allocates; /* it gets devices; else it has them */
	bool special;
	bool reserved;	  /* for the pod, since before this cycle */
	bool conditional; /* and then some device of it has to get ready first */
	/* When it gets devices: status.allocation. */
	const struct bt_device_result_object *results;
	uint32_t result_n;
	struct bt_node_selector_object node_selector;
	const struct bt_bind_request_device *requests; /* in the order of the claim */
	uint32_t request_n;
	bool timed; /* allocationTimestamp is to be set, if it is not */
	/* When special. */
	const struct bt_bind_request_mapping *mappings;
	uint32_t mapping_n;
};

/*
 * All of it. After all claims, and before devices are waited for, node_claims are patched into the pod's
 * status.nodeAllocatableResourceClaimStatuses, unless there are none. When a write or the binding fails the
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
 * What is to be written for a pod that has been assumed on a node (asserted).
 * Context : the scheduling thread, while it is being handed to the binder; allocates when there is anything.
 * Returns : NULL when there is nothing to be written.
 * Owns    : bt_prebind_writes_destroy, from any thread.
 */
struct bt_prebind_writes *bt_prebind_writes_of(struct bt_engine *engine, uint32_t pod_ix);
void bt_prebind_writes_destroy(struct bt_prebind_writes *writes);
