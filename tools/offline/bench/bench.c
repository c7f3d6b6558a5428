/* SPDX-License-Identifier: Apache-2.0
 * Repeated runs.
 */
#include "tools/offline/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/cli/interrupt.h"

#define SECOND_NS INT64_C(1000000000)
#define LONG_NS	  (3 * SECOND_NS) /* a run that collects for longer gives enough samples: one run is enough */
#define MEASURE_S 1.0		  /* target collecting time ... */
#define ENOUGH_S  10.0		  /* ... unless all runs together exceed this */
#define RUN_MIN	  3
#define RUN_MAX	  1000
#define RATE_MIN  2 /* number of samples per second that is enough */

/* ---- numbers ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Source: throughputCollector.collect, v1.36.3. */
static double percentile(const double *values, size_t n, double percent)
{
	return values[(size_t)ceil((double)n * percent / 100) - 1];
}

struct bt_buckets bt_buckets_of(double *values, size_t n)
{
	double sum = 0;

	BT_REQUIRE(n > 0);
	qsort(values, n, sizeof(*values), by_value);
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
	}
	return (struct bt_buckets){
		.average = sum / (double)n,
		.perc50 = percentile(values, n, 50),
		.perc90 = percentile(values, n, 90),
		.perc95 = percentile(values, n, 95),
		.perc99 = percentile(values, n, 99),
		.max = values[n - 1],
	};
}

bool bt_bucket(const struct bt_buckets *buckets, struct bt_str name, double *out_value)
{
	const struct {
		const char *name;
		double value;
	} all[] = {{"Average", buckets->average}, {"Perc50", buckets->perc50}, {"Perc90", buckets->perc90},
		{"Perc95", buckets->perc95}, {"Perc99", buckets->perc99}, {"Max", buckets->max}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (bt_str_is(name, all[i].name)) {
			*out_value = all[i].value;
			return true;
		}
	}
	return false;
}

/* ---- adding up ---- */

static void bench_note(double **values, size_t *n, size_t *cap, double value)
{
	*values = bt_mem_grow(*values, *n, cap, sizeof(**values));
	(*values)[(*n)++] = value;
}

static struct bt_bench_item *item_of(struct bt_bench_result *result, size_t ix, const char *name)
{
	const struct bt_bench_run_plan *plan = result->plan;
	struct bt_buf text = {0};

	if (ix < result->item_n) {
		return &result->items[ix];
	}
	result->items = bt_mem_grow(result->items, result->item_n, &result->item_cap, sizeof(*result->items));
	struct bt_bench_item *item = &result->items[result->item_n++];
	bt_buf_printf(&text, "BenchmarkPerfScheduling/%.*s/%.*s/%s", BT_STR_ARG(plan->test_case->name),
		BT_STR_ARG(plan->workload->name), name);
	*item = (struct bt_bench_item){.name = bt_mem_copy(text.ptr, text.len)};
	bt_buf_fini(&text);
	return item;
}

/* Merges collected data. rates: include the throughput. */
static void add_collected(struct bt_bench_item *item, struct bt_collected *collected, bool rates)
{
	if (collected->stages && !item->stages) {
		item->stages = collected->stages;
		collected->stages = NULL;
	}
	item->pod_n = collected->pod_n;
	if (!rates) {
		return;
	}
	item->run_n++;
	item->all_n += collected->pod_n;
	item->seconds += (double)collected->took_ns / 1e9;
	item->cpu_s += (double)collected->cpu_ns / 1e9;
	if (collected->heap_n > 1 && collected->took_ns > 0) {
		item->growth += (collected->heaps[collected->heap_n - 1] - collected->heaps[0]) * 1e9 /
				(double)collected->took_ns;
	}
	for (size_t i = 0; i < collected->heap_n; i++) {
		bench_note(&item->heaps, &item->heap_n, &item->heap_cap, collected->heaps[i]);
	}
	item->by_second = collected->rate_n >= RATE_MIN;
	if (!item->by_second && collected->pod_n && collected->took_ns > 0) {
		bench_note(&item->rates, &item->rate_n, &item->rate_cap,
			(double)collected->pod_n * 1e9 / (double)collected->took_ns);
	}
	for (size_t i = 0; i < collected->rate_n && item->by_second; i++) {
		bench_note(&item->rates, &item->rate_n, &item->rate_cap, collected->rates[i]);
	}
}

/* The number of a run's pods according to the file, for its progress. */
static uint64_t pods_of(const struct bt_bench_run_plan *plan)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < plan->ops.n; i++) {
		n += plan->ops.ops[i].kind == BT_BENCH_OP_CREATE_PODS ? (uint64_t)plan->ops.ops[i].count : 0;
	}
	return n;
}

/* Runs once. Returns: for how long metrics were collected, in seconds. */
static double run_once(struct bt_bench_result *result, const struct bt_bench_options *options,
	struct bt_specs *specs, bool first, bool last)
{
	struct bt_bench_run_options run = options->run;
	struct bt_bench_run_result got;
	struct bt_buf label = {0};
	struct bt_progress progress;
	double collected_s = 0;

