/* SPDX-License-Identifier: Apache-2.0
 * PostFilter of a cycle: that of DynamicResources and DefaultPreemption, and when it runs.
 * Owns: the result of preemption, its notes, the deltas of frozen nodes (bt_engine_post_filter_fini). Writer:
 *       post_filter.c. Thread: the scheduling thread. Functions that evaluate nodes or change the cache take
 *       the engine.
 */
#pragma once

#include "cache/delta.h"
#include "engine/flow/cycle/cycle.h"
#include "engine/flow/cycle/known_unresolvable.h"
#include "engine/flow/cycle/preempt.h"
#include "engine/flow/cycle/profile_runtime.h"

struct bt_engine;
struct bt_engine_counts;
struct bt_decision;

#define BT_NOTES_N 16

/*
 * Private. PostFilter of the present cycle. Source: Evaluator.Preempt, v1.36.3: nodes and their pods are
 * those of the snapshot that the cycle took at its start; the preemptor, budgets and nominations are read at
 * PostFilter. Snapshots here do not survive a change: before a node or its pods change, they are frozen until
 * PostFilter has run at the end of the cycle. Before claims, slices and volumes change, plugins save what
 * their PreFilter has read of them; state that Filter looks up itself is that of PostFilter's time.
 */
struct bt_post_filter {
	bool due;    /* it has not run */
	bool ran;    /* preemption is its result */
	bool listed; /* the nodes that preemption may help are listed */
	bool known;  /* its result was known at the start, and still is if the state is unchanged */
	struct bt_engine_versions when; /* as of the cycle's start */
	struct bt_cycle cycle;		/* the cycle that refused the pod */
	bt_plugin_set unschedulable_plugins;
	enum bt_preempt_outcome outcome, known_outcome;
	struct bt_claim_release release;
	struct bt_buf text;
	bool frozen;		      /* nodes and their pods are frozen */
	struct bt_node_delta *missed; /* updates of frozen nodes, in order, with the old descriptions */
	size_t missed_n, missed_cap;
	struct bt_preemption preemption;
	struct bt_preempt_notes notes[BT_NOTES_N]; /* by hash of the kind of pods */
	struct bt_known_unresolvables known_kinds; /* kinds that need no preemption attempt */
	uint64_t dry_run_n, preemption_n;
	int64_t took_ns; /* since the last bt_post_filter_took */
};

/* What is about to change, by the time at which upstream's PostFilter reads it: bits. */
enum bt_change {
	BT_CHANGE_READ_ANEW = 0,     /* PostFilter reads it */
	BT_CHANGE_OF_NODES = 1 << 0, /* part of the cycle's snapshot: a node, or its pods */
	/* PreFilter has read it, and plugins save it (bt_plugin.state_changes): */
	BT_CHANGE_OF_DEVICES = 1 << 1,
	BT_CHANGE_OF_VOLUMES = 1 << 2
};

/* Has a pod been refused, and PostFilter not run yet? */
static inline bool bt_post_filter_is_due(const struct bt_post_filter *post)
{
	return post->due;
}

void bt_engine_post_filter_fini(struct bt_engine *engine);

/* Invalidate cached results after signatures were retired, or node slots have changed. */
void bt_post_filter_forget_kinds(struct bt_post_filter *post);
void bt_post_filter_forget_slots(struct bt_post_filter *post);

/* PostFilter's duration since the last call. */
int64_t bt_post_filter_took(struct bt_post_filter *post);

/* The present versions of the cluster state. */
struct bt_engine_versions bt_engine_state(const struct bt_engine *engine);

/* Resets PostFilter's state for a new cycle. */
void bt_engine_post_filter_begin(struct bt_engine *engine);

/* Applies a node's delta, at once or when nodes are no longer frozen, and drops the description that it
 * replaces. */
void bt_engine_adopt_node(struct bt_engine *engine, struct bt_delta *delta);

/* Records the plugins that refused the pod. PostFilter is due from now on. */
void bt_engine_refuse(struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_decision *decision);

/*
 * Runs the profile's PostFilter plugins in order; by notes if there are some, and then without texts. Sets
 * preemption->outcome, out_release to the action of DynamicResources (which is not carried out yet), and text
 * (if the request needs texts) to the plugins' joined text. Source: RunPostFilterPlugins, v1.36.3.
 */
void bt_engine_post_filter(const struct bt_profile_runtime *runtime, const struct bt_preempt_request *request,
	struct bt_preemption *preemption, struct bt_claim_release *out_release, struct bt_buf *text);

/*
 * Finds the victims of a pod that bt_engine_try_pod has just refused: counts nothing, and carries nothing
 * out. preemption: the result, if BT_PREEMPT_FOUND is returned.
 */
enum bt_preempt_outcome bt_engine_try_post_filter(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_preemption *preemption);

/* PodGroupPostFilter's input from the members of a group. */
struct bt_group_notes {
	bt_plugin_set met;  /* a bit for each plugin at that point whose PreFilter has run */
	bool post_filtered; /* PostFilter of one of them has run for the member */
	struct bt_claim_release release, group_release;
};

/* Adds a member that was just decided; met accumulates. plan: NULL if there was no node. */
void bt_engine_note_for_group(struct bt_engine *engine, const struct bt_profile_runtime *runtime,
	const struct bt_plan *plan, struct bt_group_notes *notes);

/* Carries out DynamicResources' PostFilter: releases an allocation that makes the pod unschedulable. Returns:
 * false when the claim was deleted since then. */
bool bt_engine_release_claim(
	struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix);

/* The part of bt_engine_before_change for a PostFilter that is due. */
void bt_engine_post_filter_before(struct bt_engine *engine, uint32_t changes);

/* The extenders that take part in the pod's preemption, or NULL. */
struct bt_extender_calls *bt_engine_extend_for(const struct bt_engine *engine, uint32_t pod_ix);

/* Adds preemption's counts to the engine's. */
void bt_post_filter_count(const struct bt_post_filter *post, struct bt_engine_counts *counts);
