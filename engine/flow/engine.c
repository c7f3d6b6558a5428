/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 8 on one thread: pop, decide, assume, bind, confirm or forget (I1, I2, I5, I9, I10).
 */
#include "engine/flow/engine.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/flow/fit_error.h"
#include "engine/flow/profile.h"
#include "engine/score/counted.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/volume_binding/volume_binding.h"

/* Upstream samples at least this many nodes. */
#define SAMPLE_MIN 100

#define NOTES_N 16

struct lane {
	struct bt_flow_profile profile;
	struct bt_planner *planner;
};

/* What preemption depends on, besides the pod. */
struct state_of_things {
	uint64_t journal_end, snapshot, changes, budgets, counting;
};

/* Preemption helped no pod of that kind in that state. */
struct hopeless {
	struct state_of_things when;
};

struct bt_engine {
	struct bt_engine_options options;
	struct bt_arena arena; /* profiles' settings */
	struct bt_cache *cache;
	struct bt_queue *queue;
	struct lane *lanes; /* one per profile */
	uint32_t lane_n;
	uint32_t *live; /* live nodes, ascending, for live_version of the snapshot */
	uint32_t live_n;
	uint64_t live_version;
	uint32_t next_start; /* where sampling goes on, among nodes in upstream's order */
	uint64_t cycle_n;
	struct bt_evaluation evaluation;
	bool evaluated; /* in this cycle: the evaluation is the cycle's */
	struct bt_promises promises;
	uint32_t promises_for; /* the pod whose cycle it is */
	struct bt_preemption preemption;
	struct bt_preempt_notes notes[NOTES_N]; /* the one for a kind of pods is found by a hash */
	struct hopeless *hopeless; /* pods that need not try to preempt, by signature and priority */
	size_t hopeless_n, hopeless_cap;
	struct bt_map hopeless_ixs;
	struct bt_engine_counts counts;
};

static const uint32_t *label_column(void *context, uint32_t key)
{
	const struct bt_engine *engine = context;

	return bt_snapshot_label_column(engine->cache->snapshot, key);
}

static uint32_t find_node(void *context, uint32_t name)
{
	const struct bt_engine *engine = context;

	return bt_snapshot_find(engine->cache->snapshot, name);
}

/* Lets the pods that a node is promised to, and that the cycle's pod has to yield to, use it; or ends that.
 */
static bool shift_promised(struct bt_engine *engine, uint32_t node_ix, bool add)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	int32_t priority = bt_ledger_pod(ledger, engine->promises_for)->priority;
	uint32_t i = bt_ledger_first_nominated(ledger, node_ix);
	bool any = false;

	for (; i != BT_NO_POD; i = bt_ledger_next(ledger, i)) {
		if (i == engine->promises_for || bt_ledger_pod(ledger, i)->priority < priority) {
			continue;
		}
		if (add && !any) {
			bt_ledger_try_begin(ledger, node_ix);
		}
		bt_ledger_try(ledger, i, node_ix, add);
		any = true;
	}
	return any;
}

static bool put_promised(void *context, uint32_t node_ix)
{
	return shift_promised(context, node_ix, true);
}

static void take_promised(void *context, uint32_t node_ix)
{
	struct bt_engine *engine = context;

	shift_promised(engine, node_ix, false);
	bt_ledger_try_end(engine->cache->ledger, node_ix);
}

/* Begins a pod's cycle. Returns the promises that matter in it, or NULL. */
static const struct bt_promises *promises_of(struct bt_engine *engine, uint32_t pod_ix)
{
	engine->promises_for = pod_ix;
	return bt_ledger_may_yield(engine->cache->ledger, pod_ix) ? &engine->promises : NULL;
}

static enum bt_status make_lanes(
	struct bt_engine *engine, const struct bt_config *config, struct bt_config_errors *errors)
{
	const struct bt_planner_env env = {
		.dictionary = engine->cache->dictionary,
		.view = &engine->cache->view,
		.label_column = label_column,
		.find_node = find_node,
		.context = engine,
		.memory_bytes = engine->options.plan_memory_bytes ? engine->options.plan_memory_bytes
								  : BT_ENGINE_PLAN_MEMORY,
	};
	/* Too large for the stack, and only needed while the lanes are made. */
	struct bt_resolved_profile *resolved = bt_mem_zalloc(1, sizeof(*resolved));
	enum bt_status status = BT_OK;