	bt_buf_printf(&label, "%.*s/%.*s", BT_STR_ARG(result->plan->test_case->name),
		BT_STR_ARG(result->plan->workload->name));
	bt_progress_begin(&progress, label.ptr, pods_of(result->plan), options->quiet);
	run.stages = first;
	run.progress = &progress;
	bt_bench_run_workload(result->plan, &run, specs, &got);
	bt_progress_end(&progress);
	bt_buf_fini(&label);
	result->end = got.end;
	result->node_n = got.node_n;
	result->pod_n = got.pod_n;
	result->churn_n = got.churn_n;
	result->counts = got.counts;
	result->timed = got.timed;
	result->run_n++;
	for (size_t i = 0; i < got.collected_n; i++) {
		collected_s += (double)got.collected[i].took_ns / 1e9;
	}
	bool by_second = collected_s * 1e9 >= (double)LONG_NS;
	for (size_t i = 0; i < got.collected_n && got.end == BT_BENCH_RUN_DONE; i++) {
		struct bt_bench_item *item = item_of(result, i, got.collected[i].name);

		add_collected(item, &got.collected[i], !first || last || by_second);
	}
	if (got.end != BT_BENCH_RUN_DONE) {
		result->why = got.why;
		got.why = (struct bt_buf){0};
	}
	bt_bench_run_result_fini(&got);
	return collected_s;
}

/* ---- thresholds ---- */

static const struct bt_threshold_metric *metric_of(const struct bt_bench_run_plan *plan)
{
	return plan->workload->metric.set ? &plan->workload->metric : &plan->test_case->metric;
}

/* Compares the metric with its threshold. Only throughput is measured. */
static void apply_threshold(struct bt_bench_result *result, struct bt_bench_item *item, double threshold)
{
	const struct bt_threshold_metric *metric = metric_of(result->plan);
	struct bt_str bucket = metric->set ? metric->bucket : (struct bt_str)BT_STR("Average");

	if (!(threshold > 0) || item->rate_n == 0 ||
		(metric->set && !bt_str_is(metric->name, "SchedulingThroughput"))) {
		return;
	}
	const struct bt_buckets buckets = bt_buckets_of(item->rates, item->rate_n);
	if (bt_bucket(&buckets, bucket, &item->value)) {
		item->threshold = threshold;
		item->missed = metric->lower ? item->value >= threshold : item->value <= threshold;
	}
}

static bool is_enough(const struct bt_bench_options *options, const struct bt_bench_result *result,
	double collected_s, double took_s)
{
	uint32_t counted = result->run_n - 1; /* the first one measured stages */

	if (options->run_n) {
		return result->run_n >= options->run_n;
	}
	return (counted >= RUN_MIN && collected_s >= MEASURE_S) || (counted >= 1 && took_s >= ENOUGH_S) ||
	       counted >= RUN_MAX;
}

void bt_bench_workload(const struct bt_bench_run_plan *plan, const struct bt_bench_options *options,
	struct bt_specs *specs, struct bt_str topic, struct bt_bench_result *out_result)
{
	int64_t begin_ns = bt_clock_monotonic_ns();
	double collected_s;

	*out_result = (struct bt_bench_result){.plan = plan, .end = BT_BENCH_RUN_DONE};
	collected_s = run_once(out_result, options, specs, true, options->run_n == 1);
	bool more = options->run_n != 1 && collected_s * 1e9 < (double)LONG_NS;
	collected_s = 0;
	while (more && out_result->end == BT_BENCH_RUN_DONE) {
		collected_s += run_once(out_result, options, specs, false, false);
		more = !is_enough(
			options, out_result, collected_s, (double)(bt_clock_monotonic_ns() - begin_ns) / 1e9);
	}
	out_result->took_s = (double)(bt_clock_monotonic_ns() - begin_ns) / 1e9;
	for (size_t i = 0; i < out_result->item_n; i++) {
		apply_threshold(
			out_result, &out_result->items[i], bt_workload_threshold(plan->workload, topic));
	}
}

void bt_bench_result_fini(struct bt_bench_result *result)
{
	for (size_t i = 0; i < result->item_n; i++) {
		bt_mem_free(result->items[i].name);
		bt_mem_free(result->items[i].rates);
		bt_mem_free(result->items[i].heaps);
		bt_mem_free(result->items[i].stages);
	}
	bt_mem_free(result->items);
	bt_buf_fini(&result->why);
	*result = (struct bt_bench_result){.plan = NULL};
}

struct bt_str bt_bench_topic(const struct bt_workload_file *file)
{
	struct bt_str folder = file->folder;
	size_t from = folder.len;

	while (from > 0 && folder.ptr[from - 1] != '/') {
		from--;
	}
	return bt_str_sub(folder, from, folder.len);
}
