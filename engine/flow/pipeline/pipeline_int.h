/* SPDX-License-Identifier: Apache-2.0
 * Declarations that the pipeline's files share.
 */
#pragma once

#include <stdalign.h>
#include <stddef.h>

#include "engine/base/atomic.h"
#include "engine/base/compiler.h"
#include "engine/base/eventcount.h"
#include "engine/base/ring.h"
#include "engine/base/thread.h"
#include "engine/base/wrap.h"
#include "engine/flow/pipeline/journal.h"
#include "engine/flow/pipeline/pipeline.h"
#include "engine/flow/cycle/scheduling_cycle.h"

/* ---- bind_requests.c: requests to the binder ---- */

/* BT_BIND_REQUEST_BOUND: notifies the binder of a binding that exists already. */
enum bt_bind_request_kind {
	BT_BIND_REQUEST_BIND = 0,
	BT_BIND_REQUEST_CHECK,
	BT_BIND_REQUEST_EVICT,
	BT_BIND_REQUEST_BOUND
};

#define BT_BIND_REQUEST_KINDS 4

/* A bind request's state. */
enum bt_bind_request_state {
	BT_BIND_REQUEST_FREE = 0,
	BT_BIND_REQUEST_READY,	   /* in transit to a binder thread, or in the outgoing list */
	BT_BIND_REQUEST_CALLED,	   /* the binder has it */
	BT_BIND_REQUEST_CANCELLED, /* withdrawn before the binder had it */
	BT_BIND_REQUEST_YES,	   /* answered: bound, evicted */
	BT_BIND_REQUEST_NO,	   /* answered: it failed */
	BT_BIND_REQUEST_UNKNOWN	   /* answered: the outcome is unknown */
};

/* Cycles between two sends of bind requests; the end of a step sends, too. */
#define BT_BIND_REQUESTS_TOGETHER 16u

#define BT_REASON_MAX	   128
#define BT_NO_BIND_REQUEST UINT32_MAX

struct bt_bind_request_slot {
	/* atomic: EDGE bind_request.word; generation, kind and state. The thread that moves it to the next
	 * state owns the slot's other fields then. */
	_Atomic uint64_t word;
	uint32_t answer_next;	    /* owner: the answering thread, then the scheduling thread */
	char reason[BT_REASON_MAX]; /* owner: the same */
	/* owner: the same; the claims that the binder has written, with their texts, or NULL. */
	struct bt_written_claim *claims;
	uint32_t claim_n;
	/* owner: the scheduling thread; binder threads read text and ends while the request is ready. */
	uint32_t ix;
	enum bt_bind_request_kind kind;
	uint32_t pod_ix;
	uint64_t number;     /* per kind, from 1; of a check: its binding's */
	uint64_t target;     /* of a check: the handle of the binding */
	int64_t due_ns;	     /* when it becomes overdue, or is checked next */
	int64_t decided_ns;  /* owner: the scheduling thread; duration of its decision, if measured */
	int64_t made_ns;     /* owner: the scheduling thread; monotonic clock, as the next two */
	int64_t called_ns;   /* owner: the binder thread */
	int64_t answered_ns; /* owner: the answering thread, then the scheduling thread */
	bool sent, overdue, checking;
	bool writes_claims; /* of a binding: only the binder knows the outcome */
	/* owner: the scheduling thread until the request is sent, then the binder thread, which takes it; or
	 * NULL. */
	struct bt_prebind_writes *writes;
	const struct bt_extender_config *extender; /* owner: as text; of a binding: its binder, or NULL */
	uint32_t previous, next;		   /* in its list; BT_NO_BIND_REQUEST: none */
	/* namespace, name, uid, node; of an eviction, also those of for_ix, and of a release those of the
	 * claim; of an eviction, also name and uid of the PodGroup that preempts, if one does. */
	struct bt_buf text;
	size_t ends[9];
	uint32_t for_ix;			  /* of an eviction: the preemptor */
	uint64_t preemption;			  /* the number of the preemption's first eviction */
	uint32_t others_n;			  /* earlier evictions of that preemption */
	bool is_last;				  /* of that preemption's evictions */
	enum bt_cycle_metric_preemptor preemptor; /* of an eviction */
	bool releases;	 /* an eviction that releases a claim which makes for_ix unschedulable */
	bool deletes;	 /* and deletes the claim */
	bool unreserves; /* or of a PodGroup's reservation alone */
};

