/* SPDX-License-Identifier: Apache-2.0
 * The scan for any processor, in plain loops that compilers vectorize; and the choice of a version.
 */
#include "engine/score/scan_int.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/compiler.h"

static uint16_t total(uint16_t a, uint16_t b)
{
	return a && b ? (uint16_t)(a + b) : 0;
}

static uint16_t highest_total(const uint16_t *a, const uint16_t *b, size_t n)
{
	uint16_t best = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t t = total(a[i], b[i]);

		best = t > best ? t : best;
	}
	return best;
}

/* A slot's total; if b is NULL, its number in a. */
BT_INLINE uint16_t number_at(const uint16_t *a, const uint16_t *b, size_t at)
{
	return b ? total(a[at], b[at]) : a[at];
}

/* The first slot in [from, to) with the wanted number, or to. Checks blocks first, because one vector
 * comparison finds whether a block has it. */
BT_INLINE size_t first_with(const uint16_t *a, const uint16_t *b, size_t from, size_t to, uint16_t wanted)
{
	size_t i = from;

	while (i < to && i % BT_SCAN_STEP) {
		if (number_at(a, b, i) == wanted) {
			return i;
		}
		i++;
	}
	while (i + BT_SCAN_STEP <= to) {
		uint16_t hit = 0;

		for (size_t j = 0; j < BT_SCAN_STEP; j++) {
			hit |= (uint16_t)(number_at(a, b, i + j) == wanted);
		}
		if (hit) {
			break;
		}
		i += BT_SCAN_STEP;
	}
	while (i < to && number_at(a, b, i) != wanted) {
		i++;
	}
	return i;
}

/* The same at or after start, cyclically; BT_SCAN_NONE: none. */
BT_INLINE size_t first_from(
	const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start, uint16_t wanted)
{
	size_t at = first_with(a, b, start, padded_n, wanted);

	BT_INVARIANT(start <= padded_n && padded_n % BT_SCAN_STEP == 0);
	if (at < padded_n) {
		return at;
	}
	at = first_with(a, b, 0, start, wanted);
	return at < start ? at : BT_SCAN_NONE;
}

static size_t best_by_loops(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
	uint16_t best = highest_total(a, b, padded_n);

	return best ? first_from(a, b, padded_n, start, best) : BT_SCAN_NONE;
}

static size_t find_by_loops(const uint16_t *column, size_t padded_n, size_t start, uint16_t wanted)
{
	return first_from(column, NULL, padded_n, start, wanted);
}

static size_t best_of_classes_by_loops(const struct bt_scan_classes *nodes, size_t start)
{
	uint16_t best = 0;

	for (size_t i = 0; i < nodes->padded_n; i++) {
		nodes->totals[i] = total(nodes->value[i], nodes->static_score[nodes->of[i]]);
	}
	for (size_t i = 0; i < nodes->padded_n; i++) {
		best = nodes->totals[i] > best ? nodes->totals[i] : best;
	}
	return best ? find_by_loops(nodes->totals, nodes->padded_n, start, best) : BT_SCAN_NONE;
}

static void blocks_by_loops(
	const uint16_t *a, const uint16_t *b, size_t first, size_t end, uint16_t *out_best)
{
	for (size_t block = first; block < end; block++) {
		out_best[block] =
			highest_total(a + block * BT_SCAN_STEP, b + block * BT_SCAN_STEP, BT_SCAN_STEP);
	}
}

/* ---- choice of a version ---- */

static const struct bt_scan_version portable = {
	"portable", best_by_loops, blocks_by_loops, best_of_classes_by_loops, find_by_loops};

static const struct bt_scan_version *used; /* set by bt_scan_use */

void bt_scan_use(const struct bt_scan_version *version)
{
	BT_REQUIRE(!version || (version->best && version->blocks && version->find));
	used = version;
}

const struct bt_scan_version *bt_scan_chosen(void)
{
	if (BT_UNLIKELY(used)) {
		return used;
	}
#ifdef BT_HAVE_AVX2
	if (__builtin_cpu_supports("avx512bw")) {
		return &bt_scan_avx512;
	}
	if (__builtin_cpu_supports("avx2")) {
		return &bt_scan_avx2;
	}
#endif
	return &portable;
}

const struct bt_scan_version *bt_scan_version(const char *name)
{
#ifdef BT_HAVE_AVX2
	if (strcmp(name, "avx512") == 0) {
		return __builtin_cpu_supports("avx512bw") ? &bt_scan_avx512 : NULL;
	}
	if (strcmp(name, "avx2") == 0) {
		return __builtin_cpu_supports("avx2") ? &bt_scan_avx2 : NULL;
	}
#endif
	return strcmp(name, "portable") == 0 ? &portable : NULL;
}

size_t bt_scan_best(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
	return bt_scan_chosen()->best(a, b, padded_n, start);
}

void bt_scan_blocks(const uint16_t *a, const uint16_t *b, size_t first, size_t end, uint16_t *out_best)
{
	bt_scan_chosen()->blocks(a, b, first, end, out_best);
}

size_t bt_scan_best_of_classes(const struct bt_scan_classes *nodes, size_t start)
{
	return bt_scan_chosen()->best_of_classes(nodes, start);
}

size_t bt_scan_find(const uint16_t *column, size_t padded_n, size_t start, uint16_t wanted)
{
	return bt_scan_chosen()->find(column, padded_n, start, wanted);
}

/* ---- by blocks ---- */

/* The first slot of [from, to) in blocks with the best total, or to. */
static size_t first_in_blocks(const uint16_t *a, const uint16_t *b, const uint16_t *block_best, size_t from,
	size_t to, uint16_t wanted)
{
	while (from < to) {
		size_t block = from / BT_SCAN_STEP, end = (block + 1) * BT_SCAN_STEP;

		if (block_best[block] == wanted) {
			size_t at = first_with(a, b, from, end < to ? end : to, wanted);

			if (at < end && at < to) {
				return at;
			}
		}
		from = end;
	}
	return to;
}

size_t bt_scan_best_by_blocks(
	const uint16_t *a, const uint16_t *b, const uint16_t *block_best, size_t block_n, size_t start)
{
	uint16_t best = 0;

	BT_REQUIRE_HOT(start < block_n * BT_SCAN_STEP);
	for (size_t i = 0; i < block_n; i++) {
		best = block_best[i] > best ? block_best[i] : best;
	}
	if (best == 0) {
		return BT_SCAN_NONE;
	}
	size_t at = first_in_blocks(a, b, block_best, start, block_n * BT_SCAN_STEP, best);
	return at < block_n * BT_SCAN_STEP ? at : first_in_blocks(a, b, block_best, 0, start, best);
}
