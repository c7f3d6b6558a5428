/* SPDX-License-Identifier: Apache-2.0
 * kube-scheduler's metrics. Source: names, types, labels, buckets and helps of pkg/scheduler/metrics,
 * v1.36.3.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/hints.h"
#include "metrics_int.h"

#define ALGORITHM_BOUNDS 15

/* Pending pods, by unschedulable plugin and by profile. */
struct reason {
	const char *plugin;
	uint32_t profile;
	uint64_t pod_n;
};

/* Context of the read between two cycles. */
struct engine_sample {
	const struct bt_serve_sources *sources;
	struct bt_exposition *exposition; /* the scraping thread waits meanwhile */
	struct bt_engine_counts counts;
	uint32_t node_n;
	struct reason *reasons;
	size_t reason_n, reason_cap;
	uint32_t *pods;
};

static uint32_t profile_of(const struct engine_sample *look, struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_config *config = look->sources->config;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	struct bt_str name = bt_intern_str(cache->dictionary->intern, pod->signature->scheduler_name);

	for (uint32_t i = 0; i < config->profile_n; i++) {
		if (bt_str_eq(config->profiles[i].scheduler_name, name)) {
			return i;
		}
	}
	return 0;
}

static void add_reason(struct engine_sample *look, const char *plugin, uint32_t profile)
{
	for (size_t i = 0; i < look->reason_n; i++) {
		if (look->reasons[i].profile == profile && strcmp(look->reasons[i].plugin, plugin) == 0) {
			look->reasons[i].pod_n++;
			return;
		}
	}
	look->reasons = bt_mem_grow(look->reasons, look->reason_n, &look->reason_cap, sizeof(*look->reasons));
	look->reasons[look->reason_n++] = (struct reason){plugin, profile, 1};
}

/* A pod counts for each plugin that rejected it last, or gates it, until it is popped. */
static void add_pod(struct engine_sample *look, struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(engine), pod_ix);
	bt_plugin_set plugins = info.unschedulable_plugins | info.pending;

	if (info.where == BT_WAIT_GATED && info.gate >= 0) {
		plugins |= bt_plugin_set_of((uint32_t)info.gate);
	}
	for (; plugins; plugins = bt_plugin_set_rest(plugins)) {
		add_reason(
			look, bt_hints_name(bt_plugin_set_first(plugins)), profile_of(look, engine, pod_ix));
	}
}

static void read_engine(void *context, struct bt_engine *engine)
{
	static const enum bt_wait places[] = {BT_WAIT_ACTIVE, BT_WAIT_BACKOFF, BT_WAIT_UNSCHEDULABLE,
		BT_WAIT_GATED, BT_WAIT_INCOMPLETE, BT_WAIT_PENDING};
	struct engine_sample *look = context;

	bt_metrics_of_queueing(look->sources->config, engine, look->exposition);
	look->counts = bt_engine_counts(engine);
	look->node_n = bt_engine_cache(engine)->view.snapshot->node_n;
	const uint64_t sizes[] = {look->counts.queue.active, look->counts.queue.backoff,
		look->counts.queue.unschedulable, look->counts.queue.gated, look->counts.queue.incomplete,
		look->counts.queue.pending};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint32_t cap = (uint32_t)sizes[i];

		look->pods = bt_mem_realloc(look->pods, cap + 1, sizeof(*look->pods));
		uint32_t n = bt_queue_list(bt_engine_queue(engine), places[i], look->pods, cap);

		for (uint32_t k = 0; k < n && k < cap; k++) {
			add_pod(look, engine, look->pods[k]);
		}
	}
}

static void one_label(struct bt_exposition *x, const char *label, const char *value, uint64_t count)
{
	bt_expose_label(x, label, bt_str(value));
	bt_expose_count(x, count);
}

static void add_entities(struct bt_exposition *x, const struct bt_queue_counts *queue)
{
	const struct {
		const char *name;
		enum bt_wait where;
		uint64_t pods;
	} places[] = {{"active", BT_WAIT_ACTIVE, queue->active}, {"backoff", BT_WAIT_BACKOFF, queue->backoff},
		{"gated", BT_WAIT_GATED, queue->gated},
		{"unschedulable", BT_WAIT_UNSCHEDULABLE, queue->unschedulable}};

	bt_expose(x, "scheduler_queued_entities", BT_METRIC_GAUGE,
		"[ALPHA] Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' stands for "
		"individual pods that are not members of any podgroup) by the queue type. 'active' means "
		"number of entities in activeQ; 'backoff' means number of entities in backoffQ; "
		"'unschedulable' means number of entities in unschedulableEntities that the scheduler "
		"attempted to schedule and failed; 'gated' is the number of unschedulable entities that the "
		"scheduler never attempted to schedule because they are gated.");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		bt_expose_label(x, "queue", bt_str(places[i].name));
		one_label(x, "type", "pod", places[i].pods - queue->grouped[places[i].where]);
		if (queue->had_pod_groups[places[i].where]) {
			bt_expose_label(x, "queue", bt_str(places[i].name));
			one_label(x, "type", "podgroup", queue->pod_groups[places[i].where]);
		}
	}
}

