/* SPDX-License-Identifier: Apache-2.0
 * Calls by libcurl, used only in this file: through proxies, without TLS, and to servers that speak HTTP/1.1
 * only. A lane is a multi handle; libcurl fills one connection before it opens another.
 *
 * Only the pre-request hook tells whether a request may have reached the server: libcurl calls it right
 * before the first byte (prereq). libcurl calls it again when it repeats a request, because a reused
 * connection died without an answer, or because the server refused the stream. The repeat is stopped for all
 * but GET, because the server may have processed the first one.
 */
#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tools/cluster/net/http_int.h"
#include "tools/cluster/net/tls_int.h"
#include "tools/cluster/net/client_metrics.h"

#define BUFFER_BYTES (128L << 10) /* size of libcurl's reads */
#define CONNECT_MAX  (64u << 10)  /* limit of an answer to CONNECT, with its body */

/* libcurl's state of a call. */
struct bt_curl_call {
	CURL *easy;
	struct curl_slist *headers;
	uint32_t header_cap;
	uint64_t shown;	 /* the identity that easy was set up with */
	bool died;	 /* without an answer; libcurl would have repeated it */
	int64_t due_ns;	 /* when the request must have been sent */
	long connect_n;	 /* connections opened for it until it was sent */
	uint32_t step_n; /* progress callbacks since, on the way to a connection */
	char error[CURL_ERROR_SIZE];
};

struct curl_lane {
	struct bt_http *http;
	CURLM *multi;
	int64_t due_ns; /* when libcurl needs a call; INT64_MAX: not */
	uint32_t call_n;
	int64_t received_ns; /* when its connections last received anything, or its first call started */
	uint64_t probe;	     /* the call that probes the connection; 0: none */
	bool shared;	     /* its calls share a connection (HTTP/2) */
	bool broken;	     /* to be closed */
};

struct bt_curl {
	struct curl_slist connect_to;
	struct bt_client_tls_judge judge;
	int64_t wait_ns; /* lower bound of the calls' due_ns; INT64_MAX: none waits */
	struct curl_lane lanes[BT_HTTP_LANES];
};

/* ---- how a call ends ---- */

static void count_transfer(struct bt_http *http, CURL *easy)
{
	curl_off_t up = 0, down = 0;
	long request = 0, head = 0, connects = 0;

	curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &up);
	curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request);
	curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &head);
	curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
	bt_http_count(http, BT_COUNT_SENT, (uint64_t)(up + request));
	bt_http_count(http, BT_COUNT_RECEIVED, (uint64_t)(down + head));
	bt_http_count(http, BT_COUNT_CONNECTS, (uint64_t)connects);
}

/* Takes a call back from libcurl, which then resets its stream or its connection if it has not ended. */
static void take_back(struct bt_http *http, struct bt_call *call)
{
	struct curl_lane *lane = &http->curl->lanes[call->lane];

	count_transfer(http, call->curl->easy);
	curl_multi_remove_handle(lane->multi, call->curl->easy);
	lane->call_n--;
}

static enum bt_http_fault fault_of(CURL *easy, CURLcode code)
{
	long number = 0;

	switch (code) {
	case CURLE_OK:
		return BT_HTTP_NO_FAULT;
	case CURLE_PEER_FAILED_VERIFICATION:
		return BT_HTTP_NOT_TRUSTED;
	case CURLE_SSL_CERTPROBLEM:
		return BT_HTTP_NO_IDENTITY;
	case CURLE_SSL_CACERT_BADFILE:
		return BT_HTTP_NO_AUTHORITY;
	case CURLE_OPERATION_TIMEDOUT:
		return BT_HTTP_LATE;
	case CURLE_COULDNT_RESOLVE_HOST:
		return BT_HTTP_NO_HOST;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
		return number == ECONNREFUSED ? BT_HTTP_NO_LISTENER : BT_HTTP_UNREACHABLE;
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
		return BT_HTTP_CLOSED;
	default:
		return BT_HTTP_BROKEN;
	}
}

