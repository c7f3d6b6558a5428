/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesFit. Source: plugins/noderesources fit, least_allocated, most_allocated,
 * requested_to_capacity_ratio, v1.36.3.
 */
#include "plugins/node_resources_fit/node_resources_fit.h"

#include <math.h>

#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/wrap.h"
#include "plugins/device_totals.h"
#include "plugins/resource_ranges.h"

#define EXACT_BELOW ((uint64_t)1 << 45)

enum node_resources_fit_reason_kind {
	TOO_MANY_PODS = 0,
	INSUFFICIENT /* arg: the resource slot */
};

struct scored {
	uint32_t slot;
	int64_t request, weight;
};

struct apart {
	struct bt_amount wanted;
	bool delegated; /* devices provide it where the node itself has none; else: it is rare */
};

struct node_resources_fit_term {
	const struct bt_fit_settings *settings;
	const struct bt_amount *wanted; /* positive requests that count */
	/* The pod's full requests, parallel to wanted; NULL: equal to wanted. */
	const int64_t *whole;
	uint32_t wanted_n;
	const struct apart *apart; /* the subset that is checked node by node */
	uint32_t apart_n;
	const struct scored *scored;
	uint32_t scored_n;
};

static bool contains(const struct bt_str *list, uint32_t n, struct bt_str name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (bt_str_eq(list[i], name)) {
			return true;
		}
	}
	return false;
}

static bool ignored(
	const struct bt_fit_settings *settings, const struct bt_dictionary *dictionary, uint32_t slot)
{
	if (!dictionary->resources.extended[slot]) {
		return false;
	}
	struct bt_str name = bt_resource_name(dictionary, slot);
	struct bt_str group = bt_str_sub(name, 0, bt_str_find(name, '/', 0));
	return contains(settings->ignored, settings->ignored_n, name) ||
	       contains(settings->ignored_groups, settings->ignored_group_n, group);
}

static bool counts(const struct node_resources_fit_term *term, const struct bt_dictionary *dictionary,
	struct bt_amount amount)
{
	bool positive = amount.slot < BT_FIRST_SCALAR ? amount.amount > 0 : amount.amount != 0;

	return positive && !ignored(term->settings, dictionary, amount.slot);
}

static void compile_wanted(const struct bt_compile_env *env, const struct bt_signature *signature,
	struct node_resources_fit_term *term)
{
	struct bt_amounts fit = signature->requests.fit;
	struct bt_amount *wanted = bt_arena_zalloc(env->arena, fit.n * sizeof(*wanted));
	struct apart *apart = bt_arena_zalloc(env->arena, fit.n * sizeof(*apart));
	struct apart *delegated = bt_arena_zalloc(env->arena, fit.n * sizeof(*delegated));
	uint32_t delegated_n = 0;

	for (uint32_t i = 0; i < fit.n; i++) {
		if (!counts(term, env->dictionary, fit.items[i])) {
			continue;
		}
		if (fit.items[i].slot >= BT_FIRST_SCALAR && bt_devices_serve(env->view, fit.items[i].slot)) {
			delegated[delegated_n++] = (struct apart){fit.items[i], true};
		} else if (fit.items[i].slot >= BT_FIRST_RARE) {
			apart[term->apart_n++] = (struct apart){fit.items[i], false};
		} else {
			wanted[term->wanted_n++] = fit.items[i];
		}
	}
	/* The order of reasons does not depend on which resources are rare. */
	for (uint32_t i = 0; i < delegated_n; i++) {
		apart[term->apart_n++] = delegated[i];
	}
	term->wanted = wanted;
	term->apart = apart;
	BT_INVARIANT(term->wanted_n + term->apart_n <= fit.n);
}

/*
 * A pod with a deferred resize is filtered on its own node only, where its requests count already: it fits
 * unless the node is overcommitted. Compares only requests that do not count yet.
 * Source: adjustDeltasToAccomodateCacheDiscrepancy, fitsRequest, v1.37.2.
 */
