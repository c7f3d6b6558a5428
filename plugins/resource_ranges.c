/* SPDX-License-Identifier: Apache-2.0
 * The choice: vectors where the processor has them, else none.
 */
#include "plugins/resource_ranges.h"

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

uint32_t bt_range_fullness(
	const struct bt_resource_pair *pair, const int64_t *weight, bool most, uint32_t n, int64_t *raw)
{
	return vectors(n) ? bt_range_fullness_avx2(pair, weight, most, n, raw) : 0;
}

uint32_t bt_range_balance(const struct bt_resource_pair *pair, uint32_t n, int64_t *raw)
{
	return vectors(n) ? bt_range_balance_avx2(pair, n, raw) : 0;
}

uint32_t bt_range_sums(const struct bt_resource_sum *sum, const struct bt_view *view, const uint32_t *nodes,
	uint32_t first, uint32_t n, uint16_t *value)
{
	return vectors(n) ? bt_range_sums_avx2(sum, view, nodes, first, n, value) : 0;
}

bool bt_range_sum(
	const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix, uint16_t *out_value)
{
	return bt_range_vectors() && bt_range_sum_avx2(sum, view, node_ix, out_value);
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

uint32_t bt_range_balance(const struct bt_resource_pair *pair, uint32_t n, int64_t *raw)
{
	(void)pair, (void)n, (void)raw;
	return 0;
}

uint32_t bt_range_sums(const struct bt_resource_sum *sum, const struct bt_view *view, const uint32_t *nodes,
	uint32_t first, uint32_t n, uint16_t *value)
{
	(void)sum, (void)view, (void)nodes, (void)first, (void)n, (void)value;
	return 0;
}

bool bt_range_sum(
	const struct bt_resource_sum *sum, const struct bt_view *view, uint32_t node_ix, uint16_t *out_value)
{
	(void)sum, (void)view, (void)node_ix, (void)out_value;
	return false;
}

#endif
