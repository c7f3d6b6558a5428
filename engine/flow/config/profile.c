/* SPDX-License-Identifier: Apache-2.0
 * Plugins with their settings, from the configuration.
 */
#include "engine/flow/config/profile.h"

#include "engine/base/check.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/gang_scheduling/gang_scheduling.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

/* The points of the configuration's shape go to 10, scores to 100. */
#define SHAPE_SCALE 10

/* Plugins that judge nodes; the others are not of this table. */
static const struct bt_plugin *const judges[BT_PLUGIN_N] = {
	[BT_PLUGIN_NODE_UNSCHEDULABLE] = &bt_plugin_node_unschedulable,
	[BT_PLUGIN_NODE_NAME] = &bt_plugin_node_name,
	[BT_PLUGIN_TAINT_TOLERATION] = &bt_plugin_taint_toleration,
	[BT_PLUGIN_NODE_AFFINITY] = &bt_plugin_node_affinity,
	[BT_PLUGIN_NODE_PORTS] = &bt_plugin_node_ports,
	[BT_PLUGIN_NODE_RESOURCES_FIT] = &bt_plugin_node_resources_fit,
	[BT_PLUGIN_NODE_RESOURCES_BALANCED_ALLOCATION] = &bt_plugin_node_resources_balanced_allocation,
	[BT_PLUGIN_IMAGE_LOCALITY] = &bt_plugin_image_locality,
	[BT_PLUGIN_POD_TOPOLOGY_SPREAD] = &bt_plugin_pod_topology_spread,
	[BT_PLUGIN_INTER_POD_AFFINITY] = &bt_plugin_inter_pod_affinity,
	[BT_PLUGIN_VOLUME_RESTRICTIONS] = &bt_plugin_volume_restrictions,
	[BT_PLUGIN_NODE_VOLUME_LIMITS] = &bt_plugin_node_volume_limits,
	[BT_PLUGIN_VOLUME_BINDING] = &bt_plugin_volume_binding,
	[BT_PLUGIN_VOLUME_ZONE] = &bt_plugin_volume_zone,
	[BT_PLUGIN_DYNAMIC_RESOURCES] = &bt_plugin_dynamic_resources,
	[BT_PLUGIN_NODE_DECLARED_FEATURES] = &bt_plugin_node_declared_features,
};

struct builder {
	struct bt_flow_profile *profile;
	const struct bt_resolved_profile *resolved;
	struct bt_dictionary *dictionary;
	struct bt_arena *arena;
	const bool *compare_numbers;
	const struct bt_gates *gates;
};

static const void *node_affinity_settings(struct builder *b)
{
	const struct bt_node_affinity_object *added = &b->resolved->node_affinity.added_affinity;
	struct bt_node_affinity_settings *settings = bt_arena_zalloc(b->arena, sizeof(*settings));
	struct bt_preferred_term *preferred =
		bt_arena_zalloc(b->arena, added->preferred_n * sizeof(*preferred));

	settings->has_required = added->required.set;
	settings->required = bt_node_selector_compile(&b->dictionary->for_ever, b->arena, &added->required);
	for (uint32_t i = 0; i < added->preferred_n; i++) {
		struct bt_preferred_term *term = &preferred[settings->preferred_n];

		term->weight = added->preferred[i].weight;
		settings->preferred_n +=
			term->weight != 0 && bt_node_term_compile(&b->dictionary->for_ever, b->arena,
						     &added->preferred[i].preference, &term->term, NULL);
	}
	settings->preferred = preferred;
	return settings;
}

static const struct bt_str *copy_names(struct builder *b, const struct bt_str_list *list)
{
	struct bt_str *names = bt_arena_zalloc(b->arena, list->n * sizeof(*names));

	if (list->n) {
		memcpy(names, list->items, list->n * sizeof(*names));
	}
	return names;
}

