/* SPDX-License-Identifier: Apache-2.0
 * Columns that are updated together, node by node.
 */
#include "engine/score/column_batch.h"

#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/score/column_int.h"
#include "plugins/resource_ranges.h"

void bt_column_batch_leave(struct bt_column *column)
{
	struct bt_column_batch *column_batch = column->column_batch;

	if (!column->is_column_batch) {
		return;
	}
	uint32_t last = --column_batch->n;
	BT_INVARIANT(column->lane <= last && column_batch->columns[column->lane] == column);
	struct bt_column *moved = column_batch->columns[last];
	bt_range_lane_copy(column_batch->lanes, last, column->lane);
	column_batch->columns[column->lane] = moved;
	moved->lane = column->lane;
	column->is_column_batch = false;
	bt_column_widen(column, column_batch->slot_n);
	column_batch->ready_at = 0;
}

static void leave_all(struct bt_column_batch *column_batch)
{
	while (column_batch->n) {
		bt_column_batch_leave(column_batch->columns[column_batch->n - 1]);
	}
}

void bt_column_batch_join(struct bt_column *column, const struct bt_view *view)
{
	struct bt_column_batch *column_batch = column->column_batch;

	BT_INVARIANT(column->indexed && !column->is_column_batch &&
		     column->journal_at == view->usage->journal_end);
	if (column_batch->n == BT_COLUMN_BATCH_MAX) {
		return;
	}
	if (column_batch->n == 0 || !bt_column_batch_follow(column_batch, view)) {
		column_batch->form = column->sum.form;
		column_batch->at = column_batch->swept_at = column->journal_at;
		column_batch->slot_n = bt_column_slots(column, view);
	}
	if (column->sum.form.most == column_batch->form.most &&
		column->sum.form.state == column_batch->form.state &&
		bt_range_lane_put(&column->sum, column_batch->lanes, column_batch->n)) {
		column->lane = column_batch->n;
		column->is_column_batch = true;
		BT_INVARIANT(column_batch->n < BT_COLUMN_BATCH_MAX);
		column_batch->columns[column_batch->n++] = column;
	}
}

/* Removes columns that have not been used. */
static BT_NOINLINE void sweep(struct bt_column_batch *column_batch)
{
	for (uint32_t i = column_batch->n; i-- > 0;) {
		if (column_batch->columns[i]->used_at < column_batch->swept_at) {
			bt_column_batch_leave(column_batch->columns[i]);
		}
	}
	column_batch->swept_at = column_batch->at;
}

/* Evaluates a node with a number that vectors do not support, or a slot that was taken back, column by
 * column. A column whose score is out of range is not used any more. */
static BT_NOINLINE void take_alone(
	const struct bt_column_batch *column_batch, const struct bt_view *view, uint32_t node_ix)
{
	for (uint32_t i = 0; i < column_batch->n; i++) {
		bt_column_step(column_batch->columns[i], view, node_ix);
	}
}

/* With very many nodes, the index words are not in the cache. */
static BT_NOINLINE void fetch_moves(
	const struct bt_column_batch *column_batch, uint32_t node_ix, const uint16_t *value)
{
	for (uint32_t i = 0; i < column_batch->n; i++) {
		const struct bt_column *column = column_batch->columns[i];

		bt_index_fetch(&column->index, node_ix, column->value[node_ix], value[i]);
	}
}

/* A node's values by column, without the resources that lanes do not read. Returns: false when a number is
 * not supported by vectors. */
BT_INLINE bool find_values(const struct bt_column_batch *column_batch, const struct bt_view *view,
	uint32_t node_ix, uint16_t *value)
{
	const uint32_t n = (column_batch->n + BT_RANGE_STEP - 1) / BT_RANGE_STEP;

	return bt_range_lanes(column_batch->lanes, n, column_batch->form, view, node_ix, value);
}

