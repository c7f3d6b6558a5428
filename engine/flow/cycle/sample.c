/* SPDX-License-Identifier: Apache-2.0
 * Sampling: cycles go on in upstream's order of nodes from where the last one stopped.
 */
#include "engine/flow/cycle/sample.h"

#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

/* Upstream looks for at least this many feasible nodes, and at this part of all. */
#define SAMPLE_NODES_MIN      100
#define SAMPLE_PERCENTAGE_MIN 5

uint32_t bt_feasible_nodes_to_find(int32_t percentage, uint32_t node_n)
{
	if (node_n < SAMPLE_NODES_MIN) {
		return node_n;
	}
	if (percentage == 0) {
		percentage = 50 - (int32_t)(node_n / 125);
		percentage = percentage < SAMPLE_PERCENTAGE_MIN ? SAMPLE_PERCENTAGE_MIN : percentage;
	}
	uint32_t n = (uint32_t)((uint64_t)node_n * (uint32_t)percentage / 100);
	return n < SAMPLE_NODES_MIN ? SAMPLE_NODES_MIN : n;
}

bool bt_samples(enum bt_node_sampling sampling, int32_t percentage)
{
	switch (sampling) {
	case BT_SAMPLING_NONE:
		return false;
	case BT_SAMPLING_UPSTREAM:
		return true;
	case BT_SAMPLING_AS_CONFIGURED:
		break;
	}
	return percentage > 0 && percentage < 100;
}

/* The nodes in upstream's order, twice, so that a cycle may begin anywhere. */
static void list_order(struct bt_engine *engine)
{
	uint64_t version = engine->cache->view.snapshot->version;

	if (engine->order && engine->order_version == version) {
		return;
	}
	const uint32_t *order = bt_snapshot_order(engine->cache->snapshot);
	uint32_t n = engine->live_n;
	engine->order = bt_mem_realloc(engine->order, 2 * (size_t)n, sizeof(*engine->order));
	memcpy(engine->order, order, n * sizeof(*order));
	memcpy(engine->order + n, order, n * sizeof(*order));
	engine->order_version = version;
}

uint32_t bt_engine_sample_limit(
	struct bt_engine *engine, const struct bt_flow_profile *profile, const struct bt_plan *plan)
{
	uint32_t node_n = plan->narrowed ? plan->candidate_n : engine->live_n, n;

	list_order(engine);
	n = bt_feasible_nodes_to_find(profile->percentage_of_nodes_to_score, node_n);
	n = profile->plugins.score_n == 0 && !bt_extender_calls_chooses(engine->extend) ? 1 : n;
	return n < node_n ? n : UINT32_MAX;
}

const uint32_t *bt_engine_candidates(struct bt_engine *engine, const struct bt_plan *plan, uint32_t from,
	uint32_t also_ix, uint32_t *out_n)
{
	uint32_t n = plan->candidate_n;
	bool also = also_ix != BT_NO_NODE;

	if ((size_t)n + 1 > engine->turned_cap) {
		engine->turned_cap = (size_t)n + 1;
		engine->turned = bt_mem_realloc(engine->turned, engine->turned_cap, sizeof(*engine->turned));
	}
	for (uint32_t i = 0; i < n; i++) {
		engine->turned[i] = plan->candidates[(from + i) % n];
		also &= engine->turned[i] != also_ix;
	}
	if (also) {
		engine->turned[n++] = also_ix;
	}
	*out_n = n;
	return engine->turned;
}

static bool has_visited(const struct bt_evaluation *evaluation, uint32_t node_ix)
{
	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		if (evaluation->visited[i] == node_ix) {
			return true;
		}
	}
	return false;
}

void bt_engine_evaluate_sample(struct bt_engine *engine, const struct bt_plan *plan, uint32_t limit,
	uint32_t refused_ix, struct bt_evaluation *out)
{
	uint32_t node_n = engine->live_n, processed_n;
	const uint32_t *nodes =
		plan->narrowed ? bt_engine_candidates(engine, plan, engine->next_start, refused_ix, &node_n)
			       : engine->order + engine->next_start % engine->live_n;

	bt_evaluate(plan, &engine->cache->view, nodes, node_n, limit, out);
	processed_n = out->visited_n + (refused_ix != BT_NO_NODE && !has_visited(out, refused_ix));
	engine->next_start = (engine->next_start + processed_n) % engine->live_n;
}
