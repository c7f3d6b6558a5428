/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: maintains normalization, picks by columns (I9, I10).
 */
#include "cache/node_view.h"
#include "engine/score/plan.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/score/column_batch.h"
#include "engine/score/normalize.h"
#include "engine/score/scan.h"

#define NEAR_SHARE 5 /* top groups at first: those behind by less than 1/NEAR_SHARE of what usage can add */

#define BLOCKS_SHARE 2 /* blocks are updated one by one while at most 1/BLOCKS_SHARE of them changed */

/* ---- normalization: the highest raw scores of feasible nodes ---- */

uint16_t bt_group_static_score(
	const struct bt_plan *plan, const struct bt_group *group, const int64_t *highest)
{
	int64_t sum = group->fixed;

	for (uint32_t k = 0; k < plan->normalized_n; k++) {
		const struct bt_plugin_use *use = &plan->profile->uses[plan->normalized[k]];
		bool reversed = use->plugin->normalize == BT_NORMALIZE_REVERSED;

		/* Raw scores above the highest feasible one belong to nodes that cannot win; they are
		 * clamped, so that sums fit. */
		int64_t raw = group->raw[k] > highest[k] ? highest[k] : group->raw[k];
		sum += bt_normalize_default(raw, highest[k], reversed) * use->weight;
	}
	BT_INVARIANT(sum >= 0 && sum < UINT16_MAX);
	return (uint16_t)(sum + 1);
}

static const uint64_t *mask_of(const struct bt_plan *plan, uint32_t g)
{
	BT_INVARIANT(g > 0 && g < plan->group_n && plan->masks);
	return plan->masks + (g - 1) * plan->word_n;
}

/* The most that usage can add to a group's static score. */
static uint32_t most_of_usage(const struct bt_plan *plan)
{
	return plan->usage->value_n - 1;
}

/* Sets the top groups to the first top_n. */
static void set_top(struct bt_plan *plan, uint32_t top_n, uint32_t slot_n)
{
	size_t word_n = bt_bitmap_words(slot_n);

	BT_INVARIANT(top_n > 0 && top_n < plan->group_n);
	plan->top_n = top_n;
	plan->base_filled = false;
	bt_column_change_mask(plan->usage, plan->top);
	memset(plan->top, 0, word_n * sizeof(*plan->top));
	for (uint32_t i = 0; i < top_n; i++) {
		const uint64_t *mask = mask_of(plan, plan->order[i]);

		for (size_t w = 0; w < word_n; w++) {
			plan->top[w] |= mask[w];
		}
	}
}

/* Chooses the top groups: those within reach of the first by usage, by a part of what usage can add. */
static void choose_top(struct bt_plan *plan, uint32_t slot_n)
{
	BT_INVARIANT(plan->group_n > 1);
	uint32_t n = 1, group_n = plan->group_n - 1, near = most_of_usage(plan) / NEAR_SHARE;

	while (n < group_n && plan->groups[plan->order[n]].static_score + near >
				      plan->groups[plan->order[0]].static_score) {
		n++;
	}
	BT_INVARIANT(n <= group_n);
	set_top(plan, plan->plain ? n : group_n, slot_n);
}

/* Updates the groups' static scores for the present maxima and, if there are masks, their order. */
static void rank_groups(struct bt_plan *plan, uint32_t slot_n)
{
	for (uint32_t g = 1; g < plan->group_n; g++) {
		uint32_t at = g - 1;

		plan->groups[g].static_score = bt_group_static_score(plan, &plan->groups[g], plan->highest);
		if (!plan->masks) {
			continue;
		}
		for (; at > 0 &&
			plan->groups[plan->order[at - 1]].static_score < plan->groups[g].static_score;
			at--) {
			plan->order[at] = plan->order[at - 1];
		}
		plan->order[at] = g;
		BT_INVARIANT(at == 0 ||
			     plan->groups[plan->order[at - 1]].static_score >= plan->groups[g].static_score);
	}
	plan->base_filled = false;
	if (plan->masks && plan->group_n > 1) {
		choose_top(plan, slot_n);
	}
}

