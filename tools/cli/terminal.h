/* SPDX-License-Identifier: Apache-2.0
 * What the terminal allows: colours, progress, columns.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether to colour what is written to the file descriptor. when is auto, always or never; auto means that fd
 * is a terminal, TERM is not dumb and NO_COLOR is not set. An explicit word wins over NO_COLOR.
 */
bool bt_terminal_color(const char *when, int fd);

/* Whether TERM says that control sequences would be shown as they are. */
bool bt_terminal_is_dumb(void);

/* How wide the terminal behind the file descriptor is; 80 when nobody knows. */
unsigned bt_terminal_columns(int fd);
