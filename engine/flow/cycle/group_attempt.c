/* SPDX-License-Identifier: Apache-2.0
 * The cycle of a PodGroup that waits in the queue as one: its pods are decided in the group's order, as long
 * as PlacementFeasible reports that the group is still feasible; else all are reverted, the last one first.
 * group_tree.c does the same for trees of groups.
 * Source: schedule_one_podgroup.go, v1.37.2.
 */
#include "engine/flow/cycle/group_attempt.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

static const struct bt_pod *pod_of(const struct bt_group_attempt *a, uint32_t pod_ix)
{
	return bt_ledger_pod(a->engine->cache->ledger, pod_ix);
}

/* ---- decided pods ---- */

uint64_t bt_group_attempt_scheduled_in(const struct bt_group_attempt *a, const struct bt_pod_group *leaf)
{
	uint64_t n = 0;

	for (size_t i = 0; i < leaf->member_n; i++) {
		n += pod_of(a, leaf->members[i])->state != BT_POD_QUEUED;
	}
	return n;
}

static void take_members(struct bt_group_attempt *a, uint32_t popped)
{
	struct bt_group_cycle *cycle = a->cycle;
	uint32_t n = bt_queue_members(a->engine->queue, popped, NULL, 0);
	uint32_t *pods = bt_mem_zalloc(n, sizeof(*pods));

	bt_queue_members(a->engine->queue, popped, pods, n);
	cycle->member_n = cycle->victim_n = cycle->leaving_n = cycle->cleared_nominations_n = 0;
	cycle->on = true;
	cycle->preempts = false;
	cycle->number++;
	cycle->met = 0;
	bt_buf_clear(&cycle->text);
	for (uint32_t i = 0; i < n; i++) {
		bt_group_cycle_add(cycle, a->engine, pods[i]);
		struct bt_decision *decision = &cycle->members[i].decision;

		if (bt_group_member_is_gone(a->engine, pods[i])) {
			bt_engine_set_aside(a->engine, decision);
			decision->outcome = BT_SKIPPED;
		}
	}
	bt_mem_free(pods);
	bt_group_cycle_rank(cycle, a->watch);
	a->to = (uint32_t)cycle->member_n;
	cycle->node_n = 0;
	if (a->group->composite) {
		bt_group_tree_begin(a);
		return;
	}
	a->scheduled_n = bt_group_attempt_scheduled_in(a, a->group);
}

/* ---- validation ---- */

static const char *policy_text(bool never_preempts)
{
	return never_preempts ? "Never" : "PreemptLowerPriority";
}

/* Source: validatePodGroup, v1.37.2. first: the member whose scheduler and policy all others must have. */
static bool is_valid(const struct bt_group_attempt *a, const struct bt_pod *first, const struct bt_pod *pod)
{
	struct bt_buf *text = &a->cycle->text;

	if (pod->signature->scheduler_name != first->signature->scheduler_name) {
		bt_group_write_schedulers(
			a->engine, pod->signature->scheduler_name, first->signature->scheduler_name, text);
		return false;
	}
	if (!bt_pod_groups_whole(&a->engine->groups)) {
		return true;
	}
	if (pod->priority != a->group->terms.priority) {
		bt_buf_printf(text,
			"all pods in a single pod group should have the same priority as the pod group's "
			"priority, got %d and %d",
			pod->priority, a->group->terms.priority);
		return false;
	}
	if (bt_pod_groups_have_policies(&a->engine->groups)) {
		if (pod->never_preempts != a->group->terms.never_preempts) {
			bt_buf_printf(text,
				"all pods in a single pod group should have the same preemption policy as "
				"the "
				"pod group's preemption policy, got %s and %s",
				policy_text(pod->never_preempts),
				policy_text(a->group->terms.never_preempts));
			return false;
		}
	} else if (pod->never_preempts != first->never_preempts) {
		bt_buf_printf(text,
			"all pods in a single pod group should have the same preemption policy, got %s and "
			"%s",
			policy_text(pod->never_preempts), policy_text(first->never_preempts));
		return false;
	}
	return true;
}

