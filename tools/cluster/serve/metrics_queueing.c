/* SPDX-License-Identifier: Apache-2.0
 * Metrics that can only be read between two cycles: why pods entered the queues, and durations of parts of
 * the scheduling thread's work. Source: names, labels, buckets and helps of pkg/scheduler/metrics, v1.36.3.
 */
#include "engine/flow/cycle/hints.h"
#include "metrics_int.h"

static const char *const status_texts[] = {
	"Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait"};
static const char *const point_texts[] = {"Filter", "PostFilter", "Bind", "Permit"};
static const char *const plugin_texts[] = {NULL, "DefaultPreemption", "DefaultBinder"};

static void label(struct bt_exposition *x, const char *name, const char *value)
{
	bt_expose_label(x, name, bt_str(value));
}

/* entities: with a label for the type of what was added. */
static void add_incoming(const struct bt_release *release, const struct bt_queue *queue, bool entities,
	struct bt_exposition *x)
{
	static const struct {
		enum bt_wait where;
		const char *name;
	} places[] = {{BT_WAIT_ACTIVE, "active"}, {BT_WAIT_BACKOFF, "backoff"},
		{BT_WAIT_UNSCHEDULABLE, "unschedulable"}};
	char cause_text[BT_CLUSTER_EVENT_LABEL_BYTES];

	for (uint32_t cause = 0; cause < BT_CAUSE_N; cause++) {
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			uint64_t n = bt_queue_incoming(queue, places[i].where, cause);

			if (n) {
				bt_queue_cause_text(release, cause, cause_text);
				label(x, "event", cause_text);
				label(x, "queue", places[i].name);
				if (entities) {
					label(x, "type", "pod");
				}
				bt_expose_count(x, n);
			}
		}
	}
}

static void add_all_incoming(
	const struct bt_release *release, const struct bt_queue *queue, struct bt_exposition *x)
{
	bt_expose(x, "scheduler_queue_incoming_pods_total", BT_METRIC_COUNTER,
		"[STABLE] Number of pods added to scheduling queues by event and queue type.");
	add_incoming(release, queue, false, x);
	if (bt_release_has(release, BT_RULE_QUEUE_COUNTS_ENTITIES)) {
		bt_expose(x, "scheduler_queue_incoming_entities_total", BT_METRIC_COUNTER,
			"[ALPHA] Number of scheduling entities added to scheduling queues by event, queue "
			"type, and entity type. Entity types are either 'pod' (for individual pods that are "
			"not members of any podgroup) or 'podgroup'.");
		add_incoming(release, queue, true, x);
	}
}

static void add_in_flight(
	const struct bt_release *release, const struct bt_queue *queue, struct bt_exposition *x)
{
	char cause_text[BT_CLUSTER_EVENT_LABEL_BYTES];
	uint64_t n[BT_CAUSE_N];

	bt_queue_logged(queue, n);
	bt_expose(x, "scheduler_inflight_events", BT_METRIC_GAUGE,
		"[ALPHA] Number of events currently tracked in the scheduling queue.");
	label(x, "event", "PodPopped");
	bt_expose_count(x, bt_queue_counts(queue).in_flight);
	for (uint32_t cause = 0; cause < BT_CAUSE_N; cause++) {
		if (n[cause]) {
			bt_queue_cause_text(release, cause, cause_text);
			label(x, "event", cause_text);
			bt_expose_count(x, n[cause]);
		}
	}
}

/* ---- durations ---- */

/* Context of the exposition. */
struct metrics_reading {
	const struct bt_config *config;
	const struct bt_cycle_metric_table *tables;
	struct bt_exposition *x;
};

static void add_profile(const struct metrics_reading *r, uint16_t profile)
{
	bt_expose_label(r->x, "profile", r->config->profiles[profile].scheduler_name);
}

static void label_point(const struct metrics_reading *r, const struct bt_series *series)
{
	label(r->x, "extension_point", point_texts[series->labels[0]]);
	add_profile(r, series->labels[2]);
	label(r->x, "status", status_texts[series->labels[1]]);
}

static void label_plugin(const struct metrics_reading *r, const struct bt_series *series)
{
	label(r->x, "extension_point", point_texts[series->labels[0]]);
	label(r->x, "plugin", plugin_texts[series->labels[0]]);
	label(r->x, "status", status_texts[series->labels[1]]);
}

