/* SPDX-License-Identifier: Apache-2.0
 * libmicrohttpd without threads of its own: everything except bt_front_set_tls and the workers' answers runs
 * on one thread. It accepts connections itself, so that it can back off when there are no descriptors, and
 * choose which connection to close. A connection is closed by shutdown(2), which libmicrohttpd treats as its
 * client's end.
 */
#include "front_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "listen_int.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/workers.h"

#define REQUEST_BYTES	((size_t)32 << 10)
#define UPLOAD_BYTES	((size_t)1024)
#define LOG_INTERVAL_NS INT64_C(60000000000)
#define WORKERS		8u
#define WAITING		64u
#define ACCEPT_AT_ONCE	64

/* A connection's state outside of libmicrohttpd and GnuTLS. */
struct client {
	struct bt_front *front;
	struct MHD_Connection *connection; /* NULL: none */
	int fd;
	uint32_t ix;
	struct bt_server_tls_session session;
	struct client *next_dead;
};

/* A request, until its answer is sent. */
struct request {
	struct client *client;
	struct MHD_Connection *connection;
	struct bt_buf upload;
	struct bt_front_request view;
	struct bt_route_answer answer;
	bool known, done;
	struct request *next_done;
};

struct bt_front {
	struct bt_front_options options; /* init: */
	struct bt_connections *table;	 /* owner: the front's thread */
	struct client **clients;	 /* owner: the same; by the table's index */
	struct client *dead;		 /* owner: the same; freed once libmicrohttpd has released them */
	struct MHD_Daemon *daemon;	 /* owner: the same */
	struct bt_workers *workers;	 /* init: NULL during shutdown */
	struct bt_accept_backoff rest;	 /* owner: the front's thread */
	int wake_fd;			 /* init: an eventfd: an answer is ready, or shutdown has started */
	struct bt_thread *thread;	 /* init: */
	struct bt_lock lock;
	struct bt_server_tls *tls; /* lock(lock): */
	struct request *done;	   /* lock(lock): */
	bool ends;		   /* lock(lock): */
	struct bt_log_limit log_limit, full_log_limit;
};

static void wake(struct bt_front *front)
{
	const uint64_t one = 1;

	while (write(front->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
	}
}

/* ---- answers ---- */

static enum MHD_Result respond(struct MHD_Connection *connection, const struct bt_route_answer *answer)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		answer->body.len, answer->body.len ? answer->body.ptr : (void *)"", MHD_RESPMEM_MUST_COPY);

	if (!response) {
		return MHD_NO;
	}
	MHD_add_response_header(response, "Content-Type", answer->type);
	if (answer->warning) {
		MHD_add_response_header(response, "Warning", answer->warning);
	}
	if (answer->status == 429) {
		MHD_add_response_header(response, "Retry-After", "1");
	}
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-cache, private");
	enum MHD_Result result = MHD_queue_response(connection, answer->status, response);

	MHD_destroy_response(response);
	return result;
}

/* Context: the front's thread. */
static enum MHD_Result send_answer(struct request *request)
{
	struct bt_front *front = request->client->front;
	uint32_t ix = request->client->ix;

	if (request->known) {
		bt_connections_authenticated(front->table, ix);
	}
	bt_connections_enter(front->table, ix, BT_CONNECTION_WRITING, bt_clock_monotonic_ns());
	return respond(request->connection, &request->answer);
}

/* Context: a worker. */
static void work(void *context, void *job)
{
	struct bt_front *front = context;
	struct request *request = job;

	front->options.answer(front->options.context, &request->view, &request->answer, &request->known);
	bt_lock_acquire(&front->lock);
	request->next_done = front->done;
	front->done = request;
	bt_lock_release(&front->lock);
	wake(front);
}

/* Resumes requests that workers have answered. */
static void resume(struct bt_front *front)
{
	bt_lock_acquire(&front->lock);
	struct request *done = front->done;

	front->done = NULL;
	bt_lock_release(&front->lock);
	for (; done; done = done->next_done) {
		done->done = true;
		MHD_resume_connection(done->connection);
	}
}

