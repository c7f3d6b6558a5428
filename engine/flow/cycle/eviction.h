/* SPDX-License-Identifier: Apache-2.0
 * The victims of the present cycle's pod, and the progress of its preemption.
 * Source: prepareCandidate, prepareCandidateAsync, IsPodRunningPreemption, v1.36.3.
 * Owns: the list of victims (bt_eviction_fini). Writer: eviction.c. Thread: the scheduling thread.
 */
#pragma once

#include "cache/ledger.h"
#include "engine/base/map.h"
#include "engine/flow/cycle/preempt.h"

struct bt_engine;
struct bt_pod_groups;
struct bt_engine_counts;
struct bt_decision;

/* A victim to delete. One that goes earlier stays, detached, until the preemption is over. */
struct bt_leaving {
	uint32_t pod_ix, uid;
	bool gone, ended; /* gone; ended: it has completed, and its object still exists */
	bool in_hand;	  /* gone, and its binding is not answered yet */
};

/* A preemptor whose goroutine upstream has started and whose victims are evicted later. */
struct bt_preempting {
	uint32_t pod_ix;
	uint32_t last_ix, last_uid; /* as in struct bt_eviction */
};

/* Private. */
struct bt_eviction {
	bool async;  /* init: gate SchedulerAsyncPreemption */
	bool on;     /* pod_ix's preemption is being carried out */
	bool failed; /* deleting a victim has failed */
	uint32_t pod_ix;
	uint32_t namespace_,
		group;	   /* names of the PodGroup that preempts, with pod_ix one of its pods; or none */
	bool of_composite; /* the group is a CompositePodGroup */
	uint32_t last_ix, last_uid; /* the last victim, once its eviction has begun; otherwise BT_NO_POD */
	struct bt_leaving *leaving;
	size_t leaving_n, leaving_cap;
	struct bt_map places;		 /* index in leaving, by pod_ix + 1 */
	struct bt_preempting *postponed; /* of the pods that are decided together */
	size_t postponed_n, postponed_cap;
	uint32_t *cleared; /* nominations of the last decision */
	size_t cleared_cap;
	uint64_t failed_n;
};

/* async: victims are deleted after the cycle (gate SchedulerAsyncPreemption). */
void bt_eviction_init(struct bt_eviction *eviction, bool async);
void bt_eviction_fini(struct bt_eviction *eviction);

/* Lists the victims that are not being deleted yet. Victims on frozen nodes are translated to the pods'
 * present indices. */
void bt_eviction_list(
	struct bt_eviction *eviction, struct bt_ledger *ledger, struct bt_preemption *preemption);

/* Clears the list: releases victims that were deleted since they were chosen. */
void bt_eviction_drop(struct bt_eviction *eviction, struct bt_ledger *ledger);

/* Saves and restores the list: pods that are decided together have one each. */
const struct bt_leaving *bt_eviction_take(struct bt_eviction *eviction, size_t *out_n);
void bt_eviction_put(struct bt_eviction *eviction, const struct bt_leaving *leaving, size_t n);

/* Record that a pod has ended or is removed otherwise; that it was deleted (in_hand: its binding is open);
 * that its binder has answered. Return whether it is on the list. */
bool bt_eviction_note_ended(struct bt_eviction *eviction, uint32_t pod_ix, bool ended);
bool bt_eviction_note_gone(struct bt_eviction *eviction, uint32_t pod_ix, bool in_hand);
bool bt_eviction_note_answered(struct bt_eviction *eviction, uint32_t pod_ix);

/* Are victims deleted after the cycle? */
static inline bool bt_eviction_is_async(const struct bt_eviction *eviction)
{
	return eviction->async;
}

/* Is a preemption being carried out? */
static inline bool bt_eviction_is_on(const struct bt_eviction *eviction)
{
	return eviction->on;
}

/* Postpones the preemption that was begun: PreEnqueue keeps rejecting its pod while others are begun and
 * carried out, until it is begun again. */
void bt_eviction_postpone(struct bt_eviction *eviction);

/* Does the pod preempt, or its group or tree, with a victim left? */
bool bt_eviction_is_for(const struct bt_eviction *eviction, const struct bt_pod_groups *groups,
	const struct bt_ledger *ledger, uint32_t pod_ix);

/* Starts the preemption: PreEnqueue rejects the pod while there are victims to evict. Returns: whether there
 * is something to carry out; always true when victims are deleted within the cycle, because nominations are
 * cleared even when all victims are already being deleted. */
bool bt_engine_preempting_begin(struct bt_engine *engine, const struct bt_decision *decision);

/* The same for the PodGroup of a pod, which has been queued in its pods' place; victims are listed
 * already. */
bool bt_engine_group_preempting_begin(struct bt_engine *engine, uint32_t pod_ix);

/*
 * Carries out the preemption that was begun: clears the nominations of pods of lower priority, and evicts the
 * victims, the last one last. Where evictions are part of the cycle they come first. Takes the engine to pass
 * it to the evictor.
 * then: called after the evictions, before a preemptor whose eviction failed is tried again; NULL: nothing.
 */
void bt_engine_carry_out(
	struct bt_engine *engine, struct bt_decision *decision, void (*then)(struct bt_engine *engine));

/* The pod whose preemption is being carried out. Requires: there is one. */
uint32_t bt_eviction_preemptor(const struct bt_eviction *eviction);

/* Adds failed evictions to the engine's counts. */
void bt_eviction_count(const struct bt_eviction *eviction, struct bt_engine_counts *counts);
