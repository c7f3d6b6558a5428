/* SPDX-License-Identifier: Apache-2.0
 * Columns over usage: rebuilt in blocks, or node by node from the journal, whichever is less work; indexed while they change little.
 */
#include "engine/score/column.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

#define BLOCK       128
#define CALM_ENOUGH 4  /* catch-ups in a row */
#define CALM_SHARE  16 /* a short journal names at most one node of so many */

static void evaluate_block(struct bt_column *column, const struct bt_view *view, uint32_t first, uint32_t n)
{
	uint8_t pass[BLOCK], passes[BLOCK];
	int64_t raw[BLOCK], sum[BLOCK];

	for (uint32_t i = 0; i < n; i++) {
		passes[i] = 1;
		sum[i] = 1;
	}
	for (uint32_t p = 0; p < column->part_n; p++) {
		const struct bt_column_part *part = &column->parts[p];

		if (part->filter) {
			part->plugin->filter(part->term, view, first, n, pass);
			for (uint32_t i = 0; i < n; i++) {
				passes[i] &= pass[i];
			}
		}
		if (part->score) {
			part->plugin->score(part->term, view, first, n, raw);
			for (uint32_t i = 0; i < n; i++) {
				column->odd |= raw[i] < 0 || raw[i] > BT_MAX_NODE_SCORE;
				sum[i] += (raw[i] & 127) * part->weight;
			}
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		column->value[first + i] = passes[i] ? (uint16_t)sum[i] : 0;
	}
}

/* The value of one node; one that is refused is not scored. */
static uint16_t evaluate_one(struct bt_column *column, const struct bt_view *view, uint32_t node_ix)
{
	int64_t sum = 1, raw;
	uint8_t pass;

	for (uint32_t p = 0; p < column->part_n; p++) {
		const struct bt_column_part *part = &column->parts[p];

		if (part->filter) {
			part->plugin->filter(part->term, view, node_ix, 1, &pass);
			if (!pass) {
				return 0;
			}
		}
		if (part->score) {
			part->plugin->score(part->term, view, node_ix, 1, &raw);
			column->odd |= raw < 0 || raw > BT_MAX_NODE_SCORE;
			sum += (raw & 127) * part->weight;
		}
	}
	return (uint16_t)sum;
}

enum bt_catch_up bt_column_choose(uint64_t behind, uint32_t slot_n, uint32_t calm_n)
{
	if (behind > slot_n / 2) {
		return BT_CATCH_UP_REBUILD;
	}
	/* An index costs about as much as ten scans to make, and each change of a node about as much as 20 nodes of a scan. */
	return calm_n >= CALM_ENOUGH && behind <= slot_n / CALM_SHARE ? BT_CATCH_UP_AND_INDEX : BT_CATCH_UP_JOURNAL;
}

static void rebuild(struct bt_column *column, const struct bt_view *view)
{
	for (uint32_t first = 0; first < column->slot_n; first += BLOCK) {
		uint32_t left = column->slot_n - first;

		evaluate_block(column, view, first, left < BLOCK ? left : BLOCK);
	}
	column->built = true;
	column->indexed = false;
	column->calm_n = 0;
}

static void replay(struct bt_column *column, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;

	for (uint64_t at = column->journal_at; at != usage->journal_end; at++) {
		uint32_t node_ix = usage->journal[at & usage->journal_mask];

		/* A node that became known after the column was made is not live, or there would be a new snapshot. */
		if (node_ix >= column->slot_n) {
			continue;
		}
		uint16_t before = column->value[node_ix], after = evaluate_one(column, view, node_ix);
		column->value[node_ix] = after;
		column->indexed &= !column->odd;
		if (before != after && column->indexed) {
			bt_index_move(&column->index, node_ix, before, after);
		}
	}
}

void bt_column_catch_up(struct bt_column *column, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;
	uint64_t behind = usage->journal_end - column->journal_at;

	BT_INVARIANT(column->slot_n <= view->snapshot->slot_n);
	if (behind == 0 && column->built) {
		return;
	}
	enum bt_catch_up way = column->built && behind <= usage->journal_mask
		? bt_column_choose(behind, column->slot_n, column->calm_n)
		: BT_CATCH_UP_REBUILD;
	if (way == BT_CATCH_UP_REBUILD) {
		rebuild(column, view);
	} else {
		replay(column, view);
		column->calm_n = behind <= column->slot_n / CALM_SHARE ? column->calm_n + 1 : 0;
	}
	if (way == BT_CATCH_UP_AND_INDEX && !column->indexed && !column->odd && column->value_n <= BT_INDEX_VALUES) {
		bt_index_build(&column->index, column->value, column->slot_n, column->value_n);
		column->indexed = true;
	}
	column->journal_at = usage->journal_end;
}

void bt_column_fini(struct bt_column *column)
{
	bt_mem_free(column->value);
	bt_index_fini(&column->index);
}
