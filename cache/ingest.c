/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: objects become interned values.
 */
#include "cache/ingest.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

/* The most nodes that are moved to lower slots after an event: a number, or this part of the slots. */
#define MOVES_MIN  8
#define MOVES_PART 1024

struct bt_ingest_worker {
	struct bt_dictionary *dictionary;
	struct bt_signature_maker *maker;
	struct bt_buf text; /* scratch */
};

struct bt_ingest_worker *bt_ingest_worker_create(
	struct bt_dictionary *dictionary, struct bt_signatures *signatures)
{
	struct bt_ingest_worker *worker = bt_mem_zalloc(1, sizeof(*worker));

	BT_REQUIRE(dictionary && signatures);
	worker->dictionary = dictionary;
	worker->maker = bt_signature_maker_create(signatures);
	return worker;
}

void bt_ingest_worker_destroy(struct bt_ingest_worker *worker)
{
	if (worker) {
		bt_signature_maker_destroy(worker->maker);
		bt_buf_fini(&worker->text);
		bt_mem_free(worker);
	}
}

struct bt_cache *bt_cache_create(void)
{
	struct bt_cache *cache = bt_mem_zalloc(1, sizeof(*cache));

	cache->dictionary = bt_dictionary_create();
	cache->signatures = bt_signatures_create(cache->dictionary);
	cache->publisher = bt_publisher_create();
	cache->snapshot = bt_snapshot_create(cache->dictionary);
	cache->ledger = bt_ledger_create();
	cache->counters = bt_counters_create(cache->dictionary, cache->snapshot);
	cache->volumes = bt_volumes_create(cache->dictionary, bt_snapshot_view(cache->snapshot));
	cache->devices = bt_devices_create(cache->dictionary, bt_snapshot_view(cache->snapshot));
	cache->worker = bt_ingest_worker_create(cache->dictionary, cache->signatures);
	bt_ledger_hold_in(cache->ledger, cache->dictionary->intern);
	bt_ledger_count_in(cache->ledger, cache->counters);
	bt_ledger_mount_in(cache->ledger, cache->volumes);
	cache->view = (struct bt_view){bt_snapshot_view(cache->snapshot), bt_ledger_usage(cache->ledger),
		bt_counters_view(cache->counters), bt_volumes_view(cache->volumes),
		bt_devices_view(cache->devices)};
	return cache;
}

void bt_cache_destroy(struct bt_cache *cache)
{
	if (!cache) {
		return;
	}
	bt_ledger_destroy(cache->ledger);
	bt_counters_destroy(cache->counters);
	bt_volumes_destroy(cache->volumes);
	bt_devices_destroy(cache->devices);
	bt_snapshot_destroy(cache->snapshot);
	bt_publisher_destroy(cache->publisher);
	bt_ingest_worker_destroy(cache->worker);
	bt_signatures_destroy(cache->signatures);
	bt_budgets_fini(&cache->budgets);
	bt_dictionary_destroy(cache->dictionary);
	bt_mem_free(cache);
}

void bt_ingest_namespace(struct bt_cache *cache, const struct bt_namespace_object *object)
{
	if (bt_namespaces_apply(bt_counters_namespaces(cache->counters), cache->dictionary->intern, object)) {
		bt_counters_touch_namespaces(cache->counters);
	}
}

void bt_ingest_service(struct bt_cache *cache, const struct bt_service_object *object)
{
	bt_default_spread_selectors_apply_service(
		bt_counters_spread_sources(cache->counters), cache->dictionary->intern, object);
	bt_counters_touch_spread_sources(cache->counters);
}

void bt_ingest_storage(struct bt_cache *cache, const struct bt_object *object)
{
	bt_volumes_apply(cache->volumes, object);
}

void bt_ingest_devices(struct bt_cache *cache, const struct bt_object *object)
{
	if (bt_devices_apply(cache->devices, object)) {
		/* Node predicates depend on which resources devices back. */
		bt_snapshot_touch(cache->snapshot);
	}
}

static enum bt_owner_kind owner_kind(enum bt_kind kind)
{
	switch (kind) {
	case BT_KIND_REPLICATION_CONTROLLER:
		return BT_OWNER_REPLICATION_CONTROLLER;
	case BT_KIND_REPLICA_SET:
		return BT_OWNER_REPLICA_SET;
	case BT_KIND_STATEFUL_SET:
		return BT_OWNER_STATEFUL_SET;
	default:
		return BT_OWNER_NONE;
	}
}

