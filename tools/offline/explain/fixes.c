/* SPDX-License-Identifier: Apache-2.0
 * Searches for the cheapest changes with which a pod is placed.
 */
#include "tools/offline/explain/fixes.h"

#include <stdlib.h>
#include <string.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "tools/offline/explain/search_int.h"

#define SAME_MAX     3	/* fixes of one kind that are of nodes */
#define CORDONED_MAX 32 /* nodes that are uncordoned for a trial */

static int cheapest_first(const void *a, const void *b)
{
	const struct bt_explain_fix *x = a, *y = b;

	if (x->n != y->n) {
		return x->n < y->n ? -1 : 1;
	}
	int order = x->n ? bt_explain_edit_cmp(&x->edits[x->n - 1], &y->edits[y->n - 1]) : 0;
	return order != 0 ? order : strcmp(x->text, y->text);
}

/* ---- single edits ---- */

/* Tries one edit on all nodes. Returns whether it is a fix. */
static bool try_one(struct bt_explain_search *s, const struct bt_explain_edit *edit)
{
	struct bt_explain_edit tuned = *edit;

	if (!bt_explain_is_advisable(edit) || !bt_explain_search_try(s, &tuned, 1, BT_NO_NODE)) {
		return false;
	}
	bt_explain_tune(s, &tuned, 1, BT_NO_NODE);
	if (!bt_explain_search_try(s, &tuned, 1, BT_NO_NODE)) {
		return false; /* interrupted */
	}
	bt_explain_add_fix(s, &tuned, 1);
	return true;
}

static void try_pod(struct bt_explain_search *s)
{
	struct bt_explain_edit *taints;
	size_t taint_n = bt_explain_list_taints(s, BT_NO_NODE, &taints);
	bool by_expression = false;

	for (size_t i = 0; i < s->candidate_n; i++) {
		const struct bt_explain_edit *edit = &s->candidates[i];

		/* A part of the affinity is less than all of it. */
		if (edit->kind == BT_EXPLAIN_NODE_AFFINITY && by_expression) {
			continue;
		}
		bool helps = try_one(s, edit);
		by_expression |= helps && edit->kind == BT_EXPLAIN_EXPRESSION;
	}
	for (size_t i = 0; i < taint_n; i++) {
		(void)try_one(s, &taints[i]);
	}
}

/* Removes pods of the edit that need not leave. Requires: the pod is placed without them. */
static void spare_pods(struct bt_explain_search *s, struct bt_explain_edit *edit, uint32_t *pod_ixs)
{
	for (uint32_t i = 0; i < edit->pod_n;) {
		uint32_t spared = pod_ixs[i];

		memmove(pod_ixs + i, pod_ixs + i + 1, (edit->pod_n - i - 1) * sizeof(*pod_ixs));
		edit->pod_n--;
		if (!bt_explain_search_try(s, edit, 1, BT_NO_NODE)) {
			memmove(pod_ixs + i + 1, pod_ixs + i, (edit->pod_n - i) * sizeof(*pod_ixs));
			pod_ixs[i++] = spared;
			edit->pod_n++;
		}
	}
}

/* Do terminating pods stand in the way? */
static void try_waiting(struct bt_explain_search *s)
{
	const struct bt_ledger *ledger = bt_engine_cache(s->trial.engine)->ledger;
	const struct bt_snapshot *snapshot = bt_engine_cache(s->trial.engine)->view.snapshot;
	uint32_t end = bt_ledger_pod_end(ledger), *pod_ixs = NULL, node_ix;
	struct bt_explain_edit edit = {.kind = BT_EXPLAIN_WAIT};
	size_t cap = 0;

	for (uint32_t i = 0; i < end; i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->state == BT_POD_SCHEDULED && pod->terminating && !pod->detached &&
			bt_bitmap_test(snapshot->live, pod->node_ix)) {
			pod_ixs = bt_mem_grow(pod_ixs, edit.pod_n, &cap, sizeof(*pod_ixs));
			pod_ixs[edit.pod_n++] = i;
		}
	}
	edit.pod_ixs = pod_ixs;
	if (edit.pod_n && bt_explain_search_try(s, &edit, 1, BT_NO_NODE)) {
		uint32_t n = 0;

		node_ix = s->trial.node_ix;
		for (uint32_t i = 0; i < edit.pod_n; i++) {
			if (bt_ledger_pod(ledger, pod_ixs[i])->node_ix == node_ix) {
				pod_ixs[n++] = pod_ixs[i];
			}
		}
		edit.pod_n = n;
		spare_pods(s, &edit, pod_ixs);
		if (edit.pod_n && bt_explain_search_try(s, &edit, 1, BT_NO_NODE)) {
			bt_explain_add_fix(s, &edit, 1);
		}
	}
	bt_mem_free(pod_ixs);
}

/*
 * The victims are the engine's own. Where the scheduler does not evict them itself, those stay that may: with
 * spreading, the engine's search may list pods that need not leave.
 */
