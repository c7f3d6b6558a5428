/* SPDX-License-Identifier: Apache-2.0
 * One node changes, until the next pod is placed, in a cluster whose ten signatures have plans. An iteration
 * is one change and one pod; taking the change back, and a pod after that, is not measured. The argument is
 * the number of nodes.
 */
#include "engine/base/arena.h"
#include "suites.h"
#include "workload.h"

#define SIGNATURE_N 10
#define ROUNDS	    50
#define WARM_PODS   1000

/* Makes, or takes back, the change of a node. */
typedef void change_fn(struct workload *w, uint32_t node_ix);

static void relabel(struct workload *w, uint32_t node_ix)
{
	bt_workload_relabel(w, node_ix, "changed");
}

static void restore(struct workload *w, uint32_t node_ix)
{
	bt_workload_relabel(w, node_ix, NULL);
}

/* Two more pods for each round; the first pods make the plans. */
static void add_pods(struct workload *w)
{
	struct bt_arena arena = {0};
	struct bt_pod_object pods[SIGNATURE_N];

	for (uint32_t i = 0; i < SIGNATURE_N; i++) {
		pods[i] = bt_workload_plain_pod(&arena, 100 + 150 * i, 128 << i % 6);
	}
	for (uint32_t i = 0; i < WARM_PODS + 2 * ROUNDS; i++) {
		bt_workload_add(w, &pods[i % SIGNATURE_N], i);
	}
	bt_arena_fini(&arena);
}

/* first: the first node that changes. */
static void measure(struct bt_bench *bench, uint32_t first, change_fn *make, change_fn *take_back)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench)};
	uint32_t i = 0;

	bt_workload_begin(&w);
	add_pods(&w);
	bt_workload_place(&w, WARM_PODS);
	while (bt_bench_keep_running(bench)) {
		uint32_t node_ix = first == UINT32_MAX ? w.node_n : first + i++ % w.node_n;

		make(&w, node_ix);
		bt_workload_place(&w, 1);
		bt_bench_pause(bench);
		take_back(&w, node_ix);
		bt_workload_place(&w, 1);
		bt_bench_resume(bench);
	}
	bt_bench_counter(bench, "refused", (double)w.refused_n);
	bt_workload_end(&w);
}

static void add(struct bt_bench *bench)
{
	measure(bench, UINT32_MAX, restore, bt_workload_remove_node);
}

static void remove_(struct bt_bench *bench)
{
	measure(bench, 0, bt_workload_remove_node, restore);
}

static void cordon(struct bt_bench *bench)
{
	measure(bench, 0, bt_workload_cordon, restore);
}

static void label(struct bt_bench *bench)
{
	measure(bench, 0, relabel, restore);
}

#define NODE_ARGS .args = {1000, 5000, 1000000}, .arg_n = 3, .iterations = ROUNDS

static const struct bt_bench_case cases[] = {
	{.name = "add", .run = add, NODE_ARGS},
	{.name = "remove", .run = remove_, NODE_ARGS},
	{.name = "cordon", .run = cordon, NODE_ARGS},
	{.name = "label", .run = label, NODE_ARGS},
};

const struct bt_bench_suite bt_bench_nodes = {
	.name = "nodes", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
