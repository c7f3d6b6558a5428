/* SPDX-License-Identifier: Apache-2.0
 * Extended resources that devices serve for: the claim that stands for what a pod asks of them. Source:
 * plugins/dynamicresources extendeddynamicresources.go, v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cache/view.h"
#include "engine/model/device.h"
#include "engine/model/signature.h"

/* Does the pod ask for a resource that devices may serve for? */
bool bt_extended_wanted(const struct bt_view *view, const struct bt_signature *signature);

/* How a node provides the extended resources that a pod requests. */
enum bt_extended_source {
	BT_EXTENDED_ELSEWHERE = 0, /* by device plugins alone */
	BT_EXTENDED_BY_DEVICES,	   /* some by devices */
	BT_EXTENDED_MISSING	   /* one not at all */
};

enum bt_extended_source bt_extended_source(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t node_ix);

/*
 * The requests for what devices serve on the node; out_n of them, by name.
 * Owns: they live in the store's scratch.
 */
const struct bt_device_request *bt_extended_requests(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t node_ix, uint32_t *out_n);
