/* SPDX-License-Identifier: Apache-2.0
 * The writer's parts. Everything here happens on the thread of its HTTP client unless said otherwise.
 *
 *   binder, sink, listener --inbox--> begin --> queue of its class --> sent --> answered --> (over)
 *                                                ^                       |         |
 *                                                +---- later: a time ----+---------+
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/atomic.h"
#include "engine/base/map.h"
#include "engine/base/eventcount.h"
#include "engine/flow/cycle/cycle_api_calls.h"
#include "tools/format/json.h"
#include "tools/cluster/write/pod_store.h"
#include "tools/cluster/write/rate_limiter.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/write/writer.h"

#define BT_WRITE_S	    INT64_C(1000000000)
#define BT_WRITE_TIMEOUT_NS (30 * BT_WRITE_S) /* of one call */
/* In shadow mode the other scheduler is waited for so long, to bind a pod or to delete a victim. */
#define BT_SHADOW_WAIT_NS (5 * BT_WRITE_S)
#define BT_SHADOW_REASON  "nothing is written in shadow mode"
#define BT_WRITE_TRIES	  4 /* of what is no binding */

/* What goes first. */
enum bt_write_class { BT_CLASS_BIND = 0, BT_CLASS_EVICT, BT_CLASS_STATUS, BT_CLASS_EVENT, BT_CLASS_N };

/* What an answer comes to. */
enum bt_write_fate {
	BT_FATE_DONE = 0,     /* 2xx */
	BT_FATE_REFUSED,      /* 4xx */
	BT_FATE_THROTTLED,    /* 429: it has had no effect */
	BT_FATE_SERVER_ERROR, /* 5xx: it may have had one */
	BT_FATE_UNSENT,
	BT_FATE_LOST
};

struct bt_answer {
	enum bt_write_fate fate;
	uint32_t status;
	struct bt_str body, error;
};

struct bt_write_op;

/* What kinds of ops do. */
struct bt_write_op_verbs {
	enum bt_write_class class;
	/* It has come out of the inbox, or was made here. */
	void (*begin)(struct bt_writer *writer, struct bt_write_op *op);
	/* Fills in a call, with path and body in the writer's buffers. Returns: false when there is nothing
	 * to send, and the op has gone on or is over. */
	bool (*request)(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call);
	/* Goes on: queues, defers or ends the op. */
	void (*answered)(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer);
	/* It may not be written: somebody else leads, or the writer winds up. Goes on or ends the op. */
	void (*fenced)(struct bt_writer *writer, struct bt_write_op *op);
	/* The writer ends; sent: it may have had an effect. Only says so; the op is freed by the caller. */
	void (*given_up)(struct bt_writer *writer, struct bt_write_op *op, bool sent);
};

/* What the texts of an op or an event have at first: with the block's head, a size class of jemalloc. */
#define BT_OP_TEXT_BYTES 496

/* One thing to be written, in one or several calls. Thousands wait at times: what only one class has shares
 * its place with what only another has. */
