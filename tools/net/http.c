/* SPDX-License-Identifier: Apache-2.0
 * Calls by libcurl, whose only user this file is. A client has a thread that waits by epoll for sockets, for
 * commands of other threads and for the time of timers; libcurl is called only there. A lane is a set of
 * connections of its own, usually one: libcurl fills one connection before it opens another, so calls are
 *spread by giving each to the lane that has the fewest.
 *
 * What a call has done to the server is told from one thing alone: whether libcurl has come to the point
 *right before the first byte of the request (prereq). libcurl comes there again when it wants to repeat a
 *request, which it does when a connection that was used before dies without an answer, or when the server
 *refuses the stream; that is stopped for all but GET, because the server may have obeyed the first one.
 *
 *	bt_http_send -> command -> start -> [waits for credentials] -> launch -> settle -> finish
 *	                             ^------------- answered by 401, once -----------'
 */
#include "tools/net/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/net/access_int.h"
#include "tools/net/latch.h"
#include "tools/net/timers_int.h"
#include "tools/net/traffic.h"

#define LANE_MAX     64
#define EVENT_MAX    64
#define IDLE_MAX     256u	  /* calls that are kept for reuse, with their handles */
#define IDLE_BYTES   (64u << 10)  /* and the largest buffer of one that is kept */
#define BUFFER_BYTES (128L << 10) /* what libcurl reads at once */
#define REST_BYTES   (32u << 10)
/* A shared connection on which nothing is heard for so long is tried with a small call; when nothing comes
 * for so long again, it is given up. Source: client-go's HTTP/2 health check (ReadIdleTimeout, PingTimeout),
 * v0.36.3. */
#define QUIET_NS  ((int64_t)30 * NS_PER_S)
#define PROBE_NS  ((int64_t)15 * NS_PER_S)
#define WAKE	  UINT64_MAX /* the event of the eventfd */
#define NS_PER_MS 1000000
#define NS_PER_S  1000000000

enum command_kind {
	COMMAND_SEND = 0,
	COMMAND_CANCEL,
	COMMAND_RESUME,
	COMMAND_AFTER,
	COMMAND_FORGET,
	COMMAND_READY
};

struct command {
	struct command *next;
	enum command_kind kind;
	uint64_t id;	/* CANCEL, RESUME: of the call */
	int64_t due_ns; /* AFTER */
	void (*call)(void *context);
	void *context; /* AFTER, FORGET */
};

struct call {
	struct command command; /* first: the one that begins it */
	struct bt_http *http;
	uint64_t id;
	uint32_t slot; /* in calls */
	struct bt_http_call request;
	struct bt_buf text; /* what request points to, and the header lines */
	size_t accept_at, content_type_at;
	int64_t begun_ns;
	uint64_t received_bytes; /* of the answer's body, as the caller sees it */
	int64_t due_ns;		 /* INT64_MAX: no limit */
	CURL *easy;
	struct curl_slist *headers;
	uint32_t header_cap;
	struct lane *lane;	      /* NULL: not with libcurl */
	struct bt_identity *identity; /* while it is with libcurl */
	uint64_t shown;		      /* the identity that easy was set to */
	uint64_t refused;	      /* the identity that was answered by 401; 0: none */
	bool waits;		      /* for credentials */
	bool asked;		      /* for other credentials than those refused */
	bool went_out, cancelled, too_long;
	bool died;	      /* without an answer; libcurl would have repeated it */
	bool paused, stalled; /* stalled: libcurl holds data back */
	bool head_over, held; /* held: a 401 that nobody was told of yet */
	struct bt_http_head head;
	struct bt_buf content_type, body;
	char error[CURL_ERROR_SIZE];
};

struct lane {
	struct bt_http *http;
	CURLM *multi;
	int64_t due_ns; /* when libcurl wants to be called; INT64_MAX: it does not */
	uint32_t call_n;
	int64_t heard_ns; /* when anything came on its connections, or its first call began */
	uint64_t probe;	  /* the call that tries the connection; 0: none */
	bool shared;	  /* its calls share a connection (HTTP/2) */
	bool broken;	  /* to be given up */
};

struct bt_http {
	const struct bt_access *access;	     /* init: */
	const struct bt_endpoint *endpoint;  /* init: */
	int64_t connect_timeout_ns, dead_ns; /* init: */
	int64_t rest_ns;		     /* init: */
	uint64_t body_max_bytes;	     /* init: */
	struct bt_thread *thread;	     /* init: */
	int epoll, event;		     /* init: */
	_Atomic uint64_t id;		     /* atomic: calls so far */
	_Atomic uint64_t counts[5];	     /* atomic: written by the client's thread */
	struct curl_slist connect_to;	     /* init: */
	struct bt_lock lock;
	struct command *first, **last; /* lock(lock): */
	struct call *idle;	       /* lock(lock): */
	uint32_t idle_n;	       /* lock(lock): */
	bool ending;		       /* lock(lock): */
	/* owner: the client's thread, from here on */
	struct lane lanes[LANE_MAX];
	uint32_t lane_n;
	struct call **calls;
	size_t call_n, call_cap;
	struct bt_map slots; /* of calls, by id */
	uint32_t waiting_n;
	size_t taken; /* bytes of answers, since it waited last */
	struct bt_timers timers;
};

