/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 8 on one thread: pop, decide, assume, bind, confirm or forget (I1, I2, I5, I9, I10).
 */
#include "engine/flow/cycle/engine_int.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/probe.h"
#include "engine/base/quote.h"

/* Saturates at INT64_MAX; upstream's numbers overflow. */
static int64_t backoff_ns(int64_t seconds)
{
	return seconds < INT64_MAX / BT_QUEUE_SECOND ? seconds * BT_QUEUE_SECOND : INT64_MAX;
}

static struct bt_queue *make_queue(struct bt_engine *engine, const struct bt_config *config)
{
	const struct bt_queue_options options = {
		.initial_backoff_ns = backoff_ns(config->pod_initial_backoff_s.value),
		.max_backoff_ns =
			engine->options.no_backoff ? 0 : backoff_ns(config->pod_max_backoff_s.value),
		.max_unschedulable_ns = BT_QUEUE_MAX_UNSCHEDULABLE,
		.flush_runs_pre_enqueue =
			bt_release_has(config->gates.release, BT_RULE_FLUSH_RUNS_PRE_ENQUEUE),
		.late_are_new = bt_release_has(config->gates.release, BT_RULE_POD_EVENTS_BY_KIND),
		.pop_from_backoff = config->gates.on[BT_GATE_SCHEDULER_POP_FROM_BACKOFF_Q],
		.hooks = bt_engine_hooks(engine),
		.observer = engine->options.observer,
	};

	return bt_queue_create(&options);
}

/* Source: AllocatorFeatures, v1.36.3. */
static void configure_devices(struct bt_engine *engine, const struct bt_gates *gates)
{
	const struct bt_device_judge *judge = NULL;
	const struct bt_device_features features = {
		.admin_access = gates->on[BT_GATE_DRA_ADMIN_ACCESS],
		.prioritized_list = gates->on[BT_GATE_DRA_PRIORITIZED_LIST],
		.partitionable = gates->on[BT_GATE_DRA_PARTITIONABLE_DEVICES],
		.taints = gates->on[BT_GATE_DRA_DEVICE_TAINTS],
		.taint_rules = gates->on[BT_GATE_DRA_DEVICE_TAINT_RULES],
		.binding_conditions = gates->on[BT_GATE_DRA_DEVICE_BINDING_CONDITIONS] &&
				      gates->on[BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS],
		.consumable_capacity = gates->on[BT_GATE_DRA_CONSUMABLE_CAPACITY],
		.extended_resources = gates->on[BT_GATE_DRA_EXTENDED_RESOURCE],
		.list_attributes = gates->on[BT_GATE_DRA_LIST_TYPE_ATTRIBUTES],
		.optional_operations = gates->on[BT_GATE_DRA_OPTIONAL_NODE_OPERATIONS],
		.compatibility_groups = gates->on[BT_GATE_DRA_DEVICE_COMPATIBILITY_GROUPS],
		.fractional_ranges = gates->on[BT_GATE_DRA_FRACTIONAL_CAPACITY_RANGE],
		.derived_attributes = gates->on[BT_GATE_DRA_DERIVED_ATTRIBUTES],
		.node_allocatable = gates->on[BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES],
		.lists_match = gates->on[BT_GATE_DRA_LIST_TYPE_ATTRIBUTES] &&
			       bt_release_has(gates->release, BT_RULE_LISTS_MATCH_AS_SETS),
		.group_claims = gates->on[BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS],
		.release = gates->release,
	};

	for (uint32_t id = 0; id < bt_plugin_n() && !judge; id++) {
		judge = bt_plugin_at(id)->devices;
	}
	bt_devices_configure(engine->cache->devices, &features, judge);
}

/* Do the claims of a node depend on its single pods? */
static bool claims_are_pods(const struct bt_gates *gates)
{
	return gates->on[BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES] &&
	       bt_release_has(gates->release, BT_RULE_DEVICES_MAP_ALONE);
}

struct bt_engine *bt_engine_create(const struct bt_config *config, const struct bt_engine_options *options,
	struct bt_config_errors *errors)
{
	struct bt_engine *engine = bt_mem_zalloc(1, sizeof(*engine));

