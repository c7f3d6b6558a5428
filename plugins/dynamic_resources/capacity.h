/* SPDX-License-Identifier: Apache-2.0
 * Consumable capacity: how much of a device's capacities a request consumes, and
 * whether the policy allows it.
 * Source: consumable_capacity.go of structured/internal/incubating, v1.36.3.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/model/device.h"

/* How amounts are rounded to steps. */
struct bt_capacity_rounding {
	bool as_step;	 /* the result takes the step's format */
	bool fractional; /* ranges that fit in thousandths count in these, others in whole numbers */
};

/* The amount that a request consumes of a capacity: its request, rounded up by the policy;
 * else the default; else all.
 */
struct bt_quantity bt_capacity_taken(const struct bt_device_subrequest *request,
	const struct bt_capacity *capacity, struct bt_capacity_rounding rounding);

/* Is the amount negative, or too large for the policy's range arithmetic? out_why:
 * the error, as in v1.37.2. */
bool bt_capacity_fails(const struct bt_device_subrequest *request, const struct bt_capacity *capacity,
	struct bt_capacity_rounding rounding, struct bt_buf *out_why);

/* Does the policy refuse the amount? taken: from bt_capacity_taken. */
bool bt_capacity_violated(const struct bt_device_subrequest *request, const struct bt_capacity *capacity,
	struct bt_quantity taken, struct bt_capacity_rounding rounding);

/* Does the request name a capacity that the device does not have? */
bool bt_capacity_unknown(const struct bt_device_subrequest *request, const struct bt_device *device);