void bt_ingest_controller(struct bt_cache *cache, enum bt_kind kind, const struct bt_workload_object *object)
{
	if (owner_kind(kind) == BT_OWNER_NONE) {
		return;
	}
	bt_default_spread_selectors_apply_controller(bt_counters_spread_sources(cache->counters),
		cache->dictionary->intern, owner_kind(kind), object);
	bt_counters_touch_spread_sources(cache->counters);
}

void bt_ingest_budget(struct bt_cache *cache, const struct bt_pdb_object *object)
{
	bt_budgets_apply(&cache->budgets, cache->dictionary->intern, object);
}

enum bt_status bt_ingest_delete_named(
	struct bt_cache *cache, enum bt_kind kind, uint32_t namespace_, uint32_t name)
{
	enum bt_status status = BT_NOT_FOUND;

	switch (bt_kind_store(kind)) {
	case BT_STORE_BUDGETS:
		return bt_budgets_remove(&cache->budgets, namespace_, name);
	case BT_STORE_NAMESPACES:
		status = bt_namespaces_remove(bt_counters_namespaces(cache->counters), name);
		bt_counters_touch_namespaces(cache->counters);
		return status;
	case BT_STORE_VOLUMES:
		return bt_volumes_remove(cache->volumes, kind, namespace_, name);
	case BT_STORE_DEVICES:
		status = bt_devices_remove(cache->devices, kind, namespace_, name);
		if (kind == BT_KIND_DEVICE_CLASS && status == BT_OK) {
			bt_snapshot_touch(cache->snapshot);
		}
		return status;
	case BT_STORE_SERVICES:
		status = bt_default_spread_selectors_remove_service(
			bt_counters_spread_sources(cache->counters), namespace_, name);
		break;
	case BT_STORE_CONTROLLERS:
		status = bt_default_spread_selectors_remove_controller(
			bt_counters_spread_sources(cache->counters), owner_kind(kind), namespace_, name);
		break;
	default:
		return BT_NOT_FOUND;
	}
	bt_counters_touch_spread_sources(cache->counters);
	return status;
}

static uint32_t join_gates(struct bt_ingest_worker *worker, const struct bt_str_list *gates)
{
	if (gates->n == 0) {
		return BT_NAME_NONE;
	}
	bt_buf_clear(&worker->text);
	for (uint32_t i = 0; i < gates->n; i++) {
		if (i) {
			bt_buf_char(&worker->text, ' ');
		}
		bt_buf_str(&worker->text, gates->items[i]);
	}
	return bt_intern_hold(worker->dictionary->intern, bt_buf_view(&worker->text));
}

/* Source: podTerminatingByPreemption, v1.36.3: only the first condition of the type counts. */
static bool preempted(const struct bt_pod_object *object)
{
	for (uint32_t i = 0; object->meta.deletion_ns && i < object->condition_n; i++) {
		const struct bt_condition_object *condition = &object->conditions[i];

		if (bt_str_is(condition->type, "DisruptionTarget")) {
			return bt_str_is(condition->status, "True") &&
			       bt_str_is(condition->reason, "PreemptionByScheduler");
		}
	}
	return false;
}

bool bt_ingest_pod_has_ended(const struct bt_pod_object *object)
{
	return bt_str_is(object->phase, "Succeeded") || bt_str_is(object->phase, "Failed");
}

/* A name, held; none for an empty string. */
static uint32_t name_of(struct bt_ingest_worker *worker, struct bt_str text)
{
	return text.len ? bt_intern_hold(worker->dictionary->intern, text) : BT_NAME_NONE;
}

/* Initializes the common fields of a delta. */
static void begin_delta(
	struct bt_ingest_worker *worker, enum bt_kind kind, struct bt_str name, struct bt_delta *out_delta)
{
	struct bt_intern *intern = worker->dictionary->intern;

	*out_delta = (struct bt_delta){.kind = kind, .holder = intern, .name = bt_intern_hold(intern, name)};
	if (kind == BT_KIND_NODE) {
		out_delta->node.slot = BT_NO_NODE;
	}
	BT_INVARIANT(out_delta->name != BT_NAME_NONE);
}

void bt_ingest_prefetch(const struct bt_ingest_worker *worker, const struct bt_meta_object *meta)
{
	bt_intern_prefetch(worker->dictionary->intern, meta->name);
	if (meta->uid.len) {
		bt_intern_prefetch(worker->dictionary->intern, meta->uid);
	}
}

