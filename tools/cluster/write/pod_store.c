/* SPDX-License-Identifier: Apache-2.0
 * Pods as last shown by the API.
 */
#include "tools/cluster/write/pod_store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "engine/model/intern.h"
#include "tools/kube/report/pod_status.h"
#include "tools/cluster/write/pod_texts.h"

struct pod_store_entry {
	uint64_t uid;	  /* a hash */
	uint64_t version; /* the resource version, a number; 0: none */
	int64_t generation;
	uint32_t texts; /* a name in texts; BT_NAME_NONE: vacant */
	bool waits, deleting;
};

static_assert(sizeof(struct pod_store_entry) == 32, "there is one a pod");

struct bt_pod_store {
	struct bt_lock lock;
	/* lock(lock): */
	struct bt_map by_key; /* by a hash of namespace and name */
	struct pod_store_entry *entries;
	size_t entry_n, entry_cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	/* The texts of pods, as bytes: most pending pods have the same, as have most bound ones. */
	struct bt_intern *texts;
	struct bt_pod_status status; /* scratch, as the next two */
	struct bt_buf bytes;
	struct bt_arena arena;
};

struct bt_pod_store *bt_pod_store_create(void)
{
	struct bt_pod_store *known = bt_mem_zalloc(1, sizeof(*known));

	bt_lock_init(&known->lock);
	known->texts = bt_intern_create();
	return known;
}

void bt_pod_store_destroy(struct bt_pod_store *known)
{
	bt_map_fini(&known->by_key);
	bt_mem_free(known->entries);
	bt_mem_free(known->vacant);
	bt_intern_destroy(known->texts);
	bt_pod_status_fini(&known->status);
	bt_buf_fini(&known->bytes);
	bt_arena_fini(&known->arena);
	bt_lock_fini(&known->lock);
	bt_mem_free(known);
}

uint64_t bt_pod_store_key(struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_key(bt_hash_u64(bt_hash_str(namespace_) + 1) ^ bt_hash_str(name));
}

static struct pod_store_entry *pod_store_find(
	struct bt_pod_store *known, struct bt_str namespace_, struct bt_str name)
{
	uint32_t ix;

	return bt_map_get(&known->by_key, bt_pod_store_key(namespace_, name), &ix) ? &known->entries[ix]
										   : NULL;
}

static struct pod_store_entry *pod_store_add(struct bt_pod_store *known, uint64_t key)
{
	uint32_t ix;

	if (known->vacant_n) {
		ix = known->vacant[--known->vacant_n];
	} else {
		known->entries = bt_mem_grow(
			known->entries, known->entry_n, &known->entry_cap, sizeof(*known->entries));
		ix = (uint32_t)known->entry_n++;
	}
	known->entries[ix] = (struct pod_store_entry){.texts = BT_NAME_NONE};
	bt_map_put(&known->by_key, key, ix);
	return &known->entries[ix];
}

static void drop(struct bt_pod_store *known, uint64_t key, struct pod_store_entry *entry)
{
	bt_map_remove(&known->by_key, key);
	bt_intern_release(known->texts, entry->texts);
	entry->texts = BT_NAME_NONE;
	known->vacant =
		bt_mem_grow(known->vacant, known->vacant_n, &known->vacant_cap, sizeof(*known->vacant));
	known->vacant[known->vacant_n++] = (uint32_t)(entry - known->entries);
}

/* ---- texts ---- */

static void keep_texts(
	struct bt_pod_store *known, struct pod_store_entry *entry, const struct bt_api_pod *pod)
{
	bt_pod_texts_write(pod, &known->bytes);
	uint32_t texts = bt_intern_hold(known->texts, bt_buf_view(&known->bytes));

	bt_intern_release(known->texts, entry->texts);
	entry->texts = texts;
}

/* For a pending pod: the scheduler name, and the fields of status. */
static void keep_status(
	struct bt_pod_store *known, struct pod_store_entry *entry, struct bt_str scheduler_name)
{
	keep_texts(known, entry,
		&(struct bt_api_pod){.scheduler_name = scheduler_name,
			.nominated_node_name = known->status.nominated_node_name,
			.conditions = known->status.conditions,
			.condition_n = (uint32_t)known->status.n});
}

/* For a bound pod: its conditions' types. */
static void keep_types(
	struct bt_pod_store *known, struct pod_store_entry *entry, const struct bt_pod_object *pod)
{
	struct bt_pod_condition *types;

	bt_arena_reset(&known->arena);
	types = bt_arena_zalloc(&known->arena, (pod->condition_n + 1) * sizeof(*types));
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		types[i].type = pod->conditions[i].type;
	}
	keep_texts(known, entry, &(struct bt_api_pod){.conditions = types, .condition_n = pod->condition_n});
}

