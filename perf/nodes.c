/* SPDX-License-Identifier: Apache-2.0
 * One node changes, until the next pod is placed, in a cluster whose signatures have plans. An iteration is
 * one change and one pod; taking the change back, and a pod after that, is not measured. The argument is the
 * number of nodes.
 */
#include "engine/base/arena.h"
#include "placement.h"
#include "suites.h"
#include "workload.h"

#define SIGNATURE_N 10
#define IMAGE	    "app:1"
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

/* Of applications with terms about other pods; and of plain pods, or whose image every second node has. */
enum kind { PLAIN, TOPOLOGY, IMAGES };

/* Two more pods for each round; the first pods make the plans. */
static void add_pods(struct workload *w, enum kind kind)
{
	for (uint32_t i = 0; i < WARM_PODS + 2 * ROUNDS; i++) {
		uint32_t app = i % SIGNATURE_N;
		struct bt_buf spec = {0};

		if (kind == TOPOLOGY) {
			bt_buf_printf(&spec, bt_topology_specs[app % BT_TOPOLOGY_SPECS], app);
		}
		struct bt_pod_object pod = bt_workload_read(w,
			"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod, labels: {app: "
			"app-%u}}, spec: {schedulerName: default-scheduler, containers: [{name: main, image: "
			"'%s', resources: {requests: {cpu: %um, memory: %uMi}}}], %s}}",
			app, kind == IMAGES ? IMAGE : "main", 100 + 150 * app, 128 << app % 6,
			spec.len ? spec.ptr : "")
						   ->pod;

		bt_workload_add(w, &pod, i);
		bt_buf_fini(&spec);
	}
}

/* first: the first node that changes. */
static void measure(
	struct bt_bench *bench, enum kind kind, uint32_t first, change_fn *make, change_fn *take_back)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench), .image = kind == IMAGES ? IMAGE : NULL};
	uint32_t i = 0;

	bt_workload_begin(&w);
	add_pods(&w, kind);
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

#define CHANGES(suffix, kind)                                                                                \
	static void add##suffix(struct bt_bench *bench)                                                      \
	{                                                                                                    \
		measure(bench, kind, UINT32_MAX, restore, bt_workload_remove_node);                          \
	}                                                                                                    \
	static void remove##suffix(struct bt_bench *bench)                                                   \
	{                                                                                                    \
		measure(bench, kind, 0, bt_workload_remove_node, restore);                                   \
	}                                                                                                    \
	static void cordon##suffix(struct bt_bench *bench)                                                   \
	{                                                                                                    \
		measure(bench, kind, 0, bt_workload_cordon, restore);                                        \
	}                                                                                                    \
	static void label##suffix(struct bt_bench *bench)                                                    \
	{                                                                                                    \
		measure(bench, kind, 0, relabel, restore);                                                   \
	}

CHANGES(_plain, PLAIN)
CHANGES(_topology, TOPOLOGY)
CHANGES(_images, IMAGES)

#define CASE(change)                                                                                         \
	{.name = #change,                                                                                    \
		.run = change##_plain,                                                                       \
		.args = {1000, 5000, 1000000},                                                               \
		.arg_n = 3,                                                                                  \
		.iterations = ROUNDS},                                                                       \
		{.name = #change "_topology",                                                                \
			.run = change##_topology,                                                            \
			.args = {5000, 100000},                                                              \
			.arg_n = 2,                                                                          \
			.iterations = ROUNDS},                                                               \
	{                                                                                                    \
		.name = #change "_images", .run = change##_images, .args = {5000, 100000}, .arg_n = 2,       \
		.iterations = ROUNDS                                                                         \
	}

static const struct bt_bench_case cases[] = {
	CASE(add),
	CASE(remove),
	CASE(cordon),
	CASE(label),
};

const struct bt_bench_suite bt_bench_nodes = {
	.name = "nodes", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
