/* SPDX-License-Identifier: Apache-2.0
 * A pod's path from source to binding: fed, described, ordered, scheduled on 5,000 nodes, bound by a binder
 * that always succeeds. The argument is the number of pods of a run; rates use wall-clock time. serial: one
 * thread calls the engine. inline: one thread makes the pipeline's steps. threads: source, ingestion,
 * publisher, scheduling thread and binder, a thread each, on whatever CPUs there are.
 */
#include "engine/flow/pipeline/pipeline.h"

#include <stdio.h>

#include "engine/base/check.h"
#include "suites.h"
#include "tools/offline/generate/build.h"

#define NODE_N	    5000
#define SIGNATURE_N 10

struct feed {
	struct bt_pod_object pods[SIGNATURE_N];
	struct bt_arena arena;
	struct bt_config config;
};

static void begin(struct feed *feed)
{
	bt_config_init_default(&feed->config, NULL);
	for (uint32_t i = 0; i < SIGNATURE_N; i++) {
		struct bt_container_object *container = bt_arena_zalloc(&feed->arena, sizeof(*container));

		container->name = container->image = bt_str("main");
		bt_build_quantity(
			&feed->arena, &container->resources.requests, "cpu", bt_build_milli(100 + 50 * i));
		bt_build_quantity(
			&feed->arena, &container->resources.requests, "memory", bt_build_mib(128 << i % 4));
		feed->pods[i] = (struct bt_pod_object){.meta.namespace_ = bt_str("default"),
			.spec.scheduler_name = bt_str("default-scheduler"),
			.spec.containers = container,
			.spec.container_n = 1};
	}
}

static void end(struct feed *feed)
{
	bt_arena_fini(&feed->arena);
	bt_config_fini(&feed->config);
}

/* A node with room for all pods. */
static struct bt_node_object node_of(struct bt_arena *arena, uint32_t ix)
{
	struct bt_node_object node = {.meta.name = bt_build_text(arena, "node-%u", ix)};

	bt_build_quantity(arena, &node.allocatable, "cpu", bt_build_milli(INT64_C(1000000000)));
	bt_build_quantity(arena, &node.allocatable, "memory", bt_build_mib(INT64_C(1) << 30));
	bt_build_quantity(arena, &node.allocatable, "pods", bt_build_milli(INT64_C(1000000000)));
	return node;
}

/* The number-th pod, with its name in name (32 bytes). */
static struct bt_pod_object pod_of(const struct feed *feed, uint32_t number, char *name)
{
	struct bt_pod_object pod = feed->pods[number % SIGNATURE_N];

	pod.meta.name = (struct bt_str){name, (size_t)snprintf(name, 32, "pod-%u", number)};
	pod.meta.creation_ns = number + 1;
	return pod;
}

/* ---- one thread, the engine alone ---- */

static void place_serially(const struct feed *feed, struct bt_engine *engine, uint32_t pod_n)
{
	struct bt_decision decision;
	enum bt_entry entry;
	uint32_t ix;
	char name[32];

	for (uint32_t i = 0; i < pod_n; i++) {
		struct bt_pod_object pod = pod_of(feed, i, name);

		bt_engine_add_pod(engine, &pod, &entry, &ix);
		bt_engine_decide(engine, bt_engine_pop(engine), &decision);
		BT_REQUIRE(decision.outcome == BT_PLACED);
	}
}

static void serial(struct bt_bench *bench)
{
	const struct bt_engine_options options = {.seed = 1};
	struct bt_config_errors errors = {0};
	struct feed feed = {0};

	begin(&feed);
	while (bt_bench_keep_running(bench)) {
		bt_bench_pause(bench);
		struct bt_engine *engine = bt_engine_create(&feed.config, &options, &errors);
		for (uint32_t i = 0; i < NODE_N; i++) {
			struct bt_node_object node = node_of(&feed.arena, i);
			uint32_t ix;

			bt_engine_apply_node(engine, &node, &ix);
		}
		bt_bench_resume(bench);
		place_serially(&feed, engine, (uint32_t)bt_bench_arg(bench));
		bt_bench_pause(bench);
		bt_engine_destroy(engine);
		bt_bench_resume(bench);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * bt_bench_arg(bench));
	bt_config_errors_fini(&errors);
	end(&feed);
}

