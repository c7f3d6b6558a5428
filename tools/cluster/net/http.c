/* SPDX-License-Identifier: Apache-2.0
 * Calls, on any transport: a client has a thread that waits by epoll for sockets, for commands of other
 * threads, and for timers and timeouts. Calls are spread over lanes, each with its own set of connections,
 * usually one; a call goes to the lane with the fewest calls.
 *
 *  bt_http_send -> command -> start -> [waits for credentials] -> launch -> bt_http_settle -> finish
 *                               ^  ^-- bt_http_relaunch, unless it was sent ------------'  '
 *                               '------------- answered by 401, once -------------------'
 */
#include "tools/cluster/net/http.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tools/cluster/net/http_int.h"
#include "tools/cluster/net/latch.h"
#include "tools/cluster/net/client_metrics.h"

#define LOOK_NS	    INT64_C(50000000) /* how often a waiting thread polls gives_up */
#define FIELD_BYTES 32u		      /* added to a field's bytes */
#define EVENT_MAX   64
#define IDLE_MAX    256u	/* calls that are kept for reuse, with their handles */
#define IDLE_BYTES  (64u << 10) /* largest buffer of a call that is kept */
#define BATCH_BYTES (32u << 10)
/* Source: client-go's HTTP/2 health check (ReadIdleTimeout; PingTimeout is half of it), v0.36.3. */
#define QUIET_NS ((int64_t)30 * NS_PER_S)
#define AGAIN_NS ((int64_t)60 * NS_PER_S)

enum command_kind {
	COMMAND_SEND = 0,
	COMMAND_CANCEL,
	COMMAND_RESUME,
	COMMAND_AFTER,
	COMMAND_FORGET,
	COMMAND_READY
};

static _Thread_local struct bt_http *current; /* owner: set in the threads of clients */

/* ---- commands ---- */

/* The eventfd is never read: each write is an edge. */
static void wake(struct bt_http *http)
{
	uint64_t one = 1;
	ssize_t n = write(http->event, &one, sizeof(one));

	BT_REQUIRE(n == (ssize_t)sizeof(one));
}

static void post(struct bt_http *http, struct bt_http_command *command)
{
	command->next = NULL;
	bt_lock_acquire(&http->lock);
	bool sleeps = http->sleeps;

	http->sleeps = false;
	*http->last = command;
	http->last = &command->next;
	bt_lock_release(&http->lock);
	if (sleeps) {
		wake(http);
	}
}

static void post_new(struct bt_http *http, struct bt_http_command command)
{
	struct bt_http_command *heap = bt_mem_zalloc(1, sizeof(*heap));

	*heap = command;
	post(http, heap);
}

static struct bt_http_command *take_commands(struct bt_http *http, bool *out_ending)
{
	bt_lock_acquire(&http->lock);
	struct bt_http_command *first = http->first;

	http->first = NULL;
	http->last = &http->first;
	*out_ending = http->ending;
	bt_lock_release(&http->lock);
	return first;
}

/* Returns: false: there are commands, so the thread does not sleep; otherwise a poster wakes it. */
static bool fall_asleep(struct bt_http *http)
{
	bt_lock_acquire(&http->lock);
	bool sleeps = http->sleeps = !http->first && !http->ending;

	bt_lock_release(&http->lock);
	return sleeps;
}

static void wake_up(struct bt_http *http)
{
	bt_lock_acquire(&http->lock);
	http->sleeps = false;
	bt_lock_release(&http->lock);
}

static struct bt_call *call_of(const struct bt_http *http, uint64_t id)
{
	uint32_t slot;

	return id && bt_map_get(&http->slots, id, &slot) ? http->calls[slot] : NULL;
}

/* ---- start and free calls ---- */

static struct bt_call *take_call(struct bt_http *http)
{
	bt_lock_acquire(&http->lock);
	struct bt_call *call = http->idle;

	if (call) {
		http->idle = (struct bt_call *)call->command.next;
		http->idle_n--;
	}
	bt_lock_release(&http->lock);
	if (!call) {
		call = bt_mem_zalloc(1, sizeof(*call));
		call->http = http;
	}
	return call;
}

