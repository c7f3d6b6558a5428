/* SPDX-License-Identifier: Apache-2.0
 * The table of policies, RuntimeClasses and the default StorageClass. limit_range.c has the LimitRanges.
 */
#include "tools/kube/objects/policy.h"

#include <string.h>

#include "engine/base/mem.h"
#include "tools/format/object_reader.h"
#include "tools/kube/objects/defaults.h"

void bt_policies_fini(struct bt_policies *policies)
{
	bt_mem_free(policies->items);
	bt_arena_fini(&policies->arena);
	*policies = (struct bt_policies){0};
}

static const struct bt_object *policy_find(
	const struct bt_policies *policies, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	for (size_t i = 0; i < policies->n; i++) {
		const struct bt_object *item = &policies->items[i];

		if (item->kind == kind && bt_str_eq(item->meta.name, name) &&
			bt_str_eq(item->meta.namespace_, namespace_)) {
			return item;
		}
	}
	return NULL;
}

void bt_policies_add(struct bt_policies *policies, const struct bt_object *object)
{
	if (object->kind != BT_KIND_STORAGE_CLASS && object->kind != BT_KIND_RUNTIME_CLASS &&
		object->kind != BT_KIND_LIMIT_RANGE) {
		return;
	}
	const struct bt_object *known =
		policy_find(policies, object->kind, object->meta.namespace_, object->meta.name);
	size_t ix = known ? (size_t)(known - policies->items) : policies->n;

	if (!known) {
		policies->items =
			bt_mem_grow(policies->items, policies->n, &policies->cap, sizeof(*policies->items));
		policies->n++;
	}
	policies->items[ix] = *object;
	bt_object_own(&policies->items[ix], &policies->arena);
}

/* ---- RuntimeClass ---- */

static bool same_amounts(const struct bt_resource_list *a, const struct bt_resource_list *b)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct bt_named_quantity *other = bt_resource_list_find(b, a->items[i].name);

		if (!other || bt_quantity_cmp(other->quantity, a->items[i].quantity) != 0) {
			return false;
		}
	}
	return a->n == b->n;
}

/* Does the pod's overhead agree with its class? Sets it where it is absent. Source: setOverhead,
 * validateOverhead, plugin/pkg/admission/runtimeclass, v1.37.2. */
static bool set_overhead(const struct bt_runtime_class_object *class_, struct bt_pod_spec_object *spec,
	struct bt_buf *out_reason)
{
	if (!class_ || !class_->has_overhead) {
		if (spec->overhead.set) {
			bt_buf_text(out_reason,
				"pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
				"Overhead");
		}
		return !spec->overhead.set;
	}
	if (spec->overhead.n && !same_amounts(&class_->overhead, &spec->overhead)) {
		bt_buf_text(out_reason,
			"pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
		return false;
	}
	spec->overhead = class_->overhead;
	return true;
}

static const struct bt_str *selector_value(const struct bt_str_map *map, struct bt_str key)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (bt_str_eq(map->items[i].key, key)) {
			return &map->items[i].value;
		}
	}
	return NULL;
}

/* Adds the class's node selector to the pod's. False: they contradict each other. */
static bool merge_selector(const struct bt_str_map *more, struct bt_pod_spec_object *spec,
	struct bt_arena *arena, struct bt_buf *out_reason)
{
	struct bt_str_map *own = &spec->node_selector;
	uint32_t n = own->n;

	if (more->n == 0) {
		return true;
	}
	struct bt_str_pair *items = bt_arena_alloc(arena, (own->n + more->n) * sizeof(*items), 16);
	if (own->n) {
		memcpy(items, own->items, own->n * sizeof(*items));
	}
	for (uint32_t i = 0; i < more->n; i++) {
		const struct bt_str_pair *pair = &more->items[i];
		const struct bt_str *value = selector_value(own, pair->key);

		if (value && !bt_str_eq(*value, pair->value)) {
			bt_buf_printf(out_reason,
				"conflict: runtimeClass.scheduling.nodeSelector[%.*s] = %.*s; "
				"pod.spec.nodeSelector[%.*s] = %.*s",
				BT_STR_ARG(pair->key), BT_STR_ARG(pair->value), BT_STR_ARG(pair->key),
				BT_STR_ARG(*value));
			return false;
		}
		if (!value) {
			items[n++] = *pair;
		}
	}
	*own = (struct bt_str_map){.items = items, .n = n, .set = true};
	return true;
}

static bool same_toleration(const struct bt_toleration_object *a, const struct bt_toleration_object *b)
{
	return bt_str_eq(a->key, b->key) && bt_str_eq(a->operator_, b->operator_) &&
	       bt_str_eq(a->value, b->value) && bt_str_eq(a->effect, b->effect) &&
	       a->has_toleration_seconds == b->has_toleration_seconds &&
	       a->toleration_seconds == b->toleration_seconds;
}

/* Does wide tolerate all that narrow does? Source: isSuperset, pkg/util/tolerations, v1.37.2. */
static bool is_superset(const struct bt_toleration_object *wide, const struct bt_toleration_object *narrow)
{
	bool exists = bt_str_is(wide->operator_, "Exists");

	if (same_toleration(wide, narrow)) {
		return true;
	}
	if (!bt_str_eq(narrow->key, wide->key) && (wide->key.len || !exists)) {
		return false;
	}
	if (!bt_str_eq(narrow->effect, wide->effect) && wide->effect.len) {
		return false;
	}
	if (bt_str_is(wide->effect, "NoExecute") && wide->has_toleration_seconds &&
		(!narrow->has_toleration_seconds || narrow->toleration_seconds > wide->toleration_seconds)) {
		return false;
	}
	if (wide->operator_.len == 0 || bt_str_is(wide->operator_, "Equal")) {
		return bt_str_is(narrow->operator_, "Equal") && bt_str_eq(narrow->value, wide->value);
	}
	return exists;
}

