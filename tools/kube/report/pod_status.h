/* SPDX-License-Identifier: Apache-2.0
 * What the API server has in a pod's status, as far as a scheduler changes it: conditions and the
 * nominated node, with texts of its own. Context: one thread at a time; allocates.
 */
#pragma once

#include "engine/flow/cycle/cycle_api_calls.h"
#include "engine/model/object.h"

/* All zeroes is an empty one. Owns: bt_pod_status_fini. */
struct bt_pod_status {
	struct bt_pod_condition *conditions; /* they stay where they are while they are kept anew */
	size_t n;
	struct bt_str nominated_node_name;
	/* private: */
	char **texts; /* of each condition, one behind the other */
	char *nominated;
	size_t cap, text_cap;
};

void bt_pod_status_fini(struct bt_pod_status *status);

/* Becomes what an object's status says. */
void bt_pod_status_take(struct bt_pod_status *status, const struct bt_pod_object *pod);

/* Becomes a copy of a pod's. */
void bt_pod_status_copy(struct bt_pod_status *status, const struct bt_api_pod *pod);

/* Changes as a patch changes the API server's. */
void bt_pod_status_patch(struct bt_pod_status *status, const struct bt_api_status *patch);
