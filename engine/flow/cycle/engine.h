/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 8: the engine. Objects come in, pods are decided one after the other in the queue's order,
 * decisions go to a binder, and the binder's answers come back. One thread runs it all, stage after stage.
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

/* Takes decisions to where pods are bound. */
struct bt_binder {
	/*
	 * Binds an assumed pod. The binder answers, now or later, with bt_engine_bound or
	 * bt_engine_bind_failed, exactly once.
	 * Context: the scheduling thread.
	 */
	void (*bind)(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
	void *context;
};

/* Takes preemption's victims away. */
struct bt_evictor {
	/*
	 * Has a pod deleted, to make room for another one. What the source shows of that reaches the engine
	 * by bt_engine_evict, bt_engine_update_pod or bt_engine_remove_pod; or that it has failed, by
	 * bt_engine_evict_failed; now or later. A pod that is detached has ended, or gone, since it was
	 * chosen:
	 * it is asked for all the same. Context: the scheduling thread.
	 */
	void (*evict)(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix);
	void *context;
};

/* Takes ResourceClaims away from where they keep pods out. */
struct bt_releaser {
	/*
	 * Has a claim's allocation and reservations taken back, or a claim for extended resources deleted,
	 * because for_ix fits nowhere with it. It stays as it is until the source shows that it has changed;
	 * or
	 * bt_engine_evict_failed says that nothing has come of it. Context: the scheduling thread.
	 */
	void (*release)(
		void *context, struct bt_engine *engine, uint32_t claim_ix, bool deletes, uint32_t for_ix);
	void *context;
};

/* Takes back what earlier cycles have written for a pod. */
struct bt_unreserver {
	/*
	 * Reserve or PreBind of a pod with ResourceClaims has failed before its binder was called: has the
	 * pod taken out of the claims that are allocated and reserved for it. A binder does that himself when
	 * a binding fails. Context: the scheduling thread; the pod is in flight.
	 */
	void (*unreserve)(void *context, struct bt_engine *engine, uint32_t pod_ix);
	void *context;
};

struct bt_engine_options {
	uint64_t seed;
	struct bt_clock clock;	     /* tells when pods enter the queue; none: time stands still */
	struct bt_binder binder;     /* bind == NULL: every binding succeeds at once */
	struct bt_evictor evictor;   /* evict == NULL: the caller of bt_engine_decide evicts */
	struct bt_releaser releaser; /* release == NULL: claims are free, or gone, at once */
	/* unreserve == NULL: claims stay reserved until the pod is bound or gone. In a cycle in one piece
	 * nothing changes that could fail Reserve. */
	struct bt_unreserver unreserver;
	/* Speaks to the configuration's extenders; all NULL: they are not asked. */
	struct bt_extender_hooks extending;
	/* Pods of a kind that is known to fit nowhere wait for their turn like all others. Else they go
	 * behind the others, so that nobody has to wait for their refusals. */
	bool strict_order;
	/* A preemptor that PreEnqueue keeps out though its preemption is over stays out until an event lets
	 * it back, which may be never; as in upstream, for comparing. Else five minutes let it back (I3). */
	bool flush_skips_gated;
	bool no_backoff; /* a pod that an event may help is active at once */
	/* Pods of a PodGroup that were refused wait for an event that may help one of them, or that changes
	 * how many have to fit. Else they are tried again after their backoff, whatever has happened, as
	 * upstream does; a caller whose clock stands still would never come to an end then. */
	bool groups_by_events;
	size_t plan_memory_bytes; /* 0: BT_ENGINE_PLAN_MEMORY */
	/* How many signatures without pods are kept for later pods; 0:
	 * BT_ENGINE_SIGNATURES_KEPT. Changes no decision. */
	uint32_t signatures_kept;
	bool keeps_none; /* they go at once; for tests */
	/* Once most indices of pods are vacant, pods get other ones, before bt_engine_take_delta takes a pod
	 * or node: for callers that keep no index from one event to the next, but for those of pods that they
	 * are binding. Changes no decision. */
	bool moves_pods;
	/* Nobody writes what cycles come to, so a pod's nomination is in its status once the source shows it
	 * there, and is in memory alone before. Else it counts as written at once. */
	bool status_is_shown;
	bool evaluate_always; /* never decide by columns: for comparing the two ways */
	bool texts;	      /* what PostFilter says is wanted: bt_engine_post_filter_text */
	enum bt_node_sampling sampling;
	struct bt_queue_observer observer;
	/* Where the engine notes how long pods wait and decisions take; NULL: no clock is read for that. */
	struct bt_stage_latency *stages;
	/* Workers that score nodes side by side, this thread included; it outlives the engine. NULL: this
	 * thread alone. Decisions are the same for any team and batch. */
	struct bt_team *team;
	uint32_t batch;	      /* so many pods are prepared together; 0: BT_ENGINE_BATCH */
	bool always_share;    /* workers prepare also what would be done sooner without them; for tests */
	bool always_prefetch; /* what cycles read is fetched ahead however few nodes there are; for tests */
};

#define BT_ENGINE_BATCH 64

#define BT_ENGINE_PLAN_MEMORY ((size_t)2 << 30)

#define BT_ENGINE_SIGNATURES_KEPT 1024

/* What became of a pod that was handed in. */
enum bt_entry {
	BT_ENTERED_QUEUE = 0,
	BT_ENTERED_GATED,     /* it has scheduling gates */
	BT_ENTERED_SCHEDULED, /* it is on a node */
	BT_ENTERED_ENDED,     /* it has succeeded or failed: it counts nowhere */
	BT_ENTERED_FOREIGN    /* its schedulerName is no profile's */
};

/* What became of a delta. */
struct bt_taken {
	bool known;	     /* of a pod: it was there before */
	enum bt_entry entry; /* of a pod: what it is now; one that is removed has ended */
	uint32_t ix;	     /* the pod's index, or the node's slot; BT_NO_POD: it is not there */
};

enum bt_outcome {
	BT_PLACED = 0,
	BT_REFUSED, /* no node fits */
	BT_GATED,   /* not allowed to be scheduled yet */
	BT_FAILED,  /* the cycle ended in an error */
	BT_SKIPPED  /* the pod is being deleted: it is not scheduled any more */
};

struct bt_decision {
	uint32_t pod_ix;
	enum bt_outcome outcome;
	uint32_t node_ix; /* BT_PLACED */
	/*
	 * BT_REFUSED, and preemption helps: the node that the pod is nominated to from now on (else
	 * BT_NO_NODE), and who has to leave it, the most important first; the evictor has those deleted that
	 * are not being deleted yet, the last one last. Valid until the next cycle.
	 */
	uint32_t nominated_ix;
	const struct bt_victim *victims;
	uint32_t victim_n;
	bool by_group; /* the pod's PodGroup preempts them as a whole, wherever they are */
	/* Pods of lower priority that were nominated to that node and are so no longer. Valid as victims. */
	const uint32_t *cleared_nominations;
	uint32_t cleared_nominations_n;
	bt_plugin_set unschedulable_plugins; /* BT_REFUSED: who refused some node, as bits (bt_hints_name) */
	enum bt_preempt_outcome preempt;     /* BT_REFUSED: what PostFilter came to */
	struct bt_claim_release release;     /* BT_REFUSED: what PostFilter does about a claim of the pod */
	/* BT_PLACED, when nodes are counted (bt_engine_count_nodes): how many were filtered, and how many of
	 * them fit; else 0 where columns have decided. */
	uint32_t evaluated_n, feasible_n;
	/* BT_REFUSED, BT_FAILED: the pod's status as its cycle began says so already, with the same words: no
	 * status patch is written, nor seen. Set by the caller, who knows the words, before bt_engine_end. */
	bool repeats;
	struct bt_plan *plan; /* private, between bt_engine_begin and bt_engine_end */
};

/* What a plugin had against all nodes, or against one. */
struct bt_refusal {
	const char *plugin; /* its name; "Extender" for all extenders */
	const struct bt_plugin
		*judge; /* whose reasons they are; NULL: text has the reason, if there is one */
	struct bt_rejection rejection;
	const char *text; /* of a refusal by PreFilter, PreEnqueue or an extender: the reason; else NULL */
};

/*
 * Everything that can be said about one pod and the cluster as it is. All zeroes is an empty one.
 * Owns: bt_explanation_fini; its plan is valid until the engine is called again.
 */
struct bt_explanation {
	uint32_t pod_ix;
	const struct bt_plan *plan; /* NULL when gated */
	bool gated, refused, narrowed;
	/* Set by the caller, and kept: a nominated node that PreFilter has left out is not shown when it
	 * refuses the pod. */
	bool candidates_only;
	uint32_t nominated_by; /* the use that refuses the nominated node; BT_PASSED: none does, or there is
				  none */
	struct bt_refusal refusal; /* when gated, or refused by PreFilter */
	struct bt_evaluation evaluation;
	struct bt_buf text;
	const char *error; /* the cycle ends in an error: upstream's text; else NULL */
	/* What PostFilter says about a pod that fits nowhere. */
	bool post_filtered;
	bool preempts; /* preemption has a node and victims */
	struct bt_preemption preemption;
	struct bt_buf post_text;
};

struct bt_engine_counts {
	uint64_t cycle_n, placed_n, refused_n, failed_n;
	uint64_t by_columns_n, by_evaluation_n; /* how decisions were made */
	uint64_t plan_drop_n;
	uint64_t node_move_n;	  /* nodes that got another slot, because there were too many vacant ones */
	uint64_t pod_move_n;	  /* pods that got another index; options.moves_pods */
	uint64_t signature_end_n; /* signatures that were given up, because no pod had had them for long */
	uint64_t preemption_n;	  /* how often preemption found a node */
	uint64_t dry_run_n;	  /* nodes on which it was tried out */
	uint64_t evict_failed_n;  /* victims that could not be deleted */
	struct bt_ledger_counts sets;
	struct bt_queue_counts queue;
	struct bt_parallel_prepare_counts warm; /* what workers did */
};

/* Are all gates done that are on? Returns: BT_OK; BT_INVALID: errors names those that are not. */
enum bt_status bt_engine_check_gates(const struct bt_gates *gates, struct bt_config_errors *errors);

/*
 * Makes an engine for a defaulted and valid configuration, which must outlive it.
 * Returns: the engine; NULL when a profile cannot be built, with the reason in errors.
 * Owns   : bt_engine_destroy.
 */
struct bt_engine *bt_engine_create(const struct bt_config *config, const struct bt_engine_options *options,
	struct bt_config_errors *errors);
void bt_engine_destroy(struct bt_engine *engine);

/* Calls act (bt_owner_claim, bt_owner_hand_over) for each state that the scheduling thread alone writes:
 * ledger, snapshot, signatures and queue. */
void bt_engine_each_owner(struct bt_engine *engine, void (*act)(struct bt_owner *owner));

/* Has decisions say how many nodes fit, which costs a look at every node where columns decide. Context:
 * between cycles. */
void bt_engine_count_nodes(struct bt_engine *engine, bool on);

/* What the engine knows; for reading, and for bt_ingest_node. */
struct bt_cache *bt_engine_cache(struct bt_engine *engine);

/*
 * Takes what an ingestion thread made of an event: an object that is new, or another one than before, or that
 * has gone. A pod that is known under its name but has another UID takes the place of one whose end nobody
 * saw. All functions below that hand in objects describe them and take that.
 * Context: the scheduling thread.
 * Returns: BT_OK; BT_FULL when the delta says so, or a node lost a resource; BT_NOT_FOUND when what has gone
 *          was not known.
 * Owns   : the delta is given up.
 */
enum bt_status bt_engine_take_delta(
	struct bt_engine *engine, struct bt_delta *delta, struct bt_taken *out_taken);

/*
 * Hands in an object, new or changed; it stays the caller's. Returns: as bt_engine_take_delta; BT_NO_MEMORY
 * when memory is short (bt_mem_may_use), and nothing has changed; that may be said by all functions below,
 * too.
 */
enum bt_status bt_engine_show(
	struct bt_engine *engine, const struct bt_object *object, struct bt_taken *out_taken);

/* Hands in a node, new or changed. Returns: BT_OK with the node's slot; BT_FULL when one of its resources has
 * a name beyond BT_RESOURCE_MAX (the node is there without it). */
enum bt_status bt_engine_apply_node(
	struct bt_engine *engine, const struct bt_node_object *object, uint32_t *out_node_ix);

/*
 * Hands in an object that is neither node nor pod, new or changed; it stays the caller's. Storage
 * (PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode, CSIDriver, CSIStorageCapacity,
 * VolumeAttachment) and devices (ResourceClaim, ResourceSlice, DeviceClass, DeviceTaintRule) make that
 * refused pods are looked at again; so do PodGroups, with the gate GenericWorkload. What pods' selectors
 * refer to (Namespace, Service, ReplicationController, ReplicaSet, StatefulSet) and PodDisruptionBudgets do
 * not, as in upstream. In any order relative to nodes and pods. Kinds that decisions do not depend on are
 * left alone. Returns: BT_OK.
 */
enum bt_status bt_engine_apply_object(struct bt_engine *engine, const struct bt_object *object);

/* One of those has gone. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_engine_delete_object(
	struct bt_engine *engine, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);

/* Is the scheduler of that name, a name of the dictionary, one of the profiles? */
bool bt_engine_handles(const struct bt_engine *engine, uint32_t scheduler_name);

/* Does the pod wait for a scheduler that is none of the profiles? */
bool bt_engine_is_other_schedulers(const struct bt_engine *engine, const struct bt_pod_object *object);

/*
 * Hands in a pod. Returns: BT_OK; BT_EXISTS when the namespace has such a pod already; BT_FULL when it asks
 * for a resource beyond BT_RESOURCE_POD_MAX names (it is there without it), or for more than BT_REQUEST_MAX
 * (on a node all of them count); no node is looked for. out_pod_ix is BT_NO_POD when it was not entered.
 */
enum bt_status bt_engine_add_pod(struct bt_engine *engine, const struct bt_pod_object *object,
	enum bt_entry *out_entry, uint32_t *out_pod_ix);

/*
 * A known pod has changed: what it asks for, its labels, its status; also when it is on a node now, whichever
 * scheduler has bound it. A pod that has ended is removed, and one that waits and is foreign now. Returns:
 * BT_OK; BT_FULL as bt_engine_add_pod.
 */
enum bt_status bt_engine_update_pod(
	struct bt_engine *engine, uint32_t pod_ix, const struct bt_pod_object *object);

/* A pod has gone. What it used is free. Its index is free too, unless the pod is in its cycle or being
 * bound: then when that has ended. */
void bt_engine_remove_pod(struct bt_engine *engine, uint32_t pod_ix);

/* The same, and all that bt_engine_take_delta does about it: what was left by others goes first, and slots
 * and indices change, as they do when a journal of this is replayed. */
void bt_engine_delete_pod(struct bt_engine *engine, uint32_t pod_ix);

/* A node has gone; its pods stay where they are. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_engine_remove_node(struct bt_engine *engine, struct bt_str name);

/* A pod is being deleted because it was preempted: it still uses its node until bt_engine_remove_pod. */
void bt_engine_evict(struct bt_engine *engine, uint32_t pod_ix);

/*
 * A victim of the preemption for this pod could not be deleted. Nothing may ever happen that lets the pod
 * back, so it is tried again after its backoff, and may choose other victims. While its victims are being
 * evicted, no further ones are. Requires: the pod is in the ledger.
 */
void bt_engine_evict_failed(struct bt_engine *engine, uint32_t for_ix);

/* A PodGroup; its texts are the dictionary's. name is empty: none. */
struct bt_group_ref {
	struct bt_str namespace_, name, uid;
};

/* The PodGroup that a pod names; uid is empty while the group's object is not there. Requires: the pod is in
 * the ledger. */
struct bt_group_ref bt_engine_group_of(const struct bt_engine *engine, uint32_t pod_ix);

/* The PodGroup as a whole for which victims are evicted now, or none: a pod preempts for itself. For
 * bt_evictor.evict. */
struct bt_group_ref bt_engine_preempting_group(const struct bt_engine *engine);

/* The pod of a namespace and name, or BT_NO_POD. */
uint32_t bt_engine_find_pod(const struct bt_engine *engine, struct bt_str namespace_, struct bt_str name);

/* Takes the next pod out of the queue, or BT_NO_POD when nothing can be decided now. */
uint32_t bt_engine_pop(struct bt_engine *engine);

/* Takes a pod out of the queue before its turn. BT_NOT_FOUND when it is not waiting for a cycle. take_any:
 * also one that is gated. */
enum bt_status bt_engine_take(struct bt_engine *engine, uint32_t pod_ix);
enum bt_status bt_engine_take_any(struct bt_engine *engine, uint32_t pod_ix);

/*
 * Lets time do what is due by now: ends backoffs at whole seconds, and waits of more than five minutes every
 * 30 s counted from start_ns. Call whenever the clock has moved; a jump does all that it passes.
 * Requires: the engine has a clock (bt_scheduling_clock_tick asserts it).
 */
void bt_engine_tick(struct bt_engine *engine);

/* The clock has been set: the 30 s are counted from now on. */
void bt_engine_start(struct bt_engine *engine);

/* When bt_engine_tick ends a backoff the next time, or INT64_MAX. */
int64_t bt_engine_next_backoff_ns(const struct bt_engine *engine);

/*
 * When bt_engine_tick lets a pod back the next time that has waited for more than five minutes, of those that
 * were refused at refused_by_ns or before; INT64_MAX: never. Looks at every pod.
 */
int64_t bt_engine_next_flush_ns(const struct bt_engine *engine, int64_t refused_by_ns);

/*
 * The first half of a popped pod's cycle: pops, filters and scores. Objects may come and go before the second
 * half, another cycle may not begin. Of a refused pod what PostFilter says is not known yet.
 */
void bt_engine_begin(struct bt_engine *engine, uint32_t pod_ix, struct bt_decision *out_decision);

/* Takes another feasible node for a pod that was placed. Context: right after bt_engine_begin. */
void bt_engine_take_node(struct bt_engine *engine, struct bt_decision *decision, uint32_t node_ix);

/* What another scheduler has decided about a pod at the same moment. */
struct bt_imposed {
	enum bt_outcome outcome; /* BT_PLACED, BT_REFUSED, BT_FAILED */
	uint32_t node_ix;	 /* BT_PLACED */
	bool fits; /* the node is feasible here, too: the pod's claims get what is found there */
	bt_plugin_set unschedulable_plugins;
	enum bt_preempt_outcome preempt;
	uint32_t nominated_ix;
	struct bt_victim *victims; /* kept by the caller until the next cycle */
	uint32_t victim_n;
};

/*
 * Has bt_engine_end carry out what another scheduler has decided instead of the engine's own decision. On a
 * node that is not feasible here the pod's claims get nothing. Context: after bt_engine_run_post_filter.
 * Requires: the outcome is placed, refused or failed; the node is there.
 */
void bt_engine_impose(
	struct bt_engine *engine, struct bt_decision *decision, const struct bt_imposed *imposed);

/*
 * PostFilter of a pod that bt_engine_begin has refused, unless it has run: fills in what preemption came to.
 * As upstream, it sees the nodes and what is on them as they were when the cycle began, what PreFilter has
 * read of claims, slices and volumes as it was then, and all else as it is now: the preemptor, budgets,
 * nominations. bt_engine_end follows before anything changes. Requires: decision is of the pod whose
 * PostFilter is due, if one is.
 */
void bt_engine_run_post_filter(struct bt_engine *engine, struct bt_decision *decision);

/* What it has said; empty when it was not asked, or options.texts is off. Valid until the next cycle. */
struct bt_str bt_engine_post_filter_text(const struct bt_engine *engine);

/*
 * The second half: PostFilter where it was not asked yet; then assumes the pod and hands it to the binder, or
 * sets it aside. decision is bt_engine_begin's. A pod that was placed fails all the same when volumes or
 * claims that it was to get have changed since then, and PostFilter fails when the claim that it is to
 * deallocate has gone; bt_engine_end_error says how, until the next cycle.
 */
void bt_engine_end(struct bt_engine *engine, struct bt_decision *decision);
struct bt_str bt_engine_end_error(const struct bt_engine *engine);

/* Both halves. */
void bt_engine_decide(struct bt_engine *engine, uint32_t pod_ix, struct bt_decision *out_decision);

/* The extender that is to bind the pod instead of the binder's own way, or NULL. */
const struct bt_extender_config *bt_engine_extender_to_bind(const struct bt_engine *engine, uint32_t pod_ix);

/* A binder's answer. Owns: nothing. */
struct bt_binding_answer {
	bool bound;
	bool repeats; /* it has failed in the words that the pod's status had before: see bt_decision */
	struct bt_str reason; /* why it has failed, for people */
	/* The pod's ResourceClaims that the binder has written, as the server's last answer had them,
	 * whether the pod is bound or not; 0: none, or not known. */
	const struct bt_written_claim *claims;
	uint32_t claim_n;
};

/*
 * The binder's answers, each pod's once. A binding that the source has shown already is confirmed, and one of
 * a pod that has gone meanwhile is over. A pod whose binding failed is tried again after a backoff.
 * What the binder has written of claims stands: older events do not take it back, be the pod there or not.
 * A binder that does not say it (bt_engine_bound, bt_engine_bind_failed) has written all claims when the pod
 * is bound, and has none to show that are not shown already when that has failed; what it has written is kept
 * until it is shown, or the pod has gone and the claim has been shown as free, which may have been true
 * before only.
 */
void bt_engine_answer(struct bt_engine *engine, uint32_t pod_ix, const struct bt_binding_answer *answer);
void bt_engine_bound(struct bt_engine *engine, uint32_t pod_ix);
void bt_engine_bind_failed(struct bt_engine *engine, uint32_t pod_ix);

/* The queue, for looking. */
struct bt_queue *bt_engine_queue(struct bt_engine *engine);

/* The release of Kubernetes whose rules and texts count: that of the configuration. */
const struct bt_release *bt_engine_kubernetes(const struct bt_engine *engine);

/* Decides nothing and says everything about a pod as the cluster is now. The pod need not be queued. */
void bt_engine_explain(struct bt_engine *engine, uint32_t pod_ix, struct bt_explanation *out_explanation);

/*
 * Begins, or ends, to look at the cluster as if a pod that is on a node were not there: explanations in
 * between, and their reasons, do not count it. What is prepared then is not remembered.
 * Requires: no cycle is under way, and none begins in between.
 * Returns: whether it is on a node; else nothing was begun.
 */
bool bt_engine_absent_begin(struct bt_engine *engine, uint32_t pod_ix);
void bt_engine_absent_end(struct bt_engine *engine, uint32_t pod_ix);

/* The same for the pod whose cycle was the last one: by what extenders have said in it, they are not asked
 * again. */
void bt_engine_explain_cycle(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_explanation *out_explanation);
void bt_explanation_fini(struct bt_explanation *explanation);

/* Why the visited-th node of an evaluation was refused. Requires: it was. */
void bt_explanation_refusal(struct bt_engine *engine, const struct bt_explanation *explanation,
	uint32_t visited, struct bt_refusal *out_refusal);

/* How many reasons a refusal has, and one of them in words. */
uint32_t bt_refusal_reason_n(const struct bt_refusal *refusal);
void bt_refusal_reason(const struct bt_engine *engine, const struct bt_refusal *refusal, uint32_t reason,
	struct bt_buf *out_text);

/* The text of the FailedScheduling event for what was explained. */
void bt_engine_message(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_buf *out_text);

/* The name of the plugin that keeps a queued pod out at PreEnqueue, which appends its reason to out_why;
 * NULL: none does, or none that has a reason to give. */
const char *bt_engine_gate(const struct bt_engine *engine, uint32_t pod_ix, struct bt_buf *out_why);

struct bt_engine_counts bt_engine_counts(const struct bt_engine *engine);

/* How long what takes, where options.stages is there; else NULL. Valid between two cycles. */
const struct bt_cycle_metrics *bt_engine_metrics(const struct bt_engine *engine);

/* The same for how often plugins were evaluated for pods of a profile of the configuration; and the name of a
 * use of that profile. Requires: bt_engine_metrics. */
const struct bt_plugin_runs *bt_engine_plugin_runs(const struct bt_engine *engine, uint32_t profile);
const char *bt_engine_plugin_name(const struct bt_engine *engine, uint32_t profile, uint32_t use);

/* How long the last decision took, which was this pod's; 0: nobody wants to know, or it is one of a group. */
int64_t bt_engine_took_ns(const struct bt_engine *engine, uint32_t pod_ix);

/* A binding has been answered. Requires: bt_engine_metrics. */
void bt_engine_note_bind(struct bt_engine *engine, uint32_t pod_ix, bool yes, int64_t took_ns);

/* All victims of a preemption are evicted, or one is not. Requires: bt_engine_metrics. */
void bt_engine_note_eviction(struct bt_engine *engine, bool yes, int64_t took_ns);

/* An object of a source has been taken in. label: the event (bt_cluster_event_label), or UINT32_MAX: the one
 * by which waiting pods were looked at, if any were. Requires: bt_engine_metrics. */
void bt_engine_note_event(struct bt_engine *engine, uint32_t label, int64_t took_ns);
