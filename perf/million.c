/* SPDX-License-Identifier: Apache-2.0
 * Very large clusters: ten pods a node, from an engine that has seen none of their signatures until all are
 * placed for the first time; an iteration is all of that. The argument is the number of nodes. Memory is
 * allocated bytes: for nodes before pods are added, for pods when all are placed; rss_bytes is the program's
 * peak. node_change_ns: one node of the full cluster gets another label, until the next pod is placed.
 */
#include <stdio.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "suites.h"
#include "tools/offline/generate/build.h"
#include "workload.h"

#define PODS_PER_NODE  10
#define SIGNATURES_MAX 10
#define CHANGES	       5

/* Adds the pods of n signatures, in turn. */
static void add_pods(struct workload *w, struct bt_arena *arena, uint32_t n)
{
	struct bt_pod_object pods[SIGNATURES_MAX];

	for (uint32_t i = 0; i < n; i++) {
		pods[i] = bt_workload_plain_pod(arena, 100 + 150 * i, 128 << i % 6);
	}
	/* A pod more for each change of a node. */
	for (uint32_t i = 0; i < w->node_n * PODS_PER_NODE + CHANGES; i++) {
		bt_workload_add(w, &pods[i % n], i);
	}
}

/* Changes one node after the other, and places a pod after each. Returns the mean time. */
static double change_nodes(struct workload *w)
{
	int64_t ns = 0;

	for (uint32_t i = 0; i < CHANGES; i++) {
		int64_t begin_ns = bt_clock_monotonic_ns();

		bt_workload_relabel(w, i, "changed");
		bt_workload_place(w, 1);
		ns += bt_clock_monotonic_ns() - begin_ns;
	}
	return (double)ns / CHANGES;
}

/* The program's peak memory; 0 if unknown. */
static double peak_bytes(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[128];

	while (status && !kib && fgets(line, sizeof(line), status)) {
		(void)sscanf(line, "VmHWM: %lu", &kib);
	}
	if (status) {
		(void)fclose(status);
	}
	return (double)kib * 1024;
}

static void measure(struct bt_bench *bench, uint32_t signature_n)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench)};
	struct bt_arena arena = {0};
	size_t empty = bt_mem_in_use_bytes();

	bt_workload_begin(&w);
	size_t nodes = bt_mem_in_use_bytes();
	add_pods(&w, &arena, signature_n);
	uint32_t pod_n = w.pod_n - CHANGES;
	while (bt_bench_keep_running(bench)) {
		bt_workload_place(&w, pod_n);
	}
	size_t all = bt_mem_in_use_bytes();
	double change_ns = change_nodes(&w);
	bt_bench_items(bench, pod_n);
	bt_bench_counter(bench, "refused", (double)w.refused_n);
	bt_bench_counter(bench, "bytes_per_node", (double)(nodes - empty) / w.node_n);
	bt_bench_counter(bench, "bytes_per_pod", (double)(all - nodes) / pod_n);
	bt_bench_counter(bench, "rss_bytes", peak_bytes());
	bt_bench_counter(bench, "node_change_ns", change_ns);
	bt_arena_fini(&arena);
	bt_workload_end(&w);
}

static void one_signature(struct bt_bench *bench)
{
	measure(bench, 1);
}

static void four_signatures(struct bt_bench *bench)
{
	measure(bench, 4);
}

static void ten_signatures(struct bt_bench *bench)
{
	measure(bench, SIGNATURES_MAX);
}

#define NODE_ARGS .args = {1000, 1000000}, .arg_n = 2, .iterations = 1

static const struct bt_bench_case cases[] = {
	{.name = "one_signature", .run = one_signature, NODE_ARGS},
	{.name = "four_signatures", .run = four_signatures, NODE_ARGS},
	{.name = "ten_signatures", .run = ten_signatures, NODE_ARGS},
};

const struct bt_bench_suite bt_bench_million = {
	.name = "million", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
