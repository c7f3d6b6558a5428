/* SPDX-License-Identifier: Apache-2.0
 * The engine as a pipeline: sources feed watch events, ingestion threads intern their objects, the publisher
 * orders them, the scheduling thread applies them and decides a batch of pods, binder threads carry decisions
 * out, and their answers come back. Every stage is a step that does a bounded amount of work; threads repeat
 * steps (bt_pipeline_start), or one thread calls them in any order (inline), which is how simulations and
 * replays run.
 *
 *   bt_pipeline_feed                               bt_pipeline_bound, bt_pipeline_bind_failed <-----------+
 *       |                                                    |                                            |
 *       v                                                    v                                            |
 *    [feed] --ingest_step--> [delta] --publish_step--> [inbox] --schedule_step--> [bind requests] --bind_step
 *
 * Events of one source keep their order, whatever the number of threads. Timing changes one thing alone:
 * between which cycles the scheduling thread takes an event in; a journal of it replays to the same decisions
 * (engine/flow/pipeline/journal.h, I9).
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

/* ---- what goes in ---- */

enum bt_watch_event_kind {
	BT_WATCH_EVENT_APPLY = 0, /* an object, new or changed */
	BT_WATCH_EVENT_DELETE,	  /* it has gone: kind, namespace, name; uid and resource version if known */
	BT_WATCH_EVENT_SYNCED	  /* the source has shown all that there was when it began */
};

/* Private: how far a watch event has come. */
enum bt_watch_event_stage { BT_WATCH_EVENT_FED = 0, BT_WATCH_EVENT_DESCRIBED, BT_WATCH_EVENT_PUBLISHED };

/*
 * An event on its way, with the memory of its object. The source fills it, then it belongs to the pipeline.
 * What later stages look at comes first, so that the object's cache lines stay with who describes it.
 */
struct bt_watch_event {
	enum bt_watch_event_kind kind;
	/* Private: */
	enum bt_watch_event_stage stage; /* whether delta is what it means, and the publisher has it */
	uint32_t source;
	enum bt_version_verdict verdict;
	uint64_t sequence; /* of its source, from 0 */
	struct bt_object_version version;
	struct bt_delta delta;
	int64_t border_ns;     /* when it came to where it is; 0: nobody wants to know */
	struct bt_buf encoded; /* for the journal */
	/* The source's: */
	int64_t at_ns; /* when it happens, and what the source knows it by: for a step driver */
	uint64_t tag;
	struct bt_arena arena; /* what object points to */
	struct bt_object object;
};

/* An empty watch event. Context: any thread; allocates. Owns: bt_pipeline_feed or bt_watch_event_destroy. */
struct bt_watch_event *bt_watch_event_create(enum bt_watch_event_kind kind);
void bt_watch_event_destroy(struct bt_watch_event *watch_event);

/* The same for a source: one that has come to the end of its way, with its memory, if there is one. Its
 * object is
 * the caller's to set, wholly. Context: the source's thread. */
struct bt_watch_event *bt_pipeline_get_event(
	struct bt_pipeline *pipeline, uint32_t source, enum bt_watch_event_kind kind);

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
	uint64_t binding;	 /* the handle of its bind request; 0: none was sent */
	struct bt_str nominated; /* BT_REFUSED, and preemption helps: where */
	const struct bt_pod_ref *victims;
	uint32_t victim_n;
	struct bt_str message;		     /* why it was refused or failed, when messages are on */
	bt_plugin_set unschedulable_plugins; /* as in struct bt_decision */
	int32_t priority;
	uint32_t attempts;
	int64_t entered_ns; /* since when the pod is known to the queue */
};

/* Hears of every decision. Each may be NULL. Context: the scheduling thread, which waits meanwhile; may not
 * call the pipeline but for answers of its binder. */