	engine->lanes = bt_mem_zalloc(config->profile_n, sizeof(*engine->lanes));
	for (uint32_t i = 0; i < config->profile_n && status == BT_OK; i++) {
		struct lane *lane = &engine->lanes[i];

		status = bt_config_resolve(config, i, errors, resolved);
		if (status == BT_OK) {
			bt_flow_profile_init(&lane->profile, resolved, &config->gates,
				engine->cache->dictionary, &engine->arena);
			lane->planner = bt_planner_create(&lane->profile.plugins, &env);
			engine->lane_n++;
		}
	}
	bt_mem_free(resolved);
	return status;
}

struct bt_engine *bt_engine_create(const struct bt_config *config, const struct bt_engine_options *options,
	struct bt_config_errors *errors)
{
	struct bt_engine *engine = bt_mem_zalloc(1, sizeof(*engine));

	engine->options = *options;
	engine->cache = bt_cache_create();
	engine->queue = bt_queue_create();
	engine->promises = (struct bt_promises){put_promised, take_promised, engine};
	if (bt_config_check_profiles(config, errors) != BT_OK ||
		make_lanes(engine, config, errors) != BT_OK) {
		bt_engine_destroy(engine);
		return NULL;
	}
	return engine;
}

void bt_engine_destroy(struct bt_engine *engine)
{
	if (!engine) {
		return;
	}
	for (uint32_t i = 0; i < engine->lane_n; i++) {
		bt_planner_destroy(engine->lanes[i].planner);
	}
	bt_evaluation_fini(&engine->evaluation);
	bt_preemption_fini(&engine->preemption);
	for (int i = 0; i < NOTES_N; i++) {
		bt_preempt_notes_fini(&engine->notes[i]);
	}
	bt_map_fini(&engine->hopeless_ixs);
	bt_mem_free(engine->hopeless);
	bt_queue_destroy(engine->queue);
	bt_cache_destroy(engine->cache);
	bt_mem_free(engine->lanes);
	bt_mem_free(engine->live);
	bt_arena_fini(&engine->arena);
	bt_mem_free(engine);
}

struct bt_cache *bt_engine_cache(struct bt_engine *engine)
{
	return engine->cache;
}

static struct lane *lane_of(const struct bt_engine *engine, uint32_t scheduler_name)
{
	for (uint32_t i = 0; i < engine->lane_n; i++) {
		if (engine->lanes[i].profile.plugins.name == scheduler_name) {
			return &engine->lanes[i];
		}
	}
	return NULL;
}

static struct lane *lane_of_pod(const struct bt_engine *engine, uint32_t pod_ix)
{
	return lane_of(engine, bt_ledger_pod(engine->cache->ledger, pod_ix)->signature->scheduler_name);
}

/* ---- events ---- */

enum bt_status bt_engine_apply_node(
	struct bt_engine *engine, const struct bt_node_object *object, uint32_t *out_node_ix)
{
	enum bt_status status = bt_ingest_node(engine->cache, object, out_node_ix);

	bt_queue_move_all(engine->queue);
	return status;
}

void bt_engine_apply_namespace(struct bt_engine *engine, const struct bt_namespace_object *object)
{
	bt_ingest_namespace(engine->cache, object);
}

void bt_engine_apply_service(struct bt_engine *engine, const struct bt_service_object *object)
{
	bt_ingest_service(engine->cache, object);
}

void bt_engine_apply_controller(
	struct bt_engine *engine, enum bt_kind kind, const struct bt_workload_object *object)
{
	bt_ingest_controller(engine->cache, kind, object);
}

void bt_engine_apply_budget(struct bt_engine *engine, const struct bt_pdb_object *object)
{
	bt_ingest_budget(engine->cache, object);
}

enum bt_status bt_engine_delete_object(
	struct bt_engine *engine, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	return bt_ingest_delete(engine->cache, kind, namespace_, name);
}

