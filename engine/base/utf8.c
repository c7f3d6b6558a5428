/* SPDX-License-Identifier: Apache-2.0
 * Bytes that are not UTF-8, counted and replaced.
 */
#include "engine/base/utf8.h"

#include <string.h>

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
