/* SPDX-License-Identifier: Apache-2.0
 * A pipeline with threads and a world that changes concurrently: decisions equal those of one
 * engine that gets the same events in the same order (I9); no pod is bound twice (I2); at rest the
 * ledger equals the world (I4).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/base/rng.h"
#include "engine/base/thread.h"
#include "engine/base/varint.h"
#include "engine/flow/pipeline/pipeline.h"
#include "engine/flow/cycle/source.h"
#include "stress.h"
#include "tools/format/object_reader.h"
#include "tools/offline/generate/generate.h"
#include "tools/kube/objects/admission.h"
#include "tools/kube/objects/watch_event.h"

#define SECOND	  INT64_C(1000000000)
#define FASTER	  300 /* virtual seconds per real second */
#define QUIET_N	  20
#define CHURN_OF  3  /* one of this many pods is deleted, and one changes */
#define FAILS_OF  9  /* one of this many bindings fails */
#define DELAYS_OF 5  /* one of this many is delayed */
#define LOSES_OF  11 /* the response to one of this many is lost */
#define TWICE_OF  9  /* one of this many events comes twice, and one comes late */

/* Race detectors are slow: they run a few of the shapes. */
#if BT_VALGRIND
#define STRIDE 31
#elif defined(BT_TSAN)
#define STRIDE 7
#else
#define STRIDE 1
#endif

/* ---- the world ---- */

/* An object of the script, and its state. */
struct thing {
	struct bt_watch_event *base; /* init: the original object */
	/* lock(world): */
	bool shown, gone;
	char node[64];	 /* of a bound pod: its node */
	bool ours;	 /* bound by the pipeline */
	uint64_t barred; /* a check has reported the bindings up to this number as failed */
	uint32_t life_n; /* how often it was created again, each time as another object */
};

struct event {
	struct bt_watch_event *watch_event;
	struct event *next;
};

struct world {
	struct thing *things;
	size_t thing_n, thing_cap;
	struct bt_pipeline *pipeline;
	struct bt_lock lock;
	/* lock(world): */
	uint64_t version, random_n, seed;
	struct event *first, *last;  /* the source's queue */
	struct bt_watch_event *held; /* an event that will come late */
	uint64_t late[64];	     /* open bindings */
	uint32_t late_n;
	bool done; /* the source and the binder have stopped */
	bool churns;
};

static struct bt_watch_event *watch_event_of(enum bt_watch_event_kind kind, const struct bt_object *object)
{
	struct bt_watch_event *watch_event = bt_watch_event_create(kind);

	watch_event->object = *object;
	bt_object_own(&watch_event->object, &watch_event->arena);
	return watch_event;
}

static void keep_admitted(void *context, struct bt_object *object, bool made)
{
	struct world *w = context;

	(void)made;
	w->things = bt_mem_grow(w->things, w->thing_n, &w->thing_cap, sizeof(*w->things));
	w->things[w->thing_n++] = (struct thing){.base = watch_event_of(BT_WATCH_EVENT_APPLY, object)};
}

static bool admit(void *context, const struct bt_object *object)
{
	struct bt_object copy = *object;

	bt_admission_object(context, &copy);
	return true;
}

static void make_world(struct world *w, uint32_t profiles, uint64_t seed, bool churns)
{
	struct bt_generate_options options = bt_generate_defaults();
	struct bt_admission admission = {.admitted = keep_admitted, .context = w};

	options.node_n = 12;
	options.pod_n = 110;
	options.signature_n = 9;
	options.zone_n = 3;
	options.profiles = profiles;
	options.seed = seed;
	options.bound = 0.2;
	*w = (struct world){.seed = seed, .churns = churns};
	bt_lock_init(&w->lock);
	bt_generate(&options, admit, &admission);
	bt_admission_finish(&admission, NULL);
	bt_admission_fini(&admission);
}