/* libcurl has finished a call. */
static void settle(struct bt_call *call, CURLcode code)
{
	const struct bt_curl_call *part = call->curl;
	const struct bt_client_tls_judge *judge = &call->http->curl->judge;
	enum bt_http_fault fault = fault_of(part->easy, code);

	take_back(call->http, call);
	if (fault == BT_HTTP_NOT_TRUSTED && judge->refusal.len) {
		struct bt_buf why = {0};

		bt_buf_printf(&why, BT_TLS_REFUSAL "%.*s", BT_STR_ARG(bt_buf_view(&judge->refusal)));
		bt_http_settle(call, fault, bt_buf_view(&why));
		bt_buf_fini(&why);
	} else if (part->died) {
		bt_http_settle(call, BT_HTTP_CLOSED,
			bt_str("the connection ended before an answer was received, or the server refused "
			       "the "
			       "stream"));
	} else if (part->step_n > CONNECT_MAX) {
		bt_http_settle(call, fault,
			bt_str("the proxy's answer to CONNECT is longer than 64 KiB; is proxy-url of the "
			       "kubeconfig, or $HTTPS_PROXY, an HTTP proxy?"));
	} else {
		bt_http_settle(call, fault, bt_str(*part->error ? part->error : curl_easy_strerror(code)));
	}
}

/* Ends a call that libcurl has not finished. */
static void end_early(struct bt_http *http, struct bt_call *call, enum bt_http_fault fault, const char *why)
{
	take_back(http, call);
	bt_http_settle(call, fault, bt_str(why));
}

static void collect(struct curl_lane *lane)
{
	struct CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(lane->multi, &left))) {
		struct bt_call *call = NULL;

		if (message->msg == CURLMSG_DONE) {
			CURLcode code = message->data.result;

			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
			settle(call, code);
		}
	}
}

/* ---- libcurl's callbacks ---- */

static long connect_n_of(const struct bt_call *call)
{
	long n = 0;

	curl_easy_getinfo(call->curl->easy, CURLINFO_NUM_CONNECTS, &n);
	return n;
}

static int before_request(void *context, char *there, char *here, int port, int own_port)
{
	struct bt_call *call = context;
	bool again = call->went_out;

	(void)there, (void)here, (void)port, (void)own_port;
	if (again && call->request.method != BT_HTTP_GET) {
		call->curl->died = true;
		return CURL_PREREQFUNC_ABORT;
	}
	call->went_out = true;
	call->curl->connect_n = connect_n_of(call);
	call->curl->step_n = 0;
	return CURL_PREREQFUNC_OK;
}

/* libcurl reads a proxy's answer to CONNECT byte by byte to its end, without a limit of time or size, and
 * blocks all other calls meanwhile. It calls this after each byte. */
static int take_step(void *context, curl_off_t down, curl_off_t got, curl_off_t up, curl_off_t sent)
{
	struct bt_call *call = context;

	(void)down, (void)got, (void)up, (void)sent;
	if (call->went_out && connect_n_of(call) == call->curl->connect_n) {
		return 0; /* it has its connection */
	}
	return ++call->curl->step_n > CONNECT_MAX;
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

static bool take_header_line(struct bt_call *call, struct bt_str line)
{
	size_t colon = bt_str_find(line, ':', 0), from = colon + 1;

	if (!call->head_over && bt_str_starts(line, "HTTP/")) { /* also of an interim answer, such as 100 */
		return bt_http_begin_head(call, status_of(line));
	}
	while (from < line.len && (line.ptr[from] == ' ' || line.ptr[from] == '\t')) {
		from++;
	}
	return bt_http_take_field(call, bt_str_sub(line, 0, colon),
		bt_str_sub(line, from < line.len ? from : line.len, line.len));
}

static size_t take_header(char *bytes, size_t one, size_t n, void *context)
{
	struct bt_call *call = context;
	struct bt_str line = {bytes, one * n};

	while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r')) {
		line.len--;
	}
	if (line.len) { /* trailers as well */
		return take_header_line(call, line) ? one * n : 0;
	}
	if (call->head_over || call->head.status < 200) {
		return one * n;
	}
	long version = 0;

	curl_easy_getinfo(call->curl->easy, CURLINFO_HTTP_VERSION, &version);
	call->http->curl->lanes[call->lane].shared = version == CURL_HTTP_VERSION_2_0;
	return bt_http_end_head(call) ? one * n : 0;
}

