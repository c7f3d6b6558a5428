/* SPDX-License-Identifier: Apache-2.0
 * Plugins of others: a descriptor, or a shared object with one.
 */
#include "engine/berth_plugin.h"

#include "plugins/out_of_tree.h"
#include "tools/kube/config/plugin_file.h"
#include "tools/libberth/lib/lib_int.h"

static enum berth_status plugins_told(enum bt_status status, struct bt_buf *error)
{
	enum berth_status told = BERTH_BAD_INPUT;

	if (status == BT_OK) {
		told = bt_lib_fail(NULL, BERTH_OK, "%s", "");
	} else if (status == BT_RANGE) {
		told = bt_lib_fail(NULL, BERTH_LIMIT, "%s", error->ptr);
	} else {
		told = bt_lib_fail(NULL, told, "%s", error->ptr);
	}
	bt_buf_fini(error);
	return told;
}

enum berth_status berth_plugin_add(const struct berth_plugin *plugin)
{
	struct bt_buf error = {0};

	if (!plugin) {
		return bt_lib_fail(NULL, BERTH_INVALID, "plugin is NULL");
	}
	return plugins_told(bt_out_of_tree_add(plugin, bt_str(""), &error), &error);
}

enum berth_status berth_plugin_load(const char *path)
{
	struct bt_buf error = {0};

	if (!path) {
		return bt_lib_fail(NULL, BERTH_INVALID, "path is NULL");
	}
	return plugins_told(bt_plugin_file_load(path, &error), &error);
}
