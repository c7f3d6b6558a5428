/* SPDX-License-Identifier: Apache-2.0
 * The engine's insides, shared by the files that make it up. Context: the scheduling thread.
 */
#pragma once

#include "engine/base/rng.h"
#include "engine/flow/cycle/batch.h"
#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/hints.h"
#include "engine/flow/cycle/kept_events.h"
#include "engine/flow/cycle/node_list.h"
#include "engine/flow/cycle/nominated_pods.h"
#include "engine/flow/cycle/pod_groups.h"
#include "engine/flow/cycle/prefetch.h"
#include "engine/flow/cycle/profile_runtime.h"
#include "engine/flow/cycle/reclaim.h"
#include "engine/flow/cycle/reserve.h"
#include "engine/flow/cycle/scheduling_clock.h"
#include "engine/flow/config/profile.h"
#include "engine/score/topology_pick.h"

#define BT_NOTES_N 16

/* The pod whose preemption is being carried out. */
struct bt_preempting {
	bool on;
	uint32_t pod_ix;
	uint32_t last_ix, last_uid; /* the last victim, once its turn has come; else BT_NO_POD */
	bool failed;		    /* a victim cannot be deleted */
};

/* A victim that has to be deleted. One that goes before that is kept, detached, until it is over. */
struct bt_leaving {
	uint32_t pod_ix, uid;
	bool gone, ended; /* it has; because it has ended, and so its object is still there */
	bool in_hand;	  /* it is gone, and the answer about its binding is still to come */
};

/* What a refusal, its text, and PostFilter depend on besides the pod: usage, nodes, nominations and pods that
 * begin to be deleted, budgets, counters with namespaces, volumes, devices, and the members of a group that
 * are in flight. */
struct bt_state_of_things {
	uint64_t journal_end, snapshot, changes, budgets, counting, storage, devices;
	uint64_t group_cycle; /* 0: none is on */
};

/*
 * What refused pods of a kind in that state, and preemption helped none of them.
 * Key: bt_queue_kind_key (signature, which names the profile; priority; preemptionPolicy). Only of pods that
 * bt_engine_stands_alone is false of. Ends: with any change of the state, with the retirement of signatures,
 * and when there are HOPELESS_MAX of them.
 */
struct bt_known_unresolvable {
	struct bt_state_of_things when;
	uint32_t unschedulable_plugins;
	enum bt_preempt_outcome preempt;
};

/*
 * PostFilter of the cycle under way. Source: Evaluator.Preempt, v1.36.3: nodes and what is on them are the
 * snapshot's, which the cycle has taken when it began; the preemptor, budgets and nominations are asked for
 * anew. There is no snapshot of nodes here that outlives a change: once one of them, or what is on it, is
 * about to change they are frozen until PostFilter has run, when the cycle ends. It runs before that if
 * something else changes that PreFilter has read (bt_engine_before_change).
 */
struct bt_post_filter_run {
	bool due;			/* it has not run */
	bool ran;			/* engine->preemption is its result */
	bool listed;			/* the nodes that preemption may help are */
	bool known;			/* what it says was known, and still is if things are as then */
	struct bt_state_of_things when; /* the cycle began */
	const struct bt_profile_runtime *runtime;
	struct bt_plan *plan;
	uint32_t pod_ix, unschedulable_plugins;
	enum bt_preempt_outcome outcome, known_outcome;
	struct bt_claim_release release;
	struct bt_buf text;
	bool frozen;		      /* nodes, and what is on them */
	struct bt_node_delta *missed; /* by frozen nodes, in order; their old descriptions are kept */
	size_t missed_n, missed_cap;
};

struct bt_engine {
	struct bt_engine_options options;
	struct bt_cache *cache;
	struct bt_queue *queue;
	struct bt_profile_runtimes runtimes;
	struct bt_node_list nodes;
	struct bt_reclaim reclaim;
	uint64_t cycle_n;
	struct bt_evaluation evaluation;
	bool evaluated;	   /* in this cycle: the evaluation is the cycle's */
	bool counts_nodes; /* bt_engine_count_nodes */
	struct bt_nominated_pods nominated;
	struct bt_extender_calls *extend;
	bool extended; /* there are extenders */
	struct bt_preemption preemption;
	struct bt_post_filter_run post;
	struct bt_preempt_notes notes[BT_NOTES_N];  /* the one for a kind of pods is found by a hash */
	struct bt_known_unresolvable *unresolvable; /* pods that need not try to preempt, by kind */
	size_t unresolvable_n, unresolvable_cap;
	uint32_t *cleared_nominations; /* of the last decision */
	size_t cleared_nominations_cap;
	struct bt_map unresolvable_ixs;
	struct bt_preempting preempting;
	struct bt_leaving *leaving;
	size_t leaving_n, leaving_cap;
	struct bt_pod_groups groups;
	struct bt_group_cycle group_cycle;
	bool gangs; /* gate GangScheduling */
	struct bt_kept_events kept_events;
	struct bt_scheduling_clock clock;
	bool async_preemption; /* gate SchedulerAsyncPreemption */
	struct bt_engine_counts counts;
	struct bt_cycle_metrics *measures; /* NULL: durations are not recorded */
	int64_t took_ns;		   /* what the last decision took, where that is measured */
	int64_t post_filter_ns;		   /* what PostFilter took of it */
	struct bt_reserved reserved;
	struct bt_batch batch;
	struct bt_prefetch prefetch;
};

