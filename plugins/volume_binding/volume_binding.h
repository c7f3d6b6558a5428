/* SPDX-License-Identifier: Apache-2.0
 * VolumeBinding: requires nodes that can access the pod's bound volumes, and on which its unbound claims can
 * get volumes.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_volume_binding_args {
	struct bt_config_int64 bind_timeout_s;
	struct bt_config_shape shape;
};

extern const struct bt_plugin_args bt_volume_binding_args_info;
const void *bt_volume_binding_make_settings(const struct bt_settings_env *env, const void *args);

/* A point of the score's shape: utilization in percent, score 0..100. */
struct bt_volume_shape_point {
	int64_t utilization, score;
};

struct bt_volume_binding_settings {
	bool scores;		/* the gate StorageCapacityScoring is on, and the profile has its Filter */
	bool misses_pre_filter; /* the gate is on, but the profile lacks its PreFilter: PreScore and Score
				   fail */
	const struct bt_volume_shape_point *shape;
	uint32_t shape_n;
};

extern const struct bt_plugin bt_plugin_volume_binding;
