/* SPDX-License-Identifier: Apache-2.0
 * Resolves a profile: which plugins run at each extension point, in which order and with which weight.
 * Source: framework/runtime and the profile map of kube-scheduler v1.36.3, rule by rule and error by error.
 */
#include <stdio.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/flow/config/config.h"
#include "engine/model/plugin_set.h"

/* Upstream's order of building, which decides which error is reported first. */
static const enum bt_point build_order[BT_POINT_N] = {
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_RESERVE,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
	BT_POINT_PERMIT,
	BT_POINT_PRE_ENQUEUE,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PLACEMENT_GENERATE,
	BT_POINT_PLACEMENT_SCORE,
	BT_POINT_POD_GROUP_POST_FILTER,
};

/* A profile being resolved: a failing step adds one text to errors, after the prefix that names the
 * profile. */
struct build {
	const struct bt_config *config;
	const struct bt_profile_config *profile;
	struct bt_config_errors *errors;
	struct bt_str prefix;
	struct bt_resolved_profile *out;
};

static enum bt_status refuse_unknown(struct build *build, enum bt_point point, struct bt_str name)
{
	struct bt_buf quoted = {.len = 0};

	bt_quote(&quoted, name);
	bt_config_errors_add(build->errors, "%.*s%s %.*s does not exist", BT_STR_ARG(build->prefix),
		bt_point_interface(point), BT_STR_ARG(bt_buf_view(&quoted)));
	bt_buf_fini(&quoted);
	return BT_INVALID;
}

static enum bt_status refuse_twice(struct build *build, enum bt_point point, struct bt_str name)
{
	bt_config_errors_add(build->errors, "%.*splugin \"%.*s\" already registered as \"%s\"",
		BT_STR_ARG(build->prefix), BT_STR_ARG(name), bt_point_interface(point));
	return BT_INVALID;
}

static enum bt_status refuse_profile(struct build *build, const char *what, const char *more)
{
	struct bt_buf quoted = {.len = 0};

	bt_quote(&quoted, build->profile->scheduler_name);
	bt_config_errors_add(build->errors, "%.*s%s profile with scheduler name %.*s%s",
		BT_STR_ARG(build->prefix), what, BT_STR_ARG(bt_buf_view(&quoted)), more);
	bt_buf_fini(&quoted);
	return BT_INVALID;
}

static void append(struct bt_resolved_point *point, uint32_t id)
{
	point->plugins[point->n++] = (struct bt_resolved_plugin){.id = id};
}

static bt_plugin_set set_of(const struct bt_config_plugin_list *list, bool *out_all)
{
	bt_plugin_set set = 0;

	*out_all = false;
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t id = bt_plugin_find(list->items[i].name);

		set |= id != BT_PLUGIN_NONE ? bt_plugin_set_of(id) : 0;
		*out_all = *out_all || bt_str_is(list->items[i].name, "*");
	}
	return set;
}

/* The plugins that any set of the profile enables. */
static bt_plugin_set needed_plugins(const struct bt_config_plugins *plugins)
{
	bool all;
	bt_plugin_set set = set_of(&plugins->multi_point.enabled, &all);

	for (unsigned point = 0; point < BT_POINT_N; point++) {
		set |= set_of(&plugins->points[point].enabled, &all);
	}
	return set;
}

/* The plugin of that name if the release has it at some point; otherwise BT_PLUGIN_NONE. */
static uint32_t find_plugin(const struct build *build, struct bt_str name)
{
	uint32_t id = bt_plugin_find(name);

	for (unsigned point = 0; id != BT_PLUGIN_NONE && point < BT_POINT_N; point++) {
		if (bt_plugin_serves(id, (enum bt_point)point, build->config->gates.release)) {
			return id;
		}
	}
	return BT_PLUGIN_NONE;
}

/* Takes the point's own list, in its order. */
static enum bt_status take_own(struct build *build, enum bt_point point)
{
	const struct bt_config_plugin_list *enabled = &build->profile->plugins.points[point].enabled;
	bt_plugin_set seen = 0;

