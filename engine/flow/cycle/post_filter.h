/* SPDX-License-Identifier: Apache-2.0
 * PostFilter of a cycle: DynamicResources' and DefaultPreemption's, and when they run.
 * Owns: what preemption found, its notes, the deltas of frozen nodes (bt_engine_post_filter_fini). Writer:
 * post_filter.c. Thread: the scheduling thread. Functions that evaluate nodes or change the cache take the
 * engine.
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
 * Private. PostFilter of the cycle under way. Source: Evaluator.Preempt, v1.36.3: nodes and what is on them
 * are the snapshot's, which the cycle has taken when it began; the preemptor, budgets and nominations are
 * asked for anew. There is no snapshot of nodes here that outlives a change: once one of them, or what is
 * on it, is about to change they are frozen until PostFilter has run, when the cycle ends. What PreFilter
 * has read of claims, slices and volumes is settled before these change; what Filter reads itself is read
 * anew.
 */
struct bt_post_filter {
	bool due;			/* it has not run */
	bool ran;			/* preemption is its result */
	bool listed;			/* the nodes that preemption may help are */
	bool known;			/* what it says was known, and still is if things are as then */
	struct bt_state_of_things when; /* the cycle began */
	struct bt_cycle cycle;		/* that refused the pod */
	bt_plugin_set unschedulable_plugins;
	enum bt_preempt_outcome outcome, known_outcome;
	struct bt_claim_release release;
	struct bt_buf text;
	bool frozen;		      /* nodes, and what is on them */
	struct bt_node_delta *missed; /* by frozen nodes, in order; their old descriptions are kept */
	size_t missed_n, missed_cap;
	struct bt_preemption preemption;
	struct bt_preempt_notes notes[BT_NOTES_N]; /* the one for a kind of pods is found by a hash */
	struct bt_known_unresolvables known_kinds; /* pods that need not try to preempt */
	uint64_t dry_run_n, preemption_n;
	int64_t took_ns; /* since bt_post_filter_took */
};

/* What is about to change, by when upstream's PostFilter has read it: bits. */
enum bt_change {
	BT_CHANGE_READ_ANEW = 0,     /* it reads it itself */
	BT_CHANGE_OF_NODES = 1 << 0, /* the cycle's snapshot has it: a node, or the pods on one */
	/* PreFilter has read it, and plugins keep what it read (bt_plugin.state_changes): */
	BT_CHANGE_OF_DEVICES = 1 << 1,
	BT_CHANGE_OF_VOLUMES = 1 << 2
};

/* Has a pod been refused, and PostFilter not run since? */
static inline bool bt_post_filter_is_due(const struct bt_post_filter *post)
{
	return post->due;
}

void bt_engine_post_filter_fini(struct bt_engine *engine);

/* Signatures were retired; slots of nodes have changed. */
void bt_post_filter_forget_kinds(struct bt_post_filter *post);
void bt_post_filter_forget_slots(struct bt_post_filter *post);

/* What PostFilter has taken since the last call. */
int64_t bt_post_filter_took(struct bt_post_filter *post);

/* The state of things now. */
struct bt_state_of_things bt_engine_state(const struct bt_engine *engine);

/* A cycle begins: nothing is known of its PostFilter. */
void bt_engine_post_filter_begin(struct bt_engine *engine);

/* Takes in what a delta says of a node, at once or when nodes are frozen no more, and gives up the
 * description that it replaces. */
void bt_engine_adopt_node(struct bt_engine *engine, struct bt_delta *delta);

/* After a refusal: says who refused the pod. What PostFilter says is due from now on. */
void bt_engine_refuse(struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_decision *decision);

/*
 * Runs what the profile has at PostFilter, one plugin after the other; by notes when there are some, and then
 * without texts. Sets preemption->outcome, in out_release what DynamicResources does (which is not done yet),
 * and in text (if the request wants texts) what the plugins say together. Source: RunPostFilterPlugins,
 * v1.36.3.
 */
void bt_engine_post_filter(const struct bt_profile_runtime *runtime, const struct bt_preempt_request *request,
	struct bt_preemption *preemption, struct bt_claim_release *out_release, struct bt_buf *text);

/* What PodGroupPostFilter is to know of a member of a group. */
struct bt_group_notes {
	bt_plugin_set met; /* a bit for each plugin at that point whose PreFilter was asked */
	struct bt_claim_release release;
};

/* Notes it of a member that was just decided; met is of all. plan: NULL, no node was there. */
void bt_engine_note_for_group(struct bt_engine *engine, const struct bt_profile_runtime *runtime,
	const struct bt_plan *plan, bool refused, struct bt_group_notes *notes);

/* Carries out what DynamicResources has decided at PostFilter: it takes an allocation back that keeps the pod
 * from being placed. Returns false when the claim has gone since then. */
bool bt_engine_release_claim(
	struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix);

/* What bt_engine_before_change does when PostFilter is due. */
void bt_engine_post_filter_before(struct bt_engine *engine, uint32_t changes);

/* The extenders that have a say in whom the pod preempts, or NULL. */
struct bt_extender_calls *bt_engine_extend_for(const struct bt_engine *engine, uint32_t pod_ix);

/* Adds what preemption has done to what the engine counts. */
void bt_post_filter_count(const struct bt_post_filter *post, struct bt_engine_counts *counts);