static uint32_t feasible_in(const uint64_t *mask, const uint16_t *value, uint32_t slot_n)
{
	for (size_t w = 0; w < bt_bitmap_words(slot_n); w++) {
		for (uint64_t bits = mask[w]; bits; bits &= bits - 1) {
			size_t slot = w * 64 + (size_t)__builtin_ctzll(bits);

			if (value[slot]) {
				return (uint32_t)slot;
			}
		}
	}
	return BT_NO_NODE;
}

/* Finds a feasible node of each group, by masks. Returns: whether there is any. */
static bool find_members(struct bt_plan *plan, uint32_t slot_n)
{
	BT_INVARIANT(plan->masks);
	bool any = false;

	for (uint32_t g = 1; g < plan->group_n; g++) {
		uint32_t member = feasible_in(mask_of(plan, g), plan->usage->value, slot_n);

		plan->groups[g].member = member;
		any |= member != BT_NO_NODE;
	}
	return any;
}

/* A feasible node with its raw score; BT_NO_NODE and -1: none. */
struct top {
	uint32_t node_ix;
	int32_t raw;
};

/* The highest raw score, by groups. */
static struct top top_of_groups(const struct bt_plan *plan, uint32_t k)
{
	struct top top = {BT_NO_NODE, -1};

	for (uint32_t g = 1; g < plan->group_n; g++) {
		const struct bt_group *group = &plan->groups[g];

		if (group->member != BT_NO_NODE && group->raw[k] > top.raw) {
			top = (struct top){group->member, group->raw[k]};
		}
	}
	return top;
}

/* The first feasible node from a slot on. */
static uint32_t feasible_from(const struct bt_plan *plan, uint32_t node_ix, uint32_t slot_n)
{
	while (node_ix < slot_n && !(plan->usage->value[node_ix] && plan->group[node_ix])) {
		node_ix++;
	}
	return node_ix;
}

/* The highest raw score by nodes, for when there may be as many groups; first: the first feasible node, which
 * suffices where all groups agree. */
static struct top top_of_nodes(const struct bt_plan *plan, uint32_t k, uint32_t first, uint32_t slot_n)
{
	BT_INVARIANT(first < slot_n && plan->usage->value[first] && plan->group[first]);
	const uint16_t *value = plan->usage->value, *group = plan->group;
	struct top top = {first, plan->groups[group[first]].raw[k]};

	for (uint32_t i = first + 1; !plan->uniform[k] && i < slot_n; i++) {
		int32_t raw = value[i] && group[i] ? plan->groups[group[i]].raw[k] : -1;

		top = raw > top.raw ? (struct top){i, raw} : top;
	}
	return top;
}

/* Finds the highest raw scores of all groups with feasible nodes. Afterwards static scores are current. */
static void choose_witnesses(struct bt_plan *plan, uint32_t slot_n)
{
	uint32_t first = plan->masks ? BT_NO_NODE : feasible_from(plan, 0, slot_n);
	bool moved = !plan->maxima_known;

	plan->refused = plan->masks ? !find_members(plan, slot_n) : first == slot_n;
	for (uint32_t k = 0; k < plan->normalized_n; k++) {
		struct top top = {BT_NO_NODE, 0};

		if (!plan->refused) {
			top = plan->masks ? top_of_groups(plan, k) : top_of_nodes(plan, k, first, slot_n);
		}
		plan->witness[k] = top.node_ix;
		moved |= plan->highest[k] != top.raw;
		plan->highest[k] = top.raw;
	}
	if (moved && !plan->refused) {
		rank_groups(plan, slot_n);
		plan->maxima_known = true;
	}
}

/*
 * Are the maxima valid for the present feasible nodes? Feasible nodes only become fewer until a release, so
 * while the witnesses are feasible no maximum has moved. Where all groups agree in a raw score there is
 * nothing to check.
 */
static bool maxima_hold(const struct bt_plan *plan, const struct bt_view *view)
{
	bool released = plan->release_n != bt_plan_releases(plan, view->usage);

	if (!plan->maxima_known || plan->steady) {
		return plan->maxima_known;
	}
	for (uint32_t k = 0; k < plan->normalized_n; k++) {
		uint32_t witness = plan->witness[k];

		if (!plan->uniform[k] &&
			(released || witness == BT_NO_NODE || !bt_column_value(plan->usage, view, witness))) {
			return false;
		}
	}
	return true;
}

/* ---- picking ---- */

