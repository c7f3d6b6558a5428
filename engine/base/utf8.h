/* SPDX-License-Identifier: Apache-2.0
 * UTF-8: sequences, code points, and the replacement of invalid bytes. Source: Go's unicode/utf8, 1.26.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/str.h"

#define BT_UTF8_BYTES_MAX 4

/* The replacement of an invalid byte: as a code point, and in UTF-8. */
#define BT_UTF8_RUNE_ERROR	  0xfffdu
#define BT_UTF8_REPLACEMENT	  "\xef\xbf\xbd"
#define BT_UTF8_REPLACEMENT_BYTES 3u

/* The length of the sequence at p, or 0 when invalid: overlong, a surrogate, truncated, above U+10FFFF.
 * Requires: left is not 0. */
BT_INLINE size_t bt_utf8_bytes(const unsigned char *p, size_t left)
{
	BT_REQUIRE_HOT(left > 0);
	size_t n = p[0] < 0x80	 ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0;

	if (n == 0 || n > left) {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool outside = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
	return overlong || outside ? 0 : n;
}

/* Is c a continuation byte? */
BT_INLINE bool bt_utf8_continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The code point at from, or U+FFFD for an invalid byte. Returns its bytes, at least 1.
 * Requires: from is before the end. */
size_t bt_utf8_decode(struct bt_str text, size_t from, uint32_t *out_rune);

/* Writes a code point; U+FFFD for an invalid one. Returns its bytes. */
size_t bt_utf8_encode(uint32_t rune, char out_text[BT_UTF8_BYTES_MAX]);

/* The number of code points; an invalid byte counts as one. */
size_t bt_utf8_rune_n(struct bt_str text);

/* The number of invalid bytes. */
size_t bt_utf8_foreign_n(struct bt_str text);

/* Copies with U+FFFD in place of each invalid byte, as Go's encoding/json does. to has room for text.len +
 * (BT_UTF8_REPLACEMENT_BYTES - 1) * bt_utf8_foreign_n(text) bytes. */
void bt_utf8_replace(char *to, struct bt_str text);