	engine->options = *options;
	bt_prefetch_init(&engine->prefetch, options->always_prefetch);
	engine->cache = bt_cache_create();
	bt_signatures_configure(engine->cache->signatures, config->gates.release, config->gates.on);
	engine->queue = make_queue(engine, config);
	bt_kept_events_init(&engine->kept_events, engine->queue, engine->cache->dictionary->intern);
	bt_eviction_init(&engine->eviction, config->gates.on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION]);
	bt_pod_groups_init(&engine->groups, engine->cache->dictionary->intern, &config->gates);
	bt_scheduling_clock_init(&engine->clock, &options->clock);
	engine->extend = bt_extender_calls_create(config, engine->cache, &options->extending);
	engine->metrics = options->stages ? bt_cycle_metrics_create() : NULL;
	bt_schedule_pod_init(&engine->schedule, config->extender_n > 0);
	bt_nominated_pods_init(&engine->nominated, engine->cache, engine->queue, config->gates.release);
	bt_late_nominations_init(&engine->late, &config->gates);
	configure_devices(engine, &config->gates);
	bt_volumes_configure(engine->cache->volumes, config->gates.release);
	bt_batch_set_team(&engine->batch, options->team, options->batch ? options->batch : BT_ENGINE_BATCH,
		options->always_share);
	if (bt_config_check_profiles(config, errors) != BT_OK ||
		bt_profile_runtimes_init(&engine->runtimes, config, options->sampling, engine->cache,
			options->plan_memory_bytes ? options->plan_memory_bytes : BT_ENGINE_PLAN_MEMORY,
			errors) != BT_OK) {
		bt_engine_destroy(engine);
		return NULL;
	}
	if (bt_profile_runtimes_see_pods(&engine->runtimes) || claims_are_pods(&config->gates)) {
		bt_nominated_pods_attach(&engine->nominated);
	}
	bt_reserved_init(&engine->reserved, engine->cache,
		bt_profile_runtimes_reserve_always(&engine->runtimes), options->releaser.release != NULL);
	return engine;
}

void bt_engine_each_owner(struct bt_engine *engine, void (*act)(struct bt_owner *owner))
{
	act(bt_ledger_owner(engine->cache->ledger));
	act(bt_snapshot_owner(engine->cache->snapshot));
	act(bt_signatures_owner(engine->cache->signatures));
	act(bt_queue_owner(engine->queue));
}

void bt_engine_destroy(struct bt_engine *engine)
{
	if (!engine) {
		return;
	}
	while (bt_transaction_depth(engine)) {
		bt_transaction_roll_back(engine);
	}
	bt_profile_runtimes_fini(&engine->runtimes);
	bt_extender_calls_destroy(engine->extend);
	bt_cycle_metrics_destroy(engine->metrics);
	bt_schedule_pod_fini(&engine->schedule);
	bt_engine_post_filter_fini(engine);
	bt_transactions_fini(&engine->transactions);
	bt_pod_groups_fini(&engine->groups);
	bt_group_cycle_fini(&engine->group_cycle);
	bt_reserved_fini(&engine->reserved);
	bt_waiting_pods_fini(&engine->waiting);
	bt_kept_events_fini(&engine->kept_events);
	bt_queue_destroy(engine->queue);
	bt_cache_destroy(engine->cache);
	bt_node_list_fini(&engine->nodes);
	bt_eviction_fini(&engine->eviction);
	bt_batch_fini(&engine->batch);
	bt_mem_free(engine);
}

struct bt_cache *bt_engine_cache(struct bt_engine *engine)
{
	return engine->cache;
}

const struct bt_release *bt_engine_kubernetes(const struct bt_engine *engine)
{
	return bt_profile_runtimes_at(&engine->runtimes, 0)->profile.release;
}

struct bt_queue *bt_engine_queue(struct bt_engine *engine)
{
	return engine->queue;
}

const struct bt_cycle_metrics *bt_engine_metrics(const struct bt_engine *engine)
{
	return engine->metrics;
}

int64_t bt_engine_took_ns(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_engine_in_group(engine, pod_ix) || !engine->metrics
		       ? 0
		       : bt_cycle_metrics_took_ns(engine->metrics);
}

void bt_engine_note_bind(struct bt_engine *engine, uint32_t pod_ix, bool yes, int64_t took_ns)
{
	const struct bt_profile_runtime *runtime = bt_engine_runtime_of(engine, pod_ix);
	const uint16_t labels[4] = {BT_CYCLE_METRIC_BIND,
		yes ? BT_CYCLE_METRIC_SUCCESS : BT_CYCLE_METRIC_ERROR,
		runtime ? bt_profile_runtimes_ix(&engine->runtimes, runtime) : 0};
	const uint16_t alone[4] = {labels[0], labels[1]};

	BT_REQUIRE_HOT(engine->metrics);
	if (runtime) {
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_POINT, labels, took_ns);
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_PLUGIN, alone, took_ns);
	}
}

