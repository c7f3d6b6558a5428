/* SPDX-License-Identifier: Apache-2.0
 * Counting evaluations of plugins.
 */
#include "engine/flow/cycle/plugin_runs.h"

/* Has the plugin that earlier point? A plugin without it cannot return Skip there, so it is always called. */
static bool is_at(const uint32_t *point, uint32_t n, uint32_t use)
{
	for (uint32_t i = 0; i < n; i++) {
		if (point[i] == use) {
			return true;
		}
	}
	return false;
}

static void note_pre_filter(struct bt_plugin_runs *runs, const struct bt_plan *plan)
{
	const struct bt_profile *profile = plan->profile;

	for (uint32_t i = 0; i < profile->pre_filter_n; i++) {
		uint32_t use = profile->pre_filter[i];
		bool refuses = plan->refusal && plan->refused_by == use;

		runs->n[BT_RUN_PRE_FILTER][use] += refuses || !plan->compiled[use].filter_skip;
		if (refuses) {
			return;
		}
	}
}

/* The number of an evaluation's nodes that a plugin refused. */
static uint32_t refused_by(const struct bt_evaluation *evaluation, uint32_t use)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		n += evaluation->refused_by[i] == use;
	}
	return n;
}

static void note_filter(struct bt_plugin_runs *runs, const struct bt_plan *plan,
	const struct bt_evaluation *evaluation, uint32_t node_n)
{
	const struct bt_profile *profile = plan->profile;

	for (uint32_t i = 0; i < profile->filter_n && node_n; i++) {
		uint32_t use = profile->filter[i];

		if (plan->compiled[use].filter_skip &&
			is_at(profile->pre_filter, profile->pre_filter_n, use)) {
			continue;
		}
		runs->n[BT_RUN_FILTER][use] += node_n;
		node_n -= evaluation ? refused_by(evaluation, use) : 0;
	}
}

static void note_score(struct bt_plugin_runs *runs, const struct bt_plan *plan, uint32_t node_n)
{
	const struct bt_profile *profile = plan->profile;

	for (uint32_t i = 0; i < profile->pre_score_n; i++) {
		uint32_t use = profile->pre_score[i];

		runs->n[BT_RUN_PRE_SCORE][use] += !plan->compiled[use].score_skip;
	}
	for (uint32_t i = 0; i < profile->score_n; i++) {
		uint32_t use = profile->score[i];

		if (!plan->compiled[use].score_skip ||
			!is_at(profile->pre_score, profile->pre_score_n, use)) {
			runs->n[BT_RUN_SCORE][use] += node_n;
		}
	}
}

void bt_plugin_runs_note(struct bt_plugin_runs *runs, const struct bt_plan *plan,
	const struct bt_evaluation *evaluation, uint32_t node_n, bool scored)
{
	uint32_t feasible_n = evaluation ? evaluation->feasible_n : node_n;

	note_pre_filter(runs, plan);
	if (plan->refusal || plan->pre_filter_error) {
		return;
	}
	note_filter(runs, plan, evaluation, evaluation ? evaluation->visited_n : node_n);
	/* A single feasible node is chosen without scoring. */
	if (scored && feasible_n > 1) {
		note_score(runs, plan, feasible_n);
	}
}
