/* SPDX-License-Identifier: Apache-2.0
 * Durations of waits for devices, by profile, driver and result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tools/cluster/write/device_waits.h"

#define S INT64_C(1000000000)

struct seen {
	struct bt_device_series all[8];
	uint32_t n;
};

static void see(void *context, const struct bt_device_series *series)
{
	struct seen *seen = context;

	if (seen->n < 8) {
		seen->all[seen->n] = *series;
	}
	seen->n++;
}

static void a_wait_counts_in_the_bucket_whose_bound_it_does_not_exceed(void **state)
{
	struct bt_device_waits *waits = bt_device_waits_create();
	double bounds[BT_DEVICE_BOUNDS];
	struct seen seen = {.n = 0};

	(void)state;
	bt_device_bounds(bounds);
	assert_true(bounds[0] == 0.1 && bounds[1] == 0.2 && bounds[13] == 819.2);
	bt_device_waits_note(waits, bt_str("p"), bt_str("d"), BT_DEVICES_READY, true, S / 10);
	bt_device_waits_note(waits, bt_str("p"), bt_str("d"), BT_DEVICES_READY, false, S / 10 + 1);
	bt_device_waits_note(waits, bt_str("p"), bt_str("d"), BT_DEVICES_READY, true, 1000 * S);
	bt_device_waits_each(waits, see, &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.all[0].counts[0], 1);
	assert_int_equal(seen.all[0].counts[1], 1);
	assert_int_equal(seen.all[0].counts[BT_DEVICE_BOUNDS], 1);
	assert_int_equal(seen.all[0].conditional_n, 2);
	assert_true(seen.all[0].sum_s > 1000.19 && seen.all[0].sum_s < 1000.21);
	bt_device_waits_destroy(waits);
}

static void profiles_drivers_and_ends_have_series_of_their_own(void **state)
{
	struct bt_device_waits *waits = bt_device_waits_create();
	struct seen seen = {.n = 0};

	(void)state;
	bt_device_waits_note(waits, bt_str("p"), bt_str("d"), BT_DEVICES_READY, true, 0);
	bt_device_waits_note(waits, bt_str("q"), bt_str("d"), BT_DEVICES_READY, true, 0);
	bt_device_waits_note(waits, bt_str("p"), bt_str("e"), BT_DEVICES_READY, true, 0);
	bt_device_waits_note(waits, bt_str("p"), bt_str("d"), BT_DEVICES_TIMEOUT, true, 0);
	bt_device_waits_each(waits, see, &seen);
	assert_int_equal(seen.n, 4);
	assert_true(bt_str_is(seen.all[1].profile, "q") && bt_str_is(seen.all[2].driver, "e"));
	assert_int_equal(seen.all[3].end, BT_DEVICES_TIMEOUT);
	bt_device_waits_destroy(waits);
}

static void there_are_no_more_series_than_so_many(void **state)
{
	struct bt_device_waits *waits = bt_device_waits_create();
	struct seen seen = {.n = 0};
	char driver[16];

	(void)state;
	for (int i = 0; i < BT_DEVICE_SERIES + 10; i++) {
		snprintf(driver, sizeof(driver), "d%d", i);
		bt_device_waits_note(waits, bt_str("p"), bt_str(driver), BT_DEVICES_READY, true, 0);
	}
	bt_device_waits_each(waits, see, &seen);
	assert_int_equal(seen.n, BT_DEVICE_SERIES);
	bt_device_waits_destroy(waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_counts_in_the_bucket_whose_bound_it_does_not_exceed),
		cmocka_unit_test(profiles_drivers_and_ends_have_series_of_their_own),
		cmocka_unit_test(there_are_no_more_series_than_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
