/* SPDX-License-Identifier: Apache-2.0
 * Kinds of pods that no node can help while the cluster state is unchanged.
 * Owns: its table (bt_known_unresolvables_fini). Writer: known_unresolvable.c; of a record, PostFilter.
 *       Thread: the scheduling thread.
 */
#pragma once

#include "engine/base/map.h"
#include "engine/flow/cycle/preempt.h"

/* The versions that a refusal, its text, and PostFilter depend on, apart from the pod: usage, nodes,
 * nominations and pods that begin to be deleted, budgets, counters with namespaces, volumes, devices, the
 * members of a group that are in flight, PodGroups, and the node part. */
struct bt_engine_versions {
	uint64_t journal_end, snapshot, changes, budgets, counting, storage, devices;
	uint64_t group_cycle; /* 0: none is running */
	uint64_t groups;      /* version: the groups' terms for their pods as victims */
	uint64_t part;	      /* number of the node part; 0: all nodes */
};

/*
 * The plugins that refused pods of a kind in that state, when preemption helped none of them.
 * Key: bt_queue_kind_key (signature, which names the profile; priority; preemptionPolicy). Only for pods with
 * bt_engine_is_uncacheable false. Ends: with any change of the state, with the retirement of signatures, and
 * when there are KINDS_MAX of them.
 */
struct bt_known_unresolvable {
	struct bt_engine_versions when;
	bt_plugin_set unschedulable_plugins;
	enum bt_preempt_outcome preempt;
};

/* Zero-initialized, it is empty. Private. */
struct bt_known_unresolvables {
	struct bt_known_unresolvable *items;
	size_t n, cap;
	struct bt_map ixs; /* by bt_queue_kind_key */
};

void bt_known_unresolvables_fini(struct bt_known_unresolvables *known);

/* Clears the table after signatures, which are part of the key, were retired. */
void bt_known_unresolvables_forget(struct bt_known_unresolvables *known);

/* The record of a kind. Valid until the next call. */
struct bt_known_unresolvable *bt_known_unresolvables_of(struct bt_known_unresolvables *known, uint64_t kind);
