/* SPDX-License-Identifier: Apache-2.0
 * Stage 5 on several workers: before the pods of a batch are decided one by one, workers update the columns
 * of their plans and find the blocks' best totals, each in its own shard of the nodes. The results are those
 * that picking would compute later from the same usage; so decisions are those of one thread, for any number
 * of workers, any batch, and any timing. Picks repair what the pods of the batch change, by the usage's
 * journal.
 * Context: the scheduling thread; workers run only inside bt_parallel_prepare_run, between two writes of the
 *          ledger.
 */
#pragma once

#include "engine/score/plan.h"
#include "engine/score/shard.h"

/* The estimated saving of preparing in parallel, in ns, by measured constants: the work of one thread that
 * others take over, minus the cost of handing it over. Negative: it does not pay. Never changes a
 * decision. */
int64_t bt_parallel_prepare_gain_ns(int64_t work_ns, uint32_t worker_n);

struct bt_parallel_prepare_counts {
	uint64_t batch_n;  /* batches examined */
	uint64_t shared_n; /* of them, prepared by workers */
	uint64_t column_n; /* columns that shards updated */
	uint64_t plan_n;   /* plans whose blocks shards updated */
};

struct bt_parallel_prepare;

/* always: even where it does not pay; for tests. The team outlives it. Owns: bt_parallel_prepare_destroy. */
struct bt_parallel_prepare *bt_parallel_prepare_create(struct bt_team *team, bool always);
void bt_parallel_prepare_destroy(struct bt_parallel_prepare *warm);

/* Begins a batch. */
void bt_parallel_prepare_begin(struct bt_parallel_prepare *warm, const struct bt_view *view);

/* Adds the plan of a pod of the batch. Valid until bt_parallel_prepare_run: no plan may be dropped
 * meanwhile. */
void bt_parallel_prepare_add(struct bt_parallel_prepare *warm, struct bt_plan *plan);

/* Prepares the batch. Returns: whether there was work for workers. */
bool bt_parallel_prepare_run(struct bt_parallel_prepare *warm);

struct bt_parallel_prepare_counts bt_parallel_prepare_counts(const struct bt_parallel_prepare *warm);
