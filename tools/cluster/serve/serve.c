/* SPDX-License-Identifier: Apache-2.0
 * The server: access to paths, and certificate reload.
 */
#include "tools/cluster/serve/serve.h"

#include <openssl/crypto.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "front_int.h"
#include "listen_int.h"
#include "tls_int.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/certificate.h"
#include "tools/cluster/serve/health.h"
#include "tools/cluster/serve/routes.h"
#include "tools/cluster/serve/work_queues.h"

#define LOOK_NS INT64_C(10000000000)

/* The default certificate, and those for some names. */
struct served_set {
	struct bt_certificate *items; /* 1 and settings.sni_n of them */
	uint32_t n;
	struct bt_buf authorities; /* of client certificates */
};

struct bt_serve {
	struct bt_serve_options options;	    /* init: */
	struct bt_auth *auth;			    /* init: */
	int listen_fd;				    /* init: */
	uint16_t port;				    /* init: */
	struct bt_server_tls_priorities priorities; /* init: */
	int end_fd;				    /* init: an eventfd that stops the keeper */
	struct bt_thread *keeper;		    /* init: checks files; NULL: not running */
	struct bt_front *front;			    /* init: */
	struct bt_lock lock;			    /* one reload at a time */
	struct served_set served;		    /* lock(lock): currently in use */
};

/* ---- a request ---- */

static struct bt_auth_request auth_request(const struct bt_front_request *request, const char *verb)
{
	return (struct bt_auth_request){.authorization = request->authorization,
		.certificates = request->certificates,
		.certificate_n = request->certificate_n,
		.headers = request->headers,
		.header_n = request->header_n,
		.path = bt_str(request->path),
		.verb = verb};
}

static bool is_prompt(void *context, const struct bt_front_request *request)
{
	const struct bt_serve *serve = context;
	const struct bt_auth_request auth = auth_request(request, "get");

	return bt_route_is_prompt(bt_str(request->path)) && bt_auth_is_prompt(serve->auth, &auth);
}

/* The API verb of a method; NULL: the path does not support it. */
static const char *verb_of(const struct bt_serve *serve, const struct bt_front_request *request)
{
	if (strcmp(request->method, "HEAD") == 0) {
		return "head";
	}
	if (strcmp(request->method, "GET") == 0) {
		return "get";
	}
	return strcmp(request->method, "PUT") == 0 &&
			       bt_route_takes_put(&serve->options.sources, bt_str(request->path))
		       ? "put"
		       : NULL;
}

static void answer(void *context, const struct bt_front_request *request, struct bt_route_answer *out_answer,
	bool *out_known)
{
	struct bt_serve *serve = context;
	const char *verb = verb_of(serve, request);
	struct bt_buf message = {0};

	if (!verb) {
		out_answer->status = 405;
		bt_buf_text(&out_answer->body, "405 method not allowed\n");
		return;
	}
	const struct bt_auth_request auth = auth_request(request, verb);

	out_answer->status = bt_auth_decide(serve->auth, &auth, out_known, &message);
	if (out_answer->status == 200) {
		struct bt_route_request route = {.path = bt_str(request->path),
			.argument_n = request->argument_n,
			.accept = request->accept,
			.puts = strcmp(verb, "put") == 0,
			.body = request->body};

		memcpy(route.arguments, request->arguments, sizeof(route.arguments));
		bt_route(&serve->options.sources, &serve->options.settings.metrics, &route, out_answer);
	} else if (out_answer->status == 500) {
		bt_buf_str(&out_answer->body, bt_buf_view(&message));
		bt_buf_char(&out_answer->body, '\n');
	} else {
		bt_route_status(out_answer->status, out_answer->status == 401 ? "Unauthorized" : "Forbidden",
			bt_buf_view(&message), out_answer);
	}
	bt_log(BT_LOG_INFO, 4, "Request",
		bt_log_fields(
			bt_log_str("path", bt_str(request->path)), bt_log_int("code", out_answer->status)));
	bt_buf_fini(&message);
}

