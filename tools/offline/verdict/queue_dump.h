/* SPDX-License-Identifier: Apache-2.0
 * The scheduling queue as JSON members.
 */
#pragma once

#include "tools/cli/json_write.h"
#include "tools/offline/verdict/api.h"

/* Writes active, backoff, unschedulable, gated, inFlight and nominations into the open object. */
void bt_queue_dump(struct bt_api *api, struct bt_json_writer *json);

/* A pod's namespace/name. Owns: the API's cluster. */
struct bt_str bt_queue_dump_key(struct bt_api *api, uint32_t pod_ix);

/* The same for its PodGroup. */
struct bt_str bt_queue_dump_group_key(struct bt_api *api, uint32_t pod_ix);
