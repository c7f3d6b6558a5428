/* SPDX-License-Identifier: Apache-2.0
 * The test server's HTTP/2, by nghttp2. The connection's thread reads; each stream's thread runs the handler
 * and translates its HTTP/1.1.
 */
#include <nghttp2/nghttp2.h>
#include <openssl/x509.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "server_int.h"

struct link {
	struct peer *peer; /* of the connection */
	nghttp2_session *session;
	pthread_mutex_t lock; /* protects all of it */
	pthread_cond_t changed;
	struct stream *streams; /* all streams, open or closed */
	uint32_t stream_n, ping_n;
	struct bt_buf frames; /* frames for the next write */
	bool dead, held;
};

struct stream {
	struct stream *next;
	struct link *link;
	struct peer peer; /* as passed to handlers */
	pthread_t thread;
	bool runs;
	int32_t id;
	uint32_t nth;
	struct bt_buf method, path, headers, body; /* the request */
	struct bt_buf text;			   /* of the response, not translated yet */
	struct bt_buf out;
	size_t out_at, left; /* left: bytes left of the body or a chunk */
	bool head_over, chunked, over, given;
};

/* ---- with the lock held ---- */

static bool flush(struct link *link)
{
	const uint8_t *bytes;
	ssize_t n;

	bt_buf_clear(&link->frames);
	while (!link->dead && !link->held && (n = nghttp2_session_mem_send(link->session, &bytes)) > 0) {
		bt_buf_add(&link->frames, bytes, (size_t)n);
	}
	if (link->frames.len) {
		link->dead = SSL_write(link->peer->tls, link->frames.ptr, (int)link->frames.len) <= 0;
	}
	return !link->dead;
}

static ssize_t give_data(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t cap, uint32_t *flags,
	nghttp2_data_source *source, void *context)
{
	struct stream *stream = source->ptr;
	size_t left = stream->out.len - stream->out_at, n = left < cap ? left : cap;

	(void)session, (void)id, (void)context;
	if (!n && !stream->over) {
		return NGHTTP2_ERR_DEFERRED;
	}
	memcpy(bytes, stream->out.ptr ? stream->out.ptr + stream->out_at : "", n);
	stream->out_at += n;
	*flags |= n == left && stream->over ? NGHTTP2_DATA_FLAG_EOF : 0u;
	return (ssize_t)n;
}

#define FIELD_MAX 16

static nghttp2_nv field_of(const char *name, size_t name_n, const char *value, size_t value_n)
{
	union {
		const char *from;
		uint8_t *to;
	} a = {.from = name}, b = {.from = value};

	return (nghttp2_nv){a.to, b.to, name_n, value_n, NGHTTP2_NV_FLAG_NONE};
}

/* Sends a head "HTTP/1.1 200 OK\r\nName: value\r\n". */
static void send_head(struct stream *stream, struct bt_str head)
{
	size_t space = bt_str_find(head, ' ', 0), at = bt_str_find(head, '\n', 0) + 1, n = 1;
	nghttp2_nv fields[FIELD_MAX];
	nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = give_data};
	bool interim = head.ptr[space + 1] == '1';

	fields[0] = field_of(":status", 7, head.ptr + space + 1, 3);
	while (at < head.len && n < FIELD_MAX) {
		size_t end = bt_str_find(head, '\r', at), colon = bt_str_find(head, ':', at),
		       from = colon + 1;
		size_t to = end;

		while (from < end && head.ptr[from] == ' ') {
			from++;
		}
		while (to > from && head.ptr[to - 1] == ' ') {
			to--;
		}
		struct bt_str name = bt_str_sub(head, at, colon);

		if (name.len == 14 && !strncasecmp(name.ptr, "content-length", 14)) {
			stream->left = strtoul(head.ptr + from, NULL, 10);
		}
		if (name.len == 17 && !strncasecmp(name.ptr, "transfer-encoding", 17)) {
			stream->chunked = true;
		} else {
			fields[n++] = field_of(name.ptr, name.len, head.ptr + from, to - from);
		}
		at = end + 2;
	}
	if (interim) {
		nghttp2_submit_headers(
			stream->link->session, NGHTTP2_FLAG_NONE, stream->id, NULL, fields, n, NULL);
		return;
	}
	stream->head_over = true;
	nghttp2_submit_response(stream->link->session, stream->id, fields, n, &provider);
	stream->over = !stream->chunked && !stream->left;
}

static void drop(struct bt_buf *buf, size_t n)
{
	memmove(buf->ptr, buf->ptr + n, buf->len - n);
	buf->len -= n;
	buf->ptr[buf->len] = 0;
}

