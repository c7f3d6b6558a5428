/* SPDX-License-Identifier: Apache-2.0
 * The claims that a controller creates for generic ephemeral volumes.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/object.h"

/*
 * The claim for a pod's ephemeral volume, without uid and defaults.
 * Context : any thread; allocates.
 * Requires: the volume is one of the pod's of type BT_VOLUME_EPHEMERAL.
 * Returns : false with a reason in out_reason when the volume has no valid template.
 * Owns    : what it adds belongs to the arena, or to the pod.
 */
bool bt_ephemeral_claim(const struct bt_pod_object *pod, const struct bt_volume_object *volume,
	struct bt_arena *arena, struct bt_claim_object *out, struct bt_buf *out_reason);