static enum MHD_Result take_argument(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct bt_front_request *view = context;

	(void)kind;
	if (view->argument_n < BT_ROUTE_ARGUMENTS) {
		view->arguments[view->argument_n++] = (struct bt_route_argument){bt_str(name), bt_str(value)};
	}
	return MHD_YES;
}

static enum MHD_Result take_header(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct bt_front_request *view = context;

	(void)kind;
	if (view->header_n < BT_FRONT_HEADERS) {
		view->headers[view->header_n++] = (struct bt_header){bt_str(name), bt_str(value)};
	}
	return MHD_YES;
}

static void *session_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	return info ? info->tls_session : NULL;
}

static void read_request(struct request *request, const char *path, const char *method)
{
	struct MHD_Connection *connection = request->connection;
	struct bt_front_request *view = &request->view;
	const char *authorization = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");

	view->path = path;
	view->method = method;
	view->authorization = bt_str(authorization ? authorization : "");
	view->accept = bt_str(accept ? accept : "");
	view->certificate_n = bt_server_tls_client_certificates(
		session_of(connection), view->certificates, BT_FRONT_CERTIFICATES);
	view->body = bt_buf_view(&request->upload);
	MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, view);
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, view);
}

/* The request is complete. */
static enum MHD_Result begin_answer(struct request *request, const char *path, const char *method)
{
	struct bt_front *front = request->client->front;

	request->answer = (struct bt_route_answer){.type = "text/plain; charset=utf-8"};
	read_request(request, path, method);
	if (front->options.is_prompt(front->options.context, &request->view)) {
		front->options.answer(
			front->options.context, &request->view, &request->answer, &request->known);
		return send_answer(request);
	}
	if (front->workers && bt_workers_take(front->workers, request)) {
		bt_connections_enter(
			front->table, request->client->ix, BT_CONNECTION_ANSWERING, bt_clock_monotonic_ns());
		MHD_suspend_connection(request->connection);
		return MHD_YES;
	}
	request->answer.status = 429;
	bt_buf_text(&request->answer.body, "Too many requests, please try again later.\n");
	return send_answer(request);
}

/* Called for the head, for each piece of a body, at the end, and when an answer is ready. Only a short body
 * is kept. */
static enum MHD_Result take_request(void *context, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *upload, size_t *upload_bytes, void **seen)
{
	struct request *request = *seen;
	const union MHD_ConnectionInfo *info;

	(void)context, (void)version;
	if (!request) {
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
		request = *seen = bt_mem_zalloc(1, sizeof(*request));
		request->client = info->socket_context;
		request->connection = connection;
		bt_connections_enter(request->client->front->table, request->client->ix, BT_CONNECTION_BODY,
			bt_clock_monotonic_ns());
		return MHD_YES;
	}
	if (*upload_bytes) {
		struct bt_buf *kept = &request->upload;

		bt_buf_add(kept, upload, kept->len + *upload_bytes <= UPLOAD_BYTES ? *upload_bytes : 0);
		*upload_bytes = 0;
		return MHD_YES;
	}
	return request->done ? send_answer(request) : begin_answer(request, path, method);
}

static void end_request(
	void *context, struct MHD_Connection *connection, void **seen, enum MHD_RequestTerminationCode how)
{
	struct request *request = *seen;

	(void)context, (void)connection, (void)how;
	if (request) {
		bt_connections_enter(request->client->front->table, request->client->ix, BT_CONNECTION_IDLE,
			bt_clock_monotonic_ns());
		bt_buf_fini(&request->upload);
		bt_buf_fini(&request->answer.body);
		bt_mem_free(request);
	}
	*seen = NULL;
}

/* ---- connections ---- */

