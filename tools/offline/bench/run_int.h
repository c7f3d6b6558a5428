/* SPDX-License-Identifier: Apache-2.0
 * A run's insides, shared by its files.
 */
#pragma once

#include "tools/offline/bench/run.h"

/* Something that happens again and again, beside the operations. */
struct bt_bench_run_timer {
	const struct bt_bench_op *op;
	int64_t next_ns, interval_ns; /* by the monotonic clock; INT64_MAX: over */
	uint64_t fired_n;
	uint32_t space;
	/* deletePods: whom. */
	uint32_t *pods;
	size_t pod_n, pod_cap;
	/* churn: the objects of each template, and of mode recreate the names of those that are there. */
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
	struct bt_stage_latency *before; /* what stages had measured when collecting began */
	uint32_t *collected_spaces;
};

/* Ends the run. Returns: false, for the caller to pass on. */
bool bt_bench_run_fail(struct bt_bench_run *run, enum bt_bench_run_end end, const char *format, ...)
	BT_PRINTF(3, 4);

/* Whether the user has not interrupted it; otherwise the run has ended. For loops that may be long. */
bool bt_bench_run_goes_on(struct bt_bench_run *run);

/* ---- time ---- */

/* So long by the clock, for what the file says. */
int64_t bt_bench_run_span(const struct bt_bench_run *run, double ns);

/* Lets everything go on that can now: timers, the collector, the pipeline. Returns: whether anything was
 * done. */
bool bt_bench_run_pump(struct bt_bench_run *run);

/* Goes on until done says so. Returns: false when that will not be any more, and the run has ended. */
bool bt_bench_run_until(struct bt_bench_run *run, const struct bt_bench_op *op,
	bool (*done)(struct bt_bench_run *run, const void *context), const void *context);

/* Goes on until then, whatever happens. Returns: false when the run has ended. */
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

/* A timer's turn. */
bool bt_bench_run_churn_again(struct bt_bench_run *run, struct bt_bench_run_timer *timer);
bool bt_bench_run_delete_again(struct bt_bench_run *run, struct bt_bench_run_timer *timer);

/* Takes the name of an object that is to be made. Returns: false when another has it; the run has ended. */
bool bt_bench_run_name_is_free(
	struct bt_bench_run *run, const struct bt_bench_op *op, const struct bt_object *object);

/* Reads an object of a file that the operation names. */
bool bt_bench_run_object(
	struct bt_bench_run *run, const struct bt_spec_request *request, struct bt_spec_object *out);
const struct bt_spec *bt_bench_run_file(struct bt_bench_run *run, struct bt_str path);
