/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the best node of two columns. A node's total is the sum of its two numbers; a node with a 0 in
 * either is out. There are versions for AVX-512, AVX2 and any processor with equal results; the processor
 * determines which one runs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Columns are padded with zeroes to a multiple of this many slots. */
#define BT_SCAN_STEP 64

#define BT_SCAN_NONE SIZE_MAX

static inline size_t bt_scan_padded(size_t slot_n)
{
	return (slot_n + BT_SCAN_STEP - 1) / BT_SCAN_STEP * BT_SCAN_STEP;
}

/* The first slot at or after start, cyclically, with the best total; BT_SCAN_NONE when all are out. */
size_t bt_scan_best(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start);

/* The highest total of each block of BT_SCAN_STEP slots, for the blocks [first, end); 0: all of it is out. */
void bt_scan_blocks(const uint16_t *a, const uint16_t *b, size_t first, size_t end, uint16_t *out_best);

/* As bt_scan_best, for a caller with every block's highest total: reads the blocks' totals, and few of the
 * blocks. */
size_t bt_scan_best_by_blocks(
	const uint16_t *a, const uint16_t *b, const uint16_t *block_best, size_t block_n, size_t start);

/*
 * The same for nodes whose second number is that of their class: static_score[of[i]]. Classes are below
 * class_n; static_score has at least BT_SCAN_CLASSES numbers, those from class_n on are zero. totals is
 * scratch for padded_n numbers.
 */
#define BT_SCAN_CLASSES 64

struct bt_scan_classes {
	const uint16_t *value, *of, *static_score;
	uint32_t class_n;
	size_t padded_n;
	uint16_t *totals;
};

size_t bt_scan_best_of_classes(const struct bt_scan_classes *nodes, size_t start);

/* The first slot at or after start, cyclically, with that number; BT_SCAN_NONE when there is none. */
size_t bt_scan_find(const uint16_t *column, size_t padded_n, size_t start, uint16_t wanted);

/* One implementation of the scan. */
struct bt_scan_version {
	const char *name;
	size_t (*best)(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start);
	void (*blocks)(const uint16_t *a, const uint16_t *b, size_t first, size_t end, uint16_t *out_best);
	size_t (*best_of_classes)(const struct bt_scan_classes *nodes, size_t start);
	size_t (*find)(const uint16_t *column, size_t padded_n, size_t start, uint16_t wanted);
};

/* The version "portable", "avx2" or "avx512", for tests and comparisons; NULL: this processor does not run
 * it, or there is none. */
const struct bt_scan_version *bt_scan_version(const char *name);

/* For tests: selects a version; NULL: the processor's best. Context: while no thread scans. */
void bt_scan_use(const struct bt_scan_version *version);

/* The selected version. */
const struct bt_scan_version *bt_scan_chosen(void);
