/* SPDX-License-Identifier: Apache-2.0
 * Virtual times: their syntax on the command line, and sleeping until one at a given speed. Context: one
 * thread.
 */
#pragma once

#include "engine/base/check.h"

#include <stdbool.h>
#include <stdint.h>

/* The latest time: half of INT64_MAX, so that sums do not overflow. */
#define BT_VIRTUAL_TIME_MAX INT64_C(4600000000000000000)

/* A time as a duration since the beginning, or as a date. */
struct bt_virtual_time {
	bool is_date;
	int64_t ns; /* since 1970, or since the beginning */
};

/* Reads "90", "90s", "1.5h", "1h30m10s" or "2026-01-01T00:05:00Z". Returns: false when invalid, negative, or
 * more than 146 years. */
bool bt_virtual_time_parse(const char *text, struct bt_virtual_time *out_moment);

/* Parses virtual seconds per second: a decimal number, 0 or more. Returns: false when invalid. */
bool bt_speed_parse(const char *text, double *out_speed);

/* a + b, and at most INT64_MAX. Requires: neither is negative. */
static inline int64_t bt_later(int64_t a, int64_t b)
{
	BT_REQUIRE_HOT(a >= 0 && b >= 0);
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Virtual time at a speed. */
struct bt_pace {
	double speed; /* 0: unlimited */
	int64_t virtual_ns, real_ns;
};

/* Starts at virtual_ns. */
void bt_pace_begin(struct bt_pace *pace, double speed, int64_t virtual_ns);

/* Real nanoseconds until virtual_ns; 0: reached. */
int64_t bt_pace_left(const struct bt_pace *pace, int64_t virtual_ns);
