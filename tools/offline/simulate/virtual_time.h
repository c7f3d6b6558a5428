/* SPDX-License-Identifier: Apache-2.0
 * Moments of virtual time: how they are written on the command line, and sleeping until one when time is to
 * pass at some speed. Context: one thread.
 */
#pragma once

#include "engine/base/check.h"

#include <stdbool.h>
#include <stdint.h>

/* No moment is later: half of what an int64_t holds, so that sums stay in it. */
#define BT_VIRTUAL_TIME_MAX INT64_C(4600000000000000000)

/* A moment as a duration since some beginning, or as a date. */
struct bt_virtual_time {
	bool is_date;
	int64_t ns; /* since 1970, or since the beginning */
};

/* Reads "90", "90s", "1.5h", "1h30m10s" or "2026-01-01T00:05:00Z". Returns: false when it is none of these,
 * below zero, or more than 146 years. */
bool bt_virtual_time_parse(const char *text, struct bt_virtual_time *out_moment);

/* Reads how many virtual seconds pass in one: 0 or more, in decimals. Returns: false when it is not that. */
bool bt_speed_parse(const char *text, double *out_speed);

/* a + b, and at most INT64_MAX. Requires: neither is below zero. */
static inline int64_t bt_later(int64_t a, int64_t b)
{
	BT_REQUIRE_HOT(a >= 0 && b >= 0);
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Virtual time that passes at a speed. */
struct bt_pace {
	double speed; /* 0: it does not take any time */
	int64_t virtual_ns, real_ns;
};

/* Time passes from virtual_ns on. */
void bt_pace_begin(struct bt_pace *pace, double speed, int64_t virtual_ns);

/* How long it is until virtual_ns, in real nanoseconds; 0: it has come. */
int64_t bt_pace_left(const struct bt_pace *pace, int64_t virtual_ns);