	for (uint32_t i = 0; i < enabled->n; i++) {
		struct bt_str name = enabled->items[i].name;
		uint32_t id = find_plugin(build, name);

		if (id == BT_PLUGIN_NONE) {
			return refuse_unknown(build, point, name);
		}
		if (!bt_plugin_serves(id, point, build->config->gates.release)) {
			bt_config_errors_add(build->errors, "%.*splugin \"%.*s\" does not extend %s plugin",
				BT_STR_ARG(build->prefix), BT_STR_ARG(name), bt_point_interface(point));
			return BT_INVALID;
		}
		if (bt_plugin_set_has(seen, id)) {
			return refuse_twice(build, point, name);
		}
		seen |= bt_plugin_set_of(id);
		append(&build->out->points[point], id);
	}
	return BT_OK;
}

/*
 * Expands MultiPoint at one point: first the plugins that the point's own list overrides, in that list's
 * order, then the others of MultiPoint, then the rest of the point's own.
 */
static enum bt_status expand(struct build *build, enum bt_point point)
{
	const struct bt_config_plugins *plugins = &build->profile->plugins;
	const struct bt_config_plugin_list *multi = &plugins->multi_point.enabled;
	struct bt_resolved_point own = build->out->points[point], merged = {.n = 0}, spread = {.n = 0};
	bt_plugin_set own_set, disabled, overridden = 0, seen = 0;
	bool none;

	own_set = set_of(&plugins->points[point].enabled, &none);
	disabled = set_of(&plugins->points[point].disabled, &none);
	for (uint32_t i = 0; i < multi->n && !none; i++) {
		uint32_t id = find_plugin(build, multi->items[i].name);

		if (id == BT_PLUGIN_NONE) {
			return refuse_unknown(build, point, multi->items[i].name);
		}
		if (!bt_plugin_serves(id, point, build->config->gates.release) ||
			bt_plugin_set_has(disabled, id)) {
			continue;
		}
		if (bt_plugin_set_has(own_set, id)) {
			overridden |= bt_plugin_set_of(id);
			continue;
		}
		if (bt_plugin_set_has(seen, id)) {
			return refuse_twice(build, point, multi->items[i].name);
		}
		seen |= bt_plugin_set_of(id);
		append(&spread, id);
	}
	for (uint32_t i = 0; i < own.n; i++) {
		if (bt_plugin_set_has(overridden, own.plugins[i].id)) {
			append(&merged, own.plugins[i].id);
		}
	}
	for (uint32_t i = 0; i < spread.n; i++) {
		append(&merged, spread.plugins[i].id);
	}
	for (uint32_t i = 0; i < own.n; i++) {
		if (!bt_plugin_set_has(overridden, own.plugins[i].id)) {
			append(&merged, own.plugins[i].id);
		}
	}
	build->out->points[point] = merged;
	return BT_OK;
}

/* The sum of weights as in upstream: it may wrap around, which upstream's overflow check detects. */
struct resolve_weights {
	int32_t of[BT_PLUGIN_MAX];
	bool set[BT_PLUGIN_MAX];
	uint64_t total;
};

static bool add_weights(const struct build *build, struct resolve_weights *weights,
	const struct bt_config_plugin_list *list, enum bt_point point)
{
	const int64_t max_score = 100;

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t id = bt_plugin_find(list->items[i].name);
		int64_t weight = list->items[i].weight ? list->items[i].weight : 1;

		if (id == BT_PLUGIN_NONE || !bt_plugin_serves(id, point, build->config->gates.release) ||
			weights->set[id]) {
			continue;
		}
		weights->set[id] = true;
		weights->of[id] = (int32_t)weight;
		if (weight * max_score > (int64_t)((uint64_t)INT64_MAX - weights->total)) {
			return false;
		}
		weights->total += (uint64_t)(weight * max_score);
	}
	return true;
}

/* The point's own weights precede those of MultiPoint. */
static enum bt_status weigh(struct build *build, enum bt_point point, const char *what)
{
	const struct bt_config_plugins *plugins = &build->profile->plugins;
	struct bt_resolved_point *resolved = &build->out->points[point];
	struct resolve_weights weights = {.total = 0};

	if (!add_weights(build, &weights, &plugins->points[point].enabled, point) ||
		!add_weights(build, &weights, &plugins->multi_point.enabled, point)) {
		bt_config_errors_add(build->errors,
			"%.*s%s plugins: total score of Score plugins could overflow",
			BT_STR_ARG(build->prefix), what);
		return BT_INVALID;
	}
	for (uint32_t i = 0; i < resolved->n; i++) {
		resolved->plugins[i].weight = weights.of[resolved->plugins[i].id];
	}
	return BT_OK;
}

