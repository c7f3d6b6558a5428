/* SPDX-License-Identifier: Apache-2.0
 * Go's error texts for invalid JSON. Source: encoding/json scanner, Go 1.26.
 */
#include "tools/kube/config/json_error.h"

#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/base/utf8.h"

#define DEPTH_MAX 10000

/* Where the scan is; after gives the rest of the sentence "invalid character 'x' ...". */
struct scan {
	struct bt_str text;
	size_t at;
	const char *after; /* NULL: the text is too short */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void skip_space(struct scan *scan)
{
	while (scan->at < scan->text.len && strchr(" \t\r\n", scan->text.ptr[scan->at]) &&
		scan->text.ptr[scan->at]) {
		scan->at++;
	}
}

/* The next character; '\0' also means the end. */
static char next(struct scan *scan, const char *after)
{
	scan->after = scan->at < scan->text.len ? after : NULL;
	return scan->at < scan->text.len ? scan->text.ptr[scan->at] : '\0';
}

/* The same inside a token, where Go treats the end as a blank and reports that. */
static char next_inside(struct scan *scan, const char *after)
{
	scan->after = after;
	return scan->at < scan->text.len ? scan->text.ptr[scan->at] : ' ';
}

static bool scan_string(struct scan *scan)
{
	for (scan->at++;; scan->at++) {
		char c = next(scan, "in string literal");

		if (!scan->after || (unsigned char)c < 0x20) {
			return false;
		}
		if (c == '"') {
			scan->at++;
			return true;
		}
		if (c != '\\') {
			continue;
		}
		scan->at++;
		c = next_inside(scan, "in string escape code");
		if (!c || !strchr("bfnrt\\/\"u", c)) {
			return false;
		}
		for (int i = 0; c == 'u' && i < 4; i++) {
			scan->at++;
			if (!is_hex(next_inside(scan, "in \\u hexadecimal character escape"))) {
				return false;
			}
		}
	}
}

static bool scan_digits(struct scan *scan, const char *after)
{
	if (!is_digit(next_inside(scan, after))) {
		return false;
	}
	while (is_digit(next_inside(scan, after))) {
		scan->at++;
	}
	return true;
}

static bool scan_number(struct scan *scan)
{
	scan->at += scan->text.ptr[scan->at] == '-';
	if (next_inside(scan, "") == '0') {
		scan->at++;
	} else if (!scan_digits(scan, "in numeric literal")) {
		return false;
	}
	if (next_inside(scan, "") == '.') {
		scan->at++;
		if (!scan_digits(scan, "after decimal point in numeric literal")) {
			return false;
		}
	}
	if (next_inside(scan, "") == 'e' || next_inside(scan, "") == 'E') {
		scan->at++;
		if (next_inside(scan, "") == '+' || next_inside(scan, "") == '-') {
			scan->at++;
		}
		return scan_digits(scan, "in exponent of numeric literal");
	}
	return true;
}

static bool scan_word(struct scan *scan, const char *word, const char *const *after)
{
	for (size_t i = 1; word[i]; i++) {
		scan->at++;
		if (next_inside(scan, after[i - 1]) != word[i]) {
			return false;
		}
	}
	scan->at++;
	return true;
}

/* A value that is neither an object nor an array. */
static bool scan_scalar(struct scan *scan)
{
	static const char *const in_true[] = {"in literal true (expecting 'r')",
		"in literal true (expecting 'u')", "in literal true (expecting 'e')"};
	static const char *const in_false[] = {"in literal false (expecting 'a')",
		"in literal false (expecting 'l')", "in literal false (expecting 's')",
		"in literal false (expecting 'e')"};
	static const char *const in_null[] = {"in literal null (expecting 'u')",
		"in literal null (expecting 'l')", "in literal null (expecting 'l')"};
	char c = next(scan, "looking for beginning of value");

	switch (c) {
	case '"':
		return scan_string(scan);
	case 't':
		return scan_word(scan, "true", in_true);
	case 'f':
		return scan_word(scan, "false", in_false);
	case 'n':
		return scan_word(scan, "null", in_null);
	default:
		return (c == '-' || is_digit(c)) && scan_number(scan);
	}
}

/* The key of a member and its colon. */
static bool scan_key(struct scan *scan)
{
	skip_space(scan);
	if (next(scan, "looking for beginning of object key string") != '"' || !scan_string(scan)) {
		return false;
	}
	skip_space(scan);
	if (next(scan, "after object key") != ':') {
		return false;
	}
	scan->at++;
	return true;
}

/* Skips what follows a value: the ends of containers, then a comma and, in an object, the next key. */
static bool scan_after(struct scan *scan, const char *open, size_t *depth)
{
	while (*depth) {
		bool object = open[*depth - 1] == '{';
		char c;

		skip_space(scan);
		c = next(scan, object ? "after object key:value pair" : "after array element");
		if (c == ',') {
			scan->at++;
			return !object || scan_key(scan);
		}
		if (c != (object ? '}' : ']')) {
			return false;
		}
		scan->at++;
		(*depth)--;
	}
	return true;
}

static bool scan_value(struct scan *scan, char *open)
{
	size_t depth = 0;

	do {
		char c;

		skip_space(scan);
		c = next(scan, "");
		if (c != '{' && c != '[') {
			if (!scan_scalar(scan) || !scan_after(scan, open, &depth)) {
				return false;
			}
			continue;
		}
		if (depth == DEPTH_MAX) {
			return true;
		}
		open[depth++] = c;
		scan->at++;
		skip_space(scan);
		if (next(scan, "") == (c == '{' ? '}' : ']')) {
			scan->at++;
			depth--;
			if (!scan_after(scan, open, &depth)) {
				return false;
			}
		} else if (c == '{' && !scan_key(scan)) {
			return false;
		}
	} while (depth);
	skip_space(scan);
	next(scan, "after top-level value");
	return !scan->after;
}

static void blame(struct scan *scan, struct bt_buf *out)
{
	unsigned char c = scan->at < scan->text.len ? (unsigned char)scan->text.ptr[scan->at] : ' ';
	char rune[BT_UTF8_BYTES_MAX];
	struct bt_buf quoted = {.len = 0};

	bt_quote(&quoted, (struct bt_str){rune, bt_utf8_encode(c, rune)});
	bt_buf_text(out, "invalid character '");
	if (c == '\'' || c == '"') {
		bt_buf_text(out, c == '"' ? "\"" : "\\'");
	} else {
		bt_buf_add(out, quoted.ptr + 1, quoted.len - 2);
	}
	bt_buf_printf(out, "' %s", scan->after);
	bt_buf_fini(&quoted);
}

bool bt_json_error_text(struct bt_str text, struct bt_buf *out_error, size_t *out_offset)
{
	struct scan scan = {.text = text};
	char *open = bt_mem_zalloc(DEPTH_MAX, 1);
	bool ok = scan_value(&scan, open);

	bt_mem_free(open);
	if (ok) {
		return false;
	}
	*out_offset = scan.at;
	if (scan.after) {
		blame(&scan, out_error);
	} else {
		bt_buf_text(out_error, "unexpected end of JSON input");
	}
	return true;
}
