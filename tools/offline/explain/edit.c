/* SPDX-License-Identifier: Apache-2.0
 * Changes that could make a pod fit: their order, and their effect on the pod.
 */
#include "tools/offline/explain/edit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"

#define MEBI (INT64_C(1) << 20)

bool bt_explain_is_of_pod(enum bt_explain_kind kind)
{
	return kind == BT_EXPLAIN_GATES || (kind >= BT_EXPLAIN_TOLERATE && kind <= BT_EXPLAIN_VOLUME);
}

/* ---- cost and order ---- */

/* How much an edit of its kind takes away. */
static double amount_of(const struct bt_explain_edit *edit)
{
	switch (edit->kind) {
	case BT_EXPLAIN_REQUEST:
		return edit->lowered;
	case BT_EXPLAIN_SPREAD:
		return edit->amount ? (double)edit->amount : 1e18;
	case BT_EXPLAIN_EVICT_FORBIDDEN:
		return edit->violation_n * 1e6 + edit->pod_n;
	case BT_EXPLAIN_WAIT:
	case BT_EXPLAIN_EVICT:
		return edit->pod_n;
	default:
		return 0;
	}
}

int bt_explain_edit_cmp(const struct bt_explain_edit *a, const struct bt_explain_edit *b)
{
	double x = amount_of(a), y = amount_of(b);

	if (a->kind != b->kind) {
		return a->kind < b->kind ? -1 : 1;
	}
	return (x > y) - (x < y);
}

/* By kind, then by place, the last one first. */
static int last_first(const void *a, const void *b)
{
	const struct bt_explain_edit *x = a, *y = b;

	if (x->kind != y->kind) {
		return x->kind < y->kind ? -1 : 1;
	}
	if (x->holder != y->holder) {
		return x->holder < y->holder ? -1 : 1;
	}
	if (x->container != y->container) {
		return x->container > y->container ? -1 : 1;
	}
	if (x->item != y->item) {
		return x->item > y->item ? -1 : 1;
	}
	return x->expression > y->expression ? -1 : x->expression < y->expression;
}

void bt_explain_edits_sort(struct bt_explain_edit *edits, size_t n)
{
	if (n) {
		qsort(edits, n, sizeof(*edits), last_first);
	}
}

/* ---- requests ---- */

static const struct bt_resource_list *list_of(
	const struct bt_pod_object *pod, enum bt_explain_holder holder, uint32_t container)
{
	switch (holder) {
	case BT_EXPLAIN_CONTAINER:
		return &pod->spec.containers[container].resources.requests;
	case BT_EXPLAIN_INIT_CONTAINER:
		return &pod->spec.init_containers[container].resources.requests;
	case BT_EXPLAIN_POD_LEVEL:
		break;
	}
	return &pod->spec.resources.requests;
}

const struct bt_named_quantity *bt_explain_request_of(
	const struct bt_pod_object *pod, const struct bt_explain_edit *edit)
{
	const struct bt_resource_list *list = list_of(pod, edit->holder, edit->container);

	BT_REQUIRE(edit->kind == BT_EXPLAIN_REQUEST && edit->item < list->n);
	return &list->items[edit->item];
}

static bool is_in_bytes(struct bt_str resource)
{
	return bt_str_is(resource, "memory") || bt_str_is(resource, "ephemeral-storage") ||
	       bt_str_starts(resource, "hugepages-");
}

int64_t bt_explain_step(struct bt_str resource)
{
	struct bt_quantity page;

	if (bt_str_starts(resource, "hugepages-") &&
		bt_quantity_parse(bt_str_sub(resource, strlen("hugepages-"), resource.len), &page) == BT_OK &&
		bt_quantity_value(page) > 0) {
		return bt_quantity_value(page);
	}
	return is_in_bytes(resource) ? MEBI : 1;
}

int64_t bt_explain_amount_of(const struct bt_named_quantity *request)
{
	return bt_str_is(request->name, "cpu") ? bt_quantity_milli(request->quantity)
					       : bt_quantity_value(request->quantity);
}

struct bt_quantity bt_explain_quantity_of(struct bt_str resource, int64_t amount)
{
	if (bt_str_is(resource, "cpu")) {
		return bt_quantity_of_milli(amount, BT_DECIMAL_SI);
	}
	return bt_quantity_of_int64(amount, is_in_bytes(resource) ? BT_BINARY_SI : BT_DECIMAL_SI);
}

/* ---- applying ---- */

static void *copy_array(struct bt_arena *arena, const void *items, uint32_t n, size_t size)
{
	void *copy = bt_arena_alloc(arena, (size_t)n * size + 1, 16);

	if (n) {
		memcpy(copy, items, (size_t)n * size);
	}
	return copy;
}

/* Copies an array without one item; decrements the number. */
static void *without(struct bt_arena *arena, const void *items, uint32_t *n, uint32_t item, size_t size)
{
	char *copy = copy_array(arena, items, *n, size);

	BT_REQUIRE(item < *n);
	memmove(copy + item * size, copy + (item + 1) * size, (*n - item - 1) * size);
	(*n)--;
	return copy;
}