/* Prepares another run of the same script. */
static void reset_world(struct world *w)
{
	for (size_t i = 0; i < w->thing_n; i++) {
		w->things[i] = (struct thing){.base = w->things[i].base};
	}
	bt_watch_event_destroy(w->held);
	w->held = NULL;
	while (w->first) {
		struct event *next = w->first->next;

		bt_watch_event_destroy(w->first->watch_event);
		free(w->first);
		w->first = next;
	}
	w->last = NULL;
	w->version = w->random_n = w->late_n = 0;
	w->done = false;
}

static void end_world(struct world *w)
{
	reset_world(w);
	for (size_t i = 0; i < w->thing_n; i++) {
		bt_watch_event_destroy(w->things[i].base);
	}
	bt_lock_fini(&w->lock);
	bt_mem_free(w->things);
}

/* Holds lock(world). Returns true with a probability of 1 / n. */
static bool happens(struct world *w, uint32_t n)
{
	return bt_rng_scale(bt_rng_at(w->seed, ++w->random_n), n) == 0;
}

static void queue_event(struct world *w, struct bt_watch_event *watch_event)
{
	struct event *event = calloc(1, sizeof(*event));

	event->watch_event = watch_event;
	if (w->last) {
		w->last->next = event;
	} else {
		w->first = event;
	}
	w->last = event;
}

/* Holds lock(world). Queues a delayed event. */
static void queue_held(struct world *w)
{
	if (w->held) {
		queue_event(w, w->held);
		w->held = NULL;
	}
}

static void write_uid(const struct thing *thing, char out[80])
{
	snprintf(out, 80, "%.*s-%u", BT_STR_ARG(thing->base->object.meta.uid), thing->life_n);
}

/* Holds lock(world). Queues an event with an object's current state; sometimes twice, sometimes late. */
static void show(struct world *w, struct thing *thing, enum bt_watch_event_kind kind)
{
	struct bt_object object = thing->base->object;
	char version[24], uid[80];

	snprintf(version, sizeof(version), "%" PRIu64, ++w->version);
	write_uid(thing, uid);
	object.meta.resource_version = bt_str(version);
	object.meta.uid = bt_str(uid);
	if (object.kind == BT_KIND_POD && thing->node[0]) {
		object.pod.spec.node_name = bt_str(thing->node);
	}
	thing->shown = true;
	thing->gone = kind == BT_WATCH_EVENT_DELETE;
	if (w->churns && !w->held && happens(w, TWICE_OF)) {
		w->held = watch_event_of(kind, &object);
		return;
	}
	queue_event(w, watch_event_of(kind, &object));
	if (w->churns && happens(w, TWICE_OF)) {
		queue_event(w, watch_event_of(kind, &object));
	}
	queue_held(w);
}

/* Holds lock(world). Creates a deleted object again. */
static void recreate(struct world *w, struct thing *thing)
{
	thing->life_n++;
	thing->node[0] = 0;
	thing->ours = false;
	show(w, thing, BT_WATCH_EVENT_APPLY);
}

static struct thing *find(struct world *w, const struct bt_pod_ref *pod)
{
	for (size_t i = 0; i < w->thing_n; i++) {
		const struct bt_object *object = &w->things[i].base->object;

		if (object->kind == BT_KIND_POD && bt_str_eq(object->meta.name, pod->name) &&
			bt_str_eq(object->meta.namespace_, pod->namespace_)) {
			return &w->things[i];
		}
	}
	return NULL;
}

/* ---- the binder ---- */

static bool is_current(const struct thing *thing, const struct bt_bind_request *request)
{
	char uid[80];

	write_uid(thing, uid);
	return !thing->gone && bt_str_is(request->pod.uid, uid);
}

/* Holds lock(world). Acts as the API server. Returns whether the pod is bound now. */
static bool bind_in_world(struct world *w, const struct bt_bind_request *request)
{
	struct thing *thing = find(w, &request->pod);

	STRESS_CHECK(thing && request->node.len < sizeof(thing->node));
	if (!is_current(thing, request) || request->number <= thing->barred || happens(w, FAILS_OF)) {
		return false;
	}
	STRESS_CHECK(!thing->ours); /* I2 */
	if (thing->node[0]) {
		return false;
	}
	snprintf(thing->node, sizeof(thing->node), "%.*s", BT_STR_ARG(request->node));
	thing->ours = true;
	if (!w->done && happens(w, 2)) {
		show(w, thing, BT_WATCH_EVENT_APPLY);
	}
	return true;
}

