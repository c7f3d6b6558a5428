/* SPDX-License-Identifier: Apache-2.0
 * Calls by HTTP/2 over TLS, to a server without a proxy. nghttp2 implements the protocol, and only this file
 * uses it. A wake-up reads a socket once; everything that has become due on a connection's streams goes out
 * in one write, before the thread waits (bt_h2_flush).
 *
 *   launch -> the lane's queue -> (a connection is opened) -> submit -> stream callbacks -> bt_http_settle
 *
 * A call counts as sent from submit on, which comes right before the write, unless the server reports by
 * GOAWAY or REFUSED_STREAM that it did not process it. A server that does not choose HTTP/2 is called by
 * libcurl, and HTTP/2 is tried again later.
 */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tools/cluster/net/dial_int.h"
#include "tools/cluster/net/gunzip_int.h"
#include "tools/cluster/net/http_int.h"
#include "tools/cluster/net/tls_int.h"
#include "tools/cluster/net/client_metrics.h"

#define READ_BYTES	     (256u << 10) /* size of a read */
#define PLAIN_BYTES	     (64u << 10)
#define WRITE_BYTES	     (256u << 10) /* frames that are packed into one write */
#define STREAM_WINDOW	     (1 << 20)
#define CONNECTION_WINDOW    (16 << 20)
#define IDLE_FRAMES	     5000u /* frames without effect in a second; more: a hostile server */
#define IDLE_BYTES	     4096u /* of unknown frames, or for ended streams; count as one such frame */
#define IDLE_A_REQUEST	     8u	   /* such frames that come with a request and are not counted */
#define STREAMS_AT_FIRST     100u  /* that wait for a connection, until the server has announced its limit */
#define LANE_CONNECTIONS     8u
#define NO_NEW_CONNECTION_NS ((int64_t)NS_PER_S) /* after another connection could not be opened */
#define FIELDS		     9u			 /* of a request, in addition to an identity's */

enum stage { RESOLVING = 0, CONNECTING, SHAKING, OPEN, DEAD };

/* HTTP/2's state of a call. */
struct bt_h2_call {
	struct bt_call *call;
	struct bt_h2_call *prev, *next;	  /* of the lane's queue, or of the connection */
	struct h2_connection *connection; /* NULL: in the queue, or ended */
	int32_t stream;
	bool queued;
	bool whole;		  /* the answer is complete */
	bool ended;		  /* the stream has ended, but the caller has paused */
	uint32_t code;		  /* error code of the end */
	size_t sent_bytes;	  /* of the body */
	struct bt_buf kept;	  /* data received while the caller pauses, still encoded */
	struct bt_gunzip *gunzip; /* NULL: not compressed */
	bool corrupt;		  /* labelled as compressed, but is not */
};

struct call_list {
	struct bt_h2_call *first, *last;
};

struct h2_connection {
	struct h2_connection *next;
	struct bt_http *http;
	struct h2_lane *lane;
	uint64_t id;
	enum stage stage;
	int fd;		   /* -1: none */
	uint32_t interest; /* epoll's event mask */
	struct bt_identity *identity;
	struct bt_dial_addresses addresses;
	uint32_t address_ix;
	int64_t due_ns;	 /* deadline of the connection */
	int64_t step_ns; /* when the next address is tried */
	struct bt_client_tls tls;
	nghttp2_session *session;
	struct call_list streams;
	uint32_t stream_n;
	uint32_t nominated_n;  /* calls of the queue, to be sent here once it is open, or writable again */
	int64_t received_ns;   /* when anything was received, or its first stream started */
	int64_t idle_since_ns; /* start of the second that idle_n counts */
	uint32_t idle_n;
	size_t useful_bytes; /* of the current read: fields and data that calls received */
	size_t idle_bytes;   /* without effect, not yet counted as frames */
	size_t late_bytes;   /* of streams that we have cancelled; may still be in flight */
	bool pinged;
	bool agreed;  /* the server has announced in SETTINGS how many streams it allows */
	bool drained; /* it accepts no more streams */
	bool used;    /* it has carried a stream */
	bool silent;
	enum bt_http_fault fault; /* why it is dead */
	struct bt_buf why;
};

struct h2_lane {
	struct h2_connection *first;
	struct call_list queue;
	uint32_t connection_n;
	int64_t quiet_ns; /* no connection is opened before */
};

struct bt_h2 {
	struct bt_buf host, port, authority; /* init: where to connect, and the authority of requests */
	struct bt_client_tls_judge judge;
	size_t path_at;			      /* init: in a call's URL */
	nghttp2_session_callbacks *callbacks; /* init: */
	nghttp2_option *option;		      /* init: */
	struct bt_resolver *resolver;
	uint64_t connection_id;
	struct bt_identity *identity; /* the identity of the TLS context; NULL: none */
	struct bt_client_tls_context *context;
	struct h2_lane lanes[BT_HTTP_LANES];
	bool any_dead;
	bool any_launched; /* since calls were last assigned to connections */
	nghttp2_nv *fields;
	size_t field_cap;
	struct bt_buf frames;
	char *bytes, *plain;
	char length[24]; /* content-length of the request that is submitted */
};

static struct bt_str endpoint_part(struct bt_str text, size_t from, size_t to)
{
	return bt_str_sub(text, from < text.len ? from : text.len, to < text.len ? to : text.len);
}

static void link_call(struct call_list *list, struct bt_h2_call *part)
{
	part->prev = list->last;
	part->next = NULL;
	if (list->last) {
		list->last->next = part;
	} else {
		list->first = part;
	}
	list->last = part;
}

static void unlink_call(struct call_list *list, struct bt_h2_call *part)
{
	if (part->prev) {
		part->prev->next = part->next;
	} else {
		list->first = part->next;
	}
	if (part->next) {
		part->next->prev = part->prev;
	} else {
		list->last = part->prev;
	}
	part->prev = part->next = NULL;
}

