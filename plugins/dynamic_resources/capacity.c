/* SPDX-License-Identifier: Apache-2.0
 * Rounding of requests for capacity, and the checks of its policy.
 */
#include "plugins/dynamic_resources/capacity.h"

#include "engine/base/check.h"
#include "engine/base/wrap.h"

#define NANO 1000000000

static struct bt_quantity whole(int64_t value)
{
	return (struct bt_quantity){
		.nano = (bt_nano)value * NANO, .mantissa = value, .nano_exp = 9, .format = BT_BINARY_SI};
}

/* Up to the smallest amount, and from there by whole steps. A step of nothing, which the API refuses, is
 * none. */
static struct bt_quantity round_range(const struct bt_request_policy *policy, struct bt_quantity asked)
{
	if (bt_quantity_cmp(asked, policy->min) < 0) {
		return policy->min;
	}
	int64_t step = policy->has_step ? bt_quantity_value(policy->step) : 0;
	if (step == 0) {
		return asked;
	}
	BT_INVARIANT(bt_quantity_cmp(asked, policy->min) >= 0);
	int64_t min = bt_quantity_value(policy->min);
	int64_t added = bt_wrap_sub(bt_quantity_value(asked), min);
	int64_t n = bt_wrap_div(added, step);
	if (bt_wrap_mul(n, step) != added) {
		n = bt_wrap_add(n, 1);
	}
	return whole(bt_wrap_add(min, bt_wrap_mul(step, n)));
}

static struct bt_quantity round_values(const struct bt_request_policy *policy, struct bt_quantity asked)
{
	for (uint32_t i = 0; i < policy->value_n; i++) {
		if (bt_quantity_cmp(asked, policy->values[i]) <= 0) {
			return policy->values[i];
		}
	}
	return asked;
}

static const struct bt_quantity *asked_of(const struct bt_device_ask *ask, uint32_t name)
{
	for (uint32_t i = 0; i < ask->capacity_n; i++) {
		if (ask->capacities[i].name == name) {
			return &ask->capacities[i].quantity;
		}
	}
	return NULL;
}

struct bt_quantity bt_capacity_taken(const struct bt_device_ask *ask, const struct bt_capacity *capacity)
{
	const struct bt_request_policy *policy = &capacity->policy;
	const struct bt_quantity *asked = asked_of(ask, capacity->name);

	if (!asked) {
		return policy->there && policy->has_default ? policy->default_ : capacity->value;
	}
	if (!policy->there) {
		return *asked;
	}
	if (policy->has_range && policy->has_min) {
		return round_range(policy, *asked);
	}
	return policy->has_values ? round_values(policy, *asked) : *asked;
}

/* Go compares the default with == there: as it is held, not only as much. */
static bool held_alike(struct bt_quantity a, struct bt_quantity b)
{
	return a.nano == b.nano && a.mantissa == b.mantissa && a.nano_exp == b.nano_exp &&
	       a.format == b.format && (a.mantissa || a.nano == 0);
}

static bool outside_range(const struct bt_request_policy *policy, struct bt_quantity taken)
{
	if (policy->has_max && bt_quantity_cmp(taken, policy->max) > 0) {
		return true;
	}
	int64_t step = policy->has_step ? bt_quantity_value(policy->step) : 0;
	if (step == 0) {
		return false;
	}
	int64_t added = bt_wrap_sub(bt_quantity_value(taken), bt_quantity_value(policy->min));
	return bt_wrap_mul(bt_wrap_div(added, step), step) != added;
}

bool bt_capacity_violated(const struct bt_request_policy *policy, struct bt_quantity taken)
{
	if (!policy->there || (policy->has_default && held_alike(taken, policy->default_))) {
		return false;
	}
	if (policy->has_range) {
		return outside_range(policy, taken);
	}
	for (uint32_t i = 0; i < policy->value_n; i++) {
		if (bt_quantity_cmp(taken, policy->values[i]) == 0) {
			return false;
		}
	}
	return policy->value_n > 0;
}

bool bt_capacity_unknown(const struct bt_device_ask *ask, const struct bt_device *device)
{
	for (uint32_t i = 0; i < ask->capacity_n; i++) {
		bool known = false;

		for (uint32_t j = 0; j < device->capacity_n; j++) {
			known |= device->capacities[j].name == ask->capacities[i].name;
		}
		if (!known) {
			return true;
		}
	}
	return false;
}
