/* SPDX-License-Identifier: Apache-2.0
 * PostFilter: who would have to go so that a refused pod fits, and what becomes of its promise.
 */
#include "engine/flow/engine_int.h"

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "plugins/dynamic_resources/dynamic_resources.h"

/* Did DynamicResources run its PreFilter? Its PostFilter fails with "not found" when not. */
static bool claims_state_missing(const struct bt_lane *lane, const struct bt_plan *plan)
{
	uint32_t ran = lane->profile.plugins.pre_filter_n;

	for (uint32_t i = 0; plan->refusal && i < lane->profile.plugins.pre_filter_n; i++) {
		if (lane->profile.plugins.pre_filter[i] == plan->refused_by) {
			ran = i;
		}
	}
	return lane->profile.dra_pre_filter_after > ran;
}

/* What DynamicResources does. */
static enum bt_claims_release release_of(
	const struct bt_plan *plan, const struct bt_view *view, uint32_t *out_claim_ix)
{
	for (uint32_t u = 0; plan->asks && u < plan->profile->use_n; u++) {
		if (plan->profile->uses[u].plugin == &bt_plugin_dynamic_resources) {
			return bt_dynamic_resources_release(&plan->compiled[u], view, out_claim_ix);
		}
	}
	return BT_CLAIMS_NONE;
}

bool bt_engine_release_claims(
	struct bt_engine *engine, const struct bt_lane *lane, const struct bt_plan *plan)
{
	struct bt_devices *devices = engine->cache->devices;
	bool there = false;
	uint32_t claim_ix;

	for (uint32_t i = 0; i < lane->profile.post_filter_n; i++) {
		there |= lane->profile.post_filters[i] == BT_POST_FILTER_CLAIMS;
	}
	if (!there || !plan->asks || claims_state_missing(lane, plan)) {
		return false;
	}
	switch (release_of(plan, &engine->cache->view, &claim_ix)) {
	case BT_CLAIMS_DEALLOCATE:
		bt_devices_deallocate(devices, claim_ix);
		return true;
	case BT_CLAIMS_DELETE:
		bt_devices_remove(devices, BT_KIND_RESOURCE_CLAIM,
			engine->cache->view.devices->claims[claim_ix].namespace_,
			engine->cache->view.devices->claims[claim_ix].name);
		return true;
	default:
		return false;
	}
}

void bt_engine_post_filter(const struct bt_lane *lane, const struct bt_preempt_request *request,
	struct bt_preempt_notes *notes, struct bt_preemption *preemption, struct bt_buf *text)
{
	enum bt_preempt_outcome outcome = BT_PREEMPT_INELIGIBLE;

	for (uint32_t i = 0; i < lane->profile.post_filter_n; i++) {
		bool claims = lane->profile.post_filters[i] == BT_POST_FILTER_CLAIMS;

		if (claims && claims_state_missing(lane, request->plan)) {
			outcome = BT_PREEMPT_FAILED;
			bt_buf_clear(text);
			bt_buf_text(text, "not found");
			break;
		}
		bt_buf_text(text, i ? ", " : "");
		if (claims) {
			uint32_t unused;

			bt_buf_text(text, bt_dynamic_resources_release_text(
						  release_of(request->plan, &request->cache->view, &unused)));
			continue;
		}
		if (notes) {
			bt_preempt_by_notes(request, notes, preemption);
		} else {
			bt_preempt(request, preemption);
		}
		outcome = preemption->outcome;
		if (outcome == BT_PREEMPT_FOUND || outcome == BT_PREEMPT_FAILED) {
			bt_buf_clear(text);
			bt_buf_str(text, bt_buf_view(&preemption->text));
			break;
		}
		bt_buf_str(text, bt_buf_view(&preemption->text));
	}
	preemption->outcome = outcome;
}

struct bt_extend *bt_engine_extend_for(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_extend_preempts(engine->extend, pod_ix) ? engine->extend : NULL;
}

/* Do extenders have a say about the pod? What they said before may not hold. */
static bool extended(const struct bt_engine *engine, uint32_t pod_ix)
{
	return engine->evaluation.hooks || bt_extend_preempts(engine->extend, pod_ix);
}

static struct bt_state_of_things state_now(const struct bt_engine *engine)
{
	const struct bt_view *view = &engine->cache->view;

	return (struct bt_state_of_things){view->usage->journal_end, view->snapshot->version,
		bt_ledger_change_n(engine->cache->ledger), engine->cache->budgets.version,
		view->counting->version, view->storage->version, view->devices->version};
}

/* The record of pods of that signature and priority that have no promise of their own. */
static struct bt_hopeless *hopeless_of(struct bt_engine *engine, const struct bt_pod *pod)
{
	uint64_t key = ((uint64_t)pod->signature->ix << 32 | (uint32_t)pod->priority) + 1;
	uint32_t ix;

