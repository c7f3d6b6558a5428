/* SPDX-License-Identifier: Apache-2.0
 * The shared normaliser, with kube-scheduler's numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/score/normalize.h"

static void raw_scores_are_shares_of_the_highest(void **state)
{
	(void)state;
	assert_int_equal(bt_normalize_default(50, 50, false), 100);
	assert_int_equal(bt_normalize_default(30, 50, false), 60);
	assert_int_equal(bt_normalize_default(7, 50, false), 14);
}

static void reversed_scores_are_what_is_left(void **state)
{
	(void)state;
	assert_int_equal(bt_normalize_default(0, 3, true), 100);
	assert_int_equal(bt_normalize_default(1, 3, true), 67);
	assert_int_equal(bt_normalize_default(3, 3, true), 0);
}

static void nothing_to_share_is_zero_or_all(void **state)
{
	(void)state;
	assert_int_equal(bt_normalize_default(0, 0, false), 0);
	assert_int_equal(bt_normalize_default(0, 0, true), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raw_scores_are_shares_of_the_highest),
		cmocka_unit_test(reversed_scores_are_what_is_left),
		cmocka_unit_test(nothing_to_share_is_zero_or_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
