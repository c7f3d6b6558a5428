/* SPDX-License-Identifier: Apache-2.0
 * The attempt to schedule a tree of groups: children one after the other, each in its placements within those
 * of its parent. If too few children of a composite can be scheduled, its pods are
 * unassumed, the last pod first.
 * Source: compositePodGroupSchedulingDefaultAlgorithm,
 * completeCompositePodGroupAlgorithmResult, schedule_one_podgroup.go, v1.37.2.
 */
#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/group_attempt.h"

/* Deciding a tree. */
struct tree_attempt {
	struct bt_group_attempt *whole;
	struct bt_group_node *nodes;
	struct bt_group_preemption *out; /* nodes of a trial's pods; NULL: not a trial */
	uint32_t trial_n;		 /* number of nested trials of placements */
};

/* The composite being decided, or a PodGroup of a trial. */
struct node_attempt {
	struct tree_attempt *tree;
	uint32_t ix;
	struct bt_group_attempt *leaf;
};

static const struct bt_pod *pod_of(const struct bt_group_attempt *a, uint32_t pod_ix)
{
	return bt_ledger_pod(a->engine->cache->ledger, pod_ix);
}

static const struct bt_pod_group *group_at(const struct bt_group_attempt *a, uint32_t number)
{
	return bt_pod_groups_at(&a->engine->groups, number);
}

/* ---- the nodes ---- */

static struct bt_group_node *add_node(struct bt_group_node **nodes, size_t *n, size_t *cap)
{
	size_t before = *cap;

	*nodes = bt_mem_grow(*nodes, *n, cap, sizeof(**nodes));
	for (size_t i = before; i < *cap; i++) {
		(*nodes)[i] = (struct bt_group_node){.number = BT_NO_POD_GROUP};
	}
	return &(*nodes)[(*n)++];
}

/* Lists a group and those below it; reuses the list's memory. */
static void list_nodes(struct bt_group_attempt *a, const struct bt_pod_group *group)
{
	struct bt_group_cycle *cycle = a->cycle;
	const uint32_t ix = (uint32_t)cycle->node_n;
	struct bt_group_node *node = add_node(&cycle->nodes, &cycle->node_n, &cycle->node_cap);

	*node = (struct bt_group_node){.number = group->number,
		.composite = group->composite,
		.result_ix = ix,
		.text = node->text,
		.placements = node->placements};
	bt_buf_clear(&node->text);
	for (size_t i = 0; group->composite && i < group->member_n; i++) {
		list_nodes(a, group_at(a, group->members[i]));
	}
	cycle->nodes[ix].end = (uint32_t)cycle->node_n;
}

static int by_leaf(const void *a, const void *b)
{
	const struct bt_group_member *x = a, *y = b;

	if (x->leaf != y->leaf) {
		return x->leaf < y->leaf ? -1 : 1;
	}
	return x->place < y->place ? -1 : x->place > y->place;
}

static uint32_t leaf_of(const struct bt_group_attempt *a, uint32_t pod_ix)
{
	const struct bt_signature *signature = pod_of(a, pod_ix)->signature;
	const struct bt_pod_group *group =
		bt_pod_groups_find(&a->engine->groups, signature->namespace_, signature->pod_group);
	uint32_t ix = 0;

	while (group && ix < a->cycle->node_n && a->cycle->nodes[ix].number != group->number) {
		ix++;
	}
	return group ? ix : (uint32_t)a->cycle->node_n;
}

void bt_group_tree_begin(struct bt_group_attempt *a)
{
	struct bt_group_cycle *cycle = a->cycle;

	cycle->failed_n = 0;
	list_nodes(a, a->group);
	for (uint32_t i = 0; i < cycle->member_n; i++) {
		cycle->members[i].leaf = leaf_of(a, cycle->members[i].decision.pod_ix);
		cycle->members[i].place = i;
	}
	if (cycle->member_n > 1) {
		qsort(cycle->members, cycle->member_n, sizeof(*cycle->members), by_leaf);
	}
	uint32_t at = 0;
	for (uint32_t ix = 0; ix < cycle->node_n; ix++) {
		cycle->nodes[ix].from = at;
		while (at < cycle->member_n && cycle->members[at].leaf == ix) {
			at++;
		}
		cycle->nodes[ix].to = at;
	}
	for (uint32_t ix = (uint32_t)cycle->node_n; ix-- > 0;) {
		struct bt_group_node *node = &cycle->nodes[ix];

		node->to = cycle->nodes[node->end - 1].to;
	}
	/* Pods that have left their group are not decided. */
	for (uint32_t i = at; i < cycle->member_n; i++) {
		BT_INVARIANT(cycle->members[i].decision.outcome == BT_SKIPPED);
		cycle->members[i].leaf = 0;
	}
	a->to = at;
}

