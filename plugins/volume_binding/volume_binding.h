/* SPDX-License-Identifier: Apache-2.0
 * VolumeBinding: nodes that reach the pod's bound volumes, and where its unbound claims can get volumes.
 */
#pragma once

#include "plugins/plugin.h"

/* A point of the score's shape: utilization in percent, score 0..100. */
struct bt_volume_shape_point {
	int64_t utilization, score;
};

struct bt_volume_binding_settings {
	bool scores;		/* the gate StorageCapacityScoring is on, and the profile has its Filter */
	bool misses_pre_filter; /* the gate is on, and the profile lacks its PreFilter: PreScore and Score
				   fail */
	const struct bt_volume_shape_point *shape;
	uint32_t shape_n;
};

extern const struct bt_plugin bt_plugin_volume_binding;

/*
 * What Reserve is to assume for a node that passed Filter in this cycle: the bindings of the pod's unbound
 * claims.
 * Returns : their number, with the first in out_bindings. Valid until the term is asked about a node again.
 */
uint32_t bt_volume_binding_choose(const struct bt_compiled *compiled, const struct bt_view *view,
	uint32_t node_ix, const struct bt_volume_binding **out_bindings);
