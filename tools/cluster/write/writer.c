/* SPDX-License-Identifier: Apache-2.0
 * The writer: inbox, order of writes, calls in flight.
 * EDGE write.inbox: requests of other threads, for the client's thread.
 */
#include "tools/cluster/write/writer_int.h"

#include <unistd.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/cluster/net/escape.h"
#include "tools/cluster/net/client_metrics.h"
#include "tools/format/proto.h"
#include "tools/cluster/write/proto.h"

#define LOG_INTERVAL_NS INT64_C(1000000000)

#define QPS	    50
#define BURST	    100
#define CONNECTIONS 4
#define IN_FLIGHT   256
#define REPORTS	    16384
#define EVENTS	    65536
#define EVENT_BYTES ((size_t)32 << 20)
/* Minimal window: a server that answers can take this many writes at a time. */
#define FEW    32
#define WAY_NS (10 * BT_WRITE_S)
/* At AHEAD_MAX waiting bindings no more are accepted, until AHEAD_FEW are left: enough to keep a server busy
 * until the scheduling thread has woken up. */
#define AHEAD_MAX 512
#define AHEAD_FEW 256
/* The delay after 429 without Retry-After. */
#define HOLD_NS BT_WRITE_S
/* Calls that fail together slow the writer down once. */
#define SLOW_DOWN_NS (BT_WRITE_S / 10)
/* Short compared with the latency of an answer. */
#define BATCH_NS       (BT_WRITE_S / 1000)
#define BACKOFF_NS     (BT_WRITE_S / 10)
#define BACKOFF_MAX_NS (5 * BT_WRITE_S)

int64_t bt_write_now(const struct bt_writer *writer)
{
	return writer->options.steady.now_ns ? bt_clock_now_ns(&writer->options.steady)
					     : bt_clock_monotonic_ns();
}

int64_t bt_write_wall(const struct bt_writer *writer)
{
	return bt_clock_now_ns(&writer->options.wall);
}

/* ---- ops ---- */

struct bt_write_op *bt_write_op_create(struct bt_writer *writer, const struct bt_write_op_verbs *verbs)
{
	struct bt_write_op *op = bt_mem_zalloc(1, sizeof(*op));

	op->verbs = verbs;
	op->writer = writer;
	if (verbs->class != BT_CLASS_EVENT) { /* an event's texts are its own */
		bt_arena_start(&op->arena, BT_OP_TEXT_BYTES);
	}
	bt_add(&writer->open_n, UINT64_C(1));
	return op;
}

void bt_write_op_goes(struct bt_write_op *op)
{
	if (op->ahead) {
		op->ahead = false;
		bt_sub_relaxed(&op->writer->ahead_n, 1u);
	}
}

void bt_write_op_close(struct bt_write_op *op)
{
	bt_write_op_goes(op);
	if (bt_sub(&op->writer->open_n, UINT64_C(1)) == 1) {
		bt_eventcount_wake(&op->writer->over);
	}
}

void bt_write_op_free(struct bt_write_op *op)
{
	bt_arena_fini(&op->arena);
	bt_mem_free(op);
}

void bt_write_op_end(struct bt_write_op *op)
{
	bt_write_op_close(op);
	bt_write_op_free(op);
}

struct bt_str bt_write_op_copy(struct bt_write_op *op, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&op->arena, text.len ? text.ptr : "", text.len), text.len};
}

struct bt_pod_ref bt_write_op_copy_ref(struct bt_write_op *op, const struct bt_pod_ref *ref)
{
	return (struct bt_pod_ref){bt_write_op_copy(op, ref->namespace_), bt_write_op_copy(op, ref->name),
		bt_write_op_copy(op, ref->uid)};
}

/* ---- lists ---- */

static void list_append(struct bt_write_op_list *list, struct bt_write_op *op)
{
	op->next = NULL;
	if (list->last) {
		list->last->next = op;
	} else {
		list->first = op;
	}
	list->last = op;
	list->n++;
}

static void list_prepend(struct bt_write_op_list *list, struct bt_write_op *op)
{
	op->next = list->first;
	list->first = op;
	list->last = list->last ? list->last : op;
	list->n++;
}

static struct bt_write_op *list_take(struct bt_write_op_list *list)
{
	struct bt_write_op *op = list->first;

	list->first = op->next;
	list->last = list->first ? list->last : NULL;
	list->n--;
	return op;
}

static struct bt_write_op_list *queue_of(const struct bt_write_op *op)
{
	return &op->writer->queues[op->verbs->class];
}

