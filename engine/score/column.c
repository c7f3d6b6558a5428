/* SPDX-License-Identifier: Apache-2.0
 * Columns over usage: nodes that changed are stale until a plan asks for them; a column that changes little
 * is indexed.
 */
#include "engine/score/column.h"

#include <string.h>

#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/score/gather.h"

#define BLOCK	    BT_GATHER_NODES /* a word of the bitmaps */
#define CALM_ENOUGH 16		    /* catch-ups in a row */
#define CALM_SHARE                                                                                           \
	64 /* a short journal names at most one node of so many: there moving them costs less than a scan */
#define DENSE	     24 /* stale nodes of a word that make it cheaper to evaluate all 64 */
#define FOLLOW_SHARE 4	/* a journal that names at most one node of so many is followed entry by entry */
#define ALL_SLOTS    (~(uint64_t)0 >> (64 - BT_RESOURCE_MAX))
#define GATHER	     4 /* nodes from which on gathering them is cheaper than asking one by one */

/* The values of up to BLOCK nodes, side by side in a view. */
static void evaluate_block(
	struct bt_column *column, const struct bt_view *view, uint32_t first, uint32_t n, uint16_t *out_value)
{
	uint8_t pass[BLOCK], passes[BLOCK];
	int64_t raw[BLOCK], outside = 0;
	uint32_t sum[BLOCK];

