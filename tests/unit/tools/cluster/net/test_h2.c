/* SPDX-License-Identifier: Apache-2.0
 * Failures of calls that only HTTP/2 has: refused or reset streams, GOAWAY, windows, limits of streams,
 * silence, malformed frames; and servers for which it is not used.
 */
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "pki.h"
#include "server.h"
#include "tools/cluster/net/http.h"

#define SECOND	((int64_t)1000000000)
#define BROKEN	2u /* error codes of HTTP/2 */
#define REFUSED 7u

static struct pki_pair authority, server_pair;
static char config[] = "/tmp/berth-h2-XXXXXX";

/* ---- calls ---- */

/* Counts ended calls, and records the last one. */
struct ends {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t by_end[4], n, head_n; /* lock: */
	size_t bytes;		       /* lock: of bodies, in parts */
	enum bt_http_end end;
	uint32_t status;
	struct bt_buf body, error;
};

static void ends_init(struct ends *ends)
{
	*ends = (struct ends){0};
	pthread_mutex_init(&ends->lock, NULL);
	pthread_cond_init(&ends->changed, NULL);
}

static void ends_fini(struct ends *ends)
{
	bt_buf_fini(&ends->body);
	bt_buf_fini(&ends->error);
	pthread_cond_destroy(&ends->changed);
	pthread_mutex_destroy(&ends->lock);
}

static void take_end(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct ends *ends = context;

	pthread_mutex_lock(&ends->lock);
	ends->end = end;
	ends->status = head->status;
	bt_buf_clear(&ends->body);
	bt_buf_str(&ends->body, body);
	bt_buf_clear(&ends->error);
	bt_buf_str(&ends->error, error);
	ends->by_end[end]++;
	ends->n++;
	pthread_cond_broadcast(&ends->changed);
	pthread_mutex_unlock(&ends->lock);
}

static void take_head(void *context, const struct bt_http_head *head)
{
	struct ends *ends = context;

	(void)head;
	pthread_mutex_lock(&ends->lock);
	ends->head_n++;
	pthread_cond_broadcast(&ends->changed);
	pthread_mutex_unlock(&ends->lock);
}

static bool take_part(void *context, const char *bytes, size_t n)
{
	struct ends *ends = context;

	(void)bytes;
	pthread_mutex_lock(&ends->lock);
	ends->bytes += n;
	pthread_mutex_unlock(&ends->lock);
	return true;
}

static void wait_for(struct ends *ends, const uint32_t *n, uint32_t wanted)
{
	pthread_mutex_lock(&ends->lock);
	while (*n < wanted) {
		pthread_cond_wait(&ends->changed, &ends->lock);
	}
	pthread_mutex_unlock(&ends->lock);
}

/* ---- setup ---- */

struct way {
	SSL_CTX *tls;
	struct server *server;
	struct bt_client_config *access;
	struct bt_http *http;
	struct ends ends;
};

struct plan {
	handler *handle;
	const char *host; /* NULL: 127.0.0.1 */
	uint32_t stream_max, connections;
	int64_t quiet_ns, again_ns, connect_timeout_ns;
	bool http1, no_streams;
	_Atomic bool *sometimes; /* HTTP/2 is selected while this is set */
};

static void write_config(const struct way *way, const struct plan *plan)
{
	FILE *file = fopen(config, "w");

	fprintf(file,
		"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": "
		"\"c\", \"user\": \"u\"}}], \"users\": [{\"name\": \"u\", \"user\": {}}], \"clusters\": "
		"[{\"name\": \"c\", \"cluster\": {\"server\": \"https://%s:%u\", "
		"\"insecure-skip-tls-verify\": true}}]}",
		plan->host ? plan->host : "127.0.0.1", server_port(way->server));
	fclose(file);
}

static void open_way(struct way *way, const struct plan *plan)
{
	struct bt_buf error = {0};

	*way = (struct way){.tls = pki_server(&server_pair, NULL)};
	if (!plan->http1) {
		pki_choose_h2(way->tls);
	}
	if (plan->sometimes) {
		pki_choose_h2_while(way->tls, plan->sometimes);
	}
	ends_init(&way->ends);
	way->server = server_start(way->tls, plan->handle, way);
	server_limit_streams(way->server, plan->no_streams ? SERVER_NO_STREAMS : plan->stream_max);
	write_config(way, plan);
	way->access =
		bt_client_config_create(&(struct bt_client_config_options){.kubeconfig = config}, &error);
	if (!way->access) {
		fail_msg("%s", error.ptr);
	}
	way->http = bt_http_create(&(struct bt_http_options){.access = way->access,
					   .name = "test",
					   .connections = plan->connections,
					   .connect_timeout_ns = plan->connect_timeout_ns,
					   .quiet_ns = plan->quiet_ns,
					   .again_ns = plan->again_ns},
		&error);
	assert_non_null(way->http);
	bt_buf_fini(&error);
}

