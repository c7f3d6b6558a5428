/* SPDX-License-Identifier: Apache-2.0
 * The engine as a pipeline: sources feed parcels, ingestion prepares them, the publisher puts them in order,
 * the scheduling thread applies them and decides a batch of pods, binder threads carry decisions out, and
 * their answers come back. Every stage is a step that does a bounded amount of work; threads repeat steps
 * (bt_pipeline_start), or one thread calls them in any order (inline), which is how simulations and replays
 * run.
 *
 *   bt_pipeline_feed -> [feed] -> ingest_step -> [delta] -> publish_step -> [inbox] -> schedule_step ->
 * [asks] -> bind_step ^                                    |
 *                                                                              +--- bt_pipeline_bound,
 * bind_failed <+
 *
 * Parcels of one source keep their order, whatever the number of threads. What the scheduling thread took in
 * between which cycles is all that timing changes; a journal of it replays to the same decisions
 * (engine/flow/journal.h, I9).
 *
 * An assumption ends by facts alone, as in the modeler of Kubernetes 1.1 (I2, I4): the binder's answer, or
 * what the source shows. The states of a binding:
 *
 *   decided --ring--> ready --binder thread--> called --bt_pipeline_bound, bind_failed--> answered --> (over)
 *                       |                        |  ^
 *                       |                        |  +-- overdue: counted; check asks what is true
 *                       |                        +--> the source has shown it: over when it is overdue
 *                       +--> cancelled: the pod or the node has gone, or somebody else has bound the pod
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/flow/engine.h"
#include "engine/flow/freshness.h"
#include "engine/flow/limits.h"
#include "engine/model/object.h"

struct bt_pipeline;
struct bt_journal;

#define BT_FOREVER INT64_MAX

/* ---- what goes in ---- */

enum bt_parcel_kind {
	BT_PARCEL_APPLY = 0, /* an object, new or changed */
	BT_PARCEL_DELETE, /* an object has gone: kind, namespace, name; uid and resource version if known */
	BT_PARCEL_SYNCED  /* the source has shown all that there was when it began */
};

/* An event on its way, with the memory of its object. The source fills it, then it belongs to the pipeline.
 */
struct bt_parcel {
	enum bt_parcel_kind kind;
	struct bt_object object;
	struct bt_arena arena; /* what object points to */
	/* Private: */
	uint64_t sequence; /* of its source, from 0 */
	uint32_t source;
	struct bt_sighting sighting;
};

/* An empty parcel. Context: any thread; allocates. Owns: bt_pipeline_feed or bt_parcel_destroy. */
struct bt_parcel *bt_parcel_create(enum bt_parcel_kind kind);
void bt_parcel_destroy(struct bt_parcel *parcel);

/* ---- what comes out ---- */

/* Which pod. Owns: nothing. */
struct bt_pod_ref {
	struct bt_str namespace_, name, uid;
};

/* A cycle's end. Owns: nothing; valid during the call that shows it, or until bt_pipeline_decision_free. */
struct bt_pipeline_decision {
	uint64_t number; /* from 1, in the order of the cycles */
	int64_t time_ns; /* the engine's clock */
	struct bt_pod_ref pod;
	uint32_t pod_ix;
	enum bt_outcome outcome;
	struct bt_str node;	 /* BT_PLACED */
	struct bt_str nominated; /* BT_REFUSED, and preemption helps: where */
	const struct bt_pod_ref *victims;
	uint32_t victim_n;
	struct bt_str message; /* why it was refused or failed, when messages are on */
	uint32_t rejectors;    /* as in struct bt_decision */
	uint32_t attempts;
	int64_t entered_ns; /* since when the pod is known to the queue */
};

/* Hears of every decision. Context: the scheduling thread, which waits meanwhile; may not call the pipeline but for
 * answers of its binder. */
struct bt_pipeline_sink {
	void (*decided)(void *context, const struct bt_pipeline_decision *decision);
	void *context;
};

/* A request to the binder. Owns: nothing; valid during the call. */
struct bt_ask {
	uint64_t handle; /* for the answer */
	struct bt_pod_ref pod;
	struct bt_str node;
};

/*
 * Carries decisions out. Context: a binder thread; inline, the caller of the step. Each call may answer before it
 * returns, or later from any thread; what is not answered is asked again (check) or ended by the source.
 */
struct bt_pipeline_binder {
	/* Answered by bt_pipeline_bound or bt_pipeline_bind_failed. NULL: every binding succeeds at once. */
	void (*bind)(void *context, struct bt_pipeline *pipeline, const struct bt_ask *ask);
	/* Has a victim deleted. Answered by bt_pipeline_evicted or bt_pipeline_evict_failed. NULL: nobody is
	 * evicted. */
	void (*evict)(void *context, struct bt_pipeline *pipeline, const struct bt_ask *ask);
	/*
	 * Asks about a binding without an answer: bt_pipeline_bound, the pod is on that node;
	 * bt_pipeline_bind_failed, it is not, and the earlier call cannot have an effect any more;
	 * bt_pipeline_unknown, nobody can tell. NULL: such an assumption stays until the source shows what is
	 * true.
	 */
	void (*check)(void *context, struct bt_pipeline *pipeline, const struct bt_ask *ask);
	void *context;
};

/* ---- making one ---- */

