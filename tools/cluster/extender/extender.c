/* SPDX-License-Identifier: Apache-2.0
 * Calls of extenders. One client, and so one thread, for each extender, and one for the API server. The
 * caller waits; a binding is answered by a callback. owner: the caller, one thread at a time, unless noted.
 */
#include "tools/cluster/extender/extender.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/cluster/extender/objects_int.h"
#include "tools/cluster/extender/wire_int.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/net/latch.h"

struct http_extender {
	const struct bt_extender_config *config;   /* init: */
	struct bt_client_config *access;	   /* init: */
	struct bt_http *http;			   /* init: */
	_Atomic uint64_t call_n, error_n, wait_ns; /* atomic: relaxed */
	/* The call that is waited for, one at a time. Until over is open, the client's thread writes the
	 * rest. */
	struct bt_latch over;
	uint64_t waits_for; /* x->lock: the call; 0: none */
	int64_t began_ns;
	enum bt_http_end end;
	struct bt_http_head head;
	struct bt_buf answer, error;
};

struct bt_extenders {
	const struct bt_config *config; /* init: */
	struct http_extender *items;	/* init: in the configuration's order */
	uint32_t n;
	struct bt_http *api; /* init: */
	struct bt_objects *objects;
	struct bt_arena arena; /* names and answers of the calls of one request */
	struct bt_json *json;
	struct bt_buf body;
	struct bt_lock lock;
	bool closed; /* lock(lock): */
};

/* ---- texts ---- */

/* "http://host/path/verb" */
static void add_url(const struct bt_extender_config *config, struct bt_str verb, struct bt_buf *out)
{
	struct bt_str url = config->url_prefix;

	while (url.len && url.ptr[url.len - 1] == '/') {
		url.len--;
	}
	bt_buf_str(out, url);
	bt_buf_char(out, '/');
	bt_buf_str(out, verb);
}

/* The host and port of a URL. */
static struct bt_str authority_of(struct bt_str url)
{
	size_t from = bt_str_starts(url, "https://") ? 8 : bt_str_starts(url, "http://") ? 7 : 0;

	return bt_str_sub(url, from, bt_str_find(url, '/', from));
}

static void add_dial(const struct bt_extender_config *config, struct bt_buf *out)
{
	struct bt_str authority = authority_of(config->url_prefix);
	bool has_port = authority.len && authority.ptr[authority.len - 1] != ']' &&
			bt_str_find(authority, ':', 0) < authority.len;

	bt_buf_printf(out, "dial tcp %.*s%s: ", BT_STR_ARG(authority),
		has_port					? ""
		: bt_str_starts(config->url_prefix, "https://") ? ":443"
								: ":80");
}

/* The client's error without the URL, which the message already has, and without the remedy, which is about
 * API servers. */
static struct bt_str reason_of(struct bt_str error, size_t url_n)
{
	static const char post[] = "POST ";
	size_t from = sizeof(post) - 1 + url_n + 2, to = bt_str_find(error, ';', 0);

	from = bt_str_starts(error, post) && from < to ? from : 0;
	return bt_str_sub(error, from, to);
}

