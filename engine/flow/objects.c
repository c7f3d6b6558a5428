/* SPDX-License-Identifier: Apache-2.0
 * The objects that come and go: what becomes of them in the cache, and which waiting pods they wake.
 */
#include "engine/flow/engine_int.h"

enum bt_status bt_engine_apply_node(
	struct bt_engine *engine, const struct bt_node_object *object, uint32_t *out_node_ix)
{
	enum bt_status status = bt_ingest_node(engine->cache, object, out_node_ix);

	bt_queue_move_all(engine->queue);
	return status;
}

void bt_engine_apply_namespace(struct bt_engine *engine, const struct bt_namespace_object *object)
{
	bt_ingest_namespace(engine->cache, object);
}

void bt_engine_apply_service(struct bt_engine *engine, const struct bt_service_object *object)
{
	bt_ingest_service(engine->cache, object);
}

void bt_engine_apply_controller(
	struct bt_engine *engine, enum bt_kind kind, const struct bt_workload_object *object)
{
	bt_ingest_controller(engine->cache, kind, object);
}

void bt_engine_apply_budget(struct bt_engine *engine, const struct bt_pdb_object *object)
{
	bt_ingest_budget(engine->cache, object);
}

enum bt_status bt_engine_delete_object(
	struct bt_engine *engine, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	return bt_ingest_delete(engine->cache, kind, namespace_, name);
}

void bt_engine_apply_storage(struct bt_engine *engine, const struct bt_object *object)
{
	if (bt_volumes_has_kind(object->kind)) {
		bt_ingest_storage(engine->cache, object);
		bt_queue_move_all(engine->queue);
	}
}

void bt_engine_apply_devices(struct bt_engine *engine, const struct bt_object *object)
{
	if (bt_devices_has_kind(object->kind)) {
		bt_ingest_devices(engine->cache, object);
		bt_queue_move_all(engine->queue);
	}
}

static bool foreign(const struct bt_engine *engine, const struct bt_pod_object *object)
{
	return !bt_engine_lane_of(
		engine, bt_intern_find(engine->cache->dictionary->intern, object->spec.scheduler_name));
}

enum bt_status bt_engine_add_pod(struct bt_engine *engine, const struct bt_pod_object *object,
	enum bt_entry *out_entry, uint32_t *out_pod_ix)
{
	bool waits = object->spec.node_name.len == 0;

	*out_pod_ix = BT_NO_POD;
	if (waits && foreign(engine, object)) {
		*out_entry = BT_ENTERED_FOREIGN;
		return BT_OK;
	}
	if (waits && object->meta.deletion_ns) {
		*out_entry = BT_ENTERED_DELETING;
		return BT_OK;
	}
	enum bt_status status = bt_ingest_pod(engine->cache, object, out_pod_ix);
	if (status != BT_OK) {
		return status;
	}
	if (*out_pod_ix == BT_NO_POD) {
		*out_entry = BT_ENTERED_ENDED;
		return BT_OK;
	}
	if (!waits) {
		*out_entry = BT_ENTERED_SCHEDULED;
		return BT_OK;
	}
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, *out_pod_ix);
	bool gated = pod->gates && bt_engine_lane_of_pod(engine, *out_pod_ix)->profile.gates_checked;
	int64_t since_ns = pod->creation_ns;
	if (!since_ns && engine->options.clock.now_ns) {
		since_ns = bt_clock_now_ns(&engine->options.clock);
	}
	bt_queue_push(
		engine->queue, *out_pod_ix, pod->priority, since_ns, gated ? BT_WAIT_GATED : BT_WAIT_ACTIVE);
	*out_entry = gated ? BT_ENTERED_GATED : BT_ENTERED_QUEUE;
	/* A promise to a pod that is kept out of the queue does not count. */
	if (!gated) {
		bt_ingest_nomination(engine->cache, *out_pod_ix, object->nominated_node_name);
	}
	return BT_OK;
}

void bt_engine_evict(struct bt_engine *engine, uint32_t pod_ix)
{
	bt_ledger_set_preempted(engine->cache->ledger, pod_ix);
}

void bt_engine_remove_pod(struct bt_engine *engine, uint32_t pod_ix)
{
	bool used = bt_ledger_pod(engine->cache->ledger, pod_ix)->state != BT_POD_QUEUED;

	/* A pod that is in its cycle or refused for good waits nowhere. */
	bt_queue_remove(engine->queue, pod_ix);
	bt_volumes_revert(engine->cache->volumes, pod_ix);
	bt_devices_revert(engine->cache->devices, pod_ix);
	bt_ledger_remove(engine->cache->ledger, pod_ix);
	if (used) {
		bt_queue_move_all(engine->queue);
	}
}
