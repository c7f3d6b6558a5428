/* SPDX-License-Identifier: Apache-2.0
 * The library's internals, shared by its files. A handle (struct berth) is a slot of a static table, never
 * freed, so that use after destroy is detected.
 *
 * Without threads, calls hold the handle's lock, which protects all its state. With threads they hold it
 * briefly, to be counted, and shared state has its own locks (struct bt_lib_threads).
 */
#pragma once

#include "engine/base/atomic.h"
#include "engine/base/eventcount.h"
#include "engine/base/thread.h"
#include "engine/berth.h"
#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/scheduling_cycle.h"
#include "tools/format/object_reader.h"
#include "tools/format/proto.h"
#include "tools/kube/objects/admission.h"

struct bt_lib_threads;

/* A text being decoded. */
struct bt_lib_job {
	struct berth_applied applied;
	struct bt_buf problems; /* the first ones, one per line */
	bool strict, stop, limited, removes;
	bool late; /* berth_stop was called */
};

/* A decision of the current cycle. Its strings live in the handle's cycle_arena. */
struct bt_lib_record {
	struct berth_decision decision;
	uint32_t pod_ix;
};

/* A pod that preemption evicts in the current cycle. */
struct bt_lib_evicted {
	struct berth_pod_ref pod;
	uint32_t pod_ix;
	bool reported; /* by a decision */
};

/* A binding of the current cycle. */
struct bt_lib_ticket {
	uint64_t ticket;
	uint32_t pod_ix;
};

/* The caller's nonzero user values of pods and nodes. lock(lock): all of it. */
struct bt_lib_users {
	struct bt_lock lock;
	struct bt_map ixs; /* by a hash of the name */
	uint64_t *values;
	uint32_t *vacant;
	size_t value_n, value_cap, vacant_n, vacant_cap;
};

/* Pods that berth_preempt_pods has evicted together, and has not put back. */
struct bt_lib_preemption {
	uint64_t number;
	uint32_t depth; /* of its transaction */
	uint32_t n;
	uint32_t *pod_ixs;
};

/* The names of nodes by slot, and scratch for as many slots. */
struct bt_lib_node_names {
	const char **names; /* NULL: not a live node */
	uint32_t *ixs;
	size_t cap;
	uint32_t n;
	uint64_t version; /* live_version of the snapshot */
};

/* The state of a handle. */
struct bt_lib {
	struct berth *handle;
	struct berth_options options; /* its strings are not copied */
	struct bt_config config;
	struct bt_engine *engine;  /* with threads: the scheduling thread's, for bt_lib_visit */
	int64_t now_ns;		   /* without threads: of a clock that is not the machine's */
	_Atomic uint32_t stopped;  /* atomic: set once */
	struct bt_eventcount park; /* threads that wait for decisions */
	struct bt_lib_users users;
	/* Feeding. */
	struct bt_object_reader *reader;
	struct bt_admission admission;
	struct bt_arena compact; /* one structure as an object */
	struct bt_lib_job *job;
	/* Deciding; with threads, the scheduling thread's. */
	struct bt_scheduling_cycle cycle;
	struct bt_arena cycle_arena;
	struct bt_lib_record *records; /* of the last cycle; those before next_record were returned */
	size_t record_n, record_cap, next_record;
	struct bt_lib_evicted *evicted;
	size_t evicted_n, evicted_cap;
	uint64_t decision_n, ticket_n, bound_n, bind_failed_n;
	struct bt_map tickets;	     /* open bindings: the pod's index by ticket */
	struct bt_lib_ticket *fresh; /* of the current cycle */
	size_t fresh_n, fresh_cap;
	struct bt_lib_threads *threads; /* or NULL */
	/* Transactions. */
	struct bt_lib_preemption *preemptions; /* of open transactions, outer ones first */
	size_t preemption_n, preemption_cap;
	uint64_t preemption_number; /* of the last one */
	uint32_t *copies;	    /* placed by the last berth_schedule_pods_by_template */
	size_t copy_n, copy_cap;
	struct bt_lib_node_names nodes; /* of berth_feasible_nodes */
	struct bt_proto *proto;		/* NULL: no message was read yet */
};

/* ---- handle.c ---- */

