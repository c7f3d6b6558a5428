/* SPDX-License-Identifier: Apache-2.0
 * Upstream's rules for a whole configuration, in upstream's order. Source:
 * pkg/scheduler/apis/config/validation, v1.36.3.
 */
#include "engine/base/check.h"
#include "engine/base/quote.h"
#include "engine/flow/config/config.h"
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

/* The first rule of the lease prints the deadline's value, as upstream does. */
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

/* Upstream visits the points in random order; here the order is that of a pod's cycle. Placement points are
 * not checked. */
static void validate_plugins(
	const struct bt_config_plugins *plugins, struct bt_str path, struct bt_config_errors *errors)
{
	for (unsigned point = 0; point < BT_POINT_N; point++) {
		const struct bt_config_plugin_list *enabled = &plugins->points[point].enabled;
		bool checked = point <= BT_POINT_POST_BIND || point == BT_POINT_POD_GROUP_POST_FILTER;

		for (uint32_t i = 0; checked && i < enabled->n; i++) {
			if (is_removed(enabled->items[i].name)) {
				refuse_removed(errors,
					bt_config_path(errors, "%.*s.plugins.%s.enabled[%u]",
						BT_STR_ARG(path), bt_point_field((enum bt_point)point), i),
					enabled->items[i].name);
			}
		}
	}
}

/* Is it the kind of arguments that are validated late? Upstream looks those up by their kind's name. */
static bool is_kind_of_late(struct bt_str name)
{
	for (uint32_t id = 0; id < bt_plugin_n(); id++) {
		const struct bt_plugin_args *args = bt_plugin_at(id)->args;

		if (args && args->validated_late && !args->raw && bt_str_is(name, args->schema->go_name)) {
			return true;
		}
	}
	return false;
}

static void validate_profile(const struct bt_config *config, uint32_t ix, struct bt_config_errors *errors)
{
	const struct bt_profile_config *profile = &config->profiles[ix];
	const struct bt_args_env env = bt_config_args_env(config);
	struct bt_str path = bt_config_path(errors, "profiles[%u]", ix);
	struct bt_config_seen seen = {.n = 0};
	uint32_t first;

	if (!profile->scheduler_name.len) {
		bt_config_required(errors, bt_args_under(errors, path, "schedulerName"), "");
	}
	validate_percentage(profile->percentage_of_nodes_to_score,
		bt_args_under(errors, path, "percentageOfNodesToScore"), errors);
	validate_plugins(&profile->plugins, path, errors);
	for (uint32_t i = 0; i < profile->arg_n; i++) {
		const struct bt_config_args *args = &profile->args[i];
		struct bt_str entry = bt_args_at(errors, path, "pluginConfig", i);

		if (!bt_config_seen_add(&seen, args->name, i, &first)) {
			bt_config_duplicate(errors, entry, args->name);
		}
		if (is_removed(args->name)) {
			refuse_removed(errors, entry, args->name);
		} else if (is_kind_of_late(args->name)) {
			bt_config_invalid_raw(errors, bt_args_under(errors, entry, "args"),
				args->raw.len ? args->raw : bt_str("null"), "has to match plugin args");
		} else if (args->type && args->type->validate && !args->type->validated_late) {
			args->type->validate(args->value, &env, bt_args_under(errors, entry, "args"), errors);
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

/* QueueSort plugins have no typed arguments, so their arguments are compared as text. */
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

/* Extended resource names: in a domain other than kubernetes.io, and short enough for a quota. */
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
