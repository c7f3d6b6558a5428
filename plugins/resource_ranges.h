/* SPDX-License-Identifier: Apache-2.0
 * What the resource plugins ask of ranges of nodes, in vectors: the same answers as their plain functions,
 * which answer for what is left over.
 */
#pragma once

#include "cache/view.h"

#define BT_RANGE_STEP	    4
#define BT_RANGE_WEIGHT_MAX 0xfffff

/* Two resources of which a pod asks for something; columns begin at the range. */
struct bt_resource_pair {
	const int64_t *alloc[2], *used[2];
	int64_t request[2];
};

/*
 * All of these answer for nodes from the front of the range and return for how many: they stop before four
 * of which one has a number that they do not handle (negative, 2^45 or more, nothing allocatable), and before
 * a rest of less than four. Without AVX2 that is 0.
 */
uint32_t bt_range_fits(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass);

/* NodeResourcesFit. Requires: weights from 1 to BT_RANGE_WEIGHT_MAX. */
uint32_t bt_range_fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw);

/* NodeResourcesBalancedAllocation. */
uint32_t bt_range_balance(const struct bt_resource_pair *pair, uint32_t n, int64_t *raw);

/* The same. Requires: a processor with AVX2. */
uint32_t bt_range_fits_avx2(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass);
uint32_t bt_range_fullness_avx2(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw);
uint32_t bt_range_balance_avx2(const struct bt_resource_pair *pair, uint32_t n, int64_t *raw);