static void destroy_call(struct bt_call *call)
{
	bt_transport_curl.forget(call);
	bt_transport_h2.forget(call);
	bt_buf_fini(&call->text);
	bt_buf_fini(&call->content_type);
	bt_buf_fini(&call->body);
	bt_mem_free(call);
}

static void trim(struct bt_buf *buf)
{
	if (buf->cap > IDLE_BYTES) {
		bt_buf_fini(buf);
	}
	bt_buf_clear(buf);
}

static void give_call(struct bt_http *http, struct bt_call *call)
{
	trim(&call->text);
	trim(&call->content_type);
	trim(&call->body);
	bt_lock_acquire(&http->lock);
	bool keep = http->idle_n < IDLE_MAX;

	if (keep) {
		call->command.next = (struct bt_http_command *)http->idle;
		http->idle = call;
		http->idle_n++;
	}
	bt_lock_release(&http->lock);
	if (!keep) {
		destroy_call(call);
	}
}

static size_t add_line(struct bt_buf *text, const char *name, struct bt_str value)
{
	size_t at = text->len;

	bt_buf_text(text, name);
	bt_buf_str(text, value);
	bt_buf_char(text, 0);
	return at;
}

static void copy_request(struct bt_call *call, const char *url, const struct bt_http_call *request)
{
	struct bt_buf *text = &call->text;

	bt_buf_clear(text);
	call->request = *request;
	add_line(text, url, request->path);
	call->accept_at = add_line(text, "Accept: ", request->accept);
	call->content_type_at = add_line(text, "Content-Type: ", request->content_type);
	size_t body_at = text->len;

	bt_buf_add(text, request->body.ptr, request->body.len);
	bt_buf_char(text, 0);
	call->request.path.ptr = text->ptr + strlen(url);
	call->request.body.ptr = text->ptr + body_at;
}

uint64_t bt_http_send(struct bt_http *http, const struct bt_http_call *request)
{
	struct bt_call *call = take_call(http);
	uint64_t id = bt_add_relaxed(&http->id, 1) + 1;

	call->id = id;
	call->due_ns = request->timeout_ns > 0 ? bt_clock_monotonic_ns() + request->timeout_ns : INT64_MAX;
	call->refused = 0;
	call->received_bytes = call->head_bytes = 0;
	call->long_head = false;
	call->waits = call->retried_credentials = call->went_out = call->repeated = call->cancelled =
		call->too_long = false;
	call->paused = call->stalled = call->head_over = call->held = false;
	call->head = (struct bt_http_head){.retry_after_ns = -1};
	copy_request(call, http->endpoint->url, request);
	call->command = (struct bt_http_command){.kind = COMMAND_SEND, .id = id};
	post(http, &call->command);
	return id;
}

void bt_http_cancel(struct bt_http *http, uint64_t id)
{
	if (current == http) {
		struct bt_call *call = call_of(http, id);

		if (call) {
			call->cancelled = true; /* its callbacks end at once */
		}
	}
	post_new(http, (struct bt_http_command){.kind = COMMAND_CANCEL, .id = id});
}

void bt_http_pause(struct bt_http *http, uint64_t id, bool paused)
{
	BT_REQUIRE(current == http);
	struct bt_call *call = call_of(http, id);

	if (!call) {
		return;
	}
	call->paused = paused;
	if (!paused && call->stalled) {
		post_new(http, (struct bt_http_command){.kind = COMMAND_RESUME, .id = id});
	}
}

void bt_http_after(struct bt_http *http, int64_t delay_ns, void (*call)(void *context), void *context)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	int64_t due_ns = delay_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + (delay_ns > 0 ? delay_ns : 0);

	post_new(http, (struct bt_http_command){
			       .kind = COMMAND_AFTER, .due_ns = due_ns, .call = call, .context = context});
}