struct bt_pipeline_sink {
	void (*decided)(void *context, const struct bt_pipeline_decision *decision);
	/* The same, for who knows the engine: as struct bt_scheduling_cycle has them. */
	void (*cycle_begins)(void *context, uint32_t pod_ix);
	/* A node or a pod is about to be taken in; upstream's name for that: BT_CLUSTER_EVENT_NODE or one of
	 * the pods', and BT_ADD, BT_UPDATE or BT_DELETE. */
	void (*event)(void *context, enum bt_cluster_event_resource resource, uint32_t action,
		const struct bt_delta *delta);
	/* A pod that waits, or is being bound, is shown on a node; it has not been taken in yet. */
	void (*arrives)(void *context, uint32_t pod_ix, struct bt_str node);
	void (*cycle_ended)(void *context, const struct bt_decision *decision,
		const struct bt_queue_info *info, uint32_t nominated, struct bt_str message);
	void (*group_ended)(void *context, const struct bt_group_end *end);
	/* A binding has ended, yes: the pod is bound. info: how it had waited; took_ns: from its decision's
	 * beginning to the answer, 0 where no stages are measured or no answer came. */
	void (*bound)(
		void *context, uint32_t pod_ix, bool yes, const struct bt_queue_info *info, int64_t took_ns);
	void *context;
};

/* A request to the binder. Owns: nothing; valid during the call. */
struct bt_bind_request {
	uint64_t handle; /* for the answer */
	uint64_t number; /* of the binding, or eviction; a check has that of the binding that it is about */
	struct bt_pod_ref pod;
	struct bt_str node;
	/* Of an eviction: the pod that it makes room for. Of a release: the ResourceClaim that keeps the pod
	 * out. */
	struct bt_pod_ref other;
	/* Of an eviction: the PodGroup as a whole for which the victim goes; an empty name: it is the pod. */
	struct bt_pod_ref group;
	bool deletes; /* of a release: the claim goes wholly */
	/* Of an eviction of several: the number of the first one for the same preemption, and after how many
	 * others the last one is to be made, and only if they have succeeded; 0 for all but it. Source:
	 * prepareCandidateAsync, v1.36.3. */
	uint64_t preemption;
	uint32_t after_n;
	/* Of a binding: what is to be written before (engine/flow/cycle/prebind_writes.h says how, and what
	 * becomes of it when something fails). */
	const struct bt_bind_request_volume *volumes;
	const struct bt_bind_request_claim *claims;
	uint32_t volume_n, claim_n;
	/* Of a binding, and of a check of one: the extender that binds the pod; NULL: none does. Of the
	 * configuration, so it stays. */
	const struct bt_extender_config *extender;
};

/*
 * Carries decisions out. Context: a binder thread; inline, the caller of the step. Each call may answer
 * before it returns, or later from any thread; what is not answered is asked again (check) or ended by the
 * source.
 */
struct bt_pipeline_binder {
	/* Answered by bt_pipeline_bound or bt_pipeline_bind_failed. NULL: every binding succeeds at once. */
	void (*bind)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/* Has a victim deleted. Answered by bt_pipeline_evicted or bt_pipeline_evict_failed. NULL: nobody is
	 * evicted. */
	void (*evict)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/*
	 * Asks about a binding without an answer: bt_pipeline_bound, the pod is on that node;
	 * bt_pipeline_bind_failed, it is not, and the earlier call cannot have an effect any more;
	 * bt_pipeline_unknown, nobody can tell. NULL: such an assumption stays until the source shows what is
	 * true; of a pod that gets devices until the binder answers, for what it writes of claims it alone
	 * knows.
	 */
	void (*check)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/*
	 * Has a ResourceClaim that keeps a pod out deallocated: status without allocation, reservedFor and
	 * devices, if it is reserved for nobody but that pod; or deleted, when it was made for extended
	 * resources, without its finalizer. Answered as an eviction: when that has failed, or is not answered
	 * in time, the pod is tried again after its backoff. The claim is as it was until the source shows
	 * that it has changed. NULL: that has happened at once. Source: PostFilter of DynamicResources,
	 * v1.36.3.
	 */
	void (*release)(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request);
	/*
	 * May it be asked for another binding? No pod is popped while not: who is decided later is decided by
	 * what is known then, and in the order of the pods that there are then. It is asked again after each
	 * answer. NULL: it always may. Context: the scheduling thread.
	 */
	bool (*has_room)(void *context);
	void *context;
};

