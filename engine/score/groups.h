/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the groups of a plan: nodes with the same answers to all that depends on their description.
 * Private to plans. Context: the scheduling thread, which owns the usage.
 */
#pragma once

#include "cache/node_view.h"
#include "engine/score/plan.h"

/* Does a use filter, or score, by what depends on this? */
static inline bool bt_plan_filters_by(const struct bt_plan *plan, uint32_t u, enum bt_dependence dependence)
{
	const struct bt_plugin_use *use = &plan->profile->uses[u];

	return use->filter && use->plugin->filter && !plan->compiled[u].filter_skip &&
	       use->plugin->filter_depends == dependence;
}

static inline bool bt_plan_scores_by(const struct bt_plan *plan, uint32_t u, enum bt_dependence dependence)
{
	const struct bt_plugin_use *use = &plan->profile->uses[u];

	return use->score && use->plugin->score && !plan->compiled[u].score_skip && use->weight != 0 &&
	       use->plugin->score_depends == dependence;
}

/* Lists the uses whose scores depend on descriptions and are normalised. */
void bt_groups_list_normalized(struct bt_plan *plan);

/* Allocates the masks of the plan's groups, of all of them, and of the top ones, zeroed. */
void bt_groups_lay_out_masks(struct bt_plan *plan);

/* The masks of all groups and of the top ones are about to change, or to be freed: other masks may get their
 * addresses. */
static inline void bt_groups_change_masks(const struct bt_plan *plan)
{
	bt_column_change_mask(plan->usage, plan->any);
	bt_column_change_mask(plan->usage, plan->top);
}

/* Sets uniform and steady: in which raw scores the groups agree. */
void bt_groups_find_uniform(struct bt_plan *plan);

/* Puts every node into its group. group: scratch by node slot, zero behind the last one, padded for the scan.
 * Returns: false: the numbers do not fit the columns. */
bool bt_groups_make(struct bt_plan *plan, const struct bt_view *view, uint16_t *group);

/* The group of a node; 0: none. */
uint32_t bt_groups_of(const struct bt_plan *plan, uint32_t node_ix);

/*
 * A node has changed, come or gone, or its slot was added or taken back: moves it to its group, created if
 * necessary. The maxima are found again where that may move them.
 * Requires: columns; the plan neither yields nor has plans that do; the usage's journal names the node if
 * it was live before or is now, or only its score has changed, and the caller forgets the
 * best totals of blocks.
 * Returns : false: the plan must be rebuilt.
 */
bool bt_groups_redescribe(struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix);
