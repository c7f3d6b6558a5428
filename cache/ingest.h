/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: objects become interned values in the snapshot and the ledger.
 * Context: one thread for now; it owns the dictionary, the signatures, the snapshot writer and the ledger.
 */
#pragma once

#include "cache/budgets.h"
#include "cache/devices.h"
#include "cache/ledger.h"
#include "cache/snapshot.h"

/* Everything that is known of the cluster. init: the parts; their owners are named in their headers. */
struct bt_cache {
	struct bt_dictionary *dictionary;
	struct bt_signatures *signatures;
	struct bt_snapshot_writer *snapshot;
	struct bt_ledger *ledger;
	struct bt_counters *counters;
	struct bt_budgets budgets;
	struct bt_volumes *volumes;
	struct bt_devices *devices;
	struct bt_view view;
	struct bt_buf text; /* scratch */
};

struct bt_cache *bt_cache_create(void);
void bt_cache_destroy(struct bt_cache *cache);

/* Adds or replaces a node. Returns: as bt_snapshot_apply. */
enum bt_status bt_ingest_node(struct bt_cache *cache, const struct bt_node_object *object, uint32_t *out_ix);

/* Takes a node away; its pods keep their place in the ledger. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_ingest_node_delete(struct bt_cache *cache, struct bt_str name);

/*
 * What selectors of pods refer to: namespaces; services and the controllers that own pods
 * (BT_KIND_REPLICATION_CONTROLLER, BT_KIND_REPLICA_SET, BT_KIND_STATEFUL_SET; of other kinds nothing is
 * needed). In any order, before or after the pods.
 */
void bt_ingest_namespace(struct bt_cache *cache, const struct bt_namespace_object *object);
void bt_ingest_service(struct bt_cache *cache, const struct bt_service_object *object);
void bt_ingest_controller(struct bt_cache *cache, enum bt_kind kind, const struct bt_workload_object *object);

/* A pod disruption budget, new or changed. */
void bt_ingest_budget(struct bt_cache *cache, const struct bt_pdb_object *object);

/* Volumes, claims and what belongs to them (the kinds of bt_volumes_apply). In any order, before or after the
 * pods. */
void bt_ingest_storage(struct bt_cache *cache, const struct bt_object *object);

/* Claims, slices and classes of devices (the kinds of bt_devices_apply). In any order, before or after the
 * pods. */
void bt_ingest_devices(struct bt_cache *cache, const struct bt_object *object);

/* Takes one of those away, budgets included. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_ingest_delete(
	struct bt_cache *cache, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);

/* Has the pod succeeded or failed? */
bool bt_ingest_pod_has_ended(const struct bt_pod_object *object);

/*
 * Adds a pod: scheduled when spec.nodeName is set, otherwise queued. A pod that has ended (Succeeded, Failed)
 * is not entered. Returns : BT_OK with the pod's index (BT_NO_POD when it has ended); BT_EXISTS when the
 * namespace has such a pod already; BT_FULL when it asks for a resource beyond BT_RESOURCE_MAX names (it is
 * not entered).
 */
enum bt_status bt_ingest_pod(struct bt_cache *cache, const struct bt_pod_object *object, uint32_t *out_ix);

/* Says anew what a known pod is (bt_ledger_replace). Returns: BT_OK; BT_FULL as bt_ingest_pod, and then
 * nothing has changed. Requires: the object has not ended. */
enum bt_status bt_ingest_pod_update(
	struct bt_cache *cache, uint32_t pod_ix, const struct bt_pod_object *object);

/* A queued pod was promised a node, whether there is one of that name or not; an empty name takes the promise
 * back. */
void bt_ingest_nomination(struct bt_cache *cache, uint32_t pod_ix, struct bt_str node);
