/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: which node slots are a worker's, and whose memory they lie in. Where workers sit beside different
 * memory nodes, every array by node slot that workers read has the pages of a shard beside its worker.
 */
#pragma once

#include <stddef.h>

#include "engine/base/team.h"

/* The nodes of one worker. */
struct bt_shard {
	uint32_t first, end; /* slots; multiples of BT_SHARD_STEP, the last end excepted */
};

#define BT_SHARD_STEP	    64
#define BT_SHARD_STEP_PAGES 2048 /* a page of a column: where workers sit beside different memory nodes */

/* The shard of one of worker_n workers; all shards together are the slots, each once. step: a multiple of
 * BT_SHARD_STEP. */
struct bt_shard bt_shard_of(uint32_t slot_n, uint32_t step, uint32_t worker, uint32_t worker_n);

/* How slots are shared. */
struct bt_shards {
	const struct bt_team *team;
	uint32_t slot_n, step;
};

/* A smaller array has no page of its own for more than one shard: it stays where it is. */
#define BT_SHARD_LEAST_BYTES 8192

/*
 * Puts the pages of an array beside the workers of their slots; a page that shards share goes to the first of
 * them, and pages that the array shares with others stay where they are. What they hold does not change.
 * each_bytes: of an element, which stands for each_slots slots; BT_SHARD_STEP is a multiple of that. NULL is
 * fine.
 * Context: any thread; a few system calls for each worker.
 */
void bt_shards_place(
	const struct bt_shards *shards, const void *array, size_t each_bytes, uint32_t each_slots);
