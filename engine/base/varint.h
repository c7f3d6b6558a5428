/* SPDX-License-Identifier: Apache-2.0
 * Numbers and texts as bytes: varints of seven bits a byte, lowest first, as Protocol Buffers encode them.
 * Source: protobuf.dev/programming-guides/encoding (varints, zigzag).
 * Context: any thread; nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

#define BT_VARINT_MAX 10 /* bytes of the largest number */

/* Append a number; a signed number, zigzag-encoded; a text prefixed with its length in bytes. */
void bt_varint_put(uint64_t n, struct bt_buf *out);
void bt_varint_put_signed(int64_t n, struct bt_buf *out);
void bt_varint_put_text(struct bt_str text, struct bt_buf *out);

/* Consume one from the front of bytes; a text is a view. Return: false, with bytes unchanged, when truncated
 * or when the number exceeds 64 bits; for a text its length may have been consumed. */
bool bt_varint_get(struct bt_str *bytes, uint64_t *out_number);
bool bt_varint_get_signed(struct bt_str *bytes, int64_t *out_number);
bool bt_varint_get_text(struct bt_str *bytes, struct bt_str *out_text);
