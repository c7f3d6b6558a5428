/* SPDX-License-Identifier: Apache-2.0
 * Rounds requests for capacity and checks the capacity's policy.
 */
#include "plugins/dynamic_resources/capacity.h"

#include "engine/base/check.h"
#include "engine/base/wrap.h"

#define NANO 1000000000

#define MILLI 1000000 /* in nano units */

static struct bt_quantity whole(int64_t value, enum bt_quantity_format format)
{
	return (struct bt_quantity){
		.nano = (bt_nano)value * NANO, .mantissa = value, .nano_exp = 9, .format = format};
}

static struct bt_quantity thousandths(int64_t value, enum bt_quantity_format format)
{
	return value % 1000 == 0 ? whole(value / 1000, format)
				 : (struct bt_quantity){.nano = (bt_nano)value * MILLI,
					   .mantissa = value,
					   .nano_exp = 6,
					   .format = format};
}

/* Is the amount a whole number of thousandths that fits in 64 bits? */
static bool milli_holds(struct bt_quantity quantity)
{
	bt_nano milli = quantity.nano / MILLI;

	return quantity.nano % MILLI == 0 && milli >= INT64_MIN && milli <= INT64_MAX;
}

static bool counts_milli(const struct bt_request_policy *policy, struct bt_capacity_rounding rounding)
{
	return rounding.fractional && (!policy->has_min || milli_holds(policy->min)) &&
	       (!policy->has_max || milli_holds(policy->max)) &&
	       (!policy->has_step || (milli_holds(policy->step) && policy->step.nano >= MILLI));
}

/* The amount in whole numbers or thousandths, as the range counts. */
static int64_t count_of(struct bt_quantity quantity, bool milli)
{
	return milli ? (int64_t)(quantity.nano / MILLI) : bt_quantity_value(quantity);
}

/* Rounds up to min, and above it to whole steps. A step of 0, which the API rejects, means no step. */
static struct bt_quantity round_range(const struct bt_request_policy *policy, struct bt_quantity requested,
	struct bt_capacity_rounding rounding)
{
	bool milli = counts_milli(policy, rounding);

	if (bt_quantity_cmp(requested, policy->min) < 0) {
		return policy->min;
	}
	int64_t step = policy->has_step ? count_of(policy->step, milli) : 0;
	if (step == 0) {
		return requested;
	}
	BT_INVARIANT(bt_quantity_cmp(requested, policy->min) >= 0);
	int64_t min = count_of(policy->min, milli);
	int64_t added = bt_wrap_sub(count_of(requested, milli), min);
	int64_t n = bt_wrap_div(added, step);
	if (bt_wrap_mul(n, step) != added) {
		n = bt_wrap_add(n, 1);
	}
	int64_t sum = bt_wrap_add(min, bt_wrap_mul(step, n));
	enum bt_quantity_format format = rounding.as_step ? policy->step.format : BT_BINARY_SI;
	return milli ? thousandths(sum, format) : whole(sum, format);
}

static struct bt_quantity round_values(const struct bt_request_policy *policy, struct bt_quantity requested)
{
	for (uint32_t i = 0; i < policy->value_n; i++) {
		if (bt_quantity_cmp(requested, policy->values[i]) <= 0) {
			return policy->values[i];
		}
	}
	return requested;
}

static const struct bt_quantity *requested_of(const struct bt_device_subrequest *request, uint32_t name)
{
	for (uint32_t i = 0; i < request->capacity_n; i++) {
		if (request->capacities[i].name == name) {
			return &request->capacities[i].quantity;
		}
	}
	return NULL;
}

struct bt_quantity bt_capacity_taken(const struct bt_device_subrequest *request,
	const struct bt_capacity *capacity, struct bt_capacity_rounding rounding)
{
	const struct bt_request_policy *policy = &capacity->policy;
	const struct bt_quantity *requested = requested_of(request, capacity->name);

	if (!requested) {
		return policy->there && policy->has_default ? policy->default_ : capacity->value;
	}
	if (!policy->there) {
		return *requested;
	}
	if (policy->has_range && policy->has_min) {
		return round_range(policy, *requested, rounding);
	}
	return policy->has_values ? round_values(policy, *requested) : *requested;
}

/* Does rounding overflow 64 bits? */
static bool range_fails(const struct bt_request_policy *policy, struct bt_quantity requested,
	struct bt_capacity_rounding rounding, struct bt_buf *out_why)
{
	bool milli = counts_milli(policy, rounding);
	int64_t step = policy->has_step ? count_of(policy->step, milli) : 0;
	int64_t min = count_of(policy->min, milli);
	const char *before = NULL, *after = "";

