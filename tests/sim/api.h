/* SPDX-License-Identifier: Apache-2.0
 * A fake API server: objects with UIDs and resourceVersions, and for each kind a log of
 * changes that watches read.
 */
#pragma once

#include "plain.h"

enum sim_stream {
	SIM_NODE_STREAM = 0,
	SIM_POD_STREAM,
	SIM_CLAIM_STREAM,
	SIM_VOLUME_STREAM,
	SIM_BUDGET_STREAM,
	SIM_GROUP_STREAM,
	SIM_SLICE_STREAM,
	SIM_DEVICE_STREAM,
	SIM_STREAM_N
};

struct sim_event {
	uint32_t ix;
	uint32_t shown; /* bitmap of the schedulers that got it by a watch, not only by a later list */
	struct sim_object object; /* a deletion: not there, with the last state and its own version */
};

struct sim_log {
	struct sim_event *events;
	uint32_t n;
	size_t cap;
};

struct sim_api {
	uint64_t version;
	uint32_t uid_n;
	struct sim_object objects[SIM_STREAM_N][SIM_OBJECTS];
	struct sim_log logs[SIM_STREAM_N];
};

/* Responses, with HTTP's numbers. */
enum sim_reply { SIM_CREATED = 201, SIM_NOT_FOUND = 404, SIM_CONFLICT = 409, SIM_SERVER_ERROR = 500 };

/* The API object as a stream delivers it; it lives in the arena. */
const struct bt_object *sim_shown(
	struct bt_arena *arena, enum sim_stream stream, uint32_t ix, const struct sim_object *object);

/* Owns: sim_api_fini. A zero-initialised one is empty. */
void sim_api_fini(struct sim_api *api);

/* Creates an object (with a new UID) or updates it; takes the object's own fields from what. */
void sim_api_put(struct sim_api *api, enum sim_stream stream, uint32_t ix, const struct sim_object *what);
void sim_api_remove(struct sim_api *api, enum sim_stream stream, uint32_t ix);

/* pods/binding. Source: BindingREST.assignPod, v1.36.3. */
enum sim_reply sim_api_bind(struct sim_api *api, uint32_t slot, uint32_t uid, uint32_t node);

/* Deletes a pod: immediately if it is on no node and has no finalizer, else after its grace period. */
void sim_api_delete_pod(struct sim_api *api, uint32_t slot, int64_t now_ns, int64_t grace_s, bool preempted);

/*
 * The binder's writes before it binds: the ResourceClaim has that device and is reserved for the pod.
 * Returns: false when the claim was deleted, or has another device, or no room. Source: bindClaim, v1.36.3.
 */
bool sim_api_reserve_device(struct sim_api *api, uint32_t claim, uint32_t claim_uid, uint32_t uid,
	uint32_t node, uint32_t device);

/* A pod no longer uses its claims: after a failure the binder does this, otherwise the claim controller,
 * which frees the device later. */
void sim_api_release_devices(struct sim_api *api, uint32_t uid);

/* Removes an allocation that no pod uses. */
void sim_api_deallocate(struct sim_api *api, uint32_t claim);

/* The kubelet removes pods after their grace period; the claim controller frees unused devices. */
void sim_api_finish_pods(struct sim_api *api, int64_t now_ns);

/* The number of events in a log after that version. */
static inline uint32_t sim_log_since(const struct sim_log *log, uint64_t version)
{
	uint32_t n = 0;

	while (n < log->n && log->events[log->n - 1 - n].object.version > version) {
		n++;
	}
	return n;
}
