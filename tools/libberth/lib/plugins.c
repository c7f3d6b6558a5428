/* SPDX-License-Identifier: Apache-2.0
 * Out-of-tree plugins: a descriptor, or a shared object with one.
 */
#include "engine/berth_plugin.h"

#include "plugins/out_of_tree.h"
#include "tools/kube/config/plugin_file.h"
#include "tools/libberth/lib/lib_int.h"

static enum berth_status plugins_status(enum bt_status status, struct bt_buf *error)
{
	enum berth_status result = BERTH_BAD_INPUT;

	if (status == BT_OK) {
		result = bt_lib_fail(NULL, BERTH_OK, "%s", "");
	} else if (status == BT_RANGE) {
		result = bt_lib_fail(NULL, BERTH_LIMIT, "%s", error->ptr);
	} else {
		result = bt_lib_fail(NULL, result, "%s", error->ptr);
	}
	bt_buf_fini(error);
	return result;
}

enum berth_status berth_plugin_add(const struct berth_plugin *plugin)
{
	struct bt_buf error = {0};

	if (!plugin) {
		return bt_lib_fail(NULL, BERTH_INVALID, "plugin is NULL");
	}
	return plugins_status(bt_out_of_tree_add(plugin, bt_str(""), &error), &error);
}

enum berth_status berth_plugin_load(const char *path)
{
	struct bt_buf error = {0};

	if (!path) {
		return bt_lib_fail(NULL, BERTH_INVALID, "path is NULL");
	}
	return plugins_status(bt_plugin_file_load(path, &error), &error);
}