static uint32_t distance(uint32_t from, uint32_t to, uint32_t slot_n)
{
	BT_INVARIANT(from < slot_n && to < slot_n);
	return to >= from ? to - from : to + slot_n - from;
}

/* The best node by an index, and its total; BT_NO_NODE and 0: none. */
struct find {
	uint32_t slot, total;
};

/* The best node of a group with at least that total, by the column's index, whose highest value is known. */
static struct find find_in_group(
	const struct bt_plan *plan, uint32_t g, uint32_t highest, uint32_t least, uint32_t start)
{
	const struct bt_index *index = &plan->usage->index;
	const struct bt_group *group = &plan->groups[g];
	const uint64_t *mask = mask_of(plan, g);

	BT_INVARIANT(index->slot_n == plan->slot_room);
	for (uint32_t v = highest; v && v + group->static_score >= least; v = bt_index_below(index, v)) {
		uint32_t slot = bt_index_first(index, v, mask, start);

		if (slot != BT_INDEX_NONE) {
			return (struct find){slot, v + group->static_score};
		}
	}
	return (struct find){BT_NO_NODE, 0};
}

/* The best node of several groups, by the column's index: the best of each group that can still win, in order
 * of static scores. */
static BT_NOINLINE uint32_t pick_of_groups(const struct bt_plan *plan, uint32_t slot_n, uint32_t start)
{
	uint32_t highest = bt_index_highest(&plan->usage->index);
	struct find best = find_in_group(plan, plan->order[0], highest, 0, start);

	for (uint32_t i = 1; i + 1 < plan->group_n; i++) {
		if (highest + plan->groups[plan->order[i]].static_score < best.total) {
			break;
		}
		struct find other = find_in_group(plan, plan->order[i], highest, best.total, start);
		if (other.total > best.total ||
			(other.total && other.total == best.total &&
				distance(start, other.slot, slot_n) < distance(start, best.slot, slot_n))) {
			best = other;
		}
	}
	BT_INVARIANT(best.slot == BT_NO_NODE || best.slot < slot_n);
	return best.slot;
}

/* The same for one or more groups. */
static uint32_t pick_by_index(const struct bt_plan *plan, uint32_t slot_n, uint32_t start)
{
	const struct bt_index *index = &plan->usage->index;

	BT_INVARIANT(plan->usage->indexed && index->slot_n == plan->slot_room);
	if (plan->groups[plan->order[0]].node_n != slot_n) {
		return pick_of_groups(plan, slot_n, start);
	}
	uint32_t highest = bt_index_highest(index);
	return highest ? bt_index_first(index, highest, NULL, start) : BT_NO_NODE;
}

static void fill_base(struct bt_plan *plan, uint32_t slot_n)
{
	if (!plan->base) {
		plan->base = bt_mem_column(bt_scan_padded(plan->slot_room), sizeof(*plan->base));
	}
	for (uint32_t i = slot_n; i < plan->slot_room; i++) {
		plan->base[i] = 0;
	}
	for (uint32_t i = 0; !plan->masks && i < slot_n; i++) {
		plan->base[i] = plan->groups[plan->group[i]].static_score;
	}
	if (plan->masks) {
		memset(plan->base, 0, slot_n * sizeof(*plan->base));
	}
	for (uint32_t k = 0; plan->masks && k < plan->top_n; k++) {
		const uint64_t *mask = mask_of(plan, plan->order[k]);
		uint16_t static_score = plan->groups[plan->order[k]].static_score;

		for (size_t w = 0; w < bt_bitmap_words(slot_n); w++) {
			for (uint64_t bits = mask[w]; bits; bits &= bits - 1) {
				plan->base[w * 64 + (size_t)__builtin_ctzll(bits)] = static_score;
			}
		}
	}
	plan->base_filled = true;
	plan->blocks_known = false;
}

