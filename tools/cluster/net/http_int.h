/* SPDX-License-Identifier: Apache-2.0
 * Shared by a client and its transports. http.c has what every call goes through: commands, timeouts,
 * credentials, ends. A transport sends one request to the server and returns its answer; there are two:
 * libcurl (http_curl.c), and our HTTP/2 (http_h2.c). All of it belongs to the client's thread, unless noted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/map.h"
#include "engine/base/thread.h"
#include "tools/cluster/net/client_config_int.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/net/timers_int.h"

#define BT_HTTP_LANES 64
#define NS_PER_MS     1000000
#define NS_PER_S      1000000000
struct bt_transport;

struct bt_http_command {
	struct bt_http_command *next;
	int kind;
	uint64_t id;	/* of the call, for commands about one */
	int64_t due_ns; /* of a timer */
	void (*call)(void *context);
	void *context; /* of a timer, or of the cancelled functions */
};

/* A call, from bt_http_send to its done callback. */
struct bt_call {
	struct bt_http_command command; /* first: the one that begins it */
	struct bt_http *http;
	uint64_t id;
	uint32_t slot; /* in calls */
	struct bt_http_call request;
	struct bt_buf text; /* backs request, and the header lines */
	size_t accept_at, content_type_at;
	int64_t begun_ns;
	uint64_t received_bytes;	      /* of the answer's body, as the caller sees it */
	int64_t due_ns;			      /* INT64_MAX: no limit */
	const struct bt_transport *transport; /* the transport that has the call; NULL: none */
	uint32_t lane;			      /* while a transport has it */
	struct bt_identity *identity;	      /* likewise */
	uint64_t refused;		      /* the identity that was answered by 401; 0: none */
	bool waits;			      /* for credentials */
	bool retried_credentials;	      /* new credentials were requested after a 401 */
	bool went_out;			      /* a byte of the request may have reached the server */
	bool repeated;			      /* a GET that was sent a second time */
	uint64_t head_bytes;		      /* of the answer, with trailers */
	bool cancelled, too_long, long_head;
	bool paused, stalled; /* stalled: the transport holds data back */
	bool head_over, held; /* held: a 401 that was not reported yet */
	struct bt_http_head head;
	struct bt_buf content_type, body;
	struct bt_curl_call *curl; /* state of the transport, kept for reuse of the call; NULL: none */
	struct bt_h2_call *h2;
};

struct bt_http {
	const struct bt_client_config *access; /* init: */
	const struct bt_endpoint *endpoint;    /* init: */
	int64_t connect_timeout_ns, dead_ns;   /* init: */
	int64_t quiet_ns, batch_ns, again_ns;  /* init: */
	uint64_t body_max_bytes;	       /* init: */
	bool (*gives_up)(void);		       /* init: */
	uint32_t lane_n;		       /* init: */
	struct bt_thread *thread;	       /* init: */
	int epoll, event;		       /* init: */
	_Atomic uint64_t id;		       /* atomic: calls so far */
	_Atomic uint64_t counts[5];	       /* atomic: written by the client's thread */
	struct bt_lock lock;
	struct bt_http_command *first, **last; /* lock(lock): */
	struct bt_call *idle;		       /* lock(lock): */
	uint32_t idle_n;		       /* lock(lock): */
	bool ending;			       /* lock(lock): */
	bool sleeps;			       /* lock(lock): the thread waits; a poster must wake it */
	/* owner: the client's thread, from here on */
	const struct bt_transport *transport; /* of new calls */
	int64_t h2_again_ns;		      /* when HTTP/2 is tried again; INT64_MAX: no need, or never */
	struct bt_curl *curl;		      /* the transports; NULL: not in use */
	struct bt_h2 *h2;
	uint32_t lane_call_n[BT_HTTP_LANES]; /* calls per lane that a transport has */
	struct bt_call **calls;
	size_t call_n, call_cap;
	struct bt_map slots; /* of calls, by id */
	uint32_t waiting_n;
	int64_t limit_ns; /* lower bound of the calls' due_ns; INT64_MAX: none has a limit */
	size_t taken;	  /* bytes of answers since the last wait */
	struct bt_timers timers;
};

