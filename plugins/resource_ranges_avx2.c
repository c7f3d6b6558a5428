/* SPDX-License-Identifier: Apache-2.0
 * Ranges of nodes in vectors; this file alone is compiled for AVX2. Numbers are converted to doubles first:
 * below 2^45 a number and a hundred times it are exact.
 */
#include "plugins/resource_ranges.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "engine/base/compiler.h"
#include "engine/base/wrap.h"

#define LANES	    BT_RANGE_STEP
#define EXACT_BELOW BT_RANGE_EXACT_BELOW

static inline __m256i load(struct bt_cells cells, size_t at)
{
	if (!cells.first) {
		return _mm256_setzero_si256();
	}
	const size_t step = cells.step;
	const int64_t *first = cells.first + at * step;
	return step == 1 ? _mm256_loadu_si256((const __m256i *)(const void *)first)
			 : _mm256_set_epi64x(first[3 * step], first[2 * step], first[step], first[0]);
}

/* Requires: 0 <= x < 2^52; callers leave other numbers to the plain code. The bits of x below the exponent of
 * 2^52 are the number 2^52 + x. */
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

/* All numbers are in range, and allocatable is positive. */
static inline bool handled(const struct four *a, const struct four *b, bool before)
{
	__m256i all =
		_mm256_or_si256(_mm256_or_si256(a->alloc, b->alloc), _mm256_or_si256(a->after, b->after));
	__m256i none = _mm256_or_si256(_mm256_cmpeq_epi64(a->alloc, _mm256_setzero_si256()),
		_mm256_cmpeq_epi64(b->alloc, _mm256_setzero_si256()));

	if (before) {
		all = _mm256_or_si256(all, _mm256_or_si256(a->before, b->before));
	}
	/* A node with nothing allocatable sets out-of-range bits. */
	all = _mm256_or_si256(all, none);
	return _mm256_testz_si256(all, _mm256_set1_epi64x(~(EXACT_BELOW - 1)));
}

static inline void store(int64_t *raw, __m128i scores)
{
	_mm256_storeu_si256((__m256i *)(void *)raw, _mm256_cvtepi32_epi64(scores));
}

/* Weights, broadcast to every lane. */
struct range_weights {
	__m256d of[2], inverse; /* of their sum */
};

static inline struct range_weights spread(const int64_t *weight)
{
	double w0 = (double)weight[0], w1 = (double)weight[1];

	return (struct range_weights){
		{_mm256_set1_pd(w0), _mm256_set1_pd(w1)}, _mm256_set1_pd(1 / (w0 + w1))};
}

/* The percentage used (most) or free, truncated; most is a constant at each call. */
static inline __m256d percent(__m256d alloc, __m256d request, bool most)
{
	__m256d part = most ? _mm256_min_pd(request, alloc)
			    : _mm256_max_pd(_mm256_sub_pd(alloc, request), _mm256_setzero_pd());

	return _mm256_floor_pd(_mm256_div_pd(_mm256_mul_pd(part, _mm256_set1_pd(100)), alloc));
}

/* The weighted mean of percentages, truncated: adding 0.5 does not change the integer part, and exceeds the
 * rounding error. */
static inline __m128i fullness_of(
	const __m256d *alloc, const __m256d *request, const struct range_weights *weights, bool most)
{
	__m256d sum = _mm256_add_pd(_mm256_mul_pd(percent(alloc[0], request[0], most), weights->of[0]),
		_mm256_mul_pd(percent(alloc[1], request[1], most), weights->of[1]));

	return _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_add_pd(sum, _mm256_set1_pd(0.5)), weights->inverse));
}

static inline __m128i fullness_of_four(
	const struct four *a, const struct four *b, const struct range_weights *weights, bool most)
{
	const __m256d alloc[2] = {to_double(a->alloc), to_double(b->alloc)},
		      request[2] = {to_double(a->after), to_double(b->after)};

	return fullness_of(alloc, request, weights, most);
}

static inline uint32_t fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	const struct range_weights weights = spread(weight);
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		struct four a = read_four(pair, 0, i), b = read_four(pair, 1, i);

		if (!handled(&a, &b, false)) {
			break;
		}
		store(raw + i, fullness_of_four(&a, &b, &weights, most));
	}
	return i;
}

uint32_t bt_range_fullness_avx2(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	return most ? fullness(pair, weight, true, n, raw) : fullness(pair, weight, false, n, raw);
}