/* A list of slots, linked by previous and next. */
struct bt_bind_request_list {
	uint32_t first, last;
};

#define BT_BIND_REQUEST_CHUNKS	    24
#define BT_BIND_REQUEST_FIRST_CHUNK 4u

/* Slots do not move; chunk k has BT_BIND_REQUEST_FIRST_CHUNK << k of them. owner: the scheduling thread,
 * except for the atomics. */
struct bt_bind_requests {
	struct bt_bind_request_slot *chunks[BT_BIND_REQUEST_CHUNKS];
	/* atomic: EDGE bind_request.slots; the scheduling thread writes, answering threads read */
	_Atomic uint32_t slot_n;
	_Atomic uint32_t answers; /* atomic: EDGE bind_request.answers; the last answered slot, plus one */
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	struct bt_bind_request_list outgoing; /* decided, not sent yet */
	bool stuck;			      /* no ring has room */
	struct bt_bind_request_list waiting;  /* sent, not overdue; oldest first */
	struct bt_bind_request_list overdue;
	uint32_t *slot_of_pod; /* by pod: the slot of its binding, plus one, or 0 */
	size_t pod_n;
	uint64_t numbers[BT_BIND_REQUEST_KINDS];
	struct bt_map by_number[BT_BIND_REQUEST_KINDS]; /* slots, during a replay */
	_Atomic uint32_t open_n;			/* bindings; atomic: anyone reads, relaxed */
	_Atomic uint32_t evicting_n;			/* evictions; the same */
	uint32_t turn;					/* the binder thread that gets the next request */
	uint32_t turn_n;				/* cycles */
	struct bt_bind_request_slot *evicting;		/* the last eviction of the present cycle, or NULL */
};

/* ---- the pipeline ---- */

/* A thread and its step. */
struct bt_stage_thread {
	struct bt_pipeline *pipeline;
	char name[BT_THREAD_NAME_BYTES];
	bool (*step)(struct bt_pipeline *p, uint32_t ix); /* init: */
	bool (*over)(struct bt_pipeline *p, uint32_t ix); /* init: while draining: has it finished? */
	uint32_t ix;
	struct bt_eventcount *park; /* where it sleeps */
	struct bt_thread *thread;
	struct bt_stage_latency *stages; /* init: its measurements, or NULL */
	_Atomic uint32_t state;	  /* enum bt_pipeline_thread_state; owner: the thread; EDGE stage.ended */
	_Atomic uint64_t step_n;  /* owner: the thread; anyone reads, relaxed */
	_Atomic int64_t began_ns; /* the same: start of its step, monotonic clock */
};

/* The most watch events that one hand-over moves. */
#define BT_RUN BT_LIMITS_RUN

/* State that a source and its stages share. */
struct bt_source_queues {
	struct bt_ring *feeds;	/* by ingestion thread, in rotation: limits.run watch events each */
	struct bt_ring *deltas; /* the same */
	struct bt_ring spent;	/* processed watch events, for reuse */
	/* owner: the source */
	alignas(BT_CACHELINE) uint64_t fed_n;
	struct bt_watch_event *spares[BT_RUN]; /* from spent */
	uint32_t spare_first, spare_n;
	/* owner: the publisher */
	alignas(BT_CACHELINE) uint64_t published_n;
	/* owner: the scheduling thread */
	alignas(BT_CACHELINE) bool synced;
};

struct bt_ingest_lane {
	struct bt_eventcount park;
	struct bt_ingest_worker *worker;
};

struct bt_binder_lane {
	struct bt_ring bind_requests;
	struct bt_eventcount park;
	struct bt_buf text; /* owner: the binder thread */
};

