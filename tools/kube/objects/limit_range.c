/* SPDX-License-Identifier: Apache-2.0
 * LimitRanges. Source: plugin/pkg/admission/limitranger/admission.go, v1.37.2, with its texts.
 */
#include <string.h>

#include "tools/kube/objects/defaults.h"
#include "tools/kube/objects/policy.h"

#define MILLI_VALUE_MAX (INT64_MAX / 1000)

static const struct bt_limit_range_object *limit_range(
	const struct bt_policies *policies, size_t ix, struct bt_str namespace_)
{
	const struct bt_object *item = &policies->items[ix];

	return item->kind == BT_KIND_LIMIT_RANGE && bt_str_eq(item->meta.namespace_, namespace_)
		       ? &item->limit_range
		       : NULL;
}

/* ---- defaults ---- */

/* Adds the amounts that the list lacks. */
static void add_missing(
	struct bt_resource_list *list, const struct bt_resource_list *defaults, struct bt_arena *arena)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < defaults->n; i++) {
		missing += !bt_resource_list_find(list, defaults->items[i].name);
	}
	if (missing == 0) {
		return;
	}
	struct bt_named_quantity *items = bt_arena_alloc(arena, (list->n + missing) * sizeof(*items), 16);
	if (list->n) {
		memcpy(items, list->items, list->n * sizeof(*items));
	}
	uint32_t n = list->n;
	for (uint32_t i = 0; i < defaults->n; i++) {
		if (!bt_resource_list_find(list, defaults->items[i].name)) {
			items[n++] = defaults->items[i];
		}
	}
	*list = (struct bt_resource_list){.items = items, .n = n, .set = true};
}

static void set_limits(const struct bt_limit_object *limit, struct bt_container_object *containers,
	uint32_t n, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < n; i++) {
		struct bt_requirements_object *resources = &containers[i].resources;

		add_missing(&resources->limits, &limit->default_limits, arena);
		add_missing(&resources->requests, &limit->default_requests, arena);
		resources->set = true;
	}
}

void bt_policies_set_limits(
	const struct bt_policies *policies, struct bt_pod_object *pod, struct bt_arena *arena)
{
	for (size_t i = 0; i < policies->n; i++) {
		const struct bt_limit_range_object *range = limit_range(policies, i, pod->meta.namespace_);

		/* Of several defaults in one object the last one counts. */
		for (uint32_t j = range ? range->limit_n : 0; j > 0; j--) {
			const struct bt_limit_object *limit = &range->limits[j - 1];

			if (bt_str_is(limit->type, "Container")) {
				set_limits(limit, pod->spec.containers, pod->spec.container_n, arena);
				set_limits(
					limit, pod->spec.init_containers, pod->spec.init_container_n, arena);
			}
		}
	}
}

/* ---- checks ---- */

/* One object, or container, that is checked against one limit. */
struct limited {
	struct bt_str type;
	const struct bt_resource_list *requests, *limits; /* limits: NULL for a claim */
	struct bt_buf *reason;
};

static const struct bt_quantity *amount(const struct bt_resource_list *list, struct bt_str name)
{
	const struct bt_named_quantity *found = list ? bt_resource_list_find(list, name) : NULL;

	return found ? &found->quantity : NULL;
}

/* The values to compare: in thousandths if all of them fit. */
struct compared {
	int64_t request, limit, enforced;
};

static struct compared compare_values(
	const struct bt_quantity *request, const struct bt_quantity *limit, struct bt_quantity enforced)
{
	static const struct bt_quantity zero = {.nano = 0};
	struct bt_quantity a = request ? *request : zero, b = limit ? *limit : zero;
	struct compared c = {bt_quantity_value(a), bt_quantity_value(b), bt_quantity_value(enforced)};

	if (c.request <= MILLI_VALUE_MAX && c.limit <= MILLI_VALUE_MAX && c.enforced <= MILLI_VALUE_MAX) {
		c = (struct compared){
			bt_quantity_milli(a), bt_quantity_milli(b), bt_quantity_milli(enforced)};
	}
	return c;
}

