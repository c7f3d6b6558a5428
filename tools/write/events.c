/* SPDX-License-Identifier: Apache-2.0
 * Events. One that is seen again within six minutes becomes a series, which is counted here and written when
 * it begins, every half hour and when it ends. What can be seen only once is not kept. Source: client-go's
 * tools/events, v0.36.3.
 *
 *   add --new--> CREATE --2xx--> kept --again--> PATCH (count 2) --2xx--> kept, counted --6 min--> PATCH,
 * gone ^ <-------------404------------/
 */
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/report/api_call.h"
#include "tools/write/writer_int.h"

#define MINUTE_NS  (60 * BT_WRITE_S)
#define FINISH_NS  (6 * MINUTE_NS)
#define REFRESH_NS (30 * MINUTE_NS)
#define TRIES	   12
#define SLEEP_NS   (10 * BT_WRITE_S)
/* So many are kept; a further one is written, but never becomes a series. */
#define KEPT_MAX 16384

enum { CREATE = 0, PATCH };

struct bt_sent_event {
	struct bt_arena arena;
	struct bt_api_call call;
	struct bt_api_pod regarding, related;
	struct bt_str name;
	int64_t at_ns;	 /* eventTime */
	int64_t seen_ns; /* when it was seen last, monotonic */
	struct bt_api_series series;
	uint64_t key;	  /* 0: it is not kept */
	struct bt_op *op; /* its call on the way, or NULL */
	bool unwritten;	  /* the series has begun, or is due, since its last call was made */
};

struct bt_events {
	struct bt_writer *writer;
	struct bt_map by_key;
	struct bt_sent_event **kept;
	size_t n, cap;
	uint32_t open_n;
	int64_t finish_ns, refresh_ns, last_ns;
	struct bt_buf key;
};

static const struct bt_op_verbs verbs;

static void begin_turns(struct bt_events *events, int64_t now_ns)
{
	events->finish_ns = now_ns + FINISH_NS;
	events->refresh_ns = now_ns + REFRESH_NS;
}

struct bt_events *bt_events_create(struct bt_writer *writer)
{
	struct bt_events *events = bt_mem_zalloc(1, sizeof(*events));

	events->writer = writer;
	begin_turns(events, bt_write_now(writer));
	return events;
}

static void free_event(struct bt_sent_event *event)
{
	bt_arena_fini(&event->arena);
	bt_mem_free(event);
}

void bt_events_destroy(struct bt_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		free_event(events->kept[i]);
	}
	bt_mem_free(events->kept);
	bt_map_fini(&events->by_key);
	bt_buf_fini(&events->key);
	bt_mem_free(events);
}

/* ---- keeping ---- */

static void add_part(struct bt_buf *key, struct bt_str part)
{
	bt_buf_str(key, part);
	bt_buf_char(key, 0);
}

static void add_reference(struct bt_buf *key, const struct bt_api_pod *pod)
{
	add_part(key, pod ? pod->namespace_ : (struct bt_str){.len = 0});
	add_part(key, pod ? pod->name : (struct bt_str){.len = 0});
	add_part(key, pod ? pod->uid : (struct bt_str){.len = 0});
	add_part(key, pod ? pod->resource_version : (struct bt_str){.len = 0});
}

/* Two events of one key are the same, seen twice, whatever their notes say. */
static uint64_t key_of(struct bt_events *events, const struct bt_api_call *call)
{
	struct bt_buf *key = &events->key;

	bt_buf_clear(key);
	add_part(key, bt_str(call->event.warning ? "Warning" : "Normal"));
	add_part(key, bt_str(call->event.action));
	add_part(key, bt_str(call->event.reason));
	add_part(key, call->event.reporting_instance);
	add_reference(key, call->pod);
	add_reference(key, call->event.related);
	uint64_t hash = bt_hash_bytes(key->ptr, key->len);
	return hash ? hash : 1;
}

static struct bt_sent_event *find(const struct bt_events *events, uint64_t key)
{
	uint32_t ix;

	return bt_map_get(&events->by_key, key, &ix) ? events->kept[ix] : NULL;
}

static void keep(struct bt_events *events, struct bt_sent_event *event, uint64_t key)
{
	if (events->n >= KEPT_MAX) {
		return;
	}
	event->key = key;
	events->kept = bt_mem_grow(events->kept, events->n, &events->cap, sizeof(*events->kept));
	bt_map_put(&events->by_key, key, (uint32_t)events->n);
	events->kept[events->n++] = event;
}

