/* SPDX-License-Identifier: Apache-2.0
 * PersistentVolumes, claims, storage classes and CSI objects, their use by pods on nodes, and the volumes
 * assumed for pods.
 * Context: the scheduling thread is the only writer; readers see cache/storage_view.h between writes.
 *
 * A claim that must be bound for a pod, and its future volume, are assumed with the pod:
 *
 *   free --bt_volumes_assume--> assumed --bt_volumes_keep--> assumed until the object is applied again
 *                                  +------bt_volumes_revert--> free
 */
#pragma once

#include "cache/node_view.h"
#include "cache/storage_view.h"
#include "engine/base/status.h"
#include "engine/model/cluster_event.h"

struct bt_volumes;

/* Owns: the caller; bt_volumes_destroy, before the dictionary and the snapshot. */
struct bt_volumes *bt_volumes_create(struct bt_dictionary *dictionary, const struct bt_snapshot *snapshot);
void bt_volumes_destroy(struct bt_volumes *volumes);

/* Sets the release for counting volumes. Requires: no volumes yet. */
void bt_volumes_configure(struct bt_volumes *volumes, const struct bt_release *release);

const struct bt_storage *bt_volumes_view(const struct bt_volumes *volumes);

/* Adds or replaces an object of a kind stored here, and ends its assumed state. Other kinds are ignored. */
void bt_volumes_apply(struct bt_volumes *volumes, const struct bt_object *object);

/*
 * Describes the event of an object that will be applied, compared with the stored one. Returns: whether the
 * object is known, so that it is an update; false for kinds not stored here. Owns: held, the names.
 */
bool bt_volumes_describe(const struct bt_volumes *volumes, const struct bt_object *object,
	struct bt_name_refs *held, struct bt_cluster_event_object *out);

/*
 * The same for an object that will be removed, which holds the names until then. Returns: whether it exists.
 */
bool bt_volumes_describe_removal(const struct bt_volumes *volumes, enum bt_kind kind, uint32_t namespace_,
	uint32_t name, struct bt_cluster_event_object *out);

/* Removes an object. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_volumes_remove(
	struct bt_volumes *volumes, enum bt_kind kind, uint32_t namespace_, uint32_t name);

/* Data and names that copies of objects point to stay valid although the objects change or are deleted, until
 * bt_volumes_end_retaining, which may be called at any time. */
void bt_volumes_retain(struct bt_volumes *volumes);
bool bt_volumes_is_retaining(const struct bt_volumes *volumes);
void bt_volumes_end_retaining(struct bt_volumes *volumes);

/* Adds a pod with volumes to a node, or removes it. */
void bt_volumes_enter(struct bt_volumes *volumes, const struct bt_signature *signature, uint32_t node_ix);
void bt_volumes_leave(struct bt_volumes *volumes, const struct bt_signature *signature, uint32_t node_ix);

/* Visits the pods of a node in the order of upstream's NodeInfo, trials included, until a visit returns
 * false; then returns false, too. */
typedef bool bt_visit_signature(void *visitor, const struct bt_signature *signature);
typedef bool bt_visit_in_order(void *context, uint32_t node_ix, bt_visit_signature *visit, void *visitor);

/* Sets the callback for that order. Without it the order is unspecified. */
void bt_volumes_order_by(struct bt_volumes *volumes, bt_visit_in_order *visit, void *context);

/* Vacates a slot for another node. Requires: no pod is on it. */
void bt_volumes_vacate(struct bt_volumes *volumes, uint32_t node_ix);

/* Moves a node, with its pods, to another slot. Requires: to is vacated; the snapshot has the node there. */
void bt_volumes_move_node(struct bt_volumes *volumes, uint32_t from, uint32_t to);

/* Frees capacity for nodes from slot_n on. Requires: they are vacated. */
void bt_volumes_trim_nodes(struct bt_volumes *volumes, uint32_t slot_n);

/* A trial: adds a pod to a node, or removes it, until the opposite call. */
void bt_volumes_try(
	struct bt_volumes *volumes, const struct bt_signature *signature, uint32_t node_ix, bool add);

/* Assumes these bindings for a pod on a node. Requires: none are assumed for it. */
void bt_volumes_assume(struct bt_volumes *volumes, uint32_t pod_ix, uint32_t node_name,
	const struct bt_volume_binding *bindings, uint32_t n);

/*
 * The bindings assumed for a pod, in order: writes at most cap. Deleted claims are skipped. Returns: their
 * number.
 */
uint32_t bt_volumes_assumed(
	const struct bt_volumes *volumes, uint32_t pod_ix, struct bt_volume_binding *out, uint32_t cap);

/* Keeps the assumed bindings of a bound pod; or reverts them after a failed binding. */
void bt_volumes_keep(struct bt_volumes *volumes, uint32_t pod_ix);
void bt_volumes_revert(struct bt_volumes *volumes, uint32_t pod_ix);

/* Reverts them as if they had never been assumed: what another pod has assumed, too, stays assumed, unlike in
 * bt_volumes_revert, which follows upstream. Requires: nothing was applied since. */
void bt_volumes_take_back(struct bt_volumes *volumes, uint32_t pod_ix);