/*
 * Says when events are taken in, when time passes and when pods are decided; then the pipeline does nothing
 * of that by itself. What is decided depends on the order of these calls only, so a step driver that waits
 * for the next event before it lets time pass decides the same with any threads. A binding counts as
 * soon as it is decided; the binder's answer ends the bind request alone. The engine's evictor gets the
 * victims.
 */
struct bt_pipeline_step_driver {
	/* Does a bounded amount of work, by the calls below. Returns whether it did anything. Context: the
	 * scheduling thread; inline, the caller of the step. */
	bool (*step)(void *context, struct bt_pipeline *pipeline);
	/* How long there is nothing to do unless something comes. Context: as step. */
	int64_t (*nap_ns)(void *context);
	/* Has it come to its end? Draining waits for that. Context: as step. */
	bool (*is_over)(void *context);
	void *context;
};

/* ---- making one ---- */

struct bt_pipeline_options {
	struct bt_limits limits;
	/* Seed, clock, order, sampling and memory as of any engine. The clock is read once a step of the
	 * scheduling thread, and never goes back; with a step driver only whether there is one counts.
	 * Binder, stages, team, and without a step driver evictor and releaser, are the pipeline's own and
	 * are not looked at. */
	struct bt_engine_options engine;
	/* Where threads and workers go, and whose memory is near workers; both outlive the pipeline. NULL:
	 * anywhere. */
	const struct bt_topo *topo;
	const struct bt_topo_plan *plan;
	struct bt_pipeline_step_driver step_driver; /* step == NULL: there is none */
	struct bt_pipeline_binder binder;
	struct bt_pipeline_sink sink;
	bool stages;	    /* measure how long stages take: bt_pipeline_stages */
	bool messages;	    /* decisions say why, which costs an evaluation of every node */
	bool wait_for_sync; /* no pod is popped until every source is synced */
	bool paused;	    /* as after bt_pipeline_pause */
	/* bt_pipeline_start starts one thread, the scheduling one, which does what ingestion threads,
	 * publisher and binder threads do, too: for machines of few cores whose sources and binders have
	 * threads of their own. No decision depends on it. */
	bool one_thread;
	/* What is taken in, and what is decided, is recorded there; or NULL. Its owner finishes it, once no
	 * thread runs any more. */
	struct bt_journal *journal;
};

/*
 * Makes a pipeline; no thread runs yet but workers.
 * Returns: the pipeline; NULL when a limit or a profile does not do, or the system gives no thread for a
 *          worker, with the reason in errors.
 * Owns   : bt_pipeline_destroy. config must outlive it.
 */
struct bt_pipeline *bt_pipeline_create(const struct bt_config *config,
	const struct bt_pipeline_options *options, struct bt_config_errors *errors);

/* Frees everything, also what is on its way. Requires: no thread of it runs, and nobody feeds it. */
void bt_pipeline_destroy(struct bt_pipeline *pipeline);

/* ---- from any thread ---- */

/*
 * Hands in a watch event. Context: one thread a source; waits up to timeout_ns for room (0: not at all;
 * BT_FOREVER). Inline, the steps are called instead of waiting.
 * Returns: BT_OK, and *watch event is the pipeline's and NULL here; BT_FULL when there was no room in time;
 *          BT_NO_MEMORY when memory is short (bt_mem_may_use) and it is no end of an object, whatever the
 * timeout; BT_CONFLICT when nothing is taken in any more, because the pipeline stops; then the event stays
 *          the caller's.
 */
enum bt_status bt_pipeline_feed(struct bt_pipeline *pipeline, uint32_t source,
	struct bt_watch_event **watch_event, int64_t timeout_ns);

/*
 * The binder's answers: of a binding with all that it knows (struct bt_binding_answer, which stays the
 * caller's),
 * or in short. Context: any thread; does not wait; allocates when claims were written.
 * Returns: BT_OK; BT_CONFLICT when nobody waits for it: the handle is none, or has been answered (both are
 * counted).
 */
enum bt_status bt_pipeline_answer(
	struct bt_pipeline *pipeline, uint64_t handle, const struct bt_binding_answer *answer);