/* ---- certificates ---- */

static bool same_bytes(const struct bt_buf *a, const struct bt_buf *b)
{
	return bt_str_eq(bt_buf_view(a), bt_buf_view(b));
}

static void served_fini(struct served_set *served)
{
	for (uint32_t i = 0; i < served->n; i++) {
		bt_certificate_fini(&served->items[i]);
	}
	bt_mem_free(served->items);
	bt_buf_fini(&served->authorities);
	*served = (struct served_set){0};
}

static bool same_served(const struct served_set *a, const struct served_set *b)
{
	bool same = a->n == b->n && same_bytes(&a->authorities, &b->authorities);

	for (uint32_t i = 0; i < a->n && same; i++) {
		same = same_bytes(&a->items[i].certificate, &b->items[i].certificate) &&
		       same_bytes(&a->items[i].key, &b->items[i].key);
	}
	return same;
}

static struct bt_server_tls *make_tls(
	const struct bt_serve *serve, const struct served_set *served, struct bt_buf *out_error)
{
	struct bt_server_tls_pair *pairs = bt_mem_zalloc(served->n, sizeof(*pairs));
	struct bt_arena arena = {0};

	for (uint32_t i = 0; i < served->n; i++) {
		pairs[i] =
			(struct bt_server_tls_pair){.certificate = bt_buf_view(&served->items[i].certificate),
				.key = bt_buf_view(&served->items[i].key)};
		pairs[i].own = bt_certificate_names(&served->items[i], &arena);
		if (i) {
			pairs[i].names = serve->options.settings.sni[i - 1].names;
		}
	}
	struct bt_server_tls *tls =
		bt_server_tls_create(&(struct bt_server_tls_options){.priorities = &serve->priorities,
					     .pairs = pairs,
					     .pair_n = served->n,
					     .authorities = bt_buf_view(&served->authorities)},
			out_error);

	bt_arena_fini(&arena);
	bt_mem_free(pairs);
	return tls;
}

/* Uses these from now on, if they differ from the current ones. Returns: whether they do. */
static bool serve_with(struct bt_serve *serve, struct served_set *served, struct bt_buf *out_error)
{
	if (same_served(&serve->served, served)) {
		return false;
	}
	struct bt_server_tls *tls = make_tls(serve, served, out_error);

	if (!tls) {
		return false;
	}
	bt_front_set_tls(serve->front, &tls);
	served_fini(&serve->served);
	serve->served = *served;
	*served = (struct served_set){0};
	return true;
}

static void log_failure(const char *message, const struct bt_buf *error)
{
	if (error->len) {
		bt_log(BT_LOG_ERROR, 0, message, bt_log_fields(bt_log_str("err", bt_buf_view(error))));
	}
}

static void copy_certificate(const struct bt_certificate *from, struct bt_certificate *out)
{
	bt_certificate_fini(out);
	*out = (struct bt_certificate){0};
	bt_buf_str(&out->certificate, bt_buf_view(&from->certificate));
	bt_buf_str(&out->key, bt_buf_view(&from->key));
}

/* Reads the certificates; copies from before what cannot be read, and a certificate that was created in
 * memory: it stays until the process ends. Returns: whether all could be read; else the reason in
 * out_error. */
static bool read_served(const struct bt_serve *serve, const struct served_set *before, struct served_set *out,
	struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = &serve->options.settings;
	bool good = true;

	*out = (struct served_set){.n = 1 + settings->sni_n};
	out->items = bt_mem_zalloc(out->n, sizeof(*out->items));
	for (uint32_t i = 0; i < out->n; i++) {
		const struct bt_sni_settings *sni = i ? &settings->sni[i - 1] : NULL;
		bool kept = before->n && !sni && !settings->cert_file && !settings->cert_dir;
		bool read =
			!kept && (sni ? bt_certificate_load_named(sni, &out->items[i], out_error)
				      : bt_certificate_load(settings, &out->items[i], out_error)) == BT_OK;

		if (!read && before->n) {
			copy_certificate(&before->items[i], &out->items[i]);
		}
		good = good && (read || kept);
	}
	return good;
}

