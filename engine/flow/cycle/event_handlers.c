/* SPDX-License-Identifier: Apache-2.0
 * Applies events: updates the cache, the ledger and the queue, and requeues pods that the event may help.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

/* Requeues pods for a node's change, one event per changed aspect. NULL: the node did not exist, or has
 * gone. */
static void requeue_for_node(
	struct bt_engine *engine, const struct bt_node_facts *old, const struct bt_node_facts *new)
{
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS] = {!old ? BT_ADD : BT_DELETE};
	uint32_t n = old && new ? bt_node_facts_changes(bt_engine_kubernetes(engine), old, new, actions) : 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct bt_cluster_event event = {
			.resource = BT_CLUSTER_EVENT_NODE, .action = actions[i], .node = {old, new}};

		bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
	}
}

/* The node facts that events carry, or NULL. arena keeps them as long as the events. */
static const struct bt_node_facts *facts_of(struct bt_arena *arena, const struct bt_node_desc *desc)
{
	struct bt_node_facts *facts;

	if (!desc) {
		return NULL;
	}
	facts = bt_arena_zalloc(arena, sizeof(*facts));
	bt_node_facts_of(desc, arena, facts);
	return facts;
}

static enum bt_status take_node(struct bt_engine *engine, struct bt_delta *delta, struct bt_taken *out_taken)
{
	struct bt_node_delta *node = &delta->node;
	const struct bt_node_facts *old = NULL, *new = NULL;
	bool may_requeue = bt_engine_may_requeue(engine);

	if (!node->taken) {
		return BT_NOT_FOUND;
	}
	bt_engine_vacate_slots(engine);
	if (may_requeue) {
		struct bt_arena *arena = bt_kept_events_arena(&engine->kept_events);

		old = facts_of(arena, node->old);
		new = facts_of(arena, node->desc);
	}
	if (may_requeue && !new) {
		requeue_for_node(engine, old, NULL);
	}
	bt_engine_adopt_node(engine, delta);
	BT_INVARIANT(!node->old); /* consumed, or kept with events */
	if (may_requeue && new) {
		requeue_for_node(engine, old, new);
	}
	if (!node->desc) {
		return BT_OK;
	}
	out_taken->ix = node->slot;
	return node->desc->too_many_names ? BT_FULL : BT_OK;
}

/* The kind's resource in events, or BT_CLUSTER_EVENT_WILDCARD. */
static enum bt_cluster_event_resource resource_of(enum bt_kind kind)
{
	return (enum bt_cluster_event_resource)bt_kind_info(kind)->event;
}

/* A DeviceTaintRule causes an update event of the slices whose devices it taints; other kinds have their own
 * event. Returns: whether there is an event. */
static bool as_event(enum bt_kind kind, struct bt_cluster_event *event)
{
	if (kind != BT_KIND_DEVICE_TAINT_RULE) {
		return true;
	}
	event->action = BT_UPDATE;
	return event->object.changes & BT_CHANGED_DEVICE_TAINTS;
}

/* The PodGroup or, by kind, the composite; or NULL. */
static const struct bt_pod_group *group_of(const struct bt_engine *engine, const struct bt_delta *delta)
{
	return delta->kind == BT_KIND_COMPOSITE_POD_GROUP
		       ? bt_pod_groups_find_composite(&engine->groups, delta->namespace_, delta->name)
		       : bt_pod_groups_find(&engine->groups, delta->namespace_, delta->name);
}

/* Pods that wait in the group, or below it, become incomplete until its object is back. */
static enum bt_status remove_pod_group(struct bt_engine *engine, const struct bt_delta *delta)
{
	struct bt_pod_groups *groups = &engine->groups;
	const struct bt_pod_group *group = group_of(engine, delta), *root = bt_pod_groups_root(groups, group);
	const uint32_t *leaves = NULL;
	size_t leaf_n = 0;
	uint32_t number = root ? bt_pod_groups_number(groups, root) : 0;

	if (root && bt_pod_groups_whole(groups)) {
		leaves = bt_pod_groups_leaves(groups, bt_pod_groups_number(groups, group), &leaf_n);
	}
	enum bt_status status =
		delta->kind == BT_KIND_COMPOSITE_POD_GROUP
			? bt_pod_groups_remove_composite(groups, delta->namespace_, delta->name)
			: bt_pod_groups_remove(groups, delta->namespace_, delta->name);
	if (delta->kind != BT_KIND_COMPOSITE_POD_GROUP) {
		bt_devices_remove_group(engine->cache->devices, delta->namespace_, delta->name);
	}
	if (status == BT_OK && root && bt_pod_groups_whole(groups)) {
		bt_queue_pod_groups_deleted(engine->queue, number, leaves, leaf_n);
	}
	return status;
}

