/* SPDX-License-Identifier: Apache-2.0
 * Columns over usage: changed nodes are stale until a plan needs them; a column that changes little is
 * indexed.
 */
#include "engine/score/column.h"

#include <string.h>

#include "cache/node_view.h"
#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/score/column_batch.h"
#include "engine/score/column_int.h"
#include "engine/score/gather.h"
#include "plugins/resource_ranges.h"

#define BLOCK	      BT_GATHER_NODES /* a word of the bitmaps */
#define STABLE_ENOUGH 16	      /* consecutive updates */
#define STABLE_SHARE  BT_COLUMN_STABLE_SHARE
#define DENSE	      24 /* stale nodes of a word from which on evaluating all 64 is cheaper */
#define FOLLOW_SHARE                                                                                         \
	4 /* a journal that lists at most 1/FOLLOW_SHARE of the nodes is followed entry by entry */
#define ALL_SLOTS UINT64_MAX
#define GATHER	  4 /* number of nodes from which on gathering them is cheaper than evaluating one by one */
#define STEP	  BT_RANGE_STEP
#define FEW	  3 /* changes for which scalar evaluation is cheaper than a vector */

/* The values of up to BLOCK consecutive nodes. */
static void evaluate_block(const struct bt_column *column, const struct bt_view *view, uint32_t first,
	uint32_t n, uint16_t *out_value, bool *out_of_range)
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
			/* A number out of range sets the sign of the remainder. */
			for (uint32_t i = 0; i < n; i++) {
				outside |= raw[i] | (BT_MAX_NODE_SCORE - (raw[i] & INT64_MAX));
				sum[i] += ((uint32_t)raw[i] & 127) * weight;
			}
		}
	}
	*out_of_range |= outside < 0;
	for (uint32_t i = 0; i < n; i++) {
		out_value[i] = passes[i] ? (uint16_t)sum[i] : 0;
	}
}

/* The value of one node; a refused node is not scored. */
static uint16_t evaluate_one(
	const struct bt_column *column, const struct bt_view *view, uint32_t node_ix, bool *out_of_range)
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
			*out_of_range |= raw < 0 || raw > BT_MAX_NODE_SCORE;
			sum += (raw & 127) * part->weight;
		}
	}
	BT_INVARIANT((sum >= 1 && sum < column->value_n) || *out_of_range);
	return (uint16_t)sum;
}

/* The values of these nodes, or of those from first on, by vectors where they support it. */
static void evaluate_sums(const struct bt_column *column, const struct bt_view *view, const uint32_t *nodes,
	uint32_t first, uint32_t n, uint16_t *out_value, bool *out_of_range)
{
	for (uint32_t i = 0; i < n;) {
		i += bt_range_sums(
			&column->sum, view, nodes ? nodes + i : NULL, first + i, n - i, out_value + i);
		for (uint32_t stop = i + STEP; i < n && i < stop; i++) {
			out_value[i] = evaluate_one(column, view, nodes ? nodes[i] : first + i, out_of_range);
		}
	}
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

/* The value of a node for a pod that must fit with nominated pods. */
static uint16_t yield(
	const struct bt_column *column, const struct bt_view *view, uint32_t node_ix, uint16_t value)
{
	const struct bt_nominations_ahead *nominations = column->nominations;

	if (!nominations || !value || !nominations->put(nominations->context, node_ix)) {
		return value;
	}
	bool pass = passes(column, view, node_ix);
	nominations->take(nominations->context, node_ix);
	return pass ? value : 0;
}

enum bt_catch_up bt_column_choose(uint64_t behind, uint32_t slot_n, uint32_t stable_rounds)
{
	if (behind > slot_n) {
		return BT_CATCH_UP_ALL;
	}
	/* An index saves a scan and costs a move per change. */
	return stable_rounds >= STABLE_ENOUGH && behind <= slot_n / STABLE_SHARE ? BT_CATCH_UP_AND_INDEX
										 : BT_CATCH_UP_JOURNAL;
}

/* Called through a pointer: inlining it slows the rest of a placement down. */
static enum bt_catch_up by_cost(void *context, uint64_t behind, uint32_t slot_n, uint32_t stable_rounds)
{
	(void)context;
	return bt_column_choose(behind, slot_n, stable_rounds);
}

static bt_column_chooser *chooser = by_cost;
static void *chooser_context;

void bt_column_choose_by(bt_column_chooser *other, void *context)
{
	chooser = other ? other : by_cost;
	chooser_context = context;
}

/* Nodes to be evaluated together. */
struct node_batch {
	struct bt_column *column;
	const struct bt_view *view;
	struct bt_column_flips *flips;
	struct bt_gather gather;
	enum { UNKNOWN = 0, POSSIBLE, IMPOSSIBLE } gathering;
	bool out_of_range;
	uint32_t first, end; /* other nodes belong to other shards */
	uint32_t n;
	uint32_t nodes[BLOCK];
};

/* Evaluates a whole word of nodes. all_stale: does not record flips. */
static void put_block(struct node_batch *batch, uint32_t first, bool all_stale)
{
	struct bt_column *column = batch->column;
	uint32_t left = column->slot_n - first, n = left < BLOCK ? left : BLOCK, flip_n = 0;
	uint16_t before[BLOCK], *value = column->value + first;
	uint8_t flipped[BLOCK];

	BT_INVARIANT(first % 64 == 0 && first < column->slot_n);
	memcpy(before, value, n * sizeof(*before));
	if (column->summed) {
		evaluate_sums(column, batch->view, NULL, first, n, value, &batch->out_of_range);
	} else {
		evaluate_block(column, batch->view, first, n, value, &batch->out_of_range);
	}
	for (uint32_t i = 0; column->nominations && i < n; i++) {
		value[i] = yield(column, batch->view, first + i, value[i]);
	}
	if (all_stale) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		flipped[i] = (before[i] == 0) != (value[i] == 0);
		flip_n += flipped[i];
	}
	for (uint32_t i = 0; flip_n && i < n; i++) {
		if (flipped[i]) {
			bt_column_flip(batch->flips, first + i);
		}
	}
}