static void label_event(const struct metrics_reading *r, const struct bt_series *series)
{
	char event[BT_CLUSTER_EVENT_LABEL_BYTES];

	bt_cluster_event_label_text(r->config->gates.release, series->labels[0], event);
	label(r->x, "event", event);
}

static void label_hint(const struct metrics_reading *r, const struct bt_series *series)
{
	char event[BT_CLUSTER_EVENT_LABEL_BYTES];

	bt_cluster_event_label_text(r->config->gates.release, series->labels[1], event);
	label(r->x, "event", event);
	label(r->x, "hint", series->labels[2] ? "Queue" : "QueueSkip");
	label(r->x, "plugin", bt_hints_name(series->labels[0]));
}

static void add_series(
	const struct metrics_reading *r, enum bt_cycle_metric metric, const struct bt_series *series)
{
	double bounds[BT_CYCLE_METRIC_BOUNDS];
	uint32_t n = bt_cycle_metric_bounds(metric, bounds);

	bt_expose_buckets(
		r->x, &(struct bt_metric_buckets){bounds, series->counts, n, (double)series->sum_ns / 1e9});
}

static void add_table(const struct metrics_reading *r, enum bt_cycle_metric metric,
	void (*labels)(const struct metrics_reading *r, const struct bt_series *series))
{
	const struct bt_cycle_metric_table *table = &r->tables[metric];

	for (uint32_t i = 0; i < table->cap; i++) {
		if (table->series[i].n) {
			labels(r, &table->series[i]);
			add_series(r, metric, &table->series[i]);
		}
	}
}

static void label_evicting(const struct metrics_reading *r, const struct bt_series *series)
{
	label(r->x, "result", series->labels[0] == BT_CYCLE_METRIC_SUCCESS ? "success" : "error");
}

static void label_group(const struct metrics_reading *r, const struct bt_series *series)
{
	static const char *const results[] = {"scheduled", "unschedulable", "waiting_on_preemption", "error"};

	add_profile(r, series->labels[1]);
	label(r->x, "result", results[series->labels[0]]);
}

static void label_nothing(const struct metrics_reading *r, const struct bt_series *series)
{
	(void)r;
	(void)series;
}

/* The only series of a metric without labels, which exists before it has a value. */
static void add_one(const struct metrics_reading *r, enum bt_cycle_metric metric)
{
	if (r->tables[metric].n) {
		add_table(r, metric, label_nothing);
	} else {
		add_series(r, metric, r->tables[metric].series);
	}
}

/* The number of values of a metric's series. */
static void add_totals(const struct metrics_reading *r, enum bt_cycle_metric metric,
	void (*labels)(const struct metrics_reading *r, const struct bt_series *series))
{
	const struct bt_cycle_metric_table *table = &r->tables[metric];

	for (uint32_t i = 0; i < table->cap; i++) {
		if (table->series[i].n) {
			labels(r, &table->series[i]);
			bt_expose_count(r->x, table->series[i].n);
		}
	}
}

/* Gate SchedulerAsyncPreemption. Upstream always records success and no duration; this follows the helps. */
static void add_evictions(const struct metrics_reading *r)
{
	bt_expose(r->x, "scheduler_preemption_goroutines_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Duration in seconds for running goroutines for the preemption.");
	add_table(r, BT_CYCLE_METRIC_EVICTING, label_evicting);
	bt_expose(r->x, "scheduler_preemption_goroutines_execution_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of preemption goroutines executed.");
	add_totals(r, BT_CYCLE_METRIC_EVICTING, label_evicting);
}

static void label_preempting(const struct metrics_reading *r, const struct bt_series *series)
{
	label(r->x, "result", status_texts[series->labels[0]]);
}

static void label_preemptor(const struct metrics_reading *r, const struct bt_series *series)
{
	static const char *const preemptors[] = {"pod", "podgroup", "compositepodgroup"};

	label(r->x, "preemptor", preemptors[series->labels[0]]);
}

static void label_evaluating(const struct metrics_reading *r, const struct bt_series *series)
{
	label_preemptor(r, series);
	label(r->x, "result", status_texts[series->labels[1]]);
}

static void label_executing(const struct metrics_reading *r, const struct bt_series *series)
{
	label_preemptor(r, series);
	label(r->x, "result", series->labels[1] == BT_CYCLE_METRIC_SUCCESS ? "success" : "error");
}

