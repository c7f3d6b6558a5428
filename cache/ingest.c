/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: objects become interned values.
 */
#include "cache/ingest.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

struct bt_cache *bt_cache_create(void)
{
	struct bt_cache *cache = bt_mem_zalloc(1, sizeof(*cache));

	cache->dictionary = bt_dictionary_create();
	cache->signatures = bt_signatures_create(cache->dictionary);
	cache->snapshot = bt_snapshot_create(cache->dictionary);
	cache->ledger = bt_ledger_create();
	cache->view = (struct bt_view){bt_snapshot_view(cache->snapshot), bt_ledger_usage(cache->ledger)};
	return cache;
}

void bt_cache_destroy(struct bt_cache *cache)
{
	if (!cache) {
		return;
	}
	bt_ledger_destroy(cache->ledger);
	bt_snapshot_destroy(cache->snapshot);
	bt_signatures_destroy(cache->signatures);
	bt_dictionary_destroy(cache->dictionary);
	bt_buf_fini(&cache->text);
	bt_mem_free(cache);
}

enum bt_status bt_ingest_node(struct bt_cache *cache, const struct bt_node_object *object, uint32_t *out_ix)
{
	enum bt_status status = bt_snapshot_apply(cache->snapshot, object, out_ix);

	bt_ledger_reserve(cache->ledger, cache->view.snapshot->slot_n);
	return status;
}

enum bt_status bt_ingest_node_delete(struct bt_cache *cache, struct bt_str name)
{
	return bt_snapshot_remove(cache->snapshot, bt_intern_find(cache->dictionary->intern, name));
}

static uint32_t join_gates(struct bt_cache *cache, const struct bt_str_list *gates)
{
	if (gates->n == 0) {
		return BT_NAME_NONE;
	}
	bt_buf_clear(&cache->text);
	for (uint32_t i = 0; i < gates->n; i++) {
		if (i) {
			bt_buf_char(&cache->text, ' ');
		}
		bt_buf_str(&cache->text, gates->items[i]);
	}
	return bt_intern_add(cache->dictionary->intern, bt_buf_view(&cache->text));
}

static uint32_t node_of(struct bt_cache *cache, struct bt_str name)
{
	if (name.len == 0) {
		return BT_NO_NODE;
	}
	uint32_t slot = bt_snapshot_slot(cache->snapshot, bt_intern_add(cache->dictionary->intern, name));
	bt_ledger_reserve(cache->ledger, cache->view.snapshot->slot_n);
	return slot;
}

enum bt_status bt_ingest_pod(struct bt_cache *cache, const struct bt_pod_object *object, uint32_t *out_ix)
{
	struct bt_intern *intern = cache->dictionary->intern;

	*out_ix = BT_NO_POD;
	if (bt_str_is(object->phase, "Succeeded") || bt_str_is(object->phase, "Failed")) {
		return BT_OK;
	}
	const struct bt_signature *signature = bt_signatures_intern(cache->signatures, object);
	if (signature->requests.too_many_names) {
		return BT_FULL;
	}
	struct bt_pod pod = {
		.signature = signature,
		.name = bt_intern_add(intern, object->meta.name),
		.uid = object->meta.uid.len ? bt_intern_add(intern, object->meta.uid) : BT_NAME_NONE,
		.node_ix = node_of(cache, object->spec.node_name),
		.priority = object->spec.has_priority ? object->spec.priority : 0,
		.gates = join_gates(cache, &object->spec.scheduling_gates),
		.creation_ns = object->meta.creation_ns,
	};
	return bt_ledger_add(cache->ledger, &pod, out_ix);
}