void bt_http_forget(struct bt_http *http, void *context)
{
	BT_REQUIRE(current == http);
	post_new(http, (struct bt_http_command){.kind = COMMAND_FORGET, .context = context});
}

/* ---- how a call ends ---- */

static void forget_call(struct bt_http *http, struct bt_call *call)
{
	struct bt_call *moved = http->calls[--http->call_n];

	http->calls[call->slot] = moved;
	moved->slot = call->slot;
	bt_map_put(&http->slots, moved->id, moved->slot);
	bt_map_remove(&http->slots, call->id);
}

static void report_head(struct bt_call *call)
{
	call->head.content_type = bt_buf_view(&call->content_type);
	if (call->request.head) {
		call->request.head(call->request.context, &call->head);
	}
}

/* Reports a 401 that was held back. */
static void report_held(struct bt_call *call)
{
	call->held = false;
	report_head(call);
	if (call->request.data && call->body.len && !call->cancelled) {
		call->cancelled = !call->request.data(call->request.context, call->body.ptr, call->body.len);
	}
}

/* The error, with the call but without its query: "GET https://host/path: why". */
static void describe(const struct bt_call *call, struct bt_str why, struct bt_buf *out_error)
{
	struct bt_str path = call->request.path;

	bt_buf_printf(out_error, "%s %s%.*s: ", bt_client_metrics_method(call->request.method),
		call->http->endpoint->server, (int)bt_str_find(path, '?', 0), path.ptr);
	bt_buf_str(out_error, why);
}

/* Whether the server answers for as long as it can. */
static bool is_watch(const struct bt_http_call *request)
{
	return request->method == BT_HTTP_GET && strstr(request->path.ptr, "watch=true");
}

static void count_call(const struct bt_call *call, enum bt_http_end end)
{
	struct bt_http *http = call->http;

	bt_add_owned(&http->counts[BT_COUNT_CALLS], 1);
	if (end != BT_HTTP_ANSWERED) {
		bt_add_owned(&http->counts[BT_COUNT_ERRORS], 1);
	}
	bt_client_metrics_note(bt_client_config_metrics(http->access),
		&(struct bt_client_metrics_call){.method = call->request.method,
			.status = call->head_over ? call->head.status : 0,
			.watch = is_watch(&call->request),
			.again = call->request.again,
			.took_ns = bt_clock_monotonic_ns() - call->begun_ns,
			.sent_bytes = call->request.body.len,
			.received_bytes = call->received_bytes});
}

static void finish(struct bt_call *call, enum bt_http_end end, struct bt_str why)
{
	struct bt_http *http = call->http;
	struct bt_buf error = {0};

	if (end == BT_HTTP_ANSWERED && call->held) {
		report_held(call);
	}
	if (call->cancelled) {
		end = BT_HTTP_CANCELLED;
		why = bt_str("cancelled");
	}
	forget_call(http, call);
	count_call(call, end);
	if (end != BT_HTTP_ANSWERED) {
		describe(call, why, &error);
	}
	call->head.content_type = bt_buf_view(&call->content_type);
	if (call->request.done) {
		struct bt_str body = call->request.data ? (struct bt_str){0} : bt_buf_view(&call->body);

		call->request.done(call->request.context, end, &call->head, body, bt_buf_view(&error));
	}
	bt_buf_fini(&error);
	give_call(http, call);
}

/* The call leaves its transport. */
static void detach(struct bt_call *call)
{
	call->http->lane_call_n[call->lane]--;
	call->transport = NULL;
	bt_identity_release(call->identity);
	call->identity = NULL;
}

/* Takes a call back from its transport, which then resets its stream or its connection if it has not
 * ended. */
static void take_back(struct bt_call *call)
{
	if (call->transport) {
		call->transport->take_back(call->http, call);
		detach(call);
	}
}