static void leave(struct bt_h2_call *part)
{
	struct h2_connection *connection = part->connection;

	if (connection) {
		unlink_call(&connection->streams, part);
		connection->stream_n--;
		part->connection = NULL;
	} else if (part->queued) {
		unlink_call(&part->call->http->h2->lanes[part->call->lane].queue, part);
		part->queued = false;
	}
}

/* Connections are shared by calls with the same certificate and the same trusted ones. */
static bool shows(const struct bt_identity *a, const struct bt_identity *b)
{
	return a->number == b->number ||
	       (bt_str_eq(a->certificate, b->certificate) && bt_str_eq(a->key, b->key) &&
		       bt_str_eq(a->authority, b->authority));
}

/* ---- how a call ends ---- */

static void drop_rest(struct bt_h2_call *part)
{
	bt_gunzip_destroy(part->gunzip);
	part->gunzip = NULL;
	bt_buf_fini(&part->kept);
}

static void settle(struct bt_h2_call *part, enum bt_http_fault fault, const char *why)
{
	leave(part);
	drop_rest(part);
	bt_http_settle(part->call, fault, bt_str(why));
}

/* Sends a GET without any answer again, once. */
static bool repeat(struct bt_h2_call *part)
{
	struct bt_call *call = part->call;

	if (call->request.method != BT_HTTP_GET || call->repeated || call->head.status || call->cancelled) {
		return false;
	}
	call->repeated = true;
	leave(part);
	bt_http_relaunch(call);
	return true;
}

/* A stream has ended, and the caller has all data. */
static void end_stream(struct bt_h2_call *part)
{
	struct bt_call *call = part->call;
	struct bt_buf why = {0};

	if (part->whole && call->head_over) {
		bool cut = part->gunzip && !bt_gunzip_is_whole(part->gunzip);

		settle(part, cut ? BT_HTTP_BROKEN : BT_HTTP_NO_FAULT,
			cut ? "the answer is packed by gzip and ends too early" : "");
		return;
	}
	if (part->code == NGHTTP2_REFUSED_STREAM && !call->head.status) {
		call->went_out = false; /* the server did not process it */
		if (!repeat(part)) {
			settle(part, BT_HTTP_BROKEN, "the server refused the stream");
		}
		return;
	}
	bt_buf_printf(&why, "the stream ended %s: %s",
		call->head.status ? "in the middle of the answer" : "before an answer was received",
		nghttp2_http2_strerror(part->code));
	settle(part, BT_HTTP_BROKEN, why.ptr);
	bt_buf_fini(&why);
}

static void cancel_stream(struct bt_h2_call *part)
{
	struct h2_connection *connection = part->connection;

	nghttp2_session_set_stream_user_data(connection->session, part->stream, NULL);
	nghttp2_session_consume_connection(connection->session, part->kept.len);
	nghttp2_submit_rst_stream(connection->session, NGHTTP2_FLAG_NONE, part->stream, NGHTTP2_CANCEL);
	connection->late_bytes += STREAM_WINDOW;
	leave(part);
}

/* The caller has cancelled the call, or the response is too long. */
static void abort_stream(struct bt_h2_call *part)
{
	if (part->connection) {
		cancel_stream(part);
	}
	settle(part, BT_HTTP_BROKEN, part->corrupt ? "the response is labelled gzip, but is not" : "");
}

static void die(struct h2_connection *connection, enum bt_http_fault fault)
{
	if (connection->stage != DEAD) {
		connection->stage = DEAD;
		connection->fault = fault;
		connection->http->h2->any_dead = true;
	}
}

/* ---- an answer ---- */

/* Delivers data; returns how much of it, less where the caller pauses. */
static size_t unpack(struct bt_h2_call *part, struct bt_str bytes)
{
	struct bt_str left = bytes;
	char plain[16384];
	size_t n = sizeof(plain);

	while ((left.len || n == sizeof(plain)) && !part->call->paused) {
		if (!bt_gunzip_take(part->gunzip, &left, plain, sizeof(plain), &n)) {
			part->corrupt = true;
			break;
		}
		if (n && !bt_http_take_data(part->call, plain, n)) {
			break;
		}
	}
	/* The decompressor alone may hold data that the caller has not seen. */
	part->call->stalled |= part->call->paused && n == sizeof(plain);
	return bytes.len - left.len;
}

/* Returns: false: the call must end. */
static bool hand_on(struct bt_h2_call *part, struct bt_str bytes)
{
	struct bt_call *call = part->call;
	size_t n = bytes.len;

	if (call->paused) {
		n = 0;
	} else if (part->gunzip) {
		n = unpack(part, bytes);
	} else {
		bt_http_take_data(call, bytes.ptr, n);
	}
	if (call->cancelled || call->too_long || part->corrupt) {
		return false;
	}
	if (n < bytes.len) {
		call->stalled = true;
		bt_buf_add(&part->kept, bytes.ptr + n, bytes.len - n);
	}
	if (n && part->connection) {
		nghttp2_session_consume(part->connection->session, part->stream, n);
	}
	return true;
}

static int take_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t n,
	void *context)
{
	struct bt_h2_call *part = nghttp2_session_get_stream_user_data(session, stream);
	const char *text = (const char *)bytes;

	(void)flags;
	((struct h2_connection *)context)->useful_bytes += part ? n : 0;
	if (!part) {
		nghttp2_session_consume_connection(session, n);
	} else if (part->call->stalled) {
		bt_buf_add(&part->kept, text, n);
	} else if (!hand_on(part, (struct bt_str){text, n})) {
		nghttp2_session_consume_connection(session, n);
		abort_stream(part);
	}
	return 0;
}

