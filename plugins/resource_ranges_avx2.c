/* SPDX-License-Identifier: Apache-2.0
 * Ranges of nodes in vectors; this file alone is compiled for AVX2. Numbers are doubles from the start: below
 * 2^45 these hold them, and a hundred times them, without rounding.
 */
#include "plugins/resource_ranges.h"

#include <immintrin.h>
#include <string.h>

#include "engine/base/wrap.h"

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

/* Weighted percentages of four nodes over the weights, without the fraction: half a one more does not make it
 * another whole number, and is more than rounding takes. */
static inline __m128i fullness_of(
	const struct four *a, const struct four *b, __m256d w0, __m256d w1, bool most)
{
	const __m256d half = _mm256_set1_pd(0.5);
	__m256d sum = _mm256_add_pd(_mm256_mul_pd(percent(a, most), w0), _mm256_mul_pd(percent(b, most), w1));

	return _mm256_cvttpd_epi32(_mm256_div_pd(_mm256_add_pd(sum, half), _mm256_add_pd(w0, w1)));
}

static inline uint32_t fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	const __m256d w0 = _mm256_set1_pd((double)weight[0]), w1 = _mm256_set1_pd((double)weight[1]);
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		struct four a = read_four(pair, 0, i), b = read_four(pair, 1, i);

		if (!handled(&a, &b, false)) {
			break;
		}
		store(raw + i, fullness_of(&a, &b, w0, w1, most));
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

/* The scores of four nodes. */
static inline __m128i gain(const struct four *a, const struct four *b)
{
	const __m128i fifty = _mm_set1_epi32(50);
	__m256d alloc0 = to_double(a->alloc), alloc1 = to_double(b->alloc);
	__m128i before = balance(a->before, alloc0, b->before, alloc1);
	__m128i after = balance(a->after, alloc0, b->after, alloc1);
	/* Both are 50 to 100: the sum that is halved is not negative. */
	__m128i half = _mm_srli_epi32(_mm_add_epi32(fifty, _mm_sub_epi32(after, before)), 1);

	return _mm_add_epi32(fifty, half);
}

uint32_t bt_range_balance_avx2(const struct bt_resource_pair *pair, uint32_t n, int64_t *raw)
{
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		struct four a = read_four(pair, 0, i), b = read_four(pair, 1, i);

		if (!handled(&a, &b, true)) {
			break;
		}
		store(raw + i, gain(&a, &b));
	}
	return i;
}

/* ---- filter and scores in one ---- */

/* Four nodes, here and there or side by side, and what they have of the two resources of the scores. */
struct nodes {
	bool listed;
	size_t at[LANES]; /* side by side: at[0] alone */
	__m256i alloc[2], used[2];
};

static inline __m256i fetch(const int64_t *column, const struct nodes *nodes)
{
	const size_t *at = nodes->at;

	if (!nodes->listed || !column) {
		return load(column, at[0]);
	}
	return _mm256_set_epi64x(column[at[3]], column[at[2]], column[at[1]], column[at[0]]);
}

/* What is free of a resource. */
static inline __m256i free_of(const struct bt_resource_sum *sum, const struct bt_view *view,
	const struct nodes *nodes, uint32_t slot)
{
	for (int k = 0; k < 2; k++) {
		if (sum->scores && slot == sum->slots[k]) {
			return _mm256_sub_epi64(nodes->alloc[k], nodes->used[k]);
		}
	}
	return _mm256_sub_epi64(
		fetch(view->snapshot->alloc[slot], nodes), fetch(view->usage->used[slot], nodes));
}

/* All bits of the nodes that are refused. */
static inline __m256i refused(
	const struct bt_resource_sum *sum, const struct bt_view *view, const struct nodes *nodes)
{
	__m256i pods = _mm256_add_epi64(fetch(view->usage->pod_n, nodes), _mm256_set1_epi64x(1));
	__m256i out = _mm256_cmpgt_epi64(pods, fetch(view->snapshot->alloc_pods, nodes));

	for (uint32_t k = 0; k < sum->wanted_n; k++) {
		const struct bt_amount *wanted = &sum->wanted[k];

		out = _mm256_or_si256(out, _mm256_cmpgt_epi64(_mm256_set1_epi64x(wanted->amount),
						   free_of(sum, view, nodes, wanted->slot)));
	}
	return out;
}

uint32_t bt_range_fits_avx2(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct bt_resource_sum sum = {.wanted = wanted, .wanted_n = wanted_n};
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		const struct nodes nodes = {.at = {first + i}};
		/* Four bits, each into a byte. */
		uint32_t bits =
			(uint32_t)~_mm256_movemask_pd(_mm256_castsi256_pd(refused(&sum, view, &nodes))) & 0xf;
		uint32_t bytes = bits * 0x204081u & 0x01010101u;
		memcpy(pass + i, &bytes, sizeof(bytes));
	}
	return i;
}