static bool those_on_nodes_are_valid(
	const struct bt_group_attempt *a, const struct bt_pod *first, const struct bt_pod_group *leaf)
{
	for (size_t i = 0; i < leaf->member_n; i++) {
		const struct bt_pod *pod = pod_of(a, leaf->members[i]);

		if (pod->state != BT_POD_QUEUED && !is_valid(a, first, pod)) {
			return false;
		}
	}
	return true;
}

/* The decided members, then those on nodes. */
static bool all_are_valid(const struct bt_group_attempt *a, const struct bt_pod *first)
{
	const struct bt_group_cycle *cycle = a->cycle;

	for (size_t i = 0; i < cycle->member_n; i++) {
		if (cycle->members[i].decision.outcome != BT_SKIPPED &&
			!is_valid(a, first, pod_of(a, cycle->members[i].decision.pod_ix))) {
			return false;
		}
	}
	size_t leaf_n;
	const uint32_t *leaves = bt_pod_groups_leaves(&a->engine->groups, a->number, &leaf_n);
	for (size_t i = 0; i < leaf_n; i++) {
		if (!those_on_nodes_are_valid(a, first, bt_pod_groups_at(&a->engine->groups, leaves[i]))) {
			return false;
		}
	}
	return true;
}

/* ---- deciding ---- */

/* Terminating members are not scheduled any more. */
static void skip_deleted(struct bt_group_attempt *a)
{
	struct bt_group_cycle *cycle = a->cycle;

	for (uint32_t i = a->from; i < a->to; i++) {
		struct bt_decision *decision = &cycle->members[i].decision;

		if (decision->outcome != BT_SKIPPED && pod_of(a, decision->pod_ix)->terminating) {
			bt_engine_begin(a->engine, decision->pod_ix, decision);
		}
		a->remaining_n += decision->outcome != BT_SKIPPED;
	}
}

enum bt_feasible bt_group_attempt_feasible(const struct bt_group_attempt *a,
	const struct bt_group_state *group, uint64_t remaining_n, struct bt_buf *text)
{
	bt_buf_clear(text);
	if (a->runtime->groups_number < 0) {
		return BT_FEASIBLE;
	}
	return bt_plugin_at((uint32_t)a->runtime->groups_number)
		->placement_feasible(group, remaining_n, text);
}

/* PlacementFeasible. The group's message names what is lacking. */
static enum bt_feasible feasible(const struct bt_group_attempt *a, struct bt_buf *text)
{
	const struct bt_group_state state = bt_pod_group_state(a->group, a->scheduled_n);

	return bt_group_attempt_feasible(a, &state, a->remaining_n, text);
}

/* Source: podGroupPodSchedulingAlgorithm, v1.37.2. PostFilter does not run for pods of groups. */
static void decide_member(struct bt_group_attempt *a, uint32_t i)
{
	struct bt_engine *engine = a->engine;
	struct bt_group_member *member = &a->cycle->members[i];
	struct bt_decision *decision = &member->decision;

	bt_engine_begin(engine, decision->pod_ix, decision);
	bt_engine_post_filter_begin(engine);
	struct bt_group_notes notes = {.met = a->cycle->met};
	bt_engine_note_for_group(engine, a->runtime, decision->plan, &notes);
	a->cycle->met = notes.met;
	decision->release = notes.release;
	member->group_release = notes.group_release;
	member->post_filtered = notes.post_filtered;
	bt_group_show_decided(engine, a->watch, a->trial || a->in_trial, decision);
	a->remaining_n--;
	if (decision->outcome == BT_PLACED) {
		bt_group_member_reserve(engine, member);
		a->scheduled_n++;
	} else if (decision->outcome == BT_FAILED) {
		a->culprit = i;
		a->result = BT_ATTEMPT_FAILED;
	} else {
		member->beside_others = a->any_scheduled;
	}
}

#define UNSCHEDULABLE "pod group is unschedulable"

