/* SPDX-License-Identifier: Apache-2.0
 * A fake API server: objects with UIDs and resourceVersions, and for each kind the log of its changes, which
 * is what a watch shows.
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
	uint32_t shown; /* to which schedulers, by a watch, not only by a list that came after it */
	struct sim_object
		object; /* of one that has gone: not there, its last state and a version of its own */
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

/* What the server says, as HTTP does. */
enum sim_reply { SIM_CREATED = 201, SIM_NOT_FOUND = 404, SIM_CONFLICT = 409, SIM_SERVER_ERROR = 500 };

/* The API object as a stream shows it; it lives in the arena. */
const struct bt_object *sim_shown(
	struct bt_arena *arena, enum sim_stream stream, uint32_t ix, const struct sim_object *object);

/* Owns: sim_api_fini. All zeroes is an empty one. */
void sim_api_fini(struct sim_api *api);

/* Creates an object (a new UID) or says anew what it is; the object's own fields are taken from what. */
void sim_api_put(struct sim_api *api, enum sim_stream stream, uint32_t ix, const struct sim_object *what);
void sim_api_remove(struct sim_api *api, enum sim_stream stream, uint32_t ix);

/* pods/binding. Source: BindingREST.assignPod, v1.36.3. */
enum sim_reply sim_api_bind(struct sim_api *api, uint32_t slot, uint32_t uid, uint32_t node);

/* Deletes a pod: at once when it is on no node and nothing keeps it, else it goes when its grace is over. */
void sim_api_delete_pod(struct sim_api *api, uint32_t slot, int64_t now_ns, int64_t grace_s, bool preempted);

/*
 * What a binder writes before it binds: the ResourceClaim has that device and is reserved for the pod.
 * Returns: false when the claim has gone, or has another device, or no room. Source: bindClaim, v1.36.3.
 */
bool sim_api_reserve_device(struct sim_api *api, uint32_t claim, uint32_t claim_uid, uint32_t uid,
	uint32_t node, uint32_t device);

/* A pod does not use its claims any more: the binder's part when it fails, the claim controller's otherwise,
 * which frees the device later. */
void sim_api_release_devices(struct sim_api *api, uint32_t uid);

/* An allocation that nobody uses is taken back. */
void sim_api_deallocate(struct sim_api *api, uint32_t claim);

/* The kubelet's part: pods whose grace is over are gone; and the claim controller's: devices that nobody uses
 * are free.
 */
void sim_api_finish_pods(struct sim_api *api, int64_t now_ns);

/* How many events of a log came after that version. */
static inline uint32_t sim_log_since(const struct sim_log *log, uint64_t version)
{
	uint32_t n = 0;

	while (n < log->n && log->events[log->n - 1 - n].object.version > version) {
		n++;
	}
	return n;
}
