/* SPDX-License-Identifier: Apache-2.0
 * A token bucket: an average rate, and a burst. Source: client-go's util/flowcontrol and
 * golang.org/x/time/rate, v0.36.3. Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bt_rate_limiter {
	double per_ns; /* tokens; 0: no limit */
	double burst, tokens;
	int64_t filled_ns;
	int64_t held_ns; /* start of the current sequence of refusals */
	bool holds, refused;
};

/* A full bucket. qps < 0: no limit. Requires: burst > 0. */
void bt_rate_limiter_init(struct bt_rate_limiter *limiter, float qps, uint32_t burst, int64_t now_ns);

/* Takes a token. Returns: 0, or in how many ns there will be one. */
int64_t bt_rate_limiter_take(struct bt_rate_limiter *limiter, int64_t now_ns);

/* How long the limiter has delayed the call that just took a token; since_ns: when that call was queued. */
int64_t bt_rate_limiter_waited(const struct bt_rate_limiter *limiter, int64_t since_ns, int64_t now_ns);

/* Returns a token, for a call that was not made. */
void bt_rate_limiter_return(struct bt_rate_limiter *limiter);
