/* SPDX-License-Identifier: Apache-2.0
 * The reflector of one kind. Every entry point (a callback, a timer) records what has happened and calls
 * run(), which acts on all of it; a call within run() makes it repeat.
 */
#include <stdio.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/net/escape.h"
#include "tools/cluster/watch/intake_int.h"

#define NS_PER_S INT64_C(1000000000)

/* The minimal duration of a watch; up to twice that at random. */
#define WATCH_S 300u
/* Limits for a list, and for a watch beyond its duration. */
#define LIST_NS	 (600 * NS_PER_S)
#define GRACE_NS (60 * NS_PER_S)
/* How soon the pipeline is tried again when it had no room. */
#define RETRY_NS (NS_PER_S / 1000)
/* How often a missing kind is requested. */
#define ABSENT_NS (300 * NS_PER_S)
/* How often the same is logged. */
#define REPEAT_NS (60 * NS_PER_S)
/* Limit of an error's body. */
#define BODY_BYTES ((size_t)64 << 10)

#define PROTO_TYPE "application/vnd.kubernetes.protobuf"
#define JSON_TYPE  "application/json"

static void run(struct bt_reflector *r);

/* ---- errors ---- */

void bt_reflector_note(struct bt_reflector *r, const char *what, struct bt_str why)
{
	int64_t now = bt_clock_monotonic_ns();
	char text[sizeof(r->error)] = "";

	if (what) {
		bt_add_owned(&r->error_n, 1u);
		snprintf(text, sizeof(text), "%s%s%.*s", what, why.len ? ": " : "", BT_STR_ARG(why));
	}
	bool same = what ? strncmp(r->error, what, strlen(what)) == 0 : !r->error[0];
	if (strcmp(text, r->error) != 0) {
		bt_lock_acquire(&r->lock);
		memcpy(r->error, text, sizeof(r->error));
		bt_lock_release(&r->lock);
	}
	if (!what && !same) {
		bt_log(BT_LOG_INFO, 0, "Listing and watching works again",
			bt_log_fields(bt_log_str("type", bt_str(r->kind->name))));
	} else if (what && (!same || now - r->error_logged_ns > REPEAT_NS)) {
		r->error_logged_ns = now;
		bt_log(BT_LOG_ERROR, 0, what,
			bt_log_fields(bt_log_str("type", bt_str(r->kind->name)), bt_log_str("err", why)));
	}
}

/* ---- timers ---- */

void bt_reflector_log(const struct bt_reflector *r, int verbosity, const char *what, struct bt_str why)
{
	struct bt_log_field type = bt_log_str("type", bt_str(r->kind->name));

	bt_log(BT_LOG_INFO, verbosity, what,
		why.len ? bt_log_fields(type, bt_log_str("err", why)) : bt_log_fields(type));
}

static void end_delay(void *context)
{
	struct bt_reflector *r = context;

	r->is_delayed = false;
	run(r);
}

static void rest(struct bt_reflector *r, int64_t delay_ns)
{
	r->state = BT_REFLECTOR_IDLE;
	r->is_delayed = true;
	bt_http_after(r->shared->http, delay_ns, end_delay, r);
}

/* Waits for the backoff's delay, or longer when the server requires it. */
static void back_off(struct bt_reflector *r)
{
	int64_t delay_ns = bt_watch_backoff_delay_ns(&r->backoff, bt_clock_monotonic_ns(), &r->shared->rng);

	rest(r, delay_ns > r->head.retry_after_ns ? delay_ns : r->head.retry_after_ns);
}

static void retry(void *context)
{
	struct bt_reflector *r = context;

	r->retries = false;
	run(r);
}

/* ---- calls ---- */

static void on_head(void *context, const struct bt_http_head *head)
{
	struct bt_reflector *r = context;
	bool is_list = r->state == BT_REFLECTOR_LIST;

	r->head = *head;
	if (head->status != 200) {
		return;
	}
	r->is_proto = bt_str_starts(head->content_type, PROTO_TYPE);
	bool readable =
		r->is_proto ? bt_proto_knows(r->kind->kind) : bt_str_starts(head->content_type, JSON_TYPE);
	if (!readable) {
		r->fate = BT_FATE_FAILED;
		bt_reflector_note(
			r, "The server answers in a format that was not requested", head->content_type);
		run(r);
		return;
	}
	r->answered = true;
	bt_stream_begin(&r->stream, r->is_proto ? (is_list ? BT_STREAM_PROTO_LIST : BT_STREAM_PROTO_WATCH)
						: (is_list ? BT_STREAM_JSON_LIST : BT_STREAM_JSON_WATCH));
	if (r->state == BT_REFLECTOR_WATCH) {
		bt_reflector_note(r, NULL, (struct bt_str){0});
	}
}

