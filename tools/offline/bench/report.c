/* SPDX-License-Identifier: Apache-2.0
 * Reports of workloads.
 */
#include "tools/offline/bench/report.h"

#include <string.h>

#include "engine/base/mem.h"

#define NONE "not applicable" /* upstream's word for a missing label */
#define MB   (1024.0 * 1024.0)

/* ---- data items ---- */

static void add_labels(struct bt_emit *emit, const char *name, const char *metric, const char *stage)
{
	bt_emit_begin_object(emit, "labels");
	bt_emit_text(emit, "Metric", metric);
	bt_emit_text(emit, "Name", name);
	bt_emit_text(emit, "stage", stage);
	bt_emit_end(emit);
}

static void add_buckets(struct bt_emit *emit, const struct bt_buckets *buckets, double scale)
{
	bt_emit_real(emit, "Average", buckets->average * scale, 6);
	bt_emit_real(emit, "Perc50", buckets->perc50 * scale, 6);
	bt_emit_real(emit, "Perc90", buckets->perc90 * scale, 6);
	bt_emit_real(emit, "Perc95", buckets->perc95 * scale, 6);
	bt_emit_real(emit, "Perc99", buckets->perc99 * scale, 6);
}

static struct bt_str bucket_name(const struct bt_bench_run_plan *plan)
{
	const struct bt_threshold_metric *metric =
		plan->workload->metric.set ? &plan->workload->metric : &plan->test_case->metric;

	return metric->set ? metric->bucket : (struct bt_str)BT_STR("Average");
}

static void add_throughput(
	struct bt_emit *emit, const struct bt_bench_run_plan *plan, const struct bt_bench_item *item)
{
	const struct bt_buckets buckets = bt_buckets_of(item->rates, item->rate_n);
	struct bt_buf key = {0};

	bt_emit_begin_object(emit, NULL);
	bt_emit_begin_object(emit, "data");
	add_buckets(emit, &buckets, 1);
	if (item->threshold > 0) {
		bt_buf_printf(&key, "%.*sThreshold", BT_STR_ARG(bucket_name(plan)));
		bt_emit_real(emit, key.ptr, item->threshold, 6);
		bt_buf_fini(&key);
	}
	bt_emit_end(emit);
	bt_emit_text(emit, "unit", "pods/s");
	add_labels(emit, item->name, "SchedulingThroughput", NONE);
	bt_emit_end(emit);
}

static void add_heap(struct bt_emit *emit, const struct bt_bench_item *item)
{
	const struct bt_buckets buckets = bt_buckets_of(item->heaps, item->heap_n);

	bt_emit_begin_object(emit, NULL);
	bt_emit_begin_object(emit, "data");
	add_buckets(emit, &buckets, 1 / MB);
	bt_emit_real(emit, "Max", buckets.max / MB, 6);
	bt_emit_end(emit);
	bt_emit_text(emit, "unit", "MB");
	add_labels(emit, item->name, "heap_memory_usage", NONE);
	bt_emit_end(emit);
}

/* A mean over the runs. */
static void add_growth(struct bt_emit *emit, const struct bt_bench_item *item)
{
	bt_emit_begin_object(emit, NULL);
	bt_emit_begin_object(emit, "data");
	bt_emit_real(emit, "GrowthRate", 60 * item->growth / item->run_n / MB, 6);
	bt_emit_end(emit);
	bt_emit_text(emit, "unit", "MB/min");
	add_labels(emit, item->name, "memory_growth_rate", NONE);
	bt_emit_end(emit);
}

static void add_duration(struct bt_emit *emit, const struct bt_bench_item *item)
{
	bt_emit_begin_object(emit, NULL);
	bt_emit_begin_object(emit, "data");
	bt_emit_real(emit, "Duration", item->seconds / item->run_n, 9);
	bt_emit_end(emit);
	bt_emit_text(emit, "unit", "s");
	add_labels(emit, item->name, "SchedulingDuration", NONE);
	bt_emit_end(emit);
}

static struct bt_buckets buckets_of_stage(const struct bt_histogram *histogram)
{
	return (struct bt_buckets){
		.average = bt_histogram_mean(histogram),
		.perc50 = (double)bt_histogram_quantile(histogram, 500000),
		.perc90 = (double)bt_histogram_quantile(histogram, 900000),
		.perc95 = (double)bt_histogram_quantile(histogram, 950000),
		.perc99 = (double)bt_histogram_quantile(histogram, 990000),
	};
}

