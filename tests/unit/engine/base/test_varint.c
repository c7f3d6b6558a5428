/* SPDX-License-Identifier: Apache-2.0
 * Varints: the encoding of Protocol Buffers, and invalid input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/varint.h"

static void numbers_are_the_bytes_of_protocol_buffers(void **state)
{
	static const struct {
		uint64_t number;
		struct bt_str bytes;
	} rows[] = {
		{0, BT_STR("\x00")},
		{1, BT_STR("\x01")},
		{127, BT_STR("\x7f")},
		{128, BT_STR("\x80\x01")},
		{300, BT_STR("\xac\x02")},
		{UINT64_MAX, BT_STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_buf out = {0};
		uint64_t again = 7;

		bt_varint_put(rows[i].number, &out);
		assert_true(bt_str_eq(bt_buf_view(&out), rows[i].bytes));
		struct bt_str rest = bt_buf_view(&out);
		assert_true(bt_varint_get(&rest, &again));
		assert_true(again == rows[i].number && rest.len == 0);
		bt_buf_fini(&out);
	}
}

static void signed_numbers_near_zero_are_short(void **state)
{
	static const struct {
		int64_t number;
		size_t len;
	} rows[] = {{0, 1}, {-1, 1}, {1, 1}, {-64, 1}, {64, 2}, {INT64_MAX, 10}, {INT64_MIN, 10}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_buf out = {0};
		int64_t again = 7;

		bt_varint_put_signed(rows[i].number, &out);
		assert_int_equal(out.len, rows[i].len);
		struct bt_str rest = bt_buf_view(&out);
		assert_true(bt_varint_get_signed(&rest, &again));
		assert_true(again == rows[i].number && rest.len == 0);
		bt_buf_fini(&out);
	}
}

static void truncated_and_overlong_varints_are_not_consumed(void **state)
{
	static const struct bt_str rows[] = {BT_STR(""), BT_STR("\x80"), BT_STR("\xff\xff\xff"),
		BT_STR("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
		BT_STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
		BT_STR("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x03")};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_str rest = rows[i];
		uint64_t number = 7;

		assert_false(bt_varint_get(&rest, &number));
		assert_true(bt_str_eq(rest, rows[i]) && number == 7);
	}
}

static void a_text_stands_behind_its_length(void **state)
{
	struct bt_buf out = {0};
	struct bt_str first, second, third;

	(void)state;
	bt_varint_put_text(bt_str("ab"), &out);
	bt_varint_put_text(bt_str(""), &out);
	bt_varint_put(3, &out);
	bt_buf_text(&out, "cd"); /* one byte is missing */
	struct bt_str rest = bt_buf_view(&out);
	assert_true(bt_varint_get_text(&rest, &first) && bt_str_is(first, "ab"));
	assert_true(bt_varint_get_text(&rest, &second) && second.len == 0);
	assert_false(bt_varint_get_text(&rest, &third));
	bt_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_bytes_of_protocol_buffers),
		cmocka_unit_test(signed_numbers_near_zero_are_short),
		cmocka_unit_test(truncated_and_overlong_varints_are_not_consumed),
		cmocka_unit_test(a_text_stands_behind_its_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
