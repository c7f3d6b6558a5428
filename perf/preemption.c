/* SPDX-License-Identifier: Apache-2.0
 * Preemption: nodes that are full of pods of low priority, four on each, and pods that take the place of
 * three, as in upstream's scheduler_perf. Victims leave at once, and the pod is decided again, for the node
 * that it was promised. Items are pods that found a node and victims.
 */
#include "placement.h"
#include "workload.h"

#define BATCH	     10
#define LOW_PER_NODE 4
#define VICTIM_MAX   16

/* Adds n pods, so many on each node; 0: they wait. */
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
		if (bt_ledger_pod(ledger, i)->state == BT_POD_ASSUMED) {
			bt_engine_bound(w->engine, i);
		}
		if (bt_ledger_pod(ledger, i)->state != BT_POD_VACANT) {
			bt_engine_remove_pod(w->engine, i);
		}
	}
	w->pod_n = 0;
	add_pods(w, 0, low_n, LOW_PER_NODE, 0, 900);
	add_pods(w, low_n, w->node_n, 0, 10, 3000);
}

/* Returns whether the next pod found victims, and then a place where they were. */
static bool preempt(struct workload *w)
{
	struct bt_decision decision;
	uint32_t pod_ix = bt_engine_pop(w->engine), victims[VICTIM_MAX];

	bt_engine_decide(w->engine, pod_ix, &decision);
	if (decision.victim_n == 0 || decision.victim_n > VICTIM_MAX) {
		return false;
	}
	uint32_t promised = decision.nominated_ix, victim_n = decision.victim_n;
	for (uint32_t i = 0; i < victim_n; i++) {
		victims[i] = decision.victims[i].pod_ix;
	}
	for (uint32_t i = 0; i < victim_n; i++) {
		bt_engine_remove_pod(w->engine, victims[i]);
	}
	if (bt_engine_take(w->engine, pod_ix) != BT_OK) {
		return false;
	}
	bt_engine_decide(w->engine, pod_ix, &decision);
	return decision.outcome == BT_PLACED && decision.node_ix == promised;
}

void bt_bench_preemption(struct bt_bench *bench)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench), .cores = 4};
	int64_t found_n = 0;

	bt_workload_begin(&w);
	fill(&w);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		if (w.left < BATCH) {
			bt_bench_pause(bench);
			fill(&w);
			bt_bench_resume(bench);
		}
		for (uint32_t i = 0; i < BATCH; i++) {
			found_n += preempt(&w);
		}
		w.left -= BATCH;
	}
	bt_bench_items(bench, found_n);
	bt_bench_counter_mean(bench, "found", (double)found_n);
	bt_bench_counter_mean(bench, "tried", (double)bt_engine_counts(w.engine).dry_run_n);
	bt_workload_end(&w);
}
