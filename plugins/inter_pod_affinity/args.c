/* SPDX-License-Identifier: Apache-2.0
 * The arguments of InterPodAffinity.
 */
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

static const struct bt_field inter_pod_affinity_members[] = {
	BT_ARG_META,
	BT_ARG_MAYBE(
		"hardPodAffinityWeight", I32, struct bt_inter_pod_affinity_args, hard_pod_affinity_weight),
	BT_ARG_ALWAYS("ignorePreferredTermsOfExistingPods", BOOL, struct bt_inter_pod_affinity_args,
		ignore_preferred_terms_of_existing_pods),
};
static const struct bt_schema table = BT_ARG_STRUCT(
	"v1", "InterPodAffinityArgs", inter_pod_affinity_members, struct bt_inter_pod_affinity_args);

static void set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct bt_inter_pod_affinity_args *args = opaque;

	(void)env;
	(void)arena;
	bt_config_int_default(&args->hard_pod_affinity_weight, 1);
}

static void validate_inter_pod_affinity(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_inter_pod_affinity_args *args = opaque;
	int32_t weight = args->hard_pod_affinity_weight.value;

	(void)env;
	if (weight < 0 || weight > 100) {
		bt_config_invalid_int(errors, bt_args_under(errors, path, "hardPodAffinityWeight"), weight,
			"not in valid range [0, 100]");
	}
}

const struct bt_plugin_args bt_inter_pod_affinity_args_info = {
	.schema = &table,
	.set_defaults = set_defaults,
	.validate = validate_inter_pod_affinity,
};

const void *bt_inter_pod_affinity_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_inter_pod_affinity_args *args = opaque;
	struct bt_inter_pod_affinity_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));

	*settings = (struct bt_inter_pod_affinity_settings){
		.hard_weight = args->hard_pod_affinity_weight.value,
		.ignore_preferred = args->ignore_preferred_terms_of_existing_pods,
		.unlabelled_selector_takes_all =
			bt_settings_rule(env, BT_RULE_UNLABELLED_SELECTOR_TAKES_ALL_NAMESPACES),
	};
	return settings;
}
