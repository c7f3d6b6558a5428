/* SPDX-License-Identifier: Apache-2.0
 * Releases what is no longer referenced (I7): names of pods, slots of nodes, indices of pods, and signatures
 * with their plans; nothing while a cycle or a kept event still refers to some of it.
 * Owns: the schedule of that (struct bt_reclaim). Writer: reclaim.c. Thread: the scheduling thread. Its
 *       functions take the engine, because all of its parts hold references.
 */
#pragma once

#include <stdint.h>

struct bt_engine;
struct bt_engine_counts;

/* Progress of moving pods to other indices, from the highest down. */
struct bt_moving {
	uint32_t end;	  /* indices from there on were examined in this pass; 0: none */
	uint32_t stay_n;  /* examined pods that cannot move now */
	uint32_t pause_n; /* events until the next pass */
};

/* Zero-initialized at first. Private. */
struct bt_reclaim {
	struct bt_moving moving;
	uint32_t most_slots; /* maximum since the caches by slot were dropped */
	uint64_t added_n;    /* pods added since signatures were retired */
	uint64_t pod_move_n, signature_end_n;
};

/* Vacates slots of deleted nodes, and moves nodes to lower ones. Call before a delta's nodes get slots. */
void bt_engine_vacate_slots(struct bt_engine *engine);

/* Moves pods to lower indices if options.moves_pods is set. Call before a delta's pod is looked up. */
void bt_engine_move_pods(struct bt_engine *engine);

/* Releases the names of deleted claims and devices. */
void bt_engine_release_names(struct bt_engine *engine);

/* Releases what deleted pods held, unless a cycle or a kept event still refers to some of it. Invalidates
 * plans. Context: between cycles. */
void bt_engine_reclaim(struct bt_engine *engine);

/* The same when a pod is added or updated. */
void bt_engine_reclaim_for_pod(struct bt_engine *engine);

/* Adds released items to the engine's counts. */
void bt_reclaim_count(const struct bt_reclaim *reclaim, struct bt_engine_counts *counts);