enum bt_ending { BT_ENDING_NOT = 0, BT_ENDING_DRAIN, BT_ENDING_ABANDON };

/* A function to call between two cycles. */
struct bt_pipeline_visit {
	void (*call)(void *context, struct bt_engine *engine);
	void *context;
	_Atomic uint32_t done; /* atomic: EDGE visit.done */
};

/* Each counter has one writer thread; any thread reads. */
struct bt_pipeline_counters {
#define X(name, text) _Atomic uint64_t name;
#include "engine/flow/pipeline/pipeline_counts.def"
#undef X
};

struct bt_pipeline {
	struct bt_pipeline_options options; /* init: */
	struct bt_limits limits;	    /* init: */
	struct bt_arena arena;		    /* names */
	struct bt_source_queues *sources;
	struct bt_ingest_lane *ingests;
	struct bt_binder_lane *binders;
	struct bt_stage_thread
		*stage_threads; /* ingestion threads, the publisher, the scheduling thread, binder threads */
	uint32_t stage_thread_n;
	struct bt_ring inbox;
	struct bt_eventcount publish_park, schedule_park;
	struct bt_eventcount end_park; /* where bt_pipeline_stop sleeps */
	/* owner: the publisher */
	alignas(BT_CACHELINE) uint32_t publish_turn;
	struct bt_version_filter version_filter;
	_Atomic uint32_t paused; /* atomic: any thread writes; relaxed: publishes no other data */
	alignas(BT_CACHELINE) _Atomic uint32_t started, ending;
	struct bt_pipeline_counters counts;
	_Atomic(struct bt_pipeline_visit *) visit; /* atomic: EDGE visit.request; or NULL */
	struct bt_lock visit_lock;		   /* one visitor at a time */
	/* owner of all below: the scheduling thread. */
	alignas(BT_CACHELINE) struct bt_engine *engine;
	struct bt_team *team; /* workers; NULL: none */
	/* Events that the step driver has received and not taken. */
	struct bt_watch_event *ahead[BT_RUN];
	uint32_t ahead_first, ahead_n;
	struct bt_buf encoded; /* scratch, for the journal */
	int64_t now_ns;	       /* the engine's clock */
	uint32_t handled;      /* label of the event being applied (bt_cluster_event_label), or UINT32_MAX */
	struct bt_bind_requests bind_requests;
	struct bt_scheduling_cycle cycle;
	struct bt_journal_player *replay; /* init: receives decisions instead of a journal; or NULL */
	struct bt_pod_ref *victims;	  /* of the present decision */
	size_t victim_cap;
	/* Decisions to be polled, and those of a group's cycle that found no room. */
	struct bt_ring decisions;
	struct bt_pipeline_decision **unpolled;
	size_t unpolled_first, unpolled_n, unpolled_cap;
};

/* Adds to a counter of the scheduling thread or the publisher. */
#define BT_COUNT(p, name, n) bt_add_owned(&(p)->counts.name, (uint64_t)(n))

/* ---- apply_events.c: events from the source ---- */

/*
 * A watch event's stages, each on its own thread.
 * bt_pipeline_describe: interns the object, and encodes it for the journal. Context: an ingestion thread.
 * bt_pipeline_number: the publisher's stage except for publishing. Returns: false when the event is stale;
 * the caller drops it.
 * bt_pipeline_take: the scheduling thread's stage. The caller keeps the watch event. Returns: as
 * bt_engine_take_delta.
 */
void bt_pipeline_describe(
	struct bt_pipeline *p, struct bt_ingest_worker *worker, struct bt_watch_event *watch_event);
bool bt_pipeline_number(struct bt_pipeline *p, struct bt_watch_event *watch_event);
enum bt_status bt_pipeline_take(
	struct bt_pipeline *p, struct bt_watch_event *watch_event, struct bt_taken *out_taken);

/* Drops a watch event during shutdown. Context: no thread runs. */
void bt_pipeline_drop(struct bt_pipeline *p, struct bt_watch_event *watch_event);

