/* SPDX-License-Identifier: Apache-2.0
 * Selects the node that a later cycle will probably read, and prefetches its memory.
 */
#include "engine/flow/cycle/prefetch.h"

#define PREFETCH_NODES 50000 /* with fewer nodes the CPU caches hold what cycles read */
#define PLACES	       BT_PREFETCH_CYCLES
#define NEAR	       2 /* distance at which dependent memory is prefetched */

void bt_prefetch_init(struct bt_prefetch *prefetch, bool always)
{
	*prefetch = (struct bt_prefetch){.from_n = always ? 1 : PREFETCH_NODES};
}

BT_NOINLINE void bt_prefetch_guess(struct bt_prefetch *prefetch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, const struct bt_queue *queue, uint64_t next,
	uint64_t seed)
{
	const struct bt_ledger *ledger = cache->ledger;
	uint32_t pod_ix = bt_queue_guess(queue, PLACES);

	if (pod_ix == BT_QUEUE_EMPTY) {
		return;
	}
	const struct bt_signature *signature = bt_ledger_pod(ledger, pod_ix)->signature;
	const struct bt_profile_runtime *runtime =
		bt_profile_runtimes_find(runtimes, signature->scheduler_name);
	const struct bt_plan *plan = runtime ? bt_planner_find(runtime->planner, signature) : NULL;
	uint32_t node_ix = BT_NO_NODE, near_ix = prefetch->guesses[(next + NEAR) % PLACES];
	if (plan) {
		bt_plan_fetch(plan, &cache->view, near_ix);
		/* The cycle that many places later. */
		node_ix = bt_plan_predict(
			plan, &cache->view, bt_tie_start(seed, next + PLACES, &cache->view), PLACES);
	}
	bt_ledger_fetch_links(ledger, near_ix);
	if (node_ix != BT_NO_NODE) {
		bt_ledger_fetch(ledger, signature, node_ix);
	}
	prefetch->guesses[next % PLACES] = node_ix;
}
