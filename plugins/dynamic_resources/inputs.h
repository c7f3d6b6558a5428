/* SPDX-License-Identifier: Apache-2.0
 * What PreFilter has read of devices, kept as it was while objects change in mid-cycle: slices, taints of
 * rules, pools that nodes reach, and what is allocated. DeviceClasses are those of now. Source: PreFilter,
 * NewAllocator, v1.36.3.
 */
#pragma once

#include "cache/device_view.h"
#include "cache/view.h"

struct bt_device_inputs;

/* Copies what there is now. What devices are made of is not freed before the cycle ends
 * (bt_devices_release_names). Owns: it lives in the store's scratch. */
struct bt_device_inputs *bt_device_inputs_keep(const struct bt_view *view);

/* The present store as readers of these inputs see it: no claims of it are to be read. */
struct bt_device_store bt_device_inputs_store(struct bt_device_inputs *inputs);