/* ---- bind_requests.c ---- */

void bt_bind_requests_init(struct bt_pipeline *p);
void bt_bind_requests_fini(struct bt_pipeline *p);

/* Callbacks of the engine: binder and evictor. */
void bt_bind_requests_bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
void bt_bind_requests_evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix);

/* Callback of the engine: releaser. */
void bt_bind_requests_release(
	void *context, struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix);

/* Notifies the binder of a binding that exists already. */
void bt_bind_requests_note_bound(struct bt_pipeline *p, uint32_t pod_ix, uint32_t node_ix);

/* Can another binding be requested? */
bool bt_bind_requests_have_room(const struct bt_pipeline *p);

/* Sends outgoing requests to the binder threads while their rings have room. */
bool bt_bind_requests_send(struct bt_pipeline *p);

/* Called after each cycle: sends once every few cycles, because waking a binder thread for each costs more
 * time than the binding takes. */
static inline void bt_bind_requests_send_some(struct bt_pipeline *p)
{
	if (++p->bind_requests.turn_n % BT_BIND_REQUESTS_TOGETHER == 0) {
		bt_bind_requests_send(p);
	}
}

/* Applies the binder's answers. */
bool bt_bind_requests_take_answers(struct bt_pipeline *p);

/* Handles overdue requests. */
bool bt_bind_requests_watch(struct bt_pipeline *p);

/* When bt_bind_requests_watch has work next, or INT64_MAX. */
int64_t bt_bind_requests_next_ns(const struct bt_pipeline *p);

/* The request of a handle; NULL when it has ended. */
struct bt_bind_request_slot *bt_bind_requests_of_handle(struct bt_pipeline *p, uint64_t handle);

/* The pod's open binding, or NULL. */
struct bt_bind_request_slot *bt_bind_requests_of_pod(struct bt_pipeline *p, uint32_t pod_ix);

/* Shrinks the table by pod after pods are deleted. */
void bt_bind_requests_trim(struct bt_pipeline *p);

/* The handle of the pod's open binding; 0: there is none. */
uint64_t bt_bind_requests_handle_of_pod(struct bt_pipeline *p, uint32_t pod_ix);

/* Withdraws a binding whose pod has changed, unless the binder has been called. */
void bt_bind_requests_cancel(struct bt_bind_request_slot *slot);

/* Is it a binding to the node of that name? Node indices may have changed since. */
bool bt_bind_requests_is_about(const struct bt_bind_request_slot *slot, struct bt_str node);

/* A node was deleted, or another node has its name. */
void bt_bind_requests_node_deleted(struct bt_pipeline *p, struct bt_str node);

/* Answers the bind request of a kind and number. Returns: false when there is none. Context: a replay. */
bool bt_bind_requests_answer(struct bt_pipeline *p, enum bt_bind_request_kind kind, uint64_t number,
	const struct bt_binding_answer *answer);

/* ---- replay.c ---- */

struct bt_journal_player;
void bt_replay_note_decision(struct bt_journal_player *replay, const struct bt_decision *decision);
bool bt_replay_evicts_at_once(const struct bt_journal_player *replay);
void bt_replay_note_eviction(const struct bt_journal_player *replay, uint32_t pod_ix);

/* Does the replay follow its journal? NULL: no. */
bool bt_replay_follows(const struct bt_journal_player *replay);

/* ---- follow.c ---- */

/* Reports the replay's decision about a pod, and replaces it by the journal's. */
void bt_follow_steer(struct bt_journal_player *replay, struct bt_decision *decision, struct bt_str message);

/* The node of a PodGroup's pod: the journal's if it is among the best, else the chosen one. */
uint32_t bt_follow_choose(struct bt_journal_player *replay, uint32_t pod_ix, uint32_t node_ix);

/* Its place in the order in which the journal's scheduler has decided the pods of the group. */
uint32_t bt_follow_rank(struct bt_journal_player *replay, uint32_t pod_ix);