/* Holds lock(world). Late answers may be too late, because a check was faster. */
static void answer_late(struct world *w, uint32_t keep_n)
{
	while (w->late_n > keep_n) {
		bt_pipeline_bound(w->pipeline, w->late[--w->late_n]);
	}
}

static void bind(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct world *w = context;

	bt_lock_acquire(&w->lock);
	bool bound = bind_in_world(w, request), later = bound && !w->done && happens(w, DELAYS_OF);
	bool lost = w->churns && happens(w, LOSES_OF);
	if (later && !lost) {
		w->late[w->late_n++] = request->handle;
	}
	answer_late(w, 2);
	bt_lock_release(&w->lock);
	if (lost || later) {
		return;
	}
	if (bound) {
		bt_pipeline_bound(pipeline, request->handle);
	} else {
		bt_pipeline_bind_failed(pipeline, request->handle, bt_str("no"));
	}
	STRESS_CHECK(bt_pipeline_bound(pipeline, request->handle) == BT_CONFLICT);
}

static void check(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct world *w = context;

	bt_lock_acquire(&w->lock);
	struct thing *thing = find(w, &request->pod);
	bool bound = is_current(thing, request) && bt_str_is(request->node, thing->node);
	bool unknown = happens(w, 3);
	if (!bound && !unknown && thing->barred < request->number) {
		thing->barred = request->number;
	}
	bt_lock_release(&w->lock);
	if (unknown) {
		bt_pipeline_unknown(pipeline, request->handle);
	} else if (bound) {
		bt_pipeline_bound(pipeline, request->handle);
	} else {
		bt_pipeline_bind_failed(pipeline, request->handle, bt_str("no"));
	}
}

static void evict(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct world *w = context;

	bt_lock_acquire(&w->lock);
	struct thing *thing = find(w, &request->pod);
	STRESS_CHECK(thing);
	bool fails = w->done || !is_current(thing, request) || happens(w, FAILS_OF);
	if (!fails) {
		show(w, thing, BT_WATCH_EVENT_DELETE);
	}
	bt_lock_release(&w->lock);
	if (fails) {
		bt_pipeline_evict_failed(pipeline, request->handle, bt_str("no"));
	} else {
		bt_pipeline_evicted(pipeline, request->handle);
	}
}

/* ---- the source ---- */

/* Holds lock(world). Any of the first n things. */
static struct thing *any_of(struct world *w, size_t n)
{
	return &w->things[bt_rng_scale(bt_rng_at(w->seed, ++w->random_n), (uint32_t)n)];
}

/* Holds lock(world). Another scheduler binds a pod, possibly to a full node. */
static void bind_elsewhere(struct world *w, struct thing *pod, size_t n)
{
	const struct thing *node = any_of(w, n);

	if (node->base->object.kind == BT_KIND_NODE && pod->node[0] == 0 &&
		pod->base->object.pod.spec.node_name.len == 0) {
		snprintf(pod->node, sizeof(pod->node), "%.*s", BT_STR_ARG(node->base->object.meta.name));
		show(w, pod, BT_WATCH_EVENT_APPLY);
	}
}

/* Holds lock(world). Changes one of the first n things. */
static void churn(struct world *w, size_t n)
{
	struct thing *thing = any_of(w, n);
	enum bt_kind kind = thing->base->object.kind;

	if (kind != BT_KIND_POD && kind != BT_KIND_NODE) {
		return;
	}
	if (thing->gone) {
		recreate(w, thing);
	} else if (happens(w, 3)) {
		show(w, thing, BT_WATCH_EVENT_DELETE);
		if (happens(w, 2)) {
			recreate(w, thing);
		}
	} else if (kind == BT_KIND_POD && happens(w, 2)) {
		bind_elsewhere(w, thing, n);
	} else {
		show(w, thing, BT_WATCH_EVENT_APPLY);
	}
}