enum { COUNT_CALLS = 0, COUNT_ERRORS, COUNT_SENT, COUNT_RECEIVED, COUNT_CONNECTS };

static _Thread_local struct bt_http *current; /* owner: set in the threads of clients */

/* ---- commands ---- */

static void post(struct bt_http *http, struct command *command)
{
	bool first;

	command->next = NULL;
	bt_lock_acquire(&http->lock);
	first = !http->first;
	*http->last = command;
	http->last = &command->next;
	bt_lock_release(&http->lock);
	if (first && current != http) {
		uint64_t one = 1;
		ssize_t n = write(http->event, &one, sizeof(one));

		BT_REQUIRE(n == (ssize_t)sizeof(one));
	}
}

static void post_new(struct bt_http *http, struct command command)
{
	struct command *heap = bt_mem_zalloc(1, sizeof(*heap));

	*heap = command;
	post(http, heap);
}

static struct command *take_commands(struct bt_http *http, bool *out_ending)
{
	bt_lock_acquire(&http->lock);
	struct command *first = http->first;

	http->first = NULL;
	http->last = &http->first;
	*out_ending = http->ending;
	bt_lock_release(&http->lock);
	return first;
}

static bool has_commands(struct bt_http *http)
{
	bt_lock_acquire(&http->lock);
	bool any = http->first || http->ending;

	bt_lock_release(&http->lock);
	return any;
}

static struct call *call_of(const struct bt_http *http, uint64_t id)
{
	uint32_t slot;

	return id && bt_map_get(&http->slots, id, &slot) ? http->calls[slot] : NULL;
}

/* ---- calls come and go ---- */

static struct call *take_call(struct bt_http *http)
{
	bt_lock_acquire(&http->lock);
	struct call *call = http->idle;

	if (call) {
		http->idle = (struct call *)call->command.next;
		http->idle_n--;
	}
	bt_lock_release(&http->lock);
	if (!call) {
		call = bt_mem_zalloc(1, sizeof(*call));
		call->http = http;
	}
	return call;
}

static void destroy_call(struct call *call)
{
	if (call->easy) {
		curl_easy_cleanup(call->easy);
	}
	bt_buf_fini(&call->text);
	bt_buf_fini(&call->content_type);
	bt_buf_fini(&call->body);
	bt_mem_free(call->headers);
	bt_mem_free(call);
}

static void trim(struct bt_buf *buf)
{
	if (buf->cap > IDLE_BYTES) {
		bt_buf_fini(buf);
	}
	bt_buf_clear(buf);
}

static void give_call(struct bt_http *http, struct call *call)
{
	trim(&call->text);
	trim(&call->content_type);
	trim(&call->body);
	bt_lock_acquire(&http->lock);
	bool keep = http->idle_n < IDLE_MAX;

	if (keep) {
		call->command.next = (struct command *)http->idle;
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

static void copy_request(struct call *call, const char *url, const struct bt_http_call *request)
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
	struct call *call = take_call(http);
	uint64_t id = bt_add_relaxed(&http->id, 1) + 1;

	call->id = id;
	call->due_ns = request->timeout_ns > 0 ? bt_clock_monotonic_ns() + request->timeout_ns : INT64_MAX;
	call->refused = 0;
	call->received_bytes = 0;
	call->waits = call->asked = call->went_out = call->cancelled = call->too_long = false;
	call->paused = call->stalled = call->head_over = call->held = false;
	call->head = (struct bt_http_head){.retry_after_ns = -1};
	copy_request(call, http->endpoint->url, request);
	call->command = (struct command){.kind = COMMAND_SEND, .id = id};
	post(http, &call->command);
	return id;
}

void bt_http_cancel(struct bt_http *http, uint64_t id)
{
	if (current == http) {
		struct call *call = call_of(http, id);

		if (call) {
			call->cancelled = true; /* its callbacks end at once */
		}
	}
	post_new(http, (struct command){.kind = COMMAND_CANCEL, .id = id});
}

void bt_http_pause(struct bt_http *http, uint64_t id, bool paused)
{
	BT_REQUIRE(current == http);
	struct call *call = call_of(http, id);

	if (!call) {
		return;
	}
	call->paused = paused;
	if (!paused && call->stalled) {
		post_new(http, (struct command){.kind = COMMAND_RESUME, .id = id});
	}
}

void bt_http_after(struct bt_http *http, int64_t delay_ns, void (*call)(void *context), void *context)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	int64_t due_ns = delay_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + (delay_ns > 0 ? delay_ns : 0);

	post_new(http,
		(struct command){.kind = COMMAND_AFTER, .due_ns = due_ns, .call = call, .context = context});
}

void bt_http_forget(struct bt_http *http, void *context)
{
	BT_REQUIRE(current == http);
	post_new(http, (struct command){.kind = COMMAND_FORGET, .context = context});
}

/* ---- how a call ends ---- */

