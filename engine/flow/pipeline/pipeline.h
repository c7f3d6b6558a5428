/* SPDX-License-Identifier: Apache-2.0
 * The engine as a pipeline: sources feed watch events, ingestion threads intern their objects, the publisher
 * orders them, the scheduling thread applies them and decides a batch of pods, binder threads send the
 * decisions, and the binder's answers come back. Every stage is a step with a bounded amount of work. Threads
 * repeat steps (bt_pipeline_start), or one thread calls them in any order (inline), as simulations and
 * replays do.
 *
 *   bt_pipeline_feed                               bt_pipeline_bound, bt_pipeline_bind_failed <-----------+
 *       |                                                    |                                            |
 *       v                                                    v                                            |
 *    [feed] --ingest_step--> [delta] --publish_step--> [inbox] --schedule_step--> [bind requests] --bind_step
 *
 * Events of one source keep their order for any number of threads. Timing decides only between which cycles
 * the scheduling thread applies an event; a journal of that replays to the same decisions
 * (engine/flow/pipeline/journal.h, I9).
 *
 * An assumption ends only by a fact, as in the modeler of Kubernetes 1.1 (I2, I4): the binder's answer, or
 * what the source shows. The states of a binding:
 *
 *   decided --ring--> ready --binder thread--> called --bt_pipeline_bound, bind_failed--> answered --> (over)
 *                       |                        |  ^
 *                       |                        |  +-- overdue: counted; check queries the outcome
 *                       |                        +--> the source has shown it: over when it is overdue
 *                       +--> cancelled: pod or node was deleted, or another scheduler has bound the pod
 */
#pragma once

#include "cache/delta.h"
#include "engine/base/arena.h"
#include "engine/base/topo.h"
#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/scheduling_cycle.h"
#include "engine/flow/pipeline/version_filter.h"
#include "engine/flow/pipeline/journal.h"
#include "engine/flow/pipeline/limits.h"
#include "engine/flow/cycle/prebind_writes.h"
#include "engine/model/object.h"

struct bt_pipeline;

#define BT_FOREVER INT64_MAX

/* ---- input ---- */

enum bt_watch_event_kind {
	BT_WATCH_EVENT_APPLY = 0, /* an object, new or changed */
	BT_WATCH_EVENT_DELETE,	  /* gone: kind, namespace, name; uid and resource version if known */
	BT_WATCH_EVENT_SYNCED	  /* the source has shown its initial list */
};

/* Private: the last stage that a watch event passed. */
enum bt_watch_event_stage { BT_WATCH_EVENT_FED = 0, BT_WATCH_EVENT_DESCRIBED, BT_WATCH_EVENT_PUBLISHED };

/*
 * A watch event with the memory of its object. The source fills it, then the pipeline owns it. Fields that
 * later stages read come first, so that the object's cache lines stay with the ingestion thread.
 */
struct bt_watch_event {
	enum bt_watch_event_kind kind;
	/* Private: */
	enum bt_watch_event_stage stage; /* DESCRIBED: delta is set; PUBLISHED: it is published */
	uint32_t source;
	enum bt_version_verdict verdict;
	uint64_t sequence; /* per source, from 0 */
	struct bt_object_version version;
	struct bt_delta delta;
	int64_t border_ns;     /* when it entered its present stage; 0: not measured */
	struct bt_buf encoded; /* for the journal */
	/* Written by the source: */
	int64_t at_ns; /* when it happens, and the source's own tag: for a step driver */
	uint64_t tag;
	struct bt_arena arena; /* memory of object */
	struct bt_object object;
};

/* Creates an empty watch event. Context: any thread; allocates. Owns: bt_pipeline_feed or
 * bt_watch_event_destroy. */
struct bt_watch_event *bt_watch_event_create(enum bt_watch_event_kind kind);
void bt_watch_event_destroy(struct bt_watch_event *watch_event);

/* The same for a source: reuses a processed event and its memory if there is one. The caller sets every field
 * of its object. Context: the source's thread. */
struct bt_watch_event *bt_pipeline_get_event(
	struct bt_pipeline *pipeline, uint32_t source, enum bt_watch_event_kind kind);

/* ---- output ---- */

/* A pod's identity. Owns: nothing. */
struct bt_pod_ref {
	struct bt_str namespace_, name, uid;
};