enum bt_status bt_pipeline_bound(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_bind_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason);
enum bt_status bt_pipeline_unknown(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_evicted(struct bt_pipeline *pipeline, uint64_t handle);
enum bt_status bt_pipeline_evict_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason);

/*
 * Decides nobody, or goes on: who does not lead a cluster takes everything in, so that it knows all when its
 * turn comes, and decides nothing (I8). A pod whose cycle has begun is decided; its binding is the binder's
 * to refuse. Conductors decide when they like; replays know nothing of it.
 * Context: any thread; does not wait.
 */
void bt_pipeline_pause(struct bt_pipeline *pipeline, bool paused);

/* ---- inline: steps ---- */

/* Each returns whether it did anything. Context: one thread for all, or the pipeline's own threads. */
bool bt_pipeline_ingest_step(struct bt_pipeline *pipeline, uint32_t thread);
bool bt_pipeline_publish_step(struct bt_pipeline *pipeline);
bool bt_pipeline_schedule_step(struct bt_pipeline *pipeline); /* answers, events, the clock, then a batch */
bool bt_pipeline_bind_step(struct bt_pipeline *pipeline, uint32_t thread);

/* The parts of schedule_step, for tests that want events between two cycles. */
bool bt_pipeline_answer_step(struct bt_pipeline *pipeline);
bool bt_pipeline_apply_step(struct bt_pipeline *pipeline);
bool bt_pipeline_decide_step(struct bt_pipeline *pipeline, uint32_t cycles);

/* ---- a step driver's calls ---- */

/* What comes next of all that was fed, or NULL: nothing has come yet. It stays where it is. */
const struct bt_watch_event *bt_pipeline_next_event(struct bt_pipeline *pipeline);

/* Takes that in, or gives it up, which is for pods only. Returns: as bt_engine_take_delta; BT_OK for
 * BT_WATCH_EVENT_SYNCED. Owns: bt_pipeline_end_event. */
enum bt_status bt_pipeline_take_event(
	struct bt_pipeline *pipeline, struct bt_watch_event **out_event, struct bt_taken *out_taken);
void bt_pipeline_give_up_event(struct bt_pipeline *pipeline);

/* A watch event has come to the end of its way: its source may have it again. */
void bt_pipeline_end_event(struct bt_pipeline *pipeline, struct bt_watch_event *watch_event);

enum bt_pipeline_cycle {
	BT_SCHEDULING_CYCLE_TAKEN = 0, /* a pod, or its group, has been decided */
	BT_SCHEDULING_CYCLE_NONE,      /* no pod's turn has come */
	BT_SCHEDULING_CYCLE_LATER      /* those that bindings or decisions go to have no room */
};

/* The next pod's turn, or its group's. */
enum bt_pipeline_cycle bt_pipeline_schedule_one(struct bt_pipeline *pipeline, uint32_t *out_pod_ix);

/* The turn of a pod that waits, before it has come. Returns: false when it does not wait. */
bool bt_pipeline_schedule_pod(struct bt_pipeline *pipeline, uint32_t pod_ix);

/* It is now_ns: nothing happens by that, or what time brings by itself, or time begins. */
void bt_pipeline_set_time(struct bt_pipeline *pipeline, int64_t now_ns, enum bt_journal_time what);

/* A pod is gone, though no source says so. */
void bt_pipeline_remove_pod(struct bt_pipeline *pipeline, uint32_t pod_ix);

/*
 * Takes an object in that is not fed: all of its way at once. It stays the caller's.
 * Context: no thread runs. Returns: as bt_engine_take_delta.
 */
enum bt_status bt_pipeline_show(struct bt_pipeline *pipeline, enum bt_watch_event_kind kind,
	const struct bt_object *object, struct bt_taken *out_taken);

/* Every step once. */
bool bt_pipeline_step(struct bt_pipeline *pipeline);

/* Steps until none does anything. */
void bt_pipeline_settle(struct bt_pipeline *pipeline);

/* ---- looking ---- */