	if (bt_quantity_cmp(requested, policy->min) < 0 || step == 0) {
		return false;
	}
	if (milli && !milli_holds(requested)) {
		before = "request ";
		after = " is not a representable milli value";
	} else if (!milli && requested.nano > (bt_nano)INT64_MAX * NANO) {
		before = "request ";
		after = " exceeds MaxInt64";
	} else if (min >= 0 && step > 0) {
		int64_t added = bt_wrap_sub(count_of(requested, milli), min),
			n = added / step + (added % step != 0);

		before = n > (INT64_MAX - min) / step ? "rounding request " : NULL;
		after = milli ? " up to the next step passes the milli-value range"
			      : " up to the next step passes MaxInt64";
	}
	if (before) {
		char text[BT_QUANTITY_TEXT_MAX];

		bt_quantity_text(requested, text);
		bt_buf_printf(out_why,
			"capacity request cannot be represented in the device's range arithmetic: %s%s%s",
			before, text, after);
	}
	return before != NULL;
}

bool bt_capacity_fails(const struct bt_device_subrequest *request, const struct bt_capacity *capacity,
	struct bt_capacity_rounding rounding, struct bt_buf *out_why)
{
	const struct bt_request_policy *policy = &capacity->policy;
	const struct bt_quantity *requested = requested_of(request, capacity->name);

	if (requested && policy->there && policy->has_range && policy->has_min &&
		range_fails(policy, *requested, rounding, out_why)) {
		return true;
	}
	if (bt_capacity_taken(request, capacity, rounding).nano < 0) {
		bt_buf_text(out_why, "capacity value is negative");
		return true;
	}
	return false;
}

/* Did rounding compute the amount? Then it has no text of its own, as a parsed one has. */
static bool is_computed(const struct bt_device_subrequest *request, const struct bt_capacity *capacity,
	struct bt_capacity_rounding rounding)
{
	const struct bt_request_policy *policy = &capacity->policy;
	const struct bt_quantity *requested = requested_of(request, capacity->name);

	return requested && policy->has_range && policy->has_min && policy->has_step &&
	       count_of(policy->step, counts_milli(policy, rounding)) != 0 &&
	       bt_quantity_cmp(*requested, policy->min) >= 0;
}

/* Go compares the default with == here: by representation, not by value. */
static bool held_alike(struct bt_quantity a, struct bt_quantity b)
{
	return a.nano == b.nano && a.mantissa == b.mantissa && a.nano_exp == b.nano_exp &&
	       a.format == b.format && (a.mantissa || a.nano == 0);
}

static bool outside_range(const struct bt_request_policy *policy, struct bt_quantity taken,
	struct bt_capacity_rounding rounding)
{
	bool milli = counts_milli(policy, rounding);

	if (policy->has_max && bt_quantity_cmp(taken, policy->max) > 0) {
		return true;
	}
	int64_t step = policy->has_step ? count_of(policy->step, milli) : 0;
	if (step == 0) {
		return false;
	}
	if (milli && !milli_holds(taken)) {
		return true;
	}
	int64_t added = bt_wrap_sub(count_of(taken, milli), count_of(policy->min, milli));
	return bt_wrap_mul(bt_wrap_div(added, step), step) != added;
}

bool bt_capacity_violated(const struct bt_device_subrequest *request, const struct bt_capacity *capacity,
	struct bt_quantity taken, struct bt_capacity_rounding rounding)
{
	const struct bt_request_policy *policy = &capacity->policy;

	if (!policy->there || (policy->has_default && held_alike(taken, policy->default_) &&
				      !is_computed(request, capacity, rounding))) {
		return false;
	}
	if (policy->has_range) {
		return outside_range(policy, taken, rounding);
	}
	for (uint32_t i = 0; i < policy->value_n; i++) {
		if (bt_quantity_cmp(taken, policy->values[i]) == 0) {
			return false;
		}
	}
	return policy->value_n > 0;
}

bool bt_capacity_unknown(const struct bt_device_subrequest *request, const struct bt_device *device)
{
	for (uint32_t i = 0; i < request->capacity_n; i++) {
		bool known = false;

		for (uint32_t j = 0; j < device->capacity_n; j++) {
			known |= device->capacities[j].name == request->capacities[i].name;
		}
		if (!known) {
			return true;
		}
	}
	return false;
}
