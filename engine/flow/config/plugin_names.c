/* SPDX-License-Identifier: Apache-2.0
 * The table of in-tree plugins. Source: the plugins' interfaces, v1.36.3.
 */
#include "engine/flow/config/plugin_names.h"

#include "engine/base/check.h"
#include "engine/base/compiler.h"

#define AT(point) (1u << BT_POINT_##point)

struct plugin_facts {
	struct bt_str name;
	uint32_t points;
	enum bt_args_kind args;
};

static const struct plugin_facts plugins[BT_PLUGIN_N] = {
	[BT_PLUGIN_SCHEDULING_GATES] = {BT_STR("SchedulingGates"), AT(PRE_ENQUEUE), BT_ARGS_NONE},
	[BT_PLUGIN_PRIORITY_SORT] = {BT_STR("PrioritySort"), AT(QUEUE_SORT), BT_ARGS_NONE},
	[BT_PLUGIN_NODE_UNSCHEDULABLE] = {BT_STR("NodeUnschedulable"), AT(FILTER), BT_ARGS_NONE},
	[BT_PLUGIN_NODE_NAME] = {BT_STR("NodeName"), AT(FILTER), BT_ARGS_NONE},
	[BT_PLUGIN_TAINT_TOLERATION] = {BT_STR("TaintToleration"), AT(FILTER) | AT(PRE_SCORE) | AT(SCORE),
		BT_ARGS_NONE},
	[BT_PLUGIN_NODE_AFFINITY] = {BT_STR("NodeAffinity"),
		AT(PRE_FILTER) | AT(FILTER) | AT(PRE_SCORE) | AT(SCORE), BT_ARGS_NODE_AFFINITY},
	[BT_PLUGIN_NODE_PORTS] = {BT_STR("NodePorts"), AT(PRE_FILTER) | AT(FILTER), BT_ARGS_NONE},
	[BT_PLUGIN_NODE_RESOURCES_FIT] = {BT_STR("NodeResourcesFit"),
		AT(PRE_FILTER) | AT(FILTER) | AT(PRE_SCORE) | AT(SCORE) | AT(PLACEMENT_SCORE),
		BT_ARGS_NODE_RESOURCES_FIT},
	[BT_PLUGIN_VOLUME_RESTRICTIONS] = {BT_STR("VolumeRestrictions"), AT(PRE_FILTER) | AT(FILTER),
		BT_ARGS_NONE},
	[BT_PLUGIN_NODE_VOLUME_LIMITS] = {BT_STR("NodeVolumeLimits"), AT(PRE_FILTER) | AT(FILTER),
		BT_ARGS_NONE},
	[BT_PLUGIN_VOLUME_BINDING] = {BT_STR("VolumeBinding"),
		AT(PRE_FILTER) | AT(FILTER) | AT(PRE_SCORE) | AT(SCORE) | AT(RESERVE) | AT(PRE_BIND),
		BT_ARGS_VOLUME_BINDING},
	[BT_PLUGIN_VOLUME_ZONE] = {BT_STR("VolumeZone"), AT(PRE_FILTER) | AT(FILTER), BT_ARGS_NONE},
	[BT_PLUGIN_POD_TOPOLOGY_SPREAD] = {BT_STR("PodTopologySpread"),
		AT(PRE_FILTER) | AT(FILTER) | AT(PRE_SCORE) | AT(SCORE), BT_ARGS_POD_TOPOLOGY_SPREAD},
	[BT_PLUGIN_INTER_POD_AFFINITY] = {BT_STR("InterPodAffinity"),
		AT(PRE_FILTER) | AT(FILTER) | AT(PRE_SCORE) | AT(SCORE), BT_ARGS_INTER_POD_AFFINITY},
	[BT_PLUGIN_DYNAMIC_RESOURCES] = {BT_STR("DynamicResources"),
		AT(PRE_ENQUEUE) | AT(PRE_FILTER) | AT(FILTER) | AT(POST_FILTER) | AT(SCORE) | AT(RESERVE) |
			AT(PRE_BIND),
		BT_ARGS_DYNAMIC_RESOURCES},
	[BT_PLUGIN_DEFAULT_PREEMPTION] = {BT_STR("DefaultPreemption"), AT(PRE_ENQUEUE) | AT(POST_FILTER),
		BT_ARGS_DEFAULT_PREEMPTION},
	[BT_PLUGIN_NODE_RESOURCES_BALANCED_ALLOCATION] = {BT_STR("NodeResourcesBalancedAllocation"),
		AT(PRE_SCORE) | AT(SCORE), BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION},
	[BT_PLUGIN_IMAGE_LOCALITY] = {BT_STR("ImageLocality"), AT(SCORE), BT_ARGS_NONE},
	[BT_PLUGIN_DEFAULT_BINDER] = {BT_STR("DefaultBinder"), AT(BIND), BT_ARGS_NONE},
	[BT_PLUGIN_NODE_DECLARED_FEATURES] = {BT_STR("NodeDeclaredFeatures"), AT(PRE_FILTER) | AT(FILTER),
		BT_ARGS_NONE},
	[BT_PLUGIN_GANG_SCHEDULING] = {BT_STR("GangScheduling"), AT(PRE_ENQUEUE) | AT(PERMIT), BT_ARGS_NONE},
	[BT_PLUGIN_TOPOLOGY_PLACEMENT_GENERATOR] = {BT_STR("TopologyPlacementGenerator"),
		AT(PLACEMENT_GENERATE), BT_ARGS_NONE},
	[BT_PLUGIN_POD_GROUP_PODS_COUNT] = {BT_STR("PodGroupPodsCount"), AT(PLACEMENT_SCORE), BT_ARGS_NONE},
};