void bt_write_op_queue(struct bt_write_op *op)
{
	op->due_ns = bt_write_now(op->writer);
	list_append(queue_of(op), op);
}

void bt_write_op_queue_first(struct bt_write_op *op)
{
	op->due_ns = bt_write_now(op->writer);
	list_prepend(queue_of(op), op);
}

void bt_write_op_later(struct bt_write_op *op, int64_t delay_ns)
{
	struct bt_writer *writer = op->writer;

	bt_write_op_goes(op);
	op->due_ns = bt_write_now(writer) + delay_ns;
	op->next = writer->later;
	writer->later = op;
	writer->later_n++;
	if (op->due_ns < writer->later_ns) {
		writer->later_ns = op->due_ns;
	}
}

static bool winds_up(const struct bt_writer *writer)
{
	return bt_load_relaxed(&writer->reports_until_ns) != INT64_MAX;
}

/* Whether it reads the outcome of a call that may still take effect. */
static bool follows(const struct bt_write_op *op)
{
	return op->reads && op->verbs != &bt_prebind_verbs;
}

/* During shutdown, only reads of a binding's outcome still keep their delays. */
static bool is_due(const struct bt_writer *writer, const struct bt_write_op *op, int64_t now_ns)
{
	return op->due_ns <= now_ns || (winds_up(writer) && !follows(op));
}

static void take_due(struct bt_writer *writer, int64_t now_ns)
{
	struct bt_write_op *op = writer->later;

	if (now_ns < writer->later_ns && !winds_up(writer)) {
		return;
	}
	writer->later = NULL;
	writer->later_n = 0;
	writer->later_ns = INT64_MAX;
	for (struct bt_write_op *next; op; op = next) {
		next = op->next;
		if (is_due(writer, op, now_ns)) {
			bt_write_op_queue(op);
			continue;
		}
		op->next = writer->later;
		writer->later = op;
		writer->later_n++;
		writer->later_ns = op->due_ns < writer->later_ns ? op->due_ns : writer->later_ns;
	}
}

int64_t bt_write_op_backoff_ns(const struct bt_write_op *op)
{
	uint32_t doublings = op->tries < 8 ? op->tries : 8;
	int64_t delay_ns = BACKOFF_NS << (doublings ? doublings - 1 : 0);

	delay_ns = delay_ns < BACKOFF_MAX_NS ? delay_ns : BACKOFF_MAX_NS;
	/* Jitter: calls that failed together are not retried together. */
	return delay_ns + (int64_t)bt_rng_scale(bt_rng_at(op->handle, op->tries), (uint32_t)(delay_ns / 4));
}

void bt_write_op_repeat(struct bt_write_op *op)
{
	BT_WRITE_COUNT(op->writer, again_n);
	op->again = true;
}

bool bt_write_op_again(struct bt_write_op *op, const struct bt_answer *answer)
{
	if (answer->fate == BT_FATE_THROTTLED) {
		bt_write_op_queue_first(op);
		return true;
	}
	if (answer->fate == BT_FATE_DONE || answer->fate == BT_FATE_REFUSED ||
		++op->tries >= BT_WRITE_TRIES) {
		return false;
	}
	bt_write_op_repeat(op);
	bt_write_op_later(op, bt_write_op_backoff_ns(op));
	return true;
}

/* ---- the inbox ---- */

static void pump(struct bt_writer *writer);

static void wake(void *context)
{
	pump(context);
}

/* Lock-free: of several concurrent pushes, one succeeds in each round. */
void bt_write_op_post(struct bt_write_op *op)
{
	struct bt_writer *writer = op->writer;
	struct bt_write_op *last = bt_load_relaxed(&writer->inbox);

	do {
		op->next = last;
		/* EDGE write.inbox release: the op and its link are written. */
	} while (!bt_cas(&writer->inbox, &last, op));
	if (!last) {
		bt_http_after(writer->http, 0, wake, writer);
	}
}

static struct bt_write_op *take_inbox(struct bt_writer *writer)
{
	struct bt_write_op *op = NULL, *first = NULL;

	if (bt_load_relaxed(&writer->inbox)) {
		op = bt_exchange(&writer->inbox, NULL); /* EDGE write.inbox acquire */
	}
	/* The list is in reverse order of arrival: reverses it. */
	for (struct bt_write_op *next; op; op = next) {
		next = op->next;
		op->next = first;
		first = op;
	}
	return first;
}

