/* SPDX-License-Identifier: Apache-2.0
 * JSON that Go's encoding/json accepts and RFC 8259 does not: bytes in strings that are not UTF-8, and
 * escapes of one half of a surrogate pair. An API server passes on both where a client may store custom JSON
 * (the parameters of a ResourceClaim). Go's decoder replaces both with U+FFFD.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/buf.h"

/* Writes the text with U+FFFD in these places into out, which is cleared before. Returns: false when there
 * are none of them; then out is empty. */
bool bt_json_repair(struct bt_str text, struct bt_buf *out);
