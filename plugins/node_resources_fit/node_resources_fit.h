/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesFit: a pod fits where its requests are free; nodes are scored by their utilization with the
 * pod.
 */
#pragma once

#include "plugins/plugin.h"

/* Its arguments. */
struct bt_scoring_strategy {
	bool set;
	struct bt_str type; /* LeastAllocated, MostAllocated or RequestedToCapacityRatio once validated */
	struct bt_config_resource_list resources;
	bool ratio_set; /* requestedToCapacityRatio was given */
	struct bt_config_shape ratio_shape;
};

struct bt_node_resources_fit_args {
	struct bt_str_list ignored_resources, ignored_resource_groups;
	struct bt_scoring_strategy strategy;
};

extern const struct bt_plugin_args bt_node_resources_fit_args_info;
const void *bt_node_resources_fit_make_settings(const struct bt_settings_env *env, const void *args);

/* The ignored resources of the arguments, or, if any, those that extenders manage alone. */
const struct bt_str_list *bt_fit_ignored_resources(
	const struct bt_node_resources_fit_args *args, const struct bt_args_env *env);

enum bt_fit_strategy { BT_LEAST_ALLOCATED = 0, BT_MOST_ALLOCATED, BT_REQUESTED_TO_CAPACITY_RATIO };

struct bt_fit_resource {
	int slot; /* -1: an unknown name */
	int64_t weight;
};

/* A point of the shape; the score is 0..100. */
struct bt_shape_point {
	int64_t utilization, score;
};

/* settings of the plugin. */
struct bt_fit_settings {
	enum bt_fit_strategy strategy;
	const struct bt_fit_resource *resources;
	uint32_t resource_n;
	const struct bt_shape_point *shape;
	uint32_t shape_n;
	const struct bt_str *ignored, *ignored_groups;
	uint32_t ignored_n, ignored_group_n;
};

extern const struct bt_plugin bt_plugin_node_resources_fit;
