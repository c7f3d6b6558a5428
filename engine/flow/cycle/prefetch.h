/* SPDX-License-Identifier: Apache-2.0
 * Where there are very many nodes, nearly everything that a cycle reads of its node is a miss of all caches.
 * The search for equals begins at a number that is known in advance, so the node of a pod that comes a few
 * places later can be guessed from its plan as it is now, and fetched while other pods are decided. A wrong
 * guess costs the fetch alone: decisions are made from what is there then (I9).
 * Owns: nothing outside of the struct. Writer: prefetch.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/profile_runtime.h"
#include "queue/queue.h"

/* Cycles: so far ahead that memory has answered, and no further: what has moved meanwhile is guessed wrong.
 */
#define BT_PREFETCH_CYCLES 4

/* Private. */
struct bt_prefetch {
	uint32_t from_n;		      /* with so many nodes cycles are foreseen */
	uint32_t guesses[BT_PREFETCH_CYCLES]; /* by cycle: the node that was guessed */
};

/* always: however few nodes there are; for tests. */
void bt_prefetch_init(struct bt_prefetch *prefetch, bool always);

/* Fetches what the cycle of a pod will read that is popped a little later. next: the number of the cycle that
 * begins; seed: where cycles begin to look. */
void bt_prefetch_guess(struct bt_prefetch *prefetch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, const struct bt_queue *queue, uint64_t next,
	uint64_t seed);

/* Call before each pop. */
static inline void bt_prefetch_pop(struct bt_prefetch *prefetch, uint32_t node_n,
	const struct bt_cache *cache, const struct bt_profile_runtimes *runtimes,
	const struct bt_queue *queue, uint64_t next, uint64_t seed)
{
	if (node_n >= prefetch->from_n) {
		bt_prefetch_guess(prefetch, cache, runtimes, queue, next, seed);
	}
}

/* Where the search for equals begins in a cycle. */
static inline uint32_t bt_tie_start(uint64_t seed, uint64_t cycle, const struct bt_view *view)
{
	return bt_rng_scale(bt_rng_at(seed, cycle), view->snapshot->slot_n);
}