/* The end of a cycle. Owns: nothing; valid during the callback, or until bt_pipeline_decision_free. */
struct bt_pipeline_decision {
	uint64_t number; /* from 1, in the order of the cycles */
	int64_t time_ns; /* the engine's clock */
	struct bt_pod_ref pod;
	uint32_t pod_ix;
	enum bt_outcome outcome;
	struct bt_str node;	 /* BT_PLACED */
	uint64_t binding;	 /* the handle of its bind request; 0: none was sent */
	struct bt_str nominated; /* BT_REFUSED: the node on which preemption makes room, if any */
	const struct bt_pod_ref *victims;
	uint32_t victim_n;
	struct bt_str message;		     /* why it was refused or failed, if messages are enabled */
	bt_plugin_set unschedulable_plugins; /* as in struct bt_decision */
	int32_t priority;
	uint32_t attempts;
	int64_t entered_ns; /* when the pod was first queued */
};

/* Receives every decision. Each callback may be NULL. Context: the scheduling thread, which waits meanwhile;
 * of the pipeline's functions, a callback may call only the binder's answers. */
struct bt_pipeline_sink {
	void (*decided)(void *context, const struct bt_pipeline_decision *decision);
	/* The same for callers that know the engine: as in struct bt_scheduling_cycle. */
	void (*cycle_begins)(void *context, uint32_t pod_ix);
	/* Called before a node or a pod is applied, with upstream's event: BT_CLUSTER_EVENT_NODE or one of
	 * the pods', and BT_ADD, BT_UPDATE or BT_DELETE. */
	void (*event)(void *context, enum bt_cluster_event_resource resource, uint32_t action,
		const struct bt_delta *delta);
	/* The source shows a queued or assumed pod on a node. Called before the event is applied. */
	void (*arrives)(void *context, uint32_t pod_ix, struct bt_str node);
	void (*cycle_ended)(void *context, const struct bt_decision *decision,
		const struct bt_queue_info *info, uint32_t nominated, struct bt_str message);
	void (*group_ended)(void *context, const struct bt_group_end *end);
	/* A pod begins to wait at Permit for others of its group, assumed on that node; cycle_ended follows
	 * when the wait is over, not if the pod has gone. */
	void (*waits)(void *context, uint32_t pod_ix, uint32_t node_ix);
	/* A preemption for preemptor_ix ends the wait of victim_ix on that node; cycle_ended follows. */
	void (*preempted)(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix);
	/* A binding has ended; yes: the pod is bound. info: the pod's time in the queue; took_ns: from the
	 * start of its cycle to the answer, 0 where stages are not measured or there was no answer. */
	void (*bound)(
		void *context, uint32_t pod_ix, bool yes, const struct bt_queue_info *info, int64_t took_ns);
	void *context;
};

/* A request to the binder. Owns: nothing; valid during the call. */
struct bt_bind_request {
	uint64_t handle; /* identifies it in answers */
	uint64_t number; /* of the binding or eviction; of a check: that of its binding */
	struct bt_pod_ref pod;
	struct bt_str node;
	/* Of an eviction: the preemptor. Of a release: the ResourceClaim that makes the pod unschedulable. */
	struct bt_pod_ref other;
	/* Of an eviction: the PodGroup that preempts; an empty name: the pod preempts. Of a release: the
	 * PodGroup whose reservation is removed, too; or an empty name. */
	struct bt_pod_ref group;
	bool for_tree;	 /* that is a CompositePodGroup, with all groups below it */
	bool deletes;	 /* of a release: delete the claim */
	bool unreserves; /* of a release: remove the PodGroup's reservation alone */
	/* Of an eviction of several: the number of the first one for the same preemption. after_n, set on the
	 * last one alone (otherwise 0): it is sent after after_n others, and only if they have succeeded.
	 * Source: prepareCandidateAsync, v1.36.3. */
	uint64_t preemption;
	uint32_t after_n;
	/* Of a binding: the PreBind writes that precede it (engine/flow/cycle/prebind_writes.h). */
	const struct bt_bind_request_volume *volumes;
	const struct bt_bind_request_claim *claims;
	const struct bt_node_claim_object *node_claims;
	uint32_t volume_n, claim_n, node_claim_n;
	/* Of a binding, and of its check: the extender that binds the pod, or NULL. The configuration owns
	 * it. */
	const struct bt_extender_config *extender;
};

/*
 * Carries out decisions. Context: a binder thread; inline, the caller of the step. A callback may answer
 * before it returns, or later from any thread. A request without an answer is checked (check), or ended by
 * what the source shows.
 */
