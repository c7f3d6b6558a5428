/* SPDX-License-Identifier: Apache-2.0
 * Placements on 5,000 nodes by one parameter. signatures: the number of plain signatures, round-robin.
 * own_sizes: the same with random signatures, each with its own requests. fill: average percentage of the
 * nodes' cpu and memory that a bound pod on each node requests (50 % to 150 % of it); one signature.
 */
#include "cache/ingest.h"
#include "placement.h"
#include "workload.h"

#include "engine/base/arena.h"
#include "engine/base/rng.h"

#define NODE_N	      5000
#define PODS_PER_NODE 4
#define SEED	      1
#define MIB	      ((int64_t)1 << 20)

static void signatures(struct bt_bench *bench)
{
	bt_bench_place(bench,
		&(struct bt_bench_placing){
			.node_n = NODE_N, .signature_n = (uint32_t)bt_bench_arg(bench), .plain = true});
}

static void own_sizes(struct bt_bench *bench)
{
	bt_bench_place(
		bench, &(struct bt_bench_placing){
			       .node_n = NODE_N, .signature_n = (uint32_t)bt_bench_arg(bench), .own = true});
}

/* Binds a pod to a node that takes share thousandths of it. */
static void fill_node(struct workload *w, struct bt_arena *arena, uint32_t node_ix, int64_t share)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(w->engine)->view.snapshot;
	struct bt_pod_object pod =
		bt_workload_plain_pod(arena, bt_node_alloc(snapshot, BT_CPU, node_ix) * share / 1000,
			bt_node_alloc(snapshot, BT_MEMORY, node_ix) / MIB * share / 1000);

	pod.spec.node_name =
		bt_intern_str(bt_engine_cache(w->engine)->dictionary->intern, snapshot->nodes[node_ix].name);
	bt_workload_add(w, &pod, node_ix);
}

static void fill(struct bt_bench *bench)
{
	struct workload w = {.node_n = NODE_N};
	struct bt_rng rng = {.state = SEED};
	struct bt_arena arena = {0};

	bt_workload_begin(&w);
	for (uint32_t i = 0; i < NODE_N; i++) {
		int64_t share = bt_bench_arg(bench) * (500 + bt_rng_below(&rng, 1001)) / 100;

		fill_node(&w, &arena, i, share < 998 ? share : 998);
		bt_arena_reset(&arena);
	}
	struct bt_pod_object pod = bt_workload_plain_pod(&arena, 100, 128);
	for (uint32_t i = 0; i < NODE_N * PODS_PER_NODE; i++) {
		bt_workload_add(&w, &pod, NODE_N + i);
	}
	bt_workload_measure(bench, &w);
	bt_arena_fini(&arena);
	bt_workload_end(&w);
}

static const struct bt_bench_case cases[] = {
	{.name = "signatures", .run = signatures, .args = {1, 3, 10, 30, 100, 300, 1000, 3000}, .arg_n = 8},
	{.name = "own_sizes", .run = own_sizes, .args = {1, 3, 10, 30, 100, 300, 1000, 3000}, .arg_n = 8},
	{.name = "fill", .run = fill, .args = {0, 20, 40, 60, 70, 80, 90}, .arg_n = 7},
};

const struct bt_bench_suite bt_bench_curve = {
	.name = "curve", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
