/* SPDX-License-Identifier: Apache-2.0
 * Which nodes could go.
 */
#include "tools/offline/recommend/removal.h"

#include <stdlib.h>

#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/cli/interrupt.h"
#include "tools/offline/whatif/budget_use.h"

/* A node to try. */
struct candidate {
	uint32_t node_ix;
	double use; /* the largest share of its cpu, memory and pods that is used */
};

static const struct bt_cache *cache_of(const struct bt_removal *r)
{
	return bt_engine_cache(r->engine);
}

/* The least used first: they are the most likely to go. */
static int by_use(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->use != y->use) {
		return x->use < y->use ? -1 : 1;
	}
	return x->node_ix < y->node_ix ? -1 : x->node_ix > y->node_ix;
}

/* The pods of a node that move, the most important first. Returns: why the node stays. */
static enum bt_stay list_moving(struct bt_removal *r, uint32_t node_ix, size_t *out_n)
{
	const struct bt_ledger *ledger = cache_of(r)->ledger;
	enum bt_stay stay = BT_GOES;
	size_t n = 0;

	for (uint32_t ix = bt_ledger_first_on(ledger, node_ix); ix != BT_NO_POD;
		ix = bt_ledger_next(ledger, ix)) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, ix);
		const enum bt_pod_role role = bt_inventory_pod(r->inventory, ix).role;

		if (role == BT_ROLE_STAYS || pod->terminating) {
			continue;
		}
		stay = role == BT_ROLE_ENDS ? BT_STAYS_UNOWNED : stay;
		r->pods = bt_mem_grow(r->pods, n, &r->pod_cap, sizeof(*r->pods));
		r->pods[n++] = (struct bt_importance){pod->priority, pod->creation_ns, ix};
	}
	if (n) {
		qsort(r->pods, n, sizeof(*r->pods), bt_by_importance);
	}
	*out_n = n;
	return stay;
}

static bool budgets_allow(struct bt_removal *r, size_t n)
{
	struct bt_budget_use budgets;
	bool allowed = true;

	bt_budget_use_begin(&budgets, cache_of(r));
	for (size_t i = 0; i < n && allowed; i++) {
		allowed = !bt_budget_use_charge(
			&budgets, cache_of(r), bt_ledger_pod(cache_of(r)->ledger, r->pods[i].ix));
	}
	bt_budget_use_end(&budgets);
	return allowed;
}

/* In the open transaction: drains the node. Returns: whether all pods get another place. */
static bool move_pods(struct bt_removal *r, uint32_t node_ix, size_t n)
{
	bool placed = true;
	uint32_t to_ix;

	bt_transaction_close_node(r->engine, node_ix, true);
	for (size_t i = 0; i < n; i++) {
		bt_transaction_evict(r->engine, r->pods[i].ix);
		r->pods[i].ix = bt_transaction_add_copy(r->engine, r->pods[i].ix);
	}
	for (size_t i = 0; i < n && placed; i++) {
		placed = bt_transaction_place(r->engine, r->pods[i].ix, &to_ix) == BT_PLACED;
	}
	return placed;
}

static struct bt_str keep_text(struct bt_removal *r, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&r->arena, text.len ? text.ptr : "", text.len), text.len};
}

static void note_removable(struct bt_removal *r, uint32_t node_ix, size_t n)
{
	const struct bt_intern *intern = cache_of(r)->dictionary->intern;
	const struct bt_snapshot *snapshot = cache_of(r)->view.snapshot;
	const uint32_t key = bt_intern_find(intern, bt_str(BT_TYPE_LABEL));
	const uint32_t type =
		key == BT_NAME_NONE ? BT_NAME_NONE : bt_labels_get(snapshot->nodes[node_ix].labels, key);

	r->nodes = bt_mem_grow(r->nodes, r->node_n, &r->node_cap, sizeof(*r->nodes));
	r->nodes[r->node_n++] = (struct bt_removable_node){
		.name = keep_text(r, bt_intern_str(intern, snapshot->nodes[node_ix].name)),
		.type = type == BT_NAME_NONE ? (struct bt_str){.len = 0}
					     : keep_text(r, bt_intern_str(intern, type)),
		.moved_n = (uint32_t)n};
}

/* Drains the node, and keeps that if it can go. */
static enum bt_stay try_node(struct bt_removal *r, uint32_t node_ix)
{
	size_t n;
	enum bt_stay stay = list_moving(r, node_ix, &n);

	if (stay == BT_GOES && !budgets_allow(r, n)) {
		stay = BT_STAYS_BUDGET;
	}
	if (stay != BT_GOES) {
		return stay;
	}
	bt_transaction_begin(r->engine);
	if (!move_pods(r, node_ix, n)) {
		bt_transaction_roll_back(r->engine);
		return BT_STAYS_PODS;
	}
	note_removable(r, node_ix, n);
	bt_transaction_commit(r->engine, NULL);
	return BT_GOES;
}

static double share_of(const struct bt_removal *r, uint32_t slot, uint32_t node_ix)
{
	const double allocatable = (double)bt_node_alloc(cache_of(r)->view.snapshot, slot, node_ix);

	return allocatable > 0 ? (double)bt_node_used(cache_of(r)->view.usage, slot, node_ix) / allocatable
			       : 0;
}

static struct candidate *list_nodes(const struct bt_removal *r, size_t *out_n)
{
	const struct bt_snapshot *snapshot = cache_of(r)->view.snapshot;
	struct candidate *nodes = bt_mem_zalloc(snapshot->slot_n + 1, sizeof(*nodes));
	size_t n = 0;

	for (uint32_t ix = 0; ix < snapshot->slot_n; ix++) {
		if (!bt_bitmap_test(snapshot->live, ix) || snapshot->nodes[ix].unschedulable) {
			continue;
		}
		const double cpu = share_of(r, BT_CPU, ix), memory = share_of(r, BT_MEMORY, ix);

		nodes[n++] = (struct candidate){.node_ix = ix, .use = cpu > memory ? cpu : memory};
	}
	if (n) {
		qsort(nodes, n, sizeof(*nodes), by_use);
	}
	*out_n = n;
	return nodes;
}

int bt_removal_find(struct bt_removal *r)
{
	size_t n;
	struct candidate *nodes = list_nodes(r, &n);

	BT_REQUIRE(bt_transaction_depth(r->engine) == 0);
	bt_transaction_begin(r->engine);
	for (size_t i = 0; i < n && !bt_interrupt_pending(); i++) {
		r->stays[try_node(r, nodes[i].node_ix)]++;
		bt_progress_update(r->progress, i + 1);
	}
	bt_transaction_roll_back(r->engine);
	bt_mem_free(nodes);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

void bt_removal_fini(struct bt_removal *r)
{
	bt_mem_free(r->nodes);
	bt_mem_free(r->pods);
	bt_arena_fini(&r->arena);
}