void bt_group_write_unschedulable(struct bt_buf *text)
{
	struct bt_buf lacking = {0};

	bt_buf_str(&lacking, bt_buf_view(text));
	bt_buf_clear(text);
	bt_buf_printf(
		text, UNSCHEDULABLE "%s%.*s", lacking.len ? ", " : "", BT_STR_ARG(bt_buf_view(&lacking)));
	bt_buf_fini(&lacking);
}

void bt_group_attempt_take_back(struct bt_group_attempt *a)
{
	struct bt_group_cycle *cycle = a->cycle;

	for (uint32_t i = a->to; i-- > a->from;) {
		if (cycle->members[i].assumed) {
			uint32_t pod_ix = cycle->members[i].decision.pod_ix;

			bt_group_member_unreserve(a->engine, &cycle->members[i]);
			bt_group_nominate_again(a->engine, pod_ix);
			a->scheduled_n--;
		}
	}
}

/* Source: podGroupSchedulingDefaultAlgorithm, v1.37.2. */
static void decide_all(struct bt_group_attempt *a)
{
	struct bt_group_cycle *cycle = a->cycle;
	enum bt_feasible verdict = feasible(a, a->text);

	a->result = BT_ATTEMPT_REJECTED;
	a->enough = false;
	a->unschedulable = true;
	if (verdict == BT_INFEASIBLE) {
		bt_group_write_unschedulable(a->text);
		return;
	}
	for (uint32_t i = a->from; i < a->to; i++) {
		if (cycle->members[i].decision.outcome == BT_SKIPPED) {
			continue;
		}
		decide_member(a, i);
		if (a->result == BT_ATTEMPT_FAILED) {
			break;
		}
		verdict = feasible(a, a->text);
		if (verdict == BT_INFEASIBLE) {
			break;
		}
		a->any_scheduled |= cycle->members[i].assumed;
	}
	a->unschedulable = verdict != BT_INFEASIBLE;
	if (a->result == BT_ATTEMPT_REJECTED && verdict != BT_INFEASIBLE) {
		a->enough = verdict == BT_FEASIBLE;
		if (a->enough && a->any_scheduled) {
			a->result = BT_ATTEMPT_SUCCEEDED;
			if (!a->trial) {
				return;
			}
		}
		bt_group_write_unschedulable(a->text);
	}
	bt_group_attempt_take_back(a);
}

/* ---- in placements ---- */

void bt_group_attempt_begin_again(struct bt_group_attempt *a, bool trial)
{
	struct bt_group_cycle *cycle = a->cycle;

	a->trial = trial;
	a->any_scheduled = false;
	a->remaining_n = 0;
	for (uint32_t i = a->from; i < a->to; i++) {
		a->remaining_n += bt_group_member_begin_again(&cycle->members[i]);
	}
}

void bt_group_write_no_placement(
	const struct bt_placements *placements, bool unschedulable, struct bt_buf *text)
{
	struct bt_buf first = {0};

	bt_buf_str(&first, unschedulable ? bt_str(UNSCHEDULABLE) : bt_buf_view(text));
	bt_buf_clear(text);
	bt_buf_text(text, UNSCHEDULABLE ", ");
	bt_placements_write_none(placements, bt_buf_view(&first), text);
	bt_buf_fini(&first);
}

/* bt_placement_request.decide, for the cycle. */
static enum bt_placement_fit decide_in(void *context, const struct bt_placement *placement, bool trial)
{
	struct bt_group_attempt *a = context;
	struct bt_group_cycle *cycle = a->cycle;

	(void)placement;
	bt_group_attempt_begin_again(a, trial);
	decide_all(a);
	for (uint32_t i = a->from; trial && i < a->to; i++) {
		const struct bt_decision *decision = &cycle->members[i].decision;

		if (decision->outcome == BT_PLACED) {
			bt_placements_add_signature(a->placements, pod_of(a, decision->pod_ix)->signature);
		}
	}
	if (a->result == BT_ATTEMPT_FAILED) {
		return BT_PLACEMENT_FAILS;
	}
	return a->enough ? BT_PLACEMENT_FITS : BT_PLACEMENT_UNFIT;
}

