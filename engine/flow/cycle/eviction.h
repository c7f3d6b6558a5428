/* SPDX-License-Identifier: Apache-2.0
 * The victims of the pod whose cycle it is, and how far its preemption has been carried out.
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

/* A victim that has to be deleted. One that goes before that is kept, detached, until it is over. */
struct bt_leaving {
	uint32_t pod_ix, uid;
	bool gone, ended; /* it has; because it has ended, and so its object is still there */
	bool in_hand;	  /* it is gone, and the answer about its binding is still to come */
};

/* Private. */
struct bt_eviction {
	bool async;  /* init: gate SchedulerAsyncPreemption */
	bool on;     /* pod_ix's preemption is being carried out */
	bool failed; /* a victim cannot be deleted */
	uint32_t pod_ix;
	uint32_t namespace_, group; /* names: it is this PodGroup's, and pod_ix one of its pods; or none */
	bool of_composite;	    /* it is a CompositePodGroup */
	uint32_t last_ix, last_uid; /* the last victim, once its turn has come; else BT_NO_POD */
	struct bt_leaving *leaving;
	size_t leaving_n, leaving_cap;
	struct bt_map places; /* where in leaving, by pod_ix + 1 */
	uint32_t *cleared;    /* nominations of the last decision */
	size_t cleared_cap;
	uint64_t failed_n;
};

/* async: victims are deleted after the cycle (gate SchedulerAsyncPreemption). */
void bt_eviction_init(struct bt_eviction *eviction, bool async);
void bt_eviction_fini(struct bt_eviction *eviction);

/* Lists those of the victims that are not being deleted yet. Where nodes were frozen victims are pods of
 * then: from here on they are what these are now. */
void bt_eviction_list(
	struct bt_eviction *eviction, struct bt_ledger *ledger, struct bt_preemption *preemption);

/* Nobody has to be deleted any more: victims that have gone since they were chosen are let go. */
void bt_eviction_drop(struct bt_eviction *eviction, struct bt_ledger *ledger);

/* Moves the list out of the way, and back again: of pods that are decided together each has one. */
const struct bt_leaving *bt_eviction_take(struct bt_eviction *eviction, size_t *out_n);
void bt_eviction_put(struct bt_eviction *eviction, const struct bt_leaving *leaving, size_t n);

/* Pods that have to be deleted: one has ended, or goes otherwise; one has gone, in_hand: and is in its
 * binder's; its binder has answered. Returns whether it has to be. */
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

/* Is it this pod's, or its group's or tree's, and a victim still there? */
bool bt_eviction_is_for(const struct bt_eviction *eviction, const struct bt_pod_groups *groups,
	const struct bt_ledger *ledger, uint32_t pod_ix);

/* From now on PreEnqueue keeps the pod out, if there are victims to evict. Returns whether there is something
 * to carry out: always when victims are deleted within the cycle, because nominations are taken back even
 * when all of them are being deleted already. */
bool bt_engine_preempting_begin(struct bt_engine *engine, const struct bt_decision *decision);

/* The same for the PodGroup of a pod, which is put back in the place of its pods; victims are listed. */
bool bt_engine_group_preempting_begin(struct bt_engine *engine, uint32_t pod_ix);

/*
 * Carries out the preemption that was begun: takes back the nominations of pods of lower priority, and has
 * the victims evicted, the last one last. Where evictions are part of the cycle they come first. It takes the
 * engine, which the evictor is given.
 */
void bt_engine_carry_out(struct bt_engine *engine, struct bt_decision *decision);

/* Adds what could not be evicted to what the engine counts. */
void bt_eviction_count(const struct bt_eviction *eviction, struct bt_engine_counts *counts);
