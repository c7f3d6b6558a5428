/* SPDX-License-Identifier: Apache-2.0
 * PostFilter: which pods to evict so that a refused pod fits, and its nomination.
 */
#include "engine/flow/cycle/engine_int.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"

/* Has the plugin no PreFilter result in this cycle? */
static bool misses_pre_filter(const struct bt_hook *hook, const struct bt_plan *plan)
{
	const struct bt_profile *profile = plan->profile;

	for (uint32_t i = 0; hook->plugin->no_pre_filter_post_error && i < profile->pre_filter_n; i++) {
		if (profile->pre_filter[i] == hook->use) {
			return false;
		}
		if (plan->refusal && profile->pre_filter[i] == plan->refused_by) {
			return true;
		}
	}
	return hook->plugin->no_pre_filter_post_error;
}

/* The plugin's PreFilter result in this cycle, or NULL. */
static const struct bt_compiled *compiled_of(const struct bt_hook *hook, const struct bt_plan *plan)
{
	if (hook->use == BT_NO_USE || (hook->plugin->pre_filter && !plan->reads_state)) {
		return NULL;
	}
	return &plan->compiled[hook->use];
}

/* Has a PostFilter plugin a result that depends on the pod and on Filter's results? */
static bool depends_on_pod(const struct bt_profile_runtime *runtime, const struct bt_plan *plan)
{
	const struct bt_hooks *hooks = &runtime->profile.post_filter;

	for (uint32_t i = 0; i < hooks->n; i++) {
		const struct bt_plugin *plugin = hooks->items[i].plugin;

		if (!plugin->preemption &&
			(!plugin->post_filter_idle ||
				!plugin->post_filter_idle(compiled_of(&hooks->items[i], plan)))) {
			return true;
		}
	}
	return false;
}

bool bt_engine_release_claim(
	struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix)
{
	const struct bt_releaser *releaser = &engine->options.releaser;

	if (release->what == BT_CLAIMS_NONE || release->what == BT_CLAIMS_KEPT) {
		return true;
	}
	const struct bt_resource_claim *claim = &engine->cache->view.devices->claims[release->claim_ix];
	if (!claim->live || claim->name != release->name || claim->uid != release->uid) {
		return false;
	}
	if (release->what == BT_CLAIMS_DEALLOCATE && !claim->allocated && claim->reserved_n == 0) {
		return true; /* it is what others share in this cycle: nothing changes */
	}
	if (releaser->release) {
		releaser->release(releaser->context, engine, release, for_ix);
	} else if (release->what == BT_CLAIMS_UNRESERVE) {
		if (bt_devices_unreserve(engine->cache->devices, release->claim_ix, release->consumer)) {
			bt_engine_requeue_for_claim(engine, release->claim_ix, BT_CHANGED_CLAIM_STATUS);
		}
	} else if (release->what == BT_CLAIMS_DELETE) {
		bt_devices_remove(
			engine->cache->devices, BT_KIND_RESOURCE_CLAIM, claim->namespace_, claim->name);
	} else {
		bt_devices_deallocate(engine->cache->devices, release->claim_ix);
		bt_engine_requeue_for_claim(
			engine, release->claim_ix, BT_CHANGED_ALLOCATION_LOST | BT_CHANGED_CLAIM_STATUS);
	}
	return true;
}

void bt_engine_note_for_group(struct bt_engine *engine, const struct bt_profile_runtime *runtime,
	const struct bt_plan *plan, struct bt_group_notes *notes)
{
	const struct bt_hooks *hooks = &runtime->profile.group_post_filter;

	for (uint32_t i = 0; plan && i < hooks->n; i++) {
		const struct bt_hook *hook = &hooks->items[i];
		const struct bt_post_filter_env env = {.settings = hook->settings,
			.release = runtime->profile.release,
			.view = &engine->cache->view,
			.compiled = compiled_of(hook, plan),
			.group_runs = true};
		struct bt_post_filter_result result = {0};
		struct bt_buf text = {0};

		if (hook->plugin->preemption || misses_pre_filter(hook, plan)) {
			continue;
		}
		notes->met |= bt_plugin_set_of(i);
		notes->post_filtered = true;
		hook->plugin->post_filter(&env, &result, &text);
		notes->release = result.release.what ? result.release : notes->release;
		notes->group_release = result.group_release;
		bt_buf_fini(&text);
	}
}