struct bt_pipeline_binder {
	/* Answered by bt_pipeline_bound or bt_pipeline_bind_failed. NULL: every binding succeeds at once. */
	void (*bind)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/* Deletes a victim. Answered by bt_pipeline_evicted or bt_pipeline_evict_failed. NULL: no pod is
	 * evicted. */
	void (*evict)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/*
	 * Queries the outcome of a binding without an answer. bt_pipeline_bound: the pod is on that node.
	 * bt_pipeline_bind_failed: it is not, and the earlier call can no longer have an effect.
	 * bt_pipeline_unknown: the outcome cannot be determined. NULL: the assumption stays until the source
	 * shows the outcome; of a pod that gets devices, until the binder answers, because only the binder
	 * knows what it writes to claims.
	 */
	void (*check)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/*
	 * Deallocates a ResourceClaim that makes a pod unschedulable: status without allocation, reservedFor
	 * and devices, if only that pod has it reserved; or deletes one that was made for extended resources,
	 * and removes its finalizer. Answered as an eviction: if it fails or times out, the pod is retried
	 * after its backoff. The claim stays unchanged until the source shows the change. NULL: the release
	 * succeeds at once. Source: PostFilter of DynamicResources, v1.36.3.
	 */
	void (*release)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/*
	 * Can the binder accept another binding? While it cannot, no pod is popped, so that later decisions
	 * use the cluster's and the queue's state of that time. Called again after each answer. NULL: it
	 * always can. Context: the scheduling thread.
	 */
	bool (*has_room)(void *context);
	void *context;
};

/*
 * Controls when events are applied, when time advances and when pods are decided; the pipeline then does none
 * of that by itself. Decisions depend only on the order of these calls, so a step driver that waits for the
 * next event before it advances time gets the same decisions for any number of threads. A binding takes
 * effect when it is decided; the binder's answer only ends the bind request. The engine's evictor receives
 * the victims.
 */
struct bt_pipeline_step_driver {
	/* Does a bounded amount of work, by the calls below. Returns: whether it did any. Context: the
	 * scheduling thread; inline, the caller of the step. */
	bool (*step)(void *context, struct bt_pipeline *pipeline);
	/* Time until the next step has work, unless something arrives earlier. Context: as step. */
	int64_t (*sleep_ns)(void *context);
	/* Has it finished? Draining waits for that. Context: as step. */
	bool (*is_over)(void *context);
	void *context;
};

/* ---- creation ---- */

struct bt_pipeline_options {
	struct bt_limits limits;
	/* Seed, clock, order, sampling and memory as for any engine. The clock is read once per step of the
	 * scheduling thread, and never goes back; with a step driver only its presence matters. The
	 * pipeline sets binder, stages, team, and without a step driver evictor and releaser, and ignores
	 * those given. */
	struct bt_engine_options engine;
	/* Placement of threads and workers, and of workers' memory; both outlive the pipeline. NULL: not
	 * pinned. */
	const struct bt_topo *topo;
	const struct bt_topo_plan *plan;
	struct bt_pipeline_step_driver step_driver; /* step == NULL: none */
	struct bt_pipeline_binder binder;
	struct bt_pipeline_sink sink;
	bool stages;	    /* measure the latency of stages: bt_pipeline_stages */
	bool messages;	    /* decisions carry messages, which costs an evaluation of every node */
	bool wait_for_sync; /* no pod is popped until every source is synced */
	bool paused;	    /* as after bt_pipeline_pause */
	/* bt_pipeline_start starts only the scheduling thread, which also runs the steps of ingestion
	 * threads, publisher and binder threads: for machines of few cores whose sources and binders have
	 * threads of their own. Decisions are the same. */
	bool one_thread;
	/* Records inputs and decisions; or NULL. Its owner calls bt_journal_finish when no thread runs any
	 * more. */
	struct bt_journal *journal;
};

/*
 * Creates a pipeline; no thread runs yet except workers.
 * Returns: the pipeline; NULL when a limit or a profile is invalid, or the system cannot start a worker's
 *          thread, with the reason in errors.
 * Owns   : bt_pipeline_destroy. config must outlive it.
 */
struct bt_pipeline *bt_pipeline_create(const struct bt_config *config,
	const struct bt_pipeline_options *options, struct bt_config_errors *errors);

/* Frees everything, including events in the rings. Requires: none of its threads runs, and no source feeds
 * it. */
void bt_pipeline_destroy(struct bt_pipeline *pipeline);

/* ---- from any thread ---- */