static bool begin_head(struct bt_h2_call *part, struct bt_str status)
{
	uint32_t number = 0;

	for (size_t i = 0; i < status.len && i < 3 && status.ptr[i] >= '0' && status.ptr[i] <= '9'; i++) {
		number = number * 10 + (uint32_t)(status.ptr[i] - '0');
	}
	bt_gunzip_destroy(part->gunzip);
	part->gunzip = NULL;
	return bt_http_begin_head(part->call, number);
}

static int take_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *context)
{
	struct bt_h2_call *part = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct bt_str field = {(const char *)name, name_n}, text = {(const char *)value, value_n};

	(void)flags;
	if (!part) {
		return 0;
	}
	((struct h2_connection *)context)->useful_bytes += name_n + value_n;
	if (bt_str_is(field, ":status")) {
		return begin_head(part, text) ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	if (!part->call->head_over && bt_str_is(field, "content-encoding") && bt_str_is(text, "gzip") &&
		!part->gunzip && part->call->http->endpoint->compressed) {
		part->gunzip = bt_gunzip_create();
	}
	return bt_http_take_field(part->call, field, text) ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/* Frames that cost work and have no effect. A few come with each request (windows, a reset), and a server's
 * PING now and then is harmless; thousands in a second are not. */
static bool is_without_effect(
	const struct h2_connection *connection, const nghttp2_frame_hd *frame, const struct bt_h2_call *part)
{
	switch (frame->type) {
	case NGHTTP2_DATA:
		return (!part && !connection->late_bytes) ||
		       (part && frame->length == 0 && !(frame->flags & NGHTTP2_FLAG_END_STREAM));
	case NGHTTP2_HEADERS:
	case NGHTTP2_CONTINUATION:
		return !part;
	default:
		return true;
	}
}

/* Returns: false: there were too many; connection->why has the error. */
static bool count_idle(struct h2_connection *connection)
{
	if (connection->received_ns - connection->idle_since_ns > NS_PER_S) {
		connection->idle_since_ns = connection->received_ns;
		connection->idle_n = 0;
	}
	if (++connection->idle_n <= IDLE_FRAMES) {
		return true;
	}
	bt_buf_clear(&connection->why);
	bt_buf_text(&connection->why, "the server floods the connection with frames without effect");
	return false;
}

/* Counts those of n bytes that no call received: nghttp2 reports neither frames of unknown types nor data for
 * ended streams. Returns: as count_idle. */
static bool count_idle_bytes(struct h2_connection *connection, size_t n)
{
	size_t idle = n - (connection->useful_bytes < n ? connection->useful_bytes : n);
	size_t late = idle < connection->late_bytes ? idle : connection->late_bytes;
	bool good = true;

	connection->late_bytes -= late;
	connection->idle_bytes += idle - late;
	for (; connection->idle_bytes >= IDLE_BYTES && good; connection->idle_bytes -= IDLE_BYTES) {
		good = count_idle(connection);
	}
	return good;
}

static int begin_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *context)
{
	struct h2_connection *connection = context;
	struct bt_h2_call *part = nghttp2_session_get_stream_user_data(session, frame->stream_id);

	return is_without_effect(connection, frame, part) && !count_idle(connection)
		       ? NGHTTP2_ERR_CALLBACK_FAILURE
		       : 0;
}

/* DATA that is only padding. */
static bool is_padding(const nghttp2_frame *frame)
{
	return frame->hd.type == NGHTTP2_DATA && frame->hd.length > 0 &&
	       frame->hd.length == frame->data.padlen && !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
}

static int take_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct h2_connection *connection = context;
	struct bt_h2_call *part = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	if (frame->hd.type == NGHTTP2_GOAWAY) {
		connection->drained = true;
	}
	if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK)) {
		connection->agreed = true;
	}
	if (is_padding(frame) && !count_idle(connection)) {
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	if (!part || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) {
		return 0;
	}
	part->whole |= (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
	if (frame->hd.type == NGHTTP2_HEADERS && !part->call->head_over && part->call->head.status >= 200 &&
		!bt_http_end_head(part->call)) {
		abort_stream(part);
	}
	return 0;
}

static int close_stream(nghttp2_session *session, int32_t stream, uint32_t code, void *context)
{
	struct bt_h2_call *part = nghttp2_session_get_stream_user_data(session, stream);

	(void)context;
	if (!part) {
		return 0;
	}
	part->code = code;
	if (part->call->stalled) {
		part->ended = true;
		nghttp2_session_consume_connection(session, part->kept.len);
		leave(part);
	} else {
		end_stream(part);
	}
	return 0;
}

/* A request that cannot be sent here after all: undoes the attempt. */
static int not_sent(nghttp2_session *session, const nghttp2_frame *frame, int error, void *context)
{
	struct h2_connection *connection = context;
	struct bt_h2_call *part = connection->streams.first;

	(void)error;
	while (part && part->stream != frame->hd.stream_id) {
		part = part->next;
	}
	if (frame->hd.type == NGHTTP2_HEADERS && part) {
		connection->drained = true;
		nghttp2_session_set_stream_user_data(session, part->stream, NULL);
		leave(part);
		bt_http_relaunch(part->call);
	}
	return 0;
}

/* The server's protocol error, as nghttp2 describes it. */
static int note_error(nghttp2_session *session, int code, const char *text, size_t n, void *context)
{
	struct h2_connection *connection = context;

	(void)session, (void)code;
	bt_buf_clear(&connection->why);
	bt_buf_str(&connection->why, (struct bt_str){text, n});
	return 0;
}

static void resume(struct bt_http *http, struct bt_call *call)
{
	struct bt_h2_call *part = call->h2;
	struct bt_buf kept = part->kept;

	(void)http;
	part->kept = (struct bt_buf){0};
	if (!hand_on(part, bt_buf_view(&kept))) {
		if (part->connection) {
			nghttp2_session_consume_connection(part->connection->session, kept.len);
		}
		abort_stream(part);
	} else if (part->ended && !call->stalled) {
		end_stream(part);
	}
	bt_buf_fini(&kept);
}

/* ---- a request ---- */

static ssize_t give_body(nghttp2_session *session, int32_t stream, uint8_t *bytes, size_t cap,
	uint32_t *flags, nghttp2_data_source *source, void *context)
{
	struct bt_h2_call *part = nghttp2_session_get_stream_user_data(session, stream);

	(void)source, (void)context;
	if (!part) {
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	struct bt_str body = part->call->request.body;
	size_t left = body.len - part->sent_bytes, n = left < cap ? left : cap;

	if (n) {
		memcpy(bytes, body.ptr + part->sent_bytes, n);
	}
	part->sent_bytes += n;
	*flags |= n == left ? NGHTTP2_DATA_FLAG_EOF : 0u;
	return (ssize_t)n;
}

/* nghttp2 only reads what a field names. */
static uint8_t *own_bytes(const char *text)
{
	union {
		const char *from;
		uint8_t *to;
	} bytes = {.from = text};

	return bytes.to;
}

static void add_field(struct bt_h2 *h2, size_t *n, struct bt_str name, struct bt_str value)
{
	h2->fields[(*n)++] = (nghttp2_nv){
		own_bytes(name.ptr), own_bytes(value.ptr), name.len, value.len, NGHTTP2_NV_FLAG_NONE};
}

static bool has_body(const struct bt_http_call *request)
{
	return request->body.len || request->method == BT_HTTP_POST;
}

static size_t add_fields(struct bt_h2 *h2, const struct bt_call *call)
{
	const struct bt_http_call *request = &call->request;
	const struct bt_identity *identity = call->identity;
	struct bt_str url = bt_str(call->text.ptr);
	size_t n = 0, need = FIELDS + identity->header_n;

	if (h2->field_cap < need) {
		h2->fields = bt_mem_realloc(h2->fields, need, sizeof(*h2->fields));
		h2->field_cap = need;
	}
	add_field(h2, &n, bt_str(":method"), bt_str(bt_client_metrics_method(request->method)));
	add_field(h2, &n, bt_str(":scheme"), bt_str("https"));
	add_field(h2, &n, bt_str(":authority"), bt_buf_view(&h2->authority));
	add_field(h2, &n, bt_str(":path"), bt_str_sub(url, h2->path_at, url.len));
	add_field(h2, &n, bt_str("user-agent"), bt_str(call->http->endpoint->user_agent));
	add_field(h2, &n, bt_str("accept"),
		request->accept.len ? bt_str(call->text.ptr + call->accept_at + strlen("Accept: "))
				    : bt_str("*/*"));
	if (request->content_type.len) {
		add_field(h2, &n, bt_str("content-type"),
			bt_str(call->text.ptr + call->content_type_at + strlen("Content-Type: ")));
	}
	if (has_body(request)) {
		snprintf(h2->length, sizeof(h2->length), "%zu", request->body.len);
		add_field(h2, &n, bt_str("content-length"), bt_str(h2->length));
	}
	if (call->http->endpoint->compressed) {
		add_field(h2, &n, bt_str("accept-encoding"), bt_str("gzip"));
	}
	for (uint32_t i = 0; i < identity->header_n; i++) {
		struct bt_str line = bt_str(identity->headers[i]);
		size_t colon = bt_str_find(line, ':', 0);

		add_field(h2, &n, bt_str_sub(line, 0, colon), endpoint_part(line, colon + 2, line.len));
	}
	return n;
}

/* Returns: false: the connection accepts no more. */
static bool submit(struct h2_connection *connection, struct bt_h2_call *part)
{
	struct bt_call *call = part->call;
	struct bt_h2 *h2 = call->http->h2;
	nghttp2_data_provider provider = {.read_callback = give_body};
	size_t n = add_fields(h2, call);
	int32_t stream = nghttp2_submit_request(
		connection->session, NULL, h2->fields, n, has_body(&call->request) ? &provider : NULL, part);

	if (stream < 0) {
		connection->drained = true;
		h2->any_launched = true; /* to be checked again */
		return false;
	}
	leave(part);
	part->stream = stream;
	part->connection = connection;
	connection->idle_n -= connection->idle_n < IDLE_A_REQUEST ? connection->idle_n : IDLE_A_REQUEST;
	link_call(&connection->streams, part);
	if (!connection->stream_n++) {
		connection->received_ns = bt_clock_monotonic_ns();
	}
	connection->used = true;
	call->went_out = true;
	return true;
}

static bool launch(struct bt_http *http, struct bt_call *call, struct bt_buf *out_why)
{
	struct bt_h2_call *part = call->h2;

	(void)out_why;
	if (!part) {
		part = call->h2 = bt_mem_zalloc(1, sizeof(*part));
	}
	drop_rest(part);
	*part = (struct bt_h2_call){.call = call, .queued = true};
	link_call(&http->h2->lanes[call->lane].queue, part);
	http->h2->any_launched = true;
	return true;
}

static void take_back(struct bt_http *http, struct bt_call *call)
{
	(void)http;
	if (call->h2->connection) {
		cancel_stream(call->h2);
	} else {
		leave(call->h2);
	}
	drop_rest(call->h2);
}

static void forget(struct bt_call *call)
{
	if (call->h2) {
		drop_rest(call->h2);
		bt_mem_free(call->h2);
	}
}

const struct bt_transport bt_transport_h2 = {launch, take_back, resume, forget};

/* ---- a connection ---- */

static void watch(struct h2_connection *connection, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.u64 = BT_HTTP_EVENT_H2 | connection->id};

	if (connection->interest != events) {
		epoll_ctl(connection->http->epoll, connection->interest ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
			connection->fd, &event);
		connection->interest = events;
	}
}

/* close() also removes it from the epoll. */
static void close_socket(struct h2_connection *connection)
{
	if (connection->fd >= 0) {
		close(connection->fd);
	}
	connection->fd = -1;
	connection->interest = 0;
}

static void fail_to_connect(struct h2_connection *connection, enum bt_http_fault fault, const char *why)
{
	const struct bt_h2 *h2 = connection->http->h2;

	bt_buf_printf(
		&connection->why, "Failed to connect to %s port %s: %s", h2->host.ptr, h2->port.ptr, why);
	die(connection, fault);
}

static enum bt_http_fault fault_of(int error)
{
	return error == ECONNREFUSED ? BT_HTTP_NO_LISTENER : BT_HTTP_UNREACHABLE;
}

/* Tries the addresses from address_ix on; each has its share of the time that is left. */
static void connect_next(struct h2_connection *connection)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	int error = 0;

	close_socket(connection);
	for (; connection->address_ix < connection->addresses.n; connection->address_ix++) {
		uint32_t left_n = connection->addresses.n - connection->address_ix;

		connection->fd =
			bt_dial(&connection->addresses, connection->address_ix, connection->http->dead_ns);
		error = errno;
		if (connection->fd >= 0) {
			connection->stage = CONNECTING;
			connection->step_ns = now_ns + (connection->due_ns - now_ns) / left_n;
			watch(connection, EPOLLOUT);
			return;
		}
	}
	fail_to_connect(connection, fault_of(error), strerror(error));
}

