/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: columns that are updated together. When pods of several signatures alternate, their columns are
 * behind by the same nodes. So columns that are indexed, and arithmetic on cpu and memory, are updated as a
 * batch: node by node, with a vector lane per column, while the node's usage is in the cache. The result is
 * that of separate updates, so batches change no decision.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/score/column.h"

#define BT_COLUMN_BATCH_MAX 64

/* Zero-initialized: empty. */
struct bt_column_batch {
	struct bt_sum_lanes lanes[BT_COLUMN_BATCH_MAX / BT_RANGE_STEP]; /* by column */
	struct bt_column *columns[BT_COLUMN_BATCH_MAX];
	uint32_t n;
	uint32_t slot_n;	 /* the most slots that its columns have had in it */
	struct bt_sum_form form; /* of all columns' sums */
	uint64_t at;		 /* position in the journal: the journal_at of all columns */
	uint64_t swept_at;	 /* position of the last sweep of unused columns */
	uint64_t ready_at;	 /* values are those of the last node in the journal before this; 0: none */
	uint16_t values[BT_COLUMN_BATCH_MAX]; /* by column */
};

/*
 * Adds a column that is indexed and current, if there is room and its form is the batch's. A column leaves
 * when it has not been used for a while, before a round, and when it ends.
 * Requires: column->column_batch is set; the column is not in it.
 */
void bt_column_batch_join(struct bt_column *column, const struct bt_view *view);
void bt_column_batch_leave(struct bt_column *column);

/* Updates all columns. Returns: false when they are so far behind that the batch is dissolved; they are
 * behind as before. */
bool bt_column_batch_follow(struct bt_column_batch *column_batch, const struct bt_view *view);

/* If one node has changed, computes its values in advance and prefetches where they will be written. A
 * further change discards them. */
void bt_column_batch_ready(struct bt_column_batch *column_batch, const struct bt_view *view);

/* Prefetch what an update for a changed node will write: first this, then, once it is in the cache, what
 * depends on it. */
void bt_column_batch_fetch(const struct bt_column_batch *column_batch, uint32_t node_ix);
void bt_column_batch_fetch_rows(const struct bt_column_batch *column_batch, uint32_t node_ix);
