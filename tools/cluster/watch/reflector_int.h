/* SPDX-License-Identifier: Apache-2.0
 * The reader of one kind: a state machine on the HTTP client's thread.
 *
 *              +--------------- page, or 410 of a page: once more, whole
 *              v                  |
 *   REST --> LIST ----------------+--whole--> (sweep) --> WATCH --ended, lost--> WATCH, from where it was
 *    ^  \                                        ^          |
 *    |   +-> STREAM --initial-events-end---------+          +--410--> LIST or STREAM
 *    |        |
 *    +--------+---- refused, denied, throttled, lost: after a while
 *
 * At each arrow conclude() chooses. One call is under way at most; the next begins when done has come.
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

/* Watch events that may wait for room in the pipeline before the server has to. */
#define BT_REFLECTOR_WAITING 512u

/* The most objects of a kind that the log names because they could not be read whole. */
#define BT_REFLECTOR_NAMED 64u

enum bt_reflector_state { BT_REFLECTOR_REST = 0, BT_REFLECTOR_LIST, BT_REFLECTOR_STREAM, BT_REFLECTOR_WATCH };

/* What a call has come to. */
enum bt_watch_fate {
	BT_FATE_NONE = 0,
	BT_FATE_WHOLE,	   /* a page of a list */
	BT_FATE_ENDED,	   /* a watch, in the usual way */
	BT_FATE_EXPIRED,   /* the version, or the page, is too old */
	BT_FATE_AHEAD,	   /* the version is one that the server has not got yet */
	BT_FATE_THROTTLED, /* 429 */
	BT_FATE_DENIED,	   /* 401, 403 */
	BT_FATE_ABSENT,	   /* 404 */
	BT_FATE_REFUSED,   /* 400, 422 and the like: the server does not understand */
	BT_FATE_FAILED,	   /* 5xx, or a list is not to be read */
	BT_FATE_GARBLED,   /* an event is not to be read: at its version the next watch would meet it again */
	BT_FATE_LOST,	   /* the network */
	BT_FATE_RELIST	   /* bt_watch_relist */
};

/* What all readers share. init: */
struct bt_reflectors {
	struct bt_http *http;
	struct bt_pipeline *pipeline;
	const struct bt_watch_listener *listeners;
	uint32_t listener_n, page;
	bool stream, json;
	struct bt_watch_frame_reader reader; /* owner: the client's thread */
	struct bt_rng rng;		     /* owner: likewise */
	_Atomic uint32_t closing;	     /* atomic: nothing begins any more */
};

/* owner: the client's thread, but for what says otherwise. */
struct bt_reflector {
	struct bt_reflectors *shared;	 /* init: */
	const struct bt_kind_info *kind; /* init: */
	uint32_t version_ix;		 /* of kind->versions */
	enum bt_reflector_state state;
	/* The call under way. */
	uint64_t call;	/* 0: none */
	bool answered;	/* by a list or watch: what comes is read */
	bool ended;	/* done has come */
	bool cancelled; /* it has been asked to end */
	bool paused;
	enum bt_watch_fate fate;
	enum bt_http_end end;
	struct bt_http_head head;
	struct bt_buf body; /* of an answer that is no list or watch; else why a call was lost */
	struct bt_stream stream;
	bool is_proto;
	int64_t began_ns;
	uint64_t call_event_n;
	/* Where it is. */
	struct bt_buf version, list_version, continue_;
	bool unavailable; /* the server has said that it cannot begin at version */
	bool unpaged;	  /* the next list comes in one piece: its pages had expired */
	bool plain;	  /* the server knows no streaming lists */
	bool plain_once;
	bool wants_list;
	bool sweeping;	    /* the list is whole: what it has not shown is reported as gone */
	uint32_t expired_n; /* watches in a row that could not begin, or have expired at once */
	uint32_t cursor;
	struct bt_backpressure_queue queue;
	struct bt_watch_event *spare;
	struct bt_watch_backoff backoff;
	int64_t due_ns;	     /* when it ends to rest */
	bool rests, retries; /* a timer is under way */
	bool busy, again;    /* a turn is under way; another one has to follow */
	/* Others look at this. */
	struct bt_lock lock;	 /* of the next three */
	struct bt_store *known;	 /* lock(lock): also for the client's thread, when it changes it */
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

/* Its calls have ended (bt_http_destroy, or a latch, has waited for them). */
void bt_reflector_fini(struct bt_reflector *r);

/* Begins. Context: the client's thread. context: the reflector. */
void bt_reflector_start(void *context);

/* Lists anew. Context: as above. */
void bt_reflector_relist(void *context);
