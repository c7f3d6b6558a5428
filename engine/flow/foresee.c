/* SPDX-License-Identifier: Apache-2.0
 * Where there are very many nodes, nearly everything that a cycle reads of its node is a miss of all caches.
 * The search for equals begins at a number that is known in advance, so the node of a pod that comes a few
 * places later can be guessed from its plan as it is now, and fetched while other pods are decided. A wrong
 * guess costs the fetch alone: decisions are made from what is there then (I9).
 */
#include "engine/flow/engine_int.h"

#define PLACES                                                                                               \
	4 /* so far ahead that memory has answered, and no further: what has moved meanwhile is guessed      \
	     wrong */

BT_NOINLINE void bt_engine_foresee(const struct bt_engine *engine)
{
	const struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t pod_ix = bt_queue_guess(engine->queue, PLACES);

	if (pod_ix == BT_QUEUE_EMPTY) {
		return;
	}
	const struct bt_signature *signature = bt_ledger_pod(ledger, pod_ix)->signature;
	const struct bt_lane *lane = bt_engine_lane_of(engine, signature->scheduler_name);
	const struct bt_plan *plan = lane ? bt_planner_find(lane->planner, signature) : NULL;
	/* Its cycle is the next one but so many. */
	uint32_t start = bt_engine_tie_start(engine, engine->cycle_n + 1 + PLACES);
	uint32_t node_ix = plan ? bt_plan_foresee(plan, &engine->cache->view, start) : BT_NO_NODE;

	if (node_ix != BT_NO_NODE) {
		bt_ledger_fetch(ledger, signature, node_ix);
	}
}
