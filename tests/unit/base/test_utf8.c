/* SPDX-License-Identifier: Apache-2.0
 * UTF-8, and what Go's encoding/json writes for bytes that are none.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_stay_as_they_are),
		cmocka_unit_test(each_byte_in_no_sequence_becomes_one_replacement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