static const char *remedy_of(const struct bt_endpoint *endpoint, enum bt_http_fault fault)
{
	switch (fault) {
	case BT_HTTP_NOT_TRUSTED:
		return "; is the server's address right, and does certificate-authority of the kubeconfig "
		       "name the authority that signed its certificate?";
	case BT_HTTP_NO_IDENTITY:
		return "; do client-certificate and client-key of the kubeconfig belong together?";
	case BT_HTTP_NO_AUTHORITY:
		return "; certificate-authority of the kubeconfig must be PEM";
	case BT_HTTP_NO_HOST:
	case BT_HTTP_NO_LISTENER:
	case BT_HTTP_UNREACHABLE:
	case BT_HTTP_LATE:
		return *endpoint->proxy
			       ? "; do the proxy and the API server run, and are proxy-url of the kubeconfig "
				 "or $HTTPS_PROXY and the server's address right?"
			       : "; does the API server run, and is the address in the kubeconfig right?";
	case BT_HTTP_NO_FAULT:
	case BT_HTTP_BROKEN:
	case BT_HTTP_CLOSED:
		break;
	}
	return "";
}

static enum bt_http_cause cause_of(enum bt_http_fault fault)
{
	switch (fault) {
	case BT_HTTP_LATE:
		return BT_HTTP_CAUSE_TIMEOUT;
	case BT_HTTP_NO_HOST:
		return BT_HTTP_CAUSE_NO_HOST;
	case BT_HTTP_NO_LISTENER:
		return BT_HTTP_CAUSE_REFUSED;
	case BT_HTTP_CLOSED:
		return BT_HTTP_CAUSE_CLOSED;
	default:
		return BT_HTTP_CAUSE_OTHER;
	}
}

static void start(struct bt_http *http, struct bt_call *call);

void bt_http_settle(struct bt_call *call, enum bt_http_fault fault, struct bt_str why)
{
	struct bt_http *http = call->http;
	struct bt_buf text = {0};
	enum bt_http_end end = call->went_out ? BT_HTTP_LOST : BT_HTTP_UNSENT;

	if (fault == BT_HTTP_NO_FAULT && call->held && !call->refused && !call->cancelled) {
		call->refused = call->identity->number;
		detach(call);
		start(http, call);
		return;
	}
	if (fault == BT_HTTP_NO_FAULT) {
		end = BT_HTTP_ANSWERED;
	} else if (call->long_head) {
		bt_buf_printf(&text, "the head of the answer is longer than %u KiB", BT_HTTP_HEAD_MAX >> 10);
	} else if (call->too_long) {
		bt_buf_printf(&text, "the answer is longer than %llu bytes; request less at a time (limit=)",
			(unsigned long long)http->body_max_bytes);
	} else {
		bt_buf_str(&text, why);
		bt_buf_text(&text, remedy_of(http->endpoint, fault));
	}
	call->head.cause = cause_of(fault);
	detach(call);
	finish(call, end, bt_buf_view(&text));
	bt_buf_fini(&text);
}

/* ---- answers ---- */

void bt_http_count(struct bt_http *http, enum bt_http_count what, uint64_t n)
{
	bt_add_owned(&http->counts[what], n);
}

/* Everything outside of the body counts, in any part of an answer, and empty fields count as well. Otherwise
 * interim heads, or trailers, could go on forever. */
static bool count_head(struct bt_call *call, size_t n)
{
	call->head_bytes += n + FIELD_BYTES;
	call->long_head |= call->head_bytes > BT_HTTP_HEAD_MAX;
	return !call->long_head;
}

bool bt_http_begin_head(struct bt_call *call, uint32_t status)
{
	call->head = (struct bt_http_head){.status = status, .retry_after_ns = -1};
	bt_buf_clear(&call->content_type);
	return count_head(call, 0);
}

/* A number of seconds; a date is ignored, as in client-go. */
static int64_t retry_after_of(struct bt_str value)
{
	int64_t seconds = value.len ? 0 : -1;

	for (size_t i = 0; i < value.len; i++) {
		if (value.ptr[i] < '0' || value.ptr[i] > '9') {
			return -1;
		}
		seconds =
			seconds <= BT_HTTP_RETRY_AFTER_MAX_S ? seconds * 10 + (value.ptr[i] - '0') : seconds;
	}
	return bt_http_retry_after_ns(seconds);
}