/* The nodes of a trial, with the same tree. */
static struct bt_group_node *copy_nodes(struct bt_group_cycle *cycle)
{
	cycle->tried_n = 0;
	for (size_t i = 0; i < cycle->node_n; i++) {
		struct bt_group_node *node = add_node(&cycle->tried, &cycle->tried_n, &cycle->tried_cap);
		struct bt_buf text = node->text;
		struct bt_placements placements = node->placements;

		*node = cycle->nodes[i];
		node->text = text;
		node->placements = placements;
		bt_buf_clear(&node->text);
	}
	return cycle->tried;
}

/* Resets the results below a node. */
static void forget_below(struct tree_attempt *t, uint32_t ix)
{
	for (uint32_t i = ix + 1; i < t->nodes[ix].end; i++) {
		t->nodes[i].there = false;
	}
}

/* ---- states of groups ---- */

/* Including its pods on nodes. */
static struct bt_group_state begin_composite(
	const struct tree_attempt *t, uint32_t ix, struct bt_placements *placements)
{
	const struct bt_pod_group *group = group_at(t->whole, t->nodes[ix].number);
	struct bt_group_attempt pods = *t->whole;
	struct bt_group_state state = bt_pod_group_state(group, 0);

	pods.placements = placements;
	bt_placements_begin(placements);
	for (uint32_t i = ix + 1; i < t->nodes[ix].end; i++) {
		if (!t->nodes[i].composite) {
			const struct bt_pod_group *leaf = group_at(t->whole, t->nodes[i].number);

			bt_group_attempt_add_pods(&pods, leaf);
			state.scheduled_n += bt_group_attempt_scheduled_in(t->whole, leaf);
		}
	}
	return state;
}

/* ---- PodGroups ---- */

static struct bt_group_attempt leaf_attempt(struct tree_attempt *t, uint32_t ix)
{
	struct bt_group_node *node = &t->nodes[ix];
	struct bt_group_attempt leaf = {.engine = t->whole->engine,
		.cycle = t->whole->cycle,
		.watch = t->whole->watch,
		.runtime = t->whole->runtime,
		.group = group_at(t->whole, node->number),
		.number = node->number,
		.from = node->from,
		.to = node->to,
		.text = &node->text,
		.placements = &node->placements,
		.in_trial = t->trial_n > 0};

	leaf.scheduled_n = bt_group_attempt_scheduled_in(t->whole, leaf.group);
	return leaf;
}

static enum bt_placement_fit fit_of(const struct bt_group_attempt *leaf)
{
	if (leaf->result == BT_ATTEMPT_FAILED) {
		return BT_PLACEMENT_FAILS;
	}
	return leaf->enough ? BT_PLACEMENT_FITS : BT_PLACEMENT_UNFIT;
}

static enum bt_queue_attempt result_of(enum bt_placement_fit fit)
{
	return fit == BT_PLACEMENT_FITS	   ? BT_ATTEMPT_SUCCEEDED
	       : fit == BT_PLACEMENT_FAILS ? BT_ATTEMPT_FAILED
					   : BT_ATTEMPT_REJECTED;
}

static void add_signatures(const struct node_attempt *n, size_t from)
{
	const struct bt_group_preemption *out = n->tree->out;

	for (size_t i = from; i < out->place_n; i++) {
		const struct bt_pod *pod = pod_of(n->tree->whole, out->places[i].pod_ix);

		if (pod->state == BT_POD_ASSUMED) {
			bt_placements_add_signature(&n->tree->nodes[n->ix].placements, pod->signature);
		}
	}
}

/* bt_placement_request.decide, of a PodGroup of a trial. */
static enum bt_placement_fit place_leaf_in(void *context, const struct bt_placement *placement, bool trial)
{
	struct node_attempt *n = context;
	struct bt_group_preemption *out = n->tree->out;
	size_t from = out->place_n;

	(void)placement;
	n->leaf->result = BT_ATTEMPT_REJECTED;
	(void)bt_group_attempt_place(n->leaf, out, true);
	bt_buf_clear(n->leaf->text);
	bt_buf_str(n->leaf->text, bt_buf_view(&out->text));
	if (trial) {
		add_signatures(n, from);
		bt_group_attempt_release(n->leaf, out, from);
		out->place_n = from;
	}
	return fit_of(n->leaf);
}