/* Are groups of this kind tracked? */
static bool tracks(const struct bt_engine *engine, enum bt_kind kind)
{
	return kind == BT_KIND_COMPOSITE_POD_GROUP ? bt_pod_groups_have_trees(&engine->groups)
						   : bt_pod_groups_tracked(&engine->groups);
}

/* Are they part of decisions? */
static bool has_workloads(const struct bt_engine *engine)
{
	return bt_pod_groups_alone(&engine->groups);
}

static enum bt_status remove_of_store(struct bt_engine *engine, const struct bt_delta *delta)
{
	switch (bt_kind_store(delta->kind)) {
	case BT_STORE_POD_GROUPS:
		return remove_pod_group(engine, delta);
	case BT_STORE_WORKLOADS:
		return has_workloads(engine) ? bt_pod_groups_remove_workload(
						       &engine->groups, delta->namespace_, delta->name)
					     : BT_NOT_FOUND;
	default:
		return bt_ingest_delete_named(engine->cache, delta->kind, delta->namespace_, delta->name);
	}
}

static enum bt_status remove_object(struct bt_engine *engine, const struct bt_delta *delta)
{
	struct bt_cluster_event event = {.resource = resource_of(delta->kind), .action = BT_DELETE};
	enum bt_kind_store store = bt_kind_store(delta->kind);
	bool tracked = store == BT_STORE_POD_GROUPS  ? tracks(engine, delta->kind)
		       : store == BT_STORE_WORKLOADS ? has_workloads(engine)
						     : true;
	/* A name that was never seen has no event. */
	bool may_requeue = tracked && delta->name != BT_NAME_NONE &&
			   event.resource != BT_CLUSTER_EVENT_WILDCARD && bt_engine_may_requeue(engine);

	if (may_requeue) {
		bt_kept_events_arena(&engine->kept_events);
	}
	if (may_requeue && store == BT_STORE_DEVICES) {
		bt_devices_describe_removal(
			engine->cache->devices, delta->kind, delta->namespace_, delta->name, &event.object);
	} else if (may_requeue) {
		bt_volumes_describe_removal(
			engine->cache->volumes, delta->kind, delta->namespace_, delta->name, &event.object);
	}
	if (may_requeue) {
		bt_kept_events_hold(&engine->kept_events, &event.object);
	}
	enum bt_status status = remove_of_store(engine, delta);

	if (may_requeue && status == BT_OK && as_event(delta->kind, &event)) {
		bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
	}
	return status;
}

/* Applies an object of storage or devices, and requeues pods that wait for it. */
static void take_provision(struct bt_engine *engine, const struct bt_object *object)
{
	bool devices = bt_kind_store(object->kind) == BT_STORE_DEVICES;
	struct bt_cluster_event event = {.resource = resource_of(object->kind)};
	bool may_requeue = event.resource != BT_CLUSTER_EVENT_WILDCARD && bt_engine_may_requeue(engine);

	if (may_requeue) {
		bt_kept_events_arena(&engine->kept_events);
		bool known = devices ? bt_devices_describe(engine->cache->devices, object,
					       bt_kept_events_names(&engine->kept_events), &event.object)
				     : bt_volumes_describe(engine->cache->volumes, object,
					       bt_kept_events_names(&engine->kept_events), &event.object);

		event.action = known ? BT_UPDATE : BT_ADD;
	}
	if (devices) {
		bt_ingest_devices(engine->cache, object);
	} else {
		bt_ingest_storage(engine->cache, object);
	}
	if (may_requeue && as_event(object->kind, &event)) {
		bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
	}
}

/* Updates the queue for a new or changed group, before its event is handled. If this was the last missing
 * object, the pods below it are complete. */
static void queue_pod_group(struct bt_engine *engine, uint32_t number, bool known)
{
	struct bt_pod_groups *groups = &engine->groups;
	const struct bt_pod_group *root = bt_pod_groups_root(groups, bt_pod_groups_at(groups, number));
	size_t leaf_n = 0;

	if (known) {
		bt_queue_pod_group_changed(
			engine->queue, number, bt_pod_groups_at(groups, number)->terms.priority);
		return;
	}
	const uint32_t *leaves =
		root ? bt_pod_groups_leaves(groups, bt_pod_groups_number(groups, root), &leaf_n) : NULL;
	if (leaf_n) {
		bt_queue_pod_groups_added(
			engine->queue, leaves, leaf_n, bt_scheduling_clock_now(&engine->clock));
	}
}

