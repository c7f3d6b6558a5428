/* SPDX-License-Identifier: Apache-2.0
 * Durations of stages: a histogram per stage, for people, never an input of a decision. NULL when disabled;
 * then no clock is read.
 */
#pragma once

#include "engine/base/clock.h"
#include "engine/base/histogram.h"

enum bt_stage {
#define X(name, word, text) BT_STAGE_##name,
#include "engine/flow/cycle/stage_latency.def"
#undef X
	BT_STAGE_N
};

/* One thread's measurements. Zero-initialized, it is empty. owner: that thread; anyone reads. */
struct bt_stage_latency {
	struct bt_histogram histograms[BT_STAGE_N];
};

/* Creates empty histograms. Owns: bt_mem_free. */
struct bt_stage_latency *bt_stage_latency_create(void);

/* Adds other's measurements. Context: the thread that owns stages. */
void bt_stage_latency_merge(struct bt_stage_latency *stages, const struct bt_stage_latency *other);

/* Subtracts earlier measurements (bt_histogram_subtract). Context: the thread that owns stages. */
void bt_stage_latency_subtract(struct bt_stage_latency *stages, const struct bt_stage_latency *earlier);

/* A stage's name, and a description of what is measured. */
const char *bt_stage_name(enum bt_stage stage);
const char *bt_stage_text(enum bt_stage stage);

/* The present time if measurements are enabled; otherwise 0. stages may be NULL. */
static inline int64_t bt_stage_latency_now(const struct bt_stage_latency *stages)
{
	return BT_UNLIKELY(stages) ? bt_clock_monotonic_ns() : 0;
}

/* Records a stage's duration. stages may be NULL. */
static inline void bt_stage_latency_note(
	struct bt_stage_latency *stages, enum bt_stage stage, int64_t took_ns)
{
	if (BT_UNLIKELY(stages)) {
		bt_histogram_record(&stages->histograms[stage], took_ns);
	}
}

/* Records a stage that began at begin_ns. stages may be NULL. Returns: the present time, as
 * bt_stage_latency_now. */
static inline int64_t bt_stage_latency_end(
	struct bt_stage_latency *stages, enum bt_stage stage, int64_t begin_ns)
{
	int64_t now_ns = bt_stage_latency_now(stages);

	bt_stage_latency_note(stages, stage, now_ns - begin_ns);
	return now_ns;
}