static void forget_call(struct bt_http *http, struct call *call)
{
	struct call *moved = http->calls[--http->call_n];

	http->calls[call->slot] = moved;
	moved->slot = call->slot;
	bt_map_put(&http->slots, moved->id, moved->slot);
	bt_map_remove(&http->slots, call->id);
}

static void tell_head(struct call *call)
{
	call->head.content_type = bt_buf_view(&call->content_type);
	if (call->request.head) {
		call->request.head(call->request.context, &call->head);
	}
}

/* Tells of a 401 that was held back, as if it came now. */
static void tell_held(struct call *call)
{
	call->held = false;
	tell_head(call);
	if (call->request.data && call->body.len && !call->cancelled) {
		call->cancelled = !call->request.data(call->request.context, call->body.ptr, call->body.len);
	}
}

/* What went wrong, with the call but without its query: "GET https://host/path: why". */
static void describe(const struct call *call, struct bt_str why, struct bt_buf *out_error)
{
	struct bt_str path = call->request.path;

	bt_buf_printf(out_error, "%s %s%.*s: ", bt_traffic_method(call->request.method),
		call->http->endpoint->server, (int)bt_str_find(path, '?', 0), path.ptr);
	bt_buf_str(out_error, why);
}

/* Is it one that a server answers for as long as it can? */
static bool is_watch(const struct bt_http_call *request)
{
	return request->method == BT_HTTP_GET && strstr(request->path.ptr, "watch=true");
}

static void count_call(const struct call *call, enum bt_http_end end)
{
	struct bt_http *http = call->http;

	bt_add_owned(&http->counts[COUNT_CALLS], 1);
	if (end != BT_HTTP_ANSWERED) {
		bt_add_owned(&http->counts[COUNT_ERRORS], 1);
	}
	bt_traffic_note(
		bt_access_traffic(http->access), &(struct bt_traffic_call){.method = call->request.method,
							 .status = call->head_over ? call->head.status : 0,
							 .watch = is_watch(&call->request),
							 .took_ns = bt_clock_monotonic_ns() - call->begun_ns,
							 .sent_bytes = call->request.body.len,
							 .received_bytes = call->received_bytes});
}

static void finish(struct call *call, enum bt_http_end end, struct bt_str why)
{
	struct bt_http *http = call->http;
	struct bt_buf error = {0};

	if (end == BT_HTTP_ANSWERED && call->held) {
		tell_held(call);
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

static void count_transfer(struct bt_http *http, CURL *easy)
{
	curl_off_t up = 0, down = 0;
	long request = 0, head = 0, connects = 0;

	curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &up);
	curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request);
	curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &head);
	curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
	bt_add_owned(&http->counts[COUNT_SENT], (uint64_t)(up + request));
	bt_add_owned(&http->counts[COUNT_RECEIVED], (uint64_t)(down + head));
	bt_add_owned(&http->counts[COUNT_CONNECTS], (uint64_t)connects);
}

/* Takes a call back from libcurl, which then ends its stream or its connection if it is not over. */
static void take_back(struct call *call)
{
	struct lane *lane = call->lane;

	if (!lane) {
		return;
	}
	count_transfer(call->http, call->easy);
	curl_multi_remove_handle(lane->multi, call->easy);
	lane->call_n--;
	call->lane = NULL;
	bt_identity_release(call->identity);
	call->identity = NULL;
}

static const char *remedy_of(CURLcode code)
{
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
		return "; is the server's address right, and does certificate-authority of the kubeconfig "
		       "name "
		       "who signed its certificate?";
	case CURLE_SSL_CERTPROBLEM:
		return "; do client-certificate and client-key of the kubeconfig belong together?";
	case CURLE_SSL_CACERT_BADFILE:
		return "; certificate-authority of the kubeconfig must be PEM";
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		return "; does the API server run, and is the address in the kubeconfig right?";
	default:
		return "";
	}
}

static enum bt_http_cause cause_of(const struct call *call, CURLcode code)
{
	long number = 0;

	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return BT_HTTP_CAUSE_TIMEOUT;
	case CURLE_COULDNT_RESOLVE_HOST:
		return BT_HTTP_CAUSE_NO_HOST;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &number);
		return number == ECONNREFUSED ? BT_HTTP_CAUSE_REFUSED : BT_HTTP_CAUSE_OTHER;
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
		return BT_HTTP_CAUSE_CLOSED;
	default:
		return call->died ? BT_HTTP_CAUSE_CLOSED : BT_HTTP_CAUSE_OTHER;
	}
}

static void start(struct bt_http *http, struct call *call);

