/* SPDX-License-Identifier: Apache-2.0
 * Preemption: nodes full of pods of low priority, four on each, and pods that preempt three, as in upstream's
 * scheduler_perf. Victims are deleted immediately, and the pod is scheduled again on its nominated node when
 * it is popped. Items are pods that found a node and victims.
 */
#include "placement.h"

#include "engine/base/check.h"
#include "workload.h"

#define BATCH	     10
#define LOW_PER_NODE 4
#define VICTIM_MAX   16

/* Adds n pods, per_node of them to each node; 0: pending. */
static void add_pods(struct workload *w, uint32_t first, uint32_t n, uint32_t per_node, int priority, int cpu)
{
	struct bt_pod_object pod = bt_workload_read(w,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod}, spec: "
		"{schedulerName: "
		"default-scheduler, priority: %d, containers: [{name: main, resources: {requests: {cpu: "
		"%dm}}}]}}",
		priority, cpu)
					   ->pod;
	char name[32];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "node-%06u", per_node ? i / per_node : 0);
		pod.spec.node_name = bt_str(per_node ? name : "");
		bt_workload_add(w, &pod, first + i);
	}
}

/* A full cluster, and a pod of high priority for each node. */
static void fill(struct workload *w)
{
	const struct bt_ledger *ledger = bt_engine_cache(w->engine)->ledger;
	uint32_t low_n = w->node_n * LOW_PER_NODE;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		if (bt_ledger_pod(ledger, i)->state != BT_POD_VACANT) {
			bt_engine_remove_pod(w->engine, i);
		}
	}
	w->pod_n = 0;
	add_pods(w, 0, low_n, LOW_PER_NODE, 0, 900);
	add_pods(w, low_n, w->node_n, 0, 10, 3000);
}

/*
 * Schedules the next pod of the queue: it finds a node and victims, which are deleted immediately, or its
 * nominated node. Returns whether there was a pod.
 */
static bool step(struct workload *w, uint32_t *found_n)
{
	uint32_t victims[VICTIM_MAX], pod_ix = bt_engine_pop(w->engine);
	struct bt_decision decision;

	if (pod_ix == BT_NO_POD) {
		return false;
	}
	bt_engine_decide(w->engine, pod_ix, &decision);
	BT_REQUIRE(decision.victim_n <= VICTIM_MAX);
	if (decision.outcome == BT_PLACED) {
		bt_engine_bound(w->engine, pod_ix);
		w->placed_n++;
	}
	*found_n += decision.victim_n > 0;
	for (uint32_t i = 0; i < decision.victim_n; i++) {
		victims[i] = decision.victims[i].pod_ix;
	}
	for (uint32_t i = 0, n = decision.victim_n; i < n; i++) {
		bt_engine_remove_pod(w->engine, victims[i]);
	}
	return true;
}

void bt_bench_preemption(struct bt_bench *bench)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench), .cores = 4};
	uint32_t found_n = w.node_n;
	int64_t all_n = 0;

	bt_workload_begin(&w);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		if (found_n == w.node_n) {
			bt_bench_pause(bench);
			fill(&w);
			found_n = 0;
			bt_bench_resume(bench);
		}
		for (uint32_t goal = found_n + BATCH; found_n < goal && step(&w, &found_n);) {
		}
		/* The last ones find their places within the time, too. */
		while (found_n == w.node_n && step(&w, &found_n)) {
		}
		all_n += BATCH;
	}
	bt_bench_items(bench, all_n);
	bt_bench_counter_mean(bench, "placed", (double)w.placed_n);
	bt_bench_counter_mean(bench, "tried", (double)bt_engine_counts(w.engine).dry_run_n);
	bt_workload_end(&w);
}
