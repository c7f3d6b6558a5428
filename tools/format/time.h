/* SPDX-License-Identifier: Apache-2.0
 * Times as the API writes them: RFC 3339, as nanoseconds since the epoch.
 * Context: any thread; nothing is shared.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/str.h"

/* Reads a time, with fraction and offset; saturated. */
enum bt_status bt_time_parse(struct bt_str text, int64_t *out_ns);

/* Writes a time in UTC, with a fraction if it has one; no NUL. Returns its length. */
#define BT_TIME_TEXT_MAX 48
size_t bt_time_text(int64_t ns, char out_text[BT_TIME_TEXT_MAX]);