static void close_way(struct way *way)
{
	bt_http_destroy(way->http);
	server_stop(way->server);
	bt_client_config_destroy(way->access);
	SSL_CTX_free(way->tls);
	ends_fini(&way->ends);
}

static uint64_t send_call(struct way *way, enum bt_http_method method, const char *path, const char *body)
{
	return bt_http_send(way->http, &(struct bt_http_call){.method = method,
					       .path = bt_str(path),
					       .body = bt_str(body),
					       .head = take_head,
					       .done = take_end,
					       .context = &way->ends});
}

static void expect_end(struct way *way, enum bt_http_end end, const char *words)
{
	if (way->ends.end != end ||
		(words && (!way->ends.error.len || !strstr(way->ends.error.ptr, words)))) {
		fail_msg("%d %s, not %d %s", way->ends.end,
			way->ends.error.len ? way->ends.error.ptr : "no error", end, words ? words : "");
	}
}

/* ---- failing streams ---- */

/* Responds to "/ok" and the second try of "/once"; other paths by their names. */
static bool mixed(void *context, struct peer *peer, const struct request *request)
{
	(void)context;
	if (bt_str_is(request->path, "/refused") ||
		(bt_str_is(request->path, "/once") && request->nth == 0)) {
		peer_reset(peer, REFUSED);
	} else if (bt_str_is(request->path, "/reset")) {
		peer_reset(peer, BROKEN);
	} else if (bt_str_is(request->path, "/middle")) {
		peer_send(peer, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
		peer_reset(peer, BROKEN);
	} else if (bt_str_is(request->path, "/away")) {
		peer_goaway(peer, false);
	} else if (bt_str_is(request->path, "/after")) {
		peer_goaway(peer, true);
		return peer_answer(peer, 200, "", "after");
	} else {
		return peer_answer(peer, 200, "", "ok");
	}
	return true;
}

static void unprocessed_calls_are_unsent_and_possibly_processed_ones_are_lost(void **state)
{
	static const struct {
		enum bt_http_method method;
		const char *path;
		enum bt_http_end end;
		const char *words;
	} cases[] = {
		{BT_HTTP_POST, "/refused", BT_HTTP_UNSENT, "the server refused the stream"},
		{BT_HTTP_GET, "/refused", BT_HTTP_UNSENT, "the server refused the stream"},
		{BT_HTTP_GET, "/once", BT_HTTP_ANSWERED, NULL},
		{BT_HTTP_POST, "/reset", BT_HTTP_LOST,
			"the stream ended before an answer was received: INTERNAL_ERROR"},
		{BT_HTTP_GET, "/reset", BT_HTTP_LOST, "INTERNAL_ERROR"},
		{BT_HTTP_GET, "/middle", BT_HTTP_LOST, "in the middle of the answer"},
		{BT_HTTP_POST, "/away", BT_HTTP_UNSENT, "the server refused the stream"},
		{BT_HTTP_POST, "/after", BT_HTTP_ANSWERED, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct way way;

		open_way(&way, &(struct plan){.handle = mixed});
		send_call(
			&way, cases[i].method, cases[i].path, cases[i].method == BT_HTTP_POST ? "{}" : NULL);
		wait_for(&way.ends, &way.ends.n, 1);
		expect_end(&way, cases[i].end, cases[i].words);
		send_call(&way, BT_HTTP_POST, "/ok", "{}"); /* the client still works */
		wait_for(&way.ends, &way.ends.n, 2);
		expect_end(&way, BT_HTTP_ANSWERED, NULL);
		close_way(&way);
	}
}

static bool slow_away(void *context, struct peer *peer, const struct request *request)
{
	struct way *way = context;

	if (bt_str_is(request->path, "/first")) {
		peer_send(peer, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlo");
		wait_for(&way->ends, &way->ends.n, 1); /* the other call is over */
		return peer_send(peer, "ng") || true;
	}
	if (bt_str_is(request->path, "/away")) {
		peer_goaway(peer, true);
	}
	return peer_answer(peer, 200, "", "ok");
}

static void streams_before_a_goaway_go_on_and_new_calls_take_a_new_connection(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = slow_away});
	send_call(&way, BT_HTTP_POST, "/first", "{}");
	wait_for(&way.ends, &way.ends.head_n, 1);
	send_call(&way, BT_HTTP_POST, "/away", "{}");
	wait_for(&way.ends, &way.ends.n, 2);
	assert_int_equal(way.ends.by_end[BT_HTTP_ANSWERED], 2);
	assert_int_equal(server_connection_n(way.server), 1);
	send_call(&way, BT_HTTP_POST, "/new", "{}");
	wait_for(&way.ends, &way.ends.n, 3);
	assert_int_equal(way.ends.by_end[BT_HTTP_ANSWERED], 3);
	assert_int_equal(server_connection_n(way.server), 2);
	close_way(&way);
}

/* ---- concurrency ---- */

static bool answer(void *context, struct peer *peer, const struct request *request)
{
	(void)context;
	return peer_answer(peer, 200, "", request->body.len ? "a body" : "none");
}

static void a_hundred_calls_share_a_connection(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = answer});
	for (int i = 0; i < 100; i++) {
		send_call(&way, BT_HTTP_POST, "/x", "{}");
	}
	wait_for(&way.ends, &way.ends.n, 100);
	assert_int_equal(way.ends.by_end[BT_HTTP_ANSWERED], 100);
	assert_int_equal(server_connection_n(way.server), 1);
	assert_int_equal(bt_http_counts(way.http).connect_n, 1);
	close_way(&way);
}