static void begin_all(struct bt_writer *writer)
{
	struct bt_write_op *op = take_inbox(writer);

	for (struct bt_write_op *next; op; op = next) {
		next = op->next;
		bt_arena_reset(&writer->scratch);
		op->verbs->begin(writer, op);
	}
}

/* ---- send ---- */

static void slow_down(struct bt_writer *writer, int64_t now_ns)
{
	if (now_ns - writer->slowed_ns < SLOW_DOWN_NS) {
		return;
	}
	writer->slowed_ns = now_ns;
	writer->window = writer->window / 2 > 1 ? writer->window / 2 : 1;
}

/* Records the minimal latency of recent answers: the round trip without queueing in the server. */
static void note_way(struct bt_writer *writer, int64_t took_ns, int64_t now_ns)
{
	if (now_ns - writer->way_since_ns >= WAY_NS) {
		writer->way_since_ns = now_ns;
		writer->way_ns = writer->next_way_ns;
		writer->next_way_ns = INT64_MAX;
	}
	writer->next_way_ns = took_ns < writer->next_way_ns ? took_ns : writer->next_way_ns;
	writer->way_ns = took_ns < writer->way_ns ? took_ns : writer->way_ns;
}

/* More concurrent writes do not speed up a busy server, but they hide a long round trip. */
static void speed_up(struct bt_writer *writer, int64_t took_ns, int64_t now_ns)
{
	double most = writer->options.in_flight, few = most < FEW ? most : FEW;

	note_way(writer, took_ns, now_ns);
	if (writer->window < few || took_ns <= 2 * writer->way_ns) {
		writer->window = writer->window + 0.25 < most ? writer->window + 0.25 : most;
	} else if (writer->window - 0.05 > few) {
		writer->window -= 0.05;
	}
}

static enum bt_write_fate fate_of(enum bt_http_end end, uint32_t status)
{
	if (end == BT_HTTP_UNSENT) {
		return BT_FATE_UNSENT;
	}
	if (end != BT_HTTP_ANSWERED || status < 200) {
		return BT_FATE_LOST;
	}
	if (status < 300) {
		return BT_FATE_DONE;
	}
	if (status == 429) {
		return BT_FATE_THROTTLED;
	}
	return status < 500 ? BT_FATE_REFUSED : BT_FATE_SERVER_ERROR;
}

static void note_answer(struct bt_writer *writer, const struct bt_write_op *op,
	const struct bt_answer *answer, const struct bt_http_head *head)
{
	int64_t now_ns = bt_write_now(writer);

	switch (answer->fate) {
	case BT_FATE_DONE:
		speed_up(writer, now_ns - op->sent_ns, now_ns);
		return;
	case BT_FATE_REFUSED:
		if (answer->status == 409) {
			BT_WRITE_COUNT(writer, conflict_n);
		} else if (answer->status == 404) {
			BT_WRITE_COUNT(writer, not_found_n);
		}
		return;
	case BT_FATE_THROTTLED:
		BT_WRITE_COUNT(writer, throttled_n);
		writer->hold_ns = now_ns + (head->retry_after_ns >= 0 ? head->retry_after_ns : HOLD_NS);
		break;
	case BT_FATE_SERVER_ERROR:
		BT_WRITE_COUNT(writer, server_error_n);
		break;
	case BT_FATE_UNSENT:
		BT_WRITE_COUNT(writer, unsent_n);
		break;
	case BT_FATE_LOST:
		BT_WRITE_COUNT(writer, lost_n);
		break;
	}
	slow_down(writer, now_ns);
}

static void done(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct bt_write_op *op = context;
	struct bt_writer *writer = op->writer;
	uint32_t status = end == BT_HTTP_ANSWERED && head ? head->status : 0;
	const struct bt_answer answer = {fate_of(end, status), status, body, error};
	bool ending = bt_load_relaxed(&writer->ending);

	writer->flying--;
	writer->flying_events -= op->verbs->class == BT_CLASS_EVENT;
	if (ending && end != BT_HTTP_ANSWERED) {
		op->verbs->given_up(writer, op, end != BT_HTTP_UNSENT);
		bt_write_op_end(op);
		return;
	}
	note_answer(writer, op, &answer, head);
	op->again = answer.fate == BT_FATE_THROTTLED; /* only a throttled call is certainly repeated */
	bt_arena_reset(&writer->scratch);
	op->verbs->answered(writer, op, &answer);
	if (!ending) {
		pump(writer);
	}
}

