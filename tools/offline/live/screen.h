/* SPDX-License-Identifier: Apache-2.0
 * A full-screen view on the alternate screen, which restores the original content at bt_screen_end, when a
 * signal ends the program, and while it is stopped (Ctrl-Z).
 * Context: one thread; one screen at a time.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/str.h"
#include "tools/offline/live/view.h"

/* Does the file descriptor's terminal support this? */
bool bt_screen_works(int fd);

void bt_screen_begin(int fd);
void bt_screen_end(void);

/* The terminal's size now; 80 by 24 if unknown. */
struct bt_live_size bt_screen_size(int fd);

/* Replaces the picture: lines, as bt_live_draw makes them. */
void bt_screen_show(struct bt_str picture);
