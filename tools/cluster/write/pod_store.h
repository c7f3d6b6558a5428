/* SPDX-License-Identifier: Apache-2.0
 * The pods as the API has shown them: what events refer to, and the status that patches are made against. Of
 * a pod that waits for a node all of that is kept; of one that is on a node two numbers and which conditions
 * it has. Pods with the same texts share them: some fifty bytes a pod.
 * Context: any thread, by a lock that is held for no longer than a copy takes.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/flow/cycle/cycle_api_calls.h"
#include "engine/flow/pipeline/pipeline.h"

struct bt_pod_store;

/* Owns: bt_pod_store_destroy. */
struct bt_pod_store *bt_pod_store_create(void);
void bt_pod_store_destroy(struct bt_pod_store *known);

/* The API has shown a pod, or its end. Returns: whether it waited before, and does not now. */
bool bt_pod_store_show(
	struct bt_pod_store *known, enum bt_watch_event_kind what, const struct bt_object *object);

/* What is known of a pod. */
struct bt_stored_pod {
	struct bt_api_pod pod;
	bool waits;    /* it has no node */
	bool deleting; /* it has a deletionTimestamp */
};

/* Copies what is known of a pod, also when it is nothing; names are the reference's. Texts live in the arena.
 * Returns: whether it is known by that UID. */
bool bt_pod_store_get(struct bt_pod_store *known, const struct bt_pod_ref *ref, struct bt_arena *arena,
	struct bt_stored_pod *out_pod);

/* The API has taken a patch of a pod's status; what it shows later counts more. */
void bt_pod_store_patched(
	struct bt_pod_store *known, const struct bt_pod_ref *ref, const struct bt_api_status *patch);

/* A resource version as a number, 0 when it is none; and the text of it. */
uint64_t bt_version_number(struct bt_str text);
struct bt_str bt_version_text(uint64_t version, struct bt_arena *arena);

/* By what a pod is found: a hash of its namespace and name. */
uint64_t bt_pod_store_key(struct bt_str namespace_, struct bt_str name);

/* How many pods there are. */
size_t bt_pod_store_n(struct bt_pod_store *known);