static struct bt_watch_event *next_event(struct world *w)
{
	struct bt_watch_event *watch_event = NULL;

	bt_lock_acquire(&w->lock);
	struct event *event = w->first;
	if (event) {
		w->first = event->next;
		w->last = w->first ? w->last : NULL;
		watch_event = event->watch_event;
		free(event);
	}
	bt_lock_release(&w->lock);
	return watch_event;
}

/* Feeds pending events. Returns whether there were any. */
static bool feed(struct world *w)
{
	struct bt_watch_event *watch_event;
	bool any = false;

	while ((watch_event = next_event(w))) {
		STRESS_CHECK(bt_pipeline_feed(w->pipeline, 0, &watch_event, BT_FOREVER) == BT_OK);
		any = true;
	}
	return any;
}

static void nudge(void *context, struct bt_engine *engine)
{
	(void)context;
	(void)engine;
}

/* Plays the script, then feeds the binder's results, until the pipeline is idle. */
static void run_source(void *context, uint32_t ix)
{
	struct world *w = context;
	uint32_t turns = 0;

	(void)ix;
	for (size_t i = 0; i < w->thing_n; i++) {
		bt_lock_acquire(&w->lock);
		if (!w->things[i].shown) {
			show(w, &w->things[i], BT_WATCH_EVENT_APPLY);
		}
		if (w->churns && happens(w, CHURN_OF)) {
			churn(w, i + 1);
		}
		bt_lock_release(&w->lock);
		feed(w);
	}
	for (uint32_t quiet_n = 0; quiet_n < QUIET_N; quiet_n++) {
		bt_lock_acquire(&w->lock);
		answer_late(w, 0);
		bt_lock_release(&w->lock);
		if (feed(w) || bt_pipeline_counts(w->pipeline).binding_n) {
			quiet_n = 0;
		}
		/* The clock is faster than the timer of the sleeping thread. */
		bt_pipeline_call(w->pipeline, nudge, NULL);
		stress_wait_turn(&turns);
	}
	bt_lock_acquire(&w->lock);
	w->done = true;
	answer_late(w, 0);
	queue_held(w);
	bt_lock_release(&w->lock);
	feed(w);
}

/* ---- one engine, fed from the journal ---- */

struct pod_list {
	uint32_t *pods;
	size_t n, cap;
};

struct serial {
	struct bt_engine *engine;
	int64_t now_ns;
	/* Pods, numbered from 1. Their number grows on slower machines, because the
	 * engine's clock keeps running. */
	struct pod_list bindings, victims, preemptors;
};

static void add_pod(struct pod_list *list, uint32_t pod_ix)
{
	list->pods = bt_mem_grow(list->pods, list->n, &list->cap, sizeof(*list->pods));
	list->pods[list->n++] = pod_ix;
}

static uint32_t pod_at(const struct pod_list *list, uint64_t number)
{
	STRESS_CHECK(number >= 1 && number <= list->n);
	return list->pods[number - 1];
}

static void note_binding(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct serial *s = context;

	(void)engine;
	(void)node_ix;
	add_pod(&s->bindings, pod_ix);
}

static void note_victim(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct serial *s = context;

	(void)engine;
	add_pod(&s->victims, pod_ix);
	add_pod(&s->preemptors, for_ix);
}

static uint32_t find_pod(const struct serial *s, const struct bt_object *object)
{
	return bt_engine_find_pod(s->engine, object->meta.namespace_, object->meta.name);
}

/* Does the name's pod have this UID? */
static bool is_same(const struct serial *s, uint32_t pod_ix, struct bt_str uid)
{
	const struct bt_cache *cache = bt_engine_cache(s->engine);

	return bt_str_eq(
		bt_intern_str(cache->dictionary->intern, bt_ledger_pod(cache->ledger, pod_ix)->uid), uid);
}

