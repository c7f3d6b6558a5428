/* SPDX-License-Identifier: Apache-2.0
 * Lines on the stack. Source: Go's strconv.Quote, and RFC 8259.
 */
#include "line_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What stands for what was cut, with the closing quote. */
#define CUT	  "\xe2\x80\xa6"
#define CUT_BYTES (sizeof(CUT) - 1 + 1)

bool bt_log_line_add(struct bt_log_line *line, struct bt_str text)
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
	return bt_log_line_add(line, bt_str(text));
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
	return bt_log_line_add(line, (struct bt_str){digits + at, sizeof(digits) - at});
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

/* The bytes of the UTF-8 character at the start of n bytes, and its code point; 0: there is none. */
static unsigned decode(const unsigned char *at, size_t n, uint32_t *out_point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned want = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	uint32_t point = want == 1 ? at[0] : (uint32_t)at[0] & (0x7fu >> want);

	if (want == 0 || want > n || at[0] > 0xf4) {
		return 0;
	}
	for (unsigned i = 1; i < want; i++) {
		if ((at[i] & 0xc0) != 0x80) {
			return 0;
		}
		point = point << 6 | (at[i] & 0x3fu);
	}
	if (point < least[want] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
		return 0;
	}
	*out_point = point;
	return want;
}

/* Characters that a terminal obeys, or that are not to be seen: C1 controls, separators, directions, marks.
 */
static bool is_shy(uint32_t point)
{
	return (point >= 0x7f && point <= 0xa0) || point == 0xad || (point >= 0x200b && point <= 0x200f) ||
	       (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
	       point == 0xfeff;
}

/* Writes how one character stands in a string. Returns: how many bytes that are; *out_taken those it was. */
static size_t escape(const unsigned char *at, size_t n, bool go, char out[16], size_t *out_taken)
{
	static const char short_go[] = "\aa\bb\ff\nn\rr\tt\vv\"\"\\\\";
	static const char short_json[] = "\bb\ff\nn\rr\tt\"\"\\\\";
	uint32_t point = 0;
	unsigned taken = decode(at, n, &point);

	*out_taken = taken ? taken : 1;
	if (taken == 0) {
		return (size_t)(go ? snprintf(out, 16, "\\x%02x", at[0]) : snprintf(out, 16, "\\ufffd"));
	}
	for (const char *pair = go ? short_go : short_json; *pair; pair += 2) {
		if ((uint32_t)(unsigned char)pair[0] == point) {
			out[0] = '\\';
			out[1] = pair[1];
			return 2;
		}
	}
	if (go && (point < 0x20 || point == 0x7f)) {
		return (size_t)snprintf(out, 16, "\\x%02x", point);
	}
	if (point < 0x20 || is_shy(point)) {
		return (size_t)snprintf(out, 16, "\\u%04x", point);
	}
	memcpy(out, at, taken);
	return taken;
}

/* Adds the characters of text as long as they fit before limit. Returns: whether all did. */
static bool quote_part(struct bt_log_line *line, struct bt_str text, bool go, size_t limit)
{
	char out[16];

	for (size_t at = 0, taken; at < text.len; at += taken) {
		size_t n = escape((const unsigned char *)text.ptr + at, text.len - at, go, out, &taken);

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
