/* SPDX-License-Identifier: Apache-2.0
 * UTF-8, and the replacement of invalid bytes by Go's encoding/json.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/utf8.h"

#define FFFD BT_UTF8_REPLACEMENT

static void becomes(const char *bytes, const char *expected)
{
	struct bt_str text = bt_str(bytes);
	size_t n = text.len + (BT_UTF8_REPLACEMENT_BYTES - 1) * bt_utf8_foreign_n(text);
	char *to = bt_mem_zalloc(1, n + 1);

	assert_int_equal(n, strlen(expected));
	bt_utf8_replace(to, text);
	assert_string_equal(to, expected);
	bt_mem_free(to);
}

static void sequences_stay_as_they_are(void **state)
{
	(void)state;
	becomes("", "");
	becomes("web", "web");
	becomes("\xc3\xbc\xe2\x82\xac\xf0\x9f\x9a\xa2", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x9a\xa2");
}

static void each_byte_in_no_sequence_becomes_one_replacement(void **state)
{
	(void)state;
	becomes("a\xff", "a" FFFD);
	becomes("\xfe\xff"
		"b",
		FFFD FFFD "b");
	becomes("\xe2\x82"
		"c",
		FFFD FFFD "c");				  /* cut off */
	becomes("\xc0\x80", FFFD FFFD);			  /* overlong */
	becomes("\xed\xa0\x80", FFFD FFFD FFFD);	  /* a surrogate */
	becomes("\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD); /* above U+10FFFF */
	becomes("\xf0\x9f\x9a", FFFD FFFD FFFD);	  /* at the end */
}

static void code_points_are_read_and_written(void **state)
{
	static const struct {
		const char *text;
		uint32_t rune;
	} cases[] = {{"a", 'a'}, {"\x7f", 0x7f}, {"\xc2\x80", 0x80}, {"\xdf\xbf", 0x7ff},
		{"\xe0\xa0\x80", 0x800}, {"\xef\xbf\xbf", 0xffff}, {"\xf0\x90\x80\x80", 0x10000},
		{"\xf4\x8f\xbf\xbf", 0x10ffff}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_str text = bt_str(cases[i].text);
		char written[BT_UTF8_BYTES_MAX];
		uint32_t rune;

		assert_int_equal(bt_utf8_decode(text, 0, &rune), text.len);
		assert_int_equal(rune, cases[i].rune);
		assert_int_equal(bt_utf8_encode(rune, written), text.len);
		assert_memory_equal(written, text.ptr, text.len);
		assert_int_equal(bt_utf8_rune_n(text), 1);
	}
}

static void invalid_code_points_become_the_replacement_character(void **state)
{
	static const char *const odd[] = {
		"\x80", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"};
	char written[BT_UTF8_BYTES_MAX];
	uint32_t rune;

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		assert_int_equal(bt_utf8_decode(bt_str(odd[i]), 0, &rune), 1);
		assert_int_equal(rune, BT_UTF8_RUNE_ERROR);
		assert_int_equal(bt_utf8_rune_n(bt_str(odd[i])), strlen(odd[i]));
	}
	assert_int_equal(bt_utf8_encode(0xd800, written), BT_UTF8_REPLACEMENT_BYTES);
	assert_memory_equal(written, FFFD, BT_UTF8_REPLACEMENT_BYTES);
	assert_int_equal(bt_utf8_encode(0x110000, written), BT_UTF8_REPLACEMENT_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_stay_as_they_are),
		cmocka_unit_test(each_byte_in_no_sequence_becomes_one_replacement),
		cmocka_unit_test(code_points_are_read_and_written),
		cmocka_unit_test(invalid_code_points_become_the_replacement_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
