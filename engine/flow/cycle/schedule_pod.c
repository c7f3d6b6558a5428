/* SPDX-License-Identifier: Apache-2.0
 * Finds a node for a pod.
 */
#include "engine/flow/cycle/schedule_pod.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/flow/cycle/engine_int.h"

void bt_schedule_pod_init(struct bt_schedule_pod *schedule, bool extenders)
{
	*schedule = (struct bt_schedule_pod){.has_extenders = extenders};
}

void bt_schedule_pod_fini(struct bt_schedule_pod *schedule)
{
	bt_evaluation_fini(&schedule->evaluation);
}

void bt_schedule_pod_forget(struct bt_schedule_pod *schedule)
{
	bt_evaluation_fini(&schedule->evaluation);
	schedule->evaluated = false;
}

/* The scope of bt_devices_share for a pod that is being decided: in the cycle of groups that of its PodGroup,
 * else 0. Source: getPodGroupStateData, plugins/dynamicresources, v1.36.3; CycleStates of the groups of a
 * tree, v1.37.2. */
static uint64_t claim_scope(const struct bt_engine *engine, const struct bt_pod *pod)
{
	const struct bt_pod_group *group =
		bt_group_cycle_is_on(&engine->group_cycle) && pod->signature->pod_group != BT_NAME_NONE
			? bt_pod_groups_find(
				  &engine->groups, pod->signature->namespace_, pod->signature->pod_group)
			: NULL;

	return group ? bt_pair_key((uint32_t)bt_group_cycle_number(&engine->group_cycle) | 1U << 31,
			       bt_pod_groups_number(&engine->groups, group))
		     : 0;
}

static BT_NOINLINE void begin_devices(struct bt_engine *engine, const struct bt_pod *pod)
{
	struct bt_devices *devices = engine->cache->devices;

	bt_devices_begin(devices, pod->name, pod->uid, bt_scheduling_clock_known(&engine->clock));
	bt_devices_share(devices, claim_scope(engine, pod));
}

const struct bt_nominations_ahead *bt_engine_nominations_of(
	struct bt_engine *engine, const struct bt_cycle *cycle)
{
	bt_reserved_begin(&engine->reserved);
	if (cycle->pod->signature->claim_n || cycle->pod->signature->extended_n) {
		begin_devices(engine, cycle->pod);
	}
	return bt_nominated_pods_begin(&engine->nominated, cycle->pod_ix);
}

void bt_engine_evaluate_all(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t also_ix, struct bt_evaluation *out)
{
	uint32_t node_n;
	const uint32_t *nodes = bt_node_list_candidates(&engine->nodes, plan, also_ix, &node_n);

	bt_evaluate(plan, &engine->cache->view, nodes, node_n, UINT32_MAX, out);
}

/* The start of this cycle's search among equal nodes. */
static uint32_t tie_start(const struct bt_engine *engine, const struct bt_cycle *cycle)
{
	return bt_tie_start(engine->options.seed, cycle->number, &engine->cache->view);
}

static BT_NOINLINE bool evaluate_node(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t node_ix, struct bt_evaluation *out)
{
	if (!bt_bitmap_test(engine->cache->view.snapshot->live, node_ix) ||
		!bt_node_list_has(&engine->nodes, node_ix)) {
		return false;
	}
	bt_evaluate(plan, &engine->cache->view, &node_ix, 1, UINT32_MAX, out);
	BT_INVARIANT(out->feasible_n <= 1);
	return out->feasible_n == 1;
}

bool bt_engine_evaluate_nominated(
	struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_evaluation *out)
{
	uint32_t node_ix = cycle->pod->status_ix;

	return node_ix != BT_NO_NODE && evaluate_node(engine, cycle->plan, node_ix, out);
}

/* Columns do not support samples, extenders and parts of the nodes. */
static bool columns_decide(const struct bt_engine *engine, const struct bt_plan *plan, uint32_t limit)
{
	return !engine->schedule.evaluation.hooks && limit == UINT32_MAX && !plan->narrowed &&
	       !engine->options.evaluate_always && !bt_node_list_part(&engine->nodes);
}

/* Is a pod of the present group cycle nominated? It is in no queue, so it does not count as itself, which
 * columns do not support. */