/* One address has failed: tries the next, if there is one. */
static void connect_after(struct h2_connection *connection, enum bt_http_fault fault, const char *why)
{
	if (++connection->address_ix < connection->addresses.n) {
		connect_next(connection);
	} else {
		fail_to_connect(connection, fault, why);
	}
}

static void found(struct h2_connection *connection, enum bt_resolved resolved)
{
	if (resolved == BT_RESOLVED) {
		connection->address_ix = 0;
		connect_next(connection);
	} else if (resolved == BT_RESOLVE_FAILED) {
		die(connection, BT_HTTP_NO_HOST);
	}
}

static void on_addresses(void *context)
{
	struct bt_http *http = context;
	struct bt_dial_addresses addresses;
	struct bt_buf why = {0};
	enum bt_resolved resolved = bt_resolver_take(http->h2->resolver, &addresses, &why);

	for (uint32_t i = 0; i < http->lane_n; i++) {
		for (struct h2_connection *one = http->h2->lanes[i].first; one; one = one->next) {
			if (one->stage == RESOLVING) {
				one->addresses = addresses;
				bt_buf_str(&one->why, bt_buf_view(&why));
				found(one, resolved);
			}
		}
	}
	bt_buf_fini(&why);
}

/* Context: the resolver's thread. */
static void post_addresses(void *context)
{
	bt_http_after(context, 0, on_addresses, context);
}

