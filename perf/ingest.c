/* SPDX-License-Identifier: Apache-2.0
 * Reading a cluster as kubectl writes it: decoding alone, and decoding with ingestion into the engine. The
 * argument is the number of pods; there is a node for every twenty. Items are objects.
 *
 * Describing pods: replicas of 1,000 signatures with names and UIDs of their own, half of them on nodes, are
 * added and deleted. The argument is the number of describing threads; with handover, one more thread assigns
 * slots to the deltas' nodes from a ring. Items are pods.
 *
 * through: events of such pods through a pipeline, from a source through that many ingestion threads and the
 * publisher to the scheduling thread, which drops them: 100,000 pods live at a time; as many are deleted as
 * are added. Items are events.
 *
 * Rates of cases with threads use wall-clock time.
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/ring.h"
#include "engine/base/thread.h"
#include "engine/flow/pipeline/pipeline.h"
#include "suites.h"
#include "tools/format/object_reader.h"
#include "tools/offline/generate/generate.h"
#include "tools/offline/generate/serialize.h"
#include "tools/kube/objects/copy.h"

struct text {
	struct bt_serialize_stream stream;
	struct bt_buf buf;
};

static bool write_object(void *context, const struct bt_object *object)
{
	struct text *text = context;

	bt_serialize_next(&text->stream, object, &text->buf);
	return true;
}

static void make_text(struct text *text, enum bt_doc_style style, uint64_t pod_n)
{
	struct bt_generate_options options = bt_generate_defaults();

	options.pod_n = pod_n;
	options.node_n = (uint32_t)(pod_n / 20);
	bt_serialize_begin(&text->stream, style, &text->buf);
	bt_generate(&options, write_object, text);
	bt_serialize_end(&text->stream, &text->buf);
}

/* Counts problems; there must be none. */
static void count_problem(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)diagnosis;
	++*(int *)context;
}

static void ingest(struct bt_engine *engine, const struct bt_object *object)
{
	enum bt_entry entry;
	uint32_t ix;

	if (object->kind == BT_KIND_NODE) {
		bt_engine_apply_node(engine, &object->node, &ix);
	} else if (object->kind == BT_KIND_POD) {
		bt_engine_add_pod(engine, &object->pod, &entry, &ix);
	}
}

/* Reads the text once. engine == NULL: only decodes. Returns the number of objects. */
static int64_t read_text(
	const struct text *text, enum bt_format format, struct bt_engine *engine, int *problem_n)
{
	struct bt_object_reader *reader = bt_object_reader_create(count_problem, problem_n);
	const struct bt_object *object;
	int64_t object_n = 0;

	bt_object_reader_begin_text(reader, "cluster", bt_buf_view(&text->buf), format);
	while ((object = bt_object_reader_next(reader))) {
		object_n++;
		if (engine) {
			ingest(engine, object);
		}
	}
	bt_object_reader_destroy(reader);
	return object_n;
}

static void measure(struct bt_bench *bench, enum bt_doc_style style, enum bt_format format, bool into_engine)
{
	struct bt_engine_options options = {.seed = 1};
	struct bt_config_errors errors = {0};
	struct bt_config config;
	struct text text = {0};
	int64_t object_n = 0;
	int problem_n = 0;

	make_text(&text, style, (uint64_t)bt_bench_arg(bench));
	bt_config_init_default(&config, NULL);
	while (bt_bench_keep_running(bench)) {
		struct bt_engine *engine = into_engine ? bt_engine_create(&config, &options, &errors) : NULL;

		object_n += read_text(&text, format, engine, &problem_n);
		bt_engine_destroy(engine);
	}
	if (problem_n) {
		bt_bench_skip(bench, "an object was refused");
	}
	bt_bench_items(bench, object_n);
	bt_bench_bytes(bench, bt_bench_iterations(bench) * (int64_t)text.buf.len);
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
	bt_buf_fini(&text.buf);
}

static void json(struct bt_bench *bench)
{
	measure(bench, BT_DOC_JSON, BT_FORMAT_JSON, false);
}

static void yaml(struct bt_bench *bench)
{
	measure(bench, BT_DOC_YAML, BT_FORMAT_YAML, false);
}

static void json_to_engine(struct bt_bench *bench)
{
	measure(bench, BT_DOC_JSON, BT_FORMAT_JSON, true);
}

/* ---- describing ---- */

#define POD_N	    1000
#define ROUNDS	    50 /* each thread describes every pod so often in an iteration */
#define ALIVE_N	    4096
#define RING_N	    1024
#define THREADS_MAX 8

struct pods {
	struct bt_arena arena;
	struct bt_pod_object items[POD_N];
	uint32_t n;
};

struct describer {
	struct bt_cache *cache;
	struct bt_ingest_worker *worker;
	const struct pods *pods;
	struct bt_ring *ring; /* NULL: it keeps its deltas for a while, and drops them */
	struct bt_delta *alive;
	uint32_t ix;
	uint64_t made_n;
};

