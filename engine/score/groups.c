/* SPDX-License-Identifier: Apache-2.0
 * Grouping nodes by what depends on their description alone.
 */
#include "engine/score/groups.h"

#include <string.h>

#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/score/scan.h"
#include "engine/score/topology_pick.h"

#define BLOCK	    128
#define CODE_BITS   21
#define CODE_PARTS  2 /* normalized scores in a code, besides the fixed ones */
#define RECENT_BITS 6
#define RECENT_N    (1 << RECENT_BITS)
#define GROUP_LIMIT 65535
#define NO_CODE	    UINT64_MAX /* codes have fewer bits */

/* A recently used group, and the code of its nodes. */
struct recent {
	uint64_t code;
	uint32_t group;
};

struct grouping {
	struct bt_plan *plan;
	const struct bt_view *view;
	struct bt_map ixs; /* hash of a group -> index */
	size_t group_cap;
	uint8_t passes[BLOCK];
	int64_t raw[BT_PROFILE_USES][BLOCK]; /* by normalized */
	int64_t fixed[BLOCK];
	uint64_t code[BLOCK]; /* the numbers of a node as one: equal codes, equal groups; while compact */
	bool compact;	      /* all numbers of the block fit their part of the code */
	bool any_fixed;	      /* a plugin's scores need no normalization */
	struct recent recent[RECENT_N]; /* by a hash of the code */
	bool out_of_range;		/* a score was out of range, or there are too many groups */
};

/* Without the numbers of nodes and the recently used groups, which would take longer to zero than a node to
 * describe. */
static void begin_grouping(struct grouping *g, struct bt_plan *plan, const struct bt_view *view)
{
	g->plan = plan;
	g->view = view;
	g->ixs = (struct bt_map){0};
	g->group_cap = 0;
	g->out_of_range = false;
}

static bool same_group(const struct grouping *g, uint32_t group_ix, uint32_t i)
{
	const struct bt_group *group = &g->plan->groups[group_ix];

	BT_INVARIANT(group_ix > 0 && group_ix < g->plan->group_n);
	if (group->fixed != g->fixed[i]) {
		return false;
	}
	for (uint32_t k = 0; k < g->plan->normalized_n; k++) {
		if (group->raw[k] != g->raw[k][i]) {
			return false;
		}
	}
	return true;
}

static uint64_t hash_group(const struct grouping *g, uint32_t i)
{
	uint64_t hash = (uint64_t)g->fixed[i];

	for (uint32_t k = 0; k < g->plan->normalized_n; k++) {
		hash = (hash + (uint64_t)g->raw[k][i] + 1) * 0x9e3779b97f4a7c15u;
	}
	return hash;
}

/* Gives a group the numbers of a node; it has no nodes yet. */
static void set_group(struct grouping *g, uint32_t ix, uint32_t i)
{
	struct bt_plan *plan = g->plan;

	plan->groups[ix] = (struct bt_group){.fixed = g->fixed[i], .member = BT_NO_NODE};
	for (uint32_t k = 0; k < plan->normalized_n; k++) {
		plan->groups[ix].raw[k] = (int32_t)g->raw[k][i];
	}
}

/* The group with the numbers of a node, created if new. */
static uint32_t find_group(struct grouping *g, uint32_t i)
{
	struct bt_plan *plan = g->plan;
	uint64_t hash = bt_hash_u64(hash_group(g, i)) | 1;
	uint32_t ix;

	for (; bt_map_get(&g->ixs, hash, &ix); hash += 2) {
		if (same_group(g, ix, i)) {
			return ix;
		}
	}
	if (plan->group_n == GROUP_LIMIT) {
		g->out_of_range = true;
		return 0;
	}
	plan->groups = bt_mem_grow(plan->groups, plan->group_n, &g->group_cap, sizeof(*plan->groups));
	ix = plan->group_n++;
	set_group(g, ix, i);
	bt_map_put(&g->ixs, hash, ix);
	BT_INVARIANT(plan->group_n <= GROUP_LIMIT);
	return ix;
}