/* 100 * (1 - standard deviation) of two fractions that are at most 1. */
static inline __m128i balance(const __m256d *alloc, __m256d used0, __m256d used1)
{
	const __m256d one = _mm256_set1_pd(1);
	__m256d f0 = _mm256_min_pd(_mm256_div_pd(used0, alloc[0]), one);
	__m256d f1 = _mm256_min_pd(_mm256_div_pd(used1, alloc[1]), one);
	__m256d half = _mm256_mul_pd(_mm256_sub_pd(f0, f1), _mm256_set1_pd(0.5));
	__m256d std = _mm256_andnot_pd(_mm256_set1_pd(-0.0), half);

	return _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_sub_pd(one, std), _mm256_set1_pd(100)));
}

/* The gain in balance. Both are 50 to 100, so the halved sum is not negative. */
static inline __m128i gain_of(__m128i before, __m128i after)
{
	const __m128i fifty = _mm_set1_epi32(50);

	return _mm_add_epi32(fifty, _mm_srli_epi32(_mm_add_epi32(fifty, _mm_sub_epi32(after, before)), 1));
}

/* The scores of four nodes; state is a constant at each call. */
static inline __m128i balance_of_four(const struct four *a, const struct four *b, bool state)
{
	const __m256d alloc[2] = {to_double(a->alloc), to_double(b->alloc)};
	__m128i after = balance(alloc, to_double(a->after), to_double(b->after));

	return state ? after : gain_of(balance(alloc, to_double(a->before), to_double(b->before)), after);
}

static inline uint32_t balance_range(
	const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw)
{
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		struct four a = read_four(pair, 0, i), b = read_four(pair, 1, i);

		if (!handled(&a, &b, true)) {
			break;
		}
		store(raw + i, balance_of_four(&a, &b, state));
	}
	return i;
}

uint32_t bt_range_balance_avx2(const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw)
{
	return state ? balance_range(pair, true, n, raw) : balance_range(pair, false, n, raw);
}

/* ---- filter and scores in one ---- */

/* Four nodes, scattered or adjacent, and their amounts of the two scored resources. */
struct range_nodes {
	const struct bt_node_room *room[LANES];
	const struct bt_node_use *use[LANES];
	size_t at[LANES];
	__m256i alloc[2], used[2], filled[2];
};

BT_INLINE struct range_nodes find(const struct bt_view *view, size_t a, size_t b, size_t c, size_t d)
{
	const struct bt_node_room *rooms = view->snapshot->rooms;
	const struct bt_node_use *uses = view->usage->nodes;

	return (struct range_nodes){.room = {rooms + a, rooms + b, rooms + c, rooms + d},
		.use = {uses + a, uses + b, uses + c, uses + d},
		.at = {a, b, c, d}};
}

static inline __m256i fetch(const int64_t *column, const struct range_nodes *nodes)
{
	const size_t *at = nodes->at;

	return column ? _mm256_set_epi64x(column[at[3]], column[at[2]], column[at[1]], column[at[0]])
		      : _mm256_setzero_si256();
}

static inline __m256i fetch_alloc(const struct bt_view *view, const struct range_nodes *nodes, uint32_t slot)
{
	const struct bt_node_room *const *room = nodes->room;

	return slot < BT_FIRST_SCALAR ? _mm256_set_epi64x(room[3]->alloc[slot], room[2]->alloc[slot],
						room[1]->alloc[slot], room[0]->alloc[slot])
				      : fetch(view->snapshot->scalars[slot], nodes);
}

static inline __m256i fetch_used(const struct bt_view *view, const struct range_nodes *nodes, uint32_t slot)
{
	const struct bt_node_use *const *use = nodes->use;

	return slot < BT_FIRST_SCALAR ? _mm256_set_epi64x(use[3]->used[slot], use[2]->used[slot],
						use[1]->used[slot], use[0]->used[slot])
				      : fetch(view->usage->scalars[slot], nodes);
}

/* Two adjacent numbers. */
static inline __m128i load_two(const int64_t *first)
{
	return _mm_loadu_si128((const __m128i *)(const void *)first);
}

static_assert(BT_CPU == 0 && BT_MEMORY == 1 &&
		      offsetof(struct bt_node_use, nonzero_memory) ==
			      offsetof(struct bt_node_use, nonzero_milli_cpu) + sizeof(int64_t),
	"cpu and memory come first, and lie side by side");

