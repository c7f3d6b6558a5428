/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a server's HTTP/2: the client's real thread, with TLS and connecting replaced at link time.
 * Whatever the server sends, every call ends once and in order, no response exceeds the client's limit, and a
 * complete response has a status. The first byte selects the calls, the second one their options; then follow
 * records: type, flags, stream and length (a byte each) and the payload, sent as a frame of that type. Types
 * from RAW on are not sent as frames.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/cluster/net/dial_int.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/net/latch.h"
#include "tools/cluster/net/tls_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CALLS	 4u
#define BODY_MAX (64u << 10)
#define PREFACE	 24u /* bytes before the client's first frame */
#define HEAD	 9u  /* of a frame */

enum special { RAW = 0xf8, WAIT, RESUME, CANCEL };

/* ---- TLS: bytes as they are ---- */

struct bt_client_tls_context {
	char none;
};

struct plain {
	struct bt_buf in, out;
	size_t in_at;
};

static struct plain *plain_of(const struct bt_client_tls *tls)
{
	return (struct plain *)(void *)tls->ssl;
}

void bt_client_tls_judge_init(struct bt_client_tls_judge *judge, const struct bt_endpoint *endpoint)
{
	(void)endpoint;
	*judge = (struct bt_client_tls_judge){.insecure = true};
}

void bt_client_tls_judge_fini(struct bt_client_tls_judge *judge)
{
	(void)judge;
}

struct bt_client_tls_context *bt_client_tls_context_create(const struct bt_identity *identity,
	struct bt_client_tls_judge *judge, enum bt_http_fault *out_fault, struct bt_buf *out_why)
{
	(void)identity, (void)judge, (void)out_fault, (void)out_why;
	return bt_mem_zalloc(1, sizeof(struct bt_client_tls_context));
}

void bt_client_tls_context_free(struct bt_client_tls_context *context)
{
	bt_mem_free(context);
}

bool bt_client_tls_trusts(struct bt_str authority)
{
	(void)authority;
	return true;
}

bool bt_client_tls_key_matches(struct bt_str certificate, struct bt_str key)
{
	(void)certificate, (void)key;
	return true;
}

void bt_client_tls_prepare(SSL_CTX *ssl, struct bt_client_tls_judge *judge)
{
	(void)ssl, (void)judge;
}

bool bt_client_tls_init(struct bt_client_tls *tls, struct bt_client_tls_context *context)
{
	(void)context;
	*tls = (struct bt_client_tls){.ssl = bt_mem_zalloc(1, sizeof(struct plain))};
	return true;
}

void bt_client_tls_fini(struct bt_client_tls *tls)
{
	struct plain *plain = plain_of(tls);

	if (plain) {
		bt_buf_fini(&plain->in);
		bt_buf_fini(&plain->out);
		bt_mem_free(plain);
	}
	*tls = (struct bt_client_tls){.ssl = NULL};
}

enum bt_client_tls_state bt_client_tls_handshake(
	struct bt_client_tls *tls, enum bt_http_fault *out_fault, struct bt_buf *out_why)
{
	(void)tls, (void)out_fault, (void)out_why;
	return BT_TLS_READY;
}

bool bt_client_tls_is_h2(const struct bt_client_tls *tls)
{
	(void)tls;
	return true;
}

void bt_client_tls_feed(struct bt_client_tls *tls, const char *bytes, size_t n)
{
	bt_buf_add(&plain_of(tls)->in, bytes, n);
}

enum bt_client_tls_state bt_client_tls_read(
	struct bt_client_tls *tls, char *bytes, size_t cap, size_t *out_n, struct bt_buf *out_why)
{
	struct plain *plain = plain_of(tls);
	size_t left = plain->in.len - plain->in_at, n = left < cap ? left : cap;

	(void)out_why;
	if (!n) {
		bt_buf_clear(&plain->in);
		plain->in_at = 0;
		return BT_TLS_LATER;
	}
	memcpy(bytes, plain->in.ptr + plain->in_at, n);
	plain->in_at += n;
	*out_n = n;
	return BT_TLS_READY;
}

bool bt_client_tls_write(struct bt_client_tls *tls, struct bt_str bytes)
{
	bt_buf_str(&plain_of(tls)->out, bytes);
	return true;
}

struct bt_str bt_client_tls_out(const struct bt_client_tls *tls)
{
	return plain_of(tls) ? bt_buf_view(&plain_of(tls)->out) : (struct bt_str){.len = 0};
}

