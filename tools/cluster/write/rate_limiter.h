/* SPDX-License-Identifier: Apache-2.0
 * A token bucket: so many calls a second on average, so many at once. Source: client-go's
 * util/flowcontrol and golang.org/x/time/rate, v0.36.3. Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bt_rate_limiter {
	double per_ns; /* tokens; 0: no limit */
	double burst, tokens;
	int64_t filled_ns;
	int64_t held_ns; /* since when nobody has got a token without being refused one first */
	bool holds, refused;
};

/* A full bucket. qps < 0: no limit. Requires: burst > 0. */
void bt_rate_limiter_init(struct bt_rate_limiter *limiter, float qps, uint32_t burst, int64_t now_ns);

/* Takes a token. Returns: 0, or in how many ns there will be one. */
int64_t bt_rate_limiter_take(struct bt_rate_limiter *limiter, int64_t now_ns);

/* How long it has kept back who has just taken a token and wanted one since then. */
int64_t bt_rate_limiter_waited(const struct bt_rate_limiter *limiter, int64_t since_ns, int64_t now_ns);

/* Puts one back, for a call that was not made. */
void bt_rate_limiter_return(struct bt_rate_limiter *limiter);