/* Bindings wait for the server: events must wait. */
static bool is_busy(const struct bt_writer *writer)
{
	return writer->queues[BT_CLASS_BIND].n ||
	       writer->flying - writer->flying_events > (uint32_t)(writer->window / 4);
}

static bool has_room(const struct bt_writer *writer, enum bt_write_class class, int64_t now_ns)
{
	if (class != BT_CLASS_EVENT) {
		return writer->flying < (uint32_t)writer->window;
	}
	return writer->flying_events < 1 + (uint32_t)(writer->window / 2) &&
	       (!is_busy(writer) || writer->since_event >= bt_event_recorder_spacing(writer->events,
								   writer->queues[class].first, now_ns));
}

static struct bt_rate_limiter *limiter_of(struct bt_writer *writer, enum bt_write_class class)
{
	return class == BT_CLASS_EVENT ? &writer->event_limiter : &writer->limiter;
}

/* Of answers to patches, evictions and events only an error's message is read. They repeat the whole object,
 * which the server encodes much faster as protobuf. */
static struct bt_str accept_of(const struct bt_writer *writer, const struct bt_write_op *op)
{
	bool unread = op->verbs->class >= BT_CLASS_STATUS || op->verbs == &bt_evict_verbs;

	return bt_str(
		unread && !writer->options.json ? BT_PROTO_TYPE ",application/json" : "application/json");
}

/* Sends the call; done follows. */
static void launch(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *call)
{
	if (!call->accept.len) {
		call->accept = accept_of(writer, op);
	}
	call->timeout_ns = BT_WRITE_TIMEOUT_NS;
	call->done = done;
	call->context = op;
	call->again = op->again;
	op->again = false;
	op->sent_ns = bt_write_now(writer);
	writer->flying++;
	if (op->verbs->class == BT_CLASS_EVENT) {
		writer->flying_events++;
		writer->since_event = 0;
	} else {
		writer->since_event++;
	}
	bt_http_send(writer->http, call);
}

/* During shutdown nothing new starts; reports may be sent for a while, but are not retried. A call that may
 * still take effect is followed up (fenced). */
static bool is_over(const struct bt_writer *writer, const struct bt_write_op *op, int64_t now_ns)
{
	if (!winds_up(writer)) {
		return false;
	}
	if (op->verbs->class >= BT_CLASS_STATUS) {
		return op->tries || now_ns >= bt_load_relaxed(&writer->reports_until_ns);
	}
	return !follows(op);
}

struct bt_str bt_write_fence_reason(const struct bt_writer *writer)
{
	return bt_str(winds_up(writer) ? "the scheduler ends" : "another replica leads");
}

static void fence(struct bt_writer *writer, struct bt_write_op *op)
{
	BT_WRITE_COUNT(writer, fenced_n);
	op->verbs->fenced(writer, op);
}

/* Records how long clientConnection.qps has delayed a call; without a limit nothing is recorded, as
 * upstream. */
static void note_wait(struct bt_writer *writer, const struct bt_rate_limiter *limiter,
	const struct bt_write_op *op, enum bt_http_method method)
{
	if (writer->options.qps > 0) {
		bt_client_metrics_waited(bt_client_config_metrics(writer->options.access), method,
			bt_rate_limiter_waited(limiter, op->due_ns, bt_write_now(writer)));
	}
}

/* Sends the first of a class. Returns: 0, or in how many ns it may be sent; INT64_MAX: when calls in flight
 * have ended. */
static int64_t send_first(struct bt_writer *writer, enum bt_write_class class, int64_t now_ns)
{
	struct bt_write_op *op = writer->queues[class].first;
	struct bt_rate_limiter *limiter = op->reads ? NULL : limiter_of(writer, class);
	struct bt_http_call call = {.body = {.len = 0}};

	if (is_over(writer, op, now_ns)) {
		list_take(&writer->queues[class]);
		bt_arena_reset(&writer->scratch);
		fence(writer, op);
		return 0;
	}
	if (limiter) {
		if (now_ns < writer->hold_ns) {
			return writer->hold_ns - now_ns;
		}
		if (!has_room(writer, class, now_ns)) {
			return INT64_MAX;
		}
		int64_t wait_ns = bt_rate_limiter_take(limiter, now_ns);
		if (wait_ns) {
			return wait_ns;
		}
	}
	list_take(&writer->queues[class]);
	bt_write_op_goes(op);
	bt_buf_clear(&writer->path);
	bt_buf_clear(&writer->body);
	bt_arena_reset(&writer->scratch);
	if (limiter && writer->options.may_write && !writer->options.may_write(writer->options.context)) {
		bt_rate_limiter_return(limiter);
		fence(writer, op);
	} else if (op->verbs->request(writer, op, &call)) {
		if (limiter) {
			note_wait(writer, limiter, op, call.method);
		}
		launch(writer, op, &call);
	} else if (limiter) {
		bt_rate_limiter_return(limiter);
	}
	return 0;
}

