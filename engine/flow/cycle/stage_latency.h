/* SPDX-License-Identifier: Apache-2.0
 * How long stages take: a histogram each, for people, never an input of a decision. Where nobody wants to
 * know, there are none, and no clock is read.
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

/* What one thread has measured. All zeroes: nothing. owner: that thread; anyone reads. */
struct bt_stage_latency {
	struct bt_histogram histograms[BT_STAGE_N];
};

/* Empty ones. Owns: bt_mem_free. */
struct bt_stage_latency *bt_stage_latency_create(void);

/* Adds what other has. Context: the thread that owns stages. */
void bt_stage_latency_merge(struct bt_stage_latency *stages, const struct bt_stage_latency *other);

/* Takes away what had been measured earlier (bt_histogram_subtract). Context: the thread that owns stages. */
void bt_stage_latency_subtract(struct bt_stage_latency *stages, const struct bt_stage_latency *earlier);

/* A stage's word, and what is measured there. */
const char *bt_stage_name(enum bt_stage stage);
const char *bt_stage_text(enum bt_stage stage);

/* Now, when somebody wants to know; 0 else. stages may be NULL. */
static inline int64_t bt_stage_latency_now(const struct bt_stage_latency *stages)
{
	return BT_UNLIKELY(stages) ? bt_clock_monotonic_ns() : 0;
}

/* A stage took so long. stages may be NULL. */
static inline void bt_stage_latency_note(
	struct bt_stage_latency *stages, enum bt_stage stage, int64_t took_ns)
{
	if (BT_UNLIKELY(stages)) {
		bt_histogram_record(&stages->histograms[stage], took_ns);
	}
}

/* A stage that began at begin_ns is over. stages may be NULL. Returns: now, as bt_stage_latency_now. */
static inline int64_t bt_stage_latency_end(
	struct bt_stage_latency *stages, enum bt_stage stage, int64_t begin_ns)
{
	int64_t now_ns = bt_stage_latency_now(stages);

	bt_stage_latency_note(stages, stage, now_ns - begin_ns);
	return now_ns;
}