static void take_texts(const struct bt_pod_store *known, const struct pod_store_entry *entry,
	struct bt_arena *arena, struct bt_api_pod *out)
{
	bt_pod_texts_read(bt_intern_str(known->texts, entry->texts), arena, out);
}

/* ---- watch events ---- */

uint64_t bt_version_number(struct bt_str text)
{
	uint64_t version = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9' || version > UINT64_MAX / 10 - 1) {
			return 0;
		}
		version = version * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	return version;
}

struct bt_str bt_version_text(uint64_t version, struct bt_arena *arena)
{
	if (!version) {
		return (struct bt_str){.len = 0};
	}
	char *text = bt_arena_alloc(arena, 24, 1);

	return (struct bt_str){text, (size_t)snprintf(text, 24, "%" PRIu64, version)};
}

/* Returns: whether the pod was bound now. */
static bool show_pod(struct bt_pod_store *known, const struct bt_pod_object *pod)
{
	struct pod_store_entry *entry = pod_store_find(known, pod->meta.namespace_, pod->meta.name);
	uint64_t uid = bt_hash_str(pod->meta.uid);

	if (!entry) {
		entry = pod_store_add(known, bt_pod_store_key(pod->meta.namespace_, pod->meta.name));
	}
	bool waited = entry->waits && entry->uid == uid;
	entry->uid = uid;
	entry->version = bt_version_number(pod->meta.resource_version);
	entry->generation = pod->meta.generation;
	entry->deleting = pod->meta.deletion_ns != 0;
	entry->waits = !pod->spec.node_name.len;
	if (!entry->waits) {
		keep_types(known, entry, pod);
		return waited;
	}
	bt_pod_status_take(&known->status, pod);
	keep_status(known, entry, pod->spec.scheduler_name);
	return false;
}

static bool show_end(struct bt_pod_store *known, const struct bt_meta_object *meta)
{
	struct pod_store_entry *entry = pod_store_find(known, meta->namespace_, meta->name);

	if (!entry || (meta->uid.len && entry->uid != bt_hash_str(meta->uid))) {
		return false;
	}
	bool waited = entry->waits;
	drop(known, bt_pod_store_key(meta->namespace_, meta->name), entry);
	return waited;
}

bool bt_pod_store_show(
	struct bt_pod_store *known, enum bt_watch_event_kind what, const struct bt_object *object)
{
	bt_lock_acquire(&known->lock);
	bool is_new =
		what == BT_WATCH_EVENT_APPLY ? show_pod(known, &object->pod) : show_end(known, &object->meta);
	bt_lock_release(&known->lock);
	return is_new;
}

/* ---- queries ---- */

static void copy_entry(const struct bt_pod_store *known, const struct pod_store_entry *entry,
	struct bt_arena *arena, struct bt_stored_pod *out)
{
	out->waits = entry->waits;
	out->deleting = entry->deleting;
	out->pod.generation = entry->generation;
	out->pod.resource_version = bt_version_text(entry->version, arena);
	take_texts(known, entry, arena, &out->pod);
}

bool bt_pod_store_get(struct bt_pod_store *known, const struct bt_pod_ref *ref, struct bt_arena *arena,
	struct bt_stored_pod *out_pod)
{
	bool found;

	*out_pod = (struct bt_stored_pod){
		.pod = {.namespace_ = ref->namespace_, .name = ref->name, .uid = ref->uid}};
	bt_lock_acquire(&known->lock);
	const struct pod_store_entry *entry = pod_store_find(known, ref->namespace_, ref->name);
	found = entry && entry->uid == bt_hash_str(ref->uid);
	if (found) {
		copy_entry(known, entry, arena, out_pod);
	}
	bt_lock_release(&known->lock);
	return found;
}

void bt_pod_store_patched(
	struct bt_pod_store *known, const struct bt_pod_ref *ref, const struct bt_api_status *patch)
{
	bt_lock_acquire(&known->lock);
	struct pod_store_entry *entry = pod_store_find(known, ref->namespace_, ref->name);
	if (entry && entry->waits && entry->uid == bt_hash_str(ref->uid)) {
		struct bt_api_pod pod;

		bt_arena_reset(&known->arena);
		take_texts(known, entry, &known->arena, &pod);
		bt_pod_status_copy(&known->status, &pod);
		bt_pod_status_patch(&known->status, patch);
		keep_status(known, entry, pod.scheduler_name);
	}
	bt_lock_release(&known->lock);
}

size_t bt_pod_store_n(struct bt_pod_store *known)
{
	bt_lock_acquire(&known->lock);
	size_t n = known->by_key.count;
	bt_lock_release(&known->lock);
	return n;
}