static void add_stages(struct bt_emit *emit, const struct bt_bench_item *item)
{
	for (int i = 0; i < BT_STAGE_N && item->stages; i++) {
		const struct bt_histogram *histogram = &item->stages->histograms[i];
		const struct bt_buckets buckets = buckets_of_stage(histogram);

		if (bt_histogram_count(histogram) == 0) {
			continue;
		}
		bt_emit_begin_object(emit, NULL);
		bt_emit_begin_object(emit, "data");
		add_buckets(emit, &buckets, 1e-6);
		bt_emit_end(emit);
		bt_emit_text(emit, "unit", "ms");
		add_labels(emit, item->name, "berth_stage_duration_seconds", bt_stage_name((enum bt_stage)i));
		bt_emit_end(emit);
	}
}

static void report_items(struct bt_emit *emit, const struct bt_bench_result *results, size_t n)
{
	bt_emit_begin_array(emit, "dataItems");
	bt_emit_hide(emit);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < results[i].item_n; k++) {
			const struct bt_bench_item *item = &results[i].items[k];

			if (item->rate_n) {
				add_throughput(emit, results[i].plan, item);
			}
			if (item->heap_n) {
				add_heap(emit, item);
				add_growth(emit, item);
			}
			add_stages(emit, item);
			if (item->run_n) {
				add_duration(emit, item);
			}
		}
	}
	bt_emit_end(emit);
}

/* ---- rows ---- */

static const char *word_of(const struct bt_bench_result *result, const struct bt_bench_item *item)
{
	static const char *const words[] = {[BT_BENCH_RUN_DONE] = "ok",
		[BT_BENCH_RUN_FAILED] = "failed",
		[BT_BENCH_RUN_UNSUPPORTED] = "not supported",
		[BT_BENCH_RUN_INTERRUPTED] = "interrupted"};

	return item && item->missed ? "missed" : words[result->end];
}

static void add_int(struct bt_emit *emit, const char *key, uint64_t value, const char *label)
{
	bt_emit_int(emit, key, (int64_t)value);
	bt_emit_label(emit, label);
}

static void add_rate(struct bt_emit *emit, const char *key, double value, const char *label)
{
	bt_emit_real(emit, key, value, value < 1000 ? 1 : 0);
	bt_emit_label(emit, label);
}

/* Case and workload; the item's name only if there are several. */
static void add_name(
	struct bt_emit *emit, const struct bt_bench_result *result, const struct bt_bench_item *item)
{
	struct bt_buf name = {0};

	if (item && result->item_n > 1) {
		bt_buf_text(&name, strchr(item->name, '/') + 1);
	} else {
		bt_buf_printf(&name, "%.*s/%.*s", BT_STR_ARG(result->plan->test_case->name),
			BT_STR_ARG(result->plan->workload->name));
	}
	bt_emit_str(emit, "workload", bt_buf_view(&name));
	bt_buf_fini(&name);
}

static void add_rates(struct bt_emit *emit, const struct bt_bench_item *item)
{
	const struct bt_buckets buckets = bt_buckets_of(item->rates, item->rate_n);

	add_rate(emit, "average", buckets.average, "pods/s");
	add_rate(emit, "p50", buckets.perc50, "p50");
	add_rate(emit, "p90", buckets.perc90, "p90");
	add_rate(emit, "p95", buckets.perc95, "p95");
	add_rate(emit, "p99", buckets.perc99, "p99");
	if (item->threshold > 0) {
		add_rate(emit, "threshold", item->threshold, "upstream's");
		bt_emit_real(emit, "times", item->value / item->threshold, 0);
		bt_emit_label(emit, "times");
	}
	bt_emit_int(emit, "samples", (int64_t)item->rate_n);
	bt_emit_label(emit, "samples");
	bt_emit_text(emit, "sampled_by", item->by_second ? "second" : "run");
	bt_emit_label(emit, "each a");
}

static void add_time(struct bt_emit *emit, const struct bt_bench_item *item)
{
	bt_emit_real(emit, "run_ms", 1e3 * item->seconds / item->run_n, 1);
	bt_emit_label(emit, "ms a run");
	bt_emit_real(emit, "cpu_percent", 100 * item->cpu_s / item->seconds, 0);
	bt_emit_label(emit, "cpu %");
	if (item->all_n && item->cpu_s > 0) {
		add_rate(emit, "per_cpu_s", (double)item->all_n / item->cpu_s, "pods/cpu s");
	}
}

static void add_counts(struct bt_emit *emit, const struct bt_bench_result *result, double speed)
{
	add_int(emit, "runs", result->run_n, "runs");
	bt_emit_real(emit, "speed", result->timed ? speed : 1, result->timed && speed < 1 ? 3 : 0);
	bt_emit_label(emit, "speed");
	add_int(emit, "churned", result->churn_n, "churned");
	add_int(emit, "deleted", result->counts.deleted_n, "deleted");
	add_int(emit, "refused", result->counts.refused_n, "refused");
	add_int(emit, "preemptions", result->counts.preemption_n, "preemptions");
	bt_emit_real(emit, "took_s", result->took_s, 3);
	bt_emit_hide(emit);
}

