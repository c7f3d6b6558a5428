/* SPDX-License-Identifier: Apache-2.0
 * PodGroupPostFilter: what may help a PodGroup that waits as one and has just been rejected. Source:
 * RunPodGroupPostFilterPlugins, v1.37.2.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
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
	enum bt_preempt_outcome outcome, const struct bt_group_preemption *preemption)
{
	switch (outcome) {
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
	const struct bt_group_preemption *preemption, enum bt_preempt_outcome outcome, int64_t begin_ns)
{
	const struct bt_engine *engine = request->engine;
	const uint16_t status = (uint16_t)status_of(outcome, preemption), labels[4] = {status}, none[4] = {0},
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
	if (outcome != BT_PREEMPT_FOUND || preemption->is_ongoing) {
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
	enum bt_preempt_outcome outcome = bt_group_preempt(request, &cycle->preemption);
	note_preemption(request, &cycle->preemption, outcome, begin_ns);
	if (outcome == BT_PREEMPT_FOUND && !cycle->preemption.is_ongoing) {
		bt_group_cycle_preempt(engine, cycle);
	}
	return outcome;
}

/* ---- claims ---- */

/* Claims written since PreFilter read them. */
struct written_claims {
	uint32_t *items;
	size_t n, cap;
};

/* Carries out a release, written with PreFilter's copy of the claim. Returns: false: a conflict, described
 * in why. */
static bool write_release(struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix,
	struct written_claims *written, struct bt_buf *why)
{
	for (size_t i = 0; i < written->n; i++) {
		if (written->items[i] == release->claim_ix) {
			bt_buf_text(why, "Operation cannot be fulfilled on resourceclaims.resource.k8s.io ");
			bt_quote(why, bt_engine_name(engine, release->name));
			bt_buf_text(why, ": the object has been modified; please apply your changes to the "
					 "latest version and try again");
			return false;
		}
	}
	const struct bt_resource_claim *claim = &engine->cache->view.devices->claims[release->claim_ix];
	if (claim->allocated || claim->reserved_n) {
		written->items =
			bt_mem_grow(written->items, written->n, &written->cap, sizeof(*written->items));
		written->items[written->n++] = release->claim_ix;
	}
	(void)bt_engine_release_claim(engine, release, for_ix);
	return true;
}

/* Releases claims of pods, as PostFilter would. out_rest: a pod has none of these. */
static bool release_of_pods(struct bt_engine *engine, const struct bt_group_cycle *cycle,
	struct written_claims *written, bool *out_rest, struct bt_buf *why)
{
	for (size_t i = 0; i < cycle->member_n; i++) {
		const struct bt_decision *decision = &cycle->members[i].decision;
		const struct bt_claim_release *release = &decision->release;
		bool releases = release->what == BT_CLAIMS_DEALLOCATE || release->what == BT_CLAIMS_DELETE;

		*out_rest |= cycle->members[i].post_filtered && !releases;
		if (releases && !write_release(engine, release, decision->pod_ix, written, why)) {
			return false;
		}
	}
	return true;
}

/* Releases a claim of the group as a whole; out_ends: later plugins are skipped. Upstream takes any of
 * several; berth takes the first. Source: deallocatePodGroupClaims, v1.37.2. */
static bool release_of_group(const struct bt_group_preempt_request *request,
	const struct bt_group_cycle *cycle, const struct bt_plugin *plugin, struct written_claims *written,
	bool *out_ends, struct bt_buf *text)
{
	struct bt_engine *engine = request->engine;
	uint32_t first_ix = cycle->members[0].decision.pod_ix;
	const struct bt_pod *first = bt_ledger_pod(engine->cache->ledger, first_ix);
	struct bt_claim_release release = {.what = BT_CLAIMS_NONE};

	for (size_t i = 0; i < cycle->member_n; i++) {
		if (cycle->members[i].post_filtered && cycle->members[i].group_release.what) {
			size_t before = text->len;

			bt_buf_text(text, "deallocation of PodGroup ResourceClaim completed");
			struct bt_buf why = {.len = 0};
			bool done = write_release(engine, &cycle->members[i].group_release,
				cycle->members[i].decision.pod_ix, written, &why);
			if (!done) {
				text->len = before;
				bt_buf_str(text, bt_buf_view(&why));
			}
			bt_buf_fini(&why);
			return done;
		}
	}
	if (!plugin->group_unreserve(&engine->cache->view, first->signature,
		    bt_consumer_uid(first->name, first->uid), &release, text)) {
		return false;
	}
	*out_ends = release.what == BT_CLAIMS_UNRESERVE;
	(void)bt_engine_release_claim(engine, &release, first_ix);
	return true;
}

