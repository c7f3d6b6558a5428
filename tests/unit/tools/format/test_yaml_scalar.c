/* SPDX-License-Identifier: Apache-2.0
 * Types of plain scalars in YAML, row by row, as in go-yaml v2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "yaml_scalar_int.h"

struct row {
	const char *text;
	enum bt_scalar kind;
	const char *json;
};

static void resolve(const char *text, bool as_key, enum bt_scalar kind, const char *json)
{
	struct bt_buf out = {0};
	enum bt_scalar got = bt_scalar_resolve(bt_str(text), as_key, &out);

	if (got != kind || strcmp(out.ptr ? out.ptr : "", json) != 0) {
		fail_msg("%s: kind %d as \"%s\" instead of kind %d as \"%s\"", text, got,
			out.ptr ? out.ptr : "", kind, json);
	}
	bt_buf_fini(&out);
}

#define CHECK(rows, as_key)                                                                                  \
	for (size_t i_ = 0; i_ < sizeof(rows) / sizeof((rows)[0]); i_++) {                                   \
		resolve((rows)[i_].text, as_key, (rows)[i_].kind, (rows)[i_].json);                          \
	}

static void words_for_null_and_truth_have_three_spellings(void **state)
{
	static const struct row rows[] = {
		{"", BT_SCALAR_NULL, "null"},
		{"~", BT_SCALAR_NULL, "null"},
		{"Null", BT_SCALAR_NULL, "null"},
		{"nULL", BT_SCALAR_STRING, ""},
		{"y", BT_SCALAR_BOOL, "true"},
		{"YES", BT_SCALAR_BOOL, "true"},
		{"On", BT_SCALAR_BOOL, "true"},
		{"true", BT_SCALAR_BOOL, "true"},
		{"n", BT_SCALAR_BOOL, "false"},
		{"No", BT_SCALAR_BOOL, "false"},
		{"off", BT_SCALAR_BOOL, "false"},
		{"FALSE", BT_SCALAR_BOOL, "false"},
		{"tRUE", BT_SCALAR_STRING, ""},
		{"yes!", BT_SCALAR_STRING, ""},
		{"nothing", BT_SCALAR_STRING, ""},
	};

	(void)state;
	CHECK(rows, false);
}

static void integers_have_four_bases_a_sign_and_underscores(void **state)
{
	static const struct row rows[] = {
		{"0", BT_SCALAR_INT, "0"},
		{"-0", BT_SCALAR_INT, "0"},
		{"+12", BT_SCALAR_INT, "12"},
		{"1_000", BT_SCALAR_INT, "1000"},
		{"0x1F", BT_SCALAR_INT, "31"},
		{"-0x10", BT_SCALAR_INT, "-16"},
		{"0b101", BT_SCALAR_INT, "5"},
		{"0o17", BT_SCALAR_INT, "15"},
		{"017", BT_SCALAR_INT, "15"},
		{"018", BT_SCALAR_FLOAT, "18"},
		{"0x", BT_SCALAR_STRING, ""},
		{"0b2", BT_SCALAR_STRING, ""},
		{"1a", BT_SCALAR_STRING, ""},
		{"-", BT_SCALAR_STRING, ""},
		{"9223372036854775807", BT_SCALAR_INT, "9223372036854775807"},
		{"-9223372036854775808", BT_SCALAR_INT, "-9223372036854775808"},
		{"9223372036854775808", BT_SCALAR_UINT, "9223372036854775808"},
		{"18446744073709551615", BT_SCALAR_UINT, "18446744073709551615"},
		{"18446744073709551616", BT_SCALAR_FLOAT, "18446744073709552000"},
		{"-9223372036854775809", BT_SCALAR_FLOAT, "-9223372036854776000"},
	};

	(void)state;
	CHECK(rows, false);
}

static void floats_are_written_as_the_shortest_decimal(void **state)
{
	static const struct row rows[] = {
		{"1.5", BT_SCALAR_FLOAT, "1.5"},
		{".5", BT_SCALAR_FLOAT, "0.5"},
		{"5.", BT_SCALAR_FLOAT, "5"},
		{"0.1", BT_SCALAR_FLOAT, "0.1"},
		{"-1e3", BT_SCALAR_FLOAT, "-1000"},
		{"1E+2", BT_SCALAR_FLOAT, "100"},
		{"1e21", BT_SCALAR_FLOAT, "1e+21"},
		{"1e20", BT_SCALAR_FLOAT, "100000000000000000000"},
		{"1e-6", BT_SCALAR_FLOAT, "0.000001"},
		{"1.25e-7", BT_SCALAR_FLOAT, "1.25e-7"},
		{"0.0", BT_SCALAR_FLOAT, "0"},
		{"1e999", BT_SCALAR_STRING, ""},
		{"1e", BT_SCALAR_STRING, ""},
		{".e1", BT_SCALAR_STRING, ""},
		{".", BT_SCALAR_STRING, ""},
		{"1.2.3", BT_SCALAR_STRING, ""},
		{".1_5", BT_SCALAR_FLOAT, "0.15"},
		{".15_", BT_SCALAR_STRING, ""},
		{"._15", BT_SCALAR_STRING, ""},
	};

	(void)state;
	CHECK(rows, false);
}

static void keys_are_written_in_single_precision(void **state)
{
	static const struct row rows[] = {
		{"0.1", BT_SCALAR_FLOAT, "0.1"},
		{"16777217.0", BT_SCALAR_FLOAT, "1.6777216e+07"},
		{"1e5", BT_SCALAR_FLOAT, "100000"},
		{"1e6", BT_SCALAR_FLOAT, "1e+06"},
		{"1e-5", BT_SCALAR_FLOAT, "1e-05"},
		{"1e300", BT_SCALAR_FLOAT, ".inf"},
		{"-1e300", BT_SCALAR_FLOAT, "-.inf"},
		{"12", BT_SCALAR_INT, "12"},
	};

	(void)state;
	CHECK(rows, true);
}

static void infinity_and_no_number_are_distinguished_from_numbers(void **state)
{
	static const struct row rows[] = {
		{".inf", BT_SCALAR_NO_NUMBER, ".inf"},
		{"+.Inf", BT_SCALAR_NO_NUMBER, ".inf"},
		{"-.INF", BT_SCALAR_NO_NUMBER, "-.inf"},
		{".NaN", BT_SCALAR_NO_NUMBER, ".nan"},
		{".nAn", BT_SCALAR_STRING, ""},
		{"-.nan", BT_SCALAR_STRING, ""},
	};

	(void)state;
	CHECK(rows, false);
}

static void overlong_numbers_are_strings(void **state)
{
	char digits[401];

	(void)state;
	memset(digits, '1', sizeof(digits));
	digits[0] = '.';
	digits[400] = '\0';
	resolve(digits, false, BT_SCALAR_STRING, "");
	digits[399] = '\0';
	resolve(digits, false, BT_SCALAR_FLOAT, "0.1111111111111111");
}

static void a_zero_byte_is_part_of_a_string(void **state)
{
	struct bt_buf out = {0};

	(void)state;
	assert_int_equal(bt_scalar_resolve((struct bt_str){"1\0", 2}, false, &out), BT_SCALAR_STRING);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_for_null_and_truth_have_three_spellings),
		cmocka_unit_test(integers_have_four_bases_a_sign_and_underscores),
		cmocka_unit_test(floats_are_written_as_the_shortest_decimal),
		cmocka_unit_test(keys_are_written_in_single_precision),
		cmocka_unit_test(infinity_and_no_number_are_distinguished_from_numbers),
		cmocka_unit_test(overlong_numbers_are_strings),
		cmocka_unit_test(a_zero_byte_is_part_of_a_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
