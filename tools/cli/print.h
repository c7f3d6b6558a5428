/* SPDX-License-Identifier: Apache-2.0
 * Prints a command's report.
 */
#pragma once

#include "engine/base/compiler.h"
#include "tools/cli/emit.h"
#include "tools/cli/invocation.h"

/*
 * Writes the report to standard output, as the options --output and --color ask for.
 * Context : any thread; one at a time, as standard output is one.
 * Returns : BT_EXIT_OK, BT_EXIT_IO or BT_EXIT_PIPE, as bt_output_close.
 * Owns    : frees the report.
 */
int bt_print_report(struct bt_emit *emit, const struct bt_invocation *invocation) BT_MUST_CHECK;