/* Is entry ix of all covered by a merged one, or by a later one that differs? */
static bool is_redundant(const struct bt_toleration_object *all, uint32_t n, uint32_t ix,
	const struct bt_toleration_object *merged, uint32_t merged_n)
{
	for (uint32_t i = 0; i < merged_n; i++) {
		if (is_superset(&merged[i], &all[ix])) {
			return true;
		}
	}
	for (uint32_t i = ix + 1; i < n; i++) {
		if (!same_toleration(&all[ix], &all[i]) && is_superset(&all[i], &all[ix])) {
			return true;
		}
	}
	return false;
}

/* Source: MergeTolerations, pkg/util/tolerations, v1.37.2. */
static void merge_tolerations(
	const struct bt_runtime_class_object *class_, struct bt_pod_spec_object *spec, struct bt_arena *arena)
{
	uint32_t n = spec->toleration_n + class_->toleration_n, merged_n = 0;

	if (n == 0) {
		return;
	}
	struct bt_toleration_object *all = bt_arena_alloc(arena, n * sizeof(*all), 16);
	struct bt_toleration_object *merged = bt_arena_alloc(arena, n * sizeof(*merged), 16);
	for (uint32_t i = 0; i < n; i++) {
		all[i] = i < spec->toleration_n ? spec->tolerations[i]
						: class_->tolerations[i - spec->toleration_n];
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!is_redundant(all, n, i, merged, merged_n)) {
			merged[merged_n++] = all[i];
		}
	}
	spec->tolerations = merged;
	spec->toleration_n = merged_n;
}

static bool has_runtime_classes(const struct bt_policies *policies)
{
	for (size_t i = 0; i < policies->n; i++) {
		if (policies->items[i].kind == BT_KIND_RUNTIME_CLASS) {
			return true;
		}
	}
	return false;
}

/* Source: Admit and Validate, plugin/pkg/admission/runtimeclass, v1.37.2. */
bool bt_policies_set_runtime(const struct bt_policies *policies, struct bt_pod_object *pod,
	struct bt_arena *arena, struct bt_buf *out_reason)
{
	struct bt_pod_spec_object *spec = &pod->spec;
	struct bt_str name = spec->runtime_class_name;
	const struct bt_runtime_class_object *class_ = NULL;

	if (!has_runtime_classes(policies)) {
		return true;
	}
	if (name.len) {
		const struct bt_object *found =
			policy_find(policies, BT_KIND_RUNTIME_CLASS, (struct bt_str){.len = 0}, name);

		if (!found) {
			bt_buf_printf(out_reason, "pod rejected: RuntimeClass \"%.*s\" not found",
				BT_STR_ARG(name));
			return false;
		}
		class_ = &found->runtime_class;
	}
	if (!set_overhead(class_, spec, out_reason)) {
		return false;
	}
	if (!class_ || !class_->has_scheduling) {
		return true;
	}
	if (!merge_selector(&class_->node_selector, spec, arena, out_reason)) {
		return false;
	}
	merge_tolerations(class_, spec, arena);
	return true;
}

/* ---- StorageClass ---- */

static bool is_default(const struct bt_meta_object *meta)
{
	static const struct bt_str stable = BT_STR("storageclass.kubernetes.io/is-default-class");
	static const struct bt_str beta = BT_STR("storageclass.beta.kubernetes.io/is-default-class");
	const struct bt_str *value = selector_value(&meta->annotations, stable);

	if (value && bt_str_is(*value, "true")) {
		return true;
	}
	value = selector_value(&meta->annotations, beta);
	return value && bt_str_is(*value, "true");
}

/* The newest default class; of those as new the first by name. Source: GetDefaultClass, pkg/volume/util,
 * v1.37.2. */
static const struct bt_meta_object *default_class(const struct bt_policies *policies)
{
	const struct bt_meta_object *best = NULL;

	for (size_t i = 0; i < policies->n; i++) {
		const struct bt_meta_object *meta = &policies->items[i].meta;

		if (policies->items[i].kind != BT_KIND_STORAGE_CLASS || !is_default(meta)) {
			continue;
		}
		if (!best || meta->creation_ns > best->creation_ns ||
			(meta->creation_ns == best->creation_ns && bt_str_cmp(meta->name, best->name) < 0)) {
			best = meta;
		}
	}
	return best;
}

/* Source: Admit, plugin/pkg/admission/storage/storageclass/setdefault, v1.37.2. */
void bt_policies_set_class(const struct bt_policies *policies, struct bt_claim_object *claim)
{
	static const struct bt_str beta = BT_STR("volume.beta.kubernetes.io/storage-class");
	const struct bt_meta_object *class_;

	if (claim->has_storage_class || selector_value(&claim->meta.annotations, beta)) {
		return;
	}
	class_ = default_class(policies);
	if (class_) {
		claim->storage_class = class_->name;
		claim->has_storage_class = true;
	}
}
