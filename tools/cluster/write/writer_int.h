/* SPDX-License-Identifier: Apache-2.0
 * Shared by the writer's files. Everything here runs on the thread of its HTTP client unless noted.
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
/* In shadow mode: how long to wait until the other scheduler binds a pod or deletes a victim. */
#define BT_SHADOW_WAIT_NS (5 * BT_WRITE_S)
#define BT_SHADOW_REASON  "nothing is written in shadow mode"
#define BT_WRITE_TRIES	  4 /* of a write that is not a binding */

/* In order of priority. */
enum bt_write_class { BT_CLASS_BIND = 0, BT_CLASS_EVICT, BT_CLASS_STATUS, BT_CLASS_EVENT, BT_CLASS_N };

/* What an answer means. */
enum bt_write_fate {
	BT_FATE_DONE = 0,     /* 2xx */
	BT_FATE_REFUSED,      /* 4xx */
	BT_FATE_THROTTLED,    /* 429: no effect */
	BT_FATE_SERVER_ERROR, /* 5xx: possibly an effect */
	BT_FATE_UNSENT,
	BT_FATE_LOST
};

struct bt_answer {
	enum bt_write_fate fate;
	uint32_t status;
	struct bt_str body, error;
};

struct bt_write_op;

/* The callbacks of a kind of op. */
struct bt_write_op_verbs {
	enum bt_write_class class;
	/* The op has come out of the inbox, or was created here. */
	void (*begin)(struct bt_writer *writer, struct bt_write_op *op);
	/* Fills in a call, with path and body in the writer's buffers. Returns: false when there is nothing
	 * to send, and the op has moved on or has ended. */
	bool (*request)(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call);
	/* Queues, defers or ends the op. */
	void (*answered)(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer);
	/* Not allowed: another replica leads, or the writer shuts down. Moves on or ends the op. */
	void (*fenced)(struct bt_writer *writer, struct bt_write_op *op);
	/* The writer ends; sent: the op may have had an effect. Only reports; the caller frees the op. */
	void (*given_up)(struct bt_writer *writer, struct bt_write_op *op, bool sent);
};

/* Initial space for texts of an op or an event: with the block's head, a size class of jemalloc. */
#define BT_OP_TEXT_BYTES 496

/* One write, in one or several calls. There may be thousands, so fields of one class share memory with those
 * of another. */
struct bt_write_op {
	struct bt_write_op *next; /* in the inbox, a queue or the timed list */
	const struct bt_write_op_verbs *verbs;
	struct bt_writer *writer;
	struct bt_arena arena; /* texts */
	int stage;
	bool reads; /* its next call changes nothing: neither rate limited nor fenced */
	bool again; /* its next call is a retry */
	bool ahead; /* a binding that was not sent yet, and waits only to be sent */
	uint64_t handle, number;
	struct bt_pod_ref pod, other; /* EVICT: the victim, and the preemptor */
	struct bt_str node;
	int64_t due_ns; /* when it becomes queued; then, since when it is queued */
	int64_t until_ns, sent_ns;
	uint32_t tries;
	/* EVICT: as struct bt_bind_request has them */
	uint64_t preemption;
	uint32_t after_n;
	struct bt_pod_ref group;
	bool for_tree;
	union {
		struct { /* BIND, CHECK, RELEASE: */
			const struct bt_extender_config
				*extender;	       /* binds the pod; NULL: the API server does */
			enum bt_extender_end extended; /* the extender's answer */
			bool unsure;		       /* an earlier call may still take effect */
			bool has_volumes;	       /* it counts in the writer's volume_n */
			bool prebound;		       /* the volume had a claimRef already */
			bool waits_for_devices;	       /* the wait was reported */
			bool unreserves;	       /* RELEASE: a PodGroup's reservation goes */
			bool deletes;		       /* RELEASE: the claim is deleted */
			uint32_t confirmed;
			struct bt_stored_pod known; /* BIND: as it was at the request */
			struct bt_str reason;
			struct bt_prebind *prebind; /* writes before the binding; or NULL */
			struct bt_str version;	    /* of the current PersistentVolume */
			uint64_t shown_n;	    /* the writer's shown_n at the last check */
			struct bt_str containers;   /* of the pod, as a JSON array of names */
		};
		struct { /* REPORT: */
			struct bt_api_cycle cycle;
			struct bt_pod_ref *cleared_nominations;
			uint32_t cleared_nominations_n;
		};
		struct bt_api_status status; /* STATUS, and of a reported PodGroup */
		struct bt_sent_event *event; /* EVENT */
	};
};

