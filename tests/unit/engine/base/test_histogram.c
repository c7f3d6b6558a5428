/* SPDX-License-Identifier: Apache-2.0
 * Histograms against sorted arrays: every quantile is at least the true value and at most 1/64 more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/histogram.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/base/thread.h"
#include "seed.h"

#define VALUES 3000

static int ascending(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

static void an_empty_histogram_has_nothing(void **state)
{
	struct bt_histogram *histogram = bt_histogram_create();

	(void)state;
	assert_int_equal((uintptr_t)histogram % BT_CACHELINE, 0);
	assert_int_equal(bt_histogram_count(histogram), 0);
	assert_int_equal(bt_histogram_max(histogram), 0);
	assert_int_equal(bt_histogram_quantile(histogram, 500000), 0);
	assert_true(bt_histogram_mean(histogram) == 0);
	bt_mem_free(histogram);
}

static void small_values_are_exact(void **state)
{
	struct bt_histogram *histogram = bt_histogram_create();

	(void)state;
	for (int64_t value = 0; value < 128; value++) {
		bt_histogram_record(histogram, value);
	}
	for (uint32_t i = 0; i < 128; i++) {
		assert_int_equal(
			bt_histogram_quantile(histogram, (uint32_t)((uint64_t)(i + 1) * 1000000 / 128)), i);
		assert_int_equal(histogram->counts[i], 1);
	}
	assert_true(bt_histogram_mean(histogram) == 63.5);
	bt_mem_free(histogram);
}

/* Every bucket begins where the one before ends, up to the limit. */
static void buckets_leave_no_gap(void **state)
{
	uint32_t last = 0;

	(void)state;
	for (uint32_t bits = 0; bits < BT_HISTOGRAM_BITS; bits++) {
		uint64_t power = (uint64_t)1 << bits, step = power > 64 ? power / 64 : 1;

		for (uint64_t value = power; value < 2 * power; value += step) {
			assert_int_equal(bt_histogram_bucket(value - 1), last);
			assert_int_equal(bt_histogram_bucket(value), last + 1);
			last++;
		}
	}
	assert_int_equal(bt_histogram_bucket((uint64_t)BT_HISTOGRAM_LIMIT), BT_HISTOGRAM_BUCKETS - 1);
	assert_int_equal(last, BT_HISTOGRAM_BUCKETS - 1);
}

/* A value of random magnitude, including small ones and ties. */
static int64_t draw(struct bt_rng *rng)
{
	uint32_t bits = bt_rng_below(rng, BT_HISTOGRAM_BITS + 1);

	return (int64_t)(bt_rng_next(rng) & (((uint64_t)1 << bits) - 1));
}

static void check_against(const struct bt_histogram *histogram, int64_t *values, size_t n)
{
	double sum = 0;

	qsort(values, n, sizeof(*values), ascending);
	for (size_t i = 0; i < n; i++) {
		sum += (double)values[i];
	}
	assert_int_equal(bt_histogram_count(histogram), n);
	assert_true(bt_histogram_max(histogram) == values[n - 1]);
	double mean = bt_histogram_mean(histogram), error = sum / (double)n / 64;
	assert_true(mean >= sum / (double)n - error && mean <= sum / (double)n + error);
	for (uint32_t ppm = 0; ppm <= 1000000; ppm += ppm == 999000 ? 999 : ppm == 999999 ? 1 : 1000) {
		size_t rank = (size_t)(((uint64_t)n * ppm + 999999) / 1000000);
		int64_t truth = values[rank ? rank - 1 : 0];
		int64_t read = bt_histogram_quantile(histogram, ppm);

		assert_true(read >= truth && read <= truth + truth / 64);
	}
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct bt_histogram *histogram = bt_histogram_create();
		size_t n = 1 + bt_rng_below(&rng, VALUES);
		int64_t *values = bt_mem_zalloc(n, sizeof(*values));

		for (size_t i = 0; i < n; i++) {
			values[i] = draw(&rng);
			bt_histogram_record(histogram, values[i]);
		}
		check_against(histogram, values, n);
		bt_mem_free(values);
		bt_mem_free(histogram);
	}
}

static void earlier_counts_can_be_subtracted(void **state)
{
	struct bt_histogram *histogram = bt_histogram_create(), *earlier = bt_histogram_create();

	(void)state;
	bt_histogram_record(histogram, 1000000);
	bt_histogram_merge(earlier, histogram);
	bt_histogram_record(histogram, 7);
	bt_histogram_record(histogram, 7);
	bt_histogram_subtract(histogram, earlier);
	assert_int_equal(bt_histogram_count(histogram), 2);
	assert_int_equal(bt_histogram_quantile(histogram, 990000), 7);
	assert_int_equal(bt_histogram_max(histogram), 1000000);
	bt_mem_free(histogram);
	bt_mem_free(earlier);
}

