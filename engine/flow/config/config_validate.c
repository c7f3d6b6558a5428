/* SPDX-License-Identifier: Apache-2.0
 * Upstream's rules for a whole configuration, in upstream's order. Source:
 * pkg/scheduler/apis/config/validation, v1.36.3.
 */
#include "engine/base/check.h"
#include "engine/base/quote.h"
#include "engine/flow/config/config_int.h"
#include "engine/model/label_text.h"

static const char version[] = "kubescheduler.config.k8s.io/v1";

static void validate_client_connection(
	const struct bt_client_connection_config *connection, struct bt_config_errors *errors)
{
	if (connection->burst < 0) {
		bt_config_invalid_int(
			errors, bt_str("clientConnection.burst"), connection->burst, "must be non-negative");
	}
}

static void check_positive(struct bt_config_errors *errors, const char *path, int64_t ns)
{
	if (ns <= 0) {
		bt_config_invalid_duration(errors, bt_str(path), ns, "must be greater than zero");
	}
}

static void check_given(struct bt_config_errors *errors, const char *path, struct bt_str value)
{
	if (!value.len) {
		bt_config_required(errors, bt_str(path), "");
	}
}

/* The first rule about the lease shows the deadline's value, as upstream does. */
static void validate_leader_election(
	const struct bt_leader_election_config *election, struct bt_config_errors *errors)
{
	if (!election->leader_elect.value) {
		return;
	}
	check_positive(errors, "leaderElection.leaseDuration", election->lease_duration_ns);
	check_positive(errors, "leaderElection.renewDeadline", election->renew_deadline_ns);
	check_positive(errors, "leaderElection.retryPeriod", election->retry_period_ns);
	if (election->lease_duration_ns <= election->renew_deadline_ns) {
		bt_config_invalid_duration(errors, bt_str("leaderElection.leaseDuration"),
			election->renew_deadline_ns, "must be greater than `RenewDeadline`");
	}
	check_given(errors, "leaderElection.resourceLock", election->resource_lock);
	check_given(errors, "leaderElection.resourceNamespace", election->resource_namespace);
	check_given(errors, "leaderElection.resourceName", election->resource_name);
	if (!bt_str_is(election->resource_lock, "leases")) {
		bt_config_invalid_text(errors, bt_str("leaderElection.resourceLock"), election->resource_lock,
			"resourceLock value must be \"leases\"");
	}
}

static void validate_percentage(
	struct bt_config_int percentage, struct bt_str path, struct bt_config_errors *errors)
{
	if (percentage.set && (percentage.value < 0 || percentage.value > 100)) {
		bt_config_invalid_int(errors, path, percentage.value, "not in valid range [0-100]");
	}
}

static bool is_removed(struct bt_str name)
{
	return bt_str_is(name, "AzureDiskLimits") || bt_str_is(name, "CinderLimits") ||
	       bt_str_is(name, "EBSLimits") || bt_str_is(name, "GCEPDLimits");
}

static void refuse_removed(struct bt_config_errors *errors, struct bt_str path, struct bt_str name)
{
	struct bt_str detail = bt_config_path(errors,
		"was invalid in version \"v1\" (KubeSchedulerConfiguration is version \"%s\")", version);

	bt_config_invalid_text(errors, path, name, detail.ptr);
}

/* Upstream walks the points in random order; here it is the order of a pod's way. Placement points are not
 * checked. */
static void validate_plugins(
	const struct bt_config_plugins *plugins, struct bt_str path, struct bt_config_errors *errors)
{
	for (unsigned point = 0; point <= BT_POINT_POST_BIND; point++) {
		const struct bt_config_plugin_list *enabled = &plugins->points[point].enabled;

		for (uint32_t i = 0; i < enabled->n; i++) {
			if (is_removed(enabled->items[i].name)) {
				refuse_removed(errors,
					bt_config_path(errors, "%.*s.plugins.%s.enabled[%u]",
						BT_STR_ARG(path), bt_point_field((enum bt_point)point), i),
					enabled->items[i].name);
			}
		}
	}
}