void bt_engine_apply_storage(struct bt_engine *engine, const struct bt_object *object)
{
	if (bt_volumes_has_kind(object->kind)) {
		bt_ingest_storage(engine->cache, object);
		bt_queue_move_all(engine->queue);
	}
}

static bool foreign(const struct bt_engine *engine, const struct bt_pod_object *object)
{
	return !lane_of(
		engine, bt_intern_find(engine->cache->dictionary->intern, object->spec.scheduler_name));
}

enum bt_status bt_engine_add_pod(struct bt_engine *engine, const struct bt_pod_object *object,
	enum bt_entry *out_entry, uint32_t *out_pod_ix)
{
	bool waits = object->spec.node_name.len == 0;

	*out_pod_ix = BT_NO_POD;
	if (waits && foreign(engine, object)) {
		*out_entry = BT_ENTERED_FOREIGN;
		return BT_OK;
	}
	if (waits && object->meta.deletion_ns) {
		*out_entry = BT_ENTERED_DELETING;
		return BT_OK;
	}
	enum bt_status status = bt_ingest_pod(engine->cache, object, out_pod_ix);
	if (status != BT_OK) {
		return status;
	}
	if (*out_pod_ix == BT_NO_POD) {
		*out_entry = BT_ENTERED_ENDED;
		return BT_OK;
	}
	if (!waits) {
		*out_entry = BT_ENTERED_SCHEDULED;
		return BT_OK;
	}
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, *out_pod_ix);
	bool gated = pod->gates && lane_of_pod(engine, *out_pod_ix)->profile.gates_checked;
	int64_t since_ns = pod->creation_ns;
	if (!since_ns && engine->options.clock.now_ns) {
		since_ns = bt_clock_now_ns(&engine->options.clock);
	}
	bt_queue_push(
		engine->queue, *out_pod_ix, pod->priority, since_ns, gated ? BT_WAIT_GATED : BT_WAIT_ACTIVE);
	*out_entry = gated ? BT_ENTERED_GATED : BT_ENTERED_QUEUE;
	/* A promise to a pod that is kept out of the queue does not count. */
	if (!gated) {
		bt_ingest_nomination(engine->cache, *out_pod_ix, object->nominated_node_name);
	}
	return BT_OK;
}

void bt_engine_evict(struct bt_engine *engine, uint32_t pod_ix)
{
	bt_ledger_set_preempted(engine->cache->ledger, pod_ix);
}

void bt_engine_remove_pod(struct bt_engine *engine, uint32_t pod_ix)
{
	bool used = bt_ledger_pod(engine->cache->ledger, pod_ix)->state != BT_POD_QUEUED;

	/* A pod that is in its cycle or refused for good waits nowhere. */
	bt_queue_remove(engine->queue, pod_ix);
	bt_volumes_revert(engine->cache->volumes, pod_ix);
	bt_ledger_remove(engine->cache->ledger, pod_ix);
	if (used) {
		bt_queue_move_all(engine->queue);
	}
}

/* ---- the cycle ---- */

static void list_live(struct bt_engine *engine)
{
	const struct bt_snapshot *snapshot = engine->cache->view.snapshot;

	if (engine->live && engine->live_version == snapshot->version) {
		return;
	}
	engine->live = bt_mem_realloc(engine->live, snapshot->node_n, sizeof(*engine->live));
	engine->live_n = 0;
	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		if (bt_bitmap_test(snapshot->live, i)) {
			engine->live[engine->live_n++] = i;
		}
	}
	engine->live_version = snapshot->version;
}

/* How many feasible nodes are enough. Source: numFeasibleNodesToFind, v1.36.3, for a percentage that was
 * given. */
static uint32_t sample_limit(const struct bt_flow_profile *profile, uint32_t node_n)
{
	int32_t percentage = profile->percentage_of_nodes_to_score;

	if (percentage == 0 || percentage >= 100 || node_n < SAMPLE_MIN) {
		return UINT32_MAX;
	}
	uint32_t n = (uint32_t)((uint64_t)node_n * (uint32_t)percentage / 100);
	n = n < SAMPLE_MIN ? SAMPLE_MIN : n;
	return profile->plugins.score_n == 0 ? 1 : n;
}