/* libcurl is done with a call. */
static void settle(struct bt_http *http, struct call *call, CURLcode code)
{
	struct bt_buf why = {0};
	enum bt_http_end end = code == CURLE_OK ? BT_HTTP_ANSWERED
			       : call->went_out ? BT_HTTP_LOST
						: BT_HTTP_UNSENT;

	if (end == BT_HTTP_ANSWERED && call->held && !call->refused && !call->cancelled) {
		call->refused = call->identity->number;
		take_back(call);
		start(http, call);
		return;
	}
	if (call->too_long) {
		bt_buf_printf(&why, "the answer is longer than %llu bytes; ask for less at a time (limit=)",
			(unsigned long long)http->body_max_bytes);
	} else if (call->died) {
		bt_buf_text(
			&why, "the connection ended before an answer came, or the server refused the stream");
	} else if (code != CURLE_OK) {
		bt_buf_text(&why, *call->error ? call->error : curl_easy_strerror(code));
		bt_buf_text(&why, remedy_of(code));
	}
	call->head.cause = code == CURLE_OK ? BT_HTTP_CAUSE_OTHER : cause_of(call, code);
	take_back(call);
	finish(call, end, bt_buf_view(&why));
	bt_buf_fini(&why);
}

static void collect(struct bt_http *http, struct lane *lane)
{
	struct CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(lane->multi, &left))) {
		struct call *call = NULL;

		if (message->msg == CURLMSG_DONE) {
			CURLcode code = message->data.result;

			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
			settle(http, call, code);
		}
	}
}

/* ---- what libcurl calls ---- */

static int before_request(void *context, char *there, char *here, int port, int own_port)
{
	struct call *call = context;
	bool again = call->went_out;

	(void)there, (void)here, (void)port, (void)own_port;
	if (again && call->request.method != BT_HTTP_GET) {
		call->died = true;
		return CURL_PREREQFUNC_ABORT;
	}
	call->went_out = true;
	return CURL_PREREQFUNC_OK;
}

/* The value of a header line of that name, without spaces around; a NULL pointer: it is another one. */
static struct bt_str value_of(struct bt_str line, const char *name)
{
	size_t n = strlen(name);

	if (line.len <= n || strncasecmp(line.ptr, name, n) != 0 || line.ptr[n] != ':') {
		return (struct bt_str){0};
	}
	n++;
	while (n < line.len && (line.ptr[n] == ' ' || line.ptr[n] == '\t')) {
		n++;
	}
	return bt_str_sub(line, n, line.len);
}

/* Seconds, as API servers say them; a date, or nonsense, is -1: not said. */
static int64_t retry_after_of(struct bt_str value)
{
	int64_t seconds = 0;

	for (size_t i = 0; i < value.len; i++) {
		if (value.ptr[i] < '0' || value.ptr[i] > '9' || seconds > 1000000) {
			return -1;
		}
		seconds = seconds * 10 + (value.ptr[i] - '0');
	}
	return value.len ? seconds * NS_PER_S : -1;
}

static uint32_t status_of(struct bt_str line)
{
	size_t at = bt_str_find(line, ' ', 0);
	uint32_t status = 0;

	for (size_t i = at + 1; i < line.len && i <= at + 3 && line.ptr[i] >= '0' && line.ptr[i] <= '9';
		i++) {
		status = status * 10 + (uint32_t)(line.ptr[i] - '0');
	}
	return status;
}

static void take_header_line(struct call *call, struct bt_str line)
{
	struct bt_str value;

	if (bt_str_starts(line, "HTTP/")) { /* also of an interim answer, such as 100 */
		call->head = (struct bt_http_head){.status = status_of(line), .retry_after_ns = -1};
		bt_buf_clear(&call->content_type);
		return;
	}
	if ((value = value_of(line, "content-type")).ptr) {
		bt_buf_clear(&call->content_type);
		bt_buf_str(&call->content_type, value);
	} else if ((value = value_of(line, "retry-after")).ptr) {
		call->head.retry_after_ns = retry_after_of(value);
	}
}

static size_t take_header(char *bytes, size_t one, size_t n, void *context)
{
	struct call *call = context;
	struct bt_str line = {bytes, one * n};

	while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r')) {
		line.len--;
	}
	if (call->head_over) {
		return one * n; /* trailers */
	}
	if (line.len) {
		take_header_line(call, line);
		return one * n;
	}
	if (call->head.status < 200) {
		return one * n;
	}
	long version = 0;

	curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
	call->lane->shared = version == CURL_HTTP_VERSION_2_0;
	call->head_over = true;
	call->held = call->head.status == 401 && !call->refused;
	if (!call->held) {
		tell_head(call);
	}
	return call->cancelled ? 0 : one * n;
}

