/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: columns that go abreast. The columns of signatures whose pods come in turn are all behind by the
 * same nodes when their turn comes. So those that are indexed, and arithmetic on cpu and memory, are
 * brought up to date together: node by node, for all of them in vectors while what is on the node is in the
 * cache. Each is up to date then as if it had been alone; who goes abreast changes no decision.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/score/column.h"

#define BT_COLUMN_BATCH_MAX 64

/* All zeroes: nobody. */
struct bt_column_batch {
	struct bt_sum_lanes lanes[BT_COLUMN_BATCH_MAX / BT_RANGE_STEP]; /* by column */
	struct bt_column *columns[BT_COLUMN_BATCH_MAX];
	uint32_t n;
	struct bt_sum_form form; /* as the sums of all */
	uint64_t at;		 /* how far the journal has been taken in: the journal_at of all */
	uint64_t swept_at;	 /* where those that nobody asks for had last to leave */
	uint64_t ready_at; /* values are those of the node that the journal names last before this; 0: none */
	uint16_t values[BT_COLUMN_BATCH_MAX]; /* by column */
};

/*
 * A column that is indexed and up to date goes abreast from now on, if there is room and it is like the
 * others. It leaves when nobody has asked for it for a while, before a round, and with its end.
 * Requires: column->abreast; it is not abreast.
 */
void bt_column_batch_join(struct bt_column *column, const struct bt_view *view);
void bt_column_batch_leave(struct bt_column *column);

/* Brings all of them up to date. Returns: false when they are so far behind that nobody goes abreast any
 * more; they are behind as before. */
bool bt_column_batch_follow(struct bt_column_batch *column_batch, const struct bt_view *view);

/* Where one node has changed, works out what following will put, and fetches where it will go. If another
 * changes before, nothing of it is used. */
void bt_column_batch_ready(struct bt_column_batch *column_batch, const struct bt_view *view);

/* Fetches into the cache what following will change when a node has changed: first this, and when it is there
 * what depends on it. */
void bt_column_batch_fetch(const struct bt_column_batch *column_batch, uint32_t node_ix);
void bt_column_batch_fetch_rows(const struct bt_column_batch *column_batch, uint32_t node_ix);
