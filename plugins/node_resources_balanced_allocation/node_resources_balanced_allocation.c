/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesBalancedAllocation. Doubles, added in the configured order, as upstream does; the build
 * forbids fused multiply-add. Source: plugins/noderesources balanced_allocation, v1.36.3.
 */
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <math.h>

#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/wrap.h"
#include "plugins/device_totals.h"
#include "plugins/resource_ranges.h"

struct balanced {
	uint32_t slot;
	int64_t request;
};

struct balanced_allocation_term {
	const struct balanced *items;
	uint32_t n;
	bool state; /* as in the settings */
};

static void node_resources_balanced_allocation_compile(const void *opaque, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	const struct bt_balanced_settings *settings = opaque;
	struct balanced_allocation_term *term = bt_arena_zalloc(env->arena, sizeof(*term));
	struct balanced *items = bt_arena_zalloc(env->arena, settings->slot_n * sizeof(*items));
	bool bind_requests = false;

	for (uint32_t i = 0; i < settings->slot_n; i++) {
		if (settings->slots[i] < 0) {
			continue;
		}
		uint32_t slot = (uint32_t)settings->slots[i];
		int64_t request = bt_amounts_get(signature->requests.own, slot);

		bind_requests |= request != 0;
		if (slot < BT_FIRST_SCALAR || request != 0) {
			items[term->n++] = (struct balanced){slot, request};
		}
	}
	BT_INVARIANT(term->n <= settings->slot_n);
	term->items = items;
	term->state = settings->state;
	out_compiled->term = term;
	out_compiled->score_skip = !bind_requests;
}

/* (1 - standard deviation of the fractions) * 100; fractions[i] is what is used over what there is, at
 * most 1. */
static inline int64_t balance(const double *fractions, uint32_t n)
{
	BT_INVARIANT(n <= BT_REQUEST_MAX);
	double std = 0;

	if (n == 2) {
		std = fabs((fractions[0] - fractions[1]) / 2);
	} else if (n > 2) {
		double total = 0, sum = 0;

		for (uint32_t i = 0; i < n; i++) {
			total += fractions[i];
		}
		double mean = total / (double)n;
		for (uint32_t i = 0; i < n; i++) {
			sum = sum + (fractions[i] - mean) * (fractions[i] - mean);
		}
		std = sqrt(sum / (double)n);
	}
	return bt_truncate((1 - std) * (double)BT_MAX_NODE_SCORE);
}

static double fraction(int64_t used, int64_t alloc)
{
	BT_INVARIANT(alloc != 0);
	double part = (double)used / (double)alloc;

	return part > 1 ? 1 : part;
}

/* The score of a node by its balance with the pod and without it. */
static int64_t score_of(const struct balanced_allocation_term *term, int64_t after, int64_t before)
{
	if (term->state) {
		return after;
	}
	return BT_MAX_NODE_SCORE / 2 + bt_wrap_add(BT_MAX_NODE_SCORE / 2, bt_wrap_sub(after, before)) / 2;
}

/* The common case: two resources (by default cpu and memory), and the node has both. The same sums in the
 * same order. */
static int64_t score_pair(
	const struct balanced_allocation_term *term, const int64_t *alloc, const int64_t *used)
{
	const struct balanced *items = term->items;
	const double before[2] = {fraction(used[0], alloc[0]), fraction(used[1], alloc[1])};
	const double after[2] = {fraction(bt_wrap_add(used[0], items[0].request), alloc[0]),
		fraction(bt_wrap_add(used[1], items[1].request), alloc[1])};

	return score_of(term, balance(after, 2), balance(before, 2));
}

static int64_t score_node(
	const struct balanced_allocation_term *term, const struct bt_view *view, uint32_t node_ix)
{
	double before[BT_REQUEST_MAX], after[BT_REQUEST_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < term->n; i++) {
		uint32_t slot = term->items[i].slot;
		int64_t alloc = bt_node_alloc(view->snapshot, slot, node_ix);
		int64_t used = bt_node_used(view->usage, slot, node_ix);

		if (alloc == 0 && slot >= BT_FIRST_SCALAR) {
			bt_device_totals(view, slot, node_ix, &alloc, &used);
		}
		if (alloc == 0) {
			continue;
		}
		before[n] = fraction(used, alloc);
		after[n++] = fraction(bt_wrap_add(used, term->items[i].request), alloc);
	}
	BT_INVARIANT(n <= term->n);
	return score_of(term, balance(after, n), balance(before, n));
}