static size_t take_data(char *bytes, size_t one, size_t n, void *context)
{
	struct call *call = context;
	size_t size = one * n;

	call->http->taken += size;
	if (call->cancelled) {
		return CURL_WRITEFUNC_ERROR;
	}
	if (call->paused) {
		call->stalled = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	call->received_bytes += size;
	if (call->request.data && !call->held) {
		call->cancelled = !call->request.data(call->request.context, bytes, size);
		return call->cancelled ? CURL_WRITEFUNC_ERROR : size;
	}
	if (call->body.len + size > call->http->body_max_bytes) {
		call->too_long = true;
		return CURL_WRITEFUNC_ERROR;
	}
	bt_buf_add(&call->body, bytes, size);
	return size;
}

/* A peer that acknowledges nothing for so long is gone, however much is on the way to it. */
static int set_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
	const struct bt_http *http = context;
	int64_t ms = http->dead_ns / NS_PER_MS;
	unsigned limit = (unsigned)(ms > INT_MAX ? INT_MAX : ms);

	(void)purpose;
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
	return CURL_SOCKOPT_OK;
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
	const struct lane *lane = context;
	struct bt_http *http = lane->http;
	struct epoll_event event = {.data.u64 = (uint64_t)(lane - http->lanes) << 32 | (uint32_t)fd};

	(void)easy, (void)known;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(http->epoll, EPOLL_CTL_DEL, fd, &event);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
		       (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
	if (epoll_ctl(http->epoll, EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT) {
		epoll_ctl(http->epoll, EPOLL_CTL_ADD, fd, &event);
	}
	return 0;
}

static int watch_time(CURLM *multi, long timeout_ms, void *context)
{
	struct lane *lane = context;

	(void)multi;
	lane->due_ns = timeout_ms < 0 ? INT64_MAX : bt_clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	return 0;
}

/* ---- how a call begins ---- */

/* What is the same for every call. Returns 0, or that libcurl lacks something. */
static unsigned prepare_handle(const struct bt_http *http, struct call *call)
{
	const struct bt_endpoint *endpoint = http->endpoint;
	CURL *easy = call->easy;
	unsigned bad = 0;

	bad |= curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
	bad |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
	bad |= curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
	bad |= curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	bad |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_data);
	bad |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	bad |= curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
	bad |= curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, http);
	bad |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	bad |= curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	bad |= curl_easy_setopt(easy, CURLOPT_USERAGENT, endpoint->user_agent);
	bad |= curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, endpoint->compressed ? "gzip" : NULL);
	bad |= curl_easy_setopt(easy, CURLOPT_PROXY, endpoint->proxy);
	bad |= curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	if (endpoint->connect_to) {
		bad |= curl_easy_setopt(easy, CURLOPT_CONNECT_TO, &http->connect_to);
	}
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 5L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 2L);
	bad |= curl_easy_setopt(
		easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(http->connect_timeout_ns / NS_PER_MS));
	/* Calls wait for a connection that may take them all; a server without TLS speaks HTTP/1.1. */
	bad |= curl_easy_setopt(easy, CURLOPT_PIPEWAIT, endpoint->tls ? 1L : 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
		endpoint->tls ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
	bad |= curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, endpoint->insecure ? 0L : 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, endpoint->insecure ? 0L : 2L);
	return bad;
}

/* libcurl's structs are not const; it only reads what they name. */
static char *own_text(const char *text)
{
	union {
		const char *from;
		char *to;
	} bytes = {.from = text};

	return bytes.to;
}

static struct curl_blob blob_of(struct bt_str pem)
{
	return (struct curl_blob){own_text(pem.ptr), pem.len, CURL_BLOB_NOCOPY};
}

/* Certificates and keys. Connections are shared only by calls that show the same. */
static unsigned set_identity(struct call *call, const struct bt_identity *identity)
{
	CURL *easy = call->easy;
	struct curl_blob authority = blob_of(identity->authority);
	struct curl_blob certificate = blob_of(identity->certificate), key = blob_of(identity->key);
	unsigned bad = 0;

	if (call->shown == identity->number) {
		return 0;
	}
	call->shown = identity->number;
	if (authority.len) { /* instead of whom the system trusts, whom libcurl would trust as well */
		bad |= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &authority);
		bad |= curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO_BLOB, &authority);
	}
	bad |= curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, certificate.len ? &certificate : NULL);
	bad |= curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, key.len ? &key : NULL);
	return bad;
}

static void add_header(struct call *call, uint32_t *n, char *line)
{
	call->headers[*n] = (struct curl_slist){.data = line};
	if (*n) {
		call->headers[*n - 1].next = &call->headers[*n];
	}
	++*n;
}

static unsigned set_headers(struct call *call, const struct bt_identity *identity)
{
	const struct bt_endpoint *endpoint = call->http->endpoint;
	static char no_expect[] = "Expect:", no_type[] = "Content-Type:";
	uint32_t n = 0, need = identity->header_n + 4;

	if (call->header_cap < need) {
		call->headers = bt_mem_realloc(call->headers, need, sizeof(*call->headers));
		call->header_cap = need;
	}
	add_header(call, &n, no_expect);
	add_header(
		call, &n, call->request.content_type.len ? call->text.ptr + call->content_type_at : no_type);
	if (call->request.accept.len) {
		add_header(call, &n, call->text.ptr + call->accept_at);
	}
	if (endpoint->host) {
		add_header(call, &n, own_text(endpoint->host));
	}
	for (uint32_t i = 0; i < identity->header_n; i++) {
		add_header(call, &n, identity->headers[i]);
	}
	return curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

static unsigned set_request(struct call *call, int64_t now_ns)
{
	const struct bt_http_call *request = &call->request;
	bool body = request->body.len || request->method == BT_HTTP_POST;
	bool usual = request->method == (body ? BT_HTTP_POST : BT_HTTP_GET);
	int64_t left_ms = call->due_ns == INT64_MAX ? 0 : (call->due_ns - now_ns) / NS_PER_MS + 1;
	CURL *easy = call->easy;
	unsigned bad = 0;

	bad |= curl_easy_setopt(easy, CURLOPT_URL, call->text.ptr);
	bad |= curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body ? request->body.ptr : NULL);
	bad |= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
	if (!body) {
		bad |= curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	}
	bad |= curl_easy_setopt(
		easy, CURLOPT_CUSTOMREQUEST, usual ? NULL : bt_traffic_method(request->method));
	bad |= curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(left_ms > INT_MAX ? INT_MAX : left_ms));
	return bad;
}