static bool group_is_nominated(const struct bt_engine *engine)
{
	const struct bt_group_cycle *cycle = &engine->group_cycle;

	for (size_t i = 0; bt_group_cycle_is_on(cycle) && i < cycle->member_n; i++) {
		uint32_t pod_ix = cycle->members[i].decision.pod_ix;

		if (bt_ledger_pod(engine->cache->ledger, pod_ix)->nominated_ix != BT_NO_NODE) {
			return true;
		}
	}
	return false;
}

/* Picks for a pod that must fit with nominated pods, unless that involves counters, its own nomination, or
 * one in its group. */
static BT_NOINLINE bool pick_yielding(
	struct bt_engine *engine, const struct bt_cycle *cycle, uint32_t *out_node_ix)
{
	const struct bt_pod *pod = cycle->pod;

	if (!cycle->plan->columns || pod->status_node != BT_NAME_NONE || pod->nominated_ix != BT_NO_NODE ||
		group_is_nominated(engine)) {
		return false;
	}
	struct bt_plan *yielding = bt_planner_yielding(cycle->runtime->planner, cycle->plan,
		bt_nominated_pods_ahead(&engine->nominated), pod->priority);
	return bt_plan_pick(yielding, &engine->cache->view, tie_start(engine, cycle), out_node_ix);
}

static bool pick(struct bt_engine *engine, const struct bt_cycle *cycle, bool idle, uint32_t *out_node_ix)
{
	if (BT_UNLIKELY(engine->schedule.evaluation.nominations)) {
		return idle && pick_yielding(engine, cycle, out_node_ix);
	}
	uint32_t start = tie_start(engine, cycle);

	return idle ? bt_plan_pick(cycle->plan, &engine->cache->view, start, out_node_ix)
		    : bt_topology_pick_pick(cycle->plan, &engine->cache->view, start, out_node_ix);
}

uint32_t bt_engine_refused_nomination(
	const struct bt_engine *engine, const struct bt_cycle *cycle, const struct bt_evaluation *evaluation)
{
	uint32_t node_ix = cycle->pod->status_ix;

	return node_ix != BT_NO_NODE && bt_bitmap_test(engine->cache->view.snapshot->live, node_ix) &&
			       bt_node_list_has(&engine->nodes, node_ix) && !evaluation->error
		       ? node_ix
		       : BT_NO_NODE;
}

/* Several nodes may fail their filters. kube-scheduler reports the first one that it reaches (with
 * parallelism 1), and begins the next cycle there. Source: findNodesThatFitPod sets nextStartNodeIndex
 * after an error too, v1.37.2. */
static void first_error(struct bt_engine *engine, const struct bt_plan *plan, uint32_t refused_ix)
{
	if (engine->schedule.evaluation.hooks) {
		return; /* extenders are not called twice */
	}
	bt_node_list_follow_order(&engine->nodes, engine->cache->snapshot);
	bt_node_list_evaluate_sample(&engine->nodes, plan, &engine->cache->view, UINT32_MAX, refused_ix,
		&engine->schedule.evaluation);
	BT_INVARIANT(engine->schedule.evaluation.error);
}

static BT_NOINLINE uint32_t choose_by_evaluation(
	struct bt_engine *engine, const struct bt_cycle *cycle, uint32_t limit, enum bt_outcome *out_outcome)
{
	const struct bt_plan *plan = cycle->plan;
	uint32_t refused_ix = bt_engine_refused_nomination(engine, cycle, &engine->schedule.evaluation);

	engine->schedule.by_evaluation_n++;
	engine->schedule.evaluated = true;
	if (cycle->runtime->samples || plan->narrowed) {
		bt_node_list_evaluate_sample(&engine->nodes, plan, &engine->cache->view, limit, refused_ix,
			&engine->schedule.evaluation);
	} else {
		bt_engine_evaluate_all(engine, plan, refused_ix, &engine->schedule.evaluation);
		if (engine->schedule.evaluation.error && engine->schedule.evaluation.feasible_n == 0) {
			first_error(engine, plan, refused_ix);
		}
	}
	if (engine->schedule.evaluation.error && engine->schedule.evaluation.feasible_n != 1) {
		*out_outcome = BT_FAILED;
		return BT_NO_NODE;
	}
	if (engine->schedule.evaluation.feasible_n == 0) {
		return BT_NO_NODE;
	}
	/* A single feasible node is chosen without scoring. */
	uint32_t best = bt_evaluation_best(&engine->schedule.evaluation, tie_start(engine, cycle));
	BT_INVARIANT(best < engine->schedule.evaluation.feasible_n);
	return engine->schedule.evaluation.feasible[best];
}