/* The meaning of an error answer. */
static enum bt_watch_fate judge_status(struct bt_reflector *r, char *what, size_t cap)
{
	struct bt_str body = bt_buf_view(&r->body);
	struct bt_proto_unknown unknown;
	struct bt_proto_error error;
	struct bt_proto_status status = {0};
	bool is_proto = bt_proto_open(body, &unknown, &error);

	if (!bt_watch_frame_status(&r->shared->reader, is_proto, is_proto ? unknown.raw : body, &status)) {
		status = (struct bt_proto_status){.message = body};
	}
	enum bt_watch_fate fate = bt_intake_fate((int32_t)r->head.status, status.reason, status.message);
	if (r->head.status == 401) {
		snprintf(what, cap,
			"The server does not accept the credentials to list and watch %s: has the token or "
			"the "
			"client certificate expired, or is it another cluster's?",
			r->kind->resource);
	} else if (fate == BT_FATE_DENIED) {
		snprintf(what, cap,
			"Not allowed to list and watch %s: grant both verbs on them in API group \"%s\"",
			r->kind->resource, r->kind->group);
	} else {
		snprintf(what, cap, "Cannot list and watch %s (HTTP status %u)", r->kind->resource,
			r->head.status);
	}
	bool silent = fate == BT_FATE_EXPIRED || (fate == BT_FATE_ABSENT && r->kind->optional) ||
		      (fate == BT_FATE_REFUSED && r->state == BT_REFLECTOR_STREAM);
	if (!silent) {
		bt_reflector_note(r, what, status.message);
	} else if (fate == BT_FATE_EXPIRED) {
		bt_reflector_log(r, 4, "Watch closed", status.message);
	} else if (fate == BT_FATE_REFUSED) {
		bt_reflector_log(r, 4,
			"Data couldn't be fetched in watchlist mode. Falling back to regular list. This is "
			"expected if "
			"watchlist is not supported or disabled in kube-apiserver.",
			status.message);
	}
	return fate;
}

/* The start of an error's body has the message; reads no more than that. */
static void take_error(struct bt_reflector *r, const char *bytes, size_t n)
{
	char what[224];

	if (r->body.len < BODY_BYTES) {
		bt_buf_add(&r->body, bytes, n < BODY_BYTES - r->body.len ? n : BODY_BYTES - r->body.len);
	}
	if (r->body.len == BODY_BYTES && r->fate == BT_FATE_NONE) {
		r->fate = judge_status(r, what, sizeof(what));
		run(r);
	}
}

static bool on_data(void *context, const char *bytes, size_t n)
{
	struct bt_reflector *r = context;

	bt_add_owned(&r->byte_n, n);
	if (r->answered) {
		bt_stream_add(&r->stream, bytes, n);
		run(r);
	} else {
		take_error(r, bytes, n);
	}
	return r->busy || r->fate == BT_FATE_NONE;
}

static void on_done(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct bt_reflector *r = context;

	(void)head;
	(void)body;
	r->ended = true;
	r->end = end;
	if (end != BT_HTTP_ANSWERED) {
		bt_reflector_set(&r->body, error);
	}
	run(r);
}

static void add_version(struct bt_buf *out, struct bt_str version)
{
	if (version.len) {
		bt_buf_text(out, "&resourceVersion=");
		bt_escape(out, version);
	}
}

