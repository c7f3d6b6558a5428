/* SPDX-License-Identifier: Apache-2.0
 * The scan for processors with AVX2; only this file is compiled for them.
 */
#include "engine/score/scan_int.h"

#include <immintrin.h>

#define LANES 16
#define BITS  2

typedef __m256i vector;

static inline vector load(const uint16_t *from)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline vector splat(uint16_t x)
{
	return _mm256_set1_epi16((short)x);
}

static inline vector zero(void)
{
	return _mm256_setzero_si256();
}

static inline vector max(vector x, vector y)
{
	return _mm256_max_epu16(x, y);
}

static inline vector total(vector x, vector y)
{
	vector out = _mm256_cmpeq_epi16(_mm256_min_epu16(x, y), zero());

	return _mm256_andnot_si256(out, _mm256_add_epi16(x, y));
}

static inline uint32_t equal(vector x, vector y)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(x, y));
}

static inline uint16_t highest_of(vector lanes)
{
	__m128i half = _mm_max_epu16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));

	/* The instruction finds the lowest of eight; the highest is the complement of the lowest
	 * complement. */
	return (uint16_t)~_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(half, _mm_set1_epi16(-1))), 0);
}

/* ---- classes: table lookups in registers, 16 classes per table ---- */

#define TABLE	 16
#define TABLES_N (BT_SCAN_CLASSES / TABLE)

/* The low and the high bytes of 16 numbers, each in both halves of the register. */
struct scan_table {
	__m256i low, high;
};

static struct scan_table make_table(const uint16_t *numbers)
{
	uint8_t low[TABLE], high[TABLE];

	for (int i = 0; i < TABLE; i++) {
		low[i] = (uint8_t)numbers[i];
		high[i] = (uint8_t)(numbers[i] >> 8);
	}
	return (struct scan_table){
		_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)low)),
		_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)high)),
	};
}

/* The numbers of 16 nodes' classes. table_n is a constant after inlining. */
static inline vector look_up(const struct scan_table *tables, int table_n, const uint16_t *of)
{
	vector ix = load(of), low = zero(), high = low;

	ix = _mm256_or_si256(ix, _mm256_slli_epi16(ix, 8));
	for (int t = 0; t < table_n; t++) {
		/* Indices of another table get their highest bit set, for which the lookup returns zero. */
		vector here = _mm256_adds_epu8(
			_mm256_sub_epi8(ix, _mm256_set1_epi8((char)(t * TABLE))), _mm256_set1_epi8(0x70));

		low = _mm256_or_si256(low, _mm256_shuffle_epi8(tables[t].low, here));
		high = _mm256_or_si256(high, _mm256_shuffle_epi8(tables[t].high, here));
	}
	return _mm256_blendv_epi8(low, high, _mm256_set1_epi16((short)0xff00));
}

static inline uint16_t fill_by(const struct bt_scan_classes *nodes, int table_n)
{
	struct scan_table tables[TABLES_N];
	vector best = zero();

	for (int t = 0; t < table_n; t++) {
		tables[t] = make_table(nodes->static_score + t * TABLE);
	}
	for (size_t i = 0; i < nodes->padded_n; i += LANES) {
		vector sum = total(load(nodes->value + i), look_up(tables, table_n, nodes->of + i));

		_mm256_storeu_si256((__m256i *)(void *)(nodes->totals + i), sum);
		best = max(best, sum);
	}
	return highest_of(best);
}

static uint16_t fill_totals(const struct bt_scan_classes *nodes)
{
	if (nodes->class_n <= TABLE) {
		return fill_by(nodes, 1);
	}
	return nodes->class_n <= 2 * TABLE ? fill_by(nodes, 2) : fill_by(nodes, TABLES_N);
}

#include "engine/score/scan_vector_int.h"

const struct bt_scan_version bt_scan_avx2 = {"avx2", best, blocks, best_of_classes, find};