/* The context for a PostFilter plugin's call of preemption. */
struct preempting {
	const struct bt_preempt_request *request;
	struct bt_preemption *preemption;
};

static enum bt_preempt_outcome try_preemption(void *context, struct bt_buf *out_text)
{
	const struct preempting *p = context;

	if (p->request->notes) {
		bt_preempt_by_notes(p->request, p->request->notes, p->preemption);
	} else {
		bt_preempt(p->request, p->preemption);
	}
	bt_buf_str(out_text, bt_buf_view(&p->preemption->text));
	return p->preemption->outcome;
}

/* Removes the text before from. */
static void keep_from(struct bt_buf *text, size_t from)
{
	if (from) {
		memmove(text->ptr, text->ptr + from, text->len - from);
		text->len -= from;
	}
}

void bt_engine_post_filter(const struct bt_profile_runtime *runtime, const struct bt_preempt_request *request,
	struct bt_preemption *preemption, struct bt_claim_release *out_release, struct bt_buf *text)
{
	const struct bt_hooks *hooks = &runtime->profile.post_filter;
	enum bt_preempt_outcome outcome = BT_PREEMPT_INELIGIBLE;
	struct preempting preempting = {request, preemption};

	*out_release = (struct bt_claim_release){.what = BT_CLAIMS_NONE};
	for (uint32_t i = 0; i < hooks->n; i++) {
		const struct bt_hook *hook = &hooks->items[i];
		const struct bt_post_filter_env env = {hook->settings, runtime->profile.release,
			&request->cache->view, compiled_of(hook, request->cycle->plan), request->group_runs,
			try_preemption, &preempting};
		struct bt_post_filter_result result = {0};

		if (misses_pre_filter(hook, request->cycle->plan)) {
			outcome = BT_PREEMPT_FAILED;
			bt_buf_clear(text);
			bt_buf_text(text, hook->plugin->no_pre_filter_post_error);
			break;
		}
		size_t before = text->len;
		bt_buf_text(text, before ? ", " : "");
		size_t from = text->len;
		hook->plugin->post_filter(&env, &result, text);
		if (text->len == from) {
			text->len = from = before;
		}
		*out_release = result.release.what ? result.release : *out_release;
		outcome = result.nominates ? result.outcome : outcome;
		if (result.ends ||
			(result.nominates && (outcome == BT_PREEMPT_FOUND || outcome == BT_PREEMPT_FAILED))) {
			keep_from(text, from);
			break;
		}
	}
	preemption->outcome = outcome;
}

struct bt_extender_calls *bt_engine_extend_for(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_extender_calls_preempts(engine->extend, pod_ix) ? engine->extend : NULL;
}

const struct bt_extender_config *bt_engine_extender_to_bind(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_extender_calls_binder(engine->extend, pod_ix);
}

bool bt_engine_is_uncacheable(const struct bt_engine *engine, const struct bt_cycle *cycle)
{
	const struct bt_pod *pod = cycle->pod;
	bool special = pod->signature->extended_n && engine->cache->view.devices->special_n;

	return pod->detached || bt_engine_resizes(pod) || pod->nominated_ix != BT_NO_NODE ||
	       pod->status_node != BT_NAME_NONE || pod->signature->claim_n || special ||
	       bt_extender_calls_interested(engine->extend, cycle->pod_ix) ||
	       (cycle->runtime && cycle->runtime->profile.plugins.verdicts_uncacheable);
}