/* Returns: whether it existed before. */
static bool apply_pod_group(struct bt_engine *engine, const struct bt_delta *delta)
{
	const struct bt_pod_group_object *object = &delta->object.object->pod_group;
	struct bt_pod_groups *groups = &engine->groups;
	bool known = bt_pod_groups_apply_object(
		groups, delta->kind == BT_KIND_COMPOSITE_POD_GROUP, delta->namespace_, delta->name, object);

	if (delta->kind != BT_KIND_COMPOSITE_POD_GROUP) {
		bt_devices_apply_group(engine->cache->devices, object);
	}
	if (bt_pod_groups_whole(groups)) {
		queue_pod_group(engine, bt_pod_groups_number(groups, group_of(engine, delta)), known);
	}
	return known;
}

static void take_pod_group(struct bt_engine *engine, const struct bt_delta *delta)
{
	const struct bt_pod_group_object *object = &delta->object.object->pod_group;
	struct bt_cluster_event event = {.resource = resource_of(delta->kind)};
	bool composite = delta->kind == BT_KIND_COMPOSITE_POD_GROUP;

	if (composite && !tracks(engine, delta->kind)) {
		return;
	}
	event.object.namespace_ = delta->namespace_;
	event.object.name = delta->name;
	event.object.changes =
		composite ? 0
			  : bt_pod_groups_changes(&engine->groups, delta->namespace_, delta->name, object);
	event.action = apply_pod_group(engine, delta) ? BT_UPDATE : BT_ADD;
	if (tracks(engine, delta->kind) && bt_engine_may_requeue(engine)) {
		bt_kept_events_arena(&engine->kept_events);
		bt_kept_events_hold(&engine->kept_events, &event.object);
		bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
	}
}

static void take_workload(struct bt_engine *engine, const struct bt_delta *delta)
{
	struct bt_cluster_event event = {.resource = resource_of(delta->kind)};

	if (!has_workloads(engine)) {
		return;
	}
	event.object.namespace_ = delta->namespace_;
	event.object.name = delta->name;
	event.action = bt_pod_groups_apply_workload(&engine->groups, delta->namespace_, delta->name,
			       &delta->object.object->pod_workload)
			       ? BT_UPDATE
			       : BT_ADD;
	if (bt_engine_may_requeue(engine)) {
		bt_kept_events_arena(&engine->kept_events);
		bt_kept_events_hold(&engine->kept_events, &event.object);
		bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
	}
}

/* Applies an object that is neither node nor pod. */
static void take_object(struct bt_engine *engine, const struct bt_delta *delta)
{
	const struct bt_object *object = delta->object.object;

	switch (bt_kind_store(delta->kind)) {
	case BT_STORE_NAMESPACES:
		bt_ingest_namespace(engine->cache, &object->namespace_);
		break;
	case BT_STORE_SERVICES:
		bt_ingest_service(engine->cache, &object->service);
		break;
	case BT_STORE_CONTROLLERS:
		bt_ingest_controller(engine->cache, delta->kind, &object->workload);
		break;
	case BT_STORE_BUDGETS:
		bt_ingest_budget(engine->cache, &object->pdb);
		break;
	case BT_STORE_POD_GROUPS:
		take_pod_group(engine, delta);
		break;
	case BT_STORE_WORKLOADS:
		take_workload(engine, delta);
		break;
	case BT_STORE_VOLUMES:
	case BT_STORE_DEVICES:
		take_provision(engine, object);
		break;
	default:
		break;
	}
}

bool bt_engine_handles(const struct bt_engine *engine, uint32_t scheduler_name)
{
	return bt_profile_runtimes_find(&engine->runtimes, scheduler_name) != NULL;
}

bool bt_engine_is_other_schedulers(const struct bt_engine *engine, const struct bt_pod_object *object)
{
	return object->spec.node_name.len == 0 &&
	       !bt_engine_handles(engine,
		       bt_intern_find(engine->cache->dictionary->intern, object->spec.scheduler_name));
}

/* Is a pod without a node another scheduler's? */
static bool is_foreign(const struct bt_engine *engine, const struct bt_pod_delta *delta)
{
	return delta->node == BT_NAME_NONE &&
	       !bt_engine_handles(engine, delta->pod.signature->scheduler_name);
}

/* The time since which a pod waits, for the queue's order. */
static int64_t arrival_of(struct bt_engine *engine, const struct bt_pod *pod)
{
	bt_scheduling_clock_saw(&engine->clock, pod->creation_ns);
	return engine->options.strict_order || bt_engine_resizes(pod) || !pod->creation_ns
		       ? bt_scheduling_clock_now(&engine->clock)
		       : pod->creation_ns;
}

