/* SPDX-License-Identifier: Apache-2.0
 * The pods as the API has shown them.
 */
#include "tools/write/known.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/report/pod_status.h"

/* So many different sequences of conditions are told apart; a pod with a further one has none. */
#define SHAPES_MAX 256

/* The texts of a pod that waits. */
struct detail {
	struct bt_pod_status status;
	char *scheduler_name;
};

struct entry {
	uint64_t key, uid; /* hashes of namespace and name, of the UID; key 0: vacant */
	uint64_t version;  /* the resource version, a number; 0: none */
	int64_t generation;
	uint32_t shape; /* of a pod on a node: which conditions, in order */
	bool deleting;
	struct detail *detail; /* NULL: the pod is on a node */
};

/* Conditions of a pod that are known by their types alone. */
struct shape {
	struct bt_pod_condition *conditions;
	uint32_t n;
	char *types; /* one behind the other, each with its NUL */
	size_t bytes;
};

struct bt_known {
	struct bt_lock lock;
	/* lock(lock): */
	struct bt_map by_key;
	struct entry *entries;
	size_t entry_n, entry_cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	struct shape shapes[SHAPES_MAX];
	uint32_t shape_n;
	struct bt_buf types;
};

struct bt_known *bt_known_create(void)
{
	struct bt_known *known = bt_mem_zalloc(1, sizeof(*known));

	bt_lock_init(&known->lock);
	known->shape_n = 1; /* none */
	return known;
}

static void forget_detail(struct entry *entry)
{
	if (entry->detail) {
		bt_pod_status_fini(&entry->detail->status);
		bt_mem_free(entry->detail->scheduler_name);
		bt_mem_free(entry->detail);
		entry->detail = NULL;
	}
}

void bt_known_destroy(struct bt_known *known)
{
	for (size_t i = 0; i < known->entry_n; i++) {
		forget_detail(&known->entries[i]);
	}
	for (uint32_t i = 1; i < known->shape_n; i++) {
		bt_mem_free(known->shapes[i].conditions);
		bt_mem_free(known->shapes[i].types);
	}
	bt_map_fini(&known->by_key);
	bt_mem_free(known->entries);
	bt_mem_free(known->vacant);
	bt_buf_fini(&known->types);
	bt_lock_fini(&known->lock);
	bt_mem_free(known);
}

static uint64_t hash_of(struct bt_str text)
{
	return bt_hash_bytes(text.len ? text.ptr : "", text.len);
}

static uint64_t key_of(struct bt_str namespace_, struct bt_str name)
{
	uint64_t key = bt_hash_u64(hash_of(namespace_) + 1) ^ hash_of(name);

	return key ? key : 1;
}

static struct entry *find(struct bt_known *known, struct bt_str namespace_, struct bt_str name)
{
	uint32_t ix;

	return bt_map_get(&known->by_key, key_of(namespace_, name), &ix) ? &known->entries[ix] : NULL;
}

static struct entry *add(struct bt_known *known, uint64_t key)
{
	uint32_t ix;

	if (known->vacant_n) {
		ix = known->vacant[--known->vacant_n];
	} else {
		known->entries = bt_mem_grow(
			known->entries, known->entry_n, &known->entry_cap, sizeof(*known->entries));
		ix = (uint32_t)known->entry_n++;
	}
	known->entries[ix] = (struct entry){.key = key};
	bt_map_put(&known->by_key, key, ix);
	return &known->entries[ix];
}

static void drop(struct bt_known *known, struct entry *entry)
{
	bt_map_remove(&known->by_key, entry->key);
	forget_detail(entry);
	entry->key = 0;
	known->vacant =
		bt_mem_grow(known->vacant, known->vacant_n, &known->vacant_cap, sizeof(*known->vacant));
	known->vacant[known->vacant_n++] = (uint32_t)(entry - known->entries);
}

/* ---- shapes ---- */

static void fill_shape(struct shape *shape, const struct bt_buf *types, uint32_t n)
{
	shape->types = bt_mem_copy(types->ptr, types->len);
	shape->bytes = types->len;
	shape->conditions = bt_mem_zalloc(n, sizeof(*shape->conditions));
	shape->n = n;
	for (uint32_t i = 0, at = 0; i < n; i++) {
		shape->conditions[i].type = bt_str(shape->types + at);
		at += (uint32_t)shape->conditions[i].type.len + 1;
	}
}

static uint32_t shape_of(struct bt_known *known, const struct bt_pod_object *pod)
{
	uint32_t i = 1;

	if (!pod->condition_n) {
		return 0;
	}
	bt_buf_clear(&known->types);
	for (uint32_t c = 0; c < pod->condition_n; c++) {
		bt_buf_str(&known->types, pod->conditions[c].type);
		bt_buf_char(&known->types, 0);
	}
	while (i < known->shape_n &&
		(known->shapes[i].bytes != known->types.len ||
			memcmp(known->shapes[i].types, known->types.ptr, known->types.len))) {
		i++;
	}
	if (i == SHAPES_MAX) {
		return 0;
	}
	if (i == known->shape_n) {
		fill_shape(&known->shapes[known->shape_n++], &known->types, pod->condition_n);
	}
	return i;
}