/* The groups of a block's nodes; 0: refused. */
static void sort_block(struct grouping *g, uint32_t n, uint16_t *out_group)
{
	for (uint32_t i = 0; !g->compact && i < n; i++) {
		out_group[i] = g->passes[i] ? (uint16_t)find_group(g, i) : 0;
	}
	for (uint32_t i = 0; g->compact && i < n; i++) {
		struct recent *recent = &g->recent[g->code[i] * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];

		if (!g->passes[i]) {
			out_group[i] = 0;
			continue;
		}
		if (BT_UNLIKELY(recent->code != g->code[i])) {
			*recent = (struct recent){g->code[i], find_group(g, i)};
		}
		out_group[i] = (uint16_t)recent->group;
	}
}

static void filter_block(struct grouping *g, uint32_t first, uint32_t n)
{
	uint8_t pass[BLOCK];

	BT_INVARIANT(n > 0 && n <= BLOCK);
	memset(g->passes, 1, n);
	for (uint32_t i = 0; g->view->snapshot->node_n < g->view->snapshot->slot_n && i < n; i++) {
		g->passes[i] = bt_bitmap_test(g->view->snapshot->live, first + i);
	}
	for (uint32_t u = 0; u < g->plan->profile->use_n; u++) {
		if (!bt_plan_filters_by(g->plan, u, BT_DEPENDS_ON_DESCRIPTION)) {
			continue;
		}
		g->plan->profile->uses[u].plugin->filter(g->plan->compiled[u].term, g->view, first, n, pass);
		for (uint32_t i = 0; i < n; i++) {
			g->passes[i] &= pass[i];
		}
	}
}

/* Adds the raw scores of the k-th plugin whose scores are normalized. They are in range when none has a bit
 * that INT32_MAX does not have. */
static void add_raw(struct grouping *g, uint32_t k, uint32_t n)
{
	const int64_t *raw = g->raw[k];
	uint32_t shift = k * CODE_BITS;
	uint64_t wide = 0;

	for (uint32_t i = 0; i < n; i++) {
		wide |= (uint64_t)raw[i];
	}
	g->out_of_range |= wide > INT32_MAX;
	g->compact &= k < CODE_PARTS && wide >> CODE_BITS == 0;
	for (uint32_t i = 0; g->compact && i < n; i++) {
		g->code[i] |= (uint64_t)raw[i] << shift;
	}
}

/* Adds scores that are not normalized: a number out of range sets the sign of the remainder. */
static void add_fixed(struct grouping *g, const struct bt_plugin_use *use, const int64_t *scores, uint32_t n)
{
	int64_t outside = 0, wide = 0;

	for (uint32_t i = 0; i < n; i++) {
		outside |= scores[i] | (BT_MAX_NODE_SCORE - (scores[i] & INT64_MAX));
		g->fixed[i] += (scores[i] & 127) * use->weight;
		wide |= g->fixed[i];
	}
	g->out_of_range |= outside < 0;
	g->compact &= wide >> CODE_BITS == 0;
	g->any_fixed = true;
}

static void score_block(struct grouping *g, uint32_t first, uint32_t n)
{
	int64_t scores[BLOCK];
	uint32_t k = 0;

	BT_INVARIANT(n > 0 && n <= BLOCK);
	memset(g->fixed, 0, n * sizeof(*g->fixed));
	memset(g->code, 0, n * sizeof(*g->code));
	g->compact = true;
	g->any_fixed = false;
	for (uint32_t u = 0; u < g->plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &g->plan->profile->uses[u];
		bool normalized = use->plugin->normalize != BT_NORMALIZE_NONE;

		if (!bt_plan_scores_by(g->plan, u, BT_DEPENDS_ON_DESCRIPTION)) {
			continue;
		}
		use->plugin->score(
			g->plan->compiled[u].term, g->view, first, n, normalized ? g->raw[k] : scores);
		if (normalized) {
			add_raw(g, k++, n);
		} else {
			add_fixed(g, use, scores, n);
		}
	}
	for (uint32_t i = 0; g->any_fixed && i < n; i++) {
		g->code[i] |= (uint64_t)g->fixed[i] << CODE_BITS * CODE_PARTS;
	}
	BT_INVARIANT(k == g->plan->normalized_n);
}

void bt_groups_list_normalized(struct bt_plan *plan)
{
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		if (bt_plan_scores_by(plan, u, BT_DEPENDS_ON_DESCRIPTION) &&
			plan->profile->uses[u].plugin->normalize != BT_NORMALIZE_NONE) {
			plan->normalized[plan->normalized_n++] = u;
		}
	}
	BT_INVARIANT(plan->normalized_n <= BT_PROFILE_USES);
}