static bool gathering(struct node_batch *batch)
{
	if (batch->gathering == UNKNOWN) {
		batch->gathering = batch->column->gathers && bt_gather_begin(&batch->gather, batch->view,
								     batch->column->reads)
					   ? POSSIBLE
					   : IMPOSSIBLE;
	}
	return batch->gathering == POSSIBLE;
}

/* The values of the batch's nodes. */
static void evaluate_nodes(struct node_batch *batch, uint16_t *value)
{
	const struct bt_column *column = batch->column;

	if (column->summed) {
		uint32_t n = (batch->n + STEP - 1) / STEP * STEP;

		/* Pads to whole vectors. */
		for (uint32_t i = batch->n; i < n; i++) {
			batch->nodes[i] = batch->nodes[0];
		}
		evaluate_sums(column, batch->view, batch->nodes, 0, n, value, &batch->out_of_range);
	} else if (batch->n >= GATHER && gathering(batch)) {
		bt_gather_nodes(&batch->gather, batch->nodes, batch->n);
		evaluate_block(column, &batch->gather.view, 0, batch->n, value, &batch->out_of_range);
	} else {
		for (uint32_t i = 0; i < batch->n; i++) {
			value[i] = evaluate_one(column, batch->view, batch->nodes[i], &batch->out_of_range);
		}
	}
}

static void evaluate_batch(struct node_batch *batch)
{
	BT_INVARIANT(batch->n <= BLOCK);
	struct bt_column *column = batch->column;
	uint16_t value[BLOCK];

	if (batch->n == 0) {
		return;
	}
	evaluate_nodes(batch, value);
	if (batch->out_of_range && column->indexed) {
		column->indexed = false;
	}
	for (uint32_t i = 0; column->nominations && i < batch->n; i++) {
		value[i] = yield(column, batch->view, batch->nodes[i], value[i]);
	}
	for (uint32_t i = 0; column->indexed && column->slot_n >= BT_COLUMN_WIDE && i < batch->n; i++) {
		bt_index_fetch(&column->index, batch->nodes[i], column->value[batch->nodes[i]], value[i]);
	}
	for (uint32_t i = 0; i < batch->n; i++) {
		bt_bitmap_clear(column->stale, batch->nodes[i]);
		bt_column_put(column, batch->flips, batch->nodes[i], value[i]);
	}
	batch->n = 0;
}

static void column_add(struct node_batch *batch, uint32_t node_ix)
{
	BT_INVARIANT(node_ix < batch->column->slot_n && batch->n < BLOCK);
	/* With many columns few are in the cache: prefetches the old value while the new one is computed. */
	__builtin_prefetch(&batch->column->value[node_ix], 1);
	batch->nodes[batch->n++] = node_ix;
	if (batch->n == BLOCK) {
		evaluate_batch(batch);
	}
}

