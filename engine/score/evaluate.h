/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the full answer, node by node and plugin by plugin: who refuses which node and why, who scores it
 * how. What verdicts and explanations show, and what decides where columns cannot. Context: the scheduling
 * thread; allocates in the evaluation's own buffers, which are kept between calls.
 */
#pragma once

#include "engine/score/plan.h"

/* One evaluation's result. All zeroes is an empty one. Owns: bt_evaluation_fini. */
struct bt_evaluation {
	/* The nodes that were filtered, in that order, and which use refused each: BT_PASSED when none did.
	 */
	uint32_t *visited;
	uint32_t *refused_by;
	uint32_t visited_n;
	/* The feasible ones, in that order, with their scores. */
	uint32_t *feasible;
	uint32_t feasible_n;
	int64_t *scores; /* scores[k * feasible_n + i]: normalised and weighted, k-th of profile->score, i-th
			    feasible node */
	int64_t *totals;
	const char *error; /* the cycle failed: upstream's text; else NULL */
	struct bt_buf text;
	size_t visited_cap, feasible_cap, score_cap;
};

#define BT_PASSED UINT32_MAX

void bt_evaluation_fini(struct bt_evaluation *evaluation);

/*
 * Asks the plugins that depend on counters about a cycle that begins now.
 * Returns: whether none of them has anything to say in it; then bt_plan_pick may decide.
 */
bool bt_prepare(struct bt_plan *plan, const struct bt_view *view);

/*
 * Filters nodes in the given order until limit feasible ones are found beyond which one more would be
 * (upstream's sampling; UINT32_MAX: all nodes), then scores the feasible ones. Requires: no refusal and no
 * error of PreFilter in the plan; nodes are live; bt_prepare was called since the last write.
 */
void bt_evaluate(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *out);

/* The place in feasible of the best node: among equals the first node slot at or after start, cyclically. */
uint32_t bt_evaluation_best(const struct bt_evaluation *evaluation, uint32_t start);