static void calls_wait_where_a_server_allows_few_streams(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = answer, .stream_max = 2, .connections = 2});
	for (int i = 0; i < 200; i++) {
		send_call(&way, BT_HTTP_POST, "/x", "{}");
	}
	wait_for(&way.ends, &way.ends.n, 200);
	assert_int_equal(way.ends.by_end[BT_HTTP_ANSWERED], 200);
	assert_true(server_connection_n(way.server) <= 16);
	close_way(&way);
}

/* ---- bodies and windows ---- */

#define BIG (3u << 20) /* three times the window of a stream */

static bool big(void *context, struct peer *peer, const struct request *request)
{
	char *bytes = bt_mem_zalloc(BIG, 1);
	struct bt_buf head = {0};

	(void)context;
	if (bt_str_is(request->path, "/small")) {
		bt_mem_free(bytes);
		return peer_answer(peer, 200, "", "ok");
	}
	bt_buf_printf(&head, "HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n", BIG);
	bool good = peer_send_bytes(peer, head.ptr, head.len) && peer_send_bytes(peer, bytes, BIG);

	bt_buf_fini(&head);
	bt_mem_free(bytes);
	return good;
}

static void pause_head(void *context, const struct bt_http_head *head)
{
	struct way *way = context;

	(void)head;
	bt_http_pause(way->http, 1, true); /* the client's first call */
	take_head(&way->ends, head);
}

static bool take_way_part(void *context, const char *bytes, size_t n)
{
	struct way *way = context;

	return take_part(&way->ends, bytes, n);
}

static void take_way_end(void *context, enum bt_http_end end, const struct bt_http_head *head,
	struct bt_str body, struct bt_str error)
{
	struct way *way = context;

	take_end(&way->ends, end, head, body, error);
}

static void go_on(void *context)
{
	struct way *way = context;

	assert_int_equal(way->ends.bytes, 0);
	bt_http_pause(way->http, 1, false);
}

static void a_paused_stream_holds_up_no_other(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = big});
	bt_http_send(way.http, &(struct bt_http_call){.path = bt_str("/big"),
				       .head = pause_head,
				       .data = take_way_part,
				       .done = take_way_end,
				       .context = &way});
	wait_for(&way.ends, &way.ends.head_n, 1);
	for (uint32_t i = 1; i <= 50; i++) { /* its window is used up meanwhile */
		send_call(&way, BT_HTTP_GET, "/small", NULL);
		wait_for(&way.ends, &way.ends.n, i);
		expect_end(&way, BT_HTTP_ANSWERED, NULL);
	}
	/* At most its window has arrived, apart from the small ones. */
	assert_true(bt_http_counts(way.http).received_bytes < (2u << 20));
	bt_http_after(way.http, 0, go_on, &way);
	wait_for(&way.ends, &way.ends.n, 51);
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	assert_int_equal(way.ends.bytes, BIG);
	assert_int_equal(server_connection_n(way.server), 1);
	close_way(&way);
}

