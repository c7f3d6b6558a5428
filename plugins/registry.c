/* SPDX-License-Identifier: Apache-2.0
 * The table of plugins, and the names of extension points. Source: the plugins' interfaces of kube-scheduler
 * v1.36.3.
 */
#include "plugins/registry.h"

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/thread.h"

#define BT_PLUGIN(folder) extern const struct bt_plugin bt_plugin_##folder;
#include "plugins/registry.def"
#undef BT_PLUGIN

/* lock(adding): entries after the in-tree ones are written before plugin_n counts them. */
static const struct bt_plugin *plugins[BT_PLUGIN_MAX] = {
#define BT_PLUGIN(folder) &bt_plugin_##folder,
#include "plugins/registry.def"
#undef BT_PLUGIN
};

static struct bt_lock adding = BT_LOCK_INIT;
static _Atomic uint32_t plugin_n = BT_PLUGIN_IN_TREE; /* atomic: release/acquire: publishes plugins */

static const struct point_facts {
	const char *field, *interface;
	enum bt_rule since; /* 0: every release has it */
} points[BT_POINT_N] = {
	[BT_POINT_PRE_ENQUEUE] = {.field = "preEnqueue", .interface = "PreEnqueuePlugin"},
	[BT_POINT_QUEUE_SORT] = {.field = "queueSort", .interface = "QueueSortPlugin"},
	[BT_POINT_PRE_FILTER] = {.field = "preFilter", .interface = "PreFilterPlugin"},
	[BT_POINT_FILTER] = {.field = "filter", .interface = "FilterPlugin"},
	[BT_POINT_POST_FILTER] = {.field = "postFilter", .interface = "PostFilterPlugin"},
	[BT_POINT_PRE_SCORE] = {.field = "preScore", .interface = "PreScorePlugin"},
	[BT_POINT_SCORE] = {.field = "score", .interface = "ScorePlugin"},
	[BT_POINT_RESERVE] = {.field = "reserve", .interface = "ReservePlugin"},
	[BT_POINT_PERMIT] = {.field = "permit", .interface = "PermitPlugin"},
	[BT_POINT_PRE_BIND] = {.field = "preBind", .interface = "PreBindPlugin"},
	[BT_POINT_BIND] = {.field = "bind", .interface = "BindPlugin"},
	[BT_POINT_POST_BIND] = {.field = "postBind", .interface = "PostBindPlugin"},
	[BT_POINT_PLACEMENT_GENERATE] = {.field = "placementGenerate",
		.interface = "PlacementGeneratePlugin",
		.since = BT_RULE_PLACEMENT_POINTS},
	[BT_POINT_PLACEMENT_SCORE] = {.field = "placementScore",
		.interface = "PlacementScorePlugin",
		.since = BT_RULE_PLACEMENT_POINTS},
	[BT_POINT_POD_GROUP_POST_FILTER] = {.field = "podGroupPostFilter",
		.interface = "PodGroupPostFilterPlugin",
		.since = BT_RULE_POD_GROUP_POST_FILTER},
};

uint32_t bt_plugin_n(void)
{
	return bt_load_acquire(&plugin_n);
}

enum bt_status bt_plugin_add(const struct bt_plugin *plugin)
{
	BT_REQUIRE(plugin && plugin->name);
	enum bt_status status = BT_OK;

	bt_lock_acquire(&adding);
	uint32_t n = bt_plugin_n();
	if (bt_plugin_find(bt_str(plugin->name)) != BT_PLUGIN_NONE) {
		status = BT_EXISTS;
	} else if (n == BT_PLUGIN_MAX) {
		status = BT_RANGE;
	} else {
		BT_INVARIANT(n < BT_PLUGIN_MAX && plugins[n] == NULL);
		plugins[n] = plugin;
		bt_store_release(&plugin_n, n + 1);
	}
	bt_lock_release(&adding);
	return status;
}

const struct bt_plugin *bt_plugin_at(uint32_t id)
{
	BT_REQUIRE(id < bt_plugin_n());
	return plugins[id];
}

uint32_t bt_plugin_find(struct bt_str name)
{
	uint32_t n = bt_plugin_n();

	for (uint32_t id = 0; id < n; id++) {
		if (bt_str_is(name, plugins[id]->name)) {
			return id;
		}
	}
	return BT_PLUGIN_NONE;
}

struct bt_str bt_plugin_name(uint32_t id)
{
	BT_REQUIRE(id < bt_plugin_n());
	return bt_str(bt_plugin_at(id)->name);
}

bool bt_point_exists(enum bt_point point, const struct bt_release *release)
{
	BT_REQUIRE(point < BT_POINT_N);
	return !points[point].since || bt_release_has(release, points[point].since);
}

bool bt_plugin_serves(uint32_t id, enum bt_point point, const struct bt_release *release)
{
	BT_REQUIRE(id < bt_plugin_n());
	const struct bt_plugin *plugin = bt_plugin_at(id);
	bool more = plugin->more_points && bt_release_has(release, plugin->more_by);

	return bt_point_exists(point, release) &&
	       (plugin->points | (more ? plugin->more_points : 0)) >> point & 1;
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
