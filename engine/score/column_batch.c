/* SPDX-License-Identifier: Apache-2.0
 * Columns abreast: a node that has changed is taken in by all of them.
 */
#include "engine/score/column_batch.h"

#include "engine/base/check.h"
#include "engine/score/column_int.h"

void bt_abreast_leave(struct bt_column *column)
{
	struct bt_abreast *abreast = column->abreast;

	if (!column->is_abreast) {
		return;
	}
	uint32_t last = --abreast->n;
	struct bt_column *moved = abreast->columns[last];
	bt_range_lane_copy(abreast->lanes, last, column->lane);
	abreast->columns[column->lane] = moved;
	moved->lane = column->lane;
	column->is_abreast = false;
	abreast->ready_at = 0;
}

static void dissolve(struct bt_abreast *abreast)
{
	while (abreast->n) {
		bt_abreast_leave(abreast->columns[abreast->n - 1]);
	}
}

void bt_abreast_join(struct bt_column *column, const struct bt_view *view)
{
	struct bt_abreast *abreast = column->abreast;

	BT_INVARIANT(
		column->indexed && !column->is_abreast && column->journal_at == view->usage->journal_end);
	if (abreast->n == BT_ABREAST_MAX) {
		return;
	}
	if (abreast->n == 0 || !bt_abreast_follow(abreast, view)) {
		abreast->most = column->sum.most;
		abreast->at = abreast->swept_at = column->journal_at;
	}
	if (column->sum.most == abreast->most &&
		bt_range_lane_put(&column->sum, abreast->lanes, abreast->n)) {
		column->lane = abreast->n;
		column->is_abreast = true;
		abreast->columns[abreast->n++] = column;
	}
}

/* Those that nobody has asked for leave. */
static BT_NOINLINE void sweep(struct bt_abreast *abreast)
{
	for (uint32_t i = abreast->n; i-- > 0;) {
		if (abreast->columns[i]->asked_at < abreast->swept_at) {
			bt_abreast_leave(abreast->columns[i]);
		}
	}
	abreast->swept_at = abreast->at;
}

/* A node with a number that vectors do not handle. A column that becomes odd nobody uses any more. */
static BT_NOINLINE void take_alone(
	const struct bt_abreast *abreast, const struct bt_view *view, uint32_t node_ix)
{
	for (uint32_t i = 0; i < abreast->n; i++) {
		bt_column_step(abreast->columns[i], view, node_ix);
	}
}

/* Of very many nodes nothing is in the cache. */
static BT_NOINLINE void fetch_moves(const struct bt_abreast *abreast, uint32_t node_ix, const uint16_t *value)
{
	for (uint32_t i = 0; i < abreast->n; i++) {
		const struct bt_column *column = abreast->columns[i];

		bt_index_fetch(&column->index, node_ix, column->value[node_ix], value[i]);
	}
}

/* The values of a node by column, but for what lanes leave out. Returns false when vectors do not handle a
 * number. */
BT_INLINE bool find_values(
	const struct bt_abreast *abreast, const struct bt_view *view, uint32_t node_ix, uint16_t *value)
{
	const uint32_t n = (abreast->n + BT_RANGE_STEP - 1) / BT_RANGE_STEP;

	return bt_range_lanes(abreast->lanes, n, abreast->most, view, node_ix, value);
}

BT_INLINE void put_values(
	const struct bt_abreast *abreast, const struct bt_view *view, uint32_t node_ix, uint16_t *value)
{
	const uint32_t n = abreast->n;

	for (uint32_t i = 0; i < n; i++) {
		struct bt_column *column = abreast->columns[i];

		if (BT_UNLIKELY(column->wants_rest) &&
			!bt_resource_sum_fits_rest(&column->sum, view, node_ix)) {
			value[i] = 0;
		}
		bt_column_put(column, &column->flips, node_ix, value[i]);
	}
}

static void take(struct bt_abreast *abreast, const struct bt_view *view, uint32_t node_ix, bool wide)
{
	uint16_t value[BT_ABREAST_MAX];

	if (!find_values(abreast, view, node_ix, value)) {
		take_alone(abreast, view, node_ix);
		return;
	}
	if (BT_UNLIKELY(wide)) {
		fetch_moves(abreast, node_ix, value);
	}
	put_values(abreast, view, node_ix, value);
}

/* Puts what is ready, in place of what the journal names. */
static BT_NOINLINE void put_ready(struct bt_abreast *abreast, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;

	if (abreast->at != abreast->ready_at) {
		put_values(abreast, view, usage->journal[abreast->at & usage->journal_mask], abreast->values);
		abreast->at = abreast->ready_at;
	}
}

bool bt_abreast_follow(struct bt_abreast *abreast, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;
	const uint64_t end = usage->journal_end;
	const uint32_t slot_n = abreast->columns[0]->slot_n, calm = slot_n / BT_COLUMN_CALM_SHARE;

	if (end - abreast->at > calm || end - abreast->at > usage->journal_mask) {
		dissolve(abreast);
		return false;
	}
	if (abreast->ready_at == end) {
		put_ready(abreast, view);
	}
	for (uint64_t at = abreast->at; at != end; at++) {
		uint32_t node_ix = usage->journal[at & usage->journal_mask];

		if (node_ix < slot_n) {
			take(abreast, view, node_ix, slot_n >= BT_COLUMN_WIDE);
		}
	}
	abreast->at = end;
	for (uint32_t i = 0; i < abreast->n; i++) {
		abreast->columns[i]->journal_at = end;
	}
	if (BT_UNLIKELY(end - abreast->swept_at > calm)) {
		sweep(abreast);
	}
	return true;
}

void bt_abreast_ready(struct bt_abreast *abreast, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;
	const uint32_t node_ix = usage->journal[abreast->at & usage->journal_mask];

	if (abreast->n && usage->journal_end == abreast->at + 1 && node_ix < abreast->columns[0]->slot_n &&
		find_values(abreast, view, node_ix, abreast->values)) {
		abreast->ready_at = usage->journal_end;
		fetch_moves(abreast, node_ix, abreast->values);
	}
}

void bt_abreast_fetch(const struct bt_abreast *abreast, uint32_t node_ix)
{
	for (uint32_t i = 0; i < abreast->n; i++) {
		__builtin_prefetch(&abreast->columns[i]->value[node_ix], 1);
	}
}

void bt_abreast_fetch_rows(const struct bt_abreast *abreast, uint32_t node_ix)
{
	for (uint32_t i = 0; i < abreast->n; i++) {
		const struct bt_column *column = abreast->columns[i];

		bt_index_fetch(&column->index, node_ix, column->value[node_ix], column->value[node_ix]);
	}
}
