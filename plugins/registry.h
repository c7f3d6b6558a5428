/* SPDX-License-Identifier: Apache-2.0
 * The registry of plugins: the one list, and how the rest of the program finds a plugin without knowing any
 * by name. An id is a plugin's place in registry.def; plugins that were added at run time follow in the order
 * in which they came. Context: any thread.
 */
#pragma once

#include <assert.h>

#include "engine/base/status.h"
#include "engine/model/plugin_set.h"
#include "plugins/plugin.h"

enum {
#define BT_PLUGIN(folder) BT_PLUGIN_IX_OF_##folder,
#include "plugins/registry.def"
#undef BT_PLUGIN
	BT_PLUGIN_IN_TREE
};

/* The most plugins that may be added at run time. */
#define BT_PLUGIN_ADDED_MAX 8

/* More plugins than that there never are. */
#define BT_PLUGIN_MAX (BT_PLUGIN_IN_TREE + BT_PLUGIN_ADDED_MAX)

/* No plugin's id. */
#define BT_PLUGIN_NONE BT_PLUGIN_MAX

static_assert(BT_PLUGIN_MAX < BT_PLUGIN_SET_ROOM, "registry.def lists too many plugins: with extenders they "
						  "must fit a set (engine/model/plugin_set.h)");

/* How many plugins there are now: those in the tree, and behind them those that were added. */
uint32_t bt_plugin_n(void);

/*
 * Adds a plugin for the rest of the process's life. Configurations and engines that are there already do not
 * use it.
 * Returns: BT_OK; BT_EXISTS when a plugin of that name is there; BT_RANGE when BT_PLUGIN_ADDED_MAX are there.
 */
enum bt_status bt_plugin_add(const struct bt_plugin *plugin);

/* The plugin with that id. Requires: id < bt_plugin_n(). */
const struct bt_plugin *bt_plugin_at(uint32_t id);

/* The id of the plugin with that name, such as "NodeResourcesFit", or BT_PLUGIN_NONE. */
uint32_t bt_plugin_find(struct bt_str name);

/* The name. Requires: id < bt_plugin_n(). */
struct bt_str bt_plugin_name(uint32_t id);

/* Whether the plugin serves the extension point. Requires: id < bt_plugin_n(). */
bool bt_plugin_serves(uint32_t id, enum bt_point point, const struct bt_release *release);

/* Does the release have the point? */
bool bt_point_exists(enum bt_point point, const struct bt_release *release);

/* The field of the configuration, such as "preFilter". */
const char *bt_point_field(enum bt_point point);

/* The word that error texts use, such as "PreFilterPlugin". */
const char *bt_point_interface(enum bt_point point);
