/* SPDX-License-Identifier: Apache-2.0
 * Ranges of nodes in vectors; this file alone is compiled for AVX2. Numbers are doubles from the start: below
 * 2^45 these hold them, and a hundred times them, without rounding.
 */
#include "plugins/resource_ranges.h"

#include <immintrin.h>
#include <string.h>

#define LANES	    BT_RANGE_STEP
#define EXACT_BELOW ((int64_t)1 << 45)

static inline __m256i load(const int64_t *column, size_t at)
{
	return column ? _mm256_loadu_si256((const __m256i *)(const void *)(column + at))
		      : _mm256_setzero_si256();
}

/* Requires: 0 <= x < 2^52. The bits of x below the exponent of 2^52 are the number 2^52 + x. */
static inline __m256d to_double(__m256i x)
{
	const __m256d big = _mm256_set1_pd(0x1p52);

	return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(x, _mm256_castpd_si256(big))), big);
}

uint32_t bt_range_fits_avx2(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass)
{
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		__m256i pods = _mm256_add_epi64(load(view->usage->pod_n, first + i), _mm256_set1_epi64x(1));
		__m256i out = _mm256_cmpgt_epi64(pods, load(view->snapshot->alloc_pods, first + i));

		for (uint32_t k = 0; k < wanted_n; k++) {
			uint32_t slot = wanted[k].slot;
			__m256i available = _mm256_sub_epi64(load(view->snapshot->alloc[slot], first + i),
				load(view->usage->used[slot], first + i));

			out = _mm256_or_si256(
				out, _mm256_cmpgt_epi64(_mm256_set1_epi64x(wanted[k].amount), available));
		}
		/* Four bits, each into a byte. */
		uint32_t bits = (uint32_t)~_mm256_movemask_pd(_mm256_castsi256_pd(out)) & 0xf;
		uint32_t bytes = bits * 0x204081u & 0x01010101u;
		memcpy(pass + i, &bytes, sizeof(bytes));
	}
	return i;
}

/* One resource of four nodes. */
struct four {
	__m256i alloc, before, after;
};

static inline struct four read_four(const struct bt_resource_pair *pair, uint32_t k, size_t at)
{
	__m256i before = load(pair->used[k], at);

	return (struct four){load(pair->alloc[k], at), before,
		_mm256_add_epi64(before, _mm256_set1_epi64x(pair->request[k]))};
}

/* All numbers are in range, and there is something allocatable. */
static inline bool handled(const struct four *a, const struct four *b, bool before)
{
	__m256i all =
		_mm256_or_si256(_mm256_or_si256(a->alloc, b->alloc), _mm256_or_si256(a->after, b->after));
	__m256i none = _mm256_or_si256(_mm256_cmpeq_epi64(a->alloc, _mm256_setzero_si256()),
		_mm256_cmpeq_epi64(b->alloc, _mm256_setzero_si256()));

	if (before) {
		all = _mm256_or_si256(all, _mm256_or_si256(a->before, b->before));
	}
	/* A node with nothing sets bits that are out of range. */
	all = _mm256_or_si256(all, none);
	return _mm256_testz_si256(all, _mm256_set1_epi64x(~(EXACT_BELOW - 1)));
}

static inline void store(int64_t *raw, __m128i scores)
{
	_mm256_storeu_si256((__m256i *)(void *)raw, _mm256_cvtepi32_epi64(scores));
}

/* The percentage that is used, or free, without its fraction; most is constant where this is called. */
static inline __m256d percent(const struct four *four, bool most)
{
	__m256d alloc = to_double(four->alloc), request = to_double(four->after);
	__m256d part = most ? _mm256_min_pd(request, alloc)
			    : _mm256_max_pd(_mm256_sub_pd(alloc, request), _mm256_setzero_pd());

	return _mm256_floor_pd(_mm256_div_pd(_mm256_mul_pd(part, _mm256_set1_pd(100)), alloc));
}

static inline uint32_t fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	const __m256d w0 = _mm256_set1_pd((double)weight[0]), w1 = _mm256_set1_pd((double)weight[1]);
	/* A whole number and a half over the weights is further from a whole number than rounding reaches: a
	 * product with the inverse has the same whole part as the quotient. */
	const __m256d half = _mm256_set1_pd(0.5);
	const __m256d inverse = _mm256_set1_pd(1 / (double)(weight[0] + weight[1]));
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		struct four a = read_four(pair, 0, i), b = read_four(pair, 1, i);

		if (!handled(&a, &b, false)) {
			break;
		}
		__m256d sum = _mm256_add_pd(
			_mm256_mul_pd(percent(&a, most), w0), _mm256_mul_pd(percent(&b, most), w1));
		store(raw + i, _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_add_pd(sum, half), inverse)));
	}
	return i;
}

uint32_t bt_range_fullness_avx2(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	return most ? fullness(pair, weight, true, n, raw) : fullness(pair, weight, false, n, raw);
}

/* 100 times one minus the standard deviation of two fractions that are at most 1. */
static inline __m128i balance(__m256i used0, __m256d alloc0, __m256i used1, __m256d alloc1)
{
	const __m256d one = _mm256_set1_pd(1);
	__m256d f0 = _mm256_min_pd(_mm256_div_pd(to_double(used0), alloc0), one);
	__m256d f1 = _mm256_min_pd(_mm256_div_pd(to_double(used1), alloc1), one);
	__m256d half = _mm256_mul_pd(_mm256_sub_pd(f0, f1), _mm256_set1_pd(0.5));
	__m256d std = _mm256_andnot_pd(_mm256_set1_pd(-0.0), half);

	return _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_sub_pd(one, std), _mm256_set1_pd(100)));
}

uint32_t bt_range_balance_avx2(const struct bt_resource_pair *pair, uint32_t n, int64_t *raw)
{
	const __m128i fifty = _mm_set1_epi32(50);
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		struct four a = read_four(pair, 0, i), b = read_four(pair, 1, i);

		if (!handled(&a, &b, true)) {
			break;
		}
		__m256d alloc0 = to_double(a.alloc), alloc1 = to_double(b.alloc);
		__m128i before = balance(a.before, alloc0, b.before, alloc1);
		__m128i after = balance(a.after, alloc0, b.after, alloc1);
		/* Both are 50 to 100: the sum that is halved is not negative. */
		__m128i gain = _mm_srli_epi32(_mm_add_epi32(fifty, _mm_sub_epi32(after, before)), 1);
		store(raw + i, _mm_add_epi32(fifty, gain));
	}
	return i;
}
