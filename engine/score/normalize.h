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

/* Normalizes a plugin's raw scores of the n feasible nodes as its descriptor says. */
static inline void bt_normalize_scores(const struct bt_plugin *plugin, const void *term,
	const struct bt_view *view, const uint32_t *nodes, uint32_t n, int64_t *scores)
{
	int64_t highest = 0;

	if (plugin->normalize == BT_NORMALIZE_OWN) {
		plugin->normalize_own(term, view, nodes, n, scores);
		return;
	}
	if (plugin->normalize == BT_NORMALIZE_NONE) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		highest = scores[i] > highest ? scores[i] : highest;
	}
	for (uint32_t i = 0; i < n; i++) {
		scores[i] =
			bt_normalize_default(scores[i], highest, plugin->normalize == BT_NORMALIZE_REVERSED);
	}
}