static void send(struct bt_reflector *r, struct bt_buf *path, int64_t timeout_ns)
{
	struct bt_reflectors *shared = r->shared;
	bool proto = bt_proto_knows(r->kind->kind) && !shared->json;

	if (r->kind->kind == BT_KIND_POD) {
		bt_buf_text(path, "&fieldSelector=" BT_WATCH_ALIVE);
	}
	r->answered = r->ended = r->cancelled = r->paused = false;
	r->fate = BT_FATE_NONE;
	r->head = (struct bt_http_head){.retry_after_ns = -1};
	r->began_ns = bt_clock_monotonic_ns();
	bt_buf_clear(&r->body);
	r->call = bt_http_send(
		shared->http, &(struct bt_http_call){.path = bt_buf_view(path),
				      .accept = bt_str(proto ? PROTO_TYPE "," JSON_TYPE : JSON_TYPE),
				      .timeout_ns = timeout_ns,
				      .head = on_head,
				      .data = on_data,
				      .done = on_done,
				      .context = r});
	bt_buf_fini(path);
}

static const char *path_of(const struct bt_reflector *r)
{
	return r->kind->versions[r->version_ix].path;
}

/* The minimal version of a list; "" for the latest. */
static struct bt_str base_version(const struct bt_reflector *r, const char *at_first)
{
	return r->unavailable	? (struct bt_str){0}
	       : r->version.len ? bt_buf_view(&r->version)
				: bt_str(at_first);
}

/* Pages only for lists that do not come from the server's watch cache. */
static void send_page(struct bt_reflector *r)
{
	struct bt_str version = base_version(r, "0");
	bool paged = !r->unpaged && (!version.len || bt_str_is(version, "0"));
	struct bt_buf path = {0};

	r->state = BT_REFLECTOR_LIST;
	bt_buf_printf(&path, "%s?", path_of(r));
	if (r->continue_.len) {
		bt_buf_printf(&path, "limit=%u&continue=", r->shared->page);
		bt_escape(&path, bt_buf_view(&r->continue_));
	} else {
		bt_buf_printf(&path, "limit=%u", paged ? r->shared->page : 0);
		add_version(&path, version);
	}
	send(r, &path, LIST_NS);
}

static int64_t add_watch(struct bt_reflector *r, struct bt_buf *path)
{
	uint32_t s = WATCH_S + bt_rng_below(&r->shared->rng, WATCH_S);

	bt_buf_printf(path, "%s?watch=true&allowWatchBookmarks=true&timeoutSeconds=%u", path_of(r), s);
	return s * NS_PER_S + GRACE_NS;
}

