/* SPDX-License-Identifier: Apache-2.0
 * A run's internals, shared by its files.
 */
#pragma once

#include "tools/offline/bench/run.h"

/* A periodic action in addition to the operations. */
struct bt_bench_run_timer {
	const struct bt_bench_op *op;
	int64_t next_ns, interval_ns; /* by the monotonic clock; INT64_MAX: over */
	uint64_t fired_n;
	uint32_t space;
	/* deletePods: the pods. */
	uint32_t *pods;
	size_t pod_n, pod_cap;
	/* churn: the objects of each template, and in mode recreate the names of existing ones. */
	struct bt_spec_object *objects;
	uint32_t object_n;
	struct bt_churned {
		struct bt_str name;
		uint32_t pod;
	} * churned;
};

struct bt_bench_run {
	const struct bt_bench_run_plan *plan;
	const struct bt_bench_run_options *options;
	struct bt_specs *specs;
	struct bt_bench_run_result *result;
	struct bt_config config;
	struct bt_world world;
	struct bt_bench_run_timer *timers;
	size_t timer_n, timer_cap;
	bool collecting;
	/* The collector's clock. */
	int64_t collect_ns, cpu_ns, sample_ns, sampled_ns, heap_ns;
	uint64_t sampled_n, skipped_n;
	bool sampling;
	struct bt_stage_latency *before; /* stage latencies at the start of collecting */
	uint32_t *collected_spaces;
};

/* Ends the run. Returns: false, for the caller to pass on. */
bool bt_bench_run_fail(struct bt_bench_run *run, enum bt_bench_run_end end, const char *format, ...)
	BT_PRINTF(3, 4);

/* Returns false, and ends the run, if the user has interrupted it. For long loops. */
bool bt_bench_run_goes_on(struct bt_bench_run *run);

/* ---- time ---- */

/* Real time for a duration in the file. */
int64_t bt_bench_run_span(const struct bt_bench_run *run, double ns);

/* Runs all pending work: timers, the collector, the pipeline. Returns: whether there was any. */
bool bt_bench_run_pump(struct bt_bench_run *run);

/* Runs until done returns true. Returns: false when it never will, and the run has ended. */
bool bt_bench_run_until(struct bt_bench_run *run, const struct bt_bench_op *op,
	bool (*done)(struct bt_bench_run *run, const void *context), const void *context);

/* Runs until a time. Returns: false when the run has ended. */
bool bt_bench_run_pass(struct bt_bench_run *run, int64_t until_ns);

struct bt_bench_run_timer *bt_bench_run_add_timer(
	struct bt_bench_run *run, const struct bt_bench_op *op, int64_t interval_ns);

/* ---- collecting ---- */

bool bt_bench_run_collect_begin(struct bt_bench_run *run, const struct bt_bench_op *op, struct bt_str name);
bool bt_bench_run_collect_end(struct bt_bench_run *run, const struct bt_bench_op *op);

/* Samples are due. */
void bt_bench_run_collect_tick(struct bt_bench_run *run, int64_t now_ns);

/* ---- operations ---- */

bool bt_bench_run_create_nodes(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t op_ix);
bool bt_bench_run_create_pods(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t op_ix);
bool bt_bench_run_delete_pods(struct bt_bench_run *run, const struct bt_bench_op *op);
bool bt_bench_run_churn(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t op_ix);
bool bt_bench_run_create_any(struct bt_bench_run *run, const struct bt_bench_op *op);
bool bt_bench_run_create_claims(struct bt_bench_run *run, const struct bt_bench_op *op);
bool bt_bench_run_create_driver(struct bt_bench_run *run, const struct bt_bench_op *op);
bool bt_bench_run_alloc_claims(struct bt_bench_run *run, const struct bt_bench_op *op);
bool bt_bench_run_update_any(struct bt_bench_run *run, const struct bt_bench_op *op);

/* Runs a timer. */
bool bt_bench_run_churn_again(struct bt_bench_run *run, struct bt_bench_run_timer *timer);
bool bt_bench_run_delete_again(struct bt_bench_run *run, struct bt_bench_run_timer *timer);

/* Reserves the name of a new object. Returns: false when it is used; the run has ended. */
bool bt_bench_run_name_is_free(
	struct bt_bench_run *run, const struct bt_bench_op *op, const struct bt_object *object);

/* Reads an object of a file that the operation names. */
bool bt_bench_run_object(
	struct bt_bench_run *run, const struct bt_spec_request *request, struct bt_spec_object *out);
const struct bt_spec *bt_bench_run_file(struct bt_bench_run *run, struct bt_str path);
