/* SPDX-License-Identifier: Apache-2.0
 * Which nodes to buy.
 */
#include "tools/offline/recommend/purchase.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/cli/interrupt.h"
#include "tools/offline/recommend/purchase_int.h"

static const struct bt_cache *cache_of(const struct bt_purchase *p)
{
	return bt_engine_cache(p->engine);
}

/* ---- the pods ---- */

static uint32_t class_of(struct bt_purchase *p, struct bt_map *known, const struct bt_signature *signature)
{
	uint32_t ix;

	if (!bt_map_get(known, signature->serial, &ix)) {
		ix = (uint32_t)p->class_n;
		p->classes = bt_mem_grow(p->classes, p->class_n, &p->class_cap, sizeof(*p->classes));
		p->classes[p->class_n++] = (struct bt_pod_class){.signature = signature,
			.fits = bt_arena_zalloc(&p->arena, bt_bitmap_words(p->types->n) * sizeof(uint64_t)),
			.only_new = !signature->pod_affinity && signature->spread_n == 0 &&
				    signature->volume_n == 0 && signature->claim_n == 0};
		bt_map_put(known, signature->serial, ix);
	}
	return ix;
}

static void take_pod(struct bt_purchase *p, struct bt_map *known, uint32_t pod_ix, const struct bt_pod *pod)
{
	if (bt_queue_info(bt_engine_queue(p->engine), pod_ix).where == BT_WAIT_GATED) {
		p->gated_n++;
	} else if (bt_transaction_workload_kind(p->engine, &pod_ix, 1) != BT_WORKLOAD_PODS) {
		p->grouped_n++;
	} else {
		p->pods = bt_mem_grow(p->pods, p->pod_n, &p->pod_cap, sizeof(*p->pods));
		p->pods[p->pod_n++] =
			(struct bt_wanting_pod){.order = {pod->priority, pod->creation_ns, pod_ix},
				.class_ix = class_of(p, known, pod->signature)};
	}
}

static void list_pods(struct bt_purchase *p)
{
	const struct bt_ledger *ledger = cache_of(p)->ledger;
	struct bt_map known = {0};

	for (uint32_t ix = 0; ix < bt_ledger_pod_end(ledger); ix++) {
		const struct bt_pod *pod = bt_ledger_has(ledger, ix) ? bt_ledger_pod(ledger, ix) : NULL;

		if (pod && pod->state == BT_POD_QUEUED && !pod->terminating && !pod->detached) {
			take_pod(p, &known, ix, pod);
		}
	}
	if (p->pod_n) {
		qsort(p->pods, p->pod_n, sizeof(*p->pods), bt_by_importance);
	}
	bt_map_fini(&known);
}

/* ---- trying nodes ---- */

static uint32_t add_node(struct bt_purchase *p, const struct bt_node_type *type)
{
	return bt_node_type_add(type, p->engine, &p->next_number);
}

static bool place(struct bt_purchase *p, struct bt_wanting_pod *pod, uint32_t *out_node_ix)
{
	return bt_transaction_place(p->engine, pod->order.ix, out_node_ix) == BT_PLACED;
}

/* Places the listed pods in their order, again and again as long as that helps. Returns: how many are left,
 * at the front of pods. */
static size_t place_all(struct bt_purchase *p, uint32_t *pods, size_t n)
{
	size_t before = n + 1;
	uint32_t node_ix;

	while (n < before) {
		before = n;
		n = 0;
		for (size_t i = 0; i < before; i++) {
			struct bt_wanting_pod *pod = &p->pods[pods[i]];

			if (place(p, pod, &node_ix)) {
				pod->node_ix = node_ix;
			} else {
				pods[n++] = pods[i];
			}
		}
	}
	return n;
}

/* In the open transaction: adds these nodes, and places all pods. Returns: how many are left; they are in
 * left. */
static size_t replay_here(struct bt_purchase *p, const uint32_t *counts, uint32_t *left)
{
	p->next_number = 0;
	for (size_t j = 0; j < p->types->n; j++) {
		for (uint32_t k = 0; k < counts[j]; k++) {
			add_node(p, &p->types->items[j]);
		}
	}
	for (uint32_t i = 0; i < p->pod_n; i++) {
		left[i] = i;
		p->pods[i].node_ix = BT_NO_NODE;
	}
	return place_all(p, left, p->pod_n);
}

/* Replays with these nodes. Returns: how many pods get a place. */
static uint64_t replay(struct bt_purchase *p, const uint32_t *counts)
{
	bt_transaction_begin(p->engine);
	const size_t left_n = replay_here(p, counts, p->left);
	bt_transaction_roll_back(p->engine);
	bt_progress_update(p->progress, ++p->trial_n);
	return p->pod_n - left_n;
}

/* ---- greedy ---- */