static void compile_resize(const struct bt_compile_env *env, const struct bt_signature *signature,
	struct node_resources_fit_term *term)
{
	struct bt_amounts fit = signature->requests.fit;
	struct bt_amount *wanted = bt_arena_zalloc(env->arena, fit.n * sizeof(*wanted));
	int64_t *whole = bt_arena_zalloc(env->arena, fit.n * sizeof(*whole));

	for (uint32_t i = 0; i < fit.n; i++) {
		int64_t counted = bt_amounts_get(signature->requests.used, fit.items[i].slot);
		int64_t lacks = fit.items[i].amount > counted ? bt_wrap_sub(fit.items[i].amount, counted) : 0;
		bool scalar = fit.items[i].slot >= BT_FIRST_SCALAR;

		if (counts(term, env->dictionary, fit.items[i]) && (!scalar || lacks)) {
			whole[term->wanted_n] = scalar ? lacks : fit.items[i].amount;
			wanted[term->wanted_n++] = (struct bt_amount){fit.items[i].slot, lacks};
		}
	}
	term->wanted = wanted;
	term->whole = whole;
	BT_INVARIANT(term->wanted_n <= fit.n && term->apart_n == 0);
}

static void compile_scored(const struct bt_compile_env *env, const struct bt_signature *signature,
	struct node_resources_fit_term *term)
{
	struct scored *scored = bt_arena_zalloc(env->arena, term->settings->resource_n * sizeof(*scored));

	for (uint32_t i = 0; i < term->settings->resource_n; i++) {
		const struct bt_fit_resource *resource = &term->settings->resources[i];

		if (resource->slot < 0) {
			continue;
		}
		uint32_t slot = (uint32_t)resource->slot;
		int64_t request = bt_amounts_get(signature->requests.score, slot);
		/* A scalar that the pod does not request does not score the node. */
		if (slot < BT_FIRST_SCALAR || request != 0) {
			scored[term->scored_n++] = (struct scored){slot, request, resource->weight};
		}
	}
	term->scored = scored;
	BT_INVARIANT(term->scored_n <= term->settings->resource_n);
}

static void node_resources_fit_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct node_resources_fit_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	term->settings = settings;
	if (BT_UNLIKELY(signature->resize_node != BT_NAME_NONE)) {
		compile_resize(env, signature, term);
	} else {
		compile_wanted(env, signature, term);
	}
	compile_scored(env, signature, term);
	out_compiled->term = term;
}

/* Do devices provide the resource on this node? The DeviceClass may have been deleted since the cycle began,
 * so it is looked up again.
 * Source: shouldDelegateResourceToDRA, v1.36.3. */
static bool left_to_devices(const struct apart *apart, const struct bt_view *view, uint32_t node_ix)
{
	return apart->delegated && bt_node_alloc(view->snapshot, apart->wanted.slot, node_ix) <= 0 &&
	       bt_devices_serve(view, apart->wanted.slot);
}

static bool fits_apart(
	const struct node_resources_fit_term *term, const struct bt_view *view, uint32_t node_ix)
{
	for (uint32_t i = 0; i < term->apart_n; i++) {
		const struct apart *apart = &term->apart[i];

		if (!left_to_devices(apart, view, node_ix) &&
			apart->wanted.amount > bt_node_available(view, apart->wanted.slot, node_ix)) {
			return false;
		}
	}
	return true;
}

static bool fits(const struct node_resources_fit_term *term, const struct bt_view *view, uint32_t node_ix)
{
	if (view->usage->nodes[node_ix].pod_n + 1 > view->snapshot->rooms[node_ix].pods) {
		return false;
	}
	for (uint32_t i = 0; i < term->wanted_n; i++) {
		uint32_t slot = term->wanted[i].slot;

		if (term->wanted[i].amount > bt_node_available(view, slot, node_ix)) {
			return false;
		}
	}
	return true;
}