struct bt_engine_versions bt_engine_state(const struct bt_engine *engine)
{
	const struct bt_view *view = &engine->cache->view;
	const struct bt_node_part *part = bt_node_list_part(&engine->nodes);

	return (struct bt_engine_versions){view->usage->journal_end, view->snapshot->version,
		bt_ledger_change_n(engine->cache->ledger), engine->cache->budgets.version,
		view->counting->version, view->storage->version, view->devices->version,
		bt_group_cycle_number(&engine->group_cycle), bt_pod_groups_version(&engine->groups),
		part ? part->number : 0};
}

/* The plugins that refused the pod, by the queue's numbers: at the examined nodes, or at PreFilter. */
static bt_plugin_set unschedulable_plugins_of(const struct bt_engine *engine, const struct bt_cycle *cycle)
{
	const struct bt_evaluation *evaluation = bt_schedule_pod_evaluation(&engine->schedule);
	const struct bt_profile_runtime *runtime = cycle->runtime;
	const struct bt_plan *plan = cycle->plan;
	bt_plugin_set plugins = 0;

	if (plan->refusal) {
		return bt_plugin_set_of((uint32_t)runtime->number_of_use[plan->refused_by]);
	}
	if (plan->narrowed) {
		plugins |= bt_plugin_set_of((uint32_t)runtime->number_of_use[plan->narrowed_by]);
	}
	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		uint32_t use = evaluation->refused_by[i];
		int number = use < BT_HOOKED ? runtime->number_of_use[use] : runtime->extender_number;

		if (use != BT_PASSED && number >= 0) {
			plugins |= bt_plugin_set_of((uint32_t)number);
		}
	}
	return plugins;
}

/* The same from notes. */
static bt_plugin_set noted_unschedulable_plugins(const struct bt_profile_runtime *runtime,
	const struct bt_preempt_request *request, struct bt_preempt_notes *notes)
{
	bt_plugin_set plugins = 0;

	for (bt_plugin_set uses = bt_preempt_unschedulable_plugins(request, notes); uses;
		uses = bt_plugin_set_rest(uses)) {
		int number = runtime->number_of_use[bt_plugin_set_first(uses)];

		plugins |= number >= 0 ? bt_plugin_set_of((uint32_t)number) : 0;
	}
	return plugins;
}

/* Is PostFilter's outcome known without examining nodes? Then sets out_outcome. */
static bool preemption_is_idle(const struct bt_engine *engine, const struct bt_profile_runtime *runtime,
	const struct bt_plan *plan, const struct bt_pod *pod, enum bt_preempt_outcome *out_outcome)
{
	*out_outcome = BT_PREEMPT_NOWHERE;
	if (runtime->profile.post_filter.n == 0) {
		return true;
	}
	if (!runtime->profile.preemption || bt_engine_group_ineligible(engine, pod)) {
		*out_outcome = BT_PREEMPT_INELIGIBLE;
		return true;
	}
	return pod->status_node == BT_NAME_NONE && !pod->never_preempts && !pod->detached &&
	       (plan->refusal || (!bt_pod_groups_as_victims(&engine->groups) &&
					 pod->priority <= bt_ledger_lowest_priority(engine->cache->ledger)));
}

/* The notes for preemption by pods of this kind, or NULL when all nodes must be examined. */
static struct bt_preempt_notes *notes_for(struct bt_engine *engine, const struct bt_cycle *cycle)
{
	const struct bt_pod *pod = cycle->pod;

	if (engine->options.evaluate_always || pod->status_node != BT_NAME_NONE ||
		pod->nominated_ix != BT_NO_NODE || !bt_preempt_notable(cycle->plan) ||
		bt_extender_calls_interested(engine->extend, cycle->pod_ix) ||
		bt_group_cycle_is_on(&engine->group_cycle) || bt_pod_groups_as_victims(&engine->groups)) {
		return NULL;
	}
	uint64_t hash = bt_hash_u64((uint64_t)pod->signature->ix << 32 | (uint32_t)pod->priority);
	struct bt_preempt_notes *notes = &engine->post.notes[hash % BT_NOTES_N];
	return bt_preempt_notes_fit(notes, engine->cache->view.snapshot->slot_n) ? notes : NULL;
}

