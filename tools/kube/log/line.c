/* SPDX-License-Identifier: Apache-2.0
 * Lines on the stack.
 */
#include "line_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/quote.h"

/* The truncation mark, with the closing quote. */
#define CUT	  "\xe2\x80\xa6"
#define CUT_BYTES (sizeof(CUT) - 1 + 1)

static bool log_line_add(struct bt_log_line *line, struct bt_str text)
{
	if (text.len > bt_log_line_room(line)) {
		return false;
	}
	if (text.len) {
		memcpy(line->bytes + line->n, text.ptr, text.len);
		line->n += text.len;
	}
	return true;
}

bool bt_log_line_text(struct bt_log_line *line, const char *text)
{
	return log_line_add(line, bt_str(text));
}

bool bt_log_line_int(struct bt_log_line *line, int64_t value, unsigned width, char pad)
{
	char digits[64];
	size_t at = sizeof(digits);
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	while (sizeof(digits) - at < width && at > 1) {
		digits[--at] = pad;
	}
	if (value < 0) {
		digits[--at] = '-';
	}
	return log_line_add(line, (struct bt_str){digits + at, sizeof(digits) - at});
}

bool bt_log_line_real(struct bt_log_line *line, double value)
{
	char text[40];

	if (!isfinite(value)) {
		return bt_log_line_text(line, isnan(value) ? "\"NaN\"" : value > 0 ? "\"+Inf\"" : "\"-Inf\"");
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value) {
			break;
		}
	}
	return bt_log_line_text(line, text);
}

/* Adds the characters of text as long as they fit before limit. Returns: whether all did. */
static bool quote_part(struct bt_log_line *line, struct bt_str text, bool go, size_t limit)
{
	enum bt_quote_style style = go ? BT_QUOTE_GO : BT_QUOTE_JSON_VISIBLE;
	char out[BT_QUOTE_BYTES_MAX];

	for (size_t at = 0, taken; at < text.len; at += taken) {
		size_t n = bt_quote_character(style, text, at, out, &taken);

		if (line->n + n > limit) {
			return false;
		}
		memcpy(line->bytes + line->n, out, n);
		line->n += n;
	}
	return true;
}

bool bt_log_line_quote(struct bt_log_line *line, struct bt_str first, struct bt_str second, bool go)
{
	size_t room = bt_log_line_room(line);

	if (room < 1 + CUT_BYTES) {
		return false;
	}
	if (room > BT_LOG_VALUE_BYTES) {
		room = BT_LOG_VALUE_BYTES;
	}
	size_t limit = line->n + room - CUT_BYTES;

	line->bytes[line->n++] = '"';
	if (!quote_part(line, first, go, limit) ||
		(first.len && second.len && !quote_part(line, bt_str("/"), go, limit)) ||
		!quote_part(line, second, go, limit)) {
		memcpy(line->bytes + line->n, CUT, sizeof(CUT) - 1);
		line->n += sizeof(CUT) - 1;
	}
	line->bytes[line->n++] = '"';
	return true;
}
