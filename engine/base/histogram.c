/* SPDX-License-Identifier: Apache-2.0
 * Reading histograms. Readers walk buckets that may be updated concurrently: each result is that of a
 * histogram between the call's and the return's state.
 */
#include "engine/base/histogram.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

#define SUB_BUCKETS (1u << BT_HISTOGRAM_SUB_BITS)

_Static_assert(BT_HISTOGRAM_BUCKETS == 2560, "20 KiB");

/* The lowest value of a bucket, and its width. */
static uint64_t least_of(uint32_t bucket_ix, uint64_t *out_width)
{
	uint32_t shift = bucket_ix < 2 * SUB_BUCKETS ? 0 : bucket_ix / SUB_BUCKETS - 1;

	BT_INVARIANT(bucket_ix < BT_HISTOGRAM_BUCKETS);
	*out_width = (uint64_t)1 << shift;
	return (uint64_t)(bucket_ix - shift * SUB_BUCKETS) << shift;
}

struct bt_histogram *bt_histogram_create(void)
{
	return bt_mem_column(1, sizeof(struct bt_histogram));
}

void bt_histogram_merge(struct bt_histogram *histogram, const struct bt_histogram *other)
{
	for (uint32_t i = 0; i < BT_HISTOGRAM_BUCKETS; i++) {
		bt_add_owned(&histogram->counts[i], bt_load_relaxed(&other->counts[i]));
	}
	int64_t max = bt_load_relaxed(&other->max);
	if (max > bt_load_relaxed(&histogram->max)) {
		bt_store_relaxed(&histogram->max, max);
	}
}

void bt_histogram_subtract(struct bt_histogram *histogram, const struct bt_histogram *earlier)
{
	for (uint32_t i = 0; i < BT_HISTOGRAM_BUCKETS; i++) {
		uint64_t now = bt_load_relaxed(&histogram->counts[i]);

		BT_INVARIANT(now >= bt_load_relaxed(&earlier->counts[i]));
		bt_store_relaxed(&histogram->counts[i], now - bt_load_relaxed(&earlier->counts[i]));
	}
}

uint64_t bt_histogram_count(const struct bt_histogram *histogram)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < BT_HISTOGRAM_BUCKETS; i++) {
		n += bt_load_relaxed(&histogram->counts[i]);
	}
	return n;
}

int64_t bt_histogram_max(const struct bt_histogram *histogram)
{
	return bt_load_relaxed(&histogram->max);
}

double bt_histogram_mean(const struct bt_histogram *histogram)
{
	double sum = 0;
	uint64_t n = 0;

	for (uint32_t i = 0; i < BT_HISTOGRAM_BUCKETS; i++) {
		uint64_t width, least = least_of(i, &width);
		uint64_t count = bt_load_relaxed(&histogram->counts[i]);

		sum += (double)count * ((double)least + (double)(width - 1) / 2);
		n += count;
	}
	return n ? sum / (double)n : 0;
}

/* The greatest value that a bucket can contain. A reader may see a count before its maximum. */
static int64_t greatest_of(const struct bt_histogram *histogram, uint32_t bucket_ix)
{
	uint64_t width, least = least_of(bucket_ix, &width);
	int64_t greatest = (int64_t)(least + width - 1);
	int64_t max = bt_histogram_max(histogram);

	if (max < (int64_t)least) {
		return greatest;
	}
	return greatest > max || bucket_ix == BT_HISTOGRAM_BUCKETS - 1 ? max : greatest;
}

/* ceil(n * ppm / 1000000), at least 1, without overflow. */
static uint64_t rank_of(uint64_t n, uint32_t ppm)
{
	uint64_t rank = n / 1000000 * ppm + (n % 1000000 * ppm + 999999) / 1000000;

	return rank ? rank : 1;
}

int64_t bt_histogram_quantile(const struct bt_histogram *histogram, uint32_t ppm)
{
	uint64_t n = bt_histogram_count(histogram), seen = 0;
	uint64_t rank = rank_of(n, ppm);

	BT_REQUIRE(ppm <= 1000000);
	for (uint32_t i = 0; n && i < BT_HISTOGRAM_BUCKETS; i++) {
		seen += bt_load_relaxed(&histogram->counts[i]);
		if (seen >= rank) {
			return greatest_of(histogram, i);
		}
	}
	return 0;
}

double bt_histogram_cut(
	const struct bt_histogram *histogram, const int64_t *bounds, uint32_t n, uint64_t *out_counts)
{
	double sum = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i <= n; i++) {
		out_counts[i] = 0;
	}
	for (uint32_t i = 0; i < BT_HISTOGRAM_BUCKETS; i++) {
		uint64_t width, least = least_of(i, &width);
		uint64_t count = bt_load_relaxed(&histogram->counts[i]);

		while (at < n && (int64_t)(least + width - 1) > bounds[at]) {
			at++;
		}
		BT_INVARIANT(at <= n);
		out_counts[at] += count;
		sum += (double)count * ((double)least + (double)(width - 1) / 2);
	}
	return sum;
}