/* Allocates a handle; NULL: none free. */
struct berth *bt_lib_publish(struct bt_lib *lib);

/*
 * Begins a call: this thread's error is cleared, and without threads the handle's lock taken.
 * Returns: BERTH_OK, then bt_lib_leave must follow; else the call's result, with the error set.
 */
enum berth_status bt_lib_enter(struct berth *handle, struct bt_lib **out);
void bt_lib_leave(struct bt_lib *lib);

/*
 * Releases the handle for other calls while this one waits; it cannot be destroyed meanwhile. Without
 * threads.
 */
void bt_lib_pause(struct bt_lib *lib);
void bt_lib_resume(struct bt_lib *lib);

/* Retires the handle: later calls fail. Replaces bt_lib_leave. Returns: false when another thread is in a
 * call. */
bool bt_lib_retire(struct bt_lib *lib);

/* Sets a call's error, and returns its status. handle may be NULL. */
enum berth_status bt_lib_fail(const struct berth *handle, enum berth_status status, const char *format, ...)
	BT_PRINTF(3, 4);

/* BERTH_OK, or that the handle is stopped. */
enum berth_status bt_lib_check_stopped(struct bt_lib *lib);

/* Without threads: is a transaction open? */
bool bt_lib_in_transaction(const struct bt_lib *lib);

/* As bt_lib_check_stopped, and BERTH_BUSY while a transaction is open. */
enum berth_status bt_lib_check_cycles(struct bt_lib *lib);

/* A running callback on this thread. Nests. */
struct bt_lib_frame {
	const struct berth *handle;
	const struct bt_lib_frame *up;
};

void bt_lib_callback_begin(const struct bt_lib *lib, struct bt_lib_frame *frame);
void bt_lib_callback_end(const struct bt_lib_frame *frame);

void bt_lib_log(struct bt_lib *lib, enum berth_level level, const char *text);

/* Copies a structure that starts with its size; missing members are zero. Returns: false when the size is
 * invalid. */
bool bt_lib_copy_in(const void *from, size_t least, void *to, size_t size);

/* ---- users.c ---- */

void bt_lib_users_fini(struct bt_lib_users *users);

/* Stores the user value of a pod or node; 0: none. */
void bt_lib_set_user(struct bt_lib *lib, const struct bt_object *object, uint64_t user);
uint64_t bt_lib_pod_user(struct bt_lib *lib, struct bt_str namespace_, struct bt_str name);
uint64_t bt_lib_node_user(struct bt_lib *lib, struct bt_str name);

/* ---- feed.c ---- */

/* Begins and ends a call that feeds. Returns: as bt_lib_enter, and BERTH_STOPPED. */
enum berth_status bt_lib_begin_feeding(struct berth *handle, struct bt_lib **out);
void bt_lib_end_feeding(struct bt_lib *lib);

/* Callbacks for admitted objects, and for problems; their context is the struct bt_lib. */
void bt_lib_admitted(void *context, struct bt_object *object, bool made);
void bt_lib_report(void *context, const struct bt_diagnosis *diagnosis);

/*
 * Applies or enqueues an object. Returns: as bt_engine_take_delta; with threads BT_OK, or BT_CONFLICT: too
 * late.
 */
enum bt_status bt_lib_take(struct bt_lib *lib, const struct bt_object *object, struct bt_taken *out);

/* Applies an event: an object, or its deletion. */
void bt_lib_take_event(struct bt_lib *lib, struct bt_object *object, bool gone);

/* Is the number of nodes or pods below its limit? */
bool bt_lib_has_room(const struct bt_lib *lib, const struct bt_object *object);

/* ---- watch.c ---- */

/* Reads events, with a job begun. */
void bt_lib_read_events(struct bt_lib *lib, struct bt_str text);

/* ---- decide.c ---- */

void bt_lib_bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
void bt_lib_evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix);
void bt_lib_cycle_ended(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message);

/* The public value of an outcome; 0: not reported. */
enum berth_outcome bt_lib_outcome(enum bt_outcome outcome);

/* A text in an arena, with its NUL. */
const char *bt_lib_keep(struct bt_arena *arena, struct bt_str text);

