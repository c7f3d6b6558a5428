/* SPDX-License-Identifier: Apache-2.0
 * The cycle of a PodGroup: pull, decide one after the other, keep or revert, bind or set aside.
 */
#include "engine/flow/cycle/group_cycle.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/group_attempt.h"

/* A running cycle. */
struct group_in_cycle {
	struct bt_engine *engine;
	struct bt_cycle cycle; /* of the popped member; the profile is the same for all members */
	const struct bt_group_watch *watch; /* or NULL */
	uint32_t scheduled_n;		    /* members on nodes, including those of this cycle */
	uint32_t culprit;
	bool preempts; /* a member preempts */
	bool by_group; /* the group preempts as a whole */
	bool cannot;   /* its preemption has failed */
	bool reserves; /* a member is assumed, and affects later decisions */
	bool trial;    /* it will be reverted */
	bool untried;  /* there is no placement, or no best one: the cycle's text has the reason */
	enum bt_group_outcome verdict;
};

/* ---- membership ---- */

static const struct bt_signature *signature_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
}

static const struct bt_pod_group *group_of(const struct group_in_cycle *w)
{
	return bt_pod_groups_find(
		&w->engine->groups, w->cycle.signature->namespace_, w->cycle.signature->pod_group);
}

/* ---- pulling ---- */

/* Takes a waiting member out of the queue, unless PreEnqueue gates it. */
static bool pull(struct bt_engine *engine, uint32_t pod_ix)
{
	enum bt_wait where = bt_queue_info(engine->queue, pod_ix).where;

	if (where == BT_WAIT_NOWHERE || where == BT_WAIT_IN_FLIGHT || where == BT_WAIT_BINDING) {
		return false;
	}
	bt_queue_activate(engine->queue, pod_ix, bt_scheduling_clock_now(&engine->clock));
	return bt_queue_take(engine->queue, pod_ix) == BT_OK;
}

