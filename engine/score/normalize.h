/* SPDX-License-Identifier: Apache-2.0
 * The shared normalization of raw scores. Source: plugins/helper DefaultNormalizeScore, v1.36.3.
 */
#pragma once

#include "engine/base/wrap.h"
#include "plugins/plugin.h"

/* A raw score relative to the highest one among the feasible nodes (at least 0). */
static inline int64_t bt_normalize_default(int64_t raw, int64_t highest, bool reversed)
{
	if (highest == 0) {
		return reversed ? BT_MAX_NODE_SCORE : raw;
	}
	int64_t score = bt_wrap_div(bt_wrap_mul(BT_MAX_NODE_SCORE, raw), highest);
	return reversed ? BT_MAX_NODE_SCORE - score : score;
}