void bt_engine_note_eviction(
	struct bt_engine *engine, enum bt_cycle_metric_preemptor preemptor, bool yes, int64_t took_ns)
{
	const uint16_t labels[4] = {yes ? BT_CYCLE_METRIC_SUCCESS : BT_CYCLE_METRIC_ERROR},
		       executing[4] = {(uint16_t)preemptor, labels[0]};

	BT_REQUIRE_HOT(engine->metrics);
	bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_EVICTING, labels, took_ns);
	bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_EXECUTING, executing, took_ns);
}

void bt_engine_note_event(struct bt_engine *engine, uint32_t label, int64_t took_ns)
{
	BT_REQUIRE_HOT(engine->metrics);
	uint32_t noted = bt_cycle_metrics_take_event(engine->metrics);
	const uint16_t labels[4] = {(uint16_t)(label == UINT32_MAX ? noted : label)};

	if (label != UINT32_MAX || noted != UINT32_MAX) {
		bt_cycle_metrics_note(engine->metrics, BT_CYCLE_METRIC_EVENT, labels, took_ns);
	}
}

/* ---- the cycle ---- */

static BT_NOINLINE void note_wait(struct bt_engine *engine, uint32_t pod_ix)
{
	int64_t since_ns = bt_queue_info(engine->queue, pod_ix).timestamp_ns;

	bt_stage_latency_note(
		engine->options.stages, BT_STAGE_WAIT, bt_scheduling_clock_waited(&engine->clock, since_ns));
}

uint32_t bt_engine_pop(struct bt_engine *engine)
{
	BT_REQUIRE_HOT(!bt_transactions_are_open(&engine->transactions));
	bt_batch_pop(&engine->batch, engine->cache, &engine->runtimes, engine->queue);
	bt_prefetch_pop(&engine->prefetch, bt_node_list_n(&engine->nodes), engine->cache, &engine->runtimes,
		engine->queue, engine->counts.cycle_n + 1, engine->options.seed);
	uint32_t pod_ix = bt_queue_pop(engine->queue);

	if (pod_ix == BT_QUEUE_EMPTY) {
		return BT_NO_POD;
	}
	BT_INVARIANT(bt_queue_info(engine->queue, pod_ix).where == BT_WAIT_IN_FLIGHT);
	BT_PROBE1(pop, pod_ix);
	if (BT_UNLIKELY(engine->options.stages)) {
		note_wait(engine, pod_ix);
	}
	return pod_ix;
}

void bt_engine_tick(struct bt_engine *engine)
{
	bt_scheduling_clock_tick(&engine->clock, engine->queue);
	bt_engine_end_overdue(engine);
}

void bt_engine_start(struct bt_engine *engine)
{
	bt_scheduling_clock_start(&engine->clock);
}

int64_t bt_engine_next_backoff_ns(const struct bt_engine *engine)
{
	return bt_scheduling_clock_next_backoff(engine->queue);
}

int64_t bt_engine_next_wait_end_ns(const struct bt_engine *engine, int64_t begun_by_ns)
{
	return bt_waiting_pods_next_end(&engine->waiting, begun_by_ns);
}

int64_t bt_engine_next_flush_ns(const struct bt_engine *engine, int64_t refused_by_ns)
{
	return bt_scheduling_clock_next_flush(&engine->clock, engine->queue, refused_by_ns);
}

enum bt_status bt_engine_take(struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_queue_take(engine->queue, pod_ix);
}

enum bt_status bt_engine_take_any(struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_queue_take_any(engine->queue, pod_ix);
}

enum bt_status bt_engine_take_alone(struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_queue_take_alone(engine->queue, pod_ix);
}

/* Chooses a node, or fills in the refusal. */
static void decide(struct bt_engine *engine, struct bt_cycle *cycle, struct bt_decision *decision)
{
	bt_node_list_follow(&engine->nodes, engine->cache->view.snapshot);
	decision->outcome = BT_REFUSED;
	if (bt_node_list_n(&engine->nodes) == 0) {
		decision->preempt = BT_PREEMPT_NOWHERE;
		return;
	}
	cycle->plan = decision->plan = bt_planner_plan(cycle->runtime->planner, cycle->signature);
	decision->node_ix = bt_engine_schedule_pod(engine, cycle, &decision->outcome);
	if (decision->node_ix != BT_NO_NODE) {
		const struct bt_evaluation *evaluation = bt_schedule_pod_evaluation(&engine->schedule);

		BT_INVARIANT(bt_bitmap_test(engine->cache->view.snapshot->live, decision->node_ix));
		decision->outcome = BT_PLACED;
		decision->evaluated_n = evaluation->visited_n;
		decision->feasible_n = evaluation->feasible_n;
		bt_reserved_choose(&engine->reserved, cycle->plan, cycle->pod_ix, decision->node_ix);
	} else if (decision->outcome == BT_REFUSED) {
		bt_engine_refuse(engine, cycle, decision);
	}
}

