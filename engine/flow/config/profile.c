/* SPDX-License-Identifier: Apache-2.0
 * Makes plugins and their settings from the configuration.
 */
#include "engine/flow/config/profile.h"

#include "engine/base/check.h"

struct builder {
	struct bt_flow_profile *profile;
	const struct bt_resolved_profile *resolved;
	struct bt_settings_env env;
	const void *settings[BT_PLUGIN_MAX];
	bool made[BT_PLUGIN_MAX]; /* settings exist */
};

/* The points at which the profile enables the plugin. */
static uint32_t points_of(const struct builder *b, uint32_t id)
{
	uint32_t points = 0;

	for (unsigned point = 0; point < BT_POINT_N; point++) {
		const struct bt_resolved_point *list = &b->resolved->points[point];

		for (uint32_t i = 0; i < list->n; i++) {
			points |= list->plugins[i].id == id ? 1u << point : 0;
		}
	}
	return points;
}

static const void *settings_of(struct builder *b, uint32_t id)
{
	const struct bt_plugin *plugin = bt_plugin_at(id);

	if (!b->made[id] && plugin->settings) {
		b->env.points = points_of(b, id);
		b->env.config.plugin = plugin;
		BT_REQUIRE(!plugin->args || b->resolved->args[id]);
		b->settings[id] = plugin->settings(&b->env, b->resolved->args[id]);
		if (plugin->settings_end) {
			b->profile->ends[b->profile->end_n++] =
				(struct bt_settings_end){plugin, b->settings[id]};
		}
	}
	b->made[id] = true;
	return b->settings[id];
}

/* ---- plugins that evaluate nodes ---- */

static bool judges(uint32_t id)
{
	return bt_plugin_at(id)->compile != NULL;
}

static uint32_t use_of(struct builder *b, uint32_t id)
{
	struct bt_profile *plugins = &b->profile->plugins;

	for (uint32_t i = 0; i < plugins->use_n; i++) {
		if (plugins->uses[i].id == id) {
			return i;
		}
	}
	BT_REQUIRE(plugins->use_n < BT_PROFILE_USES);
	plugins->uses[plugins->use_n] =
		(struct bt_plugin_use){.id = id, .plugin = bt_plugin_at(id), .settings = settings_of(b, id)};
	return plugins->use_n++;
}

/* Lists the plugins of one point that evaluate nodes, in order, and marks them as present. */
static uint32_t fill_point(struct builder *b, enum bt_point point, uint32_t *list)
{
	const struct bt_resolved_point *from = &b->resolved->points[point];
	uint32_t n = 0;

	for (uint32_t i = 0; i < from->n; i++) {
		if (!judges(from->plugins[i].id)) {
			continue;
		}
		uint32_t ix = use_of(b, from->plugins[i].id);
		struct bt_plugin_use *use = &b->profile->plugins.uses[ix];

		use->pre_filter |= point == BT_POINT_PRE_FILTER;
		use->filter |= point == BT_POINT_FILTER;
		use->pre_score |= point == BT_POINT_PRE_SCORE;
		use->score |= point == BT_POINT_SCORE;
		use->reserve |= point == BT_POINT_RESERVE;
		b->profile->reserve_always |=
			use->reserve && use->plugin->reserve && use->plugin->traits == 0;
		use->weight = point == BT_POINT_SCORE ? from->plugins[i].weight : use->weight;
		list[n++] = ix;
	}
	return n;
}

/* ---- other extension points ---- */

static bool serves(const struct bt_plugin *plugin, enum bt_point point)
{
	switch (point) {
	case BT_POINT_PRE_ENQUEUE:
		return plugin->pre_enqueue;
	case BT_POINT_POST_FILTER:
	case BT_POINT_POD_GROUP_POST_FILTER:
		return plugin->post_filter;
	case BT_POINT_PERMIT:
		return plugin->permit;
	case BT_POINT_PRE_BIND:
		return plugin->pre_bind;
	case BT_POINT_PLACEMENT_GENERATE:
		return plugin->placement_generate;
	case BT_POINT_PLACEMENT_SCORE:
		return plugin->placement_score;
	default:
		return false;
	}
}

static void fill_hooks(struct builder *b, enum bt_point point, struct bt_hooks *hooks)
{
	const struct bt_resolved_point *from = &b->resolved->points[point];

	for (uint32_t i = 0; i < from->n; i++) {
		uint32_t id = from->plugins[i].id;
		const struct bt_plugin *plugin = bt_plugin_at(id);

		if (serves(plugin, point)) {
			hooks->items[hooks->n++] = (struct bt_hook){id, plugin, settings_of(b, id),
				judges(id) ? use_of(b, id) : BT_NO_USE, from->plugins[i].weight};
			hooks->traits |= plugin->traits ? plugin->traits : BT_TRAIT_ANY;
		}
	}
}