static void add_queue(struct bt_exposition *x, const struct engine_sample *look)
{
	const struct bt_queue_counts *queue = &look->counts.queue;
	const struct bt_ledger_counts *sets = &look->counts.sets;

	bt_expose(x, "scheduler_pending_pods", BT_METRIC_GAUGE,
		"[STABLE] Number of pending pods, by the queue type. 'active' means number of pods in "
		"activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods "
		"in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the "
		"number of unschedulable pods that the scheduler never attempted to schedule because they "
		"are gated.");
	one_label(x, "queue", "active", queue->active);
	one_label(x, "queue", "backoff", queue->backoff);
	one_label(x, "queue", "gated", queue->gated);
	if (queue->incomplete) {
		one_label(x, "queue", "incomplete", queue->incomplete);
	}
	if (queue->pending) {
		one_label(x, "queue", "pending", queue->pending);
	}
	one_label(x, "queue", "unschedulable", queue->unschedulable);
	if (bt_release_has(bt_served_release(look->sources), BT_RULE_QUEUE_COUNTS_ENTITIES)) {
		add_entities(x, queue);
	}
	bt_expose(x, "scheduler_cache_size", BT_METRIC_GAUGE,
		"[ALPHA] Number of nodes, pods, and assumed (bound) pods in the scheduler cache.");
	one_label(x, "type", "assumed_pods", sets->assumed);
	one_label(x, "type", "nodes", look->node_n);
	one_label(x, "type", "pods", sets->assumed + sets->scheduled);
	bt_expose(x, "scheduler_unschedulable_pods", BT_METRIC_GAUGE,
		"[BETA] The number of unschedulable pods broken down by plugin name. A pod will increment "
		"the gauge for all plugins that caused it to not schedule and so this metric have meaning "
		"only when broken down by plugin.");
	for (size_t i = 0; i < look->reason_n; i++) {
		bt_expose_label(x, "plugin", bt_str(look->reasons[i].plugin));
		bt_expose_label(x, "profile",
			look->sources->config->profiles[look->reasons[i].profile].scheduler_name);
		bt_expose_count(x, look->reasons[i].pod_n);
	}
}

static void add_bindings(struct bt_exposition *x, struct bt_pipeline *pipeline)
{
	bt_expose(x, "scheduler_goroutines", BT_METRIC_GAUGE,
		"[BETA] Number of running goroutines split by the work they do such as binding.");
	one_label(x, "operation", "binding", bt_pipeline_counts(pipeline).binding_n);
}

static void add_view(struct bt_exposition *x, const struct bt_outcome_view *view)
{
	bt_expose_buckets(
		x, &(struct bt_metric_buckets){view->bounds, view->counts, view->bound_n, view->sum});
}

/* Whether the histogram has values: as upstream, it does not exist before the first one. */
static bool has_any(const struct bt_outcome_view *view)
{
	for (uint32_t i = 0; i <= view->bound_n; i++) {
		if (view->counts[i]) {
			return true;
		}
	}
	return false;
}

static void add_attempts(struct bt_exposition *x, const struct bt_attempt_metrics *attempts)
{
	static const char *const results[] = {"scheduled", "unschedulable", "error"};
	struct bt_outcome_view view;

	bt_expose(x, "scheduler_schedule_attempts_total", BT_METRIC_COUNTER,
		"[STABLE] Number of attempts to schedule pods, by the result. 'unschedulable' means a pod "
		"could not be scheduled, while 'error' means an internal scheduler problem.");
	for (uint32_t i = 0; i < bt_attempt_metrics_profile_n(attempts); i++) {
		for (int result = 0; result < BT_ATTEMPT_N; result++) {
			bt_expose_label(x, "profile", bt_attempt_metrics_profile(attempts, i));
			bt_expose_label(x, "result", bt_str(results[result]));
			bt_expose_count(
				x, bt_attempt_metrics_attempts(attempts, i, (enum bt_attempt_result)result));
		}
	}
	bt_expose(x, "scheduler_scheduling_attempt_duration_seconds", BT_METRIC_HISTOGRAM,
		"[STABLE] Scheduling attempt latency in seconds (scheduling algorithm + binding)");
	for (uint32_t i = 0; i < bt_attempt_metrics_profile_n(attempts); i++) {
		for (int result = 0; result < BT_ATTEMPT_N; result++) {
			bt_attempt_metrics_read(attempts, BT_OUTCOME_DURATION,
				bt_outcome_attempt(i, (enum bt_attempt_result)result), &view);
			if (has_any(&view)) {
				bt_expose_label(x, "profile", bt_attempt_metrics_profile(attempts, i));
				bt_expose_label(x, "result", bt_str(results[result]));
				add_view(x, &view);
			}
		}
	}
}

