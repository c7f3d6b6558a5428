/* SPDX-License-Identifier: Apache-2.0
 * Explains one pod in the present cluster state, without a decision.
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/quote.h"
#include "engine/base/rng.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/fit_error.h"

static void explain_gates(struct bt_engine *engine, struct bt_explanation *out)
{
	bt_buf_clear(&out->text);
	const char *plugin = bt_engine_gate(engine, out->pod_ix, &out->text);

	if (plugin) {
		out->gated = true;
		out->refusal.plugin = plugin;
		out->refusal.rejection.code = BT_UNSCHEDULABLE_AND_UNRESOLVABLE;
		out->refusal.text = out->text.ptr;
	}
}

/* decided: the cycle of the pod is over. */
static void explain_cycle(
	struct bt_engine *engine, struct bt_cycle *cycle, bool decided, struct bt_explanation *out)
{

	/* A popped pod has passed PreEnqueue, whatever PreEnqueue would return now. */
	bool popped = bt_queue_info(engine->queue, cycle->pod_ix).where == BT_WAIT_IN_FLIGHT;

	if (!popped) {
		explain_gates(engine, out);
	}
	if (out->gated) {
		return;
	}
	if (bt_node_list_n(&engine->nodes) == 0) {
		out->error = "no nodes available to schedule pods";
		return;
	}
	struct bt_plan *plan = bt_planner_plan(cycle->runtime->planner, cycle->signature);
	cycle->plan = plan;
	bt_prepare(plan, &engine->cache->view);
	out->plan = plan;
	if (plan->refusal) {
		out->refused = true;
		out->refusal.plugin = plan->profile->uses[plan->refused_by].plugin->name;
		out->refusal.rejection.code = BT_UNSCHEDULABLE_AND_UNRESOLVABLE;
		out->refusal.text = plan->refusal;
		return;
	}
	if (plan->pre_filter_error) {
		out->error = plan->pre_filter_error;
		return;
	}
	out->narrowed = plan->narrowed;
	if (!bt_engine_evaluate_nominated(engine, cycle, &out->evaluation)) {
		uint32_t also_ix = bt_engine_refused_nomination(engine, cycle, &out->evaluation);

		if (also_ix != BT_NO_NODE && !out->candidates_only) {
			out->nominated_by = out->evaluation.refused_by[0];
		}
		/* A cycle that ends in an error shows the nodes that were refused before it. */
		bt_node_list_follow_order(&engine->nodes, engine->cache->snapshot);
		bt_node_list_evaluate_in_order(&engine->nodes, plan, &engine->cache->view, decided,
			out->candidates_only ? BT_NO_NODE : also_ix, &out->evaluation);
	}
	out->error = out->evaluation.error;
}

static void explain_post_filter(
	struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_explanation *out)
{
	const struct bt_preempt_request request = {
		.by = cycle->runtime->profile.preemption,
		.cache = engine->cache,
		.cycle = cycle,
		.evaluation = out->refused ? NULL : &out->evaluation,
		.random = bt_rng_at(~engine->options.seed, cycle->number),
		.extend = bt_engine_extend_for(engine, cycle->pod_ix),
		.explain = true,
		.groups = bt_pod_groups_as_victims(&engine->groups),
		.ineligible = bt_engine_group_ineligible(engine, cycle->pod),
		.group_runs = bt_group_runs(engine, cycle->pod),
	};
	struct bt_claim_release unused;

	bt_preempt_list(&request, &out->preemption);
	bt_engine_post_filter(cycle->runtime, &request, &out->preemption, &unused, &out->post_text);
	out->post_filtered = true;
	out->preempts = out->preemption.outcome == BT_PREEMPT_FOUND;
}

/* Explains a pod that another scheduler has put on its node. Source: frameworkForPod, v1.36.3. */
static void explain_foreign(struct bt_engine *engine, struct bt_explanation *out)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, out->pod_ix);

	bt_buf_clear(&out->text);
	bt_buf_text(&out->text, "profile not found for scheduler name ");
	bt_quote(&out->text, bt_engine_name(engine, pod->signature->scheduler_name));
	out->error = out->text.ptr;
}

