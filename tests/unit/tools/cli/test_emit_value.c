/* SPDX-License-Identifier: Apache-2.0
 * A value of a report as text: digits, thousands separators, lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit_int.h"

static void expect(const struct bt_emit_value *value, bool grouped, const char *want)
{
	struct bt_buf out = {.len = 0};

	bt_emit_value_text(value, grouped, &out);
	bt_buf_char(&out, 0);
	assert_string_equal(out.ptr, want);
	bt_buf_fini(&out);
}

static void thousands_are_separated_only_for_people(void **state)
{
	static const struct {
		int64_t number;
		const char *plain, *grouped;
	} rows[] = {{0, "0", "0"}, {999, "999", "999"}, {1000, "1000", "1,000"}, {-999, "-999", "-999"},
		{-1234567, "-1234567", "-1,234,567"},
		{INT64_MIN, "-9223372036854775808", "-9,223,372,036,854,775,808"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct bt_emit_value value = {.type = BT_EMIT_INT, .integer = rows[i].number};

		expect(&value, false, rows[i].plain);
		expect(&value, true, rows[i].grouped);
	}
}

static void reals_have_their_digits_and_separate_only_the_whole_part(void **state)
{
	(void)state;
	expect(&(struct bt_emit_value){.type = BT_EMIT_REAL, .digits = 4, .real = -12345.67891}, true,
		"-12,345.6789");
	expect(&(struct bt_emit_value){.type = BT_EMIT_REAL, .digits = 0, .real = 1999.5}, true, "2,000");
	expect(&(struct bt_emit_value){.type = BT_EMIT_REAL, .digits = 2, .real = 1999.5}, false, "1999.50");
}

static void null_is_empty_and_text_is_verbatim(void **state)
{
	(void)state;
	expect(&(struct bt_emit_value){.type = BT_EMIT_NULL}, true, "");
	expect(&(struct bt_emit_value){.type = BT_EMIT_BOOL, .truth = true}, true, "true");
	expect(&(struct bt_emit_value){.type = BT_EMIT_STR, .str = BT_STR("1234567")}, true, "1234567");
}

static void elements_of_a_list_are_joined(void **state)
{
	struct bt_emit_value second = {.type = BT_EMIT_INT, .integer = 4000};
	struct bt_emit_value first = {.type = BT_EMIT_STR, .str = BT_STR("a"), .next = &second};
	const struct bt_emit_value list = {.type = BT_EMIT_ARRAY, .members = {&first, &second}};

	(void)state;
	expect(&list, true, "a, 4,000");
	expect(&(struct bt_emit_value){.type = BT_EMIT_ARRAY}, true, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_are_separated_only_for_people),
		cmocka_unit_test(reals_have_their_digits_and_separate_only_the_whole_part),
		cmocka_unit_test(null_is_empty_and_text_is_verbatim),
		cmocka_unit_test(elements_of_a_list_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
