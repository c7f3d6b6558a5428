/* SPDX-License-Identifier: Apache-2.0
 * Lines on the stack: quoted text reads back unchanged, by Go's rules as implemented here, and by our
 * JSON reader; long text is cut between characters, and no byte is written after the line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/arena.h"
#include "engine/base/rng.h"
#include "line_int.h"
#include "seed.h"
#include "tools/format/json.h"

static void quotes_as(struct bt_str text, bool go, const char *expected)
{
	struct bt_log_line line = {0};

	assert_true(bt_log_line_quote(&line, text, (struct bt_str){0}, go));
	assert_int_equal(line.n, strlen(expected));
	assert_memory_equal(line.bytes, expected, line.n);
}

static void text_is_quoted_as_go_quotes(void **state)
{
	(void)state;
	quotes_as(bt_str("plain"), true, "\"plain\"");
	quotes_as(bt_str("a \"b\" \\c"), true, "\"a \\\"b\\\" \\\\c\"");
	quotes_as(bt_str("\a\b\f\n\r\t\v"), true, "\"\\a\\b\\f\\n\\r\\t\\v\"");
	quotes_as(bt_str("\x1b[31m\x7f"), true, "\"\\x1b[31m\\x7f\"");
	quotes_as((struct bt_str)BT_STR("a\0b"), true, "\"a\\x00b\"");
	quotes_as(bt_str("gr\xc3\xbc\xc3\x9f"
			 "e \xf0\x9f\x9a\xa2"),
		true,
		"\"gr\xc3\xbc\xc3\x9f"
		"e \xf0\x9f\x9a\xa2\"");
	quotes_as(bt_str("\xff\xc3"), true, "\"\\xff\\xc3\"");
	quotes_as(bt_str("\xe2\x80\xae\xc2\x9b"), true, "\"\\u202e\\u009b\"");
}

static void json_escapes_what_json_must(void **state)
{
	(void)state;
	quotes_as(bt_str("a\"b\\c\n\x01\x7f"), false, "\"a\\\"b\\\\c\\n\\u0001\\u007f\"");
	quotes_as(bt_str("\xed\xa0\x80"), false, "\"\\ufffd\\ufffd\\ufffd\"");
}

static void invalid_utf8_is_detected(void **state)
{
	(void)state;
	quotes_as(bt_str("\xc0\x80"), true, "\"\\xc0\\x80\"");
	quotes_as(bt_str("\xe0\x80\x80"), true, "\"\\xe0\\x80\\x80\"");
	quotes_as(bt_str("\xf4\x90\x80\x80"), true, "\"\\xf4\\x90\\x80\\x80\"");
	quotes_as(bt_str("\xf0\x9f\x9a"), true, "\"\\xf0\\x9f\\x9a\"");
}

static void a_long_value_is_cut_between_characters(void **state)
{
	struct bt_log_line line = {0};
	char text[4000];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i += 2) {
		memcpy(text + i, "\xc3\xbc", 2);
	}
	assert_true(bt_log_line_quote(&line, (struct bt_str){text, sizeof(text)}, (struct bt_str){0}, true));
	assert_in_range(line.n, BT_LOG_VALUE_BYTES - 2, BT_LOG_VALUE_BYTES);
	assert_memory_equal(line.bytes + line.n - 4, "\xe2\x80\xa6\"", 4);
	assert_int_equal((line.n - 5) % 2, 0);
	assert_memory_equal(line.bytes + line.n - 6, "\xc3\xbc", 2);
}

static void numbers_read_back(void **state)
{
	static const double reals[] = {0, 0.1, 1.5, -2.25, 1e300, 5e-324, 1.0 / 3, 123456789.125};
	struct bt_log_line line = {0};

	(void)state;
	assert_true(bt_log_line_int(&line, INT64_MIN, 1, '0'));
	assert_memory_equal(line.bytes, "-9223372036854775808", line.n);
	line.n = 0;
	assert_true(bt_log_line_int(&line, 42, 7, ' '));
	assert_int_equal(line.n, 7);
	assert_memory_equal(line.bytes, "     42", 7);
	for (size_t i = 0; i < sizeof(reals) / sizeof(*reals); i++) {
		line = (struct bt_log_line){0};
		assert_true(bt_log_line_real(&line, reals[i]));
		assert_true(strtod(line.bytes, NULL) == reals[i]);
	}
	line.n = 0;
	assert_true(bt_log_line_real(&line, 0.1));
	assert_memory_equal(line.bytes, "0.1", line.n);
}

/* Random bytes, quoted into lines that are nearly full: always valid JSON, and never beyond the limit. */
static void any_bytes_make_json_within_the_room(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct bt_log_line line = {.n = bt_rng_below(&rng, BT_LOG_LINE_BYTES - BT_LINE_SPARE + 1)};
		char text[1500];
		size_t n = bt_rng_below(&rng, sizeof(text)), before = line.n;
		struct bt_str read;

		for (size_t i = 0; i < n; i++) {
			text[i] = (char)(bt_rng_below(&rng, 2) ? bt_rng_below(&rng, 256) : 'a');
		}
		if (!bt_log_line_quote(&line, (struct bt_str){text, n}, (struct bt_str){0}, false)) {
			assert_int_equal(line.n, before);
			continue;
		}
		assert_true(line.n <= BT_LOG_LINE_BYTES - BT_LINE_SPARE);
		bt_json_begin(json, (struct bt_str){line.bytes + before, line.n - before}, &arena);
		assert_true(bt_json_string(json, &read));
		assert_false(bt_json_more(json));
		bt_arena_reset(&arena);
	}
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_quoted_as_go_quotes),
		cmocka_unit_test(json_escapes_what_json_must),
		cmocka_unit_test(invalid_utf8_is_detected),
		cmocka_unit_test(a_long_value_is_cut_between_characters),
		cmocka_unit_test(numbers_read_back),
		cmocka_unit_test(any_bytes_make_json_within_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
