/* SPDX-License-Identifier: Apache-2.0
 * The scan for processors with AVX-512 (F and BW); only this file is compiled for them.
 */
#include "engine/score/scan_int.h"

#include <immintrin.h>

#define LANES 32
#define BITS  1

typedef __m512i vector;

static inline vector load(const uint16_t *from)
{
	return _mm512_loadu_si512(from);
}

static inline vector splat(uint16_t x)
{
	return _mm512_set1_epi16((short)x);
}

static inline vector zero(void)
{
	return _mm512_setzero_si512();
}

static inline vector max(vector x, vector y)
{
	return _mm512_max_epu16(x, y);
}

static inline vector total(vector x, vector y)
{
	/* If the lower one is not 0, neither is. */
	vector lower = _mm512_min_epu16(x, y);

	return _mm512_maskz_add_epi16(_mm512_test_epi16_mask(lower, lower), x, y);
}

static inline uint32_t equal(vector x, vector y)
{
	return _mm512_cmpeq_epi16_mask(x, y);
}

static inline uint16_t highest_of(vector lanes)
{
	__m256i half = _mm256_max_epu16(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
	__m128i quarter = _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));

	/* The instruction finds the lowest of eight; the highest is the complement of the lowest
	 * complement. */
	return (uint16_t)~_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(quarter, _mm_set1_epi16(-1))), 0);
}

/* All classes' numbers fit two registers. */
static uint16_t fill_totals(const struct bt_scan_classes *nodes)
{
	const vector low = load(nodes->static_score), high = load(nodes->static_score + LANES);
	vector highest = zero();

	for (size_t i = 0; i < nodes->padded_n; i += LANES) {
		vector static_score = _mm512_permutex2var_epi16(low, load(nodes->of + i), high);
		vector sum = total(load(nodes->value + i), static_score);

		_mm512_storeu_si512(nodes->totals + i, sum);
		highest = max(highest, sum);
	}
	return highest_of(highest);
}

_Static_assert(BT_SCAN_CLASSES == 2 * LANES, "two registers hold the numbers of all classes");

#include "engine/score/scan_vector_int.h"

const struct bt_scan_version bt_scan_avx512 = {"avx512", best, blocks, best_of_classes, find};