static bool is_field(struct bt_str name, const char *wanted)
{
	return name.len == strlen(wanted) && !strncasecmp(name.ptr, wanted, name.len);
}

bool bt_http_take_field(struct bt_call *call, struct bt_str name, struct bt_str value)
{
	if (!count_head(call, name.len + value.len) || call->head_over) {
		return !call->long_head;
	}
	if (is_field(name, "content-type")) {
		bt_buf_clear(&call->content_type);
		bt_buf_str(&call->content_type, value);
	} else if (is_field(name, "retry-after")) {
		call->head.retry_after_ns = retry_after_of(value);
	}
	return true;
}

bool bt_http_end_head(struct bt_call *call)
{
	call->head_over = true;
	call->held = call->head.status == 401 && !call->refused;
	if (!call->held) {
		report_head(call);
	}
	return !call->cancelled;
}

bool bt_http_take_data(struct bt_call *call, const char *bytes, size_t n)
{
	call->http->taken += n;
	if (call->cancelled) {
		return false;
	}
	call->received_bytes += n;
	if (call->request.data && !call->held) {
		call->cancelled = !call->request.data(call->request.context, bytes, n);
		return !call->cancelled;
	}
	if (call->body.len + n > call->http->body_max_bytes) {
		call->too_long = true;
		return false;
	}
	bt_buf_add(&call->body, bytes, n);
	return true;
}

/* ---- launch ---- */

static void launch(struct bt_http *http, struct bt_call *call, struct bt_identity *identity)
{
	struct bt_buf why = {0};

	call->lane = 0;
	for (uint32_t i = 1; i < http->lane_n; i++) {
		call->lane = http->lane_call_n[i] < http->lane_call_n[call->lane] ? i : call->lane;
	}
	bt_buf_clear(&call->body);
	bt_buf_clear(&call->content_type);
	call->head = (struct bt_http_head){.retry_after_ns = -1};
	call->received_bytes = call->head_bytes = 0;
	call->went_out = call->head_over = call->held = call->stalled = false;
	call->identity = identity;
	if (http->transport->launch(http, call, &why)) {
		call->transport = http->transport;
		http->lane_call_n[call->lane]++;
	} else {
		bt_identity_release(identity);
		call->identity = NULL;
		finish(call, BT_HTTP_UNSENT, bt_buf_view(&why));
	}
	bt_buf_fini(&why);
}

void bt_http_relaunch(struct bt_call *call)
{
	struct bt_identity *identity = call->identity;

	call->identity = NULL;
	detach(call);
	launch(call->http, call, identity);
}

/* A server that has not chosen HTTP/2 may have been upgraded: calls on a connection of their own try it from
 * time to time. */
static void choose_transport(struct bt_http *http)
{
	if (http->h2_again_ns != INT64_MAX && http->h2_again_ns <= bt_clock_monotonic_ns()) {
		http->transport = &bt_transport_h2;
		http->h2_again_ns = INT64_MAX;
	}
}

/* New credentials have arrived, or none will. Context: another thread. */
static void on_credentials(void *context)
{
	post_new(context, (struct bt_http_command){.kind = COMMAND_READY});
}

static void start(struct bt_http *http, struct bt_call *call)
{
	struct bt_identity *identity = NULL;
	struct bt_buf error = {0};
	uint64_t refused = call->retried_credentials ? 0 : call->refused;

	call->retried_credentials = call->refused != 0;
	switch (bt_client_config_identity(http->access, refused, on_credentials, http, &identity, &error)) {
	case BT_CLIENT_CONFIG_READY:
		if (identity->number != call->refused) {
			choose_transport(http);
			launch(http, call, identity);
			break;
		}
		bt_identity_release(identity);
		finish(call, BT_HTTP_ANSWERED, (struct bt_str){0});
		break;
	case BT_CLIENT_CONFIG_LATER:
		call->waits = true;
		http->waiting_n++;
		break;
	case BT_CLIENT_CONFIG_FAILED:
		finish(call, call->refused ? BT_HTTP_ANSWERED : BT_HTTP_UNSENT, bt_buf_view(&error));
		break;
	}
	bt_buf_fini(&error);
}

