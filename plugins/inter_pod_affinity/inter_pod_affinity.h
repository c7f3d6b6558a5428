/* SPDX-License-Identifier: Apache-2.0
 * InterPodAffinity: pods that want to be near other pods, or away from them.
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
	int32_t hard_weight;   /* what a required affinity term of a pod on a node is worth to a pod that
				  matches it */
	bool ignore_preferred; /* a pod without preferred terms is not scored by those of others */
	bool unlabelled_selector_takes_all; /* the release's rule for namespace selectors */
};

extern const struct bt_plugin bt_plugin_inter_pod_affinity;
