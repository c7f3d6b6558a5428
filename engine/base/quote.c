/* SPDX-License-Identifier: Apache-2.0
 * Texts in quotes. Source: Go's strconv.Quote and encoding/json, 1.26.
 */
#include "engine/base/quote.h"

/* The length of the UTF-8 sequence at the start of s and its code point; 0 when it is not valid. */
static size_t decode_rune(struct bt_str s, uint32_t *out_rune)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
	uint32_t rune;

	if (!n || n > s.len) {
		return 0;
	}
	rune = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2) {
			return 0;
		}
		rune = rune << 6 | (p[i] & 0x3f);
	}
	if (rune < least[n] || rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000)) {
		return 0;
	}
	*out_rune = rune;
	return n;
}

/* The code points above ASCII that text editors show as nothing: controls, blanks, marks of direction and
 * order. */
static bool is_invisible(uint32_t rune)
{
	return rune < 0xa1 || rune == 0xad || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200f) ||
	       (rune >= 0x2028 && rune <= 0x202f) || (rune >= 0x205f && rune <= 0x206f) || rune == 0x3000 ||
	       (rune >= 0xe000 && rune <= 0xf8ff) || rune == 0xfeff || rune >= 0xe0000 ||
	       (rune & 0xfffe) == 0xfffe;
}

/* One byte: an ASCII character, or one that is no UTF-8. */
static void show_byte(struct bt_buf *buf, unsigned char c)
{
	static const char names[] = "abtnvfr";

	if (c >= 7 && c <= 13) {
		bt_buf_printf(buf, "\\%c", names[c - 7]);
	} else if (c < 0x20 || c >= 0x7f) {
		bt_buf_printf(buf, "\\x%02x", c);
	} else {
		bt_buf_char(buf, (char)c);
	}
}

/* Appends the text as Go's %q writes what is between the quotes. quoted: also what would end them. */
static void show(struct bt_buf *buf, struct bt_str text, bool quoted)
{
	for (size_t i = 0; i < text.len;) {
		uint32_t rune = 0;
		size_t n = decode_rune(bt_str_sub(text, i, text.len), &rune);

		if (n < 2) {
			bt_buf_text(buf, quoted && (rune == '"' || rune == '\\') ? "\\" : "");
			show_byte(buf, (unsigned char)text.ptr[i]);
		} else if (is_invisible(rune)) {
			bt_buf_printf(buf, rune > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)rune);
		} else {
			bt_buf_add(buf, text.ptr + i, n);
		}
		i += n ? n : 1;
	}
}

void bt_printable(struct bt_buf *buf, struct bt_str text)
{
	show(buf, text, false);
}

void bt_quote(struct bt_buf *buf, struct bt_str text)
{
	bt_buf_char(buf, '"');
	show(buf, text, true);
	bt_buf_char(buf, '"');
}

void bt_quote_json(struct bt_buf *buf, struct bt_str text)
{
	static const char names[] = "btn\0fr";

	bt_buf_char(buf, '"');
	for (size_t i = 0; i < text.len;) {
		unsigned char c = (unsigned char)text.ptr[i];
		uint32_t rune = 0;
		size_t n = decode_rune(bt_str_sub(text, i, text.len), &rune);

		if (!n) {
			bt_buf_text(buf, "\\ufffd");
		} else if (c == '"' || c == '\\') {
			bt_buf_printf(buf, "\\%c", c);
		} else if (c >= 8 && c <= 13 && names[c - 8]) {
			bt_buf_printf(buf, "\\%c", names[c - 8]);
		} else if (c < 0x20 || c == '<' || c == '>' || c == '&' || rune == 0x2028 || rune == 0x2029) {
			bt_buf_printf(buf, "\\u%04x", (unsigned)rune);
		} else {
			bt_buf_add(buf, text.ptr + i, n);
		}
		i += n ? n : 1;
	}
	bt_buf_char(buf, '"');
}
