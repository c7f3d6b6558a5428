/* SPDX-License-Identifier: Apache-2.0
 * Extended resources that devices provide, as the resource plugins see them. Source: plugins/noderesources
 * fit.go and resource_allocation.go, v1.36.3.
 */
#pragma once

#include "cache/device_view.h"
#include "cache/view.h"

/* Does a DeviceClass provide the resource? */
bool bt_devices_serve(const struct bt_view *view, uint32_t slot);

/* How many devices of that class a node can reach, and how many of them are allocated; both 0 without a
 * class, or when unknown. */
void bt_device_totals(const struct bt_view *view, uint32_t slot, uint32_t node_ix, int64_t *out_capacity,
	int64_t *out_allocated);
