/* SPDX-License-Identifier: Apache-2.0
 * The scheduling queue: pods that pass through it, events with many waiting pods, and infeasible pods
 * ahead of a feasible one. The last are cases of the suite placement; their argument is the
 * number of infeasible pods.
 */
#include "queue/queue.h"

#include "placement.h"
#include "workload.h"

#define NODES	       5000
#define INFEASIBLE_PER 100 /* pods of each kind, when there are many kinds */
#define WAITING	       100000
#define THROUGH	       10000 /* pods that go through the queue in one round */

/* ---- the queue alone ---- */

static bool no_hint(
	void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins)
{
	(void)context;
	(void)pod_ix;
	(void)event;
	(void)plugins;
	return false;
}

static const struct bt_queue_options usual = {.initial_backoff_ns = BT_QUEUE_INITIAL_BACKOFF,
	.max_backoff_ns = BT_QUEUE_MAX_BACKOFF,
	.max_unschedulable_ns = BT_QUEUE_MAX_UNSCHEDULABLE,
	.pop_from_backoff = true};

/* Added, popped and bound; the argument is the number of kinds; three priorities. Items are pods. */
static void through(struct bt_bench *bench)
{
	struct bt_queue *queue = bt_queue_create(&usual);
	uint32_t kind_n = (uint32_t)bt_bench_arg(bench);

	while (bt_bench_keep_running_batch(bench, THROUGH)) {
		for (uint32_t i = 0; i < THROUGH; i++) {
			uint32_t kind = i % kind_n;

			bt_queue_add(queue, i,
				(struct bt_queue_kind){.signature_ix = kind, .priority = (int32_t)(kind % 3)},
				i);
		}
		for (uint32_t i = 0; i < THROUGH; i++) {
			uint32_t pod = bt_queue_pop(queue);

			bt_queue_done(queue, pod);
			bt_queue_remove(queue, pod);
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_queue_destroy(queue);
}

/* A queue with refused pods of kind_n kinds. */
static struct bt_queue *make_waiting(
	bool (*hint)(void *, uint32_t, const struct bt_cluster_event *, bt_plugin_set), uint32_t kind_n)
{
	struct bt_queue_options options = usual;

	options.hooks.hint = hint;
	struct bt_queue *queue = bt_queue_create(&options);
	for (uint32_t i = 0; i < WAITING; i++) {
		bt_queue_add(queue, i, (struct bt_queue_kind){.signature_ix = i % kind_n}, i);
		bt_queue_pop(queue);
		bt_queue_refuse(queue, i, 1, 0, i);
	}
	return queue;
}

/* An event that requeues none of 100,000 pods; the argument is the number of kinds. Items are events. */
static void event(struct bt_bench *bench)
{
	const struct bt_cluster_event happened = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};
	struct bt_queue *queue = make_waiting(no_hint, (uint32_t)bt_bench_arg(bench));

	while (bt_bench_keep_running(bench)) {
		bt_queue_move(queue, &happened, INT32_MAX, BT_QUEUE_EMPTY, WAITING);
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_bench_counter_mean(bench, "hints", (double)bt_queue_counts(queue).hint_n);
	bt_queue_destroy(queue);
}

/* An event that requeues them all to backoff; from there each goes into a cycle that
 * refuses it. Items are pods. */
static void event_helps(struct bt_bench *bench)
{
	const struct bt_cluster_event happened = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};
	struct bt_queue *queue = make_waiting(NULL, (uint32_t)bt_bench_arg(bench));
	int64_t now_ns = WAITING;

	while (bt_bench_keep_running(bench)) {
		bt_queue_move(queue, &happened, INT32_MAX, BT_QUEUE_EMPTY, now_ns);
		for (uint32_t i = 0; i < WAITING; i++) {
			bt_queue_refuse(queue, bt_queue_pop(queue), 1, 0, now_ns + i);
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * WAITING);
	bt_queue_destroy(queue);
}

/* ---- the engine with infeasible pods ---- */

/* Adds n pods that request more than any node has, per_kind of each kind, and then one that fits. */
static void fill(struct workload *w, uint32_t n, uint32_t per_kind)
{
	struct bt_pod_object pod = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (i % per_kind == 0) {
			pod = bt_workload_read(w,
				"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod}, "
				"spec: "
				"{schedulerName: default-scheduler, priority: 10, containers: [{name: main, "
				"resources: {requests: {cpu: %u}}}]}}",
				1000 + i / per_kind)
				      ->pod;
		}
		bt_workload_add(w, &pod, i);
	}
	pod = bt_workload_read(w,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod}, spec: "
		"{schedulerName: "
		"default-scheduler, containers: [{name: main, resources: {requests: {cpu: 100m}}}]}}")
		      ->pod;
	bt_workload_add(w, &pod, n);
}

/* From the first pop until the feasible pod is assumed; all: until no pod is active. */
static void behind(struct bt_bench *bench, uint32_t per_kind, bool all)
{
	uint32_t n = (uint32_t)bt_bench_arg(bench);
	int64_t cycle_n = 0;

	while (bt_bench_keep_running(bench)) {
		struct workload w = {.node_n = NODES};
		struct bt_decision decision = {.outcome = BT_REFUSED};
		uint32_t pod_ix;

		bt_bench_pause(bench);
		bt_workload_begin(&w);
		fill(&w, n, per_kind);
		bt_bench_resume(bench);
		while ((all || decision.outcome != BT_PLACED) &&
			(pod_ix = bt_engine_pop(w.engine)) != BT_NO_POD) {
			bt_engine_decide(w.engine, pod_ix, &decision);
			cycle_n++;
		}
		bt_bench_pause(bench);
		if (bt_engine_counts(w.engine).placed_n != 1) {
			bt_bench_skip(bench, "the pod that fits was not placed");
		}
		bt_workload_end(&w);
		bt_bench_resume(bench);
	}
	bt_bench_counter_mean(bench, "cycles", (double)cycle_n);
}

void bt_bench_behind_infeasible(struct bt_bench *bench)
{
	behind(bench, UINT32_MAX, false);
}

void bt_bench_behind_infeasible_kinds(struct bt_bench *bench)
{
	behind(bench, INFEASIBLE_PER, false);
}

void bt_bench_all_infeasible(struct bt_bench *bench)
{
	behind(bench, UINT32_MAX, true);
}

void bt_bench_all_infeasible_kinds(struct bt_bench *bench)
{
	behind(bench, INFEASIBLE_PER, true);
}

static const struct bt_bench_case cases[] = {
	{.name = "through", .run = through, .args = {1, 1000}, .arg_n = 2},
	{.name = "event", .run = event, .args = {1, 1000}, .arg_n = 2},
	{.name = "event_helps", .run = event_helps, .args = {1, 1000}, .arg_n = 2},
};

const struct bt_bench_suite bt_bench_queue = {
	.name = "queue", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