/* Evaluates a sample: nodes from where the last sample ended, in upstream's order, until enough are feasible.
 */
static void evaluate_sample(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t limit, struct bt_evaluation *out)
{
	uint32_t node_n = plan->narrowed ? plan->candidate_n : engine->live_n;
	const uint32_t *order =
		plan->narrowed ? plan->candidates : bt_snapshot_order(engine->cache->snapshot);
	uint32_t *turned = bt_mem_realloc(NULL, node_n, sizeof(*turned));

	for (uint32_t i = 0; i < node_n; i++) {
		turned[i] = order[(engine->next_start + i) % node_n];
	}
	bt_evaluate(plan, &engine->cache->view, turned, node_n, limit, out);
	engine->next_start = (engine->next_start + out->visited_n) % engine->live_n;
	bt_mem_free(turned);
}

static void evaluate_all(struct bt_engine *engine, const struct bt_plan *plan, struct bt_evaluation *out)
{
	const uint32_t *nodes = plan->narrowed ? plan->candidates : engine->live;
	uint32_t node_n = plan->narrowed ? plan->candidate_n : engine->live_n;

	bt_evaluate(plan, &engine->cache->view, nodes, node_n, UINT32_MAX, out);
}

/* The same, visiting in upstream's order: a cycle that ends in an error shows the nodes that were refused
 * before. */
static void evaluate_in_order(struct bt_engine *engine, const struct bt_plan *plan, struct bt_evaluation *out)
{
	if (plan->narrowed) {
		evaluate_all(engine, plan, out);
		return;
	}
	bt_evaluate(plan, &engine->cache->view, bt_snapshot_order(engine->cache->snapshot), engine->live_n,
		UINT32_MAX, out);
}

/* Where the search for equals begins in this cycle. */
static uint32_t tie_start(const struct bt_engine *engine)
{
	return bt_rng_scale(
		bt_rng_at(engine->options.seed, engine->cycle_n), engine->cache->view.snapshot->slot_n);
}

/* Looks at the node alone that the pod was promised. Returns whether it fits. Source: evaluateNominatedNode,
 * v1.36.3. */
static bool evaluate_promised(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t pod_ix, struct bt_evaluation *out)
{
	const struct bt_snapshot *snapshot = engine->cache->view.snapshot;
	uint32_t node_ix = bt_ledger_pod(engine->cache->ledger, pod_ix)->nominated_ix;

	if (node_ix == BT_NO_NODE || !bt_bitmap_test(snapshot->live, node_ix)) {
		return false;
	}
	bt_evaluate(plan, &engine->cache->view, &node_ix, 1, UINT32_MAX, out);
	return out->feasible_n == 1;
}

/* Columns know nothing of promises and of samples. */
static bool columns_decide(const struct bt_engine *engine, const struct bt_plan *plan,
	const struct bt_promises *promises, uint32_t limit)
{
	return !promises && limit == UINT32_MAX && !plan->narrowed && !engine->options.evaluate_always;
}

static uint32_t choose_by_evaluation(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t limit, enum bt_outcome *out_outcome)
{
	engine->counts.by_evaluation_n++;
	engine->evaluated = true;
	if (limit == UINT32_MAX) {
		evaluate_all(engine, plan, &engine->evaluation);
	} else {
		evaluate_sample(engine, plan, limit, &engine->evaluation);
	}
	if (engine->evaluation.error && engine->evaluation.feasible_n != 1) {
		*out_outcome = BT_FAILED;
		return BT_NO_NODE;
	}
	if (engine->evaluation.feasible_n == 0) {
		return BT_NO_NODE;
	}
	/* A single feasible node is taken without being scored. */
	return engine->evaluation.feasible[bt_evaluation_best(&engine->evaluation, tie_start(engine))];
}