static struct bt_str under(struct bt_config_errors *errors, struct bt_str path, const char *child)
{
	return path.len ? bt_config_path(errors, "%.*s.%s", BT_STR_ARG(path), child) : bt_str(child);
}

static struct bt_str at(struct bt_config_errors *errors, struct bt_str path, const char *child, uint32_t ix)
{
	return bt_config_path(errors, "%.*s%s%s[%u]", BT_STR_ARG(path), path.len ? "." : "", child, ix);
}

static void validate_preemption(
	const struct bt_default_preemption_args *args, struct bt_str path, struct bt_config_errors *errors)
{
	int32_t percentage = args->min_candidate_nodes_percentage.value;
	int32_t absolute = args->min_candidate_nodes_absolute.value;
	struct bt_str percentage_path = under(errors, path, "minCandidateNodesPercentage");
	struct bt_str absolute_path = under(errors, path, "minCandidateNodesAbsolute");

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

static void validate_inter_pod_affinity(
	const struct bt_inter_pod_affinity_args *args, struct bt_str path, struct bt_config_errors *errors)
{
	int32_t weight = args->hard_pod_affinity_weight.value;

	if (weight < 0 || weight > 100) {
		bt_config_invalid_int(errors, under(errors, path, "hardPodAffinityWeight"), weight,
			"not in valid range [0, 100]");
	}
}

static void validate_balanced(
	const struct bt_balanced_allocation_args *args, struct bt_str path, struct bt_config_errors *errors)
{
	struct bt_config_seen seen = {.n = 0};
	uint32_t first;

	for (uint32_t i = 0; i < args->resources.n; i++) {
		const struct bt_config_resource *resource = &args->resources.items[i];
		struct bt_str entry = at(errors, path, "resources", i);

		if (!bt_config_seen_add(&seen, resource->name, i, &first)) {
			bt_config_duplicate(errors, under(errors, entry, "name"), resource->name);
		}
		if (resource->weight != 1) {
			bt_config_invalid_int(
				errors, under(errors, entry, "weight"), resource->weight, "must be 1");
		}
	}
	bt_config_seen_fini(&seen);
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
		bt_config_invalid_int(errors, under(errors, path, "maxSkew"), constraint->max_skew,
			"not in valid range (0, inf)");
	}
	if (!constraint->topology_key.len) {
		bt_config_required(errors, under(errors, path, "topologyKey"), "can not be empty");
	} else {
		bt_config_check_label_key(
			errors, under(errors, path, "topologyKey"), constraint->topology_key);
	}
	validate_when(constraint->when_unsatisfiable, under(errors, path, "whenUnsatisfiable"), errors);
	if (constraint->label_selector.set) {
		bt_config_forbidden(errors, under(errors, path, "labelSelector"),
			"constraint must not define a selector, as they deduced for each pod");
	}
}

