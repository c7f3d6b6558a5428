/* SPDX-License-Identifier: Apache-2.0
 * Calls to one server over HTTP/2 (or 1.1), by a thread of its own that also keeps timers: everything that
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
		*access;  /* where, and as whom; outlives the client; several may share it */
	const char *name; /* of its thread */
	/* Calls are spread over so many connections; 0: one. There are more only while their streams are all
	 * taken, or where the server speaks HTTP/1.1, which has a connection a call. */
	uint32_t connections;
	int64_t connect_timeout_ns; /* 0: 10 s */
	uint64_t body_max_bytes;    /* what done takes whole, at most; 0: BT_HTTP_BODY_MAX */
	int64_t dead_ns; /* a connection on which nothing is acknowledged for so long is given up; 0: 10 s */
	/* A shared connection on which nothing is heard for so long while calls are out is tried, and given
	 * up when nothing comes for half as long again; 0: 30 s. */
	int64_t quiet_ns;
	/* How long a server that has not chosen HTTP/2 is left with HTTP/1.1, until the next call asks it
	 * again; 0: 60 s. */
	int64_t again_ns;
	/* How long the thread rests after it has read something, so that under load it wakes, and wakes
	 * others, for several answers and events at once. What comes to an idle client is not late. 0: it
	 * does not. */
	int64_t rest_ns;
	/* Whether who waits in bt_http_fetch shall wait no longer, because the process ends; looked at every
	 * 50 ms by the thread that waits. NULL: it waits for the call. */
	bool (*gives_up)(void);
};

enum bt_http_method { BT_HTTP_GET = 0, BT_HTTP_POST, BT_HTTP_PUT, BT_HTTP_PATCH, BT_HTTP_DELETE };

/* How a call ended. */
enum bt_http_end {
	BT_HTTP_ANSWERED = 0, /* the whole answer came, whatever its status */
	BT_HTTP_UNSENT,	      /* no byte of the request went out: it has had no effect */
	BT_HTTP_LOST,	      /* the answer did not come, or not whole: it may have had an effect */
	BT_HTTP_CANCELLED     /* by bt_http_cancel, a callback, or the client's end; may have had an effect */
};

/* Why the whole answer did not come, as far as that has a name. */
enum bt_http_cause {
	BT_HTTP_CAUSE_OTHER = 0,
	BT_HTTP_CAUSE_TIMEOUT, /* timeout_ns was over */
	BT_HTTP_CAUSE_REFUSED, /* nobody listens there */
	BT_HTTP_CAUSE_NO_HOST, /* the name has no address */
	BT_HTTP_CAUSE_CLOSED   /* the connection ended */
};

/* Unless the options say otherwise; a longer answer ends as BT_HTTP_LOST with an error that says so. An
 * object has at most 3 MiB (etcd takes 1.5, a request to the server 3). */
#define BT_HTTP_BODY_MAX (16u << 20)
/* For clients whose answers are lists: 5,000 nodes with images have some 100 MiB. */
#define BT_HTTP_LIST_MAX (256u << 20)

/* The beginning of an answer. Valid during the call that shows it. */
struct bt_http_head {
	uint32_t status;
	struct bt_str content_type;
	int64_t retry_after_ns; /* -1: not said */
	enum bt_http_cause
		cause; /* of an end that is no answer; then status is 0 unless the beginning came */
};

/*
 * One call. Everything is copied by bt_http_send. It goes out once: a GET alone is repeated, on a new
 * connection when the old one has died before a byte of its answer, and any call that was answered by 401
 * when the credentials have changed since (a token that was rotated, an exec plugin). Redirects are answers.
 */
struct bt_http_call {
	enum bt_http_method method;
	struct bt_str path; /* with its query, from the server's root: "/api/v1/nodes?limit=500" */
	struct bt_str accept, content_type;
	struct bt_str body;
	int64_t timeout_ns; /* for all of it; 0: none */
	bool again;	    /* the caller had sent it before: counted as such */
	/* Callbacks; context: the client's thread, which must not wait in them. Each may be NULL. */
	void (*head)(void *context, const struct bt_http_head *head);
	/* A part of the body, as it comes. Returns false to cancel. NULL: done gets it whole. */
	bool (*data)(void *context, const char *bytes, size_t n);
	/* Exactly once, as the last one. body is empty when data took it; error says what went wrong. */
	void (*done)(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
		struct bt_str error);
	void *context;
};

/* Returns: NULL with the reason in out_error. Owns: bt_http_destroy. */
struct bt_http *bt_http_create(const struct bt_http_options *options, struct bt_buf *out_error);

/* Ends every call (BT_HTTP_CANCELLED), also those that their callbacks still begin: who tries again asks for
 * the end first. Runs no timer any more, joins the thread. Context: not the client's thread. */
void bt_http_destroy(struct bt_http *http);

#define BT_HTTP_RETRY_AFTER_MAX_S 60

/* How long a server that wishes so many seconds is left alone: no longer than a minute, so that one that said
 * nonsense is asked again. seconds: below 0: it has no wish, which is -1. */
static inline int64_t bt_http_retry_after_ns(int64_t seconds)
{
	int64_t most_s = seconds < BT_HTTP_RETRY_AFTER_MAX_S ? seconds : BT_HTTP_RETRY_AFTER_MAX_S;

	return seconds < 0 ? -1 : most_s * INT64_C(1000000000);
}

/* Begins a call. Context: any thread. Returns: a number that is never 0. */
uint64_t bt_http_send(struct bt_http *http, const struct bt_http_call *call);

/* Ends a call early; its done still comes. Nothing happens when it is over. Context: any thread. */
void bt_http_cancel(struct bt_http *http, uint64_t call);

/* Takes no more of an answer, or goes on: the server has to wait. Context: the client's thread. */
void bt_http_pause(struct bt_http *http, uint64_t call, bool paused);

/* Calls a function on the client's thread, in delay_ns or as soon as possible (0 or less); those that are due
 * at the same time in the order in which they were asked for. Context: any thread. */
void bt_http_after(struct bt_http *http, int64_t delay_ns, void (*call)(void *context), void *context);

/* Functions that were to be called with this context are not called any more, as soon as the caller returns
 * to the
 * client; those that are asked for afterwards are. Context: the client's thread. */
void bt_http_forget(struct bt_http *http, void *context);

/* A call and its whole answer, waited for. out_body is replaced. Context: any thread but a client's. Returns:
 * BT_HTTP_CANCELLED also where gives_up says so. */
enum bt_http_end bt_http_fetch(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error);

/* What the client has seen, for metrics. Context: any thread. */
struct bt_http_counts {
	uint64_t call_n, error_n, sent_bytes, received_bytes, connect_n;
};
struct bt_http_counts bt_http_counts(const struct bt_http *http);
