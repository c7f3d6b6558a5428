/* SPDX-License-Identifier: Apache-2.0
 * Time as the scheduling thread sees it: the caller's clock or, where there is none, the latest time that a
 * pod's object had; and when the queue is flushed.
 * Owns: a struct bt_scheduling_clock and nothing outside of it. Writer: scheduling_clock.c. Thread: the
 * scheduling thread.
 */
#pragma once

#include "engine/base/clock.h"
#include "queue/queue.h"

/* Private. */
struct bt_scheduling_clock {
	struct bt_clock clock;	     /* init: now_ns may be NULL */
	int64_t latest_ns;	     /* the latest time seen, where there is no clock */
	int64_t ticked_ns, start_ns; /* the last flush, and what flushes are counted from */
};

void bt_scheduling_clock_init(struct bt_scheduling_clock *clock, const struct bt_clock *now);

/* The time as pods see it. */
static inline int64_t bt_scheduling_clock_now(const struct bt_scheduling_clock *clock)
{
	return clock->clock.now_ns ? bt_clock_now_ns(&clock->clock) : clock->latest_ns;
}

/* The clock's time, or INT64_MAX where there is none. */
int64_t bt_scheduling_clock_known(const struct bt_scheduling_clock *clock);

/* An object was made at that time. */
void bt_scheduling_clock_saw(struct bt_scheduling_clock *clock, int64_t time_ns);

/* How long something has waited; what began before the start is counted from there. */
int64_t bt_scheduling_clock_waited(const struct bt_scheduling_clock *clock, int64_t since_ns);

/* Flushes are counted from now on. */
void bt_scheduling_clock_start(struct bt_scheduling_clock *clock);

/* Flushes what is due. Requires: there is a clock. */
void bt_scheduling_clock_tick(struct bt_scheduling_clock *clock, struct bt_queue *queue);

/* When the next backoff is over, and when the next flush lets somebody back who was refused by refused_by_ns;
 * INT64_MAX: never. */
int64_t bt_scheduling_clock_next_backoff(const struct bt_queue *queue);
int64_t bt_scheduling_clock_next_flush(
	const struct bt_scheduling_clock *clock, const struct bt_queue *queue, int64_t refused_by_ns);
