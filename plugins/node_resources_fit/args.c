/* SPDX-License-Identifier: Apache-2.0
 * The arguments of NodeResourcesFit.
 */
#include "plugins/node_resources_fit/node_resources_fit.h"

#include <string.h>

static const struct bt_field ratio_members[] = {
	BT_ARG_LIST_SET("shape", struct bt_config_shape, items, n, set, bt_config_shape_point_table),
};
static const struct bt_schema ratio_table =
	BT_ARG_STRUCT("v1", "RequestedToCapacityRatioParam", ratio_members, struct bt_config_shape);

static const struct bt_field strategy_members[] = {
	BT_ARG_NAMED("type", struct bt_scoring_strategy, type, "v1.ScoringStrategyType"),
	BT_ARG_LIST("resources", struct bt_scoring_strategy, resources.items, resources.n,
		bt_config_resource_table),
	BT_ARG_POINTER(
		"requestedToCapacityRatio", struct bt_scoring_strategy, ratio_shape, ratio_set, ratio_table),
};
static const struct bt_schema strategy_table =
	BT_ARG_STRUCT("v1", "ScoringStrategy", strategy_members, struct bt_scoring_strategy);

static const struct bt_field fit_members[] = {
	BT_ARG_META,
	BT_ARG_PLAIN("ignoredResources", STR_LIST, struct bt_node_resources_fit_args, ignored_resources),
	BT_ARG_PLAIN("ignoredResourceGroups", STR_LIST, struct bt_node_resources_fit_args,
		ignored_resource_groups),
	BT_ARG_POINTER(
		"scoringStrategy", struct bt_node_resources_fit_args, strategy, strategy.set, strategy_table),
};
static const struct bt_schema table =
	BT_ARG_STRUCT("v1", "NodeResourcesFitArgs", fit_members, struct bt_node_resources_fit_args);

static void set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct bt_node_resources_fit_args *args = opaque;

	(void)env;
	if (!args->strategy.set) {
		args->strategy = (struct bt_scoring_strategy){.set = true, .type = bt_str("LeastAllocated")};
	}
	bt_config_resources_default(&args->strategy.resources, arena);
}

const struct bt_str_list *bt_fit_ignored_resources(
	const struct bt_node_resources_fit_args *args, const struct bt_args_env *env)
{
	return env->extender_resources->n ? env->extender_resources : &args->ignored_resources;
}

/* The shape; strategies of other types must not have one. Releases that check it only when it is set let it
 * be missing, and kube-scheduler panics then; here it is rejected as in later releases. */
static void validate_ratio(const struct bt_scoring_strategy *strategy, const struct bt_release *release,
	struct bt_str path, struct bt_config_errors *errors)
{
	bool wanted = bt_str_is(strategy->type, "RequestedToCapacityRatio");
	bool alone = bt_release_has(release, BT_RULE_SHAPE_IS_CHECKED_FOR_ANY_TYPE);
	struct bt_str ratio = bt_args_under(errors, path, "scoringStrategy.requestedToCapacityRatio");
	struct bt_str at = alone ? bt_args_under(errors, path, "scoringStrategy.shape")
				 : bt_args_under(errors, ratio, "shape");

	if (strategy->ratio_set && (wanted || alone)) {
		bt_config_shape_validate(&strategy->ratio_shape, at, errors);
	} else if (strategy->ratio_set) {
		bt_config_forbidden(errors, ratio, "must be nil when type is not RequestedToCapacityRatio");
	} else if (wanted && (!alone || errors->n == 0)) {
		bt_config_required(errors, ratio, "must be specified when type is RequestedToCapacityRatio");
	}
}

static void validate_strategy(const struct bt_scoring_strategy *strategy, const struct bt_args_env *env,
	struct bt_str path, struct bt_config_errors *errors)
{
	bool wants_ratio = bt_str_is(strategy->type, "RequestedToCapacityRatio");