static struct bt_preempt_request request_for(
	struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_preempt_notes *notes)
{
	return (struct bt_preempt_request){
		.by = cycle->runtime->profile.preemption,
		.cache = engine->cache,
		.cycle = cycle,
		.evaluation = cycle->plan->refusal ? NULL : bt_schedule_pod_evaluation(&engine->schedule),
		.notes = notes,
		.extend = bt_engine_extend_for(engine, cycle->pod_ix),
		.random = bt_rng_at(~engine->options.seed, cycle->number),
		.explain = engine->options.texts,
		.groups = bt_pod_groups_as_victims(&engine->groups),
		.ineligible = bt_engine_group_ineligible(engine, cycle->pod),
		.group_runs = bt_group_runs(engine, cycle->pod),
	};
}

/* The same for the present cycle. */
static struct bt_preempt_request request_of(struct bt_engine *engine, struct bt_preempt_notes *notes)
{
	struct bt_cycle *cycle = &engine->post.cycle;

	/* The ledger may have changed since the cycle began. */
	cycle->pod = bt_ledger_pod(engine->cache->ledger, cycle->pod_ix);
	return request_for(engine, cycle, notes);
}

/* PostFilter's time is recorded as the search's. Source: Evaluator.evaluate, observeVictims, v1.37.2. */
static void note_preemption(struct bt_engine *engine, int64_t took_ns)
{
	const struct bt_preemption *preemption = &engine->post.preemption;
	const uint16_t found[4] = {BT_CYCLE_METRIC_BY_POD, BT_CYCLE_METRIC_SUCCESS},
		       failed[4] = {BT_CYCLE_METRIC_BY_POD, BT_CYCLE_METRIC_ERROR},
		       nobody[4] = {BT_CYCLE_METRIC_BY_POD, BT_CYCLE_METRIC_UNSCHEDULABLE},
		       preemptor[4] = {BT_CYCLE_METRIC_BY_POD};
	const bool yes = preemption->outcome == BT_PREEMPT_FOUND,
		   no = preemption->outcome == BT_PREEMPT_FAILED;

	bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_EVALUATING,
		yes  ? found
		: no ? failed
		     : nobody,
		took_ns);
	if (yes && preemption->violation_n) {
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_VIOLATIONS, preemptor,
			preemption->violation_n * BT_CYCLE_METRIC_ONE);
	}
}

static void note_post_filter(
	struct bt_engine *engine, const struct bt_profile_runtime *runtime, int64_t took_ns)
{
	const uint16_t labels[4] = {BT_CYCLE_METRIC_POST_FILTER,
		engine->post.preemption.outcome == BT_PREEMPT_FOUND ? BT_CYCLE_METRIC_SUCCESS
								    : BT_CYCLE_METRIC_UNSCHEDULABLE,
		bt_profile_runtimes_ix(&engine->runtimes, runtime)};
	const uint16_t alone[4] = {labels[0], labels[1]};

	engine->post.took_ns += took_ns;
	bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_POINT, labels, took_ns);
	if (runtime->profile.post_filter.n == 1) { /* otherwise the time is of several plugins */
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_PLUGIN, alone, took_ns);
	}
	if (runtime->profile.preemption) {
		note_preemption(engine, took_ns);
	}
}

/* Evaluates nodes unless that was done, and lists those that preemption may help. */
static void list_nodes(struct bt_engine *engine)
{
	struct bt_post_filter *post = &engine->post;

	if (post->listed) {
		return;
	}
	bt_engine_evaluate_once(engine, &post->cycle);
	const struct bt_preempt_request request = request_of(engine, NULL);
	bt_preempt_list(&request, &engine->post.preemption);
	post->listed = true;
}