/* The node for a pod, or BT_NO_NODE with the outcome that says why not. */
static uint32_t choose(struct bt_engine *engine, const struct lane *lane, struct bt_plan *plan,
	uint32_t pod_ix, enum bt_outcome *out_outcome)
{
	uint32_t limit = sample_limit(&lane->profile, engine->live_n), node_ix;
	const struct bt_promises *promises = promises_of(engine, pod_ix);

	*out_outcome = BT_REFUSED;
	engine->evaluated = false;
	engine->evaluation.promises = promises;
	bool idle = bt_prepare(plan, &engine->cache->view);
	if (plan->refusal) {
		return BT_NO_NODE;
	}
	if (plan->pre_filter_error) {
		*out_outcome = BT_FAILED;
		return BT_NO_NODE;
	}
	if (evaluate_promised(engine, plan, pod_ix, &engine->evaluation)) {
		engine->counts.by_evaluation_n++;
		return engine->evaluation.feasible[0];
	}
	if (columns_decide(engine, plan, promises, limit) &&
		(idle ? bt_plan_pick : bt_counted_pick)(
			plan, &engine->cache->view, tie_start(engine), &node_ix)) {
		engine->counts.by_columns_n++;
		return node_ix;
	}
	return choose_by_evaluation(engine, plan, limit, out_outcome);
}

uint32_t bt_engine_pop(struct bt_engine *engine)
{
	uint32_t pod_ix = bt_queue_pop(engine->queue);

	return pod_ix == BT_QUEUE_EMPTY ? BT_NO_POD : pod_ix;
}

enum bt_status bt_engine_take(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	if (pod->gates && lane_of_pod(engine, pod_ix)->profile.gates_checked) {
		return BT_NOT_FOUND;
	}
	return bt_queue_remove(engine->queue, pod_ix);
}

/* ---- PostFilter ---- */

/* Did DynamicResources run its PreFilter? Its PostFilter fails with "not found" when not. */
static bool claims_state_missing(const struct lane *lane, const struct bt_plan *plan)
{
	uint32_t ran = lane->profile.plugins.pre_filter_n;

	for (uint32_t i = 0; plan->refusal && i < lane->profile.plugins.pre_filter_n; i++) {
		if (lane->profile.plugins.pre_filter[i] == plan->refused_by) {
			ran = i;
		}
	}
	return lane->profile.dra_pre_filter_after > ran;
}

/*
 * Runs what the profile has at PostFilter; by notes when there are some, and then without texts. Sets
 * preemption->outcome, and in text (if the request wants texts) what the plugins say together. Source:
 * RunPostFilterPlugins, v1.36.3.
 */
