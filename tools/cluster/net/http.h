/* SPDX-License-Identifier: Apache-2.0
 * Calls to one server over HTTP/2 (or 1.1), on a thread of its own that also runs timers: everything that
 * waits for the network is a state machine of callbacks on that thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "tools/cluster/net/client_config.h"

struct bt_http;

struct bt_http_options {
	const struct bt_client_config
		*access;  /* address and credentials; outlives the client; may be shared */
	const char *name; /* of its thread */
	/* Number of connections that calls are spread over; 0: one. More are opened only while all their
	 * streams are in use, or where the server speaks HTTP/1.1, which needs one per call. */
	uint32_t connections;
	int64_t connect_timeout_ns; /* 0: 10 s */
	uint64_t body_max_bytes;    /* limit of a body that done receives whole; 0: BT_HTTP_BODY_MAX */
	int64_t dead_ns; /* a connection on which nothing is acknowledged for this long is closed; 0: 10 s */
	/* A shared connection that receives nothing for this long while calls are out is probed, and closed
	 * when nothing arrives for half as long again; 0: 30 s. */
	int64_t quiet_ns;
	/* How long a server that has not chosen HTTP/2 is called by HTTP/1.1, until the next call tries
	 * HTTP/2 again; 0: 60 s. */
	int64_t again_ns;
	/* How long the thread sleeps after a read, so that under load one wake-up, here and in other threads,
	 * serves several answers and events. An answer to an idle client is not delayed. 0: no sleep. */
	int64_t batch_ns;
	/* Whether bt_http_fetch must stop waiting, because the process ends; polled every 50 ms by the thread
	 * that waits. NULL: it waits for the call. */
	bool (*gives_up)(void);
};

enum bt_http_method { BT_HTTP_GET = 0, BT_HTTP_POST, BT_HTTP_PUT, BT_HTTP_PATCH, BT_HTTP_DELETE };

/* How a call ended. */
enum bt_http_end {
	BT_HTTP_ANSWERED = 0, /* the whole answer was received, whatever its status */
	BT_HTTP_UNSENT,	      /* no byte of the request was sent: no effect */
	BT_HTTP_LOST,	      /* the answer did not come, or is incomplete: the call may have had an effect */
	BT_HTTP_CANCELLED     /* by bt_http_cancel, a callback, or the client's end; may have had an effect */
};

/* Why there was no complete answer, where the cause is known. */
enum bt_http_cause {
	BT_HTTP_CAUSE_OTHER = 0,
	BT_HTTP_CAUSE_TIMEOUT, /* timeout_ns expired */
	BT_HTTP_CAUSE_REFUSED, /* connection refused */
	BT_HTTP_CAUSE_NO_HOST, /* the name has no address */
	BT_HTTP_CAUSE_CLOSED   /* the connection ended */
};

/* The default limit; a longer answer ends as BT_HTTP_LOST with an error that states the limit. An object has
 * at most 3 MiB (etcd accepts 1.5, the server a request of 3). */
#define BT_HTTP_BODY_MAX (16u << 20)
/* For clients whose answers are lists: 5,000 nodes with images have some 100 MiB. */
#define BT_HTTP_LIST_MAX (256u << 20)

/* Status and headers of an answer. Valid during the callback. */
struct bt_http_head {
	uint32_t status;
	struct bt_str content_type;
	int64_t retry_after_ns;	  /* -1: not given */
	enum bt_http_cause cause; /* of an end without an answer; then status is 0 unless the head arrived */
};

/*
 * One call. bt_http_send copies everything. It is sent once, with two exceptions: a GET is repeated on a new
 * connection when the old one died before a byte of its answer; and any call that was answered by 401 is
 * repeated when the credentials have changed since (a rotated token, an exec plugin). Redirects are answers.
 */
struct bt_http_call {
	enum bt_http_method method;
	struct bt_str path; /* with its query, from the server's root: "/api/v1/nodes?limit=500" */
	struct bt_str accept, content_type;
	struct bt_str body;
	int64_t timeout_ns; /* for the whole call; 0: none */
	bool again;	    /* a retry by the caller: counted as such */
	/* Callbacks; context: the client's thread, which must not wait in them. Each may be NULL. */
	void (*head)(void *context, const struct bt_http_head *head);
	/* A part of the body, as it arrives. Returns false to cancel. NULL: done gets the whole body. */
	bool (*data)(void *context, const char *bytes, size_t n);
	/* Exactly once, as the last callback. body is empty when data received it; error has the reason of a
	 * failure. */
	void (*done)(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
		struct bt_str error);
	void *context;
};

/* Returns: NULL with the reason in out_error. Owns: bt_http_destroy. */
struct bt_http *bt_http_create(const struct bt_http_options *options, struct bt_buf *out_error);

/* Ends every call (BT_HTTP_CANCELLED), also calls that their callbacks still start: the caller must stop
 * retrying first. Runs no more timers, joins the thread. Context: not the client's thread. */
void bt_http_destroy(struct bt_http *http);

#define BT_HTTP_RETRY_AFTER_MAX_S 60

/* Limits a server's Retry-After to a minute, so that a nonsensical value does not block calls. seconds: below
 * 0: not given, returns -1. */
static inline int64_t bt_http_retry_after_ns(int64_t seconds)
{
	int64_t most_s = seconds < BT_HTTP_RETRY_AFTER_MAX_S ? seconds : BT_HTTP_RETRY_AFTER_MAX_S;

	return seconds < 0 ? -1 : most_s * INT64_C(1000000000);
}

/* Starts a call. Context: any thread. Returns: its id, never 0. */
uint64_t bt_http_send(struct bt_http *http, const struct bt_http_call *call);

/* Cancels a call; its done is still called. No effect on a finished call. Context: any thread. */
void bt_http_cancel(struct bt_http *http, uint64_t call);

/* Stops or resumes reading an answer; the server has to wait. Context: the client's thread. */
void bt_http_pause(struct bt_http *http, uint64_t call, bool paused);

/* Calls a function on the client's thread, in delay_ns or as soon as possible (0 or less). Functions that are
 * due at the same time run in the order in which they were registered. Context: any thread. */
void bt_http_after(struct bt_http *http, int64_t delay_ns, void (*call)(void *context), void *context);

/* Cancels the functions that were registered with this context. Takes effect as soon as the caller returns to
 * the client; functions registered afterwards are not affected. Context: the client's thread. */
void bt_http_forget(struct bt_http *http, void *context);

/* Makes a call and waits for its whole answer. out_body is replaced. Context: any thread but a client's.
 * Returns: BT_HTTP_CANCELLED also when gives_up returns true. */
enum bt_http_end bt_http_fetch(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error);

/* Counters, for metrics. Context: any thread. */
struct bt_http_counts {
	uint64_t call_n, error_n, sent_bytes, received_bytes, connect_n;
};
struct bt_http_counts bt_http_counts(const struct bt_http *http);