static void show_serial(struct serial *s, const struct bt_object *object)
{
	uint32_t ix = object->kind == BT_KIND_POD ? find_pod(s, object) : BT_NO_POD;
	enum bt_entry entry;

	if (ix != BT_NO_POD && !is_same(s, ix, object->meta.uid)) {
		bt_engine_remove_pod(s->engine, ix);
		ix = BT_NO_POD;
	}
	if (ix != BT_NO_POD) {
		bt_engine_update_pod(s->engine, ix, &object->pod);
	} else {
		bt_engine_apply(s->engine, object, &entry, &ix);
	}
}

static void remove_serial(struct serial *s, const struct bt_object *object)
{
	uint32_t pod_ix;

	if (object->kind == BT_KIND_NODE) {
		bt_engine_remove_node(s->engine, object->meta.name);
	} else if (object->kind == BT_KIND_POD && (pod_ix = find_pod(s, object)) != BT_NO_POD) {
		bt_engine_remove_pod(s->engine, pod_ix);
	}
}

static void decide_serial(struct serial *s, struct bt_str wanted)
{
	uint32_t pod_ix = bt_engine_pop(s->engine);
	struct bt_decision decision;
	struct bt_buf body = {0}, ours = {0}, theirs = {0};

	assert_int_not_equal(pod_ix, BT_NO_POD);
	bt_engine_decide(s->engine, pod_ix, &decision);
	bt_journal_write_decision(s->engine, &decision, &body);
	if (!bt_str_eq(bt_buf_view(&body), wanted)) {
		bt_journal_decision_text(bt_buf_view(&body), &ours);
		bt_journal_decision_text(wanted, &theirs);
		fail_msg("the pipeline decided %s, one engine %s", theirs.ptr, ours.ptr);
	}
	bt_buf_fini(&body);
}

static void play_serial(
	struct serial *s, const struct bt_journal_record *record, const struct bt_journal_codec *codec)
{
	struct bt_str body = record->body;
	struct bt_arena arena = {0};
	struct bt_object object = {0};
	struct bt_buf error = {0};
	uint64_t number = 0;
	int64_t more_ns = 0;

	switch (record->kind) {
	case BT_JOURNAL_APPLY:
	case BT_JOURNAL_DELETE:
		assert_true(codec->decode(codec->context, body, &arena, &object, &error));
		(record->kind == BT_JOURNAL_APPLY ? show_serial : remove_serial)(s, &object);
		break;
	case BT_JOURNAL_TIME:
		assert_true(bt_varint_get(&body, &number) && bt_varint_get_signed(&body, &more_ns));
		s->now_ns += more_ns;
		bt_engine_tick(s->engine);
		break;
	case BT_JOURNAL_BOUND:
		bt_varint_get(&body, &number);
		bt_engine_bound(s->engine, pod_at(&s->bindings, number));
		break;
	case BT_JOURNAL_FAILED:
		bt_varint_get(&body, &number);
		bt_engine_bind_failed(s->engine, pod_at(&s->bindings, number));
		break;
	case BT_JOURNAL_EVICTED:
		bt_varint_get(&body, &number);
		bt_engine_evict(s->engine, pod_at(&s->victims, number));
		break;
	case BT_JOURNAL_EVICT_FAILED:
		bt_varint_get(&body, &number);
		bt_engine_evict_failed(s->engine, pod_at(&s->preemptors, number));
		break;
	case BT_JOURNAL_DECISION:
		decide_serial(s, body);
		break;
	default:
		assert_int_equal(record->kind, BT_JOURNAL_END);
		break;
	}
	bt_arena_fini(&arena);
	bt_buf_fini(&error);
}