/* Translates one element of the handler's text. Returns: false: it is incomplete. */
static bool translate(struct stream *stream)
{
	struct bt_buf *text = &stream->text;
	char *end;

	if (stream->over || !text->len) {
		return false;
	}
	if (!stream->head_over) {
		end = strstr(text->ptr, "\r\n\r\n");
		if (!end || strncmp(text->ptr, "HTTP/1.1 ", 9)) {
			return false;
		}
		size_t n = (size_t)(end - text->ptr);

		send_head(stream, (struct bt_str){text->ptr, n + 2});
		drop(text, n + 4);
		return true;
	}
	if (stream->left) {
		size_t n = stream->left < text->len ? stream->left : text->len;

		bt_buf_add(&stream->out, text->ptr, n);
		drop(text, n);
		stream->left -= n;
		stream->over = !stream->chunked && !stream->left;
		return true;
	}
	end = strstr(text->ptr, "\r\n");
	if (!end) {
		return false;
	}
	if (end != text->ptr) { /* else the line end behind a chunk */
		stream->left = strtoul(text->ptr, NULL, 16);
		stream->over = !stream->left; /* trailers are not translated */
	}
	drop(text, (size_t)(end - text->ptr) + 2);
	return true;
}

/* ---- called by handlers ---- */

bool stream_send(struct stream *stream, const char *bytes, size_t n)
{
	struct link *link = stream->link;

	pthread_mutex_lock(&link->lock);
	bt_buf_add(&stream->text, bytes, n);
	while (translate(stream)) {
	}
	nghttp2_session_resume_data(link->session, stream->id);
	bool good = flush(link);

	pthread_mutex_unlock(&link->lock);
	return good;
}

bool stream_is(struct stream *stream, const char *common_name)
{
	pthread_mutex_lock(&stream->link->lock);
	bool good = peer_is(stream->link->peer, common_name);

	pthread_mutex_unlock(&stream->link->lock);
	return good;
}

bool stream_resumed(struct stream *stream)
{
	pthread_mutex_lock(&stream->link->lock);
	bool resumed = peer_resumed(stream->link->peer);

	pthread_mutex_unlock(&stream->link->lock);
	return resumed;
}

void stream_hang(struct stream *stream)
{
	pthread_mutex_lock(&stream->link->lock);
	while (!stream->link->dead) {
		pthread_cond_wait(&stream->link->changed, &stream->link->lock);
	}
	pthread_mutex_unlock(&stream->link->lock);
}

void server_limit_streams(struct server *server, uint32_t n)
{
	server->stream_max = n;
}

void peer_reset(struct peer *peer, uint32_t code)
{
	struct stream *stream = peer->stream;

	pthread_mutex_lock(&stream->link->lock);
	nghttp2_submit_rst_stream(stream->link->session, NGHTTP2_FLAG_NONE, stream->id, code);
	flush(stream->link);
	pthread_mutex_unlock(&stream->link->lock);
}

void peer_goaway(struct peer *peer, bool with_this)
{
	struct stream *stream = peer->stream;

	pthread_mutex_lock(&stream->link->lock);
	nghttp2_submit_goaway(stream->link->session, NGHTTP2_FLAG_NONE,
		with_this	     ? stream->id
		: stream->id - 2 > 0 ? stream->id - 2
				     : 0,
		NGHTTP2_NO_ERROR, NULL, 0);
	flush(stream->link);
	pthread_mutex_unlock(&stream->link->lock);
}

void peer_await_pings(struct peer *peer, uint32_t n)
{
	struct link *link = peer->stream->link;

	pthread_mutex_lock(&link->lock);
	while (!link->dead && link->ping_n < n) {
		pthread_cond_wait(&link->changed, &link->lock);
	}
	pthread_mutex_unlock(&link->lock);
}

void peer_hold(struct peer *peer)
{
	if (peer->stream) {
		pthread_mutex_lock(&peer->stream->link->lock);
		peer->stream->link->held = true;
		pthread_mutex_unlock(&peer->stream->link->lock);
	}
}

void peer_fall_silent(struct peer *peer)
{
	struct link *link = peer->stream->link;
	struct pollfd fds[2] = {{.fd = link->peer->fd, .events = POLLRDHUP},
		{.fd = link->peer->server->stop[0], .events = POLLIN}};

	pthread_mutex_lock(&link->lock); /* blocks the connection's thread */
	poll(fds, 2, -1);
	pthread_mutex_unlock(&link->lock);
}

bool peer_write_raw(struct peer *peer, const char *bytes, size_t n)
{
	struct link *link = peer->stream->link;

	pthread_mutex_lock(&link->lock);
	bool good = SSL_write(link->peer->tls, bytes, (int)n) > 0;
	pthread_mutex_unlock(&link->lock);
	return good;
}

