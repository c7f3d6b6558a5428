/* SPDX-License-Identifier: Apache-2.0
 * What a pod lacks on one node: everything that the pod demands is dropped, and what is not in the way is put
 * back, the most expensive first. What is left is the least that makes the pod fit there.
 */
#include "tools/offline/explain/search_int.h"

#include <stdlib.h>
#include <string.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"

#define NODES_MAX  12 /* nodes that are looked at */
#define COMBOS_MAX 3  /* fixes of several edits */

/* A node to look at. */
struct near {
	uint32_t node_ix;
	double share;
};

static size_t add_near(struct near *nodes, size_t n, uint32_t node_ix, double share)
{
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].node_ix == node_ix) {
			return n;
		}
	}
	if (node_ix == BT_NO_NODE || n == NODES_MAX) {
		return n;
	}
	nodes[n] = (struct near){node_ix, share};
	return n + 1;
}

/* One node of each set of taints. */
static size_t add_tainted(const struct bt_snapshot *snapshot, struct near *nodes, size_t n)
{
	uint8_t *seen = bt_mem_zalloc(snapshot->taint_set_n + 1, 1);

	for (size_t i = 0; i < n; i++) {
		seen[snapshot->nodes[nodes[i].node_ix].taint_set] = 1;
	}
	for (uint32_t i = 0; i < snapshot->slot_n && n < NODES_MAX; i++) {
		uint32_t set = snapshot->nodes[i].taint_set;

		if (bt_bitmap_test(snapshot->live, i) && !seen[set]) {
			seen[set] = 1;
			n = add_near(nodes, n, i, 1);
		}
	}
	bt_mem_free(seen);
	return n;
}

/* The nodes that lack the least, one of each verdict, and one of each set of taints. */
static size_t choose_nodes(const struct bt_explain_search *s, const struct bt_refusal_rows *refusals,
	struct near nodes[NODES_MAX])
{
	const struct bt_snapshot *snapshot = bt_engine_cache(s->trial.engine)->view.snapshot;
	size_t n = 0;

	for (uint32_t i = 0; i < refusals->nearest_n; i++) {
		n = add_near(nodes, n, refusals->nearest[i].node_ix, refusals->nearest[i].lacks);
	}
	for (size_t i = 0; i < refusals->n; i++) {
		n = add_near(nodes, n, refusals->items[i].first_ix, 1);
	}
	return add_tainted(snapshot, nodes, n);
}

static int costliest_first(const void *a, const void *b)
{
	return -bt_explain_edit_cmp(a, b);
}

/* All edits that may matter on a node, sorted, in the arena. */
static struct bt_explain_edit *all_edits(struct bt_explain_search *s, uint32_t node_ix, size_t *out_n)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(s->trial.engine)->view.snapshot;
	struct bt_explain_edit *taints;
	size_t taint_n = bt_explain_list_taints(s, node_ix, &taints), n = s->candidate_n;
	struct bt_explain_edit *edits = bt_arena_zalloc(&s->arena, (n + taint_n + 1) * sizeof(*edits));

	if (n) {
		memcpy(edits, s->candidates, n * sizeof(*edits));
	}
	memcpy(edits + n, taints, taint_n * sizeof(*edits));
	n += taint_n;
	if (snapshot->nodes[node_ix].unschedulable) {
		edits[n++] = (struct bt_explain_edit){.kind = BT_EXPLAIN_UNCORDON,
			.node_ix = node_ix,
			.node_name = bt_explain_node_name(s, node_ix)};
	}
	*out_n = n;
	return edits;
}

static bool is_same(const struct bt_explain_edit *a, const struct bt_explain_edit *b)
{
	return a->kind == b->kind && a->holder == b->holder && a->container == b->container &&
	       a->item == b->item && a->expression == b->expression;
}

/* Puts back every edit that is not needed. Requires: the pod is placed with all of them. */
static size_t prune(struct bt_explain_search *s, struct bt_explain_edit *edits, size_t n, uint32_t node_ix)
{
	struct bt_explain_edit *order = bt_mem_zalloc(n + 1, sizeof(*order));
	struct bt_explain_edit *left = bt_mem_zalloc(n + 1, sizeof(*left));
	size_t order_n = n;

	if (n) {
		memcpy(order, edits, n * sizeof(*order));
		qsort(order, n, sizeof(*order), costliest_first);
	}
	for (size_t i = 0; i < order_n; i++) {
		size_t left_n = 0;

		for (size_t k = 0; k < n; k++) {
			if (!is_same(&edits[k], &order[i])) {
				left[left_n++] = edits[k];
			}
		}
		if (left_n < n && bt_explain_search_try(s, left, left_n, node_ix)) {
			memcpy(edits, left, left_n * sizeof(*edits));
			n = left_n;
		}
	}
	bt_mem_free(order);
	bt_mem_free(left);
	return n;
}

