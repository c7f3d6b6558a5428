/* SPDX-License-Identifier: Apache-2.0
 * Calls: responses whole and in parts, calls without a response, cancellation, timers. All of it with libcurl
 * and HTTP/1.1, and with HTTP/2.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "pki.h"
#include "server.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/net/client_metrics.h"

#define SECOND ((int64_t)1000000000)
#define LONG   (60 * SECOND) /* longer than any wait, except for a hang */

/* How one call went. Written by the client's thread, read after its end. */
struct outcome {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t done_n, head_n, part_n; /* lock: */
	enum bt_http_end end;
	struct bt_http_head head;
	struct bt_buf type, body, error;
	struct bt_http *http; /* for the callbacks below */
	uint64_t id;
	uint32_t parts_wanted; /* data rejects the part after this many; 0: never */
};

static void outcome_init(struct outcome *outcome)
{
	*outcome = (struct outcome){0};
	pthread_mutex_init(&outcome->lock, NULL);
	pthread_cond_init(&outcome->changed, NULL);
}

static void outcome_fini(struct outcome *outcome)
{
	bt_buf_fini(&outcome->type);
	bt_buf_fini(&outcome->body);
	bt_buf_fini(&outcome->error);
	pthread_mutex_destroy(&outcome->lock);
	pthread_cond_destroy(&outcome->changed);
}

static void count(struct outcome *outcome, uint32_t *n)
{
	pthread_mutex_lock(&outcome->lock);
	++*n;
	pthread_cond_broadcast(&outcome->changed);
	pthread_mutex_unlock(&outcome->lock);
}

static void wait_for(struct outcome *outcome, const uint32_t *n, uint32_t wanted)
{
	pthread_mutex_lock(&outcome->lock);
	while (*n < wanted) {
		pthread_cond_wait(&outcome->changed, &outcome->lock);
	}
	pthread_mutex_unlock(&outcome->lock);
}

static void take_head(void *context, const struct bt_http_head *head)
{
	struct outcome *outcome = context;

	outcome->head = *head;
	count(outcome, &outcome->head_n);
}

static bool take_part(void *context, const char *bytes, size_t n)
{
	struct outcome *outcome = context;

	if (outcome->parts_wanted && outcome->part_n >= outcome->parts_wanted) {
		return false;
	}
	bt_buf_add(&outcome->body, bytes, n);
	count(outcome, &outcome->part_n);
	return true;
}

static void take_end(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct outcome *outcome = context;

	outcome->end = end;
	outcome->head = *head;
	bt_buf_str(&outcome->type, head->content_type);
	bt_buf_str(&outcome->body, body);
	bt_buf_str(&outcome->error, error);
	count(outcome, &outcome->done_n);
}

/* ---- setup ---- */

static bool over_h2; /* in the second pass */
static struct pki_pair authority, server_pair;
static char config[] = "/tmp/berth-http-XXXXXX";

struct way {
	SSL_CTX *tls;
	struct server *server;
	struct bt_client_config *access;
	struct bt_http *http;
};

static char server_name[32] = "127.0.0.1"; /* the server's name for open_way */

static bool (*gives_up)(void); /* open_way's setting of the client */

static void open_way(struct way *way, uint16_t port, int64_t dead_ns)
{
	struct bt_buf error = {0};
	char master[64];
	FILE *file = fopen(config, "w");

	snprintf(master, sizeof(master), "%s://%s:%u", over_h2 ? "https" : "http", server_name, port);
	fprintf(file,
		"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": "
		"\"c\", \"user\": \"u\"}}], \"users\": [{\"name\": \"u\", \"user\": {}}], \"clusters\": "
		"[{\"name\": \"c\", \"cluster\": {\"server\": \"%s\", "
		"\"insecure-skip-tls-verify\": %s}}]}",
		master, over_h2 ? "true" : "false");
	fclose(file);
	way->access =
		bt_client_config_create(&(struct bt_client_config_options){.kubeconfig = config}, &error);
	if (!way->access) {
		fail_msg("%s", error.ptr);
	}
	way->http = bt_http_create(&(struct bt_http_options){.access = way->access,
					   .name = "test",
					   .dead_ns = dead_ns,
					   .body_max_bytes = 1000,
					   .gives_up = gives_up},
		&error);
	assert_non_null(way->http);
	bt_buf_fini(&error);
}

static void start_way(struct way *way, handler *handle)
{
	*way = (struct way){0};
	if (over_h2) {
		way->tls = pki_server(&server_pair, NULL);
		pki_choose_h2(way->tls);
	}
	way->server = server_start(way->tls, handle, NULL);
	open_way(way, server_port(way->server), 0);
}

static void close_way(struct way *way)
{
	bt_http_destroy(way->http);
	if (way->server) {
		server_stop(way->server);
	}
	bt_client_config_destroy(way->access);
	SSL_CTX_free(way->tls);
}

