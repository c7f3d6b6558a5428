/* SPDX-License-Identifier: Apache-2.0
 * The library's insides, shared by its files. A handle (struct berth) is a slot of a static table: it is
 * never freed, so that a handle that was destroyed is known as such.
 */
#pragma once

#include "engine/base/park.h"
#include "engine/base/thread.h"
#include "engine/berth.h"
#include "engine/flow/engine.h"
#include "tools/codec/object.h"
#include "tools/kube/admission.h"
#include "engine/flow/turn.h"

/* A text that is being read. */
struct bt_lib_job {
	struct berth_applied applied;
	struct bt_buf problems; /* the first ones, a line each */
	bool strict, stop, limited, removes;
};

/* A decision that nobody has asked for yet. Its strings live in the handle's turn_arena. */
struct bt_lib_record {
	struct berth_decision decision;
	uint32_t pod_ix;
};

/* A pod that preemption evicts in the turn at hand. */
struct bt_lib_evicted {
	struct berth_pod_ref pod;
	uint32_t pod_ix;
	bool told; /* by a decision */
};

/* What a handle stands for. lock(handle): all of it. */
struct bt_lib {
	struct berth *handle;
	struct berth_options options; /* its strings are not kept */
	struct bt_config config;
	struct bt_engine *engine;
	int64_t now_ns; /* of a clock that is not the machine's */
	bool stopped;
	struct bt_park park; /* whoever waits for decisions */
	/* Feeding. */
	struct bt_object_reader *reader;
	struct bt_admission admission;
	struct bt_arena compact; /* one structure as an object */
	struct bt_lib_job *job;
	/* Deciding. */
	struct bt_turn turn;
	struct bt_arena turn_arena;
	struct bt_lib_record *records; /* of the last turn; those before next_record have been given out */
	size_t record_n, record_cap, next_record;
	struct bt_lib_evicted *evicted;
	size_t evicted_n, evicted_cap;
	uint64_t decision_n, ticket_n, bound_n, bind_failed_n;
	struct bt_map tickets;		  /* open bindings: the pod's index by ticket */
	uint64_t *pod_users, *node_users; /* by pod index and node slot */
	size_t pod_user_n, node_user_n;
	uint64_t *pod_tickets; /* by pod index: the last ticket */
	size_t pod_ticket_n;
	struct bt_buf text; /* scratch, and the node's name of berth_find_pod */
};

/* ---- handle.c ---- */

/* A handle for a library; NULL when there is none left. */
struct berth *bt_lib_publish(struct bt_lib *lib);

/*
 * Begins a call: this thread's error is cleared and the handle's lock taken.
 * Returns: BERTH_OK, and bt_lib_leave has to follow; else what the call returns, with the error said.
 */
enum berth_status bt_lib_enter(struct berth *handle, struct bt_lib **out);
void bt_lib_leave(struct bt_lib *lib);

/* Ends the handle: whoever uses it from now on is told. Takes the place of bt_lib_leave. */
void bt_lib_retire(struct bt_lib *lib);

/* Says why a call fails, and returns the status for it to return. handle may be NULL. */
enum berth_status bt_lib_fail(const struct berth *handle, enum berth_status status, const char *format, ...)
	BT_PRINTF(3, 4);

/* A callback is being run, on this thread. Nests. */
struct bt_lib_frame {
	const struct berth *handle;
	const struct bt_lib_frame *up;
};

void bt_lib_callback_begin(const struct bt_lib *lib, struct bt_lib_frame *frame);
void bt_lib_callback_end(const struct bt_lib_frame *frame);

void bt_lib_log(struct bt_lib *lib, enum berth_level level, const char *text);

/* Copies what the caller has of a structure that begins with its size; the rest is zero. Returns: false when
 * the size is not one that such a structure can have. */
bool bt_lib_copy_in(const void *from, size_t least, void *to, size_t size);

/* ---- feed.c ---- */

/* Hears of objects that admission lets through, and of problems; their context is the struct bt_lib. */
void bt_lib_admitted(void *context, struct bt_object *object, bool made);
void bt_lib_report(void *context, const struct bt_diagnosis *diagnosis);

/* Hands an object to the engine. Returns: as bt_engine_take_delta. */
enum bt_status bt_lib_take(struct bt_lib *lib, const struct bt_object *object, struct bt_taken *out);

/* Is there room for one more node or pod? */
bool bt_lib_has_room(const struct bt_lib *lib, const struct bt_object *object);

/* Keeps what the caller knows a pod or node by. */
void bt_lib_set_user(uint64_t **users, size_t *n, uint32_t ix, uint64_t user);

/* ---- decide.c ---- */

void bt_lib_bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
void bt_lib_evict(void *context, struct bt_engine *engine, uint32_t pod_ix);
void bt_lib_told(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message);

/* Decides until nothing can be decided now, or max decisions were made (0: no matter how many). Returns how
 * many. */
uint64_t bt_lib_decide(struct bt_lib *lib, uint64_t max);