/* Pairs of numbers of four nodes: the first ones and the second ones. */
static inline void fetch_two(
	const int64_t *a, const int64_t *b, const int64_t *c, const int64_t *d, __m256i *out_two)
{
	__m256i even = _mm256_inserti128_si256(_mm256_castsi128_si256(load_two(a)), load_two(c), 1);
	__m256i odd = _mm256_inserti128_si256(_mm256_castsi128_si256(load_two(b)), load_two(d), 1);

	out_two[0] = _mm256_unpacklo_epi64(even, odd);
	out_two[1] = _mm256_unpackhi_epi64(even, odd);
}

static inline void fetch_cpu_and_memory(struct range_nodes *nodes)
{
	const struct bt_node_room *const *room = nodes->room;
	const struct bt_node_use *const *use = nodes->use;

	fetch_two(room[0]->alloc, room[1]->alloc, room[2]->alloc, room[3]->alloc, nodes->alloc);
	fetch_two(use[0]->used, use[1]->used, use[2]->used, use[3]->used, nodes->used);
	fetch_two(&use[0]->nonzero_milli_cpu, &use[1]->nonzero_milli_cpu, &use[2]->nonzero_milli_cpu,
		&use[3]->nonzero_milli_cpu, nodes->filled);
}

/* Used amounts for scores, as bt_used_for_score. */
static inline __m256i fetch_filled(const struct bt_view *view, const struct range_nodes *nodes, uint32_t slot)
{
	const struct bt_cells cells = bt_used_for_score(view->usage, slot);
	const int64_t *first = cells.first;
	const size_t *at = nodes->at, step = cells.step;

	return first ? _mm256_set_epi64x(first[at[3] * step], first[at[2] * step], first[at[1] * step],
			       first[at[0] * step])
		     : _mm256_setzero_si256();
}

/* The nodes' amounts of the two scored resources: usually cpu and memory. */
BT_INLINE void fetch_scored(
	const struct bt_resource_sum *sum, const struct bt_view *view, struct range_nodes *nodes)
{
	if (BT_LIKELY(sum->slots[0] == BT_CPU && sum->slots[1] == BT_MEMORY)) {
		fetch_cpu_and_memory(nodes);
		return;
	}
	for (int k = 0; k < 2; k++) {
		nodes->alloc[k] = fetch_alloc(view, nodes, sum->slots[k]);
		nodes->used[k] = fetch_used(view, nodes, sum->slots[k]);
		nodes->filled[k] = fetch_filled(view, nodes, sum->slots[k]);
	}
}

/* Free amounts of a resource. */
static inline __m256i free_of(const struct bt_resource_sum *sum, const struct bt_view *view,
	const struct range_nodes *nodes, uint32_t slot)
{
	for (int k = 0; k < 2; k++) {
		if (sum->scores && slot == sum->slots[k]) {
			return _mm256_sub_epi64(nodes->alloc[k], nodes->used[k]);
		}
	}
	return _mm256_sub_epi64(fetch_alloc(view, nodes, slot), fetch_used(view, nodes, slot));
}

/* All bits set for refused nodes. */
BT_INLINE __m256i refused(
	const struct bt_resource_sum *sum, const struct bt_view *view, const struct range_nodes *nodes)
{
	const struct bt_node_room *const *room = nodes->room;
	const struct bt_node_use *const *use = nodes->use;
	__m256i pods = _mm256_set_epi64x(use[3]->pod_n, use[2]->pod_n, use[1]->pod_n, use[0]->pod_n);
	__m256i places = _mm256_set_epi64x(room[3]->pods, room[2]->pods, room[1]->pods, room[0]->pods);
	__m256i out = _mm256_cmpgt_epi64(_mm256_add_epi64(pods, _mm256_set1_epi64x(1)), places);

	for (uint32_t k = 0; k < sum->wanted_n; k++) {
		const struct bt_amount *wanted = &sum->wanted[k];

		out = _mm256_or_si256(out, _mm256_cmpgt_epi64(_mm256_set1_epi64x(wanted->amount),
						   free_of(sum, view, nodes, wanted->slot)));
	}
	return out;
}

static inline struct range_nodes side_by_side(const struct bt_view *view, size_t first)
{
	return find(view, first, first + 1, first + 2, first + 3);
}