static void node_resources_fit_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct node_resources_fit_term *term = opaque;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = bt_range_fits(term->wanted, term->wanted_n, view, first, n, pass); i < n; i++) {
		pass[i] = fits(term, view, first + i);
	}
	for (uint32_t i = 0; term->apart_n && i < n; i++) {
		pass[i] = pass[i] && fits_apart(term, view, first + i);
	}
}

/*
 * Adds the reason if one resource is insufficient. whole: the full request; above allocatable it is
 * unresolvable.
 */
static void reject_amount(const struct bt_amount *wanted, int64_t whole, const struct bt_view *view,
	uint32_t node_ix, struct bt_rejection *out)
{
	int64_t alloc = bt_node_alloc(view->snapshot, wanted->slot, node_ix);
	int64_t available = bt_node_available(view, wanted->slot, node_ix);

	if (wanted->amount > available) {
		BT_INVARIANT(out->n < BT_PLUGIN_REASON_MAX);
		out->reasons[out->n++] = (struct bt_reason){.kind = INSUFFICIENT,
			.arg = wanted->slot,
			.wanted = wanted->amount,
			.available = available,
			.has_numbers = true};
		out->code = whole > alloc ? BT_UNSCHEDULABLE_AND_UNRESOLVABLE : out->code;
	}
}

static void node_resources_fit_reject(
	const void *opaque, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out)
{
	const struct node_resources_fit_term *term = opaque;
	int64_t pods = view->usage->nodes[node_ix].pod_n, pods_alloc = view->snapshot->rooms[node_ix].pods;

	out->code = BT_UNSCHEDULABLE;
	out->n = 0;
	if (pods + 1 > pods_alloc) {
		out->reasons[out->n++] = (struct bt_reason){.kind = TOO_MANY_PODS,
			.arg = (uint32_t)BT_SLOT_PODS,
			.wanted = 1,
			.available = pods_alloc - pods,
			.has_numbers = true};
	}
	for (uint32_t i = 0; i < term->wanted_n; i++) {
		reject_amount(&term->wanted[i], term->whole ? term->whole[i] : term->wanted[i].amount, view,
			node_ix, out);
	}
	for (uint32_t i = 0; i < term->apart_n; i++) {
		if (!left_to_devices(&term->apart[i], view, node_ix)) {
			const struct bt_amount *wanted = &term->apart[i].wanted;

			reject_amount(wanted, wanted->amount, view, node_ix, out);
		}
	}
	/* Filter refused the node. */
	BT_INVARIANT(out->n > 0 && out->n <= BT_PLUGIN_REASON_MAX);
}

/*
 * Below 2^45 a quotient of doubles, cut to an integer, is exact: a non-integer quotient below 100 is at least
 * 1 / whole away from the next integer, which is more than the rounding error. It takes a fraction of the
 * time of a 64-bit integer division.
 */
static int64_t percent(int64_t part, int64_t whole)
{
	if (BT_LIKELY((uint64_t)part <= (uint64_t)whole && (uint64_t)whole < EXACT_BELOW)) {
		return (int64_t)((double)(part * BT_MAX_NODE_SCORE) / (double)whole);
	}
	return bt_wrap_div(bt_wrap_mul(part, BT_MAX_NODE_SCORE), whole);
}

static int64_t least(int64_t request, int64_t alloc)
{
	return request > alloc ? 0 : percent(bt_wrap_sub(alloc, request), alloc);
}

static int64_t most(int64_t request, int64_t alloc)
{
	return percent(request > alloc ? alloc : request, alloc);
}

/* The piecewise linear function through the shape's points, in integers; constant outside. */
static int64_t shape_at(const struct bt_fit_settings *settings, int64_t utilization)
{
	BT_INVARIANT(settings->shape_n > 0);
	const struct bt_shape_point *shape = settings->shape;

	for (uint32_t i = 0; i < settings->shape_n; i++) {
		if (utilization <= shape[i].utilization) {
			if (i == 0) {
				return shape[0].score;
			}
			BT_INVARIANT(shape[i - 1].utilization < shape[i].utilization);
			return shape[i - 1].score + (shape[i].score - shape[i - 1].score) *
							    (utilization - shape[i - 1].utilization) /
							    (shape[i].utilization - shape[i - 1].utilization);
		}
	}
	return shape[settings->shape_n - 1].score;
}

