/* SPDX-License-Identifier: Apache-2.0
 * What is known about every in-tree plugin before any is built: its name, the extension points that it
 * serves, and which kind of arguments it takes. Which of them a release enables, in which order and with
 * which weights, is in engine/model/release.def.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"

enum bt_plugin_id {
	BT_PLUGIN_SCHEDULING_GATES = 0,
	BT_PLUGIN_PRIORITY_SORT,
	BT_PLUGIN_NODE_UNSCHEDULABLE,
	BT_PLUGIN_NODE_NAME,
	BT_PLUGIN_TAINT_TOLERATION,
	BT_PLUGIN_NODE_AFFINITY,
	BT_PLUGIN_NODE_PORTS,
	BT_PLUGIN_NODE_RESOURCES_FIT,
	BT_PLUGIN_VOLUME_RESTRICTIONS,
	BT_PLUGIN_NODE_VOLUME_LIMITS,
	BT_PLUGIN_VOLUME_BINDING,
	BT_PLUGIN_VOLUME_ZONE,
	BT_PLUGIN_POD_TOPOLOGY_SPREAD,
	BT_PLUGIN_INTER_POD_AFFINITY,
	BT_PLUGIN_DYNAMIC_RESOURCES,
	BT_PLUGIN_DEFAULT_PREEMPTION,
	BT_PLUGIN_NODE_RESOURCES_BALANCED_ALLOCATION,
	BT_PLUGIN_IMAGE_LOCALITY,
	BT_PLUGIN_DEFAULT_BINDER,
	BT_PLUGIN_NODE_DECLARED_FEATURES,
	BT_PLUGIN_GANG_SCHEDULING,
	BT_PLUGIN_TOPOLOGY_PLACEMENT_GENERATOR,
	BT_PLUGIN_POD_GROUP_PODS_COUNT,
	BT_PLUGIN_N
};

/* The extension points in the order in which a pod meets them; the last two belong to pod groups. */
enum bt_point {
	BT_POINT_PRE_ENQUEUE = 0,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_RESERVE,
	BT_POINT_PERMIT,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
	BT_POINT_PLACEMENT_GENERATE,
	BT_POINT_PLACEMENT_SCORE,
	BT_POINT_N
};

/* The types of plugin arguments; BT_ARGS_NONE is a plugin without any, or one that is not in-tree. */
enum bt_args_kind {
	BT_ARGS_NONE = 0,
	BT_ARGS_DEFAULT_PREEMPTION,
	BT_ARGS_INTER_POD_AFFINITY,
	BT_ARGS_NODE_AFFINITY,
	BT_ARGS_NODE_RESOURCES_FIT,
	BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION,
	BT_ARGS_POD_TOPOLOGY_SPREAD,
	BT_ARGS_VOLUME_BINDING,
	BT_ARGS_DYNAMIC_RESOURCES,
	BT_ARGS_N
};

/* The name, such as "NodeResourcesFit". Context: any thread. */
struct bt_str bt_plugin_name(enum bt_plugin_id id);

/* The plugin with that name, or BT_PLUGIN_N. Context: any thread. */
enum bt_plugin_id bt_plugin_find(struct bt_str name);

/* Whether the plugin has code for the extension point. Context: any thread. */
bool bt_plugin_serves(enum bt_plugin_id id, enum bt_point point);

/* The arguments that the plugin of that name takes. Context: any thread. */
enum bt_args_kind bt_plugin_args_kind(struct bt_str name);

/* The field of the configuration, such as "preFilter". Context: any thread. */
const char *bt_point_field(enum bt_point point);

/* The word that error texts use, such as "PreFilterPlugin". Context: any thread. */
const char *bt_point_interface(enum bt_point point);
