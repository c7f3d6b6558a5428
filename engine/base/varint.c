/* SPDX-License-Identifier: Apache-2.0
 * Numbers and texts as bytes.
 */
#include "engine/base/varint.h"
#include "engine/base/check.h"

void bt_varint_put(uint64_t n, struct bt_buf *out)
{
	while (n >= 0x80) {
		bt_buf_char(out, (char)(n | 0x80));
		n >>= 7;
	}
	bt_buf_char(out, (char)n);
}

void bt_varint_put_signed(int64_t n, struct bt_buf *out)
{
	bt_varint_put((uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0), out);
}

void bt_varint_put_text(struct bt_str text, struct bt_buf *out)
{
	BT_REQUIRE_HOT(text.ptr || text.len == 0);
	bt_varint_put(text.len, out);
	bt_buf_str(out, text);
}

bool bt_varint_get(struct bt_str *bytes, uint64_t *out_number)
{
	uint64_t n = 0;

	for (size_t i = 0; i < bytes->len && i < BT_VARINT_MAX; i++) {
		uint8_t byte = (uint8_t)bytes->ptr[i];

		if (i == BT_VARINT_MAX - 1 && byte > 1) {
			return false;
		}
		n |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (byte < 0x80) {
			BT_INVARIANT(i < bytes->len);
			*bytes = bt_str_sub(*bytes, i + 1, bytes->len);
			*out_number = n;
			return true;
		}
	}
	return false;
}

bool bt_varint_get_signed(struct bt_str *bytes, int64_t *out_number)
{
	uint64_t n;

	if (!bt_varint_get(bytes, &n)) {
		return false;
	}
	*out_number = (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
	return true;
}

bool bt_varint_get_text(struct bt_str *bytes, struct bt_str *out_text)
{
	uint64_t n;

	if (!bt_varint_get(bytes, &n) || n > bytes->len) {
		return false;
	}
	*out_text = bt_str_sub(*bytes, 0, (size_t)n);
	*bytes = bt_str_sub(*bytes, (size_t)n, bytes->len);
	return true;
}
