/* SPDX-License-Identifier: Apache-2.0
 * What an update changes in a claim or class, for queueing hints. Source: the hints of
 * plugins/dynamicresources and noderesources, v1.36.3.
 */
#include "cache/devices_int.h"

static bool same_names(const uint32_t *a, uint32_t a_n, const uint32_t *b, uint32_t b_n)
{
	return a_n == b_n && (a_n == 0 || memcmp(a, b, a_n * sizeof(*a)) == 0);
}

static bool same_result(const struct bt_device_result *a, const struct bt_device_result *b)
{
	if (a->request != b->request || a->driver != b->driver || a->pool != b->pool ||
		a->device != b->device || a->share != b->share || a->admin != b->admin ||
		a->consumed_n != b->consumed_n) {
		return false;
	}
	for (uint32_t i = 0; i < a->consumed_n; i++) {
		if (a->consumed[i].name != b->consumed[i].name ||
			a->consumed[i].value != b->consumed[i].value) {
			return false;
		}
	}
	return same_names(a->binding_conditions, a->binding_condition_n, b->binding_conditions,
		       b->binding_condition_n) &&
	       same_names(a->failure_conditions, a->failure_condition_n, b->failure_conditions,
		       b->failure_condition_n) &&
	       same_names(a->skipped, a->skipped_n, b->skipped, b->skipped_n);
}

static bool same_allocation(const struct bt_allocation *a, const struct bt_allocation *b)
{
	if (a->result_n != b->result_n || a->since_ns != b->since_ns || a->has_selector != b->has_selector) {
		return false;
	}
	for (uint32_t i = 0; i < a->result_n; i++) {
		if (!same_result(&a->results[i], &b->results[i])) {
			return false;
		}
	}
	return true;
}

static bool same_conditions(const struct bt_resource_claim *a, const struct bt_resource_claim *b)
{
	if (a->condition_n != b->condition_n) {
		return false;
	}
	for (uint32_t i = 0; i < a->condition_n; i++) {
		const struct bt_device_condition *x = &a->conditions[i], *y = &b->conditions[i];

		if (x->driver != y->driver || x->pool != y->pool || x->device != y->device ||
			x->type != y->type || x->is_true != y->is_true) {
			return false;
		}
	}
	return true;
}

/* Are the fields of status that the scheduler reads equal? */
static bool same_status(const struct bt_resource_claim *a, const struct bt_resource_claim *b)
{
	return a->allocated == b->allocated && same_conditions(a, b) && a->reserved_n == b->reserved_n &&
	       (a->reserved_n == 0 || memcmp(a->reserved_for, b->reserved_for,
					      a->reserved_n * sizeof(*a->reserved_for)) == 0) &&
	       (!a->allocated || same_allocation(&a->allocation, &b->allocation));
}

static bool compare_claim(const struct bt_devices *devices, struct bt_arena *arena,
	const struct bt_resource_claim_object *object, struct bt_cluster_event_object *out)
{
	const struct bt_resource_claim *old =
		bt_device_store_claim(&devices->view, out->namespace_, out->name);
	struct bt_name_refs held = {.intern = devices->dictionary->intern};
	struct bt_resource_claim new;

	if (old) {
		bt_resource_claim_compile(&held, arena, object, &new);
		if (!bt_claim_is_kept(old, &new)) {
			out->changes |= old->allocated && !new.allocated ? BT_CHANGED_ALLOCATION_LOST : 0;
			out->changes |= same_status(old, &new) ? 0 : BT_CHANGED_CLAIM_STATUS;
		}
		bt_name_refs_release(&held);
	}
	return old;
}

static bool compare_class(const struct bt_devices *devices, const struct bt_device_class_object *object,
	struct bt_name_refs *held, struct bt_cluster_event_object *out)
{
	const struct bt_device_class *old = bt_device_store_class(&devices->view, out->name);

	/* NULL and an empty name are equal. */
	out->other = object->extended_resource.len ? bt_name_refs_add(held, object->extended_resource)
						   : BT_NAME_NONE;
	if (old) {
		uint32_t before =
			old->extended_resource == BT_NAME_EMPTY ? BT_NAME_NONE : old->extended_resource;

		out->changes |= before != out->other ? BT_CHANGED_EXTENDED_NAME : 0;
	}
	return old;
}

static bool has_slice(const struct bt_devices *devices, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&devices->view.slice_ixs, name, &ix) && devices->view.slices[ix].live;
}

static bool compare_taint_rule(const struct bt_devices *devices,
	const struct bt_device_taint_rule_object *object, struct bt_cluster_event_object *out)
{
	const struct bt_device_taint_rule *old = bt_taint_rules_find(devices, out->name);
	struct bt_name_refs held = {.intern = devices->dictionary->intern};
	struct bt_device_taint_rule new;

	bt_device_taint_rule_compile(&held, object, bt_taint_rules_bare_take_all(devices), &new);
	out->changes |= bt_taint_rules_differ(devices, old, &new) ? BT_CHANGED_DEVICE_TAINTS : 0;
	bt_name_refs_release(&held);
	return old;
}

bool bt_devices_describe(const struct bt_devices *devices, const struct bt_object *object,
	struct bt_name_refs *held, struct bt_cluster_event_object *out)
{
	const struct bt_meta_object *meta = &object->meta;
	struct bt_arena arena = {0};
	bool known = false;

	*out = (struct bt_cluster_event_object){
		.namespace_ = bt_name_refs_add(held, meta->namespace_),
		.name = bt_name_refs_add(held, meta->name),
		.uid = meta->uid.len ? bt_name_refs_add(held, meta->uid) : BT_NAME_NONE,
	};
	if (object->kind == BT_KIND_RESOURCE_CLAIM) {
		known = compare_claim(devices, &arena, &object->resource_claim, out);
	} else if (object->kind == BT_KIND_DEVICE_CLASS) {
		known = compare_class(devices, &object->device_class, held, out);
	} else if (object->kind == BT_KIND_RESOURCE_SLICE) {
		known = has_slice(devices, out->name);
	} else if (object->kind == BT_KIND_DEVICE_TAINT_RULE) {
		known = compare_taint_rule(devices, &object->device_taint_rule, out);
	}
	bt_arena_fini(&arena);
	return known;
}

bool bt_devices_describe_removal(const struct bt_devices *devices, enum bt_kind kind, uint32_t namespace_,
	uint32_t name, struct bt_cluster_event_object *out)
{
	const struct bt_resource_claim *claim =
		kind == BT_KIND_RESOURCE_CLAIM ? bt_device_store_claim(&devices->view, namespace_, name)
					       : NULL;

	*out = (struct bt_cluster_event_object){.namespace_ = namespace_, .name = name};
	if (claim) {
		out->uid = claim->uid == BT_NAME_EMPTY ? BT_NAME_NONE : claim->uid;
		out->changes = claim->allocated ? BT_CHANGED_ALLOCATION_LOST : 0;
	}
	if (kind == BT_KIND_DEVICE_TAINT_RULE) {
		const struct bt_device_taint_rule *rule = bt_taint_rules_find(devices, name);

		out->changes = bt_taint_rules_differ(devices, rule, NULL) ? BT_CHANGED_DEVICE_TAINTS : 0;
		return rule;
	}
	return claim || (kind == BT_KIND_RESOURCE_SLICE && has_slice(devices, name)) ||
	       (kind == BT_KIND_DEVICE_CLASS && bt_device_store_class(&devices->view, name));
}