static int64_t ratio(const struct bt_fit_settings *settings, int64_t request, int64_t alloc)
{
	return shape_at(settings, request > alloc ? BT_MAX_NODE_SCORE : percent(request, alloc));
}

static int64_t score_node(
	const struct node_resources_fit_term *term, const struct bt_view *view, uint32_t node_ix)
{
	enum bt_fit_strategy strategy = term->settings->strategy;
	int64_t sum = 0, weights = 0;

	for (uint32_t i = 0; i < term->scored_n; i++) {
		const struct scored *resource = &term->scored[i];
		int64_t alloc = bt_node_alloc(view->snapshot, resource->slot, node_ix);
		int64_t used = bt_node_used_for_score(view->usage, resource->slot, node_ix);

		if (alloc == 0 && resource->slot >= BT_FIRST_SCALAR) {
			bt_device_totals(view, resource->slot, node_ix, &alloc, &used);
		}
		if (alloc == 0) {
			continue;
		}
		int64_t request = bt_wrap_add(used, resource->request);
		int64_t one = strategy == BT_LEAST_ALLOCATED  ? least(request, alloc)
			      : strategy == BT_MOST_ALLOCATED ? most(request, alloc)
							      : ratio(term->settings, request, alloc);
		if (strategy == BT_REQUESTED_TO_CAPACITY_RATIO && one <= 0) {
			continue;
		}
		sum = bt_wrap_add(sum, bt_wrap_mul(one, resource->weight));
		weights += resource->weight;
	}
	if (weights == 0) {
		return 0;
	}
	if (strategy == BT_REQUESTED_TO_CAPACITY_RATIO) {
		return (int64_t)round((double)sum / (double)weights);
	}
	/* 32 bits are usually enough, and divide faster. */
	BT_INVARIANT(weights > 0);
	return ((uint64_t)sum | (uint64_t)weights) <= UINT32_MAX ? (uint32_t)sum / (uint32_t)weights
								 : sum / weights;
}

/* Scores nodes from the front with vectors where supported: two resources, which is the default. */
static uint32_t score_front(const struct node_resources_fit_term *term, const struct bt_view *view,
	uint32_t first, uint32_t n, int64_t *raw)
{
	struct bt_resource_pair pair;
	int64_t weight[2];

	if (term->scored_n != 2 || term->settings->strategy == BT_REQUESTED_TO_CAPACITY_RATIO) {
		return 0;
	}
	for (uint32_t k = 0; k < 2; k++) {
		const struct scored *resource = &term->scored[k];

		if (resource->slot >= BT_FIRST_RARE) {
			return 0;
		}
		struct bt_cells alloc = bt_alloc_cells(view->snapshot, resource->slot);
		struct bt_cells used = bt_used_for_score(view->usage, resource->slot);
		if (!alloc.first || resource->weight < 1 || resource->weight > BT_RANGE_WEIGHT_MAX) {
			return 0;
		}
		pair.alloc[k] = bt_cells_from(alloc, first);
		pair.used[k] = bt_cells_from(used, first);
		pair.request[k] = resource->request;
		weight[k] = resource->weight;
	}
	BT_INVARIANT(weight[0] > 0 && weight[1] > 0);
	return bt_range_fullness(&pair, weight, term->settings->strategy == BT_MOST_ALLOCATED, n, raw);
}

static void node_resources_fit_score(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n;) {
		i += n < BT_RANGE_STEP ? 0 : score_front(term, view, first + i, n - i, raw + i);
		for (uint32_t stop = i + BT_RANGE_STEP; i < n && i < stop; i++) {
			raw[i] = score_node(term, view, first + i);
		}
	}
}