/* Enters the nomination of a pod that has come into the queue, active or gated. */
static void nominate_newcomer(struct bt_engine *engine, uint32_t pod_ix, enum bt_wait where)
{
	if (bt_engine_resizes(bt_ledger_pod(engine->cache->ledger, pod_ix))) {
		return;
	}
	if (where == BT_WAIT_ACTIVE || bt_nominated_pods_gated_count(&engine->nominated)) {
		bt_ledger_nominate(engine->cache->ledger, pod_ix,
			bt_ledger_pod(engine->cache->ledger, pod_ix)->status_ix);
	}
}

static enum bt_entry entry_at(enum bt_wait where)
{
	return where == BT_WAIT_GATED || where == BT_WAIT_INCOMPLETE ? BT_ENTERED_GATED : BT_ENTERED_QUEUE;
}

/* Queues a pod that waits for a node, or for room on its own. */
static enum bt_entry enqueue(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	BT_INVARIANT((pod->state == BT_POD_QUEUED || bt_engine_resizes(pod)) && !pod->detached);
	enum bt_wait where =
		bt_queue_add(engine->queue, pod_ix, bt_engine_kind_of(pod), arrival_of(engine, pod));

	nominate_newcomer(engine, pod_ix, where);
	return entry_at(where);
}

/* Is the pod queued for its resize? */
static bool waits_for_room(const struct bt_engine *engine, const struct bt_pod *pod)
{
	return bt_engine_resizes(pod) && bt_engine_handles(engine, pod->signature->scheduler_name);
}

/* Requeues pods for one that is on a node, and was not known to be. */
static void requeue_for_arrival(struct bt_engine *engine, uint32_t pod_ix)
{
	if (bt_engine_may_requeue(engine)) {
		const struct bt_cluster_event_pod shown = bt_engine_event_pod(engine, pod_ix);

		bt_engine_requeue_for_pod(engine, BT_ADD, &shown);
	}
}

/* Requeues pods for a new pod without a node. Only gangs have this event: it may be their missing pod. */
static void requeue_for_new_pod(struct bt_engine *engine, uint32_t pod_ix)
{
	if (bt_pod_groups_gangs(&engine->groups) && bt_engine_may_requeue(engine)) {
		const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_UNSCHEDULED_POD,
			.action = BT_ADD,
			.pod.new = bt_engine_event_pod(engine, pod_ix)};

		bt_engine_requeue(engine, &event, INT32_MAX, pod_ix);
	}
}

/* Applies a pod that may be unknown yet. */
static enum bt_status event_handlers_enter(
	struct bt_engine *engine, const struct bt_delta *delta, struct bt_taken *out_taken)
{
	bool waits = delta->pod.node == BT_NAME_NONE;

	*out_taken = (struct bt_taken){.entry = BT_ENTERED_ENDED, .ix = BT_NO_POD};
	bt_engine_before_change(engine, waits ? BT_CHANGE_READ_ANEW : BT_CHANGE_OF_NODES);
	bt_engine_reclaim_for_pod(engine);
	if (delta->pod.ended) {
		return BT_OK;
	}
	if (is_foreign(engine, &delta->pod)) {
		out_taken->entry = BT_ENTERED_FOREIGN;
		return BT_OK;
	}
	enum bt_status status = bt_ledger_add(engine->cache->ledger, &delta->pod.pod, &out_taken->ix);
	if (status != BT_OK) {
		return status;
	}
	bt_engine_join_group(engine, out_taken->ix);
	BT_INVARIANT(waits == (bt_ledger_pod(engine->cache->ledger, out_taken->ix)->state == BT_POD_QUEUED));
	if (waits) {
		out_taken->entry = enqueue(engine, out_taken->ix);
		requeue_for_new_pod(engine, out_taken->ix);
	} else {
		out_taken->entry = BT_ENTERED_SCHEDULED;
		if (waits_for_room(engine, bt_ledger_pod(engine->cache->ledger, out_taken->ix))) {
			enqueue(engine, out_taken->ix);
		}
		requeue_for_arrival(engine, out_taken->ix);
	}
	return delta->status;
}

/* Requeues pods for a pod's change on its node, one event per changed aspect. */
static void requeue_for_change(struct bt_engine *engine, const struct bt_cluster_event_pod *old,
	const struct bt_cluster_event_pod *new)
{
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS],
		n = bt_pod_changes(bt_engine_kubernetes(engine), old, new, actions);

	for (uint32_t i = 0; i < n; i++) {
		const struct bt_cluster_event event = {
			.resource = BT_CLUSTER_EVENT_ASSIGNED_POD, .action = actions[i], .pod = {*old, *new}};

		bt_engine_requeue(engine, &event, INT32_MAX, BT_NO_POD);
	}
}

