/* SPDX-License-Identifier: Apache-2.0
 * The reflector of one kind: a state machine on the HTTP client's thread.
 *
 *              +--------------- page, or 410 of a page: once more, whole
 *              v                  |
 *   REST --> LIST ----------------+--whole--> (sweep) --> WATCH --ended, lost--> WATCH, from where it was
 *    ^  \                                        ^          |
 *    |   +-> STREAM --initial-events-end---------+          +--410--> LIST or STREAM
 *    |        |
 *    +--------+---- refused, denied, throttled, lost: after a while
 *
 * choose_transition() chooses each transition. At most one call is in flight; the next starts after its done.
 * Source: client-go's tools/cache reflector, v0.36.3.
 */
#pragma once

#include "engine/base/atomic.h"
#include "engine/base/thread.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/watch/backoff_int.h"
#include "tools/cluster/watch/frame_int.h"
#include "tools/cluster/watch/store.h"
#include "tools/cluster/watch/backpressure_queue_int.h"
#include "tools/cluster/watch/stream_int.h"
#include "tools/cluster/watch/unread.h"
#include "tools/cluster/watch/watch.h"

/* Limit of watch events that wait for room in the pipeline; then the stream is paused. */
#define BT_REFLECTOR_WAITING 512u

/* Limit of objects per kind that the log names because they were not decoded completely. */
#define BT_REFLECTOR_NAMED 64u

enum bt_reflector_state { BT_REFLECTOR_IDLE = 0, BT_REFLECTOR_LIST, BT_REFLECTOR_STREAM, BT_REFLECTOR_WATCH };

/* The outcome of a call. */
enum bt_watch_fate {
	BT_FATE_NONE = 0,
	BT_FATE_WHOLE,	   /* a page of a list */
	BT_FATE_ENDED,	   /* a watch, after its timeout */
	BT_FATE_EXPIRED,   /* the version, or the page, is too old */
	BT_FATE_AHEAD,	   /* the version is newer than the server's */
	BT_FATE_THROTTLED, /* 429 */
	BT_FATE_DENIED,	   /* 401, 403 */
	BT_FATE_ABSENT,	   /* 404 */
	BT_FATE_REFUSED,   /* 400, 422 and the like: the server does not support the request */
	BT_FATE_FAILED,	   /* 5xx, or a list cannot be decoded */
	BT_FATE_GARBLED,   /* an event cannot be decoded: a watch from its version would receive it again */
	BT_FATE_LOST,	   /* the network */
	BT_FATE_RELIST	   /* bt_watch_relist */
};

/* Shared by all reflectors. init: */
struct bt_reflectors {
	struct bt_http *http;
	struct bt_pipeline *pipeline;
	const struct bt_watch_listener *listeners;
	uint32_t listener_n, page;
	bool stream, json;
	struct bt_watch_frame_reader reader; /* owner: the client's thread */
	struct bt_rng rng;		     /* owner: likewise */
	_Atomic uint32_t closing;	     /* atomic: no more calls start */
};

/* owner: the client's thread, unless noted. */
struct bt_reflector {
	struct bt_reflectors *shared;	 /* init: */
	const struct bt_kind_info *kind; /* init: */
	uint32_t version_ix;		 /* of kind->versions */
	enum bt_reflector_state state;
	/* The call in flight. */
	uint64_t call;	/* 0: none */
	bool answered;	/* by a list or watch: data are decoded */
	bool ended;	/* done was called */
	bool cancelled; /* it was cancelled */
	bool paused;
	enum bt_watch_fate fate;
	enum bt_http_end end;
	struct bt_http_head head;
	struct bt_buf body; /* of an answer that is not a list or watch; else why a call was lost */
	struct bt_stream stream;
	bool is_proto;
	int64_t began_ns;
	uint64_t call_event_n;
	/* The position in the watch. */
	struct bt_buf version, list_version, continue_;
	bool unavailable; /* the server cannot start at version */
	bool unpaged;	  /* the next list comes in one piece: its pages have expired */
	bool plain;	  /* the server does not support streaming lists */
	bool plain_once;
	bool wants_list;
	bool sweeping;	    /* the list is complete; reports missing objects as deleted */
	uint32_t expired_n; /* consecutive watches that could not start, or expired at once */
	uint32_t cursor;
	struct bt_backpressure_queue queue;
	struct bt_watch_event *spare;
	struct bt_watch_backoff backoff;
	int64_t due_ns;		  /* when its delay ends */
	bool is_delayed, retries; /* a timer is set */
	bool busy, again;	  /* busy: run() is active; again: it has to repeat */
	/* Read by other threads. */
	struct bt_lock lock;	 /* of the next three */
	struct bt_store *known;	 /* lock(lock): also for the client's thread, when it writes */
	struct bt_unread unread; /* lock(lock): likewise */
	char error[256];	 /* lock(lock): */
	int64_t error_logged_ns;
	_Atomic uint32_t synced; /* atomic: */
	_Atomic uint64_t object_n, list_n, watch_n, event_n, error_n, byte_n, skipped_n, waiting_n,
		replaced_n, in_part_n; /* atomic: */
	_Atomic int64_t last_event_ns; /* atomic: */
};

void bt_reflector_init(struct bt_reflector *r, struct bt_reflectors *shared, const struct bt_kind_info *kind,
	uint32_t source, struct bt_intern *names);

/* Requires: its calls have ended (bt_http_destroy, or a latch, has waited for them). */
void bt_reflector_fini(struct bt_reflector *r);

/* Starts it. Context: the client's thread. context: the reflector. */
void bt_reflector_start(void *context);

/* Lists again. Context: as above. */
void bt_reflector_relist(void *context);