static void key(const void *opaque, struct bt_buf *out_key)
{
	const struct node_resources_fit_term *term = opaque;

	bt_buf_add(out_key, &term->wanted_n, sizeof(term->wanted_n));
	for (uint32_t i = 0; i < term->wanted_n; i++) {
		bt_buf_add(out_key, &term->wanted[i].slot, sizeof(term->wanted[i].slot));
		bt_buf_add(out_key, &term->wanted[i].amount, sizeof(term->wanted[i].amount));
	}
	for (uint32_t i = 0; i < term->apart_n; i++) {
		bt_buf_add(out_key, &term->apart[i].wanted.slot, sizeof(term->apart[i].wanted.slot));
		bt_buf_add(out_key, &term->apart[i].wanted.amount, sizeof(term->apart[i].wanted.amount));
		bt_buf_add(out_key, &term->apart[i].delegated, sizeof(term->apart[i].delegated));
	}
	bt_buf_add(out_key, &term->apart_n, sizeof(term->apart_n));
	for (uint32_t i = 0; i < term->scored_n; i++) {
		bt_buf_add(out_key, &term->scored[i].slot, sizeof(term->scored[i].slot));
		bt_buf_add(out_key, &term->scored[i].request, sizeof(term->scored[i].request));
	}
}

static bool describe(
	const void *opaque, bool filters, bool scores, int64_t weight, struct bt_resource_sum *sum)
{
	const struct node_resources_fit_term *term = opaque;

	if ((filters && (term->apart_n || term->whole)) || (scores && term->scored_n != 2) ||
		(scores && term->settings->strategy == BT_REQUESTED_TO_CAPACITY_RATIO)) {
		return false;
	}
	sum->fits |= filters;
	sum->wanted = filters ? term->wanted : sum->wanted;
	sum->wanted_n = filters ? term->wanted_n : sum->wanted_n;
	for (uint32_t k = 0; scores && k < 2; k++) {
		const struct scored *resource = &term->scored[k];

		if (resource->weight < 1 || resource->weight > BT_RANGE_WEIGHT_MAX) {
			return false;
		}
		sum->fill_requests[k] = resource->request;
		sum->fill_weights[k] = resource->weight;
	}
	if (scores) {
		sum->fills = true;
		sum->form.most = term->settings->strategy == BT_MOST_ALLOCATED;
		sum->fill_weight = (int32_t)weight;
	}
	return !scores || bt_resource_sum_score(sum, term->scored[0].slot, term->scored[1].slot);
}

static uint64_t reads(const void *opaque)
{
	const struct node_resources_fit_term *term = opaque;
	uint64_t slots = 0;

	for (uint32_t i = 0; i < term->wanted_n; i++) {
		slots |= bt_resource_bit(term->wanted[i].slot);
	}
	for (uint32_t i = 0; i < term->apart_n; i++) {
		slots |= bt_resource_bit(term->apart[i].wanted.slot);
	}
	for (uint32_t i = 0; i < term->scored_n; i++) {
		slots |= bt_resource_bit(term->scored[i].slot);
	}
	return slots;
}

static void reason_text(
	const struct bt_dictionary *dictionary, const struct bt_reason *reason, struct bt_buf *out_text)
{
	if (reason->kind == TOO_MANY_PODS) {
		bt_buf_text(out_text, "Too many pods");
		return;
	}
	bt_buf_text(out_text, "Insufficient ");
	bt_buf_str(out_text, bt_resource_name(dictionary, reason->arg));
}

/* ---- queueing hints ---- */

/* A request or an allocatable amount as upstream's Resource has it: never below 0. */
static int64_t at_least_zero(int64_t amount)
{
	return amount < 0 ? 0 : amount;
}

/* The event's pod now uses less of a resource that the waiting pod requests. */
static bool frees_something(const struct bt_signature *waiting, const struct bt_cluster_event *event)
{
	BT_REQUIRE_HOT(event->pod.old.signature && event->pod.new.signature);
	struct bt_amounts wanted = waiting->requests.own;

	for (uint32_t i = 0; i < wanted.n; i++) {
		uint32_t slot = wanted.items[i].slot;
		int64_t before = bt_amounts_get(event->pod.old.signature->requests.own, slot);
		int64_t after = bt_amounts_get(event->pod.new.signature->requests.own, slot);

		if (wanted.items[i].amount != 0 && at_least_zero(before) > at_least_zero(after)) {
			return true;
		}
	}
	return false;
}