/* Adds a plugin's scores. */
static inline __m128i add_scores(__m128i value, __m128i scores, int32_t weight)
{
	return _mm_add_epi32(value, _mm_mullo_epi32(scores, _mm_set1_epi32(weight)));
}

static inline struct four with_request(__m256i alloc, __m256i used, int64_t request)
{
	return (struct four){alloc, used, _mm256_add_epi64(used, _mm256_set1_epi64x(request))};
}

/* These return false when they do not handle a number. */
static inline bool add_fullness(const struct bt_resource_sum *sum, const struct bt_view *view,
	const struct nodes *nodes, __m128i *value)
{
	const __m256d w0 = _mm256_set1_pd((double)sum->fill_weights[0]),
		      w1 = _mm256_set1_pd((double)sum->fill_weights[1]);
	struct four four[2];

	for (int k = 0; k < 2; k++) {
		four[k] = with_request(nodes->alloc[k],
			fetch(bt_used_for_score(view->usage, sum->slots[k]), nodes), sum->fill_requests[k]);
	}
	if (!handled(&four[0], &four[1], false)) {
		return false;
	}
	*value = add_scores(*value,
		sum->most ? fullness_of(&four[0], &four[1], w0, w1, true)
			  : fullness_of(&four[0], &four[1], w0, w1, false),
		sum->fill_weight);
	return true;
}

static inline bool add_balance(const struct bt_resource_sum *sum, const struct nodes *nodes, __m128i *value)
{
	struct four four[2];

	for (int k = 0; k < 2; k++) {
		four[k] = with_request(nodes->alloc[k], nodes->used[k], sum->balance_requests[k]);
	}
	if (!handled(&four[0], &four[1], true)) {
		return false;
	}
	*value = add_scores(*value, gain(&four[0], &four[1]), sum->balance_weight);
	return true;
}

/* Returns false when it does not handle a number. */
static inline bool sum_up(
	const struct bt_resource_sum *sum, const struct bt_view *view, struct nodes *nodes, uint16_t *value)
{
	__m128i four = _mm_set1_epi32(1);

	for (int k = 0; sum->scores && k < 2; k++) {
		nodes->alloc[k] = fetch(view->snapshot->alloc[sum->slots[k]], nodes);
		nodes->used[k] = fetch(view->usage->used[sum->slots[k]], nodes);
	}
	if ((sum->fills && !add_fullness(sum, view, nodes, &four)) ||
		(sum->balances && !add_balance(sum, nodes, &four))) {
		return false;
	}
	if (sum->fits) {
		__m256i out = refused(sum, view, nodes);
		/* The even halves of the four masks. */
		__m128 narrow = _mm_shuffle_ps(_mm_castsi128_ps(_mm256_castsi256_si128(out)),
			_mm_castsi128_ps(_mm256_extracti128_si256(out, 1)), 0x88);

		four = _mm_andnot_si128(_mm_castps_si128(narrow), four);
	}
	_mm_storel_epi64((__m128i *)(void *)value, _mm_packus_epi32(four, four));
	return true;
}

uint32_t bt_range_sums_avx2(const struct bt_resource_sum *sum, const struct bt_view *view,
	const uint32_t *list, uint32_t first, uint32_t n, uint16_t *value)
{
	uint32_t i = 0;

	for (; list && i + LANES <= n; i += LANES) {
		struct nodes nodes = {.listed = true, .at = {list[i], list[i + 1], list[i + 2], list[i + 3]}};

		if (!sum_up(sum, view, &nodes, value + i)) {
			return i;
		}
	}
	for (; !list && i + LANES <= n; i += LANES) {
		struct nodes nodes = {.listed = false, .at = {first + i}};

		if (!sum_up(sum, view, &nodes, value + i)) {
			return i;
		}
	}
	return i;
}

/* ---- the same for one node: its two resources, before and after, are the lanes ---- */

/* Two resources of a node. */
struct two {
	int64_t alloc[2], used[2];
};

static inline int64_t get(const int64_t *column, uint32_t node_ix)
{
	return column ? column[node_ix] : 0;
}

static inline int64_t free_of_one(const struct bt_resource_sum *sum, const struct bt_view *view,
	uint32_t node_ix, const struct two *two, uint32_t slot)
{
	for (int k = 0; k < 2; k++) {
		if (sum->scores && slot == sum->slots[k]) {
			return bt_wrap_sub(two->alloc[k], two->used[k]);
		}
	}
	return bt_wrap_sub(get(view->snapshot->alloc[slot], node_ix), get(view->usage->used[slot], node_ix));
}

