/* SPDX-License-Identifier: Apache-2.0
 * A histogram of values from 0 to nine hours in nanoseconds, in 20 KiB. Each power of two has 64 equal
 * buckets: a read value is at least the recorded one and at most 1/64 more; below 128 it is exact.
 * Context: one thread records; any thread reads (relaxed: a reader may miss the newest values).
 */
#pragma once

#include <stdalign.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/buf.h"
#include "engine/base/compiler.h"

#define BT_HISTOGRAM_SUB_BITS 6
#define BT_HISTOGRAM_BITS     45
/* Values beyond are counted as this one (9.7 hours in nanoseconds); the maximum is exact. */
#define BT_HISTOGRAM_LIMIT (((int64_t)1 << BT_HISTOGRAM_BITS) - 1)
#define BT_HISTOGRAM_BUCKETS                                                                                 \
	((BT_HISTOGRAM_BITS - BT_HISTOGRAM_SUB_BITS - 1) * (1 << BT_HISTOGRAM_SUB_BITS) +                    \
		(2 << BT_HISTOGRAM_SUB_BITS))

/* All zeroes: empty. The fields are private. */
struct bt_histogram {
	/*
	 * owner: the recorder; EDGE histogram.counts relaxed: a reader may miss the newest; counts never
	 * decrease
	 */
	alignas(BT_CACHELINE) _Atomic uint64_t counts[BT_HISTOGRAM_BUCKETS];
	/* owner: the recorder; EDGE histogram.max relaxed: it may be seen before or after its count */
	_Atomic int64_t max;
};

/* Creates an empty histogram on its own cache lines. Owns: the caller; bt_mem_free. */
struct bt_histogram *bt_histogram_create(void);

/* private: the bucket of a value from 0 to BT_HISTOGRAM_LIMIT */
BT_INLINE uint32_t bt_histogram_bucket(uint64_t value)
{
	uint32_t shift =
		63 - BT_HISTOGRAM_SUB_BITS - (uint32_t)__builtin_clzll(value | (1u << BT_HISTOGRAM_SUB_BITS));

	return (shift << BT_HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

/* Counts one value; a negative one counts as 0. Context: the recording thread; a few ns, no branches. */
BT_INLINE void bt_histogram_record(struct bt_histogram *histogram, int64_t value)
{
	int64_t max = bt_load_relaxed(&histogram->max);
	int64_t known = value < 0 ? 0 : value;

	known = known > BT_HISTOGRAM_LIMIT ? BT_HISTOGRAM_LIMIT : known;
	bt_add_owned(&histogram->counts[bt_histogram_bucket((uint64_t)known)], 1);
	bt_store_relaxed(&histogram->max, value > max ? value : max);
}

/* Adds the counts of other. Context: the recorder of histogram; other may have another recorder. */
void bt_histogram_merge(struct bt_histogram *histogram, const struct bt_histogram *other);

/* Subtracts the counts of earlier, a previous copy of the same histogram. The maximum stays, since its time
 * is unknown. Context: the thread that records into histogram. */
void bt_histogram_subtract(struct bt_histogram *histogram, const struct bt_histogram *earlier);

uint64_t bt_histogram_count(const struct bt_histogram *histogram);

/* The greatest value, exact; 0 when empty. */
int64_t bt_histogram_max(const struct bt_histogram *histogram);

/* The mean to 1/128 (buckets count with their midpoint); 0 when empty. */
double bt_histogram_mean(const struct bt_histogram *histogram);

/*
 * The value that ppm millionths of all values do not exceed: 500000 is the median, 999000 the 99.9th
 * percentile, 0 the minimum, 1000000 the maximum. At least that value, at most 1/64 more; 0 when empty.
 */
int64_t bt_histogram_quantile(const struct bt_histogram *histogram, uint32_t ppm);

/*
 * Counts into other buckets: out_counts[i] gets the values up to bounds[i] and above the previous bound,
 * out_counts[n] those above all. bounds ascend. A value below a bound by less than 1/64 of it may count as
 * above. Returns: the sum of all values, to 1/128.
 */
double bt_histogram_cut(
	const struct bt_histogram *histogram, const int64_t *bounds, uint32_t n, uint64_t *out_counts);
