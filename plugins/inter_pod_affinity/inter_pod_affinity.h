/* SPDX-License-Identifier: Apache-2.0
 * InterPodAffinity: places pods near other pods, or away from them.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_inter_pod_affinity_args {
	struct bt_config_int hard_pod_affinity_weight;
	bool ignore_preferred_terms_of_existing_pods;
};

extern const struct bt_plugin_args bt_inter_pod_affinity_args_info;
const void *bt_inter_pod_affinity_make_settings(const struct bt_settings_env *env, const void *args);

/* settings of the plugin. */
struct bt_inter_pod_affinity_settings {
	int32_t hard_weight;   /* weight of an existing pod's required affinity term for a pod that matches
				  it */
	bool ignore_preferred; /* preferred terms of others do not score a pod without its own */
	bool unlabelled_selector_takes_all; /* the release's rule for namespace selectors */
};

extern const struct bt_plugin bt_plugin_inter_pod_affinity;
