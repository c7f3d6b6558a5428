/* SPDX-License-Identifier: Apache-2.0
 * The report of a simulation.
 */
#include "tools/kube/report/simulation.h"

#include "engine/base/clock.h"
#include "tools/kube/report/rows_int.h"
#include "tools/kube/report/unplaced.h"
#include "tools/kube/report/utilization.h"

#define GROUPS_MAX 12
#define ZONES_MAX  64
#define KINDS_MAX  64

static void add_int(struct bt_emit *emit, const char *key, uint64_t value, const char *label)
{
	bt_emit_int(emit, key, (int64_t)value);
	bt_emit_label(emit, label);
}

static void add_percent(struct bt_emit *emit, const char *key, double share, const char *label)
{
	bt_emit_real(emit, key, 100 * share, 1);
	bt_emit_label(emit, label);
}

/* A number that is 0 in most runs is always shown to programs, to people only when nonzero. */
static void add_rare(struct bt_emit *emit, const char *key, uint64_t value, const char *label)
{
	add_int(emit, key, value, label);
	if (value == 0) {
		bt_emit_hide(emit);
	}
}

static void report_pods(struct bt_emit *emit, struct bt_engine *engine,
	const struct bt_simulation_facts *facts, const struct bt_unplaced *unplaced)
{
	struct bt_engine_counts counts = bt_engine_counts(engine);

	bt_emit_begin_object(emit, "pods");
	add_int(emit, "placed", counts.placed_n, "placed");
	add_int(emit, "not_placed", unplaced->refused_n, "not placed");
	add_int(emit, "fragmented", unplaced->fragmented_n, "  blocked by fragmentation");
	add_rare(emit, "unreadable", facts->pods_lost, "unreadable, may be pods");
	add_rare(emit, "not_tried", unplaced->untried_n, "not tried");
	add_rare(emit, "gated", unplaced->gated_n, "gated");
	add_rare(emit, "scheduled_before", facts->pods_scheduled_before, "already bound");
	add_rare(emit, "made_for_workloads", facts->pods_expanded, "created from workloads");
	add_rare(emit, "ended", facts->pods_ended, "ignored: completed");
	add_rare(emit, "other_schedulers", facts->pods_other_schedulers, "ignored: pods of other schedulers");
	add_rare(emit, "being_deleted", facts->pods_deleting, "ignored: being deleted");
	add_rare(
		emit, "on_unknown_nodes", facts->pods_on_unknown_nodes, "on nodes that are not in the input");
	add_rare(emit, "preemptions", counts.preemption_n, "preemptions");
	add_rare(emit, "evicted", facts->queueing.evicted_n, "evicted: preempted by other pods");
	add_rare(emit, "leaving", facts->pods_leaving, "still being deleted");
	add_rare(emit, "deleted", facts->pods_deleted, "deleted in the course of time");
	add_rare(emit, "deleted_waiting", facts->pods_deleted_waiting, "  of them before they were placed");
	bt_emit_end(emit);
}

static void add_amount(struct bt_emit *emit, const char *key, const char *text_key, const char *label,
	struct bt_str resource, double amount)
{
	struct bt_buf text = {0};

	bt_emit_real(emit, key, amount, 0);
	bt_emit_hide(emit);
	bt_amount_text(resource, amount, &text);
	bt_emit_str(emit, text_key, bt_buf_view(&text));
	bt_emit_label(emit, label);
	bt_buf_fini(&text);
}

