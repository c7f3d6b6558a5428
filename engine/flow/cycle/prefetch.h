/* SPDX-License-Identifier: Apache-2.0
 * With very many nodes, nearly every read of a cycle's node misses all CPU caches. The start of the search
 * among equal nodes is a number that is known in advance, so the node of a pod a few places later can be
 * guessed from its present plan, and prefetched while other pods are decided. A wrong guess only costs the
 * prefetch: decisions use the state of their own time (I9).
 * Owns: nothing outside of the struct. Writer: prefetch.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/profile_runtime.h"
#include "queue/queue.h"

/* Cycles ahead: enough for memory to respond, and no more, because changes in between make the guess
 * wrong. */
#define BT_PREFETCH_CYCLES 4

/* Private. */
struct bt_prefetch {
	uint32_t from_n;		      /* nodes from which on cycles prefetch */
	uint32_t guesses[BT_PREFETCH_CYCLES]; /* by cycle: the guessed node */
};

/* always: with any number of nodes; for tests. */
void bt_prefetch_init(struct bt_prefetch *prefetch, bool always);

/* Prefetches what the cycle of a slightly later pod will read. next: the number of the cycle that begins;
 * seed: of the start among equal nodes. */
void bt_prefetch_guess(struct bt_prefetch *prefetch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, const struct bt_queue *queue, uint64_t next,
	uint64_t seed);

/* Called before each pop. */
static inline void bt_prefetch_pop(struct bt_prefetch *prefetch, uint32_t node_n,
	const struct bt_cache *cache, const struct bt_profile_runtimes *runtimes,
	const struct bt_queue *queue, uint64_t next, uint64_t seed)
{
	if (node_n >= prefetch->from_n) {
		bt_prefetch_guess(prefetch, cache, runtimes, queue, next, seed);
	}
}

/* The start of a cycle's search among equal nodes. */
static inline uint32_t bt_tie_start(uint64_t seed, uint64_t cycle, const struct bt_view *view)
{
	return bt_rng_scale(bt_rng_at(seed, cycle), view->snapshot->slot_n);
}
