/* SPDX-License-Identifier: Apache-2.0
 * The options of berth run: kube-scheduler's flags, and berth's own.
 */
#pragma once

#include "tools/cli/command.h"

/* --plugin of a command. */
#define BT_PLUGIN_OPTION(text)                                                                               \
	{                                                                                                    \
		.name = "plugin", .type = BT_OPTION_TEXT, .file = BT_FILE_READ, .argument = "FILE",          \
		.repeated = true, .help = text                                                               \
	}
#define BT_PLUGIN_HELP                                                                                       \
	"Shared object with a plugin that is not berth's own (berth_plugin(3)), for profiles to enable by "  \
	"its name. May be repeated."

/* Ends with a NULL name. */
extern const struct bt_option bt_run_options[];
