/* SPDX-License-Identifier: Apache-2.0
 * Quotes texts. Source: Go's strconv.Quote and encoding/json, 1.26; RFC 8259.
 */
#include "engine/base/quote.h"

#include <stdio.h>

#include "engine/base/utf8.h"

/* Invisible code points from DEL on: controls, spaces, directional marks. */
static bool is_invisible(uint32_t rune)
{
	return (rune >= 0x7f && rune < 0xa1) || rune == 0xad || rune == 0x1680 ||
	       (rune >= 0x2000 && rune <= 0x200f) || (rune >= 0x2028 && rune <= 0x202f) ||
	       (rune >= 0x205f && rune <= 0x206f) || rune == 0x3000 || (rune >= 0xe000 && rune <= 0xf8ff) ||
	       rune == 0xfeff || rune >= 0xe0000 || (rune & 0xfffe) == 0xfffe;
}

/* Code points that YAML forbids, too: DEL, the C1 controls, which terminals interpret, and noncharacters. */
static bool is_unprintable(uint32_t rune)
{
	return (rune >= 0x7f && rune < 0xa0) || (rune & 0xfffe) == 0xfffe;
}

static bool is_go(enum bt_quote_style style)
{
	return style == BT_QUOTE_GO || style == BT_QUOTE_TERMINAL;
}

/* Is the code point written unescaped? */
static bool is_plain(enum bt_quote_style style, uint32_t rune)
{
	if (rune < 0x20 || rune == '"' || rune == '\\') {
		return style == BT_QUOTE_TERMINAL && rune >= 0x20;
	}
	switch (style) {
	case BT_QUOTE_GO:
	case BT_QUOTE_TERMINAL:
	case BT_QUOTE_JSON_VISIBLE:
		break;
	case BT_QUOTE_JSON:
		return !is_unprintable(rune);
	case BT_QUOTE_JSON_GO:
		return rune != '<' && rune != '>' && rune != '&' && rune != 0x2028 && rune != 0x2029;
	}
	return !is_invisible(rune);
}

static size_t escape(enum bt_quote_style style, uint32_t rune, char out[BT_QUOTE_BYTES_MAX])
{
	static const char letters[] = "abtnvfr";
	bool has_letter = is_go(style) || (rune != '\a' && rune != '\v');

	if (rune == '"' || rune == '\\' || (rune >= '\a' && rune <= '\r' && has_letter)) {
		out[0] = '\\';
		out[1] = rune <= '\r' ? letters[rune - '\a'] : (char)rune;
		return 2;
	}
	if (is_go(style) && rune < 0x80) {
		return (size_t)snprintf(out, BT_QUOTE_BYTES_MAX, "\\x%02x", (unsigned)rune);
	}
	if (rune <= 0xffff) {
		return (size_t)snprintf(out, BT_QUOTE_BYTES_MAX, "\\u%04x", (unsigned)rune);
	}
	if (is_go(style)) {
		return (size_t)snprintf(out, BT_QUOTE_BYTES_MAX, "\\U%08x", (unsigned)rune);
	}
	return (size_t)snprintf(out, BT_QUOTE_BYTES_MAX, "\\u%04x\\u%04x",
		(unsigned)(0xd800 + ((rune - 0x10000) >> 10)), (unsigned)(0xdc00 + (rune & 0x3ff)));
}

size_t bt_quote_character(enum bt_quote_style style, struct bt_str text, size_t from,
	char out[BT_QUOTE_BYTES_MAX], size_t *out_taken)
{
	uint32_t rune;
	size_t n = *out_taken = bt_utf8_decode(text, from, &rune);

	if (n == 1 && rune == BT_UTF8_RUNE_ERROR) {
		return is_go(style) ? (size_t)snprintf(out, BT_QUOTE_BYTES_MAX, "\\x%02x",
					      (unsigned)(unsigned char)text.ptr[from])
				    : escape(style, rune, out);
	}
	if (!is_plain(style, rune)) {
		return escape(style, rune, out);
	}
	for (size_t i = 0; i < n; i++) {
		out[i] = text.ptr[from + i];
	}
	return n;
}

/* Bytes that are unescaped in every style; most texts have no others. */
static bool is_safe(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

/* Appends the text between the quotes. */
static void quote_add(enum bt_quote_style style, struct bt_buf *buf, struct bt_str text)
{
	char out[BT_QUOTE_BYTES_MAX];

	for (size_t at = 0, taken; at < text.len; at += taken) {
		for (taken = 0; at + taken < text.len && is_safe((unsigned char)text.ptr[at + taken]);) {
			taken++;
		}
		if (taken) {
			bt_buf_add(buf, text.ptr + at, taken);
		} else {
			size_t n = bt_quote_character(style, text, at, out, &taken);

			bt_buf_add(buf, out, n);
		}
	}
}

static void add_quoted(enum bt_quote_style style, struct bt_buf *buf, struct bt_str text)
{
	bt_buf_char(buf, '"');
	quote_add(style, buf, text);
	bt_buf_char(buf, '"');
}

void bt_printable(struct bt_buf *buf, struct bt_str text)
{
	quote_add(BT_QUOTE_TERMINAL, buf, text);
}

void bt_quote(struct bt_buf *buf, struct bt_str text)
{
	add_quoted(BT_QUOTE_GO, buf, text);
}

void bt_quote_json(struct bt_buf *buf, struct bt_str text)
{
	add_quoted(BT_QUOTE_JSON, buf, text);
}

void bt_quote_json_go(struct bt_buf *buf, struct bt_str text)
{
	add_quoted(BT_QUOTE_JSON_GO, buf, text);
}
