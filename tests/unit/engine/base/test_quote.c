/* SPDX-License-Identifier: Apache-2.0
 * Quoted texts, as by Go's %q and its JSON encoder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/quote.h"

static void quotes_as(
	void (*quote)(struct bt_buf *buf, struct bt_str text), struct bt_str text, const char *expected)
{
	struct bt_buf buf = {0};

	quote(&buf, text);
	assert_string_equal(buf.ptr, expected);
	bt_buf_fini(&buf);
}

static void go_escapes_what_cannot_be_seen(void **state)
{
	(void)state;
	quotes_as(bt_quote, bt_str(""), "\"\"");
	quotes_as(bt_quote, bt_str("a \"b\" \\c <&>"), "\"a \\\"b\\\" \\\\c <&>\"");
	quotes_as(bt_quote, bt_str("\a\b\f\n\r\t\v\x1b\x7f"), "\"\\a\\b\\f\\n\\r\\t\\v\\x1b\\x7f\"");
	quotes_as(bt_quote, (struct bt_str)BT_STR("a\0b"), "\"a\\x00b\"");
	quotes_as(bt_quote, bt_str("\xc3\xbc\xf0\x9f\x9a\xa2"), "\"\xc3\xbc\xf0\x9f\x9a\xa2\"");
	quotes_as(bt_quote, bt_str("\xe2\x80\xae\xc2\x9b"), "\"\\u202e\\u009b\"");
}

static void go_shows_bytes_that_are_no_utf8(void **state)
{
	(void)state;
	quotes_as(bt_quote, bt_str("\xff\xc3"), "\"\\xff\\xc3\"");
	quotes_as(bt_quote, bt_str("\xc0\x80"), "\"\\xc0\\x80\"");
	quotes_as(bt_quote, bt_str("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\"");
	quotes_as(bt_quote, bt_str("\xf4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"");
}

static void json_escapes_what_json_must(void **state)
{
	(void)state;
	quotes_as(bt_quote_json, bt_str(""), "\"\"");
	quotes_as(bt_quote_json, bt_str("a\"b\\c <&>"), "\"a\\\"b\\\\c <&>\"");
	quotes_as(bt_quote_json, bt_str("\a\b\f\n\r\t\v\x01\x7f"),
		"\"\\u0007\\b\\f\\n\\r\\t\\u000b\\u0001\\u007f\"");
	quotes_as(bt_quote_json, (struct bt_str)BT_STR("nul\0here"), "\"nul\\u0000here\"");
	quotes_as(bt_quote_json, bt_str("\xe2\x80\xa8\xf0\x9f\x98\x80"), "\"\xe2\x80\xa8\xf0\x9f\x98\x80\"");
	quotes_as(bt_quote_json,
		bt_str("\xc2\x9b"
		       "31m\xc2\x80\xc2\x9f\xc2\xa0\xef\xbf\xbe\xf0\x9f\xbf\xbf"),
		"\"\\u009b31m\\u0080\\u009f\xc2\xa0\\ufffe\\ud83f\\udfff\"");
	quotes_as(bt_quote_json, bt_str("a\xff\xed\xa0\x80"), "\"a\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void json_escapes_what_a_terminal_does_not_show(void **state)
{
	static const struct bt_str text = BT_STR("<\xe2\x80\xae\xf3\xa0\x81\x81\x7f");
	static const char *const expected[] = {"<", "\\u202e", "\\udb40\\udc41", "\\u007f"};
	size_t from = 0, taken;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++, from += taken) {
		char out[BT_QUOTE_BYTES_MAX];
		size_t n = bt_quote_character(BT_QUOTE_JSON_VISIBLE, text, from, out, &taken);

		assert_int_equal(n, strlen(expected[i]));
		assert_memory_equal(out, expected[i], n);
	}
	assert_int_equal(from, text.len);
}

static void gos_json_escapes_what_html_must(void **state)
{
	(void)state;
	quotes_as(bt_quote_json_go, bt_str("a\"b\\c\n\x01<&>"),
		"\"a\\\"b\\\\c\\n\\u0001\\u003c\\u0026\\u003e\"");
	quotes_as(bt_quote_json_go, bt_str("\xe2\x80\xa8\xff"), "\"\\u2028\\ufffd\"");
}

static void bare(struct bt_buf *buf, struct bt_str text)
{
	bt_printable(buf, text);
}

static void a_terminal_gets_nothing_to_obey(void **state)
{
	(void)state;
	quotes_as(bare, bt_str("a \"b\" \\c \xc3\xbc"), "a \"b\" \\c \xc3\xbc");
	quotes_as(bare, bt_str("\x1b[31m\n\r\a\x7f"), "\\x1b[31m\\n\\r\\a\\x7f");
	quotes_as(bare,
		bt_str("\xc2\x9b"
		       "1m\x9b\xe2\x80\xae"),
		"\\u009b1m\\x9b\\u202e");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(go_escapes_what_cannot_be_seen),
		cmocka_unit_test(go_shows_bytes_that_are_no_utf8),
		cmocka_unit_test(a_terminal_gets_nothing_to_obey),
		cmocka_unit_test(json_escapes_what_json_must),
		cmocka_unit_test(json_escapes_what_a_terminal_does_not_show),
		cmocka_unit_test(gos_json_escapes_what_html_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