/* The profile that the pod asks for, or NULL. */
static inline struct bt_profile_runtime *bt_engine_runtime_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_profile_runtimes_find(
		&engine->runtimes, bt_ledger_pod(engine->cache->ledger, pod_ix)->signature->scheduler_name);
}

/* The state of things now. */
struct bt_state_of_things bt_engine_state(const struct bt_engine *engine);

/* Does the pod's verdict hold for it alone, and not for others of its kind? It has gone, has a nomination,
 * extenders have a say, or claims, which know their owners and for whom they are reserved, and time out. */
bool bt_engine_stands_alone(const struct bt_engine *engine, uint32_t pod_ix);

/* What the pod has that may concern plugins where no node is judged: enum bt_trait bits. */
uint32_t bt_engine_traits(const struct bt_engine *engine, uint32_t pod_ix);

/* The pod as plugins see it where no node is judged. group: where its PodGroup's state goes. */
struct bt_pod_env bt_engine_pod_env(
	const struct bt_engine *engine, uint32_t pod_ix, struct bt_group_state *group);

/* Does a plugin at PreEnqueue keep the pod out? Then it appends why, unless out_why is NULL. env: of the pod.
 */
bool bt_engine_hook_gates(const struct bt_hook *hook, struct bt_pod_env *env, struct bt_buf *out_why);

static inline struct bt_queue_kind bt_engine_kind_of(const struct bt_pod *pod)
{
	return (struct bt_queue_kind){
		pod->signature->ix, pod->priority, .never_preempts = pod->never_preempts};
}

/* Begins a pod's cycle. Returns the promises that matter in it, or NULL. */
const struct bt_yields_to *bt_engine_nominations_of(struct bt_engine *engine, uint32_t pod_ix);

/* Asks every node that PreFilter has left; and also_ix (or BT_NO_NODE), which has refused the pod already,
 * because what it says counts wherever it is. */
void bt_engine_evaluate_all(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t also_ix, struct bt_evaluation *out);

/* The live node that the pod's status names and that has just refused it, as the evaluation says, or
 * BT_NO_NODE. */
uint32_t bt_engine_refused_nomination(
	const struct bt_engine *engine, uint32_t pod_ix, const struct bt_evaluation *evaluation);

/* Looks at the node alone that the pod was promised. Returns whether it fits. Source: evaluateNominatedNode,
 * v1.36.3. */
bool bt_engine_evaluate_nominated(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t pod_ix, struct bt_evaluation *out);

/* The extenders that have a say in whom the pod preempts, or NULL. */
struct bt_extender_calls *bt_engine_extend_for(const struct bt_engine *engine, uint32_t pod_ix);

/*
 * Runs what the profile has at PostFilter, one plugin after the other; by notes when there are some, and then
 * without texts. Sets preemption->outcome, in out_release what DynamicResources does (which is not done yet),
 * and in text (if the request wants texts) what the plugins say together. Source: RunPostFilterPlugins,
 * v1.36.3.
 */
void bt_engine_post_filter(const struct bt_profile_runtime *runtime, const struct bt_preempt_request *request,
	struct bt_preemption *preemption, struct bt_claim_release *out_release, struct bt_buf *text);

/* Carries out what DynamicResources has decided at PostFilter: it takes an allocation back that keeps the pod
 * from being placed. Returns false when the claim has gone since then. */
bool bt_engine_release_claim(
	struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix);

/* A cycle begins: nothing is known of its PostFilter. */
void bt_engine_post_filter_begin(struct bt_engine *engine);

/* What changes, by when upstream's PostFilter has read it. */
enum bt_change {
	BT_CHANGE_READ_ANEW,   /* it reads it itself */
	BT_CHANGE_OF_NODES,    /* the cycle's snapshot has it: a node, or the pods on one */
	BT_CHANGE_PRE_FILTERED /* PreFilter has read it, or the ledger cannot freeze it */
};