void bt_group_attempt_add_pods(struct bt_group_attempt *a, const struct bt_pod_group *leaf)
{
	for (size_t i = 0; i < leaf->member_n; i++) {
		if (pod_of(a, leaf->members[i])->state != BT_POD_QUEUED) {
			bt_placements_add_pod(a->placements, a->engine, leaf->members[i]);
		}
	}
}

/* Source: podGroupSchedulingPlacementAlgorithm, v1.37.2. */
static void decide_in_placements(struct bt_group_attempt *a)
{
	struct bt_placements *placements = a->placements;
	struct bt_buf *text = a->text;
	const struct bt_group_state group = bt_pod_group_state(a->group, a->scheduled_n);
	const struct bt_placement_request request = {.engine = a->engine,
		.runtime = a->runtime,
		.group = &group,
		.decide = decide_in,
		.context = a,
		.first = a->watch && a->watch->first_placement,
		.measured = true};
	struct bt_placement_choice choice = {.undecided = true};

	bt_placements_begin(placements);
	bt_group_attempt_add_pods(a, a->group);
	a->result = BT_ATTEMPT_REJECTED;
	a->unschedulable = false;
	bt_buf_clear(text);
	choice.fit = bt_placements_generate(placements, a->engine, a->runtime, &group, text);
	if (choice.fit == BT_PLACEMENT_FITS) {
		struct bt_buf why = {0};

		choice = bt_placements_try(placements, &request, &why);
		if (choice.undecided) {
			bt_buf_clear(text);
			bt_buf_str(text, bt_buf_view(&why));
		}
		bt_buf_fini(&why);
	}
	if (choice.undecided && choice.fit == BT_PLACEMENT_FAILS) {
		bt_group_attempt_begin_again(a, false);
		a->result = BT_ATTEMPT_FAILED;
		a->cannot = true;
	} else if (choice.fit == BT_PLACEMENT_UNFIT && !choice.undecided) {
		bt_group_write_no_placement(placements, a->unschedulable, text);
		a->unschedulable = true;
	}
}

void bt_group_attempt_decide(struct bt_group_attempt *a)
{
	if (bt_pod_groups_have_placements(&a->engine->groups)) {
		decide_in_placements(a);
	} else {
		decide_all(a);
	}
}

/* ---- preemption by the group ---- */

/* The result of a trial as a group's message. began: at least one member was tried. */
static enum bt_group_fit judge_trial(
	struct bt_group_attempt *a, enum bt_feasible verdict, bool began, struct bt_buf *text)
{
	a->enough = a->result != BT_ATTEMPT_FAILED && verdict == BT_FEASIBLE;
	a->unschedulable = verdict != BT_INFEASIBLE || !began;
	if (a->result == BT_ATTEMPT_FAILED) {
		bt_buf_clear(text);
		bt_buf_text(text, "failed to schedule other pod from a pod group");
		return BT_GROUP_FIT_FAILS;
	}
	if (verdict == BT_FEASIBLE && a->any_scheduled) {
		return BT_GROUP_FITS;
	}
	if (verdict != BT_INFEASIBLE || !began) {
		bt_group_write_unschedulable(text);
	}
	return BT_GROUP_UNFIT;
}

static void try_member(struct bt_group_attempt *a, uint32_t pod_ix, struct bt_group_preemption *out)
{
	enum bt_outcome outcome = bt_group_try(a->engine, a->watch, pod_ix, out);

	a->remaining_n--;
	a->scheduled_n += outcome == BT_PLACED;
	if (outcome == BT_FAILED) {
		a->result = BT_ATTEMPT_FAILED;
	}
}

void bt_group_attempt_release(
	const struct bt_group_attempt *a, const struct bt_group_preemption *out, size_t from)
{
	struct bt_ledger *ledger = a->engine->cache->ledger;

	for (size_t i = out->place_n; i-- > from;) {
		uint32_t pod_ix = out->places[i].pod_ix;

		if (bt_ledger_pod(ledger, pod_ix)->state == BT_POD_ASSUMED) {
			bt_group_release(a->engine, pod_ix);
			bt_group_nominate_again(a->engine, pod_ix);
		}
	}
}