static void lower_request(
	const struct bt_explain_edit *edit, struct bt_arena *arena, struct bt_pod_spec_object *spec)
{
	struct bt_resource_list *list = &spec->resources.requests;

	if (edit->holder == BT_EXPLAIN_CONTAINER) {
		spec->containers =
			copy_array(arena, spec->containers, spec->container_n, sizeof(*spec->containers));
		list = &spec->containers[edit->container].resources.requests;
	} else if (edit->holder == BT_EXPLAIN_INIT_CONTAINER) {
		spec->init_containers = copy_array(
			arena, spec->init_containers, spec->init_container_n, sizeof(*spec->init_containers));
		list = &spec->init_containers[edit->container].resources.requests;
	}
	BT_REQUIRE(edit->item < list->n);
	list->items = copy_array(arena, list->items, list->n, sizeof(*list->items));
	list->items[edit->item].quantity = bt_explain_quantity_of(list->items[edit->item].name, edit->amount);
}

static void relax_spread(
	const struct bt_explain_edit *edit, struct bt_arena *arena, struct bt_pod_spec_object *spec)
{
	spec->spread = copy_array(arena, spec->spread, spec->spread_n, sizeof(*spec->spread));
	struct bt_spread_constraint_object *constraint = &spec->spread[edit->item];

	if (edit->amount) {
		constraint->max_skew = (int32_t)edit->amount;
	} else {
		constraint->when_unsatisfiable = bt_str("ScheduleAnyway");
		constraint->has_min_domains = false; /* the API allows it with DoNotSchedule alone */
	}
}

static void tolerate(
	const struct bt_explain_edit *edit, struct bt_arena *arena, struct bt_pod_spec_object *spec)
{
	struct bt_toleration_object *all = bt_arena_alloc(arena, (spec->toleration_n + 1) * sizeof(*all), 16);

	if (spec->toleration_n) {
		memcpy(all, spec->tolerations, spec->toleration_n * sizeof(*all));
	}
	all[spec->toleration_n++] = (struct bt_toleration_object){.key = edit->taint.key,
		.operator_ = bt_str("Equal"),
		.value = edit->taint.value,
		.effect = edit->taint.effect};
	spec->tolerations = all;
}

static void drop_expression(
	const struct bt_explain_edit *edit, struct bt_arena *arena, struct bt_pod_spec_object *spec)
{
	struct bt_node_selector_object *required = &spec->affinity.node_affinity.required;

	required->terms = copy_array(arena, required->terms, required->term_n, sizeof(*required->terms));
	struct bt_requirement_object_list *list = &required->terms[edit->item].match_expressions;
	list->items = without(arena, list->items, &list->n, edit->expression, sizeof(*list->items));
}

static void drop_port(
	const struct bt_explain_edit *edit, struct bt_arena *arena, struct bt_pod_spec_object *spec)
{
	spec->containers = copy_array(arena, spec->containers, spec->container_n, sizeof(*spec->containers));
	struct bt_container_object *container = &spec->containers[edit->container];

	container->ports = copy_array(arena, container->ports, container->port_n, sizeof(*container->ports));
	container->ports[edit->item].host_port = 0;
}

static void drop_term(struct bt_pod_affinity_object *affinity, struct bt_arena *arena, uint32_t item)
{
	affinity->required =
		without(arena, affinity->required, &affinity->required_n, item, sizeof(*affinity->required));
}

static void apply_one(
	const struct bt_explain_edit *edit, struct bt_arena *arena, struct bt_pod_spec_object *spec)
{
	switch (edit->kind) {
	case BT_EXPLAIN_GATES:
		spec->scheduling_gates.n = 0;
		break;
	case BT_EXPLAIN_TOLERATE:
		tolerate(edit, arena, spec);
		break;
	case BT_EXPLAIN_REQUEST:
		lower_request(edit, arena, spec);
		break;
	case BT_EXPLAIN_SPREAD:
		relax_spread(edit, arena, spec);
		break;
	case BT_EXPLAIN_SELECTOR:
		spec->node_selector.items = without(arena, spec->node_selector.items, &spec->node_selector.n,
			edit->item, sizeof(*spec->node_selector.items));
		break;
	case BT_EXPLAIN_EXPRESSION:
		drop_expression(edit, arena, spec);
		break;
	case BT_EXPLAIN_NODE_AFFINITY:
		spec->affinity.node_affinity.required = (struct bt_node_selector_object){0};
		break;
	case BT_EXPLAIN_AFFINITY:
		drop_term(&spec->affinity.pod_affinity, arena, edit->item);
		break;
	case BT_EXPLAIN_ANTI_AFFINITY:
		drop_term(&spec->affinity.pod_anti_affinity, arena, edit->item);
		break;
	case BT_EXPLAIN_PORT:
		drop_port(edit, arena, spec);
		break;
	case BT_EXPLAIN_VOLUME:
		spec->volumes =
			without(arena, spec->volumes, &spec->volume_n, edit->item, sizeof(*spec->volumes));
		break;
	default:
		break; /* not of the pod */
	}
}

void bt_explain_edits_apply(const struct bt_explain_edit *edits, size_t n, const struct bt_pod_object *pod,
	struct bt_arena *arena, struct bt_pod_object *out)
{
	*out = *pod;
	for (size_t i = 0; i < n; i++) {
		apply_one(&edits[i], arena, &out->spec);
	}
}