	if (!bt_map_get(&engine->hopeless_ixs, key, &ix)) {
		engine->hopeless = bt_mem_grow(engine->hopeless, engine->hopeless_n, &engine->hopeless_cap,
			sizeof(*engine->hopeless));
		ix = (uint32_t)engine->hopeless_n++;
		engine->hopeless[ix] = (struct bt_hopeless){.when.snapshot = UINT64_MAX};
		bt_map_put(&engine->hopeless_ixs, key, ix);
	}
	return &engine->hopeless[ix];
}

/* Is it known, without looking at a node, that preemption will not help and that there is no promise to
 * decide on? */
static bool preemption_is_idle(
	struct bt_engine *engine, const struct bt_lane *lane, const struct bt_plan *plan, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	if (pod->nominated_ix != BT_NO_NODE) {
		return false;
	}
	if (plan->refusal || pod->never_preempts || lane->profile.post_filter_n == 0 ||
		pod->priority <= bt_ledger_lowest_priority(engine->cache->ledger)) {
		return true;
	}
	if (extended(engine, pod_ix)) {
		return false;
	}
	const struct bt_state_of_things now = state_now(engine);
	return memcmp(&hopeless_of(engine, pod)->when, &now, sizeof(now)) == 0;
}

/* Lower pods that were promised the node have to look for another one. */
static void take_promises_back(struct bt_engine *engine, uint32_t node_ix, struct bt_decision *decision)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	int32_t priority = bt_ledger_pod(ledger, decision->pod_ix)->priority;

	for (uint32_t next, i = bt_ledger_first_nominated(ledger, node_ix); i != BT_NO_POD; i = next) {
		next = bt_ledger_next(ledger, i);
		if (bt_ledger_pod(ledger, i)->priority < priority) {
			bt_ledger_nominate(ledger, i, BT_NO_NODE);
			engine->unpromised = bt_mem_grow(engine->unpromised, decision->unpromised_n,
				&engine->unpromised_cap, sizeof(*engine->unpromised));
			engine->unpromised[decision->unpromised_n++] = i;
		}
	}
	decision->unpromised = engine->unpromised;
}

static void promise(struct bt_engine *engine, struct bt_decision *decision)
{
	const struct bt_preemption *preemption = &engine->preemption;
	struct bt_ledger *ledger = engine->cache->ledger;

	decision->nominated_ix = preemption->node_ix;
	decision->victims = preemption->victims;
	decision->victim_n = preemption->victim_n;
	take_promises_back(engine, preemption->node_ix, decision);
	bt_ledger_nominate(ledger, decision->pod_ix, preemption->node_ix);
	engine->counts.preemption_n++;
}

/* The notes that tell where pods of a kind can preempt, or NULL when all nodes have to be looked at. */
static struct bt_preempt_notes *notes_for(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	if (engine->options.evaluate_always || pod->nominated_ix != BT_NO_NODE || !bt_preempt_notable(plan) ||
		extended(engine, pod_ix)) {
		return NULL;
	}
	uint64_t hash = bt_hash_u64((uint64_t)pod->signature->ix << 32 | (uint32_t)pod->priority);
	return &engine->notes[hash % BT_NOTES_N];
}

void bt_engine_preempt(struct bt_engine *engine, const struct bt_lane *lane, const struct bt_plan *plan,
	struct bt_decision *decision)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, decision->pod_ix);

	if (!plan || decision->outcome != BT_REFUSED || lane->profile.post_filter_n == 0) {
		bt_ledger_nominate(ledger, decision->pod_ix, BT_NO_NODE);
		return;
	}
	if (preemption_is_idle(engine, lane, plan, decision->pod_ix)) {
		return;
	}
	struct bt_preempt_notes *notes = notes_for(engine, plan, decision->pod_ix);
	if (!notes && !engine->evaluated && !plan->refusal) {
		bt_engine_evaluate_all(engine, plan, &engine->evaluation);
	}
	const struct bt_preempt_request request = {
		.settings = &lane->profile.preemption,
		.cache = engine->cache,
		.pod_ix = decision->pod_ix,
		.plan = plan,
		.evaluation = plan->refusal ? NULL : &engine->evaluation,
		.extend = bt_engine_extend_for(engine, decision->pod_ix),
		.random = bt_rng_at(~engine->options.seed, engine->cycle_n),
	};
	struct bt_buf unused = {0};
	bt_engine_post_filter(lane, &request, notes, &engine->preemption, &unused);
	bt_buf_fini(&unused);
	engine->counts.dry_run_n += engine->preemption.tried_n;
	if (engine->preemption.outcome == BT_PREEMPT_FOUND) {
		promise(engine, decision);
	} else if (engine->preemption.outcome == BT_PREEMPT_NOWHERE) {
		bt_ledger_nominate(ledger, decision->pod_ix, BT_NO_NODE);
	}
	if (engine->preemption.outcome != BT_PREEMPT_FOUND && pod->nominated_ix == BT_NO_NODE) {
		hopeless_of(engine, pod)->when = state_now(engine);
	}
}