/* ---- decide.c ---- */

void bt_pipeline_cycles_init(struct bt_pipeline *p);

/* Reports the ends of waits at Permit as decisions. */
struct bt_permit_observer bt_pipeline_permit_observer(struct bt_pipeline *p);

/* Runs the cycle of one pod or of its group. Returns: false when no pod is ready. */
bool bt_pipeline_decide_one(struct bt_pipeline *p);

/* Has the polling ring room for another decision? */
bool bt_pipeline_decisions_have_room(struct bt_pipeline *p);

/* A pod's identity; valid until the pod goes. */
struct bt_pod_ref bt_pipeline_pod_ref(const struct bt_pipeline *p, uint32_t pod_ix);
struct bt_str bt_pipeline_node_name(const struct bt_pipeline *p, uint32_t node_ix);

/* ---- pipeline.c ---- */

/* As bt_pipeline_create, for a replay (or NULL). */
struct bt_pipeline *bt_pipeline_make(const struct bt_config *config,
	const struct bt_pipeline_options *options, struct bt_journal_player *replay,
	struct bt_config_errors *errors);

/* The ingestion thread that gets the event with that sequence number. */
static inline uint32_t bt_pipeline_ingest_of(const struct bt_pipeline *p, uint64_t sequence)
{
	return (uint32_t)(sequence / p->limits.run % p->limits.ingest_threads);
}

/* Where a stage with the eventcount `own` sleeps: all share one when one thread runs them. */
static inline struct bt_eventcount *bt_pipeline_park(struct bt_pipeline *p, struct bt_eventcount *own)
{
	return p->options.one_thread ? &p->schedule_park : own;
}

/* Wakes a producer that waits on a full ring, once: when the consumer, which has just taken n, has freed half
 * of it. */
static inline void bt_pipeline_wake_producer(
	const struct bt_ring *ring, uint32_t n, struct bt_eventcount *park)
{
	uint32_t left = bt_ring_count(ring), half = bt_ring_capacity(ring) / 2;

	if (left <= half && left + n > half) {
		bt_eventcount_wake(park);
	}
}

/* Prefetches the cache lines of a watch event that all stages read. */
static inline void bt_pipeline_prefetch(const struct bt_watch_event *watch_event)
{
	for (size_t at = 0; at < offsetof(struct bt_watch_event, object); at += BT_CACHELINE) {
		__builtin_prefetch((const char *)watch_event + at);
	}
}

/* Records that a watch event has passed a stage. */
static inline void bt_pipeline_cross(
	struct bt_stage_latency *stages, enum bt_stage stage, struct bt_watch_event *watch_event)
{
	if (BT_UNLIKELY(stages)) {
		watch_event->border_ns = bt_stage_latency_end(stages, stage, watch_event->border_ns);
	}
}

/* Pops at most n watch events from the inbox. Returns: how many. */
uint32_t bt_pipeline_receive_events(struct bt_pipeline *p, struct bt_watch_event **out, uint32_t n);

/* When the scheduling thread has timed work next, or INT64_MAX; by the engine's clock. */
int64_t bt_pipeline_next_ns(const struct bt_pipeline *p);

/* ---- threads.c ---- */

void bt_stage_threads_init(struct bt_pipeline *p);
void bt_stage_threads_fini(struct bt_pipeline *p);
bool bt_pipeline_runs(const struct bt_pipeline *p);

/* The thread's measurements, or NULL. */
struct bt_stage_latency *bt_pipeline_ingest_stages(const struct bt_pipeline *p, uint32_t thread);
struct bt_stage_latency *bt_pipeline_publish_stages(const struct bt_pipeline *p);
struct bt_stage_latency *bt_pipeline_schedule_stages(const struct bt_pipeline *p);
struct bt_stage_latency *bt_pipeline_bind_stages(const struct bt_pipeline *p, uint32_t thread);

/* Runs a visitor's function. Context: the scheduling thread. */
bool bt_pipeline_receive(struct bt_pipeline *p);