/* The TLS context is created once for all connections with that identity. */
static bool set_context(struct bt_http *http, struct h2_connection *connection)
{
	struct bt_h2 *h2 = http->h2;

	if (h2->context && shows(h2->identity, connection->identity)) {
		return true;
	}
	bt_client_tls_context_free(h2->context);
	bt_identity_release(h2->identity);
	h2->identity = NULL;
	h2->context = bt_client_tls_context_create(
		connection->identity, &h2->judge, &connection->fault, &connection->why);
	if (h2->context) {
		h2->identity = bt_identity_hold(connection->identity);
	}
	return h2->context;
}

static struct h2_connection *open_connection(
	struct bt_http *http, struct h2_lane *lane, struct bt_identity *identity)
{
	struct h2_connection *connection = bt_mem_zalloc(1, sizeof(*connection));

	*connection = (struct h2_connection){.next = lane->first,
		.http = http,
		.lane = lane,
		.id = ++http->h2->connection_id,
		.fd = -1,
		.identity = bt_identity_hold(identity),
		.due_ns = bt_clock_monotonic_ns() + http->connect_timeout_ns};
	connection->step_ns = connection->due_ns;
	lane->first = connection;
	lane->connection_n++;
	if (!set_context(http, connection) || !bt_client_tls_init(&connection->tls, http->h2->context)) {
		die(connection, connection->fault ? connection->fault : BT_HTTP_BROKEN);
		return connection;
	}
	found(connection, bt_resolver_start(http->h2->resolver, &connection->addresses, &connection->why));
	return connection;
}

static void free_connection(struct h2_connection *connection)
{
	nghttp2_session_del(connection->session);
	bt_client_tls_fini(&connection->tls);
	close_socket(connection);
	bt_identity_release(connection->identity);
	bt_buf_fini(&connection->why);
	bt_mem_free(connection);
}

/* Writes pending bytes to the socket. Returns: false: it is dead, or blocked. */
static bool send_out(struct h2_connection *connection)
{
	struct bt_str out = bt_client_tls_out(&connection->tls);

	if (!out.len) {
		return true;
	}
	ssize_t n = send(connection->fd, out.ptr, out.len, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		bt_buf_text(&connection->why, strerror(errno));
		die(connection, BT_HTTP_CLOSED);
		return false;
	}
	bt_client_tls_sent(&connection->tls, n > 0 ? (size_t)n : 0);
	bool over = !bt_client_tls_out(&connection->tls).len;

	watch(connection, over ? EPOLLIN : EPOLLIN | EPOLLOUT);
	return over;
}

