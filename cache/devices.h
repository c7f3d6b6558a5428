/* SPDX-License-Identifier: Apache-2.0
 * ResourceClaims, ResourceSlices and DeviceClasses by name; allocations of claims, and pending allocations of
 * decided pods.
 * Context: the scheduling thread is the only writer; readers see cache/device_view.h between writes.
 *
 *   free --bt_devices_assume--> pending --bt_devices_keep, written--> allocated, and reserved for the pod
 *    ^                             |                             |
 *    +------bt_devices_revert------+                             |
 *    +------bt_devices_deallocate, bt_devices_apply, bt_devices_remove
 *
 * A watch event without allocation does not revert bt_devices_keep; an event with an older resource version
 * does not revert bt_devices_written.
 */
#pragma once

#include "cache/device_view.h"
#include "engine/base/status.h"
#include "engine/model/cluster_event.h"

struct bt_devices;

/* Owns: the caller, until bt_devices_destroy, which ends before the dictionary and the snapshot. */
struct bt_devices *bt_devices_create(struct bt_dictionary *dictionary, const struct bt_snapshot *snapshot);
void bt_devices_destroy(struct bt_devices *devices);

/* Sets features and the evaluator of expressions. Before, all features are off and selectors fail.
 * Requires: no objects exist yet. */
void bt_devices_configure(struct bt_devices *devices, const struct bt_device_features *features,
	const struct bt_device_judge *judge);

const struct bt_device_store *bt_devices_view(const struct bt_devices *devices);

/* Adds or replaces an object of a kind in this store; ignores other kinds. Returns whether the classes of
 * extended resources may have changed. */
bool bt_devices_apply(struct bt_devices *devices, const struct bt_object *object);

/*
 * Compares an object that is about to be applied with the stored one, for an event. Returns: is it an update
 * of a stored object? False for other kinds. Owns: held, the names.
 */
bool bt_devices_describe(const struct bt_devices *devices, const struct bt_object *object,
	struct bt_name_refs *held, struct bt_cluster_event_object *out);

/* The same for an object that is about to be removed, which holds the names until
 * then. Returns: does it exist? */
bool bt_devices_describe_removal(const struct bt_devices *devices, enum bt_kind kind, uint32_t namespace_,
	uint32_t name, struct bt_cluster_event_object *out);

/* Removes an object. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_devices_remove(
	struct bt_devices *devices, enum bt_kind kind, uint32_t namespace_, uint32_t name);

/*
 * Releases the names of deleted claims, slices and classes, and their devices, which
 * stay valid until this call.
 * Requires: nothing refers to them any more.
 */
void bt_devices_release_names(struct bt_devices *devices);

/* Starts the cycle of this pod. now_ns: since the Unix epoch; INT64_MAX: unknown. */
void bt_devices_begin(struct bt_devices *devices, uint32_t pod_name, uint32_t pod_uid, int64_t now_ns);

/* Pods decided from now on share pending allocations with pods of the same scope. 0: no sharing. */
void bt_devices_share(struct bt_devices *devices, uint64_t scope);

/* A PodGroup was added, changed or deleted: updates its claims. Does nothing
 * without features.group_claims. */
void bt_devices_apply_group(struct bt_devices *devices, const struct bt_pod_group_object *object);
void bt_devices_remove_group(struct bt_devices *devices, uint32_t namespace_, uint32_t name);

/* A pod has been decided, with these allocations. Requires: none are pending for it. */
void bt_devices_assume(
	struct bt_devices *devices, uint32_t pod_ix, const struct bt_device_choice *choices, uint32_t n);

/* The pod is bound: its claims are allocated and reserved for it. */
void bt_devices_keep(struct bt_devices *devices, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid);

/* The pending choices of a pod, out_n of them; NULL: none. Valid until the next bt_devices_assume,
 * keep, revert or written. */
const struct bt_device_choice *bt_devices_pending(
	const struct bt_devices *devices, uint32_t pod_ix, uint32_t *out_n);

/* A ResourceClaim as written by a pod's binder. Owns: nothing. */
struct bt_written_claim {
	struct bt_str name, uid; /* in the pod's namespace */
	uint64_t version;	 /* its new resource version, never 0 */
	bool reserved; /* for the pod; false when the binding failed and the reservation was removed.
			* A reservation for its PodGroup stays. */
	bool special;  /* it was created for the pod's extended resources */
};

/*
 * A binder has written a claim of its pod: the pending choice becomes the claim's allocation, whatever
 * happens to the pod; older events of the claim do not revert it.
 * Returns: the claim; BT_NO_CLAIM: it was deleted. If the watch has shown a newer version, that one counts.
 * out_changes: BT_CHANGED_*, what the write changes; 0: the watch has shown all of it.
 */
uint32_t bt_devices_written(struct bt_devices *devices, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid, const struct bt_written_claim *written, uint32_t *out_changes);

/* Invalidates the pools of all nodes, and pointers to them. */
void bt_devices_forget_nodes(struct bt_devices *devices);

/*
 * A bound pod was deleted: from now on, events alone determine claims that it got by bt_devices_keep.
 * Returns: true when the watch has shown a claim as free: the caller then calls bt_devices_deallocate for
 * out_claim_ix.
 */
bool bt_devices_unkeep(struct bt_devices *devices, uint32_t pod_ix, uint32_t namespace_, uint32_t name,
	uint32_t *out_claim_ix);

/* The pod's binding has failed, or the pod was deleted before it was bound. */
void bt_devices_revert(struct bt_devices *devices, uint32_t pod_ix);

/* Removes a claim's allocation and reservations. Requires: it is live. */
void bt_devices_deallocate(struct bt_devices *devices, uint32_t claim_ix);

/* Removes a consumer from a claim's reservations. Returns: was it there? Requires: it is live. */
bool bt_devices_unreserve(struct bt_devices *devices, uint32_t claim_ix, uint32_t uid);