/* For a sampled metric, whose values each represent this number. */
static void add_sums(const struct metrics_reading *r, enum bt_cycle_metric metric,
	void (*labels)(const struct metrics_reading *r, const struct bt_series *series))
{
	const struct bt_cycle_metric_table *table = &r->tables[metric];

	for (uint32_t i = 0; i < table->cap; i++) {
		if (table->series[i].n) {
			labels(r, &table->series[i]);
			bt_expose_count(r->x, (uint64_t)(table->series[i].sum_ns / BT_CYCLE_METRIC_ONE));
		}
	}
}

/* How preemption goes, that of pods too, since 1.37. */
static void add_preemption(const struct metrics_reading *r)
{
	bt_expose(r->x, "scheduler_preemption_evaluation_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Duration in seconds for identifying the target preemption victims.");
	add_table(r, BT_CYCLE_METRIC_EVALUATING, label_evaluating);
	bt_expose(r->x, "scheduler_preemption_execution_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Duration in seconds for preempting the target preemption victims. With async "
		"preemption enabled, preemption execution does not block the scheduling of other pods.");
	add_table(r, BT_CYCLE_METRIC_EXECUTING, label_executing);
	bt_expose(r->x, "scheduler_preemption_pdb_violations_total", BT_METRIC_COUNTER,
		"[ALPHA] Total number of pod disruption budget violations caused by preemption.");
	add_sums(r, BT_CYCLE_METRIC_VIOLATIONS, label_preemptor);
}

/* Preemption by groups, since 1.37. Upstream counts no disruptions by pods. */
static void add_group_preemption(const struct metrics_reading *r)
{
	struct bt_exposition *x = r->x;

	bt_expose(x, "scheduler_workload_preemption_attempts_total", BT_METRIC_COUNTER,
		"[ALPHA] Total preemption attempts initiated by workload (including pod groups) in the "
		"cluster till now.");
	add_totals(r, BT_CYCLE_METRIC_GROUP_PREEMPTING, label_preempting);
	bt_expose(x, "scheduler_workload_preemption_victims", BT_METRIC_HISTOGRAM,
		"[ALPHA] Number of pod preemption victims caused by workload preemption.");
	add_one(r, BT_CYCLE_METRIC_GROUP_VICTIMS);
	bt_expose(x, "scheduler_preemption_workload_disruptions", BT_METRIC_HISTOGRAM,
		"[ALPHA] Number of workload preemption units being preempted. A single preemption unit can "
		"be all pods in a pod group (in case of DisruptionMode=all), or a single pod (in case of "
		"DisruptionMode=single).");
	add_table(r, BT_CYCLE_METRIC_GROUP_DISRUPTIONS, label_preemptor);
}

/* Gate GenericWorkload. */
static void add_groups(const struct metrics_reading *r)
{
	struct bt_exposition *x = r->x;

	bt_expose(x, "scheduler_podgroup_schedule_attempts_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of attempts to schedule pod group, by the result. 'unschedulable' means a "
		"pod group could not be scheduled, while 'error' means an internal scheduler problem.");
	add_totals(r, BT_CYCLE_METRIC_GROUP, label_group);
	bt_expose(x, "scheduler_podgroup_scheduling_algorithm_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Pod group scheduling algorithm latency in seconds");
	add_one(r, BT_CYCLE_METRIC_GROUP_DECIDING);
	bt_expose(x, "scheduler_podgroup_scheduling_attempt_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Pod group scheduling attempt latency in seconds (scheduling algorithm + binding)");
	add_table(r, BT_CYCLE_METRIC_GROUP, label_group);
}

static void label_placement(const struct metrics_reading *r, const struct bt_series *series)
{
	add_profile(r, series->labels[1]);
	label(r->x, "result", series->labels[0] ? "feasible" : "infeasible");
}

static void label_profile(const struct metrics_reading *r, const struct bt_series *series)
{
	add_profile(r, series->labels[0]);
}