/* What a node of the type takes of the pods that are left, filled with the most valuable classes first. */
static double worth_of(struct bt_purchase *p, size_t type_ix, size_t left_n)
{
	double worth = 0;
	uint32_t node_ix;

	bt_transaction_begin(p->engine);
	const uint32_t only = add_node(p, &p->types->items[type_ix]);
	bt_transaction_restrict(p->engine, &only, 1);
	for (size_t c = 0; c < p->class_n; c++) {
		const uint32_t class_ix = p->class_order[c];
		bool fits = bt_bitmap_test(p->classes[class_ix].fits, type_ix);

		for (size_t i = p->first_left[class_ix]; fits && i < left_n && i != SIZE_MAX;
			i = p->next_left[i]) {
			fits = place(p, &p->pods[p->left[i]], &node_ix);
			worth += fits ? p->classes[class_ix].value : 0;
		}
	}
	bt_transaction_roll_back(p->engine);
	return worth;
}

/* Chains the pods that are left by class. */
static void chain_left(struct bt_purchase *p, size_t left_n)
{
	for (size_t c = 0; c < p->class_n; c++) {
		p->first_left[c] = SIZE_MAX;
	}
	for (size_t i = left_n; i-- > 0;) {
		const uint32_t class_ix = p->pods[p->left[i]].class_ix;

		p->next_left[i] = p->first_left[class_ix];
		p->first_left[class_ix] = i;
	}
}

/*
 * The type that takes most for its price. A type's last ratio bounds its next one, as fewer pods are left, so
 * most types are not tried. Returns: types->n: none takes any.
 */
static size_t best_type(struct bt_purchase *p, const uint32_t *counts, size_t left_n)
{
	for (;;) {
		size_t best = p->types->n;

		for (size_t j = 0; j < p->types->n; j++) {
			if (counts[j] < p->types->items[j].limit && p->ratios[j] > 0 &&
				(best == p->types->n || p->ratios[j] > p->ratios[best])) {
				best = j;
			}
		}
		if (best == p->types->n || p->fresh[best]) {
			return best;
		}
		const double ratio = worth_of(p, best, left_n) / p->types->items[best].price;
		p->ratios[best] = ratio < p->ratios[best] ? ratio : p->ratios[best];
		p->fresh[best] = true;
	}
}

/* Buys nodes until no type takes any of the pods that are left in a replay. */
static void buy_until_placed(struct bt_purchase *p)
{
	bool bought = true;

	while (bought && !bt_interrupt_pending()) {
		bought = false;
		bt_transaction_begin(p->engine);
		size_t left_n = replay_here(p, p->counts, p->left), best;

		for (size_t j = 0; j < p->types->n; j++) {
			p->ratios[j] = INFINITY;
		}
		do {
			chain_left(p, left_n);
			memset(p->fresh, 0, p->types->n * sizeof(*p->fresh));
			best = left_n ? best_type(p, p->counts, left_n) : p->types->n;
			if (best < p->types->n) {
				p->counts[best]++;
				add_node(p, &p->types->items[best]);
				left_n = place_all(p, p->left, left_n);
				bought = true;
			}
			bt_progress_update(p->progress, ++p->trial_n);
		} while (best < p->types->n && !bt_interrupt_pending());
		bt_transaction_roll_back(p->engine);
	}
}

/* ---- lower prices ---- */

static double price_of(const struct bt_purchase *p, const uint32_t *counts)
{
	double price = 0;

	for (size_t j = 0; j < p->types->n; j++) {
		price += counts[j] * p->types->items[j].price;
	}
	return price;
}

/* Keeps the tried counts if they place as many pods for less. */
static bool keep_if_better(struct bt_purchase *p)
{
	const double price = price_of(p, p->tried);

	if (price >= p->price * (1 - 1e-12) || p->trial_n >= p->trial_end || bt_interrupt_pending() ||
		replay(p, p->tried) < p->placed_n) {
		memcpy(p->tried, p->counts, p->types->n * sizeof(*p->tried));
		return false;
	}
	memcpy(p->counts, p->tried, p->types->n * sizeof(*p->counts));
	p->price = price;
	return true;
}

/* A node of type a, and one of type b unless that is types->n, go; of the cheaper types c comes, so often. */
static bool exchange(struct bt_purchase *p, size_t a, size_t b, size_t c, uint32_t times)
{
	const size_t n = p->types->n;

	if (!p->tried[a]) {
		return false;
	}
	p->tried[a]--;
	if (b < n && !p->tried[b]) {
		p->tried[a]++;
		return false;
	}
	if (b < n) {
		p->tried[b]--;
	}
	if (c < n && (p->tried[c] + times > p->types->items[c].limit || c == a || c == b)) {
		memcpy(p->tried, p->counts, n * sizeof(*p->tried));
		return false;
	}
	if (c < n) {
		p->tried[c] += times;
	}
	return keep_if_better(p);
}

