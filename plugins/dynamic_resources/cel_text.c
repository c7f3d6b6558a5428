/* SPDX-License-Identifier: Apache-2.0
 * UTF-8 as Go reads and writes it.
 */
#include "plugins/dynamic_resources/cel_int.h"

#define RUNE_ERROR 0xfffd

static inline bool is_tail(struct bt_str text, size_t ix)
{
	return ix < text.len && ((unsigned char)text.ptr[ix] & 0xc0) == 0x80;
}

static inline uint32_t tail_bits(struct bt_str text, size_t ix)
{
	return (unsigned char)text.ptr[ix] & 0x3f;
}

size_t bt_cel_decode(struct bt_str text, size_t from, uint32_t *out_rune)
{
	uint32_t first = (unsigned char)text.ptr[from];
	uint32_t rune;

	*out_rune = RUNE_ERROR;
	if (first < 0x80) {
		*out_rune = first;
		return 1;
	}
	if (first >= 0xc2 && first <= 0xdf && is_tail(text, from + 1)) {
		*out_rune = (first & 0x1f) << 6 | tail_bits(text, from + 1);
		return 2;
	}
	if (first >= 0xe0 && first <= 0xef && is_tail(text, from + 1) && is_tail(text, from + 2)) {
		rune = (first & 0xf) << 12 | tail_bits(text, from + 1) << 6 | tail_bits(text, from + 2);
		if (rune >= 0x800 && (rune < 0xd800 || rune > 0xdfff)) {
			*out_rune = rune;
			return 3;
		}
		return 1;
	}
	if (first >= 0xf0 && first <= 0xf4 && is_tail(text, from + 1) && is_tail(text, from + 2) &&
		is_tail(text, from + 3)) {
		rune = (first & 7) << 18 | tail_bits(text, from + 1) << 12 | tail_bits(text, from + 2) << 6 |
		       tail_bits(text, from + 3);
		if (rune >= 0x10000 && rune <= 0x10ffff) {
			*out_rune = rune;
			return 4;
		}
	}
	return 1;
}

size_t bt_cel_encode(uint32_t rune, char out_text[4])
{
	if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) {
		rune = RUNE_ERROR;
	}
	if (rune < 0x80) {
		out_text[0] = (char)rune;
		return 1;
	}
	if (rune < 0x800) {
		out_text[0] = (char)(0xc0 | rune >> 6);
		out_text[1] = (char)(0x80 | (rune & 0x3f));
		return 2;
	}
	if (rune < 0x10000) {
		out_text[0] = (char)(0xe0 | rune >> 12);
		out_text[1] = (char)(0x80 | (rune >> 6 & 0x3f));
		out_text[2] = (char)(0x80 | (rune & 0x3f));
		return 3;
	}
	out_text[0] = (char)(0xf0 | rune >> 18);
	out_text[1] = (char)(0x80 | (rune >> 12 & 0x3f));
	out_text[2] = (char)(0x80 | (rune >> 6 & 0x3f));
	out_text[3] = (char)(0x80 | (rune & 0x3f));
	return 4;
}

size_t bt_cel_rune_n(struct bt_str text)
{
	size_t n = 0;
	uint32_t rune;

	for (size_t i = 0; i < text.len; n++) {
		i += (unsigned char)text.ptr[i] < 0x80 ? 1 : bt_cel_decode(text, i, &rune);
	}
	return n;
}
