/* SPDX-License-Identifier: Apache-2.0
 * The scheduler's configuration: creation, defaults, and merging a profile's plugins with the default list.
 */
#include "engine/flow/config/config.h"

#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)

void bt_config_init(struct bt_config *config, const struct bt_gates *gates)
{
	*config = (struct bt_config){.profiles = NULL};
	if (gates) {
		config->gates = *gates;
	} else {
		bt_gates_init(&config->gates, bt_release_default());
	}
}

void bt_config_init_default(struct bt_config *config, const struct bt_gates *gates)
{
	bt_config_init(config, gates);
	bt_config_default(config);
}

void bt_config_fini(struct bt_config *config)
{
	bt_arena_fini(&config->arena);
	*config = (struct bt_config){.profiles = NULL};
}

static void default_int(struct bt_config_int *field, int32_t value)
{
	if (!field->set) {
		*field = (struct bt_config_int){.value = value, .set = true};
	}
}

static void default_int64(struct bt_config_int64 *field, int64_t value)
{
	if (!field->set) {
		*field = (struct bt_config_int64){.value = value, .set = true};
	}
}

static void default_bool(struct bt_config_bool *field, bool value)
{
	if (!field->set) {
		*field = (struct bt_config_bool){.value = value, .set = true};
	}
}

static void default_text(struct bt_str *field, const char *text)
{
	if (!field->len) {
		*field = bt_str(text);
	}
}

static void default_duration(int64_t *field, int64_t seconds)
{
	if (!*field) {
		*field = seconds * SECOND_NS;
	}
}

static bool list_has(const struct bt_config_plugin_list *list, struct bt_str name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_eq(list->items[i].name, name)) {
			return true;
		}
	}
	return false;
}

/*
 * Merges the profile's MultiPoint set into the default one. A default plugin that the profile enables again
 * keeps its position and takes the profile's entry (the last one if there are several: the others follow as
 * duplicates, which the expansion rejects).
 */
static void merge_multi_point(struct bt_config *config, struct bt_config_plugin_set *set)
{
	struct bt_config_plugin_list custom = set->enabled, merged = {.n = 0};
	bool *replaced = bt_arena_zalloc(&config->arena, custom.n + 1);
	bool none = list_has(&set->disabled, bt_str("*"));

	merged.items = bt_arena_zalloc(&config->arena, (custom.n + BT_PLUGIN_MAX) * sizeof *merged.items);
	for (const struct bt_default_plugin *row = NULL;
		!none && (row = bt_release_next_plugin(config->gates.release, row));) {
		struct bt_config_plugin plugin = {.name = row->name, .weight = row->weight};

		if ((row->gate != BT_GATE_N && !config->gates.on[row->gate]) ||
			list_has(&set->disabled, plugin.name)) {
			continue;
		}
		for (uint32_t i = custom.n; i-- > 0;) {
			if (bt_str_eq(custom.items[i].name, plugin.name)) {
				plugin = custom.items[i];
				replaced[i] = true;
				break;
			}
		}
		merged.items[merged.n++] = plugin;
	}
	for (uint32_t i = 0; i < custom.n; i++) {
		if (!replaced[i]) {
			merged.items[merged.n++] = custom.items[i];
		}
	}
	set->enabled = merged;
}

static void forget_weights(struct bt_config_plugin_list *disabled)
{
	for (uint32_t i = 0; i < disabled->n; i++) {
		disabled->items[i].weight = 0;
	}
}

/* The other points have no default list: merging only clears the weights of disabled entries. */
static void merge_plugins(struct bt_config *config, struct bt_config_plugins *plugins)
{
	merge_multi_point(config, &plugins->multi_point);
	forget_weights(&plugins->multi_point.disabled);
	for (unsigned point = 0; point < BT_POINT_N; point++) {
		forget_weights(&plugins->points[point].disabled);
	}
}

static bool uses_plugin(const struct bt_config_plugins *plugins, struct bt_str name)
{
	for (unsigned point = 0; point < BT_POINT_N; point++) {
		if (list_has(&plugins->points[point].enabled, name)) {
			return true;
		}
	}
	return list_has(&plugins->multi_point.enabled, name);
}

struct bt_args_env bt_config_args_env(const struct bt_config *config)
{
	return (struct bt_args_env){
		config->gates.release, config->gates.on, &config->extender_resources, NULL};
}

void bt_config_args_init(struct bt_config *config, struct bt_config_args *args)
{
	uint32_t id = bt_plugin_find(args->name);

	args->type = id != BT_PLUGIN_NONE ? bt_plugin_at(id)->args : NULL;
	args->value = args->type ? bt_arena_zalloc(&config->arena, args->type->schema->bytes) : NULL;
}

