/* SPDX-License-Identifier: Apache-2.0
 * Virtual times and speeds on the command line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/offline/simulate/virtual_time.h"

#define SECOND INT64_C(1000000000)

static void a_duration_has_numbers_and_units(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{"0", 0},
		{"90", 90 * SECOND},
		{"1.5", 3 * SECOND / 2},
		{"90s", 90 * SECOND},
		{"250ms", SECOND / 4},
		{"5m", 300 * SECOND},
		{"1h30m", 5400 * SECOND},
		{"1h0m10.5s", 3610 * SECOND + SECOND / 2},
		{"1000000h", 3600000000 * SECOND},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_virtual_time moment;

		assert_true(bt_virtual_time_parse(cases[i].text, &moment));
		assert_false(moment.is_date);
		assert_true(moment.ns == cases[i].ns);
	}
}

static void a_date_is_one_of_RFC_3339(void **state)
{
	struct bt_virtual_time moment;

	(void)state;
	assert_true(bt_virtual_time_parse("1970-01-01T00:00:01Z", &moment));
	assert_true(moment.is_date && moment.ns == SECOND);
	assert_true(bt_virtual_time_parse("2026-01-01T01:00:00.5+01:00", &moment));
	assert_true(moment.is_date && moment.ns == 1767225600 * SECOND + SECOND / 2);
	assert_true(bt_virtual_time_parse("2115-01-01T00:00:00Z", &moment));
}

static void invalid_times_are_rejected(void **state)
{
	static const char *const odd[] = {"", " ", "s", "-1", "+1", "1x", "1 s", "1h2", "1.2.3s", ".", "1e3",
		"0x10", "inf", "nan", "1d", "2026-01-01", "1969-12-31T23:59:59Z", "2200-01-01T00:00:00Z",
		"9999-12-31T23:59:59Z", "1300000h", "99999999999999999999999999", "5ms3"};
	struct bt_virtual_time moment;

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		if (bt_virtual_time_parse(odd[i], &moment)) {
			fail_msg("'%s' is a moment", odd[i]);
		}
	}
}

static void a_speed_is_a_plain_number(void **state)
{
	static const char *const odd[] = {
		"", "-1", "+1", "x", "1x", "1e3", "inf", "nan", ".", "1.2.3", "9999999999999999"};
	double speed;

	(void)state;
	assert_true(bt_speed_parse("0", &speed) && !(speed > 0));
	assert_true(bt_speed_parse("0.5", &speed) && speed > 0.49 && speed < 0.51);
	assert_true(bt_speed_parse("3600", &speed) && speed > 3599 && speed < 3601);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		if (bt_speed_parse(odd[i], &speed)) {
			fail_msg("'%s' is a speed", odd[i]);
		}
	}
}

static void sums_stay_in_range(void **state)
{
	(void)state;
	assert_true(bt_later(1, 2) == 3);
	assert_true(bt_later(BT_VIRTUAL_TIME_MAX, BT_VIRTUAL_TIME_MAX) == 2 * BT_VIRTUAL_TIME_MAX);
	assert_true(bt_later(INT64_MAX, 1) == INT64_MAX);
	assert_true(bt_later(BT_VIRTUAL_TIME_MAX + 1, INT64_MAX) == INT64_MAX);
}

static void without_a_speed_time_takes_no_time(void **state)
{
	struct bt_pace pace;

	(void)state;
	bt_pace_begin(&pace, 0, 0);
	assert_true(bt_pace_left(&pace, INT64_MAX) == 0);
	/* Past times are not waited for. */
	bt_pace_begin(&pace, 1, 100 * SECOND);
	assert_true(bt_pace_left(&pace, 50 * SECOND) == 0);
	/* Future times are waited for at that speed, up to the largest representable wait. */
	bt_pace_begin(&pace, 2, 0);
	int64_t left_ns = bt_pace_left(&pace, 4000 * SECOND);
	assert_true(left_ns > 1000 * SECOND && left_ns <= 2000 * SECOND);
	bt_pace_begin(&pace, 1e-9, 0);
	assert_true(bt_pace_left(&pace, BT_VIRTUAL_TIME_MAX) == BT_VIRTUAL_TIME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_duration_has_numbers_and_units),
		cmocka_unit_test(a_date_is_one_of_RFC_3339),
		cmocka_unit_test(invalid_times_are_rejected),
		cmocka_unit_test(a_speed_is_a_plain_number),
		cmocka_unit_test(sums_stay_in_range),
		cmocka_unit_test(without_a_speed_time_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
