/* SPDX-License-Identifier: Apache-2.0
 * Passes events to the queue.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

struct bt_str bt_engine_name(const struct bt_engine *engine, uint32_t name)
{
	return name == BT_NAME_NONE ? (struct bt_str){0}
				    : bt_intern_str(engine->cache->dictionary->intern, name);
}

bool bt_engine_may_requeue(const struct bt_engine *engine)
{
	return bt_queue_may_requeue(engine->queue);
}

struct bt_cluster_event_pod bt_engine_event_pod(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	return (struct bt_cluster_event_pod){
		.signature = pod->signature,
		.name = pod->name,
		.uid = pod->uid,
		.node = pod->node_ix == BT_NO_NODE ? BT_NAME_NONE
						   : engine->cache->view.snapshot->nodes[pod->node_ix].name,
		.nominated = pod->status_node != BT_NAME_NONE,
		.gated = pod->gates != BT_NAME_NONE,
		.priority = pod->priority,
	};
}

void bt_engine_requeue(
	struct bt_engine *engine, const struct bt_cluster_event *event, int32_t max_priority, uint32_t own_ix)
{
	if (engine->metrics) {
		bt_cycle_metrics_note_event(
			engine->metrics, bt_cluster_event_label(event->resource, event->action));
	}
	if (bt_engine_may_requeue(engine)) {
		bt_queue_move(
			engine->queue, event, max_priority, own_ix, bt_scheduling_clock_now(&engine->clock));
	}
}

void bt_engine_requeue_for_pod(
	struct bt_engine *engine, uint32_t action, const struct bt_cluster_event_pod *pod)
{
	struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_ASSIGNED_POD, .action = action};

	*(action == BT_DELETE ? &event.pod.old : &event.pod.new) = *pod;
	bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
}

void bt_engine_requeue_others(
	struct bt_engine *engine, const struct bt_cluster_event_pod *gone, uint32_t pod_ix)
{
	const struct bt_cluster_event event = {
		.resource = BT_CLUSTER_EVENT_ASSIGNED_POD, .action = BT_DELETE, .pod.old = *gone};

	if (engine->metrics) {
		bt_cycle_metrics_note_event(
			engine->metrics, bt_cluster_event_label(event.resource, event.action));
	}
	if (bt_engine_may_requeue(engine)) {
		bt_queue_move_others(engine->queue, &event, pod_ix, bt_scheduling_clock_now(&engine->clock));
	}
}

void bt_engine_requeue_for_nomination(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_cluster_event_pod *old)
{
	const struct bt_cluster_event event = {
		.resource = BT_CLUSTER_EVENT_ASSIGNED_POD, .action = BT_DELETE, .pod.old = *old};

	bt_engine_requeue(engine, &event, old->priority, pod_ix);
}

void bt_engine_status_node(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t name =
		node_ix == BT_NO_NODE ? BT_NAME_NONE : engine->cache->view.snapshot->nodes[node_ix].name;
	uint32_t before = bt_ledger_pod(ledger, pod_ix)->status_node;

	if (before == name || engine->options.status_is_shown) {
		return;
	}
	const struct bt_cluster_event_pod old = bt_engine_event_pod(engine, pod_ix);
	bt_ledger_set_status_node(ledger, pod_ix, name, node_ix);
	if (before != BT_NAME_NONE) {
		bt_engine_requeue_for_nomination(engine, pod_ix, &old);
	}
}

static void requeue_for_claim(
	struct bt_engine *engine, uint32_t namespace_, uint32_t name, uint32_t uid, uint32_t changes)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_RESOURCE_CLAIM,
		.action = BT_UPDATE,
		.object = {.namespace_ = namespace_, .name = name, .uid = uid, .changes = changes}};

	bt_kept_events_arena(&engine->kept_events);
	bt_kept_events_hold(&engine->kept_events, &event.object);
	bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
}

void bt_engine_requeue_for_claim(struct bt_engine *engine, uint32_t claim_ix, uint32_t changes)
{
	const struct bt_resource_claim *claim = &engine->cache->view.devices->claims[claim_ix];

	requeue_for_claim(engine, claim->namespace_, claim->name, claim->uid, changes);
}

void bt_engine_requeue_for_devices(struct bt_engine *engine, const struct bt_signature *signature)
{
	requeue_for_claim(engine, signature->namespace_, BT_NAME_EMPTY, BT_NAME_EMPTY,
		BT_CHANGED_ALLOCATION_LOST | BT_CHANGED_CLAIM_STATUS);
}

void bt_engine_unkeep_claims(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
	uint32_t claim_ix;

	for (uint32_t i = 0; i < signature->claim_n; i++) {
		if (bt_devices_unkeep(engine->cache->devices, pod_ix, signature->namespace_,
			    signature->claims[i].claim, &claim_ix)) {
			bt_devices_deallocate(engine->cache->devices, claim_ix);
			bt_engine_requeue_for_claim(
				engine, claim_ix, BT_CHANGED_ALLOCATION_LOST | BT_CHANGED_CLAIM_STATUS);
		}
	}
}

void bt_engine_revert_devices(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_devices *devices = engine->cache->devices;
	uint32_t n = 0;
	const struct bt_device_choice *choices = bt_devices_pending(devices, pod_ix, &n);

	for (uint32_t i = 0; bt_engine_may_requeue(engine) && choices && i < n; i++) {
		uint32_t claim_ix = choices[i].claim_ix;

		if (claim_ix == BT_NO_CLAIM) {
			continue;
		}
		if (!engine->cache->view.devices->claims[claim_ix].live) {
			bt_engine_requeue_for_devices(
				engine, bt_ledger_pod(engine->cache->ledger, pod_ix)->signature);
		} else {
			bt_engine_requeue_for_claim(
				engine, claim_ix, BT_CHANGED_ALLOCATION_LOST | BT_CHANGED_CLAIM_STATUS);
		}
	}
	bt_devices_revert(devices, pod_ix);
}
