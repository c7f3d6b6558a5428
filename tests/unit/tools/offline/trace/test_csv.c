/* SPDX-License-Identifier: Apache-2.0
 * CSV records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/offline/trace/csv.h"

static struct bt_arena arena;

static void expect_field(const struct bt_csv *csv, size_t ix, const char *want)
{
	assert_true(ix < csv->field_n);
	assert_true(bt_str_is(csv->fields[ix], want));
}

static void fields_may_be_quoted(void **state)
{
	struct bt_csv csv;

	(void)state;
	bt_csv_init(
		&csv, (struct bt_str)BT_STR("a,\"b,c\",\"d \"\"e\"\"\",\"two\nlines\",\n\"\",x\n"), &arena);
	assert_int_equal(bt_csv_next(&csv), BT_OK);
	assert_int_equal(csv.field_n, 5);
	expect_field(&csv, 0, "a");
	expect_field(&csv, 1, "b,c");
	expect_field(&csv, 2, "d \"e\"");
	expect_field(&csv, 3, "two\nlines");
	expect_field(&csv, 4, "");
	assert_int_equal(csv.line, 1);
	assert_int_equal(bt_csv_next(&csv), BT_OK);
	assert_int_equal(csv.line, 3);
	expect_field(&csv, 0, "");
	expect_field(&csv, 1, "x");
	assert_int_equal(bt_csv_next(&csv), BT_NOT_FOUND);
	bt_arena_fini(&arena);
}

static void line_ends_and_byte_order_marks_are_no_part_of_fields(void **state)
{
	struct bt_csv csv;

	(void)state;
	bt_csv_init(&csv,
		(struct bt_str)BT_STR("\xef\xbb\xbf"
				      "a,b\r\n\r\n\nc,d"),
		&arena);
	assert_int_equal(bt_csv_next(&csv), BT_OK);
	expect_field(&csv, 0, "a");
	expect_field(&csv, 1, "b");
	assert_int_equal(bt_csv_next(&csv), BT_OK);
	assert_int_equal(csv.line, 4);
	expect_field(&csv, 0, "c");
	expect_field(&csv, 1, "d");
	assert_int_equal(bt_csv_next(&csv), BT_NOT_FOUND);
}

static void a_wrong_record_is_reported_and_the_next_is_read(void **state)
{
	struct bt_csv csv;

	(void)state;
	bt_csv_init(&csv, (struct bt_str)BT_STR("a\"b,c\n\"d\"e,f\ng\n\"open\n"), &arena);
	assert_int_equal(bt_csv_next(&csv), BT_INVALID);
	assert_non_null(csv.error);
	assert_int_equal(bt_csv_next(&csv), BT_INVALID);
	assert_int_equal(bt_csv_next(&csv), BT_OK);
	expect_field(&csv, 0, "g");
	assert_int_equal(bt_csv_next(&csv), BT_INVALID);
	assert_int_equal(bt_csv_next(&csv), BT_NOT_FOUND);
}

static void too_many_columns_are_refused(void **state)
{
	char text[BT_CSV_COLUMNS_MAX + 2];
	struct bt_csv csv;

	(void)state;
	memset(text, ',', sizeof(text));
	bt_csv_init(&csv, (struct bt_str){text, BT_CSV_COLUMNS_MAX - 1}, &arena);
	assert_int_equal(bt_csv_next(&csv), BT_OK);
	assert_int_equal(csv.field_n, BT_CSV_COLUMNS_MAX);
	bt_csv_init(&csv, (struct bt_str){text, BT_CSV_COLUMNS_MAX}, &arena);
	assert_int_equal(bt_csv_next(&csv), BT_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_may_be_quoted),
		cmocka_unit_test(line_ends_and_byte_order_marks_are_no_part_of_fields),
		cmocka_unit_test(a_wrong_record_is_reported_and_the_next_is_read),
		cmocka_unit_test(too_many_columns_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