/* Applies a change of a waiting pod. Source: updatePodInSchedulingQueue and PriorityQueue.Update, v1.36.3. */
static void update_waiting(struct bt_engine *engine, uint32_t pod_ix, const struct bt_cluster_event_pod *old,
	uint32_t old_status_node)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);
	const struct bt_cluster_event_pod new = bt_engine_event_pod(engine, pod_ix);
	const struct bt_release *kubernetes = bt_engine_kubernetes(engine);
	const enum bt_cluster_event_resource own = new.node != BT_NAME_NONE ? BT_CLUSTER_EVENT_ASSIGNED_POD
						   : bt_release_has(kubernetes, BT_RULE_POD_EVENTS_BY_KIND)
							   ? BT_CLUSTER_EVENT_TARGET_POD
							   : BT_CLUSTER_EVENT_UNSCHEDULED_POD;
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS], n = bt_pod_changes(kubernetes, old, &new, actions);
	struct bt_cluster_event events[BT_CLUSTER_EVENT_ACTIONS];
	enum bt_wait before = bt_queue_info(engine->queue, pod_ix).where;
	/* A terminating pod whose assumption was forgotten still has an open binding. */
	const bool in_flight = before == BT_WAIT_IN_FLIGHT || before == BT_WAIT_BINDING;

	BT_INVARIANT(pod->state == BT_POD_QUEUED || bt_engine_resizes(pod));
	for (uint32_t i = 0; i < n; i++) {
		events[i] =
			(struct bt_cluster_event){.resource = own, .action = actions[i], .pod = {*old, new}};
	}
	/* In flight, the nomination does not change. */
	if (!in_flight && before != BT_WAIT_NOWHERE && pod->state == BT_POD_QUEUED &&
		(old_status_node != BT_NAME_NONE || pod->status_node != BT_NAME_NONE)) {
		bt_ledger_nominate(ledger, pod_ix, pod->status_ix);
	}
	enum bt_wait after = bt_queue_update(engine->queue, pod_ix, bt_engine_kind_of(pod), events, n,
		bt_scheduling_clock_now(&engine->clock));
	if (before == BT_WAIT_NOWHERE) {
		nominate_newcomer(engine, pod_ix, after);
	}
	if (old_status_node != BT_NAME_NONE && old_status_node != pod->status_node) {
		bt_engine_requeue_for_nomination(engine, pod_ix, old);
	}
}

/* Removes a pod from the queue, unless its cycle or binding still refers to it. */
static bool leave_queue(struct bt_engine *engine, uint32_t pod_ix)
{
	enum bt_wait where = bt_queue_info(engine->queue, pod_ix).where;

	if (where == BT_WAIT_IN_FLIGHT || where == BT_WAIT_BINDING) {
		return false;
	}
	bt_queue_remove(engine->queue, pod_ix);
	BT_INVARIANT(bt_queue_info(engine->queue, pod_ix).where == BT_WAIT_NOWHERE);
	return true;
}

/* Applies a change of a pod on its node: its resize starts to wait for room, keeps waiting, or stops. Source:
 * updatePod, pkg/scheduler/eventhandlers.go, v1.37.2. */
static void follow_resize(struct bt_engine *engine, uint32_t pod_ix, const struct bt_cluster_event_pod *old)
{
	bool waits = waits_for_room(engine, bt_ledger_pod(engine->cache->ledger, pod_ix));
	bool known = bt_queue_info(engine->queue, pod_ix).where != BT_WAIT_NOWHERE;

	if (waits && (known || old->signature->resize_node != BT_NAME_NONE)) {
		update_waiting(engine, pod_ix, old, BT_NAME_NONE);
	} else if (waits) {
		enqueue(engine, pod_ix);
	} else if (known && old->signature->resize_node != BT_NAME_NONE) {
		leave_queue(engine, pod_ix);
	}
}

/* The state of a known pod. */
static enum bt_entry entry_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	if (bt_ledger_pod(engine->cache->ledger, pod_ix)->state != BT_POD_QUEUED) {
		return BT_ENTERED_SCHEDULED;
	}
	return entry_at(bt_queue_info(engine->queue, pod_ix).where);
}