/* Evaluates the stale nodes in the mask. Words that are mostly stale are evaluated as a block. */
static void freshen(struct node_batch *batch, const uint64_t *mask, bool all_stale)
{
	struct bt_column *column = batch->column;

	BT_INVARIANT(batch->first % 64 == 0);
	for (uint32_t w = batch->first / 64; w < bt_bitmap_words(batch->end); w++) {
		uint64_t bits = column->stale[w] & (mask ? mask[w] : ~(uint64_t)0);

		if (!bits) {
			continue;
		}
		if (!column->indexed && __builtin_popcountll(bits) >= DENSE) {
			put_block(batch, w * 64, all_stale);
			column->stale[w] = 0;
			continue;
		}
		for (; bits; bits &= bits - 1) {
			column_add(batch, w * 64 + (uint32_t)__builtin_ctzll(bits));
		}
	}
}

/* Is a node in the journal one of the batch's? */
static bool is_ours(const struct node_batch *batch, uint32_t node_ix)
{
	return node_ix - batch->first < batch->end - batch->first;
}

/* Marks every node stale, or those in the journal. */
static void mark(struct node_batch *batch, bool all)
{
	struct bt_column *column = batch->column;
	const struct bt_usage *usage = batch->view->usage;
	uint64_t *stale = column->stale, end = usage->journal_end, journal_mask = usage->journal_mask;
	uint32_t whole = batch->end / 64 * 64;

	BT_INVARIANT(batch->end <= column->slot_n && batch->first % 64 == 0);
	if (all) {
		memset(stale + batch->first / 64, 0xff, (whole - batch->first) / 64 * sizeof(*stale));
		for (uint32_t i = whole; i < batch->end; i++) {
			bt_bitmap_set(stale, i);
		}
		return;
	}
	for (uint64_t at = column->journal_at; at != end; at++) {
		uint32_t node_ix = usage->journal[at & journal_mask];

		if (is_ours(batch, node_ix)) {
			bt_bitmap_set(stale, node_ix);
		}
	}
}

/*
 * Evaluates the nodes in the journal that are in the mask; others become stale. Requires: no node in the mask
 * is stale. A node that is listed twice is stale from the first time until it is evaluated. Branch-free,
 * because the branches would be unpredictable.
 */
static void follow(struct node_batch *batch, const uint64_t *mask)
{
	struct bt_column *column = batch->column;
	const struct bt_usage *usage = batch->view->usage;
	const uint64_t end = usage->journal_end, journal_mask = usage->journal_mask;
	uint64_t *stale = column->stale;

	for (uint64_t at = column->journal_at; at != end; at++) {
		uint32_t node_ix = usage->journal[at & journal_mask];
		uint64_t bit = (uint64_t)1 << (node_ix % 64);

		if (!is_ours(batch, node_ix)) {
			continue;
		}
		uint64_t wanted = (mask ? mask[node_ix / 64] : bit) & ~stale[node_ix / 64] & bit;
		stale[node_ix / 64] |= bit;
		__builtin_prefetch(&column->value[node_ix], 1);
		BT_INVARIANT(batch->n < BLOCK);
		batch->nodes[batch->n] = node_ix;
		batch->n += wanted != 0;
		if (batch->n == BLOCK) {
			evaluate_batch(batch);
		}
	}
}

/* Evaluates the nodes in the journal at once, because an indexed column has no stale nodes. */
static void replay(struct node_batch *batch)
{
	BT_INVARIANT(batch->column->indexed);
	const struct bt_usage *usage = batch->view->usage;

	for (uint64_t at = batch->column->journal_at; at != usage->journal_end; at++) {
		uint32_t node_ix = usage->journal[at & usage->journal_mask];

		if (is_ours(batch, node_ix)) {
			column_add(batch, node_ix);
		}
	}
}

static enum bt_catch_up choose(const struct bt_column *column, const struct bt_usage *usage)
{
	uint64_t behind = usage->journal_end - column->journal_at;
	bool overrun = !column->built || behind > usage->journal_mask;

	if (overrun) {
		return BT_CATCH_UP_ALL;
	}
	BT_INVARIANT(column->journal_at <= usage->journal_end);
	return chooser(chooser_context, behind, column->slot_n, column->stable_rounds);
}

/* Slots were added, or taken back: these have the value 0. */
static void follow_slots(struct bt_column *column, uint32_t slot_n)
{
	for (uint32_t i = slot_n; i < column->slot_n; i++) {
		bt_column_put(column, &column->flips, i, 0);
		bt_bitmap_clear(column->stale, i);
	}
	column->slot_n = slot_n;
}