void bt_engine_count_nodes(struct bt_engine *engine, bool on)
{
	engine->schedule.counts_nodes = on;
}

/* Counts feasible nodes, which columns do not. */
static void count_nodes(struct bt_engine *engine, const struct bt_plan *plan)
{
	if (BT_UNLIKELY(engine->schedule.counts_nodes)) {
		bt_evaluate_filters(plan, &engine->cache->view, bt_node_list_live(&engine->nodes),
			bt_node_list_n(&engine->nodes), UINT32_MAX, &engine->schedule.evaluation);
	} else {
		engine->schedule.evaluation.visited_n = engine->schedule.evaluation.feasible_n = 0;
	}
}

/* The number of feasible nodes that ends a sample; UINT32_MAX: all nodes. */
static BT_NOINLINE uint32_t sample_limit(
	struct bt_engine *engine, const struct bt_flow_profile *profile, const struct bt_plan *plan)
{
	uint32_t node_n = plan->narrowed ? plan->candidate_n : bt_node_list_n(&engine->nodes);
	bool one_will_do = profile->plugins.score_n == 0 && !bt_extender_calls_chooses(engine->extend);

	bt_node_list_follow_order(&engine->nodes, engine->cache->snapshot);
	uint32_t n =
		one_will_do ? 1 : bt_feasible_nodes_to_find(profile->percentage_of_nodes_to_score, node_n);
	BT_INVARIANT(n > 0 || node_n == 0);
	return n < node_n ? n : UINT32_MAX;
}

uint32_t bt_engine_schedule_pod(
	struct bt_engine *engine, const struct bt_cycle *cycle, enum bt_outcome *out_outcome)
{
	struct bt_plan *plan = cycle->plan;
	uint32_t limit = UINT32_MAX, node_ix;
	const struct bt_nominations_ahead *nominations = bt_engine_nominations_of(engine, cycle);

	BT_REQUIRE_HOT(plan && plan->signature == cycle->signature);
	*out_outcome = BT_REFUSED;
	engine->schedule.evaluated = false;
	engine->schedule.evaluation.nominations = nominations;
	engine->schedule.evaluation.hooks = engine->schedule.has_extenders
						    ? bt_extender_calls_begin(engine->extend, cycle->pod_ix)
						    : NULL;
	bool idle = bt_prepare(plan, &engine->cache->view);
	if (plan->refusal) {
		return BT_NO_NODE;
	}
	if (plan->pre_filter_error) {
		*out_outcome = BT_FAILED;
		return BT_NO_NODE;
	}
	if (cycle->runtime->samples) {
		limit = sample_limit(engine, &cycle->runtime->profile, plan);
	}
	if (bt_engine_evaluate_nominated(engine, cycle, &engine->schedule.evaluation)) {
		engine->schedule.by_evaluation_n++;
		return engine->schedule.evaluation.feasible[0];
	}
	if (columns_decide(engine, plan, limit) && pick(engine, cycle, idle, &node_ix)) {
		engine->schedule.by_columns_n++;
		count_nodes(engine, plan);
		return node_ix;
	}
	return choose_by_evaluation(engine, cycle, limit, out_outcome);
}

uint32_t bt_engine_try_pod(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_plan **out_plan, enum bt_outcome *out_outcome)
{
	struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);

	BT_REQUIRE(!bt_post_filter_is_due(&engine->post));
	*out_outcome = BT_REFUSED;
	*out_plan = NULL;
	bt_node_list_follow(&engine->nodes, engine->cache->view.snapshot);
	if (bt_node_list_n(&engine->nodes) == 0) {
		return BT_NO_NODE;
	}
	cycle.plan = *out_plan = bt_planner_plan(cycle.runtime->planner, cycle.signature);
	uint32_t node_ix = bt_engine_schedule_pod(engine, &cycle, out_outcome);
	*out_outcome = node_ix == BT_NO_NODE ? *out_outcome : BT_PLACED;
	return node_ix;
}

