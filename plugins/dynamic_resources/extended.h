/* SPDX-License-Identifier: Apache-2.0
 * Extended resources backed by devices: the claim that stands for a pod's requests. Source:
 * plugins/dynamicresources extendeddynamicresources.go, v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cache/view.h"
#include "engine/model/device.h"
#include "engine/model/signature.h"

/* Does the pod request a resource that a DeviceClass may name? */
bool bt_extended_wanted(const struct bt_view *view, const struct bt_signature *signature);

/* What provides the extended resources of a pod on a node. */
enum bt_extended_source {
	BT_EXTENDED_ELSEWHERE = 0, /* device plugins only */
	BT_EXTENDED_BY_DEVICES,	   /* devices, some at least */
	BT_EXTENDED_MISSING	   /* one has no provider */
};

enum bt_extended_source bt_extended_source(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t node_ix);

/*
 * The requests for extended resources that devices provide on the node; out_n of them, by name.
 * Owns: they live in the store's scratch.
 */
const struct bt_device_request *bt_extended_requests(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t node_ix, uint32_t *out_n);
