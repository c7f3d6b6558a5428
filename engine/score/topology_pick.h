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

/* Places the pages of its arrays by node slot near their shards' workers, unless they are. */
void bt_topology_pick_place(struct bt_topology_pick *counted, const struct bt_shards *shards);

/* Frees a plan's state; NULL: nothing. */
void bt_topology_pick_destroy(struct bt_topology_pick *counted);

/* The same for a plan that stays, or whose planner does. Requires: it has such a state. */
void bt_topology_pick_forget(struct bt_plan *plan);