static void begin_round(struct bt_column_round *round, struct bt_column *column, const struct bt_view *view,
	const uint64_t *mask, enum bt_catch_up way)
{
	uint64_t behind = view->usage->journal_end - column->journal_at;

	bt_column_batch_leave(column);
	follow_slots(column, bt_column_slots(column, view));
	if (way == BT_CATCH_UP_AND_INDEX) {
		mask = NULL;
	}
	*round = (struct bt_column_round){.column = column,
		.view = view,
		.mask = mask,
		.behind = behind,
		.all_stale = way == BT_CATCH_UP_ALL,
		.follows = way != BT_CATCH_UP_ALL && behind <= column->slot_n / FOLLOW_SHARE &&
			   (!column->fresh || column->fresh == mask)};
	column->flips.end += round->all_stale ? BT_COLUMN_FLIPS + 1 : 0;
	column->indexed &= way == BT_CATCH_UP_AND_INDEX;
	column->stable_rounds =
		round->all_stale || behind > column->slot_n / STABLE_SHARE ? 0 : column->stable_rounds + 1;
	BT_INVARIANT(!column->indexed || way == BT_CATCH_UP_AND_INDEX);
}

static bool run_shard(
	const struct bt_column_round *round, uint32_t first, uint32_t end, struct bt_column_flips *flips)
{
	BT_INVARIANT(first <= end && end <= round->column->slot_n);
	struct node_batch batch;

	batch.column = round->column;
	batch.view = round->view;
	batch.flips = flips;
	batch.gathering = UNKNOWN;
	batch.out_of_range = false;
	batch.first = first;
	batch.end = end;
	batch.n = 0;
	if (round->column->indexed) {
		replay(&batch);
	} else if (round->follows) {
		follow(&batch, round->mask);
	} else {
		mark(&batch, round->all_stale);
		freshen(&batch, round->mask, round->all_stale);
	}
	evaluate_batch(&batch);
	return batch.out_of_range;
}

static void end_round(const struct bt_column_round *round)
{
	struct bt_column *column = round->column;

	column->fresh = round->mask;
	column->built = true;
	column->journal_at = round->view->usage->journal_end;
	BT_INVARIANT(column->journal_at >= round->view->usage->journal_end - round->behind);
}

void bt_column_step(struct bt_column *column, const struct bt_view *view, uint32_t node_ix)
{
	bool exists = node_ix < bt_column_slots(column, view);
	uint16_t value = exists ? evaluate_one(column, view, node_ix, &column->out_of_range) : 0;

	column->indexed &= !column->out_of_range;
	if (BT_LIKELY(node_ix < column->slot_room)) {
		bt_column_put(column, &column->flips, node_ix, value);
	}
}

/* Updates an indexed column that is behind by a few changes; it stays indexed. */
static void step(struct bt_column *column, const struct bt_view *view)
{
	const struct bt_usage *usage = view->usage;
	uint64_t at = column->journal_at, end = usage->journal_end;

	BT_INVARIANT(column->indexed && at <= end);
	column->journal_at = end;
	bt_column_widen(column, bt_column_slots(column, view));
	for (; at != end; at++) {
		bt_column_step(column, view, usage->journal[at & usage->journal_mask]);
	}
}

/* Updates a column in one round. */
static BT_NOINLINE void catch_up(struct bt_column *column, const struct bt_view *view, const uint64_t *mask)
{
	enum bt_catch_up way = choose(column, view->usage);
	struct bt_column_round round;

	begin_round(&round, column, view, mask, way);
	column->out_of_range |= run_shard(&round, 0, column->slot_n, &column->flips);
	if (way == BT_CATCH_UP_AND_INDEX && !column->indexed && !column->out_of_range &&
		column->value_n <= BT_INDEX_VALUES) {
		bt_index_build(&column->index, column->value, column->slot_room, column->value_n);
		column->indexed = true;
	}
	end_round(&round);
}

/* Updates the column outside of a batch; afterwards it may join one. */
static BT_NOINLINE void go_alone(struct bt_column *column, const struct bt_view *view, const uint64_t *mask)
{
	if (column->indexed && view->usage->journal_end - column->journal_at <= column->near) {
		step(column, view);
	} else {
		catch_up(column, view, mask);
	}
	if (column->indexed && column->column_batch) {
		bt_column_batch_join(column, view);
	}
}