/* Drops the cycle's and the binding's references to a pod. */
static void drop_pod_references(struct bt_engine *engine, uint32_t pod_ix)
{
	bt_queue_remove(engine->queue, pod_ix);
	if (bt_ledger_pod(engine->cache->ledger, pod_ix)->detached) {
		bt_engine_remove_detached(engine, pod_ix);
	}
}

/* Is the pod still waiting for a node? If not, it is released. */
static bool still_waits(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	if (!pod->detached && (pod->state == BT_POD_QUEUED || bt_engine_resizes(pod))) {
		return true;
	}
	drop_pod_references(engine, pod_ix);
	return false;
}

/* Removes a pod that is being deleted from the queue. Its nomination stays until the pod is
 * deleted; nominating it again puts the change of state into the ledger's journal. Source:
 * skipPodSchedule, v1.36.3. */
static BT_NOINLINE void skip(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);
	uint32_t nominated_ix = pod->nominated_ix;
	bool goes = pod->detached;

	if (bt_engine_resizes(pod)) {
		drop_pod_references(engine, pod_ix);
		return;
	}
	bt_ledger_nominate(ledger, pod_ix, BT_NO_NODE);
	drop_pod_references(engine, pod_ix);
	if (!goes) {
		bt_ledger_nominate(ledger, pod_ix, nominated_ix);
	}
}

const struct bt_plugin_runs *bt_engine_plugin_runs(const struct bt_engine *engine, uint32_t profile)
{
	BT_REQUIRE(engine->metrics);
	return &bt_profile_runtimes_at(&engine->runtimes, profile)->runs;
}

const char *bt_engine_plugin_name(const struct bt_engine *engine, uint32_t profile, uint32_t use)
{
	const struct bt_profile *plugins =
		&bt_profile_runtimes_at(&engine->runtimes, profile)->profile.plugins;

	return use < plugins->use_n ? plugins->uses[use].plugin->name : NULL;
}

static void note_runs(
	const struct bt_engine *engine, const struct bt_cycle *cycle, const struct bt_decision *decision)
{
	const struct bt_evaluation *evaluation = bt_schedule_pod_evaluated(&engine->schedule);
	const struct bt_plan *plan = cycle->plan;

	if (!plan) {
		return;
	}
	if (decision->evaluated_n) { /* A node that the pod was nominated to is evaluated alone. */
		evaluation = bt_schedule_pod_evaluation(&engine->schedule);
	}
	bt_plugin_runs_note(&cycle->runtime->runs, plan, evaluation,
		plan->narrowed ? plan->candidate_n : bt_node_list_n(&engine->nodes),
		decision->outcome == BT_PLACED);
}

/* Columns filter and score in one step, so the whole time counts as Filter's. */
static BT_NOINLINE void note_decided(
	struct bt_engine *engine, const struct bt_cycle *cycle, const struct bt_decision *decision)
{
	const uint16_t labels[4] = {BT_CYCLE_METRIC_FILTER,
		decision->outcome == BT_FAILED ? BT_CYCLE_METRIC_ERROR : BT_CYCLE_METRIC_SUCCESS,
		bt_profile_runtimes_ix(&engine->runtimes, cycle->runtime)};

	int64_t took_ns = bt_clock_monotonic_ns() - cycle->begin_ns;

	bt_cycle_metrics_decided(engine->metrics, took_ns);
	bt_stage_latency_note(engine->options.stages, BT_STAGE_DECIDE, took_ns);
	bt_cycle_metrics_note(
		engine->metrics, BT_CYCLE_METRIC_POINT, labels, took_ns - bt_post_filter_took(&engine->post));
	note_runs(engine, cycle, decision);
}

