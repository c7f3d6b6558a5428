/* SPDX-License-Identifier: Apache-2.0
 * DefaultPreemption: which pods matter more, how many nodes are tried, and which of them is the best to
 * preempt on. The engine tries nodes out by it. Pure.
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

/* How many candidates are enough when so many nodes come into question. */
uint32_t bt_preemption_candidate_n(const void *settings, uint32_t node_n);

/*
 * Sorts by importance, the most important first: priority, then who started earlier. Equals end as they do
 * upstream when they are given in the order in which they are on their node.
 */
void bt_victims_sort(struct bt_victim *victims, uint32_t n);

/* Requires: n > 0. The first counts as the most important, as upstream has it. */
struct bt_preemption_cost bt_preemption_cost_of(
	const struct bt_victim *victims, uint32_t n, uint32_t violation_n);

extern const struct bt_plugin bt_plugin_default_preemption;