	if (!wants_ratio && !bt_str_is(strategy->type, "LeastAllocated") &&
		!bt_str_is(strategy->type, "MostAllocated")) {
		bt_config_unsupported(errors, bt_args_under(errors, path, "scoringStrategy.type"),
			strategy->type,
			"supported values: \"LeastAllocated\", \"MostAllocated\", "
			"\"RequestedToCapacityRatio\"");
	}
	for (uint32_t i = 0; i < strategy->resources.n; i++) {
		const struct bt_config_resource *resource = &strategy->resources.items[i];

		if (resource->weight <= 0 || resource->weight > 100) {
			struct bt_str detail =
				bt_config_path(errors, "resource weight of %.*s not in valid range (0, 100]",
					BT_STR_ARG(resource->name));
			struct bt_str entry = bt_args_at(errors, path, "scoringStrategy.resources", i);

			bt_config_invalid_int(
				errors, bt_args_under(errors, entry, "weight"), resource->weight, detail.ptr);
		}
	}
	validate_ratio(strategy, env->release, path, errors);
}

static void validate_fit(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_node_resources_fit_args *args = opaque;
	const struct bt_str_list *ignored = bt_fit_ignored_resources(args, env);

	for (uint32_t i = 0; i < ignored->n; i++) {
		bt_config_check_label_key(
			errors, bt_args_at(errors, path, "ignoredResources", i), ignored->items[i]);
	}
	for (uint32_t i = 0; i < args->ignored_resource_groups.n; i++) {
		struct bt_str group = args->ignored_resource_groups.items[i];
		struct bt_str entry = bt_args_at(errors, path, "ignoredResourceGroups", i);

		if (bt_str_find(group, '/', 0) < group.len) {
			bt_config_invalid_text(errors, entry, group, "resource group name can't contain '/'");
		}
		bt_config_check_label_key(errors, entry, group);
	}
	validate_strategy(&args->strategy, env, path, errors);
}

/*
 * Upstream looks up the validation of these arguments by a wrong name, and validates them only when it builds
 * the plugin.
 */
const struct bt_plugin_args bt_node_resources_fit_args_info = {
	.schema = &table,
	.set_defaults = set_defaults,
	.validate = validate_fit,
	.validated_late = true,
	.extender_resources = true,
};

static const struct bt_str *copy_names(struct bt_arena *arena, const struct bt_str_list *list)
{
	struct bt_str *names = bt_arena_zalloc(arena, list->n * sizeof(*names));

	if (list->n) {
		memcpy(names, list->items, list->n * sizeof(*names));
	}
	return names;
}

const void *bt_node_resources_fit_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_node_resources_fit_args *args = opaque;
	const struct bt_str_list *ignored = bt_fit_ignored_resources(args, &env->config);
	const struct bt_scoring_strategy *strategy = &args->strategy;
	struct bt_fit_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));
	struct bt_fit_resource *resources =
		bt_arena_zalloc(env->arena, strategy->resources.n * sizeof(*resources));
	struct bt_shape_point *shape = bt_arena_zalloc(env->arena, strategy->ratio_shape.n * sizeof(*shape));

	for (uint32_t i = 0; i < strategy->resources.n; i++) {
		resources[i].slot = bt_resource_slot(env->dictionary, strategy->resources.items[i].name);
		resources[i].weight = strategy->resources.items[i].weight;
	}
	for (uint32_t i = 0; i < strategy->ratio_shape.n; i++) {
		shape[i].utilization = strategy->ratio_shape.items[i].utilization;
		shape[i].score = (int64_t)strategy->ratio_shape.items[i].score * BT_SHAPE_SCALE;
	}
	*settings = (struct bt_fit_settings){
		.strategy = bt_str_is(strategy->type, "MostAllocated") ? BT_MOST_ALLOCATED
			    : bt_str_is(strategy->type, "RequestedToCapacityRatio")
				    ? BT_REQUESTED_TO_CAPACITY_RATIO
				    : BT_LEAST_ALLOCATED,
		.resources = resources,
		.resource_n = strategy->resources.n,
		.shape = shape,
		.shape_n = strategy->ratio_shape.n,
		.ignored = copy_names(env->arena, ignored),
		.ignored_n = ignored->n,
		.ignored_groups = copy_names(env->arena, &args->ignored_resource_groups),
		.ignored_group_n = args->ignored_resource_groups.n,
	};
	return settings;
}