static void add_pods(struct bt_exposition *x, const struct bt_attempt_metrics *attempts)
{
	struct bt_outcome_view view;
	char label[8];

	bt_expose(x, "scheduler_pod_scheduling_sli_duration_seconds", BT_METRIC_HISTOGRAM,
		"[BETA] E2e latency for a pod being scheduled, from the time the pod enters the scheduling "
		"queue and might involve multiple scheduling attempts.");
	for (uint32_t i = 0; i < BT_OUTCOME_ATTEMPTS; i++) {
		bt_attempt_metrics_read(attempts, BT_OUTCOME_SLI, i, &view);
		if (has_any(&view)) {
			snprintf(
				label, sizeof(label), "%u%s", i + 1, i + 1 == BT_OUTCOME_ATTEMPTS ? "+" : "");
			bt_expose_label(x, "attempts", bt_str(label));
			add_view(x, &view);
		}
	}
	bt_expose(x, "scheduler_pod_scheduling_attempts", BT_METRIC_HISTOGRAM,
		"[STABLE] Number of attempts to successfully schedule a pod.");
	bt_attempt_metrics_read(attempts, BT_OUTCOME_TRIES, 0, &view);
	add_view(x, &view);
	bt_expose(x, "scheduler_preemption_victims", BT_METRIC_HISTOGRAM,
		"[STABLE] Number of selected preemption victims");
	bt_attempt_metrics_read(attempts, BT_OUTCOME_VICTIMS, 0, &view);
	add_view(x, &view);
	bt_expose_counter(x, "scheduler_preemption_attempts_total",
		"[STABLE] Total preemption attempts in the cluster till now",
		bt_attempt_metrics_preemptions(attempts));
	bt_expose_counter(x, "scheduler_pod_scheduled_after_flush_total",
		"[ALPHA] Number of pods that were successfully scheduled after being flushed from "
		"unschedulablePods due to timeout. This metric helps detect potential queueing hint "
		"misconfigurations or event handling issues.",
		bt_attempt_metrics_after_flush(attempts));
}

static void add_algorithm(struct bt_exposition *x, struct bt_pipeline *pipeline)
{
	struct bt_stage_latency *stages = bt_stage_latency_create();
	uint64_t counts[ALGORITHM_BOUNDS + 1];
	double seconds[ALGORITHM_BOUNDS];
	int64_t bounds[ALGORITHM_BOUNDS];

	for (int i = 0; i < ALGORITHM_BOUNDS; i++) {
		bounds[i] = INT64_C(1000000) << i;
		seconds[i] = (double)bounds[i] / 1e9;
	}
	bt_pipeline_stages(pipeline, stages);
	double sum = bt_histogram_cut(&stages->histograms[BT_STAGE_DECIDE], bounds, ALGORITHM_BOUNDS, counts);

	bt_expose(x, "scheduler_scheduling_algorithm_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Scheduling algorithm latency in seconds");
	bt_expose_buckets(x, &(struct bt_metric_buckets){seconds, counts, ALGORITHM_BOUNDS, sum / 1e9});
	bt_mem_free(stages);
}

static void if_any(struct bt_exposition *x, const char *label, const char *value, uint64_t count)
{
	if (count) {
		one_label(x, label, value, count);
	}
}

static void claims_of_pods(struct bt_exposition *x, const char *status, uint64_t count)
{
	if (count == 0) {
		return;
	}
	bt_expose_label(x, "admin_access", bt_str("false"));
	bt_expose_label(x, "owner_api_group", (struct bt_str){.len = 0});
	bt_expose_label(x, "owner_api_kind", bt_str("Pod"));
	bt_expose_label(x, "status", bt_str(status));
	bt_expose_count(x, count);
}

/* Prebind writes. */
static void add_prebinding(struct bt_exposition *x, const struct bt_serve_sources *sources)
{
	struct bt_writer_counts counts = sources->writer_counts(sources->writer);

	bt_expose(x, "scheduler_volume_scheduling_stage_error_total", BT_METRIC_COUNTER,
		"[ALPHA] Volume scheduling stage error count");
	if_any(x, "operation", "bind", counts.volume_failed_n);
	if (sources->config->gates.on[BT_GATE_DRA_EXTENDED_RESOURCE]) {
		bt_expose(x, "scheduler_resourceclaim_creates_total", BT_METRIC_COUNTER,
			"[ALPHA] Number of ResourceClaims creation requests within scheduler");
		if_any(x, "status", "failure", counts.claim_uncreated_n);
		if_any(x, "status", "success", counts.claim_created_n);
		bt_expose(x, "dynamic_resource_allocation_resourceclaim_creates_total", BT_METRIC_COUNTER,
			"[ALPHA] Number of ResourceClaims creation requests, categorized by creation status, "
			"admin access, and owning API group and kind (either Pod or "
			"scheduling.k8s.io/PodGroup)");
		claims_of_pods(x, "failure", counts.claim_uncreated_n);
		claims_of_pods(x, "success", counts.claim_created_n);
	}
}