/* Runs the PostFilter plugins. */
static void preempt(struct bt_engine *engine, struct bt_preempt_notes *notes)
{
	struct bt_post_filter *post = &engine->post;
	struct bt_preemption *preemption = &engine->post.preemption;

	int64_t begin_ns = bt_stage_latency_now(engine->options.stages);

	if (!notes) {
		list_nodes(engine);
	}
	const struct bt_preempt_request request = request_of(engine, notes);
	bt_engine_post_filter(post->cycle.runtime, &request, preemption, &post->release, &post->text);
	if (engine->metrics) {
		note_post_filter(engine, post->cycle.runtime, bt_clock_monotonic_ns() - begin_ns);
	}
	engine->post.dry_run_n += preemption->tried_n;
	post->outcome = preemption->outcome;
	if (preemption->outcome == BT_PREEMPT_FOUND) {
		BT_INVARIANT(preemption->node_ix < engine->cache->view.snapshot->slot_n);
		engine->post.preemption_n++;
		bt_eviction_list(&engine->eviction, engine->cache->ledger, preemption);
	}
}

/* Is PostFilter's outcome known? Then sets post.outcome. same: the state is as at the cycle's start. */
static bool is_known(struct bt_engine *engine, const struct bt_pod *pod, bool same)
{
	struct bt_post_filter *post = &engine->post;

	if (same && post->known) {
		post->outcome = post->known_outcome;
		return true;
	}
	enum bt_preempt_outcome outcome;
	bool idle = !depends_on_pod(post->cycle.runtime, post->cycle.plan) &&
		    preemption_is_idle(engine, post->cycle.runtime, post->cycle.plan, pod, &outcome);
	post->outcome = idle ? outcome : post->outcome;
	return idle;
}

/* Notifies plugins whose PreFilter has read state of a change between Filter and PostFilter. */
static void note_change(const struct bt_engine *engine, enum bt_state_change change)
{
	struct bt_plan *plan = engine->post.cycle.plan;

	for (uint32_t u = 0; plan->reads_state && !plan->refusal && u < plan->profile->use_n; u++) {
		if (plan->profile->uses[u].plugin->state_changes) {
			plan->profile->uses[u].plugin->state_changes(
				&plan->compiled[u], &engine->cache->view, change);
		}
	}
}

/* Unfreezes nodes after PostFilter, and applies the updates that they missed. */
static void thaw(struct bt_engine *engine)
{
	struct bt_post_filter *post = &engine->post;

	if (bt_volumes_is_retaining(engine->cache->volumes)) {
		bt_volumes_end_retaining(engine->cache->volumes);
	}
	if (!post->frozen) {
		BT_INVARIANT(post->missed_n == 0);
		return;
	}
	post->frozen = false;
	bt_snapshot_thaw(engine->cache->snapshot);
	for (size_t i = 0; i < post->missed_n; i++) {
		bt_cache_adopt_node(engine->cache, &post->missed[i]);
		bt_kept_events_release(&engine->kept_events, post->missed[i].old);
	}
	post->missed_n = 0;
	bt_ledger_thaw(engine->cache->ledger);
}

/* Runs PostFilter. If texts are enabled it runs even when its outcome is known. */
static void run_post_filter(struct bt_engine *engine)
{
	struct bt_post_filter *post = &engine->post;
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, post->cycle.pod_ix);
	const struct bt_engine_versions now = bt_engine_state(engine);
	bool same = memcmp(&post->when, &now, sizeof(now)) == 0;

	BT_INVARIANT(post->due && !post->ran && post->cycle.plan);
	post->cycle.pod = pod;
	post->due = false;
	post->ran = true;
	if (!same) {
		bt_engine_nominations_again(engine, &post->cycle);
		note_change(engine, BT_STATE_HAS_CHANGED);
	}
	if (engine->options.texts) {
		preempt(engine, NULL);
		is_known(engine, pod, same);
	} else if (!is_known(engine, pod, same)) {
		preempt(engine, same ? notes_for(engine, &post->cycle) : NULL);
	}
	/* Otherwise the plugins refused the pod in another state than the outcome's. */
	if (same && post->outcome != BT_PREEMPT_FOUND && pod->signature == post->cycle.plan->signature &&
		!bt_engine_is_uncacheable(engine, &post->cycle)) {
		*bt_known_unresolvables_of(&post->known_kinds, bt_queue_kind_key(bt_engine_kind_of(pod))) =
			(struct bt_known_unresolvable){now, post->unschedulable_plugins, post->outcome};
	}
	thaw(engine);
	BT_INVARIANT(!post->frozen && post->missed_n == 0);
}

