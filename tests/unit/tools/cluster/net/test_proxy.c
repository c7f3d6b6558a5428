/* SPDX-License-Identifier: Apache-2.0
 * Proxies that hang, violate the protocol or never finish: calls through them end, and none of them
 * has been sent. And the identity of proxies with TLS.
 */
#include <arpa/inet.h>
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
#include "plan_int.h"
#include "server.h"
#include "tools/format/base64.h"
#include "tools/cluster/net/http.h"

#define SECOND ((int64_t)1000000000)
#define CALLS  40u

static char config[] = "/tmp/berth-proxy-XXXXXX";
static struct pki_pair authority, stranger;

/* A proxy's response to CONNECT: a beginning, and endless repetitions. */
struct habit {
	const char *begin, *again; /* again: NULL: none */
	bool closes;		   /* then closes instead of waiting */
};

static bool misbehave(void *context, struct peer *peer, const struct request *request)
{
	const struct habit *habit = context;
	struct bt_buf lines = {0};

	(void)request;
	bool good = peer_send(peer, habit->begin);

	for (int i = 0; habit->again && i < 1000; i++) {
		bt_buf_text(&lines, habit->again);
	}
	while (good && habit->again) {
		good = peer_send_bytes(peer, lines.ptr, lines.len);
	}
	bt_buf_fini(&lines);
	if (!habit->closes) {
		peer_hang(peer);
	}
	return false;
}

/* ---- calls through a proxy ---- */

struct ends {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t n, unsent_n; /* lock: */
	struct bt_buf error;  /* lock: of the last one */
	uint32_t request_n;   /* complete ones that the proxy has seen */
};

static void take_end(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct ends *ends = context;

	(void)head, (void)body;
	pthread_mutex_lock(&ends->lock);
	ends->n++;
	ends->unsent_n += end == BT_HTTP_UNSENT;
	bt_buf_clear(&ends->error);
	bt_buf_str(&ends->error, error);
	pthread_cond_broadcast(&ends->changed);
	pthread_mutex_unlock(&ends->lock);
}

static void await_ends(struct ends *ends, uint32_t n)
{
	pthread_mutex_lock(&ends->lock);
	while (ends->n < n) {
		pthread_cond_wait(&ends->changed, &ends->lock);
	}
	pthread_mutex_unlock(&ends->lock);
}

static struct bt_http *open_client(
	const char *proxy, uint16_t port, int64_t connect_timeout_ns, struct bt_client_config **out_access)
{
	struct bt_buf error = {0}, trusted = {0};
	FILE *file = fopen(config, "w");

	bt_base64_encode(bt_buf_view(&authority.certificate_pem), &trusted);
	fprintf(file,
		"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": "
		"\"c\", \"user\": \"u\"}}], \"users\": [{\"name\": \"u\", \"user\": {}}], \"clusters\": "
		"[{\"name\": \"c\", \"cluster\": {\"server\": \"https://192.0.2.1:6443\", \"proxy-url\": "
		"\"%s127.0.0.1:%u\", \"certificate-authority-data\": \"%s\"}}]}",
		proxy, port, trusted.ptr);
	fclose(file);
	*out_access =
		bt_client_config_create(&(struct bt_client_config_options){.kubeconfig = config}, &error);
	assert_non_null(*out_access);
	struct bt_http *http = bt_http_create(
		&(struct bt_http_options){
			.access = *out_access, .name = "test", .connect_timeout_ns = connect_timeout_ns},
		&error);

	assert_non_null(http);
	bt_buf_fini(&error);
	bt_buf_fini(&trusted);
	return http;
}

/* Makes calls without timeouts. Returns: the number of connections. */
static uint32_t call_through(SSL_CTX *tls, const char *proxy, const struct habit *habit, uint32_t call_n,
	int64_t connect_timeout_ns, struct ends *ends)
{
	struct habit own = *habit;
	struct server *server = server_start(tls, misbehave, &own);
	struct bt_client_config *access;
	struct bt_http *http = open_client(proxy, server_port(server), connect_timeout_ns, &access);

	*ends = (struct ends){0};
	pthread_mutex_init(&ends->lock, NULL);
	pthread_cond_init(&ends->changed, NULL);
	for (uint32_t i = 0; i < call_n; i++) {
		bt_http_send(http, &(struct bt_http_call){.method = i % 2 ? BT_HTTP_POST : BT_HTTP_GET,
					   .path = bt_str("/x"),
					   .done = take_end,
					   .context = ends});
	}
	await_ends(ends, call_n);
	uint32_t connection_n = server_connection_n(server);

	ends->request_n = server_request_n(server);
	bt_http_destroy(http);
	server_stop(server);
	bt_client_config_destroy(access);
	pthread_mutex_destroy(&ends->lock);
	pthread_cond_destroy(&ends->changed);
	return connection_n;
}