/* The last one takes its place. */
static void drop(struct bt_events *events, size_t i)
{
	struct bt_sent_event *event = events->kept[i];

	bt_map_remove(&events->by_key, event->key);
	event->key = 0;
	events->kept[i] = events->kept[--events->n];
	if (i < events->n) {
		bt_map_put(&events->by_key, events->kept[i]->key, (uint32_t)i);
	}
	if (!event->op) {
		free_event(event);
	}
}

/* ---- adding ---- */

static struct bt_str copy(struct bt_sent_event *event, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&event->arena, text.len ? text.ptr : "", text.len), text.len};
}

static struct bt_api_pod copy_pod(struct bt_sent_event *event, const struct bt_api_pod *pod)
{
	return (struct bt_api_pod){.namespace_ = copy(event, pod->namespace_),
		.name = copy(event, pod->name),
		.uid = copy(event, pod->uid),
		.resource_version = copy(event, pod->resource_version)};
}

/* Events are named by their time, so no two have the same. */
static int64_t time_of_event(struct bt_events *events)
{
	int64_t now_ns = bt_write_wall(events->writer);

	events->last_ns = now_ns > events->last_ns ? now_ns : events->last_ns + 1;
	return events->last_ns;
}

static struct bt_sent_event *make(struct bt_events *events, const struct bt_api_call *call)
{
	struct bt_sent_event *event = bt_mem_zalloc(1, sizeof(*event));
	struct bt_buf *name = &events->key;

	bt_arena_start(&event->arena, BT_OP_TEXT_BYTES);
	event->call = *call;
	event->regarding = copy_pod(event, call->pod);
	event->call.pod = &event->regarding;
	if (call->event.related) {
		event->related = copy_pod(event, call->event.related);
		event->call.event.related = &event->related;
	}
	event->call.event.note = copy(event, call->event.note);
	event->call.event.reporting_controller = copy(event, call->event.reporting_controller);
	event->call.event.reporting_instance = copy(event, call->event.reporting_instance);
	event->at_ns = time_of_event(events);
	event->seen_ns = bt_write_now(events->writer);
	bt_buf_clear(name);
	bt_api_event_name(call->pod->name, event->at_ns, name);
	event->name = copy(event, bt_buf_view(name));
	return event;
}

static void write_event(struct bt_events *events, struct bt_sent_event *event, int stage)
{
	struct bt_op *op = bt_op_create(events->writer, &verbs);

	op->event = event;
	op->stage = stage;
	op->handle = (uint64_t)event->at_ns; /* what the time of its next try is drawn from */
	event->op = op;
	events->open_n++;
	bt_op_queue(op);
}

/* A call that is on its way, and has not been made yet, takes the series with it. */
static void write_series(struct bt_events *events, struct bt_sent_event *event)
{
	event->unwritten = true;
	if (!event->op) {
		write_event(events, event, PATCH);
	}
}

static void repeat(struct bt_events *events, struct bt_sent_event *event)
{
	event->seen_ns = bt_write_now(events->writer);
	event->series.last_ns = bt_write_wall(events->writer);
	if (event->series.count) {
		event->series.count++;
	} else {
		event->series.count = 2;
		write_series(events, event);
	}
	BT_WRITE_COUNT(events->writer, event_repeated_n);
}

void bt_events_add(struct bt_events *events, const struct bt_api_call *call)
{
	bool once = bt_str_is(bt_str(call->event.reason), "Scheduled");
	uint64_t key = once ? 0 : key_of(events, call);
	struct bt_sent_event *known = key ? find(events, key) : NULL;

	if (known) {
		repeat(events, known);
		return;
	}
	if (events->open_n >= events->writer->options.reports) {
		BT_WRITE_COUNT(events->writer, event_dropped_n);
		return;
	}
	struct bt_sent_event *event = make(events, call);
	if (key) {
		keep(events, event, key);
	}
	write_event(events, event, CREATE);
}

/* ---- sending ---- */

static void end(struct bt_writer *writer, struct bt_op *op)
{
	struct bt_sent_event *event = op->event;

	event->op = NULL;
	writer->events->open_n--;
	if (!event->key) {
		free_event(event);
	}
	bt_op_end(op);
}

