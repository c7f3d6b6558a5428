/* SPDX-License-Identifier: Apache-2.0
 * Memory is bounded by the live objects when a large cluster shrinks (I7): a pipeline is filled, and nearly
 * all nodes and pods are deleted. The remaining ones move to low slots and indices, and memory use is near to
 * that of a pipeline that never had others; likewise after they are replaced one by one. Arguments: the
 * number of nodes, and of how many one stays.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "engine/base/rcu.h"
#include "engine/flow/pipeline/pipeline.h"
#include "node.h"
#include "tools/offline/generate/build.h"

enum { PODS = 3, KINDS = 200, AT_ONCE = 1000 };

/* What a pod takes by its index, in ledger, queue and counters. An array may have room for at most ROOM
 * times the indices in use. */
#define POD_BYTES (sizeof(struct bt_pod) + 40)
#define ROOM	  8
/* Memory of a node without neighbours: a chunk of published nodes, pages of names. */
#define SCATTERED_BYTES ((size_t)1536)

/* Race detectors are slow, and count no bytes. */
#if BT_VALGRIND || defined(BT_TSAN) || defined(__SANITIZE_ADDRESS__)
static uint32_t node_n = 4000, each = 50;
#else
static uint32_t node_n = 100000, each = 50;
#endif

/* Two of a node's pods are bound when they are added, one is decided. */
static void make_pod(struct bt_arena *arena, uint32_t number, uint32_t which, struct bt_pod_object *out)
{
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));

	out->meta.name = bt_build_text(arena, "pod-%" PRIu32 "-%" PRIu32, number, which);
	out->meta.namespace_ = bt_str("default");
	out->meta.uid = bt_build_text(arena, "uid-%" PRIu32 "-%" PRIu32, number, which);
	bt_build_pair(arena, &out->meta.labels, bt_str("app"),
		bt_build_text(arena, "app-%" PRIu32, number % KINDS));
	container->name = bt_str("main");
	container->resources.set = true;
	bt_build_quantity(arena, &container->resources.requests, "cpu", bt_build_milli(100));
	out->spec.scheduler_name = bt_str("default-scheduler");
	out->spec.containers = container;
	out->spec.container_n = 1;
	if (which) {
		out->spec.node_name = bt_build_text(arena, "node-%" PRIu32, number);
	}
}

/* Adds or deletes a node and its pods, or some of them. */
static void feed(struct bt_pipeline *pipeline, enum bt_watch_event_kind kind, uint32_t number, uint32_t first,
	uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, kind);
		uint32_t nth = kind == BT_WATCH_EVENT_APPLY ? i : last - (i - first);

		watch_event->object = (struct bt_object){.kind = nth ? BT_KIND_POD : BT_KIND_NODE};
		if (nth) {
			make_pod(&watch_event->arena, number, nth - 1, &watch_event->object.pod);
		} else {
			stress_make_node(&watch_event->arena, number, &watch_event->object.node);
		}
		while (bt_pipeline_feed(pipeline, 0, &watch_event, 0) != BT_OK) {
			bt_pipeline_settle(pipeline);
		}
	}
	if (number % AT_ONCE == 0) {
		bt_pipeline_settle(pipeline);
	}
}

/* The nodes that stay, with these of their pods; or all others. */
static void feed_all(struct bt_pipeline *pipeline, enum bt_watch_event_kind kind, bool others, uint32_t first,
	uint32_t last)
{
	for (uint32_t i = 0; i < node_n; i++) {
		if (others != (i % each == 0)) {
			feed(pipeline, kind, i, first, last);
		}
	}
	bt_pipeline_settle(pipeline);
}

/* Replaces the nodes that stayed. */
static void replace_all(struct bt_pipeline *pipeline)
{
	for (uint32_t i = 0; i < node_n; i += each) {
		feed(pipeline, BT_WATCH_EVENT_DELETE, i, 0, PODS);
		feed(pipeline, BT_WATCH_EVENT_APPLY, node_n + i, 0, PODS);
	}
	bt_pipeline_settle(pipeline);
}

static struct bt_pipeline *make_pipeline(void)
{
	struct bt_pipeline_options options = {.limits = bt_limits_default(), .engine = {.moves_pods = true}};
	struct bt_config_errors errors = {0};
	struct bt_config config;