/* Updates the blocks' best totals. Returns: false when a scan is less work. */
static bool catch_up_blocks(struct bt_plan *plan, const struct bt_usage *usage, uint32_t slot_n)
{
	size_t block_n = bt_scan_padded(slot_n) / BT_SCAN_STEP;

	plan->blocks_known &= usage->journal_end - plan->blocks_at <= block_n / BLOCKS_SHARE &&
			      usage->journal_end - plan->blocks_at <= usage->journal_mask;
	if (!plan->blocks_known) {
		return false;
	}
	BT_INVARIANT(plan->blocks_at <= usage->journal_end);
	for (; plan->blocks_at != usage->journal_end; plan->blocks_at++) {
		uint32_t node_ix = usage->journal[plan->blocks_at & usage->journal_mask];
		size_t block = node_ix / BT_SCAN_STEP;

		/* A slot that was taken back may be added again, without a node. */
		if (node_ix < plan->slot_room) {
			bt_scan_blocks(plan->usage->value, plan->base, block, block + 1, plan->block_best);
		}
	}
	return true;
}

/* The best node of the top groups, and its total: 0 when there is none. */
static uint32_t scan_top(struct bt_plan *plan, const struct bt_usage *usage, uint32_t slot_n, uint32_t start,
	uint32_t *out_total)
{
	const uint16_t *value = plan->usage->value;
	size_t padded_n = bt_scan_padded(slot_n), best;

	if (!plan->base_filled) {
		fill_base(plan, slot_n);
	}
	if (catch_up_blocks(plan, usage, slot_n)) {
		best = bt_scan_best_by_blocks(
			value, plan->base, plan->block_best, padded_n / BT_SCAN_STEP, start);
	} else {
		best = bt_scan_best(value, plan->base, padded_n, start);
	}
	*out_total = best == BT_SCAN_NONE ? 0 : (uint32_t)plan->usage->value[best] + plan->base[best];
	BT_INVARIANT(best == BT_SCAN_NONE || best < slot_n);
	return best == BT_SCAN_NONE ? BT_NO_NODE : (uint32_t)best;
}

/* How many groups must be top groups once there is a node with this total: the others cannot reach it, with
 * all that usage can add. */
static uint32_t groups_within(const struct bt_plan *plan, uint32_t total)
{
	uint32_t n = plan->top_n;

	while (n < plan->group_n - 1 &&
		plan->groups[plan->order[n]].static_score + most_of_usage(plan) >= total) {
		n++;
	}
	BT_INVARIANT(n >= plan->top_n && n < plan->group_n);
	return n;
}

static uint32_t pick_by_scan(struct bt_plan *plan, const struct bt_view *view, uint32_t start)
{
	uint32_t slot_n = view->snapshot->slot_n, total,
		 best = scan_top(plan, view->usage, slot_n, start, &total);
	uint32_t top_n = plan->masks ? groups_within(plan, total) : 0;

	if (!plan->masks || top_n == plan->top_n) {
		return best;
	}
	set_top(plan, top_n, slot_n);
	bt_column_catch_up(plan->usage, view, plan->top);
	return scan_top(plan, view->usage, slot_n, start, &total);
}

uint32_t bt_plan_predict(
	const struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t cycle_n)
{
	const struct bt_column *column = plan->usage;
	const struct bt_snapshot *snapshot = view->snapshot;

	/* Groups are ordered once the maxima are known. */
	if (!plan->maxima_known || !column->indexed || !plan->masks || start >= column->index.slot_n) {
		return BT_NO_NODE;
	}
	uint32_t g = plan->order[0], value = bt_index_behind(&column->index, cycle_n);
	const uint64_t *mask = plan->groups[g].node_n == snapshot->slot_n ? NULL : mask_of(plan, g);
	uint32_t slot = value ? bt_index_first(&column->index, value, mask, start) : BT_INDEX_NONE;
	if (slot == BT_INDEX_NONE) {
		return BT_NO_NODE;
	}
	for (uint64_t reads = column->reads & BT_SCALARS; reads; reads &= reads - 1) {
		uint32_t resource = (uint32_t)__builtin_ctzll(reads);

		if (snapshot->scalars[resource]) {
			__builtin_prefetch(&snapshot->scalars[resource][slot]);
		}
	}
	__builtin_prefetch(&snapshot->rooms[slot]);
	if (column->is_column_batch) {
		bt_column_batch_fetch(column->column_batch, slot);
	} else {
		__builtin_prefetch(&column->value[slot], 1);
	}
	return slot;
}