/* Do events on the node matter to the pod? A pod with a deferred resize depends on its own node only. */
static bool depends_on_node(const struct bt_signature *waiting, uint32_t node)
{
	return waiting->resize_node == BT_NAME_NONE || waiting->resize_node == node;
}

static bool after_pod_event(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_cluster_event_pod *now = &event->pod.new;
	bool resizes = env->signature->resize_node != BT_NAME_NONE;

	if (!now->signature) {
		return bt_cluster_event_pod_placed(&event->pod.old) &&
		       depends_on_node(env->signature, event->pod.old.node);
	}
	if (!depends_on_node(env->signature, now->node)) {
		return false;
	}
	/* A pod on a node is an assigned pod, even in its own events. */
	return (env->own && !resizes) ||
	       (now->node != BT_NAME_NONE && frees_something(env->signature, event));
}

/* Do devices provide a resource that the node itself lacks? */
static bool delegated(const struct bt_view *view, const struct bt_node_facts *node, uint32_t slot)
{
	return slot >= BT_FIRST_SCALAR && bt_amounts_get(node->alloc, slot) <= 0 &&
	       bt_devices_serve(view, slot);
}

/* Would the pod fit if the node were empty? As upstream, resources that the profile ignores count. */
static bool fits_empty(const struct bt_hint_env *env, const struct bt_node_facts *node)
{
	struct bt_amounts wanted = env->signature->requests.fit;

	for (uint32_t i = 0; i < wanted.n; i++) {
		int64_t amount = at_least_zero(wanted.items[i].amount);

		if (amount > 0 && amount > bt_amounts_get(node->alloc, wanted.items[i].slot) &&
			!delegated(env->view, node, wanted.items[i].slot)) {
			return false;
		}
	}
	return node->alloc_pods >= 1;
}

static bool has_grown(
	const struct bt_hint_env *env, const struct bt_node_facts *old, const struct bt_node_facts *new)
{
	struct bt_amounts wanted = env->signature->requests.fit;

	for (uint32_t i = 0; i < wanted.n; i++) {
		uint32_t slot = wanted.items[i].slot;

		if (wanted.items[i].amount > 0 &&
			(bt_amounts_get(new->alloc, slot) > bt_amounts_get(old->alloc, slot) ||
				delegated(env->view, new, slot))) {
			return true;
		}
	}
	return new->alloc_pods > old->alloc_pods;
}

static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_node_facts *old = event->node.old, *new = event->node.new;

	BT_REQUIRE_HOT(new);
	return depends_on_node(env->signature, new->name) && fits_empty(env, new) &&
	       (!old || has_grown(env, old, new));
}

/* Another pod, or this one, requests more on the node that the waiting pod needs. */
static bool after_scale_up(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	return env->signature->resize_node != BT_NAME_NONE &&
	       (event->resource == BT_CLUSTER_EVENT_TARGET_POD ||
		       depends_on_node(env->signature, event->pod.new.node));
}

/* Prefix of a class's implicit resource name; the class's name follows. */
#define CLASS_RESOURCE "deviceclass.resource.kubernetes.io/"

static bool requests_class(
	const struct bt_hint_env *env, const struct bt_cluster_event_object *class_, bool by_own_name)
{
	const struct bt_dictionary *dictionary = env->view->snapshot->dictionary;
	struct bt_amounts wanted = env->signature->requests.fit;
	struct bt_str class_name = bt_intern_str(dictionary->intern, class_->name);

	for (uint32_t i = 0; i < wanted.n; i++) {
		uint32_t slot = wanted.items[i].slot;
		struct bt_str name = bt_resource_name(dictionary, slot);
		bool own = by_own_name && bt_str_starts(name, CLASS_RESOURCE) &&
			   bt_str_eq(bt_str_sub(name, sizeof(CLASS_RESOURCE) - 1, name.len), class_name);

		if (own || dictionary->resources.names[slot] == class_->other) {
			return true;
		}
	}
	return false;
}

