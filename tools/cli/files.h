/* SPDX-License-Identifier: Apache-2.0
 * Which files a command line reads and writes, by the marks in the command's table. Context: one thread.
 */
#pragma once

#include "engine/base/compiler.h"
#include "tools/cli/invocation.h"

/* How folders are read. list: calls found for each file that is read in and below the folder; takes: is a
 * file with that name read? */
struct bt_files_reader {
	void (*list)(const char *folder, void (*found)(void *context, const char *file), void *context);
	bool (*takes)(const char *name);
};

/* Is an output of the command line standard output? Then the report does not use it. */
bool bt_files_use_standard(const struct bt_invocation *invocation);

/*
 * Refuses an output that is also an input, and two outputs that are one file, by any name, before opening
 * files for writing. Devices that discard data (/dev/null) may be written twice.
 * Returns : BT_EXIT_OK, or BT_EXIT_USAGE with a message on standard error.
 */
int bt_files_check(
	const struct bt_invocation *invocation, const struct bt_files_reader *reader) BT_MUST_CHECK;

/* Do both paths, through any links, refer to the same file, existing or not? */
bool bt_files_are_one(const char *a, const char *b);