static const void *fit_settings(struct builder *b)
{
	const struct bt_node_resources_fit_args *args = &b->resolved->fit;
	const struct bt_scoring_strategy *strategy = &args->strategy;
	struct bt_fit_settings *settings = bt_arena_zalloc(b->arena, sizeof(*settings));
	struct bt_fit_resource *resources =
		bt_arena_zalloc(b->arena, strategy->resources.n * sizeof(*resources));
	struct bt_shape_point *shape = bt_arena_zalloc(b->arena, strategy->ratio_shape.n * sizeof(*shape));

	for (uint32_t i = 0; i < strategy->resources.n; i++) {
		resources[i].slot = bt_resource_slot(b->dictionary, strategy->resources.items[i].name);
		resources[i].weight = strategy->resources.items[i].weight;
	}
	for (uint32_t i = 0; i < strategy->ratio_shape.n; i++) {
		shape[i].utilization = strategy->ratio_shape.items[i].utilization;
		shape[i].score = (int64_t)strategy->ratio_shape.items[i].score * SHAPE_SCALE;
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
		.ignored = copy_names(b, &args->ignored_resources),
		.ignored_n = args->ignored_resources.n,
		.ignored_groups = copy_names(b, &args->ignored_resource_groups),
		.ignored_group_n = args->ignored_resource_groups.n,
	};
	return settings;
}

static const void *balanced_settings(struct builder *b)
{
	const struct bt_config_resource_list *list = &b->resolved->balanced.resources;
	struct bt_balanced_settings *settings = bt_arena_zalloc(b->arena, sizeof(*settings));
	int *slots = bt_arena_zalloc(b->arena, list->n * sizeof(*slots));

	for (uint32_t i = 0; i < list->n; i++) {
		slots[i] = bt_resource_slot(b->dictionary, list->items[i].name);
	}
	*settings = (struct bt_balanced_settings){slots, list->n};
	return settings;
}

static const void *spread_settings(struct builder *b)
{
	const struct bt_pod_topology_spread_args *args = &b->resolved->spread;
	struct bt_spread_settings *settings = bt_arena_zalloc(b->arena, sizeof(*settings));
	struct bt_spread_constraint *defaults =
		bt_arena_zalloc(b->arena, args->constraint_n * sizeof(*defaults));
	bool system = bt_str_is(args->defaulting_type, "System");
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < args->constraint_n; i++) {
		bt_spread_constraint_compile(&b->dictionary->for_ever, b->arena, &args->constraints[i],
			(struct bt_labels){0}, &defaults[i], &text);
	}
	bt_buf_fini(&text);
	*settings = (struct bt_spread_settings){
		.defaults = system ? bt_spread_system_defaults : defaults,
		.default_n = system ? 2 : args->constraint_n,
		.system_defaults = system,
		.match_label_keys = b->gates->on[BT_GATE_MATCH_LABEL_KEYS_IN_POD_TOPOLOGY_SPREAD],
		.compare_numbers = *b->compare_numbers,
	};
	return settings;
}

static const void *inter_pod_settings(struct builder *b)
{
	const struct bt_inter_pod_affinity_args *args = &b->resolved->inter_pod_affinity;
	struct bt_inter_pod_affinity_settings *settings = bt_arena_zalloc(b->arena, sizeof(*settings));

	*settings = (struct bt_inter_pod_affinity_settings){
		.hard_weight = args->hard_pod_affinity_weight.value,
		.ignore_preferred = args->ignore_preferred_terms_of_existing_pods,
	};
	return settings;
}

static bool has_point(const struct builder *b, enum bt_point point, enum bt_plugin_id id)
{
	const struct bt_resolved_point *list = &b->resolved->points[point];

	for (uint32_t i = 0; i < list->n; i++) {
		if (list->plugins[i].id == id) {
			return true;
		}
	}
	return false;
}

