/* SPDX-License-Identifier: Apache-2.0
 * Decodes and counts code points, and replaces bytes that are not UTF-8.
 */
#include "engine/base/utf8.h"

#include <string.h>

#include "engine/base/check.h"

size_t bt_utf8_decode(struct bt_str text, size_t from, uint32_t *out_rune)
{
	BT_REQUIRE_HOT(from < text.len);
	const unsigned char *p = (const unsigned char *)text.ptr + from;
	size_t n = bt_utf8_bytes(p, text.len - from);
	uint32_t rune = n > 1 ? p[0] & (0x7fu >> n) : p[0];

	for (size_t i = 1; i < n; i++) {
		rune = rune << 6 | (p[i] & 0x3fu);
	}
	*out_rune = n ? rune : BT_UTF8_RUNE_ERROR;
	return n ? n : 1;
}

size_t bt_utf8_encode(uint32_t rune, char out_text[BT_UTF8_BYTES_MAX])
{
	/* The prefix bits of a first byte, by length. */
	static const unsigned char first[BT_UTF8_BYTES_MAX + 1] = {0, 0, 0xc0, 0xe0, 0xf0};

	if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) {
		rune = BT_UTF8_RUNE_ERROR;
	}
	size_t n = rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--) {
		out_text[i] = (char)(0x80 | (rune & 0x3f));
		rune >>= 6;
	}
	out_text[0] = (char)(first[n] | rune);
	return n;
}

size_t bt_utf8_rune_n(struct bt_str text)
{
	const unsigned char *p = (const unsigned char *)text.ptr;
	size_t n = 0;

	for (size_t i = 0, step; i < text.len; i += step ? step : 1) {
		step = bt_utf8_bytes(p + i, text.len - i);
		n++;
	}
	return n;
}

size_t bt_utf8_foreign_n(struct bt_str text)
{
	const unsigned char *p = (const unsigned char *)text.ptr;
	size_t foreign_n = 0;

	for (size_t i = 0, step; i < text.len; i += step ? step : 1) {
		step = bt_utf8_bytes(p + i, text.len - i);
		foreign_n += step == 0;
	}
	return foreign_n;
}

void bt_utf8_replace(char *to, struct bt_str text)
{
	const unsigned char *p = (const unsigned char *)text.ptr;

	for (size_t i = 0, step; i < text.len; i += step ? step : 1) {
		step = bt_utf8_bytes(p + i, text.len - i);
		if (step) {
			memcpy(to, text.ptr + i, step);
			to += step;
		} else {
			memcpy(to, BT_UTF8_REPLACEMENT, BT_UTF8_REPLACEMENT_BYTES);
			to += BT_UTF8_REPLACEMENT_BYTES;
		}
	}
}
