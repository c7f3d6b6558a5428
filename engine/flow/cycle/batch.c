/* SPDX-License-Identifier: Apache-2.0
 * Batches: what the next pods of the queue need is prepared by workers side by side. Then the pods are popped
 * and decided one after the other as ever (I9): who comes between them, or goes, changes nothing but the time
 * that was saved.
 */
#include "engine/flow/cycle/engine_int.h"

#include "engine/base/mem.h"

#define LONGEST_PAUSE 16 /* batches */

/* How many batches pass unprepared after this one. */
static uint32_t next_pause(const struct bt_engine *engine, bool shared)
{
	uint32_t longer = engine->pause ? 2 * engine->pause : 1;

	if (shared || engine->options.always_share) {
		return 0;
	}
	return longer < LONGEST_PAUSE ? longer : LONGEST_PAUSE;
}

static uint32_t batch_of(const struct bt_engine *engine)
{
	return engine->options.batch ? engine->options.batch : BT_ENGINE_BATCH;
}

void bt_engine_set_team(struct bt_engine *engine, struct bt_team *team)
{
	bool shares = team && bt_team_size(team) > 1;

	bt_parallel_prepare_destroy(engine->warm);
	engine->warm = shares ? bt_parallel_prepare_create(team, engine->options.always_share) : NULL;
	if (shares && !engine->ahead) {
		engine->ahead = bt_mem_zalloc(batch_of(engine), sizeof(*engine->ahead));
	}
	engine->batch_left = engine->pause = 0;
}

BT_NOINLINE void bt_engine_prepare_batch(struct bt_engine *engine)
{
	uint32_t batch = batch_of(engine);

	if (engine->batch_left > 0) {
		engine->batch_left--;
		return;
	}
	uint32_t n = bt_queue_look_ahead(engine->queue, engine->ahead, batch);
	bt_parallel_prepare_begin(engine->warm, &engine->cache->view);
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_profile_runtime *runtime = bt_engine_lane_of_pod(engine, engine->ahead[i]);
		const struct bt_signature *signature =
			bt_ledger_pod(engine->cache->ledger, engine->ahead[i])->signature;
		struct bt_plan *plan = runtime ? bt_planner_find(runtime->planner, signature) : NULL;

		if (plan) {
			bt_parallel_prepare_add(engine->warm, plan);
		}
	}
	engine->pause = next_pause(engine, bt_parallel_prepare_run(engine->warm));
	engine->batch_left = (n > 0 ? n - 1 : 0) + engine->pause * batch;
}