static void merged_histograms_are_those_of_all_values(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};
	struct bt_histogram *all = bt_histogram_create();
	int64_t *values = bt_mem_zalloc(4 * VALUES, sizeof(*values));

	(void)state;
	for (size_t part = 0; part < 4; part++) {
		struct bt_histogram *one = bt_histogram_create();

		for (size_t i = 0; i < VALUES; i++) {
			values[part * VALUES + i] = draw(&rng);
			bt_histogram_record(one, values[part * VALUES + i]);
		}
		bt_histogram_merge(all, one);
		bt_mem_free(one);
	}
	check_against(all, values, (size_t)4 * VALUES);
	bt_mem_free(values);
	bt_mem_free(all);
}

static void values_out_of_range_count_in_the_last_bucket(void **state)
{
	struct bt_histogram *histogram = bt_histogram_create();

	(void)state;
	bt_histogram_record(histogram, INT64_MIN);
	bt_histogram_record(histogram, -1);
	bt_histogram_record(histogram, BT_HISTOGRAM_LIMIT + 1);
	bt_histogram_record(histogram, INT64_MAX);
	assert_int_equal(bt_histogram_count(histogram), 4);
	assert_int_equal(bt_histogram_quantile(histogram, 500000), 0);
	assert_true(bt_histogram_max(histogram) == INT64_MAX);
	assert_true(bt_histogram_quantile(histogram, 1000000) == INT64_MAX);
	bt_mem_free(histogram);
}

struct stream {
	struct bt_histogram *histogram;
	_Atomic uint32_t done; /* atomic: the writer has recorded all */
};

static void record_many(void *context)
{
	struct stream *stream = context;

	for (int64_t i = 0; i < 200000; i++) {
		bt_histogram_record(stream->histogram, i % 1000);
	}
	bt_store_release(&stream->done, 1);
}

static void a_reader_sees_counts_that_only_grow(void **state)
{
	struct stream stream = {.histogram = bt_histogram_create()};
	struct bt_thread_options options = {.name = "recorder"};
	struct bt_thread *thread;
	uint64_t last = 0;

	(void)state;
	assert_int_equal(bt_thread_start(&options, record_many, &stream, &thread, NULL), BT_OK);
	while (!bt_load_acquire(&stream.done)) {
		uint64_t n = bt_histogram_count(stream.histogram);

		assert_true(n >= last && n <= 200000);
		last = n;
		assert_true(bt_histogram_quantile(stream.histogram, 990000) < 1024);
	}
	bt_thread_join(&thread);
	assert_int_equal(bt_histogram_count(stream.histogram), 200000);
	bt_mem_free(stream.histogram);
}

/* Compared with the values: only those within 1/64 below a bound may be counted above it. */
static void cutting_into_other_buckets_keeps_every_value(void **state)
{
	static const int64_t bounds[] = {10, 1000, 1000000, 500000000};
	struct bt_histogram *histogram = bt_histogram_create();
	struct bt_rng rng = {.state = seed_of_test()};
	uint64_t counts[5], least[5] = {0}, most[5] = {0}, total = 0;
	double sum = 0;

	(void)state;
	for (int i = 0; i < VALUES; i++) {
		int64_t value = (int64_t)(bt_rng_next(&rng) >> (bt_rng_below(&rng, 40) + 24));

		bt_histogram_record(histogram, value);
		sum += (double)value;
		for (int k = 0; k < 4; k++) {
			least[k] += value <= bounds[k] - bounds[k] / 64;
			most[k] += value <= bounds[k];
		}
	}
	assert_true(fabs(bt_histogram_cut(histogram, bounds, 4, counts) - sum) <= sum / 128);
	for (int k = 0; k < 4; k++) {
		total += counts[k];
		assert_in_range(total, least[k], most[k]);
	}
	assert_int_equal(total + counts[4], VALUES);
	bt_mem_free(histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cutting_into_other_buckets_keeps_every_value),
		cmocka_unit_test(an_empty_histogram_has_nothing),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(buckets_leave_no_gap),
		cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
		cmocka_unit_test(earlier_counts_can_be_subtracted),
		cmocka_unit_test(merged_histograms_are_those_of_all_values),
		cmocka_unit_test(values_out_of_range_count_in_the_last_bucket),
		cmocka_unit_test(a_reader_sees_counts_that_only_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
