/* SPDX-License-Identifier: Apache-2.0
 * Stage 5 on several workers: before the pods of a batch are decided one after the other, the columns of
 * their plans are brought up to date, and blocks' best totals found, each worker in its own shard of the
 * nodes. What the workers make is what picking would make later, from the same usage; so the decisions are
 * those of one thread, for any number of workers, any batch, and any timing. Picks repair what the pods of
 * the batch change (the usage's journal names it).
 * Context: the scheduling thread; workers run inside bt_parallel_prepare_run only, between two writes of
 * the ledger.
 */
#pragma once

#include "engine/score/plan.h"
#include "engine/score/shard.h"

/* What a warm-up would save, in ns, by constants that were measured: the work of one thread that others take
 * over, less what handing it over costs. Below zero: it does not pay. The choice never changes a decision. */
int64_t bt_parallel_prepare_gain_ns(int64_t work_ns, uint32_t worker_n);

struct bt_parallel_prepare_counts {
	uint64_t batch_n;  /* batches looked at */
	uint64_t shared_n; /* of them, those that workers prepared */
	uint64_t column_n; /* columns that shards brought up to date */
	uint64_t plan_n;   /* plans whose blocks shards found */
};

struct bt_parallel_prepare;

/* always: also where it does not pay; for tests. The team outlives it. Owns: bt_parallel_prepare_destroy. */
struct bt_parallel_prepare *bt_parallel_prepare_create(struct bt_team *team, bool always);
void bt_parallel_prepare_destroy(struct bt_parallel_prepare *warm);

/* Begins a batch. */
void bt_parallel_prepare_begin(struct bt_parallel_prepare *warm, const struct bt_view *view);

/* A pod of the batch has that plan. Valid until bt_parallel_prepare_run: no plan may be dropped meanwhile. */
void bt_parallel_prepare_add(struct bt_parallel_prepare *warm, struct bt_plan *plan);

/* Returns whether there was something that workers could do. */
bool bt_parallel_prepare_run(struct bt_parallel_prepare *warm);

struct bt_parallel_prepare_counts bt_parallel_prepare_counts(const struct bt_parallel_prepare *warm);