/* Why there was no answer, with the texts of Go's client where they are known. */
static void add_failure(const struct bt_extender_config *config, struct bt_str verb,
	const struct bt_http_head *head, struct bt_str error, struct bt_buf *out)
{
	if (head->status == 200) { /* the start of the answer was received */
		bt_buf_text(out,
			head->cause == BT_HTTP_CAUSE_TIMEOUT
				? "context deadline exceeded (Client.Timeout or context cancellation while "
				  "reading body)"
				: "unexpected EOF");
		return;
	}
	size_t at = out->len + strlen("Post \"");

	bt_buf_text(out, "Post \"");
	add_url(config, verb, out);
	const size_t url_n = out->len - at;

	bt_buf_text(out, "\": ");
	switch (head->cause) {
	case BT_HTTP_CAUSE_TIMEOUT:
		bt_buf_text(
			out, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
		break;
	case BT_HTTP_CAUSE_REFUSED:
		add_dial(config, out);
		bt_buf_text(out, "connect: connection refused");
		break;
	case BT_HTTP_CAUSE_NO_HOST: {
		struct bt_str host = authority_of(config->url_prefix);

		host.len = bt_str_find(host, ':', 0);
		bt_buf_printf(out, "dial tcp: lookup %.*s: no such host", BT_STR_ARG(host));
		break;
	}
	case BT_HTTP_CAUSE_CLOSED:
		bt_buf_text(out, "EOF");
		break;
	case BT_HTTP_CAUSE_OTHER:
		bt_buf_str(out, reason_of(error, url_n));
		break;
	}
}

/* Whether the answer has a body to read. */
static bool is_good(const struct bt_extender_config *config, struct bt_str verb, enum bt_http_end end,
	const struct bt_http_head *head, struct bt_str error, struct bt_buf *out_error)
{
	if (end != BT_HTTP_ANSWERED) {
		add_failure(config, verb, head, error, out_error);
		return false;
	}
	if (head->status != 200) {
		bt_buf_printf(out_error, "failed %.*s with extender at URL ", BT_STR_ARG(verb));
		add_url(config, verb, out_error);
		bt_buf_printf(out_error, ", code %u", head->status);
		return false;
	}
	return true;
}

/* Logs the error of an ignorable extender, which the caller does not see. */
static void note_ignored(
	const struct bt_extender_config *config, const char *what, int verbosity, struct bt_str why)
{
	if (config->ignorable) {
		bt_log(BT_LOG_INFO, verbosity, what,
			bt_log_fields(bt_log_str("extender", config->url_prefix), bt_log_str("err", why)));
	}
}

/* ---- a call that is waited for ---- */

/* Context: the client's thread. */
static void answered(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct http_extender *e = context;

	e->end = end;
	e->head = *head;
	bt_buf_clear(&e->answer);
	bt_buf_str(&e->answer, body);
	bt_buf_clear(&e->error);
	bt_buf_str(&e->error, error);
	bt_latch_open(&e->over);
}

static struct bt_http_call post(
	const struct bt_extender_config *config, struct bt_str path, struct bt_str body)
{
	return (struct bt_http_call){.method = BT_HTTP_POST,
		.path = path,
		.content_type = bt_str("application/json"),
		.body = body,
		.timeout_ns = config->http_timeout_ns};
}

/* Sends x->body; take_answer must follow. */
static void send(struct bt_extenders *x, struct http_extender *e, struct bt_str verb)
{
	struct bt_buf path = {.len = 0};

	e->began_ns = bt_clock_monotonic_ns();
	bt_buf_char(&path, '/');
	bt_buf_str(&path, verb);
	struct bt_http_call call = post(e->config, bt_buf_view(&path), bt_buf_view(&x->body));

	call.done = answered;
	call.context = e;
	bt_latch_init(&e->over);
	bt_lock_acquire(&x->lock);
	e->waits_for = x->closed ? 0 : bt_http_send(e->http, &call);
	bt_lock_release(&x->lock);
	bt_buf_fini(&path);
}

/* Waits for the answer. Returns: whether e->answer is valid; else e->error has the reason. */
static bool take_answer(struct bt_extenders *x, struct http_extender *e, struct bt_str verb)
{
	struct bt_buf why = {.len = 0};
	bool good = false;

	if (e->waits_for) {
		bt_latch_wait(&e->over, BT_EVENTCOUNT_FOREVER);
		bt_lock_acquire(&x->lock);
		e->waits_for = 0;
		bt_lock_release(&x->lock);
		good = is_good(e->config, verb, e->end, &e->head, bt_buf_view(&e->error), &why);
	} else {
		bt_buf_text(&why, "the scheduler ends");
	}
	bt_latch_fini(&e->over);
	bt_buf_fini(&e->error);
	e->error = why;
	bt_add_relaxed(&e->call_n, UINT64_C(1));
	bt_add_relaxed(&e->wait_ns, (uint64_t)(bt_clock_monotonic_ns() - e->began_ns));
	return good;
}

static bool make_call(struct bt_extenders *x, struct http_extender *e, struct bt_str verb)
{
	send(x, e, verb);
	return take_answer(x, e, verb);
}

static void failed(struct http_extender *e, struct bt_extender_reply *reply)
{
	bt_add_relaxed(&e->error_n, UINT64_C(1));
	bt_extender_fail(reply, bt_buf_view(&e->error));
}

/* ---- the engine's requests ---- */

static struct http_extender *extender_of(struct bt_extenders *x, const struct bt_extender_config *config)
{
	return &x->items[config - x->config->extenders];
}

static struct bt_str name_of(const struct bt_extender_call *call, uint32_t name)
{
	return bt_intern_str(call->cache->dictionary->intern, name);
}

static struct bt_str node_name(const struct bt_extender_call *call, uint32_t node_ix)
{
	return name_of(call, call->cache->view.snapshot->nodes[node_ix].name);
}

static struct bt_pod_ref pod_ref(const struct bt_extender_call *call, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(call->cache->ledger, pod_ix);

	return (struct bt_pod_ref){
		name_of(call, pod->signature->namespace_), name_of(call, pod->name), name_of(call, pod->uid)};
}

/* Begins a call; what the extender's last call returned becomes invalid. */
static struct http_extender *extender_begin(struct bt_extenders *x, const struct bt_extender_call *call)
{
	struct http_extender *e = extender_of(x, call->extender);

	bt_buf_clear(&x->body);
	bt_buf_clear(&e->error);
	return e;
}

/* ExtenderArgs into x->body. */
static bool write_args(struct bt_extenders *x, struct http_extender *e, const struct bt_extender_call *call)
{
	const struct bt_pod_ref pod = pod_ref(call, call->pod_ix);
	struct bt_str *names = bt_arena_zalloc(&x->arena, (call->node_n + 1) * sizeof(*names));
	const struct bt_str *texts, *nodes = names;

	for (uint32_t i = 0; i < call->node_n; i++) {
		names[i] = node_name(call, call->nodes[i]);
	}
	if (!bt_objects_pods(x->objects, &pod, 1, &texts, &e->error)) {
		return false;
	}
	const struct bt_str text = texts[0];

	if (!call->extender->node_cache_capable &&
		!bt_objects_nodes(x->objects, names, call->node_n, &nodes, &e->error)) {
		return false;
	}
	bt_wire_args(text, nodes, call->node_n, call->extender->node_cache_capable, &x->body);
	return true;
}

static void extender_filter(
	void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	struct bt_extenders *x = context;
	struct http_extender *e = extender_begin(x, call);
	struct bt_wire wire = {x->json, &x->arena};

	bt_arena_reset(&x->arena);
	if (!write_args(x, e, call) || !make_call(x, e, call->extender->filter_verb) ||
		!bt_wire_filter_result(&wire, bt_buf_view(&e->answer), call->extender->node_cache_capable,
			reply, &e->error)) {
		failed(e, reply);
		note_ignored(call->extender,
			"Skipping extender as it returned error and has ignorable flag set", 0,
			bt_buf_view(&e->error));
	}
}

static void take_points(
	struct bt_extenders *x, struct http_extender *e, bool sent, struct bt_extender_reply *reply)
{
	struct bt_wire wire = {x->json, &x->arena};

	if (!sent || !take_answer(x, e, e->config->prioritize_verb) ||
		!bt_wire_priorities(&wire, bt_buf_view(&e->answer), reply, &e->error)) {
		failed(e, reply);
		bt_log(BT_LOG_INFO, 5,
			"Failed to run extender's priority function. No score given by this extender.",
			bt_log_fields(bt_log_str("error", bt_buf_view(&e->error)),
				bt_log_str("extender", e->config->url_prefix)));
	}
}

/* All calls are sent before the first answer is waited for. */
static void prioritize(void *context, const struct bt_extender_call *calls, uint32_t n,
	struct bt_extender_reply *const *replies)
{
	struct bt_extenders *x = context;

	bt_arena_reset(&x->arena);
	bool *sent = bt_arena_zalloc(&x->arena, n * sizeof(*sent));

	for (uint32_t i = 0; i < n; i++) {
		struct http_extender *e = extender_begin(x, &calls[i]);

		sent[i] = write_args(x, e, &calls[i]);
		if (sent[i]) {
			send(x, e, e->config->prioritize_verb);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		take_points(x, extender_of(x, calls[i].extender), sent[i], replies[i]);
	}
}

/* The victims of all candidates, concatenated: UIDs, or pods as JSON. The pod itself comes first. */
static const struct bt_str *victim_texts(struct bt_extenders *x, struct http_extender *e,
	const struct bt_extender_call *call, uint32_t victim_n, struct bt_str *out_pod)
{
	bool by_uid = call->extender->node_cache_capable;
	struct bt_pod_ref *pods = bt_arena_zalloc(&x->arena, (victim_n + 1) * sizeof(*pods));
	struct bt_str *victims = bt_arena_zalloc(&x->arena, (victim_n + 1) * sizeof(*victims));
	const struct bt_str *texts;
	uint32_t n = 0;

	pods[n++] = pod_ref(call, call->pod_ix);
	for (uint32_t c = 0; c < call->candidate_n; c++) {
		const struct bt_preempt_candidate *candidate = &call->candidates[c];

		for (uint32_t i = 0; i < candidate->cost.victim_n; i++) {
			pods[n++] = pod_ref(call, call->victims[candidate->first_victim + i].pod_ix);
		}
	}
	if (!bt_objects_pods(x->objects, pods, by_uid ? 1 : n, &texts, &e->error)) {
		return NULL;
	}
	*out_pod = texts[0];
	for (uint32_t i = 1; i < n; i++) {
		victims[i - 1] = by_uid ? pods[i].uid : texts[i];
	}
	return victims;
}

static int by_node(const void *a, const void *b)
{
	const struct bt_wire_candidate *one = a, *other = b;

	return bt_str_cmp(one->node, other->node);
}

/* ExtenderPreemptionArgs into x->body; sorted by node name, as Go writes maps. */
static bool write_preempt_args(
	struct bt_extenders *x, struct http_extender *e, const struct bt_extender_call *call)
{
	struct bt_wire_candidate *candidates =
		bt_arena_zalloc(&x->arena, (call->candidate_n + 1) * sizeof(*candidates));
	uint32_t victim_n = 0;
	struct bt_str pod;

	for (uint32_t c = 0; c < call->candidate_n; c++) {
		victim_n += call->candidates[c].cost.victim_n;
	}
	const struct bt_str *victims = victim_texts(x, e, call, victim_n, &pod);

	if (!victims) {
		return false;
	}
	for (uint32_t c = 0; c < call->candidate_n; c++) {
		const struct bt_preempt_candidate *candidate = &call->candidates[c];

		candidates[c] = (struct bt_wire_candidate){node_name(call, candidate->node_ix), victims,
			candidate->cost.victim_n, candidate->cost.violation_n};
		victims += candidate->cost.victim_n;
	}
	qsort(candidates, call->candidate_n, sizeof(*candidates), by_node);
	bt_wire_preempt_args(
		pod, candidates, call->candidate_n, call->extender->node_cache_capable, &x->body);
	return true;
}

static void preempt(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	struct bt_extenders *x = context;
	struct http_extender *e = extender_begin(x, call);
	struct bt_wire wire = {x->json, &x->arena};

	bt_arena_reset(&x->arena);
	if (!write_preempt_args(x, e, call) || !make_call(x, e, call->extender->preempt_verb) ||
		!bt_wire_preempt_result(&wire, bt_buf_view(&e->answer), reply, &e->error)) {
		failed(e, reply);
		note_ignored(call->extender,
			"Skipped extender as it returned error and has ignorable flag set", 2,
			bt_buf_view(&e->error));
	}
}

struct bt_extender_hooks bt_extenders_hooks(struct bt_extenders *x)
{
	return (struct bt_extender_hooks){
		.filter = extender_filter, .prioritize = prioritize, .preempt = preempt, .context = x};
}

/* ---- bindings ---- */

struct binding {
	struct http_extender *extender;
	void (*done)(void *context, enum bt_extender_end end, struct bt_str error);
	void *context;
};

/* Context: the client's thread. */
static void bind_answered(void *context, enum bt_http_end end, const struct bt_http_head *head,
	struct bt_str body, struct bt_str error)
{
	struct binding *binding = context;
	struct http_extender *e = binding->extender;
	struct bt_arena arena = {.first = NULL};
	struct bt_wire wire = {bt_json_create(), &arena};
	struct bt_buf why = {.len = 0};
	enum bt_extender_end how = BT_EXTENDER_FAILED;

	if (is_good(e->config, e->config->bind_verb, end, head, error, &why)) {
		how = bt_wire_binding_result(&wire, body, &why) ? BT_EXTENDER_BOUND : BT_EXTENDER_FAILED;
	} else if (end == BT_HTTP_LOST || end == BT_HTTP_CANCELLED) {
		how = BT_EXTENDER_LOST;
	}
	if (how != BT_EXTENDER_BOUND) {
		bt_add_relaxed(&e->error_n, UINT64_C(1));
		note_ignored(e->config,
			"Skipping extender in bind as it returned error and has ignorable flag set", 0,
			bt_buf_view(&why));
	}
	binding->done(binding->context, how, bt_buf_view(&why));
	bt_buf_fini(&why);
	bt_json_destroy(wire.json);
	bt_arena_fini(&arena);
	bt_mem_free(binding);
}

void bt_extenders_bind(struct bt_extenders *x, const struct bt_extender_config *config,
	const struct bt_pod_ref *pod, struct bt_str node,
	void (*done)(void *context, enum bt_extender_end end, struct bt_str error), void *context)
{
	struct http_extender *e = extender_of(x, config);
	struct binding *binding = bt_mem_zalloc(1, sizeof(*binding));
	struct bt_buf path = {.len = 0}, body = {.len = 0};

	*binding = (struct binding){e, done, context};
	bt_buf_char(&path, '/');
	bt_buf_str(&path, config->bind_verb);
	bt_wire_binding_args(pod, node, &body);
	struct bt_http_call call = post(config, bt_buf_view(&path), bt_buf_view(&body));

	call.done = bind_answered;
	call.context = binding;
	bt_add_relaxed(&e->call_n, UINT64_C(1));
	bt_http_send(e->http, &call);
	bt_buf_fini(&path);
	bt_buf_fini(&body);
}

/* ---- watch events ---- */

static void on_watch_event(void *context, enum bt_watch_event_kind what, const struct bt_object *object)
{
	const struct bt_extenders *x = context;

	bt_objects_update(x->objects, what, object);
}

struct bt_watch_listener bt_extenders_listener(struct bt_extenders *x)
{
	return (struct bt_watch_listener){.event = on_watch_event, .context = x};
}

/* ---- create and destroy ---- */

/* Source: makeTransport, v1.36.3. */
static bool open_extender(
	struct http_extender *e, const struct bt_extender_config *config, struct bt_buf *out_error)
{
	const struct bt_extender_tls *tls = &config->tls;
	struct bt_client_config_target target = {
		.url = config->url_prefix,
		.server_name = tls->server_name,
		.authority = tls->ca_data,
		.certificate = tls->cert_data,
		.key = tls->key_data,
		.authority_file = tls->ca_file,
		.certificate_file = tls->cert_file,
		.key_file = tls->key_file,
		.insecure = tls->insecure,
	};

	target.insecure |= config->enable_https && !tls->ca_data.len && !tls->ca_file.len;
	e->config = config;
	if (!bt_str_starts(config->url_prefix, "http://") && !bt_str_starts(config->url_prefix, "https://")) {
		bt_buf_printf(out_error, "extender %.*s: urlPrefix must begin with http:// or https://",
			BT_STR_ARG(config->url_prefix));
		return false;
	}
	e->access = bt_client_config_create_for(&target, out_error);
	if (!e->access) {
		return false;
	}
	e->http = bt_http_create(
		&(struct bt_http_options){
			.access = e->access, .name = "extender", .body_max_bytes = BT_HTTP_LIST_MAX},
		out_error);
	return e->http != NULL;
}

struct bt_extenders *bt_extenders_create(
	const struct bt_config *config, const struct bt_client_config *access, struct bt_buf *out_error)
{
	if (!config->extender_n) {
		return NULL;
	}
	struct bt_extenders *x = bt_mem_zalloc(1, sizeof(*x));
	bool good = true;

	x->config = config;
	x->items = bt_mem_zalloc(config->extender_n, sizeof(*x->items));
	x->json = bt_json_create();
	bt_lock_init(&x->lock);
	for (uint32_t i = 0; i < config->extender_n && good; i++) {
		x->n++;
		good = open_extender(&x->items[i], &config->extenders[i], out_error);
	}
	if (good) {
		x->api = bt_http_create(
			&(struct bt_http_options){
				.access = access, .name = "objects", .body_max_bytes = BT_HTTP_LIST_MAX},
			out_error);
		good = x->api != NULL;
	}
	if (!good) {
		bt_extenders_destroy(x);
		return NULL;
	}
	x->objects = bt_objects_create(x->api);
	return x;
}

void bt_extenders_close(struct bt_extenders *x)
{
	bt_lock_acquire(&x->lock);
	x->closed = true;
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->items[i].waits_for) {
			bt_http_cancel(x->items[i].http, x->items[i].waits_for);
		}
	}
	bt_lock_release(&x->lock);
}

void bt_extenders_destroy(struct bt_extenders *x)
{
	if (!x) {
		return;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		bt_http_destroy(x->items[i].http);
		bt_client_config_destroy(x->items[i].access);
		bt_buf_fini(&x->items[i].answer);
		bt_buf_fini(&x->items[i].error);
	}
	bt_http_destroy(x->api);
	bt_objects_destroy(x->objects);
	bt_json_destroy(x->json);
	bt_arena_fini(&x->arena);
	bt_buf_fini(&x->body);
	bt_lock_fini(&x->lock);
	bt_mem_free(x->items);
	bt_mem_free(x);
}

uint32_t bt_extenders_counts(const struct bt_extenders *x, struct bt_extender_counts *out, uint32_t cap)
{
	for (uint32_t i = 0; i < x->n && i < cap; i++) {
		out[i] = (struct bt_extender_counts){.url = x->items[i].config->url_prefix,
			.call_n = bt_load_relaxed(&x->items[i].call_n),
			.error_n = bt_load_relaxed(&x->items[i].error_n),
			.wait_ns = bt_load_relaxed(&x->items[i].wait_ns)};
	}
	return x->n;
}