static void default_args(struct bt_config *config, struct bt_config_args *args)
{
	const struct bt_args_env env = bt_config_args_env(config);

	if (args->type && args->type->set_defaults) {
		args->type->set_defaults(args->value, &env, &config->arena);
	}
}

static int order_by_name(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return bt_str_cmp(bt_plugin_name(*left), bt_plugin_name(*right));
}

/* Adds default arguments, in order of names, for the plugins that have arguments and lack them here. */
static void add_missing_args(struct bt_config *config, struct bt_profile_config *profile)
{
	struct bt_config_args *args =
		bt_arena_zalloc(&config->arena, (profile->arg_n + BT_PLUGIN_MAX) * sizeof *args);
	uint32_t ids[BT_PLUGIN_MAX], plugin_n = bt_plugin_n(), n = profile->arg_n;

	for (uint32_t id = 0; id < plugin_n; id++) {
		ids[id] = id;
	}
	qsort(ids, plugin_n, sizeof ids[0], order_by_name);
	for (uint32_t i = 0; i < n; i++) {
		args[i] = profile->args[i];
		default_args(config, &args[i]);
	}
	for (uint32_t i = 0; i < plugin_n; i++) {
		struct bt_str name = bt_plugin_name(ids[i]);
		bool given = !bt_plugin_at(ids[i])->args || !uses_plugin(&profile->plugins, name);

		for (uint32_t k = 0; k < profile->arg_n && !given; k++) {
			given = bt_str_eq(profile->args[k].name, name);
		}
		if (!given) {
			args[n] = (struct bt_config_args){.name = name};
			bt_config_args_init(config, &args[n]);
			default_args(config, &args[n++]);
		}
	}
	profile->args = args;
	profile->arg_n = n;
}

static void default_profiles(struct bt_config *config)
{
	if (!config->profile_n) {
		config->profiles = bt_arena_zalloc(&config->arena, sizeof *config->profiles);
		config->profile_n = 1;
	}
	if (config->profile_n == 1 && !config->profiles[0].scheduler_name_set) {
		config->profiles[0].scheduler_name = bt_str("default-scheduler");
		config->profiles[0].scheduler_name_set = true;
	}
	for (uint32_t i = 0; i < config->profile_n; i++) {
		merge_plugins(config, &config->profiles[i].plugins);
		add_missing_args(config, &config->profiles[i]);
	}
}

/* Sets default timeouts, and lists the resources that only extenders manage. */
static void default_extenders(struct bt_config *config)
{
	struct bt_str_list list = {.set = true};
	uint32_t n = 0;

	for (uint32_t i = 0; i < config->extender_n; i++) {
		default_duration(&config->extenders[i].http_timeout_ns, 5);
		n += config->extenders[i].resource_n;
	}
	list.items = bt_arena_zalloc(&config->arena, (n + 1) * sizeof *list.items);
	for (uint32_t i = 0; i < config->extender_n; i++) {
		for (uint32_t k = 0; k < config->extenders[i].resource_n; k++) {
			if (config->extenders[i].resources[k].ignored_by_scheduler) {
				list.items[list.n++] = config->extenders[i].resources[k].name;
			}
		}
	}
	config->extender_resources = list;
}

void bt_config_default(struct bt_config *config)
{
	struct bt_leader_election_config *election = &config->leader_election;
	struct bt_client_connection_config *connection = &config->client_connection;

	default_int(&config->parallelism, 16);
	default_profiles(config);
	default_int(&config->percentage_of_nodes_to_score, 0);
	default_text(&election->resource_lock, "leases");
	default_text(&election->resource_namespace, "kube-system");
	default_text(&election->resource_name, "kube-scheduler");
	default_text(&connection->content_type, "application/vnd.kubernetes.protobuf");
	if (connection->qps == 0) {
		connection->qps = 50;
	}
	if (!connection->burst) {
		connection->burst = 100;
	}
	default_duration(&election->lease_duration_ns, 15);
	default_duration(&election->renew_deadline_ns, 10);
	default_duration(&election->retry_period_ns, 2);
	default_bool(&election->leader_elect, true);
	default_int64(&config->pod_initial_backoff_s, 1);
	default_int64(&config->pod_max_backoff_s, 10);
	default_bool(&config->enable_profiling, true);
	default_bool(&config->enable_contention_profiling, config->enable_profiling.value);
	default_extenders(config);
}
