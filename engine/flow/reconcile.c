/* SPDX-License-Identifier: Apache-2.0
 * Stage 8: what the source shows is true, and what was assumed yields to it (I2, I4). Late, repeated and
 * reordered events are told by UID and resource version, and dropped.
 */
#include "engine/base/check.h"
#include "engine/flow/pipeline_int.h"
#include "engine/flow/source.h"

static const struct bt_pod *pod_of(const struct bt_pipeline *p, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(p->engine)->ledger, pod_ix);
}

/* The pod of a binding has gone, or will be before it could run. */
static void lose(struct bt_pipeline *p, uint32_t pod_ix)
{
	struct bt_ask_slot *slot = bt_asks_of_pod(p, pod_ix);

	if (slot) {
		p->counts.pod_gone_n++;
		bt_asks_cancel(p, slot);
	}
}

static void remove_pod(struct bt_pipeline *p, uint32_t pod_ix)
{
	lose(p, pod_ix);
	bt_engine_remove_pod(p->engine, pod_ix);
}

static void add_pod(struct bt_pipeline *p, const struct bt_pod_object *object)
{
	enum bt_entry entry;
	uint32_t pod_ix;

	p->counts.refused_n += bt_engine_add_pod(p->engine, object, &entry, &pod_ix) != BT_OK;
}

static void update_pod(struct bt_pipeline *p, uint32_t pod_ix, const struct bt_pod_object *object)
{
	const struct bt_pod *pod = pod_of(p, pod_ix);
	struct bt_ask_slot *slot = bt_asks_of_pod(p, pod_ix);
	bool assumed = pod->state == BT_POD_ASSUMED;

	if (bt_ingest_pod_has_ended(object)) {
		remove_pod(p, pod_ix);
		return;
	}
	p->counts.refused_n += bt_engine_update_pod(p->engine, pod_ix, object) != BT_OK;
	if (!slot || !assumed) {
		return;
	}
	pod = pod_of(p, pod_ix);
	if (pod->state == BT_POD_QUEUED) {
		lose(p, pod_ix);
	} else if (pod->state == BT_POD_SCHEDULED && pod->node_ix == slot->node_ix) {
		p->counts.shown_early_n++;
	} else if (pod->state == BT_POD_SCHEDULED) {
		p->counts.elsewhere_n++;
		bt_asks_cancel(p, slot);
	}
}

/* Is that another pod than the one that is known by its name? */
static bool is_other(const struct bt_pipeline *p, uint32_t pod_ix, const struct bt_meta_object *meta)
{
	struct bt_str known = bt_pipeline_pod_ref(p, pod_ix).uid;

	return known.len && meta->uid.len && !bt_str_eq(known, meta->uid);
}

static void apply_pod(struct bt_pipeline *p, const struct bt_pod_object *object)
{
	uint32_t pod_ix = bt_engine_find_pod(p->engine, object->meta.namespace_, object->meta.name);

	if (pod_ix != BT_NO_POD && is_other(p, pod_ix, &object->meta)) {
		p->counts.replaced_n++;
		remove_pod(p, pod_ix);
		pod_ix = BT_NO_POD;
	}
	if (pod_ix == BT_NO_POD) {
		add_pod(p, object);
	} else {
		update_pod(p, pod_ix, object);
	}
}

static uint32_t find_node(const struct bt_pipeline *p, struct bt_str name)
{
	const struct bt_cache *cache = bt_engine_cache(p->engine);

	return bt_snapshot_find(cache->snapshot, bt_intern_find(cache->dictionary->intern, name));
}

static void lose_node(struct bt_pipeline *p, struct bt_str name)
{
	uint32_t node_ix = find_node(p, name);

	if (node_ix != BT_NO_NODE) {
		bt_asks_node_gone(p, node_ix);
	}
}

static void apply(struct bt_pipeline *p, const struct bt_object *object, enum bt_news news)
{
	enum bt_entry entry;
	uint32_t ix;

	if (object->kind == BT_KIND_POD) {
		apply_pod(p, &object->pod);
		return;
	}
	if (object->kind == BT_KIND_NODE && news == BT_NEWS_REPLACED) {
		lose_node(p, object->meta.name);
	}
	p->counts.refused_n += bt_engine_apply(p->engine, object, &entry, &ix) != BT_OK;
}

/* Returns whether it was known. */
static bool delete (struct bt_pipeline *p, const struct bt_object *object)
{
	const struct bt_meta_object *meta = &object->meta;

	if (object->kind == BT_KIND_NODE) {
		lose_node(p, meta->name);
		return bt_engine_remove_node(p->engine, meta->name) == BT_OK;
	}
	if (object->kind != BT_KIND_POD) {
		return bt_engine_delete_object(p->engine, object->kind, meta->namespace_, meta->name) ==
		       BT_OK;
	}
	uint32_t pod_ix = bt_engine_find_pod(p->engine, meta->namespace_, meta->name);
	if (pod_ix == BT_NO_POD || is_other(p, pod_ix, meta)) {
		return false;
	}
	remove_pod(p, pod_ix);
	return true;
}

static void sync_source(struct bt_pipeline *p, uint32_t source)
{
	if (!p->sources[source].synced) {
		p->sources[source].synced = true;
		p->counts.synced_n++;
	}
}

void bt_pipeline_take_parcel(struct bt_pipeline *p, const struct bt_parcel *parcel)
{
	enum bt_news news;

	switch (parcel->kind) {
	case BT_PARCEL_APPLY:
		news = bt_freshness_apply(&p->freshness, &parcel->sighting);
		p->counts.stale_n += news == BT_NEWS_STALE;
		if (news != BT_NEWS_STALE) {
			p->counts.applied_n++;
			apply(p, &parcel->object, news);
		}
		break;
	case BT_PARCEL_DELETE:
		news = bt_freshness_delete(&p->freshness, &parcel->sighting);
		p->counts.stale_n += news == BT_NEWS_STALE;
		if (news != BT_NEWS_STALE) {
			p->counts.deleted_n++;
			p->counts.unknown_n += !delete (p, &parcel->object);
		}
		break;
	case BT_PARCEL_SYNCED:
		sync_source(p, parcel->source);
		break;
	}
}