static void try_evicting(struct bt_explain_search *s)
{
	struct bt_explain_edit edit = {.kind = BT_EXPLAIN_EVICT};
	uint32_t *pod_ixs;

	edit.pod_n = bt_explain_victims(&s->trial, &s->arena, &pod_ixs, &edit.violation_n);
	if (edit.pod_n == 0) {
		return;
	}
	edit.pod_ixs = pod_ixs;
	edit.kind = edit.violation_n ? BT_EXPLAIN_EVICT_FORBIDDEN : BT_EXPLAIN_EVICT;
	if (edit.violation_n == 0 && bt_str_is(s->subject->pod.spec.preemption_policy, "Never")) {
		spare_pods(s, &edit, pod_ixs);
	}
	if (bt_explain_search_try(s, &edit, 1, BT_NO_NODE)) {
		bt_explain_add_fix(s, &edit, 1);
	}
}

static void try_uncordoning(struct bt_explain_search *s)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(s->trial.engine)->view.snapshot;
	uint32_t tried_n = 0, found_n = 0;

	for (uint32_t i = 0; i < snapshot->slot_n && tried_n < CORDONED_MAX && found_n < SAME_MAX; i++) {
		if (!bt_bitmap_test(snapshot->live, i) || !snapshot->nodes[i].unschedulable) {
			continue;
		}
		tried_n++;
		found_n += try_one(s, &(struct bt_explain_edit){.kind = BT_EXPLAIN_UNCORDON,
					      .node_ix = i,
					      .node_name = bt_explain_node_name(s, i)});
	}
}

static int64_t allocatable_of(const struct bt_node_object *node, const char *resource)
{
	for (uint32_t i = 0; i < node->allocatable.n; i++) {
		if (bt_str_is(node->allocatable.items[i].name, resource)) {
			return bt_explain_amount_of(&node->allocatable.items[i]);
		}
	}
	return 0;
}

static int smallest_first(const void *a, const void *b)
{
	const struct bt_node_object *x = *(const struct bt_node_object *const *)a;
	const struct bt_node_object *y = *(const struct bt_node_object *const *)b;
	int64_t cpu_x = allocatable_of(x, "cpu"), cpu_y = allocatable_of(y, "cpu");
	int64_t memory_x = allocatable_of(x, "memory"), memory_y = allocatable_of(y, "memory");

	if (cpu_x != cpu_y) {
		return cpu_x < cpu_y ? -1 : 1;
	}
	return memory_x != memory_y ? (memory_x < memory_y ? -1 : 1) : bt_str_cmp(x->meta.name, y->meta.name);
}

static void try_new_nodes(struct bt_explain_search *s)
{
	const struct bt_node_object *nodes[BT_EXPLAIN_NODE_KINDS];
	uint32_t n = s->subject->kind_n, found_n = 0;

	for (uint32_t i = 0; i < n; i++) {
		nodes[i] = &s->subject->kinds[i].node;
	}
	if (n) {
		qsort(nodes, n, sizeof(*nodes), smallest_first);
	}
	for (uint32_t i = 0; i < n && found_n < SAME_MAX; i++) {
		found_n += try_one(s, &(struct bt_explain_edit){.kind = BT_EXPLAIN_ADD_NODE,
					      .node = nodes[i],
					      .node_name = nodes[i]->meta.name});
	}
}

void bt_explain_search(struct bt_engine *engine, const struct bt_explain_subject *subject,
	const struct bt_refusal_rows *refusals, struct bt_progress *progress, struct bt_explain_search *out)
{
	*out = (struct bt_explain_search){
		.trial = {.engine = engine, .pod = &subject->pod}, .subject = subject, .progress = progress};
	out->fits = bt_explain_search_try(out, NULL, 0, BT_NO_NODE);
	if (out->fits) {
		if (subject->pod.spec.scheduling_gates.n) {
			bt_explain_add_fix(out, NULL, 0);
		}
		return;
	}
	if (subject->pod.spec.scheduling_gates.n) {
		bt_explain_trial_refusals(&out->trial, &out->ungated);
		refusals = &out->ungated;
	}
	bt_explain_list_candidates(out);
	try_waiting(out);
	try_pod(out);
	try_uncordoning(out);
	try_evicting(out);
	try_new_nodes(out);
	bt_explain_find_misses(out, refusals);
	if (out->fix_n) {
		qsort(out->fixes, out->fix_n, sizeof(*out->fixes), cheapest_first);
	}
}

void bt_explain_search_fini(struct bt_explain_search *s)
{
	bt_explain_trial_fini(&s->trial);
	bt_refusal_rows_fini(&s->ungated);
	bt_mem_free(s->fixes);
	bt_mem_free(s->misses);
	bt_mem_free(s->candidates);
	bt_arena_fini(&s->arena);
	*s = (struct bt_explain_search){0};
}
