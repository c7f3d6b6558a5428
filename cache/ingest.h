/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: interns objects as deltas, and applies them to the snapshot and the ledger.
 * Context: any ingestion thread describes, each with its own worker; all else is called by the scheduling
 * thread.
 */
#pragma once

#include "cache/budgets.h"
#include "cache/delta.h"
#include "cache/devices.h"
#include "cache/ledger.h"
#include "cache/publish.h"
#include "cache/snapshot.h"
#include "cache/view.h"

/* A thread's state for describing objects. Private. */
struct bt_ingest_worker;

/* The cluster's state. init: the parts; their headers name their owners. */
struct bt_cache {
	struct bt_dictionary *dictionary;
	struct bt_signatures *signatures;
	struct bt_publisher *publisher; /* used by the publisher's thread, or by the scheduling thread without
					   one */
	struct bt_snapshot_writer *snapshot;
	struct bt_ledger *ledger;
	struct bt_counters *counters;
	struct bt_budgets budgets;
	struct bt_volumes *volumes;
	struct bt_devices *devices;
	struct bt_view view;
	struct bt_ingest_worker *worker; /* the scheduling thread's worker */
};

struct bt_cache *bt_cache_create(void);
void bt_cache_destroy(struct bt_cache *cache);

/* Creates a worker for a thread. The dictionary and the signatures must outlive it. Owns: the caller;
 * bt_ingest_worker_destroy. */
struct bt_ingest_worker *bt_ingest_worker_create(
	struct bt_dictionary *dictionary, struct bt_signatures *signatures);
void bt_ingest_worker_destroy(struct bt_ingest_worker *worker);

/*
 * Describes a new or changed object as a delta.
 * Context: the worker's thread.
 * Owns   : pods and nodes are copied. An object of another kind moves to the delta if arena contains it with
 * all its bytes: the arena is empty afterwards. With arena NULL the caller keeps it, and it must outlive the
 * delta.
 */
void bt_ingest_describe(struct bt_ingest_worker *worker, const struct bt_object *object,
	struct bt_arena *arena, struct bt_delta *out_delta);

/* Prefetches the cache lines that describing the object changes. Context: the worker's thread. */
void bt_ingest_prefetch(const struct bt_ingest_worker *worker, const struct bt_meta_object *meta);

/* The same for a pod, and of a node. */
void bt_ingest_describe_pod(
	struct bt_ingest_worker *worker, const struct bt_pod_object *object, struct bt_delta *out_delta);
void bt_ingest_describe_node(
	struct bt_ingest_worker *worker, const struct bt_node_object *object, struct bt_delta *out_delta);

/* Describes a deletion. Context: the worker's thread. */
void bt_ingest_describe_removal(struct bt_ingest_worker *worker, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct bt_delta *out_delta);

/* Publishes a batch of one delta. Context: the publisher; without threads, the single thread. */
void bt_ingest_publish(struct bt_cache *cache, struct bt_delta *delta);

/*
 * Applies a published delta's nodes to the scheduling thread's columns: assigns slots to the nodes that it
 * names, which depend only on earlier deltas, and adopts a node's description. Afterwards the caller drops
 * the delta with the old description (bt_delta_drop). Context: the scheduling thread, between cycles, delta
 * by delta in order.
 * Returns: the slots, in the delta.
 */
void bt_ingest_adopt(struct bt_cache *cache, struct bt_delta *delta);

/* The same for the slots only: the description is adopted later (bt_cache_adopt_node). */
void bt_ingest_give_slots(struct bt_cache *cache, struct bt_delta *delta);

/* The same for the description only: the snapshot adopts it, and the ledger's journal names a node that
 * changes, comes or goes. Requires: the node has a slot. */
void bt_cache_adopt_node(struct bt_cache *cache, const struct bt_node_delta *node);

/* Vacates the slot of a node that is not live in the tables by slot. Requires: the ledger does not keep it.
 * */
void bt_cache_leave_slot(struct bt_cache *cache, uint32_t slot);

/*
 * When there are many, vacates the slots of deleted nodes without pods and nominations; when half of the
 * slots are vacant, moves nodes to lower ones, a few per call (I7). Call before bt_ingest_adopt. Requires: no
 * caller keeps a node's slot, or the name of a deleted node.
 * Context: the scheduling thread.
 */
void bt_cache_vacate_slots(struct bt_cache *cache);

/*
 * Objects that pods' selectors refer to: namespaces; services and the controllers that own pods
 * (BT_KIND_REPLICATION_CONTROLLER, BT_KIND_REPLICA_SET, BT_KIND_STATEFUL_SET; of other kinds nothing is
 * needed). In any order, before or after the pods.
 */
void bt_ingest_namespace(struct bt_cache *cache, const struct bt_namespace_object *object);
void bt_ingest_service(struct bt_cache *cache, const struct bt_service_object *object);
void bt_ingest_controller(struct bt_cache *cache, enum bt_kind kind, const struct bt_workload_object *object);

/* A pod disruption budget, new or changed. */
void bt_ingest_budget(struct bt_cache *cache, const struct bt_pdb_object *object);

/* Volumes, claims and related objects (the kinds of bt_volumes_apply). In any order, before or after the
 * pods. */
void bt_ingest_storage(struct bt_cache *cache, const struct bt_object *object);

/* Claims, slices and classes of devices (the kinds of bt_devices_apply). In any order, before or after the
 * pods. */
void bt_ingest_devices(struct bt_cache *cache, const struct bt_object *object);

/* Removes one of these, budgets included, by names of the dictionary. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_ingest_delete_named(
	struct bt_cache *cache, enum bt_kind kind, uint32_t namespace_, uint32_t name);

/* Has the pod succeeded or failed? */
bool bt_ingest_pod_has_ended(const struct bt_pod_object *object);