/*
 * Feeds a watch event. Context: one thread per source; waits up to timeout_ns for room (0: not at all;
 * BT_FOREVER). Inline, it runs the steps instead of waiting.
 * Returns: BT_OK, and the pipeline owns the event, *watch_event is NULL; BT_FULL when there was no room in
 *          time; BT_NO_MEMORY when memory is short (bt_mem_may_use) and the event is no deletion, whatever
 *          the timeout; BT_CONFLICT when the pipeline is stopping. On failure the caller keeps the event.
 */
enum bt_status bt_pipeline_feed(struct bt_pipeline *pipeline, uint32_t source,
	struct bt_watch_event **watch_event, int64_t timeout_ns);

/*
 * The binder's answers: of a binding with the claims that it wrote (struct bt_binding_answer, which the
 * caller keeps), or without. Context: any thread; does not wait; allocates when claims were written.
 * Returns: BT_OK; BT_CONFLICT when the handle is invalid or has been answered (both are counted).
 */
enum bt_status bt_pipeline_answer(
	struct bt_pipeline *pipeline, uint64_t handle, const struct bt_binding_answer *answer);
enum bt_status bt_pipeline_bound(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_bind_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason);
enum bt_status bt_pipeline_unknown(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_evicted(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_evict_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason);

/*
 * Pauses or resumes decisions. A replica that does not lead applies all events, so that its state is current
 * when it becomes the leader, and decides nothing (I8). A pod whose cycle has begun is decided; its binding
 * is the binder's to refuse. Step drivers decide by themselves; replays ignore it.
 * Context: any thread; does not wait.
 */
void bt_pipeline_pause(struct bt_pipeline *pipeline, bool paused);

/* ---- inline: steps ---- */

/* Each returns whether it did any work. Context: one thread for all, or the pipeline's own threads. */
bool bt_pipeline_ingest_step(struct bt_pipeline *pipeline, uint32_t thread);
bool bt_pipeline_publish_step(struct bt_pipeline *pipeline);
bool bt_pipeline_schedule_step(struct bt_pipeline *pipeline); /* answers, events, the clock, then a batch */
bool bt_pipeline_bind_step(struct bt_pipeline *pipeline, uint32_t thread);

/* The parts of schedule_step, for tests that apply events between two cycles. */
bool bt_pipeline_answer_step(struct bt_pipeline *pipeline);
bool bt_pipeline_apply_step(struct bt_pipeline *pipeline);
bool bt_pipeline_decide_step(struct bt_pipeline *pipeline, uint32_t cycles);

/* ---- a step driver's calls ---- */

/* The next fed event, or NULL when none has arrived. It stays in the queue. */
const struct bt_watch_event *bt_pipeline_next_event(struct bt_pipeline *pipeline);

/* Applies that event, or drops it (pods only). Returns: as bt_engine_take_delta; BT_OK for
 * BT_WATCH_EVENT_SYNCED. Owns: bt_pipeline_end_event. */
enum bt_status bt_pipeline_take_event(
	struct bt_pipeline *pipeline, struct bt_watch_event **out_event, struct bt_taken *out_taken);
void bt_pipeline_drop_event(struct bt_pipeline *pipeline);

/* A watch event is processed: returns it to its source for reuse. */
void bt_pipeline_end_event(struct bt_pipeline *pipeline, struct bt_watch_event *watch_event);

enum bt_pipeline_cycle {
	BT_SCHEDULING_CYCLE_TAKEN = 0, /* a pod, or its group, has been decided */
	BT_SCHEDULING_CYCLE_NONE,      /* no pod is ready */
	BT_SCHEDULING_CYCLE_LATER      /* the bind requests or the decisions have no room */
};

/* Runs the cycle of the next pod, or of its group. */
enum bt_pipeline_cycle bt_pipeline_schedule_one(struct bt_pipeline *pipeline, uint32_t *out_pod_ix);

/* Runs the cycle of a queued pod before it reaches the head of the queue. Returns: false when it is not
 * queued. */
bool bt_pipeline_schedule_pod(struct bt_pipeline *pipeline, uint32_t pod_ix);

/* Sets the clock to now_ns, and by `what` also runs what is due by then, or starts time. */
void bt_pipeline_set_time(struct bt_pipeline *pipeline, int64_t now_ns, enum bt_journal_time what);

/* Removes a pod that no source has deleted. */
void bt_pipeline_remove_pod(struct bt_pipeline *pipeline, uint32_t pod_ix);

/*
 * Applies an object that is not fed: all of its stages at once. The caller keeps the object.
 * Context: no thread runs. Returns: as bt_engine_take_delta.
 */
enum bt_status bt_pipeline_apply_object(struct bt_pipeline *pipeline, enum bt_watch_event_kind kind,
	const struct bt_object *object, struct bt_taken *out_taken);

/* Runs every step once. */
bool bt_pipeline_step(struct bt_pipeline *pipeline);

/* Runs steps until none does any work. */
void bt_pipeline_settle(struct bt_pipeline *pipeline);

/* ---- inspection ---- */

/* See pipeline_counts.def. */
struct bt_pipeline_counts {
#define X(name, text) uint64_t name;
#include "engine/flow/pipeline/pipeline_counts.def"
#undef X
	uint64_t binding_n;  /* bindings without an answer */
	uint64_t evicting_n; /* evictions without an answer */
};

/* Context: any thread; a snapshot of each number. */
struct bt_pipeline_counts bt_pipeline_counts(const struct bt_pipeline *pipeline);

/* A snapshot of a ring. */
struct bt_pipeline_ring {
	const char *name;
	uint32_t count, capacity, high_water;
	uint64_t full_n; /* how often its producer found it full */
};

/* Writes the state of at most cap rings. Context: any thread. Returns: the number of rings. */
uint32_t bt_pipeline_rings(const struct bt_pipeline *pipeline, struct bt_pipeline_ring *out, uint32_t cap);

/* Sums the measurements of all threads; empty unless the option is set. Context: any thread. */
void bt_pipeline_stages(const struct bt_pipeline *pipeline, struct bt_stage_latency *out);

/* The engine, for inspection. Context: the scheduling thread, or inline; others use bt_pipeline_call. */
struct bt_engine *bt_pipeline_engine(struct bt_pipeline *pipeline);

/* The engine's interned names, for callers that intern the same names. Context: any thread. Owns: the
 * pipeline. */
struct bt_intern *bt_pipeline_names(const struct bt_pipeline *pipeline);

/*
 * Calls a function between two cycles with the engine; for explanations and the like.
 * Context: any thread except the scheduling thread and binder threads; waits until the call returns.
 */
void bt_pipeline_call(
	struct bt_pipeline *pipeline, void (*call)(void *context, struct bt_engine *engine), void *context);

/*
 * Takes the next decision of those that are kept for polling (limits.decisions).
 * Context: one thread; waits up to timeout_ns (0: not at all; BT_FOREVER). Inline, it runs the steps instead.
 * Returns: NULL when there was none in time, or no more will come. Owns: bt_pipeline_decision_free.
 */
struct bt_pipeline_decision *bt_pipeline_poll(struct bt_pipeline *pipeline, int64_t timeout_ns);
void bt_pipeline_decision_free(struct bt_pipeline_decision *decision);

/* ---- threads ---- */

/*
 * Starts the threads: ingestion, publisher, scheduling, binders. From then on only they run steps.
 * Returns: BT_OK; BT_IO when the system cannot start a thread (out_why says so); then none runs.
 */
BT_MUST_CHECK enum bt_status bt_pipeline_start(struct bt_pipeline *pipeline, struct bt_buf *out_why);

enum bt_pipeline_end {
	BT_END_DRAIN,  /* apply all fed events, decide ready pods, wait for the binder's answers */
	BT_END_ABANDON /* stop at the next step */
};

/*
 * Ends the threads and the pipeline: it accepts no more events, and waiting sources return. Draining that
 * takes longer than limit_ns becomes abandoning, which may take as long again.
 * Context : any thread except the pipeline's; no concurrent calls. Inline too.
 * Returns : true when no thread runs any more; false when one does not return, for example from a call of the
 *           binder; then bt_pipeline_threads names it, and this may be called again.
 */
bool bt_pipeline_stop(struct bt_pipeline *pipeline, enum bt_pipeline_end how, int64_t limit_ns);

enum bt_pipeline_thread_state { BT_THREAD_NONE = 0, BT_THREAD_WORKS, BT_THREAD_WAITS, BT_THREAD_ENDED };

struct bt_pipeline_thread {
	const char *name;
	enum bt_pipeline_thread_state state;
	uint64_t step_n;  /* steps that did work */
	int64_t since_ns; /* how long its present step runs, or how long it sleeps beyond the maximum */
	bool stalled;	  /* longer than stall_ns, or it has ended too early */
};

/* Writes the state of at most cap threads. Context: any thread. Returns: the number of threads. */
uint32_t bt_pipeline_threads(
	const struct bt_pipeline *pipeline, struct bt_pipeline_thread *out, uint32_t cap);