static void place_leaf(struct tree_attempt *t, struct bt_group_attempt *leaf, uint32_t ix)
{
	const struct bt_group_state group = bt_pod_group_state(leaf->group, leaf->scheduled_n);
	struct node_attempt n = {.tree = t, .ix = ix, .leaf = leaf};
	const struct bt_placement_request request = {.engine = leaf->engine,
		.runtime = leaf->runtime,
		.group = &group,
		.decide = place_leaf_in,
		.context = &n,
		.first = leaf->watch && leaf->watch->first_placement};
	struct bt_placement_choice choice = {.undecided = true};

	leaf->result = BT_ATTEMPT_REJECTED;
	bt_placements_begin(leaf->placements);
	bt_group_attempt_add_pods(leaf, leaf->group);
	bt_buf_clear(leaf->text);
	choice.fit =
		bt_placements_generate(leaf->placements, leaf->engine, leaf->runtime, &group, leaf->text);
	if (choice.fit == BT_PLACEMENT_FITS) {
		choice = bt_placements_try(leaf->placements, &request, leaf->text);
	}
	if (choice.fit == BT_PLACEMENT_FAILS) {
		leaf->result = BT_ATTEMPT_FAILED;
		leaf->cannot = choice.undecided;
	} else if (choice.fit == BT_PLACEMENT_UNFIT && !choice.undecided) {
		bt_group_write_no_placement(leaf->placements, leaf->unschedulable, leaf->text);
		leaf->unschedulable = true;
	}
}

static enum bt_placement_fit decide_leaf(struct tree_attempt *t, uint32_t ix)
{
	struct bt_group_attempt leaf = leaf_attempt(t, ix);
	struct bt_group_node *node = &t->nodes[ix];

	if (t->out) {
		place_leaf(t, &leaf, ix);
	} else {
		bt_group_attempt_begin_again(&leaf, false);
		bt_group_attempt_decide(&leaf);
	}
	enum bt_placement_fit fit = fit_of(&leaf);
	node->there = true;
	node->unschedulable = leaf.unschedulable;
	node->any_scheduled = fit == BT_PLACEMENT_FITS && leaf.any_scheduled;
	node->result = result_of(fit);
	if (fit == BT_PLACEMENT_FAILS) {
		t->whole->culprit = leaf.culprit;
		t->whole->cannot = leaf.cannot;
	}
	return fit;
}

/* ---- composites ---- */

static enum bt_placement_fit decide_node(struct tree_attempt *t, uint32_t ix);

/* The attempt of the members below a node. */
static struct bt_group_attempt attempt_below(const struct tree_attempt *t, const struct bt_group_node *node)
{
	struct bt_group_attempt below = *t->whole;

	below.from = node->from;
	below.to = node->to;
	return below;
}

static void take_back(struct tree_attempt *t, const struct bt_group_node *node, size_t from)
{
	struct bt_group_attempt below = attempt_below(t, node);

	if (t->out) {
		bt_group_attempt_release(t->whole, t->out, from);
	} else {
		bt_group_attempt_take_back(&below);
	}
}

/* Decides its children one by one, as long as they can still be enough. */
static enum bt_placement_fit decide_children(struct tree_attempt *t, uint32_t ix)
{
	struct bt_group_node *node = &t->nodes[ix];
	const struct bt_pod_group *group = group_at(t->whole, node->number);
	struct bt_group_state state = bt_pod_group_state(group, 0);
	uint64_t remaining_n = group->member_n;
	enum bt_feasible verdict = bt_group_attempt_feasible(t->whole, &state, remaining_n, &node->text);

	node->any_scheduled = node->unschedulable = false;
	for (uint32_t i = ix + 1; i < node->end && verdict != BT_INFEASIBLE; i = t->nodes[i].end) {
		enum bt_placement_fit fit = decide_node(t, i);

		if (fit == BT_PLACEMENT_FAILS) {
			bt_buf_clear(&node->text);
			bt_buf_text(&node->text, BT_GROUP_CHILD_ERROR);
			bt_buf_str(&node->text, bt_buf_view(&t->nodes[i].text));
			return fit;
		}
		node->any_scheduled |= t->nodes[i].any_scheduled;
		state.scheduled_n += fit == BT_PLACEMENT_FITS;
		verdict = bt_group_attempt_feasible(t->whole, &state, --remaining_n, &node->text);
	}
	if (verdict == BT_FEASIBLE_LATER) {
		bt_group_write_unschedulable(&node->text);
		node->unschedulable = true;
	}
	return verdict == BT_FEASIBLE ? BT_PLACEMENT_FITS : BT_PLACEMENT_UNFIT;
}