static void fill_all_hooks(struct builder *b)
{
	struct bt_flow_profile *profile = b->profile;

	fill_hooks(b, BT_POINT_PRE_ENQUEUE, &profile->pre_enqueue);
	fill_hooks(b, BT_POINT_POST_FILTER, &profile->post_filter);
	fill_hooks(b, BT_POINT_POD_GROUP_POST_FILTER, &profile->group_post_filter);
	fill_hooks(b, BT_POINT_PERMIT, &profile->permit);
	fill_hooks(b, BT_POINT_PRE_BIND, &profile->pre_bind);
	fill_hooks(b, BT_POINT_PLACEMENT_GENERATE, &profile->placement_generate);
	fill_hooks(b, BT_POINT_PLACEMENT_SCORE, &profile->placement_score);
	for (uint32_t i = 0; i < profile->post_filter.n; i++) {
		const struct bt_hook *hook = &profile->post_filter.items[i];

		if (hook->plugin->preemption && !profile->preemption) {
			profile->preemption = hook;
		}
		profile->post_filter_always |= !hook->plugin->preemption && !hook->plugin->post_filter_idle;
	}
}

/* ---- event registrations ---- */

/* Source: shouldHaveEnqueueExtensions, v1.36.3; and plugins at PlacementGenerate, for queues that requeue
 * groups by events alone (groups_by_events). */
static bool registers_events(const struct bt_plugin *plugin)
{
	return (plugin->points | plugin->more_points) &
	       (BT_AT(PRE_ENQUEUE) | BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(RESERVE) | BT_AT(PERMIT) |
		       BT_AT(PLACEMENT_GENERATE));
}

static void list_hint_plugins(struct builder *b)
{
	for (uint32_t id = 0; id < bt_plugin_n(); id++) {
		const struct bt_plugin *plugin = bt_plugin_at(id);
		struct bt_hint_plugin *hint_plugin = &b->profile->hint_plugins[id];

		*hint_plugin =
			(struct bt_hint_plugin){.is_there = registers_events(plugin) && points_of(b, id)};
		if (!hint_plugin->is_there) {
			continue;
		}
		struct bt_registration *events =
			bt_arena_zalloc(b->env.arena, plugin->event_n * sizeof(*events));

		hint_plugin->every_event = plugin->events == NULL;
		hint_plugin->kinds_are_exact = plugin->kinds_are_exact;
		hint_plugin->events = events;
		hint_plugin->settings = settings_of(b, id);
		for (uint32_t i = 0; i < plugin->event_n; i++) {
			if (bt_needs_met(plugin->events[i].needs, b->profile->release, b->env.config.gates)) {
				events[hint_plugin->event_n++] = plugin->events[i];
			}
		}
	}
}

void bt_flow_profile_init(struct bt_flow_profile *profile, const struct bt_resolved_profile *resolved,
	const struct bt_gates *gates, struct bt_dictionary *dictionary, struct bt_arena *arena)
{
	struct bt_gates *kept = bt_arena_zalloc(arena, sizeof(*kept));
	struct builder b = {.profile = profile,
		.resolved = resolved,
		.env = {{gates->release, kept->on, resolved->extender_resources, NULL}, dictionary, arena,
			0}};

	/* Settings point at gates; the caller's copy may move. */
	*kept = *gates;
	*profile = (struct bt_flow_profile){.release = gates->release,
		.percentage_of_nodes_to_score = resolved->percentage_of_nodes_to_score};
	profile->plugins.name = bt_intern_add(dictionary->intern, resolved->scheduler_name);
	profile->plugins.pre_filter_n = fill_point(&b, BT_POINT_PRE_FILTER, profile->plugins.pre_filter);
	profile->plugins.filter_n = fill_point(&b, BT_POINT_FILTER, profile->plugins.filter);
	profile->plugins.pre_score_n = fill_point(&b, BT_POINT_PRE_SCORE, profile->plugins.pre_score);
	profile->plugins.score_n = fill_point(&b, BT_POINT_SCORE, profile->plugins.score);
	uint32_t unused[BT_PROFILE_USES];

	fill_point(&b, BT_POINT_RESERVE, unused);
	fill_all_hooks(&b);
	list_hint_plugins(&b);
	for (uint32_t u = 0; u < profile->plugins.use_n; u++) {
		const struct bt_plugin_use *use = &profile->plugins.uses[u];

		profile->plugins.verdicts_uncacheable |= bt_plugin_use_depends_on_anything(use);
		profile->plugins.sees_pods |= use->plugin->sees_pods;
	}
}

void bt_flow_profile_fini(struct bt_flow_profile *profile)
{
	while (profile->end_n) {
		const struct bt_settings_end *end = &profile->ends[--profile->end_n];

		end->plugin->settings_end(end->settings);
	}
}
