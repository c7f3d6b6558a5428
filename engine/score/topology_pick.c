/* SPDX-License-Identifier: Apache-2.0
 * Picks nodes by counters (I9, I10).
 */
#include "engine/score/topology_pick.h"

#include <string.h>

#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/score/classes.h"
#include "engine/score/groups.h"
#include "engine/score/normalize.h"
#include "engine/score/scan.h"

#define BLOCK 256

struct bt_topology_pick {
	struct bt_classes *classes;
	size_t bytes;
	bool placed; /* its pages are near their shards' workers */
	/* Of one cycle, by class or by node: */
	uint32_t cap;
	uint32_t *points; /* nodes that are evaluated */
	uint32_t *point_class, *counts;
	uint8_t *pass;
	int64_t *scores, *sums;
	uint16_t *static_score; /* by class, or by group */
	uint16_t *base;		/* by node slot, with room for all, padded for the scan */
};

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

/* Copies the group of each node, from the plan's column or its masks. */
static uint16_t *copy_groups(const struct bt_plan *plan, uint32_t slot_n)
{
	uint16_t *group = bt_mem_column(plan->slot_room, sizeof(*group));

	BT_INVARIANT(plan->group || plan->masks);
	if (plan->group) {
		memcpy(group, plan->group, slot_n * sizeof(*group));
		return group;
	}
	for (uint32_t g = 1; g < plan->group_n; g++) {
		const uint64_t *mask = plan->masks + (g - 1) * plan->word_n;

		for (uint32_t i = 0; i < slot_n; i++) {
			group[i] = bt_bitmap_test(mask, i) ? (uint16_t)g : group[i];
		}
	}
	return group;
}

void bt_topology_pick_place(struct bt_topology_pick *c, const struct bt_shards *shards)
{
	if (!c->placed) {
		bt_classes_place(c->classes, shards);
		bt_shards_place(shards, c->base, sizeof(*c->base), 1);
		c->placed = true;
	}
}

void bt_topology_pick_redescribe(struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix)
{
	BT_REQUIRE(plan->counted && plan->columns);
	bt_classes_redescribe(plan->counted->classes, plan->usage, node_ix,
		(uint16_t)bt_groups_of(plan, node_ix), view->snapshot->slot_n);
}

void bt_topology_pick_forget(struct bt_plan *plan)
{
	struct bt_topology_pick *c = plan->counted;

	BT_INVARIANT(*plan->memory_bytes >= c->bytes);
	*plan->memory_bytes -= c->bytes;
	bt_topology_pick_destroy(c);
	plan->counted = NULL;
}

void bt_topology_pick_destroy(struct bt_topology_pick *c)
{
	if (!c) {
		return;
	}
	bt_classes_destroy(c->classes);
	bt_mem_free(c->points);
	bt_mem_free(c->point_class);
	bt_mem_free(c->counts);
	bt_mem_free(c->pass);
	bt_mem_free(c->scores);
	bt_mem_free(c->sums);
	bt_mem_free(c->static_score);
	bt_mem_free(c->base);
	bt_mem_free(c);
}

/* Makes room for points, and for static scores of the same number of classes or groups. */
static void reserve(struct bt_topology_pick *c, uint32_t n)
{
	if (n <= c->cap) {
		return;
	}
	c->cap = n < 2 * c->cap ? 2 * c->cap : n < BT_SCAN_CLASSES ? BT_SCAN_CLASSES : n;
	c->points = bt_mem_realloc(c->points, c->cap, sizeof(*c->points));
	c->point_class = bt_mem_realloc(c->point_class, c->cap, sizeof(*c->point_class));
	c->counts = bt_mem_realloc(c->counts, c->cap, sizeof(*c->counts));
	c->pass = bt_mem_realloc(c->pass, c->cap, sizeof(*c->pass));
	c->scores = bt_mem_realloc(c->scores, c->cap, sizeof(*c->scores));
	c->sums = bt_mem_realloc(c->sums, c->cap, sizeof(*c->sums));
	c->static_score = bt_mem_realloc(c->static_score, c->cap, sizeof(*c->static_score));
}

/* The classes for the equivalence keys of this cycle, updated for the present nodes. */
static struct bt_topology_pick *prepare(struct bt_plan *plan, uint32_t slot_n)
{
	struct bt_equivalence_key node_keys[BT_EQUIVALENCE_KEYS] = {{0}};
	uint32_t n = 0;