/* ---- what the API shows ---- */

static uint64_t version_of(struct bt_str text)
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

/* Returns: whether the pod has got its node. */
static bool show_pod(struct bt_known *known, const struct bt_pod_object *pod)
{
	struct entry *entry = find(known, pod->meta.namespace_, pod->meta.name);
	uint64_t uid = hash_of(pod->meta.uid);

	if (!entry) {
		entry = add(known, key_of(pod->meta.namespace_, pod->meta.name));
	}
	bool waited = entry->detail && entry->uid == uid;
	entry->uid = uid;
	entry->version = version_of(pod->meta.resource_version);
	entry->generation = pod->meta.generation;
	entry->deleting = pod->meta.deletion_ns != 0;
	if (pod->spec.node_name.len) {
		forget_detail(entry);
		entry->shape = shape_of(known, pod);
		return waited;
	}
	if (!entry->detail) {
		entry->detail = bt_mem_zalloc(1, sizeof(*entry->detail));
	}
	bt_pod_status_take(&entry->detail->status, pod);
	bt_mem_free(entry->detail->scheduler_name);
	entry->detail->scheduler_name =
		bt_mem_copy(pod->spec.scheduler_name.len ? pod->spec.scheduler_name.ptr : "",
			pod->spec.scheduler_name.len);
	return false;
}

static bool show_end(struct bt_known *known, const struct bt_meta_object *meta)
{
	struct entry *entry = find(known, meta->namespace_, meta->name);

	if (!entry || (meta->uid.len && entry->uid != hash_of(meta->uid))) {
		return false;
	}
	bool waited = entry->detail != NULL;
	drop(known, entry);
	return waited;
}

bool bt_known_show(struct bt_known *known, enum bt_parcel_kind what, const struct bt_object *object)
{
	bt_lock_acquire(&known->lock);
	bool news = what == BT_PARCEL_APPLY ? show_pod(known, &object->pod) : show_end(known, &object->meta);
	bt_lock_release(&known->lock);
	return news;
}

/* ---- asking ---- */

static struct bt_str copy(struct bt_arena *arena, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(arena, text.len ? text.ptr : "", text.len), text.len};
}

static void copy_conditions(
	struct bt_arena *arena, const struct bt_pod_condition *conditions, uint32_t n, struct bt_api_pod *pod)
{
	struct bt_pod_condition *copies = bt_arena_zalloc(arena, (n + 1) * sizeof(*copies));

	for (uint32_t i = 0; i < n; i++) {
		copies[i] = (struct bt_pod_condition){
			.type = copy(arena, conditions[i].type),
			.status = copy(arena, conditions[i].status),
			.reason = copy(arena, conditions[i].reason),
			.message = copy(arena, conditions[i].message),
			.transition_s = conditions[i].transition_s,
			.observed_generation = conditions[i].observed_generation,
		};
	}
	pod->conditions = copies;
	pod->condition_n = n;
}

static void copy_entry(const struct bt_known *known, const struct entry *entry, struct bt_arena *arena,
	struct bt_known_pod *out)
{
	const struct detail *detail = entry->detail;

	out->waits = detail != NULL;
	out->deleting = entry->deleting;
	out->pod.generation = entry->generation;
	if (entry->version) {
		char *text = bt_arena_alloc(arena, 24, 1);

		out->pod.resource_version =
			(struct bt_str){text, (size_t)snprintf(text, 24, "%" PRIu64, entry->version)};
	}
	if (!detail) {
		const struct shape *shape = &known->shapes[entry->shape];

		copy_conditions(arena, shape->conditions, shape->n, &out->pod);
		return;
	}
	copy_conditions(arena, detail->status.conditions, (uint32_t)detail->status.n, &out->pod);
	out->pod.scheduler_name = copy(arena, bt_str(detail->scheduler_name));
	out->pod.nominated_node_name = copy(arena, detail->status.nominated_node_name);
}

bool bt_known_get(struct bt_known *known, const struct bt_pod_ref *ref, struct bt_arena *arena,
	struct bt_known_pod *out_pod)
{
	bool found;

	*out_pod = (struct bt_known_pod){
		.pod = {.namespace_ = ref->namespace_, .name = ref->name, .uid = ref->uid}};
	bt_lock_acquire(&known->lock);
	const struct entry *entry = find(known, ref->namespace_, ref->name);
	found = entry && entry->uid == hash_of(ref->uid);
	if (found) {
		copy_entry(known, entry, arena, out_pod);
	}
	bt_lock_release(&known->lock);
	return found;
}

void bt_known_patched(struct bt_known *known, const struct bt_pod_ref *ref, const struct bt_api_status *patch)
{
	bt_lock_acquire(&known->lock);
	struct entry *entry = find(known, ref->namespace_, ref->name);
	if (entry && entry->detail && entry->uid == hash_of(ref->uid)) {
		bt_pod_status_patch(&entry->detail->status, patch);
	}
	bt_lock_release(&known->lock);
}

size_t bt_known_n(struct bt_known *known)
{
	bt_lock_acquire(&known->lock);
	size_t n = known->by_key.count;
	bt_lock_release(&known->lock);
	return n;
}
