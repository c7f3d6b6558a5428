/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic that wraps like Go's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "engine/base/wrap.h"

static void sums_and_products_wrap(void **state)
{
	(void)state;
	assert_true(bt_wrap_add(INT64_MAX, 1) == INT64_MIN);
	assert_true(bt_wrap_sub(INT64_MIN, 1) == INT64_MAX);
	assert_true(bt_wrap_sub(0, INT64_MIN) == INT64_MIN);
	assert_true(bt_wrap_mul(INT64_MAX, 2) == -2);
	assert_true(bt_wrap_mul(INT64_MIN, -1) == INT64_MIN);
	assert_true(bt_wrap_add(2, -3) == -1);
	assert_true(bt_wrap_mul(-4, 5) == -20);
}

static void division_cuts_towards_zero_and_wraps_once(void **state)
{
	(void)state;
	assert_true(bt_wrap_div(7, 2) == 3);
	assert_true(bt_wrap_div(-7, 2) == -3);
	assert_true(bt_wrap_div(7, -1) == -7);
	assert_true(bt_wrap_div(INT64_MIN, -1) == INT64_MIN);
}

static void doubles_that_do_not_fit_become_the_smallest_number(void **state)
{
	(void)state;
	assert_true(bt_truncate(1.9) == 1);
	assert_true(bt_truncate(-1.9) == -1);
	assert_true(bt_truncate(0x1p62) == (int64_t)1 << 62);
	assert_true(bt_truncate(0x1p63) == INT64_MIN);
	assert_true(bt_truncate(-0x1p63) == INT64_MIN);
	assert_true(bt_truncate(-0x1p64) == INT64_MIN);
	assert_true(bt_truncate(__builtin_nan("")) == INT64_MIN);
	assert_true(bt_truncate(__builtin_inf()) == INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_products_wrap),
		cmocka_unit_test(division_cuts_towards_zero_and_wraps_once),
		cmocka_unit_test(doubles_that_do_not_fit_become_the_smallest_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
