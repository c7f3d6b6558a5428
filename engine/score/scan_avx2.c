/* SPDX-License-Identifier: Apache-2.0
 * The scan for processors with AVX2; this file alone is compiled for them. Two passes over 16 slots at a
 * time: the highest total, then the first slot that has it.
 */
#include "engine/score/scan.h"

#include <immintrin.h>

#define LANES 16

static inline __m256i totals(const uint16_t *a, const uint16_t *b, size_t at)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(a + at));
	__m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(b + at));
	__m256i out = _mm256_cmpeq_epi16(_mm256_min_epu16(x, y), _mm256_setzero_si256());

	return _mm256_andnot_si256(out, _mm256_add_epi16(x, y));
}

static uint16_t highest_total(const uint16_t *a, const uint16_t *b, size_t padded_n)
{
	__m256i best[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

	for (size_t i = 0; i < padded_n; i += 2 * LANES) {
		best[0] = _mm256_max_epu16(best[0], totals(a, b, i));
		best[1] = _mm256_max_epu16(best[1], totals(a, b, i + LANES));
	}
	__m256i both = _mm256_max_epu16(best[0], best[1]);
	__m128i half = _mm_max_epu16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
	/* The instruction finds the lowest of eight; the highest is the complement of the lowest complement.
	 */
	return (uint16_t)~_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(half, _mm_set1_epi16(-1))), 0);
}

/* The first slot of [from, to) with the total, or to. The last block may reach beyond to, but not beyond the
 * padding. */
static size_t first_with(const uint16_t *a, const uint16_t *b, size_t from, size_t to, uint16_t wanted)
{
	__m256i want = _mm256_set1_epi16((short)wanted);
	unsigned skip = (unsigned)(from % LANES);

	for (size_t i = from - skip; i < to; i += LANES, skip = 0) {
		__m256i hits = _mm256_cmpeq_epi16(totals(a, b, i), want);
		/* Two bits for each slot. */
		unsigned mask = (unsigned)_mm256_movemask_epi8(hits) & ~0u << 2 * skip;

		if (mask) {
			size_t at = i + (size_t)__builtin_ctz(mask) / 2;
			return at < to ? at : to;
		}
	}
	return to;
}

size_t bt_scan_best_avx2(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
	uint16_t best = highest_total(a, b, padded_n);

	if (best == 0) {
		return BT_SCAN_NONE;
	}
	size_t at = first_with(a, b, start, padded_n, best);
	return at < padded_n ? at : first_with(a, b, 0, start, best);
}
