/* SPDX-License-Identifier: Apache-2.0
 * The scan in vectors: two passes, the highest total, then the first slot that has it. The including file
 * defines the vectors first, and compiles what follows for its processor:
 *	LANES, BITS		slots in a vector; bits of a mask for each slot
 *	vector			the type
 *	load, splat, zero, max	as their names say; unsigned
 *	total(x, y)		x + y, 0 where one of them is 0
 *	equal(x, y)		mask of the lanes that are equal
 *	highest_of(x)		the highest lane
 *	fill_totals(nodes)	fills nodes->totals and returns the highest; at most BT_SCAN_CLASSES classes
 */
#pragma once

#include "engine/score/scan.h"

static inline vector total_at(const uint16_t *a, const uint16_t *b, size_t at)
{
	return total(load(a + at), load(b + at));
}

static uint16_t highest_total(const uint16_t *a, const uint16_t *b, size_t padded_n)
{
	vector best[2] = {zero(), zero()};

	for (size_t i = 0; i < padded_n; i += 2 * LANES) {
		best[0] = max(best[0], total_at(a, b, i));
		best[1] = max(best[1], total_at(a, b, i + LANES));
	}
	return highest_of(max(best[0], best[1]));
}

static void blocks(const uint16_t *a, const uint16_t *b, size_t first, size_t end, uint16_t *out_best)
{
	for (size_t block = first; block < end; block++) {
		out_best[block] =
			highest_total(a + block * BT_SCAN_STEP, b + block * BT_SCAN_STEP, BT_SCAN_STEP);
	}
}

/* The first slot of the vector at i whose bit is set in the mask, from skip on. LANES: none. */
static inline size_t first_of(uint32_t mask, unsigned skip)
{
	mask &= ~UINT32_C(0) << BITS * skip;
	return mask ? (size_t)__builtin_ctz(mask) / BITS : LANES;
}

/* The first slot of [from, to) with the total, or to. The last vector may extend beyond to, but not beyond
 * the padding. */
static size_t first_with(const uint16_t *a, const uint16_t *b, size_t from, size_t to, uint16_t wanted)
{
	vector want = splat(wanted);
	unsigned skip = (unsigned)(from % LANES);

	for (size_t i = from - skip; i < to; i += LANES, skip = 0) {
		size_t at = first_of(equal(total_at(a, b, i), want), skip);

		if (at < LANES) {
			return i + at < to ? i + at : to;
		}
	}
	return to;
}

static size_t best(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start)
{
	uint16_t highest = highest_total(a, b, padded_n);

	if (highest == 0) {
		return BT_SCAN_NONE;
	}
	size_t at = first_with(a, b, start, padded_n, highest);
	return at < padded_n ? at : first_with(a, b, 0, start, highest);
}

/* The first slot of [from, to) with the number, or to; as first_with. */
static size_t first_equal(const uint16_t *column, size_t from, size_t to, uint16_t wanted)
{
	vector want = splat(wanted);
	unsigned skip = (unsigned)(from % LANES);

	for (size_t i = from - skip; i < to; i += LANES, skip = 0) {
		size_t at = first_of(equal(load(column + i), want), skip);

		if (at < LANES) {
			return i + at < to ? i + at : to;
		}
	}
	return to;
}

static size_t find(const uint16_t *column, size_t padded_n, size_t start, uint16_t wanted)
{
	size_t at = first_equal(column, start, padded_n, wanted);

	if (at < padded_n) {
		return at;
	}
	at = first_equal(column, 0, start, wanted);
	return at < start ? at : BT_SCAN_NONE;
}

static size_t best_of_classes(const struct bt_scan_classes *nodes, size_t start)
{
	if (nodes->class_n > BT_SCAN_CLASSES) {
		return bt_scan_version("portable")->best_of_classes(nodes, start);
	}
	uint16_t highest = fill_totals(nodes);
	return highest ? find(nodes->totals, nodes->padded_n, start, highest) : BT_SCAN_NONE;
}
