/* SPDX-License-Identifier: Apache-2.0
 * Values of flags. Source: strconv.ParseInt and ParseUint, Go 1.26; VModuleConfigurationPflag, v0.36.3.
 */
#include "tools/cluster/run/flag_values.h"

#include <string.h>

/* The base of a prefix, which is removed from the digits. */
static uint32_t base_of(struct bt_str *digits)
{
	uint32_t base = 10;

	if (digits->len >= 3 && digits->ptr[0] == '0') {
		int letter = digits->ptr[1] | 0x20;

		base = letter == 'x' ? 16 : letter == 'b' ? 2 : letter == 'o' ? 8 : 10;
	}
	if (base != 10) {
		*digits = bt_str_sub(*digits, 2, digits->len);
	} else if (digits->len > 1 && digits->ptr[0] == '0') {
		*digits = bt_str_sub(*digits, 1, digits->len);
		base = 8;
	}
	return base;
}

static uint32_t digit_of(char c)
{
	int letter = c | 0x20;

	return c >= '0' && c <= '9'		? (uint32_t)(c - '0')
	       : letter >= 'a' && letter <= 'f' ? (uint32_t)(letter - 'a' + 10)
						: UINT32_MAX;
}

bool bt_flag_integer(struct bt_str text, int64_t *out_value)
{
	bool negative = bt_str_starts(text, "-");
	struct bt_str digits = negative || bt_str_starts(text, "+") ? bt_str_sub(text, 1, text.len) : text;
	uint32_t base = base_of(&digits);
	bool after_digit = base != 10, good = digits.len > 0; /* a prefix counts as a digit */
	uint64_t limit = (uint64_t)INT64_MAX + negative, value = 0;

	for (size_t i = 0; i < digits.len && good; i++) {
		uint32_t digit = digit_of(digits.ptr[i]);

		if (digits.ptr[i] == '_') {
			good = after_digit && i + 1 < digits.len;
			after_digit = false;
			continue;
		}
		good = digit < base && value <= (limit - digit) / base;
		value = value * base + digit;
		after_digit = true;
	}
	if (good) {
		*out_value = (int64_t)(negative ? -value : value);
	}
	return good;
}

bool bt_flag_is_vmodule(struct bt_str word)
{
	size_t at = bt_str_find(word, '=', 0) + 1;
	bool good = at > 1 && at < word.len;
	uint64_t level = 0;

	for (; at < word.len && good; at++) {
		level = level * 10 + digit_of(word.ptr[at]);
		good = digit_of(word.ptr[at]) < 10 && level <= INT32_MAX;
	}
	return good || !word.len;
}

bool bt_flag_is_blank(struct bt_str text)
{
	size_t i = 0;

	while (i < text.len && memchr(" \t\n\v\f\r", text.ptr[i], 6)) {
		i++;
	}
	return i == text.len;
}

const char *bt_flag_wrong_word(const struct bt_invocation *invocation, const char *name,
	bool (*good)(struct bt_str word), struct bt_str *out_word)
{
	const char *value;

	for (size_t i = 0; (value = bt_invocation_item(invocation, name, i)); i++) {
		struct bt_str text = bt_str(value);

		for (size_t at = 0, end; text.len && at <= text.len; at = end + 1) {
			end = bt_str_find(text, ',', at);
			*out_word = bt_str_sub(text, at, end);
			if (!good(*out_word)) {
				return value;
			}
		}
	}
	return NULL;
}

struct bt_str bt_flag_trim(struct bt_str text)
{
	while (text.len && text.ptr[text.len - 1] == ' ') {
		text.len--;
	}
	while (bt_str_starts(text, " ")) {
		text = bt_str_sub(text, 1, text.len);
	}
	return text;
}
