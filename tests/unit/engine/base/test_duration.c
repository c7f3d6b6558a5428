/* SPDX-License-Identifier: Apache-2.0
 * Durations are read and written as Go does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/duration.h"

static void inputs_that_go_accepts_are_accepted(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {{"0", 0}, {"0s", 0}, {"7ns", 7}, {"3us", 3000}, {"3\xc2\xb5s", 3000},
		{"3\xce\xbcs", 3000}, {"250ms", 250000000}, {"10s", INT64_C(10000000000)},
		{"1m30s", INT64_C(90000000000)}, {"1.5h", INT64_C(5400000000000)},
		{"1h2m3.5s", INT64_C(3723500000000)}, {"-1.5ms", -1500000}, {"+.5us", 500},
		{"2562047h47m16.854775807s", INT64_MAX}, {"-2562047h47m16.854775808s", INT64_MIN}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_buf error = {0};
		int64_t ns = -1;

		assert_true(bt_duration_parse(bt_str(cases[i].text), &ns, &error));
		assert_true(ns == cases[i].ns);
		assert_int_equal(error.len, 0);
	}
}

static void inputs_that_go_rejects_are_rejected_with_its_texts(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {{"", "time: invalid duration \"\""}, {"-", "time: invalid duration \"-\""},
		{"10", "time: missing unit in duration \"10\""},
		{"1s2", "time: missing unit in duration \"1s2\""},
		{"1d", "time: unknown unit \"d\" in duration \"1d\""},
		{"1 s", "time: unknown unit \" s\" in duration \"1 s\""},
		{"1e3s", "time: unknown unit \"e\" in duration \"1e3s\""},
		{"1..5s", "time: missing unit in duration \"1..5s\""},
		{".s", "time: invalid duration \".s\""}, {"s", "time: invalid duration \"s\""},
		{"2562047h47m16.854775808s", "time: invalid duration \"2562047h47m16.854775808s\""},
		{"\xff\"", "time: invalid duration \"\\xff\\\"\""}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_buf error = {0};
		int64_t ns = -1;

		assert_false(bt_duration_parse(bt_str(cases[i].text), &ns, &error));
		assert_string_equal(error.ptr, cases[i].error);
		assert_false(bt_duration_parse(bt_str(cases[i].text), &ns, NULL));
		assert_true(ns == -1);
		bt_buf_fini(&error);
	}
}

static void durations_are_written_as_go_does(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {{0, "0s"}, {1, "1ns"}, {1100, "1.1\xc2\xb5s"}, {2200000, "2.2ms"},
		{INT64_C(3300000000), "3.3s"}, {INT64_C(90000000000), "1m30s"},
		{INT64_C(3600000000000), "1h0m0s"}, {-1500000, "-1.5ms"},
		{INT64_MIN, "-2562047h47m16.854775808s"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_buf text = {0};

		bt_duration_text(&text, cases[i].ns);
		assert_string_equal(text.ptr, cases[i].text);
		bt_buf_fini(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_that_go_accepts_are_accepted),
		cmocka_unit_test(inputs_that_go_rejects_are_rejected_with_its_texts),
		cmocka_unit_test(durations_are_written_as_go_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
