/* SPDX-License-Identifier: Apache-2.0
 * Picking with counters (I9, I10).
 */
#include "engine/score/counted.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/score/normalize.h"
#include "engine/score/scan.h"

#define BLOCK 256

static bool filters(const struct bt_plan *plan, uint32_t u)
{
	const struct bt_plugin_use *use = &plan->profile->uses[u];

	return use->plugin->prepare && use->filter && !plan->compiled[u].filter_skip;
}

static bool scores(const struct bt_plan *plan, uint32_t u)
{
	const struct bt_plugin_use *use = &plan->profile->uses[u];

	return use->plugin->prepare && use->score && !plan->compiled[u].score_skip && use->weight != 0;
}

/* The group of each node, from the plan's column or its masks. */
static uint16_t *copy_groups(const struct bt_plan *plan, uint32_t slot_n)
{
	uint16_t *group = bt_mem_column(slot_n, sizeof(*group));

	if (plan->group) {
		memcpy(group, plan->group, slot_n * sizeof(*group));
		return group;
	}
	for (uint32_t g = 1; g < plan->group_n; g++) {
		const uint64_t *mask = plan->masks + (g - 1) * bt_bitmap_words(slot_n);

		for (uint32_t i = 0; i < slot_n; i++) {
			group[i] = bt_bitmap_test(mask, i) ? (uint16_t)g : group[i];
		}
	}
	return group;
}

/* Makes the classes that fit the columns that plugins look at in this cycle. */
static struct bt_classes *classes_of(struct bt_plan *plan, uint32_t slot_n)
{
	const uint32_t *axes[BT_AXES];
	uint32_t n = 0;

	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		if (filters(plan, u) || scores(plan, u)) {
			uint32_t room = n < BT_AXES ? BT_AXES - n : 0;

			n += plan->profile->uses[u].plugin->axes(
				plan->compiled[u].term, axes + BT_AXES - room, room);
		}
	}
	if (plan->classes && bt_classes_current(plan->classes, axes, n)) {
		return plan->classes;
	}
	if (plan->classes) {
		*plan->memory_bytes -= plan->classes->bytes;
		bt_classes_destroy(plan->classes);
	}
	plan->classes = bt_classes_create(copy_groups(plan, slot_n), plan->group_n, slot_n, axes, n);
	*plan->memory_bytes += plan->classes->bytes;
	return plan->classes;
}

/* Finds a feasible node of a class, from where the last one was. */
static bool find_witness(struct bt_classes *c, uint32_t class, const uint16_t *value, uint64_t release_n)
{
	uint32_t first = c->first[class], end = c->first[class + 1], at = c->witness[class];

	if (value[c->members[at]]) {
		return true;
	}
	/* Nodes become feasible only when something is released. */
	if (c->dead_since[class] == release_n + 1) {
		return false;
	}
	for (uint32_t left = end - first; left; left--) {
		at = at + 1 == end ? first : at + 1;
		if (value[c->members[at]]) {
			c->witness[class] = at;
			return true;
		}
	}
	c->dead_since[class] = release_n + 1;
	return false;
}

/* The nodes that answer in this cycle: one of each class that has a feasible one, or all that are feasible.
 */
static uint32_t list_points(const struct bt_plan *plan, struct bt_classes *c, const struct bt_view *view)
{
	const uint16_t *value = plan->usage->value;
	uint32_t n = 0;

	if (c->single) {
		for (uint32_t i = 0; i < view->snapshot->slot_n; i++) {
			c->points[n] = i;
			n += value[i] && c->group[i];
		}
		return n;
	}
	for (uint32_t class = 1; class < c->n; class ++) {
		if (find_witness(c, class, value, view->usage->release_n)) {
			c->points[n] = c->members[c->witness[class]];
			c->point_class[n++] = class;
		}
	}
	return n;
}