/* Updates the queue after the change of a known pod. */
static void follow_change(struct bt_engine *engine, uint32_t pod_ix, const struct bt_cluster_event_pod *old,
	const struct bt_pod *before)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	if (before->state == BT_POD_SCHEDULED) {
		follow_resize(engine, pod_ix, old);
		if (bt_engine_may_requeue(engine)) {
			const struct bt_cluster_event_pod new = bt_engine_event_pod(engine, pod_ix);

			requeue_for_change(engine, old, &new);
		}
	} else if (pod->state == BT_POD_SCHEDULED) {
		if (before->state == BT_POD_ASSUMED && before->node_ix != pod->node_ix) {
			/* Another scheduler was first: releases what was chosen on the assumed node, except
			 * for devices, which the binder may be writing into claims until it answers. */
			bt_engine_before_change(engine, BT_CHANGE_OF_VOLUMES);
			bt_volumes_revert(engine->cache->volumes, pod_ix);
			bt_engine_requeue_for_pod(engine, BT_DELETE, old);
		}
		/* Before the event, so that no hint is called for a pod that is already on a node. */
		bt_engine_drop_wait(engine, pod_ix);
		leave_queue(engine, pod_ix);
		requeue_for_arrival(engine, pod_ix);
	} else if (before->state == BT_POD_QUEUED) {
		update_waiting(engine, pod_ix, old, before->status_node);
	} else if (pod->terminating && bt_waiting_pods_has(&engine->waiting, pod_ix)) {
		bt_engine_requeue_for_pod(engine, BT_DELETE, old);
		bt_engine_reject(engine, pod_ix, NULL, bt_str("removed"));
	} else if (pod->terminating) {
		/* Its binding can only fail, even if an eviction was recorded before. Source:
		 * handleAssumedPodDeletion, v1.36.3. */
		bt_reserved_forget(engine->cache, pod_ix);
		bt_engine_requeue_for_pod(engine, BT_DELETE, old);
	}
}

/* Prepares for the change or deletion of a known pod. on_node: its object names a node. PostFilter reads
 * nominations again, so a nomination that ends here no longer counts. */
static void before_pod_change(struct bt_engine *engine, uint32_t pod_ix, bool on_node)
{
	bool waits = bt_ledger_pod(engine->cache->ledger, pod_ix)->state == BT_POD_QUEUED;

	if (waits && on_node) {
		bt_engine_before_change(engine, BT_CHANGE_READ_ANEW);
		bt_ledger_nominate(engine->cache->ledger, pod_ix, BT_NO_NODE);
	}
	bt_engine_before_change(engine, waits && !on_node ? BT_CHANGE_READ_ANEW : BT_CHANGE_OF_NODES);
}

/* Applies the present object of a known pod. */
static enum bt_status update(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_delta *delta, struct bt_taken *out_taken)
{
	const struct bt_pod before = *bt_ledger_pod(engine->cache->ledger, pod_ix);
	const struct bt_cluster_event_pod old = bt_engine_event_pod(engine, pod_ix);

	BT_REQUIRE_HOT(!before.detached);
	*out_taken = (struct bt_taken){true, BT_ENTERED_ENDED, BT_NO_POD};
	before_pod_change(engine, pod_ix, delta->pod.node != BT_NAME_NONE);
	bt_engine_reclaim_for_pod(engine);
	if (delta->pod.ended || (before.state != BT_POD_SCHEDULED && is_foreign(engine, &delta->pod))) {
		out_taken->entry = delta->pod.ended ? BT_ENTERED_ENDED : BT_ENTERED_FOREIGN;
		bt_eviction_note_ended(&engine->eviction, pod_ix, delta->pod.ended);
		if (delta->pod.ended) {
			bt_ledger_set_ended(engine->cache->ledger, pod_ix);
		}
		bt_engine_remove_pod(engine, pod_ix);
		return BT_OK;
	}
	out_taken->ix = pod_ix;
	bt_engine_leave_group(engine, pod_ix);
	const struct bt_signature *assumed =
		delta->pod.node == BT_NAME_NONE
			? bt_reserved_signature(engine->cache, &before, delta->pod.pod.signature)
			: NULL;
	struct bt_pod now = delta->pod.pod;
	now.signature = assumed ? assumed : now.signature;
	bt_ledger_replace(engine->cache->ledger, pod_ix, &now);
	bt_signature_release(assumed);
	bt_engine_join_group(engine, pod_ix);
	follow_change(engine, pod_ix, &old, &before);
	BT_INVARIANT(before.state != BT_POD_SCHEDULED ||
		     bt_ledger_pod(engine->cache->ledger, pod_ix)->state == BT_POD_SCHEDULED);
	out_taken->entry = entry_of(engine, pod_ix);
	return delta->status;
}

void bt_engine_evict(struct bt_engine *engine, uint32_t pod_ix)
{
	BT_REQUIRE(bt_ledger_has(engine->cache->ledger, pod_ix));
	bt_engine_before_change(engine, BT_CHANGE_OF_NODES);
	bt_ledger_set_preempted(engine->cache->ledger, pod_ix);
}