/* ---- requests ---- */

static void *run(void *context)
{
	struct stream *stream = context;
	struct link *link = stream->link;
	struct server *server = link->peer->server;
	struct request request = {.method = bt_buf_view(&stream->method),
		.path = bt_buf_view(&stream->path),
		.headers = bt_buf_view(&stream->headers),
		.body = bt_buf_view(&stream->body),
		.nth = stream->nth};

	if (!server->handle(server->context, &stream->peer, &request)) {
		pthread_mutex_lock(&link->lock);
		link->held = false;
		flush(link);
		shutdown(link->peer->fd, SHUT_RDWR);
		pthread_mutex_unlock(&link->lock);
	}
	return NULL;
}

static int begin_stream(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct link *link = context;
	struct stream *stream = bt_mem_zalloc(1, sizeof(*stream));

	*stream = (struct stream){
		.next = link->streams, .link = link, .id = frame->hd.stream_id, .nth = link->stream_n++};
	stream->peer = (struct peer){.server = link->peer->server, .stream = stream};
	link->streams = stream;
	nghttp2_session_set_stream_user_data(session, stream->id, stream);
	return 0;
}

static int take_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *context)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct bt_str field = {(const char *)name, name_n}, text = {(const char *)value, value_n};

	(void)flags, (void)context;
	if (bt_str_is(field, ":method")) {
		bt_buf_str(&stream->method, text);
	} else if (bt_str_is(field, ":path")) {
		bt_buf_str(&stream->path, text);
	} else {
		bt_buf_printf(&stream->headers, "%.*s: %.*s\r\n", BT_STR_ARG(field), BT_STR_ARG(text));
	}
	return 0;
}

static int take_data(
	nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t n, void *context)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)flags, (void)context;
	bt_buf_add(&stream->body, bytes, n);
	return 0;
}

static int take_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct link *link = context;

	if (frame->hd.type == NGHTTP2_PING) {
		link->ping_n++;
		pthread_cond_broadcast(&link->changed);
	}
	if (!stream || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) || stream->runs ||
		(frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) {
		return 0;
	}
	pthread_mutex_lock(&link->peer->server->lock);
	link->peer->server->request_n++;
	pthread_mutex_unlock(&link->peer->server->lock);
	stream->runs = true;
	BT_REQUIRE(pthread_create(&stream->thread, NULL, run, stream) == 0);
	return 0;
}

static void open_session(struct link *link)
{
	nghttp2_session_callbacks *callbacks;
	uint32_t stream_max = link->peer->server->stream_max;
	nghttp2_settings_entry limit = {
		NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, stream_max == SERVER_NO_STREAMS ? 0 : stream_max};

	BT_REQUIRE(nghttp2_session_callbacks_new(&callbacks) == 0);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_stream);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, take_field);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, take_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, take_frame);
	BT_REQUIRE(nghttp2_session_server_new(&link->session, callbacks, link) == 0);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(link->session, NGHTTP2_FLAG_NONE, &limit, stream_max ? 1 : 0);
}

static void end_streams(struct link *link)
{
	for (struct stream *stream = link->streams, *next; stream; stream = next) {
		next = stream->next;
		if (stream->runs) {
			pthread_join(stream->thread, NULL);
		}
		bt_buf_fini(&stream->method);
		bt_buf_fini(&stream->path);
		bt_buf_fini(&stream->headers);
		bt_buf_fini(&stream->body);
		bt_buf_fini(&stream->text);
		bt_buf_fini(&stream->out);
		bt_mem_free(stream);
	}
}

void serve_h2(struct peer *peer)
{
	struct link link = {.peer = peer};
	char bytes[16384];

	pthread_mutex_init(&link.lock, NULL);
	pthread_cond_init(&link.changed, NULL);
	pthread_mutex_lock(&link.lock);
	open_session(&link);
	flush(&link);
	while (!link.dead) {
		pthread_mutex_unlock(&link.lock);
		bool readable = peer_wait_readable(peer);

		pthread_mutex_lock(&link.lock);
		int n = readable ? SSL_read(peer->tls, bytes, sizeof(bytes)) : 0;

		link.dead |= n <= 0 ||
			     nghttp2_session_mem_recv(link.session, (const uint8_t *)bytes, (size_t)n) < 0 ||
			     !flush(&link);
	}
	pthread_cond_broadcast(&link.changed);
	pthread_mutex_unlock(&link.lock);
	end_streams(&link);
	nghttp2_session_del(link.session);
	bt_buf_fini(&link.frames);
	pthread_cond_destroy(&link.changed);
	pthread_mutex_destroy(&link.lock);
}