/* Packs the due frames. Returns: false: none, or the connection is dead. */
static bool pack_frames(struct h2_connection *connection)
{
	struct bt_buf *frames = &connection->http->h2->frames;
	const uint8_t *bytes;
	ssize_t n = 1;

	bt_buf_clear(frames);
	while (frames->len < WRITE_BYTES && (n = nghttp2_session_mem_send(connection->session, &bytes)) > 0) {
		bt_buf_add(frames, bytes, (size_t)n);
	}
	if (n < 0 || (frames->len && !bt_client_tls_write(&connection->tls, bt_buf_view(frames)))) {
		bt_buf_text(&connection->why, n < 0 ? nghttp2_strerror((int)n) : "TLS refuses to write");
		die(connection, BT_HTTP_BROKEN);
		return false;
	}
	bt_http_count(connection->http, BT_COUNT_SENT, frames->len);
	return frames->len;
}

static void write_connection(struct h2_connection *connection)
{
	bool more = true;

	while (more && connection->stage >= SHAKING && connection->stage != DEAD && send_out(connection)) {
		more = connection->stage == OPEN && pack_frames(connection);
	}
	if (connection->stage == OPEN && !nghttp2_session_want_read(connection->session) &&
		!nghttp2_session_want_write(connection->session)) {
		bt_buf_text(&connection->why, connection->why.len ? "" : "the session is over");
		die(connection, BT_HTTP_BROKEN);
	}
}

static bool begin_session(struct h2_connection *connection)
{
	const struct bt_h2 *h2 = connection->http->h2;
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, BT_HTTP_HEAD_MAX},
	};

	return nghttp2_session_client_new2(&connection->session, h2->callbacks, connection, h2->option) ==
		       0 &&
	       nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings,
		       sizeof(settings) / sizeof(settings[0])) == 0 &&
	       nghttp2_session_set_local_window_size(
		       connection->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) == 0;
}

/* The server does not speak HTTP/2: libcurl takes the calls for a while. */
static void fall_back(struct bt_http *http)
{
	struct bt_h2_call *part;

	if (http->transport != &bt_transport_curl) {
		bool opened = http->curl || bt_curl_open(http);
		BT_REQUIRE(opened);
		http->transport = &bt_transport_curl;
	}
	http->h2_again_ns = bt_clock_monotonic_ns() + http->again_ns;
	for (uint32_t i = 0; i < http->lane_n; i++) {
		while ((part = http->h2->lanes[i].queue.first)) {
			leave(part);
			bt_http_relaunch(part->call);
		}
	}
}

static void shake(struct h2_connection *connection)
{
	enum bt_http_fault fault = BT_HTTP_BROKEN;

	switch (bt_client_tls_handshake(&connection->tls, &fault, &connection->why)) {
	case BT_TLS_FAILED:
		send_out(connection); /* an alert */
		die(connection, fault);
		break;
	case BT_TLS_LATER:
		send_out(connection);
		break;
	case BT_TLS_READY:
		bt_http_count(connection->http, BT_COUNT_CONNECTS, 1);
		if (!bt_client_tls_is_h2(&connection->tls)) {
			fall_back(connection->http);
			die(connection, BT_HTTP_BROKEN);
		} else if (begin_session(connection)) {
			connection->stage = OPEN;
			connection->received_ns = bt_clock_monotonic_ns();
		} else {
			bt_buf_text(&connection->why, "nghttp2 refuses a session");
			die(connection, BT_HTTP_BROKEN);
		}
		break;
	}
}

/* Feeds decrypted bytes to the session. */
static void take_records(struct h2_connection *connection)
{
	struct bt_h2 *h2 = connection->http->h2;
	enum bt_client_tls_state state = BT_TLS_READY;

	while (connection->stage == OPEN) {
		size_t n = 0;

		state = bt_client_tls_read(&connection->tls, h2->plain, PLAIN_BYTES, &n, &connection->why);
		if (state != BT_TLS_READY) {
			break;
		}
		bt_http_count(connection->http, BT_COUNT_RECEIVED, n);
		connection->useful_bytes = 0;
		ssize_t rc = nghttp2_session_mem_recv(connection->session, (const uint8_t *)h2->plain, n);

		if (rc < 0 || !count_idle_bytes(connection, n)) {
			bt_buf_text(&connection->why, connection->why.len ? "" : nghttp2_strerror((int)rc));
			die(connection, BT_HTTP_BROKEN);
		}
	}
	if (state == BT_TLS_FAILED) {
		die(connection, BT_HTTP_CLOSED);
	}
}

static void read_socket(struct h2_connection *connection)
{
	struct bt_h2 *h2 = connection->http->h2;
	ssize_t n = recv(connection->fd, h2->bytes, READ_BYTES, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0) {
		bt_buf_text(&connection->why, n ? strerror(errno) : "the server has closed it");
		die(connection, BT_HTTP_CLOSED);
		return;
	}
	connection->received_ns = bt_clock_monotonic_ns();
	connection->pinged = false;
	bt_client_tls_feed(&connection->tls, h2->bytes, (size_t)n);
	if (connection->stage == SHAKING) {
		shake(connection);
	}
	take_records(connection);
}

static void end_connecting(struct h2_connection *connection)
{
	int error = 0;
	socklen_t size = sizeof(error);

	getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (!error) {
		connection->stage = SHAKING;
		watch(connection, EPOLLIN);
		shake(connection);
	} else {
		connect_after(connection, fault_of(error), strerror(error));
	}
}

/* ---- connections of a lane ---- */