/* ---- the pipeline ---- */

static void feed_one(struct bt_pipeline *pipeline, struct bt_watch_event *watch_event)
{
	BT_REQUIRE(bt_pipeline_feed(pipeline, 0, &watch_event, BT_FOREVER) == BT_OK);
}

static void feed_nodes(struct bt_pipeline *pipeline)
{
	for (uint32_t i = 0; i < NODE_N; i++) {
		struct bt_watch_event *watch_event = bt_watch_event_create(BT_WATCH_EVENT_APPLY);

		watch_event->object.kind = BT_KIND_NODE;
		watch_event->object.node = node_of(&watch_event->arena, i);
		feed_one(pipeline, watch_event);
	}
}

static void feed_pods(const struct feed *feed, struct bt_pipeline *pipeline, uint32_t pod_n)
{
	for (uint32_t i = 0; i < pod_n; i++) {
		struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, BT_WATCH_EVENT_APPLY);
		char *name = bt_arena_alloc(&watch_event->arena, 32, 1);
		watch_event->object = (struct bt_object){.kind = BT_KIND_POD, .pod = pod_of(feed, i, name)};
		feed_one(pipeline, watch_event);
	}
}

/* Waits for a number of decisions; inline, it runs the steps. */
static void await(struct bt_pipeline *pipeline, bool threads, uint64_t decision_n)
{
	while (bt_pipeline_counts(pipeline).decided_n < decision_n) {
		if (threads) {
			bt_thread_yield();
		} else {
			bt_pipeline_step(pipeline);
		}
	}
}

static struct bt_pipeline *start(const struct feed *feed, bool threads)
{
	struct bt_pipeline_options options = {.limits = bt_limits_default(), .engine.seed = 1};
	struct bt_config_errors errors = {0};
	struct bt_pipeline *pipeline = bt_pipeline_create(&feed->config, &options, &errors);
	struct bt_buf why = {0};

	BT_REQUIRE(pipeline);
	BT_REQUIRE(!threads || bt_pipeline_start(pipeline, &why) == BT_OK);
	bt_buf_fini(&why);
	bt_config_errors_fini(&errors);
	return pipeline;
}

static void run(struct bt_bench *bench, bool threads)
{
	uint32_t pod_n = (uint32_t)bt_bench_arg(bench);
	struct feed feed = {0};

	begin(&feed);
	while (bt_bench_keep_running(bench)) {
		bt_bench_pause(bench);
		struct bt_pipeline *pipeline = start(&feed, threads);
		feed_nodes(pipeline);
		while (bt_pipeline_counts(pipeline).applied_n < NODE_N) {
			if (threads) {
				bt_thread_yield();
			} else {
				bt_pipeline_step(pipeline);
			}
		}
		bt_bench_resume(bench);
		feed_pods(&feed, pipeline, pod_n);
		await(pipeline, threads, pod_n);
		bt_bench_pause(bench);
		bool stopped = bt_pipeline_stop(pipeline, BT_END_DRAIN, INT64_C(10000000000));
		BT_REQUIRE(stopped);
		bt_pipeline_destroy(pipeline);
		bt_bench_resume(bench);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * pod_n);
	end(&feed);
}

static void steps(struct bt_bench *bench)
{
	run(bench, false);
}

static void threads(struct bt_bench *bench)
{
	run(bench, true);
}

static const struct bt_bench_case cases[] = {
	{.name = "serial", .run = serial, .args = {20000, 500000}, .arg_n = 2, .wall = true},
	{.name = "inline", .run = steps, .args = {20000, 500000}, .arg_n = 2, .wall = true},
	{.name = "threads", .run = threads, .args = {20000, 500000}, .arg_n = 2, .wall = true},
};

const struct bt_bench_suite bt_bench_pipeline = {
	.name = "pipeline", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