void bt_engine_begin(struct bt_engine *engine, uint32_t pod_ix, struct bt_decision *out_decision)
{
	struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);

	BT_REQUIRE(cycle.runtime && !bt_transactions_are_open(&engine->transactions));
	*out_decision = (struct bt_decision){
		.pod_ix = pod_ix, .outcome = BT_SKIPPED, .node_ix = BT_NO_NODE, .nominated_ix = BT_NO_NODE};
	bt_reserved_clear_why(&engine->reserved);
	bt_engine_post_filter_begin(engine);
	if (BT_UNLIKELY(cycle.pod->terminating)) {
		skip(engine, pod_ix);
		return;
	}
	bt_late_nominations_begin(&engine->late, cycle.pod, pod_ix);
	cycle.number = ++engine->counts.cycle_n;
	cycle.begin_ns = bt_stage_latency_now(engine->options.stages);
	decide(engine, &cycle, out_decision);
	BT_INVARIANT((out_decision->outcome == BT_PLACED) == (out_decision->node_ix != BT_NO_NODE));
	if (BT_UNLIKELY(engine->options.stages)) {
		note_decided(engine, &cycle, out_decision);
	}
	BT_PROBE4(decided, cycle.number, pod_ix, out_decision->outcome, out_decision->node_ix);
}

/* Updates a pod's nomination after its cycle. */
static void settle_nomination(struct bt_engine *engine, const struct bt_decision *decision)
{
	struct bt_cache *cache = engine->cache;
	uint32_t pod_ix = decision->pod_ix;

	if (bt_engine_resizes(bt_ledger_pod(cache->ledger, pod_ix))) {
		return;
	}
	bool found = decision->outcome == BT_REFUSED && decision->preempt == BT_PREEMPT_FOUND;
	bool left_alone =
		decision->outcome == BT_REFUSED && !found && decision->preempt != BT_PREEMPT_NOWHERE;

	if (left_alone || (!found && bt_late_nominations_stay(&engine->late, pod_ix))) {
		/* The nomination is that of the status. One that arrived during the cycle is cleared until
		 * the status is seen again, which a patch causes. */
		bt_ledger_nominate(cache->ledger, pod_ix,
			decision->repeats && !left_alone ? BT_NO_NODE
							 : bt_ledger_pod(cache->ledger, pod_ix)->status_ix);
		return;
	}
	bt_ledger_nominate(cache->ledger, pod_ix, decision->nominated_ix);
	bt_engine_status_node(engine, pod_ix, found ? decision->nominated_ix : BT_NO_NODE);
}

static bool has_own_verdict(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);

	return bt_engine_is_uncacheable(engine, &cycle);
}

void bt_engine_set_aside(struct bt_engine *engine, const struct bt_decision *decision)
{
	uint32_t pod_ix = decision->pod_ix;

	BT_REQUIRE_HOT(decision->outcome == BT_REFUSED || decision->outcome == BT_FAILED);
	engine->counts.refused_n += decision->outcome == BT_REFUSED;
	engine->counts.failed_n += decision->outcome == BT_FAILED;
	if (!still_waits(engine, pod_ix)) {
		return;
	}
	enum bt_wait where = bt_queue_refuse(engine->queue, pod_ix, decision->unschedulable_plugins, 0,
		bt_scheduling_clock_now(&engine->clock));
	settle_nomination(engine, decision);
	if (where == BT_WAIT_UNSCHEDULABLE && decision->preempt != BT_PREEMPT_FOUND &&
		!engine->options.strict_order && !has_own_verdict(engine, pod_ix) &&
		!bt_engine_in_group(engine, pod_ix)) {
		bt_queue_park(engine->queue, pod_ix, decision->unschedulable_plugins);
	}
}

/* PostFilter plugins run in order: after one fails, the later ones do not run. */
static void release_claim(struct bt_engine *engine, struct bt_decision *decision)
{
	if (bt_engine_release_claim(engine, &decision->release, decision->pod_ix)) {
		return;
	}
	bt_reserved_claim_deleted(&engine->reserved, decision->release.name);
	decision->preempt = BT_PREEMPT_FAILED;
	decision->nominated_ix = BT_NO_NODE;
	decision->victim_n = 0;
}

static void cycle_engine_refuse(struct bt_engine *engine, struct bt_decision *decision)
{
	bt_engine_run_post_filter(engine, decision);
	release_claim(engine, decision);
	/* A deleted pod needs no victims. */
	bool found = decision->outcome == BT_REFUSED &&
		     (decision->preempt == BT_PREEMPT_FOUND || decision->by_group) &&
		     !bt_ledger_pod(engine->cache->ledger, decision->pod_ix)->detached &&
		     (decision->by_group && bt_engine_in_group(engine, decision->pod_ix)
				     ? bt_engine_group_preempting_begin(engine, decision->pod_ix)
				     : bt_engine_preempting_begin(engine, decision));

	if (found && !bt_eviction_is_async(&engine->eviction)) {
		bt_engine_carry_out(engine, decision, bt_engine_end_preempted);
	}
	bt_engine_set_aside(engine, decision);
	if (found && bt_eviction_is_async(&engine->eviction)) {
		bt_engine_carry_out(engine, decision, bt_engine_end_preempted);
	}
	bt_eviction_drop(&engine->eviction, engine->cache->ledger);
}