/* How many concurrent streams the server allows. */
static uint32_t limit_of(const struct h2_connection *connection)
{
	return connection->agreed ? nghttp2_session_get_remote_settings(
					    connection->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
				  : STREAMS_AT_FIRST;
}

/* Whether calls may start; a server that never allows a stream does not count as ready. */
static bool takes_calls(const struct h2_connection *connection)
{
	return connection->agreed && (connection->used || limit_of(connection));
}

static uint32_t room_of(const struct h2_connection *connection)
{
	uint32_t limit = limit_of(connection), used = connection->stream_n + connection->nominated_n;

	return limit > used ? limit - used : 0;
}

/* The connection that can take a call now, or will. */
static struct h2_connection *connection_for(const struct h2_lane *lane, const struct bt_identity *identity)
{
	struct h2_connection *best = NULL;

	for (struct h2_connection *one = lane->first; one; one = one->next) {
		bool fits =
			one->stage != DEAD && !one->drained && room_of(one) && shows(one->identity, identity);

		best = fits && (!best || one->stage == OPEN) ? one : best;
	}
	return best;
}

/* Assigns the calls of a queue to connections; opens connections as needed. */
static void feed_lane(struct bt_http *http, struct h2_lane *lane)
{
	for (struct h2_connection *one = lane->first; one && lane->queue.first; one = one->next) {
		one->nominated_n = 0;
	}
	for (struct bt_h2_call *part = lane->queue.first, *next; part; part = next) {
		struct h2_connection *connection = connection_for(lane, part->call->identity);

		next = part->next;
		if (!connection && lane->connection_n < LANE_CONNECTIONS &&
			lane->quiet_ns <= bt_clock_monotonic_ns()) {
			connection = open_connection(http, lane, part->call->identity);
		}
		if (!connection) {
			break; /* nor for the calls after it */
		}
		if (connection->stage != OPEN || !connection->agreed ||
			bt_client_tls_out(&connection->tls).len || !submit(connection, part)) {
			connection->nominated_n++;
		}
	}
}

/* Ends the calls of a dead connection. */
static void end_streams(struct h2_connection *connection)
{
	struct bt_h2_call *part;
	struct bt_buf why = {0};

	while ((part = connection->streams.first)) {
		bt_buf_clear(&why);
		if (connection->silent) {
			bt_buf_text(&why, BT_HTTP_SILENT);
		} else if (repeat(part)) {
			continue;
		} else {
			bt_buf_printf(&why, "the connection ended %s: %.*s",
				part->call->head.status ? "in the middle of the answer"
							: "before an answer was received",
				BT_STR_ARG(bt_buf_view(&connection->why)));
		}
		settle(part, connection->fault, why.ptr);
	}
	bt_buf_fini(&why);
}

/* A connection failed: ends the calls that waited for it and have no other connection. */
static void end_queue(struct h2_connection *connection)
{
	struct h2_lane *lane = connection->lane;
	struct bt_buf why = connection->why;

	for (struct h2_connection *one = lane->first; one; one = one->next) {
		if (one->stage == OPEN && !one->drained && shows(one->identity, connection->identity)) {
			lane->quiet_ns = bt_clock_monotonic_ns() + NO_NEW_CONNECTION_NS;
			return;
		}
	}
	for (struct bt_h2_call *part = lane->queue.first, *next; part; part = next) {
		next = part->next;
		if (shows(part->call->identity, connection->identity)) {
			settle(part, connection->fault, why.len ? why.ptr : "the server takes no calls");
		}
	}
}

/* Whether no call will use it again. */
static bool is_spent(const struct h2_connection *connection)
{
	const struct bt_http *http = connection->http;

	return connection->stage == OPEN && !connection->stream_n &&
	       (connection->drained || http->transport != &bt_transport_h2 ||
		       (http->h2->identity && !shows(connection->identity, http->h2->identity)));
}

static void free_retired(struct h2_lane *lane)
{
	struct h2_connection **at = &lane->first;

	while (*at) {
		struct h2_connection *connection = *at;

		if (connection->stage != DEAD) {
			at = &connection->next;
			continue;
		}
		*at = connection->next;
		lane->connection_n--;
		end_streams(connection);
		if (!connection->used) {
			end_queue(connection);
		}
		free_connection(connection);
	}
}

static void free_all_retired(struct bt_http *http)
{
	struct bt_h2 *h2 = http->h2;

	while (h2->any_dead) {
		h2->any_dead = false;
		for (uint32_t i = 0; i < http->lane_n; i++) {
			free_retired(&h2->lanes[i]);
		}
	}
}

static void write_all(struct bt_http *http)
{
	struct bt_h2 *h2 = http->h2;

	for (uint32_t i = 0; i < http->lane_n; i++) {
		feed_lane(http, &h2->lanes[i]);
		for (struct h2_connection *one = h2->lanes[i].first; one; one = one->next) {
			if (is_spent(one)) {
				die(one, BT_HTTP_BROKEN);
			}
			write_connection(one);
		}
	}
	free_all_retired(http);
}

void bt_h2_flush(struct bt_http *http)
{
	do {
		http->h2->any_launched = false;
		write_all(http);
	} while (http->h2->any_launched); /* calls of a connection that died go to another */
}

void bt_h2_take_event(struct bt_http *http, uint64_t data, uint32_t events)
{
	struct h2_connection *connection = NULL;

	for (uint32_t i = 0; i < http->lane_n && !connection; i++) {
		connection = http->h2->lanes[i].first;
		while (connection && connection->id != (data & ~BT_HTTP_EVENT_H2)) {
			connection = connection->next;
		}
	}
	if (!connection) {
		return;
	}
	if (connection->stage == CONNECTING) {
		end_connecting(connection);
	} else if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		read_socket(connection);
	}
	free_all_retired(http);
}

/* ---- time ---- */

static int64_t due_of(const struct h2_connection *connection)
{
	int64_t quiet_ns = connection->http->quiet_ns;

	switch (connection->stage) {
	case RESOLVING:
	case SHAKING:
		return connection->due_ns;
	case CONNECTING:
		return connection->step_ns;
	case OPEN:
		if (!takes_calls(connection)) {
			return connection->due_ns;
		}
		if (!connection->stream_n) {
			return INT64_MAX;
		}
		return connection->received_ns + quiet_ns + (connection->pinged ? quiet_ns / 2 : 0);
	case DEAD:
		break;
	}
	return 0;
}