static bool after_class_event(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	bool added = event->action == BT_ADD;

	return (added || (event->object.changes & BT_CHANGED_EXTENDED_NAME)) &&
	       requests_class(env, &event->object, added);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_DELETE | BT_UPDATE_POD_SCALE_DOWN, after_pod_event, 0},
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_SCALE_DOWN, after_pod_event, 0},
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_UPDATE_POD_SCALE_UP, after_scale_up,
		BT_NEEDS(IN_PLACE_POD_VERTICAL_SCALING_SCHEDULER_PREEMPTION)},
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_SCALE_UP, after_scale_up,
		BT_NEEDS(IN_PLACE_POD_VERTICAL_SCALING_SCHEDULER_PREEMPTION)},
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_ALLOCATABLE, after_node_change, 0},
	{BT_CLUSTER_EVENT_DEVICE_CLASS, BT_ADD | BT_UPDATE, after_class_event,
		BT_NEEDS(DRA_EXTENDED_RESOURCE)},
};

/* ---- placements ---- */

/* Utilization of a resource over all nodes of the placement; false: no node has it, or it is a scalar that no
 * pod requests. */
static bool fullness_of(const struct bt_placement_score_env *env, uint32_t slot, int64_t *out_fullness)
{
	int64_t request = 0, alloc_sum = 0;

	for (uint32_t i = 0; i < env->pod_n; i++) {
		request = bt_wrap_add(request, bt_amounts_get(env->pods[i]->requests.score, slot));
	}
	if (slot >= BT_FIRST_SCALAR && request == 0) {
		return false;
	}
	for (uint32_t i = 0; i < env->node_n; i++) {
		int64_t alloc = bt_node_alloc(env->view->snapshot, slot, env->nodes[i]);

		if (alloc != 0) {
			alloc_sum = bt_wrap_add(alloc_sum, alloc);
			request = bt_wrap_add(
				request, bt_node_used_for_score(env->view->usage, slot, env->nodes[i]));
		}
	}
	*out_fullness = alloc_sum ? most(request, alloc_sum) : 0;
	return alloc_sum != 0;
}

/* Placements with higher utilization score higher, whatever the strategy for nodes. Source: scorePlacement,
 * plugins/noderesources, v1.37.2. */
static int64_t placement_score(const struct bt_placement_score_env *env)
{
	const struct bt_fit_settings *settings = env->settings;
	int64_t sum = 0, weights = 0, fullness;

	for (uint32_t i = 0; i < settings->resource_n; i++) {
		const struct bt_fit_resource *resource = &settings->resources[i];

		if (resource->slot >= 0 && fullness_of(env, (uint32_t)resource->slot, &fullness)) {
			sum = bt_wrap_add(sum, bt_wrap_mul(fullness, resource->weight));
			weights = bt_wrap_add(weights, resource->weight);
		}
	}
	return weights ? sum / weights : 0;
}

const struct bt_plugin bt_plugin_node_resources_fit = {
	.name = "NodeResourcesFit",
	.points =
		BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(PRE_SCORE) | BT_AT(SCORE) | BT_AT(PLACEMENT_SCORE),
	.args = &bt_node_resources_fit_args_info,
	.settings = bt_node_resources_fit_make_settings,
	.filter_depends = BT_DEPENDS_ON_USAGE,
	.score_depends = BT_DEPENDS_ON_USAGE,
	.no_pre_filter_error = "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found",
	.compile = node_resources_fit_compile,
	.filter = node_resources_fit_filter,
	.reject = node_resources_fit_reject,
	.score = node_resources_fit_score,
	.placement_score = placement_score,
	.key = key,
	.reads = reads,
	.describe = describe,
	.reason = reason_text,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