/* The same, with work queue metrics. Both read the CAs of client certificates, too. */
static bool check_served(const struct bt_serve *serve, const struct served_set *before,
	struct served_set *out, struct bt_buf *out_error)
{
	struct bt_work_queues *queues = serve->options.sources.work_queues;

	bt_work_queues_take(queues, BT_WORK_SERVING_CERT, bt_clock_monotonic_ns());
	bool good = read_served(serve, before, out, out_error);

	bt_work_queues_end(queues, BT_WORK_SERVING_CERT, good, bt_clock_monotonic_ns());
	bt_auth_authorities(serve->auth, &out->authorities);
	return good;
}

/* Starts a round: everything is queued. */
static void add_work(const struct bt_serve *serve)
{
	struct bt_work_queues *queues = serve->options.sources.work_queues;
	int64_t now_ns = bt_clock_monotonic_ns();

	bt_auth_add_work(serve->auth, now_ns);
	bt_work_queues_add(queues, BT_WORK_SERVING_CERT, now_ns);
	bt_work_queues_add(queues, BT_WORK_SERVING, now_ns);
}

bool bt_serve_reload(struct bt_serve *serve)
{
	struct bt_work_queues *queues = serve->options.sources.work_queues;
	struct served_set served;
	struct bt_buf error = {0};
	bool by_files;

	bt_lock_acquire(&serve->lock);
	add_work(serve);
	bt_auth_reload(serve->auth, &by_files, &error);
	log_failure("The CA of client certificates cannot be read; the last one counts", &error);
	bt_buf_clear(&error);
	check_served(serve, &serve->served, &served, &error);
	bt_work_queues_take(queues, BT_WORK_SERVING, bt_clock_monotonic_ns());
	bool changed = serve_with(serve, &served, &error);

	bt_work_queues_end(queues, BT_WORK_SERVING, error.len == 0, bt_clock_monotonic_ns());
	log_failure("The certificate cannot be used; the last one counts", &error);
	if (changed) {
		bt_log(BT_LOG_INFO, 0, "Certificates have changed, and are served", NULL);
	}
	bt_lock_release(&serve->lock);
	served_fini(&served);
	bt_buf_fini(&error);
	return changed;
}

/* ---- begin and end ---- */

static void serve_keep(void *context)
{
	struct bt_serve *serve = context;
	struct pollfd end = {.fd = serve->end_fd, .events = POLLIN};
	int look_ms = (int)(serve->options.look_ns / 1000000);

	while (poll(&end, 1, look_ms > 0 ? look_ms : 1) <= 0) {
		bt_serve_reload(serve);
	}
}

static enum bt_status read_authorities(struct bt_serve *serve, struct bt_buf *out_error)
{
	struct bt_buf why = {0};
	enum bt_status status = BT_OK;
	bool by_files;

	if (bt_auth_reload(serve->auth, &by_files, &why) != BT_OK) {
		if (by_files || !serve->options.settings.tolerate_lookup_failure) {
			bt_buf_printf(out_error, "the CA of client certificates cannot be read: %s", why.ptr);
			status = BT_INVALID;
		} else {
			bt_log(BT_LOG_WARNING, 0,
				"The CA of client certificates cannot be looked up; client certificates are "
				"not looked at for now. Let the scheduler read ConfigMap "
				"extension-apiserver-authentication (Role "
				"extension-apiserver-authentication-reader)",
				bt_log_fields(bt_log_str("err", bt_buf_view(&why))));
		}
	}
	bt_buf_fini(&why);
	return status;
}

uint64_t bt_serve_raise_files(void)
{
	struct rlimit files = {0};

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		struct rlimit all = {files.rlim_max, files.rlim_max};

		files.rlim_cur = setrlimit(RLIMIT_NOFILE, &all) == 0 ? all.rlim_cur : files.rlim_cur;
	}
	return files.rlim_cur;
}