static void on_timer(void *context)
{
	struct bt_writer *writer = context;

	/* Also when it fires early, or for an op that has ended: pump sets another one. */
	writer->timer_ns = INT64_MAX;
	pump(writer);
}

/* Each timer that fires sets at most one, so their number does not grow. */
static void set_timer(struct bt_writer *writer, int64_t now_ns, int64_t at_ns)
{
	if (at_ns >= writer->timer_ns || at_ns == INT64_MAX) {
		return;
	}
	writer->timer_ns = at_ns;
	bt_http_after(writer->http, at_ns > now_ns ? at_ns - now_ns : 0, on_timer, writer);
}

static void show_gauges(struct bt_writer *writer)
{
	uint32_t waiting = writer->later_n;

	for (int class = 0; class < BT_CLASS_N; class ++) {
		waiting += writer->queues[class].n;
	}
	bt_store_relaxed(&writer->counts.in_flight, writer->flying);
	bt_store_relaxed(&writer->counts.waiting, waiting);
}

static void pump(struct bt_writer *writer)
{
	begin_all(writer);
	int64_t now_ns = bt_write_now(writer), next_ns = bt_event_recorder_tick(writer->events, now_ns);
	take_due(writer, now_ns);
	for (int class = 0; class < BT_CLASS_N; class ++) {
		while (writer->queues[class].n) {
			int64_t wait_ns = send_first(writer, (enum bt_write_class) class, now_ns);

			if (wait_ns) {
				int64_t at_ns = wait_ns == INT64_MAX ? INT64_MAX : now_ns + wait_ns;

				next_ns = at_ns < next_ns ? at_ns : next_ns;
				break;
			}
		}
	}
	next_ns = writer->later_ns < next_ns ? writer->later_ns : next_ns;
	int64_t until_ns = bt_load_relaxed(&writer->reports_until_ns);
	next_ns = now_ns < until_ns && until_ns < next_ns ? until_ns : next_ns;
	set_timer(writer, now_ns, next_ns);
	show_gauges(writer);
}

/* ---- paths and answers ---- */

struct bt_str bt_write_path(struct bt_writer *writer, const char *prefix, struct bt_str namespace_,
	const char *resource, struct bt_str name, const char *part)
{
	struct bt_buf *path = &writer->path;

	bt_buf_clear(path);
	bt_buf_text(path, prefix);
	if (namespace_.len) {
		bt_buf_text(path, "/namespaces/");
		bt_escape(path, namespace_);
	}
	bt_buf_text(path, resource);
	bt_escape(path, name);
	bt_buf_text(path, part);
	return bt_buf_view(path);
}

struct bt_str bt_write_pod_path(struct bt_writer *writer, const struct bt_pod_ref *pod, const char *part)
{
	return bt_write_path(writer, "/api/v1", pod->namespace_, "/pods/", pod->name, part);
}

/* The message of a Status in protobuf. */
static bool proto_message(struct bt_str body, struct bt_str *out)
{
	struct bt_proto_unknown envelope;
	struct bt_proto_status status;
	struct bt_proto_error error;

	if (!bt_proto_open(body, &envelope, &error) || !bt_str_is(envelope.kind, "Status") ||
		!bt_proto_status(envelope.raw, &status, &error)) {
		return false;
	}
	*out = status.message;
	return status.message.len;
}

struct bt_str bt_write_message(struct bt_writer *writer, const struct bt_answer *answer)
{
	struct bt_str key, message = answer->error;

	if (!answer->status || proto_message(answer->body, &message)) {
		return message;
	}
	bt_json_begin(writer->json, answer->body, &writer->scratch);
	for (bool in = bt_json_enter_object(writer->json); in && bt_json_next_key(writer->json, &key);) {
		if (!bt_str_is(key, "message")) {
			bt_json_skip(writer->json);
		} else if (bt_json_string(writer->json, &message)) {
			return message;
		}
	}
	bt_buf_clear(&writer->text);
	bt_buf_printf(&writer->text, "the server answered %u", answer->status);
	return bt_buf_view(&writer->text);
}

