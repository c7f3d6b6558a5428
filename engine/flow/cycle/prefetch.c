/* SPDX-License-Identifier: Apache-2.0
 * Where there are very many nodes, nearly everything that a cycle reads of its node is a miss of all caches.
 * The search for equals begins at a number that is known in advance, so the node of a pod that comes a few
 * places later can be guessed from its plan as it is now, and fetched while other pods are decided. A wrong
 * guess costs the fetch alone: decisions are made from what is there then (I9).
 */
#include "engine/flow/cycle/engine_int.h"

#define PLACES BT_FORESEEN
#define NEAR   2 /* places: so far ahead is fetched what depends on what was fetched before */

BT_NOINLINE void bt_engine_foresee(struct bt_engine *engine)
{
	const struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t pod_ix = bt_queue_guess(engine->queue, PLACES);
	uint64_t next = engine->cycle_n + 1;

	if (pod_ix == BT_QUEUE_EMPTY) {
		return;
	}
	const struct bt_signature *signature = bt_ledger_pod(ledger, pod_ix)->signature;
	const struct bt_profile_runtime *runtime = bt_engine_lane_of(engine, signature->scheduler_name);
	const struct bt_plan *plan = runtime ? bt_planner_find(runtime->planner, signature) : NULL;
	uint32_t node_ix = BT_NO_NODE, near_ix = engine->foreseen[(next + NEAR) % PLACES];
	if (plan) {
		bt_plan_fetch(plan, &engine->cache->view, near_ix);
		/* Its cycle is the next one but so many. */
		node_ix = bt_plan_foresee(
			plan, &engine->cache->view, bt_engine_tie_start(engine, next + PLACES), PLACES);
	}
	bt_ledger_fetch_links(ledger, near_ix);
	if (node_ix != BT_NO_NODE) {
		bt_ledger_fetch(ledger, signature, node_ix);
	}
	engine->foreseen[next % PLACES] = node_ix;
}
