/* SPDX-License-Identifier: Apache-2.0
 * Consumable capacity: how much of a device's capacities a request takes, and whether that is allowed.
 * Source: consumable_capacity.go of structured/internal/incubating, v1.36.3.
 */
#pragma once

#include "engine/model/device.h"

/* What a request takes of a capacity: what it asks for, rounded up by the policy, else the default, else all.
 */
struct bt_quantity bt_capacity_taken(const struct bt_device_ask *ask, const struct bt_capacity *capacity);

/* Does the policy refuse the amount? */
bool bt_capacity_violated(const struct bt_request_policy *policy, struct bt_quantity taken);

/* Does the request ask for a capacity that the device does not have? */
bool bt_capacity_unknown(const struct bt_device_ask *ask, const struct bt_device *device);