void bt_engine_end(struct bt_engine *engine, struct bt_decision *decision)
{
	BT_REQUIRE_HOT(decision->pod_ix != BT_NO_POD);
	BT_REQUIRE_HOT(decision->outcome != BT_PLACED || decision->node_ix != BT_NO_NODE);
	switch (decision->outcome) {
	case BT_PLACED:
		bt_engine_place(engine, decision);
		break;
	case BT_REFUSED:
	case BT_FAILED:
		cycle_engine_refuse(engine, decision);
		break;
	default:
		break;
	}
}

struct bt_str bt_engine_end_error(const struct bt_engine *engine)
{
	return bt_reserved_why(&engine->reserved);
}

void bt_engine_take_node(struct bt_engine *engine, struct bt_decision *decision, uint32_t node_ix)
{
	BT_REQUIRE_HOT(decision->outcome == BT_PLACED && decision->plan && node_ix != BT_NO_NODE);
	decision->node_ix = node_ix;
	bt_reserved_choose_once(&engine->reserved, decision->plan, decision->pod_ix, node_ix);
}

static void impose_node(
	struct bt_engine *engine, struct bt_decision *decision, const struct bt_imposed *imposed)
{
	if (imposed->fits) {
		bt_engine_take_node(engine, decision, imposed->node_ix);
		return;
	}
	decision->node_ix = imposed->node_ix;
	bt_reserved_choose_nothing(&engine->reserved, decision->pod_ix, imposed->node_ix);
}

static void impose_refusal(
	struct bt_engine *engine, struct bt_decision *decision, const struct bt_imposed *imposed)
{
	decision->node_ix = BT_NO_NODE;
	decision->unschedulable_plugins = imposed->unschedulable_plugins;
	decision->preempt = imposed->preempt;
	decision->nominated_ix = imposed->nominated_ix;
	decision->victims = imposed->victims;
	decision->victim_n = imposed->victim_n;
	decision->by_group = imposed->by_group;
	if (imposed->preempt == BT_PREEMPT_FOUND || imposed->by_group) {
		struct bt_preemption preemption = {
			.victims = imposed->victims, .victim_n = imposed->victim_n};

		bt_eviction_list(&engine->eviction, engine->cache->ledger, &preemption);
	}
}

void bt_engine_impose(
	struct bt_engine *engine, struct bt_decision *decision, const struct bt_imposed *imposed)
{
	BT_REQUIRE(imposed->outcome == BT_PLACED || imposed->outcome == BT_REFUSED ||
		   imposed->outcome == BT_FAILED);
	/* Its own result of PostFilter, and the victims listed by it, are dropped. */
	bt_engine_post_filter_begin(engine);
	decision->outcome = imposed->outcome;
	decision->permit_is_imposed = imposed->permit;
	decision->waits = imposed->waits;
	if (imposed->outcome == BT_PLACED) {
		impose_node(engine, decision, imposed);
	} else {
		impose_refusal(engine, decision, imposed);
	}
}

void bt_engine_decide(struct bt_engine *engine, uint32_t pod_ix, struct bt_decision *out_decision)
{
	bt_engine_begin(engine, pod_ix, out_decision);
	bt_engine_end(engine, out_decision);
}

struct bt_engine_counts bt_engine_counts(const struct bt_engine *engine)
{
	struct bt_engine_counts counts = engine->counts;

	bt_schedule_pod_count(&engine->schedule, &counts);
	bt_post_filter_count(&engine->post, &counts);
	bt_eviction_count(&engine->eviction, &counts);
	bt_reclaim_count(&engine->reclaim, &counts);
	counts.plan_drop_n = bt_profile_runtimes_drop_n(&engine->runtimes);
	counts.node_move_n = bt_snapshot_move_n(engine->cache->snapshot);
	counts.sets = bt_ledger_counts(engine->cache->ledger);
	counts.queue = bt_queue_counts(engine->queue);
	counts.warm = bt_batch_counts(&engine->batch);
	return counts;
}