static void post_filter(const struct lane *lane, const struct bt_preempt_request *request,
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
			bt_buf_text(text, "no new claims to deallocate");
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

static struct state_of_things state_now(const struct bt_engine *engine)
{
	const struct bt_view *view = &engine->cache->view;

	return (struct state_of_things){view->usage->journal_end, view->snapshot->version,
		bt_ledger_change_n(engine->cache->ledger), engine->cache->budgets.version,
		view->counting->version};
}

/* The record of pods of that signature and priority that have no promise of their own. */
static struct hopeless *hopeless_of(struct bt_engine *engine, const struct bt_pod *pod)
{
	uint64_t key = ((uint64_t)pod->signature->ix << 32 | (uint32_t)pod->priority) + 1;
	uint32_t ix;

	if (!bt_map_get(&engine->hopeless_ixs, key, &ix)) {
		engine->hopeless = bt_mem_grow(engine->hopeless, engine->hopeless_n, &engine->hopeless_cap,
			sizeof(*engine->hopeless));
		ix = (uint32_t)engine->hopeless_n++;
		engine->hopeless[ix] = (struct hopeless){.when.snapshot = UINT64_MAX};
		bt_map_put(&engine->hopeless_ixs, key, ix);
	}
	return &engine->hopeless[ix];
}

/* Is it known, without looking at a node, that preemption will not help and that there is no promise to
 * decide on? */
static bool preemption_is_idle(struct bt_engine *engine, const struct lane *lane, const struct bt_plan *plan,
	const struct bt_pod *pod)
{
	if (pod->nominated_ix != BT_NO_NODE) {
		return false;
	}
	if (plan->refusal || pod->never_preempts || lane->profile.post_filter_n == 0 ||
		pod->priority <= bt_ledger_lowest_priority(engine->cache->ledger)) {
		return true;
	}
	const struct state_of_things now = state_now(engine);
	return memcmp(&hopeless_of(engine, pod)->when, &now, sizeof(now)) == 0;
}

/* Lower pods that were promised the node have to look for another one. */
static void take_promises_back(struct bt_engine *engine, uint32_t node_ix, int32_t priority)
{
	struct bt_ledger *ledger = engine->cache->ledger;

	for (uint32_t next, i = bt_ledger_first_nominated(ledger, node_ix); i != BT_NO_POD; i = next) {
		next = bt_ledger_next(ledger, i);
		if (bt_ledger_pod(ledger, i)->priority < priority) {
			bt_ledger_nominate(ledger, i, BT_NO_NODE);
		}
	}
}

static void promise(struct bt_engine *engine, struct bt_decision *decision)
{
	const struct bt_preemption *preemption = &engine->preemption;
	struct bt_ledger *ledger = engine->cache->ledger;

	decision->nominated_ix = preemption->node_ix;
	decision->victims = preemption->victims;
	decision->victim_n = preemption->victim_n;
	take_promises_back(engine, preemption->node_ix, bt_ledger_pod(ledger, decision->pod_ix)->priority);
	bt_ledger_nominate(ledger, decision->pod_ix, preemption->node_ix);
	engine->counts.preemption_n++;
}

/* The notes that tell where pods of a kind can preempt, or NULL when all nodes have to be looked at. */
static struct bt_preempt_notes *notes_for(
	struct bt_engine *engine, const struct bt_plan *plan, const struct bt_pod *pod)
{
	if (engine->options.evaluate_always || pod->nominated_ix != BT_NO_NODE || !bt_preempt_notable(plan)) {
		return NULL;
	}
	uint64_t hash = bt_hash_u64((uint64_t)pod->signature->ix << 32 | (uint32_t)pod->priority);
	return &engine->notes[hash % NOTES_N];
}

/* After a refusal or failure: preempts if that helps, and settles what becomes of the pod's promise. plan is
 * NULL without nodes. */
static void preempt(struct bt_engine *engine, const struct lane *lane, const struct bt_plan *plan,
	struct bt_decision *decision)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, decision->pod_ix);

	if (!plan || decision->outcome != BT_REFUSED || lane->profile.post_filter_n == 0) {
		bt_ledger_nominate(ledger, decision->pod_ix, BT_NO_NODE);
		return;
	}
	if (preemption_is_idle(engine, lane, plan, pod)) {
		return;
	}
	struct bt_preempt_notes *notes = notes_for(engine, plan, pod);
	if (!notes && !engine->evaluated && !plan->refusal) {
		evaluate_all(engine, plan, &engine->evaluation);
	}
	const struct bt_preempt_request request = {
		.settings = &lane->profile.preemption,
		.cache = engine->cache,
		.pod_ix = decision->pod_ix,
		.plan = plan,
		.evaluation = plan->refusal ? NULL : &engine->evaluation,
		.random = bt_rng_at(~engine->options.seed, engine->cycle_n),
	};
	struct bt_buf unused = {0};
	post_filter(lane, &request, notes, &engine->preemption, &unused);
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

static uint32_t missing_of(const struct lane *lane, const struct bt_signature *signature)
{
	return signature->needs & lane->profile.needs_missing;
}

static void set_aside(struct bt_engine *engine, uint32_t pod_ix, enum bt_outcome outcome)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	bt_queue_push(engine->queue, pod_ix, pod->priority, pod->creation_ns, BT_WAIT_UNSCHEDULABLE);
	engine->counts.refused_n += outcome == BT_REFUSED;
	engine->counts.failed_n += outcome == BT_FAILED;
}

/* Reserve: the claims of the pod get what was found for them on its node. */
static void assume_volumes(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	const struct bt_view *view = &engine->cache->view;
	const struct bt_volume_binding *bindings = NULL;

	for (uint32_t u = 0; plan->signature->volume_n && u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];

		if (use->plugin == &bt_plugin_volume_binding && use->filter && use->reserve) {
			uint32_t n = bt_volume_binding_choose(&plan->compiled[u], view, node_ix, &bindings);

			bt_volumes_assume(engine->cache->volumes, pod_ix, view->snapshot->nodes[node_ix].name,
				bindings, n);
		}
	}
}

