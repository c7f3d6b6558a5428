/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the best node for a pod with active plugins that depend on counters: by classes of nodes for
 * these, by columns for the other plugins.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/score/plan.h"

/*
 * As bt_plan_pick, after bt_prepare has found active plugins. Returns: false when bt_evaluate must decide.
 */
bool bt_topology_pick_pick(
	struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix);

/* A node has changed, come or gone, and the plan's groups and the domain counts have followed.
 * Requires: plan->counted. */
void bt_topology_pick_redescribe(struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix);

/* Moves the pages of its arrays by node slot to their shards' workers, unless they are there. */
void bt_topology_pick_place(struct bt_topology_pick *pick, const struct bt_shards *shards);

/* Frees a plan's state, which may be NULL. */
void bt_topology_pick_destroy(struct bt_topology_pick *pick);

/* The same for a plan that continues without it. Requires: it has such a state. */
void bt_topology_pick_forget(struct bt_plan *plan);