static void report_resources(struct bt_emit *emit, const struct bt_cluster_utilization *utilization)
{
	bt_emit_begin_array(emit, "resources");
	bt_emit_label(emit, "Requested resources (% of allocatable)");
	for (size_t i = 0; i < utilization->resource_n; i++) {
		const struct bt_utilization *u = &utilization->resources[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "resource", u->name);
		add_int(emit, "nodes", u->node_n, "nodes");
		add_amount(emit, "used", "used_text", "used", u->name, u->used);
		add_amount(emit, "allocatable", "allocatable_text", "of", u->name, u->allocatable);
		add_percent(
			emit, "total_percent", u->allocatable > 0 ? u->used / u->allocatable : 0, "total %");
		add_percent(emit, "mean_percent", u->mean, "mean %");
		add_percent(emit, "p50_percent", u->p50, "p50 %");
		add_percent(emit, "p99_percent", u->p99, "p99 %");
		add_percent(emit, "max_percent", u->highest, "max %");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void report_over_time(struct bt_emit *emit, const struct bt_simulation_facts *facts,
	const struct bt_cluster_utilization *utilization)
{
	bt_emit_begin_array(emit, "over_time");
	bt_emit_label(emit, "Requested resources over time (% of allocatable)");
	for (size_t i = 0; i < utilization->resource_n; i++) {
		const struct bt_utilization *u = &utilization->resources[i];
		const struct bt_report_use *use = &facts->uses[u->slot];

		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "resource", u->name);
		add_amount(emit, "mean", "mean_text", "mean", u->name, use->mean);
		add_percent(
			emit, "mean_percent", u->allocatable > 0 ? use->mean / u->allocatable : 0, "mean %");
		add_amount(emit, "peak", "peak_text", "peak", u->name, use->peak);
		add_percent(
			emit, "peak_percent", u->allocatable > 0 ? use->peak / u->allocatable : 0, "peak %");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void report_zones(struct bt_emit *emit, const struct bt_cluster_utilization *utilization, bool all)
{
	size_t n = bt_rows_shown(utilization->zone_n, ZONES_MAX, all);

	bt_emit_begin_array(emit, "zones");
	for (size_t i = 0; i < n; i++) {
		const struct bt_zone_utilization *zone = &utilization->zones[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "zone", zone->name.len ? zone->name : bt_str("(none)"));
		add_int(emit, "nodes", zone->node_n, "nodes");
		add_int(emit, "pods", zone->pod_n, "pods");
		add_percent(emit, "cpu_percent", zone->cpu > 0 ? zone->cpu_used / zone->cpu : 0, "cpu %");
		add_percent(emit, "memory_percent", zone->memory > 0 ? zone->memory_used / zone->memory : 0,
			"memory %");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
	bt_rows_more(emit, "more_zones", "more zones, not shown (--all shows them)", utilization->zone_n, n);
}

static void report_nodes(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_cluster_utilization *u)
{
	bt_emit_begin_object(emit, "nodes");
	add_int(emit, "all", bt_engine_cache(engine)->view.snapshot->node_n, "all");
	add_int(emit, "empty", u->empty_node_n, "empty: without a pod");
	add_int(emit, "full", u->full_node_n, "nearly full (< 1 % free)");
	bt_emit_end(emit);
}

static void report_kinds(struct bt_emit *emit, const struct bt_simulation_facts *facts)
{
	if (facts->kind_n == 0) {
		return;
	}
	bt_emit_begin_array(emit, "kinds");
	bt_emit_label(emit, "objects read");
	size_t shown = bt_rows_shown(facts->kind_n, KINDS_MAX, facts->all);
	for (size_t i = 0; i < shown; i++) {
		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "kind", facts->kinds[i].name[0] ? facts->kinds[i].name : "(none)");
		bt_emit_int(emit, "objects", (int64_t)facts->kinds[i].n);
		bt_emit_text(emit, "use", facts->kinds[i].used ? "used" : "not used");
		bt_emit_text(emit, "effect", facts->kinds[i].effect ? facts->kinds[i].effect : "");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
	bt_rows_more(emit, "more_kinds", "more kinds of objects, not shown (--all shows them)", facts->kind_n,
		shown);
}

static void add_micros(struct bt_emit *emit, const char *key, double ns, const char *label)
{
	bt_emit_real(emit, key, ns / 1000, 3);
	bt_emit_label(emit, label);
}

static void report_stages(struct bt_emit *emit, const struct bt_stage_latency *stages)
{
	if (!stages) {
		return;
	}
	bt_emit_begin_array(emit, "stages");
	bt_emit_label(emit, "how long stages took, in microseconds");
	for (int i = 0; i < BT_STAGE_N; i++) {
		const struct bt_histogram *histogram = &stages->histograms[i];
		uint64_t n = bt_histogram_count(histogram);

		if (n == 0) {
			continue;
		}
		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "stage", bt_stage_name((enum bt_stage)i));
		bt_emit_text(emit, "measured", bt_stage_text((enum bt_stage)i));
		bt_emit_hide(emit);
		add_int(emit, "count", n, "count");
		add_micros(emit, "mean_us", bt_histogram_mean(histogram), "mean");
		add_micros(emit, "p50_us", (double)bt_histogram_quantile(histogram, 500000), "p50");
		add_micros(emit, "p90_us", (double)bt_histogram_quantile(histogram, 900000), "p90");
		add_micros(emit, "p99_us", (double)bt_histogram_quantile(histogram, 990000), "p99");
		add_micros(emit, "p999_us", (double)bt_histogram_quantile(histogram, 999000), "p999");
		add_micros(emit, "max_us", (double)bt_histogram_max(histogram), "max");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_seconds(struct bt_emit *emit, const char *key, double seconds, int digits, const char *label)
{
	bt_emit_real(emit, key, seconds, digits);
	bt_emit_label(emit, label);
	bt_emit_unit(emit, "s");
}

static void report_time(struct bt_emit *emit, struct bt_engine *engine,
	const struct bt_simulation_facts *facts, double report_s)
{
	struct bt_engine_counts counts = bt_engine_counts(engine);

	bt_emit_begin_object(emit, "time");
	add_seconds(emit, "read_s", facts->read_s, 4, "reading");
	if (facts->bytes_read) {
		bt_emit_real(emit, "read_mb_per_s",
			facts->read_s > 0 ? (double)facts->bytes_read / facts->read_s / 1e6 : 0, 0);
		bt_emit_label(emit, "  rate");
		bt_emit_unit(emit, "MB/s");
	}
	add_seconds(emit, "decide_s", facts->decide_s, 4, "deciding");
	bt_emit_real(emit, "placements_per_s",
		facts->decide_s > 0 ? (double)counts.placed_n / facts->decide_s : 0, 0);
	bt_emit_label(emit, "  pods scheduled per second");
	add_seconds(emit, "report_s", report_s, 4, "reporting");
	add_seconds(emit, "virtual_s", facts->virtual_s, 0, "virtual time");
	if (!(facts->virtual_s > 0)) {
		bt_emit_hide(emit);
	}
	bt_emit_end(emit);
}

void bt_report_begin(struct bt_emit *emit, const char *source, uint64_t seed)
{
	bt_emit_text(emit, "schema", BT_REPORT_SCHEMA);
	bt_emit_hide(emit);
	bt_emit_text(emit, "source", source);
	bt_emit_int(emit, "seed", (int64_t)seed);
}

void bt_report_simulation(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_simulation_facts *facts)
{
	int64_t start_ns = bt_clock_monotonic_ns();
	struct bt_cluster_utilization utilization;
	struct bt_unplaced unplaced;

	bt_unplaced_collect(engine, &unplaced);
	bt_utilization_measure(bt_engine_cache(engine), &utilization);
	if (facts->interrupted) {
		bt_emit_bool(emit, "interrupted", true);
		bt_emit_label(emit, "Interrupted: partial results");
	}
	if (facts->problems) {
		add_int(emit, "problems", facts->problems, "problems in the input");
	}
	report_pods(emit, engine, facts, &unplaced);
	bt_report_unplaced(emit, engine, &unplaced, bt_rows_shown(unplaced.group_n, GROUPS_MAX, facts->all));
	bt_report_queueing(emit, engine, &facts->queueing);
	report_nodes(emit, engine, &utilization);
	if (facts->has_uses) {
		report_over_time(emit, facts, &utilization);
	}
	report_resources(emit, &utilization);
	report_zones(emit, &utilization, facts->all);
	report_kinds(emit, facts);
	report_stages(emit, facts->stages);
	report_time(emit, engine, facts, (double)(bt_clock_monotonic_ns() - start_ns) / 1e9);
	bt_unplaced_fini(&unplaced);
	bt_utilization_fini(&utilization);
}
