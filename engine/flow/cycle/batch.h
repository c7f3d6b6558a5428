/* SPDX-License-Identifier: Apache-2.0
 * Batches: workers prepare in parallel what the next pods of the queue need. The pods are then popped and
 * decided one by one as without workers (I9): a pod that comes or goes meanwhile only costs some of the saved
 * time.
 * Owns: the workers' data (bt_batch_fini). Writer: batch.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/profile_runtime.h"
#include "engine/score/parallel_prepare.h"
#include "queue/queue.h"

/* Zero-initialized: no workers. Private. */
struct bt_batch {
	struct bt_parallel_prepare *prepare; /* NULL: no workers */
	uint32_t *ahead;		     /* scratch for a batch */
	uint32_t batch_n;		     /* pods of a batch */
	bool always_share;		     /* prepare in parallel even where it is slower; for tests */
	uint32_t left;			     /* pods until the next batch is prepared */
	uint32_t pause;			     /* batches to skip, because the last ones had nothing to share */
};

void bt_batch_fini(struct bt_batch *batch);

/* Sets the workers and the pods per batch; NULL, or a team of one: no preparation. */
void bt_batch_set_team(struct bt_batch *batch, struct bt_team *team, uint32_t batch_n, bool always_share);

/* Prepares the next pods' plans in parallel, once per batch. */
void bt_batch_prepare(struct bt_batch *batch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, struct bt_queue *queue);

/* Called before each pop. */
static inline void bt_batch_pop(struct bt_batch *batch, const struct bt_cache *cache,
	const struct bt_profile_runtimes *runtimes, struct bt_queue *queue)
{
	if (batch->prepare) {
		bt_batch_prepare(batch, cache, runtimes, queue);
	}
}

struct bt_parallel_prepare_counts bt_batch_counts(const struct bt_batch *batch);
