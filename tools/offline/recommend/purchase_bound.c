/* SPDX-License-Identifier: Apache-2.0
 * What pods are worth, and the bound: for each set of types, the pods that fit on these types alone need the
 * sum of their requests from nodes of these types, and whole nodes.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/bitmap.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/offline/recommend/bound.h"
#include "tools/offline/recommend/purchase_int.h"

static const struct bt_dictionary *dictionary_of(const struct bt_purchase *p)
{
	return bt_engine_cache(p->engine)->dictionary;
}

/* Which types takes each class when a node of it is empty? */
static void find_fits(struct bt_purchase *p)
{
	uint32_t *samples = bt_mem_zalloc(p->class_n + 1, sizeof(*samples)), node_ix, number = 0;

	for (size_t i = 0; i < p->pod_n; i++) {
		samples[p->pods[i].class_ix] = p->pods[i].order.ix;
	}
	for (size_t j = 0; j < p->types->n; j++) {
		bt_transaction_begin(p->engine);
		const uint32_t only = bt_node_type_add(&p->types->items[j], p->engine, &number);
		bt_transaction_restrict(p->engine, &only, 1);
		for (size_t c = 0; c < p->class_n; c++) {
			bt_transaction_begin(p->engine);
			if (bt_transaction_place(p->engine, samples[c], &node_ix) == BT_PLACED) {
				bt_bitmap_set(p->classes[c].fits, j);
			}
			bt_transaction_roll_back(p->engine);
		}
		bt_transaction_roll_back(p->engine);
	}
	bt_mem_free(samples);
}

/* The lowest price of a unit of the resource; 0: no type has it. */
static double unit_price(const struct bt_purchase *p, uint32_t slot)
{
	const struct bt_str name = bt_resource_name(dictionary_of(p), slot);
	double least = INFINITY;

	for (size_t j = 0; j < p->types->n; j++) {
		const double amount = bt_node_type_amount(&p->types->items[j], name, slot);

		if (amount > 0 && p->types->items[j].price / amount < least) {
			least = p->types->items[j].price / amount;
		}
	}
	return isfinite(least) ? least : 0;
}

static int by_value(const void *a, const void *b, void *context)
{
	const struct bt_pod_class *classes = context;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (classes[x].value != classes[y].value) {
		return classes[x].value > classes[y].value ? -1 : 1;
	}
	return x < y ? -1 : x > y;
}

void bt_purchase_value_classes(struct bt_purchase *p)
{
	double per_pod = INFINITY;

	find_fits(p);
	for (size_t j = 0; j < p->types->n; j++) {
		const double pods = bt_node_type_amount(&p->types->items[j], bt_str("pods"), BT_FIRST_RARE);

		per_pod = pods > 0 && p->types->items[j].price / pods < per_pod
				  ? p->types->items[j].price / pods
				  : per_pod;
	}
	for (size_t c = 0; c < p->class_n; c++) {
		const struct bt_amounts fit = p->classes[c].signature->requests.fit;

		p->classes[c].value = isfinite(per_pod) ? per_pod : 0;
		for (uint32_t r = 0; r < fit.n; r++) {
			p->classes[c].value += unit_price(p, fit.items[r].slot) * (double)fit.items[r].amount;
		}
		p->class_order[c] = (uint32_t)c;
	}
	if (p->class_n) {
		qsort_r(p->class_order, p->class_n, sizeof(*p->class_order), by_value, p->classes);
	}
}

/* ---- the bound ---- */

/* The rows of the covering problem. */
struct rows {
	double *amounts, *needs;
	size_t n, amount_cap, need_cap;
};

static bool is_within(const uint64_t *a, const uint64_t *b, size_t type_n)
{
	for (size_t w = 0; w < bt_bitmap_words(type_n); w++) {
		if (a[w] & ~b[w]) {
			return false;
		}
	}
	return true;
}

static double request_of(const struct bt_signature *signature, uint32_t slot)
{
	const struct bt_amounts fit = signature->requests.fit;

	for (uint32_t r = 0; r < fit.n; r++) {
		if (fit.items[r].slot == slot) {
			return (double)fit.items[r].amount;
		}
	}
	return 0;
}

