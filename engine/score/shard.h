/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the node slots of each worker, and the memory node of their pages. Where workers run on different
 * memory nodes, every array by node slot that workers read has the pages of a shard on its worker's node.
 */
#pragma once

#include <stddef.h>

#include "engine/base/team.h"

/* The nodes of one worker. */
struct bt_shard {
	uint32_t first, end; /* slots; multiples of BT_SHARD_STEP, the last end excepted */
};

#define BT_SHARD_STEP	    64
#define BT_SHARD_STEP_PAGES 2048 /* a page of a column: where workers run on different memory nodes */

/* The shard of one of worker_n workers; the shards partition the slots. step: a multiple of BT_SHARD_STEP. */
struct bt_shard bt_shard_of(uint32_t slot_n, uint32_t step, uint32_t worker, uint32_t worker_n);

/* How slots are split. */
struct bt_shards {
	const struct bt_team *team;
	uint32_t slot_n, step;
};

/* A smaller array has no page of its own for more than one shard: it is not placed. */
#define BT_SHARD_LEAST_BYTES 8192

/*
 * Places the pages of an array near the workers of their slots; a page that shards share goes to the first of
 * them, and pages that the array shares with others are not moved. The contents do not change. each_bytes: of
 * an element, which covers each_slots slots; BT_SHARD_STEP is a multiple of that. array may be NULL.
 * Context: any thread; a few system calls per worker.
 */
void bt_shards_place(
	const struct bt_shards *shards, const void *array, size_t each_bytes, uint32_t each_slots);
