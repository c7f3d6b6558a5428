/* SPDX-License-Identifier: Apache-2.0
 * Events. An event that recurs within six minutes becomes a series, which is counted here and written when it
 * begins, every half hour and when it ends. Events that cannot recur are not kept. Source: client-go's
 * tools/events, v0.36.3.
 *
 *   add --new--> CREATE --2xx--> kept --again--> PATCH (count 2) --2xx--> kept, counted --6 min--> PATCH,
 * gone ^ <-------------404------------/
 */
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/kube/report/api_call.h"
#include "tools/cluster/write/writer_int.h"

#define MINUTE_NS  (60 * BT_WRITE_S)
#define FINISH_NS  (6 * MINUTE_NS)
#define REFRESH_NS (30 * MINUTE_NS)
#define TRIES	   12
#define SLEEP_NS   (10 * BT_WRITE_S)
/* Limit of kept events; a further one is written, but never becomes a series. */
#define KEPT_MAX 65536
/* Approximate overhead of a name, in allocator and table. */
#define NAME_BYTES 64
/* Kept events that are examined for an unneeded one, before a waiting one is dropped. */
#define SPINS 32
/* Limit of ops: more than the writer's window ever allows in flight. */
#define OPS_MAX 256
/* While bindings wait no event is sent, so that the server can serve bindings. After waiting this long, an
 * event is sent after a number of other writes; and when half of the room is in use every other write is an
 * event, so that none is lost. */
#define PATIENCE_NS	   (10 * BT_WRITE_S)
#define BINDINGS_PER_EVENT 64

enum { CREATE = 0, PATCH };

/* The pod of an event, as interned names that are held. */
struct reference {
	uint64_t version; /* 0: none */
	uint32_t namespace_, name, uid;
	uint32_t group_version; /* of a group; of a pod the empty text */
	bool composite;
};

/* The fields of an event until it is sent. There may be tens of thousands; most share texts. */
struct bt_sent_event {
	struct bt_sent_event *next; /* in the list of those that wait for an op */
	struct bt_write_op *op;	    /* its call in progress, or NULL */
	const char *reason, *action;
	struct reference regarding, related;
	uint32_t note, controller, instance; /* names, held */
	uint32_t bytes;			     /* approximate memory, with names that only it holds */
	bool warning, has_related;
	bool waits;	 /* for an op */
	bool unwritten;	 /* the series has started, or is due, since its last call was made */
	uint8_t stage;	 /* of its next op */
	int64_t at_ns;	 /* eventTime; unique */
	int64_t seen_ns; /* when it was last seen, monotonic */
	struct bt_api_series series;
	uint64_t key; /* 0: not kept */
};

struct bt_event_recorder {
	struct bt_writer *writer;
	struct bt_map by_key;
	struct bt_sent_event **kept;
	size_t n, cap;
	struct bt_sent_event *first, *last; /* those that wait for an op, in order */
	uint32_t open_n;		    /* those that wait, or have an op */
	uint32_t op_n;
	size_t bytes; /* of all of them, kept or waiting */
	size_t hand;  /* of those that are kept, the next candidate when there is no room */
	int64_t finish_ns, refresh_ns, last_ns;
	struct bt_buf key;
};

static const struct bt_write_op_verbs verbs;

static void begin_turns(struct bt_event_recorder *events, int64_t now_ns)
{
	events->finish_ns = now_ns + FINISH_NS;
	events->refresh_ns = now_ns + REFRESH_NS;
}

struct bt_event_recorder *bt_event_recorder_create(struct bt_writer *writer)
{
	struct bt_event_recorder *events = bt_mem_zalloc(1, sizeof(*events));

	events->writer = writer;
	begin_turns(events, bt_write_now(writer));
	return events;
}

/* ---- names ---- */

static struct bt_intern *names_of(const struct bt_event_recorder *events)
{
	return bt_pipeline_names(events->writer->pipeline);
}

static struct reference hold_pod(const struct bt_event_recorder *events, const struct bt_api_pod *pod)
{
	struct bt_intern *names = names_of(events);

	return (struct reference){.version = bt_version_number(pod->resource_version),
		.namespace_ = bt_intern_hold(names, pod->namespace_),
		.name = bt_intern_hold(names, pod->name),
		.uid = bt_intern_hold(names, pod->uid),
		.group_version = bt_intern_hold(names, pod->group_version),
		.composite = pod->composite};
}

static void release_pod(struct bt_intern *names, const struct reference *pod)
{
	bt_intern_release(names, pod->namespace_);
	bt_intern_release(names, pod->name);
	bt_intern_release(names, pod->uid);
	bt_intern_release(names, pod->group_version);
}