static void bodies_larger_than_windows_are_sent_and_received(void **state)
{
	struct way way;
	char *body = bt_mem_zalloc(BIG + 1, 1);

	(void)state;
	memset(body, 'x', BIG);
	open_way(&way, &(struct plan){.handle = big});
	send_call(&way, BT_HTTP_POST, "/big", body);
	wait_for(&way.ends, &way.ends.n, 1);
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	assert_int_equal(way.ends.body.len, BIG);
	assert_true(bt_http_counts(way.http).sent_bytes > BIG);
	close_way(&way);
	bt_mem_free(body);
}

static void a_cancelled_stream_gives_its_window_back(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = big});
	for (uint32_t i = 1; i <= 40; i++) { /* more than 40 times the connection's window */
		uint64_t id = bt_http_send(way.http, &(struct bt_http_call){.path = bt_str("/big"),
							     .head = take_head,
							     .data = take_part,
							     .done = take_end,
							     .context = &way.ends});

		wait_for(&way.ends, &way.ends.head_n, i);
		bt_http_cancel(way.http, id);
		wait_for(&way.ends, &way.ends.n, i);
	}
	send_call(&way, BT_HTTP_GET, "/big", NULL);
	wait_for(&way.ends, &way.ends.n, 41);
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	assert_int_equal(server_connection_n(way.server), 1);
	close_way(&way);
}

/* ---- connections ---- */

static bool silent(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)request;
	peer_fall_silent(peer);
	return false;
}

static void a_connection_that_has_gone_silent_is_given_up(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = silent, .quiet_ns = SECOND / 20});
	send_call(&way, BT_HTTP_GET, "/x", NULL);
	wait_for(&way.ends, &way.ends.n, 1);
	expect_end(&way, BT_HTTP_LOST, "the server has sent nothing");
	close_way(&way);
}

static bool answer_after_pings(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)request;
	peer_await_pings(peer, 2);
	return peer_answer(peer, 200, "", "late");
}

static void a_server_that_answers_pings_may_take_its_time(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = answer_after_pings, .quiet_ns = SECOND * 2 / 3});
	send_call(&way, BT_HTTP_POST, "/x", NULL);
	wait_for(&way.ends, &way.ends.n, 1);
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	close_way(&way);
}

/* Frames that each violate a rule of the connection. */
static bool nonsense(void *context, struct peer *peer, const struct request *request)
{
	static const char frames[][17] = {
		"\x00\x00\x01\x00\x00\x00\x00\x00\x00x",		 /* DATA on stream 0 */
		"\xff\xff\xff\x00\x00\x00\x00\x00\x01x",		 /* a frame that is too long */
		"\x00\x00\x04\x01\x04\x00\x00\x00\x01\xff\xff\xff\xff",	 /* HEADERS with invalid HPACK */
		"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00",	 /* WINDOW_UPDATE by 0 */
		"\x00\x00\x05\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00x", /* SETTINGS of 5 bytes */
		"\x00\x00\x04\x05\x04\x00\x00\x00\x01\x00\x00\x00\x02",	 /* PUSH_PROMISE */
	};
	static const size_t sizes[] = {10, 10, 13, 13, 14, 13};
	size_t which = (size_t)(request->path.ptr[1] - '0');

	(void)context;
	if (which >= sizeof(sizes) / sizeof(sizes[0])) {
		return peer_answer(peer, 200, "", "ok");
	}
	peer_write_raw(peer, frames[which], sizes[which]);
	peer_hang(peer);
	return false;
}

static void frames_that_are_nonsense_end_the_connection(void **state)
{
	struct way way;
	char path[] = "/0";

	(void)state;
	open_way(&way, &(struct plan){.handle = nonsense});
	for (uint32_t i = 0; i < 6; i++, path[1]++) {
		send_call(&way, BT_HTTP_POST, path, "{}");
		wait_for(&way.ends, &way.ends.n, i + 1);
		expect_end(&way, BT_HTTP_LOST, "the connection ended before an answer was received: ");
	}
	send_call(&way, BT_HTTP_POST, "/9", "{}");
	wait_for(&way.ends, &way.ends.n, 7);
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	close_way(&way);
}

static bool long_head(void *context, struct peer *peer, const struct request *request)
{
	struct bt_buf text = {0};

	(void)context, (void)request;
	for (int i = 0; i < 14; i++) {
		bt_buf_printf(&text, "X-Long-%d: %04000d\r\n", i, 0);
	}
	bool good = peer_answer(peer, 200, text.ptr, "ok");

	bt_buf_fini(&text);
	return good;
}