/* The handle's clock. */
int64_t bt_lib_time(const struct bt_lib *lib);

/* A pod by name, its strings in the arena. */
struct berth_pod_ref bt_lib_refer(
	struct bt_lib *lib, struct bt_arena *arena, uint32_t pod_ix, uint32_t node_ix);

/* A cycle begins: the decisions of the last one end. */
void bt_lib_begin_cycle(struct bt_lib *lib);

/* ---- query.c ---- */

enum berth_pod_state bt_lib_state_of(struct bt_engine *engine, uint32_t pod_ix);

/* The text of the FailedScheduling event that the pod would get now; "" when it fits, or for BT_NO_POD. Owns:
 * the caller; berth_free. */
char *bt_lib_message(struct bt_engine *engine, uint32_t pod_ix);

/* Calls the bind callback. Unknown results count as failures. */
enum berth_answer bt_lib_call_binder(struct bt_lib *lib, const struct berth_decision *decision);

/* ---- threads.c ---- */

/* Makes the pipeline and starts it. Returns: BERTH_OK, or berth_create's result, with the error set. */
enum berth_status bt_lib_threads_start(struct bt_lib *lib, const struct bt_engine_options *options);

/* Returns: whether all threads have ended. */
bool bt_lib_threads_stop(struct bt_lib *lib, enum berth_stop how, int64_t timeout_ns);
void bt_lib_threads_fini(struct bt_lib *lib);

/* One feeder at a time. */
void bt_lib_threads_feed_begin(struct bt_lib *lib);
void bt_lib_threads_feed_end(struct bt_lib *lib);

/* Enqueues an object: new, changed or deleted. Returns: BT_OK; BT_CONFLICT when it is too late. */
enum bt_status bt_lib_threads_hand_over(struct bt_lib *lib, const struct bt_object *object, bool gone);

/* Ends an admission; pods that it creates depend on the enqueued nodes. */
void bt_lib_threads_finish_admission(struct bt_lib *lib);

enum berth_status bt_lib_threads_next(
	struct bt_lib *lib, int64_t timeout_ns, const struct berth_decision **out);
enum berth_status bt_lib_threads_settle(struct bt_lib *lib, int64_t timeout_ns);
enum berth_status bt_lib_threads_answer(struct bt_lib *lib, uint64_t ticket, bool bound);
enum berth_status bt_lib_threads_set_time(struct bt_lib *lib, int64_t now_ns);
int64_t bt_lib_threads_time(const struct bt_lib *lib);

/* bound, bind_failed, open_bindings and decisions. */
void bt_lib_threads_count(struct bt_lib *lib, struct berth_counts *out);

/* Calls a function with exclusive access to the engine. It returns errors in its context, since with threads
 * it runs on another thread. */
void bt_lib_visit(struct bt_lib *lib, void (*call)(void *context, struct bt_engine *engine), void *context);

/* ---- transaction.c ---- */

/* Adds or changes a pod or node in the open transaction. Returns: as bt_transaction_add_pod and
 * bt_transaction_apply_node; BT_UNSUPPORTED for other kinds. */
enum bt_status bt_lib_try_object(struct bt_lib *lib, const struct bt_object *object, struct bt_taken *out);

/* Begins a call for handles without threads. changes: only in a transaction. Returns: as bt_lib_enter. */
enum berth_status bt_lib_transaction_enter(struct berth *berth, bool changes, struct bt_lib **out);

/* The pod, pending or not, or BT_NO_POD with the error set. */
uint32_t bt_lib_find_any(struct bt_lib *lib, const char *pod_namespace, const char *name);

/* The same for a pod that has no node yet. */
uint32_t bt_lib_find_pending(struct bt_lib *lib, const char *pod_namespace, const char *name);

/* The result of a call with a name that was not found. */
enum berth_status bt_lib_not_found(const char *name);

/* A node's name; empty for BT_NO_NODE. */
struct bt_str bt_lib_node_name(const struct bt_lib *lib, uint32_t node_ix);

/* Ends the preemptions of transactions deeper than this. */
void bt_lib_end_preemptions(struct bt_lib *lib, uint32_t depth);

/* ---- workload.c ---- */

void bt_lib_workload_fini(struct bt_lib *lib);
