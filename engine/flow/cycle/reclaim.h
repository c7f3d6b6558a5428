/* SPDX-License-Identifier: Apache-2.0
 * Releases what is not referred to any more (I7): names of pods, slots of nodes, indices of pods, and
 * signatures with their plans; nothing while a cycle or a kept event still refers to some of it.
 * Owns: when to do so (struct bt_reclaim). Writer: reclaim.c. Thread: the scheduling thread. Its functions
 * take the engine, because what is let go is known to all of its parts.
 */
#pragma once

#include <stdint.h>

struct bt_engine;
struct bt_engine_counts;

/* How far pods have got other indices, from the highest ones down. */
struct bt_moving {
	uint32_t end;	  /* those from there on were looked at in this pass; 0: none */
	uint32_t stay_n;  /* pods of these that cannot have another one now */
	uint32_t pause_n; /* events until the next pass */
};

/* All zeroes at first. Private. */
struct bt_reclaim {
	struct bt_moving moving;
	uint32_t most_slots; /* there were since what is kept by them was forgotten */
	uint64_t came_n;     /* pods since signatures were retired */
	uint64_t pod_move_n, signature_end_n;
};

/* Vacates slots of nodes that have gone, and moves nodes to lower ones. Call before
 * a delta's nodes get theirs. */
void bt_engine_vacate_slots(struct bt_engine *engine);

/* Gives pods lower indices, if options.moves_pods says so. Call before a delta's
 * pod is looked for. */
void bt_engine_move_pods(struct bt_engine *engine);

/* Lets names of claims and devices go that have gone. */
void bt_engine_release_names(struct bt_engine *engine);

/* Releases what was held for deleted pods, unless a cycle or a kept event still refers to some of it.
 * Invalidates plans. Context: between cycles. */
void bt_engine_reclaim(struct bt_engine *engine);

/* The same as a pod comes, or comes again. */
void bt_engine_reclaim_for_pod(struct bt_engine *engine);

/* Adds what was given back to what the engine counts. */
void bt_reclaim_count(const struct bt_reclaim *reclaim, struct bt_engine_counts *counts);
