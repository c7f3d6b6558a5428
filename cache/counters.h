/* SPDX-License-Identifier: Apache-2.0
 * Topology counters: the number of matching pods on each node and in each topology domain, and the pod
 * affinity terms of pods on nodes. Part of the ledger's state (I4): at any time the counters equal a fold
 * over the assumed and scheduled pods.
 *
 * A counter is created on its first request; its column is then filled from the pods that match. Afterwards
 * an added or removed pod updates the counters that its signature matches, which are listed once per
 * signature, and their domain counts of the current snapshot. Context: the scheduling thread.
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

/* Adds a pod to a node's counts. Requires: it does not count yet. */
void bt_counters_enter(struct bt_counters *counters, const struct bt_signature *signature, uint32_t pod_ix,
	uint32_t node_ix, bool terminating);

/* Removes a pod from the counts. Requires: it counts. */
void bt_counters_leave(struct bt_counters *counters, const struct bt_signature *signature, uint32_t pod_ix);

/* Changes the slot of the node of a pod that counts. Requires: the snapshot has a new version. */
void bt_counters_move(struct bt_counters *counters, const struct bt_signature *signature, uint32_t pod_ix,
	uint32_t node_ix);

/* Changes the index of a pod that counts. Requires: no pod that counts has the new index. */
void bt_counters_move_pod(
	struct bt_counters *counters, const struct bt_signature *signature, uint32_t from, uint32_t to);

/* Frees the data by node slot, and the capacity from slot_n on. Domain counts, sets of nodes and terms are
 * invalid afterwards. Requires: no pod counts there. */
void bt_counters_trim_nodes(struct bt_counters *counters, uint32_t slot_n);

/* Prefetches the cache lines that bt_counters_leave of a pod changes. */
void bt_counters_fetch_pod(const struct bt_counters *counters, uint32_t pod_ix);

/* Frees the room for pods from pod_end on. Requires: none of them counts. */
void bt_counters_trim_pods(struct bt_counters *counters, uint32_t pod_end);

/*
 * For a trial, adds (by 1) or removes (by -1) a pod of a signature on a node; the caller reverts it before
 * any other write. As in upstream's trials, a terminating pod counts like any other.
 * Requires: the signature is known.
 */
void bt_counters_try(
	struct bt_counters *counters, const struct bt_signature *signature, uint32_t node_ix, int32_t by);

/*
 * The same for a pod on its node, as if it had never been there: a terminating pod does not count and has no
 * effect.
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
 * Drops signatures without pods on nodes, their terms, and all counters, which are created
 * again on the next request.
 * Requires: the caller no longer uses its counters, domain counts, sets of nodes and terms.
 */
void bt_counters_forget(struct bt_counters *counters, const uint32_t *signature_ixs, uint32_t n);

/* The number of counters, and of existing affinity terms. */
size_t bt_counters_count(const struct bt_counters *counters);

/* The number of a counter's pods on a node. */
int32_t bt_counters_on_node(const struct bt_counters *counters, uint32_t counter, uint32_t node_ix);