static unsigned set_call(struct bt_http *http, struct call *call, const struct bt_identity *identity)
{
	unsigned bad = 0;

	if (!call->easy) {
		call->easy = curl_easy_init();
		BT_REQUIRE(call->easy);
		bad |= prepare_handle(http, call);
		call->shown = 0;
	}
	call->error[0] = 0;
	bad |= set_identity(call, identity);
	bad |= set_headers(call, identity);
	bad |= set_request(call, bt_clock_monotonic_ns());
	return bad;
}

static void launch(struct bt_http *http, struct call *call, struct bt_identity *identity)
{
	struct lane *lane = &http->lanes[0];

	for (uint32_t i = 1; i < http->lane_n && lane->probe != call->id; i++) {
		bool better = http->lanes[i].call_n < lane->call_n || http->lanes[i].probe == call->id;

		lane = better ? &http->lanes[i] : lane;
	}
	bt_buf_clear(&call->body);
	bt_buf_clear(&call->content_type);
	call->head = (struct bt_http_head){.retry_after_ns = -1};
	call->received_bytes = 0;
	call->went_out = call->died = call->head_over = call->held = call->stalled = false;
	if (set_call(http, call, identity) != 0 ||
		curl_multi_add_handle(lane->multi, call->easy) != CURLM_OK) {
		bt_identity_release(identity);
		finish(call, BT_HTTP_UNSENT,
			bt_str("libcurl refuses an option; it needs OpenSSL and HTTP/2"));
		return;
	}
	call->identity = identity;
	call->lane = lane;
	if (!lane->call_n++) {
		lane->heard_ns = bt_clock_monotonic_ns();
	}
}

/* Other credentials have come, or none will: in another thread. */
static void credentials_came(void *context)
{
	post_new(context, (struct command){.kind = COMMAND_READY});
}

static void start(struct bt_http *http, struct call *call)
{
	struct bt_identity *identity = NULL;
	struct bt_buf error = {0};
	uint64_t refused = call->asked ? 0 : call->refused;

	call->asked = call->refused != 0;
	switch (bt_access_identity(http->access, refused, credentials_came, http, &identity, &error)) {
	case BT_ACCESS_READY:
		if (identity->number != call->refused) {
			launch(http, call, identity);
			break;
		}
		bt_identity_release(identity);
		finish(call, BT_HTTP_ANSWERED, (struct bt_str){0});
		break;
	case BT_ACCESS_LATER:
		call->waits = true;
		http->waiting_n++;
		break;
	case BT_ACCESS_FAILED:
		finish(call, call->refused ? BT_HTTP_ANSWERED : BT_HTTP_UNSENT, bt_buf_view(&error));
		break;
	}
	bt_buf_fini(&error);
}

static void stop_waiting(struct bt_http *http, struct call *call)
{
	http->waiting_n -= call->waits;
	call->waits = false;
}

/* Calls that wait for credentials: all start when some came, and those end whose time is over. */
static void look_at_waiting(struct bt_http *http, bool came)
{
	int64_t now_ns = bt_clock_monotonic_ns();

	for (size_t i = http->waiting_n ? http->call_n : 0; i-- > 0;) {
		struct call *call = i < http->call_n ? http->calls[i] : NULL;

		if (!call || !call->waits || (!came && call->due_ns > now_ns)) {
			continue;
		}
		stop_waiting(http, call);
		if (came) {
			start(http, call);
		} else {
			finish(call, BT_HTTP_UNSENT, bt_str("no credentials came in time"));
		}
	}
}

static void cancel(struct bt_http *http, struct call *call)
{
	call->cancelled = true;
	call->held = false;
	stop_waiting(http, call);
	take_back(call);
	finish(call, BT_HTTP_CANCELLED, (struct bt_str){0});
}

static void begin(struct bt_http *http, struct call *call, bool ending)
{
	http->calls = bt_mem_grow(http->calls, http->call_n, &http->call_cap, sizeof(struct call *));
	call->slot = (uint32_t)http->call_n;
	call->begun_ns = bt_clock_monotonic_ns();
	http->calls[http->call_n++] = call;
	bt_map_put(&http->slots, call->id, call->slot);
	if (ending) {
		cancel(http, call);
	} else {
		start(http, call);
	}
}

/* ---- connections that have gone silent ---- */

static bool open_lane(struct bt_http *http, struct lane *lane)
{
	*lane = (struct lane){.http = http, .multi = curl_multi_init(), .due_ns = INT64_MAX};
	if (!lane->multi) {
		return false;
	}
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, watch_time);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
	return true;
}

