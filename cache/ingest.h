/* SPDX-License-Identifier: Apache-2.0
 * Stage 2: objects become interned values (deltas), and these the snapshot and the ledger.
 * Context: describing is any ingestion thread's, each with a worker of its own; all else is the scheduling
 * thread's.
 */
#pragma once

#include "cache/budgets.h"
#include "cache/delta.h"
#include "cache/devices.h"
#include "cache/ledger.h"
#include "cache/publish.h"
#include "cache/snapshot.h"
#include "cache/view.h"

/* What one thread needs to describe objects. Private. */
struct bt_ingest_worker;

/* Everything that is known of the cluster. init: the parts; their owners are named in their headers. */
struct bt_cache {
	struct bt_dictionary *dictionary;
	struct bt_signatures *signatures;
	struct bt_publisher *publisher; /* the publisher's thread; without one the scheduling thread's */
	struct bt_snapshot_writer *snapshot;
	struct bt_ledger *ledger;
	struct bt_counters *counters;
	struct bt_budgets budgets;
	struct bt_volumes *volumes;
	struct bt_devices *devices;
	struct bt_view view;
	struct bt_ingest_worker *worker; /* the scheduling thread's own */
};

struct bt_cache *bt_cache_create(void);
void bt_cache_destroy(struct bt_cache *cache);

/* A worker for one more thread. The dictionary and the signatures must outlive it. Owns:
 * bt_ingest_worker_destroy. */
struct bt_ingest_worker *bt_ingest_worker_create(
	struct bt_dictionary *dictionary, struct bt_signatures *signatures);
void bt_ingest_worker_destroy(struct bt_ingest_worker *worker);

/*
 * Says what an object means, new or changed.
 * Context: the worker's thread.
 * Owns   : of a pod or node nothing of the object is kept. An object of another kind becomes the delta's, if
 * arena is what it lives in, all bytes included: the arena is empty then. With arena NULL it stays the
 *          caller's, and must outlive the delta.
 */
void bt_ingest_describe(struct bt_ingest_worker *worker, const struct bt_object *object,
	struct bt_arena *arena, struct bt_delta *out_delta);

/* Has fetched what describing the object will change soon. Context: the worker's thread. */
void bt_ingest_prefetch(const struct bt_ingest_worker *worker, const struct bt_meta_object *meta);

/* The same for a pod, and of a node. */
void bt_ingest_describe_pod(
	struct bt_ingest_worker *worker, const struct bt_pod_object *object, struct bt_delta *out_delta);
void bt_ingest_describe_node(
	struct bt_ingest_worker *worker, const struct bt_node_object *object, struct bt_delta *out_delta);

/* Says that an object has gone. Context: the worker's thread. */
void bt_ingest_describe_removal(struct bt_ingest_worker *worker, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct bt_delta *out_delta);

/* The publisher's part in one go: a batch of one delta. Context: the publisher; without threads, the only
 * one. */
void bt_ingest_publish(struct bt_cache *cache, struct bt_delta *delta);

/*
 * Brings the scheduling thread's columns up to what a published delta says of nodes: those that it names have
 * slots, which depend on the deltas before alone, and a node's description is adopted. Then the old one has
 * to be given up, with the delta (bt_delta_drop). Context: the scheduling thread, between cycles, delta by
 * delta in order.
 * Returns: in the delta the slots.
 */
void bt_ingest_adopt(struct bt_cache *cache, struct bt_delta *delta);

/* The same for the slots alone: what a node is has to be adopted later (bt_snapshot_adopt). */
void bt_ingest_give_slots(struct bt_cache *cache, struct bt_delta *delta);

/*
 * Once there are many of them, vacates the slots of nodes that have gone, and that no pod is on or was
 * nominated to; and once half of the slots are vacant, moves nodes to lower ones, some at each call (I7).
 * Call before bt_ingest_adopt. Requires: no caller keeps a node's slot, or the name of a deleted node.
 * Context: the scheduling thread.
 */
void bt_cache_vacate_slots(struct bt_cache *cache);

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

/* Takes one of those away, budgets included, by names of the dictionary. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_ingest_delete_named(
	struct bt_cache *cache, enum bt_kind kind, uint32_t namespace_, uint32_t name);

/* Has the pod succeeded or failed? */
bool bt_ingest_pod_has_ended(const struct bt_pod_object *object);