enum bt_group_fit bt_group_attempt_place(
	struct bt_group_attempt *a, struct bt_group_preemption *out, bool stay)
{
	const struct bt_group_cycle *cycle = a->cycle;
	const uint64_t scheduled_n = a->scheduled_n;
	const size_t from = out->place_n;

	a->result = BT_ATTEMPT_REJECTED;
	a->any_scheduled = false;
	a->remaining_n = 0;
	for (uint32_t i = a->from; i < a->to; i++) {
		a->remaining_n += cycle->members[i].decision.outcome != BT_SKIPPED;
	}
	enum bt_feasible verdict = feasible(a, &out->text);
	bool began = verdict != BT_INFEASIBLE;
	for (uint32_t i = a->from; i < a->to && verdict != BT_INFEASIBLE; i++) {
		if (cycle->members[i].decision.outcome == BT_SKIPPED) {
			continue;
		}
		try_member(a, cycle->members[i].decision.pod_ix, out);
		verdict = a->result == BT_ATTEMPT_FAILED ? BT_INFEASIBLE : feasible(a, &out->text);
		a->any_scheduled |= verdict != BT_INFEASIBLE && out->place_n > from;
	}
	enum bt_group_fit fit = judge_trial(a, verdict, began, &out->text);
	if (!stay || !a->enough) {
		bt_group_attempt_release(a, out, from);
	}
	a->scheduled_n = scheduled_n;
	return fit;
}

/* Trials in placements. */
struct group_trial {
	struct bt_group_attempt attempt;
	struct bt_group_preemption *out;
	size_t *froms;	     /* by placement: index of its first place; one more at the end */
	struct bt_buf first; /* the group's message in the first placement, or in the one with an error */
	bool first_unschedulable;
};

/* bt_placement_request.decide. */
static enum bt_placement_fit place_in(void *context, const struct bt_placement *placement, bool trial)
{
	struct group_trial *t = context;
	struct bt_placements *placements = &t->attempt.cycle->placements;
	size_t ix = (size_t)(placement - placements->items);

	BT_INVARIANT(trial && ix < placements->n);
	t->froms[ix] = t->out->place_n;
	(void)bt_group_attempt_place(&t->attempt, t->out, false);
	t->froms[ix + 1] = t->out->place_n;
	for (size_t i = t->froms[ix]; i < t->out->place_n; i++) {
		bt_placements_add_signature(
			placements, pod_of(&t->attempt, t->out->places[i].pod_ix)->signature);
	}
	if (ix == 0 || t->attempt.result == BT_ATTEMPT_FAILED) {
		bt_buf_clear(&t->first);
		bt_buf_str(&t->first, bt_buf_view(&t->out->text));
		t->first_unschedulable = t->attempt.unschedulable;
	}
	if (t->attempt.result == BT_ATTEMPT_FAILED) {
		return BT_PLACEMENT_FAILS;
	}
	return t->attempt.enough ? BT_PLACEMENT_FITS : BT_PLACEMENT_UNFIT;
}

/* Keeps the places of the chosen placement. */
static enum bt_group_fit keep_places(struct group_trial *t, uint32_t ix)
{
	struct bt_group_preemption *out = t->out;
	size_t n = t->froms[ix + 1] - t->froms[ix];

	out->place_n = n;
	if (n == 0) {
		bt_buf_clear(&out->text);
		bt_group_write_unschedulable(&out->text);
		return BT_GROUP_UNFIT;
	}
	memmove(out->places, out->places + t->froms[ix], n * sizeof(*out->places));
	return BT_GROUP_FITS;
}