/* The members of a group among 64 nodes. */
static uint64_t members_of(const uint16_t *group, uint32_t g)
{
	uint64_t bits = 0;
	uint8_t is[64];

	for (uint32_t i = 0; i < 64; i++) {
		is[i] = group[i] == g;
	}
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t eight;

		/* Gathers eight bytes of 0 or 1 into the top eight bits. */
		memcpy(&eight, is + 8 * i, sizeof(eight));
		bits |= (eight * 0x0102040810204080u >> 56) << 8 * i;
	}
	return bits;
}

void bt_groups_lay_out_masks(struct bt_plan *plan)
{
	size_t word_n = plan->word_n;

	BT_INVARIANT(plan->group_n > 0 && plan->group_n <= BT_MASKED_GROUPS + 1);
	plan->masks = bt_mem_column((plan->group_n + 1) * word_n, sizeof(*plan->masks));
	plan->any = plan->masks + (plan->group_n - 1) * word_n;
	plan->top = plan->any + word_n;
	plan->top_n = plan->group_n - 1;
}

/* Builds the bitmap of each group's nodes. */
static void make_masks(struct bt_plan *plan, const uint16_t *group, uint32_t slot_n)
{
	size_t word_n = bt_bitmap_words(slot_n);

	bt_groups_lay_out_masks(plan);
	for (uint32_t g = 1; g < plan->group_n; g++) {
		uint64_t *mask = plan->masks + (g - 1) * plan->word_n;

		/* The array is padded with zeroes to whole words. */
		for (size_t w = 0; w < word_n; w++) {
			mask[w] = members_of(group + w * 64, g);
			plan->any[w] |= mask[w];
		}
		plan->groups[g].node_n = (uint32_t)bt_bitmap_count(mask, slot_n);
		BT_INVARIANT(plan->groups[g].node_n > 0 || slot_n == 0);
	}
}

void bt_groups_find_uniform(struct bt_plan *plan)
{
	plan->steady = true;
	for (uint32_t k = 0; k < plan->normalized_n; k++) {
		plan->uniform[k] = true;
		for (uint32_t i = 2; i < plan->group_n; i++) {
			plan->uniform[k] &= plan->groups[i].raw[k] == plan->groups[1].raw[k];
		}
		plan->steady &= plan->uniform[k];
	}
}

bool bt_groups_make(struct bt_plan *plan, const struct bt_view *view, uint16_t *group)
{
	uint32_t slot_n = view->snapshot->slot_n;
	struct grouping g;

	begin_grouping(&g, plan, view);
	for (uint32_t i = 0; i < RECENT_N; i++) {
		g.recent[i] = (struct recent){NO_CODE, 0};
	}
	plan->groups = bt_mem_grow(NULL, 0, &g.group_cap, sizeof(*plan->groups));
	plan->groups[0] = (struct bt_group){0};
	plan->group_n = 1;
	for (uint32_t first = 0; first < slot_n && !g.out_of_range; first += BLOCK) {
		uint32_t n = slot_n - first < BLOCK ? slot_n - first : BLOCK;

		filter_block(&g, first, n);
		score_block(&g, first, n);
		sort_block(&g, n, group + first);
	}
	bt_map_fini(&g.ixs);
	if (plan->group_n <= BT_MASKED_GROUPS + 1) {
		make_masks(plan, group, slot_n);
	} else {
		plan->group = bt_mem_column(bt_scan_padded(plan->slot_room), sizeof(*plan->group));
		memcpy(plan->group, group, slot_n * sizeof(*group));
	}
	return !g.out_of_range;
}

/* ---- a node that changes, comes or goes ---- */

uint32_t bt_groups_of(const struct bt_plan *plan, uint32_t node_ix)
{
	if (plan->group) {
		return plan->group[node_ix];
	}
	for (uint32_t g = 1; g < plan->group_n; g++) {
		if (bt_bitmap_test(plan->masks + (g - 1) * plan->word_n, node_ix)) {
			return g;
		}
	}
	return 0;
}