static void finish_handshake(void *context)
{
	struct client *client = context;
	struct bt_connections *table = client->front->table;

	if (bt_connections_state(table, client->ix) == BT_CONNECTION_HANDSHAKE) { /* ignores what follows */
		bt_connections_enter(table, client->ix, BT_CONNECTION_HEAD, bt_clock_monotonic_ns());
	}
}

/* The local address of a connection, as Go writes it. */
static void write_local(int fd, char out[BT_TLS_ADDRESS_BYTES])
{
	struct sockaddr_storage local = {0};
	socklen_t n = sizeof(local);

	out[0] = 0;
	if (getsockname(fd, (struct sockaddr *)&local, &n) != 0) {
		return;
	}
	const struct sockaddr_in *v4 = (const void *)&local;
	const struct sockaddr_in6 *v6 = (const void *)&local;

	if (local.ss_family == AF_INET) {
		inet_ntop(AF_INET, &v4->sin_addr, out, BT_TLS_ADDRESS_BYTES);
	} else if (local.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, out, BT_TLS_ADDRESS_BYTES);
	} else if (local.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6->sin6_addr, out, BT_TLS_ADDRESS_BYTES);
	}
}

static void close_client(struct bt_front *front, uint32_t ix)
{
	bt_connections_enter(front->table, ix, BT_CONNECTION_CLOSING, bt_clock_monotonic_ns());
	shutdown(front->clients[ix]->fd, SHUT_RDWR);
}

static struct client *begin_client(struct bt_front *front, struct MHD_Connection *connection)
{
	struct client *client = bt_mem_zalloc(1, sizeof(*client));
	const struct sockaddr *peer =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;

	*client = (struct client){.front = front,
		.connection = connection,
		.fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		.ix = bt_connections_add(front->table, peer, bt_clock_monotonic_ns())};
	bt_lock_acquire(&front->lock);
	client->session = (struct bt_server_tls_session){
		.tls = bt_server_tls_take(front->tls), .finished = finish_handshake, .context = client};
	bt_lock_release(&front->lock);
	front->clients[client->ix] = client;
	write_local(client->fd, client->session.local);
	if (!bt_server_tls_begin(session_of(connection), &client->session)) {
		close_client(front, client->ix);
	}
	return client;
}

static void take_notice(void *context, struct MHD_Connection *connection, void **socket_context,
	enum MHD_ConnectionNotificationCode what)
{
	struct bt_front *front = context;
	struct client *client = *socket_context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket_context = begin_client(front, connection);
		return;
	}
	bt_connections_remove(front->table, client->ix);
	front->clients[client->ix] = NULL;
	client->next_dead = front->dead;
	front->dead = client;
	*socket_context = NULL;
}

static void free_dead(struct bt_front *front)
{
	while (front->dead) {
		struct client *client = front->dead;

		front->dead = client->next_dead;
		bt_server_tls_drop(client->session.tls);
		bt_mem_free(client);
	}
}

static void run(struct bt_front *front)
{
	MHD_run(front->daemon);
	free_dead(front);
}

static void warn_full(struct bt_front *front)
{
	uint64_t held_n;

	if (bt_log_due(&front->full_log_limit, bt_clock_monotonic_ns(), LOG_INTERVAL_NS, &held_n)) {
		bt_log(BT_LOG_WARNING, 0,
			"Connections to --secure-port are closed to make room for others, which wait; see "
			"which clients open so many",
			bt_log_fields(bt_log_int("connections", bt_connections_n(front->table)),
				bt_log_int("heldBack", (int64_t)held_n)));
	}
}

/* When the next connection may be accepted: until then it waits in the listen backlog. */
static int64_t opens_ns(const struct bt_front *front)
{
	uint32_t victim;
	int64_t room_ns = bt_connections_room_ns(front->table, &victim);

	return room_ns > front->rest.until_ns ? room_ns : front->rest.until_ns;
}

/* A closed connection is gone once libmicrohttpd has run; otherwise there is no room after all. */
static bool make_room(struct bt_front *front)
{
	uint32_t victim;

	bt_connections_room_ns(front->table, &victim);
	if (victim != BT_CONNECTION_NONE) {
		warn_full(front);
		close_client(front, victim);
		run(front);
	}
	return bt_connections_room_ns(front->table, &victim) == 0;
}

