/* SPDX-License-Identifier: Apache-2.0
 * Text buffer: added text is there, in order, followed by NUL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/base/rng.h"
#include "seed.h"

static void an_empty_buffer_views_as_empty(void **state)
{
	struct bt_buf buf = {0};

	(void)state;
	assert_int_equal(bt_buf_view(&buf).len, 0);
	bt_buf_clear(&buf);
	bt_buf_fini(&buf);
}

static void every_kind_of_text_is_appended(void **state)
{
	struct bt_buf buf = {0};

	(void)state;
	bt_buf_text(&buf, "a");
	bt_buf_char(&buf, 'b');
	bt_buf_str(&buf, bt_str("cd"));
	bt_buf_add(&buf, "ef!", 2);
	bt_buf_int(&buf, -12);
	bt_buf_printf(&buf, "<%s %d>", "g", 3);
	bt_buf_str(&buf, (struct bt_str){NULL, 0});
	assert_string_equal(buf.ptr, "abcdef-12<g 3>");
	assert_int_equal(buf.len, strlen(buf.ptr));
	bt_buf_clear(&buf);
	bt_buf_text(&buf, "z");
	assert_string_equal(buf.ptr, "z");
	bt_buf_fini(&buf);
}

static void integers_are_written_to_their_limits(void **state)
{
	static const int64_t values[] = {0, 1, -1, 9, 10, -10, 99, 100, INT32_MIN, INT64_MAX, INT64_MIN};
	struct bt_buf buf = {0};
	char want[32];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		bt_buf_clear(&buf);
		bt_buf_int(&buf, values[i]);
		snprintf(want, sizeof(want), "%" PRId64, values[i]);
		assert_string_equal(buf.ptr, want);
	}
	bt_buf_fini(&buf);
}

static void printf_grows_past_any_capacity(void **state)
{
	struct bt_buf buf = {0};

	(void)state;
	bt_buf_printf(&buf, "%*d|", 5000, 7);
	bt_buf_printf(&buf, "%s", "");
	assert_int_equal(buf.len, 5001);
	assert_int_equal(buf.ptr[4999], '7');
	assert_int_equal(buf.ptr[5001], '\0');
	bt_buf_fini(&buf);
}

static void bytes_may_hold_nul(void **state)
{
	struct bt_buf buf = {0};

	(void)state;
	bt_buf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.len, 3);
	assert_memory_equal(buf.ptr, "a\0b", 4);
	bt_buf_fini(&buf);
}

static void random_pieces_add_up(void **state)
{
	static char want[200000];
	struct bt_rng rng = {.state = seed_of_test()};
	struct bt_buf buf = {0};
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		size_t n = bt_rng_below(&rng, 80), reserve = bt_rng_below(&rng, 300);

		memset(want + len, 'a' + i % 26, n);
		bt_buf_reserve(&buf, reserve);
		bt_buf_add(&buf, want + len, n);
		len += n;
		assert_true(buf.cap > buf.len);
		assert_int_equal(buf.ptr[buf.len], '\0');
	}
	assert_int_equal(buf.len, len);
	assert_memory_equal(buf.ptr, want, len);
	bt_buf_fini(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_views_as_empty),
		cmocka_unit_test(every_kind_of_text_is_appended),
		cmocka_unit_test(integers_are_written_to_their_limits),
		cmocka_unit_test(printf_grows_past_any_capacity),
		cmocka_unit_test(bytes_may_hold_nul),
		cmocka_unit_test(random_pieces_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