struct bt_write_op {
	struct bt_write_op *next; /* of the inbox, a queue or those that wait for a time */
	const struct bt_write_op_verbs *verbs;
	struct bt_writer *writer;
	struct bt_arena arena; /* texts */
	int stage;
	bool reads; /* its next call changes nothing: neither throttled nor fenced */
	bool again; /* its next call was sent before */
	bool ahead; /* a binding that has not been sent, and that nothing but its turn keeps back */
	uint64_t handle, number;
	struct bt_pod_ref pod, other; /* EVICT: the victim, and whom it leaves for */
	struct bt_str node;
	int64_t due_ns; /* when it is queued; once it is, since when */
	int64_t until_ns, sent_ns;
	uint32_t tries;
	/* EVICT: as struct bt_bind_request has them */
	uint64_t preemption;
	uint32_t after_n;
	struct bt_pod_ref group;
	union {
		struct { /* BIND, CHECK, RELEASE: */
			const struct bt_extender_config
				*extender;	       /* who binds the pod; NULL: the API server */
			enum bt_extender_end extended; /* what it has answered */
			bool unsure;		       /* an earlier call may have an effect yet */
			bool has_volumes;	       /* it counts in the writer's volume_n */
			bool prebound;		       /* somebody has named the claim in it */
			bool waits_for_devices;	       /* that has been said */
			bool deletes;		       /* RELEASE: the claim goes wholly */
			uint32_t confirmed;
			struct bt_stored_pod known; /* BIND: as it was when it was asked for */
			struct bt_str reason;
			struct bt_prebind *prebind; /* what is written before; or NULL */
			struct bt_str version;	    /* of the PersistentVolume at hand */
			uint64_t shown_n;	    /* the writer's, when it looked last */
			struct bt_str containers;   /* of the pod, as a JSON array of names */
		};
		struct { /* REPORT: */
			struct bt_api_cycle cycle;
			struct bt_pod_ref *cleared_nominations;
			uint32_t cleared_nominations_n;
		};
		struct bt_api_status status; /* STATUS, and of a PodGroup that is reported */
		struct bt_sent_event *event; /* EVENT */
	};
};

struct bt_write_op_list {
	struct bt_write_op *first, *last;
	uint32_t n;
};

/* A preemption with several victims: how many of them have gone, or will not. */
struct bt_preemption_now {
	uint64_t number;
	uint32_t over_n;
	bool failed;
	struct bt_write_op *last; /* it waits for the others; NULL: it has not come yet */
};

struct bt_sent_event;
struct bt_event_recorder;
struct bt_prebind;
struct bt_shadow;
struct bt_statuses;

struct bt_writer {
	struct bt_writer_options options;     /* init: */
	struct bt_http *http;		      /* init: */
	struct bt_pipeline *pipeline;	      /* init: by bt_writer_attach */
	struct bt_pod_store *known;	      /* init: the pointer */
	struct bt_pod_store *known_groups;    /* init: the pointer; PodGroups, as pods without a UID */
	char *host;			      /* init: */
	struct bt_device_waits *device_waits; /* init: the pointer */

	_Atomic(struct bt_write_op *) inbox; /* atomic: EDGE write.inbox */
	_Atomic uint64_t open_n;	     /* atomic: ops that are not over */
	_Atomic uint64_t report_n;	     /* atomic: of those, reports */
	_Atomic uint64_t volume_n;	     /* atomic: and bindings that have volumes to wait for */
	_Atomic uint32_t ahead_n;	     /* atomic: and those that are ahead */
	bool full; /* owner: the scheduling thread; too many were, and not few are yet */
	struct bt_log_limit bind_said, evict_said, patch_said,
		event_said;	       /* what went wrong, once a second */
	struct bt_eventcount over;     /* woken when open_n comes to nothing */
	_Atomic int64_t said_until_ns; /* atomic: since it winds up: until when events and patches may go;
					  else INT64_MAX */
	_Atomic bool ending;	       /* atomic: calls are given up, none is made any more */

	/* owner: the client's thread */
	struct bt_write_op_list queues[BT_CLASS_N];
	struct bt_write_op *later;
	uint32_t later_n;
	int64_t later_ns; /* when the first of them is due, or before */
	int64_t timer_ns; /* when this is called the next time */
	int64_t hold_ns;  /* nothing is written before, by 429 */
	int64_t slowed_ns;
	int64_t way_ns, next_way_ns, way_since_ns; /* how long the way to the server is */
	uint64_t shown_n; /* volumes, claims, nodes that the watch has shown to those who wait for some */
	uint32_t flying, flying_events;
	double window; /* so many may be out: less after errors, more where the way is long */
	uint32_t since_event;
	struct bt_rate_limiter limiter, event_limiter;
	struct bt_map bindings;		       /* number -> 1 of those that are here */
	struct bt_preemption_now *preemptions; /* evict.c's */
	size_t preemption_n, preemption_cap;
	struct bt_event_recorder *events;
	struct bt_statuses *statuses;
	struct bt_shadow *shadow; /* dry */
	struct bt_api_calls calls;
	struct bt_arena scratch;
	struct bt_json *json;
	struct bt_buf path, body, text;

