/* SPDX-License-Identifier: Apache-2.0
 * The terminal's capabilities: colours, progress, columns.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether to colour what is written to the file descriptor. when is auto, always or never; auto means that fd
 * is a terminal, TERM is not dumb and NO_COLOR is not set. An explicit word wins over NO_COLOR.
 */
bool bt_terminal_color(const char *when, int fd);

/* Does TERM lack control sequences? */
bool bt_terminal_is_dumb(void);

/* The width of the file descriptor's terminal; 80 if unknown. */
unsigned bt_terminal_columns(int fd);
