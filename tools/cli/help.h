/* SPDX-License-Identifier: Apache-2.0
 * Help texts and man pages, made from the command tables. Context: any thread; allocates.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/buf.h"
#include "tools/cli/command.h"

/* The page that lists all commands. */
void bt_help_overview(bool color, struct bt_buf *out);

/* One command's page. */
void bt_help_command(const struct bt_command *command, bool color, struct bt_buf *out);

/* The man pages berth(1), for command NULL, and berth-COMMAND(1), as roff. */
void bt_help_man(const struct bt_command *command, const char *version, struct bt_buf *out);
