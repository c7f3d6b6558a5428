/* SPDX-License-Identifier: Apache-2.0
 * ResourceClaims, ResourceSlices and DeviceClasses by name; what claims have allocated, and what pods that
 * were decided are getting.
 * Context: the scheduling thread is the only writer; readers see cache/device_view.h between writes.
 *
 *   free --bt_devices_assume--> pending --bt_devices_keep, written--> allocated, and reserved for the pod
 *    ^                             |                             |
 *    +------bt_devices_revert------+                             |
 *    +------bt_devices_deallocate, bt_devices_apply, bt_devices_remove
 *
 * What is shown of a claim before it is shown as allocated does not take back what was kept, nor what is
 * shown of an older resource version what was written.
 */
#pragma once

#include "cache/device_view.h"
#include "engine/base/status.h"
#include "engine/model/cluster_event.h"

struct bt_devices;

/* Owns: the caller, until bt_devices_destroy, which ends before the dictionary and the snapshot. */
struct bt_devices *bt_devices_create(struct bt_dictionary *dictionary, const struct bt_snapshot *snapshot);
void bt_devices_destroy(struct bt_devices *devices);

/* Sets what is on and who evaluates selectors; until then all is off and selectors fail. Requires: no
 * objects are there yet. */
void bt_devices_configure(struct bt_devices *devices, const struct bt_device_features *features,
	const struct bt_device_judge *judge);

const struct bt_device_store *bt_devices_view(const struct bt_devices *devices);

/* Adds or replaces an object of a kind that is kept here; others are left alone. Returns whether extended
 * resources may mean other classes now. */
bool bt_devices_apply(struct bt_devices *devices, const struct bt_object *object);

/*
 * What an event says of an object that is about to be applied, compared with what is kept of it. Returns: is
 * it known already, so that it is an update? False for kinds that are not kept here. Owns: held, the names.
 */
bool bt_devices_describe(const struct bt_devices *devices, const struct bt_object *object,
	struct bt_name_refs *held, struct bt_cluster_event_object *out);

/* The same for one that is about to be taken away, which holds the names until then. Returns: is it there? */
bool bt_devices_describe_removal(const struct bt_devices *devices, enum bt_kind kind, uint32_t namespace_,
	uint32_t name, struct bt_cluster_event_object *out);

/* Takes one away. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_devices_remove(
	struct bt_devices *devices, enum bt_kind kind, uint32_t namespace_, uint32_t name);

/* Releases the names of deleted claims, slices and classes and the descriptions of their devices, which stay
 * valid until this call. Requires: nothing refers to them any more. */
void bt_devices_release_names(struct bt_devices *devices);

/* A cycle of this pod begins. now_ns: since the Unix epoch; INT64_MAX: nobody knows. */
void bt_devices_begin(struct bt_devices *devices, uint32_t pod_name, uint32_t pod_uid, int64_t now_ns);

/* Pods that are decided from now on share what claims are getting by pods of the same scope; 0: with nobody.
 */
void bt_devices_share(struct bt_devices *devices, uint64_t scope);

/* A PodGroup is there, or changed, or gone: what claims it has. Without features.group_claims nothing is
 * kept. */
void bt_devices_apply_group(struct bt_devices *devices, const struct bt_pod_group_object *object);
void bt_devices_remove_group(struct bt_devices *devices, uint32_t namespace_, uint32_t name);

/* A pod has been decided, and these allocations with it. Requires: none are pending for it. */
void bt_devices_assume(
	struct bt_devices *devices, uint32_t pod_ix, const struct bt_device_choice *choices, uint32_t n);

/* The pod is bound: its claims are allocated and reserved for it. */
void bt_devices_keep(struct bt_devices *devices, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid);

/* What is pending for a pod, out_n of it; NULL: nothing. Valid until something is assumed, or ends. */
const struct bt_device_choice *bt_devices_pending(
	const struct bt_devices *devices, uint32_t pod_ix, uint32_t *out_n);

/* A ResourceClaim as a pod's binder has written it. Owns: nothing. */
struct bt_written_claim {
	struct bt_str name, uid; /* in the pod's namespace */
	uint64_t version;	 /* its resource version since then, which is never 0 */
	bool reserved; /* for the pod: not, when the binding has failed and that was taken back. For its
			  PodGroup it stays reserved. */
	bool special;  /* it was made for the pod's extended resources */
};

/*
 * The binder of a pod has written one of its claims: what was pending for it is allocated, whatever becomes
 * of the pod, and older events of the claim do not change that.
 * Returns: the claim; BT_NO_CLAIM: it has gone. When a younger one has been shown meanwhile, it is that.
 * out_changes: what is new in it, BT_CHANGED_*; 0: all of it has been shown.
 */
uint32_t bt_devices_written(struct bt_devices *devices, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid, const struct bt_written_claim *written, uint32_t *out_changes);

/* Forgets which pools nodes can reach, which is found again when it is asked for: what was asked for is
 * invalid afterwards. */
void bt_devices_forget_nodes(struct bt_devices *devices);

/* A pod that was bound has gone: what a claim of its got from bt_devices_keep is what is shown of it from now
 * on.
 * Returns: true when it has been shown as free: then bt_devices_deallocate is due for out_claim_ix. */
bool bt_devices_let_go(struct bt_devices *devices, uint32_t pod_ix, uint32_t namespace_, uint32_t name,
	uint32_t *out_claim_ix);

/* The pod's binding has failed, or the pod was deleted before it was bound. */
void bt_devices_revert(struct bt_devices *devices, uint32_t pod_ix);

/* Takes a claim's allocation and reservations back. Requires: it is live. */
void bt_devices_deallocate(struct bt_devices *devices, uint32_t claim_ix);

/* A claim is reserved for this consumer no more. Returns: was it? Requires: it is live. */
bool bt_devices_unreserve(struct bt_devices *devices, uint32_t claim_ix, uint32_t uid);