void bt_engine_decide(struct bt_engine *engine, uint32_t pod_ix, struct bt_decision *out_decision)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_signature *signature = bt_ledger_pod(ledger, pod_ix)->signature;
	struct lane *lane = lane_of_pod(engine, pod_ix);

	BT_REQUIRE(lane);
	engine->cycle_n++;
	list_live(engine);
	*out_decision = (struct bt_decision){
		.pod_ix = pod_ix, .outcome = BT_REFUSED, .node_ix = BT_NO_NODE, .nominated_ix = BT_NO_NODE};
	if (missing_of(lane, signature)) {
		out_decision->outcome = BT_UNDECIDED;
		engine->counts.undecided_n++;
		return;
	}
	struct bt_plan *plan = NULL;
	if (engine->live_n) {
		plan = bt_planner_plan(lane->planner, signature);
		out_decision->node_ix = choose(engine, lane, plan, pod_ix, &out_decision->outcome);
		if (out_decision->node_ix != BT_NO_NODE) {
			assume_volumes(engine, plan, pod_ix, out_decision->node_ix);
		}
	}
	if (out_decision->node_ix == BT_NO_NODE) {
		preempt(engine, lane, plan, out_decision);
		set_aside(engine, pod_ix, out_decision->outcome);
		return;
	}
	out_decision->outcome = BT_PLACED;
	engine->counts.placed_n++;
	bt_ledger_assume(ledger, pod_ix, out_decision->node_ix);
	if (engine->options.binder.bind) {
		engine->options.binder.bind(
			engine->options.binder.context, engine, pod_ix, out_decision->node_ix);
	} else {
		bt_engine_bound(engine, pod_ix);
	}
}

void bt_engine_bound(struct bt_engine *engine, uint32_t pod_ix)
{
	bt_ledger_confirm(engine->cache->ledger, pod_ix);
	bt_volumes_keep(engine->cache->volumes, pod_ix);
}

void bt_engine_bind_failed(struct bt_engine *engine, uint32_t pod_ix)
{
	bt_ledger_forget(engine->cache->ledger, pod_ix);
	bt_volumes_revert(engine->cache->volumes, pod_ix);
	bt_queue_move_all(engine->queue);

	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	bt_queue_push(engine->queue, pod_ix, pod->priority, pod->creation_ns, BT_WAIT_ACTIVE);
}

/* ---- explanations ---- */

static void explain_gates(struct bt_engine *engine, const struct bt_pod *pod, struct bt_explanation *out)
{
	bt_buf_clear(&out->text);
	if (!bt_scheduling_gates_refuse(engine->cache->dictionary->intern, pod->gates, &out->text)) {
		return;
	}
	out->gated = true;
	out->refusal.plugin = "SchedulingGates";
	out->refusal.rejection.code = BT_UNSCHEDULABLE_AND_UNRESOLVABLE;
	out->refusal.text = out->text.ptr;
}

static void explain_cycle(struct bt_engine *engine, const struct lane *lane, struct bt_explanation *out)
{
	uint32_t pod_ix = out->pod_ix;
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	if (lane->profile.gates_checked) {
		explain_gates(engine, pod, out);
	}
	if (out->gated) {
		return;
	}
	if (engine->live_n == 0) {
		out->error = "no nodes available to schedule pods";
		return;
	}
	struct bt_plan *plan = bt_planner_plan(lane->planner, pod->signature);
	bt_prepare(plan, &engine->cache->view);
	out->plan = plan;
	out->narrowed = plan->narrowed;
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
	if (!evaluate_promised(engine, plan, pod_ix, &out->evaluation)) {
		evaluate_in_order(engine, plan, &out->evaluation);
	}
	out->error = out->evaluation.error;
}

