/* SPDX-License-Identifier: Apache-2.0
 * A node for a pod: by columns where they can tell, else by asking nodes one by one. Both give the same.
 * Source: schedulePod, findNodesThatFitPod, v1.36.3.
 * Owns: the evaluation of the cycle under way (bt_schedule_pod_fini). Writer: schedule_pod.c. Thread: the
 * scheduling thread. Functions that change what others see of the cycle take the engine.
 */
#pragma once

#include "engine/flow/cycle/cycle.h"
#include "engine/flow/cycle/engine.h"
#include "engine/score/evaluate.h"

/* Private. */
struct bt_schedule_pod {
	struct bt_evaluation evaluation;
	bool evaluated;	    /* in this cycle: the evaluation is the cycle's */
	bool counts_nodes;  /* bt_engine_count_nodes */
	bool has_extenders; /* init: */
	uint64_t by_columns_n, by_evaluation_n;
};

/* extenders: there are some. */
void bt_schedule_pod_init(struct bt_schedule_pod *schedule, bool extenders);
void bt_schedule_pod_fini(struct bt_schedule_pod *schedule);

/* Slots of nodes have changed: what is known of nodes is given up. */
void bt_schedule_pod_forget(struct bt_schedule_pod *schedule);

/* The evaluation of the cycle under way, if there is one; else NULL. */
static inline const struct bt_evaluation *bt_schedule_pod_evaluated(const struct bt_schedule_pod *schedule)
{
	return schedule->evaluated ? &schedule->evaluation : NULL;
}

/* What nodes have said that were asked in this cycle, be it one. */
static inline const struct bt_evaluation *bt_schedule_pod_evaluation(const struct bt_schedule_pod *schedule)
{
	return &schedule->evaluation;
}

/* The node for a pod, or BT_NO_NODE with the outcome that says why not. Requires: cycle->plan. */
uint32_t bt_engine_schedule_pod(
	struct bt_engine *engine, const struct bt_cycle *cycle, enum bt_outcome *out_outcome);

/* Asks every node, unless that was done in this cycle or PreFilter has refused the pod. */
void bt_engine_evaluate_once(struct bt_engine *engine, const struct bt_cycle *cycle);

/* Things have changed since the cycle began: nominations are those of now. */
void bt_engine_nominations_again(struct bt_engine *engine, const struct bt_cycle *cycle);

/* A pod's plugins are about to be asked. Returns the nominations that matter for it, or NULL. */
const struct bt_yields_to *bt_engine_nominations_of(struct bt_engine *engine, const struct bt_cycle *cycle);

/* Asks every node that PreFilter has left; and also_ix (or BT_NO_NODE), which has refused the pod already,
 * because what it says counts wherever it is. */
void bt_engine_evaluate_all(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t also_ix, struct bt_evaluation *out);

/* The live node that the pod's status names and that has just refused it, as the evaluation says, or
 * BT_NO_NODE. */
uint32_t bt_engine_refused_nomination(
	const struct bt_engine *engine, const struct bt_cycle *cycle, const struct bt_evaluation *evaluation);

/* Looks at the nominated node alone. Returns whether it fits. Source: evaluateNominatedNode, v1.36.3. */
bool bt_engine_evaluate_nominated(
	struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_evaluation *out);

/* A node for a pod as things are, without a cycle: nothing is counted, and PostFilter is not due. Sets
 * out_plan; else as bt_engine_schedule_pod. */
uint32_t bt_engine_try_pod(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_plan **out_plan, enum bt_outcome *out_outcome);

/* The uses whose filters the plan skips, as bits. */
bt_plugin_set bt_engine_skipped(const struct bt_plan *plan);

/* Would the pod's filters let it on the node, but for those that were skipped (bits) when the pod was tried?
 * Extenders are not asked. */
bool bt_engine_fits_on(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix, bt_plugin_set skipped,
	struct bt_plan **out_plan);

/* Adds what decisions were made by to what the engine counts. */
void bt_schedule_pod_count(const struct bt_schedule_pod *schedule, struct bt_engine_counts *counts);
