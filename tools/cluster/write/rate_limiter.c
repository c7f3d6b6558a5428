/* SPDX-License-Identifier: Apache-2.0
 * A token bucket.
 */
#include "tools/cluster/write/rate_limiter.h"

#include "engine/base/check.h"

#define NS_PER_S 1e9

void bt_rate_limiter_init(struct bt_rate_limiter *throttle, float qps, uint32_t burst, int64_t now_ns)
{
	BT_REQUIRE(burst > 0);
	*throttle = (struct bt_rate_limiter){
		.per_ns = qps < 0 ? 0 : (double)qps / NS_PER_S,
		.burst = burst,
		.tokens = burst,
		.filled_ns = now_ns,
	};
}

static void fill(struct bt_rate_limiter *throttle, int64_t now_ns)
{
	if (now_ns <= throttle->filled_ns) {
		return;
	}
	throttle->tokens += (double)(now_ns - throttle->filled_ns) * throttle->per_ns;
	throttle->filled_ns = now_ns;
	if (throttle->tokens > throttle->burst) {
		throttle->tokens = throttle->burst;
	}
}

int64_t bt_rate_limiter_take(struct bt_rate_limiter *throttle, int64_t now_ns)
{
	if (throttle->per_ns <= 0) {
		return 0;
	}
	fill(throttle, now_ns);
	if (throttle->tokens >= 1) {
		throttle->tokens -= 1;
		throttle->holds = throttle->refused;
		throttle->refused = false;
		return 0;
	}
	if (!throttle->holds) {
		throttle->holds = true;
		throttle->held_ns = now_ns;
	}
	throttle->refused = true;
	return (int64_t)((1 - throttle->tokens) / throttle->per_ns) + 1;
}

int64_t bt_rate_limiter_waited(const struct bt_rate_limiter *throttle, int64_t since_ns, int64_t now_ns)
{
	int64_t from_ns = since_ns > throttle->held_ns ? since_ns : throttle->held_ns;

	return throttle->holds && now_ns > from_ns ? now_ns - from_ns : 0;
}

void bt_rate_limiter_return(struct bt_rate_limiter *throttle)
{
	if (throttle->tokens < throttle->burst) {
		throttle->tokens += 1;
	}
}