static uint64_t send_call(struct way *way, enum bt_http_method method, const char *path, const char *body,
	struct outcome *outcome)
{
	outcome->http = way->http;
	outcome->id =
		bt_http_send(way->http, &(struct bt_http_call){.method = method,
						.path = bt_str(path),
						.accept = bt_str("application/json"),
						.content_type = bt_str(body ? "application/json" : NULL),
						.body = bt_str(body),
						.timeout_ns = LONG,
						.head = take_head,
						.done = take_end,
						.context = outcome});
	return outcome->id;
}

static uint64_t send_stream(struct way *way, const char *path, struct outcome *outcome)
{
	outcome->http = way->http;
	outcome->id = bt_http_send(way->http, &(struct bt_http_call){.path = bt_str(path),
						      .head = take_head,
						      .data = take_part,
						      .done = take_end,
						      .context = outcome});
	return outcome->id;
}

static void finish_call(struct outcome *outcome)
{
	wait_for(outcome, &outcome->done_n, 1);
}

/* Makes a call and waits for its end. */
static void make_call(struct way *way, enum bt_http_method method, const char *path, const char *body,
	struct outcome *outcome)
{
	outcome_init(outcome);
	send_call(way, method, path, body, outcome);
	finish_call(outcome);
}

static void make_stream(struct way *way, const char *path, struct outcome *outcome)
{
	outcome_init(outcome);
	send_stream(way, path, outcome);
	finish_call(outcome);
}

/* ---- answers ---- */

static bool echo(void *context, struct peer *peer, const struct request *request)
{
	struct bt_buf body = {0};

	(void)context;
	bt_buf_printf(&body, "%.*s %.*s %.*s [%.*s] [%.*s]", BT_STR_ARG(request->method),
		BT_STR_ARG(request->path), BT_STR_ARG(request->body),
		BT_STR_ARG(request_header(request, "Accept")),
		BT_STR_ARG(request_header(request, "Content-Type")));
	bool good = peer_answer(peer, 201, "Content-Type: text/plain\r\nRetry-After: 7\r\n", body.ptr);

	bt_buf_fini(&body);
	return good;
}

static void an_answer_has_status_type_and_body(void **state)
{
	static const struct {
		enum bt_http_method method;
		const char *body, *expect;
	} cases[] = {
		{BT_HTTP_GET, NULL, "GET /a?b=c%20d  [application/json] []"},
		{BT_HTTP_POST, "{}", "POST /a?b=c%20d {} [application/json] [application/json]"},
		{BT_HTTP_POST, NULL, "POST /a?b=c%20d  [application/json] []"},
		{BT_HTTP_PUT, "{1}", "PUT /a?b=c%20d {1} [application/json] [application/json]"},
		{BT_HTTP_PATCH, "{2}", "PATCH /a?b=c%20d {2} [application/json] [application/json]"},
		{BT_HTTP_DELETE, NULL, "DELETE /a?b=c%20d  [application/json] []"},
		{BT_HTTP_DELETE, "{3}", "DELETE /a?b=c%20d {3} [application/json] [application/json]"},
		{BT_HTTP_GET, NULL, "GET /a?b=c%20d  [application/json] []"},
	};
	struct way way;

	(void)state;
	start_way(&way, echo);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outcome outcome;

		make_call(&way, cases[i].method, "/a?b=c%20d", cases[i].body, &outcome);
		assert_int_equal(outcome.end, BT_HTTP_ANSWERED);
		assert_int_equal(outcome.head.status, 201);
		assert_true(outcome.head.retry_after_ns == 7 * SECOND);
		assert_string_equal(outcome.type.ptr, "text/plain");
		assert_string_equal(outcome.body.ptr, cases[i].expect);
		assert_int_equal(outcome.head_n, 1);
		assert_int_equal(outcome.error.len, 0);
		outcome_fini(&outcome);
	}
	assert_int_equal(server_connection_n(way.server), 1);
	struct bt_http_counts counts = bt_http_counts(way.http);

	assert_int_equal(counts.call_n, sizeof(cases) / sizeof(cases[0]));
	assert_int_equal(counts.error_n, 0);
	assert_int_equal(counts.connect_n, 1);
	assert_true(counts.sent_bytes > 0 && counts.received_bytes > 0);
	close_way(&way);
}

static uint64_t code_n(const struct way *way, enum bt_http_method method, uint32_t status)
{
	return bt_client_metrics_code_n(bt_client_config_metrics(way->access), method, status);
}

