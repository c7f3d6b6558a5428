/* SPDX-License-Identifier: Apache-2.0
 * What the terminal allows: colours and progress.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether to colour what is written to the file descriptor. when is auto, always or never; auto means that fd
 * is a terminal, TERM is not dumb and NO_COLOR is not set. An explicit word wins over NO_COLOR.
 */
bool bt_terminal_color(const char *when, int fd);
