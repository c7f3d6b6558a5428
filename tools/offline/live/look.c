/* SPDX-License-Identifier: Apache-2.0
 * Fills the live view's numbers.
 */
#include "tools/offline/live/look.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/rcu.h"

static void add_conflict(struct bt_live_numbers *numbers, const char *name, uint64_t n)
{
	if (numbers->conflict_n < BT_LIVE_KINDS) {
		numbers->conflicts[numbers->conflict_n++] = (struct bt_live_kind){name, n};
	}
}

void bt_live_of_engine(struct bt_live_numbers *numbers, struct bt_engine *engine)
{
	const struct bt_engine_counts counts = bt_engine_counts(engine);

	numbers->places[BT_WAIT_ACTIVE] = counts.queue.active;
	numbers->places[BT_WAIT_BACKOFF] = counts.queue.backoff;
	numbers->places[BT_WAIT_UNSCHEDULABLE] = counts.queue.unschedulable;
	numbers->places[BT_WAIT_GATED] = counts.queue.gated;
	numbers->places[BT_WAIT_IN_FLIGHT] = counts.queue.in_flight;
	numbers->places[BT_WAIT_BINDING] = counts.queue.binding;
	numbers->node_n = bt_engine_cache(engine)->view.snapshot->node_n;
	numbers->assumed = counts.sets.assumed;
	numbers->scheduled = counts.sets.scheduled;
	numbers->decided_n = counts.cycle_n;
	numbers->placed_n = counts.placed_n;
	numbers->refused_n = counts.refused_n;
	/* Events: an addition for each pod, existing or deleted, and a deletion for each deleted one. */
	numbers->event_n =
		counts.sets.queued + counts.sets.assumed + counts.sets.scheduled + 2 * counts.sets.remove_n;
	add_conflict(numbers, "bindings undone", counts.sets.forget_n);
	add_conflict(numbers, "failed cycles", counts.failed_n);
	add_conflict(numbers, "preemptions", counts.preemption_n);
}

void bt_live_of_stages(struct bt_live_numbers *numbers, const struct bt_stage_latency *stages)
{
	numbers->has_stages = true;
	for (int i = 0; i < BT_STAGE_N; i++) {
		const struct bt_histogram *histogram = &stages->histograms[i];

		numbers->stages[i] = (struct bt_live_stage){
			.n = bt_histogram_count(histogram),
			.p50_ns = bt_histogram_quantile(histogram, 500000),
			.p90_ns = bt_histogram_quantile(histogram, 900000),
			.p99_ns = bt_histogram_quantile(histogram, 990000),
			.p999_ns = bt_histogram_quantile(histogram, 999000),
			.max_ns = bt_histogram_max(histogram),
		};
	}
}

/* ---- pipeline ---- */

static void visit(void *context, struct bt_engine *engine)
{
	bt_live_of_engine(context, engine);
}

static void read_rings(struct bt_live_numbers *numbers, const struct bt_pipeline *pipeline)
{
	struct bt_pipeline_ring rings[BT_LIVE_RINGS];
	uint32_t n = bt_pipeline_rings(pipeline, rings, BT_LIVE_RINGS);

	numbers->ring_n = n < BT_LIVE_RINGS ? n : BT_LIVE_RINGS;
	for (uint32_t i = 0; i < numbers->ring_n; i++) {
		numbers->rings[i] = (struct bt_live_ring){rings[i].name, rings[i].count, rings[i].capacity,
			rings[i].high_water, rings[i].full_n};
	}
}

static const char *word_of(const struct bt_pipeline_thread *thread)
{
	static const char *const words[] = {[BT_THREAD_NONE] = "not started",
		[BT_THREAD_WORKS] = "works",
		[BT_THREAD_WAITS] = "waits",
		[BT_THREAD_ENDED] = "has ended"};

	return thread->stalled ? "STALLED" : words[thread->state];
}

/* The pipeline's data of its threads is better than the kernel's. */
static void read_threads(struct bt_live_numbers *numbers, const struct bt_pipeline *pipeline)
{
	struct bt_pipeline_thread threads[BT_LIVE_THREADS];
	uint32_t n = bt_pipeline_threads(pipeline, threads, BT_LIVE_THREADS);

	for (uint32_t i = 0; i < n && i < BT_LIVE_THREADS; i++) {
		for (uint32_t j = 0; j < numbers->thread_n; j++) {
			if (strcmp(numbers->threads[j].name, threads[i].name) == 0) {
				numbers->threads[j].does = word_of(&threads[i]);
			}
		}
	}
}