/* A transport. It owns a call until bt_http_settle, or take_back. */
struct bt_transport {
	/* Starts a request; call->identity is held while the transport has the call. May change call->lane.
	 * Returns: false with the reason in out_why. */
	bool (*launch)(struct bt_http *http, struct bt_call *call, struct bt_buf *out_why);
	/* Gives a call up: resets its stream unless it has ended. */
	void (*take_back)(struct bt_http *http, struct bt_call *call);
	/* The caller reads again. */
	void (*resume)(struct bt_http *http, struct bt_call *call);
	/* Frees the transport's state of a call. Context: any thread. */
	void (*forget)(struct bt_call *call);
};

extern const struct bt_transport bt_transport_curl, bt_transport_h2;

/* Data of epoll events: the eventfd; those of HTTP/2 have this bit, those of libcurl do not. */
#define BT_HTTP_WAKE	 UINT64_MAX
#define BT_HTTP_EVENT_H2 ((uint64_t)1 << 63)

/* ---- libcurl; initialised at its first call ---- */

bool bt_curl_open(struct bt_http *http);
void bt_curl_close(struct bt_http *http);
int64_t bt_curl_due_ns(const struct bt_http *http);
void bt_curl_serve(struct bt_http *http, int64_t now_ns);
void bt_curl_take_event(struct bt_http *http, uint64_t data, uint32_t events);

/* ---- HTTP/2 ---- */

/* Whether the endpoint supports it: TLS, no proxy. */
bool bt_h2_suits(const struct bt_endpoint *endpoint);
bool bt_h2_open(struct bt_http *http);
void bt_h2_close(struct bt_http *http);
int64_t bt_h2_due_ns(const struct bt_http *http);
void bt_h2_serve(struct bt_http *http, int64_t now_ns);
void bt_h2_take_event(struct bt_http *http, uint64_t data, uint32_t events);

/* Writes everything that has become due, one write per connection. */
void bt_h2_flush(struct bt_http *http);

/* ---- callbacks of transports ---- */

/* Limit of an answer's status lines, fields and trailers together; a field counts 32 bytes more than its
 * text, as in HTTP/2. */
#define BT_HTTP_HEAD_MAX (256u << 10)

/* The start of an answer, also of an interim one; its fields follow. */
bool bt_http_begin_head(struct bt_call *call, uint32_t status);
bool bt_http_take_field(struct bt_call *call, struct bt_str name, struct bt_str value);

/* All fields have arrived. Returns: false: the call is cancelled. */
bool bt_http_end_head(struct bt_call *call);

/* A part of the body. Returns: false: the call must end. Requires: the call is not paused. */
bool bt_http_take_data(struct bt_call *call, const char *bytes, size_t n);

/* What went wrong, in addition to the transport's error text. */
enum bt_http_fault {
	BT_HTTP_NO_FAULT = 0, /* the whole answer arrived */
	BT_HTTP_BROKEN,
	BT_HTTP_CLOSED,	     /* the connection closed */
	BT_HTTP_NO_HOST,     /* the name has no address */
	BT_HTTP_NO_LISTENER, /* connection refused */
	BT_HTTP_UNREACHABLE, /* no connection for another reason */
	BT_HTTP_LATE,	     /* no connection in time */
	BT_HTTP_NOT_TRUSTED, /* the server's certificate */
	BT_HTTP_NO_IDENTITY, /* our certificate or key */
	BT_HTTP_NO_AUTHORITY /* the trusted certificates */
};

/* The error of a shared connection that became silent. */
#define BT_HTTP_SILENT "the server has sent nothing for too long; its connection is given up"

/* A call has ended: the transport no longer owns it. */
void bt_http_settle(struct bt_call *call, enum bt_http_fault fault, struct bt_str why);

/* Moves a call that was not sent, or a GET without a byte of an answer, to the current transport. */
void bt_http_relaunch(struct bt_call *call);

enum bt_http_count {
	BT_COUNT_CALLS = 0,
	BT_COUNT_ERRORS,
	BT_COUNT_SENT,
	BT_COUNT_RECEIVED,
	BT_COUNT_CONNECTS
};

void bt_http_count(struct bt_http *http, enum bt_http_count what, uint64_t n);