static void a_long_head_is_read(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = long_head});
	send_call(&way, BT_HTTP_GET, "/x", NULL);
	wait_for(&way.ends, &way.ends.n, 1);
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	close_way(&way);
}

/* ---- a malicious server: calls end, and the client keeps little of its data ---- */

static void add_frame(
	struct bt_buf *frames, uint8_t type, uint8_t flags, uint32_t stream, const char *payload, size_t n)
{
	const char head[] = {
		(char)(n >> 16), (char)(n >> 8), (char)n, (char)type, (char)flags, 0, 0, 0, (char)stream};

	bt_buf_add(frames, head, sizeof(head));
	bt_buf_add(frames, payload, n);
}

enum {
	DATA = 0,
	HEADERS = 1,
	PRIORITY = 2,
	RESET = 3,
	SETTINGS = 4,
	PING = 6,
	GOAWAY = 7,
	WINDOW = 8,
	CONTINUATION = 9
};
#define END_HEADERS 4
#define PADDED	    8

/* A field of 4,000 bytes that enters HPACK's table, then n references to it. */
static void add_bomb(struct bt_buf *block, size_t n)
{
	char field[4000];

	bt_buf_add(block, "\x40\x01x\x7f\xa1\x1e", 6);
	memset(field, 'a', sizeof(field));
	bt_buf_add(block, field, sizeof(field));
	for (size_t i = 0; i < n; i++) {
		bt_buf_char(block, '\xbe');
	}
}

/* Header blocks, split into frames of 16,000 bytes. */
static void add_head(struct bt_buf *frames, const struct bt_buf *block)
{
	for (size_t at = 0; at < block->len;) {
		size_t left = block->len - at, n = left < 16000 ? left : 16000;

		add_frame(frames, at ? CONTINUATION : HEADERS, n == left ? END_HEADERS : 0, 1,
			block->ptr + at, n);
		at += n;
	}
}

static const struct attack {
	const char *path, *words;
	uint8_t type, flags, stream;
	const char *payload;
	size_t n, times;
} attacks[] = {
	{"/ping", "floods the connection with frames without effect|looding was detected", PING, 0, 0,
		"12345678", 8, 200000},
	{"/settings", "floods the connection with frames without effect|looding was detected", SETTINGS, 0, 0,
		"", 0, 200000},
	{"/priority", "floods the connection with frames without effect", PRIORITY, 0, 1, "\0\0\0\0\1", 5,
		200000},
	{"/data", "floods the connection with frames without effect", DATA, 0, 1, "", 0, 200000},
	{"/padding", "floods the connection with frames without effect", DATA, PADDED, 1, "\3\0\0\0", 4,
		200000},
	{"/interim", "the head of the answer is longer than 256 KiB", HEADERS, END_HEADERS, 1,
		"\x48\x03"
		"103",
		5, 50000},
	{"/goaway", "", GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8, 200000},
	{"/answers-to-no-ping", "floods the connection with frames without effect", PING, 1, 0, "12345678", 8,
		200000},
	{"/windows", "floods the connection with frames without effect", WINDOW, 0, 0, "\0\0\0\1", 4, 200000},
	{"/stream-windows", "floods the connection with frames without effect", WINDOW, 0, 1, "\0\0\0\1", 4,
		200000},
	{"/gentle-goaways", "floods the connection with frames without effect", GOAWAY, 0, 0,
		"\x7f\xff\xff\xff\0\0\0\0", 8, 200000},
	/* Frames of the wrong length. */
	{"/head-of-nothing", "", HEADERS, END_HEADERS, 1, "", 0, 1},
	{"/ping-of-nothing", "", PING, 0, 0, "", 0, 1},
	{"/settings-cut-short", "", SETTINGS, 0, 0, "12345", 5, 1},
	{"/reset-of-nothing", "", RESET, 0, 1, "", 0, 1},
	/* Window updates by 0, or beyond 2^31 - 1; frames below the minimum size. */
	{"/window-of-nothing", "", WINDOW, 0, 0, "\0\0\0\0", 4, 1},
	{"/stream-window-of-nothing", "", WINDOW, 0, 1, "\0\0\0\0", 4, 1},
	{"/window-too-large", "", WINDOW, 0, 0, "\x7f\xff\xff\xff", 4, 2},
	{"/stream-window-too-large", "", WINDOW, 0, 1, "\x7f\xff\xff\xff", 4, 2},
	{"/first-window-too-large", "", SETTINGS, 0, 0, "\0\4\xff\xff\xff\xff", 6, 1},
	{"/frames-too-small", "", SETTINGS, 0, 0, "\0\5\0\0\0\1", 6, 1},
};