static size_t take_data(char *bytes, size_t one, size_t n, void *context)
{
	struct bt_call *call = context;

	if (call->paused && !call->cancelled) {
		call->stalled = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	return bt_http_take_data(call, bytes, one * n) ? one * n : CURL_WRITEFUNC_ERROR;
}

/* Closes a connection whose peer acknowledges nothing for this long, however much data is in flight. */
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
	const struct curl_lane *lane = context;
	struct bt_http *http = lane->http;
	struct epoll_event event = {.data.u64 = (uint64_t)(lane - http->curl->lanes) << 32 | (uint32_t)fd};

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
	struct curl_lane *lane = context;

	(void)multi;
	lane->due_ns = timeout_ms < 0 ? INT64_MAX : bt_clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	return 0;
}

/* ---- launch ---- */

/* Options that are the same for every call. Returns 0, or nonzero when libcurl lacks a feature. */
static unsigned prepare_handle(const struct bt_http *http, struct bt_call *call)
{
	const struct bt_endpoint *endpoint = http->endpoint;
	CURL *easy = call->curl->easy;
	unsigned bad = 0;

	bad |= curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
	bad |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->curl->error);
	bad |= curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
	bad |= curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
	bad |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	bad |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_data);
	bad |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	bad |= curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, take_step);
	bad |= curl_easy_setopt(easy, CURLOPT_XFERINFODATA, call);
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
	/* As Go, which does not support GSSAPI: a proxy that supports it would choose it. */
	bad |= curl_easy_setopt(easy, CURLOPT_SOCKS5_AUTH, CURLAUTH_BASIC);
	if (endpoint->connect_to) {
		bad |= curl_easy_setopt(easy, CURLOPT_CONNECT_TO, &http->curl->connect_to);
	}
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 5L);
	bad |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 2L);
	bad |= curl_easy_setopt(
		easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(http->connect_timeout_ns / NS_PER_MS));
	/* Calls wait for a connection that may carry them all; a server without TLS speaks HTTP/1.1. */
	bad |= curl_easy_setopt(easy, CURLOPT_PIPEWAIT, endpoint->tls ? 1L : 0L);
	bad |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
		endpoint->tls ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
	bad |= curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, endpoint->insecure ? 0L : 1L);
	/* The judge checks names by Go's rules, but cannot tell whether a connection leads to the proxy or to
	 * the server. */
	bad |= curl_easy_setopt(
		easy, CURLOPT_SSL_VERIFYHOST, !endpoint->insecure && http->curl->judge.proxy.len ? 2L : 0L);
	return bad;
}

/* libcurl's structs are not const; it only reads their fields. */
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

static CURLcode prepare_tls(CURL *easy, void *ssl, void *context)
{
	struct bt_http *http = context;

	(void)easy;
	bt_client_tls_prepare(ssl, &http->curl->judge);
	return CURLE_OK;
}

/* Certificates and keys. Only calls with the same ones share connections. */
static unsigned set_identity(struct bt_call *call, const struct bt_identity *identity)
{
	CURL *easy = call->curl->easy;
	struct curl_blob authority = blob_of(identity->authority);
	struct curl_blob certificate = blob_of(identity->certificate), key = blob_of(identity->key);
	unsigned bad = 0;

	if (call->curl->shown == identity->number) {
		return 0;
	}
	call->curl->shown = identity->number;
	if (authority.len) { /* instead of the system's, which libcurl would trust as well */
		bad |= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &authority);
		bad |= curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, NULL);
		bad |= curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO_BLOB, &authority);
	}
	bad |= curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prepare_tls);
	bad |= curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, call->http);
	bad |= curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, certificate.len ? &certificate : NULL);
	bad |= curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, key.len ? &key : NULL);
	return bad;
}

static void add_header(struct bt_curl_call *part, uint32_t *n, char *line)
{
	part->headers[*n] = (struct curl_slist){.data = line};
	if (*n) {
		part->headers[*n - 1].next = &part->headers[*n];
	}
	++*n;
}

static unsigned set_headers(struct bt_call *call, const struct bt_identity *identity)
{
	const struct bt_endpoint *endpoint = call->http->endpoint;
	struct bt_curl_call *part = call->curl;
	static char no_expect[] = "Expect:", no_type[] = "Content-Type:";
	uint32_t n = 0, need = identity->header_n + 4;

	if (part->header_cap < need) {
		part->headers = bt_mem_realloc(part->headers, need, sizeof(*part->headers));
		part->header_cap = need;
	}
	add_header(part, &n, no_expect);
	add_header(
		part, &n, call->request.content_type.len ? call->text.ptr + call->content_type_at : no_type);
	if (call->request.accept.len) {
		add_header(part, &n, call->text.ptr + call->accept_at);
	}
	if (endpoint->host) {
		add_header(part, &n, own_text(endpoint->host));
	}
	for (uint32_t i = 0; i < identity->header_n; i++) {
		add_header(part, &n, identity->headers[i]);
	}
	return curl_easy_setopt(part->easy, CURLOPT_HTTPHEADER, part->headers);
}