static void take_connections(struct bt_front *front)
{
	int64_t now_ns = bt_clock_monotonic_ns();

	for (int i = 0; i < ACCEPT_AT_ONCE && opens_ns(front) <= now_ns; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t n = sizeof(peer);
		int fd = bt_accept(
			front->options.listen_fd, (struct sockaddr *)&peer, &n, &front->rest, now_ns);

		if (fd >= 0 && make_room(front)) {
			MHD_add_connection(front->daemon, fd, (struct sockaddr *)&peer, n);
			run(front); /* so that it is counted before the next is accepted */
		} else if (fd >= 0) {
			warn_full(front);
			close(fd);
		} else if (front->rest.until_ns) {
			uint32_t victim = bt_connections_victim(front->table);

			if (victim != BT_CONNECTION_NONE) {
				close_client(front, victim);
			}
			return;
		} else {
			return;
		}
	}
}

/* ---- the loop ---- */

/* The timeout for the wait, in ms; -1: none. opens_at_ns: when connections may be accepted. */
static int idle_ms(struct bt_front *front, int64_t opens_at_ns, int64_t now_ns)
{
	MHD_UNSIGNED_LONG_LONG own_ms = 0;
	int64_t until_ns = bt_connections_deadline(front->table);

	if (MHD_get_timeout(front->daemon, &own_ms) == MHD_YES && own_ms == 0) {
		return 0;
	}
	if (opens_at_ns > now_ns && opens_at_ns < until_ns) {
		until_ns = opens_at_ns;
	}
	if (until_ns == INT64_MAX) {
		return -1;
	}
	int64_t wait_ms = until_ns > now_ns ? (until_ns - now_ns) / 1000000 + 1 : 0;

	return wait_ms < 60000 ? (int)wait_ms : 60000;
}

static bool ends(struct bt_front *front)
{
	bt_lock_acquire(&front->lock);
	bool end = front->ends;

	bt_lock_release(&front->lock);
	return end;
}

static void loop(void *context)
{
	struct bt_front *front = context;
	int epoll_fd = MHD_get_daemon_info(front->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	uint64_t woken;

	while (!ends(front)) {
		struct pollfd files[] = {{.fd = front->wake_fd, .events = POLLIN},
			{.fd = epoll_fd, .events = POLLIN},
			{.fd = front->options.listen_fd, .events = POLLIN}};
		int64_t now_ns = bt_clock_monotonic_ns(), opens_at_ns = opens_ns(front);
		bool open = opens_at_ns <= now_ns;

		poll(files, open ? 3 : 2, idle_ms(front, opens_at_ns, now_ns));
		now_ns = bt_clock_monotonic_ns();

		if (files[0].revents && read(front->wake_fd, &woken, sizeof(woken)) > 0) {
			resume(front);
		}
		if (now_ns >= front->rest.until_ns) {
			front->rest.until_ns = 0;
		}
		for (uint32_t ix; (ix = bt_connections_late(front->table, now_ns)) != BT_CONNECTION_NONE;) {
			close_client(front, ix);
		}
		run(front);
		if (open && files[2].revents) {
			take_connections(front);
		}
	}
}

/* ---- create and destroy ---- */

static void log_diagnostic(void *context, const char *format, va_list arguments)
{
	struct bt_front *front = context;
	struct bt_buf text = {0};
	uint64_t held_n;

	if (!bt_log_enabled(3) ||
		!bt_log_due(&front->log_limit, bt_clock_monotonic_ns(), LOG_INTERVAL_NS, &held_n)) {
		return;
	}
	bt_buf_vprintf(&text, format, arguments);
	while (text.len && text.ptr[text.len - 1] == '\n') {
		text.len--;
	}
	bt_log(BT_LOG_INFO, 3, "A connection was not as it should be",
		bt_log_fields(
			bt_log_str("err", bt_buf_view(&text)), bt_log_int("heldBack", (int64_t)held_n)));
	bt_buf_fini(&text);
}

/* Never called: each connection has our credentials. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_n,
	const gnutls_pk_algorithm_t *algorithms, int algorithm_n, gnutls_pcert_st **out_certificate,
	unsigned *out_certificate_n, gnutls_privkey_t *out_key)
{
	(void)session, (void)authorities, (void)authority_n, (void)algorithms, (void)algorithm_n;
	(void)out_certificate, (void)out_certificate_n, (void)out_key;
	return -1;
}

static bool start_daemon(struct bt_front *front, struct bt_buf *out_error)
{
	front->daemon = MHD_start_daemon(MHD_USE_TLS | MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
						 MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
		0, NULL, NULL, take_request, front,		   /* */
		MHD_OPTION_EXTERNAL_LOGGER, log_diagnostic, front, /* first: logs errors of the others */
		MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL,	   /* */
		MHD_OPTION_NOTIFY_CONNECTION, take_notice, front,  /* */
		MHD_OPTION_HTTPS_CERT_CALLBACK, no_certificate,	   /* */
		MHD_OPTION_CONNECTION_LIMIT,
		bt_connections_limits(front->table)->connections + 1u, /* the table enforces the limit */
		MHD_OPTION_CONNECTION_TIMEOUT, 0u,		       /* the table enforces timeouts */
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES,     /* */
		MHD_OPTION_END);
	if (!front->daemon) {
		bt_buf_text(out_error,
			"libmicrohttpd cannot serve HTTPS; install one that was built with GnuTLS and epoll");
	}
	return front->daemon != NULL;
}