/* One exchange that lowers the price: of one node for none, for a cheaper one or two; of two for one. */
static bool exchange_any(struct bt_purchase *p)
{
	const size_t n = p->types->n;

	for (size_t a = n; a-- > 0;) {
		if (p->counts[a] && exchange(p, a, n, n, 0)) {
			return true;
		}
	}
	for (size_t a = n; a-- > 0;) {
		for (size_t c = 0; p->counts[a] && c < a; c++) {
			if (exchange(p, a, n, c, 1) || exchange(p, a, n, c, 2)) {
				return true;
			}
		}
	}
	for (size_t a = n; a-- > 0;) {
		for (size_t b = a + 1; p->counts[a] && b-- > 0;) {
			for (size_t c = 0; p->counts[b] && c < n; c++) {
				if (exchange(p, a, b, c, 1)) {
					return true;
				}
			}
		}
	}
	return false;
}

static void lower_price(struct bt_purchase *p)
{
	memcpy(p->tried, p->counts, p->types->n * sizeof(*p->tried));
	p->price = price_of(p, p->counts);
	while (exchange_any(p)) {
	}
}

/* Gives up to a third of the nodes back, buys anew what is missing, and keeps that if it is cheaper. */
static void try_elsewhere(struct bt_purchase *p)
{
	const size_t bytes = p->types->n * sizeof(*p->counts);
	const double price = p->price;
	uint32_t node_n = 0;

	memcpy(p->best, p->counts, bytes);
	for (size_t j = 0; j < p->types->n; j++) {
		node_n += p->counts[j];
	}
	for (uint32_t k = 1 + (uint32_t)bt_rng_below(&p->rng, node_n / 3 + 1); k > 0 && node_n > 0;
		k--, node_n--) {
		uint64_t at = bt_rng_below(&p->rng, node_n);
		size_t j = 0;

		while (at >= p->counts[j]) {
			at -= p->counts[j++];
		}
		p->counts[j]--;
	}
	buy_until_placed(p);
	lower_price(p);
	if (p->price >= price * (1 - 1e-12) || replay(p, p->counts) < p->placed_n) {
		memcpy(p->counts, p->best, bytes);
		p->price = price;
	}
}

/* ---- the whole ---- */

static void allocate(struct bt_purchase *p)
{
	const size_t type_n = p->types->n + 1, pod_n = p->pod_n + 1, class_n = p->class_n + 1;

	p->counts = bt_arena_zalloc(&p->arena, type_n * sizeof(*p->counts));
	p->tried = bt_arena_zalloc(&p->arena, type_n * sizeof(*p->tried));
	p->best = bt_arena_zalloc(&p->arena, type_n * sizeof(*p->best));
	p->ratios = bt_arena_zalloc(&p->arena, type_n * sizeof(*p->ratios));
	p->fresh = bt_arena_zalloc(&p->arena, type_n * sizeof(*p->fresh));
	p->left = bt_arena_zalloc(&p->arena, pod_n * sizeof(*p->left));
	p->next_left = bt_arena_zalloc(&p->arena, pod_n * sizeof(*p->next_left));
	p->first_left = bt_arena_zalloc(&p->arena, class_n * sizeof(*p->first_left));
	p->class_order = bt_arena_zalloc(&p->arena, class_n * sizeof(*p->class_order));
}

/* The last replay, with the names of the pods' nodes. */
static void record_places(struct bt_purchase *p)
{
	const struct bt_intern *intern = cache_of(p)->dictionary->intern;

	bt_transaction_begin(p->engine);
	p->placed_n = p->pod_n - replay_here(p, p->counts, p->left);
	for (size_t i = 0; i < p->pod_n; i++) {
		if (p->pods[i].node_ix != BT_NO_NODE) {
			const struct bt_str name = bt_intern_str(
				intern, cache_of(p)->view.snapshot->nodes[p->pods[i].node_ix].name);

			p->pods[i].node =
				(struct bt_str){bt_arena_copy(&p->arena, name.ptr, name.len), name.len};
		}
	}
	bt_transaction_roll_back(p->engine);
}

int bt_purchase_find(struct bt_purchase *p)
{
	BT_REQUIRE(bt_transaction_depth(p->engine) == 0);
	list_pods(p);
	allocate(p);
	bt_purchase_value_classes(p);
	buy_until_placed(p);
	p->placed_n = replay(p, p->counts);
	p->trial_end = p->trial_n + p->trial_max;
	lower_price(p);
	while (p->price > 0 && p->trial_n < p->trial_end && !bt_interrupt_pending()) {
		try_elsewhere(p);
	}
	record_places(p);
	p->bound = bt_purchase_bound(p);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

void bt_purchase_fini(struct bt_purchase *p)
{
	bt_mem_free(p->pods);
	bt_mem_free(p->classes);
	bt_arena_fini(&p->arena);
}
