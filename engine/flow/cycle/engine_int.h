/* SPDX-License-Identifier: Apache-2.0
 * Declarations that the engine's files share. Context: the scheduling thread.
 */
#pragma once

#include "engine/base/rng.h"
#include "engine/flow/cycle/batch.h"
#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/eviction.h"
#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/hints.h"
#include "engine/flow/cycle/kept_events.h"
#include "engine/flow/cycle/late_nominations.h"
#include "engine/flow/cycle/node_list.h"
#include "engine/flow/cycle/nominated_pods.h"
#include "engine/flow/cycle/pod_groups.h"
#include "engine/flow/cycle/post_filter.h"
#include "engine/flow/cycle/prefetch.h"
#include "engine/flow/cycle/profile_runtime.h"
#include "engine/flow/cycle/reclaim.h"
#include "engine/flow/cycle/reserve.h"
#include "engine/flow/cycle/schedule_pod.h"
#include "engine/flow/cycle/scheduling_clock.h"
#include "engine/flow/cycle/permit.h"
#include "engine/flow/cycle/transaction.h"
#include "engine/flow/cycle/waiting_pods.h"
#include "engine/flow/config/profile.h"
#include "engine/score/topology_pick.h"

struct bt_engine {
	struct bt_engine_options options;
	struct bt_cache *cache;
	struct bt_queue *queue;
	struct bt_profile_runtimes runtimes;
	struct bt_node_list nodes;
	struct bt_reclaim reclaim;
	struct bt_schedule_pod schedule;
	struct bt_nominated_pods nominated;
	struct bt_extender_calls *extend;
	struct bt_post_filter post;
	struct bt_eviction eviction;
	struct bt_pod_groups groups;
	struct bt_group_cycle group_cycle;
	struct bt_kept_events kept_events;
	struct bt_scheduling_clock clock;
	struct bt_engine_counts counts;	  /* counts that no part keeps: cycles and their results */
	struct bt_cycle_metrics *metrics; /* NULL: durations are not recorded */
	struct bt_reserved reserved;
	struct bt_late_nominations late;
	struct bt_waiting_pods waiting;
	struct bt_batch batch;
	struct bt_prefetch prefetch;
	struct bt_transactions transactions;
};

/* The profile that the pod requests, or NULL. */
static inline struct bt_profile_runtime *bt_engine_runtime_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_profile_runtimes_find(
		&engine->runtimes, bt_ledger_pod(engine->cache->ledger, pod_ix)->signature->scheduler_name);
}

/* Makes the cycle of the pod in its present state, for a scheduling cycle or an inspection. */
static inline struct bt_cycle bt_engine_cycle_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	return (struct bt_cycle){.number = engine->counts.cycle_n,
		.pod_ix = pod_ix,
		.pod = pod,
		.signature = pod->signature,
		.runtime = bt_profile_runtimes_find(&engine->runtimes, pod->signature->scheduler_name)};
}

/* Is the pod's verdict not valid for others of its kind? True when the pod was deleted, has a nomination, an
 * extender, claims (which depend on owners, reservations and time), or a plugin that does not declare its
 * dependencies. */
bool bt_engine_is_uncacheable(const struct bt_engine *engine, const struct bt_cycle *cycle);

/* The pod's traits that select plugins which do not evaluate nodes: enum bt_trait bits. */
uint32_t bt_engine_traits(const struct bt_engine *engine, uint32_t pod_ix);

/* The pod's environment for plugins that do not evaluate nodes. group: storage for its PodGroup's state. */
struct bt_pod_env bt_engine_pod_env(
	const struct bt_engine *engine, uint32_t pod_ix, struct bt_group_state *group);

/* Does a plugin reject the pod at PreEnqueue? Then it appends the reason, unless out_why is NULL. env: of the
 * pod. */
bool bt_engine_hook_gates(const struct bt_hook *hook, struct bt_pod_env *env, struct bt_buf *out_why);

static inline struct bt_queue_kind bt_engine_kind_of(const struct bt_pod *pod)
{
	return (struct bt_queue_kind){
		pod->signature->ix, pod->priority, .never_preempts = pod->never_preempts};
}

/* Is the pod on a node, and queued for its resize (if it has a profile)? */
static inline bool bt_engine_resizes(const struct bt_pod *pod)
{
	return BT_UNLIKELY(pod->signature->resize_node != BT_NAME_NONE) && pod->state == BT_POD_SCHEDULED;
}

/* Why the pod must not preempt by itself because of its PodGroup; NULL: it may. Source:
 * DefaultPreemption.PostFilter, v1.36.3. */
static inline const char *bt_engine_group_ineligible(const struct bt_engine *engine, const struct bt_pod *pod)
{
	return pod->signature->pod_group == BT_NAME_NONE
		       ? NULL
		       : bt_pod_groups_ineligible(
				 &engine->groups, pod->signature->namespace_, pod->signature->pod_group);
}

