/* SPDX-License-Identifier: Apache-2.0
 * The arguments of DynamicResources.
 */
#include "plugins/dynamic_resources/dynamic_resources.h"

#define SECOND_NS INT64_C(1000000000)

static const struct bt_field dynamic_resources_members[] = {
	BT_ARG_META,
	BT_ARG_MAYBE_DURATION("filterTimeout", struct bt_dynamic_resources_args, filter_timeout),
	BT_ARG_MAYBE_DURATION("bindingTimeout", struct bt_dynamic_resources_args, binding_timeout),
};
static const struct bt_schema table = BT_ARG_STRUCT(
	"v1", "DynamicResourcesArgs", dynamic_resources_members, struct bt_dynamic_resources_args);

static bool has_binding_conditions(const struct bt_args_env *env)
{
	return env->gates[BT_GATE_DRA_DEVICE_BINDING_CONDITIONS] &&
	       env->gates[BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS];
}

static void set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct bt_dynamic_resources_args *args = opaque;

	(void)arena;
	if (!args->filter_timeout.set && env->gates[BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT]) {
		args->filter_timeout = (struct bt_config_duration){.ns = 10 * SECOND_NS, .set = true};
	}
	if (!args->binding_timeout.set && has_binding_conditions(env)) {
		args->binding_timeout = (struct bt_config_duration){.ns = 600 * SECOND_NS, .set = true};
	}
}

static void validate_dynamic_resources(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_dynamic_resources_args *args = opaque;
	struct bt_str filter = bt_args_under(errors, path, "filterTimeout"),
		      binding = bt_args_under(errors, path, "bindingTimeout");

	if (args->filter_timeout.set && !env->gates[BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT]) {
		bt_config_forbidden(errors, filter, "DRASchedulingFilterTimeout feature gate is disabled");
	} else if (args->filter_timeout.set && args->filter_timeout.ns < 0) {
		bt_config_invalid_duration(
			errors, filter, args->filter_timeout.ns, "must be zero or positive");
	}
	if (!args->binding_timeout.set) {
		return;
	}
	if (!has_binding_conditions(env)) {
		bt_config_forbidden(errors, binding,
			"DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is "
			"disabled");
	} else if (args->binding_timeout.ns < SECOND_NS) {
		bt_config_invalid_duration(
			errors, binding, args->binding_timeout.ns, "must be at least 1 second");
	}
}

static int64_t bind_timeout_ns(const void *opaque)
{
	const struct bt_dynamic_resources_args *args = opaque;

	return args->binding_timeout.ns;
}

const struct bt_plugin_args bt_dynamic_resources_args_info = {
	.schema = &table,
	.set_defaults = set_defaults,
	.validate = validate_dynamic_resources,
	.bind_timeout_ns = bind_timeout_ns,
};

/* The search is bounded by steps instead of time, so that equal input gives equal decisions. */
const void *bt_dynamic_resources_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_dynamic_resources_args *args = opaque;
	struct bt_dynamic_resources_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));
	bool limited = env->config.gates[BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT] && args->filter_timeout.ns > 0;

	*settings = (struct bt_dynamic_resources_settings){
		.scores = env->config.gates[BT_GATE_DRA_PRIORITIZED_LIST],
		.pre_filtered = env->points & BT_AT(PRE_FILTER),
		.filtered = env->points & BT_AT(FILTER),
		.timeout_refuses = bt_settings_rule(env, BT_RULE_TIMED_OUT_SEARCH_REFUSES),
		.allocated_break = bt_settings_rule(env, BT_RULE_ALLOCATED_CLAIMS_BREAK_SCORES),
		.step_limit = limited ? (uint64_t)args->filter_timeout.ns /
							(1000000000 / BT_SEARCH_STEPS_PER_SECOND) +
						1
				      : 0,
		.binding_timeout_ns = args->binding_timeout.ns,
	};
	return settings;
}