/* ---- the pipeline's side ---- */

static struct bt_write_op *op_of_request(struct bt_writer *writer, const struct bt_write_op_verbs *verbs,
	const struct bt_bind_request *bind_request)
{
	struct bt_write_op *op = bt_write_op_create(writer, verbs);

	op->handle = bind_request->handle;
	op->number = bind_request->number;
	op->pod = bt_write_op_copy_ref(op, &bind_request->pod);
	op->other = bt_write_op_copy_ref(op, &bind_request->other);
	op->node = bt_write_op_copy(op, bind_request->node);
	op->extender = writer->options.extender_bind ? bind_request->extender : NULL;
	return op;
}

/* Copies the pod's stored state now: later the watch may show it as bound. */
static void copy_stored_pod(struct bt_write_op *op)
{
	bt_pod_store_get(op->writer->known, &op->pod, &op->arena, &op->known);
	if (!op->known.pod.scheduler_name.len) {
		op->known.pod.scheduler_name = bt_str("default-scheduler");
	}
}

static void post_bind(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *bind_request)
{
	struct bt_writer *writer = context;
	struct bt_write_op *op = op_of_request(writer, &bt_bind_verbs, bind_request);

	(void)pipeline;
	copy_stored_pod(op);
	op->prebind = bt_prebind_of(op, bind_request);
	op->ahead = true;
	bt_add_relaxed(&writer->ahead_n, 1u);
	op->has_volumes = bind_request->volume_n != 0;
	if (op->has_volumes) {
		bt_add_relaxed(&writer->volume_n, UINT64_C(1));
	}
	bt_write_op_post(op);
}

/* No more bindings from AHEAD_MAX on, until AHEAD_FEW are left; answers to those sent meanwhile wake the
 * scheduling thread. */
static bool accepts_bindings(void *context)
{
	struct bt_writer *writer = context;
	uint32_t n = bt_load_relaxed(&writer->ahead_n);

	if (n >= AHEAD_MAX || n <= AHEAD_FEW) {
		writer->full = n >= AHEAD_MAX;
	}
	return !writer->full;
}

static void post_check(
	void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *bind_request)
{
	struct bt_writer *writer = context;
	struct bt_write_op *op = op_of_request(writer, &bt_check_verbs, bind_request);

	(void)pipeline;
	copy_stored_pod(op);
	bt_write_op_post(op);
}

static void post_evict(
	void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *bind_request)
{
	struct bt_write_op *op = op_of_request(context, &bt_evict_verbs, bind_request);

	(void)pipeline;
	op->preemption = bind_request->preemption;
	op->after_n = bind_request->after_n;
	if (bind_request->group.name.len) {
		op->group = bt_write_op_copy_ref(op, &bind_request->group);
		op->for_tree = bind_request->for_tree;
		op->node = bt_str(BT_GROUP_DOMAIN);
	}
	bt_write_op_post(op);
}

static void post_release(
	void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *bind_request)
{
	struct bt_write_op *op = op_of_request(context, &bt_release_verbs, bind_request);

	(void)pipeline;
	op->deletes = bind_request->deletes;
	op->unreserves = bind_request->unreserves;
	if (bind_request->group.name.len) {
		op->group = bt_write_op_copy_ref(op, &bind_request->group);
	}
	bt_write_op_post(op);
}

struct bt_pipeline_binder bt_writer_binder(struct bt_writer *writer)
{
	return (struct bt_pipeline_binder){.bind = post_bind,
		.evict = post_evict,
		.check = post_check,
		.release = post_release,
		.has_room = accepts_bindings,
		.context = writer};
}

/* Whether bindings may wait for such an event: of claims, volumes and CSINodes, and of a deleted node. */
static bool is_awaited(enum bt_watch_event_kind what, enum bt_kind kind)
{
	return kind == BT_KIND_PERSISTENT_VOLUME_CLAIM || kind == BT_KIND_PERSISTENT_VOLUME ||
	       kind == BT_KIND_CSI_NODE || (kind == BT_KIND_NODE && what == BT_WATCH_EVENT_DELETE);
}

