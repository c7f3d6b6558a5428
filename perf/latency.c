/* SPDX-License-Identifier: Apache-2.0
 * Open-loop latency of pods that arrive at a fixed rate (the argument, per second), whether or not the engine
 * keeps up: from a pod's due time until it is bound. Delays by earlier pods count. 5,000 nodes, ten
 * signatures in turn; 25 ns are the clock's. own_…: the engine's time, from its start with a pod. bare: the
 * loop without scheduling; lost: the share of time lost in gaps to other processes. limit_1us: a server that
 * uses a microsecond of processor time per pod, the result of any engine of that speed on this machine.
 * Instructions: valgrind --tool=callgrind --toggle-collect=one_pod (or leave), by the number of calls.
 */
#include "engine/base/clock.h"
#include "engine/base/histogram.h"
#include "engine/base/mem.h"
#include "suites.h"
#include "workload.h"

#define NODE_N	    5000
#define SIGNATURE_N 10
#define WARM_N	    20000
#define NS_PER_S    INT64_C(1000000000)
#define GAP_NS	    1000 /* between two clock reads without work: another process ran */

static void make_pods(struct bt_arena *arena, struct bt_pod_object *pods)
{
	for (uint32_t i = 0; i < SIGNATURE_N; i++) {
		pods[i] = bt_workload_plain_pod(arena, 100 + 50 * i, 128 << i % 4);
	}
}

/* Adds a pod that replaces an earlier one, and schedules it. */
static BT_NOINLINE void one_pod(struct workload *w, struct bt_pod_object *pods, uint32_t number)
{
	struct bt_decision decision;

	bt_workload_add(w, &pods[number % SIGNATURE_N], number);
	bt_engine_decide(w->engine, bt_engine_pop(w->engine), &decision);
	w->refused_n += decision.outcome != BT_PLACED;
	bt_engine_bound(w->engine, decision.pod_ix);
}

/* Removes the pods again, off the clock, so that there is always room. */
static BT_NOINLINE void leave(struct workload *w, uint32_t number)
{
	if (number >= WARM_N) {
		bt_engine_remove_pod(w->engine, w->pods[number - WARM_N]);
	}
}

static void report(struct bt_bench *bench, struct bt_histogram *histogram)
{
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_bench_counter(bench, "p50", (double)bt_histogram_quantile(histogram, 500000));
	bt_bench_counter(bench, "p99", (double)bt_histogram_quantile(histogram, 990000));
	bt_bench_counter(bench, "p999", (double)bt_histogram_quantile(histogram, 999000));
	bt_bench_counter(bench, "max", (double)bt_histogram_max(histogram));
	bt_mem_free(histogram);
}

/* Waits until then, and no longer than it takes to read the clock. Returns the time then. */
static int64_t await(int64_t due_ns)
{
	int64_t now_ns;

	do {
		now_ns = bt_clock_monotonic_ns();
	} while (now_ns < due_ns);
	return now_ns;
}

static void open_loop(struct bt_bench *bench)
{
	struct bt_pod_object pods[SIGNATURE_N];
	struct workload w = {.node_n = NODE_N};
	struct bt_histogram *histogram = bt_histogram_create(), *own = bt_histogram_create();
	struct bt_arena arena = {0};
	int64_t interval_ns = NS_PER_S / bt_bench_arg(bench);
	uint32_t number = 0;

	bt_workload_begin(&w);
	make_pods(&arena, pods);
	for (; number < WARM_N; number++) {
		one_pod(&w, pods, number);
	}
	int64_t due_ns = bt_clock_monotonic_ns();
	while (bt_bench_keep_running(bench)) {
		leave(&w, number);
		due_ns += interval_ns;
		int64_t begin_ns = await(due_ns);
		one_pod(&w, pods, number++);
		int64_t end_ns = bt_clock_monotonic_ns();
		bt_histogram_record(histogram, end_ns - due_ns);
		bt_histogram_record(own, end_ns - begin_ns);
	}
	report(bench, histogram);
	bt_bench_counter(bench, "own_p50", (double)bt_histogram_quantile(own, 500000));
	bt_bench_counter(bench, "own_p99", (double)bt_histogram_quantile(own, 990000));
	bt_bench_counter(bench, "own_p999", (double)bt_histogram_quantile(own, 999000));
	bt_mem_free(own);
	bt_bench_counter(bench, "refused", (double)w.refused_n);
	bt_arena_fini(&arena);
	bt_workload_end(&w);
}

/* A loop that only reads the clock. */
struct watch {
	int64_t now_ns, lost_ns;
};

/* Returns: the time since the last read, without gaps. */
static int64_t look(struct watch *watch)
{
	int64_t before_ns = watch->now_ns;

	watch->now_ns = bt_clock_monotonic_ns();
	int64_t step_ns = watch->now_ns - before_ns;
	if (step_ns <= GAP_NS) {
		return step_ns;
	}
	watch->lost_ns += step_ns;
	return 0;
}

/* The open loop of a server with a given processor time per pod. */
static void serve(struct bt_bench *bench, int64_t service_ns)
{
	struct bt_histogram *histogram = bt_histogram_create();
	struct watch watch = {.now_ns = bt_clock_monotonic_ns()};
	int64_t interval_ns = NS_PER_S / bt_bench_arg(bench), begin_ns = watch.now_ns, due_ns = begin_ns;

	while (bt_bench_keep_running(bench)) {
		due_ns += interval_ns;
		while (watch.now_ns < due_ns) {
			look(&watch);
		}
		int64_t left_ns = service_ns;
		do {
			left_ns -= look(&watch);
		} while (left_ns > 0);
		bt_histogram_record(histogram, watch.now_ns - due_ns);
	}
	report(bench, histogram);
	bt_bench_counter(bench, "lost", (double)watch.lost_ns / (double)(watch.now_ns - begin_ns));
}

static void bare(struct bt_bench *bench)
{
	serve(bench, 0);
}

static void limit_1us(struct bt_bench *bench)
{
	serve(bench, 1000);
}

static const struct bt_bench_case cases[] = {
	{.name = "open_loop/5000",
		.run = open_loop,
		.args = {100000, 200000, 300000, 400000, 500000, 750000},
		.arg_n = 6,
		.wall = true},
	{.name = "bare", .run = bare, .args = {100000, 500000}, .arg_n = 2, .wall = true},
	{.name = "limit_1us", .run = limit_1us, .args = {100000, 500000}, .arg_n = 2, .wall = true},
};

const struct bt_bench_suite bt_bench_latency = {
	.name = "latency", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
