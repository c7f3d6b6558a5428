/* SPDX-License-Identifier: Apache-2.0
 * Kinds of pods that no node can help as long as the state of things is what it was.
 * Owns: its table (bt_known_unresolvables_fini). Writer: known_unresolvable.c; of a record, PostFilter, which
 * finds out. Thread: the scheduling thread.
 */
#pragma once

#include "engine/base/map.h"
#include "engine/flow/cycle/preempt.h"

/* What a refusal, its text, and PostFilter depend on besides the pod: usage, nodes, nominations and pods that
 * begin to be deleted, budgets, counters with namespaces, volumes, devices, the members of a group that are
 * in flight, PodGroups, and which nodes count. */
struct bt_state_of_things {
	uint64_t journal_end, snapshot, changes, budgets, counting, storage, devices;
	uint64_t group_cycle; /* 0: none is on */
	uint64_t groups;      /* version: what they say of their pods as victims */
	uint64_t part;	      /* the nodes that count: number of the part; 0: all */
};

/*
 * What refused pods of a kind in that state, and preemption helped none of them.
 * Key: bt_queue_kind_key (signature, which names the profile; priority; preemptionPolicy). Only of pods that
 * bt_engine_stands_alone is false of. Ends: with any change of the state, with the retirement of signatures,
 * and when there are KINDS_MAX of them.
 */
struct bt_known_unresolvable {
	struct bt_state_of_things when;
	bt_plugin_set unschedulable_plugins;
	enum bt_preempt_outcome preempt;
};

/* All zeroes is an empty table. Private. */
struct bt_known_unresolvables {
	struct bt_known_unresolvable *items;
	size_t n, cap;
	struct bt_map ixs; /* by bt_queue_kind_key */
};

void bt_known_unresolvables_fini(struct bt_known_unresolvables *known);

/* Signatures were retired, by which kinds are known. */
void bt_known_unresolvables_forget(struct bt_known_unresolvables *known);

/* The record of a kind. Valid until the next call. */
struct bt_known_unresolvable *bt_known_unresolvables_of(struct bt_known_unresolvables *known, uint64_t kind);