static void stop_waiting(struct bt_http *http, struct bt_call *call)
{
	http->waiting_n -= call->waits;
	call->waits = false;
}

/* Credentials have arrived, or none will. */
static void start_waiting(struct bt_http *http)
{
	for (size_t i = http->waiting_n ? http->call_n : 0; i-- > 0;) {
		struct bt_call *call = i < http->call_n ? http->calls[i] : NULL;

		if (call && call->waits) {
			stop_waiting(http, call);
			start(http, call);
		}
	}
}

static void time_out(struct bt_http *http, struct bt_call *call)
{
	const char *why = call->waits ? "no credentials were received in time" : "the call has timed out";

	stop_waiting(http, call);
	take_back(call);
	call->head.cause = BT_HTTP_CAUSE_TIMEOUT;
	finish(call, call->went_out ? BT_HTTP_LOST : BT_HTTP_UNSENT, bt_str(why));
}

/* Ends calls whose timeout has expired. limit_ns is a lower bound: it is not raised when the call that it
 * is derived from ends, so one scan serves many calls. */
static void end_late_calls(struct bt_http *http, int64_t now_ns)
{
	if (http->limit_ns > now_ns) {
		return;
	}
	http->limit_ns = INT64_MAX;
	for (size_t i = http->call_n; i-- > 0;) {
		struct bt_call *call = i < http->call_n ? http->calls[i] : NULL;

		if (call && call->due_ns <= now_ns) {
			time_out(http, call);
		} else if (call && call->due_ns < http->limit_ns) {
			http->limit_ns = call->due_ns;
		}
	}
}

static void cancel(struct bt_http *http, struct bt_call *call)
{
	call->cancelled = true;
	call->held = false;
	stop_waiting(http, call);
	take_back(call);
	finish(call, BT_HTTP_CANCELLED, (struct bt_str){0});
}

static void http_begin(struct bt_http *http, struct bt_call *call, bool ending)
{
	http->calls = bt_mem_grow(http->calls, http->call_n, &http->call_cap, sizeof(struct bt_call *));
	call->slot = (uint32_t)http->call_n;
	call->begun_ns = bt_clock_monotonic_ns();
	http->calls[http->call_n++] = call;
	bt_map_put(&http->slots, call->id, call->slot);
	http->limit_ns = call->due_ns < http->limit_ns ? call->due_ns : http->limit_ns;
	if (ending) {
		cancel(http, call);
	} else {
		start(http, call);
	}
}

/* ---- the thread ---- */

static void run_command(struct bt_http *http, struct bt_http_command *command, bool ending)
{
	struct bt_call *call = call_of(http, command->id);

	switch (command->kind) {
	case COMMAND_SEND:
		http_begin(http, (struct bt_call *)command, ending);
		return; /* the call's own */
	case COMMAND_CANCEL:
		if (call) {
			cancel(http, call);
		}
		break;
	case COMMAND_RESUME:
		if (call && call->transport && call->stalled && !call->paused) {
			call->stalled = false;
			call->transport->resume(http, call);
		}
		break;
	case COMMAND_AFTER:
		bt_timers_add(&http->timers, command->due_ns, command->call, command->context);
		break;
	case COMMAND_FORGET:
		bt_timers_forget(&http->timers, command->context);
		break;
	case COMMAND_READY:
		start_waiting(http);
		break;
	}
	bt_mem_free(command);
}

/* Returns whether there were any commands. */
static bool run_commands(struct bt_http *http, bool *out_ending)
{
	struct bt_http_command *command = take_commands(http, out_ending);
	bool any = command;

	while (command) {
		struct bt_http_command *next = command->next;

		run_command(http, command, *out_ending);
		command = next;
	}
	return any;
}

