/* SPDX-License-Identifier: Apache-2.0
 * Statuses have distinct names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/status.h"

static void each_status_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int a = BT_OK; a <= BT_UNSUPPORTED; a++) {
		assert_string_not_equal(bt_status_name((enum bt_status)a), "unknown");
		for (int b = BT_OK; b < a; b++) {
			assert_string_not_equal(
				bt_status_name((enum bt_status)a), bt_status_name((enum bt_status)b));
		}
	}
}

static void a_number_that_is_no_status_is_unknown(void **state)
{
	(void)state;
	assert_string_equal(bt_status_name((enum bt_status)(BT_UNSUPPORTED + 1)), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_status_has_a_name_of_its_own),
		cmocka_unit_test(a_number_that_is_no_status_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