/* Source: podGroupSchedulingPlacementAlgorithm, v1.37.2. Nodes are divided as they were before. */
static enum bt_group_fit place_in_placements(
	const struct bt_group_attempt *a, struct bt_group_preemption *out)
{
	struct bt_placements *placements = &a->cycle->placements;
	const struct bt_group_state group = bt_pod_group_state(a->group, a->scheduled_n);
	struct group_trial t = {.attempt = *a, .out = out};
	const struct bt_placement_request request = {.engine = a->engine,
		.runtime = a->runtime,
		.group = &group,
		.decide = place_in,
		.context = &t,
		.first = a->watch && a->watch->first_placement,
		.trials = true,
		.measured = true};
	enum bt_group_fit fit = BT_GROUP_FIT_FAILS;
	struct bt_buf why = {0};

	if (placements->n == 0) {
		bt_buf_clear(&out->text);
		bt_buf_str(&out->text, bt_buf_view(&a->cycle->text));
		return BT_GROUP_UNFIT;
	}
	t.froms = bt_mem_zalloc((size_t)placements->n + 1, sizeof(*t.froms));
	struct bt_placement_choice choice = bt_placements_try(placements, &request, &why);
	if (choice.fit == BT_PLACEMENT_FITS) {
		fit = keep_places(&t, choice.ix);
	} else {
		out->place_n = 0;
		bt_buf_clear(&out->text);
		bt_buf_str(&out->text, choice.undecided ? bt_buf_view(&why) : bt_buf_view(&t.first));
	}
	if (choice.fit == BT_PLACEMENT_UNFIT) {
		fit = BT_GROUP_UNFIT;
		bt_group_write_no_placement(placements, t.first_unschedulable, &out->text);
	}
	bt_mem_free(t.froms);
	bt_buf_fini(&t.first);
	bt_buf_fini(&why);
	return fit;
}

/* bt_group_preempt_request.fits. */
static enum bt_group_fit place_all(void *context, struct bt_group_preemption *out)
{
	const struct bt_group_attempt *a = context;
	struct bt_group_attempt trial = *a;

	if (a->group->composite) {
		return bt_group_tree_place(a, out, false);
	}
	return bt_pod_groups_have_placements(&a->engine->groups) ? place_in_placements(a, out)
								 : bt_group_attempt_place(&trial, out, false);
}

static enum bt_preempt_outcome post_filter(struct bt_group_attempt *a)
{
	struct bt_group_preempt_request request = {.engine = a->engine,
		.runtime = a->runtime,
		.group = a->group,
		.fits = place_all,
		.context = a};

	return bt_engine_group_post_filter(a->cycle, &request);
}

/* The node that a member is nominated to while the group waits for its victims. Source:
 * applyPodGroupPostFilterResult, buildCurrentNominatingInfos, v1.37.2. */
static void nominate(const struct bt_group_attempt *a, struct bt_decision *out)
{
	const struct bt_group_preemption *preemption = &a->cycle->preemption;

	if (preemption->is_ongoing) {
		out->nominated_ix = pod_of(a, out->pod_ix)->status_ix;
		out->preempt = out->nominated_ix == BT_NO_NODE ? BT_PREEMPT_NOWHERE : BT_PREEMPT_FOUND;
	}
	for (size_t i = 0; i < preemption->place_n && !preemption->is_ongoing; i++) {
		if (preemption->places[i].pod_ix == out->pod_ix) {
			out->nominated_ix = preemption->places[i].node_ix;
			out->preempt = BT_PREEMPT_FOUND;
		}
	}
}

/* ---- results ---- */

/* Requeues a member that is not placed, and sets its nomination. Source: submitPodGroupAlgorithmResult,
 * v1.37.2. */
static struct bt_decision settled(const struct bt_group_attempt *a, uint32_t i)
{
	struct bt_group_member *member = &a->cycle->members[i];
	struct bt_decision *own = &member->decision;
	const struct bt_group_cycle *cycle = a->cycle;
	const bool tree = cycle->node_n > 0;
	const bool tried = own->outcome != BT_FAILED && !(tree && cycle->nodes[member->leaf].lost);
	const enum bt_queue_attempt result = tree ? bt_group_tree_result(cycle, member)->result : a->result;
	struct bt_decision out = {.pod_ix = own->pod_ix,
		.outcome = BT_REFUSED,
		.node_ix = BT_NO_NODE,
		.nominated_ix = BT_NO_NODE,
		.preempt = BT_PREEMPT_INELIGIBLE};