static void explain_explain(struct bt_engine *engine, uint32_t pod_ix,
	const struct bt_evaluation_hooks *hooks, bool decided, struct bt_explanation *out)
{
	struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);

	bt_node_list_follow(&engine->nodes, engine->cache->view.snapshot);
	out->pod_ix = pod_ix;
	out->plan = NULL;
	out->gated = out->refused = out->narrowed = out->post_filtered = out->preempts = false;
	bt_buf_clear(&out->post_text);
	out->error = NULL;
	out->nominated_by = BT_PASSED;
	out->evaluation.visited_n = out->evaluation.feasible_n = 0;
	if (!cycle.runtime) {
		explain_foreign(engine, out);
		return;
	}
	out->evaluation.nominations = bt_engine_nominations_of(engine, &cycle);
	out->evaluation.hooks = hooks;
	explain_cycle(engine, &cycle, decided, out);
	/* No preemption for a pod that has a node, nor for one of a group that waits as a unit. */
	if (out->plan && !out->filters_only && !out->error && out->evaluation.feasible_n == 0 &&
		!(bt_pod_groups_whole(&engine->groups) && bt_engine_in_group(engine, pod_ix)) &&
		bt_ledger_pod(engine->cache->ledger, pod_ix)->node_ix == BT_NO_NODE) {
		explain_post_filter(engine, &cycle, out);
	}
}

void bt_engine_explain(struct bt_engine *engine, uint32_t pod_ix, struct bt_explanation *out)
{
	explain_explain(engine, pod_ix, bt_extender_calls_explain(engine->extend, pod_ix), false, out);
}

/* Returns the pod's plan and clears its record of idle plugins: a trial changes counters without a new
 * version, so records from before do not hold in the trial, nor the trial's afterwards. NULL: another
 * scheduler's pod. */
static struct bt_plan *plan_without_idle(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_profile_runtime *runtime = bt_engine_runtime_of(engine, pod_ix);
	struct bt_plan *plan = runtime ? bt_planner_plan(runtime->planner,
						 bt_ledger_pod(engine->cache->ledger, pod_ix)->signature)
				       : NULL;

	if (plan) {
		plan->idle_version = 0;
	}
	return plan;
}

bool bt_engine_absent_begin(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t node_ix = bt_ledger_pod(ledger, pod_ix)->node_ix;
	BT_REQUIRE(!bt_group_cycle_is_on(&engine->group_cycle) && !bt_post_filter_is_due(&engine->post));
	struct bt_plan *plan = plan_without_idle(engine, pod_ix);

	if (node_ix == BT_NO_NODE || !plan) {
		return false;
	}
	/* A plan creates its counters from all pods, so they must exist before the trial. */
	bt_nominated_pods_set(&engine->nominated, pod_ix);
	bt_prepare(plan, &engine->cache->view);
	plan->idle_version = 0;
	bt_ledger_try_begin(ledger, node_ix);
	bt_ledger_try_absent(ledger, pod_ix, true);
	return true;
}

void bt_engine_absent_end(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t node_ix = bt_ledger_pod(ledger, pod_ix)->node_ix;

	bt_ledger_try_absent(ledger, pod_ix, false);
	bt_ledger_try_end(ledger, node_ix);
	plan_without_idle(engine, pod_ix);
}

void bt_engine_explain_cycle(struct bt_engine *engine, uint32_t pod_ix, struct bt_explanation *out)
{
	explain_explain(engine, pod_ix, bt_extender_calls_recall(engine->extend, pod_ix), true, out);
}

void bt_explanation_fini(struct bt_explanation *explanation)
{
	bt_evaluation_fini(&explanation->evaluation);
	bt_preemption_fini(&explanation->preemption);
	bt_buf_fini(&explanation->text);
	bt_buf_fini(&explanation->post_text);
}

