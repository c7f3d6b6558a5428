/* SPDX-License-Identifier: Apache-2.0
 * The scan for any processor, in plain loops of which the compiler makes vectors; and the choice.
 */
#include "engine/score/scan.h"

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

/* The first slot in [from, to) whose total is wanted, or to. Blocks first: whether a block has one is a
 * vector question. */
static size_t first_with(const uint16_t *a, const uint16_t *b, size_t from, size_t to, uint16_t wanted)
{
	size_t i = from;

	while (i < to && i % BT_SCAN_STEP) {
		if (total(a[i], b[i]) == wanted) {
			return i;
		}
		i++;
	}
	while (i + BT_SCAN_STEP <= to) {
		uint16_t hit = 0;

		for (size_t j = 0; j < BT_SCAN_STEP; j++) {
			hit |= (uint16_t)(total(a[i + j], b[i + j]) == wanted);
		}
		if (hit) {
			break;
		}
		i += BT_SCAN_STEP;
	}
	while (i < to && total(a[i], b[i]) != wanted) {
		i++;
	}
	return i;
}

size_t bt_scan_best_portable(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
	uint16_t best = highest_total(a, b, padded_n);

	if (best == 0) {
		return BT_SCAN_NONE;
	}
	size_t at = first_with(a, b, start, padded_n, best);
	return at < padded_n ? at : first_with(a, b, 0, start, best);
}

size_t bt_scan_best(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
#ifdef BT_HAVE_AVX2
	if (__builtin_cpu_supports("avx2")) {
		return bt_scan_best_avx2(a, b, padded_n, start);
	}
#endif
	return bt_scan_best_portable(a, b, padded_n, start);
}