struct bt_pipeline_options {
	struct bt_limits limits;
	/* Seed, clock, order, sampling and memory as of any engine. The clock is read once a step of the
	 * scheduling thread, and never goes back. Binder and evictor are the pipeline's own and are not
	 * looked at. */
	struct bt_engine_options engine;
	struct bt_pipeline_binder binder;
	struct bt_pipeline_sink sink; /* decided == NULL: nobody listens */
	bool messages;		      /* decisions say why, which costs an evaluation of every node */
	bool wait_for_sync;	      /* no pod is popped until every source is synced */
	struct bt_journal *journal;   /* what is taken in, and what is decided, is recorded there; or NULL */
};

/*
 * Makes a pipeline; no thread runs yet.
 * Returns: the pipeline; NULL when a limit or a profile does not do, with the reason in errors.
 * Owns   : bt_pipeline_destroy. config must outlive it.
 */
struct bt_pipeline *bt_pipeline_create(const struct bt_config *config,
	const struct bt_pipeline_options *options, struct bt_config_errors *errors);

/* Frees everything, also what is on its way. Requires: no thread of it runs, and nobody feeds it. */
void bt_pipeline_destroy(struct bt_pipeline *pipeline);

/* ---- from any thread ---- */

/*
 * Hands in a parcel. Context: one thread a source; waits up to timeout_ns for room (0: not at all; BT_FOREVER). Inline,
 * the steps are called instead of waiting.
 * Returns: BT_OK, and *parcel is the pipeline's and NULL here; BT_FULL when there was no room in time; BT_CONFLICT when
 *          the pipeline takes nothing in any more, because it stops; in both cases the parcel stays the
 * caller's.
 */
enum bt_status bt_pipeline_feed(
	struct bt_pipeline *pipeline, uint32_t source, struct bt_parcel **parcel, int64_t timeout_ns);

/*
 * The binder's answers. Context: any thread; does not wait.
 * Returns: BT_OK; BT_CONFLICT when nobody waits for it: the handle is none, or has been answered (both are counted).
 */
enum bt_status bt_pipeline_bound(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_bind_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason);
enum bt_status bt_pipeline_unknown(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_evicted(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_evict_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason);

/* ---- inline: steps ---- */

/* Each returns whether it did anything. Context: one thread for all of them, or the pipeline's own threads. */
bool bt_pipeline_ingest_step(struct bt_pipeline *pipeline, uint32_t thread);
bool bt_pipeline_publish_step(struct bt_pipeline *pipeline);
bool bt_pipeline_schedule_step(struct bt_pipeline *pipeline); /* answers, events, the clock, then a batch */
bool bt_pipeline_bind_step(struct bt_pipeline *pipeline, uint32_t thread);

/* The parts of schedule_step, for tests that want events between two cycles. */
bool bt_pipeline_answer_step(struct bt_pipeline *pipeline);
bool bt_pipeline_apply_step(struct bt_pipeline *pipeline);
bool bt_pipeline_decide_step(struct bt_pipeline *pipeline, uint32_t cycles);

/* Every step once. */
bool bt_pipeline_step(struct bt_pipeline *pipeline);

/* Steps until none does anything. */
void bt_pipeline_settle(struct bt_pipeline *pipeline);

/* ---- looking ---- */

struct bt_pipeline_counts {
	/* What came in. */
	uint64_t applied_n, deleted_n; /* events that were taken in */
	uint64_t stale_n;	       /* late, repeated or reordered: dropped */
	uint64_t replaced_n;	       /* a pod of another UID under the name of one that was known */
	uint64_t unknown_n;	       /* deletes of what was not known */
	uint64_t refused_n;	       /* objects that the engine could not take */
	uint64_t synced_n;	       /* sources that are */
	/* Decisions. */
	uint64_t decided_n;
	/* Bindings. */
	uint64_t ask_n, bound_n, failed_n; /* asked of the binder; its answers */
	uint64_t cancelled_n;		   /* taken back before the binder was called */
	uint64_t pod_gone_n;		   /* the pod went, or was replaced, between decision and answer */
	uint64_t node_gone_n;		   /* the node went, or was replaced, between decision and answer */
	uint64_t elsewhere_n;		   /* somebody else bound the pod to another node in that time */
	uint64_t shown_early_n;		   /* the source showed the binding before the answer */
	uint64_t shown_failed_n;	   /* a binding that failed had come about after all */
	uint64_t overdue_n;		   /* no answer within bind_timeout_ns */
	uint64_t late_n;		   /* an overdue binding was answered after all */
	uint64_t check_n;		   /* the binder was asked what is true */
	uint64_t recovered_n; /* assumptions ended by such an answer, or by what the source had shown */
	uint64_t repeated_n;  /* answers to a handle that was answered or given up before */
	uint64_t bogus_n;     /* answers to what never was a handle */
	uint64_t evict_n, evict_failed_n;
	/* Now. */
	uint64_t binding; /* not answered */
};

/* Context: any thread, when threads run; each number is one that was true a moment ago. */
struct bt_pipeline_counts bt_pipeline_counts(const struct bt_pipeline *pipeline);

/* The engine, for looking. Context: the scheduling thread, or inline. */
struct bt_engine *bt_pipeline_engine(struct bt_pipeline *pipeline);
