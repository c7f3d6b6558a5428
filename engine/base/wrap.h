/* SPDX-License-Identifier: Apache-2.0
 * 64-bit arithmetic as in Go on amd64: sums and products wrap, INT64_MIN / -1 is INT64_MIN, and a double that
 * does not fit becomes INT64_MIN. Where upstream's numbers overflow, ours must overflow to the same values.
 */
#pragma once

#include "engine/base/check.h"

#include <stdint.h>

static inline int64_t bt_wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t bt_wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t bt_wrap_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Requires: b is not 0. */
static inline int64_t bt_wrap_div(int64_t a, int64_t b)
{
	BT_REQUIRE_HOT(b != 0);
	return b == -1 ? bt_wrap_sub(0, a) : a / b;
}

static inline int64_t bt_truncate(double x)
{
	return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