static void validate_spread(
	const struct bt_pod_topology_spread_args *args, struct bt_str path, struct bt_config_errors *errors)
{
	struct bt_config_seen seen = {.n = 0};
	struct bt_str type = args->defaulting_type;
	uint32_t first;

	if (!bt_str_is(type, "System") && !bt_str_is(type, "List")) {
		bt_config_unsupported(errors, under(errors, path, "defaultingType"), type,
			"supported values: \"System\", \"List\"");
	} else if (bt_str_is(type, "System") && args->constraint_n) {
		bt_config_invalid_raw(errors, under(errors, path, "defaultingType"), bt_str("\"System\""),
			"when .defaultConstraints are not empty");
	}
	for (uint32_t i = 0; i < args->constraint_n; i++) {
		const struct bt_spread_constraint_object *constraint = &args->constraints[i];
		struct bt_str entry = at(errors, path, "defaultConstraints", i);
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

static void validate_shape(
	const struct bt_config_shape *shape, struct bt_str path, struct bt_config_errors *errors)
{
	if (!shape->n) {
		bt_config_required(errors, path, "at least one point must be specified");
		return;
	}
	for (uint32_t i = 1; i < shape->n; i++) {
		if (shape->items[i - 1].utilization >= shape->items[i].utilization) {
			bt_config_invalid_int(errors,
				bt_config_path(errors, "%.*s[%u].utilization", BT_STR_ARG(path), i),
				shape->items[i].utilization, "values must be sorted in increasing order");
			break;
		}
	}
	for (uint32_t i = 0; i < shape->n; i++) {
		const struct bt_config_shape_point *point = &shape->items[i];

		if (point->utilization < 0 || point->utilization > 100) {
			bt_config_invalid_int(errors,
				bt_config_path(errors, "%.*s[%u].utilization", BT_STR_ARG(path), i),
				point->utilization, "not in valid range [0, 100]");
		}
		if (point->score < 0 || point->score > 10) {
			bt_config_invalid_int(errors,
				bt_config_path(errors, "%.*s[%u].score", BT_STR_ARG(path), i), point->score,
				"not in valid range [0, 10]");
		}
	}
}

static struct bt_str shape_text(const struct bt_config_shape *shape, struct bt_config_errors *errors)
{
	struct bt_buf buf = {.len = 0};
	struct bt_str text;

	bt_buf_char(&buf, '[');
	for (uint32_t i = 0; i < shape->n; i++) {
		bt_buf_printf(&buf, "%s{\"Utilization\":%d,\"Score\":%d}", i ? "," : "",
			shape->items[i].utilization, shape->items[i].score);
	}
	bt_buf_char(&buf, ']');
	text = bt_config_path(errors, "%.*s", BT_STR_ARG(bt_buf_view(&buf)));
	bt_buf_fini(&buf);
	return text;
}

static void validate_volume_binding(const struct bt_volume_binding_args *args, const struct bt_gates *gates,
	struct bt_str path, struct bt_config_errors *errors)
{
	if (args->bind_timeout_s.value < 0) {
		bt_config_invalid_int(errors, under(errors, path, "bindTimeoutSeconds"),
			args->bind_timeout_s.value,
			"invalid BindTimeoutSeconds, should not be a negative value");
	}
	if (gates->on[BT_GATE_STORAGE_CAPACITY_SCORING]) {
		validate_shape(&args->shape, under(errors, path, "shape"), errors);
	} else if (args->shape.set) {
		bt_config_invalid_raw(errors, under(errors, path, "shape"), shape_text(&args->shape, errors),
			"unexpected field `shape`, remove it or turn on the feature gate "
			"StorageCapacityScoring");
	}
}

static void validate_dynamic_resources(const struct bt_dynamic_resources_args *args,
	const struct bt_gates *gates, struct bt_str path, struct bt_config_errors *errors)
{
	struct bt_str filter = under(errors, path, "filterTimeout"),
		      binding = under(errors, path, "bindingTimeout");

	if (args->filter_timeout.set && !gates->on[BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT]) {
		bt_config_forbidden(errors, filter, "DRASchedulingFilterTimeout feature gate is disabled");
	} else if (args->filter_timeout.set && args->filter_timeout.ns < 0) {
		bt_config_invalid_duration(
			errors, filter, args->filter_timeout.ns, "must be zero or positive");
	}
	if (!args->binding_timeout.set) {
		return;
	}
	if (!gates->on[BT_GATE_DRA_DEVICE_BINDING_CONDITIONS] ||
		!gates->on[BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS]) {
		bt_config_forbidden(errors, binding,
			"DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is "
			"disabled");
	} else if (args->binding_timeout.ns < INT64_C(1000000000)) {
		bt_config_invalid_duration(
			errors, binding, args->binding_timeout.ns, "must be at least 1 second");
	}
}

/* The list as JSON: null when it is absent. */
static struct bt_str values_text(const struct bt_str_list *values, struct bt_config_errors *errors)
{
	struct bt_buf buf = {.len = 0};
	struct bt_str text;

	if (!values->set && !values->n) {
		return bt_str("null");
	}
	bt_buf_char(&buf, '[');
	for (uint32_t i = 0; i < values->n; i++) {
		bt_buf_text(&buf, i ? "," : "");
		bt_quote_json_go(&buf, values->items[i]);
	}
	bt_buf_char(&buf, ']');
	text = bt_config_path(errors, "%.*s", BT_STR_ARG(bt_buf_view(&buf)));
	bt_buf_fini(&buf);
	return text;
}

static const char *join_faults(struct bt_config_errors *errors, const struct bt_str *faults, uint32_t n)
{
	struct bt_str text = faults[0];

	for (uint32_t i = 1; i < n; i++) {
		text = bt_config_path(errors, "%.*s; %.*s", BT_STR_ARG(text), BT_STR_ARG(faults[i]));
	}
	return text.ptr;
}

static bool is_int64(struct bt_str s)
{
	size_t i = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
	uint64_t value = 0, limit = s.len && s.ptr[0] == '-' ? (uint64_t)INT64_MAX + 1 : INT64_MAX;

	if (i == s.len) {
		return false;
	}
	for (; i < s.len; i++) {
		uint64_t digit = (uint64_t)(s.ptr[i] - '0');

		if (digit > 9 || value > (limit - digit) / 10) {
			return false;
		}
		value = value * 10 + digit;
	}
	return true;
}

enum operator_kind { WANTS_SOME, WANTS_NONE, WANTS_NUMBER, UNKNOWN };

static enum operator_kind operator_kind(struct bt_str name)
{
	if (bt_str_is(name, "In") || bt_str_is(name, "NotIn")) {
		return WANTS_SOME;
	}
	if (bt_str_is(name, "Exists") || bt_str_is(name, "DoesNotExist")) {
		return WANTS_NONE;
	}
	return bt_str_is(name, "Gt") || bt_str_is(name, "Lt") ? WANTS_NUMBER : UNKNOWN;
}

static void validate_values(const struct bt_requirement_object *expression, enum operator_kind kind,
	struct bt_str path, struct bt_config_errors *errors)
{
	const struct bt_str_list *values = &expression->values;

	if (kind == WANTS_SOME && !values->n) {
		bt_config_invalid_raw(errors, path, values_text(values, errors),
			"for 'in', 'notin' operators, values set can't be empty");
	} else if (kind == WANTS_NONE && values->n) {
		bt_config_invalid_raw(errors, path, values_text(values, errors),
			"values set must be empty for exists and does not exist");
	} else if (kind == WANTS_NUMBER && values->n != 1) {
		bt_config_invalid_raw(errors, path, values_text(values, errors),
			"for 'Gt', 'Lt' operators, exactly one value is required");
	}
	for (uint32_t i = 0; i < values->n && kind == WANTS_NUMBER; i++) {
		if (!is_int64(values->items[i])) {
			bt_config_invalid_text(errors,
				bt_config_path(errors, "%.*s[%u]", BT_STR_ARG(path), i), values->items[i],
				"for 'Gt', 'Lt' operators, the value must be an integer");
		}
	}
}

static void validate_expression(
	const struct bt_requirement_object *expression, struct bt_str path, struct bt_config_errors *errors)
{
	enum operator_kind kind = operator_kind(expression->operator_);
	struct bt_str values = under(errors, path, "values"), faults[4];
	uint32_t n;

	if (kind == UNKNOWN) {
		bt_config_unsupported(errors, under(errors, path, "operator"), expression->operator_,
			"supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"");
		return;
	}
	n = bt_label_key_faults(expression->key, faults);
	if (n) {
		bt_config_invalid_text(
			errors, under(errors, path, "key"), expression->key, join_faults(errors, faults, n));
	}
	validate_values(expression, kind, values, errors);
	for (uint32_t i = 0; i < expression->values.n; i++) {
		n = bt_label_value_faults(expression->values.items[i], faults);
		if (n) {
			bt_config_invalid_text(errors,
				bt_config_path(errors, "%.*s[%u][%.*s]", BT_STR_ARG(values), i,
					BT_STR_ARG(expression->key)),
				expression->values.items[i], join_faults(errors, faults, n));
		}
	}
}

static void validate_field(
	const struct bt_requirement_object *field, struct bt_str path, struct bt_config_errors *errors)
{
	if (!bt_str_is(field->operator_, "In") && !bt_str_is(field->operator_, "NotIn")) {
		bt_config_unsupported(errors, under(errors, path, "operator"), field->operator_,
			"supported values: \"In\", \"NotIn\"");
	} else if (field->values.n != 1) {
		bt_config_invalid_raw(errors, under(errors, path, "values"),
			values_text(&field->values, errors), "must have one element");
	}
}

static void validate_term(
	const struct bt_node_term_object *term, struct bt_str path, struct bt_config_errors *errors)
{
	for (uint32_t i = 0; i < term->match_expressions.n; i++) {
		validate_expression(
			&term->match_expressions.items[i], at(errors, path, "matchExpressions", i), errors);
	}
	for (uint32_t i = 0; i < term->match_fields.n; i++) {
		validate_field(&term->match_fields.items[i], at(errors, path, "matchFields", i), errors);
	}
}

static void validate_node_affinity(
	const struct bt_node_affinity_args *args, struct bt_str path, struct bt_config_errors *errors)
{
	const struct bt_node_affinity_object *affinity = &args->added_affinity;
	struct bt_str required =
		under(errors, path, "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution");

	for (uint32_t i = 0; i < affinity->required.term_n; i++) {
		validate_term(
			&affinity->required.terms[i], at(errors, required, "nodeSelectorTerms", i), errors);
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		if (affinity->preferred[i].weight) {
			validate_term(&affinity->preferred[i].preference,
				at(errors, path,
					"addedAffinity.preferredDuringSchedulingIgnoredDuringExecution", i),
				errors);
		}
	}
}

static void validate_strategy(const struct bt_scoring_strategy *strategy, struct bt_config_errors *errors)
{
	bool wants_ratio = bt_str_is(strategy->type, "RequestedToCapacityRatio");
	struct bt_str ratio = bt_str("scoringStrategy.requestedToCapacityRatio");

	if (!wants_ratio && !bt_str_is(strategy->type, "LeastAllocated") &&
		!bt_str_is(strategy->type, "MostAllocated")) {
		bt_config_unsupported(errors, bt_str("scoringStrategy.type"), strategy->type,
			"supported values: \"LeastAllocated\", \"MostAllocated\", "
			"\"RequestedToCapacityRatio\"");
	}
	for (uint32_t i = 0; i < strategy->resources.n; i++) {
		const struct bt_config_resource *resource = &strategy->resources.items[i];

		if (resource->weight <= 0 || resource->weight > 100) {
			struct bt_str detail =
				bt_config_path(errors, "resource weight of %.*s not in valid range (0, 100]",
					BT_STR_ARG(resource->name));

			bt_config_invalid_int(errors,
				bt_config_path(errors, "scoringStrategy.resources[%u].weight", i),
				resource->weight, detail.ptr);
		}
	}
	if (wants_ratio && !strategy->ratio_set) {
		bt_config_required(errors, ratio, "must be specified when type is RequestedToCapacityRatio");
	} else if (wants_ratio) {
		validate_shape(&strategy->ratio_shape, under(errors, ratio, "shape"), errors);
	} else if (strategy->ratio_set) {
		bt_config_forbidden(errors, ratio, "must be nil when type is not RequestedToCapacityRatio");
	}
}

void bt_config_validate_fit(const struct bt_node_resources_fit_args *args, struct bt_config_errors *errors)
{
	struct bt_str none = {.len = 0};

	for (uint32_t i = 0; i < args->ignored_resources.n; i++) {
		bt_config_check_label_key(
			errors, at(errors, none, "ignoredResources", i), args->ignored_resources.items[i]);
	}
	for (uint32_t i = 0; i < args->ignored_resource_groups.n; i++) {
		struct bt_str group = args->ignored_resource_groups.items[i];
		struct bt_str path = at(errors, none, "ignoredResourceGroups", i);

		if (bt_str_find(group, '/', 0) < group.len) {
			bt_config_invalid_text(errors, path, group, "resource group name can't contain '/'");
		}
		bt_config_check_label_key(errors, path, group);
	}
	validate_strategy(&args->strategy, errors);
}

/* NodeResourcesFit is absent: upstream looks for it under a wrong name and checks it when it builds the
 * plugin. */
static void validate_args(const struct bt_config_args *args, const struct bt_gates *gates, struct bt_str path,
	struct bt_config_errors *errors)
{
	switch (args->kind) {
	case BT_ARGS_DEFAULT_PREEMPTION:
		validate_preemption(&args->default_preemption, path, errors);
		break;
	case BT_ARGS_INTER_POD_AFFINITY:
		validate_inter_pod_affinity(&args->inter_pod_affinity, path, errors);
		break;
	case BT_ARGS_NODE_AFFINITY:
		validate_node_affinity(&args->node_affinity, path, errors);
		break;
	case BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION:
		validate_balanced(&args->balanced, path, errors);
		break;
	case BT_ARGS_POD_TOPOLOGY_SPREAD:
		validate_spread(&args->spread, path, errors);
		break;
	case BT_ARGS_VOLUME_BINDING:
		validate_volume_binding(&args->volume_binding, gates, path, errors);
		break;
	case BT_ARGS_DYNAMIC_RESOURCES:
		validate_dynamic_resources(&args->dynamic_resources, gates, path, errors);
		break;
	case BT_ARGS_NODE_RESOURCES_FIT:
	case BT_ARGS_NONE:
	case BT_ARGS_N:
		break;
	}
}

static void validate_profile(const struct bt_config *config, uint32_t ix, struct bt_config_errors *errors)
{
	const struct bt_profile_config *profile = &config->profiles[ix];
	struct bt_str path = bt_config_path(errors, "profiles[%u]", ix);
	struct bt_config_seen seen = {.n = 0};
	uint32_t first;

	if (!profile->scheduler_name.len) {
		bt_config_required(errors, under(errors, path, "schedulerName"), "");
	}
	validate_percentage(profile->percentage_of_nodes_to_score,
		under(errors, path, "percentageOfNodesToScore"), errors);
	validate_plugins(&profile->plugins, path, errors);
	for (uint32_t i = 0; i < profile->arg_n; i++) {
		const struct bt_config_args *args = &profile->args[i];
		struct bt_str entry = at(errors, path, "pluginConfig", i);

		if (!bt_config_seen_add(&seen, args->name, i, &first)) {
			bt_config_duplicate(errors, entry, args->name);
		}
		if (is_removed(args->name)) {
			refuse_removed(errors, entry, args->name);
		} else if (bt_str_is(args->name, "NodeResourcesFitArgs")) {
			bt_config_invalid_raw(errors, under(errors, entry, "args"),
				args->raw.len ? args->raw : bt_str("null"), "has to match plugin args");
		} else {
			validate_args(args, &config->gates, under(errors, entry, "args"), errors);
		}
	}
	bt_config_seen_fini(&seen);
}

static bool same_list(const struct bt_config_plugin_list *a, const struct bt_config_plugin_list *b)
{
	for (uint32_t i = 0; i < a->n && a->n == b->n; i++) {
		if (!bt_str_eq(a->items[i].name, b->items[i].name) ||
			a->items[i].weight != b->items[i].weight) {
			return false;
		}
	}
	return a->n == b->n;
}

static void append_list(struct bt_buf *buf, const struct bt_config_plugin_list *list)
{
	if (!list->n) {
		bt_buf_text(buf, "null");
		return;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		bt_buf_text(buf, i ? ",{\"Name\":" : "[{\"Name\":");
		bt_quote_json_go(buf, list->items[i].name);
		bt_buf_printf(buf, ",\"Weight\":%d}", list->items[i].weight);
	}
	bt_buf_char(buf, ']');
}

static void refuse_queue_sort(
	uint32_t ix, const struct bt_config_plugin_set *set, struct bt_config_errors *errors)
{
	struct bt_buf buf = {.len = 0};

	bt_buf_text(&buf, "{\"Enabled\":");
	append_list(&buf, &set->enabled);
	bt_buf_text(&buf, ",\"Disabled\":");
	append_list(&buf, &set->disabled);
	bt_buf_char(&buf, '}');
	bt_config_invalid_raw(errors, bt_config_path(errors, "profiles[%u].plugins.queueSort", ix),
		bt_buf_view(&buf), "must be the same for all profiles");
	bt_buf_fini(&buf);
}

/* Only plugins without typed arguments sort the queue, so their arguments are compared as text. */
static void validate_queue_sort(const struct bt_config *config, struct bt_config_errors *errors)
{
	const struct bt_config_plugin_set *canon = &config->profiles[0].plugins.points[BT_POINT_QUEUE_SORT];
	struct bt_str name = {.len = 0}, args = {.len = 0};

	if (canon->enabled.n) {
		name = canon->enabled.items[0].name;
	}
	if (canon->enabled.n > 1) {
		bt_config_invalid_int(errors, bt_str("profiles[0].plugins.queueSort.Enabled"),
			canon->enabled.n, "only one queue sort plugin can be enabled");
	}
	for (uint32_t i = 0; i < config->profiles[0].arg_n && name.len; i++) {
		if (bt_str_eq(config->profiles[0].args[i].name, name)) {
			args = config->profiles[0].args[i].raw;
		}
	}
	for (uint32_t i = 1; i < config->profile_n; i++) {
		const struct bt_profile_config *profile = &config->profiles[i];
		const struct bt_config_plugin_set *set = &profile->plugins.points[BT_POINT_QUEUE_SORT];

		if (!same_list(&canon->enabled, &set->enabled) ||
			!same_list(&canon->disabled, &set->disabled)) {
			refuse_queue_sort(i, set, errors);
		}
		for (uint32_t k = 0; k < profile->arg_n; k++) {
			if (bt_str_eq(profile->args[k].name, name) &&
				!bt_str_eq(profile->args[k].raw, args)) {
				bt_config_invalid_raw(errors,
					bt_config_path(errors, "profiles[%u].pluginConfig.args", i),
					profile->args[k].raw.len ? profile->args[k].raw : bt_str("null"),
					"queueSort must be the same for all profiles");
			}
		}
	}
}

static void validate_profiles(const struct bt_config *config, struct bt_config_errors *errors)
{
	struct bt_config_seen seen = {.n = 0};
	uint32_t first;

	for (uint32_t i = 0; i < config->profile_n; i++) {
		validate_profile(config, i, errors);
		if (!bt_config_seen_add(&seen, config->profiles[i].scheduler_name, i, &first)) {
			bt_config_errors_add(errors, "profiles[%u].schedulerName: Duplicate value: {}", i);
		}
	}
	bt_config_seen_fini(&seen);
	validate_queue_sort(config, errors);
}

/* Names that may stand for a device: of a domain that is not kubernetes.io, and short enough for a quota. */
static void validate_resource_name(struct bt_str name, struct bt_str path, struct bt_config_errors *errors)
{
	struct bt_str faults[4], quota = bt_config_path(errors, "requests.%.*s", BT_STR_ARG(name));
	struct bt_buf buf = {.len = 0};
	uint32_t n = bt_label_key_faults(name, faults);
	bool native = bt_str_find(name, '/', 0) == name.len;

	bt_quote_json_go(&buf, name);
	for (uint32_t i = 0; i < n; i++) {
		bt_config_invalid_raw(errors, path, bt_buf_view(&buf), faults[i].ptr);
	}
	bt_buf_fini(&buf);
	for (size_t i = 0; i < name.len; i++) {
		native = native || bt_str_starts(bt_str_sub(name, i, name.len), "kubernetes.io/");
	}
	if (!n && (native || bt_str_starts(name, "requests.") || bt_label_key_faults(quota, faults))) {
		bt_config_invalid_text(errors, path, name, "is an invalid extended resource name");
	}
}

static void validate_extender(const struct bt_extender_config *extender, uint32_t ix,
	struct bt_config_seen *seen, struct bt_config_errors *errors)
{
	uint32_t first;

	if (extender->prioritize_verb.len && extender->weight <= 0) {
		bt_config_invalid_int(errors, bt_config_path(errors, "extenders[%u].weight", ix),
			extender->weight, "must have a positive weight applied to it");
	}
	for (uint32_t i = 0; i < extender->resource_n; i++) {
		struct bt_str name = extender->resources[i].name;
		struct bt_str path = bt_config_path(errors, "extenders[%u].managedResources[%u].name", ix, i);

		validate_resource_name(name, path, errors);
		if (!bt_config_seen_add(seen, name, i, &first)) {
			bt_config_invalid_text(
				errors, path, name, "duplicate extender managed resource name");
		}
	}
}

static void validate_extenders(const struct bt_config *config, struct bt_config_errors *errors)
{
	struct bt_config_seen seen = {.n = 0};
	uint32_t binder_n = 0;

	for (uint32_t i = 0; i < config->extender_n; i++) {
		validate_extender(&config->extenders[i], i, &seen, errors);
		binder_n += config->extenders[i].bind_verb.len > 0;
	}
	if (binder_n > 1) {
		struct bt_str found =
			bt_config_path(errors, "found %u extenders implementing bind", binder_n);

		bt_config_invalid_text(
			errors, bt_str("extenders"), found, "only one extender can implement bind");
	}
	bt_config_seen_fini(&seen);
}

enum bt_status bt_config_validate(const struct bt_config *config, struct bt_config_errors *errors)
{
	size_t before = errors->n;

	validate_client_connection(&config->client_connection, errors);
	validate_leader_election(&config->leader_election, errors);
	if (config->parallelism.value <= 0) {
		bt_config_invalid_int(errors, bt_str("parallelism"), config->parallelism.value,
			"should be an integer value greater than zero");
	}
	BT_REQUIRE(config->profile_n > 0);
	validate_profiles(config, errors);
	validate_percentage(config->percentage_of_nodes_to_score, bt_str("percentageOfNodesToScore"), errors);
	if (config->pod_initial_backoff_s.value <= 0) {
		bt_config_invalid_int(errors, bt_str("podInitialBackoffSeconds"),
			config->pod_initial_backoff_s.value, "must be greater than 0");
	}
	if (config->pod_max_backoff_s.value < config->pod_initial_backoff_s.value) {
		bt_config_invalid_int(errors, bt_str("podMaxBackoffSeconds"), config->pod_max_backoff_s.value,
			"must be greater than or equal to PodInitialBackoffSeconds");
	}
	validate_extenders(config, errors);
	return errors->n > before ? BT_INVALID : BT_OK;
}