static bool keep_pod(void *context, const struct bt_object *object)
{
	struct pods *pods = context;

	if (object->kind == BT_KIND_POD && pods->n < POD_N) {
		struct bt_pod_object *pod = &pods->items[pods->n++];

		*pod = (struct bt_pod_object){
			.meta = bt_copy_meta(&pods->arena, BT_COPY_ALL, &object->pod.meta),
			.spec = bt_copy_pod_spec(&pods->arena, BT_COPY_ALL, &object->pod.spec)};
		if (pods->n % 2) {
			pod->spec.node_name = bt_copy_str(&pods->arena, bt_str("node-1"));
		}
	}
	return true;
}

/* Appends a number to a stem, cheaply, since it is not measured. Returns the text. */
static struct bt_str number_text(char *out, const char *stem, uint64_t number)
{
	size_t len = strlen(stem);

	memcpy(out, stem, len);
	for (int shift = 60; shift >= 0; shift -= 4) {
		out[len++] = "0123456789abcdef"[number >> shift & 15];
	}
	return (struct bt_str){out, len};
}

static void describe_next(struct describer *d, struct bt_delta *out_delta)
{
	struct bt_pod_object pod = d->pods->items[d->made_n % POD_N];
	uint64_t number = (uint64_t)d->ix << 56 | d->made_n++;
	char name[64], uid[64];

	pod.meta.name = number_text(name, "application-7d9f8c6b5d-", number);
	pod.meta.uid = number_text(uid, "00000000-0000-4000-", number);
	bt_ingest_describe_pod(d->worker, &pod, out_delta);
}

static void describe_some(void *context)
{
	struct describer *d = context;

	for (uint32_t i = 0; i < POD_N * ROUNDS; i++) {
		struct bt_delta delta;

		describe_next(d, &delta);
		if (d->ring) {
			bt_ring_push(d->ring, &delta, BT_EVENTCOUNT_FOREVER);
		} else {
			struct bt_delta *place = &d->alive[d->made_n % ALIVE_N];

			bt_delta_drop(place);
			*place = delta;
		}
	}
}

/* Takes the deltas of an iteration, as the publisher does, and drops them later. */
static void publish_some(struct describer *d)
{
	for (uint32_t i = 0; i < POD_N * ROUNDS; i++) {
		struct bt_delta *place = &d->alive[i % ALIVE_N];

		bt_delta_drop(place);
		bt_ring_pop(d->ring, place, BT_EVENTCOUNT_FOREVER);
		bt_ingest_publish(d->cache, place);
	}
}

static struct bt_thread *start(struct describer *d)
{
	const struct bt_thread_options options = {.name = "describe"};
	struct bt_thread *thread = NULL;

	return bt_thread_start(&options, describe_some, d, &thread, NULL) == BT_OK ? thread : NULL;
}

static struct pods *make_pods(void)
{
	struct bt_generate_options options = bt_generate_defaults();
	struct pods *pods = bt_mem_zalloc(1, sizeof(*pods));

	options.pod_n = POD_N;
	options.signature_n = POD_N;
	options.node_n = 1;
	bt_generate(&options, keep_pod, pods);
	return pods;
}

static void free_pods(struct pods *pods)
{
	bt_arena_fini(&pods->arena);
	bt_mem_free(pods);
}

static void begin_describers(
	struct describer *describers, uint32_t n, const struct pods *pods, struct bt_ring *ring)
{
	struct bt_cache *cache = bt_cache_create();

	for (uint32_t i = 0; i < n; i++) {
		describers[i] = (struct describer){.cache = cache,
			.worker = bt_ingest_worker_create(cache->dictionary, cache->signatures),
			.pods = pods,
			.ring = ring,
			.alive = bt_mem_zalloc(ALIVE_N, sizeof(*describers[i].alive)),
			.ix = i};
	}
}

static void end_describers(struct describer *describers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < ALIVE_N; j++) {
			bt_delta_drop(&describers[i].alive[j]);
		}
		bt_mem_free(describers[i].alive);
		bt_ingest_worker_destroy(describers[i].worker);
	}
	bt_cache_destroy(describers[0].cache);
}