static void add_reason(const struct limited *o, const char *what, const struct bt_named_quantity *enforced,
	const char *but, const struct bt_quantity *found)
{
	char text[BT_QUANTITY_TEXT_MAX];

	bt_quantity_text(enforced->quantity, text);
	bt_buf_text(o->reason, o->reason->len ? ", " : "");
	bt_buf_printf(o->reason, "%s %.*s usage per %.*s is %s", what, BT_STR_ARG(enforced->name),
		BT_STR_ARG(o->type), text);
	if (found) {
		bt_quantity_text(*found, text);
		bt_buf_printf(o->reason, ", but %s is %s", but, text);
	} else {
		bt_buf_printf(o->reason, ".  No %s is specified", but);
	}
}

static void check_min(const struct limited *o, const struct bt_named_quantity *enforced)
{
	const struct bt_quantity *request = amount(o->requests, enforced->name);
	const struct bt_quantity *limit = amount(o->limits, enforced->name);
	struct compared c = compare_values(request, limit, enforced->quantity);

	if (!request || c.request < c.enforced) {
		add_reason(o, "minimum", enforced, "request", request);
	} else if (limit && c.limit < c.enforced) {
		add_reason(o, "minimum", enforced, "limit", limit);
	}
}

static void check_max(const struct limited *o, const struct bt_named_quantity *enforced)
{
	const struct bt_quantity *request = amount(o->requests, enforced->name);
	const struct bt_quantity *limit = amount(o->limits, enforced->name);
	struct compared c = compare_values(request, limit, enforced->quantity);

	if (!limit || c.limit > c.enforced) {
		add_reason(o, "maximum", enforced, "limit", limit);
	} else if (request && c.request > c.enforced) {
		add_reason(o, "maximum", enforced, "request", request);
	}
}

/* Of claims, which have no limits. */
static void check_max_request(const struct limited *o, const struct bt_named_quantity *enforced)
{
	const struct bt_quantity *request = amount(o->requests, enforced->name);
	struct compared c = compare_values(request, NULL, enforced->quantity);

	if (!request || c.request > c.enforced) {
		add_reason(o, "maximum", enforced, "request", request);
	}
}

static void check_ratio(const struct limited *o, const struct bt_named_quantity *enforced)
{
	const struct bt_quantity *request = amount(o->requests, enforced->name);
	const struct bt_quantity *limit = amount(o->limits, enforced->name);
	struct compared c = compare_values(request, limit, enforced->quantity);
	bool has_both = request && c.request && limit && c.limit;
	double ratio = has_both ? (double)c.limit / (double)c.request : 0;
	bool fine = bt_quantity_value(enforced->quantity) <= MILLI_VALUE_MAX;
	double most = fine ? (double)bt_quantity_milli(enforced->quantity)
			   : (double)bt_quantity_value(enforced->quantity);
	char text[BT_QUANTITY_TEXT_MAX];

	if (has_both && (fine ? ratio * 1000 : ratio) <= most) {
		return;
	}
	bt_quantity_text(enforced->quantity, text);
	bt_buf_text(o->reason, o->reason->len ? ", " : "");
	bt_buf_printf(o->reason, "%.*s max limit to request ratio per %.*s is %s, but ",
		BT_STR_ARG(enforced->name), BT_STR_ARG(o->type), text);
	if (has_both) {
		bt_buf_printf(o->reason, "provided ratio is %f", ratio);
	} else {
		bool no_request = !request || c.request == 0;

		bt_buf_printf(o->reason, "no %s is specified or %s is 0", no_request ? "request" : "limit",
			no_request ? "request" : "limit");
	}
}

typedef void check_fn(const struct limited *o, const struct bt_named_quantity *enforced);

static void check_each(const struct limited *o, const struct bt_resource_list *enforced, check_fn *check)
{
	for (uint32_t i = 0; i < enforced->n; i++) {
		check(o, &enforced->items[i]);
	}
}

