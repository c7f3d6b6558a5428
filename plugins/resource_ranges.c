/* SPDX-License-Identifier: Apache-2.0
 * Dispatch: vectors where the processor has AVX2, else none.
 */
#include "plugins/resource_ranges.h"

#include <math.h>

#include "engine/base/check.h"

#ifdef BT_HAVE_AVX2

bool bt_range_vectors(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool vectors(uint32_t n)
{
	return n >= BT_RANGE_STEP && bt_range_vectors();
}

uint32_t bt_range_fits(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass)
{
	return vectors(n) ? bt_range_fits_avx2(wanted, wanted_n, view, first, n, pass) : 0;
}

static bool is_weight(int64_t weight)
{
	return weight >= 1 && weight <= BT_RANGE_WEIGHT_MAX;
}

uint32_t bt_range_fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	BT_REQUIRE_HOT(is_weight(weight[0]) && is_weight(weight[1]));
	return vectors(n) ? bt_range_fullness_avx2(pair, weight, most, n, raw) : 0;
}

uint32_t bt_range_balance(const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw)
{
	return vectors(n) ? bt_range_balance_avx2(pair, state, n, raw) : 0;
}

uint32_t bt_range_sums(const struct bt_resource_sum *sum, const struct bt_view *view, const uint32_t *nodes,
	uint32_t first, uint32_t n, uint16_t *value)
{
	BT_REQUIRE_HOT(!sum->fills || (is_weight(sum->fill_weights[0]) && is_weight(sum->fill_weights[1])));
	return vectors(n) ? bt_range_sums_avx2(sum, view, nodes, first, n, value) : 0;
}

bool bt_range_lanes(const struct bt_sum_lanes *lanes, uint32_t n, struct bt_sum_form form,
	const struct bt_view *view, uint32_t node_ix, uint16_t *value)
{
	BT_REQUIRE_HOT(bt_range_vectors());
	return bt_range_lanes_avx2(lanes, n, form, view, node_ix, value);
}

#else

bool bt_range_vectors(void)
{
	return false;
}

uint32_t bt_range_fits(const struct bt_amount *wanted, uint32_t wanted_n, const struct bt_view *view,
	uint32_t first, uint32_t n, uint8_t *pass)
{
	(void)wanted, (void)wanted_n, (void)view, (void)first, (void)n, (void)pass;
	return 0;
}

uint32_t bt_range_fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	(void)pair, (void)weight, (void)most, (void)n, (void)raw;
	return 0;
}

uint32_t bt_range_balance(const struct bt_resource_pair *pair, bool state, uint32_t n, int64_t *raw)
{
	(void)pair, (void)state, (void)n, (void)raw;
	return 0;
}

uint32_t bt_range_sums(const struct bt_resource_sum *sum, const struct bt_view *view, const uint32_t *nodes,
	uint32_t first, uint32_t n, uint16_t *value)
{
	(void)sum, (void)view, (void)nodes, (void)first, (void)n, (void)value;
	return 0;
}

bool bt_range_lanes(const struct bt_sum_lanes *lanes, uint32_t n, struct bt_sum_form form,
	const struct bt_view *view, uint32_t node_ix, uint16_t *value)
{
	(void)lanes, (void)n, (void)form, (void)view, (void)node_ix, (void)value;
	return false;
}

#endif

/* ---- lanes ---- */

static bool in_range(int64_t amount)
{
	return (uint64_t)amount < (uint64_t)BT_RANGE_EXACT_BELOW;
}

static bool is_handled(const struct bt_resource_sum *sum)
{
	return sum->scores && sum->fills && sum->slots[0] == BT_CPU && sum->slots[1] == BT_MEMORY &&
	       in_range(sum->fill_requests[0] | sum->fill_requests[1]) &&
	       in_range(sum->balance_requests[0] | sum->balance_requests[1]);
}

static bool is_rest(const struct bt_amount *wanted)
{
	return wanted->slot != BT_CPU && wanted->slot != BT_MEMORY;
}

bool bt_range_lane_put(const struct bt_resource_sum *sum, struct bt_sum_lanes *lanes, uint32_t lane)
{
	double nothing = -HUGE_VAL, wanted[2] = {nothing, nothing};
	uint32_t at = lane % BT_RANGE_STEP;

	if (!bt_range_vectors() || !is_handled(sum)) {
		return false;
	}
	for (uint32_t i = 0; i < sum->wanted_n; i++) {
		if (!in_range(sum->wanted[i].amount)) {
			return false;
		}
		if (!is_rest(&sum->wanted[i])) {
			wanted[sum->wanted[i].slot == BT_MEMORY] = (double)sum->wanted[i].amount;
		}
	}
	lanes += lane / BT_RANGE_STEP;
	for (int k = 0; k < 2; k++) {
		lanes->wanted[k][at] = wanted[k];
		lanes->fill[k][at] = (double)sum->fill_requests[k];
		lanes->balance[k][at] = sum->balances ? (double)sum->balance_requests[k] : 0;
		lanes->weight[k][at] = (double)sum->fill_weights[k];
	}
	lanes->place[at] = sum->fits ? 1 : nothing;
	lanes->inverse[at] = 1 / (lanes->weight[0][at] + lanes->weight[1][at]);
	lanes->fill_weight[at] = sum->fill_weight;
	lanes->balance_weight[at] = sum->balances ? sum->balance_weight : 0;
	BT_INVARIANT(lanes->weight[0][at] + lanes->weight[1][at] > 0);
	return true;
}

void bt_range_lane_copy(struct bt_sum_lanes *lanes, uint32_t from, uint32_t to)
{
	const struct bt_sum_lanes *source = &lanes[from / BT_RANGE_STEP];
	struct bt_sum_lanes *target = &lanes[to / BT_RANGE_STEP];
	uint32_t f = from % BT_RANGE_STEP, t = to % BT_RANGE_STEP;

	for (int k = 0; k < 2; k++) {
		target->wanted[k][t] = source->wanted[k][f];
		target->fill[k][t] = source->fill[k][f];
		target->balance[k][t] = source->balance[k][f];
		target->weight[k][t] = source->weight[k][f];
	}
	target->place[t] = source->place[f];
	target->inverse[t] = source->inverse[f];
	target->fill_weight[t] = source->fill_weight[f];
	target->balance_weight[t] = source->balance_weight[f];
}

bool bt_resource_sum_wants_rest(const struct bt_resource_sum *sum)
{
	bool any = false;

	for (uint32_t i = 0; i < sum->wanted_n; i++) {
		any |= is_rest(&sum->wanted[i]);
	}
	return any;
}

bool bt_resource_sum_fits_rest(
	const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix)
{
	bool fit = true;

	for (uint32_t i = 0; i < sum->wanted_n; i++) {
		uint32_t slot = sum->wanted[i].slot;

		fit &= !is_rest(&sum->wanted[i]) ||
		       sum->wanted[i].amount <= bt_node_available(view, slot, node_ix);
	}
	return fit;
}