static void metrics_count_calls_by_method_and_code(void **state)
{
	struct bt_http_head head;
	struct bt_buf body = {0}, error = {0};
	struct bt_client_metrics_view view;
	struct way way;
	char host[32];

	(void)state;
	start_way(&way, echo);
	const struct bt_http_call put = {.method = BT_HTTP_PUT, .path = bt_str("/x"), .body = bt_str("yes")};

	for (int i = 0; i < 3; i++) {
		struct bt_http_call again = put;

		again.again = i == 2;
		assert_int_equal(bt_http_fetch(way.http, &again, &head, &body, &error), BT_HTTP_ANSWERED);
	}
	assert_int_equal(
		bt_client_metrics_again_n(bt_client_config_metrics(way.access), BT_HTTP_PUT, 201), 1);
	assert_int_equal(code_n(&way, BT_HTTP_PUT, 201), 3);
	assert_int_equal(code_n(&way, BT_HTTP_PUT, 0), 0);
	assert_int_equal(code_n(&way, BT_HTTP_GET, 201), 0);
	bt_client_metrics_read(
		bt_client_config_metrics(way.access), BT_CLIENT_METRICS_SENT, BT_HTTP_PUT, &view);
	assert_int_equal(view.n, 3);
	assert_int_equal(view.counts[0], 3);
	assert_true(view.sum == 9);
	bt_client_metrics_read(
		bt_client_config_metrics(way.access), BT_CLIENT_METRICS_RECEIVED, BT_HTTP_PUT, &view);
	assert_true(view.sum == 3.0 * (double)body.len);
	bt_client_metrics_read(
		bt_client_config_metrics(way.access), BT_CLIENT_METRICS_DURATION, BT_HTTP_PUT, &view);
	assert_int_equal(view.n, 3);
	assert_int_equal(view.bound_n, 12);
	assert_true(view.sum > 0);
	snprintf(host, sizeof(host), "127.0.0.1:%u", server_port(way.server));
	assert_string_equal(bt_client_config_host(way.access), host);
	bt_buf_fini(&body);
	bt_buf_fini(&error);
	close_way(&way);
}

static void metrics_put_values_into_buckets_whose_bound_they_do_not_exceed(void **state)
{
	struct bt_client_metrics *metrics = bt_mem_zalloc(1, sizeof(*metrics));
	struct bt_client_metrics_view view;

	(void)state;
	bt_client_metrics_note(metrics, &(struct bt_client_metrics_call){.method = BT_HTTP_POST,
						.status = 409,
						.took_ns = 5000000,
						.sent_bytes = 65,
						.received_bytes = 20000000});
	bt_client_metrics_note(
		metrics, &(struct bt_client_metrics_call){.method = BT_HTTP_POST, .took_ns = 5000001});
	bt_client_metrics_note(
		metrics, &(struct bt_client_metrics_call){.method = BT_HTTP_POST, .status = 1234});
	bt_client_metrics_read(metrics, BT_CLIENT_METRICS_DURATION, BT_HTTP_POST, &view);
	assert_int_equal(view.counts[0], 2);
	assert_int_equal(view.counts[1], 1);
	bt_client_metrics_read(metrics, BT_CLIENT_METRICS_SENT, BT_HTTP_POST, &view);
	assert_int_equal(view.bound_n, 11);
	assert_int_equal(view.counts[0], 2);
	assert_int_equal(view.counts[1], 1);
	bt_client_metrics_read(metrics, BT_CLIENT_METRICS_RECEIVED, BT_HTTP_POST, &view);
	assert_int_equal(view.n, 1); /* with a response */
	assert_int_equal(view.counts[11], 1);
	assert_int_equal(bt_client_metrics_code_n(metrics, BT_HTTP_POST, 409), 1);
	assert_int_equal(bt_client_metrics_code_n(metrics, BT_HTTP_POST, 0), 2);
	bt_mem_free(metrics);
}

static void metrics_know_waits_and_what_was_sent_again(void **state)
{
	struct bt_client_metrics *metrics = bt_mem_zalloc(2, sizeof(*metrics));
	struct bt_client_metrics_view view;

	(void)state;
	bt_client_metrics_note(
		&metrics[0], &(struct bt_client_metrics_call){.method = BT_HTTP_PUT, .status = 503});
	bt_client_metrics_note(&metrics[0],
		&(struct bt_client_metrics_call){.method = BT_HTTP_PUT, .status = 200, .again = true});
	bt_client_metrics_note(
		&metrics[1], &(struct bt_client_metrics_call){.method = BT_HTTP_PUT, .again = true});
	bt_client_metrics_waited(&metrics[0], BT_HTTP_PUT, -1);
	bt_client_metrics_waited(&metrics[1], BT_HTTP_PUT, 2 * SECOND);
	bt_client_metrics_merge(&metrics[0], &metrics[1]);
	assert_int_equal(bt_client_metrics_again_n(metrics, BT_HTTP_PUT, 503), 0);
	assert_int_equal(bt_client_metrics_again_n(metrics, BT_HTTP_PUT, 200), 1);
	assert_int_equal(bt_client_metrics_again_n(metrics, BT_HTTP_PUT, 0), 1);
	assert_int_equal(bt_client_metrics_code_n(metrics, BT_HTTP_PUT, 200), 1);
	bt_client_metrics_read(metrics, BT_CLIENT_METRICS_WAIT, BT_HTTP_PUT, &view);
	assert_int_equal(view.bound_n, 12);
	assert_int_equal(view.counts[0], 1);
	assert_int_equal(view.counts[6], 1);
	assert_true(view.sum == 2);
	bt_mem_free(metrics);
}