/* A PersistentVolume has no namespace; nodes and CSINodes are matched by the node's name. */
static void note_volume(struct bt_writer *writer, const struct bt_object *object)
{
	const struct bt_meta_object *meta = &object->meta;

	if (bt_load_relaxed(&writer->volume_n)) {
		struct bt_write_op *op = bt_write_op_create(writer, &bt_shown_verbs);

		if (object->kind == BT_KIND_NODE || object->kind == BT_KIND_CSI_NODE) {
			op->node = bt_write_op_copy(op, meta->name);
		} else {
			op->pod = bt_write_op_copy_ref(
				op, &(struct bt_pod_ref){meta->namespace_, meta->name, meta->uid});
		}
		bt_write_op_post(op);
	}
}

/* A group is stored like a pending pod, with the API version in place of a scheduler name. */
static void note_group(
	struct bt_writer *writer, enum bt_watch_event_kind what, const struct bt_object *object)
{
	struct bt_object kept = {.kind = BT_KIND_POD, .meta = object->meta};

	kept.meta.uid = (struct bt_str){.len = 0};
	kept.pod.conditions = object->pod_group.conditions;
	kept.pod.condition_n = object->pod_group.condition_n;
	kept.pod.spec.scheduler_name = object->api_version;
	bt_pod_store_show(writer->known_groups, what, &kept);
}

static void on_shown(void *context, enum bt_watch_event_kind what, const struct bt_object *object)
{
	struct bt_writer *writer = context;

	if (what != BT_WATCH_EVENT_SYNCED && is_awaited(what, object->kind)) {
		note_volume(writer, object);
	}
	if (what != BT_WATCH_EVENT_SYNCED && object->kind == BT_KIND_POD_GROUP) {
		note_group(writer, what, object);
	}
	if (what == BT_WATCH_EVENT_SYNCED || object->kind != BT_KIND_POD) {
		return;
	}
	bool is_new = bt_pod_store_show(writer->known, what, object);
	if (is_new && writer->options.dry) {
		struct bt_write_op *op = bt_write_op_create(writer, &bt_seen_verbs);
		const struct bt_meta_object *meta = &object->meta;

		op->pod = bt_write_op_copy_ref(
			op, &(struct bt_pod_ref){meta->namespace_, meta->name, meta->uid});
		op->node = what == BT_WATCH_EVENT_DELETE ? (struct bt_str){0}
							 : bt_write_op_copy(op, object->pod.spec.node_name);
		bt_write_op_post(op);
	}
}

struct bt_watch_listener bt_writer_listener(struct bt_writer *writer)
{
	return (struct bt_watch_listener){.event = on_shown, .context = writer};
}

void bt_writer_attach(struct bt_writer *writer, struct bt_pipeline *pipeline)
{
	writer->pipeline = pipeline;
}

/* ---- create and destroy ---- */

static void settle(struct bt_writer_options *options)
{
	options->qps = options->qps == 0 ? QPS : options->qps;
	options->burst = options->burst ? options->burst : BURST;
	options->connections = options->connections ? options->connections : CONNECTIONS;
	options->in_flight = options->in_flight ? options->in_flight : IN_FLIGHT;
	options->reports = options->reports ? options->reports : REPORTS;
	options->events = options->events ? options->events : EVENTS;
	options->event_bytes = options->event_bytes ? options->event_bytes : EVENT_BYTES;
	options->bind_timeout_ns = options->bind_timeout_ns ? options->bind_timeout_ns : 30 * BT_WRITE_S;
	options->volume_timeout_ns =
		options->volume_timeout_ns ? options->volume_timeout_ns : 600 * BT_WRITE_S;
	options->device_timeout_ns =
		options->device_timeout_ns ? options->device_timeout_ns : 600 * BT_WRITE_S;
	if (!options->wall.now_ns) {
		options->wall = bt_clock_real();
	}
}

static char *host_name(const char *given)
{
	char name[256] = "";

	if (!given && gethostname(name, sizeof(name) - 1)) {
		name[0] = 0;
	}
	given = given ? given : name;
	return bt_mem_copy(given, strlen(given));
}

struct bt_writer *bt_writer_create(const struct bt_writer_options *options, struct bt_buf *out_error)
{
	struct bt_writer *writer = bt_mem_zalloc(1, sizeof(*writer));
	int64_t now_ns;