/* Score counts what Filter has found; in a profile without it there is nothing. */
static const void *volume_binding_settings(struct builder *b)
{
	const struct bt_config_shape *from = &b->resolved->volume_binding.shape;
	struct bt_volume_binding_settings *settings = bt_arena_zalloc(b->arena, sizeof(*settings));
	struct bt_volume_shape_point *shape = bt_arena_zalloc(b->arena, from->n * sizeof(*shape));

	for (uint32_t i = 0; i < from->n; i++) {
		shape[i].utilization = from->items[i].utilization;
		shape[i].score = (int64_t)from->items[i].score * SHAPE_SCALE;
	}
	bool scores = b->gates->on[BT_GATE_STORAGE_CAPACITY_SCORING];
	*settings = (struct bt_volume_binding_settings){
		.scores = scores && has_point(b, BT_POINT_FILTER, BT_PLUGIN_VOLUME_BINDING),
		.misses_pre_filter = scores && !has_point(b, BT_POINT_PRE_FILTER, BT_PLUGIN_VOLUME_BINDING),
		.shape = shape,
		.shape_n = from->n};
	return settings;
}

/* Searching is bounded by steps instead of time, so that equal input gives equal decisions. */
static const void *dynamic_resources_settings(struct builder *b)
{
	const struct bt_dynamic_resources_args *args = &b->resolved->dynamic_resources;
	struct bt_dynamic_resources_settings *settings = bt_arena_zalloc(b->arena, sizeof(*settings));
	bool limited = b->gates->on[BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT] && args->filter_timeout.ns > 0;

	*settings = (struct bt_dynamic_resources_settings){
		.scores = b->gates->on[BT_GATE_DRA_PRIORITIZED_LIST],
		.pre_filtered = has_point(b, BT_POINT_PRE_FILTER, BT_PLUGIN_DYNAMIC_RESOURCES),
		.filtered = has_point(b, BT_POINT_FILTER, BT_PLUGIN_DYNAMIC_RESOURCES),
		.step_limit = limited ? (uint64_t)args->filter_timeout.ns /
							(1000000000 / BT_SEARCH_STEPS_PER_SECOND) +
						1
				      : 0,
		.binding_timeout_ns = args->binding_timeout.ns,
	};
	return settings;
}

static const void *settings_of(struct builder *b, enum bt_plugin_id id)
{
	switch (id) {
	case BT_PLUGIN_NODE_UNSCHEDULABLE:
	case BT_PLUGIN_TAINT_TOLERATION:
		return b->compare_numbers;
	case BT_PLUGIN_NODE_AFFINITY:
		return node_affinity_settings(b);
	case BT_PLUGIN_NODE_RESOURCES_FIT:
		return fit_settings(b);
	case BT_PLUGIN_NODE_RESOURCES_BALANCED_ALLOCATION:
		return balanced_settings(b);
	case BT_PLUGIN_POD_TOPOLOGY_SPREAD:
		return spread_settings(b);
	case BT_PLUGIN_INTER_POD_AFFINITY:
		return inter_pod_settings(b);
	case BT_PLUGIN_VOLUME_BINDING:
		return volume_binding_settings(b);
	case BT_PLUGIN_DYNAMIC_RESOURCES:
		return dynamic_resources_settings(b);
	case BT_PLUGIN_NODE_VOLUME_LIMITS:
		return &b->gates->on[BT_GATE_VOLUME_LIMIT_SCALING];
	case BT_PLUGIN_NODE_DECLARED_FEATURES:
		return &b->gates->on[BT_GATE_NODE_DECLARED_FEATURES];
	default:
		return NULL;
	}
}

static uint32_t use_of(struct builder *b, enum bt_plugin_id id)
{
	struct bt_profile *plugins = &b->profile->plugins;

	for (uint32_t i = 0; i < plugins->use_n; i++) {
		if (plugins->uses[i].plugin == judges[id]) {
			return i;
		}
	}
	BT_REQUIRE(plugins->use_n < BT_PROFILE_USES);
	plugins->uses[plugins->use_n] =
		(struct bt_plugin_use){.plugin = judges[id], .settings = settings_of(b, id)};
	return plugins->use_n++;
}

