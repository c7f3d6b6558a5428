/* SPDX-License-Identifier: Apache-2.0
 * Messages for people on standard error. They contain names and values of the input, so terminal controls and
 * invisible characters are escaped, except line ends.
 */
#pragma once

#include "engine/base/compiler.h"

/* Writes the message, with a single write if possible. Context: any thread; allocates. */
void bt_message(const char *format, ...) BT_PRINTF(1, 2);
