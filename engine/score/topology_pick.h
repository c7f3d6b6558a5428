/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the best node for a pod about which plugins that depend on counters have a say: by columns for
 * what the other plugins say, by classes of nodes for these.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/score/plan.h"

/*
 * As bt_plan_pick, after bt_prepare has said that plugins have a say. Returns false when bt_evaluate must
 * decide.
 */
bool bt_topology_pick_pick(
	struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix);

/* Puts the pages of what a plan keeps for it by node slot beside the workers of these, unless they are. */
void bt_topology_pick_place(struct bt_topology_pick *counted, const struct bt_shards *shards);

/* Frees what a plan keeps for it; NULL: nothing. */
void bt_topology_pick_destroy(struct bt_topology_pick *counted);

/* The same for a plan that stays, or whose planner does. Requires: it keeps something. */
void bt_topology_pick_forget(struct bt_plan *plan);