static void add_empty_row(struct rows *rows, size_t type_n, double need)
{
	rows->needs = bt_mem_grow(rows->needs, rows->n, &rows->need_cap, sizeof(*rows->needs));
	while ((rows->n + 1) * type_n > rows->amount_cap) {
		rows->amounts = bt_mem_grow(
			rows->amounts, rows->amount_cap, &rows->amount_cap, sizeof(*rows->amounts));
	}
	memset(&rows->amounts[rows->n * type_n], 0, type_n * sizeof(*rows->amounts));
	rows->needs[rows->n++] = need;
}

/* A row: the pods that fit on no other types than these need so much of a resource; name "pods": their
 * number. node_n: the number of nodes that takes, at least. */
static void add_row(const struct bt_purchase *p, struct rows *rows, const uint64_t *types,
	const uint32_t *placed, struct bt_str name, uint32_t slot, double *node_n)
{
	const size_t type_n = p->types->n;
	double need = 0, most = 0;

	for (size_t c = 0; c < p->class_n; c++) {
		if (placed[c] && is_within(p->classes[c].fits, types, type_n)) {
			need += placed[c] *
				(slot == BT_FIRST_RARE ? 1 : request_of(p->classes[c].signature, slot));
		}
	}
	if (need <= 0) {
		return;
	}
	add_empty_row(rows, type_n, need);
	for (size_t j = 0; j < type_n; j++) {
		if (bt_bitmap_test(types, j)) {
			const double amount = bt_node_type_amount(&p->types->items[j], name, slot);

			rows->amounts[(rows->n - 1) * type_n + j] = amount;
			most = amount > most ? amount : most;
		}
	}
	const double nodes = most > 0 ? ceil(need / most - 1e-9) : 1;
	*node_n = nodes > *node_n ? nodes : *node_n;
}

/* Whole nodes are bought: at least so many of these types. */
static void add_node_row(const struct bt_purchase *p, struct rows *rows, const uint64_t *types, double node_n)
{
	add_empty_row(rows, p->types->n, node_n);
	for (size_t j = 0; j < p->types->n; j++) {
		rows->amounts[(rows->n - 1) * p->types->n + j] = bt_bitmap_test(types, j);
	}
}

static bool is_first_of_its_types(const struct bt_purchase *p, size_t class_ix, const uint32_t *placed)
{
	const size_t bytes = bt_bitmap_words(p->types->n) * sizeof(uint64_t);

	for (size_t c = 0; c < class_ix; c++) {
		if (placed[c] && memcmp(p->classes[c].fits, p->classes[class_ix].fits, bytes) == 0) {
			return false;
		}
	}
	return placed[class_ix] > 0;
}

double bt_purchase_bound(const struct bt_purchase *p)
{
	uint32_t *placed = bt_mem_zalloc(p->class_n + 1, sizeof(*placed));
	double *prices = bt_mem_zalloc(p->types->n + 1, sizeof(*prices));
	struct rows rows = {.n = 0};
	const int resource_n = bt_resource_count(dictionary_of(p));

	for (size_t i = 0; i < p->pod_n; i++) {
		const struct bt_pod_class *class = &p->classes[p->pods[i].class_ix];

		placed[p->pods[i].class_ix] += p->pods[i].node.len && class->only_new;
	}
	for (size_t j = 0; j < p->types->n; j++) {
		prices[j] = p->types->items[j].price;
	}
	for (size_t c = 0; c < p->class_n; c++) {
		if (!is_first_of_its_types(p, c, placed)) {
			continue;
		}
		double node_n = 1;
		for (uint32_t slot = 0; slot < (uint32_t)resource_n && slot < BT_FIRST_RARE; slot++) {
			add_row(p, &rows, p->classes[c].fits, placed,
				bt_resource_name(dictionary_of(p), slot), slot, &node_n);
		}
		add_row(p, &rows, p->classes[c].fits, placed, bt_str("pods"), BT_FIRST_RARE, &node_n);
		add_node_row(p, &rows, p->classes[c].fits, node_n);
	}
	const double bound = bt_covering_bound(prices, p->types->n, rows.amounts, rows.needs, rows.n);
	bt_mem_free(rows.amounts);
	bt_mem_free(rows.needs);
	bt_mem_free(prices);
	bt_mem_free(placed);
	return bound;
}