	for (uint32_t i = 0; i < n; i++) {
		passes[i] = 1;
		sum[i] = 1;
	}
	for (uint32_t p = 0; p < column->part_n; p++) {
		const struct bt_column_part *part = &column->parts[p];
		uint32_t weight = (uint32_t)part->weight;

		if (part->filter) {
			part->plugin->filter(part->term, view, first, n, pass);
			for (uint32_t i = 0; i < n; i++) {
				passes[i] &= pass[i];
			}
		}
		if (part->score) {
			part->plugin->score(part->term, view, first, n, raw);
			/* A number outside sets the sign of the remainder. */
			for (uint32_t i = 0; i < n; i++) {
				outside |= raw[i] | (BT_MAX_NODE_SCORE - (raw[i] & INT64_MAX));
				sum[i] += ((uint32_t)raw[i] & 127) * weight;
			}
		}
	}
	column->odd |= outside < 0;
	for (uint32_t i = 0; i < n; i++) {
		out_value[i] = passes[i] ? (uint16_t)sum[i] : 0;
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

static bool passes(const struct bt_column *column, const struct bt_view *view, uint32_t node_ix)
{
	uint8_t pass = 1;

	for (uint32_t p = 0; p < column->part_n && pass; p++) {
		if (column->parts[p].filter) {
			column->parts[p].plugin->filter(column->parts[p].term, view, node_ix, 1, &pass);
		}
	}
	return pass;
}

/* The value of a node for a pod that has to yield to those that the node is promised to. */
static uint16_t yield(
	const struct bt_column *column, const struct bt_view *view, uint32_t node_ix, uint16_t value)
{
	const struct bt_promises *promises = column->promises;

	if (!promises || !value || !promises->put(promises->context, node_ix)) {
		return value;
	}
	bool pass = passes(column, view, node_ix);
	promises->take(promises->context, node_ix);
	return pass ? value : 0;
}

enum bt_catch_up bt_column_choose(uint64_t behind, uint32_t slot_n, uint32_t calm_n)
{
	if (behind > slot_n) {
		return BT_CATCH_UP_ALL;
	}
	/* An index saves a scan and costs a move for each change. */
	return calm_n >= CALM_ENOUGH && behind <= slot_n / CALM_SHARE ? BT_CATCH_UP_AND_INDEX
								      : BT_CATCH_UP_JOURNAL;
}

static void put(struct bt_column *column, uint32_t node_ix, uint16_t after)
{
	uint16_t before = column->value[node_ix];

	if (before == after) {
		return;
	}
	column->value[node_ix] = after;
	if (BT_UNLIKELY(!before || !after)) {
		column->flips[column->flip_end++ % BT_COLUMN_FLIPS] = node_ix;
	}
	if (column->indexed) {
		bt_index_move(&column->index, node_ix, before, after);
	}
}

/* Evaluates a whole word of nodes. anew: nobody is told which of them flip. */
static void put_block(struct bt_column *column, const struct bt_view *view, uint32_t first, bool anew)
{
	uint32_t left = column->slot_n - first, n = left < BLOCK ? left : BLOCK, flip_n = 0;
	uint16_t before[BLOCK], *value = column->value + first;
	uint8_t flipped[BLOCK];

	memcpy(before, value, n * sizeof(*before));
	evaluate_block(column, view, first, n, value);
	for (uint32_t i = 0; column->promises && i < n; i++) {
		value[i] = yield(column, view, first + i, value[i]);
	}
	if (anew) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		flipped[i] = (before[i] == 0) != (value[i] == 0);
		flip_n += flipped[i];
	}
	for (uint32_t i = 0; flip_n && i < n; i++) {
		if (flipped[i]) {
			column->flips[column->flip_end++ % BT_COLUMN_FLIPS] = first + i;
		}
	}
}

/* Nodes that wait to be evaluated together. */
struct batch {
	struct bt_column *column;
	const struct bt_view *view;
	struct bt_gather gather;
	enum { UNKNOWN = 0, POSSIBLE, IMPOSSIBLE } gathering;
	bool anew; /* every node is stale */
	uint32_t n;
	uint32_t nodes[BLOCK];
};

static bool gathering(struct batch *batch)
{
	if (batch->gathering == UNKNOWN) {
		batch->gathering = bt_gather_begin(&batch->gather, batch->view, batch->column->reads)
					   ? POSSIBLE
					   : IMPOSSIBLE;
	}
	return batch->gathering == POSSIBLE;
}

static void evaluate_batch(struct batch *batch)
{
	struct bt_column *column = batch->column;
	uint16_t value[BLOCK];

	if (batch->n >= GATHER && gathering(batch)) {
		bt_gather_nodes(&batch->gather, batch->nodes, batch->n);
		evaluate_block(column, &batch->gather.view, 0, batch->n, value);
	} else {
		for (uint32_t i = 0; i < batch->n; i++) {
			value[i] = evaluate_one(column, batch->view, batch->nodes[i]);
		}
	}
	column->indexed &= !column->odd;
	for (uint32_t i = 0; column->promises && i < batch->n; i++) {
		value[i] = yield(column, batch->view, batch->nodes[i], value[i]);
	}
	for (uint32_t i = 0; i < batch->n; i++) {
		bt_bitmap_clear(column->stale, batch->nodes[i]);
		put(column, batch->nodes[i], value[i]);
	}
	batch->n = 0;
}

static void add(struct batch *batch, uint32_t node_ix)
{
	/* Of many columns few are in the cache: the old value is fetched while the new one is found. */
	__builtin_prefetch(&batch->column->value[node_ix], 1);
	batch->nodes[batch->n++] = node_ix;
	if (batch->n == BLOCK) {
		evaluate_batch(batch);
	}
}

/* Evaluates the stale nodes that are in the mask. Words that are mostly stale are evaluated as a block. */
static void freshen(struct batch *batch, const uint64_t *mask)
{
	struct bt_column *column = batch->column;

	for (uint32_t w = 0; w < bt_bitmap_words(column->slot_n); w++) {
		uint64_t bits = column->stale[w] & (mask ? mask[w] : ~(uint64_t)0);

		if (!bits) {
			continue;
		}
		if (!column->indexed && __builtin_popcountll(bits) >= DENSE) {
			put_block(column, batch->view, w * 64, batch->anew);
			column->stale[w] = 0;
			continue;
		}
		for (; bits; bits &= bits - 1) {
			add(batch, w * 64 + (uint32_t)__builtin_ctzll(bits));
		}
	}
}

/* Marks every node stale, or those that the journal names. */
static void mark(struct bt_column *column, const struct bt_usage *usage, bool all)
{
	if (all) {
		memset(column->stale, 0xff, column->slot_n / 64 * sizeof(*column->stale));
		for (uint32_t i = column->slot_n / 64 * 64; i < column->slot_n; i++) {
			bt_bitmap_set(column->stale, i);
		}
		return;
	}
	uint64_t *stale = column->stale, end = usage->journal_end, journal_mask = usage->journal_mask;
	const uint32_t *journal = usage->journal;
	uint32_t slot_n = column->slot_n;

	for (uint64_t at = column->journal_at; at != end; at++) {
		uint32_t node_ix = journal[at & journal_mask];

		/* A node that became known after the column was made is not live, or there would be a new
		 * snapshot. */
		if (node_ix < slot_n) {
			bt_bitmap_set(stale, node_ix);
		}
	}
}

/*
 * Evaluates the nodes that the journal names and that are in the mask; others become stale. Requires: no node
 * in the mask is stale. A node that is named twice is stale from the first time until it is evaluated.
 * Without branches, which nobody could predict.
 */
static void follow(struct batch *batch, const uint64_t *mask)
{
	struct bt_column *column = batch->column;
	const struct bt_usage *usage = batch->view->usage;
	const uint64_t end = usage->journal_end, journal_mask = usage->journal_mask;
	uint64_t *stale = column->stale;

	for (uint64_t at = column->journal_at; at != end; at++) {
		uint32_t node_ix = usage->journal[at & journal_mask];
		uint64_t bit = (uint64_t)1 << (node_ix % 64);

		if (node_ix >= column->slot_n) {
			continue;
		}
		uint64_t wanted = (mask ? mask[node_ix / 64] : bit) & ~stale[node_ix / 64] & bit;
		stale[node_ix / 64] |= bit;
		__builtin_prefetch(&column->value[node_ix], 1);
		batch->nodes[batch->n] = node_ix;
		batch->n += wanted != 0;
		if (batch->n == BLOCK) {
			evaluate_batch(batch);
		}
	}
}

/* A column that is indexed has no stale nodes: those that the journal names are evaluated at once. */
static void replay(struct batch *batch)
{
	const struct bt_usage *usage = batch->view->usage;

	for (uint64_t at = batch->column->journal_at; at != usage->journal_end; at++) {
		uint32_t node_ix = usage->journal[at & usage->journal_mask];

		if (node_ix < batch->column->slot_n) {
			add(batch, node_ix);
		}
	}
}

void bt_column_catch_up(struct bt_column *column, const struct bt_view *view, const uint64_t *mask)
{
	const struct bt_usage *usage = view->usage;
	uint64_t behind = usage->journal_end - column->journal_at;
	struct batch batch;

	batch.column = column;
	batch.view = view;
	batch.gathering = UNKNOWN;
	batch.n = 0;
	BT_INVARIANT(column->slot_n <= view->snapshot->slot_n);
	bool overrun = !column->built || behind > usage->journal_mask;
	enum bt_catch_up way =
		overrun ? BT_CATCH_UP_ALL : bt_column_choose(behind, column->slot_n, column->calm_n);
	batch.anew = way == BT_CATCH_UP_ALL;
	column->flip_end += batch.anew ? BT_COLUMN_FLIPS + 1 : 0;
	column->indexed &= way == BT_CATCH_UP_AND_INDEX;
	column->calm_n =
		way == BT_CATCH_UP_ALL || behind > column->slot_n / CALM_SHARE ? 0 : column->calm_n + 1;
	if (way == BT_CATCH_UP_AND_INDEX) {
		mask = NULL;
	}
	if (column->indexed) {
		replay(&batch);
	} else if (way != BT_CATCH_UP_ALL && behind <= column->slot_n / FOLLOW_SHARE &&
		   (!column->fresh || column->fresh == mask)) {
		follow(&batch, mask);
	} else {
		mark(column, usage, way == BT_CATCH_UP_ALL);
		freshen(&batch, mask);
	}
	column->fresh = mask;
	evaluate_batch(&batch);
	if (way == BT_CATCH_UP_AND_INDEX && !column->indexed && !column->odd &&
		column->value_n <= BT_INDEX_VALUES) {
		bt_index_build(&column->index, column->value, column->slot_n, column->value_n);
		column->indexed = true;
	}
	column->built = true;
	column->journal_at = usage->journal_end;
}

uint16_t bt_column_value(struct bt_column *column, const struct bt_view *view, uint32_t node_ix)
{
	if (bt_bitmap_test(column->stale, node_ix)) {
		put(column, node_ix, yield(column, view, node_ix, evaluate_one(column, view, node_ix)));
		bt_bitmap_clear(column->stale, node_ix);
	}
	return column->value[node_ix];
}

void bt_column_change_mask(struct bt_column *column, const uint64_t *mask)
{
	static const uint64_t none;

	if (mask && column->fresh == mask) {
		column->fresh = &none;
	}
}

void bt_column_init(struct bt_column *column, uint32_t slot_n)
{
	column->slot_n = slot_n;
	column->value_n = 2;
	for (uint32_t p = 0; p < column->part_n; p++) {
		const struct bt_column_part *part = &column->parts[p];

		column->reads |= part->plugin->reads ? part->plugin->reads(part->term) : ALL_SLOTS;
		column->value_n +=
			column->parts[p].score ? (uint32_t)(column->parts[p].weight * BT_MAX_NODE_SCORE) : 0;
	}
	/* Whole steps of a scan, and whole words of a bitmap. */
	column->value = bt_mem_column(((size_t)slot_n + 63) / 64 * 64, sizeof(*column->value));
	column->stale = bt_mem_zalloc(bt_bitmap_words(slot_n), sizeof(*column->stale));
}

void bt_column_fini(struct bt_column *column)
{
	bt_mem_free(column->value);
	bt_mem_free(column->stale);
	bt_index_fini(&column->index);
}