/* ---- proxies without TLS ---- */

static void expect_within(
	int64_t connect_timeout_ns, const char *proxy, const struct habit *habit, const char *why)
{
	struct ends ends;

	call_through(NULL, proxy, habit, 4, connect_timeout_ns, &ends);
	if (ends.unsent_n != 4 || !strstr(ends.error.ptr, why)) {
		fail_msg("%.30s: %u of 4 unsent: %s", habit->begin, ends.unsent_n, ends.error.ptr);
	}
	bt_buf_fini(&ends.error);
}

/* Ends for another reason than the timeout. */
static void expect(const char *proxy, const struct habit *habit, const char *why)
{
	expect_within(30 * SECOND, proxy, habit, why);
}

static void a_proxy_that_never_answers_is_given_up_in_time(void **state)
{
	(void)state;
	expect_within(
		SECOND / 2, "http://", &(struct habit){.begin = ""}, "do the proxy and the API server run");
	expect_within(
		SECOND / 2, "socks5://", &(struct habit){.begin = ""}, "do the proxy and the API server run");
	expect_within(SECOND / 2, "http://", &(struct habit){.begin = "HTTP/1.1 200 OK\r\n\r\n"},
		"do the proxy and the API server run");
	expect_within(SECOND / 2, "http://",
		&(struct habit){.begin = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
					 "Content-Length: 1000000\r\n\r\n"},
		"do the proxy and the API server run");
}

/* A call that waits for another one's connection does not restart its wait when that fails. */
static void calls_that_wait_together_end_together(void **state)
{
	struct ends ends;

	(void)state;
	uint32_t connection_n =
		call_through(NULL, "http://", &(struct habit){.begin = ""}, CALLS, SECOND / 2, &ends);

	assert_int_equal(ends.unsent_n, CALLS);
	assert_true(connection_n < CALLS / 2);
	bt_buf_fini(&ends.error);
}

static void garbage_and_closed_connections_end_calls(void **state)
{
	(void)state;
	expect("http://", &(struct habit){.begin = "\x01\x02garbage", .closes = true}, "CONNECT");
	expect("http://", &(struct habit){.begin = "garbage\r\n\r\n", .closes = true}, "CONNECT");
	expect("http://", &(struct habit){.begin = "garbage\r\n\r\n"}, "CONNECT");
	expect("http://", &(struct habit){.begin = "", .closes = true}, "CONNECT");
	expect("http://", &(struct habit){.begin = "HTTP/1.1 200 OK\r\n\r\nno TLS", .closes = true}, "SSL");
}

static void a_refusal_by_a_proxy_is_reported(void **state)
{
	static const struct habit refuses = {
		"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n", NULL,
		false};

	(void)state;
	expect("http://", &refuses, "response 407");
	expect("http://user:secret@", &refuses, "response 407"); /* one request */
}

static void answers_to_connect_without_end_are_cut(void **state)
{
	(void)state;
	expect("http://", &(struct habit){"HTTP/1.1 200 OK\r\n", "X: y\r\n", false}, "64 KiB");
	expect("http://", &(struct habit){"", "no line end", false}, "CONNECT");
	expect("http://", &(struct habit){"", "HTTP/1.1 100 Continue\r\n\r\n", false}, "CONNECT");
	expect("http://",
		&(struct habit){"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
				"Content-Length: 100000000000\r\n\r\n",
			"body without end", false},
		"64 KiB");
	expect("http://",
		&(struct habit){"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
				"Transfer-Encoding: chunked\r\n\r\n",
			"4\r\nbody\r\n", false},
		"64 KiB");
}

/* ---- SOCKS5 ---- */

/* A proxy that reads a greeting, and a name with a password where offered, and refuses. */
struct socks {
	int listen_fd;
	char greeting[32], login[64];
	size_t greeting_n, login_n;
};