static void describe(struct bt_bench *bench)
{
	uint32_t n = (uint32_t)bt_bench_arg(bench);
	struct describer describers[THREADS_MAX];
	struct pods *pods = make_pods();

	begin_describers(describers, n, pods, NULL);
	while (bt_bench_keep_running(bench)) {
		struct bt_thread *threads[THREADS_MAX] = {NULL};

		for (uint32_t i = 1; i < n; i++) {
			threads[i] = start(&describers[i]);
		}
		describe_some(&describers[0]);
		for (uint32_t i = 1; i < n; i++) {
			bt_thread_join(&threads[i]);
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * POD_N * ROUNDS * n);
	end_describers(describers, n);
	free_pods(pods);
}

static void handover(struct bt_bench *bench)
{
	struct describer describer;
	struct pods *pods = make_pods();
	struct bt_ring ring;

	bt_ring_init(&ring, RING_N, sizeof(struct bt_delta), "describe");
	begin_describers(&describer, 1, pods, &ring);
	while (bt_bench_keep_running(bench)) {
		struct bt_thread *thread = start(&describer);

		publish_some(&describer);
		bt_thread_join(&thread);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * POD_N * ROUNDS);
	end_describers(&describer, 1);
	free_pods(pods);
	bt_ring_fini(&ring);
}

/* ---- through a pipeline ---- */

#define THROUGH_N 200000u /* pods added in an iteration */
#define LIVING_N  100000u

struct through {
	const struct pods *pods;
	struct bt_pipeline *pipeline;
	uint64_t fed_n, pod_n;
	_Atomic uint64_t done_n; /* atomic: owner: the scheduling thread */
};

static bool drop_events(void *context, struct bt_pipeline *pipeline)
{
	struct through *through = context;
	uint64_t n = 0;

	for (; n < 1024 && bt_pipeline_next_event(pipeline); n++) {
		bt_pipeline_drop_event(pipeline);
	}
	bt_add_owned(&through->done_n, n);
	return n > 0;
}

static int64_t sleep_forever(void *context)
{
	(void)context;
	return INT64_MAX;
}

static bool is_over(void *context)
{
	(void)context;
	return true;
}

static void begin_through(struct through *through, uint32_t thread_n)
{
	struct bt_pipeline_options options = {.limits = bt_limits_default(), .engine.seed = 1};
	struct bt_config_errors errors = {0};
	struct bt_config config;

	bt_config_init_default(&config, NULL);
	options.limits.ingest_threads = thread_n;
	options.step_driver = (struct bt_pipeline_step_driver){drop_events, sleep_forever, is_over, through};
	through->pipeline = bt_pipeline_create(&config, &options, &errors);
	BT_REQUIRE(through->pipeline && bt_pipeline_start(through->pipeline, NULL) == BT_OK);
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
}

/* Adds or deletes the pod of that number. */
static void feed_event(struct through *through, enum bt_watch_event_kind kind, uint64_t number)
{
	struct bt_watch_event *watch_event = bt_pipeline_get_event(through->pipeline, 0, kind);
	struct bt_object *object = &watch_event->object;
	char *name = bt_arena_alloc(&watch_event->arena, 64, 1),
	     *uid = bt_arena_alloc(&watch_event->arena, 64, 1);

	object->kind = BT_KIND_POD;
	object->api_version = object->kind_name = (struct bt_str){0};
	if (kind == BT_WATCH_EVENT_APPLY) {
		object->pod = through->pods->items[number % POD_N];
	} else {
		object->meta = (struct bt_meta_object){
			.namespace_ = through->pods->items[number % POD_N].meta.namespace_};
	}
	object->meta.name = number_text(name, "application-7d9f8c6b5d-", number);
	object->meta.uid = number_text(uid, "00000000-0000-4000-", number);
	BT_REQUIRE(bt_pipeline_feed(through->pipeline, 0, &watch_event, BT_FOREVER) == BT_OK);
	through->fed_n++;
}

static void feed_some(struct through *through)
{
	for (uint32_t i = 0; i < THROUGH_N; i++, through->pod_n++) {
		feed_event(through, BT_WATCH_EVENT_APPLY, through->pod_n);
		if (through->pod_n >= LIVING_N) {
			feed_event(through, BT_WATCH_EVENT_DELETE, through->pod_n - LIVING_N);
		}
	}
	while (bt_load_acquire(&through->done_n) < through->fed_n) {
		bt_thread_yield();
	}
}

static void through(struct bt_bench *bench)
{
	struct pods *pods = make_pods();
	struct through through = {.pods = pods};

	begin_through(&through, (uint32_t)bt_bench_arg(bench));
	feed_some(&through); /* until as many are deleted as added */
	uint64_t before_n = through.fed_n;
	while (bt_bench_keep_running(bench)) {
		feed_some(&through);
	}
	bt_bench_items(bench, (int64_t)(through.fed_n - before_n));
	bt_pipeline_stop(through.pipeline, BT_END_DRAIN, BT_FOREVER);
	bt_pipeline_destroy(through.pipeline);
	free_pods(pods);
}

static const struct bt_bench_case cases[] = {
	{.name = "json", .run = json, .args = {1000, 20000}, .arg_n = 2},
	{.name = "yaml", .run = yaml, .args = {1000}, .arg_n = 1},
	{.name = "describe", .run = describe, .args = {1, 2}, .arg_n = 2, .wall = true},
	{.name = "handover", .run = handover, .wall = true},
	{.name = "through", .run = through, .args = {1, 2}, .arg_n = 2, .wall = true},
	{.name = "json_to_engine", .run = json_to_engine, .args = {1000, 20000}, .arg_n = 2},
};

const struct bt_bench_suite bt_bench_ingest = {
	.name = "ingest", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
