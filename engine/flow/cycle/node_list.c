/* SPDX-License-Identifier: Apache-2.0
 * The nodes of a cycle, in order. A sample continues in upstream's order where the last one ended.
 */
#include "engine/flow/cycle/node_list.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

void bt_node_list_fini(struct bt_node_list *list)
{
	bt_mem_free(list->live);
	bt_mem_free(list->order);
	bt_mem_free(list->rotated);
}

void bt_node_list_forget(struct bt_node_list *list)
{
	bt_mem_free(list->live);
	list->live = NULL;
}

BT_NOINLINE void bt_node_list_rebuild(struct bt_node_list *list)
{
	const struct bt_snapshot *snapshot = list->snapshot;
	uint32_t n = 0;

	list->live = bt_mem_realloc(list->live, snapshot->node_n, sizeof(*list->live));
	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (bt_bitmap_test(snapshot->live, i)) {
			list->live[n++] = i;
		}
	}
	list->live_version = snapshot->live_version;
	BT_INVARIANT(n == snapshot->node_n);
}

void bt_node_list_follow_order(struct bt_node_list *list, struct bt_snapshot_writer *snapshot)
{
	const uint64_t version = bt_snapshot_view(snapshot)->version; /* zones may change in place */
	uint32_t n = list->live_n;

	if (list->order && list->order_version == version) {
		return;
	}
	BT_REQUIRE(list->snapshot);
	const uint32_t *order = bt_snapshot_order(snapshot);
	list->order = bt_mem_realloc(list->order, 2 * (size_t)n, sizeof(*list->order));
	memcpy(list->order, order, n * sizeof(*order));
	memcpy(list->order + n, order, n * sizeof(*order));
	list->order_version = version;
}

/* The same, rotated to begin at the from-th. */
static const uint32_t *candidates_from(struct bt_node_list *list, const struct bt_plan *plan, uint32_t from,
	uint32_t also_ix, uint32_t *out_n)
{
	uint32_t n = plan->candidate_n;
	bool also = also_ix != BT_NO_NODE;

	if ((size_t)n + 1 > list->rotated_cap) {
		list->rotated_cap = (size_t)n + 1;
		list->rotated = bt_mem_realloc(list->rotated, list->rotated_cap, sizeof(*list->rotated));
	}
	uint32_t candidate_n = n;
	n = 0;
	for (uint32_t i = 0; i < candidate_n; i++) {
		list->rotated[n] = plan->candidates[(from + i) % candidate_n];
		also &= list->rotated[n] != also_ix;
		n += bt_node_list_has(list, list->rotated[n]);
	}
	if (also) {
		list->rotated[n++] = also_ix;
	}
	BT_INVARIANT(n <= list->rotated_cap);
	*out_n = n;
	return list->rotated;
}

const uint32_t *bt_node_list_candidates(
	struct bt_node_list *list, const struct bt_plan *plan, uint32_t also_ix, uint32_t *out_n)
{
	if (plan->narrowed) {
		return candidates_from(list, plan, 0, also_ix, out_n);
	}
	*out_n = bt_node_list_n(list);
	return bt_node_list_live(list);
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

static void evaluate_from(struct bt_node_list *list, const struct bt_plan *plan, const struct bt_view *view,
	uint32_t start, uint32_t limit, uint32_t also_ix, struct bt_evaluation *out)
{
	const uint32_t all_n = bt_node_list_n(list);
	uint32_t node_n = all_n;

	BT_REQUIRE_HOT(all_n > 0);
	const uint32_t *nodes = plan->narrowed ? candidates_from(list, plan, start, also_ix, &node_n)
					       : bt_node_list_order(list) + start % all_n;

	bt_evaluate(plan, view, nodes, node_n, limit, out);
}

void bt_node_list_evaluate_sample(struct bt_node_list *list, const struct bt_plan *plan,
	const struct bt_view *view, uint32_t limit, uint32_t refused_ix, struct bt_evaluation *out)
{
	list->last_start = list->next_start;
	evaluate_from(list, plan, view, list->next_start, limit, refused_ix, out);
	uint32_t processed_n = out->visited_n + (refused_ix != BT_NO_NODE && !has_visited(out, refused_ix));
	list->next_start = (list->next_start + processed_n) % bt_node_list_n(list);
}

void bt_node_list_evaluate_in_order(struct bt_node_list *list, const struct bt_plan *plan,
	const struct bt_view *view, bool decided, uint32_t also_ix, struct bt_evaluation *out)
{
	uint32_t start = decided ? list->last_start : list->next_start;

	evaluate_from(list, plan, view, start, UINT32_MAX, also_ix, out);
}
