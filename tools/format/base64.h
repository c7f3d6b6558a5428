/* SPDX-License-Identifier: Apache-2.0
 * Base64 in the standard alphabet, with padding. Source: RFC 4648 and Go's encoding/base64, 1.26.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Appends the bytes that the text stands for; line ends in it are passed over.
 * Returns : false when it is none, with *out_bad the byte that Go's error names. Nothing is appended then,
 *           but bytes may have been written behind the end of out.
 */
bool bt_base64_decode(struct bt_str text, struct bt_buf *out, size_t *out_bad);

void bt_base64_encode(struct bt_str bytes, struct bt_buf *out);
