/* SPDX-License-Identifier: Apache-2.0
 * Batches: selects the pods that are prepared together, and skips batches when that does not pay.
 */
#include "engine/flow/cycle/batch.h"

#include "engine/base/mem.h"

#define LONGEST_PAUSE 16 /* batches */

/* How many batches to skip after this one. */
static uint32_t next_pause(const struct bt_batch *batch, bool shared)
{
	uint32_t longer = batch->pause ? 2 * batch->pause : 1;

	if (shared || batch->always_share) {
		return 0;
	}
	return longer < LONGEST_PAUSE ? longer : LONGEST_PAUSE;
}

void bt_batch_fini(struct bt_batch *batch)
{
	bt_parallel_prepare_destroy(batch->prepare);
	bt_mem_free(batch->ahead);
}

void bt_batch_set_team(struct bt_batch *batch, struct bt_team *team, uint32_t batch_n, bool always_share)
{
	bool shares = team && bt_team_size(team) > 1;

	bt_parallel_prepare_destroy(batch->prepare);
	batch->prepare = shares ? bt_parallel_prepare_create(team, always_share) : NULL;
	if (shares && !batch->ahead) {
		batch->ahead = bt_mem_zalloc(batch_n, sizeof(*batch->ahead));
	}
	batch->batch_n = batch_n;
	batch->always_share = always_share;
	batch->left = batch->pause = 0;
}

BT_NOINLINE void bt_batch_prepare(struct bt_batch *batch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, struct bt_queue *queue)
{
	if (batch->left > 0) {
		batch->left--;
		return;
	}
	uint32_t n = bt_queue_peek(queue, batch->ahead, batch->batch_n);
	bt_parallel_prepare_begin(batch->prepare, &cache->view);
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_signature *signature =
			bt_ledger_pod(cache->ledger, batch->ahead[i])->signature;
		const struct bt_profile_runtime *runtime =
			bt_profile_runtimes_find(runtimes, signature->scheduler_name);
		struct bt_plan *plan = runtime ? bt_planner_find(runtime->planner, signature) : NULL;

		if (plan) {
			bt_parallel_prepare_add(batch->prepare, plan);
		}
	}
	batch->pause = next_pause(batch, bt_parallel_prepare_run(batch->prepare));
	batch->left = (n > 0 ? n - 1 : 0) + batch->pause * batch->batch_n;
}

struct bt_parallel_prepare_counts bt_batch_counts(const struct bt_batch *batch)
{
	return batch->prepare ? bt_parallel_prepare_counts(batch->prepare)
			      : (struct bt_parallel_prepare_counts){0};
}