static int64_t earliest(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static int64_t next_due_ns(const struct bt_http *http)
{
	int64_t due_ns = earliest(bt_timers_due_ns(&http->timers), http->limit_ns);

	due_ns = http->curl ? earliest(due_ns, bt_curl_due_ns(http)) : due_ns;
	return http->h2 ? earliest(due_ns, bt_h2_due_ns(http)) : due_ns;
}

static void take_event(struct bt_http *http, const struct epoll_event *event)
{
	if (event->data.u64 == BT_HTTP_WAKE) {
		return;
	}
	if (event->data.u64 & BT_HTTP_EVENT_H2) {
		bt_h2_take_event(http, event->data.u64, event->events);
	} else {
		bt_curl_take_event(http, event->data.u64, event->events);
	}
}

static void wait_for_events(struct bt_http *http)
{
	struct epoll_event events[EVENT_MAX];
	int64_t left_ns = 0, wait_ms = -1;

	if (http->h2) {
		bt_h2_flush(http);
	}
	int64_t due_ns = next_due_ns(http);

	if (!fall_asleep(http)) {
		wait_ms = 0;
	} else if (due_ns != INT64_MAX) {
		left_ns = due_ns - bt_clock_monotonic_ns();
		wait_ms = left_ns <= 0 ? 0 : (left_ns - 1) / NS_PER_MS + 1;
	}
	http->taken = 0;
	int n = epoll_wait(http->epoll, events, EVENT_MAX, (int)(wait_ms > INT_MAX ? INT_MAX : wait_ms));

	wake_up(http);
	for (int i = 0; i < n; i++) {
		take_event(http, &events[i]);
	}
	/* While a long answer is being read, the thread does not sleep. */
	if (n > 0 && http->batch_ns && http->taken < BATCH_BYTES) {
		nanosleep(&(struct timespec){.tv_nsec = http->batch_ns}, NULL);
	}
}

/* Returns whether the client must end. */
static bool serve_times(struct bt_http *http)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	bool ending = false;
	struct bt_timer timer;

	/* A timer may cancel the next, so commands run in between. */
	while (!ending && bt_timers_take(&http->timers, now_ns, &timer)) {
		timer.call(timer.context);
		run_commands(http, &ending);
	}
	if (http->curl) {
		bt_curl_serve(http, now_ns);
	}
	if (http->h2) {
		bt_h2_serve(http, now_ns);
	}
	end_late_calls(http, now_ns);
	return ending;
}

static void run(void *context)
{
	struct bt_http *http = context;

	bool ending = false;

	current = http;
	for (run_commands(http, &ending); !ending; run_commands(http, &ending)) {
		if (serve_times(http)) {
			break;
		}
		wait_for_events(http);
	}
	do {
		while (http->call_n) {
			cancel(http, http->calls[http->call_n - 1]);
		}
	} while (run_commands(http, &ending));
	current = NULL;
}

/* ---- the client ---- */

static bool open_files(struct bt_http *http)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = BT_HTTP_WAKE};

	http->epoll = epoll_create1(EPOLL_CLOEXEC);
	http->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return http->epoll >= 0 && http->event >= 0 &&
	       epoll_ctl(http->epoll, EPOLL_CTL_ADD, http->event, &event) == 0;
}

static void free_client(struct bt_http *http)
{
	while (http->idle) {
		struct bt_call *call = http->idle;

		http->idle = (struct bt_call *)call->command.next;
		destroy_call(call);
	}
	bt_h2_close(http);
	bt_curl_close(http);
	bt_timers_fini(&http->timers);
	bt_map_fini(&http->slots);
	bt_mem_free(http->calls);
	if (http->epoll >= 0) {
		close(http->epoll);
	}
	if (http->event >= 0) {
		close(http->event);
	}
	bt_lock_fini(&http->lock);
	bt_mem_free(http);
}

struct bt_http *bt_http_create(const struct bt_http_options *options, struct bt_buf *out_error)
{
	uint32_t lane_n = options->connections ? options->connections : 1;
	struct bt_http *http = bt_mem_zalloc(1, sizeof(*http));