/* When to act on a lane that says nothing; INT64_MAX: there is nothing to wait for. */
static int64_t probe_due_ns(const struct lane *lane)
{
	if (lane->broken) {
		return 0;
	}
	return lane->shared && lane->call_n && !lane->probe ? lane->heard_ns + QUIET_NS : INT64_MAX;
}

static void probed(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct lane *lane = context;
	bool silent = bt_clock_monotonic_ns() - lane->heard_ns >= PROBE_NS;

	(void)head, (void)body, (void)error;
	lane->probe = 0;
	lane->broken = silent && (end == BT_HTTP_LOST || end == BT_HTTP_UNSENT);
}

/* Ends the calls of a lane, and its connections: another call on them would hang as well. */
static void give_up(struct bt_http *http, struct lane *lane)
{
	for (size_t i = http->call_n; i-- > 0;) {
		struct call *call = http->calls[i];

		if (call->lane == lane) {
			take_back(call);
			finish(call, call->went_out ? BT_HTTP_LOST : BT_HTTP_UNSENT,
				bt_str("the server has sent nothing for 45 s; its connection is given up"));
		}
	}
	curl_multi_cleanup(lane->multi);
	BT_REQUIRE(open_lane(http, lane));
}

static void look_after_lane(struct bt_http *http, struct lane *lane, int64_t now_ns)
{
	if (probe_due_ns(lane) > now_ns) {
		return;
	}
	if (lane->broken) {
		give_up(http, lane);
		return;
	}
	lane->probe = bt_http_send(http,
		&(struct bt_http_call){
			.path = bt_str("/version"), .timeout_ns = PROBE_NS, .done = probed, .context = lane});
}

/* ---- the thread ---- */

static void obey(struct bt_http *http, struct command *command, bool ending)
{
	struct call *call = call_of(http, command->id);

	switch (command->kind) {
	case COMMAND_SEND:
		begin(http, (struct call *)command, ending);
		return; /* it is the call's own */
	case COMMAND_CANCEL:
		if (call) {
			cancel(http, call);
		}
		break;
	case COMMAND_RESUME:
		if (call && call->lane && call->stalled && !call->paused) {
			call->stalled = false;
			curl_easy_pause(call->easy, CURLPAUSE_CONT);
		}
		break;
	case COMMAND_AFTER:
		bt_timers_add(&http->timers, command->due_ns, command->call, command->context);
		break;
	case COMMAND_FORGET:
		bt_timers_forget(&http->timers, command->context);
		break;
	case COMMAND_READY:
		look_at_waiting(http, true);
		break;
	}
	bt_mem_free(command);
}

/* Returns whether there were any commands. */
static bool obey_all(struct bt_http *http, bool *out_ending)
{
	struct command *command = take_commands(http, out_ending);
	bool any = command;

	while (command) {
		struct command *next = command->next;

		obey(http, command, *out_ending);
		command = next;
	}
	return any;
}

static int64_t next_due_ns(struct bt_http *http)
{
	int64_t due_ns = bt_timers_due_ns(&http->timers);

	for (uint32_t i = 0; i < http->lane_n; i++) {
		int64_t probe_ns = probe_due_ns(&http->lanes[i]);

		due_ns = http->lanes[i].due_ns < due_ns ? http->lanes[i].due_ns : due_ns;
		due_ns = probe_ns < due_ns ? probe_ns : due_ns;
	}
	for (size_t i = 0; http->waiting_n && i < http->call_n; i++) {
		const struct call *call = http->calls[i];

		due_ns = call->waits && call->due_ns < due_ns ? call->due_ns : due_ns;
	}
	return due_ns;
}

static void take_event(struct bt_http *http, const struct epoll_event *event)
{
	uint64_t count;
	int bits = 0, running;

	if (event->data.u64 == WAKE) {
		ssize_t n = read(http->event, &count, sizeof(count));

		BT_REQUIRE(n == (ssize_t)sizeof(count) || errno == EAGAIN);
		return;
	}
	struct lane *lane = &http->lanes[event->data.u64 >> 32];

	lane->heard_ns = event->events & EPOLLIN ? bt_clock_monotonic_ns() : lane->heard_ns;
	bits |= event->events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0;
	bits |= event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
	bits |= event->events & (EPOLLHUP | EPOLLERR) ? CURL_CSELECT_ERR : 0;
	curl_multi_socket_action(lane->multi, (curl_socket_t)(event->data.u64 & UINT32_MAX), bits, &running);
	collect(http, lane);
}

static void wait_for_events(struct bt_http *http)
{
	struct epoll_event events[EVENT_MAX];
	int64_t due_ns = next_due_ns(http), left_ns = 0, wait_ms = -1;

	if (has_commands(http)) {
		wait_ms = 0;
	} else if (due_ns != INT64_MAX) {
		left_ns = due_ns - bt_clock_monotonic_ns();
		wait_ms = left_ns <= 0 ? 0 : (left_ns - 1) / NS_PER_MS + 1;
	}
	http->taken = 0;
	int n = epoll_wait(http->epoll, events, EVENT_MAX, (int)(wait_ms > INT_MAX ? INT_MAX : wait_ms));

	for (int i = 0; i < n; i++) {
		take_event(http, &events[i]);
	}
	/* Who reads something long goes on. */
	if (n > 0 && http->rest_ns && http->taken < REST_BYTES) {
		nanosleep(&(struct timespec){.tv_nsec = http->rest_ns}, NULL);
	}
}

