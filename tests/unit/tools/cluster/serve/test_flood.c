/* SPDX-License-Identifier: Apache-2.0
 * Clients that hold connections without using them: other clients are still served.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <curl/curl.h>
#include <openssl/ssl.h>

#include "engine/base/mem.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/serve.h"

#define CLIENTS	    1000
#define HELLO_BYTES 2048

struct client {
	int fd;
	SSL *ssl; /* NULL: no TLS, or an unfinished handshake */
};

struct serve_test {
	struct bt_serve_options options;
	struct bt_str always[1];
	struct bt_config config;
	struct bt_serve *serve;
	struct bt_buf error;
	SSL_CTX *tls;
	struct client clients[CLIENTS];
	int client_n;
	int window; /* receive window in bytes; 0: the default */
};

static int setup(void **state)
{
	struct serve_test *test = bt_mem_zalloc(1, sizeof(*test));

	bt_config_init_default(&test->config, NULL);
	test->always[0] = bt_str("/*");
	test->options = (struct bt_serve_options){
		.settings = {.bind_address = "127.0.0.1", .always_allow = {test->always, 1, true}},
		.sources = {.config = &test->config, .version = "1"},
		.any_port = true,
		.look_ns = BT_FOREVER};
	test->tls = SSL_CTX_new(TLS_client_method());
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;

	for (int i = 0; i < test->client_n; i++) {
		SSL_free(test->clients[i].ssl);
		close(test->clients[i].fd);
	}
	bt_serve_destroy(test->serve);
	SSL_CTX_free(test->tls);
	bt_config_fini(&test->config);
	bt_buf_fini(&test->error);
	bt_mem_free(test);
	return 0;
}

static void begin(struct serve_test *test)
{
	test->serve = bt_serve_create(&test->options, &test->error);
	if (!test->serve) {
		fail_msg("%s", test->error.ptr);
	}
}