static const char *lacks_text(struct bt_explain_search *s, const struct bt_explain_miss *miss)
{
	struct bt_buf text = {0};

	for (size_t i = 0; i < miss->n; i++) {
		bt_buf_text(&text, i ? "; " : "");
		bt_explain_edit_lack(&miss->edits[i], &s->subject->pod, &text);
	}
	if (miss->stuck) {
		bt_buf_str(&text, bt_buf_view(&s->trial.reason));
		bt_buf_text(&text, "; no change of the pod helps");
	}
	const char *kept = bt_arena_copy(&s->arena, text.ptr ? text.ptr : "", text.len);
	bt_buf_fini(&text);
	return kept;
}

static void look_at(struct bt_explain_search *s, const struct near *near)
{
	struct bt_str name = bt_explain_node_name(s, near->node_ix);
	struct bt_explain_miss miss = {.node = name.ptr, .share = near->share};

	miss.edits = all_edits(s, near->node_ix, &miss.n);
	bt_explain_edits_sort(miss.edits, miss.n);
	if (bt_explain_search_try(s, miss.edits, miss.n, near->node_ix)) {
		miss.n = prune(s, miss.edits, miss.n, near->node_ix);
		bt_explain_tune(s, miss.edits, miss.n, near->node_ix);
	} else {
		(void)bt_explain_try_with_reason(&s->trial, miss.edits, miss.n, near->node_ix);
		miss.n = 0;
		miss.stuck = true;
	}
	miss.lacks = lacks_text(s, &miss);
	s->misses = bt_mem_grow(s->misses, s->miss_n, &s->miss_cap, sizeof(*s->misses));
	s->misses[s->miss_n++] = miss;
}

static int nearest_first(const void *a, const void *b)
{
	const struct bt_explain_miss *x = a, *y = b;

	if (x->stuck != y->stuck) {
		return x->stuck ? 1 : -1;
	}
	if (x->n != y->n) {
		return x->n < y->n ? -1 : 1;
	}
	int order = x->n ? bt_explain_edit_cmp(&x->edits[x->n - 1], &y->edits[y->n - 1]) : 0;
	if (order != 0) {
		return order;
	}
	return x->share != y->share ? (x->share < y->share ? -1 : 1) : strcmp(x->node, y->node);
}

/* Is the pod placed without one of the edits? Then they are more than what is needed. */
static bool is_more_than_needed(struct bt_explain_search *s, const struct bt_explain_miss *miss)
{
	struct bt_explain_edit *rest = bt_mem_zalloc(miss->n, sizeof(*rest));
	bool more = false;

	for (size_t i = 0; i < miss->n && !more; i++) {
		memcpy(rest, miss->edits, i * sizeof(*rest));
		memcpy(rest + i, miss->edits + i + 1, (miss->n - i - 1) * sizeof(*rest));
		more = bt_explain_search_try(s, rest, miss->n - 1, BT_NO_NODE);
	}
	bt_mem_free(rest);
	return more;
}

/* Makes a fix of what the pod lacks on a node, where that is several things. It is tuned for all nodes: that
 * the pod goes to this one is not asked for. Returns: whether a fix was added. */
static bool add_combination(struct bt_explain_search *s, const struct bt_explain_miss *miss)
{
	struct bt_explain_edit *edits = bt_mem_zalloc(miss->n + 1, sizeof(*edits));
	size_t before = s->fix_n;

	if (!miss->stuck && miss->n > 1 && !is_more_than_needed(s, miss)) {
		memcpy(edits, miss->edits, miss->n * sizeof(*edits));
		bt_explain_tune(s, edits, miss->n, BT_NO_NODE);
		if (bt_explain_search_try(s, edits, miss->n, BT_NO_NODE)) {
			bt_explain_add_fix(s, edits, miss->n);
		}
	}
	bt_mem_free(edits);
	return s->fix_n > before;
}

void bt_explain_find_misses(struct bt_explain_search *s, const struct bt_refusal_rows *refusals)
{
	struct near nodes[NODES_MAX];
	size_t n = choose_nodes(s, refusals, nodes), combo_n = 0;

	for (size_t i = 0; i < n; i++) {
		look_at(s, &nodes[i]);
	}
	if (s->miss_n) {
		qsort(s->misses, s->miss_n, sizeof(*s->misses), nearest_first);
	}
	for (size_t i = 0; i < s->miss_n && combo_n < COMBOS_MAX; i++) {
		combo_n += add_combination(s, &s->misses[i]);
	}
}