struct bt_front *bt_front_create(const struct bt_front_options *options, struct bt_buf *out_error)
{
	const struct bt_thread_options thread = {.name = "front"};
	struct bt_front *front = bt_mem_zalloc(1, sizeof(*front));
	uint32_t connections;

	front->options = *options;
	front->tls = options->tls;
	front->table = bt_connections_create(&options->limits);
	connections = bt_connections_limits(front->table)->connections;
	front->clients = bt_mem_zalloc(connections, sizeof(*front->clients));
	front->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	bt_lock_init(&front->lock);
	/* Connections whose requests wait cannot be closed, so only a part of all may wait. */
	front->workers = bt_workers_create(
		&(struct bt_workers_options){.threads = WORKERS,
			.waiting = connections / 4 < WAITING ? connections / 4 + 1 : WAITING,
			.run = work,
			.context = front},
		out_error);
	if (front->workers && start_daemon(front, out_error) &&
		bt_thread_start(&thread, loop, front, &front->thread, out_error) == BT_OK) {
		return front;
	}
	bt_front_destroy(front);
	return NULL;
}

void bt_front_destroy(struct bt_front *front)
{
	if (!front) {
		return;
	}
	bt_lock_acquire(&front->lock);
	front->ends = true;
	bt_lock_release(&front->lock);
	wake(front);
	bt_thread_join(&front->thread);
	bt_workers_destroy(front->workers);
	front->workers = NULL;
	if (front->daemon) {
		resume(front); /* a daemon must not be stopped with suspended connections */
		run(front);
		MHD_stop_daemon(front->daemon);
		front->daemon = NULL;
	}
	free_dead(front);
	bt_server_tls_drop(front->tls);
	if (front->wake_fd >= 0) {
		close(front->wake_fd);
	}
	bt_connections_destroy(front->table);
	bt_mem_free(front->clients);
	bt_lock_fini(&front->lock);
	bt_mem_free(front);
}

void bt_front_set_tls(struct bt_front *front, struct bt_server_tls **tls)
{
	bt_lock_acquire(&front->lock);
	struct bt_server_tls *before = front->tls;

	front->tls = *tls;
	*tls = NULL;
	bt_lock_release(&front->lock);
	bt_server_tls_drop(before);
}
