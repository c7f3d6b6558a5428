/* SPDX-License-Identifier: Apache-2.0
 * A token bucket.
 */
#include "tools/cluster/write/rate_limiter.h"

#include "engine/base/check.h"

#define NS_PER_S 1e9

void bt_rate_limiter_init(struct bt_rate_limiter *limiter, float qps, uint32_t burst, int64_t now_ns)
{
	BT_REQUIRE(burst > 0);
	*limiter = (struct bt_rate_limiter){
		.per_ns = qps < 0 ? 0 : (double)qps / NS_PER_S,
		.burst = burst,
		.tokens = burst,
		.filled_ns = now_ns,
	};
}

static void fill(struct bt_rate_limiter *limiter, int64_t now_ns)
{
	if (now_ns <= limiter->filled_ns) {
		return;
	}
	limiter->tokens += (double)(now_ns - limiter->filled_ns) * limiter->per_ns;
	limiter->filled_ns = now_ns;
	if (limiter->tokens > limiter->burst) {
		limiter->tokens = limiter->burst;
	}
}

int64_t bt_rate_limiter_take(struct bt_rate_limiter *limiter, int64_t now_ns)
{
	if (limiter->per_ns <= 0) {
		return 0;
	}
	fill(limiter, now_ns);
	if (limiter->tokens >= 1) {
		limiter->tokens -= 1;
		limiter->holds = limiter->refused;
		limiter->refused = false;
		return 0;
	}
	if (!limiter->holds) {
		limiter->holds = true;
		limiter->held_ns = now_ns;
	}
	limiter->refused = true;
	return (int64_t)((1 - limiter->tokens) / limiter->per_ns) + 1;
}

int64_t bt_rate_limiter_waited(const struct bt_rate_limiter *limiter, int64_t since_ns, int64_t now_ns)
{
	int64_t from_ns = since_ns > limiter->held_ns ? since_ns : limiter->held_ns;

	return limiter->holds && now_ns > from_ns ? now_ns - from_ns : 0;
}

void bt_rate_limiter_return(struct bt_rate_limiter *limiter)
{
	if (limiter->tokens < limiter->burst) {
		limiter->tokens += 1;
	}
}
