/* SPDX-License-Identifier: Apache-2.0
 * The registry of plugins: the one list, and how the rest of the program finds a plugin without knowing any
 * by
 * name. An id is a plugin's place in registry.def. Context: any thread.
 */
#pragma once

#include "plugins/plugin.h"

enum {
#define BT_PLUGIN(folder) BT_PLUGIN_IX_OF_##folder,
#include "plugins/registry.def"
#undef BT_PLUGIN
	BT_PLUGIN_N
};

/* A set of plugins, and of extenders, is a word. */
static_assert(BT_PLUGIN_N < 31, "a set of plugins is a word");

/* The plugin with that id. Requires: id < BT_PLUGIN_N. */
const struct bt_plugin *bt_plugin_at(uint32_t id);

/* The id of the plugin with that name, such as "NodeResourcesFit"; BT_PLUGIN_N: there is none. */
uint32_t bt_plugin_find(struct bt_str name);

/* The name. Requires: id < BT_PLUGIN_N. */
struct bt_str bt_plugin_name(uint32_t id);

/* Whether the plugin serves the extension point. Requires: id < BT_PLUGIN_N. */
bool bt_plugin_serves(uint32_t id, enum bt_point point);

/* The field of the configuration, such as "preFilter". */
const char *bt_point_field(enum bt_point point);

/* The word that error texts use, such as "PreFilterPlugin". */
const char *bt_point_interface(enum bt_point point);
