/* SPDX-License-Identifier: Apache-2.0
 * DefaultPreemption: importance of pods, number of nodes to try, and choice of the best candidate. The engine
 * runs the trials. Pure.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_default_preemption_args {
	struct bt_config_int min_candidate_nodes_percentage, min_candidate_nodes_absolute;
};

extern const struct bt_plugin_args bt_default_preemption_args_info;
const void *bt_default_preemption_make_settings(const struct bt_settings_env *env, const void *args);

struct bt_preemption_settings {
	int32_t min_candidate_nodes_percentage, min_candidate_nodes_absolute;
};

/* How many candidates are enough for node_n potential nodes. */
uint32_t bt_preemption_candidate_n(const void *settings, uint32_t node_n);

/*
 * Sorts by importance, the most important first: higher priority, then earlier start. Ties end as upstream
 * when the victims are passed in their order on the node.
 */
void bt_victims_sort(struct bt_victim *victims, uint32_t n);

/* Requires: n > 0. The first counts as the most important, as upstream. */
struct bt_preemption_cost bt_preemption_cost_of(
	const struct bt_victim *victims, uint32_t n, uint32_t violation_n);

extern const struct bt_plugin bt_plugin_default_preemption;