/* What bt_engine_before_change does when PostFilter is due. */
void bt_engine_post_filter_before(struct bt_engine *engine, enum bt_change change);

static inline void bt_engine_before_change(struct bt_engine *engine, enum bt_change change)
{
	if (BT_UNLIKELY(engine->post.due)) {
		bt_engine_post_filter_before(engine, change);
	}
}

/* Takes in what a delta says of a node, at once or when nodes are frozen no more, and gives up the
 * description that it replaces. */
void bt_engine_adopt_node(struct bt_engine *engine, struct bt_delta *delta);

/* PostFilter has run, or there is none: frozen nodes catch up. */
void bt_engine_thaw(struct bt_engine *engine);

/* The pod as one that has to be deleted for the one whose cycle it is, or NULL. Valid until the next call. */
struct bt_leaving *bt_engine_leaving(struct bt_engine *engine, uint32_t pod_ix);

/* Nobody has to be deleted any more: victims that have gone since they were chosen are let go. */
void bt_engine_let_leaving_go(struct bt_engine *engine);

/* After a refusal: says who refused the pod. What PostFilter says is due from now on. */
void bt_engine_refuse(struct bt_engine *engine, const struct bt_profile_runtime *runtime,
	struct bt_plan *plan, struct bt_decision *decision);

/* The binder gets an assumed pod. Returns: false when PreBind fails before that; then the pod waits again. */
bool bt_engine_bind(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);

/* A pod that was not placed waits again, or is gone. */
void bt_engine_set_aside(struct bt_engine *engine, const struct bt_decision *decision);

/* What becomes of a pod's promise after its cycle. */
void bt_engine_settle_nomination(struct bt_engine *engine, const struct bt_decision *decision);

/* From now on PreEnqueue keeps the pod out, if there are victims to evict. Returns whether there are. */
bool bt_engine_preempting_begin(struct bt_engine *engine, const struct bt_decision *decision);

/*
 * Carries out the preemption that was begun: takes back the promises of pods of lower priority, then has the
 * victims evicted, the last one last. Source: prepareCandidateAsync, v1.36.3.
 */
void bt_engine_carry_out(struct bt_engine *engine, struct bt_decision *decision);

/* ---- requeue.c ---- */

/* What the queue asks. */
struct bt_queue_hooks bt_engine_hooks(struct bt_engine *engine);

/* A name; empty for BT_NAME_NONE. */
struct bt_str bt_engine_name(const struct bt_engine *engine, uint32_t name);

/* Might anybody want to know of events now? */
bool bt_engine_listens(const struct bt_engine *engine);

/* A pod as events show it. */
struct bt_cluster_event_pod bt_engine_event_pod(const struct bt_engine *engine, uint32_t pod_ix);

/* Something happened: lets back whom it may help. own_ix: the pod that it happened to, or BT_NO_POD. */
void bt_engine_wake(struct bt_engine *engine, const struct bt_cluster_event *event, int32_t max_priority,
	uint32_t own_ix);

/* A pod came to a node, or left it (as it was then). */
void bt_engine_wake_for_pod(
	struct bt_engine *engine, uint32_t action, const struct bt_cluster_event_pod *pod);

/* The scheduler has changed a ResourceClaim; changes: enum bt_object_change bits. */
void bt_engine_wake_for_claim(struct bt_engine *engine, uint32_t claim_ix, uint32_t changes);

/* A deleted claim of that pod has released the devices that were chosen for it. */
void bt_engine_wake_for_devices(struct bt_engine *engine, const struct bt_signature *signature);

/* Releases the devices that were chosen for the pod. Pods that wait for one of its claims are requeued, as if
 * the claim had lost its allocation; the claim for extended resources requeues nobody. Source: Unreserve of
 * DynamicResources, v1.36.3. */
void bt_engine_revert_devices(struct bt_engine *engine, uint32_t pod_ix);

/* Claims that were allocated for a pod which has gone are what the source shows of them. */
void bt_engine_let_claims_go(struct bt_engine *engine, uint32_t pod_ix);

/* A waiting pod that was promised a node has lost it: to pods of the same or a lower priority it is as if it
 * had gone from there. */
void bt_engine_requeue_for_nomination(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_cluster_event_pod *old);

/* status.nominatedNodeName of a waiting pod is that node's now, or none (BT_NO_NODE), as the source will
 * show.
 */
void bt_engine_status_node(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);

/* Is a pod's preemption still being carried out? Source: IsPodRunningPreemption, v1.36.3. */
bool bt_engine_is_preempting(const struct bt_engine *engine, uint32_t pod_ix);