/* The scheduler needs descriptors for watches, bindings and files: half are for them. */
static struct bt_connection_limits limits_of(const struct bt_serve_options *options)
{
	struct bt_connection_limits limits = options->limits;
	struct rlimit files;

	if (!limits.connections && getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 1024) {
		limits.connections = files.rlim_cur > 16 ? (uint32_t)(files.rlim_cur / 2) : 8;
	}
	return limits;
}

static enum bt_status start_front(struct bt_serve *serve, struct bt_buf *out_error)
{
	struct bt_server_tls *tls = make_tls(serve, &serve->served, out_error);
	const struct bt_front_options options = {.listen_fd = serve->listen_fd,
		.limits = limits_of(&serve->options),
		.tls = tls,
		.is_prompt = is_prompt,
		.answer = answer,
		.context = serve};

	serve->front = tls ? bt_front_create(&options, out_error) : NULL;
	return serve->front ? BT_OK : BT_IO;
}

static enum bt_status serve_begin(struct bt_serve *serve, struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = &serve->options.settings;
	struct bt_work_queues *queues = serve->options.sources.work_queues;
	const struct served_set none = {0};
	enum bt_status status = bt_server_tls_priorities(settings, &serve->priorities, out_error);

	if (status == BT_OK) {
		add_work(serve);
		status = read_authorities(serve, out_error);
	}
	if (status == BT_OK) {
		status = check_served(serve, &none, &serve->served, out_error) ? BT_OK : BT_INVALID;
	}
	if (status == BT_OK) {
		serve->listen_fd = bt_listen(settings, serve->options.any_port, &serve->port, out_error);
		bt_work_queues_take(queues, BT_WORK_SERVING, bt_clock_monotonic_ns());
		status = serve->listen_fd < 0 ? BT_IO : start_front(serve, out_error);
		bt_work_queues_end(queues, BT_WORK_SERVING, status == BT_OK, bt_clock_monotonic_ns());
	}
	return status;
}

struct bt_serve *bt_serve_create(const struct bt_serve_options *options, struct bt_buf *out_error)
{
	struct bt_serve *serve = bt_mem_zalloc(1, sizeof(*serve));
	const struct bt_thread_options keeper = {.name = "serve"};

	serve->options = *options;
	serve->options.sources.tally = bt_health_tally_create();
	serve->options.sources.work_queues = bt_work_queues_create();
	serve->options.look_ns = options->look_ns ? options->look_ns : LOOK_NS;
	serve->listen_fd = -1;
	serve->end_fd = eventfd(0, EFD_CLOEXEC);
	bt_lock_init(&serve->lock);
	const struct bt_auth_options auth = {.settings = &serve->options.settings,
		.authentication = options->authentication,
		.authorization = options->authorization,
		.fetch = options->fetch,
		.clock = bt_clock_real(),
		.work_queues = serve->options.sources.work_queues};

	serve->auth = bt_auth_create(&auth);
	if (serve_begin(serve, out_error) == BT_OK &&
		(serve->options.look_ns == BT_FOREVER ||
			bt_thread_start(&keeper, serve_keep, serve, &serve->keeper, out_error) == BT_OK)) {
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
	bt_front_destroy(serve->front);
	if (serve->listen_fd >= 0) {
		close(serve->listen_fd);
	}
	close(serve->end_fd);
	bt_auth_destroy(serve->auth);
	bt_health_tally_destroy(serve->options.sources.tally);
	bt_work_queues_destroy(serve->options.sources.work_queues);
	served_fini(&serve->served);
	bt_server_tls_priorities_fini(&serve->priorities);
	bt_lock_fini(&serve->lock);
	bt_mem_free(serve);
}

uint16_t bt_serve_port(const struct bt_serve *serve)
{
	return serve->port;
}