/* Holds a pod's names and signature: it may be their only holder. */
static void describe_living_pod(
	struct bt_ingest_worker *worker, const struct bt_pod_object *object, struct bt_delta *delta)
{
	/* First, to give the prefetches for the names time. */
	const struct bt_signature *signature = bt_signature_make(worker->maker, object);

	begin_delta(worker, BT_KIND_POD, object->meta.name, delta);
	delta->namespace_ = signature->namespace_;
	delta->status = bt_requests_incomplete(&signature->requests) ? BT_FULL : BT_OK;
	delta->pod.node = name_of(worker, object->spec.node_name);
	delta->pod.pod = (struct bt_pod){
		.signature = signature,
		.name = delta->name,
		.uid = name_of(worker, object->meta.uid),
		.node_ix = BT_NO_NODE,
		.priority = object->spec.has_priority ? object->spec.priority : 0,
		.gates = join_gates(worker, &object->spec.scheduling_gates),
		.creation_ns = object->meta.creation_ns,
		.start_ns = object->start_ns,
		.terminating = object->meta.deletion_ns != 0,
		.preempted = preempted(object),
		.never_preempts = bt_str_is(object->spec.preemption_policy, "Never"),
		.status_node = name_of(worker, object->nominated_node_name),
		.status_ix = BT_NO_NODE,
	};
	BT_INVARIANT(delta->pod.pod.name == delta->name && delta->pod.pod.signature == signature);
}

void bt_ingest_describe_pod(
	struct bt_ingest_worker *worker, const struct bt_pod_object *object, struct bt_delta *out_delta)
{
	if (bt_ingest_pod_has_ended(object)) {
		begin_delta(worker, BT_KIND_POD, object->meta.name, out_delta);
		out_delta->namespace_ = bt_intern_hold(worker->dictionary->intern, object->meta.namespace_);
		out_delta->pod.ended = true;
	} else {
		describe_living_pod(worker, object, out_delta);
	}
}

void bt_ingest_describe_node(
	struct bt_ingest_worker *worker, const struct bt_node_object *object, struct bt_delta *out_delta)
{
	begin_delta(worker, BT_KIND_NODE, object->meta.name, out_delta);
	out_delta->namespace_ = BT_NAME_EMPTY;
	out_delta->node.desc = bt_node_desc_create(worker->dictionary, object);
}

void bt_ingest_describe(struct bt_ingest_worker *worker, const struct bt_object *object,
	struct bt_arena *arena, struct bt_delta *out_delta)
{
	if (object->kind == BT_KIND_POD) {
		bt_ingest_describe_pod(worker, &object->pod, out_delta);
		return;
	}
	if (object->kind == BT_KIND_NODE) {
		bt_ingest_describe_node(worker, &object->node, out_delta);
		return;
	}
	begin_delta(worker, object->kind, object->meta.name, out_delta);
	out_delta->namespace_ = bt_intern_hold(worker->dictionary->intern, object->meta.namespace_);
	out_delta->object.object = object;
	if (arena) {
		out_delta->object.arena = *arena;
		*arena = (struct bt_arena){0};
	}
}

void bt_ingest_describe_removal(struct bt_ingest_worker *worker, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct bt_delta *out_delta)
{
	begin_delta(worker, kind, name, out_delta);
	out_delta->namespace_ = bt_intern_hold(worker->dictionary->intern, namespace_);
	out_delta->removed = true;
}

/* A pod's signature holds its namespace. */
static bool holds_signature(const struct bt_delta *delta)
{
	return delta->kind == BT_KIND_POD && delta->pod.pod.signature;
}

void bt_delta_drop(struct bt_delta *delta)
{
	if (delta->kind == BT_KIND_NODE && delta->node.taken) {
		bt_node_desc_defer(delta->node.old);
	} else if (delta->kind == BT_KIND_NODE) {
		bt_node_desc_destroy(delta->node.desc);
	} else if (delta->kind != BT_KIND_POD && !delta->removed) {
		bt_arena_fini(&delta->object.arena);
	}
	if (delta->holder) {
		if (delta->kind == BT_KIND_POD) {
			bt_intern_prefetch_name(delta->holder, delta->pod.pod.uid);
		}
		bt_intern_release(delta->holder, delta->name);
		if (delta->kind == BT_KIND_POD) {
			bt_intern_release(delta->holder, delta->pod.pod.uid);
			bt_intern_release(delta->holder, delta->pod.pod.gates);
			bt_intern_release(delta->holder, delta->pod.pod.status_node);
			bt_intern_release(delta->holder, delta->pod.node);
			bt_signature_release(delta->pod.pod.signature);
		}
		if (!holds_signature(delta)) {
			bt_intern_release(delta->holder, delta->namespace_);
		}
		delta->holder = NULL;
	}
}

