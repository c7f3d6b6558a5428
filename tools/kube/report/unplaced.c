/* SPDX-License-Identifier: Apache-2.0
 * The pods that were not placed.
 */
#include "tools/kube/report/unplaced.h"

#include <stdlib.h>

#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "tools/kube/report/refusals.h"
#include "tools/kube/report/rows_int.h"
#include "tools/kube/report/utilization.h"

static int by_size(const void *a, const void *b)
{
	const struct bt_unplaced_group *x = a, *y = b;

	if (x->pod_n != y->pod_n) {
		return x->pod_n > y->pod_n ? -1 : 1;
	}
	return x->example < y->example ? -1 : x->example > y->example;
}

static enum bt_outcome why_of(const struct bt_engine *engine, const struct bt_pod *pod, uint32_t pod_ix)
{
	if (pod->gates) {
		return BT_GATED;
	}
	struct bt_buf why = {0};
	bool gated = bt_engine_gate(engine, pod_ix, &why);

	bt_buf_fini(&why);
	return gated ? BT_GATED : BT_REFUSED;
}

static void unplaced_count(struct bt_unplaced *out, struct bt_map *ixs, const struct bt_pod *pod,
	uint32_t pod_ix, enum bt_outcome why)
{
	uint64_t key = ((uint64_t)pod->signature->ix << 3 | (uint64_t)why) + 1;
	uint32_t ix;

	if (!bt_map_get(ixs, key, &ix)) {
		ix = (uint32_t)out->group_n;
		out->groups = bt_mem_grow(out->groups, out->group_n, &out->group_cap, sizeof(*out->groups));
		out->groups[out->group_n++] = (struct bt_unplaced_group){
			.signature = pod->signature, .example = pod_ix, .why = why};
		bt_map_put(ixs, key, ix);
	}
	out->groups[ix].pod_n++;
}

static bool is_untried(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(engine), pod_ix);

	return info.where == BT_WAIT_ACTIVE && info.attempts == 0;
}

/*
 * Would the pod fit if all free resources were on one node? Only nodes count that refuse it first for its
 * resources; and no node may refuse it for another reason that could change.
 */
static bool is_fragmented(struct bt_engine *engine, const struct bt_unplaced_group *group)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_evaluation *evaluation;
	struct bt_explanation explanation = {0};
	struct bt_refusal refusal;
	uint32_t n = 0;
	bool fits = bt_utilization_sum_fits(cache, group->signature, NULL, 0); /* the cheaper check */

	if (!fits) {
		return false;
	}
	bt_engine_explain(engine, group->example, &explanation);
	evaluation = &explanation.evaluation;
	fits = !explanation.refused && !explanation.gated && !explanation.error;
	uint32_t *nodes = bt_mem_zalloc(evaluation->visited_n + 1, sizeof(*nodes));
	for (uint32_t i = 0; fits && i < evaluation->visited_n; i++) {
		if (evaluation->refused_by[i] == BT_PASSED) {
			continue;
		}
		bt_explanation_refusal(engine, &explanation, i, &refusal);
		if (strcmp(refusal.plugin, "NodeResourcesFit") == 0) {
			nodes[n++] = evaluation->visited[i];
		} else {
			/* Unresolvable nodes do not count; any other node has a different reason. */
			fits = refusal.rejection.code != BT_UNSCHEDULABLE;
		}
	}
	fits = fits && n && bt_utilization_sum_fits(cache, group->signature, nodes, n);
	bt_mem_free(nodes);
	bt_explanation_fini(&explanation);
	return fits;
}

void bt_unplaced_collect(struct bt_engine *engine, struct bt_unplaced *out)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t pod_end = bt_ledger_pod_end(cache->ledger);
	struct bt_map ixs = {0};

	*out = (struct bt_unplaced){0};
	for (uint32_t i = 0; i < pod_end; i++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, i);

		if (pod->state != BT_POD_QUEUED) {
			continue;
		}
		if (is_untried(engine, i)) {
			out->untried_n++;
		} else {
			unplaced_count(out, &ixs, pod, i, why_of(engine, pod, i));
		}
	}
	for (size_t g = 0; g < out->group_n; g++) {
		const struct bt_unplaced_group *group = &out->groups[g];

		out->refused_n += group->why == BT_REFUSED ? group->pod_n : 0;
		out->gated_n += group->why == BT_GATED ? group->pod_n : 0;
		if (group->why == BT_REFUSED && is_fragmented(engine, group)) {
			out->fragmented_n += group->pod_n;
		}
	}
	if (out->group_n) {
		qsort(out->groups, out->group_n, sizeof(*out->groups), by_size);
	}
	bt_map_fini(&ixs);
}

void bt_unplaced_fini(struct bt_unplaced *unplaced)
{
	bt_mem_free(unplaced->groups);
}

static void report_group(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_unplaced_group *group)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, group->example);
	struct bt_refusal_rows rows;
	struct bt_buf name = {0};

	bt_buf_printf(&name, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, pod->name)));
	bt_refusal_rows_collect(engine, group->example, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "pod", bt_buf_view(&name));
		bt_emit_label(emit, "example pod");
		bt_emit_int(emit, "pods", (int64_t)group->pod_n);
		bt_emit_int(emit, "nodes", (int64_t)rows.items[i].node_n);
		bt_emit_text(emit, "plugin", rows.items[i].plugin);
		bt_emit_text(emit, "reason", rows.items[i].text);
		bt_emit_end(emit);
	}
	bt_refusal_rows_fini(&rows);
	bt_buf_fini(&name);
}

void bt_report_unplaced(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_unplaced *unplaced, size_t shown)
{
	if (shown == 0) {
		return;
	}
	bt_emit_begin_array(emit, "unplaced");
	bt_emit_label(emit, "Pending pods and rejection reasons");
	for (size_t g = 0; g < shown; g++) {
		report_group(emit, engine, &unplaced->groups[g]);
	}
	bt_emit_end(emit);
	bt_rows_more(emit, "more_unplaced_groups",
		"more groups of pending pods, not shown (--all shows them)", unplaced->group_n, shown);
}