void bt_live_of_pipeline(struct bt_live_numbers *numbers, struct bt_pipeline *pipeline)
{
	const struct bt_pipeline_counts counts = bt_pipeline_counts(pipeline);
	struct bt_stage_latency *stages = bt_stage_latency_create();

	bt_pipeline_call(pipeline, visit, numbers);
	numbers->event_n = counts.applied_n + counts.deleted_n;
	add_conflict(numbers, "late events", counts.stale_n);
	add_conflict(numbers, "pods replaced", counts.replaced_n);
	add_conflict(numbers, "bindings failed", counts.failed_n);
	add_conflict(numbers, "taken back", counts.cancelled_n);
	add_conflict(numbers, "pod gone", counts.pod_gone_n);
	add_conflict(numbers, "node gone", counts.node_gone_n);
	add_conflict(numbers, "bound elsewhere", counts.elsewhere_n);
	add_conflict(numbers, "failed but bound", counts.shown_failed_n);
	add_conflict(numbers, "overdue", counts.overdue_n);
	add_conflict(numbers, "answered late", counts.late_n);
	add_conflict(numbers, "recovered", counts.recovered_n);
	add_conflict(numbers, "answered twice", counts.repeated_n);
	add_conflict(numbers, "bogus answers", counts.bogus_n);
	add_conflict(numbers, "evictions failed", counts.evict_failed_n);
	read_rings(numbers, pipeline);
	read_threads(numbers, pipeline);
	bt_pipeline_stages(pipeline, stages);
	bt_live_of_stages(numbers, stages);
	bt_mem_free(stages);
}

/* ---- process ---- */

/* The first line of a file of a thread of this process. Returns: false when there is none. */
static bool read_line(const char *thread, const char *file, char *out, int size)
{
	char path[320];
	bool read = false;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", thread, file);
	FILE *in = fopen(path, "re");
	if (in) {
		read = fgets(out, size, in);
		fclose(in);
	}
	return read;
}

static const char *word_of_state(char state)
{
	switch (state) {
	case 'R':
		return "runs";
	case 'D':
		return "waits for a disk";
	default:
		return "sleeps";
	}
}

/* Reads the kernel's data of a thread. Returns: false when it has ended. */
static bool read_task(const char *id, struct bt_live_thread *out)
{
	char line[512];

	*out = (struct bt_live_thread){.does = ""};
	if (!read_line(id, "stat", line, sizeof(line))) {
		return false;
	}
	/* NUMBER (NAME) STATE …; the name may hold parentheses. */
	char *name = strchr(line, '('), *behind = strrchr(line, ')');
	if (!name || !behind || behind[1] != ' ') {
		return false;
	}
	*behind = 0;
	snprintf(out->name, sizeof(out->name), "%.*s", BT_LIVE_NAME_MAX - 1, name + 1);
	out->does = word_of_state(behind[2]);
	if (read_line(id, "schedstat", line, sizeof(line))) {
		out->cpu_ns = strtoll(line, NULL, 10);
	}
	return true;
}

static void read_tasks(struct bt_live_numbers *numbers)
{
	DIR *tasks = opendir("/proc/self/task");

	if (!tasks) {
		return;
	}
	for (const struct dirent *entry; (entry = readdir(tasks)) && numbers->thread_n < BT_LIVE_THREADS;) {
		if (entry->d_name[0] != '.' &&
			read_task(entry->d_name, &numbers->threads[numbers->thread_n])) {
			numbers->thread_n++;
		}
	}
	closedir(tasks);
}

void bt_live_of_process(struct bt_live_numbers *numbers)
{
	const struct bt_rcu_stats rcu = bt_rcu_stats_read();

	numbers->rcu_pending_n = rcu.pending_n;
	numbers->rcu_pending_bytes = rcu.pending_bytes;
	numbers->rcu_throttle_n = rcu.throttle_n;
	numbers->rcu_stall_n = rcu.stall_n;
	read_tasks(numbers);
}
