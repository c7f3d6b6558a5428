/* SPDX-License-Identifier: Apache-2.0
 * PodGroupPodsCount: placements in which more pods of the group are on nodes are better. Source:
 * plugins/podgrouppodscount, v1.37.2.
 */
#include "plugins/plugin.h"

/* Pods that are already on nodes count, too. */
static int64_t placement_score(const struct bt_placement_score_env *env)
{
	return (int64_t)env->group->scheduled_n + env->pod_n;
}

static const char *placement_normalize(int64_t *scores, uint32_t n)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		most = scores[i] > most ? scores[i] : most;
	}
	if (most == 0) {
		return "no pods from pod group are assigned to any of the candidate placements";
	}
	for (uint32_t i = 0; i < n; i++) {
		scores[i] = scores[i] * BT_MAX_NODE_SCORE / most;
	}
	return NULL;
}

const struct bt_plugin bt_plugin_pod_group_pods_count = {
	.name = "PodGroupPodsCount",
	.points = BT_AT(PLACEMENT_SCORE),
	.placement_score = placement_score,
	.placement_normalize = placement_normalize,
};