/* The group with the node's numbers; else one that has lost its nodes, or group_n: there is none. */
static uint32_t group_with(const struct grouping *g, bool *out_same)
{
	const struct bt_plan *plan = g->plan;
	uint32_t empty = plan->group_n;

	for (uint32_t ix = 1; ix < plan->group_n; ix++) {
		*out_same = same_group(g, ix, 0);
		if (*out_same) {
			return ix;
		}
		if (plan->masks && plan->groups[ix].node_n == 0) {
			empty = ix;
		}
	}
	*out_same = false;
	return empty;
}

/* Makes room for one more group. Returns: false: the plan's form has no place for it. */
static bool widen_groups(struct bt_plan *plan)
{
	size_t word_n = plan->word_n;
	uint64_t *old = plan->masks;

	if (plan->group_n == (old ? BT_MASKED_GROUPS + 1 : GROUP_LIMIT)) {
		return false;
	}
	plan->groups = bt_mem_realloc(plan->groups, plan->group_n + 1, sizeof(*plan->groups));
	plan->groups[plan->group_n] = (struct bt_group){0};
	plan->group_n++;
	if (old) {
		const uint64_t *any = plan->any;

		bt_groups_change_masks(plan);
		bt_groups_lay_out_masks(plan);
		memcpy(plan->masks, old, (plan->group_n - 2) * word_n * sizeof(*old));
		memcpy(plan->any, any, word_n * sizeof(*any));
		plan->groups_placed = false;
		plan->bytes += word_n * sizeof(*old);
		*plan->memory_bytes += word_n * sizeof(*old);
		bt_mem_free(old);
	}
	return true;
}

/* The group that the node belongs to now, created if necessary. Returns: false: no room for it. */
static bool choose_group(struct grouping *g, uint32_t *out_group)
{
	struct bt_plan *plan = g->plan;
	bool same = true;

	*out_group = g->passes[0] ? group_with(g, &same) : 0;
	if (same) {
		return true;
	}
	if (*out_group == plan->group_n && !widen_groups(plan)) {
		return false;
	}
	set_group(g, *out_group, 0);
	/* The ranks, and what they lead to, are found again. */
	plan->maxima_known = false;
	bt_groups_find_uniform(plan);
	return true;
}

static void set_bit(uint64_t *bitmap, uint32_t i, bool on)
{
	if (on) {
		bt_bitmap_set(bitmap, i);
	} else {
		bt_bitmap_clear(bitmap, i);
	}
}

/* Whether the top groups contain the group. */
static bool is_top(const struct bt_plan *plan, uint32_t group)
{
	for (uint32_t i = 0; i < plan->top_n; i++) {
		if (plan->order[i] == group) {
			return true;
		}
	}
	return false;
}

/* Moves a node from one group to another in masks or column, and in base. */
static void move_node(struct bt_plan *plan, uint32_t node_ix, uint32_t from, uint32_t to)
{
	bool looked_at = to != 0;

	if (plan->group) {
		plan->group[node_ix] = (uint16_t)to;
	} else {
		if (from) {
			bt_bitmap_clear(plan->masks + (from - 1) * plan->word_n, node_ix);
			plan->groups[from].node_n--;
		}
		if (to) {
			bt_bitmap_set(plan->masks + (to - 1) * plan->word_n, node_ix);
			plan->groups[to].node_n++;
		}
		looked_at = to && is_top(plan, to);
		set_bit(plan->any, node_ix, to);
		set_bit(plan->top, node_ix, looked_at);
		bt_groups_change_masks(plan);
	}
	if (plan->base_filled) {
		plan->base[node_ix] = looked_at ? plan->groups[to].static_score : 0;
	}
}

bool bt_groups_redescribe(struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix)
{
	struct grouping g;

	BT_REQUIRE(plan->columns && !plan->yields && !plan->yielding && node_ix < plan->slot_room);
	uint32_t from = bt_groups_of(plan, node_ix), to = 0;

	begin_grouping(&g, plan, view);
	if (bt_slot_is_live(view->snapshot, node_ix)) {
		filter_block(&g, node_ix, 1);
		score_block(&g, node_ix, 1);
		if (g.out_of_range || !choose_group(&g, &to)) {
			return false;
		}
	}
	if (from != to) {
		move_node(plan, node_ix, from, to);
	}
	BT_INVARIANT(bt_groups_of(plan, node_ix) == to);
	return true;
}