int64_t bt_h2_due_ns(const struct bt_http *http)
{
	int64_t due_ns = INT64_MAX;

	for (uint32_t i = 0; i < http->lane_n; i++) {
		const struct h2_lane *lane = &http->h2->lanes[i];

		due_ns = lane->queue.first && lane->quiet_ns && lane->quiet_ns < due_ns ? lane->quiet_ns
											: due_ns;
		for (const struct h2_connection *one = lane->first; one; one = one->next) {
			due_ns = due_of(one) < due_ns ? due_of(one) : due_ns;
		}
	}
	return due_ns;
}

static void time_out(struct h2_connection *connection)
{
	const char *why = "it has not answered in time";

	switch (connection->stage) {
	case RESOLVING:
	case SHAKING:
		fail_to_connect(connection, BT_HTTP_LATE, why);
		break;
	case CONNECTING:
		connect_after(connection, BT_HTTP_LATE, why);
		break;
	case OPEN:
		if (!takes_calls(connection)) {
			fail_to_connect(connection, BT_HTTP_LATE, why);
			break;
		}
		connection->silent = connection->pinged;
		if (connection->pinged) {
			die(connection, BT_HTTP_BROKEN);
		} else {
			nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, NULL);
			connection->pinged = true;
		}
		break;
	case DEAD:
		break;
	}
}

void bt_h2_serve(struct bt_http *http, int64_t now_ns)
{
	for (uint32_t i = 0; i < http->lane_n; i++) {
		struct h2_lane *lane = &http->h2->lanes[i];

		lane->quiet_ns = lane->quiet_ns <= now_ns ? 0 : lane->quiet_ns;
		for (struct h2_connection *one = lane->first; one; one = one->next) {
			if (due_of(one) <= now_ns) {
				time_out(one);
			}
		}
	}
	free_all_retired(http);
}

/* ---- the client ---- */

bool bt_h2_suits(const struct bt_endpoint *endpoint)
{
	return endpoint->tls && !*endpoint->proxy;
}

/* Splits "host:port", where the host may be in brackets and the port missing. */
static void split_address(struct bt_str address, struct bt_buf *out_host, struct bt_buf *out_port)
{
	bool bracket = bt_str_starts(address, "[");
	size_t end = bt_str_find(address, bracket ? ']' : ':', 0);
	size_t colon = bt_str_find(address, ':', end);

	bt_buf_clear(out_host);
	bt_buf_clear(out_port);
	bt_buf_printf(out_host, "%.*s", BT_STR_ARG(bt_str_sub(address, bracket ? 1 : 0, end)));
	bt_buf_printf(out_port, "%.*s",
		BT_STR_ARG(colon + 1 < address.len ? bt_str_sub(address, colon + 1, address.len)
						   : bt_str("443")));
}

/* The URL's host is the name for TLS; if connect_to is set, its host is the one to connect to. */
static void set_endpoint(struct bt_h2 *h2, const struct bt_endpoint *endpoint)
{
	struct bt_str url = bt_str(endpoint->url);
	size_t from = strlen("https://");
	struct bt_str there = bt_str_sub(url, from, bt_str_find(url, '/', from));

	h2->path_at = from + there.len;
	bt_client_tls_judge_init(&h2->judge, endpoint);
	there = endpoint->host ? bt_str(endpoint->host + strlen("Host: ")) : there;
	split_address(there, &h2->host, &h2->port);
	bt_buf_str(&h2->authority, there);
}

bool bt_h2_open(struct bt_http *http)
{
	struct bt_h2 *h2 = http->h2 = bt_mem_zalloc(1, sizeof(*h2));

	set_endpoint(h2, http->endpoint);
	h2->bytes = bt_mem_zalloc(READ_BYTES, 1);
	h2->plain = bt_mem_zalloc(PLAIN_BYTES, 1);
	h2->resolver = bt_resolver_create(h2->host.ptr, h2->port.ptr, post_addresses, http);
	if (nghttp2_session_callbacks_new(&h2->callbacks) != 0 || nghttp2_option_new(&h2->option) != 0) {
		return false;
	}
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(h2->callbacks, take_data);
	nghttp2_session_callbacks_set_on_header_callback(h2->callbacks, take_field);
	nghttp2_session_callbacks_set_on_begin_frame_callback(h2->callbacks, begin_frame);
	nghttp2_session_callbacks_set_on_frame_recv_callback(h2->callbacks, take_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(h2->callbacks, close_stream);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(h2->callbacks, not_sent);
	nghttp2_session_callbacks_set_error_callback2(h2->callbacks, note_error);
	nghttp2_option_set_no_auto_window_update(h2->option, 1);
	nghttp2_option_set_no_closed_streams(h2->option, 1);
	nghttp2_option_set_peer_max_concurrent_streams(h2->option, STREAMS_AT_FIRST);
	return true;
}

void bt_h2_close(struct bt_http *http)
{
	struct bt_h2 *h2 = http->h2;

	if (!h2) {
		return;
	}
	for (uint32_t i = 0; i < http->lane_n; i++) {
		for (struct h2_connection *one = h2->lanes[i].first, *next; one; one = next) {
			next = one->next;
			free_connection(one);
		}
	}
	bt_resolver_destroy(h2->resolver);
	bt_client_tls_context_free(h2->context);
	bt_identity_release(h2->identity);
	nghttp2_session_callbacks_del(h2->callbacks);
	nghttp2_option_del(h2->option);
	bt_buf_fini(&h2->host);
	bt_buf_fini(&h2->port);
	bt_client_tls_judge_fini(&h2->judge);
	bt_buf_fini(&h2->authority);
	bt_buf_fini(&h2->frames);
	bt_mem_free(h2->fields);
	bt_mem_free(h2->bytes);
	bt_mem_free(h2->plain);
	bt_mem_free(h2);
	http->h2 = NULL;
}