void bt_ingest_publish(struct bt_cache *cache, struct bt_delta *delta)
{
	BT_REQUIRE(delta->holder);
	bt_publisher_take(cache->publisher, delta);
	bt_publisher_publish(cache->publisher);
}

/* The slot of a node name. */
static uint32_t slot_of(struct bt_cache *cache, uint32_t name)
{
	uint32_t slot = BT_NO_NODE;

	if (name != BT_NAME_NONE) {
		slot = bt_snapshot_enter(cache->snapshot, name);
		bt_ledger_reserve(cache->ledger, cache->view.snapshot->slot_n);
	}
	return slot;
}

void bt_ingest_give_slots(struct bt_cache *cache, struct bt_delta *delta)
{
	if (delta->kind == BT_KIND_NODE && delta->node.taken) {
		delta->node.slot = slot_of(cache, delta->name);
		BT_INVARIANT(delta->node.slot < cache->view.snapshot->slot_n);
	} else if (bt_delta_places_pod(delta)) {
		struct bt_pod *pod = &delta->pod.pod;

		pod->node_ix = slot_of(cache, delta->pod.node);
		/* The nomination of a pod on a node is irrelevant. */
		BT_INVARIANT(pod->node_ix == BT_NO_NODE || pod->node_ix < cache->view.snapshot->slot_n);
		pod->status_ix = pod->node_ix == BT_NO_NODE ? slot_of(cache, pod->status_node) : BT_NO_NODE;
	}
}

void bt_cache_adopt_node(struct bt_cache *cache, const struct bt_node_delta *node)
{
	if (bt_snapshot_adopt(cache->snapshot, node->slot, node->old, node->desc)) {
		bt_ledger_redescribe(cache->ledger, node->slot);
	}
}

void bt_ingest_adopt(struct bt_cache *cache, struct bt_delta *delta)
{
	bt_ingest_give_slots(cache, delta);
	if (delta->kind == BT_KIND_NODE && delta->node.taken) {
		bt_cache_adopt_node(cache, &delta->node);
	}
}

static bool keeps(void *context, uint32_t slot)
{
	return bt_ledger_keeps(((const struct bt_cache *)context)->ledger, slot);
}

void bt_cache_leave_slot(struct bt_cache *cache, uint32_t slot)
{
	bt_ledger_vacate(cache->ledger, slot);
	bt_volumes_vacate(cache->volumes, slot);
}

static void leave(void *context, uint32_t slot)
{
	bt_cache_leave_slot(context, slot);
}

/* The number of moves is limited, so that they take about as long as the rebuild after them. */
static void move_nodes(struct bt_cache *cache)
{
	uint32_t from = cache->view.snapshot->slot_n, left_n = from / MOVES_PART, to;

	for (left_n = left_n < MOVES_MIN ? MOVES_MIN : left_n; left_n; left_n--) {
		if (!bt_snapshot_move(cache->snapshot, &from, &to)) {
			break;
		}
		BT_INVARIANT(to < from);
		bt_ledger_move_node(cache->ledger, from, to);
	}
	bt_snapshot_end_moves(cache->snapshot);
}

void bt_cache_vacate_slots(struct bt_cache *cache)
{
	const struct bt_usage *usage = cache->view.usage;
	uint64_t left_n = bt_usage_left_n(usage);
	bool crowded = bt_snapshot_is_crowded(cache->snapshot, left_n);

	BT_INVARIANT(usage->release_n >= usage->redescribed_n);
	if (crowded) {
		bt_snapshot_vacate(cache->snapshot, left_n, keeps, leave, cache);
	}
	bool sparse = bt_snapshot_is_sparse(cache->snapshot);
	if (sparse) {
		move_nodes(cache);
	}
	if (crowded || sparse) {
		bt_ledger_trim_nodes(cache->ledger, cache->view.snapshot->slot_n);
		bt_volumes_trim_nodes(cache->volumes, cache->view.snapshot->slot_n);
	}
}