/* Adds the violations of one limit to the reason. */
static void check_limit(const struct bt_limit_object *limit, const struct bt_resource_list *requests,
	const struct bt_resource_list *limits, struct bt_buf *reason)
{
	const struct limited o = {limit->type, requests, limits, reason};

	check_each(&o, &limit->min, check_min);
	check_each(&o, &limit->max, limits ? check_max : check_max_request);
	if (limits) {
		check_each(&o, &limit->max_ratio, check_ratio);
	}
}

static void check_containers(const struct bt_limit_object *limit,
	const struct bt_container_object *containers, uint32_t n, struct bt_buf *reason)
{
	for (uint32_t i = 0; i < n; i++) {
		check_limit(
			limit, &containers[i].resources.requests, &containers[i].resources.limits, reason);
	}
}

/* The pod's total, in which pod-level amounts of cpu and memory replace those of the containers. */
static struct bt_resource_list pod_amounts(
	const struct bt_pod_spec_object *spec, bool limits, struct bt_arena *arena)
{
	struct bt_resource_list total = bt_pod_total(spec, limits, arena);
	const struct bt_resource_list *own = limits ? &spec->resources.limits : &spec->resources.requests;
	struct bt_resource_list merged = {.set = true};
	const struct bt_resource_list *lists[] = {own, &total};

	merged.items = bt_arena_alloc(arena, (own->n + total.n + 1) * sizeof(*merged.items), 16);
	for (size_t l = 0; l < 2; l++) {
		for (uint32_t i = 0; i < lists[l]->n; i++) {
			struct bt_str name = lists[l]->items[i].name;
			bool counts = l == 1 || bt_str_is(name, "cpu") || bt_str_is(name, "memory");

			if (counts && !bt_resource_list_find(&merged, name)) {
				merged.items[merged.n++] = lists[l]->items[i];
			}
		}
	}
	return merged;
}

static void check_pod(const struct bt_limit_object *limit, const struct bt_pod_spec_object *spec,
	struct bt_arena *arena, struct bt_buf *reason)
{
	if (bt_str_is(limit->type, "Container")) {
		check_containers(limit, spec->containers, spec->container_n, reason);
		check_containers(limit, spec->init_containers, spec->init_container_n, reason);
	} else if (bt_str_is(limit->type, "Pod")) {
		struct bt_resource_list requests = pod_amounts(spec, false, arena);
		struct bt_resource_list limits = pod_amounts(spec, true, arena);

		check_limit(limit, &requests, &limits, reason);
	}
}

bool bt_policies_allow_pod(const struct bt_policies *policies, const struct bt_pod_object *pod,
	struct bt_arena *arena, struct bt_limit_violation *out, struct bt_buf *out_reason)
{
	size_t before = out_reason->len;

	for (size_t i = 0; i < policies->n && out_reason->len == before; i++) {
		const struct bt_limit_range_object *range = limit_range(policies, i, pod->meta.namespace_);

		for (uint32_t j = 0; range && j < range->limit_n; j++) {
			check_pod(&range->limits[j], &pod->spec, arena, out_reason);
		}
		if (out_reason->len != before) {
			*out = (struct bt_limit_violation){"spec.containers[].resources", range->meta.name};
		}
	}
	return out_reason->len == before;
}

bool bt_policies_allow_claim(const struct bt_policies *policies, const struct bt_claim_object *claim,
	struct bt_limit_violation *out, struct bt_buf *out_reason)
{
	size_t before = out_reason->len;

	for (size_t i = 0; i < policies->n && out_reason->len == before; i++) {
		const struct bt_limit_range_object *range = limit_range(policies, i, claim->meta.namespace_);

		for (uint32_t j = 0; range && j < range->limit_n; j++) {
			if (bt_str_is(range->limits[j].type, "PersistentVolumeClaim")) {
				check_limit(&range->limits[j], &claim->requests, NULL, out_reason);
			}
		}
		if (out_reason->len != before) {
			*out = (struct bt_limit_violation){"spec.resources.requests", range->meta.name};
		}
	}
	return out_reason->len == before;
}
