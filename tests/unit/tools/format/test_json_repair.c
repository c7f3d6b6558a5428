/* SPDX-License-Identifier: Apache-2.0
 * JSON that Go accepts and RFC 8259 does not, made valid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/format/json_repair.h"

static void becomes(const char *text, const char *expected)
{
	struct bt_buf out = {0};

	assert_int_equal(bt_json_repair(bt_str(text), &out), expected != NULL);
	assert_string_equal(out.ptr, expected ? expected : "");
	bt_buf_fini(&out);
}

static void valid_text_is_unchanged(void **state)
{
	(void)state;
	becomes("{}", NULL);
	becomes("{\"a\": \"\\ud83d\\ude00 \\u00e9 \xc3\xbc \\\\ud83d\"}", NULL);
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
	(void)state;
	becomes("{\"a\": \"b\xff\"}", "{\"a\": \"b\xef\xbf\xbd\"}");
}

static void halves_of_pairs_are_replaced(void **state)
{
	(void)state;
	becomes("\"\\ud83d\"", "\"\\ufffd\"");
	becomes("\"\\udE00x\"", "\"\\ufffdx\"");
	becomes("\"\\ud83d\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\"");
	becomes("\"\\\\\\ud83d\"", "\"\\\\\\ufffd\"");
	becomes("\"\\ud83", NULL); /* truncated: no reader would accept it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_text_is_unchanged),
		cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
		cmocka_unit_test(halves_of_pairs_are_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
