/* SPDX-License-Identifier: Apache-2.0
 * Adversarial workloads for cached scores. None may cost more than twice as much as `plain_scan`, where all
 * nodes must be scored again for each pod, and caches do not help. The argument is the number of nodes.
 */
#include "engine/base/arena.h"
#include "suites.h"
#include "tools/offline/generate/build.h"
#include "workload.h"

#define PODS_PER_NODE 4
#define RANK_BITS     12 /* 4,096 nodes with a rank of their own */
#define WEIGHT_MAX    64

/* Pods of n signatures with different requests, round-robin. */
static void add_own_sizes(struct workload *w, struct bt_arena *arena, uint32_t n, uint32_t pod_n)
{
	for (uint32_t i = 0; i < n && i < pod_n; i++) {
		struct bt_pod_object pod = bt_workload_plain_pod(arena, 100 + i % 700, 128 + i / 700 % 1000);

		for (uint32_t k = i; k < pod_n; k += n) {
			bt_workload_add(w, &pod, k);
		}
		bt_arena_reset(arena);
	}
}

/* More signatures than nodes, round-robin: when one is repeated, every node may have changed. */
static void plain_scan(struct bt_bench *bench)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench)};
	struct bt_arena arena = {0};

	bt_workload_begin(&w);
	add_own_sizes(&w, &arena, w.node_n * 5 / 4, w.node_n * PODS_PER_NODE);
	bt_workload_measure(bench, &w);
	bt_arena_fini(&arena);
	bt_workload_end(&w);
}

/* No signature is repeated. A run is 1,000 pods, then a new engine is created, off the clock. */
static void never_again(struct bt_bench *bench)
{
	struct bt_arena arena = {0};
	uint64_t pod_n = 0;

	while (bt_bench_keep_running(bench)) {
		struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench)};

		bt_bench_pause(bench);
		bt_workload_begin(&w);
		add_own_sizes(&w, &arena, 1000, 1000);
		bt_bench_resume(bench);
		bt_workload_place(&w, w.pod_n);
		bt_bench_pause(bench);
		pod_n += w.pod_n;
		bt_workload_end(&w);
		bt_bench_resume(bench);
	}
	bt_bench_items(bench, (int64_t)pod_n);
	bt_arena_fini(&arena);
}

/* Pods so small that all nodes have the same score all the time. */
static void all_tie(struct bt_bench *bench)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench)};
	struct bt_arena arena = {0};

	bt_workload_begin(&w);
	struct bt_pod_object pod = bt_workload_plain_pod(&arena, 1, 1);
	for (uint32_t i = 0; i < w.node_n * PODS_PER_NODE; i++) {
		bt_workload_add(&w, &pod, i);
	}
	bt_workload_measure(bench, &w);
	bt_arena_fini(&arena);
	bt_workload_end(&w);
}

/*
 * A pod that prefers nodes by their rank: the labels that nodes have by bit of their number, with twice the
 * weight for the next bit. A weight is 100 at most, so that high bits are preferred several times.
 */
static struct bt_pod_object make_ranking(struct bt_arena *arena, int64_t milli)
{
	struct bt_pod_object pod = bt_workload_plain_pod(arena, milli, 128);
	struct bt_preferred_node_term_object *terms =
		bt_arena_zalloc(arena, (RANK_BITS + (1 << RANK_BITS) / WEIGHT_MAX) * sizeof(*terms));
	uint32_t n = 0;

	for (uint32_t bit = 0; bit < RANK_BITS; bit++) {
		for (int32_t left = 1 << bit; left > 0; left -= WEIGHT_MAX) {
			struct bt_requirement_object *requirement =
				bt_build_requirement(arena, &terms[n].preference.match_expressions, "", "In");

			requirement->key = bt_build_text(arena, "bit-%u", bit);
			bt_build_item(arena, &requirement->values, bt_str("1"));
			terms[n++].weight = left < WEIGHT_MAX ? left : WEIGHT_MAX;
		}
	}
	pod.spec.affinity.node_affinity.set = true;
	pod.spec.affinity.node_affinity.preferred = terms;
	pod.spec.affinity.node_affinity.preferred_n = n;
	pod.spec.affinity.node_affinity.preferred_set = true;
	return pod;
}

/* Nodes of four cores, each with its own rank. */
static void by_rank(struct bt_bench *bench, int64_t milli, uint32_t per_node)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench), .cores = 4, .bits = RANK_BITS};
	struct bt_arena arena = {0};

	bt_workload_begin(&w);
	struct bt_pod_object pod = make_ranking(&arena, milli);
	for (uint32_t i = 0; i < w.node_n * per_node; i++) {
		bt_workload_add(&w, &pod, i);
	}
	bt_workload_measure(bench, &w);
	bt_arena_fini(&arena);
	bt_workload_end(&w);
}

/* A pod fills the node of the highest rank, so that the next one finds another highest rank. */
static void moving_maximum(struct bt_bench *bench)
{
	by_rank(bench, 3000, 1);
}

/* Every node scores its own, and keeps room. */
static void own_groups(struct bt_bench *bench)
{
	by_rank(bench, 100, PODS_PER_NODE);
}

#define NODE_ARGS .args = {1000, 4000}, .arg_n = 2

static const struct bt_bench_case cases[] = {
	{.name = "plain_scan", .run = plain_scan, NODE_ARGS},
	{.name = "never_again", .run = never_again, NODE_ARGS},
	{.name = "moving_maximum", .run = moving_maximum, NODE_ARGS},
	{.name = "all_tie", .run = all_tie, NODE_ARGS},
	{.name = "own_groups", .run = own_groups, NODE_ARGS},
};

const struct bt_bench_suite bt_bench_worst = {
	.name = "worst", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
