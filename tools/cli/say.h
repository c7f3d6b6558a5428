/* SPDX-License-Identifier: Apache-2.0
 * What a command says to people on standard error. Names and values of the input are in such messages, so
 * every character that a terminal would obey, or not show, is escaped; only line ends stay.
 */
#pragma once

#include "engine/base/compiler.h"

/* Writes the message, in one piece as far as the system lets. Context: any thread; allocates. */
void bt_say(const char *format, ...) BT_PRINTF(1, 2);