static unsigned set_request(struct bt_call *call)
{
	const struct bt_http_call *request = &call->request;
	bool body = request->body.len || request->method == BT_HTTP_POST;
	bool usual = request->method == (body ? BT_HTTP_POST : BT_HTTP_GET);
	CURL *easy = call->curl->easy;
	unsigned bad = 0;

	bad |= curl_easy_setopt(easy, CURLOPT_URL, call->text.ptr);
	bad |= curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body ? request->body.ptr : NULL);
	bad |= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
	if (!body) {
		bad |= curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	}
	bad |= curl_easy_setopt(
		easy, CURLOPT_CUSTOMREQUEST, usual ? NULL : bt_client_metrics_method(request->method));
	return bad;
}

static unsigned set_call(struct bt_http *http, struct bt_call *call, const struct bt_identity *identity)
{
	unsigned bad = 0;

	if (!call->curl) {
		call->curl = bt_mem_zalloc(1, sizeof(*call->curl));
		call->curl->easy = curl_easy_init();
		BT_REQUIRE(call->curl->easy);
		bad |= prepare_handle(http, call);
	}
	call->curl->error[0] = 0;
	call->curl->died = false;
	call->curl->step_n = 0;
	bad |= set_identity(call, identity);
	bad |= set_headers(call, identity);
	bad |= set_request(call);
	return bad;
}

static bool launch(struct bt_http *http, struct bt_call *call, struct bt_buf *out_why)
{
	for (uint32_t i = 0; i < http->lane_n; i++) {
		call->lane = http->curl->lanes[i].probe == call->id ? i : call->lane;
	}
	struct curl_lane *lane = &http->curl->lanes[call->lane];
	int64_t now_ns = bt_clock_monotonic_ns();

	if (set_call(http, call, call->identity) != 0 ||
		curl_multi_add_handle(lane->multi, call->curl->easy) != CURLM_OK) {
		bt_buf_text(out_why, "libcurl refuses an option; it needs OpenSSL and HTTP/2");
		return false;
	}
	if (!lane->call_n++) {
		lane->received_ns = now_ns;
	}
	call->curl->due_ns = now_ns + http->connect_timeout_ns;
	if (call->curl->due_ns < http->curl->wait_ns) {
		http->curl->wait_ns = call->curl->due_ns;
	}
	return true;
}

static void resume(struct bt_http *http, struct bt_call *call)
{
	(void)http;
	curl_easy_pause(call->curl->easy, CURLPAUSE_CONT);
}

static void forget(struct bt_call *call)
{
	if (call->curl) {
		curl_easy_cleanup(call->curl->easy);
		bt_mem_free(call->curl->headers);
		bt_mem_free(call->curl);
	}
}

const struct bt_transport bt_transport_curl = {launch, take_back, resume, forget};

/* ---- silent connections ---- */