BT_INLINE void put_values(const struct bt_column_batch *column_batch, const struct bt_view *view,
	uint32_t node_ix, uint16_t *value)
{
	const uint32_t n = column_batch->n;

	for (uint32_t i = 0; i < n; i++) {
		struct bt_column *column = column_batch->columns[i];

		if (BT_UNLIKELY(column->wants_rest) &&
			!bt_resource_sum_fits_rest(&column->sum, view, node_ix)) {
			value[i] = 0;
		}
		bt_column_put(column, &column->flips, node_ix, value[i]);
	}
}

static void take(
	struct bt_column_batch *column_batch, const struct bt_view *view, uint32_t node_ix, bool wide)
{
	uint16_t value[BT_COLUMN_BATCH_MAX];

	if (!find_values(column_batch, view, node_ix, value)) {
		take_alone(column_batch, view, node_ix);
		return;
	}
	if (BT_UNLIKELY(wide)) {
		fetch_moves(column_batch, node_ix, value);
	}
	put_values(column_batch, view, node_ix, value);
}

/* Writes the prepared values of the node that the journal lists. */
static BT_NOINLINE void put_ready(struct bt_column_batch *column_batch, const struct bt_view *view)
{
	BT_INVARIANT(column_batch->at <= column_batch->ready_at);
	const struct bt_usage *usage = view->usage;

	if (column_batch->at != column_batch->ready_at) {
		put_values(column_batch, view, usage->journal[column_batch->at & usage->journal_mask],
			column_batch->values);
		column_batch->at = column_batch->ready_at;
	}
}

bool bt_column_batch_follow(struct bt_column_batch *column_batch, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;
	const uint64_t end = usage->journal_end;
	const uint32_t slot_n = bt_column_slots(column_batch->columns[0], view),
		       stable = slot_n / BT_COLUMN_STABLE_SHARE;

	BT_INVARIANT(column_batch->n > 0 && column_batch->at <= end);
	if (end - column_batch->at > stable || end - column_batch->at > usage->journal_mask) {
		leave_all(column_batch);
		return false;
	}
	column_batch->slot_n = column_batch->slot_n < slot_n ? slot_n : column_batch->slot_n;
	if (column_batch->ready_at == end) {
		put_ready(column_batch, view);
	}
	for (uint64_t at = column_batch->at; at != end; at++) {
		uint32_t node_ix = usage->journal[at & usage->journal_mask];

		if (BT_LIKELY(node_ix < slot_n)) {
			take(column_batch, view, node_ix, slot_n >= BT_COLUMN_WIDE);
		} else {
			take_alone(column_batch, view, node_ix);
		}
	}
	column_batch->at = end;
	for (uint32_t i = 0; i < column_batch->n; i++) {
		column_batch->columns[i]->journal_at = end;
	}
	if (BT_UNLIKELY(end - column_batch->swept_at > stable)) {
		sweep(column_batch);
	}
	return true;
}

void bt_column_batch_ready(struct bt_column_batch *column_batch, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;
	const uint32_t node_ix = usage->journal[column_batch->at & usage->journal_mask];

	if (column_batch->n && usage->journal_end == column_batch->at + 1 &&
		node_ix < bt_column_slots(column_batch->columns[0], view) &&
		find_values(column_batch, view, node_ix, column_batch->values)) {
		column_batch->ready_at = usage->journal_end;
		fetch_moves(column_batch, node_ix, column_batch->values);
	}
}

void bt_column_batch_fetch(const struct bt_column_batch *column_batch, uint32_t node_ix)
{
	for (uint32_t i = 0; i < column_batch->n; i++) {
		__builtin_prefetch(&column_batch->columns[i]->value[node_ix], 1);
	}
}

void bt_column_batch_fetch_rows(const struct bt_column_batch *column_batch, uint32_t node_ix)
{
	for (uint32_t i = 0; i < column_batch->n; i++) {
		const struct bt_column *column = column_batch->columns[i];

		bt_index_fetch(&column->index, node_ix, column->value[node_ix], column->value[node_ix]);
	}
}