BT_NOINLINE void bt_engine_post_filter_before(struct bt_engine *engine, uint32_t changes)
{
	struct bt_post_filter *post = &engine->post;

	BT_REQUIRE(post->due);
	list_nodes(engine);
	if (changes & BT_CHANGE_OF_DEVICES) {
		note_change(engine, BT_DEVICES_WILL_CHANGE);
	}
	if ((changes & BT_CHANGE_OF_VOLUMES) && !bt_volumes_is_retaining(engine->cache->volumes)) {
		note_change(engine, BT_VOLUMES_WILL_CHANGE);
		bt_volumes_retain(engine->cache->volumes);
	}
	if ((changes & BT_CHANGE_OF_NODES) && !post->frozen) {
		post->frozen = true;
		bt_snapshot_freeze(engine->cache->snapshot);
		bt_ledger_freeze(engine->cache->ledger);
	}
	BT_INVARIANT(post->listed && post->frozen == bt_ledger_is_frozen(engine->cache->ledger));
}

void bt_engine_adopt_node(struct bt_engine *engine, struct bt_delta *delta)
{
	struct bt_post_filter *post = &engine->post;

	BT_INVARIANT(post->frozen == bt_ledger_is_frozen(engine->cache->ledger));
	if (post->frozen) {
		bt_ingest_give_slots(engine->cache, delta);
		post->missed =
			bt_mem_grow(post->missed, post->missed_n, &post->missed_cap, sizeof(*post->missed));
		post->missed[post->missed_n++] = delta->node;
	} else {
		bt_ingest_adopt(engine->cache, delta);
		bt_kept_events_release(&engine->kept_events, delta->node.old);
	}
	delta->node.old = NULL;
}

void bt_engine_run_post_filter(struct bt_engine *engine, struct bt_decision *decision)
{
	const struct bt_post_filter *post = &engine->post;

	BT_REQUIRE(!post->due || post->cycle.pod_ix == decision->pod_ix);
	if (post->due) {
		run_post_filter(engine);
	}
	if (!post->ran || decision->outcome != BT_REFUSED) {
		return;
	}
	decision->preempt = post->outcome;
	decision->release = post->release;
	if (post->outcome == BT_PREEMPT_FOUND) {
		decision->nominated_ix = engine->post.preemption.node_ix;
		decision->victims = engine->post.preemption.victims;
		decision->victim_n = engine->post.preemption.victim_n;
	}
}

enum bt_preempt_outcome bt_engine_try_post_filter(
	struct bt_engine *engine, uint32_t pod_ix, struct bt_preemption *preemption)
{
	struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);
	struct bt_preempt_notes *notes = NULL;
	struct bt_claim_release unused;
	struct bt_buf unused_text = {0};
	enum bt_preempt_outcome outcome;

	BT_REQUIRE(!engine->post.due && cycle.runtime);
	if (bt_node_list_n(&engine->nodes) == 0 ||
		(bt_pod_groups_whole(&engine->groups) && bt_engine_in_group(engine, pod_ix))) {
		return BT_PREEMPT_INELIGIBLE;
	}
	cycle.plan = bt_planner_plan(cycle.runtime->planner, cycle.signature);
	if (preemption_is_idle(engine, cycle.runtime, cycle.plan, cycle.pod, &outcome)) {
		return outcome;
	}
	/* Notes are of all nodes. */
	if (!bt_node_list_part(&engine->nodes)) {
		notes = notes_for(engine, &cycle);
	}
	if (!notes) {
		bt_engine_evaluate_once(engine, &cycle);
	}
	struct bt_preempt_request request = request_for(engine, &cycle, notes);
	request.explain = false;
	if (!notes) {
		bt_preempt_list(&request, preemption);
	}
	bt_engine_post_filter(cycle.runtime, &request, preemption, &unused, &unused_text);
	bt_buf_fini(&unused_text);
	return preemption->outcome;
}

