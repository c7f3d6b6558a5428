/* SPDX-License-Identifier: Apache-2.0
 * Time as an interface: the engine reads a struct bt_clock and never the operating system, so that
 * simulations run in virtual time and journals replay.
 */
#pragma once

#include <stdint.h>

/* Nanoseconds since the Unix epoch. */
struct bt_clock {
	int64_t (*now_ns)(void *context);
	void *context;
};

static inline int64_t bt_clock_now_ns(const struct bt_clock *clock)
{
	return clock->now_ns(clock->context);
}

/* The machine's real-time clock. */
struct bt_clock bt_clock_real(void);

/* A clock that reads *now_ns, which its owner advances. */
struct bt_clock bt_clock_virtual(int64_t *now_ns);

/* The machine's monotonic clock, for measuring durations. Never an input of a decision. */
int64_t bt_clock_monotonic_ns(void);

/* CPU time that the calling thread has taken, for the same: other threads and processes do not show in it. */
int64_t bt_clock_thread_cpu_ns(void);