uint32_t bt_engine_feasible(struct bt_engine *engine, uint32_t pod_ix, uint32_t *out_node_ixs)
{
	struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);
	struct bt_evaluation *evaluation = &engine->schedule.evaluation;
	const struct bt_view *view = &engine->cache->view;
	uint32_t node_n, n;

	BT_REQUIRE(cycle.runtime && !bt_post_filter_is_due(&engine->post));
	bt_node_list_follow(&engine->nodes, view->snapshot);
	if (bt_node_list_n(&engine->nodes) == 0) {
		return 0;
	}
	cycle.plan = bt_planner_plan(cycle.runtime->planner, cycle.signature);
	engine->schedule.evaluated = false;
	evaluation->nominations = bt_engine_nominations_of(engine, &cycle);
	evaluation->hooks = NULL;
	bool idle = bt_prepare(cycle.plan, view);
	if (cycle.plan->refusal || cycle.plan->pre_filter_error) {
		return 0;
	}
	if (!bt_engine_evaluate_nominated(engine, &cycle, evaluation)) {
		if (idle && !evaluation->nominations && columns_decide(engine, cycle.plan, UINT32_MAX) &&
			bt_plan_feasible(cycle.plan, view, out_node_ixs, &n)) {
			return n;
		}
		const uint32_t *nodes =
			bt_node_list_candidates(&engine->nodes, cycle.plan, BT_NO_NODE, &node_n);
		bt_evaluate_filters(cycle.plan, view, nodes, node_n, UINT32_MAX, evaluation);
	}
	if (evaluation->error || evaluation->feasible_n == 0) {
		return 0;
	}
	memcpy(out_node_ixs, evaluation->feasible, evaluation->feasible_n * sizeof(*out_node_ixs));
	return evaluation->feasible_n;
}

bt_plugin_set bt_engine_skipped(const struct bt_plan *plan)
{
	bt_plugin_set skipped = 0;

	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		skipped |= plan->compiled[u].filter_skip ? bt_plugin_set_of(u) : 0;
	}
	return skipped;
}

/* Exchanges the set of skipped plugins. */
static bt_plugin_set skip_uses(struct bt_plan *plan, bt_plugin_set skipped)
{
	bt_plugin_set before = bt_engine_skipped(plan);

	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		plan->compiled[u].filter_skip = bt_plugin_set_has(skipped, u);
	}
	return before;
}

bool bt_engine_fits_on(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix, bt_plugin_set skipped,
	struct bt_plan **out_plan)
{
	struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);
	const char *error = NULL;

	cycle.plan = *out_plan = bt_planner_plan(cycle.runtime->planner, cycle.signature);
	engine->schedule.evaluated = false;
	const struct bt_nominations_ahead *nominations = bt_engine_nominations_of(engine, &cycle);
	(void)bt_prepare(cycle.plan, &engine->cache->view);
	if (cycle.plan->refusal || cycle.plan->pre_filter_error) {
		return false;
	}
	bt_plugin_set before = skip_uses(cycle.plan, bt_engine_skipped(cycle.plan) | skipped);
	uint32_t by = bt_filter_node(cycle.plan, &engine->cache->view, nominations, node_ix, &error);
	skip_uses(cycle.plan, before);
	return by == BT_PASSED;
}

void bt_engine_evaluate_once(struct bt_engine *engine, const struct bt_cycle *cycle)
{
	struct bt_schedule_pod *schedule = &engine->schedule;

	if (!schedule->evaluated && !cycle->plan->refusal) {
		bt_engine_evaluate_all(engine, cycle->plan, BT_NO_NODE, &schedule->evaluation);
		schedule->evaluated = true;
	}
}

void bt_engine_nominations_again(struct bt_engine *engine, const struct bt_cycle *cycle)
{
	engine->schedule.evaluation.nominations = bt_engine_nominations_of(engine, cycle);
}

void bt_schedule_pod_count(const struct bt_schedule_pod *schedule, struct bt_engine_counts *counts)
{
	counts->by_columns_n = schedule->by_columns_n;
	counts->by_evaluation_n = schedule->by_evaluation_n;
}

void bt_schedule_pod_set_counts(struct bt_schedule_pod *schedule, const struct bt_engine_counts *counts)
{
	schedule->by_columns_n = counts->by_columns_n;
	schedule->by_evaluation_n = counts->by_evaluation_n;
}