/* changes: enum bt_change bits. */
static inline void bt_engine_before_change(struct bt_engine *engine, uint32_t changes)
{
	BT_REQUIRE_HOT(!bt_transactions_are_open(&engine->transactions));
	if (BT_UNLIKELY(bt_post_filter_is_due(&engine->post))) {
		bt_engine_post_filter_before(engine, changes);
	}
}

/* What changes when a pod's claims and volumes are no longer reserved: enum bt_change bits. */
static inline uint32_t bt_engine_change_of_nominations(const struct bt_signature *signature)
{
	return (signature->claim_n || signature->extended_n ? BT_CHANGE_OF_DEVICES : 0u) |
	       (signature->volume_n ? BT_CHANGE_OF_VOLUMES : 0u);
}

/* Removes a detached pod. A victim of the present cycle stays until the cycle ends. */
static inline void bt_engine_remove_detached(struct bt_engine *engine, uint32_t pod_ix)
{
	if (!bt_eviction_note_answered(&engine->eviction, pod_ix)) {
		bt_ledger_remove(engine->cache->ledger, pod_ix);
	}
}

/* ---- binding_cycle.c ---- */

/* Reserves, assumes and binds a placed pod. On failure the decision becomes failed, and the pod is queued
 * again. */
void bt_engine_place(struct bt_engine *engine, struct bt_decision *decision);

/* Passes an assumed pod to the binder. Returns: false when PreBind fails before that; then the pod is queued
 * again. */
bool bt_engine_bind(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);

/* A pod's wait at Permit ends: the plugins have refused it. It is no longer assumed, and is queued again. */
void bt_engine_end_wait(struct bt_engine *engine, uint32_t pod_ix, bt_plugin_set plugins, bool repeats);

/* Permit of an assumed pod has failed: it is no longer assumed, the decision becomes failed, and the pod is
 * queued again. */
void bt_engine_unpermit(struct bt_engine *engine, struct bt_decision *decision);

/* ---- engine.c ---- */

/* Queues a pod that was not placed again, unless it was deleted. */
void bt_engine_set_aside(struct bt_engine *engine, const struct bt_decision *decision);

/* ---- queue_hooks.c ---- */

/* The functions that the queue calls. */
struct bt_queue_hooks bt_engine_hooks(struct bt_engine *engine);

/* ---- requeue.c ---- */

/* A name; empty for BT_NAME_NONE. */
struct bt_str bt_engine_name(const struct bt_engine *engine, uint32_t name);

/* Can an event requeue any pod at present? */
bool bt_engine_may_requeue(const struct bt_engine *engine);

/* A pod's fields that events carry. */
struct bt_cluster_event_pod bt_engine_event_pod(const struct bt_engine *engine, uint32_t pod_ix);

/* Requeues the pods that an event may help. own_ix: the event's pod, or BT_NO_POD. */
void bt_engine_requeue(struct bt_engine *engine, const struct bt_cluster_event *event, int32_t max_priority,
	uint32_t own_ix);

/* The event that a pod was added to a node, or left it (its state then). */
void bt_engine_requeue_for_pod(
	struct bt_engine *engine, uint32_t action, const struct bt_cluster_event_pod *pod);

/* The event that a pod that was assumed has left its node, for all others. */
void bt_engine_requeue_others(
	struct bt_engine *engine, const struct bt_cluster_event_pod *gone, uint32_t pod_ix);

/* The scheduler has changed a ResourceClaim; changes: enum bt_object_change bits. */
void bt_engine_requeue_for_claim(struct bt_engine *engine, uint32_t claim_ix, uint32_t changes);

/* A deleted claim of that pod has released its chosen devices. */
void bt_engine_requeue_for_devices(struct bt_engine *engine, const struct bt_signature *signature);

/* Releases the devices that were chosen for the pod. Requeues pods that wait for one of its claims, as if the
 * claim had lost its allocation; the claim for extended resources requeues none. Source: Unreserve of
 * DynamicResources, v1.36.3. */
void bt_engine_revert_devices(struct bt_engine *engine, uint32_t pod_ix);

/* Claims that were allocated for a deleted pod revert to what the source shows. */
void bt_engine_unkeep_claims(struct bt_engine *engine, uint32_t pod_ix);

/* A waiting pod has lost its nomination: for pods of the same or a lower priority that is as if it had left
 * that node. */
void bt_engine_requeue_for_nomination(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_cluster_event_pod *old);

/* Sets a waiting pod's status.nominatedNodeName to that node, or to none (BT_NO_NODE), before the source
 * shows it. */
void bt_engine_status_node(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