static void label_devices(struct bt_exposition *x, const struct bt_device_series *series)
{
	static const char *const ends[] = {"success", "failure", "timeout", "error"};

	bt_expose_label(x, "driver", series->driver);
	bt_expose_label(x, "profile", series->profile);
	bt_expose_label(x, "status", bt_str(ends[series->end]));
}

static void add_allocations(void *context, const struct bt_device_series *series)
{
	if (series->conditional_n) {
		label_devices(context, series);
		bt_expose_count(context, series->conditional_n);
	}
}

static void add_device_waits(void *context, const struct bt_device_series *series)
{
	double bounds[BT_DEVICE_BOUNDS];

	bt_device_bounds(bounds);
	label_devices(context, series);
	bt_expose_buckets(context,
		&(struct bt_metric_buckets){bounds, series->counts, BT_DEVICE_BOUNDS, series->sum_s});
}

/* Gate DRADeviceBindingConditions. */
static void add_devices(struct bt_exposition *x, const struct bt_serve_sources *sources)
{
	bt_expose(x, "scheduler_dra_bindingconditions_allocations_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of allocations using devices with BindingConditions, counted per driver per "
		"scheduling attempt");
	sources->each_device_wait(sources->writer, add_allocations, x);
	bt_expose(x, "scheduler_dra_bindingconditions_wait_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Time in seconds spent waiting for BindingConditions to be satisfied during "
		"PreBind.");
	sources->each_device_wait(sources->writer, add_device_waits, x);
}

/* Metrics of kube-scheduler's that never have a sample here, as a signature's plan is updated after each
 * placement instead of passing hints to the next pod. */
static void add_vacant(struct bt_exposition *x)
{
	bt_expose(x, "scheduler_batch_attempts_total", BT_METRIC_COUNTER,
		"[ALPHA] Counts of results when we attempt to use batching.");
	bt_expose(x, "scheduler_batch_cache_flushed_total", BT_METRIC_COUNTER,
		"[ALPHA] Counts of cache flushes by reason.");
	bt_expose(x, "scheduler_get_node_hint_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Latency for getting a node hint.");
	bt_expose(x, "scheduler_store_schedule_results_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Latency for getting a no.");
}

static void add_slow_path(struct bt_exposition *x, const struct bt_serve_sources *sources)
{
	uint64_t n = sources->lease_slow_n ? sources->lease_slow_n(sources->context) : 0;

	bt_expose(x, "leader_election_slowpath_total", BT_METRIC_COUNTER,
		"[ALPHA] Total number of slow path exercised in renewing leader leases. 'name' is the string "
		"used to identify the lease. Please make sure to group by name.");
	if (n) {
		bt_expose_label(x, "name", bt_str("kube-scheduler"));
		bt_expose_count(x, n);
	}
}

void bt_metrics_of_scheduler(const struct bt_serve_sources *sources, struct bt_exposition *x)
{
	struct engine_sample look = {.sources = sources, .exposition = x};

	if (sources->attempts) {
		add_attempts(x, sources->attempts);
		add_pods(x, sources->attempts);
	}
	if (sources->pipeline) {
		add_algorithm(x, sources->pipeline);
		add_bindings(x, sources->pipeline);
		bt_pipeline_call(sources->pipeline, read_engine, &look);
		add_queue(x, &look);
		bt_mem_free(look.reasons);
		bt_mem_free(look.pods);
	}
	if (sources->writer && sources->config) {
		add_prebinding(x, sources);
		if (sources->each_device_wait &&
			sources->config->gates.on[BT_GATE_DRA_DEVICE_BINDING_CONDITIONS]) {
			add_devices(x, sources);
		}
	}
	add_vacant(x);
	if (sources->leads) {
		bt_expose(x, "leader_election_master_status", BT_METRIC_GAUGE,
			"[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 "
			"indicates backup, 1 indicates master. 'name' is the string used to identify the "
			"lease. Please make sure to group by name.");
		bt_expose_label(x, "name", bt_str("kube-scheduler")); /* whatever the lease's name */
		bt_expose_count(x, sources->leads(sources->context) ? 1 : 0);
		add_slow_path(x, sources);
	}
}
