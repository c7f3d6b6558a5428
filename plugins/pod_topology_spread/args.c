/* SPDX-License-Identifier: Apache-2.0
 * The arguments of PodTopologySpread.
 */
#include "plugins/pod_topology_spread/pod_topology_spread.h"

/* kube-scheduler's default constraints for defaultingType System. */
static const struct bt_spread_constraint system_defaults[2] = {
	{.when = BT_SPREAD_SCHEDULE_ANYWAY,
		.max_skew = 3,
		.min_domains = 1,
		.topology_key = BT_NAME_HOSTNAME,
		.honor_affinity = true},
	{.when = BT_SPREAD_SCHEDULE_ANYWAY,
		.max_skew = 5,
		.min_domains = 1,
		.topology_key = BT_NAME_ZONE,
		.honor_affinity = true},
};

static const struct bt_field label_requirement_members[] = {
	BT_ARG_PLAIN("key", STR, struct bt_requirement_object, key),
	BT_ARG_NAMED("operator", struct bt_requirement_object, operator_, "v1.LabelSelectorOperator"),
	BT_ARG_PLAIN("values", STR_LIST, struct bt_requirement_object, values),
};
static const struct bt_schema label_requirement = BT_ARG_STRUCT(
	"v1", "LabelSelectorRequirement", label_requirement_members, struct bt_requirement_object);

static const struct bt_field label_selector_members[] = {
	BT_ARG_PLAIN("matchLabels", STR_MAP, struct bt_label_selector_object, match_labels),
	BT_ARG_LIST("matchExpressions", struct bt_label_selector_object, match_expressions.items,
		match_expressions.n, label_requirement),
};
static const struct bt_schema label_selector_table =
	BT_ARG_STRUCT("v1", "LabelSelector", label_selector_members, struct bt_label_selector_object);

static const struct bt_field constraint_members[] = {
	BT_ARG_ALWAYS("maxSkew", I32, struct bt_spread_constraint_object, max_skew),
	BT_ARG_ALWAYS("topologyKey", STR, struct bt_spread_constraint_object, topology_key),
	BT_ARG_NAMED("whenUnsatisfiable", struct bt_spread_constraint_object, when_unsatisfiable,
		"v1.UnsatisfiableConstraintAction"),
	BT_ARG_POINTER("labelSelector", struct bt_spread_constraint_object, label_selector,
		label_selector.set, label_selector_table),
	{.name = BT_STR("minDomains"),
		.type = BT_FIELD_I32,
		.offset = offsetof(struct bt_spread_constraint_object, min_domains),
		.flag = BT_MEMBER(struct bt_spread_constraint_object, has_min_domains)},
	BT_ARG_NAMED("nodeAffinityPolicy", struct bt_spread_constraint_object, node_affinity_policy,
		"v1.NodeInclusionPolicy"),
	BT_ARG_NAMED("nodeTaintsPolicy", struct bt_spread_constraint_object, node_taints_policy,
		"v1.NodeInclusionPolicy"),
	BT_ARG_PLAIN("matchLabelKeys", STR_LIST, struct bt_spread_constraint_object, match_label_keys),
};
static const struct bt_schema constraint_table = BT_ARG_STRUCT(
	"v1", "TopologySpreadConstraint", constraint_members, struct bt_spread_constraint_object);

static const struct bt_field spread_members[] = {
	BT_ARG_META,
	BT_ARG_LIST("defaultConstraints", struct bt_pod_topology_spread_args, constraints, constraint_n,
		constraint_table),
	BT_ARG_NAMED("defaultingType", struct bt_pod_topology_spread_args, defaulting_type,
		"v1.PodTopologySpreadConstraintsDefaulting"),
};
static const struct bt_schema table =
	BT_ARG_STRUCT("v1", "PodTopologySpreadArgs", spread_members, struct bt_pod_topology_spread_args);

static void set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct bt_pod_topology_spread_args *args = opaque;

	(void)env;
	(void)arena;
	if (!args->defaulting_type.len) {
		args->defaulting_type = bt_str("System");
	}
}

