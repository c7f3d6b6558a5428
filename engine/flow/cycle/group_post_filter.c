/* SPDX-License-Identifier: Apache-2.0
 * PodGroupPostFilter: what may help a PodGroup that waits as one and has just been rejected. Source:
 * RunPodGroupPostFilterPlugins, v1.37.2.
 */
#include "engine/base/check.h"
#include "engine/flow/cycle/engine_int.h"

/* Source: resolvePreemptionPolicy, v1.37.2. */
static bool never_preempts(
	const struct bt_engine *engine, const struct bt_group_cycle *cycle, const struct bt_pod_group *group)
{
	if (bt_pod_groups_have_policies(&engine->groups)) {
		return group->terms.never_preempts;
	}
	for (size_t i = 0; i < cycle->member_n; i++) {
		const struct bt_decision *decision = &cycle->members[i].decision;

		if (decision->outcome != BT_SKIPPED &&
			bt_ledger_pod(engine->cache->ledger, decision->pod_ix)->never_preempts) {
			return true;
		}
	}
	return false;
}

/* Source: isOngoingPreemption, v1.37.2. */
static bool is_ongoing(const struct bt_engine *engine, const struct bt_group_cycle *cycle)
{
	for (size_t i = 0; i < cycle->member_n; i++) {
		const struct bt_decision *decision = &cycle->members[i].decision;
		const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, decision->pod_ix);

		if (decision->outcome != BT_SKIPPED && pod->status_ix != BT_NO_NODE &&
			bt_bitmap_test(engine->cache->view.snapshot->live, pod->status_ix) &&
			bt_preempt_lingers(
				engine->cache->ledger, bt_pod_groups_as_victims(&engine->groups), pod)) {
			return true;
		}
	}
	return false;
}

static enum bt_cycle_metric_status status_of(
	enum bt_preempt_outcome says, const struct bt_group_preemption *preemption)
{
	switch (says) {
	case BT_PREEMPT_FOUND:
		return BT_CYCLE_METRIC_SUCCESS;
	case BT_PREEMPT_FAILED:
		return BT_CYCLE_METRIC_ERROR;
	case BT_PREEMPT_NOWHERE:
		return preemption->unit_n ? BT_CYCLE_METRIC_UNSCHEDULABLE : BT_CYCLE_METRIC_UNRESOLVABLE;
	case BT_PREEMPT_INELIGIBLE:
		break;
	}
	return BT_CYCLE_METRIC_UNSCHEDULABLE;
}

/* Source: DefaultPreemption.PodGroupPostFilter, PodGroupEvaluator.evaluate, which calls trees podgroup too,
 * observeVictims, v1.37.2. */
static void note_preemption(const struct bt_group_preempt_request *request,
	const struct bt_group_preemption *preemption, enum bt_preempt_outcome says, int64_t begin_ns)
{
	const struct bt_engine *engine = request->engine;
	const uint16_t status = (uint16_t)status_of(says, preemption), labels[4] = {status}, none[4] = {0},
		       evaluating[4] = {BT_CYCLE_METRIC_BY_GROUP, status},
		       preemptor[4] = {request->group->composite ? BT_CYCLE_METRIC_BY_TREE
								 : BT_CYCLE_METRIC_BY_GROUP};

	if (!engine->metrics) {
		return;
	}
	int64_t took_ns = bt_group_cycle_clock(engine) - begin_ns;
	bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_GROUP_PREEMPTING, labels, took_ns);
	if (preemption->evaluated) {
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_EVALUATING, evaluating, took_ns);
	}
	if (says != BT_PREEMPT_FOUND || preemption->is_ongoing) {
		return;
	}
	bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_GROUP_VICTIMS, none,
		(int64_t)preemption->victim_n * BT_CYCLE_METRIC_ONE);
	if (preemption->disrupted_n) {
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_GROUP_DISRUPTIONS, preemptor,
			preemption->disrupted_n * BT_CYCLE_METRIC_ONE);
	}
	if (preemption->violation_n) {
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_VIOLATIONS, preemptor,
			preemption->violation_n * BT_CYCLE_METRIC_ONE);
	}
}