static bool request(struct bt_writer *writer, struct bt_op *op, struct bt_http_call *out_call)
{
	struct bt_sent_event *event = op->event;
	bool patches = op->stage == PATCH;

	if (patches) {
		bt_api_series_write(&event->series, &writer->body);
	} else {
		bt_api_event_write(&event->call, event->name, event->at_ns, &event->series, &writer->body);
		bt_buf_char(&writer->body, '\n');
	}
	event->unwritten = false;
	*out_call = (struct bt_http_call){
		.method = patches ? BT_HTTP_PATCH : BT_HTTP_POST,
		.path = bt_write_path(writer, "/apis/events.k8s.io/v1", event->regarding.namespace_,
			patches ? "/events/" : "/events", patches ? event->name : (struct bt_str){.len = 0},
			""),
		.content_type =
			bt_str(patches ? "application/strategic-merge-patch+json" : "application/json"),
		.body = bt_buf_view(&writer->body),
	};
	BT_WRITE_COUNT(writer, event_n);
	return true;
}

static void again(struct bt_writer *writer, struct bt_op *op)
{
	if (++op->tries >= TRIES) {
		BT_WRITE_COUNT(writer, event_dropped_n);
		end(writer, op);
		return;
	}
	bt_op_repeat(op);
	bt_op_later(op, SLEEP_NS + (int64_t)bt_rng_scale(bt_rng_at(op->handle, op->tries), SLEEP_NS / 4));
}

static void written(struct bt_writer *writer, struct bt_op *op)
{
	if (op->event->unwritten) {
		op->stage = PATCH;
		bt_op_queue(op);
	} else {
		end(writer, op);
	}
}

static void answered(struct bt_writer *writer, struct bt_op *op, const struct bt_answer *answer)
{
	const struct bt_sent_event *event = op->event;

	/* Its name is no other event's: an earlier call has made it, whose answer was lost. */
	bool made = answer->status == 409 && op->stage == CREATE && op->tries;

	if (answer->fate == BT_FATE_DONE || made) {
		written(writer, op);
	} else if (answer->fate == BT_FATE_THROTTLED) {
		bt_op_queue_first(op);
	} else if (answer->status == 404 && op->stage == PATCH) {
		op->stage = CREATE;
		bt_op_queue_first(op);
	} else if (answer->fate != BT_FATE_REFUSED || (answer->status == 409 && event->series.count)) {
		again(writer, op);
	} else {
		const struct bt_pod_ref pod = {
			event->regarding.namespace_, event->regarding.name, event->regarding.uid};

		bt_write_complain(&writer->event_said, "An event could not be written", &pod,
			bt_write_message(writer, answer));
		BT_WRITE_COUNT(writer, event_dropped_n);
		end(writer, op);
	}
}

static void fenced(struct bt_writer *writer, struct bt_op *op)
{
	BT_WRITE_COUNT(writer, event_dropped_n);
	end(writer, op);
}

static void begin(struct bt_writer *writer, struct bt_op *op)
{
	(void)writer;
	bt_op_queue(op);
}

static void given_up(struct bt_writer *writer, struct bt_op *op, bool sent)
{
	struct bt_sent_event *event = op->event;

	if (!sent) {
		BT_WRITE_COUNT(writer, event_dropped_n);
	}
	event->op = NULL;
	if (!event->key) {
		free_event(event);
	}
}

static const struct bt_op_verbs verbs = {BT_CLASS_EVENT, begin, request, answered, fenced, given_up};

/* ---- time ---- */

static void refresh(struct bt_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->kept[i]->series.count) {
			write_series(events, events->kept[i]);
		}
	}
}

/* A series is written a last time. */
static void finish(struct bt_events *events, int64_t now_ns)
{
	for (size_t i = events->n; i-- > 0;) {
		struct bt_sent_event *event = events->kept[i];

		if (event->seen_ns < now_ns - FINISH_NS) {
			if (event->series.count) {
				write_series(events, event);
			}
			drop(events, i);
		}
	}
}

int64_t bt_events_tick(struct bt_events *events, int64_t now_ns)
{
	if (!events->n) {
		begin_turns(events, now_ns);
		return INT64_MAX;
	}
	if (now_ns >= events->refresh_ns) {
		events->refresh_ns = now_ns + REFRESH_NS;
		refresh(events);
	}
	if (now_ns >= events->finish_ns) {
		events->finish_ns = now_ns + FINISH_NS;
		finish(events, now_ns);
	}
	return events->finish_ns < events->refresh_ns ? events->finish_ns : events->refresh_ns;
}