static void send_stream(struct bt_reflector *r)
{
	struct bt_buf path = {0};
	int64_t timeout_ns = add_watch(r, &path);

	r->state = BT_REFLECTOR_STREAM;
	bt_buf_text(&path, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
	add_version(&path, base_version(r, ""));
	send(r, &path, timeout_ns);
}

static void send_watch(struct bt_reflector *r)
{
	struct bt_buf path = {0};
	int64_t timeout_ns = add_watch(r, &path);

	r->state = BT_REFLECTOR_WATCH;
	r->call_event_n = 0;
	bt_add_owned(&r->watch_n, 1u);
	add_version(&path, bt_buf_view(&r->version));
	send(r, &path, timeout_ns);
}

/* Starts the next call when none is in flight. */
static void reflector_begin(struct bt_reflector *r)
{
	if (r->version.len && !r->wants_list) {
		send_watch(r);
		return;
	}
	bt_reflector_log(r, 3, "Listing and watching", (struct bt_str){0});
	bt_lock_acquire(&r->lock);
	bt_store_begin_list(r->known);
	bt_lock_release(&r->lock);
	bt_buf_clear(&r->continue_);
	if (r->shared->stream && !r->plain && !r->plain_once) {
		send_stream(r);
	} else {
		send_page(r);
	}
}

/* ---- ends of calls ---- */

static bool has_lasted(const struct bt_reflector *r)
{
	return bt_clock_monotonic_ns() - r->began_ns >= NS_PER_S;
}

/* Whether the watch had an event, or lasted. Then the next starts immediately, however it ended. */
static bool was_good_watch(const struct bt_reflector *r)
{
	return r->state == BT_REFLECTOR_WATCH && r->answered && (r->call_event_n || has_lasted(r));
}

static enum bt_watch_fate judge(struct bt_reflector *r)
{
	char what[224];

	if (r->fate != BT_FATE_NONE) {
		return r->fate;
	}
	if (r->end != BT_HTTP_ANSWERED && was_good_watch(r)) {
		bt_reflector_log(r, 1, "Watch closed with unexpected EOF", bt_buf_view(&r->body));
		return BT_FATE_ENDED;
	}
	if (r->end != BT_HTTP_ANSWERED) {
		snprintf(what, sizeof(what), "The server cannot be reached to list and watch %s",
			r->kind->resource);
		bt_reflector_note(r, what, bt_buf_view(&r->body));
		return BT_FATE_LOST;
	}
	if (r->head.status != 200) {
		return judge_status(r, what, sizeof(what));
	}
	if (r->state == BT_REFLECTOR_WATCH) {
		return BT_FATE_ENDED;
	}
	if (r->state == BT_REFLECTOR_LIST && bt_stream_is_whole(&r->stream)) {
		return BT_FATE_WHOLE;
	}
	bt_reflector_note(r, "A list has ended too early", (struct bt_str){0});
	return BT_FATE_FAILED;
}

static void on_whole(struct bt_reflector *r)
{
	if (r->continue_.len) {
		send_page(r);
		return;
	}
	struct bt_buf version = r->list_version;

	r->list_version = (struct bt_buf){0};
	r->state = BT_REFLECTOR_IDLE;
	bt_intake_sweep(r, bt_buf_view(&version));
	bt_buf_fini(&version);
}

/* A watch that ends at once, again and again, must not become a busy loop. */
static void on_ended(struct bt_reflector *r)
{
	bt_log(BT_LOG_INFO, 4, "Watch close",
		bt_log_fields(bt_log_str("type", bt_str(r->kind->name)),
			bt_log_int("totalItems", (int64_t)r->call_event_n)));
	if (was_good_watch(r)) {
		r->expired_n = 0;
		r->state = BT_REFLECTOR_IDLE;
	} else {
		bt_reflector_note(r, "A watch has ended at once, without an event", (struct bt_str){0});
		back_off(r);
	}
}

static void on_expired(struct bt_reflector *r)
{
	bool later = false;

	if (r->state == BT_REFLECTOR_WATCH) {
		r->expired_n = has_lasted(r) ? 0 : r->expired_n + 1;
		later = r->expired_n > 1;
	} else if (r->state == BT_REFLECTOR_LIST && r->continue_.len) {
		later = r->unpaged;
		r->unpaged = true;
	} else {
		later = r->unavailable;
		r->unavailable = true;
	}
	r->wants_list = true;
	r->state = BT_REFLECTOR_IDLE;
	if (later) {
		bt_reflector_note(
			r, "The server has forgotten the version to begin at, again", (struct bt_str){0});
		back_off(r);
	}
}

/* Logged at each attempt; kept as the reflector's error until the kind exists. */
static void warn_absent(struct bt_reflector *r)
{
	char what[sizeof(r->error)];
	size_t n = (size_t)snprintf(what, sizeof(what), "The server has no %s", r->kind->resource);

	for (uint32_t i = 0; i < BT_KIND_VERSIONS && r->kind->versions[i].path && n < sizeof(what); i++) {
		n += (size_t)snprintf(what + n, sizeof(what) - n, "%s %s", i ? "," : " of",
			r->kind->versions[i].api_version);
	}
	bt_log(BT_LOG_WARNING, 0, what,
		bt_log_fields(bt_log_str("type", bt_str(r->kind->name)),
			bt_log_str("without", bt_str(r->kind->without)),
			bt_log_int("againInSeconds", ABSENT_NS / NS_PER_S)));
	bt_lock_acquire(&r->lock);
	memset(r->error, 0, sizeof(r->error));
	snprintf(r->error, sizeof(r->error), "%s", what);
	bt_lock_release(&r->lock);
}

/* A server may have the kind in another version of its group, or not at all. */
static void on_absent(struct bt_reflector *r)
{
	if (!r->kind->optional || bt_load_relaxed(&r->object_n)) {
		back_off(r);
		return;
	}
	r->state = BT_REFLECTOR_IDLE;
	if (r->version_ix + 1 < BT_KIND_VERSIONS && r->kind->versions[r->version_ix + 1].path) {
		r->version_ix++;
		return;
	}
	r->version_ix = 0;
	warn_absent(r);
	bt_intake_sync(r);
	rest(r, ABSENT_NS);
}

static void on_refused(struct bt_reflector *r)
{
	if (r->state == BT_REFLECTOR_STREAM) {
		r->plain = true;
		r->state = BT_REFLECTOR_IDLE;
		return;
	}
	r->wants_list = true;
	back_off(r);
}

static void choose_transition(struct bt_reflector *r)
{
	enum bt_watch_fate fate = judge(r);

	r->call = 0;
	switch (fate) {
	case BT_FATE_WHOLE:
		on_whole(r);
		break;
	case BT_FATE_ENDED:
		on_ended(r);
		break;
	case BT_FATE_EXPIRED:
		on_expired(r);
		break;
	case BT_FATE_ABSENT:
		on_absent(r);
		break;
	case BT_FATE_REFUSED:
		on_refused(r);
		break;
	case BT_FATE_RELIST:
		r->wants_list = true;
		r->state = BT_REFLECTOR_IDLE;
		break;
	case BT_FATE_AHEAD:
		r->unavailable = r->wants_list = true;
		back_off(r);
		break;
	case BT_FATE_GARBLED:
		r->wants_list = true;
		r->plain_once |= r->state == BT_REFLECTOR_STREAM;
		back_off(r);
		break;
	case BT_FATE_NONE:
	case BT_FATE_THROTTLED:
	case BT_FATE_DENIED:
	case BT_FATE_FAILED:
	case BT_FATE_LOST:
		r->plain_once |= fate == BT_FATE_FAILED && r->state == BT_REFLECTOR_STREAM;
		back_off(r);
		break;
	}
	/* The call's state is obsolete, unless the next call has started. */
	if (!r->call) {
		r->answered = false;
		r->fate = BT_FATE_NONE;
	}
}

/* ---- run ---- */

static void run_once(struct bt_reflector *r)
{
	struct bt_http *http = r->shared->http;

	bt_intake(r);
	if (r->queue.n && !r->retries) {
		r->retries = true;
		bt_http_after(http, RETRY_NS, retry, r);
	}
	bool runs = r->call && !r->ended;
	if (bt_intake_is_blocked(r)) {
		if (runs && !r->paused) {
			r->paused = true;
			bt_http_pause(http, r->call, true);
		}
		return;
	}
	if (runs && r->paused) {
		r->paused = false;
		bt_http_pause(http, r->call, false);
	}
	if (runs) {
		if (r->fate != BT_FATE_NONE && !r->cancelled) {
			r->cancelled = true;
			bt_http_cancel(http, r->call);
		}
	} else if (r->call) {
		choose_transition(r);
		r->again = true;
	} else if (!r->is_delayed && !r->sweeping) {
		reflector_begin(r);
	}
}

static void run(struct bt_reflector *r)
{
	if (bt_load_acquire(&r->shared->closing)) {
		return;
	}
	if (r->busy) {
		r->again = true;
		return;
	}
	r->busy = true;
	do {
		r->again = false;
		run_once(r);
	} while (r->again);
	r->busy = false;
}

void bt_reflector_start(void *context)
{
	bt_reflector_log(context, 3, "Starting reflector", (struct bt_str){0});
	run(context);
}

void bt_reflector_relist(void *context)
{
	struct bt_reflector *r = context;

	if (r->state == BT_REFLECTOR_WATCH && r->call && !r->sweeping && r->fate == BT_FATE_NONE) {
		r->fate = BT_FATE_RELIST;
	}
	r->wants_list = true;
	run(r);
}

void bt_reflector_init(struct bt_reflector *r, struct bt_reflectors *shared, const struct bt_kind_info *kind,
	uint32_t source, struct bt_intern *names)
{
	*r = (struct bt_reflector){.shared = shared,
		.kind = kind,
		.head = {.retry_after_ns = -1},
		.queue = {.pipeline = shared->pipeline, .source = source},
		.known = bt_store_create(names)};
	bt_lock_init(&r->lock);
}

void bt_reflector_fini(struct bt_reflector *r)
{
	bt_reflector_log(r, 3, "Stopping reflector", (struct bt_str){0});
	bt_backpressure_queue_fini(&r->queue);
	bt_watch_event_destroy(r->spare);
	bt_store_destroy(r->known);
	bt_unread_fini(&r->unread);
	bt_stream_fini(&r->stream);
	bt_buf_fini(&r->body);
	bt_buf_fini(&r->version);
	bt_buf_fini(&r->list_version);
	bt_buf_fini(&r->continue_);
	bt_lock_fini(&r->lock);
}
