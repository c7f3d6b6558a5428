/* SPDX-License-Identifier: Apache-2.0
 * One run of a workload: an engine of its own, the operations one after the other by the real clock, and what
 * was collected meanwhile. Operations that go on in the background (churn, deletePods) and the pipeline's
 * stages take
 * turns in this one thread. Context: one thread; sleeps when nothing can be done before some time.
 */
#pragma once

#include "engine/flow/config/gates.h"
#include "tools/offline/bench/spec.h"
#include "tools/offline/bench/workload.h"
#include "tools/offline/bench/world.h"
#include "tools/cli/progress.h"

struct bt_bench_run_options {
	uint64_t seed;
	/* Times in the file (intervals, rates, durations, sleeps) pass so many times as fast. */
	double speed;
	int64_t timeout_ns; /* for an operation that waits */
	bool stages;	    /* measure how long stages take */
	struct bt_progress *progress;
};

/* What was collected between a start and its stop. Owns: bt_bench_run_result_fini. */
struct bt_collected {
	char *name;	 /* such as namespace-2; may be empty */
	uint64_t pod_n;	 /* that were bound */
	int64_t took_ns; /* from the start to the stop */
	int64_t cpu_ns;	 /* of that, the thread had a CPU */
	double *rates;	 /* pods a second, in each second as upstream counts them */
	size_t rate_n, rate_cap;
	double *heaps; /* bytes in use, each half second */
	size_t heap_n, heap_cap;
	struct bt_stage_latency *stages; /* NULL: not measured */
};

enum bt_bench_run_end {
	BT_BENCH_RUN_DONE = 0,
	BT_BENCH_RUN_FAILED,	  /* it did not come to its end: why says it */
	BT_BENCH_RUN_UNSUPPORTED, /* berth cannot do what the workload asks */
	BT_BENCH_RUN_INTERRUPTED
};

struct bt_bench_run_result {
	enum bt_bench_run_end end;
	struct bt_buf why;
	struct bt_collected *collected;
	size_t collected_n, collected_cap;
	uint64_t node_n, pod_n, churn_n; /* made; churn_n: objects that churn made or deleted */
	struct bt_world_counts counts;
	int64_t took_ns; /* the whole run */
	bool timed;	 /* some operation goes by the clock */
};

/* A workload that is ready: its operations, and the gates that count. */
struct bt_bench_run_plan {
	const struct bt_workload_file *file;
	const struct bt_test_case *test_case;
	struct bt_workload *workload;
	struct bt_bench_op_list ops;
	struct bt_gates gates;
	struct bt_str notes; /* what is not as upstream has it; static */
};

/*
 * Makes a plan by the rules and gates of a release.
 * Returns: BT_OK; BT_UNSUPPORTED when a gate cannot be set so, with the reason in out_why;
 * BT_INVALID when it has been reported.
 */
enum bt_status bt_bench_run_plan(const struct bt_release *release, struct bt_workload_file *file,
	const struct bt_test_case *test_case, struct bt_workload *workload, bt_diagnosis_fn *report,
	void *context, struct bt_bench_run_plan *out_plan, struct bt_buf *out_why);

/* Runs it. What is wrong in files is reported to specs' report. */
void bt_bench_run_workload(const struct bt_bench_run_plan *plan, const struct bt_bench_run_options *options,
	struct bt_specs *specs, struct bt_bench_run_result *out_result);

/*
 * Reads every file that the operations name, without running anything. Returns: BT_OK; BT_UNSUPPORTED with
 * the reason in out_why; BT_INVALID when it has been reported.
 */
enum bt_status bt_bench_run_check(
	const struct bt_bench_run_plan *plan, struct bt_specs *specs, struct bt_buf *out_why);

void bt_bench_run_result_fini(struct bt_bench_run_result *result);
