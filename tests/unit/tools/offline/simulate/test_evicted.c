/* SPDX-License-Identifier: Apache-2.0
 * Pods evicted in a cycle, each listed once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/offline/simulate/evicted.h"

static void a_pod_is_taken_as_often_as_it_was_added(void **state)
{
	struct bt_evicted evicted = {0};

	(void)state;
	assert_false(bt_evicted_take(&evicted, 3));
	bt_evicted_add(&evicted, 3);
	bt_evicted_add(&evicted, 3);
	assert_true(bt_evicted_take(&evicted, 3));
	assert_true(bt_evicted_take(&evicted, 3));
	assert_false(bt_evicted_take(&evicted, 3));
	bt_evicted_fini(&evicted);
}

static void taking_one_leaves_the_others(void **state)
{
	struct bt_evicted evicted = {0};

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		bt_evicted_add(&evicted, i);
	}
	for (uint32_t i = 0; i < 100; i += 2) {
		assert_true(bt_evicted_take(&evicted, i));
	}
	assert_int_equal(evicted.n, 50);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(bt_evicted_take(&evicted, i), i % 2);
	}
	bt_evicted_fini(&evicted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_is_taken_as_often_as_it_was_added),
		cmocka_unit_test(taking_one_leaves_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
