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

static inline uint16_t highest_of(__m256i lanes)
{
	__m128i half = _mm_max_epu16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));

	/* The instruction finds the lowest of eight; the highest is the complement of the lowest complement.
	 */
	return (uint16_t)~_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(half, _mm_set1_epi16(-1))), 0);
}

static uint16_t highest_total(const uint16_t *a, const uint16_t *b, size_t padded_n)
{
	__m256i best[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

	for (size_t i = 0; i < padded_n; i += 2 * LANES) {
		best[0] = _mm256_max_epu16(best[0], totals(a, b, i));
		best[1] = _mm256_max_epu16(best[1], totals(a, b, i + LANES));
	}
	return highest_of(_mm256_max_epu16(best[0], best[1]));
}

void bt_scan_blocks_avx2(const uint16_t *a, const uint16_t *b, size_t first, size_t end, uint16_t *out_best)
{
	for (size_t block = first; block < end; block++) {
		size_t at = block * BT_SCAN_STEP;
		__m256i left = _mm256_max_epu16(totals(a, b, at), totals(a, b, at + LANES));
		__m256i right = _mm256_max_epu16(totals(a, b, at + 2 * LANES), totals(a, b, at + 3 * LANES));

		out_best[block] = highest_of(_mm256_max_epu16(left, right));
	}
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

/* The first slot of [from, to) that has the number, or to; as first_with. */
static size_t first_equal(const uint16_t *column, size_t from, size_t to, uint16_t wanted)
{
	__m256i want = _mm256_set1_epi16((short)wanted);
	unsigned skip = (unsigned)(from % LANES);

	for (size_t i = from - skip; i < to; i += LANES, skip = 0) {
		__m256i lanes = _mm256_loadu_si256((const __m256i *)(const void *)(column + i));
		unsigned mask =
			(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi16(lanes, want)) & ~0u << 2 * skip;

		if (mask) {
			size_t at = i + (size_t)__builtin_ctz(mask) / 2;
			return at < to ? at : to;
		}
	}
	return to;
}

size_t bt_scan_find_avx2(const uint16_t *column, size_t padded_n, size_t start, uint16_t wanted)
{
	size_t at = first_equal(column, start, padded_n, wanted);

	if (at < padded_n) {
		return at;
	}
	at = first_equal(column, 0, start, wanted);
	return at < start ? at : BT_SCAN_NONE;
}

/* ---- classes: their numbers looked up in registers, 16 classes to a table ---- */

#define TABLE	 16
#define TABLES_N (BT_SCAN_WORTHS / TABLE)

/* The low and the high bytes of 16 numbers, each in both halves. */
struct table {
	__m256i low, high;
};

static struct table make_table(const uint16_t *numbers)
{
	uint8_t low[TABLE], high[TABLE];

	for (int i = 0; i < TABLE; i++) {
		low[i] = (uint8_t)numbers[i];
		high[i] = (uint8_t)(numbers[i] >> 8);
	}
	return (struct table){
		_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)low)),
		_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)high)),
	};
}

/* The numbers of 16 nodes' classes. table_n is a constant where this is put in. */
static inline __m256i look_up(const struct table *tables, int table_n, const uint16_t *of)
{
	__m256i ix = _mm256_loadu_si256((const __m256i *)(const void *)of);
	__m256i low = _mm256_setzero_si256(), high = low;

	ix = _mm256_or_si256(ix, _mm256_slli_epi16(ix, 8));
	for (int t = 0; t < table_n; t++) {
		/* Indices of another table get their highest bit set, which looks up zero. */
		__m256i here = _mm256_adds_epu8(
			_mm256_sub_epi8(ix, _mm256_set1_epi8((char)(t * TABLE))), _mm256_set1_epi8(0x70));

		low = _mm256_or_si256(low, _mm256_shuffle_epi8(tables[t].low, here));
		high = _mm256_or_si256(high, _mm256_shuffle_epi8(tables[t].high, here));
	}
	return _mm256_blendv_epi8(low, high, _mm256_set1_epi16((short)0xff00));
}

static inline uint16_t fill_totals(const struct bt_scan_classes *nodes, int table_n)
{
	__m256i best = _mm256_setzero_si256();
	struct table tables[TABLES_N];

	for (int t = 0; t < table_n; t++) {
		tables[t] = make_table(nodes->worth + t * TABLE);
	}
	for (size_t i = 0; i < nodes->padded_n; i += LANES) {
		__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(nodes->value + i));
		__m256i y = look_up(tables, table_n, nodes->of + i);
		__m256i out = _mm256_cmpeq_epi16(_mm256_min_epu16(x, y), _mm256_setzero_si256());
		__m256i total = _mm256_andnot_si256(out, _mm256_add_epi16(x, y));

		_mm256_storeu_si256((__m256i *)(void *)(nodes->totals + i), total);
		best = _mm256_max_epu16(best, total);
	}
	return highest_of(best);
}

size_t bt_scan_best_of_classes_avx2(const struct bt_scan_classes *nodes, size_t start)
{
	uint16_t best;

	if (nodes->class_n <= TABLE) {
		best = fill_totals(nodes, 1);
	} else if (nodes->class_n <= 2 * TABLE) {
		best = fill_totals(nodes, 2);
	} else if (nodes->class_n <= TABLES_N * TABLE) {
		best = fill_totals(nodes, TABLES_N);
	} else {
		return bt_scan_best_of_classes_portable(nodes, start);
	}
	return best ? bt_scan_find_avx2(nodes->totals, nodes->padded_n, start, best) : BT_SCAN_NONE;
}