void bt_client_tls_sent(struct bt_client_tls *tls, size_t n)
{
	struct bt_buf *out = &plain_of(tls)->out;

	memmove(out->ptr, out->ptr + n, out->len - n);
	out->len -= n;
}

/* ---- connecting: the first connection reaches the simulated server, later ones are closed at once ---- */

static int first_end[2]; /* the client's end until it has connected, and the server's */

struct bt_resolver *bt_resolver_create(
	const char *host, const char *port, void (*resolved)(void *context), void *context)
{
	(void)host, (void)port, (void)resolved, (void)context;
	return NULL;
}

void bt_resolver_destroy(struct bt_resolver *resolver)
{
	(void)resolver;
}

enum bt_resolved bt_resolver_start(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why)
{
	(void)resolver, (void)out_why;
	out->n = 1;
	return BT_RESOLVED;
}

enum bt_resolved bt_resolver_take(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why)
{
	return bt_resolver_start(resolver, out, out_why);
}

int bt_dial(const struct bt_dial_addresses *addresses, uint32_t ix, int64_t dead_ns)
{
	int fd = first_end[0], cut[2];

	(void)addresses, (void)ix, (void)dead_ns;
	first_end[0] = -1;
	if (fd < 0) {
		BT_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, cut) == 0);
		close(cut[1]);
		fd = cut[0];
	}
	return fd;
}

/* ---- calls ---- */

struct play;

struct call_state {
	struct play *play;
	uint64_t id;
	size_t bytes;
	bool headed, ended;
};

struct play {
	struct bt_http *http;
	struct call_state calls[CALLS];
	uint32_t call_n, end_n;
	struct bt_latch over;
	_Atomic bool pauses; /* atomic: response heads pause their calls */
};

static void take_head(void *context, const struct bt_http_head *head)
{
	struct call_state *one = context;

	BT_REQUIRE(!one->headed && !one->ended && head->status >= 200);
	one->headed = true;
	if (bt_load_acquire(&one->play->pauses)) {
		bt_http_pause(one->play->http, one->id, true);
	}
}

static bool take_part(void *context, const char *bytes, size_t n)
{
	struct call_state *one = context;

	(void)bytes;
	BT_REQUIRE(one->headed && !one->ended && n);
	one->bytes += n;
	return true;
}

static void take_end(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct call_state *one = context;

	BT_REQUIRE(!one->ended && body.len <= BODY_MAX);
	BT_REQUIRE(end == BT_HTTP_ANSWERED ? head->status >= 200 && !error.len : error.len != 0);
	one->ended = true;
	if (++one->play->end_n == one->play->call_n) {
		bt_latch_open(&one->play->over);
	}
}

static void resume_all(void *context)
{
	struct play *play = context;

	for (uint32_t i = 0; i < play->call_n; i++) {
		bt_http_pause(play->http, play->calls[i].id, false);
	}
}

/* Starts calls: a GET or a POST, whose response is read whole or in parts. */
static void begin_calls(struct play *play, uint8_t what)
{
	play->call_n = 1 + what % CALLS;
	for (uint32_t i = 0; i < play->call_n; i++) {
		struct call_state *one = &play->calls[i];
		bool posts = (what >> (2 + i)) & 1, streams = ((what >> 6) ^ i) & 1;

		one->play = play;
		/* Calls of a new client are numbered from 1. */
		one->id = i + 1;
		uint64_t id = bt_http_send(
			play->http, &(struct bt_http_call){.method = posts ? BT_HTTP_POST : BT_HTTP_GET,
					    .path = bt_str("/x"),
					    .body = bt_str(posts ? "{}" : ""),
					    .head = take_head,
					    .data = streams ? take_part : NULL,
					    .done = take_end,
					    .context = one});
		BT_REQUIRE(id == one->id);
	}
}

/* ---- the client's thread ---- */

static void arrive(void *context)
{
	bt_latch_open(context);
}

/* Returns when the client has read all input, and has run queued callbacks. */
static void settle(struct play *play)
{
	for (int i = 0; i < 2; i++) {
		struct bt_latch there;

		bt_latch_init(&there);
		bt_http_after(play->http, 0, arrive, &there);
		bt_latch_wait(&there, BT_EVENTCOUNT_FOREVER);
		bt_latch_fini(&there);
	}
}

/* ---- the server ---- */