	for (uint32_t u = 0; u < plan->profile->use_n && n <= BT_EQUIVALENCE_KEYS; u++) {
		if (filters(plan, u) || scores(plan, u)) {
			const struct bt_plugin *plugin = plan->profile->uses[u].plugin;

			/* Without keys no two nodes are known to be equal, as with too many keys. */
			n = plugin->node_keys ? plugin->node_keys(plan->compiled[u].term, node_keys, n,
							BT_EQUIVALENCE_KEYS)
					      : BT_EQUIVALENCE_KEYS + 1;
		}
	}
	if (plan->counted && !bt_classes_current(plan->counted->classes, node_keys, n)) {
		bt_topology_pick_forget(plan);
	}
	if (!plan->counted) {
		plan->counted = bt_mem_zalloc(1, sizeof(*plan->counted));
		plan->counted->classes = bt_classes_create(
			copy_groups(plan, slot_n), slot_n, plan->slot_room, node_keys, n, plan->usage);
		plan->counted->base =
			bt_mem_column(bt_scan_padded(plan->slot_room), sizeof(*plan->counted->base));
	}
	struct bt_topology_pick *c = plan->counted;
	bt_classes_catch_up(c->classes, plan->usage);
	reserve(c, c->classes->single ? slot_n + plan->group_n : c->classes->n);
	size_t before = c->bytes;
	c->bytes = bt_classes_bytes(c->classes) + bt_scan_padded(plan->slot_room) * sizeof(*c->base) +
		   c->cap * (3 * sizeof(*c->points) + 2 * sizeof(*c->scores) + sizeof(*c->static_score) + 1);
	*plan->memory_bytes += c->bytes - before;
	return c;
}

/* Lists the nodes to evaluate in this cycle: one of each class with a feasible node, or all feasible
 * nodes. */
static uint32_t list_points(const struct bt_plan *plan, struct bt_topology_pick *c)
{
	const uint16_t *value = plan->usage->value;
	struct bt_classes *classes = c->classes;
	uint32_t n = 0;

	if (classes->single) {
		for (uint32_t i = 0; i < classes->slot_n; i++) {
			c->points[n] = i;
			n += value[i] && classes->group[i];
		}
		return n;
	}
	for (uint32_t class = 1; class < classes->n; class ++) {
		if (classes->classes[class].node_n && classes->classes[class].alive_n) {
			BT_INVARIANT(n < c->cap);
			c->points[n] = bt_classes_example(classes, class);
			c->point_class[n] = class;
			c->counts[n++] = classes->classes[class].alive_n;
		}
	}
	return n;
}

/* The length of the run of points with consecutive slots, which are evaluated in one call. */
static uint32_t run_at(const struct bt_topology_pick *c, uint32_t at, uint32_t n)
{
	uint32_t length = 1;

	while (at + length < n && length < BLOCK && c->points[at + length] == c->points[at] + length) {
		length++;
	}
	BT_INVARIANT(length > 0 && at + length <= n);
	return length;
}

static void run_filters(
	const struct bt_plan *plan, struct bt_topology_pick *c, const struct bt_view *view, uint32_t n)
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

static uint32_t drop_refused(struct bt_topology_pick *c, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		c->points[kept] = c->points[i];
		c->point_class[kept] = c->point_class[i];
		c->counts[kept] = c->counts[i];
		kept += c->pass[i];
	}
	BT_INVARIANT(kept <= n);
	return kept;
}

/* Adds one plugin's scores. Returns: false when a score is outside 0..100, which ends the cycle with an
 * error. */
static bool add_scores(const struct bt_plan *plan, struct bt_topology_pick *c, const struct bt_view *view,
	uint32_t u, uint32_t n)
{
	const struct bt_plugin_use *use = &plan->profile->uses[u];
	bool out_of_range = false;

	if (use->plugin->pre_score) {
		use->plugin->pre_score(
			plan->compiled[u].state, view, c->points, c->classes->single ? NULL : c->counts, n);
	}
	for (uint32_t at = 0, length; at < n; at += length) {
		length = run_at(c, at, n);
		use->plugin->score(plan->compiled[u].term, view, c->points[at], length, c->scores + at);
	}
	bt_normalize_scores(use->plugin, plan->compiled[u].term, view, c->points, n, c->scores);
	for (uint32_t i = 0; i < n; i++) {
		out_of_range |= c->scores[i] < 0 || c->scores[i] > BT_MAX_NODE_SCORE;
		c->sums[i] += (c->scores[i] & 127) * use->weight;
	}
	return !out_of_range;
}