static bool attack(void *context, struct peer *peer, const struct request *request)
{
	struct bt_buf frames = {0}, block = {0};

	(void)context;
	if (bt_str_is(request->path, "/ok")) {
		return peer_answer(peer, 200, "", "ok");
	}
	if (bt_str_is(request->path, "/data") || bt_str_is(request->path, "/padding")) { /* after a head */
		add_frame(&frames, HEADERS, END_HEADERS, 1, "\x88", 1);
	}
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		const struct attack *one = &attacks[i];

		for (size_t k = 0; bt_str_is(request->path, one->path) && k < one->times; k++) {
			add_frame(&frames, one->type, one->flags, one->stream, one->payload, one->n);
		}
	}
	if (bt_str_is(request->path, "/bomb")) {
		bt_buf_char(&block, '\x88');
		add_bomb(&block, 100000);
		add_head(&frames, &block);
	} else if (bt_str_is(request->path, "/trailers")) {
		add_frame(&frames, HEADERS, END_HEADERS, 1, "\x88", 1);
		add_frame(&frames, DATA, 0, 1, "part", 4);
		add_bomb(&block, 10000);
		add_frame(&frames, HEADERS, END_HEADERS | 1, 1, block.ptr, block.len);
	} else if (bt_str_is(request->path, "/continuation")) {
		add_frame(&frames, HEADERS, 0, 1, "\x88", 1);
		for (size_t i = 0; i < 100000; i++) {
			add_frame(&frames, CONTINUATION, 0, 1, "", 0);
		}
	}
	peer_write_raw(peer, frames.ptr, frames.len);
	bt_buf_fini(&frames);
	bt_buf_fini(&block);
	peer_hang(peer);
	return false;
}

/* words: texts between bars; the error must contain one. */
static bool says_one_of(const struct bt_buf *error, const char *words)
{
	char text[256], *rest = text;

	snprintf(text, sizeof(text), "%s", words);
	for (char *one; (one = strsep(&rest, "|"));) {
		if (!*one || (error->len && strstr(error->ptr, one))) {
			return true;
		}
	}
	return false;
}

static void expect_attack(const char *path, const char *words)
{
	struct way way;

	open_way(&way, &(struct plan){.handle = attack});
	send_call(&way, BT_HTTP_POST, path, "{}");
	wait_for(&way.ends, &way.ends.n, 1);
	if (way.ends.end == BT_HTTP_ANSWERED || !says_one_of(&way.ends.error, words)) {
		fail_msg("%s: %d %s", path, way.ends.end,
			way.ends.error.len ? way.ends.error.ptr : "no error");
	}
	/* The client still works. If the attack ended the call before the connection, the next request may be
	 * lost with that one. */
	send_call(&way, BT_HTTP_POST, "/ok", "{}");
	wait_for(&way.ends, &way.ends.n, 2);
	if (way.ends.end == BT_HTTP_LOST) {
		send_call(&way, BT_HTTP_POST, "/ok", "{}");
		wait_for(&way.ends, &way.ends.n, 3);
	}
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	close_way(&way);
}

static void floods_and_wrong_frames_end_the_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		expect_attack(attacks[i].path, attacks[i].words);
	}
}

static void heads_and_trailers_without_end_are_cut(void **state)
{
	(void)state;
	expect_attack("/bomb", "the head of the answer is longer than 256 KiB");
	expect_attack("/trailers", "the head of the answer is longer than 256 KiB");
	expect_attack("/continuation", "");
}

/* After the head, sends the same frame until the connection ends. */
static bool write_without_end(void *context, struct peer *peer, const struct request *request)
{
	static const char full[16384];
	struct bt_buf frames = {0};

	(void)context;
	if (bt_str_is(request->path, "/ok")) {
		return peer_answer(peer, 200, "", "ok");
	}
	add_frame(&frames, HEADERS, END_HEADERS, 1, "\x88", 1);
	peer_write_raw(peer, frames.ptr, frames.len);
	bt_buf_clear(&frames);
	for (int i = 0; i < 16; i++) {
		add_frame(&frames, bt_str_is(request->path, "/unknown") ? 0xbb : DATA, 0, 1, full,
			sizeof(full));
	}
	while (peer_write_raw(peer, frames.ptr, frames.len)) {
	}
	bt_buf_fini(&frames);
	return false;
}