static const struct bt_config_args *args_of(const struct bt_profile_config *profile, struct bt_str plugin)
{
	for (uint32_t i = 0; i < profile->arg_n; i++) {
		if (bt_str_eq(profile->args[i].name, plugin)) {
			return &profile->args[i];
		}
	}
	return NULL;
}

/* Runs the checks that upstream makes when it creates the plugin. */
static enum bt_status check_late(struct build *build, uint32_t id)
{
	const struct bt_plugin *plugin = bt_plugin_at(id);
	struct bt_args_env env = bt_config_args_env(build->config);
	struct bt_config_errors faults = {.n = 0};
	struct bt_buf text = {.len = 0};
	enum bt_status status = BT_OK;

	env.plugin = plugin;
	if (plugin->args->validated_late && plugin->args->validate) {
		plugin->args->validate(build->out->args[id], &env, (struct bt_str){.len = 0}, &faults);
	}
	if (faults.n) {
		bt_config_errors_text(&faults, &text);
		bt_config_errors_add(build->errors, "%.*sinitializing plugin \"%s\": %.*s",
			BT_STR_ARG(build->prefix), plugin->name, BT_STR_ARG(bt_buf_view(&text)));
		status = BT_INVALID;
	}
	bt_buf_fini(&text);
	bt_config_errors_fini(&faults);
	return status;
}

/* Gives the needed plugins their arguments. */
static enum bt_status init_plugins(struct build *build)
{
	bt_plugin_set needed = needed_plugins(&build->profile->plugins);

	for (uint32_t id = 0; id < bt_plugin_n(); id++) {
		const struct bt_config_args *args = args_of(build->profile, bt_plugin_name(id));

		if (!bt_plugin_set_has(needed, id) || !args || !args->type) {
			continue;
		}
		build->out->args[id] = args->value;
		if (check_late(build, id) != BT_OK) {
			return BT_INVALID;
		}
	}
	return BT_OK;
}

static enum bt_status check_counts(struct build *build)
{
	const struct bt_resolved_point *points = build->out->points;
	char count[32];

	if (points[BT_POINT_QUEUE_SORT].n != 1) {
		snprintf(count, sizeof count, ", but got %u", points[BT_POINT_QUEUE_SORT].n);
		return refuse_profile(build, "only one queue sort plugin required for", count);
	}
	if (!points[BT_POINT_BIND].n) {
		return refuse_profile(build, "at least one bind plugin is needed for", "");
	}
	if (points[BT_POINT_PLACEMENT_GENERATE].n > 1) {
		return refuse_profile(build, "at most one placement generate plugin is allowed for", "");
	}
	return BT_OK;
}

static enum bt_status build_points(struct build *build)
{
	for (unsigned i = 0; i < BT_POINT_N; i++) {
		if (take_own(build, build_order[i]) != BT_OK) {
			return BT_INVALID;
		}
	}
	for (unsigned i = 0; i < BT_POINT_N; i++) {
		if (expand(build, build_order[i]) != BT_OK) {
			return BT_INVALID;
		}
	}
	if (check_counts(build) != BT_OK || weigh(build, BT_POINT_SCORE, "score") != BT_OK) {
		return BT_INVALID;
	}
	return weigh(build, BT_POINT_PLACEMENT_SCORE, "placement score");
}

/* Checks TLS settings as upstream's extender client does. */
static enum bt_status check_extender_tls(const struct bt_config *config, struct bt_config_errors *errors)
{
	for (uint32_t i = 0; i < config->extender_n; i++) {
		const struct bt_extender_tls *tls = &config->extenders[i].tls;

		if (tls->insecure && (tls->ca_file.len || tls->ca_data.len)) {
			bt_config_errors_add(errors,
				"couldn't build extenders: specifying a root certificates file with the "
				"insecure flag is not allowed");
			return BT_INVALID;
		}
	}
	return BT_OK;
}

/* The plugin that ignores resources which only extenders manage takes their list: its arguments must be
 * present in every profile. */
