/* SPDX-License-Identifier: Apache-2.0
 * Runs a workload until results are significant, and aggregates its runs. Context: one thread.
 */
#pragma once

#include "tools/offline/bench/run.h"

struct bt_bench_options {
	struct bt_bench_run_options run; /* stages and progress are set here */
	uint32_t run_n;			 /* number of runs; 0: until a second has been measured */
	bool quiet;
};

/* Results of one name, over all counted runs. */
struct bt_bench_item {
	char *name;    /* BenchmarkPerfScheduling/CASE/WORKLOAD/NAME */
	double *rates; /* pods per second: of each second, or of each run */
	size_t rate_n, rate_cap;
	bool by_second;
	double *heaps; /* bytes */
	size_t heap_n, heap_cap;
	double growth;	/* bytes per second from begin to end, summed over the runs */
	uint64_t pod_n; /* bound in one run */
	uint64_t all_n; /* bound in all of them */
	double seconds; /* of all runs together */
	double cpu_s;	/* CPU time of the thread */
	uint32_t run_n;
	struct bt_stage_latency *stages; /* of the first run */
	double threshold;		 /* 0: none */
	double value;			 /* the value compared with it */
	bool missed;			 /* the value misses the threshold */
};

struct bt_bench_result {
	const struct bt_bench_run_plan *plan;
	enum bt_bench_run_end end;
	struct bt_buf why;
	struct bt_bench_item *items;
	size_t item_n, item_cap;
	uint64_t node_n, pod_n, churn_n;
	struct bt_world_counts counts; /* of the last run */
	uint32_t run_n;		       /* all of them */
	double took_s;
	bool timed;
};

/* Runs a workload. topic: selects thresholds. */
void bt_bench_workload(const struct bt_bench_run_plan *plan, const struct bt_bench_options *options,
	struct bt_specs *specs, struct bt_str topic, struct bt_bench_result *out_result);
void bt_bench_result_fini(struct bt_bench_result *result);

/* Upstream's buckets of some values. */
struct bt_buckets {
	double average, perc50, perc90, perc95, perc99, max;
};

/* Sorts values. Requires: n > 0. */
struct bt_buckets bt_buckets_of(double *values, size_t n);

/* A bucket by its name (Average, Perc50 …). Returns: false for an unknown name. */
bool bt_bucket(const struct bt_buckets *buckets, struct bt_str name, double *out_value);

/* The topic under which upstream runs a file: its folders' names, as in its programs. */
struct bt_str bt_bench_topic(const struct bt_workload_file *file);