static void a_call_can_be_waited_for(void **state)
{
	struct bt_http_head head;
	struct bt_buf body = {0}, error = {0};
	struct way way;

	(void)state;
	start_way(&way, echo);
	bt_buf_text(&body, "old");
	struct bt_http_call call = {.method = BT_HTTP_PUT, .path = bt_str("/x"), .body = bt_str("yes")};

	assert_int_equal(bt_http_fetch(way.http, &call, &head, &body, &error), BT_HTTP_ANSWERED);
	assert_int_equal(head.status, 201);
	assert_string_equal(body.ptr, "PUT /x yes [*/*] []");
	bt_buf_fini(&body);
	bt_buf_fini(&error);
	close_way(&way);
}

static bool stream(void *context, struct peer *peer, const struct request *request)
{
	(void)context;
	peer_send(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
	if (bt_str_is(request->path, "/cut")) {
		return false;
	}
	if (bt_str_is(request->path, "/end")) {
		return peer_send(peer, "6\r\nsecond\r\n0\r\n\r\n");
	}
	peer_hang(peer);
	return false;
}

static void a_stream_is_read_in_parts_to_its_end(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, stream);
	make_stream(&way, "/end", &outcome);
	assert_int_equal(outcome.end, BT_HTTP_ANSWERED);
	assert_string_equal(outcome.body.ptr, "firstsecond");
	assert_int_equal(outcome.head_n, 1);
	outcome_fini(&outcome);
	close_way(&way);
}

static void metrics_know_no_duration_of_a_watch(void **state)
{
	struct bt_client_metrics_view view;
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, echo);
	make_stream(&way, "/x?watch=true", &outcome);
	assert_int_equal(code_n(&way, BT_HTTP_GET, 201), 1);
	bt_client_metrics_read(
		bt_client_config_metrics(way.access), BT_CLIENT_METRICS_DURATION, BT_HTTP_GET, &view);
	assert_int_equal(view.n, 0);
	outcome_fini(&outcome);
	close_way(&way);
}

static void a_stream_that_is_cut_is_lost(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, stream);
	make_stream(&way, "/cut", &outcome);
	assert_int_equal(outcome.end, BT_HTTP_LOST);
	assert_string_equal(outcome.body.ptr, "first");
	assert_int_equal(outcome.head.status, 200);
	assert_non_null(
		strstr(outcome.error.ptr, over_h2 ? "GET https://127.0.0.1:" : "GET http://127.0.0.1:"));
	outcome_fini(&outcome);
	close_way(&way);
}

static bool odd_answers(void *context, struct peer *peer, const struct request *request)
{
	/* "packed", by gzip */
	static const char packed[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x48\x4c\xce\x4e"
				     "\x4d\x01\x00\x10\xb4\xf6\x21\x06\x00\x00\x00";

	(void)context;
	if (bt_str_is(request->path, "/packed")) {
		assert_true(bt_str_is(request_header(request, "Accept-Encoding"), "gzip"));
		return peer_send(peer,
			       "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 26\r\n\r\n") &&
		       peer_send_bytes(peer, packed, sizeof(packed) - 1);
	}
	if (bt_str_is(request->path, "/interim")) {
		return peer_send(peer, "HTTP/1.1 103 Early\r\nContent-Type: no\r\nRetry-After: 9\r\n\r\n") &&
		       peer_answer(peer, 200, "", "ok");
	}
	if (bt_str_is(request->path, "/trailers")) {
		return peer_send(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				       "2\r\nok\r\n0\r\nRetry-After: 5\r\n\r\n");
	}
	if (bt_str_is(request->path, "/moved")) {
		return peer_answer(peer, 302, "Location: /elsewhere\r\n", "ok");
	}
	if (bt_str_is(request->path, "/refused")) {
		return peer_answer(peer, 401, "", "ok");
	}
	if (bt_str_is(request->path, "/much-later")) {
		return peer_answer(peer, 429, "Retry-After: 99999999999999999999\r\n", "ok");
	}
	return peer_answer(peer, 429, "Retry-After: soon\r\ncontent-TYPE:text/x \r\n", "ok");
}

static void odd_answers_are_understood(void **state)
{
	static const struct {
		const char *path, *body;
		uint32_t status;
		int64_t retry_after_ns;
	} cases[] = {
		{"/packed", "packed", 200, -1},
		{"/interim", "ok", 200, -1},
		{"/trailers", "ok", 200, -1},
		{"/moved", "ok", 302, -1}, /* not followed */
		{"/refused", "ok", 401, -1},
		{"/busy", "ok", 429, -1},
		{"/much-later", "ok", 429, 60 * SECOND},
	};
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, odd_answers);
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) { /* whole, then in parts */
		size_t which = i / 2;

		outcome_init(&outcome);
		if (i % 2) {
			send_stream(&way, cases[which].path, &outcome);
		} else {
			send_call(&way, BT_HTTP_GET, cases[which].path, NULL, &outcome);
		}
		finish_call(&outcome);
		assert_int_equal(outcome.end, BT_HTTP_ANSWERED);
		assert_int_equal(outcome.head.status, cases[which].status);
		assert_string_equal(outcome.body.ptr, cases[which].body);
		assert_int_equal(outcome.head_n, 1);
		assert_int_equal(outcome.part_n, i % 2);
		assert_true(outcome.head.retry_after_ns == cases[which].retry_after_ns);
		outcome_fini(&outcome);
	}
	assert_int_equal(server_request_n(way.server), 2 * sizeof(cases) / sizeof(cases[0]));
	close_way(&way);
}