/* Adds the static scores, under the maxima of the present feasible nodes. */
static void add_static_scores(const struct bt_plan *plan, struct bt_topology_pick *c, uint32_t n)
{
	int64_t highest[BT_PROFILE_USES] = {0};
	uint32_t last = 0;
	int64_t static_score = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = c->classes->group[c->points[i]];
		BT_INVARIANT(g > 0 && g < plan->group_n);
		const struct bt_group *group = &plan->groups[g];

		for (uint32_t k = 0; g != last && k < plan->normalized_n; k++) {
			highest[k] = group->raw[k] > highest[k] ? group->raw[k] : highest[k];
		}
		last = g;
	}
	last = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = c->classes->group[c->points[i]];

		if (g != last) {
			static_score = bt_group_static_score(plan, &plan->groups[g], highest);
			last = g;
		}
		c->sums[i] += static_score;
	}
}

/* The node with the best total. Requires: a point. */
static uint32_t pick_best(const struct bt_plan *plan, struct bt_topology_pick *c, uint32_t n, uint32_t start)
{
	BT_INVARIANT(n > 0);
	const struct bt_classes *classes = c->classes;
	uint32_t slot_n = classes->slot_n;
	size_t best;

	if (classes->single) {
		memset(c->base, 0, slot_n * sizeof(*c->base));
		for (uint32_t i = 0; i < n; i++) {
			c->base[c->points[i]] = (uint16_t)c->sums[i];
		}
		best = bt_scan_best(plan->usage->value, c->base, bt_scan_padded(slot_n), start);
	} else {
		memset(c->static_score, 0, c->cap * sizeof(*c->static_score));
		for (uint32_t i = 0; i < n; i++) {
			c->static_score[c->point_class[i]] = (uint16_t)c->sums[i];
		}
		const struct bt_scan_classes nodes = {plan->usage->value, classes->of, c->static_score,
			classes->n, bt_scan_padded(slot_n), c->base};
		best = bt_scan_best_of_classes(&nodes, start);
	}
	BT_INVARIANT(best != BT_SCAN_NONE);
	return (uint32_t)best;
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

/* Do all non-empty groups agree in all raw scores? Then no node that drops out moves a maximum. */
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

static void fill_static_scores(const uint16_t *restrict group, const uint16_t *restrict static_score,
	const uint8_t *restrict passes, uint32_t n, uint16_t *restrict base)
{
	for (uint32_t i = 0; i < n; i++) {
		base[i] = (uint16_t)(static_score[group[i]] & -(unsigned)passes[i]);
	}
}

/* Picks without classes when counters only refuse: by blocks of slots, without listing nodes. */
static uint32_t pick_dense(const struct bt_plan *plan, struct bt_topology_pick *c, const struct bt_view *view,
	const int64_t *highest, uint32_t start)
{
	BT_INVARIANT(c->classes->single && plan->group_n <= c->cap);
	uint32_t slot_n = view->snapshot->slot_n;
	uint8_t pass[BLOCK], passes[BLOCK];

	c->static_score[0] = 0;
	for (uint32_t g = 1; g < plan->group_n; g++) {
		c->static_score[g] = bt_group_static_score(plan, &plan->groups[g], highest);
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
		fill_static_scores(c->classes->group + first, c->static_score, passes, n, c->base + first);
	}
	size_t best = bt_scan_best(plan->usage->value, c->base, bt_scan_padded(slot_n), start);
	return best == BT_SCAN_NONE ? BT_NO_NODE : (uint32_t)best;
}

bool bt_topology_pick_pick(
	struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix)
{
	uint32_t slot_n = view->snapshot->slot_n;

	BT_REQUIRE(!plan->refusal && !plan->narrowed && start < slot_n);
	if (!plan->columns) {
		return false;
	}
	bt_column_catch_up(plan->usage, view, plan->any);
	if (plan->usage->out_of_range) {
		return false;
	}
	struct bt_topology_pick *c = prepare(plan, slot_n);
	int64_t highest[BT_PROFILE_USES];
	if (c->classes->single && !any_scores(plan) && maxima_stay(plan, highest)) {
		*out_node_ix = pick_dense(plan, c, view, highest, start);
		return true;
	}
	uint32_t n = list_points(plan, c);
	run_filters(plan, c, view, n);
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
	add_static_scores(plan, c, n);
	*out_node_ix = pick_best(plan, c, n, start);
	return true;
}