void bt_engine_remove_pod(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);

	BT_REQUIRE_HOT(!pod->detached);
	bt_ledger_fetch_pod(ledger, pod_ix);
	const struct bt_cluster_event_pod gone = bt_engine_event_pod(engine, pod_ix);
	bool waited = pod->state == BT_POD_QUEUED;

	before_pod_change(engine, pod_ix, false);
	/* Still a member of its group here: removing it from the queue may call PreEnqueue for the group's
	 * other pods. */
	bt_engine_drop_wait(engine, pod_ix);
	bool in_hand = !leave_queue(engine, pod_ix);
	bt_engine_leave_group(engine, pod_ix);
	bt_engine_before_change(
		engine, bt_engine_change_of_nominations(bt_ledger_pod(ledger, pod_ix)->signature));
	bt_volumes_revert(engine->cache->volumes, pod_ix);
	bt_engine_unkeep_claims(engine, pod_ix);
	bool leaves = bt_eviction_note_gone(&engine->eviction, pod_ix, in_hand);
	if (in_hand || leaves) {
		bt_ledger_detach(ledger, pod_ix);
	} else {
		bt_ledger_remove(ledger, pod_ix);
	}
	BT_INVARIANT(!bt_ledger_has(ledger, pod_ix) || bt_ledger_pod(ledger, pod_ix)->detached);
	if (!waited) {
		bt_engine_requeue_for_pod(engine, BT_DELETE, &gone);
	} else if (gone.nominated) {
		bt_engine_requeue_for_nomination(engine, pod_ix, &gone);
	}
}

uint32_t bt_engine_find_pod(const struct bt_engine *engine, struct bt_str namespace_, struct bt_str name)
{
	const struct bt_intern *intern = engine->cache->dictionary->intern;

	return bt_ledger_find(
		engine->cache->ledger, bt_intern_find(intern, namespace_), bt_intern_find(intern, name));
}

/* ---- deltas ---- */

/* Is it another pod of the same name, so that its predecessor's deletion was not seen? */
static bool is_successor(const struct bt_pod *known, const struct bt_pod_delta *delta)
{
	return !delta->ended && known->uid != BT_NAME_NONE && delta->pod.uid != BT_NAME_NONE &&
	       known->uid != delta->pod.uid;
}

/* Assigns slots to the nodes that the pod names. */
static void adopt_pod(struct bt_engine *engine, struct bt_delta *delta)
{
	bt_engine_vacate_slots(engine);
	bt_ingest_adopt(engine->cache, delta);
}

static enum bt_status take_pod(
	struct bt_engine *engine, const struct bt_delta *delta, struct bt_taken *out_taken)
{
	const struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t pod_ix = bt_ledger_find(ledger, delta->namespace_, delta->name);

	if (delta->removed) {
		*out_taken = (struct bt_taken){pod_ix != BT_NO_POD, BT_ENTERED_ENDED, BT_NO_POD};
		if (pod_ix == BT_NO_POD) {
			return BT_NOT_FOUND;
		}
		bt_engine_reclaim(engine);
		bt_engine_remove_pod(engine, pod_ix);
		return BT_OK;
	}
	if (pod_ix == BT_NO_POD) {
		return event_handlers_enter(engine, delta, out_taken);
	}
	if (is_successor(bt_ledger_pod(ledger, pod_ix), &delta->pod)) {
		bt_engine_remove_pod(engine, pod_ix);
		return event_handlers_enter(engine, delta, out_taken);
	}
	return update(engine, pod_ix, delta, out_taken);
}

/* How PostFilter depends on an object that is neither node nor pod. PreFilter's results from Namespaces, and
 * from the Services and controllers of default spreading, are in the plan, and are not computed again; of
 * claims, slices and allocations it has kept the state that it read, and of volumes some of it. PodGroups
 * matter only in cycles of groups. Source: Evaluator.Preempt, PreFilter of InterPodAffinity,
 * PodTopologySpread, DynamicResources and VolumeBinding, Allocate, v1.36.3. */
static uint32_t change_of(enum bt_kind kind)
{
	switch (bt_kind_store(kind)) {
	case BT_STORE_DEVICES:
		return kind == BT_KIND_DEVICE_CLASS ? BT_CHANGE_READ_ANEW : BT_CHANGE_OF_DEVICES;
	case BT_STORE_VOLUMES:
		return BT_CHANGE_OF_VOLUMES;
	default:
		return BT_CHANGE_READ_ANEW;
	}
}

enum bt_status bt_engine_take_delta(
	struct bt_engine *engine, struct bt_delta *delta, struct bt_taken *out_taken)
{
	enum bt_status status = BT_OK;

