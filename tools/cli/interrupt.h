/* SPDX-License-Identifier: Apache-2.0
 * SIGINT and SIGTERM as a flag that long loops poll, so that a command can report partial results. A second
 * signal ends the program immediately, and so do the first SIGHUP, SIGQUIT and SIGXCPU; incomplete files are
 * removed first (tools/cli/replace.h).
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Written by the signal handler only. */
extern volatile sig_atomic_t bt_interrupt;

/* Installs the handlers and ignores SIGPIPE and SIGXFSZ, whose errors then come from write.
 * Context: once, at start. */
void bt_interrupt_install(void);

/* Sets a function that a second signal calls before it ends the program; NULL: none. Context: one thread;
 * restore runs in the signal handler. */
void bt_interrupt_before_exit(void (*restore)(void));

/* Has the user interrupted the program? Context: any thread; a plain load. */
static inline bool bt_interrupt_pending(void)
{
	return bt_interrupt != 0;
}
