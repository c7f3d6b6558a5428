/* SPDX-License-Identifier: Apache-2.0
 * Values of flags, parsed as by Go and kube-scheduler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tools/cluster/run/flag_values.h"

static void integers_are_read_in_gos_bases(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		{"0", 0},
		{"-0", 0},
		{"+7", 7},
		{"0x1F", 31},
		{"0X1f", 31},
		{"0b11", 3},
		{"0o17", 15},
		{"017", 15},
		{"1_000", 1000},
		{"0x_1", 1},
		{"0_7", 7},
		{"9223372036854775807", INT64_MAX},
		{"-9223372036854775808", INT64_MIN},
		{"-0x8000000000000000", INT64_MIN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = -1;

		if (!bt_flag_integer(bt_str(cases[i].text), &value) || value != cases[i].value) {
			fail_msg("%s is read as %lld", cases[i].text, (long long)value);
		}
	}
}

static void inputs_that_go_rejects_are_rejected_and_leave_the_value(void **state)
{
	static const char *const cases[] = {"", "-", "+", "0x", "08", "0b2", "0o8", "1__0", "_1", "1_",
		"0x1_", "1a", " 1", "1 ", "--1", "1.0", "9223372036854775808", "-9223372036854775809",
		"0x8000000000000000", "99999999999999999999999"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 42;

		if (bt_flag_integer(bt_str(cases[i]), &value) || value != 42) {
			fail_msg("\"%s\" is read as %lld", cases[i], (long long)value);
		}
	}
}

static void vmodule_takes_patterns_with_levels_of_32_bits(void **state)
{
	static const char *const good[] = {"", "a=0", "a/b*=2147483647", "a=007"};
	static const char *const wrong[] = {"a", "=1", "a=", "a=b", "a=-1", "a=2147483648", "a=1=2"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(bt_flag_is_vmodule(bt_str(good[i])));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(bt_flag_is_vmodule(bt_str(wrong[i])));
	}
}

static void blanks_are_known_and_only_spaces_are_trimmed(void **state)
{
	(void)state;
	assert_true(bt_flag_is_blank(bt_str("")));
	assert_true(bt_flag_is_blank(bt_str(" \t\n\v\f\r")));
	assert_false(bt_flag_is_blank(bt_str(" a")));
	assert_true(bt_str_eq(bt_flag_trim(bt_str("  a b ")), bt_str("a b")));
	assert_true(bt_str_eq(bt_flag_trim(bt_str("\ta")), bt_str("\ta")));
	assert_int_equal(bt_flag_trim(bt_str("   ")).len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_read_in_gos_bases),
		cmocka_unit_test(inputs_that_go_rejects_are_rejected_and_leave_the_value),
		cmocka_unit_test(vmodule_takes_patterns_with_levels_of_32_bits),
		cmocka_unit_test(blanks_are_known_and_only_spaces_are_trimmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