/* From its own address among the first peer_n of this machine. */
static struct client *add_client(struct serve_test *test, int peer_n)
{
	struct client *client = &test->clients[test->client_n];
	struct sockaddr_in from = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(test->client_n % peer_n))};
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(bt_serve_port(test->serve)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	*client = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	assert_true(client->fd >= 0);
	test->client_n++;
	if (test->window) {
		assert_int_equal(
			setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &test->window, sizeof(test->window)),
			0);
	}
	assert_int_equal(bind(client->fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(client->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return client;
}

/* Connections that are closed already do not matter. */
static void say(const struct client *client, const void *bytes, size_t n)
{
	(void)!send(client->fd, bytes, n, MSG_NOSIGNAL);
}

/* The first message of a handshake. */
static size_t write_hello(struct serve_test *test, unsigned char out[HELLO_BYTES])
{
	SSL *ssl = SSL_new(test->tls);
	BIO *in = BIO_new(BIO_s_mem()), *to = BIO_new(BIO_s_mem());

	SSL_set_bio(ssl, in, to);
	SSL_set_connect_state(ssl);
	assert_int_equal(SSL_do_handshake(ssl), -1);
	int n = BIO_read(to, out, HELLO_BYTES);

	assert_true(n > 0);
	SSL_free(ssl);
	return (size_t)n;
}

static bool handshake(struct serve_test *test, struct client *client)
{
	client->ssl = SSL_new(test->tls);
	SSL_set_fd(client->ssl, client->fd);
	return SSL_connect(client->ssl) == 1;
}

static size_t drop(char *bytes, size_t size, size_t n, void *context)
{
	(void)bytes, (void)context;
	return size * n;
}

static long get_at(uint16_t port, const char *path)
{
	CURL *curl = curl_easy_init();
	char url[128];
	long status = 0;

	snprintf(url, sizeof(url), "https://127.0.0.1:%u%s", port, path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
	if (curl_easy_perform(curl) == CURLE_OK) {
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	}
	curl_easy_cleanup(curl);
	return status;
}

static long get(struct serve_test *test, const char *path)
{
	return get_at(bt_serve_port(test->serve), path);
}

static void assert_probes_are_answered(struct serve_test *test)
{
	assert_int_equal(get(test, "/livez"), 200);
	assert_int_equal(get(test, "/readyz"), 200);
	assert_int_equal(get(test, "/healthz"), 200);
	assert_int_equal(get(test, "/metrics"), 200);
}

/* Waits until the server has closed a connection. */
static void assert_ends(struct client *client)
{
	char bytes[512];
	ssize_t n;

	do {
		n = client->ssl ? SSL_read(client->ssl, bytes, sizeof(bytes))
				: recv(client->fd, bytes, sizeof(bytes), 0);
	} while (n > 0);
}

/* A thousand clients from fifty addresses send these bytes; with probes among them. */
static void flood(struct serve_test *test, const void *bytes, size_t n)
{
	test->options.limits.stay_ns = 1; /* they do not reconnect */
	begin(test);
	for (int i = 0; i < CLIENTS; i++) {
		say(add_client(test, 50), bytes, n);
		if (i % 100 == 99) {
			assert_probes_are_answered(test);
		}
	}
}

static void a_thousand_idle_connections_keep_no_probe_out(void **state)
{
	flood(*state, "", 0);
}

static void a_thousand_half_open_handshakes_keep_no_probe_out(void **state)
{
	struct serve_test *test = *state;
	unsigned char hello[HELLO_BYTES];
	size_t n = write_hello(test, hello);

	flood(test, hello, n);
}

/* Each sends a byte of a request from time to time, after a complete handshake. */
static void a_thousand_slow_requests_keep_no_probe_out(void **state)
{
	static const char request[] = "GET /livez HTTP/1.1\r\n";
	struct serve_test *test = *state;

	test->options.limits.stay_ns = 1;
	begin(test);
	for (int i = 0; i < CLIENTS; i++) {
		struct client *client = add_client(test, 50);

		assert_true(handshake(test, client));
		assert_int_equal(SSL_write(client->ssl, request, 1), 1);
		for (int k = 0; k < i; k += 101) {
			SSL_write(test->clients[k].ssl, request + 1 + (i - k) / 101, 1);
		}
		if (i % 100 == 99) {
			assert_probes_are_answered(test);
		}
	}
}

/* From the prober's own address: each connection has time for a request before it is closed. */
static void a_flood_from_the_probers_own_address_keeps_it_not_out(void **state)
{
	struct serve_test *test = *state;
	unsigned char hello[HELLO_BYTES];
	size_t n = write_hello(test, hello);

	begin(test);
	for (int i = 0; i < CLIENTS; i++) {
		say(add_client(test, 1), hello, i % 2 ? n : 1);
	}
	assert_probes_are_answered(test);
}

/* A client slower than a thousand later ones, each of which needs another's connection. */
static void the_first_connections_have_time_to_send(void **state)
{
	static const char request[] = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	struct serve_test *test = *state;
	char answer[512] = "";

	test->options.limits = (struct bt_connection_limits){.stay_ns = INT64_C(3600000000000)};
	begin(test);
	struct client *first = add_client(test, 1);

	while (test->client_n < 600) {
		add_client(test, 1);
	}
	assert_true(handshake(test, first));
	assert_true(SSL_write(first->ssl, request, (int)sizeof(request) - 1) > 0);
	assert_true(SSL_read(first->ssl, answer, (int)sizeof(answer) - 1) > 0);
	assert_non_null(strstr(answer, "200 OK"));
}

static void each_step_of_a_connection_has_a_deadline(void **state)
{
	static const char *const said[] = {"", "GET /livez",
		"PUT /debug/flags/v HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
		"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"};
	struct serve_test *test = *state;
	unsigned char hello[HELLO_BYTES];
	size_t n = write_hello(test, hello);

	test->options.limits = (struct bt_connection_limits){
		.handshake_ns = 200000000, .head_ns = 50000000, .body_ns = 50000000, .idle_ns = 50000000};
	begin(test);
	assert_ends(add_client(test, 1));
	struct client *half = add_client(test, 1);

	say(half, hello, n);
	assert_ends(half);
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		struct client *client = add_client(test, 1);

		if (handshake(test, client)) {
			SSL_write(client->ssl, said[i], (int)strlen(said[i]));
		}
		assert_ends(client);
	}
}

/* A client that does not read its responses: when the socket buffers are full, its writing ends when the
 * server closes the connection. */
static void an_answer_that_is_not_read_has_a_deadline(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	struct serve_test *test = *state;

	test->options.limits = (struct bt_connection_limits){.write_ns = 50000000};
	test->window = 4096;
	begin(test);
	struct client *client = add_client(test, 1);

	assert_true(handshake(test, client));
	while (SSL_write(client->ssl, request, (int)sizeof(request) - 1) > 0) {
	}
	assert_ends(client);
	assert_probes_are_answered(test);
}

static void a_client_that_begins_the_handshake_again_is_ended(void **state)
{
	struct serve_test *test = *state;

	begin(test);
	SSL_CTX_set_max_proto_version(test->tls, TLS1_2_VERSION);
	struct client *client = add_client(test, 1);

	assert_true(handshake(test, client));
	assert_int_equal(SSL_renegotiate(client->ssl), 1);
	SSL_do_handshake(client->ssl);
	SSL_write(client->ssl, "GET", 3);
	assert_ends(client);
	assert_probes_are_answered(test);
}

/* A process that holds silent connections, and sends a request; exits with 0 after a response. Forked before
 * this process has threads; reads the port from the pipe. */
static void hold_and_ask(int port_fd)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	uint16_t port;

	if (read(port_fd, &port, sizeof(port)) != sizeof(port)) {
		_exit(2);
	}
	to.sin_port = htons(port);
	for (int i = 0; i < 40; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
			_exit(3);
		}
	}
	_exit(get_at(port, "/livez") == 200 ? 0 : 1);
}

