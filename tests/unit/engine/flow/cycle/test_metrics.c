/* SPDX-License-Identifier: Apache-2.0
 * Durations in kube-scheduler's buckets, one series per set of labels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/metrics.h"

static const struct bt_series *find(
	const struct bt_cycle_metrics *metrics, enum bt_cycle_metric metric, uint16_t a, uint16_t b)
{
	const struct bt_cycle_metric_table *table = &metrics->tables[metric];

	for (uint32_t i = 0; i < table->cap; i++) {
		const struct bt_series *series = &table->series[i];

		if (series->n && series->labels[0] == a && series->labels[1] == b) {
			return series;
		}
	}
	return NULL;
}

static void note(
	struct bt_cycle_metrics *metrics, enum bt_cycle_metric metric, uint16_t a, uint16_t b, int64_t ns)
{
	const uint16_t labels[4] = {a, b};

	bt_cycle_metrics_note(metrics, metric, labels, ns);
}

static void bounds_are_upstreams(void **state)
{
	double bounds[BT_CYCLE_METRIC_BOUNDS];

	(void)state;
	assert_int_equal(bt_cycle_metric_bounds(BT_CYCLE_METRIC_POINT, bounds), 12);
	assert_true(bounds[0] == 0.0001 && bounds[11] == 0.0001 * 2048);
	assert_int_equal(bt_cycle_metric_bounds(BT_CYCLE_METRIC_HINT, bounds), 20);
	assert_true(bounds[0] == 0.00001 && bounds[1] == 0.00001 * 1.5);
	assert_true(bounds[19] > 0.0221 && bounds[19] < 0.0222);
	assert_int_equal(bt_cycle_metric_bounds(BT_CYCLE_METRIC_EVICTING, bounds), 20);
	assert_true(bounds[0] == 0.01 && bounds[19] == 0.01 * (1 << 19));
	assert_int_equal(bt_cycle_metric_bounds(BT_CYCLE_METRIC_GROUP, bounds), 15);
	assert_true(bounds[0] == 0.001 && bounds[14] == 0.001 * (1 << 14));
	assert_int_equal(bt_cycle_metric_bounds(BT_CYCLE_METRIC_GROUP_DECIDING, bounds), 15);
	assert_int_equal(bt_cycle_metric_bounds(BT_CYCLE_METRIC_PLACEMENT, bounds), 15);
}

static void a_value_counts_in_the_bucket_whose_bound_it_does_not_exceed(void **state)
{
	struct bt_cycle_metrics *metrics = bt_cycle_metrics_create();

	(void)state;
	note(metrics, BT_CYCLE_METRIC_EVENT, 1, 0, 100000);
	note(metrics, BT_CYCLE_METRIC_EVENT, 1, 0, 100001);
	note(metrics, BT_CYCLE_METRIC_EVENT, 1, 0, INT64_C(10000000000));
	const struct bt_series *series = find(metrics, BT_CYCLE_METRIC_EVENT, 1, 0);

	assert_non_null(series);
	assert_int_equal(series->counts[0], 1);
	assert_int_equal(series->counts[1], 1);
	assert_int_equal(series->counts[12], 1);
	assert_int_equal(series->n, 3);
	assert_int_equal(series->sum_ns, INT64_C(10000200001));
	bt_cycle_metrics_destroy(metrics);
}

static void each_set_of_labels_is_a_series_of_its_own(void **state)
{
	struct bt_cycle_metrics *metrics = bt_cycle_metrics_create();

	(void)state;
	for (uint16_t i = 0; i < 20; i++) {
		for (uint16_t k = 0; k <= i; k++) {
			note(metrics, BT_CYCLE_METRIC_PLUGIN, i, 7, 5);
		}
	}
	for (uint16_t i = 0; i < 20; i++) {
		assert_int_equal(find(metrics, BT_CYCLE_METRIC_PLUGIN, i, 7)->n, i + 1);
	}
	assert_null(find(metrics, BT_CYCLE_METRIC_PLUGIN, 0, 0));
	assert_null(find(metrics, BT_CYCLE_METRIC_HINT, 0, 7));
	bt_cycle_metrics_destroy(metrics);
}

static void a_full_table_counts_dropped_entries_and_does_not_allocate(void **state)
{
	struct bt_cycle_metrics *metrics = bt_cycle_metrics_create();
	uint64_t bytes = bt_mem_in_use_bytes();

	(void)state;
	for (uint16_t i = 0; i < 1000; i++) {
		note(metrics, BT_CYCLE_METRIC_PLUGIN, i, 0, 5);
	}
	assert_int_equal(bt_mem_in_use_bytes(), bytes);
	assert_int_equal(metrics->tables[BT_CYCLE_METRIC_PLUGIN].n, 32);
	assert_int_equal(metrics->tables[BT_CYCLE_METRIC_PLUGIN].lost_n, 968);
	note(metrics, BT_CYCLE_METRIC_PLUGIN, 31, 0, 5); /* an existing series is kept */
	assert_int_equal(find(metrics, BT_CYCLE_METRIC_PLUGIN, 31, 0)->n, 2);
	bt_cycle_metrics_destroy(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_are_upstreams),
		cmocka_unit_test(a_value_counts_in_the_bucket_whose_bound_it_does_not_exceed),
		cmocka_unit_test(each_set_of_labels_is_a_series_of_its_own),
		cmocka_unit_test(a_full_table_counts_dropped_entries_and_does_not_allocate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