/* Both resources have cells, starting at first. */
static void score_pairs(const struct balanced_allocation_term *term, const struct bt_view *view,
	const struct bt_resource_pair *pair, uint32_t first, uint32_t n, int64_t *raw)
{
	for (uint32_t i = 0; i < n;) {
		const struct bt_resource_pair rest = {
			{bt_cells_from(pair->alloc[0], i), bt_cells_from(pair->alloc[1], i)},
			{bt_cells_from(pair->used[0], i), bt_cells_from(pair->used[1], i)},
			{pair->request[0], pair->request[1]}};

		BT_INVARIANT(i <= n);
		i += bt_range_balance(&rest, term->state, n - i, raw + i);
		for (uint32_t stop = i + BT_RANGE_STEP; i < n && i < stop; i++) {
			const int64_t alloc[2] = {bt_cell(pair->alloc[0], i), bt_cell(pair->alloc[1], i)},
				      used[2] = {bt_cell(pair->used[0], i), bt_cell(pair->used[1], i)};

			raw[i] = alloc[0] && alloc[1] ? score_pair(term, alloc, used)
						      : score_node(term, view, first + i);
		}
	}
}

static void node_resources_balanced_allocation_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct balanced_allocation_term *term = opaque;
	struct bt_resource_pair pair = {0};

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t k = 0; k < 2 && term->n == 2 && term->items[k].slot < BT_FIRST_RARE; k++) {
		pair.alloc[k] = bt_alloc_cells(view->snapshot, term->items[k].slot);
		pair.used[k] = bt_used_cells(view->usage, term->items[k].slot);
		pair.request[k] = term->items[k].request;
	}
	if (!pair.alloc[0].first || !pair.alloc[1].first || !pair.used[0].first || !pair.used[1].first) {
		for (uint32_t i = 0; i < n; i++) {
			raw[i] = score_node(term, view, first + i);
		}
		return;
	}
	for (uint32_t k = 0; k < 2; k++) {
		pair.alloc[k] = bt_cells_from(pair.alloc[k], first);
		pair.used[k] = bt_cells_from(pair.used[k], first);
	}
	score_pairs(term, view, &pair, first, n, raw);
}

static void key(const void *opaque, struct bt_buf *out_key)
{
	const struct balanced_allocation_term *term = opaque;

	for (uint32_t i = 0; i < term->n; i++) {
		bt_buf_add(out_key, &term->items[i].slot, sizeof(term->items[i].slot));
		bt_buf_add(out_key, &term->items[i].request, sizeof(term->items[i].request));
	}
}

static bool describe(
	const void *opaque, bool filters, bool scores, int64_t weight, struct bt_resource_sum *sum)
{
	const struct balanced_allocation_term *term = opaque;

	if (filters || !scores || term->n != 2) {
		return false;
	}
	for (uint32_t k = 0; k < 2; k++) {
		sum->balance_requests[k] = term->items[k].request;
	}
	sum->balances = true;
	sum->form.state = term->state;
	sum->balance_weight = (int32_t)weight;
	return bt_resource_sum_score(sum, term->items[0].slot, term->items[1].slot);
}

static uint64_t reads(const void *opaque)
{
	const struct balanced_allocation_term *term = opaque;
	uint64_t slots = 0;

	for (uint32_t i = 0; i < term->n; i++) {
		slots |= bt_resource_bit(term->items[i].slot);
	}
	return slots;
}

const struct bt_plugin bt_plugin_node_resources_balanced_allocation = {
	.name = "NodeResourcesBalancedAllocation",
	.points = BT_AT(PRE_SCORE) | BT_AT(SCORE),
	.args = &bt_balanced_allocation_args_info,
	.settings = bt_balanced_allocation_make_settings,
	.score_depends = BT_DEPENDS_ON_USAGE,
	.compile = node_resources_balanced_allocation_compile,
	.score = node_resources_balanced_allocation_score,
	.key = key,
	.reads = reads,
	.describe = describe,
};
