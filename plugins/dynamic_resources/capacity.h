/* SPDX-License-Identifier: Apache-2.0
 * Consumable capacity: how much of a device's capacities a request takes, and whether that is allowed.
 * Source: consumable_capacity.go of structured/internal/incubating, v1.36.3.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/model/device.h"

/* How amounts are rounded by steps. */
struct bt_capacity_rounding {
	bool as_step;	 /* they are written as the step is */
	bool fractional; /* ranges that thousandths hold count in these, others in whole numbers */
};

/* What a request takes of a capacity: what it asks for, rounded up by the policy, else the default, else all.
 */
struct bt_quantity bt_capacity_taken(const struct bt_device_subrequest *ask,
	const struct bt_capacity *capacity, struct bt_capacity_rounding rounding);

/* Is what the request takes less than nothing, or too large for the policy's range? Says so in out_why, as
 * v1.37.2 does. */
bool bt_capacity_fails(const struct bt_device_subrequest *ask, const struct bt_capacity *capacity,
	struct bt_capacity_rounding rounding, struct bt_buf *out_why);

/* Does the policy refuse what the request takes? taken: as bt_capacity_taken has it. */
bool bt_capacity_violated(const struct bt_device_subrequest *ask, const struct bt_capacity *capacity,
	struct bt_quantity taken, struct bt_capacity_rounding rounding);

/* Does the request ask for a capacity that the device does not have? */
bool bt_capacity_unknown(const struct bt_device_subrequest *ask, const struct bt_device *device);
