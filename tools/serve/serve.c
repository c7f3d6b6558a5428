/* SPDX-License-Identifier: Apache-2.0
 * The server. libmicrohttpd cannot change certificates while it runs: a new daemon takes the listening socket
 * over, and the old one ends when its last connection has, or after a while.
 */
#include "tools/serve/serve.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "listen_int.h"
#include "tls_int.h"
#include "tools/log/log.h"
#include "tools/serve/certificate.h"
#include "tools/serve/health.h"
#include "tools/serve/routes.h"

#define CONNECTIONS	 64u
#define REQUEST_BYTES	 ((size_t)32 << 10)
#define STACK_BYTES	 ((size_t)1 << 20)
#define IDLE_SECONDS	 30u
#define LOOK_NS		 INT64_C(10000000000)
#define OLD_DAEMON_NS	 INT64_C(60000000000)
#define SAY_NS		 INT64_C(60000000000)
#define CERTIFICATES_MAX 16
#define HEADERS_MAX	 128
#define UPLOAD_BYTES	 ((size_t)1024)

struct bt_serve {
	struct bt_serve_options options; /* init: */
	struct bt_auth *auth;		 /* init: */
	int listen_fd;			 /* init: */
	uint16_t port;			 /* init: */
	struct bt_buf priorities;	 /* init: */
	int end_fd;			 /* init: an eventfd that the keeper waits for */
	struct bt_thread *keeper;	 /* init: looks at files; NULL: nobody does */
	struct bt_lock lock;		 /* one reload at a time */
	struct MHD_Daemon *daemon;	 /* lock(lock): who listens */
	struct MHD_Daemon *old;		 /* lock(lock): who has listened, while its connections last */
	int64_t old_ns;			 /* lock(lock): since when */
	struct bt_certificate served;	 /* lock(lock): */
	struct bt_buf authorities;	 /* lock(lock): */
	struct bt_log_limit said;
};

/* ---- a request ---- */

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status, const char *type,
	const char *warning, const struct bt_buf *body)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		body->len, body->len ? body->ptr : (void *)"", MHD_RESPMEM_MUST_COPY);

	if (!response) {
		return MHD_NO;
	}
	MHD_add_response_header(response, "Content-Type", type);
	if (warning) {
		MHD_add_response_header(response, "Warning", warning);
	}
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-cache, private");
	enum MHD_Result result = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result take_argument(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct bt_route_request *request = context;

	(void)kind;
	if (request->argument_n < BT_ROUTE_ARGUMENTS) {
		request->arguments[request->argument_n++] =
			(struct bt_route_argument){bt_str(name), bt_str(value)};
	}
	return MHD_YES;
}

/* The client's certificates; views that last as long as its connection. */
static uint32_t client_certificates(struct MHD_Connection *connection, struct bt_str *out)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	unsigned n = 0;
	const gnutls_datum_t *list =
		info && info->tls_session ? gnutls_certificate_get_peers(info->tls_session, &n) : NULL;

	n = list ? n : 0;
	n = n < CERTIFICATES_MAX ? n : CERTIFICATES_MAX;
	for (unsigned i = 0; i < n; i++) {
		out[i] = (struct bt_str){(const char *)list[i].data, list[i].size};
	}
	return n;
}

/* Headers of a request, as far as there is room. */
struct heads {
	struct bt_header items[HEADERS_MAX];
	uint32_t n;
};

static enum MHD_Result take_header(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct heads *heads = context;

	(void)kind;
	if (heads->n < HEADERS_MAX) {
		heads->items[heads->n++] = (struct bt_header){bt_str(name), bt_str(value)};
	}
	return MHD_YES;
}

static unsigned decide(struct bt_serve *serve, struct MHD_Connection *connection, const char *path,
	const char *verb, struct bt_buf *out_message)
{
	struct bt_str certificates[CERTIFICATES_MAX];
	struct heads heads = {.n = 0};

	MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &heads);
	const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
	const struct bt_auth_request request = {.authorization = bt_str(header ? header : ""),
		.certificates = certificates,
		.certificate_n = client_certificates(connection, certificates),
		.headers = heads.items,
		.header_n = heads.n,
		.path = bt_str(path),
		.verb = verb};

	return bt_auth_decide(serve->auth, &request, out_message);
}

