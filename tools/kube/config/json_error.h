/* SPDX-License-Identifier: Apache-2.0
 * Go's decoder errors for text that is not JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Looks for the first place at which the text stops being one JSON value.
 * Returns: false when Go takes the text; true with the words appended to out_error and the place in
 * out_offset.
 */
bool bt_json_error_text(struct bt_str text, struct bt_buf *out_error, size_t *out_offset);
