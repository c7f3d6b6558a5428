/* SPDX-License-Identifier: Apache-2.0
 * The cost of a change of nodes until it is visible. The argument is the number of nodes. There is a reader,
 * so that replaced objects are reclaimed by the RCU thread, as in a pipeline.
 */
#include "cache/ingest.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "suites.h"
#include "tools/offline/generate/build.h"

#define SEED	  1
#define BATCH	  100
#define VARIANTS  64
#define LABELS	  12
#define IMAGES	  10
#define NODE_ARGS {1000, 10000, 100000, 1000000}, 4

struct publish_stage {
	struct bt_arena arena;
	struct bt_cache *cache;
	struct bt_rng rng;
	struct bt_node_object variants[VARIANTS]; /* nodes without names */
	struct bt_str *names;
	uint32_t node_n;
};

static struct bt_node_object make_variant(struct bt_arena *arena, uint32_t variant)
{
	struct bt_node_object node = {0};

	for (uint32_t i = 0; i < LABELS; i++) {
		bt_build_pair(arena, &node.meta.labels, bt_build_text(arena, "example.com/label-%u", i),
			bt_build_text(arena, "value-%u", i ? i : variant));
	}
	bt_build_quantity(arena, &node.allocatable, "cpu", bt_build_count(32));
	bt_build_quantity(arena, &node.allocatable, "memory", bt_build_mib(131072));
	bt_build_quantity(arena, &node.allocatable, "pods", bt_build_count(110));
	node.images = bt_arena_zalloc(arena, IMAGES * sizeof(*node.images));
	for (node.image_n = 0; node.image_n < IMAGES; node.image_n++) {
		struct bt_image_object *image = &node.images[node.image_n];

		image->size_bytes = INT64_C(500) << 20;
		bt_build_item(arena, &image->names,
			bt_build_text(arena, "registry.example.com/image-%u", node.image_n));
	}
	return node;
}

static void describe_as(
	struct publish_stage *stage, uint32_t node, uint32_t variant, struct bt_delta *out_delta)
{
	struct bt_node_object object = stage->variants[variant];

	object.meta.name = stage->names[node];
	bt_ingest_describe_node(stage->cache->worker, &object, out_delta);
}

/* Describes a changed node. */
static void describe(struct publish_stage *stage, uint32_t node, struct bt_delta *out_delta)
{
	describe_as(stage, node, bt_rng_below(&stage->rng, VARIANTS), out_delta);
}

static struct publish_stage *begin(struct bt_bench *bench)
{
	struct publish_stage *stage = bt_mem_zalloc(1, sizeof(*stage));
	struct bt_delta delta;

	stage->node_n = (uint32_t)bt_bench_arg(bench);
	stage->cache = bt_cache_create();
	stage->rng.state = SEED;
	for (uint32_t i = 0; i < VARIANTS; i++) {
		stage->variants[i] = make_variant(&stage->arena, i);
	}
	stage->names = bt_mem_zalloc(stage->node_n, sizeof(*stage->names));
	for (uint32_t i = 0; i < stage->node_n; i++) {
		stage->names[i] = bt_build_text(&stage->arena, "node-%07u", i);
		describe(stage, i, &delta);
		bt_publisher_take(stage->cache->publisher, &delta);
		bt_ingest_adopt(stage->cache, &delta);
	}
	bt_publisher_publish(stage->cache->publisher);
	bt_rcu_visit_begin();
	bt_rcu_visit_end();
	return stage;
}

static void end(struct publish_stage *stage)
{
	bt_rcu_drain();
	bt_cache_destroy(stage->cache);
	bt_arena_fini(&stage->arena);
	bt_mem_free(stage->names);
	bt_mem_free(stage);
}

