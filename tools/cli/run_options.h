/* SPDX-License-Identifier: Apache-2.0
 * The options of berth run: kube-scheduler's flags, and berth's own.
 */
#pragma once

#include "engine/model/release.h"
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

/* --kubernetes-version of a command that decides. */
#define BT_KUBERNETES_VERSION_OPTION                                                                         \
	{                                                                                                    \
		.name = "kubernetes-version", .type = BT_OPTION_TEXT, .argument = "1.MINOR",                 \
		.default_value = BT_RELEASE_DEFAULT_TEXT,                                                    \
		.help = "Decide as kube-scheduler of this minor version does: its rules, texts, default "    \
			"plugins and feature gates. A version that it does not know is refused with a list " \
			"of those that it does."                                                             \
	}

/* Ends with a NULL name. */
extern const struct bt_option bt_run_options[];