/* Its texts are those of the held names, and of the arena. */
static struct bt_api_pod *pod_of(
	const struct bt_event_recorder *events, const struct reference *held, struct bt_arena *arena)
{
	const struct bt_intern *names = names_of(events);
	struct bt_api_pod *pod = bt_arena_zalloc(arena, sizeof(*pod));

	pod->namespace_ = bt_intern_str(names, held->namespace_);
	pod->name = bt_intern_str(names, held->name);
	pod->uid = bt_intern_str(names, held->uid);
	pod->group_version = bt_intern_str(names, held->group_version);
	pod->composite = held->composite;
	pod->resource_version = bt_version_text(held->version, arena);
	return pod;
}

static void free_event(struct bt_event_recorder *events, struct bt_sent_event *event)
{
	struct bt_intern *names = names_of(events);

	events->bytes -= event->bytes;
	release_pod(names, &event->regarding);
	if (event->has_related) {
		release_pod(names, &event->related);
	}
	bt_intern_release(names, event->note);
	bt_intern_release(names, event->controller);
	bt_intern_release(names, event->instance);
	bt_mem_free(event);
}

void bt_event_recorder_destroy(struct bt_event_recorder *events)
{
	for (struct bt_sent_event *event = events->first, *next; event; event = next) {
		next = event->next;
		if (!event->key) {
			free_event(events, event);
		}
	}
	for (size_t i = 0; i < events->n; i++) {
		free_event(events, events->kept[i]);
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

/* Events with the same key are equal, whatever their notes. */
static uint64_t write_events_key_of(struct bt_event_recorder *events, const struct bt_api_call *call)
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

static struct bt_sent_event *write_events_find(const struct bt_event_recorder *events, uint64_t key)
{
	uint32_t ix;

	return bt_map_get(&events->by_key, key, &ix) ? events->kept[ix] : NULL;
}

static void write_events_keep(struct bt_event_recorder *events, struct bt_sent_event *event, uint64_t key)
{
	if (events->n >= KEPT_MAX) {
		return;
	}
	event->key = key;
	events->kept = bt_mem_grow(events->kept, events->n, &events->cap, sizeof(*events->kept));
	bt_map_put(&events->by_key, key, (uint32_t)events->n);
	events->kept[events->n++] = event;
}

/* The last one moves to its place. */
static void drop(struct bt_event_recorder *events, size_t i)
{
	struct bt_sent_event *event = events->kept[i];

	bt_map_remove(&events->by_key, event->key);
	event->key = 0;
	events->kept[i] = events->kept[--events->n];
	if (i < events->n) {
		bt_map_put(&events->by_key, events->kept[i]->key, (uint32_t)i);
	}
	if (!event->op && !event->waits) {
		free_event(events, event);
	}
}

/* ---- add ---- */

/* The time is part of an event's name, so it is unique. */
static int64_t time_of_event(struct bt_event_recorder *events)
{
	int64_t now_ns = bt_write_wall(events->writer);

	events->last_ns = now_ns > events->last_ns ? now_ns : events->last_ns + 1;
	return events->last_ns;
}

/* Most notes are shared by many pods: only the first event with a note is charged for it. */
static uint32_t bytes_of(const struct bt_event_recorder *events, const struct bt_api_call *call)
{
	const struct bt_api_pod *pods[] = {call->pod, call->event.related};
	size_t n = sizeof(struct bt_sent_event);

	for (int i = 0; i < 2 && pods[i]; i++) {
		n += pods[i]->name.len + pods[i]->uid.len + NAME_BYTES;
	}
	if (bt_intern_find(names_of(events), call->event.note) == BT_NAME_NONE) {
		n += call->event.note.len + NAME_BYTES;
	}
	return (uint32_t)n;
}

static struct bt_sent_event *make(struct bt_event_recorder *events, const struct bt_api_call *call)
{
	struct bt_sent_event *event = bt_mem_zalloc(1, sizeof(*event));
	struct bt_intern *names = names_of(events);

	event->bytes = bytes_of(events, call);
	events->bytes += event->bytes;
	event->reason = call->event.reason;
	event->action = call->event.action;
	event->warning = call->event.warning;
	event->regarding = hold_pod(events, call->pod);
	event->has_related = call->event.related != NULL;
	if (event->has_related) {
		event->related = hold_pod(events, call->event.related);
	}
	event->note = bt_intern_hold(names, call->event.note);
	event->controller = bt_intern_hold(names, call->event.reporting_controller);
	event->instance = bt_intern_hold(names, call->event.reporting_instance);
	event->at_ns = time_of_event(events);
	event->seen_ns = bt_write_now(events->writer);
	return event;
}

/* Waiting events become ops, while there is room. */
static void advance(struct bt_event_recorder *events)
{
	while (events->first && events->op_n < OPS_MAX) {
		struct bt_sent_event *event = events->first;
		struct bt_write_op *op = bt_write_op_create(events->writer, &verbs);

		events->first = event->next;
		event->next = NULL;
		event->waits = false;
		event->op = op;
		events->op_n++;
		op->event = event;
		op->stage = event->stage;
		op->handle = (uint64_t)event->at_ns; /* seed for the jitter of its retries */
		bt_write_op_queue(op);
	}
}

static void write_event(struct bt_event_recorder *events, struct bt_sent_event *event, uint8_t stage)
{
	event->stage = stage;
	event->waits = true;
	if (events->first) {
		events->last->next = event;
	} else {
		events->first = event;
	}
	events->last = event;
	events->open_n++;
	advance(events);
}

/* A call that was not sent yet includes the series. */
static void write_series(struct bt_event_recorder *events, struct bt_sent_event *event)
{
	event->unwritten = true;
	if (!event->op && !event->waits) {
		write_event(events, event, PATCH);
	}
}

static void repeat(struct bt_event_recorder *events, struct bt_sent_event *event)
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

/* ---- when there is no room ---- */

/* Drops the oldest waiting event. Returns: false when none waits. */
static bool drop_oldest(struct bt_event_recorder *events)
{
	struct bt_sent_event *event = events->first;
	uint32_t ix;

	if (!event) {
		return false;
	}
	events->first = event->next;
	event->next = NULL;
	event->waits = false;
	events->open_n--;
	BT_WRITE_COUNT(events->writer, event_dropped_n);
	if (event->key && bt_map_get(&events->by_key, event->key, &ix)) {
		drop(events, ix);
	} else {
		free_event(events, event);
	}
	return true;
}

/* Drops an event that was written and is kept for a series: if it recurs, it is a new one. */
static bool forget_one(struct bt_event_recorder *events)
{
	for (int i = 0; i < SPINS && events->n; i++) {
		size_t at = events->hand++ % events->n;
		const struct bt_sent_event *event = events->kept[at];

		if (!event->op && !event->waits) {
			BT_WRITE_COUNT(events->writer, event_forgotten_n);
			drop(events, at);
			return true;
		}
	}
	return false;
}

/* Returns: whether there is room for an event of that size. */
static bool make_room(struct bt_event_recorder *events, uint32_t bytes)
{
	const struct bt_writer_options *options = &events->writer->options;

	while (events->bytes + bytes > options->event_bytes) {
		if (!forget_one(events) && !drop_oldest(events)) {
			return false;
		}
	}
	while (events->open_n >= options->events) {
		if (!drop_oldest(events)) {
			return false;
		}
	}
	return true;
}

void bt_event_recorder_add(struct bt_event_recorder *events, const struct bt_api_call *call)
{
	bool once = bt_str_is(bt_str(call->event.reason), "Scheduled");
	uint64_t key = once ? 0 : write_events_key_of(events, call);
	struct bt_sent_event *known = key ? write_events_find(events, key) : NULL;

	if (known) {
		repeat(events, known);
		return;
	}
	if (!make_room(events, bytes_of(events, call))) {
		BT_WRITE_COUNT(events->writer, event_dropped_n);
		return;
	}
	struct bt_sent_event *event = make(events, call);
	if (key) {
		write_events_keep(events, event, key);
	}
	write_event(events, event, CREATE);
}

uint32_t bt_event_recorder_spacing(
	const struct bt_event_recorder *events, const struct bt_write_op *first, int64_t now_ns)
{
	if (events->open_n > events->writer->options.events / 2 ||
		events->bytes > events->writer->options.event_bytes / 2) {
		return 1;
	}
	/* When it was queued, not when it was last seen: one that recurs often would wait forever. */
	return now_ns - first->due_ns >= PATIENCE_NS ? BINDINGS_PER_EVENT : UINT32_MAX;
}

/* ---- sending ---- */

static void let_go(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_sent_event *event = op->event;

	event->op = NULL;
	writer->events->op_n--;
	writer->events->open_n--;
	if (!event->key) {
		free_event(writer->events, event);
	}
}

static void write_events_end(struct bt_writer *writer, struct bt_write_op *op)
{
	let_go(writer, op);
	bt_write_op_end(op);
	advance(writer->events);
}

/* The object for the API. */
static void write_body(struct bt_writer *writer, const struct bt_sent_event *event, struct bt_str name)
{
	const struct bt_event_recorder *events = writer->events;
	const struct bt_intern *names = names_of(events);
	struct bt_arena *arena = &writer->scratch;
	const struct bt_api_call call = {.verb = BT_API_EVENT,
		.pod = pod_of(events, &event->regarding, arena),
		.event = {.warning = event->warning,
			.reason = event->reason,
			.action = event->action,
			.note = bt_intern_str(names, event->note),
			.reporting_controller = bt_intern_str(names, event->controller),
			.reporting_instance = bt_intern_str(names, event->instance),
			.related = event->has_related ? pod_of(events, &event->related, arena) : NULL}};

	bt_api_event_write(&call, name, event->at_ns, &event->series, &writer->body);
	bt_buf_char(&writer->body, '\n');
}

static bool request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	struct bt_sent_event *event = op->event;
	bool patches = op->stage == PATCH;
	struct bt_intern *names = names_of(writer->events);
	struct bt_str name;

	bt_buf_clear(&writer->text);
	bt_api_event_name(bt_intern_str(names, event->regarding.name), event->at_ns, &writer->text);
	name = bt_buf_view(&writer->text);
	if (patches) {
		bt_api_series_write(&event->series, &writer->body);
	} else {
		write_body(writer, event, name);
	}
	event->unwritten = false;
	*out_call = (struct bt_http_call){
		.method = patches ? BT_HTTP_PATCH : BT_HTTP_POST,
		.path = bt_write_path(writer, "/apis/events.k8s.io/v1",
			bt_intern_str(names, event->regarding.namespace_), patches ? "/events/" : "/events",
			patches ? name : (struct bt_str){.len = 0}, ""),
		.content_type =
			bt_str(patches ? "application/strategic-merge-patch+json" : "application/json"),
		.body = bt_buf_view(&writer->body),
	};
	BT_WRITE_COUNT(writer, event_n);
	return true;
}

static void again(struct bt_writer *writer, struct bt_write_op *op)
{
	if (++op->tries >= TRIES) {
		BT_WRITE_COUNT(writer, event_dropped_n);
		write_events_end(writer, op);
		return;
	}
	bt_write_op_repeat(op);
	bt_write_op_later(
		op, SLEEP_NS + (int64_t)bt_rng_scale(bt_rng_at(op->handle, op->tries), SLEEP_NS / 4));
}

static void written(struct bt_writer *writer, struct bt_write_op *op)
{
	if (op->event->unwritten) {
		op->stage = PATCH;
		bt_write_op_queue(op);
	} else {
		write_events_end(writer, op);
	}
}

static void answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	const struct bt_sent_event *event = op->event;

	/* The name is unique: an earlier call whose answer was lost has created it. */
	bool made = answer->status == 409 && op->stage == CREATE && op->tries;

	if (answer->fate == BT_FATE_DONE || made) {
		written(writer, op);
	} else if (answer->fate == BT_FATE_THROTTLED) {
		bt_write_op_queue_first(op);
	} else if (answer->status == 404 && op->stage == PATCH) {
		op->stage = CREATE;
		bt_write_op_queue_first(op);
	} else if (answer->fate != BT_FATE_REFUSED || (answer->status == 409 && event->series.count)) {
		again(writer, op);
	} else {
		const struct bt_intern *names = names_of(writer->events);
		const struct bt_pod_ref pod = {bt_intern_str(names, event->regarding.namespace_),
			bt_intern_str(names, event->regarding.name),
			bt_intern_str(names, event->regarding.uid)};

		bt_write_log_error(&writer->event_log_limit, "An event could not be written", &pod,
			bt_write_message(writer, answer));
		BT_WRITE_COUNT(writer, event_dropped_n);
		write_events_end(writer, op);
	}
}

static void fenced(struct bt_writer *writer, struct bt_write_op *op)
{
	BT_WRITE_COUNT(writer, event_dropped_n);
	write_events_end(writer, op);
}

static void write_events_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	(void)writer;
	bt_write_op_queue(op);
}

static void given_up(struct bt_writer *writer, struct bt_write_op *op, bool sent)
{
	if (!sent) {
		BT_WRITE_COUNT(writer, event_dropped_n);
	}
	let_go(writer, op);
}

static const struct bt_write_op_verbs verbs = {
	BT_CLASS_EVENT, write_events_begin, request, answered, fenced, given_up};

/* ---- time ---- */

static void refresh(struct bt_event_recorder *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->kept[i]->series.count) {
			write_series(events, events->kept[i]);
		}
	}
}

/* Writes a series for the last time. */
static void finish(struct bt_event_recorder *events, int64_t now_ns)
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

int64_t bt_event_recorder_tick(struct bt_event_recorder *events, int64_t now_ns)
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