/* Returns whether the client's end was asked for. */
static bool serve_times(struct bt_http *http)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	bool ending = false;
	struct bt_timer timer;
	int running;

	/* One may forget the next, so commands are obeyed in between. */
	while (!ending && bt_timers_take(&http->timers, now_ns, &timer)) {
		timer.call(timer.context);
		obey_all(http, &ending);
	}
	for (uint32_t i = 0; i < http->lane_n; i++) {
		struct lane *lane = &http->lanes[i];

		if (lane->due_ns <= now_ns) {
			lane->due_ns = INT64_MAX; /* libcurl sets it again */
			curl_multi_socket_action(lane->multi, CURL_SOCKET_TIMEOUT, 0, &running);
			collect(http, lane);
		}
		look_after_lane(http, lane, now_ns);
	}
	look_at_waiting(http, false);
	return ending;
}

static void run(void *context)
{
	struct bt_http *http = context;

	bool ending = false;

	current = http;
	for (obey_all(http, &ending); !ending; obey_all(http, &ending)) {
		if (serve_times(http)) {
			break;
		}
		wait_for_events(http);
	}
	do {
		while (http->call_n) {
			cancel(http, http->calls[http->call_n - 1]);
		}
	} while (obey_all(http, &ending));
	current = NULL;
}

/* ---- the client ---- */

static bool open_files(struct bt_http *http)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = WAKE};

	http->epoll = epoll_create1(EPOLL_CLOEXEC);
	http->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return http->epoll >= 0 && http->event >= 0 &&
	       epoll_ctl(http->epoll, EPOLL_CTL_ADD, http->event, &event) == 0;
}

static void free_client(struct bt_http *http)
{
	while (http->idle) {
		struct call *call = http->idle;

		http->idle = (struct call *)call->command.next;
		destroy_call(call);
	}
	for (uint32_t i = 0; i < http->lane_n; i++) {
		curl_multi_cleanup(http->lanes[i].multi);
	}
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
	http->endpoint = bt_access_endpoint(options->access);
	http->connect_timeout_ns =
		options->connect_timeout_ns ? options->connect_timeout_ns : (int64_t)10 * NS_PER_S;
	http->dead_ns = options->dead_ns ? options->dead_ns : (int64_t)10 * NS_PER_S;
	http->rest_ns = options->rest_ns;
	http->body_max_bytes = options->body_max_bytes ? options->body_max_bytes : BT_HTTP_BODY_MAX;
	http->connect_to = (struct curl_slist){.data = own_text(http->endpoint->connect_to)};
	http->last = &http->first;
	bt_lock_init(&http->lock);
	bool good = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && open_files(http);

	for (uint32_t i = 0; good && i < lane_n && i < LANE_MAX; i++) {
		good = open_lane(http, &http->lanes[i]);
		http->lane_n += good;
	}
	if (!good) {
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
	uint64_t one = 1;

	bt_lock_acquire(&http->lock);
	http->ending = true;
	bt_lock_release(&http->lock);
	ssize_t n = write(http->event, &one, sizeof(one));

	BT_REQUIRE(n == (ssize_t)sizeof(one));
	bt_thread_join(&http->thread);
	bt_access_forget(http->access, http);
	for (struct command *command = http->first, *next; command; command = next) {
		next = command->next;
		bt_mem_free(command);
	}
	free_client(http);
}

struct bt_http_counts bt_http_counts(const struct bt_http *http)
{
	return (struct bt_http_counts){
		.call_n = bt_load_relaxed(&http->counts[COUNT_CALLS]),
		.error_n = bt_load_relaxed(&http->counts[COUNT_ERRORS]),
		.sent_bytes = bt_load_relaxed(&http->counts[COUNT_SENT]),
		.received_bytes = bt_load_relaxed(&http->counts[COUNT_RECEIVED]),
		.connect_n = bt_load_relaxed(&http->counts[COUNT_CONNECTS]),
	};
}

/* ---- a call that is waited for ---- */

struct fetch {
	struct bt_latch over;
	enum bt_http_end end;
	struct bt_http_head *head;
	struct bt_buf *body, *error;
};

static void fetched(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct fetch *fetch = context;

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
	struct fetch fetch = {.head = out_head, .body = out_body, .error = out_error};
	struct bt_http_call whole = *call;

	bt_latch_init(&fetch.over);
	whole.head = NULL;
	whole.data = NULL;
	whole.done = fetched;
	whole.context = &fetch;
	bt_http_send(http, &whole);
	bt_latch_wait(&fetch.over, BT_PARK_FOREVER);
	bt_latch_fini(&fetch.over);
	return fetch.end;
}