	/* owner: the client's thread, anyone reads */
	struct {
#define X(name, words) _Atomic uint64_t name;
		BT_WRITER_COUNTS(X)
#undef X
		_Atomic uint32_t in_flight, waiting;
	} counts;
};

#define BT_WRITE_COUNT(writer, name) bt_add_owned(&(writer)->counts.name, UINT64_C(1))

/* ---- writer.c ---- */

int64_t bt_write_now(const struct bt_writer *writer);  /* monotonic */
int64_t bt_write_wall(const struct bt_writer *writer); /* since 1970 */

/* An op, counted as open. Context: any thread; allocates. Owns: bt_write_op_end. */
struct bt_write_op *bt_write_op_create(struct bt_writer *writer, const struct bt_write_op_verbs *verbs);
void bt_write_op_end(struct bt_write_op *op);

/* The two halves of bt_write_op_end: it does not count as open any more; its memory goes. */
void bt_write_op_close(struct bt_write_op *op);
void bt_write_op_free(struct bt_write_op *op);

struct bt_str bt_write_op_copy(struct bt_write_op *op, struct bt_str text);
struct bt_pod_ref bt_write_op_copy_ref(struct bt_write_op *op, const struct bt_pod_ref *ref);

/* Its turn has come, or it waits for something else. */
void bt_write_op_goes(struct bt_write_op *op);

/* Hands an op to the writer's thread. Context: any thread; lock-free. */
void bt_write_op_post(struct bt_write_op *op);

/* Puts an op behind the others of its class; in front of them; or there in some time. */
void bt_write_op_queue(struct bt_write_op *op);
void bt_write_op_queue_first(struct bt_write_op *op);
void bt_write_op_later(struct bt_write_op *op, int64_t delay_ns);

/* Its next call is one that was sent before. */
void bt_write_op_repeat(struct bt_write_op *op);

/* How long to wait before the next try. */
int64_t bt_write_op_backoff_ns(const struct bt_write_op *op);

/* Goes on after what is no binding was not done: again, at most BT_WRITE_TRIES times. Returns: false when it
 * has been tried often enough, or was refused. */
bool bt_write_op_again(struct bt_write_op *op, const struct bt_answer *answer);

/* A path such as /api/v1/namespaces/NS/pods/NAME/binding, in the writer's buffer. namespace_: may be empty.
 */
struct bt_str bt_write_path(struct bt_writer *writer, const char *prefix, struct bt_str namespace_,
	const char *resource, struct bt_str name, const char *part);

/* The path of a pod, or of something of it, into the writer's buffer. */
struct bt_str bt_write_pod_path(struct bt_writer *writer, const struct bt_pod_ref *pod, const char *part);

/* Why a write is not made (fenced). */
struct bt_str bt_write_fence_reason(const struct bt_writer *writer);

/* The message of an answer: that of a Status, or what went wrong. Valid until the scratch arena is reset. */
struct bt_str bt_write_message(struct bt_writer *writer, const struct bt_answer *answer);

/* ---- bind.c ---- */

extern const struct bt_write_op_verbs bt_bind_verbs, bt_check_verbs;

/* Answers a binding with what was written of claims. */
void bt_bind_answer(struct bt_writer *writer, struct bt_write_op *op, bool bound, struct bt_str reason);

/* The same when it has failed, and ends it. message: what is said to people; empty: nothing. */
void bt_bind_failed(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str reason, struct bt_str message);

/* ---- prebind.c, claims.c, claim_text.c: what is written of volumes and claims before ---- */