static void check_serially(struct bt_str bytes, const struct bt_config *config)
{
	struct serial *s = calloc(1, sizeof(*s));
	struct bt_config_errors errors = {0};
	struct bt_buf error = {0};
	struct bt_journal_reader reader;
	struct bt_journal_header header;
	struct bt_journal_record record;
	struct bt_watch_event_maker maker;

	bt_watch_event_maker_init(&maker);
	const struct bt_journal_codec codec = bt_journal_json(&maker);
	assert_int_equal(bt_journal_open(bytes, &reader, &header, &error), BT_OK);
	s->now_ns = header.begin_ns;
	const struct bt_engine_options options = {.seed = header.seed,
		.clock = bt_clock_virtual(&s->now_ns),
		.binder = {note_binding, s},
		.evictor = {note_victim, s}};
	s->engine = bt_engine_create(config, &options, &errors);
	while (bt_journal_next(&reader, &record, &error) == BT_OK) {
		play_serial(s, &record, &codec);
	}
	assert_int_equal(error.len, 0);
	bt_engine_destroy(s->engine);
	bt_watch_event_maker_fini(&maker);
	bt_config_errors_fini(&errors);
	bt_mem_free(s->bindings.pods);
	bt_mem_free(s->victims.pods);
	bt_mem_free(s->preemptors.pods);
	free(s);
}

static void check_replay(struct bt_str bytes, const struct bt_config *config, uint64_t decided_n)
{
	struct bt_replay_result result;
	struct bt_watch_event_maker maker;
	struct bt_buf text = {0};

	bt_watch_event_maker_init(&maker);
	const struct bt_replay_options options = {.config = config, .codec = bt_journal_json(&maker)};
	if (bt_journal_replay(bytes, &options, &result, &text) != BT_OK) {
		fail_msg("%s", text.ptr);
	}
	assert_int_equal(result.decision_n, decided_n);
	bt_buf_fini(&text);
	bt_watch_event_maker_fini(&maker);
}

/* ---- at rest ---- */

/* The ledger equals the world, except for objects that were not fed any more (I4). */
static void check_rest(struct world *w)
{
	struct bt_engine *engine = bt_pipeline_engine(w->pipeline);
	const struct bt_cache *cache = bt_engine_cache(engine);

	assert_int_equal(bt_engine_counts(engine).sets.assumed, 0);
	assert_null(w->first);
	for (size_t i = 0; i < w->thing_n; i++) {
		const struct thing *thing = &w->things[i];
		const struct bt_object *object = &thing->base->object;

		if (object->kind != BT_KIND_POD) {
			continue;
		}
		uint32_t pod_ix = bt_engine_find_pod(engine, object->meta.namespace_, object->meta.name);
		bool bound = thing->node[0] || object->pod.spec.node_name.len;
		assert_int_equal(pod_ix != BT_NO_POD,
			!thing->gone && !bt_ingest_pod_has_ended(&object->pod) &&
				(bound || !bt_engine_is_other_schedulers(engine, &object->pod)));
		if (pod_ix == BT_NO_POD) {
			continue;
		}
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
		assert_int_equal(pod->state, bound ? BT_POD_SCHEDULED : BT_POD_QUEUED);
		if (thing->node[0]) {
			struct bt_str node = bt_intern_str(
				cache->dictionary->intern, cache->view.snapshot->nodes[pod->node_ix].name);
			assert_true(bt_str_is(node, thing->node));
		}
	}
}

/* ---- runs ---- */

struct shape {
	uint32_t ingest_threads, bind_threads, batch, capacity;
	uint64_t delays; /* seed of delays at testpoints; 0: none */
};

static int64_t fast_now(void *context)
{
	(void)context;
	return bt_clock_monotonic_ns() * FASTER;
}

static bool write_bytes(void *context, const char *bytes, size_t n)
{
	bt_buf_add(context, bytes, n);
	return true;
}

