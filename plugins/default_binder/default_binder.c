/* SPDX-License-Identifier: Apache-2.0
 * DefaultBinder: the engine binds.
 */
#include "plugins/plugin.h"

const struct bt_plugin bt_plugin_default_binder = {
	.name = "DefaultBinder",
	.points = BT_AT(BIND),
};