	*out_taken = (struct bt_taken){.ix = BT_NO_POD};
	if (delta->kind == BT_KIND_POD || delta->kind == BT_KIND_NODE) {
		bt_engine_move_pods(engine);
	}
	if (delta->kind == BT_KIND_POD) {
		adopt_pod(engine, delta);
		status = take_pod(engine, delta, out_taken);
	} else if (delta->kind == BT_KIND_NODE) {
		bt_engine_before_change(engine, BT_CHANGE_OF_NODES);
		status = take_node(engine, delta, out_taken);
	} else if (delta->removed) {
		bt_engine_before_change(engine, change_of(delta->kind));
		bt_engine_release_names(engine);
		status = remove_object(engine, delta);
	} else {
		bt_engine_before_change(engine, change_of(delta->kind));
		bt_engine_release_names(engine);
		take_object(engine, delta);
	}
	bt_delta_drop(delta);
	return status;
}

void bt_engine_delete_pod(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);
	uint32_t namespace_ = pod->signature->namespace_, name = pod->name;

	bt_engine_move_pods(engine);
	bt_engine_vacate_slots(engine);
	bt_engine_reclaim(engine);
	bt_engine_remove_pod(engine, bt_ledger_find(ledger, namespace_, name));
}

/* ---- interning and applying in one call ---- */

/* Estimated memory of an object in cache, ledger and queue. */
#define OBJECT_BYTES 2048

enum bt_status bt_engine_apply_node(
	struct bt_engine *engine, const struct bt_node_object *object, uint32_t *out_node_ix)
{
	struct bt_delta delta;
	struct bt_taken taken;

	*out_node_ix = BT_NO_NODE;
	if (!bt_mem_may_use(BT_MEM_OBJECT, OBJECT_BYTES)) {
		return BT_NO_MEMORY;
	}
	bt_ingest_describe_node(engine->cache->worker, object, &delta);
	bt_ingest_publish(engine->cache, &delta);
	enum bt_status status = bt_engine_take_delta(engine, &delta, &taken);
	*out_node_ix = taken.ix;
	return status;
}

enum bt_status bt_engine_remove_node(struct bt_engine *engine, struct bt_str name)
{
	return bt_engine_delete_object(engine, BT_KIND_NODE, bt_str(""), name);
}

enum bt_status bt_engine_add_pod(struct bt_engine *engine, const struct bt_pod_object *object,
	enum bt_entry *out_entry, uint32_t *out_pod_ix)
{
	struct bt_delta delta;
	struct bt_taken taken;

	*out_pod_ix = BT_NO_POD;
	if (!bt_mem_may_use(BT_MEM_OBJECT, OBJECT_BYTES)) {
		return BT_NO_MEMORY;
	}
	bt_ingest_prefetch(engine->cache->worker, &object->meta);
	bt_ingest_describe_pod(engine->cache->worker, object, &delta);
	adopt_pod(engine, &delta);
	enum bt_status status = event_handlers_enter(engine, &delta, &taken);
	bt_delta_drop(&delta);
	*out_pod_ix = taken.ix;
	if (status == BT_OK || status == BT_FULL) {
		*out_entry = taken.entry;
	}
	return status;
}

enum bt_status bt_engine_update_pod(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_pod_object *object)
{
	struct bt_delta delta;
	struct bt_taken taken;

	if (!bt_mem_may_use(BT_MEM_OBJECT, OBJECT_BYTES)) {
		return BT_NO_MEMORY;
	}
	bt_ingest_describe_pod(engine->cache->worker, object, &delta);
	adopt_pod(engine, &delta);
	enum bt_status status = update(engine, pod_ix, &delta, &taken);
	bt_delta_drop(&delta);
	return status;
}

enum bt_status bt_engine_delete_object(
	struct bt_engine *engine, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_delta delta;
	struct bt_taken taken;

	bt_ingest_describe_removal(engine->cache->worker, kind, namespace_, name, &delta);
	bt_ingest_publish(engine->cache, &delta);
	return bt_engine_take_delta(engine, &delta, &taken);
}

enum bt_status bt_engine_show(
	struct bt_engine *engine, const struct bt_object *object, struct bt_taken *out_taken)
{
	struct bt_delta delta;

	*out_taken = (struct bt_taken){.ix = BT_NO_POD};
	if (!bt_mem_may_use(BT_MEM_OBJECT, OBJECT_BYTES)) {
		return BT_NO_MEMORY;
	}
	bt_ingest_prefetch(engine->cache->worker, &object->meta);
	bt_ingest_describe(engine->cache->worker, object, NULL, &delta);
	bt_ingest_publish(engine->cache, &delta);
	return bt_engine_take_delta(engine, &delta, out_taken);
}

enum bt_status bt_engine_apply_object(struct bt_engine *engine, const struct bt_object *object)
{
	struct bt_taken taken;

	return bt_engine_show(engine, object, &taken);
}
