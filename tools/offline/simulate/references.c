/* SPDX-License-Identifier: Apache-2.0
 * References of the input to missing objects.
 */
#include "tools/offline/simulate/references.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"

/* One object refers to another. */
struct bt_reference {
	uint64_t key;	   /* of the other one */
	uint64_t referrer; /* a number */
	enum bt_kind kind; /* of the other one */
	enum bt_kind from;
};

/* The kinds of referenced objects, in report order. */
static const enum bt_kind targets[] = {BT_KIND_PERSISTENT_VOLUME_CLAIM, BT_KIND_PERSISTENT_VOLUME,
	BT_KIND_STORAGE_CLASS, BT_KIND_CSI_NODE, BT_KIND_RESOURCE_CLAIM, BT_KIND_DEVICE_CLASS,
	BT_KIND_RESOURCE_SLICE, BT_KIND_NAMESPACE, BT_KIND_REPLICA_SET, BT_KIND_STATEFUL_SET,
	BT_KIND_REPLICATION_CONTROLLER};

#define TARGET_N (sizeof(targets) / sizeof(*targets))

/* Referenced without a name: at least one must exist. */
static bool is_any(enum bt_kind kind)
{
	return kind == BT_KIND_CSI_NODE || kind == BT_KIND_RESOURCE_SLICE;
}

/* Leaves "namespace/name", or the name alone, in text. Returns a hash of it and the kind. */
static uint64_t references_key_of(
	struct bt_references *r, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	bt_buf_clear(&r->text);
	bt_buf_str(&r->text, namespace_);
	bt_buf_text(&r->text, namespace_.len ? "/" : "");
	bt_buf_str(&r->text, name);
	return (bt_hash_bytes(r->text.ptr, r->text.len) ^ ((uint64_t)kind << 56)) | 1;
}

static void refer(struct bt_references *r, enum bt_kind from, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name)
{
	uint64_t key = references_key_of(r, kind, namespace_, name);
	uint32_t ix;

	if (!name.len) {
		return;
	}
	r->items = bt_mem_grow(r->items, r->item_n, &r->item_cap, sizeof(*r->items));
	r->items[r->item_n++] =
		(struct bt_reference){.key = key, .referrer = r->referrer_n, .kind = kind, .from = from};
	if (bt_map_get(&r->named, key, &ix)) {
		return;
	}
	bt_map_put(&r->named, key, (uint32_t)r->name_n);
	r->names = bt_mem_grow(r->names, r->name_n, &r->name_cap, sizeof(*r->names));
	r->names[r->name_n++] =
		(struct bt_str){bt_arena_copy(&r->arena, r->text.ptr, r->text.len), r->text.len};
}

/* ---- references ---- */

static void note_volumes(struct bt_references *r, const struct bt_pod_object *pod)
{
	struct bt_str namespace_ = pod->meta.namespace_;
	struct bt_buf name = {0};

	for (uint32_t i = 0; i < pod->spec.volume_n; i++) {
		const struct bt_volume_object *volume = &pod->spec.volumes[i];

		if (volume->type == BT_VOLUME_CLAIM) {
			refer(r, BT_KIND_POD, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_, volume->source);
		} else if (volume->type == BT_VOLUME_EPHEMERAL) {
			bt_buf_clear(&name);
			bt_buf_printf(
				&name, "%.*s-%.*s", BT_STR_ARG(pod->meta.name), BT_STR_ARG(volume->name));
			refer(r, BT_KIND_POD, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_,
				bt_buf_view(&name));
		}
	}
	bt_buf_fini(&name);
}

static void note_claims(struct bt_references *r, const struct bt_pod_object *pod)
{
	struct bt_str namespace_ = pod->meta.namespace_;

	for (uint32_t i = 0; i < pod->spec.claim_n; i++) {
		refer(r, BT_KIND_POD, BT_KIND_RESOURCE_CLAIM, namespace_, pod->spec.claims[i].claim_name);
	}
	for (uint32_t i = 0; i < pod->claim_status_n; i++) {
		refer(r, BT_KIND_POD, BT_KIND_RESOURCE_CLAIM, namespace_, pod->claim_statuses[i].claim_name);
	}
}

static bool selects_namespaces(const struct bt_pod_affinity_object *affinity)
{
	bool any = false;

	for (uint32_t i = 0; i < affinity->required_n; i++) {
		any = any || affinity->required[i].namespace_selector.set;
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		any = any || affinity->preferred[i].term.namespace_selector.set;
	}
	return any;
}

/* The owners whose selectors spread pods by default. */
static void note_owner(struct bt_references *r, const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->meta.owner_n; i++) {
		const struct bt_owner_object *owner = &pod->meta.owners[i];
		enum bt_kind kind = bt_kind_of_word(owner->kind);

		if (owner->controller && bt_kind_store(kind) == BT_STORE_CONTROLLERS) {
			refer(r, BT_KIND_POD, kind, pod->meta.namespace_, owner->name);
		}
	}
}