static void run(struct world *w, const struct shape *shape)
{
	struct bt_buf bytes = {0}, why = {0};
	const struct bt_journal_options recording = {
		.write = write_bytes, .context = &bytes, .codec = bt_journal_json(NULL), .ring_bytes = 4096};
	struct bt_journal *journal = bt_journal_create(&recording);
	struct bt_pipeline_options options = {.limits = bt_limits_default(),
		/* The replay keeps unused data, as engines do; decisions are the same. */
		.engine = {.seed = w->seed,
			.clock = {fast_now, NULL},
			.keeps_none = shape->delays % 2,
			.moves_pods = true},
		.binder = {.bind = bind, .evict = evict, .check = check, .context = w},
		.journal = journal};
	struct bt_config_errors errors = {0};
	struct bt_config config;
	struct stress_team team = {0};

	options.limits.ingest_threads = shape->ingest_threads;
	options.limits.bind_threads = shape->bind_threads;
	options.one_thread = w->seed % 3 == 0;
	options.limits.batch = shape->batch;
	options.limits.run = 1 + (uint32_t)(w->seed % 5);
	options.limits.feed = options.limits.delta = options.limits.inbox = options.limits.bind_requests =
		options.limits.bindings = shape->capacity;
	options.limits.bind_timeout_ns = SECOND;
	options.limits.assume_ttl_ns = 2 * SECOND;
	bt_config_init_default(&config, NULL);
	reset_world(w);
	w->pipeline = bt_pipeline_create(&config, &options, &errors);
	assert_non_null(w->pipeline);
	if (shape->delays) {
		bt_testpoint_delay(shape->delays);
	}
	assert_int_equal(bt_pipeline_start(w->pipeline, &why), BT_OK);
	stress_add(&team, run_source, w);
	stress_run(&team);
	assert_true(bt_pipeline_stop(w->pipeline, BT_END_DRAIN, BT_FOREVER));
	if (shape->delays) {
		bt_testpoint_off();
	}
	assert_int_equal(bt_journal_finish(journal), BT_OK);
	check_rest(w);
	check_serially(bt_buf_view(&bytes), &config);
	check_replay(bt_buf_view(&bytes), &config, bt_pipeline_counts(w->pipeline).decided_n);
	bt_pipeline_destroy(w->pipeline);
	bt_journal_destroy(journal);
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
	bt_buf_fini(&bytes);
	bt_buf_fini(&why);
}

static uint64_t seed_of_run(void)
{
	const char *text = getenv("BT_SEED");

	return text ? strtoull(text, NULL, 10) : 1;
}

/* Each number of threads, batch size and timing. */
static void run_all(uint32_t profiles, bool churns)
{
	static const uint32_t ingest[] = {1, 2, 4}, binders[] = {1, 2}, batches[] = {1, 7, 64, 1024};
	uint64_t seed = seed_of_run();
	struct world w;

	printf("seed %" PRIu64 "\n", seed);
	make_world(&w, profiles, seed, churns);
	for (uint32_t i = 0; i < 3 * 2 * 4 * 3; i += STRIDE) {
		const struct shape shape = {.ingest_threads = ingest[i % 3],
			.bind_threads = binders[i / 3 % 2],
			.batch = batches[i / 6 % 4],
			.capacity = i % 2 ? 4 : 1024,
			.delays = seed + i};

		run(&w, &shape);
	}
	end_world(&w);
}

static void run_once(void *context)
{
	const struct shape shape = {.ingest_threads = 2, .bind_threads = 2, .batch = 7, .capacity = 4};

	run(context, &shape);
}

static void a_thread_held_at_any_point_changes_no_decision(void **state)
{
	static const char *const prefixes[] = {"pipeline.", "bind_requests.", "threads.", "publish."};
	static const size_t point_ns[] = {4, 2, 2, 1};
	uint64_t seed = seed_of_run();
	struct world w;

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	make_world(&w, BT_PROFILE_MIXED, seed, true);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		stress_hold_at_each(prefixes[i], point_ns[i], run_once, &w, seed);
	}
	end_world(&w);
}

/* ---- ends ---- */

struct stopper {
	struct world *w;
	uint32_t turns;
};

/* Feeds until the rings are full. */
static void feed_until_end(void *context, uint32_t ix)
{
	struct stopper *s = context;
	enum bt_status status = BT_OK;

	(void)ix;
	for (size_t i = 0; status == BT_OK; i = (i + 1) % s->w->thing_n) {
		struct bt_watch_event *watch_event =
			watch_event_of(BT_WATCH_EVENT_APPLY, &s->w->things[i].base->object);

		status = bt_pipeline_feed(s->w->pipeline, 0, &watch_event, BT_FOREVER);
		STRESS_CHECK((status == BT_OK) == (watch_event == NULL));
		bt_watch_event_destroy(watch_event);
	}
	STRESS_CHECK(status == BT_CONFLICT);
}

