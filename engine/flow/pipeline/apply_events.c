/* SPDX-License-Identifier: Apache-2.0
 * Stage 8: applies events from the source. The source overrides assumptions (I2, I4). Stale events are
 * detected by UID and resource version, and dropped.
 */
#include "engine/base/check.h"
#include "engine/flow/pipeline/pipeline_int.h"

static const struct bt_pod *pod_of(const struct bt_pipeline *p, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(p->engine)->ledger, pod_ix);
}

/* The pod of a binding was deleted, or is being deleted before it could run. */
static void lose(struct bt_pipeline *p, uint32_t pod_ix)
{
	struct bt_bind_request_slot *slot = bt_bind_requests_of_pod(p, pod_ix);

	if (slot) {
		BT_COUNT(p, pod_gone_n, 1);
		bt_bind_requests_cancel(slot);
	}
}

/* Updates the binding of an assumed pod that an event has changed. */
static void review(struct bt_pipeline *p, uint32_t pod_ix, struct bt_bind_request_slot *slot)
{
	const struct bt_pod *pod = pod_of(p, pod_ix);

	if (pod->detached || pod->state == BT_POD_QUEUED) {
		lose(p, pod_ix);
	} else if (pod->state == BT_POD_SCHEDULED &&
		   bt_bind_requests_is_about(slot, bt_pipeline_node_name(p, pod->node_ix))) {
		BT_COUNT(p, shown_early_n, 1);
	} else if (pod->state == BT_POD_SCHEDULED) {
		BT_COUNT(p, elsewhere_n, 1);
		bt_bind_requests_cancel(slot);
	}
}

static bool is_other(uint32_t uid, uint32_t other)
{
	return uid != BT_NAME_NONE && other != BT_NAME_NONE && uid != other;
}

/* An event in upstream's terms. */
struct named_event {
	enum bt_cluster_event_resource resource;
	uint32_t action; /* 0: upstream has no event for it, and does nothing */
};

/* The event depends on the pods that upstream's informer has seen on a node: the first time a pod is seen
 * there, even after its binding, is an addition, and a pod that goes earlier is an unscheduled pod. The
 * informer does not see completed pods. */
static struct named_event name_pod_event(
	const struct bt_pipeline *p, uint32_t pod_ix, const struct bt_delta *delta)
{
	const struct bt_pod *pod = pod_ix != BT_NO_POD ? pod_of(p, pod_ix) : NULL;
	bool shown = pod && pod->shown;

	if (delta->removed || delta->pod.ended) {
		return (struct named_event){
			shown ? BT_CLUSTER_EVENT_ASSIGNED_POD : BT_CLUSTER_EVENT_UNSCHEDULED_POD,
			pod ? BT_DELETE : 0};
	}
	if (shown || delta->pod.node != BT_NAME_NONE) {
		return (struct named_event){BT_CLUSTER_EVENT_ASSIGNED_POD, shown ? BT_UPDATE : BT_ADD};
	}
	bool ours = bt_engine_handles(p->engine, delta->pod.pod.signature->scheduler_name);
	bool assumed = pod && pod->state != BT_POD_QUEUED;

	return (struct named_event){BT_CLUSTER_EVENT_UNSCHEDULED_POD, !ours || assumed ? 0
								      : pod	       ? BT_UPDATE
										       : BT_ADD};
}

static void report_event(const struct bt_pipeline *p, enum bt_cluster_event_resource resource,
	uint32_t action, const struct bt_delta *delta)
{
	const struct bt_pipeline_sink *sink = &p->options.sink;

	if (sink->event && action) {
		sink->event(sink->context, resource, action, delta);
	}
}

static void report_pod_event(struct bt_pipeline *p, uint32_t pod_ix, const struct bt_delta *delta)
{
	const struct named_event event = name_pod_event(p, pod_ix, delta);

	p->handled = event.action ? bt_cluster_event_label(event.resource, event.action) : UINT32_MAX;
	report_event(p, event.resource, event.action, delta);
	if (pod_ix != BT_NO_POD && event.resource == BT_CLUSTER_EVENT_ASSIGNED_POD &&
		event.action == BT_ADD) { /* upstream removes it from its queue */
		report_event(p, BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_DELETE, delta);
	}
}

static void report_node_event(struct bt_pipeline *p, const struct bt_delta *delta)
{
	bool was = delta->node.old, is = delta->node.desc;
	uint32_t action = !is ? BT_DELETE : was ? BT_UPDATE : BT_ADD;

	if (was != is) { /* requeue.c labels an update by its changed fields */
		p->handled = bt_cluster_event_label(BT_CLUSTER_EVENT_NODE, action);
	}
	report_event(p, BT_CLUSTER_EVENT_NODE, was || is ? action : 0, delta);
}

/* Reports that the source shows a queued or assumed pod on a node. */
static void report_arrival(struct bt_pipeline *p, uint32_t pod_ix, const struct bt_delta *delta)
{
	const struct bt_pipeline_sink *sink = &p->options.sink;
	const struct bt_pod *pod = pod_of(p, pod_ix);

	if (sink->arrives && !delta->removed && delta->pod.node != BT_NAME_NONE &&
		pod->state != BT_POD_SCHEDULED && !pod->detached && !is_other(pod->uid, delta->pod.pod.uid)) {
		sink->arrives(sink->context, pod_ix,
			bt_intern_str(bt_engine_cache(p->engine)->dictionary->intern, delta->pod.node));
	}
}

/* Applies a pod event. Returns: as bt_engine_take_delta. */
static enum bt_status take_pod(struct bt_pipeline *p, struct bt_delta *delta, struct bt_taken *out_taken)
{
	struct bt_cache *cache = bt_engine_cache(p->engine);
	uint32_t pod_ix = bt_ledger_find(cache->ledger, delta->namespace_, delta->name);
	struct bt_bind_request_slot *slot = NULL;
	bool assumed = false;