	if (a->result == BT_ATTEMPT_FAILED) {
		out.outcome = BT_FAILED;
		if (a->cannot) {
			member->reason = BT_GROUP_TEXT;
		} else if (member->reason == BT_GROUP_OWN && (tree || i != a->culprit)) {
			member->reason = BT_GROUP_FAILED;
		}
	} else if (!tried) {
		member->reason = BT_GROUP_NOT_TRIED;
		out.unschedulable_plugins = bt_group_blame(a->engine, a->runtime, false);
	} else if (own->outcome == BT_PLACED) {
		member->reason = a->waits ? BT_GROUP_TEXT : BT_GROUP_REJECTED;
		out.preempt = a->waits ? BT_PREEMPT_INELIGIBLE : BT_PREEMPT_NOWHERE;
		out.unschedulable_plugins = bt_group_blame(a->engine, a->runtime, true);
	} else {
		bool taken_back = result != BT_ATTEMPT_SUCCEEDED && member->beside_others;

		out.unschedulable_plugins = own->unschedulable_plugins |
					    (taken_back ? bt_group_blame(a->engine, a->runtime, true) : 0);
		/* Without any node, a nomination ends. */
		out.preempt = own->preempt == BT_PREEMPT_NOWHERE && bt_node_list_n(&a->engine->nodes) == 0
				      ? BT_PREEMPT_NOWHERE
				      : BT_PREEMPT_INELIGIBLE;
	}
	if (a->waits) {
		nominate(a, &out);
	}
	return out;
}

/* Settles the members' results, and reports them to the queue unless the cycle is a trial. */
static void submit(struct bt_group_attempt *a)
{
	struct bt_group_cycle *cycle = a->cycle;

	for (uint32_t i = 0; i < cycle->member_n; i++) {
		struct bt_group_member *member = &cycle->members[i];
		bool set_aside = !member->assumed && member->decision.outcome != BT_SKIPPED;

		if (set_aside) {
			member->out = settled(a, i);
		}
		if (cycle->is_trial) {
			continue;
		}
		if (set_aside) {
			bt_engine_set_aside(a->engine, &member->out);
		} else if (member->assumed) {
			bt_queue_done(a->engine->queue, member->decision.pod_ix);
		}
	}
}

static void refuse_all(struct bt_group_attempt *a)
{
	struct bt_group_cycle *cycle = a->cycle;

	a->result = BT_ATTEMPT_FAILED;
	for (uint32_t i = 0; i < cycle->member_n; i++) {
		cycle->members[i].reason = BT_GROUP_TEXT;
	}
	submit(a);
}

static enum bt_group_outcome outcome_of(const struct bt_group_attempt *a)
{
	if (a->waits) {
		return BT_GROUP_WAITS_ON_PREEMPTION;
	}
	if (a->cannot || a->result == BT_ATTEMPT_FAILED) {
		return BT_GROUP_ERROR;
	}
	return a->result == BT_ATTEMPT_SUCCEEDED ? BT_GROUP_SCHEDULED : BT_GROUP_UNSCHEDULABLE;
}

/* Decides the pods, and reports the results to the queue. */
static void decide_valid(struct bt_group_attempt *a)
{
	skip_deleted(a);
	if (a->remaining_n == 0) {
		a->result = BT_ATTEMPT_SUCCEEDED;
		return;
	}
	int64_t begin_ns = bt_group_cycle_clock(a->engine);
	if (a->group->composite) {
		bt_group_tree_decide(a);
	} else {
		bt_group_attempt_decide(a);
	}
	int64_t decided_ns = bt_group_cycle_clock(a->engine);
	a->cycle->plain_len = a->cycle->text.len;
	enum bt_queue_attempt before = a->result;

	if (a->result == BT_ATTEMPT_REJECTED) {
		size_t text_len = a->text->len;
		enum bt_preempt_outcome outcome = post_filter(a);

		bt_group_tree_append(a, text_len);
		a->waits = outcome == BT_PREEMPT_FOUND;
		a->cannot = outcome == BT_PREEMPT_FAILED;
	}
	a->result = a->cannot ? BT_ATTEMPT_FAILED : a->result;
	submit(a);
	bt_group_cycle_note(a->engine, a->runtime, outcome_of(a), begin_ns, decided_ns);
	/* Reports the results of the pods alone to the queue. */
	a->result = before;
}