struct bt_str bt_engine_post_filter_text(const struct bt_engine *engine)
{
	return bt_buf_view(&engine->post.text);
}

void bt_engine_post_filter_begin(struct bt_engine *engine)
{
	struct bt_post_filter *post = &engine->post;

	thaw(engine);
	post->due = post->ran = post->listed = post->known = false;
	post->release = (struct bt_claim_release){.what = BT_CLAIMS_NONE};
	bt_buf_clear(&post->text);
	bt_eviction_drop(&engine->eviction, engine->cache->ledger);
}

BT_NOINLINE void bt_engine_refuse(
	struct bt_engine *engine, const struct bt_cycle *cycle, struct bt_decision *decision)
{
	struct bt_post_filter *post = &engine->post;
	const struct bt_known_unresolvable *unresolvable = bt_known_unresolvables_of(
		&post->known_kinds, bt_queue_kind_key(bt_engine_kind_of(cycle->pod)));
	struct bt_preempt_notes *notes = NULL;

	BT_REQUIRE(!post->due && !post->ran && !post->frozen && cycle->plan);
	post->when = bt_engine_state(engine);
	post->cycle = *cycle;
	post->due = true;
	post->known = !cycle->runtime->profile.post_filter_always &&
		      !bt_engine_is_uncacheable(engine, cycle) &&
		      memcmp(&unresolvable->when, &post->when, sizeof(post->when)) == 0;
	post->known_outcome = unresolvable->preempt;
	if (post->known) {
		post->unschedulable_plugins = decision->unschedulable_plugins =
			unresolvable->unschedulable_plugins;
		return;
	}
	if (!is_known(engine, cycle->pod, true)) {
		notes = notes_for(engine, cycle);
	}
	if (!notes) {
		bt_engine_evaluate_once(engine, cycle);
	}
	const struct bt_preempt_request request = request_of(engine, notes);
	decision->unschedulable_plugins =
		bt_schedule_pod_evaluated(&engine->schedule) || cycle->plan->refusal
			? unschedulable_plugins_of(engine, cycle)
			: noted_unschedulable_plugins(cycle->runtime, &request, notes);
	post->unschedulable_plugins = decision->unschedulable_plugins;
}

void bt_engine_post_filter_fini(struct bt_engine *engine)
{
	struct bt_post_filter *post = &engine->post;

	thaw(engine);
	bt_preemption_fini(&post->preemption);
	bt_buf_fini(&post->text);
	bt_mem_free(post->missed);
	bt_post_filter_forget_slots(post);
	bt_known_unresolvables_fini(&post->known_kinds);
}

void bt_post_filter_forget_kinds(struct bt_post_filter *post)
{
	bt_known_unresolvables_forget(&post->known_kinds);
}

void bt_post_filter_forget_slots(struct bt_post_filter *post)
{
	for (uint32_t i = 0; i < BT_NOTES_N; i++) {
		bt_preempt_notes_fini(&post->notes[i]);
	}
}

int64_t bt_post_filter_took(struct bt_post_filter *post)
{
	int64_t took_ns = post->took_ns;

	post->took_ns = 0;
	return took_ns;
}

void bt_post_filter_count(const struct bt_post_filter *post, struct bt_engine_counts *counts)
{
	counts->preemption_n = post->preemption_n;
	counts->dry_run_n = post->dry_run_n;
}