static void send_bytes(const char *bytes, size_t n)
{
	char waste[4096];

	while (n) {
		ssize_t done = send(first_end[1], bytes, n, MSG_NOSIGNAL);

		if (done < 0 && errno != EAGAIN && errno != EINTR) {
			return; /* the client has closed the connection */
		}
		while (done < 0 && recv(first_end[1], waste, sizeof(waste), 0) > 0) {
		}
		bytes += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
}

static void send_frame(uint8_t type, uint8_t flags, uint32_t stream, const uint8_t *payload, size_t n)
{
	uint8_t bytes[HEAD + 255] = {0, (uint8_t)(n >> 8), (uint8_t)n, type, flags, 0, 0, 0, (uint8_t)stream};

	if (n) {
		memcpy(bytes + HEAD, payload, n);
	}
	send_bytes((const char *)bytes, HEAD + n);
}

/* Reads frames of the client until this many requests have started. */
static void await_requests(uint32_t wanted)
{
	struct pollfd ready = {.fd = first_end[1], .events = POLLIN};
	struct bt_buf in = {.len = 0};
	size_t at = PREFACE;
	char bytes[4096];

	while (wanted) {
		BT_REQUIRE(poll(&ready, 1, -1) == 1 || errno == EINTR); /* libFuzzer's alarm */
		ssize_t n = recv(first_end[1], bytes, sizeof(bytes), 0);

		BT_REQUIRE(n > 0 || errno == EAGAIN);
		bt_buf_add(&in, bytes, n > 0 ? (size_t)n : 0);
		while (in.len >= at + HEAD) {
			const uint8_t *head = (const uint8_t *)in.ptr + at;

			wanted -= wanted && head[3] == 1;
			at += HEAD + ((size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2]);
		}
	}
	bt_buf_fini(&in);
}

static void play_record(struct play *play, const uint8_t *head, const uint8_t *payload, size_t n)
{
	uint32_t which = head[2] % (CALLS + 1);

	switch (head[0]) {
	case RAW:
		send_bytes((const char *)payload, n);
		break;
	case WAIT:
		settle(play);
		break;
	case RESUME:
		bt_http_after(play->http, 0, resume_all, play);
		settle(play);
		break;
	case CANCEL:
		bt_http_cancel(play->http, 1 + which % play->call_n);
		settle(play);
		break;
	default: /* streams of requests are odd; 0 is the connection */
		send_frame(head[0] & 0x0f, head[1], which ? 2 * which - 1 : 0, payload, n);
		break;
	}
}

static void play_server(struct play *play, const uint8_t *data, size_t size)
{
	send_frame(4, 0, 0, NULL, 0); /* SETTINGS: the client sends requests */
	await_requests(play->call_n);
	for (size_t at = 0; at + 4 <= size;) {
		size_t left = size - at - 4, n = data[at + 3] < left ? data[at + 3] : left;

		play_record(play, data + at, data + at + 4, n);
		at += 4 + n;
	}
	settle(play);
	bt_store_release(&play->pauses, false);
	bt_http_after(play->http, 0, resume_all, play);
	shutdown(first_end[1], SHUT_WR);
}

/* ---- the input ---- */

static struct bt_client_config *open_access(void)
{
	static const char text[] =
		"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": "
		"\"c\", \"user\": \"u\"}}], \"users\": [{\"name\": \"u\", \"user\": {}}], \"clusters\": "
		"[{\"name\": \"c\", \"cluster\": {\"server\": \"https://127.0.0.1:1\", "
		"\"insecure-skip-tls-verify\": true}}]}";
	char path[] = "/tmp/berth-fuzz-h2-XXXXXX";
	int fd = mkstemp(path);
	struct bt_buf error = {.len = 0};

	BT_REQUIRE(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	struct bt_client_config *access =
		bt_client_config_create(&(struct bt_client_config_options){.kubeconfig = path}, &error);

	BT_REQUIRE(access);
	close(fd);
	unlink(path);
	return access;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bt_client_config *access;
	struct play play = {.call_n = 0};
	struct bt_buf error = {.len = 0};

	if (size < 2) {
		return 0;
	}
	access = access ? access : open_access();
	BT_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, first_end) == 0);
	bt_latch_init(&play.over);
	bt_store_release(&play.pauses, data[1] & 1);
	play.http = bt_http_create(
		&(struct bt_http_options){.access = access, .body_max_bytes = BODY_MAX}, &error);
	BT_REQUIRE(play.http);
	begin_calls(&play, data[0]);
	play_server(&play, data + 2, size - 2);
	bt_latch_wait(&play.over, BT_EVENTCOUNT_FOREVER);
	bt_http_destroy(play.http);
	bt_latch_fini(&play.over);
	close(first_end[1]);
	return 0;
}
