/* SPDX-License-Identifier: Apache-2.0
 * Counts of plugin calls, as in kube-scheduler: PreFilter and PreScore once per cycle unless they return
 * Skip, Filter and Score once per node. Columns decide without calling each plugin for each node, so where
 * they decide all nodes count for all plugins, even those that an earlier plugin refuses. For people, never
 * an input of a decision. Source: framework/runtime/instrumented_plugins.go, v1.36.3.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/score/evaluate.h"

enum bt_run_point { BT_RUN_PRE_FILTER = 0, BT_RUN_FILTER, BT_RUN_PRE_SCORE, BT_RUN_SCORE, BT_RUN_POINT_N };

struct bt_plugin_runs {
	uint64_t n[BT_RUN_POINT_N][BT_PROFILE_USES]; /* by use of the profile */
};

/* Counts a cycle that has examined nodes. evaluation: the one that decided; NULL: columns, of node_n nodes.
 * scored: a node was chosen. */
void bt_plugin_runs_note(struct bt_plugin_runs *runs, const struct bt_plan *plan,
	const struct bt_evaluation *evaluation, uint32_t node_n, bool scored);
