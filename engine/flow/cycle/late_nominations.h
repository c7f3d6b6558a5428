/* SPDX-License-Identifier: Apache-2.0
 * Private. Nominations that enter a pod's status during its cycle or binding, and survive the refusal or
 * failure (BT_RULE_CYCLE_CLEARS_KNOWN_NOMINATION).
 */
#pragma once

#include "cache/ingest.h"
#include "engine/flow/config/gates.h"
#include "engine/flow/config/profile.h"

struct bt_late_nominations {
	bool stay;
	bool binding_writes; /* the binding cycle nominates its node if PreBind has work */
	uint32_t without_ix; /* the cycle's pod if it had no nomination at the start; or BT_NO_POD */
};

void bt_late_nominations_init(struct bt_late_nominations *late, const struct bt_gates *gates);

/* The pod's cycle begins. */
void bt_late_nominations_begin(struct bt_late_nominations *late, const struct bt_pod *pod, uint32_t pod_ix);

/* Does a nomination survive that the pod's status may have got since its cycle began? */
bool bt_late_nominations_stay(const struct bt_late_nominations *late, uint32_t pod_ix);

/* Returns the node that an assumed pod's binding cycle has nominated, if no later step clears that; otherwise
 * BT_NO_NODE. pre_bind: the plugins of its profile that write claims; failed: a PreBind plugin has failed, so
 * there was work. */
uint32_t bt_late_nominations_by_binding(const struct bt_late_nominations *late, const struct bt_cache *cache,
	const struct bt_hooks *pre_bind, bool failed, uint32_t pod_ix);
