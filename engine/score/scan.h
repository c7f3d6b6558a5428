/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the best node of two columns. A node's total is the sum of its two numbers; one that has 0 in
 * either is out. The portable version and the one for AVX2 give equal results; which one runs is chosen once,
 * by the processor.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Columns are padded with zeroes to a multiple of this many slots. */
#define BT_SCAN_STEP 64

#define BT_SCAN_NONE SIZE_MAX

/* Where the best total is: the first slot at or after start that has it, cyclically; BT_SCAN_NONE when all
 * are out. */
size_t bt_scan_best(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start);

/* The same, by the version that any processor runs; for tests and comparisons. */
size_t bt_scan_best_portable(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start);

/* The same for AVX2. Requires: the processor has it. */
size_t bt_scan_best_avx2(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start);