static bool nonsense(void *context, struct peer *peer, const struct request *request)
{
	(void)context;
	return peer_send(peer, bt_str_is(request->path, "/short")
				       ? "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"
				       : "this is no HTTP\r\n\r\n") &&
	       false;
}

static void a_malformed_answer_counts_as_lost(void **state)
{
	static const char *const paths[] = {"/short", "/words"};
	struct way way;

	(void)state;
	start_way(&way, nonsense);
	for (size_t i = 0; i < 2; i++) {
		struct outcome outcome;

		make_call(&way, BT_HTTP_POST, paths[i], "{}", &outcome);
		assert_int_equal(outcome.end, BT_HTTP_LOST);
		assert_true(outcome.error.len > 0);
		outcome_fini(&outcome);
	}
	close_way(&way);
}

static bool long_answer(void *context, struct peer *peer, const struct request *request)
{
	char body[2001];

	(void)context, (void)request;
	memset(body, 'x', 2000);
	body[2000] = 0;
	return peer_answer(peer, 200, "", body);
}

static void an_answer_has_a_limit_unless_it_is_taken_in_parts(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, long_answer);
	make_call(&way, BT_HTTP_GET, "/x", NULL, &outcome);
	assert_int_equal(outcome.end, BT_HTTP_LOST);
	assert_non_null(strstr(outcome.error.ptr, "longer than 1000 bytes; request less at a time"));
	outcome_fini(&outcome);
	make_stream(&way, "/x", &outcome);
	assert_int_equal(outcome.end, BT_HTTP_ANSWERED);
	assert_int_equal(outcome.body.len, 2000);
	outcome_fini(&outcome);
	close_way(&way);
}

/* Paused at its head; a timer resumes it. */
static void go_on(void *context)
{
	struct outcome *outcome = context;

	assert_int_equal(outcome->part_n, 0);
	bt_http_pause(outcome->http, outcome->id, false);
}

static void pause_at_head(void *context, const struct bt_http_head *head)
{
	struct outcome *outcome = context;

	(void)head;
	outcome->id = 1; /* the client's first call */
	bt_http_pause(outcome->http, outcome->id, true);
	bt_http_after(outcome->http, SECOND / 20, go_on, outcome);
}

static void a_paused_answer_waits(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, stream);
	outcome_init(&outcome);
	outcome.http = way.http;
	bt_http_send(way.http, &(struct bt_http_call){.path = bt_str("/end"),
				       .head = pause_at_head,
				       .data = take_part,
				       .done = take_end,
				       .context = &outcome});
	finish_call(&outcome);
	assert_int_equal(outcome.end, BT_HTTP_ANSWERED);
	assert_string_equal(outcome.body.ptr, "firstsecond");
	outcome_fini(&outcome);
	close_way(&way);
}

/* ---- no response ---- */

/* A bound port of this machine on which no process listens. Owns: the socket. */
static int closed_port(uint16_t *out_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*out_port = ntohs(address.sin_port);
	return fd;
}

static void a_refused_connection_leaves_a_call_unsent(void **state)
{
	uint16_t port;
	int fd = closed_port(&port);
	struct outcome outcome;
	struct way way = {0};

	(void)state;
	open_way(&way, port, 0);
	make_call(&way, BT_HTTP_POST, "/bind?secret=1", "{}", &outcome);
	assert_int_equal(outcome.end, BT_HTTP_UNSENT);
	assert_int_equal(outcome.head.status, 0);
	assert_int_equal(outcome.head_n, 0);
	assert_int_equal(outcome.head.cause, BT_HTTP_CAUSE_REFUSED);
	assert_non_null(strstr(outcome.error.ptr, "/bind: "));
	assert_non_null(strstr(outcome.error.ptr, "does the API server run"));
	assert_null(strstr(outcome.error.ptr, "secret"));
	assert_int_equal(bt_http_counts(way.http).error_n, 1);
	assert_int_equal(code_n(&way, BT_HTTP_POST, 0), 1);
	outcome_fini(&outcome);
	close_way(&way);
	close(fd);
}