static int by_order(const void *a, const void *b)
{
	const struct bt_group_member *x = a, *y = b;

	if (x->priority != y->priority) {
		return x->priority > y->priority ? -1 : 1;
	}
	if (x->first_ns != y->first_ns) {
		return x->first_ns < y->first_ns ? -1 : 1;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Takes all waiting members: by priority, then by the time at which they became active. Source:
 * podGroupInfoForPod, v1.36.3. */
static void pull_all(struct group_in_cycle *w, uint32_t popped)
{
	BT_INVARIANT(!w->engine->group_cycle.on);
	struct bt_engine *engine = w->engine;
	struct bt_group_cycle *cycle = &engine->group_cycle;
	const struct bt_pod_group *group = group_of(w);

	cycle->member_n = cycle->victim_n = cycle->leaving_n = cycle->cleared_nominations_n = 0;
	cycle->on = true;
	cycle->preempts = false;
	cycle->number++;
	bt_buf_clear(&cycle->text);
	bt_group_cycle_add(cycle, engine, popped);
	for (size_t i = 0; group && i < group->member_n; i++) {
		uint32_t pod_ix = group->members[i];

		if (bt_ledger_pod(engine->cache->ledger, pod_ix)->state != BT_POD_QUEUED) {
			w->scheduled_n++;
		} else if (pod_ix != popped && pull(engine, pod_ix)) {
			bt_group_cycle_add(cycle, engine, pod_ix);
		}
	}
	qsort(cycle->members, cycle->member_n, sizeof(*cycle->members), by_order);
	bt_group_cycle_rank(cycle, w->watch);
	BT_INVARIANT(cycle->member_n > 0);
}

/* Do all members name one scheduler? */
static bool is_uniform(const struct group_in_cycle *w)
{
	BT_INVARIANT(w->engine->group_cycle.member_n > 0);
	const struct bt_group_cycle *cycle = &w->engine->group_cycle;
	uint32_t scheduler = signature_of(w->engine, cycle->members[0].decision.pod_ix)->scheduler_name;

	for (size_t i = 1; i < cycle->member_n; i++) {
		if (signature_of(w->engine, cycle->members[i].decision.pod_ix)->scheduler_name != scheduler) {
			return false;
		}
	}
	return true;
}

/* ---- deciding ---- */

/* Permit's result for a member; on failure out_error gets the reason, unless it is NULL. */
static enum bt_permit permit(const struct group_in_cycle *w, uint32_t pod_ix, struct bt_buf *out_error)
{
	const struct bt_hooks *hooks = &w->cycle.runtime->profile.permit;
	struct bt_group_state group = {0};
	struct bt_pod_env env = bt_engine_pod_env(w->engine, pod_ix, &group);
	enum bt_permit permit = BT_PERMIT_OK;

	group.scheduled_n = w->scheduled_n;
	for (uint32_t i = 0; i < hooks->n && permit != BT_PERMIT_FAILS; i++) {
		const struct bt_hook *hook = &hooks->items[i];

		if (bt_hook_concerns(hook, env.traits)) {
			if (out_error) {
				bt_buf_clear(out_error);
				bt_buf_printf(
					out_error, "running Permit plugin \"%s\": ", hook->plugin->name);
			}
			env.settings = hook->settings;
			enum bt_permit result = hook->plugin->permit(&env, out_error);
			permit = result > permit ? result : permit;
		}
	}
	return permit;
}

/* Saves the member's victims, which the next decision would overwrite. */
static void keep_victims(struct bt_engine *engine, struct bt_group_member *member)
{
	struct bt_group_cycle *cycle = &engine->group_cycle;

	member->victims_from = cycle->victim_n;
	member->victim_n = member->decision.victim_n;
	for (uint32_t i = 0; i < member->victim_n; i++) {
		cycle->victims = bt_mem_grow(
			cycle->victims, cycle->victim_n, &cycle->victim_cap, sizeof(*cycle->victims));
		cycle->victims[cycle->victim_n++] = member->decision.victims[i];
	}
	member->leaving_from = cycle->leaving_n;
	size_t leaving_n;
	const struct bt_leaving *leaving = bt_eviction_take(&engine->eviction, &leaving_n);
	member->leaving_n = (uint32_t)leaving_n;
	for (size_t i = 0; i < leaving_n; i++) {
		cycle->leaving = bt_mem_grow(
			cycle->leaving, cycle->leaving_n, &cycle->leaving_cap, sizeof(*cycle->leaving));
		cycle->leaving[cycle->leaving_n++] = leaving[i];
	}
	BT_INVARIANT(member->victims_from + member->victim_n == cycle->victim_n);
}

static void run_permit(struct group_in_cycle *w, uint32_t i)
{
	BT_INVARIANT(i < w->engine->group_cycle.member_n);
	struct bt_group_member *member = &w->engine->group_cycle.members[i];

	w->scheduled_n++;
	switch (permit(w, member->decision.pod_ix, &w->engine->group_cycle.permit_error)) {
	case BT_PERMIT_OK:
		w->verdict = w->preempts ? BT_GROUP_WAITS_ON_PREEMPTION : BT_GROUP_SCHEDULED;
		break;
	case BT_PERMIT_WAIT:
		break;
	case BT_PERMIT_FAILS:
		w->scheduled_n--;
		bt_group_member_unreserve(w->engine, member);
		member->reason = BT_GROUP_GONE;
		w->culprit = i;
		w->verdict = BT_GROUP_ERROR;
		break;
	}
}

/* Source: podGroupPodSchedulingAlgorithm, v1.36.3. */
static void decide_member(struct group_in_cycle *w, uint32_t i)
{
	struct bt_engine *engine = w->engine;
	struct bt_group_member *member = &engine->group_cycle.members[i];
	struct bt_decision *decision = &member->decision;

	bt_engine_begin(engine, decision->pod_ix, decision);
	bt_engine_run_post_filter(engine, decision);
	bt_group_show_decided(engine, w->watch, w->trial, decision);
	switch (decision->outcome) {
	case BT_PLACED:
		break;
	case BT_REFUSED:
		if (decision->preempt == BT_PREEMPT_FOUND) {
			member->preempts = w->preempts = true;
			keep_victims(engine, member);
		}
		(void)bt_engine_release_claim(engine, &decision->release, decision->pod_ix);
		if (!member->preempts) {
			member->beside_others = w->reserves;
			return;
		}
		break;
	case BT_FAILED:
		w->culprit = i;
		w->verdict = BT_GROUP_ERROR;
		return;
	default:
		return;
	}
	bt_group_member_reserve(engine, member);
	w->reserves = true;
	run_permit(w, i);
}

/* Skips members that are being deleted. */
static void skip_deleted(struct group_in_cycle *w)
{
	struct bt_group_cycle *cycle = &w->engine->group_cycle;

	for (size_t i = 0; i < cycle->member_n; i++) {
		struct bt_decision *decision = &cycle->members[i].decision;

		if (bt_ledger_pod(w->engine->cache->ledger, decision->pod_ix)->terminating) {
			bt_engine_begin(w->engine, decision->pod_ix, decision);
		}
	}
}

/* Source: podGroupSchedulingDefaultAlgorithm, v1.36.3. */
static void decide_all(struct group_in_cycle *w)
{
	struct bt_group_cycle *cycle = &w->engine->group_cycle;

	for (uint32_t i = 0; i < cycle->member_n && w->verdict != BT_GROUP_ERROR; i++) {
		if (cycle->members[i].decision.outcome != BT_SKIPPED) {
			decide_member(w, i);
		}
	}
	for (size_t i = cycle->member_n; (w->trial || w->verdict != BT_GROUP_SCHEDULED) && i-- > 0;) {
		if (cycle->members[i].assumed) {
			bt_group_member_unreserve(w->engine, &cycle->members[i]);
			if (w->trial) {
				bt_group_nominate_again(w->engine, cycle->members[i].decision.pod_ix);
			}
			w->scheduled_n--;
		}
	}
}

/* ---- in placements ---- */

/* Resets the attempt: no member is tried yet. */
static void begin_again(struct group_in_cycle *w, bool trial)
{
	struct bt_group_cycle *cycle = &w->engine->group_cycle;

	w->trial = trial;
	w->preempts = w->reserves = false;
	w->culprit = 0;
	w->verdict = BT_GROUP_UNSCHEDULABLE;
	cycle->victim_n = cycle->leaving_n = 0;
	for (size_t i = 0; i < cycle->member_n; i++) {
		bt_group_member_begin_again(&cycle->members[i]);
	}
}

/* bt_placement_request.decide. */
static enum bt_placement_fit decide_in(void *context, const struct bt_placement *placement, bool trial)
{
	struct group_in_cycle *w = context;
	struct bt_group_cycle *cycle = &w->engine->group_cycle;

	(void)placement;
	begin_again(w, trial);
	decide_all(w);
	for (size_t i = 0; trial && i < cycle->member_n; i++) {
		const struct bt_group_member *member = &cycle->members[i];

		if (member->decision.outcome == BT_PLACED || member->preempts) {
			bt_placements_add_signature(
				&cycle->placements, signature_of(w->engine, member->decision.pod_ix));
		}
	}
	return w->verdict == BT_GROUP_ERROR	      ? BT_PLACEMENT_FAILS
	       : w->verdict == BT_GROUP_UNSCHEDULABLE ? BT_PLACEMENT_UNFIT
						      : BT_PLACEMENT_FITS;
}

static void write_not_found(const struct group_in_cycle *w, struct bt_buf *text)
{
	bt_buf_printf(text, "podgroup.scheduling.k8s.io \"%.*s\" not found",
		BT_STR_ARG(bt_engine_name(w->engine, w->cycle.signature->pod_group)));
}

/* Source: podGroupSchedulingPlacementAlgorithm, v1.36.3. */
static void decide_in_placements(struct group_in_cycle *w)
{
	struct bt_group_cycle *cycle = &w->engine->group_cycle;
	const struct bt_pod_group *of_pods = group_of(w);
	struct bt_group_state group = bt_pod_groups_state(
		&w->engine->groups, w->cycle.signature->namespace_, w->cycle.signature->pod_group);
	const struct bt_placement_request request = {.engine = w->engine,
		.runtime = w->cycle.runtime,
		.group = &group,
		.decide = decide_in,
		.context = w,
		.first = w->watch && w->watch->first_placement};
	struct bt_placement_choice choice = {.undecided = true};

	group.scheduled_n = w->scheduled_n;
	bt_placements_begin(&cycle->placements);
	for (size_t i = 0; of_pods && i < of_pods->member_n; i++) {
		if (bt_ledger_pod(w->engine->cache->ledger, of_pods->members[i])->state != BT_POD_QUEUED) {
			bt_placements_add_pod(&cycle->placements, w->engine, of_pods->members[i]);
		}
	}
	if (!group.known && w->cycle.runtime->profile.placement_generate.n) {
		write_not_found(w, &cycle->text);
		choice.fit = BT_PLACEMENT_FAILS;
	} else {
		choice.fit = bt_placements_generate(
			&cycle->placements, w->engine, w->cycle.runtime, &group, &cycle->text);
	}
	if (choice.fit == BT_PLACEMENT_FITS) {
		choice = bt_placements_try(&cycle->placements, &request, &cycle->text);
	}
	if (choice.undecided) {
		begin_again(w, false);
		w->verdict = choice.fit == BT_PLACEMENT_FAILS ? BT_GROUP_ERROR : BT_GROUP_UNSCHEDULABLE;
		w->untried = true;
	} else if (choice.fit == BT_PLACEMENT_UNFIT) {
		bt_placements_write_none(
			&cycle->placements, bt_str("pod group is unschedulable"), &cycle->text);
	}
}

/* ---- preemption by the group as a whole ---- */

/* Does a refusal of one pod apply to the other, while no pod is assumed in between? */
static bool is_alike(const struct bt_pod *x, const struct bt_pod *y)
{
	return x->signature == y->signature && x->priority == y->priority && !x->signature->claim_n &&
	       !x->signature->extended_n && x->status_node == BT_NAME_NONE &&
	       y->status_node == BT_NAME_NONE && x->nominated_ix == BT_NO_NODE &&
	       y->nominated_ix == BT_NO_NODE;
}

/* Finds a node for a member of a trial. Returns: whether the trial continues. */
static bool try_member(struct group_in_cycle *w, uint32_t pod_ix, struct bt_group_preemption *out)
{
	enum bt_outcome outcome = bt_group_try(w->engine, w->watch, pod_ix, out);

	if (outcome != BT_PLACED) {
		w->verdict = outcome == BT_FAILED ? BT_GROUP_ERROR : w->verdict;
		return outcome != BT_FAILED;
	}
	w->scheduled_n++;
	enum bt_permit result = permit(w, pod_ix, NULL);
	w->verdict = result == BT_PERMIT_OK	 ? BT_GROUP_SCHEDULED
		     : result == BT_PERMIT_FAILS ? BT_GROUP_ERROR
						 : w->verdict;
	return result == BT_PERMIT_WAIT;
}

/* bt_group_preempt_request.fits: the group's algorithm without PostFilter, until a member is permitted. */
static enum bt_group_fit place_all(void *context, struct bt_group_preemption *out)
{
	struct group_in_cycle w = *(const struct group_in_cycle *)context;
	const struct bt_group_cycle *cycle = &w.engine->group_cycle;
	const struct bt_pod *refused = NULL;
	bool goes_on = true;

	w.verdict = BT_GROUP_UNSCHEDULABLE;
	for (size_t i = 0; i < cycle->member_n && goes_on; i++) {
		uint32_t pod_ix = cycle->members[i].decision.pod_ix;
		const struct bt_pod *pod = bt_ledger_pod(w.engine->cache->ledger, pod_ix);
		size_t before = out->place_n;

		if (cycle->members[i].decision.outcome != BT_SKIPPED &&
			!(refused && is_alike(refused, pod))) {
			goes_on = try_member(&w, pod_ix, out);
			refused = out->place_n == before ? pod : NULL;
		}
	}
	for (size_t i = out->place_n; i-- > 0;) {
		bt_group_release(w.engine, out->places[i].pod_ix);
	}
	return w.verdict == BT_GROUP_SCHEDULED ? BT_GROUP_FITS
	       : w.verdict == BT_GROUP_ERROR   ? BT_GROUP_FIT_FAILS
					       : BT_GROUP_UNFIT;
}

/* Source: newPodGroupPreemptor, v1.36.3. */
static bool members_never_preempt(const struct group_in_cycle *w)
{
	const struct bt_group_cycle *cycle = &w->engine->group_cycle;

	for (size_t i = 0; i < cycle->member_n; i++) {
		const struct bt_decision *decision = &cycle->members[i].decision;

		if (decision->outcome != BT_SKIPPED &&
			bt_ledger_pod(w->engine->cache->ledger, decision->pod_ix)->never_preempts) {
			return true;
		}
	}
	return false;
}

/* Appends the result of preemption to the group's message. Empty: the trial ended as the cycle did, so the
 * message is repeated. Source: podGroupCycle, v1.36.3. */
static void append_reason(struct bt_group_cycle *cycle, struct bt_str why)
{
	struct bt_buf fits_not = {0};

	bt_buf_text(&cycle->text, cycle->text.len ? "" : "pod group is unschedulable");
	bt_buf_str(&fits_not, bt_buf_view(&cycle->text));
	bt_buf_text(&cycle->text, ", ");
	bt_buf_str(&cycle->text, why.len ? why : bt_buf_view(&fits_not));
	bt_buf_fini(&fits_not);
}

/* Preempts for the group, and sets its cycle's verdict. Source: runWorkloadAwarePreemption, v1.36.3. */
static void preempt_as_group(struct group_in_cycle *w)
{
	struct bt_engine *engine = w->engine;
	struct bt_group_cycle *cycle = &engine->group_cycle;
	const struct bt_pod_group *group = group_of(w);
	const struct bt_group_preempt_request request = {.engine = engine,
		.runtime = w->cycle.runtime,
		.group = group,
		.policy = w->cycle.runtime->profile.preemption
				  ? w->cycle.runtime->profile.preemption->plugin->preemption
				  : NULL,
		.never_preempts = members_never_preempt(w),
		.fits = place_all,
		.context = w};

	if (!w->cycle.runtime->profile.preemption) {
		append_reason(cycle, bt_str("default preemption plugin is not registered, workload aware "
					    "preemption is disabled"));
		return;
	}
	if (!group || !group->known) {
		w->verdict = BT_GROUP_ERROR;
		bt_buf_clear(&cycle->preemption.text);
		bt_buf_text(&cycle->preemption.text, "failed to get pod group object: ");
		write_not_found(w, &cycle->preemption.text);
		return;
	}
	if (group->terms.constrained) {
		append_reason(cycle, bt_str("workload aware preemption is not supported for pod groups with "
					    "scheduling constraints"));
		return;
	}
	enum bt_preempt_outcome outcome = bt_group_preempt(&request, &cycle->preemption);
	if (outcome == BT_PREEMPT_FAILED) {
		w->verdict = BT_GROUP_ERROR;
		bt_buf_clear(&cycle->preemption.text);
		bt_buf_text(&cycle->preemption.text, "failed to schedule other pod from a pod group");
	} else if (outcome == BT_PREEMPT_FOUND) {
		w->verdict = BT_GROUP_WAITS_ON_PREEMPTION;
		w->by_group = true;
		bt_group_cycle_preempt(engine, cycle);
	} else {
		append_reason(cycle, bt_buf_view(&cycle->preemption.text));
	}
}

/* ---- results ---- */

/* The decision for a member that is not placed, for the queue and its nomination. */
static struct bt_decision settled(
	const struct group_in_cycle *w, struct bt_group_member *member, bool culprit)
{
	struct bt_decision *own = &member->decision;
	struct bt_decision out = {.pod_ix = own->pod_ix,
		.outcome = BT_REFUSED,
		.node_ix = BT_NO_NODE,
		.nominated_ix = BT_NO_NODE,
		.preempt = BT_PREEMPT_NOWHERE};
	bool fits = own->outcome == BT_PLACED;

	if (w->untried) {
		member->reason = BT_GROUP_TEXT;
		out.outcome = w->verdict == BT_GROUP_ERROR ? BT_FAILED : BT_REFUSED;
		out.preempt = BT_PREEMPT_INELIGIBLE;
		out.unschedulable_plugins = bt_group_blame(w->engine, w->cycle.runtime, false);
	} else if (w->verdict == BT_GROUP_ERROR) {
		out.outcome = BT_FAILED;
		if (w->cannot) {
			member->reason = BT_GROUP_PREEMPT_FAILS;
		} else if (member->reason == BT_GROUP_OWN && !culprit) {
			member->reason = BT_GROUP_FAILED;
		}
	} else if (w->verdict == BT_GROUP_WAITS_ON_PREEMPTION && fits) {
		member->reason = w->by_group ? BT_GROUP_ALL_PREEMPT : BT_GROUP_PREEMPTS;
		out.nominated_ix = own->node_ix;
		out.preempt = BT_PREEMPT_FOUND;
	} else if (w->verdict == BT_GROUP_UNSCHEDULABLE && (fits || member->preempts)) {
		member->reason = BT_GROUP_WAITS;
		out.unschedulable_plugins = bt_group_blame(w->engine, w->cycle.runtime, true);
	} else {
		bool taken_back = w->verdict != BT_GROUP_SCHEDULED && member->beside_others;

		out.unschedulable_plugins =
			own->unschedulable_plugins |
			(taken_back ? bt_group_blame(w->engine, w->cycle.runtime, true) : 0);
		out.nominated_ix = own->nominated_ix;
		out.preempt = own->preempt;
	}
	return out;
}

/* Restores the member's victims in the engine. Returns: whether any must be evicted. */
static bool preempting_begin(struct bt_engine *engine, struct bt_group_member *member)
{
	const struct bt_group_cycle *cycle = &engine->group_cycle;

	member->decision.victims = cycle->victims + member->victims_from;
	bt_eviction_put(&engine->eviction, cycle->leaving + member->leaving_from, member->leaving_n);
	return bt_engine_preempting_begin(engine, &member->decision);
}

/* Carries the member's preemption out, and saves the pods whose nominations it clears, as keep_victims
 * does. */
static void carry_out(struct bt_engine *engine, struct bt_group_member *member)
{
	struct bt_group_cycle *cycle = &engine->group_cycle;

	bt_engine_carry_out(engine, &member->decision, NULL);
	member->cleared_nominations_from = cycle->cleared_nominations_n;
	for (uint32_t i = 0; i < member->decision.cleared_nominations_n; i++) {
		cycle->cleared_nominations =
			bt_mem_grow(cycle->cleared_nominations, cycle->cleared_nominations_n,
				&cycle->cleared_nominations_cap, sizeof(*cycle->cleared_nominations));
		cycle->cleared_nominations[cycle->cleared_nominations_n++] =
			member->decision.cleared_nominations[i];
	}
}

static bool is_set_aside(const struct bt_group_member *member)
{
	return !member->assumed && member->decision.outcome != BT_SKIPPED;
}

/* Settles the results of all members that are not placed. */
static void settle_members(struct group_in_cycle *w)
{
	struct bt_group_cycle *cycle = &w->engine->group_cycle;

	for (size_t i = 0; i < cycle->member_n; i++) {
		if (is_set_aside(&cycle->members[i])) {
			cycle->members[i].out = settled(w, &cycle->members[i], i == w->culprit);
		}
	}
}

static void set_aside(struct group_in_cycle *w, struct bt_group_member *member)
{
	struct bt_engine *engine = w->engine;

	/* PreEnqueue gates the preemptor until it is carried out. */
	member->leaves = member->preempts && preempting_begin(engine, member);
	if (member->leaves && !bt_eviction_is_async(&engine->eviction)) {
		carry_out(engine, member);
	} else if (member->leaves) {
		bt_eviction_postpone(&engine->eviction);
	}
	if (!engine->options.groups_by_events) {
		bt_queue_back_off(engine->queue, member->out.pod_ix);
	}
	bt_engine_set_aside(engine, &member->out);
}

/* Completes the decision of a member that is not placed, for the caller. */
static void complete(struct bt_group_member *member)
{
	struct bt_decision *decision = &member->decision;

	decision->outcome = member->out.outcome;
	decision->node_ix = member->preempts ? decision->nominated_ix : BT_NO_NODE;
	decision->nominated_ix = member->out.nominated_ix;
	decision->preempt = member->out.preempt;
	decision->unschedulable_plugins = member->out.unschedulable_plugins;
}

/* Ends a member's cycle: preempts, and completes the decision. */
static void end_member_cycle(struct bt_engine *engine, struct bt_group_member *member)
{
	if (member->leaves && bt_eviction_is_async(&engine->eviction) && preempting_begin(engine, member)) {
		carry_out(engine, member);
	}
	complete(member);
}

/* Permit runs again before binding, and activates the waiting members while there are too few. */
static void activate_others(struct group_in_cycle *w)
{
	struct bt_engine *engine = w->engine;
	const struct bt_pod_group *group = group_of(w);

	for (size_t i = 0; i < group->member_n; i++) {
		uint32_t pod_ix = group->members[i];

		if (bt_ledger_pod(engine->cache->ledger, pod_ix)->state == BT_POD_QUEUED &&
			bt_queue_info(engine->queue, pod_ix).where != BT_WAIT_IN_FLIGHT) {
			bt_queue_activate(engine->queue, pod_ix, bt_scheduling_clock_now(&engine->clock));
		}
	}
}

/* Source: submitPodGroupAlgorithmResult, v1.36.3. */
static void submit(struct group_in_cycle *w)
{
	struct bt_engine *engine = w->engine;
	struct bt_group_cycle *cycle = &engine->group_cycle;
	uint32_t assumed_n = 0;

	for (size_t i = 0; i < cycle->member_n; i++) {
		assumed_n += cycle->members[i].assumed;
	}
	w->scheduled_n -= assumed_n;
	for (size_t i = 0; i < cycle->member_n; i++) {
		struct bt_group_member *member = &cycle->members[i];

		if (member->assumed) {
			bt_queue_done(engine->queue, member->decision.pod_ix);
			w->scheduled_n++;
			if (permit(w, member->decision.pod_ix, NULL) == BT_PERMIT_WAIT &&
				!engine->options.groups_by_events) {
				activate_others(w);
			}
		} else if (is_set_aside(member)) {
			set_aside(w, member);
		}
	}
}

/* Bindings and preemptions follow after all members are decided, as upstream runs them concurrently. */
static void end_member_cycles(struct bt_engine *engine)
{
	struct bt_group_cycle *cycle = &engine->group_cycle;

	for (size_t i = 0; i < cycle->member_n; i++) {
		struct bt_group_member *member = &cycle->members[i];

		if (member->assumed &&
			bt_engine_bind(engine, member->decision.pod_ix, member->decision.node_ix)) {
			continue;
		}
		if (member->assumed) {
			member->decision.outcome = BT_FAILED;
			member->decision.node_ix = BT_NO_NODE;
		} else if (member->decision.outcome != BT_SKIPPED) {
			end_member_cycle(engine, member);
		}
	}
	if (cycle->preempts) {
		bt_engine_carry_out(engine, &bt_group_first_decided(cycle)->decision, NULL);
	}
}

static void refuse_mixed(struct group_in_cycle *w)
{
	struct bt_group_cycle *cycle = &w->engine->group_cycle;

	w->verdict = BT_GROUP_ERROR;
	for (size_t i = 0; i < cycle->member_n; i++) {
		cycle->members[i].reason = BT_GROUP_MIXED;
	}
	settle_members(w);
	if (!cycle->is_trial) {
		submit(w);
	}
}

/* Source: podGroupCycle, v1.36.3: a group whose members have all gone is not recorded. */
static void note_cycle(const struct group_in_cycle *w, int64_t begin_ns, int64_t decided_ns)
{
	const struct bt_group_cycle *cycle = &w->engine->group_cycle;
	bool any = false;

	for (size_t i = 0; i < cycle->member_n; i++) {
		any = any || cycle->members[i].decision.outcome != BT_SKIPPED;
	}
	if (any) {
		bt_group_cycle_note(w->engine, w->cycle.runtime, w->verdict, begin_ns, decided_ns);
	}
}

/* Decides members of one scheduler, and reports the result. */
static void decide_uniform(struct group_in_cycle *w)
{
	skip_deleted(w);
	int64_t begin_ns = bt_group_cycle_clock(w->engine);
	if (bt_pod_groups_have_placements(&w->engine->groups)) {
		decide_in_placements(w);
	} else {
		decide_all(w);
	}
	if (w->verdict == BT_GROUP_UNSCHEDULABLE && bt_pod_groups_preempt(&w->engine->groups) &&
		bt_group_first_decided(&w->engine->group_cycle)) {
		preempt_as_group(w);
		w->cannot = w->verdict == BT_GROUP_ERROR;
	}

	int64_t decided_ns = bt_group_cycle_clock(w->engine);
	settle_members(w);
	if (!w->engine->group_cycle.is_trial) {
		submit(w);
		note_cycle(w, begin_ns, decided_ns);
	}
}

/* Releases a popped pod that another scheduler has bound, that was deleted, or that has left its group. */
static BT_NOINLINE void release_popped(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_group_decision *out)
{
	bt_engine_set_aside(engine,
		&(struct bt_decision){.pod_ix = pod_ix, .outcome = BT_FAILED, .nominated_ix = BT_NO_NODE});
	*out = (struct bt_group_decision){.member_n = 0};
}

/* The result of a cycle whose decisions are complete, with the members' victims. */
static struct bt_group_decision decision_of(struct bt_group_cycle *cycle, uint32_t culprit)
{
	for (size_t i = 0; i < cycle->member_n; i++) {
		struct bt_group_member *member = &cycle->members[i];

		member->decision.victims = member->preempts ? cycle->victims + member->victims_from : NULL;
		member->decision.victim_n = member->victim_n;
		if (member->decision.by_group) {
			member->decision.victims = cycle->preemption.victims;
			member->decision.victim_n = (uint32_t)cycle->preemption.victim_n;
		}
		member->decision.cleared_nominations =
			member->decision.cleared_nominations_n
				? cycle->cleared_nominations + member->cleared_nominations_from
				: NULL;
	}
	return (struct bt_group_decision){cycle->members, (uint32_t)cycle->member_n, culprit, cycle->outcome};
}

/* Passes the decision to the observer, then takes every member back. */
static void judge_group(struct bt_engine *engine, const struct bt_group_watch *watch, uint32_t culprit)
{
	struct bt_group_cycle *cycle = &engine->group_cycle;

	BT_REQUIRE(cycle->on && cycle->is_trial);
	for (size_t i = 0; i < cycle->member_n; i++) {
		if (is_set_aside(&cycle->members[i])) {
			complete(&cycle->members[i]);
		}
	}
	const struct bt_group_decision group = decision_of(cycle, culprit);
	watch->judged(watch->context, engine, &group);
	for (size_t i = cycle->member_n; i-- > 0;) {
		if (cycle->members[i].assumed) {
			bt_group_member_unreserve(engine, &cycle->members[i]);
			bt_group_nominate_again(engine, cycle->members[i].decision.pod_ix);
		}
	}
	for (size_t i = 0; i < cycle->member_n; i++) {
		if (cycle->members[i].decision.outcome != BT_SKIPPED) {
			bt_engine_set_aside(
				engine, &(struct bt_decision){.pod_ix = cycle->members[i].decision.pod_ix,
						.outcome = BT_REFUSED,
						.node_ix = BT_NO_NODE,
						.nominated_ix = BT_NO_NODE,
						.preempt = BT_PREEMPT_INELIGIBLE});
		}
	}
	cycle->member_n = 0;
}

void bt_engine_decide_group(struct bt_engine *engine, uint32_t pod_ix, const struct bt_group_watch *watch,
	struct bt_group_decision *out)
{
	BT_REQUIRE(!engine->group_cycle.on);
	if (bt_group_member_is_gone(engine, pod_ix)) {
		release_popped(engine, pod_ix, out);
		return;
	}
	struct group_in_cycle w = {
		.engine = engine, .cycle = bt_engine_cycle_of(engine, pod_ix), .watch = watch};

	engine->group_cycle.is_trial = watch && watch->judged;
	if (bt_pod_groups_whole(&engine->groups)) {
		bt_engine_attempt_group(engine, &engine->group_cycle, pod_ix, watch, judge_group, &w.culprit);
	} else {
		pull_all(&w, pod_ix);
		if (is_uniform(&w)) {
			decide_uniform(&w);
		} else {
			refuse_mixed(&w);
		}
		engine->group_cycle.outcome = w.verdict;
		if (engine->group_cycle.is_trial) {
			judge_group(engine, watch, w.culprit);
		}
	}
	if (engine->group_cycle.is_trial) {
		*out = (struct bt_group_decision){.member_n = 0};
	} else {
		end_member_cycles(engine);
		*out = decision_of(&engine->group_cycle, w.culprit);
	}
	engine->group_cycle.on = false;
}

/* ---- texts ---- */

static void write_mixed(
	const struct bt_engine *engine, const struct bt_group_decision *group, struct bt_buf *out_text)
{
	uint32_t first = signature_of(engine, group->members[0].decision.pod_ix)->scheduler_name,
		 other = first;

	for (uint32_t i = 1; i < group->member_n && other == first; i++) {
		other = signature_of(engine, group->members[i].decision.pod_ix)->scheduler_name;
	}
	bt_group_write_schedulers(engine, other, first, out_text);
}

static void write_failure(const struct bt_engine *engine, const struct bt_group_member *culprit,
	struct bt_str failure, struct bt_buf *out_text)
{
	for (uint32_t i = 0; engine->group_cycle.node_n && i < engine->group_cycle.failed_n; i++) {
		bt_buf_text(out_text, BT_GROUP_CHILD_ERROR);
	}
	bt_buf_text(out_text, "failed to schedule other pod from a pod group: ");
	bt_buf_str(out_text,
		culprit->reason == BT_GROUP_GONE ? bt_buf_view(&engine->group_cycle.permit_error) : failure);
}

/* The message of a group: its own, or the general one if it has none. */
static void write_plain(const struct bt_group_cycle *cycle, struct bt_buf *out_text)
{
	if (cycle->text.len) {
		bt_buf_str(out_text, bt_buf_view(&cycle->text));
	} else {
		bt_buf_text(out_text, "pod group is unschedulable");
	}
}

/* The message of a member's group; plain: without PodGroupPostFilter's part. */
static struct bt_str group_text(
	const struct bt_group_cycle *cycle, const struct bt_group_member *member, bool plain)
{
	const struct bt_buf *text = &cycle->text;
	size_t plain_len = cycle->plain_len;

	if (cycle->node_n && cycle->outcome != BT_GROUP_ERROR) {
		const struct bt_group_node *node = bt_group_tree_result(cycle, member);

		text = &node->text;
		plain_len = node->plain_len;
	}
	return bt_str_sub(bt_buf_view(text), 0, plain ? plain_len : text->len);
}

void bt_engine_group_message(const struct bt_engine *engine, const struct bt_group_decision *group,
	uint32_t member, struct bt_str own, struct bt_str failure, struct bt_buf *out_text)
{
	const struct bt_group_member *m = &group->members[member];
	const struct bt_group_member *culprit = &group->members[group->culprit];

	BT_REQUIRE(member < group->member_n && m->decision.outcome != BT_PLACED);
	switch (m->reason) {
	case BT_GROUP_OWN:
		bt_buf_str(out_text, own);
		break;
	case BT_GROUP_WAITS:
		bt_buf_text(out_text,
			"pod group is unschedulable, waiting for minCount pods from a gang to be "
			"scheduled, one or more plugins asked to wait and no plugin rejected pod");
		break;
	case BT_GROUP_PREEMPTS:
		bt_buf_text(out_text,
			"pod group is unschedulable, pod group is waiting for preemption to complete");
		break;
	case BT_GROUP_ALL_PREEMPT:
		write_plain(&engine->group_cycle, out_text);
		break;
	case BT_GROUP_PREEMPT_FAILS:
		bt_buf_str(out_text, bt_buf_view(&engine->group_cycle.preemption.text));
		break;
	case BT_GROUP_FAILED:
		write_failure(engine, culprit, failure, out_text);
		break;
	case BT_GROUP_GONE:
		bt_buf_str(out_text, bt_buf_view(&engine->group_cycle.permit_error));
		break;
	case BT_GROUP_MIXED:
		write_mixed(engine, group, out_text);
		break;
	case BT_GROUP_REJECTED:
		bt_buf_text(out_text, "pod group is unschedulable, ");
		bt_buf_str(out_text, group_text(&engine->group_cycle, m, false));
		break;
	case BT_GROUP_NOT_TRIED:
		bt_buf_str(out_text, group_text(&engine->group_cycle, m, true));
		break;
	case BT_GROUP_TEXT:
		bt_buf_str(out_text, group_text(&engine->group_cycle, m, false));
		break;
	}
}

/* Does the reason apply to the whole group? */
static bool concerns_group(enum bt_group_reason reason)
{
	return reason == BT_GROUP_MIXED || reason == BT_GROUP_TEXT || reason == BT_GROUP_PREEMPT_FAILS;
}

/* Source: submitPodGroupAlgorithmResult, updatePodGroupConditionWithError, v1.36.3 and v1.37.2. */
void bt_engine_group_summary(const struct bt_engine *engine, const struct bt_group_decision *group,
	struct bt_str failure, struct bt_buf *out_text)
{
	enum bt_group_reason reason = BT_GROUP_OWN;

	if (group->outcome == BT_GROUP_SCHEDULED) {
		return;
	}
	for (uint32_t i = 0; i < group->member_n && !concerns_group(reason); i++) {
		reason = group->members[i].reason;
	}
	if (reason == BT_GROUP_MIXED) {
		write_mixed(engine, group, out_text);
	} else if (reason == BT_GROUP_PREEMPT_FAILS) {
		bt_buf_str(out_text, bt_buf_view(&engine->group_cycle.preemption.text));
	} else if (reason == BT_GROUP_TEXT ||
		   (bt_pod_groups_whole(&engine->groups) && group->outcome != BT_GROUP_ERROR)) {
		bt_buf_str(out_text, bt_buf_view(&engine->group_cycle.text));
	} else if (group->outcome == BT_GROUP_ERROR) {
		write_failure(engine, &group->members[group->culprit], failure, out_text);
	} else {
		write_plain(&engine->group_cycle, out_text);
		bt_buf_text(out_text, group->outcome == BT_GROUP_WAITS_ON_PREEMPTION &&
						      !engine->group_cycle.preempts &&
						      !engine->group_cycle.text.len
					      ? ", pod group is waiting for preemption to complete"
					      : "");
	}
}

/* ---- trees ---- */

uint32_t bt_engine_group_leaf_n(const struct bt_engine *engine)
{
	const struct bt_group_cycle *cycle = &engine->group_cycle;
	uint32_t n = 0;

	for (size_t i = 0; i < cycle->node_n; i++) {
		n += !cycle->nodes[i].composite;
	}
	return n;
}

static enum bt_group_outcome leaf_outcome(
	const struct bt_group_cycle *cycle, const struct bt_group_node *node)
{
	if (cycle->outcome == BT_GROUP_ERROR || cycle->outcome == BT_GROUP_WAITS_ON_PREEMPTION) {
		return cycle->outcome;
	}
	return cycle->nodes[node->result_ix].result == BT_ATTEMPT_SUCCEEDED ? BT_GROUP_SCHEDULED
									    : BT_GROUP_UNSCHEDULABLE;
}

/* Source: submitPodGroupAlgorithmResult, updatePodGroupConditionWithError, v1.37.2. */
struct bt_group_leaf bt_engine_group_leaf(const struct bt_engine *engine,
	const struct bt_group_decision *group, uint32_t leaf, struct bt_str failure, struct bt_buf *out_text)
{
	const struct bt_group_cycle *cycle = &engine->group_cycle;
	uint32_t ix = 0;

	for (uint32_t n = 0; cycle->nodes[ix].composite || n++ < leaf; ix++) {
		BT_INVARIANT(ix + 1 < cycle->node_n);
	}
	const struct bt_group_node *node = &cycle->nodes[ix];
	const struct bt_pod_group *object = bt_pod_groups_at(&engine->groups, node->number);
	struct bt_group_leaf out = {
		.namespace_ = object->namespace_, .name = object->name, .outcome = leaf_outcome(cycle, node)};

	for (uint32_t i = node->from; i < node->to; i++) {
		enum bt_outcome outcome = cycle->members[i].decision.outcome;

		out.scheduled_n += outcome == BT_PLACED;
		out.unschedulable_n += outcome != BT_PLACED && outcome != BT_SKIPPED;
	}
	if (out.outcome == BT_GROUP_ERROR) {
		bt_engine_group_summary(engine, group, failure, out_text);
	} else if (out.outcome != BT_GROUP_SCHEDULED) {
		bt_buf_str(out_text, bt_buf_view(&cycle->nodes[node->result_ix].text));
	}
	return out;
}
