/* SPDX-License-Identifier: Apache-2.0
 * Base64 in the standard alphabet, with padding. Source: RFC 4648 and Go's encoding/base64, 1.26.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Appends the decoded bytes; line ends are ignored.
 * Returns : false when invalid, with the offset of Go's error in *out_bad. Nothing is appended then, but
 *           bytes may have been written past the end of out.
 */
bool bt_base64_decode(struct bt_str text, struct bt_buf *out, size_t *out_bad);

void bt_base64_encode(struct bt_str bytes, struct bt_buf *out);