static void of_a_proxy_that_is_not_there_the_proxy_is_named(void **state)
{
	uint16_t port;
	int fd = closed_port(&port);
	struct outcome outcome;
	struct way way = {0};
	char proxy[64];

	(void)state;
	snprintf(proxy, sizeof(proxy), "http://user:secret@127.0.0.1:%u", port);
	setenv(over_h2 ? "HTTPS_PROXY" : "HTTP_PROXY", proxy, 1);
	snprintf(server_name, sizeof(server_name), "192.0.2.1"); /* proxies are never used for 127.0.0.1 */
	open_way(&way, 1, 0);
	make_call(&way, BT_HTTP_GET, "/x", NULL, &outcome);
	assert_int_equal(outcome.end, BT_HTTP_UNSENT);
	assert_non_null(strstr(outcome.error.ptr, "do the proxy and the API server run"));
	assert_null(strstr(outcome.error.ptr, "secret"));
	outcome_fini(&outcome);
	close_way(&way);
	close(fd);
	snprintf(server_name, sizeof(server_name), "127.0.0.1");
	unsetenv("HTTPS_PROXY");
	unsetenv("HTTP_PROXY");
}

/* Sends a line until the peer disconnects. */
static bool send_for_ever(struct peer *peer, const char *line)
{
	struct bt_buf lines = {0};

	for (int i = 0; i < 1000; i++) {
		bt_buf_text(&lines, line);
	}
	for (int i = 0; i < 10000 && peer_send_bytes(peer, lines.ptr, lines.len); i++) {
	}
	bt_buf_fini(&lines);
	return false;
}

/* HTTP/1.1: endless fields, interim heads and trailers. */
static bool endless_head(void *context, struct peer *peer, const struct request *request)
{
	(void)context;
	if (bt_str_is(request->path, "/fields")) {
		peer_send(peer, "HTTP/1.1 200 OK\r\n");
		return send_for_ever(peer, "X: y\r\n");
	}
	if (bt_str_is(request->path, "/interim")) {
		return send_for_ever(peer, "HTTP/1.1 103 Wait\r\n\r\n");
	}
	peer_send(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n");
	return send_for_ever(peer, "X: y\r\n");
}

static void heads_without_end_are_cut(void **state)
{
	static const char *const paths[] = {"/fields", "/interim", "/trailers"};
	struct way way;

	(void)state;
	if (over_h2) {
		return; /* see test_h2.c */
	}
	start_way(&way, endless_head);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct outcome outcome;

		make_call(&way, BT_HTTP_POST, paths[i], "{}", &outcome);
		if (outcome.end != BT_HTTP_LOST ||
			!strstr(outcome.error.ptr, "the head of the answer is longer than 256 KiB")) {
			fail_msg("%s: %d %s", paths[i], outcome.end, outcome.error.ptr);
		}
		outcome_fini(&outcome);
	}
	close_way(&way);
}

/* Responds to the first request of a connection, and closes it when the second one arrives. */
static bool answer_once(void *context, struct peer *peer, const struct request *request)
{
	(void)context;
	return request->nth == 0 && peer_answer(peer, 200, "", "ok");
}

static void a_post_is_not_repeated_when_its_connection_dies(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, answer_once);
	for (int i = 0; i < 2; i++) {
		make_call(&way, BT_HTTP_POST, "/bind", "{}", &outcome);
		assert_int_equal(outcome.end, i ? BT_HTTP_LOST : BT_HTTP_ANSWERED);
		if (i) {
			assert_int_equal(outcome.head.cause, BT_HTTP_CAUSE_CLOSED);
			assert_non_null(strstr(
				outcome.error.ptr, "the connection ended before an answer was received"));
		}
		outcome_fini(&outcome);
	}
	assert_int_equal(server_request_n(way.server), 2);
	close_way(&way);
}

static void a_get_is_repeated_when_its_connection_dies(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, answer_once);
	for (int i = 0; i < 2; i++) {
		make_call(&way, BT_HTTP_GET, "/pods", NULL, &outcome);
		assert_int_equal(outcome.end, BT_HTTP_ANSWERED);
		assert_string_equal(outcome.body.ptr, "ok");
		outcome_fini(&outcome);
	}
	assert_int_equal(server_request_n(way.server), 3);
	close_way(&way);
}

/* Responds to requests for /x only. */
static bool hang(void *context, struct peer *peer, const struct request *request)
{
	(void)context;
	if (bt_str_is(request->path, "/x")) {
		return peer_answer(peer, 200, "", "ok");
	}
	peer_hang(peer);
	return false;
}

static void a_call_that_takes_too_long_is_lost(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, hang);
	make_call(&way, BT_HTTP_POST, "/x", NULL, &outcome); /* opens a connection */
	/* On a busy machine the timeout may expire before the request is sent. */
	for (int64_t timeout_ns = SECOND / 20; !outcome.error.len || outcome.end == BT_HTTP_UNSENT;
		timeout_ns *= 2) {
		outcome_fini(&outcome);
		outcome_init(&outcome);
		bt_http_send(way.http, &(struct bt_http_call){.method = BT_HTTP_POST,
					       .path = bt_str("/bind"),
					       .timeout_ns = timeout_ns,
					       .done = take_end,
					       .context = &outcome});
		finish_call(&outcome);
	}
	assert_int_equal(outcome.end, BT_HTTP_LOST);
	assert_int_equal(outcome.head.cause, BT_HTTP_CAUSE_TIMEOUT);
	assert_non_null(strstr(outcome.error.ptr, "timed out"));
	outcome_fini(&outcome);
	close_way(&way);
}