static void note_pod(struct bt_references *r, const struct bt_pod_object *pod)
{
	const struct bt_affinity_object *affinity = &pod->spec.affinity;

	if (pod->spec.node_name.len) {
		return; /* a bound pod needs no more objects */
	}
	note_volumes(r, pod);
	note_claims(r, pod);
	note_owner(r, pod);
	if (selects_namespaces(&affinity->pod_affinity) || selects_namespaces(&affinity->pod_anti_affinity)) {
		refer(r, BT_KIND_POD, BT_KIND_NAMESPACE, (struct bt_str){0}, pod->meta.namespace_);
	}
}

static void refer_to_any(struct bt_references *r, enum bt_kind from, enum bt_kind kind)
{
	if (!r->kind_n[kind]) {
		refer(r, from, kind, (struct bt_str){0}, (struct bt_str)BT_STR("*"));
	}
}

static void note_requests(struct bt_references *r, const struct bt_resource_claim_object *claim)
{
	for (uint32_t i = 0; i < claim->request_n; i++) {
		const struct bt_device_request_object *request = &claim->requests[i];

		refer(r, BT_KIND_RESOURCE_CLAIM, BT_KIND_DEVICE_CLASS, (struct bt_str){0},
			request->exactly.class_name);
		for (uint32_t a = 0; a < request->first_available_n; a++) {
			refer(r, BT_KIND_RESOURCE_CLAIM, BT_KIND_DEVICE_CLASS, (struct bt_str){0},
				request->first_available[a].class_name);
		}
	}
}

static bool is_target(enum bt_kind kind)
{
	for (size_t t = 0; t < TARGET_N; t++) {
		if (targets[t] == kind) {
			return true;
		}
	}
	return false;
}

void bt_references_note(struct bt_references *r, const struct bt_object *object)
{
	const struct bt_str none = {0};
	const struct bt_meta_object *meta = &object->meta;

	r->kind_n[object->kind]++;
	r->referrer_n++;
	if (is_target(object->kind)) {
		bt_map_put(&r->known, references_key_of(r, object->kind, meta->namespace_, meta->name), 1);
	}
	switch (object->kind) {
	case BT_KIND_POD:
		note_pod(r, &object->pod);
		break;
	case BT_KIND_PERSISTENT_VOLUME_CLAIM:
		refer(r, object->kind, BT_KIND_PERSISTENT_VOLUME, none, object->claim.volume_name);
		if (!object->claim.volume_name.len) { /* a bound claim does not need its class */
			refer(r, object->kind, BT_KIND_STORAGE_CLASS, none, object->claim.storage_class);
		}
		break;
	case BT_KIND_RESOURCE_CLAIM:
		if (!object->resource_claim.allocated) {
			note_requests(r, &object->resource_claim);
			refer_to_any(r, object->kind, BT_KIND_RESOURCE_SLICE); /* provides the devices */
		}
		break;
	case BT_KIND_PERSISTENT_VOLUME:
		if (object->persistent_volume.source.type == BT_VOLUME_CSI_INLINE) {
			refer_to_any(r, object->kind, BT_KIND_CSI_NODE); /* provides the node's limits */
		}
		break;
	default:
		break;
	}
}

/* ---- missing objects ---- */

/* Does the input have the referenced object? */
static bool is_there(const struct bt_references *r, const struct bt_reference *item)
{
	uint32_t known;

	if (is_any(item->kind)) {
		return r->kind_n[item->kind] > 0;
	}
	return bt_map_get(&r->known, item->key, &known);
}

static struct bt_missing references_count(struct bt_references *r, size_t target)
{
	const struct bt_kind_info *info = bt_kind_info(targets[target]);
	struct bt_missing missing = {.kind = info->name, .resource = info->resource};
	struct bt_map seen = {0};
	uint64_t last = UINT64_MAX;
	uint32_t ix;

	for (size_t i = 0; i < r->item_n; i++) {
		const struct bt_reference *item = &r->items[i];

		if (item->referrer <= r->from_n || item->kind != targets[target] || is_there(r, item)) {
			continue;
		}
		if (!bt_map_get(&seen, item->key, &ix) && bt_map_get(&r->named, item->key, &ix)) {
			missing.example = missing.example.len ? missing.example : r->names[ix];
			missing.object_n += !is_any(item->kind);
			bt_map_put(&seen, item->key, 1);
		}
		missing.referrer_n += item->referrer != last;
		missing.referrer = item->from == BT_KIND_POD ? "pod" : bt_kind_info(item->from)->name;
		last = item->referrer;
	}
	bt_map_fini(&seen);
	return missing;
}

void bt_references_forget(struct bt_references *r)
{
	r->from_n = r->referrer_n;
}

size_t bt_references_missing(struct bt_references *r, struct bt_missing *out, size_t max)
{
	size_t n = 0;

	for (size_t t = 0; t < TARGET_N && n < max; t++) {
		struct bt_missing missing = references_count(r, t);

		if (missing.referrer_n) {
			out[n++] = missing;
		}
	}
	return n;
}

void bt_references_fini(struct bt_references *r)
{
	bt_map_fini(&r->known);
	bt_map_fini(&r->named);
	bt_mem_free(r->names);
	bt_mem_free(r->items);
	bt_arena_fini(&r->arena);
	bt_buf_fini(&r->text);
}
