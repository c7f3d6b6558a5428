/* SPDX-License-Identifier: Apache-2.0
 * The scheduling thread's time: the caller's clock or, without one, the latest time of an applied pod; and
 * the times at which the queue is flushed.
 * Owns: a struct bt_scheduling_clock and nothing outside of it. Writer: scheduling_clock.c. Thread: the
 *       scheduling thread.
 */
#pragma once

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "queue/queue.h"

/* Private. */
struct bt_scheduling_clock {
	struct bt_clock clock;	     /* init: now_ns may be NULL */
	int64_t latest_ns;	     /* the latest time seen, without a clock */
	int64_t ticked_ns, start_ns; /* the last flush, and the start of the flush intervals */
	int64_t ahead_ns;	     /* see bt_scheduling_clock_ahead */
};

void bt_scheduling_clock_init(struct bt_scheduling_clock *clock, const struct bt_clock *now);

/* The scheduling thread's time. */
static inline int64_t bt_scheduling_clock_now(const struct bt_scheduling_clock *clock)
{
	return (clock->clock.now_ns ? bt_clock_now_ns(&clock->clock) : clock->latest_ns) + clock->ahead_ns;
}

/* Adds ahead_ns to the time until the next call: later times are greater than earlier ones, though the clock
 * shows the same time. */
static inline void bt_scheduling_clock_ahead(struct bt_scheduling_clock *clock, int64_t ahead_ns)
{
	BT_REQUIRE(ahead_ns == 0 || clock->ahead_ns == 0);
	clock->ahead_ns = ahead_ns;
}

/* The clock's time, or INT64_MAX without a clock. */
int64_t bt_scheduling_clock_known(const struct bt_scheduling_clock *clock);

/* Records the creation time of an object. */
void bt_scheduling_clock_saw(struct bt_scheduling_clock *clock, int64_t time_ns);

/* The time since since_ns, or since the start if that is later. */
int64_t bt_scheduling_clock_waited(const struct bt_scheduling_clock *clock, int64_t since_ns);

/* Restarts the flush intervals at the present time. */
void bt_scheduling_clock_start(struct bt_scheduling_clock *clock);

/* Runs the flushes that are due. Requires: there is a clock. */
void bt_scheduling_clock_tick(struct bt_scheduling_clock *clock, struct bt_queue *queue);

/* When the next backoff ends, and when the next flush requeues a pod that was refused by refused_by_ns;
 * INT64_MAX: never. */
int64_t bt_scheduling_clock_next_backoff(const struct bt_queue *queue);
int64_t bt_scheduling_clock_next_flush(
	const struct bt_scheduling_clock *clock, const struct bt_queue *queue, int64_t refused_by_ns);
