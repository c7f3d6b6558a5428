/* SPDX-License-Identifier: Apache-2.0
 * Out-of-tree plugins with the public ABI (engine/berth_plugin.h): wraps a descriptor in a struct bt_plugin
 * and registers it. Context: any thread.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/berth_plugin.h"

/*
 * Adds a plugin for the lifetime of the process. build: identifies this build of the plugin, or "".
 * Returns: BT_OK; BT_INVALID, BT_UNSUPPORTED, BT_EXISTS or BT_RANGE with reason and remedy in out_error.
 * Owns   : the caller, who must keep the descriptor valid until the process exits; its functions are called
 * until then.
 */
enum bt_status bt_out_of_tree_add(
	const struct berth_plugin *descriptor, struct bt_str build, struct bt_buf *out_error);

/* Appends the version and build of the registry's plugin. Nothing for in-tree plugins. */
void bt_out_of_tree_identity(uint32_t id, struct bt_buf *out_text);

/* The host functions that plugins may call. */
const struct berth_plugin_host *bt_out_of_tree_host(void);
