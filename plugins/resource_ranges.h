/* SPDX-License-Identifier: Apache-2.0
 * What the resource plugins ask of ranges of nodes, in vectors: the same answers as their plain functions,
 * which answer for what is left over.
 */
#pragma once

#include "cache/node_view.h"
#include "cache/view.h"
#include "engine/base/wrap.h"

#define BT_RANGE_STEP	     4
#define BT_RANGE_WEIGHT_MAX  0xfffff
#define BT_RANGE_EXACT_BELOW ((int64_t)1 << 45)

/* Two resources of which a pod requests something; cells begin at the range. */
struct bt_resource_pair {
	struct bt_cells alloc[2], used[2];
	int64_t request[2];
};

/* Of the ways to score resources, those that a release or a configuration has. All zeroes: the usual ones. */
struct bt_sum_form {
	bool most;  /* fullness is MostAllocated, not LeastAllocated */
	bool state; /* balance is that of the node with the pod, not what it gains by the pod */
};

/* What plugins that ask of nodes nothing but two resources, or whether there is enough, come to together. All
 * zeroes: every node passes, and is worth 1. */
struct bt_resource_sum {
	bool fits; /* NodeResourcesFit filters: a pod more, and these */
	const struct bt_amount *wanted;
	uint32_t wanted_n;
	bool scores;	   /* one of the others does, by these two resources */
	uint32_t slots[2]; /* in the order of the sums */
	bool fills;	   /* NodeResourcesFit scores, LeastAllocated or MostAllocated */
	int64_t fill_requests[2], fill_weights[2];
	bool balances; /* NodeResourcesBalancedAllocation scores */
	int64_t balance_requests[2];
	int32_t fill_weight, balance_weight; /* of the plugins */
	struct bt_sum_form form;
};

/* Scores are by these resources. Returns false when others are already scored by others, or they have no
 * columns. */
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
 * All of these answer for nodes from the front of the range and return for how many: they stop before four
 * of which one has a number that they do not handle (negative, BT_RANGE_EXACT_BELOW or more, nothing
 * allocatable), and before a rest of less than four. Without AVX2 that is 0.
 */
uint32_t bt_range_fits(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass);

/* NodeResourcesFit. Requires: weights from 1 to BT_RANGE_WEIGHT_MAX. */
uint32_t bt_range_fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw);

/* NodeResourcesBalancedAllocation; state: as of the form. */
uint32_t bt_range_balance(const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw);

/*
 * For nodes[0] to nodes[n - 1], or from first on if nodes is NULL: 0 where the node is refused, else one and
 * the weighted scores. Requires: weights as above; sums fit into 16 bits.
 */
uint32_t bt_range_sums(const struct bt_resource_sum *sum, const struct bt_view *view, const uint32_t *nodes,
	uint32_t first, uint32_t n, uint16_t *value);

/* The sums of so many pods, side by side; a lane of nobody is all zeroes. Private but for the size. */
struct bt_sum_lanes {
	double wanted[2][BT_RANGE_STEP], place[BT_RANGE_STEP];	  /* -HUGE_VAL: none */
	double fill[2][BT_RANGE_STEP], balance[2][BT_RANGE_STEP]; /* requests */
	double weight[2][BT_RANGE_STEP], inverse[BT_RANGE_STEP];  /* of their sum */
	int32_t fill_weight[BT_RANGE_STEP], balance_weight[BT_RANGE_STEP];
};

/*
 * Writes a sum into a lane (lane / BT_RANGE_STEP of lanes). What is wanted of other resources than cpu and
 * memory lanes leave out.
 * Returns: false when there are no vectors, or the sum's scores are not by cpu and memory, or a number is
 * not handled; lanes are as before.
 */
bool bt_range_lane_put(const struct bt_resource_sum *sum, struct bt_sum_lanes *lanes, uint32_t lane);

/* A lane takes over what is in another one. */
void bt_range_lane_copy(struct bt_sum_lanes *lanes, uint32_t from, uint32_t to);

/*
 * One node for the pods of n times BT_RANGE_STEP lanes, as bt_range_sums answers for several nodes and one
 * pod. form: as all of the sums. Returns false when a number of the node is not handled. Requires:
 * there are vectors: bt_range_lane_put was true.
 */
bool bt_range_lanes(const struct bt_sum_lanes *lanes, uint32_t n, struct bt_sum_form form,
	const struct bt_view *view, uint32_t node_ix, uint16_t *value);

/* Is anything wanted of resources that lanes leave out, and does a node have it? */
bool bt_resource_sum_wants_rest(const struct bt_resource_sum *sum);
bool bt_resource_sum_fits_rest(
	const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix);

/* Are there vectors? */
bool bt_range_vectors(void);

/* As bt_used_for_score, of one node, and of any resource. */
static inline int64_t bt_node_used_for_score(const struct bt_usage *usage, uint32_t slot, uint32_t node_ix)
{
	return slot < BT_FIRST_RARE ? bt_cell(bt_used_for_score(usage, slot), node_ix)
				    : bt_node_used(usage, slot, node_ix);
}

/* What is left of a resource on a node; less than 0 when more is used than there is. */
static inline int64_t bt_node_available(const struct bt_view *view, uint32_t slot, uint32_t node_ix)
{
	return bt_wrap_sub(
		bt_node_alloc(view->snapshot, slot, node_ix), bt_node_used(view->usage, slot, node_ix));
}

/* As those without _avx2, which ask bt_range_vectors before: the processor has AVX2. */
uint32_t bt_range_fits_avx2(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass);
uint32_t bt_range_fullness_avx2(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw);
uint32_t bt_range_balance_avx2(const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw);
uint32_t bt_range_sums_avx2(const struct bt_resource_sum *sum, const struct bt_view *view,
	const uint32_t *nodes, uint32_t first, uint32_t n, uint16_t *value);
bool bt_range_lanes_avx2(const struct bt_sum_lanes *lanes, uint32_t n, struct bt_sum_form form,
	const struct bt_view *view, uint32_t node_ix, uint16_t *value);
