/* SPDX-License-Identifier: Apache-2.0
 * Repairs JSON as Go does.
 */
#include "tools/format/json_repair.h"

#include <string.h>

#include "engine/base/utf8.h"

#define ESCAPE_BYTES 6 /* of \u and four digits */

/* The UTF-16 unit of the escape at p, or -1: not a \u escape. */
static int32_t unit_at(const char *p, size_t left)
{
	int32_t unit = 0;

	if (left < ESCAPE_BYTES || p[0] != '\\' || p[1] != 'u') {
		return -1;
	}
	for (int i = 2; i < ESCAPE_BYTES; i++) {
		char c = p[i];
		int digit = c >= '0' && c <= '9'		     ? c - '0'
			    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
								     : -1;

		if (digit < 0) {
			return -1;
		}
		unit = unit << 4 | digit;
	}
	return unit;
}

static bool is_low(int32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

static bool is_high(int32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

/* Overwrites halves of pairs. Returns whether there were any. */
static bool repair_escapes(char *p, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n;) {
		if (p[i] != '\\') {
			i++;
			continue;
		}
		int32_t unit = unit_at(p + i, n - i);
		if (unit < 0) {
			i += 2;
		} else if (is_high(unit) && n - i > ESCAPE_BYTES &&
			   is_low(unit_at(p + i + ESCAPE_BYTES, n - i - ESCAPE_BYTES))) {
			i += 2 * ESCAPE_BYTES;
		} else {
			if (is_high(unit) || is_low(unit)) {
				memcpy(p + i + 2, "fffd", 4);
				any = true;
			}
			i += ESCAPE_BYTES;
		}
	}
	return any;
}

bool bt_json_repair(struct bt_str text, struct bt_buf *out)
{
	size_t foreign_n = bt_utf8_foreign_n(text);
	size_t n = text.len + (BT_UTF8_REPLACEMENT_BYTES - 1) * foreign_n;

	bt_buf_clear(out);
	bt_buf_reserve(out, n);
	bt_utf8_replace(out->ptr, text);
	bool halves = repair_escapes(out->ptr, n);
	out->len = foreign_n || halves ? n : 0;
	out->ptr[out->len] = '\0';
	return foreign_n || halves;
}