/* Points that follow each other in slots are asked about together. */
static uint32_t run_at(const struct bt_classes *c, uint32_t at, uint32_t n)
{
	uint32_t length = 1;

	while (at + length < n && length < BLOCK && c->points[at + length] == c->points[at] + length) {
		length++;
	}
	return length;
}

static void ask_filters(
	const struct bt_plan *plan, struct bt_classes *c, const struct bt_view *view, uint32_t n)
{
	uint8_t pass[BLOCK];

	memset(c->pass, 1, n);
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		if (!filters(plan, u)) {
			continue;
		}
		for (uint32_t at = 0, length; at < n; at += length) {
			length = run_at(c, at, n);
			plan->profile->uses[u].plugin->filter(
				plan->compiled[u].term, view, c->points[at], length, pass);
			for (uint32_t i = 0; i < length; i++) {
				c->pass[at + i] &= pass[i];
			}
		}
	}
}

static uint32_t drop_refused(struct bt_classes *c, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		c->points[kept] = c->points[i];
		c->point_class[kept] = c->point_class[i];
		kept += c->pass[i];
	}
	return kept;
}

/* Adds what one plugin says. Returns false when a score is outside 0..100, which ends the cycle in an error.
 */
static bool add_scores(
	const struct bt_plan *plan, struct bt_classes *c, const struct bt_view *view, uint32_t u, uint32_t n)
{
	const struct bt_plugin_use *use = &plan->profile->uses[u];
	bool odd = false;

	if (use->plugin->pre_score) {
		use->plugin->pre_score(plan->compiled[u].state, view, c->points, n);
	}
	for (uint32_t at = 0, length; at < n; at += length) {
		length = run_at(c, at, n);
		use->plugin->score(plan->compiled[u].term, view, c->points[at], length, c->scores + at);
	}
	use->plugin->normalize_own(plan->compiled[u].term, view, c->points, n, c->scores);
	for (uint32_t i = 0; i < n; i++) {
		odd |= c->scores[i] < 0 || c->scores[i] > BT_MAX_NODE_SCORE;
		c->sums[i] += (c->scores[i] & 127) * use->weight;
	}
	return !odd;
}

/* What the descriptions are worth, under the maxima of the nodes that are feasible now. */
static void add_worths(const struct bt_plan *plan, struct bt_classes *c, uint32_t n)
{
	int64_t highest[BT_PROFILE_USES] = {0};
	uint32_t last = 0;
	int64_t worth = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = c->group[c->points[i]];
		const struct bt_group *group = &plan->groups[g];

		for (uint32_t k = 0; g != last && k < plan->normalized_n; k++) {
			highest[k] = group->raw[k] > highest[k] ? group->raw[k] : highest[k];
		}
		last = g;
	}
	last = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = c->group[c->points[i]];

		if (g != last) {
			worth = bt_group_worth(plan, &plan->groups[g], highest);
			last = g;
		}
		c->sums[i] += worth;
	}
}

static void fill_base(struct bt_classes *c, uint32_t n, uint32_t slot_n)
{
	if (c->single) {
		memset(c->base, 0, slot_n * sizeof(*c->base));
		for (uint32_t i = 0; i < n; i++) {
			c->base[c->points[i]] = (uint16_t)c->sums[i];
		}
		return;
	}
	memset(c->worth, 0, c->n * sizeof(*c->worth));
	for (uint32_t i = 0; i < n; i++) {
		c->worth[c->point_class[i]] = (uint16_t)c->sums[i];
	}
	for (uint32_t i = 0; i < slot_n; i++) {
		c->base[i] = c->worth[c->of[i]];
	}
}

static bool any_scores(const struct bt_plan *plan)
{
	for (uint32_t i = 0; i < plan->profile->score_n; i++) {
		if (scores(plan, plan->profile->score[i])) {
			return true;
		}
	}
	return false;
}