void bt_plan_fetch(const struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix)
{
	const struct bt_column *column = plan->usage;

	if (!plan->columns || !column->is_column_batch) {
		return;
	}
	bt_column_batch_ready(column->column_batch, view);
	if (node_ix < column->slot_room) {
		bt_column_batch_fetch_rows(column->column_batch, node_ix);
	}
}

/*
 * The nodes whose values picking needs. After a release others may have become feasible and move maxima.
 * Scores outside of 0..100, which make upstream's cycle fail, cannot appear among the other nodes: with plain
 * amounts that takes sums whose every change counts as a release.
 */
const uint64_t *bt_plan_mask(const struct bt_plan *plan, const struct bt_view *view)
{
	bool narrow = plan->masks && plan->maxima_known && plan->top_n < plan->group_n - 1 &&
		      plan->release_n == bt_plan_releases(plan, view->usage);

	return narrow ? plan->top : plan->any;
}

static BT_NOINLINE bool pick(
	struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix)
{
	uint32_t slot_n = view->snapshot->slot_n;

	if (!plan->columns) {
		return false;
	}
	*out_node_ix = BT_NO_NODE;
	if (plan->refused && plan->release_n == bt_plan_releases(plan, view->usage)) {
		return true;
	}
	bt_column_catch_up(plan->usage, view, bt_plan_mask(plan, view));
	bool hold = maxima_hold(plan, view);
	if (!hold) {
		bt_column_catch_up(plan->usage, view, plan->any);
	}
	if (plan->usage->out_of_range) {
		return false;
	}
	plan->release_n = bt_plan_releases(plan, view->usage);
	plan->refused = false;
	if (!hold) {
		choose_witnesses(plan, slot_n);
	}
	if (!plan->refused) {
		*out_node_ix = plan->usage->indexed && plan->masks ? pick_by_index(plan, slot_n, start)
								   : pick_by_scan(plan, view, start);
	}
	plan->refused = *out_node_ix == BT_NO_NODE;
	BT_INVARIANT(*out_node_ix == BT_NO_NODE || *out_node_ix < slot_n);
	return !plan->usage->out_of_range;
}

bool bt_plan_pick(struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix)
{
	struct bt_column *column = plan->usage;

	BT_REQUIRE(!plan->refusal && !plan->narrowed && start < view->snapshot->slot_n);
	/* Usually no maximum can move, and some node is feasible. */
	if (!plan->columns || !column->is_column_batch || !plan->steady || !plan->maxima_known ||
		plan->refused) {
		return pick(plan, view, start, out_node_ix);
	}
	bt_column_catch_up(column, view, plan->any);
	if (!column->indexed || !plan->masks) {
		return pick(plan, view, start, out_node_ix);
	}
	plan->release_n = bt_plan_releases(plan, view->usage);
	*out_node_ix = pick_by_index(plan, view->snapshot->slot_n, start);
	plan->refused = *out_node_ix == BT_NO_NODE;
	return true;
}

/* The nodes of one word of the slots that some group has, and that are not refused. */
static uint32_t list_word(
	const struct bt_plan *plan, uint32_t first, uint32_t end, uint32_t *out_node_ixs, uint32_t n)
{
	const uint16_t *value = plan->usage->value;
	uint64_t any = plan->masks ? plan->any[first / 64] : UINT64_MAX;

	BT_INVARIANT(first % 64 == 0 && n <= first);
	for (uint32_t slot = first; slot < end; slot++) {
		bool grouped = plan->masks ? any >> (slot % 64) & 1 : plan->group[slot] != 0;

		out_node_ixs[n] = slot;
		n += grouped && value[slot];
	}
	return n;
}

bool bt_plan_feasible(
	struct bt_plan *plan, const struct bt_view *view, uint32_t *out_node_ixs, uint32_t *out_n)
{
	uint32_t slot_n = view->snapshot->slot_n, n = 0;

	BT_REQUIRE(!plan->refusal && !plan->narrowed);
	if (!plan->columns) {
		return false;
	}
	bt_column_catch_up(plan->usage, view, plan->any);
	if (plan->usage->out_of_range) {
		return false;
	}
	for (uint32_t first = 0; first < slot_n; first += 64) {
		n = list_word(plan, first, first + 64 < slot_n ? first + 64 : slot_n, out_node_ixs, n);
	}
	*out_n = n;
	return true;
}