	writer->options = *options;
	settle(&writer->options);
	writer->later_ns = writer->timer_ns = INT64_MAX;
	writer->reports_until_ns = INT64_MAX;
	writer->window = writer->options.in_flight < FEW ? writer->options.in_flight : FEW;
	now_ns = bt_write_now(writer);
	writer->way_since_ns = now_ns;
	writer->way_ns = writer->next_way_ns = INT64_MAX / 2;
	writer->hold_ns = now_ns;
	writer->slowed_ns = now_ns - SLOW_DOWN_NS;
	bt_rate_limiter_init(&writer->limiter, writer->options.qps, writer->options.burst, now_ns);
	bt_rate_limiter_init(&writer->event_limiter, writer->options.qps, writer->options.burst, now_ns);
	bt_eventcount_init(&writer->over);
	writer->http = bt_http_create(&(struct bt_http_options){.access = options->access,
					      .name = "writer",
					      .batch_ns = BATCH_NS,
					      .connections = writer->options.connections},
		out_error);
	if (!writer->http) {
		bt_mem_free(writer);
		return NULL;
	}
	writer->host = host_name(options->host);
	writer->known = bt_pod_store_create();
	writer->known_groups = bt_pod_store_create();
	writer->device_waits = bt_device_waits_create();
	writer->json = bt_json_create();
	writer->events = bt_event_recorder_create(writer);
	writer->statuses = bt_statuses_create();
	writer->shadow = bt_shadow_create(writer);
	return writer;
}

static void writer_give_up(struct bt_write_op *op)
{
	for (struct bt_write_op *next; op; op = next) {
		next = op->next;
		op->verbs->given_up(op->writer, op, false);
		bt_write_op_end(op);
	}
}

void bt_writer_destroy(struct bt_writer *writer)
{
	bt_store_relaxed(&writer->ending, true);
	bt_http_destroy(writer->http);
	writer_give_up(take_inbox(writer));
	for (int class = 0; class < BT_CLASS_N; class ++) {
		writer_give_up(writer->queues[class].first);
	}
	writer_give_up(writer->later);
	bt_evict_end(writer);
	bt_shadow_destroy(writer, writer->shadow);
	bt_event_recorder_destroy(writer->events);
	bt_statuses_destroy(writer, writer->statuses);
	BT_INVARIANT(bt_load_relaxed(&writer->open_n) == 0);
	bt_pod_store_destroy(writer->known);
	bt_pod_store_destroy(writer->known_groups);
	bt_device_waits_destroy(writer->device_waits);
	bt_json_destroy(writer->json);
	bt_map_fini(&writer->bindings);
	bt_api_calls_fini(&writer->calls);
	bt_arena_fini(&writer->scratch);
	bt_buf_fini(&writer->path);
	bt_buf_fini(&writer->body);
	bt_buf_fini(&writer->text);
	bt_mem_free(writer->host);
	bt_mem_free(writer);
}

void bt_writer_shutdown(struct bt_writer *writer, int64_t reports_ns)
{
	bt_store_relaxed(&writer->reports_until_ns, bt_write_now(writer) + reports_ns);
	bt_http_after(writer->http, 0, wake, writer);
}

bool bt_writer_drain(struct bt_writer *writer, int64_t limit_ns)
{
	int64_t end_ns = bt_clock_monotonic_ns() + limit_ns;

	while (bt_load_acquire(&writer->open_n)) {
		uint32_t key = bt_eventcount_prepare(&writer->over);
		int64_t left_ns = end_ns - bt_clock_monotonic_ns();

		if (!bt_load_acquire(&writer->open_n)) {
			break;
		}
		if (left_ns <= 0 || !bt_eventcount_wait(&writer->over, key, left_ns)) {
			return !bt_load_acquire(&writer->open_n);
		}
	}
	return true;
}

void bt_writer_each_device_wait(const struct bt_writer *writer,
	void (*call)(void *context, const struct bt_device_series *series), void *context)
{
	bt_device_waits_each(writer->device_waits, call, context);
}

struct bt_writer_counts bt_writer_counts(const struct bt_writer *writer)
{
	return (struct bt_writer_counts){
#define X(name, words) .name = bt_load_relaxed(&writer->counts.name),
		BT_WRITER_COUNTS(X)
#undef X
			.in_flight = bt_load_relaxed(&writer->counts.in_flight),
		.waiting = bt_load_relaxed(&writer->counts.waiting),
	};
}

/* ---- errors ---- */

void bt_write_log_error(
	struct bt_log_limit *limit, const char *what, const struct bt_pod_ref *pod, struct bt_str why)
{
	uint64_t held_n;

	if (bt_log_due(limit, bt_clock_monotonic_ns(), LOG_INTERVAL_NS, &held_n)) {
		bt_log(BT_LOG_ERROR, 0, what,
			bt_log_fields(bt_log_pod(pod->namespace_, pod->name), bt_log_str("err", why),
				bt_log_int("others", (int64_t)held_n)));
	}
}
