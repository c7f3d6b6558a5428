/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark for C: the only header that benchmarks see. A suite is one file of perf/ and a line in
 * suites.def. Only the harness reads clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One benchmark that is running. */
struct bt_bench;

#define BT_BENCH_ARG_MAX 8

/*
 * A benchmark, run once for each of its arguments, or once with argument 0 when it has none. run sets up,
 * loops while bt_bench_keep_running, and cleans up.
 */
struct bt_bench_case {
	const char *name; /* NULL: the suite's name alone */
	void (*run)(struct bt_bench *bench);
	int64_t args[BT_BENCH_ARG_MAX]; /* the smallest first: with BT_BENCH_BRIEF set, as in ctest, it is the
					   only one */
	int arg_n;
	int64_t iterations;  /* 0: as many as the time allows */
	const void *subject; /* returned by bt_bench_subject, for cases that share a run */
	bool wall;	     /* rates are by wall-clock time, not by this thread's CPU time */
};

/* The benchmarks of one file; full names are suite/case or suite/case/argument. */
struct bt_bench_suite {
	const char *name;
	const struct bt_bench_case *cases;
	int case_n;
};

/* The argument of this run. */
int64_t bt_bench_arg(const struct bt_bench *bench);

/* The subject of the case. */
const void *bt_bench_subject(const struct bt_bench *bench);

/* The condition of the measured loop: true once for each iteration. The clock runs from the first call to the
 * last. */
bool bt_bench_keep_running(struct bt_bench *bench);

/* The same for operations of nanoseconds: each true stands for n iterations, which the caller runs in a plain
 * loop. */
bool bt_bench_keep_running_batch(struct bt_bench *bench, int64_t n);

/* Iterations so far; their final number after the loop. */
int64_t bt_bench_iterations(const struct bt_bench *bench);

/* Stops and restarts the clock inside the loop. Costs some hundred nanoseconds: not for short iterations. */
void bt_bench_pause(struct bt_bench *bench);
void bt_bench_resume(struct bt_bench *bench);

/* The totals of all iterations, for items/s and bytes/s. Call after the loop. */
void bt_bench_items(struct bt_bench *bench, int64_t item_n);
void bt_bench_bytes(struct bt_bench *bench, int64_t bytes);

/* A figure beside the time: the value itself, or total divided by iterations. Call after the loop. */
void bt_bench_counter(struct bt_bench *bench, const char *name, double value);
void bt_bench_counter_mean(struct bt_bench *bench, const char *name, double total);

/* Aborts the benchmark: it reports why, and the program fails. Leave the loop afterwards. */
void bt_bench_skip(struct bt_bench *bench, const char *why);

/* Makes the compiler assume that the object is read. */
static inline void bt_bench_keep(const void *object)
{
	__asm__ volatile("" : : "r"(object) : "memory");
}

/*
 * Runs the suites selected by the command line (Google Benchmark's options).
 * Returns the program's exit status: 1 for unknown options, a skipped benchmark, or a filter that matches
 * none.
 */
int bt_bench_main(int argc, char **argv, const struct bt_bench_suite *const *suites, int suite_n);

#ifdef __cplusplus
}
#endif