/* ---- cancellation ---- */

static void a_cancelled_call_ends_once(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, stream);
	outcome_init(&outcome);
	send_stream(&way, "/forever", &outcome);
	wait_for(&outcome, &outcome.part_n, 1);
	bt_http_cancel(way.http, outcome.id);
	bt_http_cancel(way.http, outcome.id);
	finish_call(&outcome);
	assert_int_equal(outcome.end, BT_HTTP_CANCELLED);
	bt_http_cancel(way.http, outcome.id);
	bt_http_cancel(way.http, 0);
	close_way(&way);
	assert_int_equal(outcome.done_n, 1);
	outcome_fini(&outcome);
}

static void a_callback_may_end_its_call(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, stream);
	outcome_init(&outcome);
	outcome.parts_wanted = UINT32_MAX;
	outcome.part_n = UINT32_MAX; /* the first part is rejected */
	send_stream(&way, "/forever", &outcome);
	finish_call(&outcome);
	assert_int_equal(outcome.end, BT_HTTP_CANCELLED);
	outcome_fini(&outcome);
	close_way(&way);
}

static struct server *asked;

static bool has_asked(void)
{
	return server_request_n(asked) > 0;
}

/* As when the process ends while the server never responds. */
static void a_caller_may_give_up_waiting(void **state)
{
	struct bt_buf body = {0}, error = {0};
	struct bt_http_head head;
	struct way way;

	(void)state;
	gives_up = has_asked;
	start_way(&way, hang);
	asked = way.server;
	assert_int_equal(bt_http_fetch(way.http,
				 &(struct bt_http_call){.path = bt_str("/silence"), .timeout_ns = LONG},
				 &head, &body, &error),
		BT_HTTP_CANCELLED);
	gives_up = NULL;
	close_way(&way);
	bt_buf_fini(&body);
	bt_buf_fini(&error);
}

static void cancel_at_head(void *context, const struct bt_http_head *head)
{
	struct outcome *outcome = context;

	(void)head;
	bt_http_cancel(outcome->http, outcome->id);
}

static void a_call_cancelled_at_its_head_shows_no_data(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, stream);
	outcome_init(&outcome);
	outcome.http = way.http;
	pthread_mutex_lock(&outcome.lock);
	outcome.id = 1; /* the client's first */
	pthread_mutex_unlock(&outcome.lock);
	assert_int_equal(bt_http_send(way.http, &(struct bt_http_call){.path = bt_str("/forever"),
							.head = cancel_at_head,
							.data = take_part,
							.done = take_end,
							.context = &outcome}),
		1);
	finish_call(&outcome);
	assert_int_equal(outcome.end, BT_HTTP_CANCELLED);
	assert_int_equal(outcome.part_n, 0);
	outcome_fini(&outcome);
	close_way(&way);
}

static void the_end_of_a_client_ends_its_calls(void **state)
{
	struct outcome attempts[20];
	struct way way;

	(void)state;
	start_way(&way, stream);
	for (int i = 0; i < 20; i++) {
		outcome_init(&attempts[i]);
		send_stream(&way, "/forever", &attempts[i]);
	}
	wait_for(&attempts[19], &attempts[19].part_n, 1);
	close_way(&way);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(attempts[i].done_n, 1);
		assert_int_equal(attempts[i].end, BT_HTTP_CANCELLED);
		outcome_fini(&attempts[i]);
	}
}

/* ---- timers ---- */

struct note {
	struct outcome *outcome;
	char name;
};

static void take_note(void *context)
{
	struct note *note = context;

	bt_buf_char(&note->outcome->body, note->name);
	count(note->outcome, &note->outcome->done_n);
}

static void timers_run_in_order(void **state)
{
	struct outcome outcome;
	struct way way;
	struct note notes[4];

	(void)state;
	start_way(&way, echo);
	outcome_init(&outcome);
	for (int i = 0; i < 4; i++) {
		notes[i] = (struct note){&outcome, (char)('a' + i)};
	}
	bt_http_after(way.http, SECOND / 10, take_note, &notes[3]);
	bt_http_after(way.http, SECOND / 100, take_note, &notes[2]);
	bt_http_after(way.http, 0, take_note, &notes[0]);
	bt_http_after(way.http, -5, take_note, &notes[1]);
	bt_http_after(way.http, INT64_MAX, take_note, &notes[0]); /* never */
	wait_for(&outcome, &outcome.done_n, 4);
	close_way(&way);
	assert_string_equal(outcome.body.ptr, "abcd");
	outcome_fini(&outcome);
}