static void validate_when(struct bt_str when, struct bt_str path, struct bt_config_errors *errors)
{
	if (!when.len) {
		bt_config_required(errors, path, "can not be empty");
	} else if (!bt_str_is(when, "DoNotSchedule") && !bt_str_is(when, "ScheduleAnyway")) {
		bt_config_unsupported(
			errors, path, when, "supported values: \"DoNotSchedule\", \"ScheduleAnyway\"");
	}
}

static void validate_constraint(const struct bt_spread_constraint_object *constraint, struct bt_str path,
	struct bt_config_errors *errors)
{
	if (constraint->max_skew <= 0) {
		bt_config_invalid_int(errors, bt_args_under(errors, path, "maxSkew"), constraint->max_skew,
			"not in valid range (0, inf)");
	}
	if (!constraint->topology_key.len) {
		bt_config_required(errors, bt_args_under(errors, path, "topologyKey"), "can not be empty");
	} else {
		bt_config_check_label_key(
			errors, bt_args_under(errors, path, "topologyKey"), constraint->topology_key);
	}
	validate_when(
		constraint->when_unsatisfiable, bt_args_under(errors, path, "whenUnsatisfiable"), errors);
	if (constraint->label_selector.set) {
		bt_config_forbidden(errors, bt_args_under(errors, path, "labelSelector"),
			"constraint must not define a selector, as they deduced for each pod");
	}
}

static void validate_spread(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_pod_topology_spread_args *args = opaque;
	struct bt_config_seen seen = {.n = 0};
	struct bt_str type = args->defaulting_type;
	uint32_t first;

	(void)env;
	if (!bt_str_is(type, "System") && !bt_str_is(type, "List")) {
		bt_config_unsupported(errors, bt_args_under(errors, path, "defaultingType"), type,
			"supported values: \"System\", \"List\"");
	} else if (bt_str_is(type, "System") && args->constraint_n) {
		bt_config_invalid_raw(errors, bt_args_under(errors, path, "defaultingType"),
			bt_str("\"System\""), "when .defaultConstraints are not empty");
	}
	for (uint32_t i = 0; i < args->constraint_n; i++) {
		const struct bt_spread_constraint_object *constraint = &args->constraints[i];
		struct bt_str entry = bt_args_at(errors, path, "defaultConstraints", i);
		struct bt_str key = bt_config_path(errors, "%zu/%.*s, %.*s", constraint->topology_key.len,
			BT_STR_ARG(constraint->topology_key), BT_STR_ARG(constraint->when_unsatisfiable));

		validate_constraint(constraint, entry, errors);
		if (!bt_config_seen_add(&seen, key, i, &first)) {
			bt_config_duplicate(errors, entry,
				bt_config_path(errors, "{%.*s, %.*s}", BT_STR_ARG(constraint->topology_key),
					BT_STR_ARG(constraint->when_unsatisfiable)));
		}
	}
	bt_config_seen_fini(&seen);
}

const struct bt_plugin_args bt_pod_topology_spread_args_info = {
	.schema = &table,
	.set_defaults = set_defaults,
	.validate = validate_spread,
};

const void *bt_pod_topology_spread_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_pod_topology_spread_args *args = opaque;
	struct bt_spread_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));
	struct bt_spread_constraint *defaults =
		bt_arena_zalloc(env->arena, args->constraint_n * sizeof(*defaults));
	bool system = bt_str_is(args->defaulting_type, "System");
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < args->constraint_n; i++) {
		bt_spread_constraint_compile(&env->dictionary->for_ever, env->arena, &args->constraints[i],
			(struct bt_labels){0}, &defaults[i], &text);
	}
	bt_buf_fini(&text);
	*settings = (struct bt_spread_settings){
		.defaults = system ? system_defaults : defaults,
		.default_n = system ? 2 : args->constraint_n,
		.system_defaults = system,
		.match_label_keys = env->config.gates[BT_GATE_MATCH_LABEL_KEYS_IN_POD_TOPOLOGY_SPREAD],
		.compare_numbers = env->config.gates[BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS],
	};
	return settings;
}
