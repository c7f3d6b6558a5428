/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 8: the engine. Applies objects, decides pods one by one in the queue's order, passes decisions
 * to a binder, and applies the binder's answers. One thread runs all stages in sequence.
 *
 * Ties between equal totals: the first tied node slot at or after a position drawn from (seed, cycle number),
 * cyclically.
 */
#pragma once

#include "cache/ingest.h"
#include "engine/base/clock.h"
#include "engine/flow/config/config.h"
#include "engine/flow/cycle/extender.h"
#include "engine/flow/cycle/preempt.h"
#include "engine/flow/cycle/sample.h"
#include "engine/flow/cycle/metrics.h"
#include "engine/flow/cycle/plugin_runs.h"
#include "engine/flow/cycle/stage_latency.h"
#include "engine/score/evaluate.h"
#include "engine/score/parallel_prepare.h"
#include "queue/queue.h"

struct bt_engine;

/* Receives placements. */
struct bt_binder {
	/*
	 * Binds an assumed pod. The binder answers, now or later, with bt_engine_bound or
	 * bt_engine_bind_failed, exactly once.
	 * Context: the scheduling thread.
	 */
	void (*bind)(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
	void *context;
};

/* Receives preemption's victims. */
struct bt_evictor {
	/*
	 * Deletes a pod to make room for another one. The result reaches the engine now or later: by
	 * bt_engine_evict, bt_engine_update_pod or bt_engine_remove_pod when the source shows it, by
	 * bt_engine_evict_failed after a failure. Also called for a detached pod, which has ended or gone
	 * since it was chosen. Context: the scheduling thread.
	 */
	void (*evict)(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix);
	void *context;
};

/* Receives ResourceClaims that make pods unschedulable. */
struct bt_releaser {
	/*
	 * Deallocates a claim and removes its reservations, or deletes a claim for extended resources,
	 * because for_ix fits nowhere with it. The claim stays unchanged until the source shows the change,
	 * or bt_engine_evict_failed reports a failure. Context: the scheduling thread.
	 */
	void (*release)(void *context, struct bt_engine *engine, const struct bt_claim_release *release,
		uint32_t for_ix);
	void *context;
};

/* Reverts writes of earlier cycles for a pod. */
struct bt_unreserver {
	/*
	 * Reserve or PreBind of a pod with ResourceClaims has failed before its binder was called: removes
	 * the pod from claims that are allocated and reserved for it. When a binding fails, the binder does
	 * that itself. Context: the scheduling thread; the pod is in flight.
	 */
	void (*unreserve)(void *context, struct bt_engine *engine, uint32_t pod_ix);
	void *context;
};

struct bt_decision;

/* Hears what becomes of pods that wait at Permit. Each may be NULL. Context: the scheduling thread. */
struct bt_permit_observer {
	/*
	 * The pod's wait is over. decision: BT_PLACED, the binder has it; BT_REFUSED or BT_FAILED, it is in
	 * the queue again. Not called for deleted pods. info, nominated, message: as
	 * bt_scheduling_cycle.ended has them.
	 */
	void (*ended)(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
		uint32_t nominated, struct bt_str message);
	/* The preemption for preemptor_ix ends the wait of victim_ix on that node; ended follows. */
	void (*preempted)(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix);
	/* Has the pod's status this message of a refusal already? As bt_decision.repeats. NULL: no. */
	bool (*repeats)(void *context, uint32_t pod_ix, struct bt_str message);
	void *context;
};

struct bt_engine_options {
	uint64_t seed;
	struct bt_clock clock;	     /* for the queue's timestamps; none: time stands still */
	struct bt_binder binder;     /* bind == NULL: every binding succeeds at once */
	struct bt_evictor evictor;   /* evict == NULL: the caller of bt_engine_decide evicts */
	struct bt_releaser releaser; /* release == NULL: claims are released or deleted at once */
	/* unreserve == NULL: claims stay reserved until the pod is bound or gone. In an undivided cycle no
	 * event can make Reserve fail. */
	struct bt_unreserver unreserver;
	struct bt_permit_observer permit;
	/* Calls the configuration's extenders; all NULL: they are not called. */
	struct bt_extender_hooks extending;
	/* Pods of a kind that is known to fit nowhere keep their place in the queue. Otherwise they go behind
	 * the others, so that their refusals delay no other pod. */
	bool strict_order;
	/* A preemptor that PreEnqueue rejects after its preemption is over stays gated until an event
	 * requeues it, which may never happen; as in upstream, for comparisons. Otherwise the five-minute
	 * flush requeues it (I3). */
	bool flush_skips_gated;
	bool no_backoff; /* a pod that an event may help becomes active at once */
	/* Refused pods of a PodGroup wait for an event that may help one of them, or that changes how many
	 * must fit. Otherwise they are retried after their backoff in any case, as in upstream; with a clock
	 * that stands still that would never end. */
	bool groups_by_events;
	size_t plan_memory_bytes; /* 0: BT_ENGINE_PLAN_MEMORY */
	/* How many signatures without pods are cached for later pods; 0: BT_ENGINE_SIGNATURES_KEPT. Changes
	 * no decision. */
	uint32_t signatures_kept;
	bool keeps_none; /* caches none; for tests */
	/* Renumbers pods when most indices are vacant, before bt_engine_take_delta applies a pod or node: for
	 * callers that keep no index between events, except for pods that they are binding. Changes no
	 * decision. */
	bool moves_pods;
	/* The results of cycles are not written, so a pod's nomination enters its status when the source
	 * shows it, and is in memory before. Otherwise it counts as written at once. */
	bool status_is_shown;
	bool evaluate_always; /* never use columns: for comparing the two ways */
	bool texts;	      /* record PostFilter's texts: bt_engine_post_filter_text */
	enum bt_node_sampling sampling;
	struct bt_queue_observer observer;
	/* Records how long pods wait and decisions take; NULL: no clock is read for that. */
	struct bt_stage_latency *stages;
	/* Workers that score nodes in parallel, including this thread; it outlives the engine. NULL: this
	 * thread alone. Decisions are the same for any team and batch. */
	struct bt_team *team;
	uint32_t batch;	      /* pods prepared together; 0: BT_ENGINE_BATCH */
	bool always_share;    /* prepare in parallel even where it is slower; for tests */
	bool always_prefetch; /* prefetch for cycles however few nodes there are; for tests */
};

#define BT_ENGINE_BATCH 64

#define BT_ENGINE_PLAN_MEMORY ((size_t)2 << 30)

#define BT_ENGINE_SIGNATURES_KEPT 1024

/* The state in which a pod was entered. */
enum bt_entry {
	BT_ENTERED_QUEUE = 0,
	BT_ENTERED_GATED,     /* it has scheduling gates */
	BT_ENTERED_SCHEDULED, /* it is on a node */
	BT_ENTERED_ENDED,     /* it has succeeded or failed, and uses nothing */
	BT_ENTERED_FOREIGN    /* no profile has its schedulerName */
};

/* The result of applying a delta. */
struct bt_taken {
	bool known;	     /* of a pod: it existed before */
	enum bt_entry entry; /* of a pod: its state; a removed one has ended */
	uint32_t ix;	     /* the pod's index, or the node's slot; BT_NO_POD: none */
};

enum bt_outcome {
	BT_PLACED = 0,
	BT_REFUSED, /* no node fits */
	BT_GATED,   /* not allowed to be scheduled yet */
	BT_FAILED,  /* the cycle ended in an error */
	BT_SKIPPED  /* the pod is being deleted: no longer scheduled */
};

struct bt_decision {
	uint32_t pod_ix;
	enum bt_outcome outcome;
	uint32_t node_ix; /* BT_PLACED */
	/*
	 * BT_REFUSED, and preemption helps: the node that the pod is now nominated to (otherwise BT_NO_NODE),
	 * and its victims, the most important first; the evictor gets those that are not being deleted yet,
	 * the last one last. Valid until the next cycle.
	 */
	uint32_t nominated_ix;
	const struct bt_victim *victims;
	uint32_t victim_n;
	bool by_group; /* the pod's PodGroup preempts them as a whole, on any node */
	/* Pods of lower priority whose nomination to that node is cleared. Valid as victims. */
	const uint32_t *cleared_nominations;
	uint32_t cleared_nominations_n;
	bt_plugin_set unschedulable_plugins; /* BT_REFUSED: plugins that refused a node (bt_hints_name) */
	enum bt_preempt_outcome preempt;     /* BT_REFUSED: PostFilter's result */
	struct bt_claim_release release;     /* BT_REFUSED: PostFilter's action on a claim of the pod */
	/* BT_PLACED: it waits at Permit, and no binder has it yet. */
	bool waits;
	bool waited;		/* the decision is the end of a wait at Permit */
	bool permit_is_imposed; /* waits is another scheduler's result: Permit does not run */
	/* BT_PLACED, with bt_engine_count_nodes: how many nodes were filtered, and how many of them fit;
	 * otherwise 0 where columns have decided. */
	uint32_t evaluated_n, feasible_n;
	/* BT_REFUSED, BT_FAILED: the pod's status already has this result with the same message, so no status
	 * patch is written or seen. Set by the caller, who has the message, before bt_engine_end. */
	bool repeats;
	struct bt_plan *plan; /* private, between bt_engine_begin and bt_engine_end */
};

/* Why a plugin refused all nodes, or one. */
struct bt_refusal {
	const char *plugin;	       /* its name; "Extender" for all extenders */
	const struct bt_plugin *judge; /* the plugin with the reasons; NULL: text has the reason, if any */
	struct bt_rejection rejection;
	const char *text; /* the reason of PreFilter, PreEnqueue or an extender; otherwise NULL */
};

/*
 * A full explanation of one pod in the present cluster state. Zero-initialized, it is empty.
 * Owns: bt_explanation_fini; its plan is valid until the next call of the engine.
 */
struct bt_explanation {
	uint32_t pod_ix;
	const struct bt_plan *plan; /* NULL when gated */
	bool gated, refused, narrowed;
	/* Set by the caller, and kept: a nominated node that PreFilter has left out is not listed when it
	 * refuses the pod. */
	bool candidates_only;
	bool filters_only;	   /* the same: PostFilter does not run */
	uint32_t nominated_by;	   /* the use that refuses the nominated node; BT_PASSED: none */
	struct bt_refusal refusal; /* if gated, or refused by PreFilter */
	struct bt_evaluation evaluation;
	struct bt_buf text;
	const char *error; /* upstream's text of an error that ends the cycle; otherwise NULL */
	/* PostFilter's result for a pod that fits nowhere. */
	bool post_filtered;
	bool preempts; /* preemption has a node and victims */
	struct bt_preemption preemption;
	struct bt_buf post_text;
};

struct bt_engine_counts {
	uint64_t cycle_n, placed_n, refused_n, failed_n;
	uint64_t by_columns_n, by_evaluation_n; /* decisions by method */
	uint64_t plan_drop_n;
	uint64_t node_move_n;	  /* nodes moved to another slot, because too many were vacant */
	uint64_t pod_move_n;	  /* pods moved to another index; options.moves_pods */
	uint64_t signature_end_n; /* signatures dropped after a long time without pods */
	uint64_t preemption_n;	  /* preemptions that found a node */
	uint64_t dry_run_n;	  /* nodes on which preemption was tried */
	uint64_t evict_failed_n;  /* victims whose deletion failed */
	struct bt_ledger_counts sets;
	struct bt_queue_counts queue;
	struct bt_parallel_prepare_counts warm; /* of the workers */
};

/*
 * Creates an engine for a defaulted and valid configuration, which must outlive it.
 * Returns: the engine; NULL when a profile cannot be built, with the reason in errors.
 * Owns   : bt_engine_destroy.
 */
struct bt_engine *bt_engine_create(const struct bt_config *config, const struct bt_engine_options *options,
	struct bt_config_errors *errors);
void bt_engine_destroy(struct bt_engine *engine);

/* Calls act (bt_owner_claim, bt_owner_hand_over) for all state that only the scheduling thread writes:
 * ledger, snapshot, signatures and queue. */
void bt_engine_each_owner(struct bt_engine *engine, void (*act)(struct bt_owner *owner));

/* Makes decisions count feasible nodes, which evaluates every node even where columns decide. Context:
 * between cycles. */
void bt_engine_count_nodes(struct bt_engine *engine, bool on);

/* The engine's cache; for reading, and for bt_ingest_publish. */
struct bt_cache *bt_engine_cache(struct bt_engine *engine);

/*
 * Applies a delta from an ingestion thread: an object that was added, changed or deleted. A pod with a known
 * name and another UID replaces the old one, whose deletion was not seen. The functions below that pass
 * objects intern them and call this.
 * Context: the scheduling thread.
 * Returns: BT_OK; BT_FULL when not all of the object's resources have slots; BT_NOT_FOUND when a deleted
 *          object was unknown.
 * Owns   : the delta is consumed.
 */
enum bt_status bt_engine_take_delta(
	struct bt_engine *engine, struct bt_delta *delta, struct bt_taken *out_taken);

/*
 * Applies an object, new or changed; the caller keeps it. Returns: as bt_engine_take_delta; BT_NO_MEMORY when
 * memory is short (bt_mem_may_use), and nothing has changed; so do the functions below.
 */
enum bt_status bt_engine_show(
	struct bt_engine *engine, const struct bt_object *object, struct bt_taken *out_taken);

/* Applies a node, new or changed. Returns: BT_OK with the node's slot; BT_FULL when one of its resources has
 * a name beyond BT_RESOURCE_MAX (the node is entered without it). */
enum bt_status bt_engine_apply_node(
	struct bt_engine *engine, const struct bt_node_object *object, uint32_t *out_node_ix);

/*
 * Applies an object that is neither node nor pod, new or changed; the caller keeps it. Storage
 * (PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode, CSIDriver, CSIStorageCapacity,
 * VolumeAttachment) and devices (ResourceClaim, ResourceSlice, DeviceClass, DeviceTaintRule) requeue refused
 * pods; so do PodGroups, with the gate GenericWorkload. Objects that pods' selectors refer to (Namespace,
 * Service, ReplicationController, ReplicaSet, StatefulSet) and PodDisruptionBudgets do not, as in upstream.
 * In any order relative to nodes and pods. Ignores kinds that decisions do not depend on. Returns: BT_OK.
 */
enum bt_status bt_engine_apply_object(struct bt_engine *engine, const struct bt_object *object);

/* Deletes one of those. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_engine_delete_object(
	struct bt_engine *engine, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);

/* Is scheduler_name, a name of the dictionary, one of the profiles? */
bool bt_engine_handles(const struct bt_engine *engine, uint32_t scheduler_name);

/* Does the pod wait for a scheduler that is none of the profiles? */
bool bt_engine_is_other_schedulers(const struct bt_engine *engine, const struct bt_pod_object *object);

/*
 * Applies a new pod. Returns: BT_OK; BT_EXISTS when the namespace has a pod of that name; BT_FULL when it
 * requests a resource beyond BT_RESOURCE_POD_MAX names (it is entered without it), or more than
 * BT_REQUEST_MAX (then it is not scheduled; on a node the requests count in full). out_pod_ix is BT_NO_POD
 * when it was not entered.
 */
enum bt_status bt_engine_add_pod(struct bt_engine *engine, const struct bt_pod_object *object,
	enum bt_entry *out_entry, uint32_t *out_pod_ix);

/*
 * Applies a change of a known pod: requests, labels, status; or its node, if any scheduler has bound it. A
 * pod that has ended is removed, and so is a queued one that is another scheduler's now. Returns: BT_OK;
 * BT_FULL as bt_engine_add_pod.
 */
enum bt_status bt_engine_update_pod(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_pod_object *object);

/* Removes a pod and frees its resources. Frees its index too, unless the pod is in its cycle or being bound;
 * then when that has ended. */
void bt_engine_remove_pod(struct bt_engine *engine, uint32_t pod_ix);

/* The same, with the housekeeping of bt_engine_take_delta: reclaims what earlier pods have left first, and
 * may move slots and indices, as in a replay of its journal. */
void bt_engine_delete_pod(struct bt_engine *engine, uint32_t pod_ix);

/* Removes a node; its pods stay on it. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_engine_remove_node(struct bt_engine *engine, struct bt_str name);

/* Marks a pod as terminating after its preemption: it uses its node until bt_engine_remove_pod. */
void bt_engine_evict(struct bt_engine *engine, uint32_t pod_ix);

/*
 * Deleting a victim of the preemption for this pod has failed. No event may ever requeue the pod, so it is
 * retried after its backoff, and may choose other victims. While its victims are being evicted, it gets no
 * others. Requires: the pod is in the ledger.
 */
void bt_engine_evict_failed(struct bt_engine *engine, uint32_t for_ix);

/* A PodGroup, or a CompositePodGroup; the dictionary owns its strings. name is empty: none. */
struct bt_group_ref {
	struct bt_str namespace_, name, uid;
	bool composite;
};

/* The group that a pod is decided with: the root of the tree that its PodGroup is in, or the PodGroup that it
 * names; uid is empty while the group's object is unknown. Requires: the pod is in the ledger. */
struct bt_group_ref bt_engine_group_of(const struct bt_engine *engine, uint32_t pod_ix);

/* The group for which victims are being evicted, or none: the pod preempts. For bt_evictor.evict. */
struct bt_group_ref bt_engine_preempting_group(const struct bt_engine *engine);

/* The pod of a namespace and name, or BT_NO_POD. */
uint32_t bt_engine_find_pod(const struct bt_engine *engine, struct bt_str namespace_, struct bt_str name);

/* Pops the next pod, or returns BT_NO_POD when none can be decided now. */
uint32_t bt_engine_pop(struct bt_engine *engine);

/* Takes a pod out of the queue before it reaches the head. BT_NOT_FOUND when it is not queued. take_any: also
 * a gated one. */
enum bt_status bt_engine_take(struct bt_engine *engine, uint32_t pod_ix);
enum bt_status bt_engine_take_any(struct bt_engine *engine, uint32_t pod_ix);

/* The same, also for a pod whose PodGroup is unknown, and without the pods of its group: for carrying out
 * another scheduler's decision (bt_engine_impose). */
enum bt_status bt_engine_take_alone(struct bt_engine *engine, uint32_t pod_ix);

/* State besides the cluster that decisions depend on: the number of the last cycle, and the start of the next
 * sample. */
struct bt_turn {
	uint64_t cycle_n;
	uint32_t sample;
};

struct bt_turn bt_engine_turn(const struct bt_engine *engine);
void bt_engine_set_turn(struct bt_engine *engine, struct bt_turn turn);

/*
 * Runs what is due by now: backoffs end at whole seconds, and waits of more than five minutes every 30 s from
 * start_ns on. Call whenever the clock has moved; a jump runs everything in between.
 * Requires: the engine has a clock (bt_scheduling_clock_tick asserts it).
 */
void bt_engine_tick(struct bt_engine *engine);

/* The clock has been set: the 30 s intervals start now. */
void bt_engine_start(struct bt_engine *engine);

/* When bt_engine_tick ends the next backoff, or INT64_MAX. */
int64_t bt_engine_next_backoff_ns(const struct bt_engine *engine);

/* When it ends the next wait at Permit of those that began by begun_by_ns, or INT64_MAX. */
int64_t bt_engine_next_wait_end_ns(const struct bt_engine *engine, int64_t begun_by_ns);

/*
 * When bt_engine_tick next requeues a pod that has waited for more than five minutes, of those refused at
 * refused_by_ns or before; INT64_MAX: never. Visits every pod.
 */
int64_t bt_engine_next_flush_ns(const struct bt_engine *engine, int64_t refused_by_ns);

/*
 * The first half of a popped pod's cycle: filters and scores. Events may be applied before the second half,
 * but no other cycle may begin. A refused pod's PostFilter has not run yet.
 */
void bt_engine_begin(struct bt_engine *engine, uint32_t pod_ix, struct bt_decision *out_decision);

/* Chooses another feasible node for a pod that was placed. Context: right after bt_engine_begin. */
void bt_engine_take_node(struct bt_engine *engine, struct bt_decision *decision, uint32_t node_ix);

/* Another scheduler's decision about the same pod at the same time. */
struct bt_imposed {
	enum bt_outcome outcome; /* BT_PLACED, BT_REFUSED, BT_FAILED */
	uint32_t node_ix;	 /* BT_PLACED */
	bool fits; /* the node is feasible here, too: the pod's claims get what was chosen for it there */
	bt_plugin_set unschedulable_plugins;
	enum bt_preempt_outcome preempt;
	uint32_t nominated_ix;
	struct bt_victim *victims; /* the caller keeps them until the next cycle */
	uint32_t victim_n;
	bool by_group; /* the victims are those of the pod's PodGroup, whatever preempt is */
	bool permit;   /* Permit does not run for it: */
	bool waits;    /* it waits there until bt_engine_end_imposed_wait */
};

/*
 * Makes bt_engine_end carry out another scheduler's decision instead of the engine's own. On a node that is
 * not feasible here the pod's claims get nothing. PostFilter that has not run does not run any more. Context:
 * after bt_engine_begin or bt_engine_run_post_filter.
 * Requires: the outcome is placed, refused or failed; the node exists.
 */
void bt_engine_impose(
	struct bt_engine *engine, struct bt_decision *decision, const struct bt_imposed *imposed);

/* Ends the wait of a pod that waits because another scheduler's decision was imposed: it is bound, or queued
 * again. */
void bt_engine_end_imposed_wait(struct bt_engine *engine, uint32_t pod_ix, bool bound);
bool bt_engine_has_imposed_wait(const struct bt_engine *engine, uint32_t pod_ix);

/* Does Permit let an assumed pod pass at present? */
bool bt_engine_permits(struct bt_engine *engine, uint32_t pod_ix);

/*
 * Runs PostFilter for a pod that bt_engine_begin has refused, unless it has run, and fills in the result of
 * preemption. As in upstream, it sees the nodes and their pods as of the cycle's start, the claims, slices
 * and volumes that PreFilter has read as they were then, and the present state of everything else: the
 * preemptor, budgets, nominations. bt_engine_end follows before any change. Requires: if a PostFilter is due,
 * decision is of its pod.
 */
void bt_engine_run_post_filter(struct bt_engine *engine, struct bt_decision *decision);

/* PostFilter's text; empty when it did not run, or options.texts is off. Valid until the next cycle. */
struct bt_str bt_engine_post_filter_text(const struct bt_engine *engine);

/*
 * The second half of the cycle: runs PostFilter unless it has run; then assumes the pod and passes it to the
 * binder, or returns it to the queue. decision is bt_engine_begin's. A placed pod still fails when volumes or
 * claims that it was to get have changed since then, and PostFilter fails when the claim to deallocate has
 * gone; bt_engine_end_error returns the reason, until the next cycle.
 */
void bt_engine_end(struct bt_engine *engine, struct bt_decision *decision);
struct bt_str bt_engine_end_error(const struct bt_engine *engine);

/* Both halves. */
void bt_engine_decide(struct bt_engine *engine, uint32_t pod_ix, struct bt_decision *out_decision);

/* The extender that binds the pod instead of the binder, or NULL. */
const struct bt_extender_config *bt_engine_extender_to_bind(const struct bt_engine *engine, uint32_t pod_ix);

/* The answer to a binding. Owns: nothing. */
struct bt_binding_answer {
	bool bound;
	bool repeats; /* it failed with the message that the pod's status already has: see bt_decision */
	struct bt_str reason; /* why it failed, for people */
	/* The pod's ResourceClaims that the binder has written, as in the server's last response, whether the
	 * pod is bound or not; 0: none, or unknown. */
	const struct bt_written_claim *claims;
	uint32_t claim_n;
};

/*
 * Applies the binder's answer, once per pod. A binding that the source has already shown is confirmed; that
 * of a pod that was deleted is ended. After a failure the pod is retried after its backoff. What the binder
 * has written to claims counts: older events do not revert it, even if the pod was deleted. An answer without
 * claims (bt_engine_bound, bt_engine_bind_failed) means: all claims are written if the pod is bound,
 * otherwise only those already shown. Written state is kept until the source shows it, or until the pod is
 * deleted and the source has shown the claim as free, though that event may be older than the write.
 */
void bt_engine_answer(struct bt_engine *engine, uint32_t pod_ix, const struct bt_binding_answer *answer);
void bt_engine_bound(struct bt_engine *engine, uint32_t pod_ix);
void bt_engine_bind_failed(struct bt_engine *engine, uint32_t pod_ix);

/* The queue, for inspection. */
struct bt_queue *bt_engine_queue(struct bt_engine *engine);

/* The Kubernetes release of the configuration, for rules and texts. */
const struct bt_release *bt_engine_kubernetes(const struct bt_engine *engine);

/* Explains a pod in the present cluster state, without a decision. The pod need not be queued. */
void bt_engine_explain(struct bt_engine *engine, uint32_t pod_ix, struct bt_explanation *out_explanation);

/*
 * The nodes that pass PreFilter and every filter for a pod now, or of these its nominated node alone, as in
 * its cycle; ascending, but in the order of upstream's list where PreFilter has chosen nodes. Extenders are
 * not called. out_node_ixs has room for every slot of the snapshot. Returns: how many; 0 also after an error.
 * Context: between cycles. Requires: the pod is of a profile.
 */
uint32_t bt_engine_feasible(struct bt_engine *engine, uint32_t pod_ix, uint32_t *out_node_ixs);

/*
 * Begins, or ends, to view the cluster without a pod that is on a node: explanations and reasons in between
 * do not count it. Plans that are built then are not cached.
 * Requires: no cycle is running, and none begins in between.
 * Returns: whether it is on a node; otherwise nothing was begun.
 */
bool bt_engine_absent_begin(struct bt_engine *engine, uint32_t pod_ix);
void bt_engine_absent_end(struct bt_engine *engine, uint32_t pod_ix);

/* The same for the pod of the last cycle: reuses the extenders' answers of that cycle. */
void bt_engine_explain_cycle(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_explanation *out_explanation);
void bt_explanation_fini(struct bt_explanation *explanation);

/* Why the visited-th node of an evaluation was refused. Requires: it was refused. */
void bt_explanation_refusal(struct bt_engine *engine, const struct bt_explanation *explanation,
	uint32_t visited, struct bt_refusal *out_refusal);

/* The number of a refusal's reasons, and one of them as text. */
uint32_t bt_refusal_reason_n(const struct bt_refusal *refusal);
void bt_refusal_reason(const struct bt_engine *engine, const struct bt_refusal *refusal, uint32_t reason,
	struct bt_buf *out_text);

/* The text of the FailedScheduling event for an explained pod. */
void bt_engine_message(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_buf *out_text);

/* The name of the plugin that rejects a queued pod at PreEnqueue; appends its reason to out_why. NULL: none,
 * or none with a reason. */
const char *bt_engine_gate(const struct bt_engine *engine, uint32_t pod_ix, struct bt_buf *out_why);

struct bt_engine_counts bt_engine_counts(const struct bt_engine *engine);

/* Durations, if options.stages is set; otherwise NULL. Valid between two cycles. */
const struct bt_cycle_metrics *bt_engine_metrics(const struct bt_engine *engine);

/* The same for counts of plugin calls for pods of a profile of the configuration; and the name of a use of
 * that profile. Requires: bt_engine_metrics. */
const struct bt_plugin_runs *bt_engine_plugin_runs(const struct bt_engine *engine, uint32_t profile);
const char *bt_engine_plugin_name(const struct bt_engine *engine, uint32_t profile, uint32_t use);

/* Duration of the last decision if it was this pod's; 0: not measured, or a group's. */
int64_t bt_engine_took_ns(const struct bt_engine *engine, uint32_t pod_ix);

/* Records an answered binding. Requires: bt_engine_metrics. */
void bt_engine_note_bind(struct bt_engine *engine, uint32_t pod_ix, bool yes, int64_t took_ns);

/* Records a preemption: all victims evicted, or a failure. Requires: bt_engine_metrics. */
void bt_engine_note_eviction(
	struct bt_engine *engine, enum bt_cycle_metric_preemptor preemptor, bool yes, int64_t took_ns);

/* Records an applied event of a source. label: the event (bt_cluster_event_label), or UINT32_MAX: the event
 * that examined waiting pods, if any. Requires: bt_engine_metrics. */
void bt_engine_note_event(struct bt_engine *engine, uint32_t label, int64_t took_ns);