static void *refuse_by_socks(void *context)
{
	static const char nobody[] = {5, (char)0xff}, by_password[] = {5, 2}, wrong[] = {1, 1};
	struct socks *socks = context;
	int fd = accept(socks->listen_fd, NULL, NULL);
	ssize_t n = recv(fd, socks->greeting, sizeof(socks->greeting), 0);

	socks->greeting_n = n > 0 ? (size_t)n : 0;
	if (socks->greeting_n && socks->greeting[socks->greeting_n - 1] == 2) {
		send(fd, by_password, sizeof(by_password), MSG_NOSIGNAL);
		n = recv(fd, socks->login, sizeof(socks->login), 0);
		socks->login_n = n > 0 ? (size_t)n : 0;
		send(fd, wrong, sizeof(wrong), MSG_NOSIGNAL);
	} else {
		send(fd, nobody, sizeof(nobody), MSG_NOSIGNAL);
	}
	close(fd);
	return NULL;
}

static void greet(const char *proxy, struct socks *socks)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	struct bt_client_config *access;
	struct ends ends = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	pthread_t thread;

	*socks = (struct socks){.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	assert_int_equal(bind(socks->listen_fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(socks->listen_fd, 1), 0);
	assert_int_equal(getsockname(socks->listen_fd, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(pthread_create(&thread, NULL, refuse_by_socks, socks), 0);
	struct bt_http *http = open_client(proxy, ntohs(address.sin_port), 30 * SECOND, &access);

	bt_http_send(http,
		&(struct bt_http_call){
			.method = BT_HTTP_POST, .path = bt_str("/x"), .done = take_end, .context = &ends});
	await_ends(&ends, 1);
	assert_int_equal(ends.unsent_n, 1);
	assert_null(strstr(ends.error.ptr, "secret"));
	pthread_join(thread, NULL);
	bt_http_destroy(http);
	bt_client_config_destroy(access);
	close(socks->listen_fd);
	bt_buf_fini(&ends.error);
}

static void a_socks_proxy_is_greeted_as_by_go(void **state)
{
	static const char nobody[] = {5, 1, 0}, somebody[] = {5, 2, 0, 2};
	struct socks socks;

	(void)state;
	greet("socks5://", &socks);
	assert_int_equal(socks.greeting_n, sizeof(nobody));
	assert_memory_equal(socks.greeting, nobody, sizeof(nobody));
	greet("socks5://user:secret@", &socks);
	assert_int_equal(socks.greeting_n, sizeof(somebody));
	assert_memory_equal(socks.greeting, somebody, sizeof(somebody));
	assert_int_equal(socks.login_n, 13);
	assert_memory_equal(socks.login, "\x01\x04user\x06secret", 13);
}

/* ---- proxies with TLS ---- */

/* why: NULL: the proxy gets the request, and refuses. */
static void expect_judged(const struct pki_pair *issuer, const char *names, const char *why)
{
	static const struct habit forbids = {"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", NULL, false};
	struct pki_pair own;
	struct ends ends;

	pki_make(&own, issuer, "proxy", names);
	SSL_CTX *tls = pki_server(&own, NULL);

	call_through(tls, "https://", &forbids, 1, 30 * SECOND, &ends);
	if (ends.unsent_n != 1 || ends.request_n != (why ? 0 : 1) ||
		!strstr(ends.error.ptr, why ? why : "response 403")) {
		fail_msg("%s: %u requests: %s", names, ends.request_n, ends.error.ptr);
	}
	bt_buf_fini(&ends.error);
	SSL_CTX_free(tls);
	pki_fini(&own);
}

static void a_proxy_with_tls_must_be_the_one_that_is_named(void **state)
{
	(void)state;
	expect_judged(&authority, "IP:127.0.0.1", NULL);
	expect_judged(&stranger, "IP:127.0.0.1", "certificate");
	expect_judged(&authority, "IP:127.0.0.2", "certificate");
	expect_judged(&authority, "IP:192.0.2.1", ""); /* the server's CA is not the proxy's */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proxy_that_never_answers_is_given_up_in_time),
		cmocka_unit_test(calls_that_wait_together_end_together),
		cmocka_unit_test(garbage_and_closed_connections_end_calls),
		cmocka_unit_test(a_refusal_by_a_proxy_is_reported),
		cmocka_unit_test(answers_to_connect_without_end_are_cut),
		cmocka_unit_test(a_socks_proxy_is_greeted_as_by_go),
		cmocka_unit_test(a_proxy_with_tls_must_be_the_one_that_is_named),
	};

	signal(SIGPIPE, SIG_IGN); /* the test's server writes by OpenSSL */
	int fd = mkstemp(config);

	pki_make(&authority, NULL, "test authority", NULL);
	pki_make(&stranger, NULL, "stranger", NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	pki_fini(&authority);
	pki_fini(&stranger);
	close(fd);
	unlink(config);
	return failed;
}