/* See pipeline_counts.def. */
struct bt_pipeline_counts {
#define X(name, text) uint64_t name;
#include "engine/flow/pipeline/pipeline_counts.def"
#undef X
	uint64_t binding_n;  /* bindings that have no answer now */
	uint64_t evicting_n; /* evictions that have none */
};

/* Context: any thread; each number was true a moment ago. */
struct bt_pipeline_counts bt_pipeline_counts(const struct bt_pipeline *pipeline);

/* A ring as it was a moment ago. */
struct bt_pipeline_ring {
	const char *name;
	uint32_t count, capacity, high_water;
	uint64_t full_n; /* how often its producer found no room */
};

/* Writes what the rings hold, at most cap of them. Context: any thread. Returns: how many there are. */
uint32_t bt_pipeline_rings(const struct bt_pipeline *pipeline, struct bt_pipeline_ring *out, uint32_t cap);

/* Adds up what all threads have measured; nothing unless the option says so. Context: any thread. */
void bt_pipeline_stages(const struct bt_pipeline *pipeline, struct bt_stage_latency *out);

/* The engine, for looking. Context: the scheduling thread, or inline; others use bt_pipeline_call. */
struct bt_engine *bt_pipeline_engine(struct bt_pipeline *pipeline);

/* Where its engine holds names; for who knows the same objects and holds theirs, too. Context: any thread.
 * Owns: the pipeline. */
struct bt_intern *bt_pipeline_names(const struct bt_pipeline *pipeline);

/*
 * Calls a function between two cycles, with the engine as it is then; for explanations and the like.
 * Context: any thread but the scheduling thread and binder threads; waits until it is done.
 */
void bt_pipeline_call(
	struct bt_pipeline *pipeline, void (*call)(void *context, struct bt_engine *engine), void *context);

/*
 * Takes the next decision, of those that wait to be polled (limits.decisions).
 * Context: one thread; waits up to timeout_ns (0: not at all; BT_FOREVER). Inline, the steps are called
 * instead.
 * Returns: NULL when there was none in time, or there will be none any more. Owns: bt_pipeline_decision_free.
 */
struct bt_pipeline_decision *bt_pipeline_poll(struct bt_pipeline *pipeline, int64_t timeout_ns);
void bt_pipeline_decision_free(struct bt_pipeline_decision *decision);

/* ---- threads ---- */

/*
 * Starts the threads: ingestion, publisher, scheduling, binders; from now on steps are theirs.
 * Returns: BT_OK; BT_IO when the system gives no more threads (out_why says so); none runs then.
 */
BT_MUST_CHECK enum bt_status bt_pipeline_start(struct bt_pipeline *pipeline, struct bt_buf *out_why);

enum bt_pipeline_end {
	BT_END_DRAIN,  /* take in what was fed, decide who can be decided, wait for the binder's answers */
	BT_END_ABANDON /* stop at the next step */
};

/*
 * Ends the threads, and with that the pipeline: nothing can be fed any more, and sources that wait come back.
 * Draining that takes longer than limit_ns goes over into abandoning, which may take as long again.
 * Context : any thread but the pipeline's; not twice at a time. Inline too.
 * Returns : true when no thread runs any more; false when some do not come back, a binder's call for
 * instance; then           bt_pipeline_threads says which, and this may be called again.
 */
bool bt_pipeline_stop(struct bt_pipeline *pipeline, enum bt_pipeline_end how, int64_t limit_ns);

enum bt_pipeline_thread_state { BT_THREAD_NONE = 0, BT_THREAD_WORKS, BT_THREAD_WAITS, BT_THREAD_ENDED };

struct bt_pipeline_thread {
	const char *name;
	enum bt_pipeline_thread_state state;
	uint64_t step_n;  /* steps that did something */
	int64_t since_ns; /* how long it has been at the step that it is at, or asleep for longer than any
			     sleeps */
	bool stalled;	  /* longer than stall_ns, or it has ended before its time */
};

/* Writes what the threads do, at most cap of them. Context: any thread. Returns: how many there are. */
uint32_t bt_pipeline_threads(
	const struct bt_pipeline *pipeline, struct bt_pipeline_thread *out, uint32_t cap);
