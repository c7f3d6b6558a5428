/* SPDX-License-Identifier: Apache-2.0
 * Topology counters: how many pods of some kind are on each node and in each topology domain, and which pod
 * affinity terms the pods on nodes carry. Part of the ledger's state (I4): at any time the counters equal a
 * fold over the assumed and scheduled pods.
 *
 * A counter is created on its first request; its column is then filled from the pods that match.
 * Afterwards a pod that comes or goes touches the counters that its signature matches, which are listed once
 * per signature, and of each the domain counts that were made under the present snapshot. Context:
 * the scheduling thread.
 */
#pragma once

#include "cache/namespaces.h"
#include "cache/snapshot.h"
#include "cache/default_spread_selectors.h"

struct bt_counters;

/* dictionary and snapshot must outlive the counters. Owns: bt_counters_destroy. */
struct bt_counters *bt_counters_create(struct bt_dictionary *dictionary, struct bt_snapshot_writer *snapshot);
void bt_counters_destroy(struct bt_counters *counters);

/* The readers' interface; the pointer stays the same. */
const struct bt_counting *bt_counters_view(const struct bt_counters *counters);

/* A pod counts on a node from now on. Requires: it did not before. */
void bt_counters_enter(struct bt_counters *counters, const struct bt_signature *signature, uint32_t pod_ix,
	uint32_t node_ix, bool terminating);

/* A pod does not count any more. Requires: it did. */
void bt_counters_leave(struct bt_counters *counters, const struct bt_signature *signature, uint32_t pod_ix);

/* The node of a pod that counts has another slot. Requires: the snapshot has a new version. */
void bt_counters_move(struct bt_counters *counters, const struct bt_signature *signature, uint32_t pod_ix,
	uint32_t node_ix);

/* A pod that counts has another index, which no pod has that counts. */
void bt_counters_move_pod(
	struct bt_counters *counters, const struct bt_signature *signature, uint32_t from, uint32_t to);

/* Frees the data by node slot, and room from slot_n on. Domain counts, sets of nodes and terms are
 * invalid afterwards. Requires: no pod counts there. */
void bt_counters_trim_nodes(struct bt_counters *counters, uint32_t slot_n);

/* Fetches into the cache what bt_counters_leave of a pod will change. */
void bt_counters_fetch_pod(const struct bt_counters *counters, uint32_t pod_ix);

/* Frees the room for pods from pod_end on. Requires: none of them counts. */
void bt_counters_trim_pods(struct bt_counters *counters, uint32_t pod_end);

/*
 * For a trial, counts a pod of a signature on a node (by 1) or no longer (by -1); undone by the opposite
 * before anything else is written. As in upstream's trials, a pod that is being deleted counts like any
 * other.
 * Requires: the signature is known.
 */
void bt_counters_try(
	struct bt_counters *counters, const struct bt_signature *signature, uint32_t node_ix, int32_t by);

/*
 * Likewise for a pod on its node, as if it had never been there: a pod that does not count, because it is
 * being deleted, changes nothing.
 */
void bt_counters_try_absent(
	struct bt_counters *counters, const struct bt_signature *signature, uint32_t pod_ix, bool absent);

/* Registers a signature's terms before a pod of it is on a node, so that trials can count them. */
void bt_counters_know(struct bt_counters *counters, const struct bt_signature *signature);

/* Namespaces, and the selectors of Services and controllers. After a change: bt_counters_touch_namespaces,
 * bt_counters_touch_spread_sources. */
struct bt_namespaces *bt_counters_namespaces(struct bt_counters *counters);
struct bt_default_spread_selectors *bt_counters_spread_sources(struct bt_counters *counters);
void bt_counters_touch_namespaces(struct bt_counters *counters);
void bt_counters_touch_spread_sources(struct bt_counters *counters);

/*
 * Forgets signatures that have no pods on nodes, their terms, and every counter; a counter that is still
 * needed is requested again.
 * Requires: the caller's counters, domain counts, sets of nodes and terms are not used any more.
 */
void bt_counters_forget(struct bt_counters *counters, const uint32_t *signature_ixs, uint32_t n);

/* How many counters, and terms that pods carry, are known. */
size_t bt_counters_count(const struct bt_counters *counters);

/* How many pods of a counter are on a node. */
int32_t bt_counters_on_node(const struct bt_counters *counters, uint32_t counter, uint32_t node_ix);
