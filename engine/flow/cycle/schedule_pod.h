/* SPDX-License-Identifier: Apache-2.0
 * Finds a node for a pod: by columns where they suffice, otherwise by evaluating nodes one by one. Both give
 * the same result.
 * Source: schedulePod, findNodesThatFitPod, v1.36.3.
 * Owns: the evaluation of the present cycle (bt_schedule_pod_fini). Writer: schedule_pod.c. Thread: the
 *       scheduling thread. Functions that change shared state of the cycle take the engine.
 */
#pragma once

#include "engine/flow/cycle/cycle.h"
#include "engine/flow/cycle/engine.h"
#include "engine/score/evaluate.h"

/* Private. */
struct bt_schedule_pod {
	struct bt_evaluation evaluation;
	bool evaluated;	    /* evaluation is the present cycle's */
	bool counts_nodes;  /* bt_engine_count_nodes */
	bool has_extenders; /* init: */
	uint64_t by_columns_n, by_evaluation_n;
};

/* extenders: the configuration has some. */
void bt_schedule_pod_init(struct bt_schedule_pod *schedule, bool extenders);
void bt_schedule_pod_fini(struct bt_schedule_pod *schedule);

/* Drops cached state by node slot: slots have changed. */
void bt_schedule_pod_forget(struct bt_schedule_pod *schedule);

/* The evaluation of the present cycle, or NULL. */
static inline const struct bt_evaluation *bt_schedule_pod_evaluated(const struct bt_schedule_pod *schedule)
{
	return schedule->evaluated ? &schedule->evaluation : NULL;
}

/* The results of the nodes that this cycle has evaluated, even if only one. */
static inline const struct bt_evaluation *bt_schedule_pod_evaluation(const struct bt_schedule_pod *schedule)
{
	return &schedule->evaluation;
}

/* Returns: the node for a pod, or BT_NO_NODE with the outcome. Requires: cycle->plan. */
uint32_t bt_engine_schedule_pod(
	struct bt_engine *engine, const struct bt_cycle *cycle, enum bt_outcome *out_outcome);

/* Evaluates every node, unless this cycle has done so or PreFilter has refused the pod. */
void bt_engine_evaluate_once(struct bt_engine *engine, const struct bt_cycle *cycle);

/* Updates the nominations of the evaluation: the state has changed since the cycle began. */
void bt_engine_nominations_again(struct bt_engine *engine, const struct bt_cycle *cycle);

/* Prepares to evaluate a pod. Returns: the nominations that it must fit with, or NULL. */
const struct bt_nominations_ahead *bt_engine_nominations_of(
	struct bt_engine *engine, const struct bt_cycle *cycle);

/* Evaluates every node that PreFilter has left; and also_ix (or BT_NO_NODE), which has refused the pod
 * already and whose reason counts even outside them. */
void bt_engine_evaluate_all(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t also_ix, struct bt_evaluation *out);

/* The live node that the pod's status nominates if it has just refused the pod in the evaluation, or
 * BT_NO_NODE. */
uint32_t bt_engine_refused_nomination(
	const struct bt_engine *engine, const struct bt_cycle *cycle, const struct bt_evaluation *evaluation);

/* Evaluates the nominated node alone. Returns: whether it fits. Source: evaluateNominatedNode, v1.36.3. */
bool bt_engine_evaluate_nominated(
	struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_evaluation *out);

/* Finds a node for a pod in the present state, outside a cycle: counts nothing, and makes no PostFilter due.
 * Sets out_plan; otherwise as bt_engine_schedule_pod. */
uint32_t bt_engine_try_pod(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_plan **out_plan, enum bt_outcome *out_outcome);

/* The uses whose filters the plan skips, as bits. */
bt_plugin_set bt_engine_skipped(const struct bt_plan *plan);

/* Do the pod's filters accept the node, except for those that were skipped (bits) when the pod was tried?
 * Does not call extenders. */
bool bt_engine_fits_on(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix, bt_plugin_set skipped,
	struct bt_plan **out_plan);

/* Adds counts of decisions by method to the engine's; and sets them as they were then. */
void bt_schedule_pod_count(const struct bt_schedule_pod *schedule, struct bt_engine_counts *counts);
void bt_schedule_pod_set_counts(struct bt_schedule_pod *schedule, const struct bt_engine_counts *counts);