static inline bool fits(const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix,
	const struct two *two)
{
	bool fit = view->usage->pod_n[node_ix] < view->snapshot->alloc_pods[node_ix];

	for (uint32_t k = 0; k < sum->wanted_n; k++) {
		fit &= sum->wanted[k].amount <= free_of_one(sum, view, node_ix, two, sum->wanted[k].slot);
	}
	return fit;
}

/* A number that is negative or too large sets bits above those of the others; one of nothing allocatable
 * becomes negative. */
static inline bool handles(uint64_t numbers, const int64_t *alloc)
{
	return (numbers | ((uint64_t)alloc[0] - 1) | ((uint64_t)alloc[1] - 1)) < (uint64_t)EXACT_BELOW;
}

static inline __m128d two_doubles(int64_t a, int64_t b)
{
	return _mm256_castpd256_pd128(to_double(_mm256_castsi128_si256(_mm_set_epi64x(b, a))));
}

/* The percentages, each without its fraction, weighted. Returns false when a number is not handled. */
static inline bool fullness_of_one(const struct bt_resource_sum *sum, const struct bt_view *view,
	uint32_t node_ix, const struct two *two, uint32_t *out_score)
{
	uint32_t w0 = (uint32_t)sum->fill_weights[0], w1 = (uint32_t)sum->fill_weights[1];
	int64_t after[2];

	for (int k = 0; k < 2; k++) {
		after[k] = bt_wrap_add(
			get(bt_used_for_score(view->usage, sum->slots[k]), node_ix), sum->fill_requests[k]);
	}
	if (!handles((uint64_t)(two->alloc[0] | two->alloc[1] | after[0] | after[1]), two->alloc)) {
		return false;
	}
	__m128d alloc = two_doubles(two->alloc[0], two->alloc[1]), request = two_doubles(after[0], after[1]);
	__m128d part = sum->most ? _mm_min_pd(request, alloc)
				 : _mm_max_pd(_mm_sub_pd(alloc, request), _mm_setzero_pd());
	__m128i percent = _mm_cvttpd_epi32(_mm_div_pd(_mm_mul_pd(part, _mm_set1_pd(100)), alloc));
	uint32_t p0 = (uint32_t)_mm_cvtsi128_si32(percent), p1 = (uint32_t)_mm_extract_epi32(percent, 1);

	*out_score = (p0 * w0 + p1 * w1) / (w0 + w1);
	return true;
}

static inline bool balance_of_one(
	const struct bt_resource_sum *sum, const struct two *two, uint32_t *out_score)
{
	const int64_t *alloc = two->alloc, *used = two->used;
	const int64_t after[2] = {bt_wrap_add(used[0], sum->balance_requests[0]),
		bt_wrap_add(used[1], sum->balance_requests[1])};

	if (!handles((uint64_t)(alloc[0] | alloc[1] | used[0] | used[1] | after[0] | after[1]), alloc)) {
		return false;
	}
	__m256i there = _mm256_set_epi64x(alloc[1], alloc[0], alloc[1], alloc[0]);
	__m256d part = _mm256_div_pd(
		to_double(_mm256_set_epi64x(after[1], after[0], used[1], used[0])), to_double(there));
	part = _mm256_min_pd(part, _mm256_set1_pd(1));
	/* The standard deviation, twice each: what is taken from what does not matter. */
	__m256d half = _mm256_mul_pd(_mm256_sub_pd(part, _mm256_permute_pd(part, 0x5)), _mm256_set1_pd(0.5));
	__m256d std = _mm256_andnot_pd(_mm256_set1_pd(-0.0), half);
	__m128i score = _mm256_cvttpd_epi32(
		_mm256_mul_pd(_mm256_sub_pd(_mm256_set1_pd(1), std), _mm256_set1_pd(100)));

	*out_score = 50 + ((uint32_t)(50 + _mm_extract_epi32(score, 2) - _mm_cvtsi128_si32(score)) >> 1);
	return true;
}

bool bt_range_sum_avx2(
	const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix, uint16_t *out_value)
{
	uint32_t total = 1, score;
	struct two two;

	for (int k = 0; sum->scores && k < 2; k++) {
		two.alloc[k] = get(view->snapshot->alloc[sum->slots[k]], node_ix);
		two.used[k] = get(view->usage->used[sum->slots[k]], node_ix);
	}
	if (sum->fits && !fits(sum, view, node_ix, &two)) {
		*out_value = 0;
		return true;
	}
	if (sum->fills) {
		if (!fullness_of_one(sum, view, node_ix, &two, &score)) {
			return false;
		}
		total += score * (uint32_t)sum->fill_weight;
	}
	if (sum->balances) {
		if (!balance_of_one(sum, &two, &score)) {
			return false;
		}
		total += score * (uint32_t)sum->balance_weight;
	}
	*out_value = (uint16_t)total;
	return true;
}