/* Source: DefaultPreemption.PodGroupPostFilter, v1.37.2. */
static enum bt_preempt_outcome preempt_for_group(struct bt_group_cycle *cycle,
	struct bt_group_preempt_request *request, const struct bt_plugin *plugin)
{
	struct bt_engine *engine = request->engine;

	request->policy = plugin->preemption;
	request->never_preempts = never_preempts(engine, cycle, request->group);
	request->is_ongoing = is_ongoing(engine, cycle);
	int64_t begin_ns = bt_group_cycle_clock(engine);
	enum bt_preempt_outcome says = bt_group_preempt(request, &cycle->preemption);
	note_preemption(request, &cycle->preemption, says, begin_ns);
	if (says == BT_PREEMPT_FOUND && !cycle->preemption.is_ongoing) {
		bt_group_cycle_preempt(engine, cycle);
	}
	return says;
}

/* Source: DynamicResources.PodGroupPostFilter, v1.37.2. */
static void release_claims(struct bt_engine *engine, const struct bt_group_cycle *cycle)
{
	for (size_t i = 0; i < cycle->member_n; i++) {
		const struct bt_decision *decision = &cycle->members[i].decision;

		(void)bt_engine_release_claim(engine, &decision->release, decision->pod_ix);
	}
}

/* An error of a plugin is all that is said. */
static enum bt_preempt_outcome fail(
	struct bt_group_cycle *cycle, const struct bt_plugin *plugin, const char *scope, struct bt_str why)
{
	bt_buf_clear(&cycle->text);
	bt_buf_printf(&cycle->text, "error in \"%s\" PodGroupPostFilter plugins: %s%.*s", plugin->name, scope,
		BT_STR_ARG(why));
	return BT_PREEMPT_FAILED;
}

static bool is_constrained(const struct bt_group_preempt_request *request)
{
	return request->group->composite || (bt_pod_groups_have_placements(&request->engine->groups) &&
						    request->group->terms.has_constraints);
}

enum bt_preempt_outcome bt_engine_group_post_filter(
	struct bt_group_cycle *cycle, struct bt_group_preempt_request *request)
{
	static const char scope[] = "pod group preemption: ";
	const struct bt_hooks *hooks = &request->runtime->profile.group_post_filter;
	struct bt_buf *text = &cycle->text;
	size_t before = text->len;

	for (uint32_t i = 0; i < hooks->n; i++) {
		const struct bt_plugin *plugin = hooks->items[i].plugin;

		if (plugin->leaves_constrained_groups && is_constrained(request)) {
			continue;
		}
		if (plugin->no_pre_filter_post_error && !(cycle->met >> i & 1)) {
			return fail(cycle, plugin, "", bt_str(plugin->no_pre_filter_post_error));
		}
		if (!plugin->preemption) {
			release_claims(request->engine, cycle);
			bt_buf_text(text, ", deallocation and deletion of ResourceClaims completed");
			continue;
		}
		enum bt_preempt_outcome says = preempt_for_group(cycle, request, plugin);
		struct bt_str why = bt_buf_view(&cycle->preemption.text);
		if (says == BT_PREEMPT_FAILED) {
			return fail(cycle, plugin, scope, why);
		}
		/* That there are no victims is final, as success is. */
		bool ends = says == BT_PREEMPT_FOUND ||
			    (says == BT_PREEMPT_NOWHERE && cycle->preemption.unit_n == 0);
		text->len = ends ? before : text->len;
		bt_buf_printf(text, ", %s%.*s", scope, BT_STR_ARG(why));
		if (ends) {
			return says;
		}
	}
	if (text->len == before) {
		bt_buf_text(text, ", ");
	}
	return BT_PREEMPT_INELIGIBLE;
}