static void stop_at_some_time(void *context, uint32_t ix)
{
	struct stopper *s = context;
	uint32_t turns = 0;

	(void)ix;
	for (uint32_t i = 0; i < s->turns; i++) {
		stress_wait_turn(&turns);
	}
	STRESS_CHECK(
		bt_pipeline_stop(s->w->pipeline, s->turns % 2 ? BT_END_ABANDON : BT_END_DRAIN, BT_FOREVER));
}

static void bind_at_once(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	(void)context;
	bt_pipeline_bound(pipeline, request->handle);
}

static void a_pipeline_can_be_stopped_at_any_moment(void **state)
{
	uint64_t seed = seed_of_run();
	struct world w;

	(void)state;
	make_world(&w, BT_PROFILE_MIXED, seed, false);
	for (uint32_t i = 0; i < 60; i += STRIDE) {
		struct bt_pipeline_options options = {
			.limits = bt_limits_default(), .binder = {.bind = bind_at_once}};
		struct stopper stopper = {&w, i * 7};
		struct bt_config_errors errors = {0};
		struct stress_team team = {0};
		struct bt_buf why = {0};
		struct bt_config config;

		options.limits.feed = options.limits.delta = options.limits.inbox =
			options.limits.bind_requests = options.limits.bindings = 4;
		options.limits.ingest_threads = 1 + i % 3;
		options.limits.run = 1 + i % 4;
		options.limits.bind_threads = 1 + i % 2;
		options.one_thread = i % 5 == 0;
		bt_config_init_default(&config, NULL);
		w.pipeline = bt_pipeline_create(&config, &options, &errors);
		bt_testpoint_delay(seed + i);
		assert_int_equal(bt_pipeline_start(w.pipeline, &why), BT_OK);
		stress_add(&team, feed_until_end, &stopper);
		stress_add(&team, stop_at_some_time, &stopper);
		stress_run(&team);
		bt_testpoint_off();
		bt_pipeline_destroy(w.pipeline);
		bt_config_errors_fini(&errors);
		bt_config_fini(&config);
		bt_buf_fini(&why);
	}
	end_world(&w);
}

/* EDGE bind_request.word, EDGE bind_request.slots, EDGE bind_request.answers, EDGE stage.ended,
 * EDGE visit.request, EDGE visit.done. */
static void spreading_is_decided_as_one_engine_would(void **state)
{
	(void)state;
	run_all(BT_PROFILE_BASIC | BT_PROFILE_SPREAD, false);
}

static void affinity_is_decided_as_one_engine_would(void **state)
{
	(void)state;
	run_all(BT_PROFILE_BASIC | BT_PROFILE_AFFINITY | BT_PROFILE_INTERPOD, false);
}

static void preemption_is_decided_as_one_engine_would(void **state)
{
	(void)state;
	run_all(BT_PROFILE_BASIC | BT_PROFILE_PRIORITY | BT_PROFILE_PREEMPTION, false);
}

static void a_mixture_is_decided_as_one_engine_would(void **state)
{
	(void)state;
	run_all(BT_PROFILE_MIXED, false);
}

static void churn_is_decided_as_one_engine_would(void **state)
{
	(void)state;
	run_all(BT_PROFILE_EVERYDAY | BT_PROFILE_CHURN, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spreading_is_decided_as_one_engine_would),
		cmocka_unit_test(affinity_is_decided_as_one_engine_would),
		cmocka_unit_test(preemption_is_decided_as_one_engine_would),
		cmocka_unit_test(a_mixture_is_decided_as_one_engine_would),
		cmocka_unit_test(churn_is_decided_as_one_engine_would),
		cmocka_unit_test(a_thread_held_at_any_point_changes_no_decision),
		cmocka_unit_test(a_pipeline_can_be_stopped_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
