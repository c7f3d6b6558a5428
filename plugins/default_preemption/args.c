/* SPDX-License-Identifier: Apache-2.0
 * The arguments of DefaultPreemption.
 */
#include "plugins/default_preemption/default_preemption.h"

static const struct bt_field preemption_members[] = {
	BT_ARG_META,
	BT_ARG_MAYBE("minCandidateNodesPercentage", I32, struct bt_default_preemption_args,
		min_candidate_nodes_percentage),
	BT_ARG_MAYBE("minCandidateNodesAbsolute", I32, struct bt_default_preemption_args,
		min_candidate_nodes_absolute),
};
static const struct bt_schema table =
	BT_ARG_STRUCT("v1", "DefaultPreemptionArgs", preemption_members, struct bt_default_preemption_args);

static void set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct bt_default_preemption_args *args = opaque;

	(void)env;
	(void)arena;
	bt_config_int_default(&args->min_candidate_nodes_percentage, 10);
	bt_config_int_default(&args->min_candidate_nodes_absolute, 100);
}

static void validate_preemption(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_default_preemption_args *args = opaque;
	int32_t percentage = args->min_candidate_nodes_percentage.value;
	int32_t absolute = args->min_candidate_nodes_absolute.value;
	struct bt_str percentage_path = bt_args_under(errors, path, "minCandidateNodesPercentage");
	struct bt_str absolute_path = bt_args_under(errors, path, "minCandidateNodesAbsolute");

	(void)env;
	if (percentage < 0 || percentage > 100) {
		bt_config_invalid_int(errors, percentage_path, percentage, "not in valid range [0, 100]");
	}
	if (absolute < 0) {
		bt_config_invalid_int(errors, absolute_path, absolute, "not in valid range [0, inf)");
	}
	if (!percentage && !absolute) {
		bt_config_invalid_int(errors, percentage_path, percentage,
			"cannot be zero at the same time as minCandidateNodesAbsolute");
		bt_config_invalid_int(errors, absolute_path, absolute,
			"cannot be zero at the same time as minCandidateNodesPercentage");
	}
}

const struct bt_plugin_args bt_default_preemption_args_info = {
	.schema = &table,
	.set_defaults = set_defaults,
	.validate = validate_preemption,
};

const void *bt_default_preemption_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_default_preemption_args *args = opaque;
	struct bt_preemption_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));

	*settings = (struct bt_preemption_settings){
		args->min_candidate_nodes_percentage.value, args->min_candidate_nodes_absolute.value};
	return settings;
}