static void add_row(struct bt_emit *emit, const struct bt_bench_result *result,
	const struct bt_bench_item *item, double speed)
{
	bt_emit_begin_object(emit, NULL);
	add_name(emit, result, item);
	bt_emit_text(emit, "file", result->plan->file->path);
	bt_emit_hide(emit);
	bt_emit_text(emit, "status", word_of(result, item));
	add_int(emit, "nodes", result->node_n, "nodes");
	add_int(emit, "pods", item ? item->pod_n : 0, "pods");
	if (item && item->rate_n) {
		add_rates(emit, item);
	}
	if (item && item->run_n) {
		add_time(emit, item);
	}
	add_counts(emit, result, speed);
	bt_emit_text(emit, "why", result->why.len ? result->why.ptr : "");
	bt_emit_hide(emit);
	bt_emit_str(emit, "note", result->plan->notes);
	bt_emit_hide(emit);
	bt_emit_end(emit);
}

static void report_rows(struct bt_emit *emit, const struct bt_bench_result *results, size_t n, double speed)
{
	bt_emit_begin_array(emit, "workloads");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < results[i].item_n; k++) {
			add_row(emit, &results[i], &results[i].items[k], speed);
		}
		if (results[i].item_n == 0) {
			add_row(emit, &results[i], NULL, speed);
		}
	}
	bt_emit_end(emit);
}

/* ---- stages ---- */

static void add_stage(struct bt_emit *emit, const struct bt_histogram *histogram, enum bt_stage stage)
{
	const struct bt_buckets buckets = buckets_of_stage(histogram);
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%.1f / %.1f", buckets.perc50 / 1e3, buckets.perc99 / 1e3);
	bt_emit_str(emit, bt_stage_name(stage),
		bt_histogram_count(histogram) ? bt_buf_view(&text) : (struct bt_str)BT_STR("-"));
	bt_buf_fini(&text);
}

static void report_stages(struct bt_emit *emit, const struct bt_bench_result *results, size_t n)
{
	bt_emit_begin_array(emit, "stages");
	bt_emit_label(emit, "how long stages took in the first run of each, in microseconds: p50 / p99 "
			    "(wait: by the engine's clock)");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < results[i].item_n; k++) {
			const struct bt_bench_item *item = &results[i].items[k];

			if (!item->stages) {
				continue;
			}
			bt_emit_begin_object(emit, NULL);
			add_name(emit, &results[i], item);
			for (int stage = 0; stage < BT_STAGE_N; stage++) {
				add_stage(emit, &item->stages->histograms[stage], (enum bt_stage)stage);
			}
			bt_emit_end(emit);
		}
	}
	bt_emit_end(emit);
}

/* ---- problems ---- */

static void report_problems(struct bt_emit *emit, const struct bt_bench_result *results, size_t n)
{
	bt_emit_begin_array(emit, "problems");
	for (size_t i = 0; i < n; i++) {
		if (results[i].end == BT_BENCH_RUN_DONE) {
			continue;
		}
		bt_emit_begin_object(emit, NULL);
		add_name(emit, &results[i], NULL);
		bt_emit_text(emit, "status", word_of(&results[i], NULL));
		bt_emit_text(emit, "why", results[i].why.len ? results[i].why.ptr : "");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

/* Differences from upstream in single workloads, each once. */
static void report_notes(struct bt_emit *emit, const struct bt_bench_result *results, size_t n)
{
	bt_emit_begin_array(emit, "notes");
	for (size_t i = 0; i < n; i++) {
		struct bt_str note = results[i].plan->notes;
		size_t k = 0;

		while (k < i && !bt_str_eq(results[k].plan->notes, note)) {
			k++;
		}
		if (note.len && k == i) {
			bt_emit_str(emit, NULL, note);
		}
	}
	bt_emit_end(emit);
}

void bt_bench_report_begin(struct bt_emit *emit)
{
	bt_emit_text(emit, "schema", BT_BENCH_SCHEMA);
	bt_emit_hide(emit);
	bt_emit_text(emit, "version", "v1");
	bt_emit_hide(emit);
}

void bt_bench_report(struct bt_emit *emit, const struct bt_bench_result *results, size_t n, double speed)
{
	report_items(emit, results, n);
	report_rows(emit, results, n, speed);
	report_stages(emit, results, n);
	report_problems(emit, results, n);
	report_notes(emit, results, n);
	bt_emit_text(emit, "differences", BT_BENCH_DIFFERENCES);
	bt_emit_hide(emit);
}
