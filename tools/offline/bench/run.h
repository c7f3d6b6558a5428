/* SPDX-License-Identifier: Apache-2.0
 * One run of a workload: a separate engine, the operations one after the other in real time, and the
 * collected data. Background operations (churn, deletePods) and the pipeline's stages are interleaved in this
 * thread. Context: one thread; sleeps when there is no work before some time.
 */
#pragma once

#include "engine/flow/config/gates.h"
#include "tools/offline/bench/spec.h"
#include "tools/offline/bench/workload.h"
#include "tools/offline/bench/world.h"
#include "tools/cli/progress.h"

struct bt_bench_run_options {
	uint64_t seed;
	/* Speed-up of times in the file (intervals, rates, durations, sleeps). */
	double speed;
	int64_t timeout_ns; /* for a waiting operation */
	bool stages;	    /* measure how long stages take */
	struct bt_progress *progress;
};

/* Data collected between a start and its stop. Owns: bt_bench_run_result_fini. */
struct bt_collected {
	char *name;	 /* such as namespace-2; may be empty */
	uint64_t pod_n;	 /* that were bound */
	int64_t took_ns; /* from the start to the stop */
	int64_t cpu_ns;	 /* CPU time of the thread */
	double *rates;	 /* pods a second, in each second as upstream counts them */
	size_t rate_n, rate_cap;
	double *heaps; /* bytes in use, each half second */
	size_t heap_n, heap_cap;
	struct bt_stage_latency *stages; /* NULL: not measured */
};

enum bt_bench_run_end {
	BT_BENCH_RUN_DONE = 0,
	BT_BENCH_RUN_FAILED,	  /* it did not finish: the reason is in why */
	BT_BENCH_RUN_UNSUPPORTED, /* the workload needs an unsupported feature */
	BT_BENCH_RUN_INTERRUPTED
};

struct bt_bench_run_result {
	enum bt_bench_run_end end;
	struct bt_buf why;
	struct bt_collected *collected;
	size_t collected_n, collected_cap;
	uint64_t node_n, pod_n, churn_n; /* created; churn_n: objects that churn created or deleted */
	struct bt_world_counts counts;
	int64_t took_ns; /* the whole run */
	bool timed;	 /* some operation uses the clock */
};

/* A prepared workload: its operations, and the effective gates. */
struct bt_bench_run_plan {
	const struct bt_workload_file *file;
	const struct bt_test_case *test_case;
	struct bt_workload *workload;
	struct bt_bench_op_list ops;
	struct bt_gates gates;
	struct bt_str notes; /* differences from upstream; static */
};

/*
 * Makes a plan with the rules and gates of a release.
 * Returns: BT_OK; BT_UNSUPPORTED when a gate cannot be set so, with the reason in out_why;
 * BT_INVALID when it has been reported.
 */
enum bt_status bt_bench_run_plan(const struct bt_release *release, struct bt_workload_file *file,
	const struct bt_test_case *test_case, struct bt_workload *workload, bt_diagnosis_fn *report,
	void *context, struct bt_bench_run_plan *out_plan, struct bt_buf *out_why);

/* Runs it. Errors in files are reported to specs' report. */
void bt_bench_run_workload(const struct bt_bench_run_plan *plan, const struct bt_bench_run_options *options,
	struct bt_specs *specs, struct bt_bench_run_result *out_result);

/*
 * Reads every file that the operations name, without running anything. Returns: BT_OK; BT_UNSUPPORTED with
 * the reason in out_why; BT_INVALID when it has been reported.
 */
enum bt_status bt_bench_run_check(
	const struct bt_bench_run_plan *plan, struct bt_specs *specs, struct bt_buf *out_why);

void bt_bench_run_result_fini(struct bt_bench_run_result *result);
