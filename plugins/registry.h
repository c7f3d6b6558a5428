/* SPDX-License-Identifier: Apache-2.0
 * The registry of plugins: the list of plugins and its lookups, so that other code names no plugin. An id is
 * a plugin's place in registry.def; plugins added at run time follow in the order of their addition. Context:
 * any thread.
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

/* Upper bound of the number of plugins. */
#define BT_PLUGIN_MAX (BT_PLUGIN_IN_TREE + BT_PLUGIN_ADDED_MAX)

/* Not a valid id. */
#define BT_PLUGIN_NONE BT_PLUGIN_MAX

static_assert(BT_PLUGIN_MAX < BT_PLUGIN_SET_ROOM, "registry.def lists too many plugins: with extenders they "
						  "must fit a set (engine/model/plugin_set.h)");

/* The current number of plugins: in-tree ones, then added ones. */
uint32_t bt_plugin_n(void);

/*
 * Adds a plugin for the lifetime of the process. Existing configurations and engines do not use it.
 * Returns: BT_OK; BT_EXISTS when the name is taken; BT_RANGE when BT_PLUGIN_ADDED_MAX plugins were added.
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