uint32_t bt_range_fits_avx2(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct bt_resource_sum sum = {.wanted = wanted, .wanted_n = wanted_n};
	uint32_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		const struct range_nodes nodes = side_by_side(view, first + i);
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

/* These return false when a number is out of range. */
BT_INLINE bool add_fullness(
	const struct bt_resource_sum *sum, const struct range_nodes *nodes, __m128i *value)
{
	const struct range_weights weights = spread(sum->fill_weights);
	struct four four[2];

	for (int k = 0; k < 2; k++) {
		four[k] = with_request(nodes->alloc[k], nodes->filled[k], sum->fill_requests[k]);
	}
	if (!handled(&four[0], &four[1], false)) {
		return false;
	}
	*value = add_scores(*value,
		sum->form.most ? fullness_of_four(&four[0], &four[1], &weights, true)
			       : fullness_of_four(&four[0], &four[1], &weights, false),
		sum->fill_weight);
	return true;
}

BT_INLINE bool add_balance(const struct bt_resource_sum *sum, const struct range_nodes *nodes, __m128i *value)
{
	struct four four[2];

	for (int k = 0; k < 2; k++) {
		four[k] = with_request(nodes->alloc[k], nodes->used[k], sum->balance_requests[k]);
	}
	if (!handled(&four[0], &four[1], true)) {
		return false;
	}
	*value = add_scores(*value,
		sum->form.state ? balance_of_four(&four[0], &four[1], true)
				: balance_of_four(&four[0], &four[1], false),
		sum->balance_weight);
	return true;
}

/* The even halves of four masks. */
static inline __m128i narrow(__m256i masks)
{
	return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(_mm256_castsi256_si128(masks)),
		_mm_castsi128_ps(_mm256_extracti128_si256(masks, 1)), 0x88));
}

static inline void store_values(uint16_t *value, __m128i four)
{
	_mm_storel_epi64((__m128i *)(void *)value, _mm_packus_epi32(four, four));
}

/* Returns false when a number is out of range. */
BT_INLINE bool sum_up(const struct bt_resource_sum *sum, const struct bt_view *view,
	struct range_nodes *nodes, uint16_t *value)
{
	__m128i four = _mm_set1_epi32(1);

	if (sum->scores) {
		fetch_scored(sum, view, nodes);
	}
	if ((sum->fills && !add_fullness(sum, nodes, &four)) ||
		(sum->balances && !add_balance(sum, nodes, &four))) {
		return false;
	}
	if (sum->fits) {
		four = _mm_andnot_si128(narrow(refused(sum, view, nodes)), four);
	}
	store_values(value, four);
	return true;
}

uint32_t bt_range_sums_avx2(const struct bt_resource_sum *sum, const struct bt_view *view,
	const uint32_t *list, uint32_t first, uint32_t n, uint16_t *value)
{
	uint32_t i = 0;

	for (; list && i + LANES <= n; i += LANES) {
		struct range_nodes nodes = find(view, list[i], list[i + 1], list[i + 2], list[i + 3]);

		if (!sum_up(sum, view, &nodes, value + i)) {
			return i;
		}
	}
	for (; !list && i + LANES <= n; i += LANES) {
		struct range_nodes nodes = side_by_side(view, first + i);

		if (!sum_up(sum, view, &nodes, value + i)) {
			return i;
		}
	}
	return i;
}

/* ---- the same for one node and several pods, one per lane ---- */

/* The numbers of a node, broadcast to every lane. */
struct node {
	__m256d alloc[2], used[2], filled[2], places;
	__m128i balance; /* without the pod */
};

/* As to_double. */
static inline __m128d two_doubles(__m128i two)
{
	return _mm256_castpd256_pd128(to_double(_mm256_castsi128_si256(two)));
}

static inline void spread_two(__m128d two, __m256d *out_lanes)
{
	out_lanes[0] = _mm256_broadcastsd_pd(two);
	out_lanes[1] = _mm256_broadcastsd_pd(_mm_unpackhi_pd(two, two));
}

/* As balance, of two fractions side by side. */
static inline __m128i balance_of_two(__m128d alloc, __m128d used)
{
	const __m128d one = _mm_set1_pd(1);
	__m128d part = _mm_min_pd(_mm_div_pd(used, alloc), one);
	__m128d half = _mm_mul_pd(_mm_sub_pd(part, _mm_unpackhi_pd(part, part)), _mm_set1_pd(0.5));
	__m128d std = _mm_andnot_pd(_mm_set1_pd(-0.0), half);

	return _mm_broadcastd_epi32(_mm_cvttpd_epi32(_mm_mul_pd(_mm_sub_pd(one, std), _mm_set1_pd(100))));
}