	report_pod_event(p, pod_ix, delta);
	if (pod_ix != BT_NO_POD) {
		BT_COUNT(p, replaced_n,
			!delta->removed && is_other(pod_of(p, pod_ix)->uid, delta->pod.pod.uid));
		slot = bt_bind_requests_of_pod(p, pod_ix);
		assumed = pod_of(p, pod_ix)->state == BT_POD_ASSUMED;
		report_arrival(p, pod_ix, delta);
	}
	enum bt_status status = bt_engine_take_delta(p->engine, delta, out_taken);
	if (slot && assumed) {
		review(p, pod_ix, slot); /* the index is stable during a binding */
	}
	bt_bind_requests_trim(p);
	return status;
}

/* Another node has, or will have, the name. */
static void lose_node(struct bt_pipeline *p, uint32_t name)
{
	const struct bt_cache *cache = bt_engine_cache(p->engine);

	if (bt_snapshot_find(cache->snapshot, name) != BT_NO_NODE) {
		bt_bind_requests_node_deleted(p, bt_intern_str(cache->dictionary->intern, name));
	}
}

static enum bt_status take(struct bt_pipeline *p, struct bt_delta *delta, enum bt_version_verdict verdict,
	struct bt_taken *out_taken)
{
	if (delta->kind == BT_KIND_POD) {
		return take_pod(p, delta, out_taken);
	}
	if (delta->kind == BT_KIND_NODE && delta->node.taken) {
		report_node_event(p, delta);
	}
	if (delta->kind == BT_KIND_NODE && (delta->removed || verdict == BT_VERSION_REPLACED)) {
		lose_node(p, delta->name);
	}
	return bt_engine_take_delta(p->engine, delta, out_taken);
}

static void sync_source(struct bt_pipeline *p, uint32_t source)
{
	if (!p->sources[source].synced) {
		p->sources[source].synced = true;
		BT_COUNT(p, synced_n, 1);
	}
}

/* ---- stages of a watch event ---- */

void bt_pipeline_describe(
	struct bt_pipeline *p, struct bt_ingest_worker *worker, struct bt_watch_event *watch_event)
{
	const struct bt_object *object = &watch_event->object;

	if (watch_event->kind == BT_WATCH_EVENT_SYNCED) {
		return;
	}
	watch_event->version = bt_object_version_of(object);
	if (watch_event->kind == BT_WATCH_EVENT_DELETE) {
		bt_ingest_describe_removal(worker, object->kind, object->meta.namespace_, object->meta.name,
			&watch_event->delta);
	} else {
		bt_ingest_describe(worker, object, NULL, &watch_event->delta);
	}
	if (p->options.journal) {
		bt_journal_encode(p->options.journal, object, &watch_event->encoded);
	}
	watch_event->delta.sequence = watch_event->sequence;
	watch_event->stage = BT_WATCH_EVENT_DESCRIBED;
}

bool bt_pipeline_number(struct bt_pipeline *p, struct bt_watch_event *watch_event)
{
	if (watch_event->kind == BT_WATCH_EVENT_SYNCED) {
		return true;
	}
	watch_event->verdict = watch_event->kind == BT_WATCH_EVENT_APPLY
				       ? bt_version_filter_apply(&p->version_filter, &watch_event->version)
				       : bt_version_filter_delete(&p->version_filter, &watch_event->version);
	if (watch_event->verdict == BT_VERSION_STALE) {
		BT_COUNT(p, stale_n, 1); /* only the publisher writes this counter */
		return false;
	}
	bt_publisher_take(bt_engine_cache(p->engine)->publisher, &watch_event->delta);
	watch_event->stage = BT_WATCH_EVENT_PUBLISHED;
	return true;
}

static enum bt_status take_fresh(
	struct bt_pipeline *p, struct bt_watch_event *watch_event, struct bt_taken *out_taken)
{
	bool removed = watch_event->kind == BT_WATCH_EVENT_DELETE;
	enum bt_status status = take(p, &watch_event->delta, watch_event->verdict, out_taken);

	BT_COUNT(p, applied_n, !removed);
	BT_COUNT(p, deleted_n, removed);
	BT_COUNT(p, unknown_n, status == BT_NOT_FOUND);
	BT_COUNT(p, refused_n, status != BT_OK && status != BT_NOT_FOUND);
	return status;
}

enum bt_status bt_pipeline_take(
	struct bt_pipeline *p, struct bt_watch_event *watch_event, struct bt_taken *out_taken)
{
	if (watch_event->kind == BT_WATCH_EVENT_SYNCED) {
		sync_source(p, watch_event->source);
		*out_taken = (struct bt_taken){.ix = BT_NO_POD};
		return BT_OK;
	}
	if (p->options.journal) {
		bt_journal_object(p->options.journal,
			watch_event->kind == BT_WATCH_EVENT_APPLY ? BT_JOURNAL_APPLY : BT_JOURNAL_DELETE,
			bt_buf_view(&watch_event->encoded));
	}
	watch_event->stage = BT_WATCH_EVENT_FED; /* taken: the delta is consumed */
	return take_fresh(p, watch_event, out_taken);
}

void bt_pipeline_drop(struct bt_pipeline *p, struct bt_watch_event *watch_event)
{
	/* Destroying the delta frees the replaced description: the columns adopt the published one first. */
	if (watch_event->stage == BT_WATCH_EVENT_PUBLISHED && watch_event->delta.kind == BT_KIND_NODE) {
		bt_ingest_adopt(bt_engine_cache(p->engine), &watch_event->delta);
	}
	bt_watch_event_destroy(watch_event);
}