static void explain_post_filter(struct bt_engine *engine, const struct lane *lane, struct bt_explanation *out)
{
	const struct bt_preempt_request request = {
		.settings = &lane->profile.preemption,
		.cache = engine->cache,
		.pod_ix = out->pod_ix,
		.plan = out->plan,
		.evaluation = out->refused ? NULL : &out->evaluation,
		.random = bt_rng_at(~engine->options.seed, engine->cycle_n),
		.explain = true,
	};

	bt_buf_clear(&out->post_text);
	post_filter(lane, &request, NULL, &out->preemption, &out->post_text);
	out->post_filtered = true;
	out->preempts = out->preemption.outcome == BT_PREEMPT_FOUND;
}

void bt_engine_explain(struct bt_engine *engine, uint32_t pod_ix, struct bt_explanation *out)
{
	const struct lane *lane = lane_of_pod(engine, pod_ix);

	BT_REQUIRE(lane);
	list_live(engine);
	out->pod_ix = pod_ix;
	out->plan = NULL;
	out->gated = out->refused = out->narrowed = out->post_filtered = out->preempts = false;
	out->error = NULL;
	out->evaluation.visited_n = out->evaluation.feasible_n = 0;
	out->evaluation.promises = promises_of(engine, pod_ix);
	explain_cycle(engine, lane, out);
	if (out->plan && !out->error && out->evaluation.feasible_n == 0) {
		explain_post_filter(engine, lane, out);
	}
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
	const struct bt_plugin *plugin = explanation->plan->profile->uses[use].plugin;
	out_refusal->plugin = plugin->name;
	out_refusal->text = NULL;
	engine->promises_for = explanation->pod_ix;
	bt_reject_node(explanation->plan, &engine->cache->view, explanation->evaluation.promises,
		explanation->evaluation.visited[visited], use, &out_refusal->rejection);
	BT_INVARIANT(out_refusal->rejection.n > 0);
}

static const struct bt_plugin *plugin_named(const struct bt_profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->use_n; i++) {
		if (profile->uses[i].plugin->name == name) {
			return profile->uses[i].plugin;
		}
	}
	return NULL;
}

/* Counts the reasons of all visited nodes, and one for the nodes that PreFilter left out. */
static void count_reasons(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_fit_error *error)
{
	const struct bt_evaluation *evaluation = &explanation->evaluation;
	struct bt_refusal refusal;
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		if (evaluation->refused_by[i] == BT_PASSED) {
			continue;
		}
		bt_explanation_refusal(engine, explanation, i, &refusal);
		for (uint32_t r = 0; r < refusal.rejection.n; r++) {
			bt_buf_clear(&text);
			plugin_named(explanation->plan->profile, refusal.plugin)
				->reason(engine->cache->dictionary, &refusal.rejection.reasons[r], &text);
			bt_fit_error_add(error, bt_buf_view(&text), 1);
		}
	}
	if (explanation->narrowed && evaluation->visited_n < engine->live_n) {
		bt_buf_clear(&text);
		bt_buf_printf(&text, "node(s) didn't satisfy plugin(s) [%s]",
			explanation->plan->profile->uses[explanation->plan->narrowed_by].plugin->name);
		bt_fit_error_add(error, bt_buf_view(&text), engine->live_n - evaluation->visited_n);
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
		bt_buf_printf(
			out_text, "0/%u nodes are available: %s.", engine->live_n, explanation->refusal.text);
	} else {
		count_reasons(engine, explanation, &error);
		bt_fit_error_text(&error, engine->live_n, out_text);
		bt_fit_error_fini(&error);
	}
	if (explanation->post_text.len) {
		bt_buf_char(out_text, ' ');
		bt_buf_str(out_text, bt_buf_view(&explanation->post_text));
	}
}

const char *bt_engine_missing(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
	uint32_t needs = missing_of(lane_of_pod(engine, pod_ix), signature);

	return needs ? "resource claims need the plugin DynamicResources, which berth does not have yet"
		     : NULL;
}

struct bt_engine_counts bt_engine_counts(const struct bt_engine *engine)
{
	struct bt_engine_counts counts = engine->counts;

	counts.cycle_n = engine->cycle_n;
	for (uint32_t i = 0; i < engine->lane_n; i++) {
		counts.plan_drop_n += bt_planner_drop_n(engine->lanes[i].planner);
	}
	counts.sets = bt_ledger_counts(engine->cache->ledger);
	counts.queue = bt_queue_counts(engine->queue);
	return counts;
}
