/* SPDX-License-Identifier: Apache-2.0
 * Filter and Score of the resource plugins for ranges of nodes, in vectors: the same results as their plain
 * functions, which handle the remainder.
 */
#pragma once

#include "cache/node_view.h"
#include "cache/view.h"
#include "engine/base/wrap.h"

#define BT_RANGE_STEP	     4
#define BT_RANGE_WEIGHT_MAX  0xfffff
#define BT_RANGE_EXACT_BELOW ((int64_t)1 << 45)

/* Two resources that a pod requests; cells start at the range. */
struct bt_resource_pair {
	struct bt_cells alloc[2], used[2];
	int64_t request[2];
};

/* Variants of resource scoring, by release or configuration. All zeroes: the defaults. */
struct bt_sum_form {
	bool most;  /* MostAllocated, not LeastAllocated */
	bool state; /* balance of the node with the pod, not the gain */
};

/* Combined Filter and Score of the plugins that only compare resources with requests and score by two
 * resources. All zeroes: every node passes, with score 1. */
struct bt_resource_sum {
	bool fits; /* NodeResourcesFit filters: room for one more pod, and for wanted */
	const struct bt_amount *wanted;
	uint32_t wanted_n;
	bool scores;	   /* a plugin scores by these two resources */
	uint32_t slots[2]; /* in the order of the sums */
	bool fills;	   /* NodeResourcesFit scores, LeastAllocated or MostAllocated */
	int64_t fill_requests[2], fill_weights[2];
	bool balances; /* NodeResourcesBalancedAllocation scores */
	int64_t balance_requests[2];
	int32_t fill_weight, balance_weight; /* of the plugins */
	struct bt_sum_form form;
};

/* Sets the two resources of the scores. Returns false when the sum already scores by others, or when they
 * have no columns. */
static inline bool bt_resource_sum_score(struct bt_resource_sum *sum, uint32_t first, uint32_t second)
{
	if (first >= BT_FIRST_RARE || second >= BT_FIRST_RARE) {
		return false;
	}
	if (sum->scores) {
		return sum->slots[0] == first && sum->slots[1] == second;
	}
	sum->scores = true;
	sum->slots[0] = first;
	sum->slots[1] = second;
	return true;
}

/*
 * These functions process nodes from the front of the range and return how many. They stop before a group of
 * four in which one number is out of range (negative, BT_RANGE_EXACT_BELOW or more, nothing allocatable), and
 * before a remainder of less than four. Without AVX2 they return 0.
 */
uint32_t bt_range_fits(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass);

/* NodeResourcesFit. Requires: weights from 1 to BT_RANGE_WEIGHT_MAX. */
uint32_t bt_range_fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw);

/* NodeResourcesBalancedAllocation; state: as in struct bt_sum_form. */
uint32_t bt_range_balance(const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw);

/*
 * For nodes[0] to nodes[n - 1], or from first on if nodes is NULL: 0 for refused nodes, else 1 plus the
 * weighted scores. Requires: weights as above; sums fit into 16 bits.
 */
uint32_t bt_range_sums(const struct bt_resource_sum *sum, const struct bt_view *view, const uint32_t *nodes,
	uint32_t first, uint32_t n, uint16_t *value);

/* The sums of BT_RANGE_STEP pods, side by side; unused lanes are all zeroes. Private except for its size. */
struct bt_sum_lanes {
	double wanted[2][BT_RANGE_STEP], place[BT_RANGE_STEP];	  /* -HUGE_VAL: none */
	double fill[2][BT_RANGE_STEP], balance[2][BT_RANGE_STEP]; /* requests */
	double weight[2][BT_RANGE_STEP], inverse[BT_RANGE_STEP];  /* of their sum */
	int32_t fill_weight[BT_RANGE_STEP], balance_weight[BT_RANGE_STEP];
};

/*
 * Writes a sum into a lane (lane / BT_RANGE_STEP of lanes). Lanes omit requests of resources other than cpu
 * and memory.
 * Returns: false without vectors, when the sum does not score by cpu and memory, or when a number is out of
 * range; lanes are unchanged.
 */
bool bt_range_lane_put(const struct bt_resource_sum *sum, struct bt_sum_lanes *lanes, uint32_t lane);

/* Copies a lane. */
void bt_range_lane_copy(struct bt_sum_lanes *lanes, uint32_t from, uint32_t to);

/*
 * Evaluates one node for the pods of n times BT_RANGE_STEP lanes, as bt_range_sums does several nodes for one
 * pod. form: equal to that of all sums. Returns false when a number of the node is out of range. Requires:
 * bt_range_lane_put returned true.
 */
bool bt_range_lanes(const struct bt_sum_lanes *lanes, uint32_t n, struct bt_sum_form form,
	const struct bt_view *view, uint32_t node_ix, uint16_t *value);

/* Does the sum request resources that lanes omit? Does a node have enough of them? */
bool bt_resource_sum_wants_rest(const struct bt_resource_sum *sum);
bool bt_resource_sum_fits_rest(
	const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix);

/* Does the processor have AVX2? */
bool bt_range_vectors(void);

/* As bt_used_for_score, for one node and any resource. */
static inline int64_t bt_node_used_for_score(const struct bt_usage *usage, uint32_t slot, uint32_t node_ix)
{
	return slot < BT_FIRST_RARE ? bt_cell(bt_used_for_score(usage, slot), node_ix)
				    : bt_node_used(usage, slot, node_ix);
}

/* Free amount of a resource on a node; negative when overcommitted. */
static inline int64_t bt_node_available(const struct bt_view *view, uint32_t slot, uint32_t node_ix)
{
	return bt_wrap_sub(
		bt_node_alloc(view->snapshot, slot, node_ix), bt_node_used(view->usage, slot, node_ix));
}

/* As the functions without _avx2. Requires: bt_range_vectors(). */
uint32_t bt_range_fits_avx2(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass);
uint32_t bt_range_fullness_avx2(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw);
uint32_t bt_range_balance_avx2(const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw);
uint32_t bt_range_sums_avx2(const struct bt_resource_sum *sum, const struct bt_view *view,
	const uint32_t *nodes, uint32_t first, uint32_t n, uint16_t *value);
bool bt_range_lanes_avx2(const struct bt_sum_lanes *lanes, uint32_t n, struct bt_sum_form form,
	const struct bt_view *view, uint32_t node_ix, uint16_t *value);