static void the_process_may_open_as_many_files_as_the_system_allows(void **state)
{
	struct rlimit before, after, little;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	little = (struct rlimit){64, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &little), 0);
	assert_int_equal(bt_serve_raise_files(), before.rlim_max);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &after), 0);
	assert_int_equal(after.rlim_cur, before.rlim_max);
}

static void without_descriptors_probes_are_answered(void **state)
{
	struct serve_test *test = *state;
	struct rlimit before, little;
	int port_fds[2], status;

	assert_int_equal(pipe(port_fds), 0);
	pid_t child = fork();

	if (child == 0) {
		hold_and_ask(port_fds[0]);
	}
	assert_true(child > 0);
	begin(test);
	uint16_t port = bt_serve_port(test->serve);
	int next = dup(port_fds[0]);

	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	little = (struct rlimit){(rlim_t)next + 4, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &little), 0);
	assert_int_equal(write(port_fds[1], &port, sizeof(port)), sizeof(port));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(port_fds[0]);
	close(port_fds[1]);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_process_may_open_as_many_files_as_the_system_allows),
		cmocka_unit_test_setup_teardown(without_descriptors_probes_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_thousand_idle_connections_keep_no_probe_out, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_thousand_half_open_handshakes_keep_no_probe_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thousand_slow_requests_keep_no_probe_out, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_flood_from_the_probers_own_address_keeps_it_not_out, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_connections_have_time_to_send, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_that_is_not_read_has_a_deadline, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_begins_the_handshake_again_is_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(each_step_of_a_connection_has_a_deadline, setup, teardown),
	};
	uint64_t files = bt_serve_raise_files();

	signal(SIGPIPE, SIG_IGN);
	if (files < 2 * CLIENTS) {
		printf("skipped: the process may open %llu files; allow %d (ulimit -Hn)\n",
			(unsigned long long)files, 2 * CLIENTS);
		return 77;
	}
	curl_global_init(CURL_GLOBAL_ALL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	curl_global_cleanup();
	return failed;
}