	bt_config_init_default(&config, NULL);
	options.limits.sources = 1;
	options.limits.spent = options.limits.tombstones = 16;
	struct bt_pipeline *pipeline = bt_pipeline_create(&config, &options, &errors);
	assert_non_null(pipeline);
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
	return pipeline;
}

static size_t measure(const char *when, struct bt_pipeline *pipeline)
{
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(pipeline));

	bt_rcu_drain();
	size_t bytes = bt_mem_in_use_bytes();
	print_message("%s: %zu KiB, %" PRIu32 " slots of nodes, %" PRIu32 " of pods, %" PRIu32 " names\n",
		when, bytes / 1024, cache->view.snapshot->slot_n, bt_ledger_pod_end(cache->ledger),
		bt_intern_count(cache->dictionary->intern));
	return bytes;
}

static void a_cluster_that_has_become_small_takes_what_a_small_one_takes(void **state)
{
	struct bt_pipeline *pipeline = make_pipeline();
	size_t base = measure("nothing", pipeline);

	(void)state;
	feed_all(pipeline, BT_WATCH_EVENT_APPLY, false, 0, PODS);
	size_t small = measure("a small one", pipeline) - base;
	bt_pipeline_destroy(pipeline);

	pipeline = make_pipeline();
	feed_all(pipeline, BT_WATCH_EVENT_APPLY, false, 0, PODS);
	feed_all(pipeline, BT_WATCH_EVENT_APPLY, true, 0, PODS);
	size_t large = measure("a large one", pipeline) - base;
	feed_all(pipeline, BT_WATCH_EVENT_DELETE, true, 0, PODS);
	size_t left = measure("nearly all have gone", pipeline) - base;
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(pipeline));
	uint32_t left_n = (node_n + each - 1) / each;
	assert_in_range(cache->view.snapshot->slot_n, left_n, 2 * left_n + 10);
	assert_in_range(bt_ledger_pod_end(cache->ledger), PODS * left_n, 2 * PODS * left_n + 10);
	assert_in_range(left, 0, 5 * small / 2 + ROOM * PODS * left_n * POD_BYTES);
	replace_all(pipeline);
	size_t after = measure("the others are replaced", pipeline) - base;
	print_message("%.2f of the large one, %.2f times the small one\n", (double)after / (double)large,
		(double)after / (double)small);
	assert_int_equal(cache->view.snapshot->node_n, left_n);
	assert_in_range(cache->view.snapshot->slot_n, left_n, left_n + left_n / 4 + 100);
	assert_in_range(bt_ledger_pod_end(cache->ledger), PODS * left_n, PODS * left_n + 10);
	assert_in_range(after, 0, 4 * small);
	assert_in_range(after, 0, large / 10);
	bt_pipeline_destroy(pipeline);
}

/* Without pods, memory use is proportional to the remaining nodes. */
static void nodes_that_stay_take_little_more_than_so_many_nodes(void **state)
{
	struct bt_pipeline *pipeline = make_pipeline();
	size_t base = measure("nothing", pipeline);

	(void)state;
	feed_all(pipeline, BT_WATCH_EVENT_APPLY, false, 0, 0);
	size_t small = measure("few nodes", pipeline) - base;
	bt_pipeline_destroy(pipeline);

	pipeline = make_pipeline();
	feed_all(pipeline, BT_WATCH_EVENT_APPLY, false, 0, 0);
	feed_all(pipeline, BT_WATCH_EVENT_APPLY, true, 0, 0);
	measure("many nodes", pipeline);
	feed_all(pipeline, BT_WATCH_EVENT_DELETE, true, 0, 0);
	size_t left = measure("those that stay", pipeline) - base;
	print_message("%.2f times the few\n", (double)left / (double)small);
	uint32_t left_n = (node_n + each - 1) / each;
	assert_in_range(left, 0, 5 * small / 2 + left_n * SCATTERED_BYTES);
	bt_pipeline_destroy(pipeline);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cluster_that_has_become_small_takes_what_a_small_one_takes),
		cmocka_unit_test(nodes_that_stay_take_little_more_than_so_many_nodes),
	};

	if (argc == 3) {
		node_n = (uint32_t)strtoul(argv[1], NULL, 10);
		each = (uint32_t)strtoul(argv[2], NULL, 10);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
