/* SPDX-License-Identifier: Apache-2.0
 * The table of plugins, and the names of extension points. Source: the plugins' interfaces of kube-scheduler
 * v1.36.3.
 */
#include "plugins/registry.h"

#include "engine/base/check.h"

#define BT_PLUGIN(folder) extern const struct bt_plugin bt_plugin_##folder;
#include "plugins/registry.def"
#undef BT_PLUGIN

static const struct bt_plugin *const plugins[BT_PLUGIN_N] = {
#define BT_PLUGIN(folder) &bt_plugin_##folder,
#include "plugins/registry.def"
#undef BT_PLUGIN
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

const struct bt_plugin *bt_plugin_at(uint32_t id)
{
	BT_REQUIRE(id < BT_PLUGIN_N);
	return plugins[id];
}

uint32_t bt_plugin_find(struct bt_str name)
{
	uint32_t id = 0;

	while (id < BT_PLUGIN_N && !bt_str_is(name, plugins[id]->name)) {
		id++;
	}
	return id;
}

struct bt_str bt_plugin_name(uint32_t id)
{
	return bt_str(bt_plugin_at(id)->name);
}

bool bt_plugin_serves(uint32_t id, enum bt_point point)
{
	BT_REQUIRE(point < BT_POINT_N);
	return bt_plugin_at(id)->points >> point & 1;
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