/* Do all groups that have nodes agree in all raw scores? Then no node that drops out moves a maximum. */
static bool maxima_stay(const struct bt_plan *plan, int64_t *out_highest)
{
	for (uint32_t k = 0; k < plan->normalized_n; k++) {
		int64_t raw = plan->group_n > 1 ? plan->groups[1].raw[k] : 0;

		if (!plan->uniform[k]) {
			return false;
		}
		out_highest[k] = raw > 0 ? raw : 0;
	}
	return true;
}

static void fill_worths(const uint16_t *restrict group, const uint16_t *restrict worth,
	const uint8_t *restrict passes, uint32_t n, uint16_t *restrict base)
{
	for (uint32_t i = 0; i < n; i++) {
		base[i] = (uint16_t)(worth[group[i]] & -(unsigned)passes[i]);
	}
}

/* Each node for itself, when counters only refuse: blocks of slots, without listing nodes. */
static uint32_t pick_dense(const struct bt_plan *plan, struct bt_classes *c, const struct bt_view *view,
	const int64_t *highest, uint32_t start)
{
	uint32_t slot_n = view->snapshot->slot_n;
	uint8_t pass[BLOCK], passes[BLOCK];

	for (uint32_t g = 1; g < plan->group_n; g++) {
		c->group_worth[g] = bt_group_worth(plan, &plan->groups[g], highest);
	}
	for (uint32_t first = 0; first < slot_n; first += BLOCK) {
		uint32_t n = slot_n - first < BLOCK ? slot_n - first : BLOCK;

		memset(passes, 1, n);
		for (uint32_t u = 0; u < plan->profile->use_n; u++) {
			if (!filters(plan, u)) {
				continue;
			}
			plan->profile->uses[u].plugin->filter(plan->compiled[u].term, view, first, n, pass);
			for (uint32_t i = 0; i < n; i++) {
				passes[i] &= pass[i];
			}
		}
		fill_worths(c->group + first, c->group_worth, passes, n, c->base + first);
	}
	size_t padded_n = ((size_t)slot_n + BT_SCAN_STEP - 1) / BT_SCAN_STEP * BT_SCAN_STEP;
	size_t best = bt_scan_best(plan->usage->value, c->base, padded_n, start);
	return best == BT_SCAN_NONE ? BT_NO_NODE : (uint32_t)best;
}

bool bt_counted_pick(struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix)
{
	uint32_t slot_n = view->snapshot->slot_n;

	BT_REQUIRE(!plan->refusal && !plan->narrowed && start < slot_n);
	if (!plan->columns) {
		return false;
	}
	bt_column_catch_up(plan->usage, view, plan->any);
	if (plan->usage->odd) {
		return false;
	}
	struct bt_classes *c = classes_of(plan, slot_n);
	int64_t highest[BT_PROFILE_USES];
	if (c->single && !any_scores(plan) && maxima_stay(plan, highest)) {
		*out_node_ix = pick_dense(plan, c, view, highest, start);
		return true;
	}
	uint32_t n = list_points(plan, c, view);
	ask_filters(plan, c, view, n);
	n = drop_refused(c, n);
	*out_node_ix = BT_NO_NODE;
	if (n == 0) {
		return true;
	}
	memset(c->sums, 0, n * sizeof(*c->sums));
	for (uint32_t i = 0; i < plan->profile->score_n; i++) {
		uint32_t u = plan->profile->score[i];

		if (scores(plan, u) && !add_scores(plan, c, view, u, n)) {
			return false;
		}
	}
	add_worths(plan, c, n);
	fill_base(c, n, slot_n);
	size_t padded_n = ((size_t)slot_n + BT_SCAN_STEP - 1) / BT_SCAN_STEP * BT_SCAN_STEP;
	size_t best = bt_scan_best(plan->usage->value, c->base, padded_n, start);
	BT_INVARIANT(best != BT_SCAN_NONE);
	*out_node_ix = (uint32_t)best;
	return true;
}
