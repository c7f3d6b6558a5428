/* SPDX-License-Identifier: Apache-2.0
 * Cycles of PodGroups that wait in the queue as one (Kubernetes 1.37, gate GenericWorkload): gangs of 64 pods
 * that fit anywhere or in one rack, and one that preempts groups of lower priority. Items are cycles. The
 * argument is the number of nodes.
 */
#include "engine/base/check.h"
#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/source.h"
#include "workload.h"

#define GANG	   64  /* pods of one */
#define GANG_N	   100 /* of them */
#define RACK_NODES 16
#define LOW_N	   700 /* groups of lower priority */
#define LOW_PODS   20  /* of each */

struct groups {
	struct workload w;
	uint32_t gang_n;
	const char *constraints; /* of each gang, as YAML after its policy */
	uint32_t next;		 /* pods that have been entered */
	uint64_t placed_n, victim_n, preempting_n;
};

static void add_group(struct groups *g, const char *name, uint32_t number, int priority, uint32_t min_count)
{
	enum bt_entry entry;
	uint32_t ix;
	const struct bt_object *group = bt_workload_read(&g->w,
		"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: %s-%u, namespace: "
		"default}, spec: {priority: %d, disruptionMode: {all: {}}, schedulingPolicy: {gang: "
		"{minCount: "
		"%u}}%s}}",
		name, number, priority, min_count, g->constraints);

	BT_REQUIRE(group);
	enum bt_status status = bt_engine_apply(g->w.engine, group, &entry, &ix);
	BT_REQUIRE(status == BT_OK);
}

/* node_n: the pods are bound to this many nodes, round-robin from this one; 0: they are pending. */
static void add_pods(struct groups *g, const char *name, uint32_t number, int priority, uint32_t pod_n,
	uint32_t milli, uint32_t node_n)
{
	struct bt_pod_object pod = bt_workload_read(&g->w,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod}, spec: "
		"{schedulerName: "
		"default-scheduler, priority: %d, schedulingGroup: {podGroupName: %s-%u}, containers: "
		"[{name: "
		"main, resources: {requests: {cpu: %um}}}]}}",
		priority, name, number, milli)
					   ->pod;
	char node[32] = "";

	for (uint32_t i = 0; i < pod_n; i++) {
		if (node_n) {
			snprintf(node, sizeof(node), "node-%06u", g->next % node_n);
		}
		pod.spec.node_name = bt_str(node);
		bt_workload_add(&g->w, &pod, g->next++);
	}
}

static void remove_pods(struct groups *g, uint32_t from)
{
	const struct bt_ledger *ledger = bt_engine_cache(g->w.engine)->ledger;

	for (uint32_t i = from; i < g->next; i++) {
		if (bt_ledger_pod(ledger, g->w.pods[i])->state != BT_POD_VACANT) {
			bt_engine_remove_pod(g->w.engine, g->w.pods[i]);
		}
	}
	g->next = from;
}

/* One cycle of a group. */
static void cycle(struct groups *g)
{
	struct bt_group_decision group;
	uint32_t pod_ix = bt_engine_pop(g->w.engine);

	BT_REQUIRE(pod_ix != BT_NO_POD);
	bt_engine_decide_group(g->w.engine, pod_ix, NULL, &group);
	for (uint32_t i = 0; i < group.member_n; i++) {
		g->placed_n += group.members[i].decision.outcome == BT_PLACED;
		g->victim_n += group.members[i].decision.victim_n;
	}
	g->preempting_n += group.outcome == BT_GROUP_WAITS_ON_PREEMPTION;
}

static void fill(struct groups *g)
{
	for (uint32_t i = 0; i < GANG_N; i++) {
		add_pods(g, "gang", i, 0, GANG, 3000, 0);
	}
}

static void place_gangs(struct bt_bench *bench, struct groups *g)
{
	uint32_t left = GANG_N;
	int64_t cycle_n = 0;

	g->w.node_n = (uint32_t)bt_bench_arg(bench);
	bt_workload_begin(&g->w);
	for (uint32_t i = 0; i < GANG_N; i++) {
		add_group(g, "gang", i, 0, GANG);
	}
	fill(g);
	while (bt_bench_keep_running(bench)) {
		if (left == 0) {
			bt_bench_pause(bench);
			remove_pods(g, 0);
			fill(g);
			left = GANG_N;
			bt_bench_resume(bench);
		}
		cycle(g);
		left--;
		cycle_n++;
	}
	bt_bench_items(bench, cycle_n);
	bt_bench_counter_mean(bench, "placed", (double)g->placed_n);
	bt_workload_end(&g->w);
}

static void place(struct bt_bench *bench)
{
	struct groups g = {.w = {.gates = "GenericWorkload=true"}, .constraints = ""};

	place_gangs(bench, &g);
}

static void topology(struct bt_bench *bench)
{
	struct groups g = {.w = {.gates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true",
				   .rack_nodes = RACK_NODES},
		.constraints = ", schedulingConstraints: {topology: [{key: rack}]}"};

	place_gangs(bench, &g);
}

/* A full cluster, and a gang that is requeued repeatedly: victims stay. */
static void preempt(struct bt_bench *bench)
{
	struct groups g = {
		.w = {.gates = "GenericWorkload=true", .node_n = (uint32_t)bt_bench_arg(bench), .cores = 8},
		.constraints = ""};
	int64_t cycle_n = 0;

	bt_workload_begin(&g.w);
	for (uint32_t i = 0; i < LOW_N; i++) {
		add_group(&g, "low", i, (int)(i % 10), 1);
		add_pods(&g, "low", i, (int)(i % 10), LOW_PODS, 1000, g.w.node_n);
	}
	const uint32_t low_n = g.next;

	add_group(&g, "gang", 0, 100, GANG);
	while (bt_bench_keep_running(bench)) {
		bt_bench_pause(bench);
		remove_pods(&g, low_n);
		add_pods(&g, "gang", 0, 100, GANG, 7000, 0);
		bt_bench_resume(bench);
		cycle(&g);
		cycle_n++;
	}
	BT_REQUIRE(g.preempting_n == (uint64_t)cycle_n);
	bt_bench_items(bench, cycle_n);
	bt_bench_counter_mean(bench, "victims", (double)g.victim_n);
	bt_workload_end(&g.w);
}

static const struct bt_bench_case cases[] = {
	{.name = "place", .run = place, .args = {1000, 5000}, .arg_n = 2, .iterations = 5 * GANG_N},
	{.name = "topology", .run = topology, .args = {1000, 5000}, .arg_n = 2, .iterations = GANG_N},
	{.name = "preempt", .run = preempt, .args = {2000}, .arg_n = 1, .iterations = 100},
};

const struct bt_bench_suite bt_bench_groups = {
	.name = "groups", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
