/* SPDX-License-Identifier: Apache-2.0
 * The device state as PreFilter read it, kept while objects change during the cycle: slices, taints of rules,
 * the nodes' pools, and allocations. DeviceClasses are always the current ones. Source: PreFilter,
 * NewAllocator, v1.36.3.
 */
#pragma once

#include "cache/device_view.h"
#include "cache/view.h"

struct bt_device_inputs;

/*
 * Copies the current state. Objects that it points to live until the cycle ends (bt_devices_release_names).
 * Owns: it lives in the store's scratch.
 */
struct bt_device_inputs *bt_device_inputs_keep(const struct bt_view *view);

/* The current store with these inputs. Requires: its claims are not read. */
struct bt_device_store bt_device_inputs_store(struct bt_device_inputs *inputs);
