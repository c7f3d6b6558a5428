/* SPDX-License-Identifier: Apache-2.0
 * Writing values into a column.
 */
#pragma once

#include "cache/node_view.h"
#include "engine/score/column.h"

#define BT_COLUMN_STABLE_SHARE                                                                               \
	64 /* a short journal lists at most 1/64 of the nodes: then moving them costs less than a scan */

/* Number of slots from which on an index does not fit the cache. */
#define BT_COLUMN_WIDE 50000

static inline void bt_column_flip(struct bt_column_flips *flips, uint32_t node_ix)
{
	flips->items[flips->end++ % BT_COLUMN_FLIPS] = node_ix;
}

/* Sets a node's value; flips: records nodes that begin or cease to be refused. */
static inline void bt_column_put(
	struct bt_column *column, struct bt_column_flips *flips, uint32_t node_ix, uint16_t after)
{
	uint16_t before = column->value[node_ix];

	if (before == after) {
		return;
	}
	column->value[node_ix] = after;
	if (BT_UNLIKELY(!before || !after)) {
		bt_column_flip(flips, node_ix);
	}
	if (column->indexed) {
		bt_index_move(&column->index, node_ix, before, after);
	}
}

/* The number of slots that the column can follow: all, except slots that are added while nodes are frozen. */
static inline uint32_t bt_column_slots(const struct bt_column *column, const struct bt_view *view)
{
	uint32_t slot_n = view->snapshot->slot_n;

	return slot_n < column->slot_room ? slot_n : column->slot_room;
}

/* Values may be written up to slot_n, until the next round. */
static inline void bt_column_widen(struct bt_column *column, uint32_t slot_n)
{
	column->slot_n = column->slot_n < slot_n ? slot_n : column->slot_n;
}

/* Evaluates one node; a slot that was taken back gets the value 0. A score that does not fit ends the index.
 */
void bt_column_step(struct bt_column *column, const struct bt_view *view, uint32_t node_ix);
