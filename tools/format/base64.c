/* SPDX-License-Identifier: Apache-2.0
 * Base64. OpenSSL's decoder does not report the offset of an error, accepts spaces, and ends at '-'.
 */
#include "tools/format/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_of(char c)
{
	const char *hit = c ? strchr(digits, c) : NULL;

	return hit ? (int)(hit - digits) : -1;
}

static size_t skip_breaks(struct bt_str text, size_t i)
{
	while (i < text.len && (text.ptr[i] == '\n' || text.ptr[i] == '\r')) {
		i++;
	}
	return i;
}

/* Is the padding at i valid and at the end of the text, after digit_n digits of a group? If not, out_bad is
 * the offset of the error. */
static bool ends_with_padding(struct bt_str text, size_t i, uint32_t digit_n, size_t *out_bad)
{
	*out_bad = i++;
	if (digit_n < 2) {
		return false;
	}
	if (digit_n == 2) {
		i = skip_breaks(text, i);
		*out_bad = i < text.len ? i - 1 : i;
		if (i == text.len || text.ptr[i++] != '=') {
			return false;
		}
	}
	*out_bad = skip_breaks(text, i);
	return *out_bad == text.len;
}

bool bt_base64_decode(struct bt_str text, struct bt_buf *out, size_t *out_bad)
{
	uint32_t word = 0, digit_n = 0;
	size_t n = 0;

	bt_buf_reserve(out, text.len);
	char *to = out->ptr + out->len;
	for (size_t i = 0; i < text.len; i++) {
		int digit = digit_of(text.ptr[i]);

		if (text.ptr[i] == '\n' || text.ptr[i] == '\r') {
			continue;
		}
		if (text.ptr[i] == '=') {
			if (!ends_with_padding(text, i, digit_n % 4, out_bad)) {
				return false;
			}
			digit_n = 0;
			break;
		}
		if (digit < 0) {
			*out_bad = i;
			return false;
		}
		word = word << 6 | (uint32_t)digit;
		digit_n++;
		if (digit_n % 4 != 1) {
			to[n++] = (char)(word >> (6 - 2 * ((digit_n + 3) % 4)));
		}
	}
	if (digit_n % 4) {
		*out_bad = text.len - digit_n % 4;
		return false;
	}
	out->len += n;
	out->ptr[out->len] = '\0';
	return true;
}

void bt_base64_encode(struct bt_str bytes, struct bt_buf *out)
{
	const unsigned char *p = (const unsigned char *)bytes.ptr;

	bt_buf_reserve(out, (bytes.len + 2) / 3 * 4);
	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
		uint32_t word =
			(uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);

		for (size_t k = 0; k < 4; k++) {
			out->ptr[out->len++] = k <= n ? digits[word >> (18 - 6 * k) & 63] : '=';
		}
	}
	out->ptr[out->len] = '\0';
}
