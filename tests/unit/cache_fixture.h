/* SPDX-License-Identifier: Apache-2.0
 * Objects on their way into a cache, for tests without an engine: one thread describes, publishes, adopts and
 * enters what it shows, as threads do one after the other.
 */
#pragma once

#include "cache/ingest.h"

static inline void cache_run(struct bt_cache *cache, struct bt_delta *delta)
{
	bt_ingest_publish(cache, delta);
	bt_ingest_adopt(cache, delta);
	bt_delta_drop(delta);
}

/* A node, new or changed. Returns: BT_OK with its slot; BT_FULL when one of its resources is beyond
 * BT_RESOURCE_MAX names. */
static inline enum bt_status cache_show_node(
	struct bt_cache *cache, const struct bt_node_object *object, uint32_t *out_ix)
{
	struct bt_delta delta;

	bt_ingest_describe_node(cache->worker, object, &delta);
	cache_run(cache, &delta);
	*out_ix = delta.node.slot;
	return delta.node.desc->too_many_names ? BT_FULL : BT_OK;
}

/* Returns: BT_OK, BT_NOT_FOUND. */
static inline enum bt_status cache_remove_node(struct bt_cache *cache, struct bt_str name)
{
	struct bt_delta delta;

	bt_ingest_describe_removal(cache->worker, BT_KIND_NODE, (struct bt_str){0}, name, &delta);
	cache_run(cache, &delta);
	return delta.node.taken ? BT_OK : BT_NOT_FOUND;
}

/* A pod that is not known. Returns: as bt_ledger_add, and BT_FULL when it asks for a resource beyond
 * BT_RESOURCE_MAX names; out_ix is BT_NO_POD when it was not entered. */
static inline enum bt_status cache_enter_pod(
	struct bt_cache *cache, const struct bt_pod_object *object, uint32_t *out_ix)
{
	struct bt_delta delta;

	*out_ix = BT_NO_POD;
	bt_ingest_describe_pod(cache->worker, object, &delta);
	bt_ingest_adopt(cache, &delta);
	enum bt_status status = delta.status;
	if (!delta.pod.ended && status == BT_OK) {
		status = bt_ledger_add(cache->ledger, &delta.pod.pod, out_ix);
	}
	bt_delta_drop(&delta);
	return status;
}

/* Of the kinds that are neither nodes nor pods. Returns: BT_OK, BT_NOT_FOUND. */
static inline enum bt_status cache_remove(
	struct bt_cache *cache, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	const struct bt_intern *intern = cache->dictionary->intern;

	return bt_ingest_delete_named(
		cache, kind, bt_intern_find(intern, namespace_), bt_intern_find(intern, name));
}
