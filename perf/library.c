/* SPDX-License-Identifier: Apache-2.0
 * Questions to libberth through engine/berth.h, over a cluster with two pods per node; tests/oracle asks the
 * Go package the same (BenchmarkPlace, BenchmarkFits). place: 200 pending pods that the handle has are placed
 * and taken back; template: as many copies of one. fits: which nodes fit one pod.
 */
#include <stdio.h>

#include "bench.h"
#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "engine/berth.h"

#define ASKED 200

static void must(enum berth_status status)
{
	BT_REQUIRE(status == BERTH_OK);
}

static void apply_pod(struct berth *berth, const char *name, const char *node, int64_t milli, int64_t mebi)
{
	const struct berth_amount requests[] = {{"cpu", milli}, {"memory", mebi << 20}};
	const struct berth_pair label = {"app", "web"};
	struct berth_pod pod;

	BERTH_INIT(&pod);
	pod.name = name;
	pod.node_name = node;
	pod.labels = &label;
	pod.label_n = 1;
	pod.requests = requests;
	pod.request_n = 2;
	must(berth_apply_pod(berth, &pod));
}

static void apply_node(struct berth *berth, uint32_t number)
{
	const struct berth_amount allocatable[] = {
		{"cpu", 32000}, {"memory", INT64_C(128) << 30}, {"pods", 110}};
	char name[32], zone[32], bound[32];
	const struct berth_pair labels[] = {
		{"kubernetes.io/hostname", name}, {"topology.kubernetes.io/zone", zone}};
	struct berth_node node;

	snprintf(name, sizeof(name), "node-%05u", number);
	snprintf(zone, sizeof(zone), "zone-%u", number % 3);
	BERTH_INIT(&node);
	node.name = name;
	node.labels = labels;
	node.label_n = 2;
	node.allocatable = allocatable;
	node.allocatable_n = 3;
	must(berth_apply_node(berth, &node));
	for (uint32_t k = 0; k < 2; k++) {
		snprintf(bound, sizeof(bound), "bound-%u-%u", number, k);
		apply_pod(berth, bound, name, 100 + number % 7 * 400, 512 + number % 5 * 256);
	}
}

/* A cluster with that many nodes, and pending pods of some sizes, whose names are kept. */
static struct berth *begin(
	uint32_t node_n, uint32_t sizes, struct berth_pod_ref pods[ASKED], char names[ASKED][16])
{
	struct berth *berth;

	must(berth_create(NULL, &berth));
	for (uint32_t i = 0; i < node_n; i++) {
		apply_node(berth, i);
	}
	for (uint32_t i = 0; i < ASKED; i++) {
		snprintf(names[i], 16, "asked-%u", i);
		pods[i] = (struct berth_pod_ref){.name = names[i]};
		apply_pod(berth, names[i], NULL, 500 + i % sizes * 50, 512 + i % sizes * 64);
	}
	return berth;
}

static void place_sizes(struct bt_bench *bench, uint32_t sizes)
{
	struct berth_pod_ref pods[ASKED];
	char names[ASKED][16];
	struct berth *berth = begin((uint32_t)bt_bench_arg(bench), sizes, pods, names);
	uint32_t n;

	while (bt_bench_keep_running(bench)) {
		must(berth_transaction_begin(berth));
		must(berth_schedule_pods(berth, pods, ASKED, &n));
		BT_REQUIRE(n == ASKED && pods[ASKED - 1].node[0]);
		must(berth_transaction_rollback(berth));
	}
	bt_bench_items(bench, ASKED * bt_bench_iterations(bench));
	must(berth_destroy(berth));
}

static void place(struct bt_bench *bench)
{
	place_sizes(bench, 1);
}

static void place_20_sizes(struct bt_bench *bench)
{
	place_sizes(bench, 20);
}

static void template(struct bt_bench *bench)
{
	struct berth_pod_ref pods[ASKED];
	char names[ASKED][16];
	struct berth *berth = begin((uint32_t)bt_bench_arg(bench), 1, pods, names);
	uint32_t n;

	while (bt_bench_keep_running(bench)) {
		must(berth_transaction_begin(berth));
		must(berth_schedule_pods_by_template(berth, NULL, names[0], ASKED, &n, NULL));
		BT_REQUIRE(n == ASKED);
		must(berth_transaction_rollback(berth));
	}
	bt_bench_items(bench, ASKED * bt_bench_iterations(bench));
	must(berth_destroy(berth));
}

static void fits(struct bt_bench *bench)
{
	struct berth_pod_ref pods[ASKED];
	char names[ASKED][16];
	uint32_t node_n = (uint32_t)bt_bench_arg(bench);
	struct berth *berth = begin(node_n, 1, pods, names);
	struct berth_node_set set;

	BERTH_INIT(&set);
	while (bt_bench_keep_running(bench)) {
		must(berth_feasible_nodes(berth, NULL, names[0], &set));
		BT_REQUIRE(set.n == node_n && set.names[set.nodes[0]]);
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	must(berth_destroy(berth));
}

static const struct bt_bench_case cases[] = {
	{.name = "place", .run = place, .args = {1000}, .arg_n = 1},
	{.name = "place_20_sizes", .run = place_20_sizes, .args = {1000}, .arg_n = 1},
	{.name = "template", .run = template, .args = {1000}, .arg_n = 1},
	{.name = "fits", .run = fits, .args = {5000}, .arg_n = 1},
};

const struct bt_bench_suite bt_bench_library = {
	.name = "library", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