static void an_endless_response_ends_the_connection(void **state)
{
	static const char *const paths[] = {"/unknown", "/longer-than-a-body"};
	struct way way;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		open_way(&way, &(struct plan){.handle = write_without_end});
		send_call(&way, BT_HTTP_POST, paths[i], "{}");
		wait_for(&way.ends, &way.ends.n, 1);
		assert_int_equal(way.ends.end, BT_HTTP_LOST);
		/* The server is still writing there, so this one uses another connection. */
		send_call(&way, BT_HTTP_POST, "/ok", "{}");
		wait_for(&way.ends, &way.ends.n, 2);
		close_way(&way);
	}
}

/* Many frames of an unknown type, empty and full, then a response. */
static bool answer_after_unknown(void *context, struct peer *peer, const struct request *request)
{
	static const char full[16384];
	struct bt_buf frames = {0};

	(void)context, (void)request;
	for (uint32_t i = 0; i < 10000; i++) {
		add_frame(&frames, 0x42, 0xff, i % 2, "", 0);
	}
	for (int i = 0; i < 100; i++) {
		add_frame(&frames, 0xff, 0, 1, full, sizeof(full));
	}
	peer_write_raw(peer, frames.ptr, frames.len);
	bt_buf_fini(&frames);
	return peer_answer(peer, 200, "", "ok");
}

static void frames_of_unknown_types_change_nothing(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = answer_after_unknown});
	send_call(&way, BT_HTTP_POST, "/x", "{}");
	wait_for(&way.ends, &way.ends.n, 1);
	expect_end(&way, BT_HTTP_ANSWERED, NULL);
	assert_string_equal(way.ends.body.ptr, "ok");
	close_way(&way);
}

static bool refuse_streams(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)peer, (void)request;
	return true;
}

static void a_server_that_takes_no_streams_is_given_up(void **state)
{
	struct way way;

	(void)state;
	open_way(&way,
		&(struct plan){
			.handle = refuse_streams, .no_streams = true, .connect_timeout_ns = SECOND / 5});
	send_call(&way, BT_HTTP_GET, "/x", NULL);
	wait_for(&way.ends, &way.ends.n, 1);
	expect_end(&way, BT_HTTP_UNSENT, "it has not answered in time");
	close_way(&way);
}

static bool reset_all(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)request;
	peer_reset(peer, REFUSED);
	return true;
}

static void rapid_resets_end_each_call_once(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = reset_all});
	for (int i = 0; i < 500; i++) {
		send_call(&way, i % 2 ? BT_HTTP_GET : BT_HTTP_POST, "/x", NULL);
	}
	wait_for(&way.ends, &way.ends.n, 500);
	assert_int_equal(way.ends.by_end[BT_HTTP_UNSENT], 500);
	assert_true(server_request_n(way.server) <= 750); /* a GET is sent a second time */
	close_way(&way);
}

static void a_server_without_http2_is_spoken_to_by_http1(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = answer, .http1 = true, .connections = 3});
	for (int i = 0; i < 30; i++) {
		send_call(&way, BT_HTTP_POST, "/x", "{}");
	}
	wait_for(&way.ends, &way.ends.n, 30);
	assert_int_equal(way.ends.by_end[BT_HTTP_ANSWERED], 30);
	send_call(&way, BT_HTTP_GET, "/x", NULL);
	wait_for(&way.ends, &way.ends.n, 31);
	assert_string_equal(way.ends.body.ptr, "none");
	close_way(&way);
}

static bool answer_protocol(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)request;
	return peer_answer(peer, 200, "", peer_speaks_h2(peer) ? "HTTP/2" : "HTTP/1.1");
}

/* The protocol of the n-th call's response. */
static void expect_protocol(struct way *way, uint32_t n, const char *protocol)
{
	send_call(way, BT_HTTP_POST, "/x", "{}");
	wait_for(&way->ends, &way->ends.n, n);
	expect_end(way, BT_HTTP_ANSWERED, NULL);
	assert_string_equal(way->ends.body.ptr, protocol);
}