/* Batches of n nodes at random; an iteration is a node. Off the clock they are described. */
static void measure(struct bt_bench *bench, uint32_t n)
{
	struct publish_stage *stage = begin(bench);
	struct bt_publisher *publisher = stage->cache->publisher;
	struct bt_delta *deltas = bt_mem_zalloc(VARIANTS * n, sizeof(*deltas));
	uint64_t copied = bt_publisher_counts(publisher).copied_bytes;

	while (bt_bench_keep_running_batch(bench, VARIANTS * n)) {
		bt_bench_pause(bench);
		for (uint32_t i = 0; i < VARIANTS * n; i++) {
			describe(stage, bt_rng_below(&stage->rng, stage->node_n), &deltas[i]);
		}
		bt_bench_resume(bench);
		for (uint32_t i = 0; i < VARIANTS * n; i++) {
			bt_publisher_take(publisher, &deltas[i]);
			if (i % n == n - 1) {
				bt_publisher_publish(publisher);
			}
		}
		for (uint32_t i = 0; i < VARIANTS * n; i++) {
			bt_delta_drop(&deltas[i]);
		}
	}
	copied = bt_publisher_counts(publisher).copied_bytes - copied;
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_bench_counter_mean(bench, "copied_bytes", (double)copied);
	bt_mem_free(deltas);
	end(stage);
}

static void one_node(struct bt_bench *bench)
{
	measure(bench, 1);
}

static void batch_of_100(struct bt_bench *bench)
{
	measure(bench, BATCH);
}

/* The scheduling thread's work for a description with changed labels; and for an equal one, a heartbeat. */
static void adopt(struct bt_bench *bench, bool changed)
{
	struct publish_stage *stage = begin(bench);
	struct bt_delta *deltas = bt_mem_zalloc(stage->node_n, sizeof(*deltas));
	uint32_t kinds[2] = {0, changed ? 1 : 0};

	for (uint32_t turn = 0; bt_bench_keep_running_batch(bench, stage->node_n); turn++) {
		bt_bench_pause(bench);
		for (uint32_t i = 0; i < stage->node_n; i++) {
			describe_as(stage, i, kinds[turn % 2], &deltas[i]);
			bt_publisher_take(stage->cache->publisher, &deltas[i]);
		}
		bt_publisher_publish(stage->cache->publisher);
		bt_bench_resume(bench);
		for (uint32_t i = 0; i < stage->node_n; i++) {
			bt_ingest_adopt(stage->cache, &deltas[i]);
			bt_delta_drop(&deltas[i]);
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_mem_free(deltas);
	end(stage);
}

static void adopt_change(struct bt_bench *bench)
{
	adopt(bench, true);
}

static void adopt_heartbeat(struct bt_bench *bench)
{
	adopt(bench, false);
}

/* An ingestion thread's work. */
static void describe_node(struct bt_bench *bench)
{
	struct publish_stage *stage = begin(bench);
	struct bt_delta delta;

	while (bt_bench_keep_running(bench)) {
		describe(stage, bt_rng_below(&stage->rng, stage->node_n), &delta);
		bt_delta_drop(&delta);
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	end(stage);
}

/* A visitor's work: an iteration looks up one node by its name, in its own read section. */
static void visit(struct bt_bench *bench)
{
	struct publish_stage *stage = begin(bench);
	uint32_t first = bt_intern_find(stage->cache->dictionary->intern, stage->names[0]), found_n = 0;
	uint32_t last = bt_intern_find(stage->cache->dictionary->intern, stage->names[stage->node_n - 1]);

	while (bt_bench_keep_running(bench)) {
		uint32_t name = first + bt_rng_below(&stage->rng, last - first + 1);
		struct bt_published published;

		bt_published_begin(stage->cache->publisher, &published);
		found_n += bt_published_find(&published, name) != BT_NO_NODE;
		bt_published_end(&published);
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_bench_counter_mean(bench, "found", found_n);
	end(stage);
}

static const struct bt_bench_case cases[] = {
	/* Limits the iterations: a million nodes are created once for each run. */
	{"one_node", one_node, NODE_ARGS, VARIANTS * 4000, NULL, false},
	{"batch_of_100", batch_of_100, NODE_ARGS, VARIANTS *BATCH * 100, NULL, false},
	{"describe", describe_node, {1000}, 1, 0, NULL, false},
	{"adopt_change", adopt_change, {1000, 100000}, 2, 0, NULL, false},
	{"adopt_heartbeat", adopt_heartbeat, {1000, 100000}, 2, 0, NULL, false},
	{"visit", visit, NODE_ARGS, 2000000, NULL, false},
};

const struct bt_bench_suite bt_bench_publish = {"publish", cases, sizeof(cases) / sizeof(cases[0])};