static bool open_lane(struct bt_http *http, struct curl_lane *lane)
{
	*lane = (struct curl_lane){.http = http, .multi = curl_multi_init(), .due_ns = INT64_MAX};
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

/* When to act on a silent lane; INT64_MAX: nothing to wait for. */
static int64_t probe_due_ns(const struct curl_lane *lane)
{
	if (lane->broken) {
		return 0;
	}
	return lane->shared && lane->call_n && !lane->probe ? lane->received_ns + lane->http->quiet_ns
							    : INT64_MAX;
}

static void probed(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct curl_lane *lane = context;
	bool silent = bt_clock_monotonic_ns() - lane->received_ns >= lane->http->quiet_ns / 2;

	(void)head, (void)body, (void)error;
	lane->probe = 0;
	lane->broken = silent && (end == BT_HTTP_LOST || end == BT_HTTP_UNSENT);
}

/* Ends the calls of a lane, and its connections: another call on them would hang as well. */
static void http_curl_give_up(struct bt_http *http, struct curl_lane *lane)
{
	for (size_t i = http->call_n; i-- > 0;) {
		struct bt_call *call = i < http->call_n ? http->calls[i] : NULL;

		if (call && call->transport == &bt_transport_curl && &http->curl->lanes[call->lane] == lane) {
			end_early(http, call, BT_HTTP_BROKEN, BT_HTTP_SILENT);
		}
	}
	curl_multi_cleanup(lane->multi);
	bool opened = open_lane(http, lane);
	BT_REQUIRE(opened);
}

static void check_lane(struct bt_http *http, struct curl_lane *lane, int64_t now_ns)
{
	if (probe_due_ns(lane) > now_ns) {
		return;
	}
	if (lane->broken) {
		http_curl_give_up(http, lane);
		return;
	}
	lane->probe = bt_http_send(http, &(struct bt_http_call){.path = bt_str("/version"),
						 .timeout_ns = http->quiet_ns / 2,
						 .done = probed,
						 .context = lane});
}

/* ---- calls that wait for a connection ---- */

/* Calls of a lane wait for the one connection that is being opened. When that fails, libcurl lets the next
 * call try, with a new timeout, and so on: the last call would wait n timeouts. */
static void end_waits(struct bt_http *http, int64_t now_ns)
{
	if (http->curl->wait_ns > now_ns) {
		return;
	}
	http->curl->wait_ns = INT64_MAX;
	for (size_t i = http->call_n; i-- > 0;) {
		struct bt_call *call = i < http->call_n ? http->calls[i] : NULL;

		if (!call || call->transport != &bt_transport_curl || call->went_out) {
			continue;
		}
		if (call->curl->due_ns <= now_ns) {
			end_early(http, call, BT_HTTP_LATE, "there was no connection in time");
		} else if (call->curl->due_ns < http->curl->wait_ns) {
			http->curl->wait_ns = call->curl->due_ns;
		}
	}
}

/* ---- the client's thread ---- */

bool bt_curl_open(struct bt_http *http)
{
	bool good = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;

	http->curl = bt_mem_zalloc(1, sizeof(*http->curl));
	http->curl->wait_ns = INT64_MAX;
	bt_client_tls_judge_init(&http->curl->judge, http->endpoint);
	http->curl->connect_to.data = own_text(http->endpoint->connect_to);
	for (uint32_t i = 0; good && i < http->lane_n; i++) {
		good = open_lane(http, &http->curl->lanes[i]);
	}
	return good;
}

void bt_curl_close(struct bt_http *http)
{
	for (uint32_t i = 0; http->curl && i < http->lane_n; i++) {
		curl_multi_cleanup(http->curl->lanes[i].multi);
	}
	if (http->curl) {
		bt_client_tls_judge_fini(&http->curl->judge);
	}
	bt_mem_free(http->curl);
	http->curl = NULL;
}

int64_t bt_curl_due_ns(const struct bt_http *http)
{
	int64_t due_ns = http->curl->wait_ns;

	for (uint32_t i = 0; i < http->lane_n; i++) {
		const struct curl_lane *lane = &http->curl->lanes[i];
		int64_t probe_ns = probe_due_ns(lane);

		due_ns = lane->due_ns < due_ns ? lane->due_ns : due_ns;
		due_ns = probe_ns < due_ns ? probe_ns : due_ns;
	}
	return due_ns;
}

void bt_curl_serve(struct bt_http *http, int64_t now_ns)
{
	int running;

	for (uint32_t i = 0; i < http->lane_n; i++) {
		struct curl_lane *lane = &http->curl->lanes[i];

		if (lane->due_ns <= now_ns) {
			lane->due_ns = INT64_MAX; /* libcurl sets it again */
			curl_multi_socket_action(lane->multi, CURL_SOCKET_TIMEOUT, 0, &running);
			collect(lane);
		}
		check_lane(http, lane, now_ns);
	}
	end_waits(http, now_ns);
}

void bt_curl_take_event(struct bt_http *http, uint64_t data, uint32_t events)
{
	struct curl_lane *lane = &http->curl->lanes[data >> 32];
	int bits = 0, running;

	lane->received_ns = events & EPOLLIN ? bt_clock_monotonic_ns() : lane->received_ns;
	bits |= events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0;
	bits |= events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
	bits |= events & (EPOLLHUP | EPOLLERR) ? CURL_CSELECT_ERR : 0;
	curl_multi_socket_action(lane->multi, (curl_socket_t)(data & UINT32_MAX), bits, &running);
	collect(lane);
}
