/* SPDX-License-Identifier: Apache-2.0
 * Pods as last shown by the API: for references in events, and the status that patches are computed against.
 * For an unbound pod all of that is stored; for a bound pod only two numbers and the types of its conditions.
 * Pods with equal texts share them: some fifty bytes per pod.
 * Context: any thread; a lock is held only for a copy.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/flow/cycle/cycle_api_calls.h"
#include "engine/flow/pipeline/pipeline.h"

struct bt_pod_store;

/* Owns: bt_pod_store_destroy. */
struct bt_pod_store *bt_pod_store_create(void);
void bt_pod_store_destroy(struct bt_pod_store *known);

/* The watch has shown a pod, or its deletion. Returns: whether it was waiting before, and is not now. */
bool bt_pod_store_show(
	struct bt_pod_store *known, enum bt_watch_event_kind what, const struct bt_object *object);

/* A copy of a stored pod. */
struct bt_stored_pod {
	struct bt_api_pod pod;
	bool waits;    /* it has no node */
	bool deleting; /* it has a deletionTimestamp */
};

/* Copies a stored pod, also when there is none; namespace and name come from ref. Texts live in the arena.
 * Returns: whether a pod with that UID is stored. */
bool bt_pod_store_get(struct bt_pod_store *known, const struct bt_pod_ref *ref, struct bt_arena *arena,
	struct bt_stored_pod *out_pod);

/* Applies a patch of a pod's status that the API has accepted; a later version from the watch replaces it. */
void bt_pod_store_patched(
	struct bt_pod_store *known, const struct bt_pod_ref *ref, const struct bt_api_status *patch);

/* A resource version as a number, 0 when it is not one; and its text. */
uint64_t bt_version_number(struct bt_str text);
struct bt_str bt_version_text(uint64_t version, struct bt_arena *arena);

/* The key of a pod: a hash of its namespace and name. */
uint64_t bt_pod_store_key(struct bt_str namespace_, struct bt_str name);

/* Number of stored pods. */
size_t bt_pod_store_n(struct bt_pod_store *known);