static struct bt_group_attempt attempt_of(struct bt_engine *engine, struct bt_group_cycle *cycle,
	uint32_t pod_ix, const struct bt_group_watch *watch)
{
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
	struct bt_group_attempt a = {.engine = engine,
		.cycle = cycle,
		.watch = watch,
		.runtime = bt_engine_runtime_of(engine, pod_ix),
		.text = &cycle->text,
		.placements = &cycle->placements,
		.group = bt_pod_groups_root(&engine->groups,
			bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group))};

	BT_REQUIRE(a.group && a.group->known);
	a.number = bt_pod_groups_number(&engine->groups, a.group);
	return a;
}

void bt_engine_attempt_group(struct bt_engine *engine, struct bt_group_cycle *cycle, uint32_t pod_ix,
	const struct bt_group_watch *watch, bt_group_judge *judge, uint32_t *out_culprit)
{
	struct bt_group_attempt a = attempt_of(engine, cycle, pod_ix, watch);

	take_members(&a, pod_ix);
	const struct bt_group_member *first = bt_group_first_decided(cycle);
	if (!first) {
		a.result = BT_ATTEMPT_SUCCEEDED;
	} else if (!all_are_valid(&a, pod_of(&a, first->decision.pod_ix))) {
		refuse_all(&a);
	} else {
		decide_valid(&a);
	}
	cycle->outcome = outcome_of(&a);
	if (cycle->is_trial) {
		judge(engine, watch, a.culprit);
		a.result = BT_ATTEMPT_SUCCEEDED; /* its pods wait for nothing new */
	}
	bt_queue_end_group(engine->queue, a.number, a.result, engine->options.groups_by_events,
		bt_scheduling_clock_now(&engine->clock));
	*out_culprit = a.culprit;
}

/* ---- without a cycle ---- */

/* Lists the pods as members. Returns: whether the group may have them. */
static bool take_pods(struct bt_group_attempt *a, const uint32_t *pod_ixs, uint32_t n)
{
	struct bt_group_cycle *cycle = a->cycle;

	cycle->member_n = cycle->preemption.place_n = 0;
	bt_buf_clear(&cycle->text);
	bt_buf_clear(&cycle->preemption.text);
	for (uint32_t i = 0; i < n; i++) {
		BT_REQUIRE(pod_of(a, pod_ixs[i])->state == BT_POD_QUEUED);
		bt_group_cycle_add(cycle, a->engine, pod_ixs[i]);
	}
	a->to = n;
	cycle->node_n = 0;
	bt_group_tree_begin(a);
	return all_are_valid(a, pod_of(a, pod_ixs[0]));
}

enum bt_group_fit bt_engine_try_group(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_held, uint32_t *out_held_n, struct bt_buf *out_text)
{
	struct bt_group_cycle *cycle = &engine->group_cycle;
	const struct bt_group_preemption *tried = &cycle->preemption;

	BT_REQUIRE(n > 0 && !cycle->on && bt_engine_in_group(engine, pod_ixs[0]));
	struct bt_group_attempt a = attempt_of(engine, cycle, pod_ixs[0], NULL);
	*out_held_n = 0;
	if (!take_pods(&a, pod_ixs, n)) {
		bt_buf_str(out_text, bt_buf_view(&cycle->text));
		return BT_GROUP_UNFIT;
	}
	cycle->on = true;
	enum bt_group_fit fit = bt_group_tree_place(&a, &cycle->preemption, true);
	cycle->on = false;
	if (fit != BT_GROUP_FITS) {
		bt_buf_str(out_text, bt_buf_view(&tried->text));
		return fit;
	}
	for (size_t i = 0; i < tried->place_n; i++) {
		if (pod_of(&a, tried->places[i].pod_ix)->state == BT_POD_ASSUMED) {
			out_held[(*out_held_n)++] = tried->places[i].pod_ix;
		}
	}
	BT_INVARIANT(*out_held_n > 0 && *out_held_n <= n);
	return fit;
}
