/* SPDX-License-Identifier: Apache-2.0
 * The fake API server.
 */
#include "api.h"

#include <stdlib.h>

const struct bt_object *sim_shown(
	struct bt_arena *arena, enum sim_stream stream, uint32_t ix, const struct sim_object *object)
{
	struct bt_object *pod;

	switch (stream) {
	case SIM_NODE_STREAM:
		return sim_node_object(arena, ix, object);
	case SIM_CLAIM_STREAM:
		return sim_claim_object(arena, ix, object);
	case SIM_VOLUME_STREAM:
		return sim_volume_object(arena, ix, object);
	case SIM_BUDGET_STREAM:
		return sim_budget_object(arena, ix, object);
	case SIM_GROUP_STREAM:
		return sim_group_object(arena, ix, object);
	case SIM_SLICE_STREAM:
		return sim_slice_object(arena, ix, object);
	case SIM_DEVICE_STREAM:
		return sim_device_claim_object(arena, ix, object);
	default:
		pod = bt_arena_zalloc(arena, sizeof(*pod));
		pod->kind = BT_KIND_POD;
		pod->pod = *sim_pod_object(arena, ix, object);
		return pod;
	}
}

void sim_api_fini(struct sim_api *api)
{
	for (int i = 0; i < SIM_STREAM_N; i++) {
		free(api->logs[i].events);
	}
}

static void log_event(struct sim_api *api, enum sim_stream stream, uint32_t ix)
{
	struct sim_log *log = &api->logs[stream];

	if (log->n == log->cap) {
		log->cap = log->cap ? log->cap * 2 : 128;
		log->events = realloc(log->events, log->cap * sizeof(*log->events));
	}
	api->objects[stream][ix].version = ++api->version;
	log->events[log->n++] = (struct sim_event){.ix = ix, .object = api->objects[stream][ix]};
}

void sim_api_put(struct sim_api *api, enum sim_stream stream, uint32_t ix, const struct sim_object *what)
{
	struct sim_object *object = &api->objects[stream][ix];
	uint32_t uid = object->there ? object->uid : ++api->uid_n;

	*object = *what;
	object->there = true;
	object->uid = uid;
	log_event(api, stream, ix);
	if (stream == SIM_POD_STREAM && object->pod.ended) {
		sim_api_release_devices(api, uid);
	}
}

void sim_api_remove(struct sim_api *api, enum sim_stream stream, uint32_t ix)
{
	if (api->objects[stream][ix].there) {
		api->objects[stream][ix].there = false;
		log_event(api, stream, ix);
		if (stream == SIM_POD_STREAM) {
			sim_api_release_devices(api, api->objects[stream][ix].uid);
		}
	}
}

/* ---- ResourceClaims ---- */

bool sim_api_reserve_device(
	struct sim_api *api, uint32_t claim, uint32_t claim_uid, uint32_t uid, uint32_t node, uint32_t device)
{
	struct sim_object *object = &api->objects[SIM_DEVICE_STREAM][claim];
	struct sim_device_claim_spec *spec = &object->device_claim;

	if (!object->there || object->uid != claim_uid || spec->user_n == SIM_USERS ||
		(spec->node != SIM_NONE && spec->node != node) ||
		(spec->node == SIM_NONE && device == SIM_NONE) ||
		(spec->node != SIM_NONE && device != SIM_NONE)) {
		return false;
	}
	if (spec->node == SIM_NONE) {
		spec->node = node;
		spec->device = device;
	}
	spec->users[spec->user_n++] = uid;
	log_event(api, SIM_DEVICE_STREAM, claim);
	return true;
}

void sim_api_release_devices(struct sim_api *api, uint32_t uid)
{
	for (uint32_t claim = 0; claim < SIM_DEVICE_CLAIMS; claim++) {
		struct sim_device_claim_spec *spec = &api->objects[SIM_DEVICE_STREAM][claim].device_claim;

		for (uint32_t i = 0; i < spec->user_n; i++) {
			if (spec->users[i] != uid) {
				continue;
			}
			spec->users[i] = spec->users[--spec->user_n];
			log_event(api, SIM_DEVICE_STREAM, claim);
			break;
		}
	}
}

void sim_api_deallocate(struct sim_api *api, uint32_t claim)
{
	struct sim_object *object = &api->objects[SIM_DEVICE_STREAM][claim];

	if (object->there && object->device_claim.user_n == 0 && object->device_claim.node != SIM_NONE) {
		object->device_claim.node = SIM_NONE;
		log_event(api, SIM_DEVICE_STREAM, claim);
	}
}

enum sim_reply sim_api_bind(struct sim_api *api, uint32_t slot, uint32_t uid, uint32_t node)
{
	struct sim_object *object = &api->objects[SIM_POD_STREAM][slot];

	if (!object->there) {
		return SIM_NOT_FOUND;
	}
	if (object->uid != uid || object->pod.deletion_ns || object->pod.node != SIM_NONE) {
		return SIM_CONFLICT;
	}
	object->pod.node = node;
	object->pod.nominated = SIM_NONE;
	log_event(api, SIM_POD_STREAM, slot);
	return SIM_CREATED;
}

void sim_api_delete_pod(struct sim_api *api, uint32_t slot, int64_t now_ns, int64_t grace_s, bool preempted)
{
	struct sim_object *object = &api->objects[SIM_POD_STREAM][slot];

	if (!object->there) {
		return;
	}
	if ((object->pod.node == SIM_NONE && !object->pod.spec.finalized) || object->pod.ended ||
		grace_s == 0) {
		sim_api_remove(api, SIM_POD_STREAM, slot);
		return;
	}
	if (object->pod.deletion_ns == 0) {
		object->pod.deletion_ns = now_ns + grace_s * 1000000000;
		object->pod.preempted = preempted;
		log_event(api, SIM_POD_STREAM, slot);
	}
}

void sim_api_finish_pods(struct sim_api *api, int64_t now_ns)
{
	for (uint32_t claim = 0; claim < SIM_DEVICE_CLAIMS; claim++) {
		sim_api_deallocate(api, claim);
	}
	for (uint32_t slot = 0; slot < SIM_PODS; slot++) {
		const struct sim_object *object = &api->objects[SIM_POD_STREAM][slot];

		if (object->there && object->pod.deletion_ns && object->pod.deletion_ns <= now_ns) {
			sim_api_remove(api, SIM_POD_STREAM, slot);
		}
	}
}
