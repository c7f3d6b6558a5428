/* SPDX-License-Identifier: Apache-2.0
 * Plugins that are not in the tree, by the public ABI (engine/berth_plugin.h): a descriptor becomes a struct
 * bt_plugin and joins the registry. Context: any thread.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/berth_plugin.h"

/*
 * Adds a plugin for the rest of the process's life. build: what tells this build of it from others, or "".
 * Returns: BT_OK; BT_INVALID, BT_UNSUPPORTED, BT_EXISTS or BT_RANGE with why, and the remedy, in out_error.
 * Owns   : the descriptor stays the caller's and must stay; its functions are called as long as the process
 * lives.
 */
enum bt_status bt_out_of_tree_add(
	const struct berth_plugin *descriptor, struct bt_str build, struct bt_buf *out_error);

/* Appends what tells the plugin of the registry from others of its name: its version and build. Nothing for
 * plugins of the tree. */
void bt_out_of_tree_identity(uint32_t id, struct bt_buf *out_text);

/* What plugins may ask. */
const struct berth_plugin_host *bt_out_of_tree_host(void);