/* Lists the judges of one point in order, and marks them as being there. */
static uint32_t fill_point(struct builder *b, enum bt_point point, uint32_t *list)
{
	const struct bt_resolved_point *from = &b->resolved->points[point];
	uint32_t n = 0;

	for (uint32_t i = 0; i < from->n; i++) {
		if (!judges[from->plugins[i].id]) {
			continue;
		}
		uint32_t ix = use_of(b, from->plugins[i].id);
		struct bt_plugin_use *use = &b->profile->plugins.uses[ix];

		use->pre_filter |= point == BT_POINT_PRE_FILTER;
		use->filter |= point == BT_POINT_FILTER;
		use->pre_score |= point == BT_POINT_PRE_SCORE;
		use->score |= point == BT_POINT_SCORE;
		use->reserve |= point == BT_POINT_RESERVE;
		use->weight = point == BT_POINT_SCORE ? from->plugins[i].weight : use->weight;
		list[n++] = ix;
	}
	return n;
}

/* How many judges run before the plugin at a point; UINT32_MAX when it is not there. */
static uint32_t judges_before(const struct bt_resolved_point *point, enum bt_plugin_id id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < point->n; i++) {
		if (point->plugins[i].id == id) {
			return n;
		}
		n += judges[point->plugins[i].id] != NULL;
	}
	return UINT32_MAX;
}

static void list_post_filters(struct bt_flow_profile *profile, const struct bt_resolved_point *point)
{
	for (uint32_t i = 0; i < point->n; i++) {
		if (point->plugins[i].id == BT_PLUGIN_DYNAMIC_RESOURCES) {
			profile->post_filters[profile->post_filter_n++] = BT_POST_FILTER_CLAIMS;
		} else if (point->plugins[i].id == BT_PLUGIN_DEFAULT_PREEMPTION) {
			profile->post_filters[profile->post_filter_n++] = BT_POST_FILTER_PREEMPTION;
		}
	}
}

/* ---- which events concern whom ---- */

static bool has_anywhere(const struct builder *b, enum bt_plugin_id id)
{
	for (unsigned point = 0; point < BT_POINT_N; point++) {
		if (has_point(b, (enum bt_point)point, id)) {
			return true;
		}
	}
	return false;
}

/* Source: shouldHaveEnqueueExtensions, v1.36.3. */
static bool is_asked(enum bt_plugin_id id)
{
	return bt_plugin_serves(id, BT_POINT_PRE_ENQUEUE) || bt_plugin_serves(id, BT_POINT_PRE_FILTER) ||
	       bt_plugin_serves(id, BT_POINT_FILTER) || bt_plugin_serves(id, BT_POINT_RESERVE) ||
	       bt_plugin_serves(id, BT_POINT_PERMIT);
}

/* Do the gates let the plugin register the event? */
static bool may_register(
	const struct bt_gates *gates, enum bt_plugin_id id, const struct bt_registration *registration)
{
	switch (id) {
	case BT_PLUGIN_NODE_RESOURCES_FIT:
		return registration->resource != BT_EVENT_DEVICE_CLASS ||
		       gates->on[BT_GATE_DRA_EXTENDED_RESOURCE];
	case BT_PLUGIN_DEFAULT_PREEMPTION:
		return gates->on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION];
	case BT_PLUGIN_NODE_DECLARED_FEATURES:
		return gates->on[BT_GATE_NODE_DECLARED_FEATURES];
	default:
		return true;
	}
}

static const struct bt_registration *events_of(enum bt_plugin_id id, uint32_t *out_n)
{
	if (id == BT_PLUGIN_SCHEDULING_GATES) {
		*out_n = BT_SCHEDULING_GATES_EVENTS;
		return bt_scheduling_gates_events;
	}
	if (id == BT_PLUGIN_DEFAULT_PREEMPTION) {
		*out_n = BT_DEFAULT_PREEMPTION_EVENTS;
		return bt_default_preemption_events;
	}
	if (id == BT_PLUGIN_GANG_SCHEDULING) {
		*out_n = BT_GANG_SCHEDULING_EVENTS;
		return bt_gang_scheduling_events;
	}
	*out_n = judges[id] ? judges[id]->event_n : 0;
	return judges[id] ? judges[id]->events : NULL;
}