static void http2_is_retried_after_a_fallback(void **state)
{
	_Atomic bool knows = false;
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = answer_protocol, .sometimes = &knows, .again_ns = 1});
	for (uint32_t i = 1; i <= 3; i++) { /* one request and response each time */
		expect_protocol(&way, i, "HTTP/1.1");
	}
	bt_store_release(&knows, true);
	expect_protocol(&way, 4, "HTTP/2");
	uint32_t connection_n = server_connection_n(way.server);
	expect_protocol(&way, 5, "HTTP/2");
	assert_int_equal(server_connection_n(way.server), connection_n);
	close_way(&way);
	bt_store_release(&knows, false);
	open_way(&way, &(struct plan){.handle = answer_protocol, .sometimes = &knows});
	expect_protocol(&way, 1, "HTTP/1.1");
	bt_store_release(&knows, true);
	expect_protocol(&way, 2, "HTTP/1.1"); /* not so soon */
	close_way(&way);
}

static bool say_session(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)request;
	peer_hold(peer);
	peer_answer(peer, 200, "", peer_resumed(peer) ? "resumed" : "new");
	return false; /* closes the connection */
}

static void a_connection_that_was_cut_goes_on_with_its_session(void **state)
{
	struct way way;

	(void)state;
	open_way(&way, &(struct plan){.handle = say_session});
	for (uint32_t i = 1; i <= 40; i++) {
		send_call(&way, BT_HTTP_GET, "/x", NULL);
		wait_for(&way.ends, &way.ends.n, i);
		expect_end(&way, BT_HTTP_ANSWERED, NULL);
		assert_string_equal(way.ends.body.ptr, i == 1 ? "new" : "resumed");
	}
	close_way(&way);
}

static void a_name_is_looked_up_without_waiting(void **state)
{
	struct addrinfo *found = NULL;
	struct way way;

	(void)state;
	if (getaddrinfo("localhost", NULL, NULL, &found)) {
		print_message("this machine has no address for localhost: no /etc/hosts?\n");
		skip();
	}
	freeaddrinfo(found);
	open_way(&way, &(struct plan){.handle = answer, .host = "localhost"});
	for (int i = 0; i < 10; i++) {
		send_call(&way, BT_HTTP_POST, "/x", "{}");
	}
	wait_for(&way.ends, &way.ends.n, 10);
	assert_int_equal(way.ends.by_end[BT_HTTP_ANSWERED], 10);
	close_way(&way);
	open_way(&way, &(struct plan){.handle = answer, .host = "no-such-host.invalid"});
	send_call(&way, BT_HTTP_POST, "/x", "{}");
	wait_for(&way.ends, &way.ends.n, 1);
	expect_end(&way, BT_HTTP_UNSENT, "Could not resolve host no-such-host.invalid");
	close_way(&way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unprocessed_calls_are_unsent_and_possibly_processed_ones_are_lost),
		cmocka_unit_test(streams_before_a_goaway_go_on_and_new_calls_take_a_new_connection),
		cmocka_unit_test(a_hundred_calls_share_a_connection),
		cmocka_unit_test(calls_wait_where_a_server_allows_few_streams),
		cmocka_unit_test(a_paused_stream_holds_up_no_other),
		cmocka_unit_test(bodies_larger_than_windows_are_sent_and_received),
		cmocka_unit_test(a_cancelled_stream_gives_its_window_back),
		cmocka_unit_test(a_connection_that_has_gone_silent_is_given_up),
		cmocka_unit_test(a_server_that_answers_pings_may_take_its_time),
		cmocka_unit_test(frames_that_are_nonsense_end_the_connection),
		cmocka_unit_test(a_long_head_is_read),
		cmocka_unit_test(floods_and_wrong_frames_end_the_call),
		cmocka_unit_test(an_endless_response_ends_the_connection),
		cmocka_unit_test(frames_of_unknown_types_change_nothing),
		cmocka_unit_test(heads_and_trailers_without_end_are_cut),
		cmocka_unit_test(a_server_that_takes_no_streams_is_given_up),
		cmocka_unit_test(rapid_resets_end_each_call_once),
		cmocka_unit_test(a_server_without_http2_is_spoken_to_by_http1),
		cmocka_unit_test(http2_is_retried_after_a_fallback),
		cmocka_unit_test(a_connection_that_was_cut_goes_on_with_its_session),
		cmocka_unit_test(a_name_is_looked_up_without_waiting),
	};

	signal(SIGPIPE, SIG_IGN); /* the test's server writes by OpenSSL */
	int fd = mkstemp(config);

	pki_make(&authority, NULL, "test authority", NULL);
	pki_make(&server_pair, &authority, "server", "IP:127.0.0.1");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	pki_fini(&authority);
	pki_fini(&server_pair);
	close(fd);
	unlink(config);
	return failed;
}