/* Gate TopologyAwareWorkloadScheduling. */
static void add_placements(const struct metrics_reading *r)
{
	bt_expose(r->x, "scheduler_generated_placements_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of candidate placements generated when scheduling pod groups.");
	add_totals(r, BT_CYCLE_METRIC_PLACEMENTS, label_profile);
	bt_expose(r->x, "scheduler_placement_evaluation_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Latency in seconds of evaluating a single candidate placement when scheduling pod "
		"groups, by result. 'feasible' means the pod group fit into the placement, while "
		"'infeasible' "
		"means it did not.");
	add_table(r, BT_CYCLE_METRIC_PLACEMENT, label_placement);
	bt_expose(r->x, "scheduler_placement_evaluations_total", BT_METRIC_COUNTER,
		"[ALPHA] Number of candidate placements evaluated when scheduling pod groups, by result. "
		"'feasible' means the pod group fit into the placement, while 'infeasible' means it did "
		"not.");
	add_totals(r, BT_CYCLE_METRIC_PLACEMENT, label_placement);
}

/* Waits at Permit, of pods that name Workloads. */
static void label_wait(const struct metrics_reading *r, const struct bt_series *series)
{
	label(r->x, "result", status_texts[series->labels[0]]);
}

static void add_waits(const struct metrics_reading *r)
{
	bt_expose(r->x, "scheduler_permit_wait_duration_seconds", BT_METRIC_HISTOGRAM,
		"[BETA] Duration of waiting on permit.");
	add_table(r, BT_CYCLE_METRIC_PERMIT_WAIT, label_wait);
}

/* ---- plugins ---- */

static const char *const run_texts[] = {"PreFilter", "Filter", "PreScore", "Score"};

static void add_runs(const struct bt_config *config, const struct bt_engine *engine, struct bt_exposition *x)
{
	bt_expose(x, "scheduler_plugin_evaluation_total", BT_METRIC_COUNTER,
		"[BETA] Number of attempts to schedule pods by each plugin and the extension point "
		"(available only in PreFilter, Filter, PreScore, and Score).");
	for (uint32_t profile = 0; profile < config->profile_n; profile++) {
		const struct bt_plugin_runs *runs = bt_engine_plugin_runs(engine, profile);

		for (uint32_t i = 0; i < BT_RUN_POINT_N * BT_PROFILE_USES; i++) {
			uint32_t point = i / BT_PROFILE_USES, use = i % BT_PROFILE_USES;

			if (runs->n[point][use]) {
				label(x, "extension_point", run_texts[point]);
				label(x, "plugin", bt_engine_plugin_name(engine, profile, use));
				bt_expose_label(x, "profile", config->profiles[profile].scheduler_name);
				bt_expose_count(x, runs->n[point][use]);
			}
		}
	}
}

static void add_durations(const struct metrics_reading *r)
{
	struct bt_exposition *x = r->x;

	bt_expose(x, "scheduler_event_handling_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Event handling latency in seconds.");
	add_table(r, BT_CYCLE_METRIC_EVENT, label_event);
	bt_expose(x, "scheduler_framework_extension_point_duration_seconds", BT_METRIC_HISTOGRAM,
		"[STABLE] Latency for running all plugins of a specific extension point.");
	add_table(r, BT_CYCLE_METRIC_POINT, label_point);
	bt_expose(x, "scheduler_plugin_execution_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Duration for running a plugin at a specific extension point.");
	add_table(r, BT_CYCLE_METRIC_PLUGIN, label_plugin);
	bt_expose(x, "scheduler_queueing_hint_execution_duration_seconds", BT_METRIC_HISTOGRAM,
		"[ALPHA] Duration for running a queueing hint function of a plugin.");
	add_table(r, BT_CYCLE_METRIC_HINT, label_hint);
	add_waits(r);
	if (r->config->gates.on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION]) {
		add_evictions(r);
	}
	if (r->config->gates.on[BT_GATE_GENERIC_WORKLOAD]) {
		add_groups(r);
		if (bt_release_has(r->config->gates.release, BT_RULE_GROUPS_ARE_QUEUED)) {
			add_group_preemption(r);
			add_preemption(r);
		}
	}
	if (r->config->gates.on[BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING] &&
		bt_release_has(r->config->gates.release, BT_RULE_PLACEMENTS_ARE_COUNTED)) {
		add_placements(r);
	}
}

void bt_metrics_of_queueing(const struct bt_config *config, struct bt_engine *engine, struct bt_exposition *x)
{
	const struct bt_cycle_metrics *metrics = bt_engine_metrics(engine);

	add_all_incoming(config->gates.release, bt_engine_queue(engine), x);
	add_in_flight(config->gates.release, bt_engine_queue(engine), x);
	if (metrics) {
		add_runs(config, engine, x);
		add_durations(&(struct metrics_reading){config, metrics->tables, x});
	}
}