static void begin_below(struct tree_attempt *t, const struct bt_group_node *node)
{
	struct bt_group_attempt below = attempt_below(t, node);

	if (!t->out) {
		bt_group_attempt_begin_again(&below, false);
	}
}

/* bt_placement_request.decide, of a composite. */
static enum bt_placement_fit decide_composite_in(
	void *context, const struct bt_placement *placement, bool trial)
{
	struct node_attempt *n = context;
	struct tree_attempt *t = n->tree;
	struct bt_group_node *node = &t->nodes[n->ix];
	size_t from = t->out ? t->out->place_n : 0;

	(void)placement;
	t->trial_n += trial;
	begin_below(t, node);
	forget_below(t, n->ix);
	enum bt_placement_fit fit = decide_children(t, n->ix);
	for (uint32_t i = node->from; trial && !t->out && i < node->to; i++) {
		const struct bt_group_member *member = &t->whole->cycle->members[i];

		if (member->assumed && fit == BT_PLACEMENT_FITS) {
			bt_placements_add_signature(
				&node->placements, pod_of(t->whole, member->decision.pod_ix)->signature);
		}
	}
	if (trial && t->out && fit == BT_PLACEMENT_FITS) {
		add_signatures(n, from);
	}
	if (trial || fit != BT_PLACEMENT_FITS) {
		take_back(t, node, from);
	}
	if (trial && t->out) {
		t->out->place_n = from;
	}
	node->any_scheduled &= fit == BT_PLACEMENT_FITS;
	t->trial_n -= trial;
	return fit;
}

/* The number of levels below a composite with a topology constraint in which upstream looks for pods on
 * nodes. */
#define LEVELS_MAX 4

static uint32_t levels_below(const struct tree_attempt *t, uint32_t ix, uint32_t below)
{
	uint32_t n = 0;

	for (uint32_t i = ix; i < below; i++) {
		n += t->nodes[i].end > below;
	}
	return n;
}

/* Is a group too far below a composite for its constraint? Source: GetPodGroupStates, v1.37.2. */
static bool is_too_deep(
	const struct tree_attempt *t, uint32_t ix, const struct bt_group_state *group, struct bt_buf *out_why)
{
	const bool constrained =
		t->whole->runtime->profile.placement_generate.n && group->topology_key != BT_NAME_NONE;

	for (uint32_t i = ix + 1; constrained && i < t->nodes[ix].end; i++) {
		const struct bt_pod_group *below = group_at(t->whole, t->nodes[i].number);

		if (levels_below(t, ix, i) >= LEVELS_MAX) {
			bt_buf_printf(out_why, "exceeded maximum hierarchy depth at %s/%.*s/%.*s",
				below->composite ? "compositepodgroup" : "podgroup",
				BT_STR_ARG(bt_engine_name(t->whole->engine, below->namespace_)),
				BT_STR_ARG(bt_engine_name(t->whole->engine, below->name)));
			return true;
		}
	}
	return false;
}

/* Source: compositePodGroupSchedulingPlacementAlgorithm, v1.37.2. */
static enum bt_placement_fit decide_composite(struct tree_attempt *t, uint32_t ix)
{
	struct bt_group_node *node = &t->nodes[ix];
	const struct bt_group_state group = begin_composite(t, ix, &node->placements);
	struct node_attempt n = {.tree = t, .ix = ix};
	const struct bt_placement_request request = {.engine = t->whole->engine,
		.runtime = t->whole->runtime,
		.group = &group,
		.decide = decide_composite_in,
		.context = &n,
		.first = t->whole->watch && t->whole->watch->first_placement};
	struct bt_placement_choice choice = {.undecided = true};
	struct bt_buf why = {0};