extern const struct bt_write_op_verbs bt_prebind_verbs, bt_shown_verbs;

/* A bind request's writes, in the op's arena; NULL: none. Context: any thread. */
struct bt_prebind *bt_prebind_of(struct bt_write_op *op, const struct bt_bind_request *bind_request);

/* Begins with it; the binding's turn comes by itself. */
void bt_prebind_begin(struct bt_write_op *op);

/* Takes back what can be; bt_bind_failed follows. Returns: false when there is nothing. */
bool bt_prebind_undo(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str why, struct bt_str message);

/* What is known to the server of claims that were written. Returns: how many there are, in scratch. */
uint32_t bt_prebind_written(
	struct bt_writer *writer, const struct bt_write_op *op, const struct bt_written_claim **out_claims);

/* ---- release.c ---- */

extern const struct bt_write_op_verbs bt_release_verbs;

/* ---- evict.c ---- */

extern const struct bt_write_op_verbs bt_evict_verbs;

/* The writer ends: victims that wait for others are given up. */
void bt_evict_end(struct bt_writer *writer);

/* ---- report.c: what is said about cycles ---- */

extern const struct bt_write_op_verbs bt_report_verbs, bt_group_report_verbs;

/* Has written what the API server gets to see of a cycle: events and patches. Its pods are bt_status_view's.
 */
void bt_write_report(struct bt_writer *writer, struct bt_api_cycle *cycle);

/* ---- status.c: patches of the status of pods and PodGroups, of each one that waits at most ---- */

struct bt_statuses *bt_statuses_create(void);
void bt_statuses_destroy(struct bt_writer *writer, struct bt_statuses *statuses);

/* Has a patch written (BT_API_PATCH_STATUS, BT_API_PATCH_GROUP); one that waits is changed instead. */
void bt_status_add(struct bt_writer *writer, const struct bt_api_call *call);

/*
 * Before a binding is sent: patches of its pod that wait are ended. Returns: false when one is out; then the
 * binding is queued again, in front, when that one is over. Requires: no other binding of the pod waits.
 */
bool bt_status_make_way(struct bt_writer *writer, struct bt_write_op *binding);

/* A pod as the API will have it when the patches that are on their way have been taken. Texts live in the
 * scratch arena. Returns: whether it is known. */
bool bt_status_view(struct bt_writer *writer, const struct bt_pod_ref *ref, struct bt_stored_pod *out_pod);

/* ---- events.c ---- */

struct bt_event_recorder *bt_event_recorder_create(struct bt_writer *writer);
void bt_event_recorder_destroy(struct bt_event_recorder *events);

/* Has an event written (BT_API_EVENT), or counted in a series. */
void bt_event_recorder_add(struct bt_event_recorder *events, const struct bt_api_call *call);

/* How many other writes go before the next event while bindings wait; UINT32_MAX: all of them. first: the op
 * whose turn it is. */
uint32_t bt_event_recorder_spacing(
	const struct bt_event_recorder *events, const struct bt_write_op *first, int64_t now_ns);

/* Ends what is old, writes series anew. Returns: when to call next. */
int64_t bt_event_recorder_tick(struct bt_event_recorder *events, int64_t now_ns);

/* ---- shadow.c ---- */

struct bt_shadow *bt_shadow_create(struct bt_writer *writer);
void bt_shadow_destroy(struct bt_writer *writer, struct bt_shadow *shadow);

/* Keeps a binding until the other scheduler's is shown. */
void bt_shadow_keep(struct bt_writer *writer, struct bt_write_op *op);

extern const struct bt_write_op_verbs bt_seen_verbs;

/* Logs that something could not be written for a pod; of a kind that repeats (limit) once a second, with how
 * many were
 * held back. Context: the client's thread. */
void bt_write_complain(
	struct bt_log_limit *limit, const char *what, const struct bt_pod_ref *pod, struct bt_str why);
