/* SPDX-License-Identifier: Apache-2.0
 * Batches: what the next pods of the queue need is prepared by workers side by side. Then the pods are popped
 * and decided one after the other as ever (I9): who comes between them, or goes, changes nothing but the time
 * that was saved.
 * Owns: the workers' share (bt_batch_fini). Writer: batch.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/profile_runtime.h"
#include "engine/score/parallel_prepare.h"
#include "queue/queue.h"

/* All zeroes: no workers. Private. */
struct bt_batch {
	struct bt_parallel_prepare *warm; /* NULL: no workers */
	uint32_t *ahead;		  /* room for a batch */
	uint32_t batch_n;		  /* pods of a batch */
	bool always_share;		  /* also what would be done sooner without workers; for tests */
	uint32_t left;			  /* pods until the next batch is prepared */
	uint32_t pause; /* batches that are let pass, because the last ones had nothing to share */
};

void bt_batch_fini(struct bt_batch *batch);

/* Workers prepare batches of so many pods from now on; NULL, or a team of one: nobody does. */
void bt_batch_set_team(struct bt_batch *batch, struct bt_team *team, uint32_t batch_n, bool always_share);

/* Has workers prepare what the next pods need, once a batch. */
void bt_batch_prepare(struct bt_batch *batch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, struct bt_queue *queue);

/* Call before each pop. */
static inline void bt_batch_pop(struct bt_batch *batch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, struct bt_queue *queue)
{
	if (batch->warm) {
		bt_batch_prepare(batch, cache, runtimes, queue);
	}
}

struct bt_parallel_prepare_counts bt_batch_counts(const struct bt_batch *batch);