static enum MHD_Result answer(struct bt_serve *serve, struct MHD_Connection *connection, const char *path,
	const char *verb, const struct bt_buf *upload)
{
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	struct bt_route_request request = {.path = bt_str(path),
		.accept = bt_str(accept ? accept : ""),
		.puts = strcmp(verb, "put") == 0,
		.body = bt_buf_view(upload)};
	struct bt_route_answer answer = {.type = "text/plain; charset=utf-8"};
	struct bt_buf message = {0};

	answer.status = decide(serve, connection, path, verb, &message);
	if (answer.status == 200) {
		MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &request);
		bt_route(&serve->options.sources, &serve->options.settings.metrics, &request, &answer);
	} else if (answer.status == 500) {
		bt_buf_str(&answer.body, bt_buf_view(&message));
		bt_buf_char(&answer.body, '\n');
	} else {
		bt_route_status(answer.status, answer.status == 401 ? "Unauthorized" : "Forbidden",
			bt_buf_view(&message), &answer);
	}
	bt_log(BT_LOG_INFO, 4, "Request",
		bt_log_fields(bt_log_str("path", bt_str(path)), bt_log_int("code", answer.status)));
	enum MHD_Result result =
		respond(connection, answer.status, answer.type, answer.warning, &answer.body);

	bt_buf_fini(&answer.body);
	bt_buf_fini(&message);
	return result;
}

/* What a request has brought behind its head. */
static void drop_upload(
	void *context, struct MHD_Connection *connection, void **seen, enum MHD_RequestTerminationCode how)
{
	struct bt_buf *upload = *seen;

	(void)context, (void)connection, (void)how;
	if (upload) {
		bt_buf_fini(upload);
		bt_mem_free(upload);
	}
	*seen = NULL;
}

/* Called for the head, for each piece of a body, and at the end. Of a body a short one alone is kept. */
static enum MHD_Result take_request(void *context, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *upload, size_t *upload_bytes, void **seen)
{
	struct bt_serve *serve = context;
	struct bt_buf text = {0}, *kept = *seen;

	(void)version;
	if (!kept) {
		*seen = bt_mem_zalloc(1, sizeof(*kept));
		return MHD_YES;
	}
	if (*upload_bytes) {
		bt_buf_add(kept, upload, kept->len + *upload_bytes <= UPLOAD_BYTES ? *upload_bytes : 0);
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_HEAD) == 0) {
		return answer(serve, connection, path, "head", kept);
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) == 0) {
		return answer(serve, connection, path, "get", kept);
	}
	if (strcmp(method, MHD_HTTP_METHOD_PUT) == 0 &&
		bt_route_takes_put(&serve->options.sources, bt_str(path))) {
		return answer(serve, connection, path, "put", kept);
	}
	bt_buf_text(&text, "405 method not allowed\n");
	enum MHD_Result result = respond(connection, 405, "text/plain; charset=utf-8", NULL, &text);

	bt_buf_fini(&text);
	return result;
}

/* ---- daemons ---- */

