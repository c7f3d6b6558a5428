/* SPDX-License-Identifier: Apache-2.0
 * NodeAffinity: nodeSelector, required and preferred node affinity, and the affinity that a profile adds.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_node_affinity_args {
	struct bt_node_affinity_object added_affinity; /* the set flag: it was given */
};

extern const struct bt_plugin_args bt_node_affinity_args_info;
const void *bt_node_affinity_make_settings(const struct bt_settings_env *env, const void *args);

/* settings of the plugin: addedAffinity, compiled. */
struct bt_node_affinity_settings {
	bool has_required;
	struct bt_node_selector required;
	const struct bt_preferred_term *preferred;
	uint32_t preferred_n;
};

extern const struct bt_plugin bt_plugin_node_affinity;
