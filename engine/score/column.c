/* SPDX-License-Identifier: Apache-2.0
 * Columns over usage: rebuilt in blocks, or node by node from the journal, whichever is less work.
 */
#include "engine/score/column.h"

#include "engine/base/check.h"

#define BLOCK 128

static void evaluate(struct bt_column *column, const struct bt_view *view, uint32_t first, uint32_t n)
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

void bt_column_catch_up(struct bt_column *column, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;
	uint64_t behind = usage->journal_end - column->journal_at;

	BT_INVARIANT(column->slot_n <= view->snapshot->slot_n);
	if (!column->built || behind > usage->journal_mask || behind > column->slot_n) {
		for (uint32_t first = 0; first < column->slot_n; first += BLOCK) {
			uint32_t left = column->slot_n - first;

			evaluate(column, view, first, left < BLOCK ? left : BLOCK);
		}
		column->built = true;
	} else {
		for (uint64_t at = column->journal_at; at != usage->journal_end; at++) {
			uint32_t node_ix = usage->journal[at & usage->journal_mask];

			/* A node that became known after the column was made is not live, or there would be a new snapshot. */
			if (node_ix < column->slot_n) {
				evaluate(column, view, node_ix, 1);
			}
		}
	}
	column->journal_at = usage->journal_end;
}