void bt_explanation_refusal(struct bt_engine *engine, const struct bt_explanation *explanation,
	uint32_t visited, struct bt_refusal *out_refusal)
{
	uint32_t use = explanation->evaluation.refused_by[visited];

	BT_REQUIRE(use != BT_PASSED);
	bt_nominated_pods_set(&engine->nominated, explanation->pod_ix);
	bt_evaluation_reject(explanation->plan, &engine->cache->view, &explanation->evaluation, visited,
		&out_refusal->rejection, &out_refusal->text);
	out_refusal->judge = use < BT_HOOKED ? explanation->plan->profile->uses[use].plugin : NULL;
	out_refusal->plugin = out_refusal->judge ? out_refusal->judge->name : "Extender";
	BT_INVARIANT(!out_refusal->judge || out_refusal->rejection.n > 0);
}

uint32_t bt_refusal_reason_n(const struct bt_refusal *refusal)
{
	return refusal->judge ? refusal->rejection.n : refusal->text != NULL;
}

void bt_refusal_reason(const struct bt_engine *engine, const struct bt_refusal *refusal, uint32_t reason,
	struct bt_buf *out_text)
{
	if (refusal->judge) {
		bt_plugin_reason(refusal->judge, engine->cache->dictionary,
			&refusal->rejection.reasons[reason], out_text);
	} else {
		bt_buf_text(out_text, refusal->text);
	}
}

/* Upstream lists the plugin that left the nodes out together with the one that refused the nominated node
 * before, even if that node is among the others. Source: findNodesThatFitPod, v1.36.3. */
static void append_narrowing_plugins(const struct bt_explanation *explanation, struct bt_buf *text)
{
	const struct bt_plugin_use *uses = explanation->plan->profile->uses;
	const char *first = uses[explanation->plan->narrowed_by].plugin->name, *second = first;

	if (explanation->nominated_by < BT_HOOKED) {
		second = uses[explanation->nominated_by].plugin->name;
	}
	int order = strcmp(first, second);
	bt_buf_printf(text, "node(s) didn't satisfy plugin(s) [%s", order > 0 ? second : first);
	if (order != 0) {
		bt_buf_printf(text, " %s", order > 0 ? first : second);
	}
	bt_buf_char(text, ']');
}

/*
 * Counts the reasons of all visited nodes, and one for the nodes that PreFilter left out, or that an extender
 * dropped without a reason.
 */
static void count_reasons(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_fit_error *error)
{
	const struct bt_evaluation *evaluation = &explanation->evaluation;
	uint32_t absent_n = bt_node_list_n(&engine->nodes) - evaluation->visited_n;
	struct bt_refusal refusal;
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		if (evaluation->refused_by[i] == BT_PASSED) {
			continue;
		}
		bt_explanation_refusal(engine, explanation, i, &refusal);
		absent_n += bt_refusal_reason_n(&refusal) == 0;
		for (uint32_t r = 0; r < bt_refusal_reason_n(&refusal); r++) {
			bt_buf_clear(&text);
			bt_refusal_reason(engine, &refusal, r, &text);
			bt_fit_error_add(error, bt_buf_view(&text), 1);
		}
	}
	for (size_t i = 0; i < evaluation->hook_unknown_n; i++) {
		bt_fit_error_add(
			error, bt_str(evaluation->hook_text.ptr + evaluation->hook_unknowns[i].text), 1);
	}
	if (explanation->narrowed && absent_n) {
		bt_buf_clear(&text);
		append_narrowing_plugins(explanation, &text);
		bt_fit_error_add(error, bt_buf_view(&text), absent_n);
	}
	bt_buf_fini(&text);
}

void bt_engine_message(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_buf *out_text)
{
	struct bt_fit_error error = {0};

	if (explanation->gated) {
		return;
	}
	if (explanation->error) {
		bt_buf_text(out_text, explanation->error);
		return;
	}
	if (explanation->refused) {
		bt_buf_printf(out_text, "0/%u nodes are available: %s.", bt_node_list_n(&engine->nodes),
			explanation->refusal.text);
	} else {
		count_reasons(engine, explanation, &error);
		bt_fit_error_text(&error, bt_node_list_n(&engine->nodes), out_text);
		bt_fit_error_fini(&error);
	}
	if (explanation->post_text.len) {
		bt_buf_char(out_text, ' ');
		bt_buf_str(out_text, bt_buf_view(&explanation->post_text));
	}
}
