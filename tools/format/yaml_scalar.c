/* SPDX-License-Identifier: Apache-2.0
 * Plain scalars of YAML 1.1 in the dialect of go-yaml v2.
 */
#include "tools/format/yaml_scalar_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer numbers are treated as strings; they do not occur. */
#define NUMBER_MAX 400

static bool is_any(struct bt_str text, const char *const *words)
{
	for (; *words; words++) {
		if (bt_str_is(text, *words)) {
			return true;
		}
	}
	return false;
}

static const char *const true_words[] = {
	"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", NULL};
static const char *const false_words[] = {
	"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", NULL};
static const char *const null_words[] = {"", "~", "null", "Null", "NULL", NULL};
static const char *const other_words[] = {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf",
	"+.INF", "-.inf", "-.Inf", "-.INF", NULL};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10 : 99;
}

/* Digits with the prefixes 0x, 0o, 0b and 0. Returns false when it is not an integer or does not fit. */
static bool parse_magnitude(const char *p, uint64_t *out)
{
	uint64_t base = 10;

	*out = 0;
	if (p[0] == '0' && p[1]) {
		char mark = (char)(p[1] | 0x20);

		base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
		p += mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1;
	}
	if (!*p) {
		return false;
	}
	for (; *p; p++) {
		uint64_t digit = (uint64_t)digit_of(*p);

		if (digit >= base || __builtin_mul_overflow(*out, base, out) ||
			__builtin_add_overflow(*out, digit, out)) {
			return false;
		}
	}
	return true;
}

static bool has_digits(const char **p)
{
	const char *first = *p;

	while (**p >= '0' && **p <= '9') {
		(*p)++;
	}
	return *p > first;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(const char *p)
{
	p += *p == '-' || *p == '+';
	if (*p == '.') {
		p++;
		if (!has_digits(&p)) {
			return false;
		}
	} else {
		if (!has_digits(&p)) {
			return false;
		}
		if (*p == '.') {
			p++;
			has_digits(&p);
		}
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '-' || *p == '+';
		if (!has_digits(&p)) {
			return false;
		}
	}
	return *p == '\0';
}

/* The shortest decimal that reads back as value, in single precision for keys as go-yaml has it. */
static void write_float(double value, bool single, struct bt_buf *out)
{
	char text[64];

	value = single ? (double)(float)value : value;
	if (isinf(value)) {
		bt_buf_text(out, value < 0 ? "-.inf" : ".inf");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*e", digits - 1, value);
		if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) {
			break;
		}
	}
	char *e = strchr(text, 'e');
	int exponent = (int)strtol(e + 1, NULL, 10);
	int digits = (int)(e - text) - (text[0] == '-');
	digits -= digits > 1;
	const bool plain = single ? exponent >= -4 && exponent < 6 : exponent >= -6 && exponent < 21;
	if (value != 0 && !plain) {
		bt_buf_add(out, text, (size_t)(e - text));
		/* JSON of Go writes e-7, its 'g' format e-07. */
		bt_buf_printf(out, single ? "e%+03d" : "e%+d", exponent);
		return;
	}
	int decimals = digits - 1 - exponent;
	if (decimals >= 0) {
		bt_buf_printf(out, "%.*f", decimals, value);
		return;
	}
	/* The digits and zeroes, not the exact binary value. */
	for (const char *p = text; p < e; p++) {
		if (*p != '.') {
			bt_buf_char(out, *p);
		}
	}
	for (; decimals < 0; decimals++) {
		bt_buf_char(out, '0');
	}
}

/* Underscores may be anywhere, except after a leading point: there they must be between digits. */
static bool may_separate(struct bt_str text, size_t ix)
{
	return text.ptr[0] != '.' || (ix > 0 && ix + 1 < text.len && digit_of(text.ptr[ix - 1]) < 10 &&
					     digit_of(text.ptr[ix + 1]) < 10);
}

static enum bt_scalar resolve_number(struct bt_str text, bool as_key, struct bt_buf *out)
{
	char plain[NUMBER_MAX];
	size_t n = 0;
	uint64_t magnitude;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != '_' || !may_separate(text, i)) {
			plain[n++] = text.ptr[i];
		}
	}
	plain[n] = '\0';
	const bool sign = plain[0] == '-' || plain[0] == '+';
	const bool negative = plain[0] == '-';
	if (plain[0] != '.' && parse_magnitude(plain + sign, &magnitude)) {
		if (magnitude <= (uint64_t)INT64_MAX + negative) {
			bt_buf_int(out, (int64_t)(negative ? 0 - magnitude : magnitude));
			return BT_SCALAR_INT;
		}
		if (!sign) {
			bt_buf_printf(out, "%llu", (unsigned long long)magnitude);
			return BT_SCALAR_UINT;
		}
	}
	if (!is_float(plain)) {
		return BT_SCALAR_STRING;
	}
	double value = strtod(plain, NULL);
	if (isinf(value)) {
		return BT_SCALAR_STRING;
	}
	write_float(value, as_key, out);
	return BT_SCALAR_FLOAT;
}

enum bt_scalar bt_scalar_resolve(struct bt_str text, bool as_key, struct bt_buf *out)
{
	char first = text.len ? text.ptr[0] : '~';

	if (is_any(text, null_words)) {
		bt_buf_text(out, "null");
		return BT_SCALAR_NULL;
	}
	if (strchr("yYnNtTfFoO", first)) {
		bool yes = is_any(text, true_words);

		if (!yes && !is_any(text, false_words)) {
			return BT_SCALAR_STRING;
		}
		bt_buf_text(out, yes ? "true" : "false");
		return BT_SCALAR_BOOL;
	}
	if (is_any(text, other_words)) {
		bt_buf_text(out, first == '-'				  ? "-.inf"
				 : (text.ptr[text.len - 1] | 0x20) == 'n' ? ".nan"
									  : ".inf");
		return BT_SCALAR_NO_NUMBER;
	}
	if (!strchr("+-.0123456789", first) || text.len >= NUMBER_MAX || memchr(text.ptr, '\0', text.len)) {
		return BT_SCALAR_STRING;
	}
	return resolve_number(text, as_key, out);
}
