/* SPDX-License-Identifier: Apache-2.0
 * PersistentVolumes, claims, storage classes and CSI objects, what pods on nodes use of them, and what
 * decided pods have assumed.
 * Context: the scheduling thread is the only writer; readers see cache/storage_view.h between writes.
 *
 * A claim that a pod needs bound, and the volume that it is to get, are assumed when the pod is:
 *   free --bt_volumes_assume--> assumed --bt_volumes_keep--> assumed for good, until the object is applied
 * anew
 *                                  +------bt_volumes_revert--> free
 */
#pragma once

#include "cache/node_view.h"
#include "cache/storage_view.h"
#include "engine/base/status.h"
#include "engine/model/cluster_event.h"

struct bt_volumes;

/* Owns: the caller, until bt_volumes_destroy, which ends before the dictionary and the snapshot. */
struct bt_volumes *bt_volumes_create(struct bt_dictionary *dictionary, const struct bt_snapshot *snapshot);
void bt_volumes_destroy(struct bt_volumes *volumes);

/* By whose rules volumes count. Requires: there are none yet. */
void bt_volumes_configure(struct bt_volumes *volumes, const struct bt_release *release);

const struct bt_storage *bt_volumes_view(const struct bt_volumes *volumes);

/* Adds or replaces an object of a kind that is kept here, which ends what was assumed of it. Others are left
 * alone. */
void bt_volumes_apply(struct bt_volumes *volumes, const struct bt_object *object);

/*
 * What an event says of an object that is about to be applied, compared with what is kept of it. Returns: is
 * it known already, so that it is an update? False for kinds that are not kept here. Owns: held, the names.
 */
bool bt_volumes_describe(const struct bt_volumes *volumes, const struct bt_object *object,
	struct bt_name_refs *held, struct bt_cluster_event_object *out);

/* The same for one that is about to be taken away, which holds the names until then. Returns: is it there? */
bool bt_volumes_describe_removal(const struct bt_volumes *volumes, enum bt_kind kind, uint32_t namespace_,
	uint32_t name, struct bt_cluster_event_object *out);

/* Takes one away. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_volumes_remove(
	struct bt_volumes *volumes, enum bt_kind kind, uint32_t namespace_, uint32_t name);

/* What copies of objects point to stays, and their names keep their meaning, though the objects change or go:
 * until bt_volumes_retain_no_more, which may be called at any time. */
void bt_volumes_retain(struct bt_volumes *volumes);
bool bt_volumes_is_retaining(const struct bt_volumes *volumes);
void bt_volumes_retain_no_more(struct bt_volumes *volumes);

/* A pod with volumes comes to a node, or leaves it. */
void bt_volumes_enter(struct bt_volumes *volumes, const struct bt_signature *signature, uint32_t node_ix);
void bt_volumes_leave(struct bt_volumes *volumes, const struct bt_signature *signature, uint32_t node_ix);

/* Shows the pods of a node in the order of upstream's NodeInfo, trials included, until one visit returns
 * false. Then it returns false, too. */
typedef bool bt_visit_signature(void *visitor, const struct bt_signature *signature);
typedef bool bt_visit_in_order(void *context, uint32_t node_ix, bt_visit_signature *visit, void *visitor);

/* Who knows that order. Without it the volumes of pods are looked at in any. */
void bt_volumes_order_by(struct bt_volumes *volumes, bt_visit_in_order *visit, void *context);

/* A slot is another node's from now on. Requires: no pod is on it. */
void bt_volumes_vacate(struct bt_volumes *volumes, uint32_t node_ix);

/* A node, with the pods on it, has another slot. Requires: to is vacated; the snapshot has the node there. */
void bt_volumes_move_node(struct bt_volumes *volumes, uint32_t from, uint32_t to);

/* Gives up room for nodes from slot_n on. Requires: they are vacated. */
void bt_volumes_trim_nodes(struct bt_volumes *volumes, uint32_t slot_n);

/* A pod is taken to be on a node, or not to be there, until the opposite is called. */
void bt_volumes_try(
	struct bt_volumes *volumes, const struct bt_signature *signature, uint32_t node_ix, bool add);

/* A pod has been decided for a node, and these bindings with it. Requires: none are assumed for it. */
void bt_volumes_assume(struct bt_volumes *volumes, uint32_t pod_ix, uint32_t node_name,
	const struct bt_volume_binding *bindings, uint32_t n);

/*
 * What has been assumed for a pod, in the order in which it was: writes cap of it at most. Of a claim that
 * has gone
 * there is nothing. Returns: how many there are.
 */
uint32_t bt_volumes_assumed(
	const struct bt_volumes *volumes, uint32_t pod_ix, struct bt_volume_binding *out, uint32_t cap);

/* The pod is bound, and its volumes are on their way; or its binding has failed. */
void bt_volumes_keep(struct bt_volumes *volumes, uint32_t pod_ix);
void bt_volumes_revert(struct bt_volumes *volumes, uint32_t pod_ix);
