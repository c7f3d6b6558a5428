/* SPDX-License-Identifier: Apache-2.0
 * The engine's insides, shared by the files that make it up. Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/engine.h"
#include "engine/flow/profile.h"
#include "engine/score/counted.h"

#define BT_NOTES_N 16

/* A profile at work. */
struct bt_lane {
	struct bt_flow_profile profile;
	struct bt_planner *planner;
};

/* What preemption depends on, besides the pod. */
struct bt_state_of_things {
	uint64_t journal_end, snapshot, changes, budgets, counting, storage, devices;
};

/* Preemption helped no pod of that kind in that state. */
struct bt_hopeless {
	struct bt_state_of_things when;
};

struct bt_engine {
	struct bt_engine_options options;
	struct bt_arena arena; /* profiles' settings */
	struct bt_cache *cache;
	struct bt_queue *queue;
	struct bt_lane *lanes; /* one per profile */
	uint32_t lane_n;
	uint32_t *live; /* live nodes, ascending, for live_version of the snapshot */
	uint32_t live_n;
	uint64_t live_version;
	uint32_t next_start; /* where sampling goes on, among nodes in upstream's order */
	uint64_t cycle_n;
	struct bt_evaluation evaluation;
	bool evaluated; /* in this cycle: the evaluation is the cycle's */
	struct bt_promises promises;
	uint32_t promises_for; /* the pod whose cycle it is */
	struct bt_extend *extend;
	struct bt_preemption preemption;
	struct bt_preempt_notes notes[BT_NOTES_N]; /* the one for a kind of pods is found by a hash */
	struct bt_hopeless *hopeless; /* pods that need not try to preempt, by signature and priority */
	size_t hopeless_n, hopeless_cap;
	uint32_t *unpromised; /* of the last decision */
	size_t unpromised_cap;
	struct bt_map hopeless_ixs;
	struct bt_engine_counts counts;
};

/* The profile that pods of that schedulerName ask for, or NULL. */
struct bt_lane *bt_engine_lane_of(const struct bt_engine *engine, uint32_t scheduler_name);
struct bt_lane *bt_engine_lane_of_pod(const struct bt_engine *engine, uint32_t pod_ix);

/* Brings engine->live up to the snapshot. */
void bt_engine_list_live(struct bt_engine *engine);

/* Begins a pod's cycle. Returns the promises that matter in it, or NULL. */
const struct bt_promises *bt_engine_promises_of(struct bt_engine *engine, uint32_t pod_ix);

/* Asks every node that PreFilter has left. */
void bt_engine_evaluate_all(struct bt_engine *engine, const struct bt_plan *plan, struct bt_evaluation *out);

/* Looks at the node alone that the pod was promised. Returns whether it fits. Source: evaluateNominatedNode,
 * v1.36.3. */
bool bt_engine_evaluate_promised(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t pod_ix, struct bt_evaluation *out);

/* The extenders that have a say in whom the pod preempts, or NULL. */
struct bt_extend *bt_engine_extend_for(const struct bt_engine *engine, uint32_t pod_ix);

/*
 * Runs what the profile has at PostFilter; by notes when there are some, and then without texts. Sets
 * preemption->outcome, and in text (if the request wants texts) what the plugins say together. Source:
 * RunPostFilterPlugins, v1.36.3.
 */
void bt_engine_post_filter(const struct bt_lane *lane, const struct bt_preempt_request *request,
	struct bt_preempt_notes *notes, struct bt_preemption *preemption, struct bt_buf *text);

/* PostFilter of DynamicResources takes an allocation back that keeps the pod from being placed, if it may.
 * Returns whether it did. */
bool bt_engine_release_claims(
	struct bt_engine *engine, const struct bt_lane *lane, const struct bt_plan *plan);

/* After a refusal or failure: preempts if that helps, and settles what becomes of the pod's promise. plan is
 * NULL without nodes. */
void bt_engine_preempt(struct bt_engine *engine, const struct bt_lane *lane, const struct bt_plan *plan,
	struct bt_decision *decision);