	node->there = true;
	node->unschedulable = node->any_scheduled = false;
	choice.fit = is_too_deep(t, ix, &group, &why)
			     ? BT_PLACEMENT_FAILS
			     : bt_placements_generate(
				       &node->placements, request.engine, request.runtime, &group, &why);
	if (choice.fit == BT_PLACEMENT_FITS) {
		choice = bt_placements_try(&node->placements, &request, &why);
	} else {
		begin_below(t, node);
	}
	node->result = result_of(choice.fit);
	if (choice.undecided) { /* the plugins have written the reason */
		bt_buf_clear(&node->text);
		bt_buf_str(&node->text, bt_buf_view(&why));
		t->whole->cannot |= choice.fit == BT_PLACEMENT_FAILS;
	} else if (choice.fit == BT_PLACEMENT_FAILS) {
		t->whole->cycle->failed_n += !t->out;
	} else if (choice.fit == BT_PLACEMENT_UNFIT) {
		bt_group_write_no_placement(&node->placements, node->unschedulable, &node->text);
		node->unschedulable = true;
	}
	if (choice.undecided || choice.fit == BT_PLACEMENT_FAILS) {
		forget_below(t, ix);
	}
	bt_buf_fini(&why);
	return choice.fit;
}

static enum bt_placement_fit decide_node(struct tree_attempt *t, uint32_t ix)
{
	return t->nodes[ix].composite ? decide_composite(t, ix) : decide_leaf(t, ix);
}

/* ---- the tree ---- */

/* Does the root fit? At least one pod has to be scheduled. Source: runRootSchedulingAlgorithm, v1.37.2. */
static enum bt_placement_fit decide_root(struct tree_attempt *t)
{
	struct bt_group_node *root = &t->nodes[0];
	enum bt_placement_fit fit = decide_node(t, 0);

	if (fit == BT_PLACEMENT_FITS && !root->any_scheduled) {
		bt_buf_clear(&root->text);
		bt_group_write_unschedulable(&root->text);
		root->unschedulable = true;
		root->result = BT_ATTEMPT_REJECTED;
		return BT_PLACEMENT_UNFIT;
	}
	return fit;
}

/* Groups whose parent was not scheduled, or that were not tried, get their parent's result. Source:
 * completeCompositePodGroupAlgorithmResultMap, v1.37.2. */
static void complete(struct bt_group_node *nodes, uint32_t ix)
{
	for (uint32_t i = ix + 1; i < nodes[ix].end; i = nodes[i].end) {
		const struct bt_group_node *reporter = &nodes[nodes[ix].result_ix];

		nodes[i].result_ix = i;
		nodes[i].lost = !nodes[i].there || (reporter->result != BT_ATTEMPT_SUCCEEDED &&
							   nodes[i].result == BT_ATTEMPT_SUCCEEDED);
		if (nodes[i].lost) {
			nodes[i].result_ix = nodes[ix].result_ix;
		}
		complete(nodes, i);
	}
}

void bt_group_tree_decide(struct bt_group_attempt *a)
{
	struct bt_group_cycle *cycle = a->cycle;
	struct tree_attempt t = {.whole = a, .nodes = cycle->nodes};
	enum bt_placement_fit fit = decide_root(&t);

	BT_INVARIANT(cycle->node_n > 1 || fit != BT_PLACEMENT_FITS);
	complete(cycle->nodes, 0);
	a->any_scheduled = cycle->nodes[0].any_scheduled;
	a->result = cycle->nodes[0].result;
	bt_buf_clear(a->text);
	bt_buf_str(a->text, bt_buf_view(&cycle->nodes[0].text));
	for (size_t i = 0; i < cycle->node_n; i++) {
		cycle->nodes[i].plain_len = cycle->nodes[i].text.len;
	}
}

void bt_group_tree_append(struct bt_group_attempt *a, size_t from)
{
	struct bt_group_cycle *cycle = a->cycle;

	for (size_t i = 0; from <= a->text->len && i < cycle->node_n; i++) {
		bt_buf_str(&cycle->nodes[cycle->nodes[i].result_ix].text,
			bt_str_sub(bt_buf_view(a->text), from, a->text->len));
	}
}

enum bt_group_fit bt_group_tree_place(
	const struct bt_group_attempt *a, struct bt_group_preemption *out, bool stay)
{
	struct bt_group_attempt trial = *a;
	struct tree_attempt t = {.whole = &trial, .nodes = copy_nodes(a->cycle), .out = out};
	enum bt_placement_fit fit = decide_root(&t);

	if (!stay || fit != BT_PLACEMENT_FITS) {
		bt_group_attempt_release(a, out, 0);
	}
	bt_buf_clear(&out->text);
	bt_buf_str(&out->text, bt_buf_view(&t.nodes[0].text));
	if (fit == BT_PLACEMENT_FAILS) {
		bt_buf_clear(&out->text);
		bt_buf_text(&out->text, "failed to schedule other pod from a pod group");
		return BT_GROUP_FIT_FAILS;
	}
	return fit == BT_PLACEMENT_FITS ? BT_GROUP_FITS : BT_GROUP_UNFIT;
}