static void log_complaint(void *context, const char *format, va_list arguments)
{
	struct bt_serve *serve = context;
	struct bt_buf text = {0};
	uint64_t held_n;

	if (!bt_log_enabled(3) || !bt_log_due(&serve->said, bt_clock_monotonic_ns(), SAY_NS, &held_n)) {
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

static struct MHD_Daemon *start_daemon(
	struct bt_serve *serve, const struct bt_certificate *certificate, const struct bt_buf *authorities)
{
	struct MHD_OptionItem trust[2] = {
		{MHD_OPTION_END, 0, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	sigset_t all, before;

	if (authorities->len) {
		trust[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, authorities->ptr};
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_TLS | MHD_USE_INTERNAL_POLLING_THREAD |
							     MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
							     MHD_USE_ITC | MHD_USE_ERROR_LOG,
		0, NULL, NULL, take_request, serve,		  /* */
		MHD_OPTION_EXTERNAL_LOGGER, log_complaint, serve, /* first, so that it hears of the others */
		MHD_OPTION_NOTIFY_COMPLETED, drop_upload, NULL,	  /* */
		MHD_OPTION_LISTEN_SOCKET, serve->listen_fd,	  /* */
		MHD_OPTION_HTTPS_MEM_CERT, certificate->certificate.ptr, /* */
		MHD_OPTION_HTTPS_MEM_KEY, certificate->key.ptr,		 /* */
		MHD_OPTION_HTTPS_PRIORITIES, serve->priorities.ptr,	 /* */
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,		 /* */
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,		 /* */
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES,	 /* */
		MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES,		 /* */
		MHD_OPTION_ARRAY, trust, MHD_OPTION_END);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return daemon;
}

/* Ends the daemon that does not listen any more, when it has no connection or has had time enough. */
static void end_old(struct bt_serve *serve, bool at_once)
{
	const union MHD_DaemonInfo *info =
		serve->old ? MHD_get_daemon_info(serve->old, MHD_DAEMON_INFO_CURRENT_CONNECTIONS) : NULL;
	bool idle = !info || info->num_connections == 0;

	if (serve->old && (idle || at_once || bt_clock_monotonic_ns() - serve->old_ns > OLD_DAEMON_NS)) {
		MHD_stop_daemon(serve->old);
		serve->old = NULL;
	}
}

static bool same_bytes(const struct bt_buf *a, const struct bt_buf *b)
{
	return bt_str_eq(bt_buf_view(a), bt_buf_view(b));
}

static void replace(struct bt_buf *to, struct bt_buf *from)
{
	bt_buf_fini(to);
	*to = *from;
	*from = (struct bt_buf){0};
}

/* Serves with these from now on, if they are others than before. Returns: whether they are. */
static bool serve_with(struct bt_serve *serve, struct bt_certificate *certificate, struct bt_buf *authorities,
	struct bt_buf *out_error)
{
	if (serve->daemon && same_bytes(&certificate->certificate, &serve->served.certificate) &&
		same_bytes(&certificate->key, &serve->served.key) &&
		same_bytes(authorities, &serve->authorities)) {
		return false;
	}
	struct MHD_Daemon *before = serve->daemon;
	struct MHD_Daemon *daemon = start_daemon(serve, certificate, authorities);

	if (!daemon) {
		bt_buf_text(out_error, "no HTTPS server can be started with this certificate");
		return false;
	}
	end_old(serve, true);
	if (before) {
		MHD_quiesce_daemon(before);
		serve->old = before;
		serve->old_ns = bt_clock_monotonic_ns();
	}
	serve->daemon = daemon;
	bt_certificate_fini(&serve->served);
	serve->served = *certificate;
	*certificate = (struct bt_certificate){0};
	replace(&serve->authorities, authorities);
	return true;
}

static void say_error(const char *message, const struct bt_buf *error)
{
	if (error->len) {
		bt_log(BT_LOG_ERROR, 0, message, bt_log_fields(bt_log_str("err", bt_buf_view(error))));
	}
}

/* A certificate that was made stays until the process ends: only files change. */
static void look_at_certificate(struct bt_serve *serve, struct bt_certificate *out, struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = &serve->options.settings;

	if ((!settings->cert_file && !settings->cert_dir) ||
		bt_certificate_load(settings, out, out_error) != BT_OK) {
		bt_certificate_fini(out);
		*out = (struct bt_certificate){0};
		bt_buf_str(&out->certificate, bt_buf_view(&serve->served.certificate));
		bt_buf_str(&out->key, bt_buf_view(&serve->served.key));
	}
}

bool bt_serve_reload(struct bt_serve *serve)
{
	struct bt_certificate certificate = {0};
	struct bt_buf authorities = {0}, error = {0};
	bool by_files;

	bt_lock_acquire(&serve->lock);
	bt_auth_reload(serve->auth, &by_files, &error);
	say_error("The CA of client certificates cannot be read; the last one counts", &error);
	bt_buf_clear(&error);
	bt_auth_authorities(serve->auth, &authorities);
	look_at_certificate(serve, &certificate, &error);
	bool changed = serve_with(serve, &certificate, &authorities, &error);

	say_error("The certificate cannot be used; the last one counts", &error);
	if (changed) {
		bt_log(BT_LOG_INFO, 0, "Certificates have changed, and are served", NULL);
	}
	end_old(serve, false);
	bt_lock_release(&serve->lock);
	bt_certificate_fini(&certificate);
	bt_buf_fini(&authorities);
	bt_buf_fini(&error);
	return changed;
}

/* ---- begin and end ---- */

static void keep(void *context)
{
	struct bt_serve *serve = context;
	struct pollfd end = {.fd = serve->end_fd, .events = POLLIN};
	int look_ms = (int)(serve->options.look_ns / 1000000);

	while (poll(&end, 1, look_ms > 0 ? look_ms : 1) <= 0) {
		bt_serve_reload(serve);
	}
}

static enum bt_status begin(struct bt_serve *serve, struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = &serve->options.settings;
	struct bt_certificate certificate = {0};
	struct bt_buf authorities = {0}, lookup = {0};
	enum bt_status status = bt_tls_priorities(settings, &serve->priorities, out_error);
	bool by_files;

	if (status == BT_OK && bt_auth_reload(serve->auth, &by_files, &lookup) != BT_OK) {
		bool fatal = by_files || !settings->tolerate_lookup_failure;

		status = fatal ? BT_INVALID : BT_OK;
		if (fatal) {
			bt_buf_printf(
				out_error, "the CA of client certificates cannot be read: %s", lookup.ptr);
		} else {
			bt_log(BT_LOG_WARNING, 0,
				"The CA of client certificates cannot be looked up; client certificates are "
				"not "
				"looked at for now. Let the scheduler read ConfigMap "
				"extension-apiserver-authentication (Role "
				"extension-apiserver-authentication-reader)",
				bt_log_fields(bt_log_str("err", bt_buf_view(&lookup))));
		}
	}
	bt_buf_fini(&lookup);
	if (status == BT_OK) {
		status = bt_certificate_load(settings, &certificate, out_error);
	}
	if (status == BT_OK) {
		serve->listen_fd = bt_listen(settings, serve->options.any_port, &serve->port, out_error);
		status = serve->listen_fd < 0 ? BT_IO : BT_OK;
	}
	if (status == BT_OK) {
		bt_auth_authorities(serve->auth, &authorities);
		status = serve_with(serve, &certificate, &authorities, out_error) ? BT_OK : BT_IO;
	}
	bt_certificate_fini(&certificate);
	bt_buf_fini(&authorities);
	return status;
}

struct bt_serve *bt_serve_create(const struct bt_serve_options *options, struct bt_buf *out_error)
{
	struct bt_serve *serve = bt_mem_zalloc(1, sizeof(*serve));
	const struct bt_thread_options keeper = {.name = "serve"};

	serve->options = *options;
	serve->options.sources.tally = bt_health_tally_create();
	serve->options.look_ns = options->look_ns ? options->look_ns : LOOK_NS;
	serve->listen_fd = -1;
	serve->end_fd = eventfd(0, EFD_CLOEXEC);
	bt_lock_init(&serve->lock);
	const struct bt_auth_options auth = {.settings = &serve->options.settings,
		.authentication = options->authentication,
		.authorization = options->authorization,
		.fetch = options->fetch,
		.clock = bt_clock_real()};

	serve->auth = bt_auth_create(&auth);
	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
		bt_buf_text(out_error,
			"libmicrohttpd was built without TLS; install one that was built with GnuTLS");
	} else if (begin(serve, out_error) == BT_OK &&
		   (serve->options.look_ns == BT_FOREVER ||
			   bt_thread_start(&keeper, keep, serve, &serve->keeper, out_error) == BT_OK)) {
		return serve;
	}
	bt_serve_destroy(serve);
	return NULL;
}

void bt_serve_destroy(struct bt_serve *serve)
{
	const uint64_t one = 1;

	if (!serve) {
		return;
	}
	if (serve->keeper && write(serve->end_fd, &one, sizeof(one)) == sizeof(one)) {
		bt_thread_join(&serve->keeper);
	}
	end_old(serve, true);
	if (serve->daemon) {
		MHD_quiesce_daemon(serve->daemon);
		MHD_stop_daemon(serve->daemon);
	}
	if (serve->listen_fd >= 0) {
		close(serve->listen_fd);
	}
	close(serve->end_fd);
	bt_auth_destroy(serve->auth);
	bt_health_tally_destroy(serve->options.sources.tally);
	bt_certificate_fini(&serve->served);
	bt_buf_fini(&serve->authorities);
	bt_buf_fini(&serve->priorities);
	bt_lock_fini(&serve->lock);
	bt_mem_free(serve);
}

uint16_t bt_serve_port(const struct bt_serve *serve)
{
	return serve->port;
}