/* The settings that the plugin has where it judges, or new ones of a plugin that judges nowhere. */
static const void *hint_settings(struct builder *b, enum bt_plugin_id id)
{
	const struct bt_profile *plugins = &b->profile->plugins;

	for (uint32_t i = 0; judges[id] && i < plugins->use_n; i++) {
		if (plugins->uses[i].plugin == judges[id]) {
			return plugins->uses[i].settings;
		}
	}
	return settings_of(b, id);
}

static void list_hinters(struct builder *b)
{
	struct bt_flow_profile *profile = b->profile;

	for (unsigned at = 0; at < BT_PLUGIN_N; at++) {
		enum bt_plugin_id id = (enum bt_plugin_id)at;
		struct bt_hinter *hinter = &profile->hinters[at];
		uint32_t n;

		*hinter = (struct bt_hinter){.is_there = is_asked(id) && has_anywhere(b, id)};
		if (!hinter->is_there) {
			continue;
		}
		const struct bt_registration *all = events_of(id, &n);
		struct bt_registration *events = bt_arena_zalloc(b->arena, n * sizeof(*events));

		hinter->events = events;
		hinter->settings = hint_settings(b, id);
		for (uint32_t i = 0; i < n; i++) {
			if (may_register(b->gates, id, &all[i])) {
				events[hinter->event_n++] = all[i];
			}
		}
	}
}

void bt_flow_profile_init(struct bt_flow_profile *profile, const struct bt_resolved_profile *resolved,
	const struct bt_gates *gates, struct bt_dictionary *dictionary, struct bt_arena *arena)
{
	bool *compare_numbers = bt_arena_zalloc(arena, sizeof(*compare_numbers));
	struct bt_gates *kept = bt_arena_zalloc(arena, sizeof(*kept));
	struct builder b = {profile, resolved, dictionary, arena, compare_numbers, kept};
	const struct bt_resolved_point *points = resolved->points;

	/* Settings point at gates; the caller's may move. */
	*kept = *gates;
	*compare_numbers = gates->on[BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS];
	*profile = (struct bt_flow_profile){
		.release = gates->release,
		.percentage_of_nodes_to_score = resolved->percentage_of_nodes_to_score,
		.preemption = {resolved->default_preemption.min_candidate_nodes_percentage.value,
			resolved->default_preemption.min_candidate_nodes_absolute.value},
		.dra_pre_filter_after =
			judges_before(&points[BT_POINT_PRE_FILTER], BT_PLUGIN_DYNAMIC_RESOURCES),
		.claims_checked = judges_before(&points[BT_POINT_PRE_ENQUEUE], BT_PLUGIN_DYNAMIC_RESOURCES) !=
				  UINT32_MAX,
		.gates_checked = judges_before(&points[BT_POINT_PRE_ENQUEUE], BT_PLUGIN_SCHEDULING_GATES) !=
				 UINT32_MAX,
		.groups_checked =
			judges_before(&points[BT_POINT_PRE_ENQUEUE], BT_PLUGIN_GANG_SCHEDULING) != UINT32_MAX,
		.groups_permitted =
			judges_before(&points[BT_POINT_PERMIT], BT_PLUGIN_GANG_SCHEDULING) != UINT32_MAX,
	};
	list_post_filters(profile, &points[BT_POINT_POST_FILTER]);
	profile->plugins.name = bt_intern_add(dictionary->intern, resolved->scheduler_name);
	profile->plugins.pre_filter_n = fill_point(&b, BT_POINT_PRE_FILTER, profile->plugins.pre_filter);
	profile->plugins.filter_n = fill_point(&b, BT_POINT_FILTER, profile->plugins.filter);
	profile->plugins.pre_score_n = fill_point(&b, BT_POINT_PRE_SCORE, profile->plugins.pre_score);
	profile->plugins.score_n = fill_point(&b, BT_POINT_SCORE, profile->plugins.score);
	uint32_t unused[BT_PROFILE_USES];

	fill_point(&b, BT_POINT_RESERVE, unused);
	list_hinters(&b);
}