static const struct point_facts {
	const char *field, *interface;
} points[BT_POINT_N] = {
	[BT_POINT_PRE_ENQUEUE] = {"preEnqueue", "PreEnqueuePlugin"},
	[BT_POINT_QUEUE_SORT] = {"queueSort", "QueueSortPlugin"},
	[BT_POINT_PRE_FILTER] = {"preFilter", "PreFilterPlugin"},
	[BT_POINT_FILTER] = {"filter", "FilterPlugin"},
	[BT_POINT_POST_FILTER] = {"postFilter", "PostFilterPlugin"},
	[BT_POINT_PRE_SCORE] = {"preScore", "PreScorePlugin"},
	[BT_POINT_SCORE] = {"score", "ScorePlugin"},
	[BT_POINT_RESERVE] = {"reserve", "ReservePlugin"},
	[BT_POINT_PERMIT] = {"permit", "PermitPlugin"},
	[BT_POINT_PRE_BIND] = {"preBind", "PreBindPlugin"},
	[BT_POINT_BIND] = {"bind", "BindPlugin"},
	[BT_POINT_POST_BIND] = {"postBind", "PostBindPlugin"},
	[BT_POINT_PLACEMENT_GENERATE] = {"placementGenerate", "PlacementGeneratePlugin"},
	[BT_POINT_PLACEMENT_SCORE] = {"placementScore", "PlacementScorePlugin"},
};

struct bt_str bt_plugin_name(enum bt_plugin_id id)
{
	BT_REQUIRE(id < BT_PLUGIN_N);
	return plugins[id].name;
}

enum bt_plugin_id bt_plugin_find(struct bt_str name)
{
	for (unsigned id = 0; id < BT_PLUGIN_N; id++) {
		if (bt_str_eq(plugins[id].name, name)) {
			return (enum bt_plugin_id)id;
		}
	}
	return BT_PLUGIN_N;
}

bool bt_plugin_serves(enum bt_plugin_id id, enum bt_point point)
{
	BT_REQUIRE(id < BT_PLUGIN_N && point < BT_POINT_N);
	return plugins[id].points >> point & 1;
}

enum bt_args_kind bt_plugin_args_kind(struct bt_str name)
{
	enum bt_plugin_id id = bt_plugin_find(name);

	return id < BT_PLUGIN_N ? plugins[id].args : BT_ARGS_NONE;
}

const char *bt_point_field(enum bt_point point)
{
	BT_REQUIRE(point < BT_POINT_N);
	return points[point].field;
}

const char *bt_point_interface(enum bt_point point)
{
	BT_REQUIRE(point < BT_POINT_N);
	return points[point].interface;
}