/* Returns false when a number is out of range: negative, too large, or nothing allocatable. */
static inline bool read_node(const struct bt_view *view, uint32_t node_ix, struct node *out_node)
{
	const struct bt_node_room *room = &view->snapshot->rooms[node_ix];
	const struct bt_node_use *use = &view->usage->nodes[node_ix];
	int64_t pod_n = use->pod_n, pods = room->pods;
	__m128i alloc = load_two(&room->alloc[BT_CPU]), used = load_two(&use->used[BT_CPU]),
		filled = load_two(&use->nonzero_milli_cpu);
	/* Zero minus one has all bits set. */
	__m128i bits = _mm_or_si128(
		_mm_or_si128(alloc, _mm_add_epi64(alloc, _mm_set1_epi64x(-1))), _mm_or_si128(used, filled));

	__m128d alloc_of = two_doubles(alloc), used_of = two_doubles(used);
	spread_two(alloc_of, out_node->alloc);
	spread_two(used_of, out_node->used);
	spread_two(two_doubles(filled), out_node->filled);
	out_node->balance = balance_of_two(alloc_of, used_of);
	out_node->places = _mm256_set1_pd((double)bt_wrap_sub(pods, pod_n));
	return (uint64_t)(pods | pod_n) < (uint64_t)EXACT_BELOW &&
	       _mm_testz_si128(bits, _mm_set1_epi64x(~(EXACT_BELOW - 1)));
}

static inline __m128i lanes_refused(const struct bt_sum_lanes *lanes, const struct node *node)
{
	__m256d out = _mm256_cmp_pd(_mm256_loadu_pd(lanes->place), node->places, _CMP_GT_OQ);

	for (int k = 0; k < 2; k++) {
		__m256d after = _mm256_add_pd(node->used[k], _mm256_loadu_pd(lanes->wanted[k]));

		out = _mm256_or_pd(out, _mm256_cmp_pd(after, node->alloc[k], _CMP_GT_OQ));
	}
	return narrow(_mm256_castpd_si256(out));
}

static inline __m128i weigh(__m128i scores, const int32_t *weights)
{
	return _mm_mullo_epi32(scores, _mm_loadu_si128((const __m128i *)(const void *)weights));
}

/* Sums of numbers below 2^45 are exact. form is a constant at each call. */
static inline void sum_lanes(
	const struct bt_sum_lanes *lanes, const struct node *node, struct bt_sum_form form, uint16_t *value)
{
	const struct range_weights weights = {
		{_mm256_loadu_pd(lanes->weight[0]), _mm256_loadu_pd(lanes->weight[1])},
		_mm256_loadu_pd(lanes->inverse)};
	__m256d request[2], after[2];

	for (int k = 0; k < 2; k++) {
		request[k] = _mm256_add_pd(node->filled[k], _mm256_loadu_pd(lanes->fill[k]));
		after[k] = _mm256_add_pd(node->used[k], _mm256_loadu_pd(lanes->balance[k]));
	}
	__m128i fullness = fullness_of(node->alloc, request, &weights, form.most),
		even = balance(node->alloc, after[0], after[1]),
		balanced = form.state ? even : gain_of(node->balance, even),
		sum = _mm_add_epi32(
			weigh(fullness, lanes->fill_weight), weigh(balanced, lanes->balance_weight));

	store_values(
		value, _mm_andnot_si128(lanes_refused(lanes, node), _mm_add_epi32(sum, _mm_set1_epi32(1))));
}

BT_INLINE void sum_all(const struct bt_sum_lanes *lanes, uint32_t n, const struct node *node,
	struct bt_sum_form form, uint16_t *value)
{
	for (uint32_t i = 0; i < n; i++) {
		sum_lanes(&lanes[i], node, form, value + i * LANES);
	}
}

bool bt_range_lanes_avx2(const struct bt_sum_lanes *lanes, uint32_t n, struct bt_sum_form form,
	const struct bt_view *view, uint32_t node_ix, uint16_t *value)
{
	struct node node;

	if (!read_node(view, node_ix, &node)) {
		return false;
	}
	if (BT_LIKELY(!form.most && !form.state)) {
		sum_all(lanes, n, &node, (struct bt_sum_form){false, false}, value);
	} else if (!form.state) {
		sum_all(lanes, n, &node, (struct bt_sum_form){true, false}, value);
	} else if (!form.most) {
		sum_all(lanes, n, &node, (struct bt_sum_form){false, true}, value);
	} else {
		sum_all(lanes, n, &node, (struct bt_sum_form){true, true}, value);
	}
	return true;
}
