/* SPDX-License-Identifier: Apache-2.0
 * Atomic replacement of a file: the new one grows next to it under a temporary name, and is renamed at the
 * end. Until then the old file is unchanged, even if the program dies.
 *
 *   bt_replacement_begin --> written --bt_replacement_commit--> the file
 *                               | bt_replacement_drop, or a signal that ends the program: gone
 *
 * Only SIGKILL or a crash leaves the unfinished file, ".NAME.XXXXXXXX.tmp".
 */
#pragma once

#include <stdbool.h>

#include "engine/base/compiler.h"

/* owner: private to replace.c, except fd. */
struct bt_replacement {
	int fd;	      /* for writing; the caller closes it before bt_replacement_commit */
	char *target; /* behind symbolic links */
	int slot;     /* among the unfinished files; -1: it is written in place */
};

/*
 * Opens the replacement of path. Follows symbolic links, keeps the old file's permissions and owner if the
 * system allows, other hard links to the old file keep the old content. Other file types (a pipe, a device)
 * are written directly.
 * Returns : 0, or an errno, without holding resources. in_place: a regular file is emptied and written as
 *           well, for readers that follow it.
 * Context : any thread.
 */
int bt_replacement_begin(const char *path, bool in_place, struct bt_replacement *out) BT_MUST_CHECK;

/* The file is complete. Returns: 0, or an errno, with the old file unchanged. Ends the replacement. */
int bt_replacement_commit(struct bt_replacement *replacement) BT_MUST_CHECK;

/* Discards the new file. */
void bt_replacement_drop(struct bt_replacement *replacement);

/* Removes every unfinished file, for a program that is about to end. Context: a signal handler. */
void bt_replacements_remove(void);

/* The path after following symbolic links, even if the file does not exist: free with bt_mem_free.
 * Returns: NULL with errno for a cycle of links. */
char *bt_path_behind_links(const char *path);
