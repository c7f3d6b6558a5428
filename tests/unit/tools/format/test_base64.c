/* SPDX-License-Identifier: Apache-2.0
 * Base64: encoding, decoding, and the position of Go's error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/rng.h"
#include "tools/format/base64.h"

static void the_examples_of_the_standard_go_both_ways(void **state)
{
	static const char *const cases[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"},
		{"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_buf text = {0}, bytes = {0};
		size_t bad;

		bt_base64_encode(bt_str(cases[i][0]), &text);
		assert_string_equal(text.ptr, cases[i][1]);
		assert_true(bt_base64_decode(bt_buf_view(&text), &bytes, &bad));
		assert_string_equal(bytes.ptr, cases[i][0]);
		bt_buf_fini(&text);
		bt_buf_fini(&bytes);
	}
}

static void any_bytes_go_both_ways(void **state)
{
	struct bt_rng rng = {.state = seed_or(7)};

	(void)state;
	for (size_t n = 0; n < 300; n++) {
		struct bt_buf all = {0}, text = {0}, bytes = {0};
		size_t bad;

		for (size_t i = 0; i < n; i++) {
			bt_buf_char(&all, (char)bt_rng_below(&rng, 256));
		}
		bt_buf_text(&text, "-");
		bt_base64_encode(bt_buf_view(&all), &text);
		bt_buf_text(&bytes, "+");
		assert_true(bt_base64_decode(bt_str(text.ptr + 1), &bytes, &bad));
		assert_int_equal(bytes.len, n + 1);
		assert_int_equal(bytes.ptr[0], '+');
		if (n) {
			assert_memory_equal(bytes.ptr + 1, all.ptr, n);
		}
		bt_buf_fini(&all);
		bt_buf_fini(&text);
		bt_buf_fini(&bytes);
	}
}

static void line_ends_are_passed_over(void **state)
{
	struct bt_buf bytes = {0};
	size_t bad;

	(void)state;
	assert_true(bt_base64_decode(bt_str("YQBi\r\n/w=\n=\n"), &bytes, &bad));
	assert_int_equal(bytes.len, 4);
	assert_memory_equal(bytes.ptr, "a\0b\xff", 4);
	bt_buf_fini(&bytes);
}

static void invalid_base64_is_rejected_with_the_offset_that_go_reports(void **state)
{
	static const struct {
		const char *text;
		size_t bad;
	} cases[] = {{"!!", 0}, {"a", 0}, {"aaaaa", 4}, {"aa=", 3}, {"aa=a", 2}, {"ab-d", 2}, {"ab d", 2},
		{"a===", 1}, {"abc=def=", 4}, {"aaaa=", 4}, {"\"YQ==\"", 0}};
	struct bt_buf bytes = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bad = SIZE_MAX;

		assert_false(bt_base64_decode(bt_str(cases[i].text), &bytes, &bad));
		assert_int_equal(bad, cases[i].bad);
		assert_int_equal(bytes.len, 0);
	}
	bt_buf_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_standard_go_both_ways),
		cmocka_unit_test(any_bytes_go_both_ways),
		cmocka_unit_test(line_ends_are_passed_over),
		cmocka_unit_test(invalid_base64_is_rejected_with_the_offset_that_go_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
