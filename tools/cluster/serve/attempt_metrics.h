/* SPDX-License-Identifier: Apache-2.0
 * Results of scheduling attempts, counted as by kube-scheduler, in its buckets. Fed by the pipeline's sink.
 * Source: pkg/scheduler/metrics and schedule_one.go, v1.36.3.
 * Context: the scheduling thread counts, without a clock, a lock or memory; any thread reads (relaxed).
 */
#pragma once

#include "engine/flow/cycle/engine.h"

#define BT_OUTCOME_BOUNDS 20

/* As in metric labels. */
enum bt_attempt_result { BT_ATTEMPT_SCHEDULED = 0, BT_ATTEMPT_UNSCHEDULABLE, BT_ATTEMPT_ERROR, BT_ATTEMPT_N };

/* Attempts by number: 1 to 14, and more. */
#define BT_OUTCOME_ATTEMPTS 15

/*
 * A histogram: values per bucket, the last one for values beyond all bounds.
 * atomic: relaxed; the scheduling thread writes, and a reader may miss the latest values
 */
struct bt_outcome_buckets {
	_Atomic uint64_t counts[BT_OUTCOME_BOUNDS + 1];
	_Atomic int64_t sum; /* in the values' unit */
};

struct bt_attempt_metrics;

/* Owns: bt_attempt_metrics_destroy. config: for the profiles' names. */
struct bt_attempt_metrics *bt_attempt_metrics_create(const struct bt_config *config);
void bt_attempt_metrics_destroy(struct bt_attempt_metrics *metrics);

/* A cycle has ended: the arguments of bt_pipeline_sink.cycle_ended. */
void bt_attempt_metrics_cycle_ended(
	struct bt_attempt_metrics *metrics, struct bt_engine *engine, const struct bt_decision *decision);

/* A binding has ended: the arguments of bt_pipeline_sink.bound, and now_ns by the engine's clock. */
void bt_attempt_metrics_bound(struct bt_attempt_metrics *metrics, struct bt_engine *engine, uint32_t pod_ix,
	bool yes, const struct bt_queue_info *info, int64_t took_ns, int64_t now_ns);

/* ---- reading ---- */

uint32_t bt_attempt_metrics_profile_n(const struct bt_attempt_metrics *metrics);
struct bt_str bt_attempt_metrics_profile(const struct bt_attempt_metrics *metrics, uint32_t profile);
uint64_t bt_attempt_metrics_attempts(
	const struct bt_attempt_metrics *metrics, uint32_t profile, enum bt_attempt_result result);
uint64_t bt_attempt_metrics_preemptions(const struct bt_attempt_metrics *metrics);
uint64_t bt_attempt_metrics_after_flush(const struct bt_attempt_metrics *metrics);

enum bt_outcome_histogram {
	BT_OUTCOME_VICTIMS = 0,
	BT_OUTCOME_TRIES,    /* attempts until a pod was bound */
	BT_OUTCOME_DURATION, /* ns of an attempt, its binding included; which: bt_outcome_attempt */
	BT_OUTCOME_SLI	     /* ns from a pod's first attempt to that answer; which: its attempts - 1 */
};

/* Index of a profile's attempts with a result. */
static inline uint32_t bt_outcome_attempt(uint32_t profile, enum bt_attempt_result result)
{
	return profile * BT_ATTEMPT_N + (uint32_t)result;
}

struct bt_outcome_view {
	uint32_t bound_n;
	double bounds[BT_OUTCOME_BOUNDS]; /* in the metric's unit: seconds, or pods */
	uint64_t counts[BT_OUTCOME_BOUNDS + 1];
	double sum;
};

/* Reads a histogram. */
void bt_attempt_metrics_read(const struct bt_attempt_metrics *metrics, enum bt_outcome_histogram histogram,
	uint32_t which, struct bt_outcome_view *out_view);
