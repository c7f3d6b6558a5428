/* SPDX-License-Identifier: Apache-2.0
 * Exponential backoff of a reflector: starts at 800 ms, doubles for each attempt up to 30 s, has up to 100 %
 * jitter, and is reset after two minutes without an attempt. Source: client-go's tools/cache reflector,
 * v0.36.3.
 */
#pragma once

#include <stdint.h>

#include "engine/base/rng.h"

/* Zero-initialised. */
struct bt_watch_backoff {
	int64_t next_ns, last_ns; /* the next delay without jitter; time of the last call */
};

#define BT_BACKOFF_FIRST_NS INT64_C(800000000)
#define BT_BACKOFF_MOST_NS  INT64_C(30000000000)
#define BT_BACKOFF_RESET_NS INT64_C(120000000000)

static inline int64_t bt_watch_backoff_delay_ns(
	struct bt_watch_backoff *backoff, int64_t now_ns, struct bt_rng *rng)
{
	if (backoff->next_ns == 0 || now_ns - backoff->last_ns > BT_BACKOFF_RESET_NS) {
		backoff->next_ns = BT_BACKOFF_FIRST_NS;
	}
	int64_t base = backoff->next_ns;
	int64_t chance = (int64_t)((double)base * ((double)(bt_rng_next(rng) >> 11) * 0x1p-53));
	backoff->next_ns = base * 2 < BT_BACKOFF_MOST_NS ? base * 2 : BT_BACKOFF_MOST_NS;
	backoff->last_ns = now_ns;
	return base + chance;
}