struct bt_write_op_list {
	struct bt_write_op *first, *last;
	uint32_t n;
};

/* A preemption with several victims: how many of them were deleted, or will not be. */
struct bt_preemption_now {
	uint64_t number;
	uint32_t over_n;
	bool failed;
	struct bt_write_op *last; /* it waits for the others; NULL: not here yet */
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
	_Atomic uint64_t open_n;	     /* atomic: open ops */
	_Atomic uint64_t report_n;	     /* atomic: of those, reports */
	_Atomic uint64_t volume_n;	     /* atomic: of those, bindings with volumes to wait for */
	_Atomic uint32_t ahead_n;	     /* atomic: of those, with ahead set */
	bool full; /* owner: the scheduling thread; ahead_n reached its limit and has not fallen enough yet */
	struct bt_log_limit bind_log_limit, evict_log_limit, patch_log_limit,
		event_log_limit;	  /* limits repeated errors to one per second */
	struct bt_eventcount over;	  /* woken when open_n becomes 0 */
	_Atomic int64_t reports_until_ns; /* atomic: end of reports during shutdown; else INT64_MAX */
	_Atomic bool ending;		  /* atomic: calls are cancelled, no more are made */

	/* owner: the client's thread */
	struct bt_write_op_list queues[BT_CLASS_N];
	struct bt_write_op *later;
	uint32_t later_n;
	int64_t later_ns; /* lower bound of their due_ns */
	int64_t timer_ns; /* when the timer fires next */
	int64_t hold_ns;  /* no write before, because of 429 */
	int64_t slowed_ns;
	int64_t way_ns, next_way_ns, way_since_ns; /* minimal latency of answers */
	uint64_t shown_n; /* counts relevant volumes, claims, nodes shown by the watch */
	uint32_t flying, flying_events;
	double window; /* limit of calls in flight: smaller after errors, larger with a long round trip */
	uint32_t since_event;
	struct bt_rate_limiter limiter, event_limiter;
	struct bt_map bindings;		       /* handle -> 1 of bindings that are here */
	struct bt_preemption_now *preemptions; /* of evict.c */
	size_t preemption_n, preemption_cap;
	struct bt_event_recorder *events;
	struct bt_statuses *statuses;
	struct bt_shadow *shadow; /* dry */
	struct bt_api_calls calls;
	struct bt_arena scratch;
	struct bt_json *json;
	struct bt_buf path, body, text;