/* Returns: false: it fails, as described in text. out_ends: later plugins are skipped. Source:
 * DynamicResources.PodGroupPostFilter, v1.37.2. */
static bool release_claims(const struct bt_group_preempt_request *request, const struct bt_group_cycle *cycle,
	const struct bt_plugin *plugin, bool *out_ends, struct bt_buf *text)
{
	struct bt_engine *engine = request->engine;
	struct written_claims written = {.n = 0};
	bool rest = false;
	bool done = release_of_pods(engine, cycle, &written, &rest, text);

	if (done && rest && engine->cache->view.devices->features.group_claims &&
		!bt_group_runs(
			engine, bt_ledger_pod(engine->cache->ledger, cycle->members[0].decision.pod_ix))) {
		done = release_of_group(request, cycle, plugin, &written, out_ends, text);
	}
	if (done && text->len == 0) {
		bt_buf_text(text, "deallocation and deletion of ResourceClaims completed");
	}
	bt_mem_free(written.items);
	return done;
}

/* An error of a plugin replaces all other messages. */
static enum bt_preempt_outcome fail(
	struct bt_group_cycle *cycle, const struct bt_plugin *plugin, const char *scope, struct bt_str why)
{
	bt_buf_clear(&cycle->text);
	bt_buf_printf(&cycle->text, "error in \"%s\" PodGroupPostFilter plugins: %s%.*s", plugin->name, scope,
		BT_STR_ARG(why));
	return BT_PREEMPT_FAILED;
}

/* A message that ends the extension point replaces all messages since an offset. */
static enum bt_preempt_outcome release_for_group(const struct bt_group_preempt_request *request,
	struct bt_group_cycle *cycle, const struct bt_plugin *plugin, size_t before, bool *out_ends)
{
	struct bt_buf message = {.len = 0};
	bool done = release_claims(request, cycle, plugin, out_ends, &message);

	if (done) {
		cycle->text.len = *out_ends ? before : cycle->text.len;
		bt_buf_text(&cycle->text, ", ");
		bt_buf_str(&cycle->text, bt_buf_view(&message));
	} else {
		(void)fail(cycle, plugin, "", bt_buf_view(&message));
	}
	bt_buf_fini(&message);
	return done ? BT_PREEMPT_INELIGIBLE : BT_PREEMPT_FAILED;
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
			bool ends = false;
			enum bt_preempt_outcome outcome =
				release_for_group(request, cycle, plugin, before, &ends);

			if (ends || outcome == BT_PREEMPT_FAILED) {
				return outcome;
			}
			continue;
		}
		enum bt_preempt_outcome outcome = preempt_for_group(cycle, request, plugin);
		struct bt_str why = bt_buf_view(&cycle->preemption.text);
		if (outcome == BT_PREEMPT_FAILED) {
			return fail(cycle, plugin, scope, why);
		}
		/* Finding no victims is final, as success is. */
		bool ends = outcome == BT_PREEMPT_FOUND ||
			    (outcome == BT_PREEMPT_NOWHERE && cycle->preemption.unit_n == 0);
		text->len = ends ? before : text->len;
		bt_buf_printf(text, ", %s%.*s", scope, BT_STR_ARG(why));
		if (ends) {
			return outcome;
		}
	}
	if (text->len == before) {
		bt_buf_text(text, ", ");
	}
	return BT_PREEMPT_INELIGIBLE;
}