void bt_column_catch_up(struct bt_column *column, const struct bt_view *view, const uint64_t *mask)
{
	BT_OWNED_BY_THREAD(&view->usage->owner);
	column->used_at = view->usage->journal_end;
	if (!column->is_column_batch || !bt_column_batch_follow(column->column_batch, view)) {
		go_alone(column, view, mask);
	}
	BT_INVARIANT(column->journal_at == view->usage->journal_end);
}

bool bt_column_is_current(const struct bt_column *column, const struct bt_view *view, const uint64_t *mask)
{
	return column->built && column->journal_at == view->usage->journal_end &&
	       (!column->fresh || column->fresh == mask);
}

bool bt_column_round_begin(struct bt_column_round *round, struct bt_column *column,
	const struct bt_view *view, const uint64_t *mask)
{
	BT_OWNED_BY_THREAD(&view->usage->owner);
	enum bt_catch_up way = choose(column, view->usage);

	if (column->nominations || column->out_of_range || way == BT_CATCH_UP_AND_INDEX ||
		bt_column_is_current(column, view, mask)) {
		return false;
	}
	begin_round(round, column, view, mask, way);
	return true;
}

void bt_column_round_shard(
	const struct bt_column_round *round, uint32_t first, uint32_t end, struct bt_column_found *out_found)
{
	BT_REQUIRE(first % 64 == 0 && (end % 64 == 0 || end == round->column->slot_n));
	out_found->flips.end = 0;
	out_found->out_of_range = run_shard(round, first, end, &out_found->flips);
}

void bt_column_round_end(
	const struct bt_column_round *round, const struct bt_column_found *found, uint32_t found_n)
{
	BT_OWNED_BY_THREAD(&round->view->usage->owner);
	struct bt_column *column = round->column;

	for (uint32_t i = 0; i < found_n; i++) {
		const struct bt_column_flips *flips = &found[i].flips;

		column->out_of_range |= found[i].out_of_range;
		column->flips.end += flips->end > BT_COLUMN_FLIPS ? BT_COLUMN_FLIPS + 1 : 0;
		for (uint64_t k = 0; flips->end <= BT_COLUMN_FLIPS && k < flips->end; k++) {
			bt_column_flip(&column->flips, flips->items[k]);
		}
	}
	end_round(round);
}

uint16_t bt_column_value(struct bt_column *column, const struct bt_view *view, uint32_t node_ix)
{
	BT_REQUIRE_HOT(node_ix < column->slot_room && node_ix < view->snapshot->slot_n);
	if (bt_bitmap_test(column->stale, node_ix)) {
		uint16_t value = evaluate_one(column, view, node_ix, &column->out_of_range);

		bt_column_put(column, &column->flips, node_ix, yield(column, view, node_ix, value));
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

void bt_column_init(struct bt_column *column, uint32_t slot_n, uint32_t slot_room)
{
	BT_REQUIRE(column->part_n <= BT_PROFILE_USES && slot_n <= slot_room);
	column->slot_n = slot_n;
	column->slot_room = slot_room;
	column->value_n = 2;
	column->summed = bt_range_vectors();
	column->gathers = true;
	for (uint32_t p = 0; p < column->part_n; p++) {
		const struct bt_column_part *part = &column->parts[p];

		column->summed = column->summed && part->plugin->describe &&
				 part->plugin->describe(
					 part->term, part->filter, part->score, part->weight, &column->sum);
		column->gathers &= !part->plugin->sees_pods;
		column->reads |= part->plugin->reads ? part->plugin->reads(part->term) : ALL_SLOTS;
		column->value_n +=
			column->parts[p].score ? (uint32_t)(column->parts[p].weight * BT_MAX_NODE_SCORE) : 0;
	}
	column->wants_rest = column->summed && bt_resource_sum_wants_rest(&column->sum);
	column->column_batch = column->summed && !column->nominations ? column->column_batch : NULL;
	column->near = column->nominations ? 0 : slot_n / STABLE_SHARE < FEW ? slot_n / STABLE_SHARE : FEW;
	/* Padded to whole scan steps and bitmap words. */
	column->value = bt_mem_column(((size_t)slot_room + 63) / 64 * 64, sizeof(*column->value));
	column->stale = bt_mem_zalloc(bt_bitmap_words(slot_room), sizeof(*column->stale));
	BT_INVARIANT(column->value_n >= 2);
}

void bt_column_fini(struct bt_column *column)
{
	bt_column_batch_leave(column);
	bt_mem_free(column->value);
	bt_mem_free(column->stale);
	bt_index_fini(&column->index);
}