	/* owner: the client's thread; any thread reads */
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

/* The two halves of bt_write_op_end: stop counting it as open; free its memory. */
void bt_write_op_close(struct bt_write_op *op);
void bt_write_op_free(struct bt_write_op *op);

struct bt_str bt_write_op_copy(struct bt_write_op *op, struct bt_str text);
struct bt_pod_ref bt_write_op_copy_ref(struct bt_write_op *op, const struct bt_pod_ref *ref);

/* The op is being sent, or waits for something else: it is no longer ahead. */
void bt_write_op_goes(struct bt_write_op *op);

/* Posts an op to the writer's thread. Context: any thread; lock-free. */
void bt_write_op_post(struct bt_write_op *op);

/* Queues an op behind the others of its class; in front of them; or after a delay. */
void bt_write_op_queue(struct bt_write_op *op);
void bt_write_op_queue_first(struct bt_write_op *op);
void bt_write_op_later(struct bt_write_op *op, int64_t delay_ns);

/* Marks its next call as a retry. */
void bt_write_op_repeat(struct bt_write_op *op);

/* The delay before the next try. */
int64_t bt_write_op_backoff_ns(const struct bt_write_op *op);

/* Retries a write other than a binding, at most BT_WRITE_TRIES times. Returns: false when it was tried often
 * enough, or was refused. */
bool bt_write_op_again(struct bt_write_op *op, const struct bt_answer *answer);

/* A path such as /api/v1/namespaces/NS/pods/NAME/binding, in the writer's buffer. namespace_ may be empty. */
struct bt_str bt_write_path(struct bt_writer *writer, const char *prefix, struct bt_str namespace_,
	const char *resource, struct bt_str name, const char *part);

/* The path of a pod, or of a subresource, in the writer's buffer. */
struct bt_str bt_write_pod_path(struct bt_writer *writer, const struct bt_pod_ref *pod, const char *part);

/* Why a write is fenced. */
struct bt_str bt_write_fence_reason(const struct bt_writer *writer);

/* The message of an answer: that of a Status, or the error. Valid until the scratch arena is reset. */
struct bt_str bt_write_message(struct bt_writer *writer, const struct bt_answer *answer);

/* ---- bind.c ---- */

extern const struct bt_write_op_verbs bt_bind_verbs, bt_check_verbs;

/* Answers a binding, with the claims that were written. */
void bt_bind_answer(struct bt_writer *writer, struct bt_write_op *op, bool bound, struct bt_str reason);

/* The same for a failure, and ends the op. message: for events and condition; empty: none. */
void bt_bind_failed(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str reason, struct bt_str message);

/* ---- prebind.c, claims.c, claim_text.c: writes of volumes and claims before a binding ---- */

extern const struct bt_write_op_verbs bt_prebind_verbs, bt_shown_verbs;

/* The prebind writes of a bind request, in the op's arena; NULL: none. Context: any thread. */
struct bt_prebind *bt_prebind_of(struct bt_write_op *op, const struct bt_bind_request *bind_request);

/* Starts the prebind writes; the binding follows by itself. */
void bt_prebind_begin(struct bt_write_op *op);

/* Rolls back what can be; bt_bind_failed follows. Returns: false when there is nothing. */
bool bt_prebind_undo(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str why, struct bt_str message);

/* The claims that were written, as the server knows them. Returns: how many there are, in scratch. */
uint32_t bt_prebind_written(
	struct bt_writer *writer, const struct bt_write_op *op, const struct bt_written_claim **out_claims);

/* ---- release.c ---- */

extern const struct bt_write_op_verbs bt_release_verbs;

/* ---- evict.c ---- */

extern const struct bt_write_op_verbs bt_evict_verbs;

/* The writer ends: gives up victims that wait for others. */
void bt_evict_end(struct bt_writer *writer);

/* The event of a victim that waited at Permit and was rejected. */
extern const struct bt_write_op_verbs bt_rejection_verbs;

/* ---- report.c: reports of cycles ---- */

extern const struct bt_write_op_verbs bt_report_verbs, bt_wait_report_verbs, bt_group_report_verbs;

/* Writes the events and patches of a cycle. Its pods are bt_status_view's. */
void bt_write_report(struct bt_writer *writer, struct bt_api_cycle *cycle);

/* ---- status.c: patches of the status of pods and PodGroups; at most one waits for each ---- */

struct bt_statuses *bt_statuses_create(void);
void bt_statuses_destroy(struct bt_writer *writer, struct bt_statuses *statuses);

/* Adds a patch (BT_API_PATCH_STATUS, BT_API_PATCH_GROUP), merged into one that waits. */
void bt_status_add(struct bt_writer *writer, const struct bt_api_call *call);

/*
 * Cancels waiting patches of the pod before its binding is sent. Returns: false when a patch is in flight;
 * the binding is queued again, in front, when that has ended.
 * Requires: no other binding of the pod waits.
 */
bool bt_status_make_way(struct bt_writer *writer, struct bt_write_op *binding);

/* A pod as the API will have it after the pending patches. Texts live in the scratch arena. Returns: whether
 * it is known. */
bool bt_status_view(struct bt_writer *writer, const struct bt_pod_ref *ref, struct bt_stored_pod *out_pod);

/* ---- events.c ---- */

struct bt_event_recorder *bt_event_recorder_create(struct bt_writer *writer);
void bt_event_recorder_destroy(struct bt_event_recorder *events);

/* Adds an event (BT_API_EVENT), or counts it in a series. */
void bt_event_recorder_add(struct bt_event_recorder *events, const struct bt_api_call *call);

/* How many other writes are sent before the next event while bindings wait; UINT32_MAX: all of them. first:
 * the first event op. */
uint32_t bt_event_recorder_spacing(
	const struct bt_event_recorder *events, const struct bt_write_op *first, int64_t now_ns);

/* Ends old series, and writes those that are due. Returns: when to call next. */
int64_t bt_event_recorder_tick(struct bt_event_recorder *events, int64_t now_ns);

/* ---- shadow.c ---- */

struct bt_shadow *bt_shadow_create(struct bt_writer *writer);
void bt_shadow_destroy(struct bt_writer *writer, struct bt_shadow *shadow);

/* Keeps a binding until the watch shows the other scheduler's. */
void bt_shadow_keep(struct bt_writer *writer, struct bt_write_op *op);

extern const struct bt_write_op_verbs bt_seen_verbs;

/* Logs that something could not be written for a pod; limit: at most one line a second, with the number held
 * back. Context: the client's thread. */
void bt_write_log_error(
	struct bt_log_limit *limit, const char *what, const struct bt_pod_ref *pod, struct bt_str why);