	http->access = options->access;
	http->endpoint = bt_client_config_endpoint(options->access);
	http->connect_timeout_ns =
		options->connect_timeout_ns ? options->connect_timeout_ns : (int64_t)10 * NS_PER_S;
	http->dead_ns = options->dead_ns ? options->dead_ns : (int64_t)10 * NS_PER_S;
	http->quiet_ns = options->quiet_ns ? options->quiet_ns : QUIET_NS;
	http->again_ns = options->again_ns ? options->again_ns : AGAIN_NS;
	http->batch_ns = options->batch_ns;
	http->gives_up = options->gives_up;
	http->body_max_bytes = options->body_max_bytes ? options->body_max_bytes : BT_HTTP_BODY_MAX;
	http->lane_n = lane_n < BT_HTTP_LANES ? lane_n : BT_HTTP_LANES;
	http->limit_ns = http->h2_again_ns = INT64_MAX;
	http->last = &http->first;
	bt_lock_init(&http->lock);
	bool h2 = bt_h2_suits(http->endpoint);

	http->transport = h2 ? &bt_transport_h2 : &bt_transport_curl;
	if (!open_files(http) || !(h2 ? bt_h2_open(http) : bt_curl_open(http))) {
		bt_buf_text(out_error, "no HTTP client can be set up: the system refuses files or memory");
		free_client(http);
		return NULL;
	}
	struct bt_thread_options thread = {.name = options->name ? options->name : "http"};

	if (bt_thread_start(&thread, run, http, &http->thread, out_error) != BT_OK) {
		free_client(http);
		return NULL;
	}
	return http;
}

void bt_http_destroy(struct bt_http *http)
{
	if (!http) {
		return;
	}
	BT_REQUIRE(current != http);
	bt_lock_acquire(&http->lock);
	http->ending = true;
	bt_lock_release(&http->lock);
	wake(http);
	bt_thread_join(&http->thread);
	bt_client_config_forget(http->access, http);
	bt_h2_close(http); /* its resolver may still report a result */
	for (struct bt_http_command *command = http->first, *next; command; command = next) {
		next = command->next;
		bt_mem_free(command);
	}
	free_client(http);
}

struct bt_http_counts bt_http_counts(const struct bt_http *http)
{
	return (struct bt_http_counts){
		.call_n = bt_load_relaxed(&http->counts[BT_COUNT_CALLS]),
		.error_n = bt_load_relaxed(&http->counts[BT_COUNT_ERRORS]),
		.sent_bytes = bt_load_relaxed(&http->counts[BT_COUNT_SENT]),
		.received_bytes = bt_load_relaxed(&http->counts[BT_COUNT_RECEIVED]),
		.connect_n = bt_load_relaxed(&http->counts[BT_COUNT_CONNECTS]),
	};
}

/* ---- synchronous calls ---- */

struct http_fetch {
	struct bt_latch over;
	enum bt_http_end end;
	struct bt_http_head *head;
	struct bt_buf *body, *error;
};

static void fetched(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct http_fetch *fetch = context;

	fetch->end = end;
	*fetch->head = *head;
	fetch->head->content_type = (struct bt_str){0};
	bt_buf_clear(fetch->body);
	bt_buf_str(fetch->body, body);
	bt_buf_str(fetch->error, error);
	bt_latch_open(&fetch->over);
}

enum bt_http_end bt_http_fetch(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error)
{
	BT_REQUIRE(!current);
	struct http_fetch fetch = {.head = out_head, .body = out_body, .error = out_error};
	struct bt_http_call whole = *call;

	bt_latch_init(&fetch.over);
	whole.head = NULL;
	whole.data = NULL;
	whole.done = fetched;
	whole.context = &fetch;
	uint64_t id = bt_http_send(http, &whole);

	while (!bt_latch_wait(&fetch.over, http->gives_up ? LOOK_NS : BT_EVENTCOUNT_FOREVER)) {
		if (http->gives_up()) {
			bt_http_cancel(http, id);
		}
	}
	bt_latch_fini(&fetch.over);
	return fetch.end;
}