static enum bt_status check_extender_resources(
	const struct bt_config *config, uint32_t profile_ix, struct bt_config_errors *errors)
{
	const struct bt_profile_config *profile = &config->profiles[profile_ix];

	for (uint32_t id = 0; config->extender_resources.n && id < bt_plugin_n(); id++) {
		const struct bt_plugin_args *args = bt_plugin_at(id)->args;

		if (args && args->extender_resources && !args_of(profile, bt_plugin_name(id))) {
			bt_config_errors_add(errors,
				"couldn't build extenders: can't find %s in plugin config",
				args->schema->go_name);
			return BT_INVALID;
		}
	}
	return BT_OK;
}

enum bt_status bt_config_resolve(const struct bt_config *config, uint32_t profile_ix,
	struct bt_config_errors *errors, struct bt_resolved_profile *out_profile)
{
	const struct bt_profile_config *profile;
	struct bt_resolved_profile resolved = {.scheduler_name = {.len = 0}};
	struct build build;

	BT_REQUIRE(profile_ix < config->profile_n);
	profile = &config->profiles[profile_ix];
	BT_REQUIRE(profile->scheduler_name.len > 0);
	resolved.scheduler_name = profile->scheduler_name;
	resolved.extender_resources = &config->extender_resources;
	resolved.percentage_of_nodes_to_score = profile->percentage_of_nodes_to_score.set
							? profile->percentage_of_nodes_to_score.value
							: config->percentage_of_nodes_to_score.value;
	build = (struct build){.config = config, .profile = profile, .errors = errors, .out = &resolved};
	build.prefix =
		bt_config_path(errors, "initializing profiles: creating profile for scheduler name %.*s: ",
			BT_STR_ARG(profile->scheduler_name));
	if (check_extender_resources(config, profile_ix, errors) != BT_OK || init_plugins(&build) != BT_OK ||
		build_points(&build) != BT_OK) {
		return BT_INVALID;
	}
	*out_profile = resolved;
	return BT_OK;
}

const void *bt_resolved_args(const struct bt_resolved_profile *profile, const char *plugin)
{
	uint32_t id = bt_plugin_find(bt_str(plugin));

	return id != BT_PLUGIN_NONE ? profile->args[id] : NULL;
}

static struct bt_str sort_args(const struct bt_profile_config *profile, uint32_t sort)
{
	const struct bt_config_args *args = args_of(profile, bt_plugin_name(sort));

	return args ? args->raw : (struct bt_str){.len = 0};
}

enum bt_status bt_config_check_profiles(const struct bt_config *config, struct bt_config_errors *errors)
{
	struct bt_resolved_profile *resolved = bt_mem_zalloc(1, sizeof *resolved);
	uint32_t sort = BT_PLUGIN_NONE, first_sort = BT_PLUGIN_NONE;
	enum bt_status status = check_extender_tls(config, errors);
	struct bt_buf name = {.len = 0};

	for (uint32_t i = 0; i < config->profile_n && status == BT_OK; i++) {
		status = check_extender_resources(config, i, errors);
	}
	for (uint32_t i = 0; i < config->profile_n && status == BT_OK; i++) {
		const struct bt_profile_config *profile = &config->profiles[i];

		status = bt_config_resolve(config, i, errors, resolved);
		if (status != BT_OK) {
			break;
		}
		sort = resolved->points[BT_POINT_QUEUE_SORT].plugins[0].id;
		first_sort = i ? first_sort : sort;
		bt_buf_clear(&name);
		bt_quote(&name, profile->scheduler_name);
		if (sort != first_sort) {
			bt_config_errors_add(errors,
				"initializing profiles: different queue sort plugins for profile %.*s: "
				"\"%.*s\", first: \"%.*s\"",
				BT_STR_ARG(bt_buf_view(&name)), BT_STR_ARG(bt_plugin_name(sort)),
				BT_STR_ARG(bt_plugin_name(first_sort)));
			status = BT_INVALID;
		} else if (!bt_str_eq(sort_args(profile, sort), sort_args(&config->profiles[0], sort))) {
			bt_config_errors_add(errors,
				"initializing profiles: different queue sort plugin args for profile %.*s",
				BT_STR_ARG(bt_buf_view(&name)));
			status = BT_INVALID;
		}
	}
	bt_buf_fini(&name);
	bt_mem_free(resolved);
	return status;
}
