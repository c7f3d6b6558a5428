/* SPDX-License-Identifier: Apache-2.0
 * Go's messages for invalid JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/kube/config/json_error.h"

static void expect_error(const char *text, const char *want, size_t want_offset)
{
	struct bt_buf error = {.len = 0};
	size_t offset = 0;

	assert_true(bt_json_error_text(bt_str(text), &error, &offset));
	assert_string_equal(error.ptr, want);
	assert_int_equal(offset, want_offset);
	bt_buf_fini(&error);
}

static void a_wrong_character_is_named_with_its_context(void **state)
{
	(void)state;
	expect_error("{a}", "invalid character 'a' looking for beginning of object key string", 1);
	expect_error("{\"a\"}", "invalid character '}' after object key", 4);
	expect_error("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair", 7);
	expect_error("{\"a\":1,}", "invalid character '}' looking for beginning of object key string", 7);
	expect_error("[1 2]", "invalid character '2' after array element", 3);
	expect_error("[1,]", "invalid character ']' looking for beginning of value", 3);
	expect_error("{} {}", "invalid character '{' after top-level value", 3);
	expect_error("['a']", "invalid character '\\'' looking for beginning of value", 1);
	expect_error("[\x01]", "invalid character '\\x01' looking for beginning of value", 1);
	expect_error("[\xe9]", "invalid character '\xc3\xa9' looking for beginning of value", 1);
	expect_error("\"a\tb\"", "invalid character '\\t' in string literal", 2);
	expect_error("\"\\q\"", "invalid character 'q' in string escape code", 2);
	expect_error("\"\\u12x4\"", "invalid character 'x' in \\u hexadecimal character escape", 5);
	expect_error("trve", "invalid character 'v' in literal true (expecting 'u')", 2);
	expect_error("-a", "invalid character 'a' in numeric literal", 1);
	expect_error("1.x", "invalid character 'x' after decimal point in numeric literal", 2);
	expect_error("1e+x", "invalid character 'x' in exponent of numeric literal", 3);
	expect_error("01", "invalid character '1' after top-level value", 1);
}

static void a_text_that_is_cut_off_ends_unexpectedly(void **state)
{
	static const char *const texts[] = {"", " ", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "[", "[1,", "\"a"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		expect_error(texts[i], "unexpected end of JSON input", bt_str(texts[i]).len);
	}
}

static void a_token_that_is_cut_off_blames_a_blank(void **state)
{
	(void)state;
	expect_error("tru", "invalid character ' ' in literal true (expecting 'e')", 3);
	expect_error("[-", "invalid character ' ' in numeric literal", 2);
	expect_error("\"\\", "invalid character ' ' in string escape code", 2);
}

static void json_has_no_error(void **state)
{
	static const char *const texts[] = {"{}", " [ 1 , -2.5e+3 , \"\\u00e9\\n\" ] ", "null",
		"{\"a\":{\"b\":[[],{}]},\"c\":true}", "0", "false"};
	struct bt_buf error = {.len = 0};
	size_t offset;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(bt_json_error_text(bt_str(texts[i]), &error, &offset));
		assert_int_equal(error.len, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_character_is_named_with_its_context),
		cmocka_unit_test(a_text_that_is_cut_off_ends_unexpectedly),
		cmocka_unit_test(a_token_that_is_cut_off_blames_a_blank),
		cmocka_unit_test(json_has_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
