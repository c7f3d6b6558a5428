/* SPDX-License-Identifier: Apache-2.0
 * Statistics of samples: upstream's average and percentiles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tools/offline/bench/bench.h"

static void one_sample_is_everything(void **state)
{
	double values[] = {7};
	const struct bt_buckets buckets = bt_buckets_of(values, 1);

	(void)state;
	assert_true(buckets.average == 7 && buckets.perc50 == 7 && buckets.perc99 == 7 && buckets.max == 7);
}

/* The k-th percentile of n values is the one at ceil(n * k / 100), counted from 1. */
static void percentiles_are_samples_as_upstream_takes_them(void **state)
{
	double values[20];

	(void)state;
	for (int i = 0; i < 20; i++) {
		values[i] = 20 - i;
	}
	const struct bt_buckets buckets = bt_buckets_of(values, 20);
	assert_true(buckets.average == 10.5);
	assert_true(buckets.perc50 == 10 && buckets.perc90 == 18 && buckets.perc95 == 19);
	assert_true(buckets.perc99 == 20 && buckets.max == 20);
	assert_true(bt_buckets_of((double[]){3, 1, 2}, 3).perc50 == 2);
	assert_true(bt_buckets_of((double[]){1, 3}, 2).perc50 == 1);
}

static void buckets_are_found_by_upstreams_names(void **state)
{
	const struct bt_buckets buckets = {1, 2, 3, 4, 5, 6};
	static const char *const names[] = {"Average", "Perc50", "Perc90", "Perc95", "Perc99", "Max"};
	double value;

	(void)state;
	for (int i = 0; i < 6; i++) {
		assert_true(bt_bucket(&buckets, bt_str(names[i]), &value) && value == i + 1);
	}
	assert_false(bt_bucket(&buckets, bt_str("Perc42"), &value));
}

static void the_topic_is_the_name_of_the_folder(void **state)
{
	(void)state;
	assert_true(
		bt_str_is(bt_bench_topic(&(struct bt_workload_file){.folder = BT_STR("a/b/dra")}), "dra"));
	assert_true(bt_str_is(bt_bench_topic(&(struct bt_workload_file){.folder = BT_STR("dra")}), "dra"));
	assert_true(bt_str_is(bt_bench_topic(&(struct bt_workload_file){.folder = BT_STR(".")}), "."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_sample_is_everything),
		cmocka_unit_test(percentiles_are_samples_as_upstream_takes_them),
		cmocka_unit_test(buckets_are_found_by_upstreams_names),
		cmocka_unit_test(the_topic_is_the_name_of_the_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
