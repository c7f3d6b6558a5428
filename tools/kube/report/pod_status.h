/* SPDX-License-Identifier: Apache-2.0
 * The part of a pod's status that a scheduler changes: conditions and the nominated node, with owned texts.
 * Context: one thread at a time; allocates.
 */
#pragma once

#include "engine/flow/cycle/cycle_api_calls.h"
#include "engine/model/object.h"

/* A zero-initialized one is empty. Owns: bt_pod_status_fini. */
struct bt_pod_status {
	struct bt_pod_condition *conditions; /* the array is not moved by updates */
	size_t n;
	struct bt_str nominated_node_name;
	/* private: */
	char **texts; /* of each condition, concatenated */
	char *nominated;
	size_t cap, text_cap;
};

void bt_pod_status_fini(struct bt_pod_status *status);

/* Copies an object's status. */
void bt_pod_status_take(struct bt_pod_status *status, const struct bt_pod_object *pod);

/* Copies a pod's status. */
void bt_pod_status_copy(struct bt_pod_status *status, const struct bt_api_pod *pod);

/* Applies a patch as the API server does. */
void bt_pod_status_patch(struct bt_pod_status *status, const struct bt_api_status *patch);
