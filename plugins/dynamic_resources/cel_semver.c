/* SPDX-License-Identifier: Apache-2.0
 * Semantic versions, parsed and ordered as by blang/semver v4.
 */
#include "plugins/dynamic_resources/cel.h"

#include <stdio.h>

/* Writes an error that ends with the quoted text, if any. */
static bool cel_semver_refuse(struct bt_buf *error, const char *why, const struct bt_str *text)
{
	if (error) {
		bt_buf_text(error, why);
		if (text) {
			bt_buf_text(error, " \"");
			bt_buf_str(error, *text);
			bt_buf_char(error, '"');
		}
	}
	return false;
}

static bool is_number(struct bt_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9') {
			return false;
		}
	}
	return true;
}

static bool is_word(struct bt_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    c == '-')) {
			return false;
		}
	}
	return true;
}

/* Parses digits; returns false with Go's error for anything else, and for too many. */
static bool read_digits(struct bt_str text, uint64_t *out_number, struct bt_buf *error)
{
	uint64_t number = 0;
	const char *why = text.len ? NULL : "invalid syntax";

	for (size_t i = 0; i < text.len && !why; i++) {
		uint64_t digit = (uint64_t)(text.ptr[i] - '0');

		if (number > (UINT64_MAX - digit) / 10) {
			why = "value out of range";
		}
		number = number * 10 + digit;
	}
	if (why) {
		if (error) {
			bt_buf_printf(
				error, "strconv.ParseUint: parsing \"%.*s\": %s", BT_STR_ARG(text), why);
		}
		return false;
	}
	*out_number = number;
	return true;
}

static bool read_part(
	struct bt_str text, const char *lower, const char *upper, uint64_t *out_number, struct bt_buf *error)
{
	char why[64];

	if (!is_number(text)) {
		snprintf(why, sizeof(why), "Invalid character(s) found in %s number", lower);
		return cel_semver_refuse(error, why, &text);
	}
	if (text.len > 1 && text.ptr[0] == '0') {
		snprintf(why, sizeof(why), "%s number must not contain leading zeroes", upper);
		return cel_semver_refuse(error, why, &text);
	}
	return read_digits(text, out_number, error);
}

/* The next identifier of a dotted list; false at its end. *from is 0 at the start. */
static bool next_word(struct bt_str list, size_t *from, struct bt_str *out_word)
{
	if (*from > list.len) {
		return false;
	}
	size_t end = bt_str_find(list, '.', *from);
	*out_word = bt_str_sub(list, *from, end);
	*from = end + 1;
	return true;
}

static bool check_pre(struct bt_str pre, struct bt_buf *error)
{
	struct bt_str word;
	uint64_t number;

	for (size_t from = 0; next_word(pre, &from, &word);) {
		if (word.len == 0) {
			return cel_semver_refuse(error, "Prerelease is empty", NULL);
		}
		if (is_number(word)) {
			if (word.len > 1 && word.ptr[0] == '0') {
				return cel_semver_refuse(error,
					"Numeric PreRelease version must not contain leading zeroes", &word);
			}
			if (!read_digits(word, &number, error)) {
				return false;
			}
		} else if (!is_word(word)) {
			return cel_semver_refuse(error, "Invalid character(s) found in prerelease", &word);
		}
	}
	return true;
}

static bool check_build(struct bt_str build, struct bt_buf *error)
{
	struct bt_str word;

	for (size_t from = 0; next_word(build, &from, &word);) {
		if (word.len == 0) {
			return cel_semver_refuse(error, "Build meta data is empty", NULL);
		}
		if (!is_word(word)) {
			return cel_semver_refuse(
				error, "Invalid character(s) found in build meta data", &word);
		}
	}
	return true;
}

bool bt_cel_semver_parse(struct bt_str text, struct bt_cel_semver *out_version, struct bt_buf *error)
{
	struct bt_cel_semver version = {0};
	size_t first = bt_str_find(text, '.', 0);
	size_t second = bt_str_find(text, '.', first + 1);

	if (text.len == 0) {
		return cel_semver_refuse(error, "Version string empty", NULL);
	}
	if (second >= text.len) {
		return cel_semver_refuse(error, "No Major.Minor.Patch elements found", NULL);
	}
	struct bt_str rest = bt_str_sub(text, second + 1, text.len);
	size_t plus = bt_str_find(rest, '+', 0);
	struct bt_str patch = bt_str_sub(rest, 0, plus);
	size_t minus = bt_str_find(patch, '-', 0);
	if (!read_part(bt_str_sub(text, 0, first), "major", "Major", &version.major, error) ||
		!read_part(bt_str_sub(text, first + 1, second), "minor", "Minor", &version.minor, error) ||
		!read_part(bt_str_sub(patch, 0, minus), "patch", "Patch", &version.patch, error)) {
		return false;
	}
	if (minus < patch.len) {
		version.pre = bt_str_sub(patch, minus + 1, patch.len);
		if (!check_pre(version.pre, error)) {
			return false;
		}
	}
	if (plus < rest.len) {
		version.build = bt_str_sub(rest, plus + 1, rest.len);
		if (!check_build(version.build, error)) {
			return false;
		}
	}
	*out_version = version;
	return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Numbers come before words. Numbers have no leading zeroes, so the longer one is larger. */
static int compare_words(struct bt_str a, struct bt_str b)
{
	bool number_a = is_number(a);
	bool number_b = is_number(b);

	if (number_a != number_b) {
		return number_a ? -1 : 1;
	}
	if (number_a && a.len != b.len) {
		return a.len < b.len ? -1 : 1;
	}
	return bt_str_cmp(a, b);
}

int bt_cel_semver_cmp(const struct bt_cel_semver *a, const struct bt_cel_semver *b)
{
	int order = compare_numbers(a->major, b->major);
	size_t from_a = 0;
	size_t from_b = 0;
	struct bt_str word_a = {0};
	struct bt_str word_b = {0};

	order = order ? order : compare_numbers(a->minor, b->minor);
	order = order ? order : compare_numbers(a->patch, b->patch);
	if (order || (a->pre.len == 0 && b->pre.len == 0)) {
		return order;
	}
	/* A version comes after its pre-releases. */
	if (a->pre.len == 0 || b->pre.len == 0) {
		return a->pre.len == 0 ? 1 : -1;
	}
	for (;;) {
		bool more_a = next_word(a->pre, &from_a, &word_a);
		bool more_b = next_word(b->pre, &from_b, &word_b);

		if (!more_a || !more_b) {
			return more_a - more_b;
		}
		order = compare_words(word_a, word_b);
		if (order) {
			return order;
		}
	}
}