struct forgetful {
	struct bt_http *http;
	struct note gone, kept;
};

static void forget_one(void *context)
{
	struct forgetful *forgetful = context;

	bt_http_after(forgetful->http, 0, take_note, &forgetful->gone);
	bt_http_after(forgetful->http, SECOND / 100, take_note, &forgetful->gone);
	bt_http_forget(forgetful->http, &forgetful->gone);
	bt_http_after(forgetful->http, SECOND / 50, take_note, &forgetful->kept);
}

static void a_forgotten_timer_does_not_run(void **state)
{
	struct outcome outcome;
	struct way way;

	(void)state;
	start_way(&way, echo);
	outcome_init(&outcome);
	struct forgetful forgetful = {way.http, {&outcome, 'x'}, {&outcome, 'y'}};

	bt_http_after(way.http, 0, forget_one, &forgetful);
	wait_for(&outcome, &outcome.done_n, 1);
	close_way(&way);
	assert_string_equal(outcome.body.ptr, "y");
	outcome_fini(&outcome);
}

/* ---- many ---- */

struct sender {
	struct way *way;
	pthread_t thread;
	uint32_t good_n;
};

static void *send_many(void *context)
{
	struct sender *sender = context;
	struct bt_buf body = {0}, error = {0};
	struct bt_http_head head;

	for (int i = 0; i < 50; i++) {
		struct bt_http_call call = {.method = BT_HTTP_POST,
			.path = bt_str("/x"),
			.body = bt_str("{}"),
			.timeout_ns = LONG};

		sender->good_n +=
			bt_http_fetch(sender->way->http, &call, &head, &body, &error) == BT_HTTP_ANSWERED &&
			head.status == 200;
	}
	bt_buf_fini(&body);
	bt_buf_fini(&error);
	return NULL;
}

static bool answer(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)request;
	return peer_answer(peer, 200, "", "ok");
}

static void calls_of_many_threads_are_all_answered(void **state)
{
	struct sender senders[4];
	struct way way;

	(void)state;
	start_way(&way, answer);
	for (int i = 0; i < 4; i++) {
		senders[i] = (struct sender){.way = &way};
		assert_int_equal(pthread_create(&senders[i].thread, NULL, send_many, &senders[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(senders[i].thread, NULL);
		assert_int_equal(senders[i].good_n, 50);
	}
	assert_int_equal(bt_http_counts(way.http).call_n, 200);
	close_way(&way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_has_status_type_and_body),
		cmocka_unit_test(metrics_count_calls_by_method_and_code),
		cmocka_unit_test(metrics_put_values_into_buckets_whose_bound_they_do_not_exceed),
		cmocka_unit_test(metrics_know_waits_and_what_was_sent_again),
		cmocka_unit_test(metrics_know_no_duration_of_a_watch),
		cmocka_unit_test(a_call_can_be_waited_for),
		cmocka_unit_test(a_stream_is_read_in_parts_to_its_end),
		cmocka_unit_test(a_stream_that_is_cut_is_lost),
		cmocka_unit_test(odd_answers_are_understood),
		cmocka_unit_test(a_malformed_answer_counts_as_lost),
		cmocka_unit_test(an_answer_has_a_limit_unless_it_is_taken_in_parts),
		cmocka_unit_test(a_paused_answer_waits),
		cmocka_unit_test(a_refused_connection_leaves_a_call_unsent),
		cmocka_unit_test(of_a_proxy_that_is_not_there_the_proxy_is_named),
		cmocka_unit_test(heads_without_end_are_cut),
		cmocka_unit_test(a_post_is_not_repeated_when_its_connection_dies),
		cmocka_unit_test(a_get_is_repeated_when_its_connection_dies),
		cmocka_unit_test(a_call_that_takes_too_long_is_lost),
		cmocka_unit_test(a_cancelled_call_ends_once),
		cmocka_unit_test(a_caller_may_give_up_waiting),
		cmocka_unit_test(a_callback_may_end_its_call),
		cmocka_unit_test(a_call_cancelled_at_its_head_shows_no_data),
		cmocka_unit_test(the_end_of_a_client_ends_its_calls),
		cmocka_unit_test(timers_run_in_order),
		cmocka_unit_test(a_forgotten_timer_does_not_run),
		cmocka_unit_test(calls_of_many_threads_are_all_answered),
	};

	signal(SIGPIPE, SIG_IGN); /* the test's server writes by OpenSSL */
	int fd = mkstemp(config);
	int failed = fd < 0;

	pki_make(&authority, NULL, "test authority", NULL);
	pki_make(&server_pair, &authority, "server", "IP:127.0.0.1");
	failed += cmocka_run_group_tests_name("HTTP/1.1", tests, NULL, NULL);
	over_h2 = true;
	failed += cmocka_run_group_tests_name("HTTP/2", tests, NULL, NULL);
	pki_fini(&authority);
	pki_fini(&server_pair);
	close(fd);
	unlink(config);
	return failed;
}
