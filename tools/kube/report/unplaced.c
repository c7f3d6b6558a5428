/* SPDX-License-Identifier: Apache-2.0
 * The pods that were not placed.
 */
#include "tools/kube/report/unplaced.h"

#include <stdlib.h>

#include "engine/base/map.h"
#include "engine/base/mem.h"
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

/* Nodes that one plugin refuses for the same reasons. */
struct unplaced_count {
	const char *plugin;
	char *text;
	uint64_t node_n;
};

struct tallies {
	struct unplaced_count *items;
	size_t n, cap;
};

static void add_tally(struct tallies *tallies, const char *plugin, struct bt_str text, uint64_t node_n)
{
	for (size_t i = 0; i < tallies->n; i++) {
		if (tallies->items[i].plugin == plugin && bt_str_is(text, tallies->items[i].text)) {
			tallies->items[i].node_n += node_n;
			return;
		}
	}
	tallies->items = bt_mem_grow(tallies->items, tallies->n, &tallies->cap, sizeof(*tallies->items));
	tallies->items[tallies->n++] =
		(struct unplaced_count){plugin, bt_mem_copy(text.ptr, text.len), node_n};
}

static int by_nodes(const void *a, const void *b)
{
	const struct unplaced_count *x = a, *y = b;

	if (x->node_n != y->node_n) {
		return x->node_n > y->node_n ? -1 : 1;
	}
	return strcmp(x->text, y->text);
}

static void tally_nodes(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct tallies *tallies)
{
	static const char no_plugin[] = "";
	const struct bt_evaluation *evaluation = &explanation->evaluation;
	struct bt_refusal refusal;
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		if (evaluation->refused_by[i] == BT_PASSED) {
			if (bt_engine_in_group(engine, explanation->pod_ix)) {
				add_tally(tallies, "GangScheduling",
					bt_str("waiting for minCount pods from a gang to be scheduled"), 1);
			} else {
				add_tally(tallies, no_plugin, bt_str("fits now"), 1);
			}
			continue;
		}
		bt_explanation_refusal(engine, explanation, i, &refusal);
		bt_buf_clear(&text);
		for (uint32_t r = 0; r < bt_refusal_reason_n(&refusal); r++) {
			bt_buf_text(&text, r ? ", " : "");
			bt_refusal_reason(engine, &refusal, r, &text);
		}
		add_tally(tallies, refusal.plugin, bt_buf_view(&text), 1);
	}
	bt_buf_fini(&text);
}

static void tally_group(
	struct bt_engine *engine, const struct bt_unplaced_group *group, struct tallies *tallies)
{
	uint64_t node_n = bt_engine_cache(engine)->view.snapshot->node_n;
	struct bt_explanation explanation = {0};

	bt_engine_explain(engine, group->example, &explanation);
	if (explanation.refused || explanation.gated) {
		add_tally(tallies, explanation.refusal.plugin, bt_str(explanation.refusal.text), node_n);
	} else if (explanation.error) {
		add_tally(tallies, "", bt_str(explanation.error), node_n);
	} else {
		tally_nodes(engine, &explanation, tallies);
		if (explanation.evaluation.visited_n < node_n) {
			add_tally(tallies,
				explanation.plan->profile->uses[explanation.plan->narrowed_by].plugin->name,
				bt_str("the pod names other nodes"),
				node_n - explanation.evaluation.visited_n);
		}
	}
	bt_explanation_fini(&explanation);
}

static void report_group(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_unplaced_group *group)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, group->example);
	struct tallies tallies = {0};
	struct bt_buf name = {0};

	bt_buf_printf(&name, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, pod->name)));
	tally_group(engine, group, &tallies);
	if (tallies.n) {
		qsort(tallies.items, tallies.n, sizeof(*tallies.items), by_nodes);
	}
	for (size_t i = 0; i < tallies.n; i++) {
		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "pod", bt_buf_view(&name));
		bt_emit_label(emit, "example pod");
		bt_emit_int(emit, "pods", (int64_t)group->pod_n);
		bt_emit_int(emit, "nodes", (int64_t)tallies.items[i].node_n);
		bt_emit_text(emit, "plugin", tallies.items[i].plugin);
		bt_emit_text(emit, "reason", tallies.items[i].text);
		bt_emit_end(emit);
		bt_mem_free(tallies.items[i].text);
	}
	bt_mem_free(tallies.items);
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
