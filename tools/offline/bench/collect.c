/* SPDX-License-Identifier: Apache-2.0
 * Collecting: when pods were bound, how much memory was in use, how long stages took.
 * Source: the collectors of util.go, v1.36.3.
 */
#include <string.h>
#include <time.h>

#include "engine/base/mem.h"
#include "tools/offline/bench/run_int.h"
#include "tools/cli/interrupt.h"

#define SECOND_NS   INT64_C(1000000000)
#define INTERVAL_NS SECOND_NS

static struct bt_collected *now_collecting(struct bt_bench_run *run)
{
	return &run->result->collected[run->result->collected_n - 1];
}

static int64_t thread_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * SECOND_NS + time.tv_nsec;
}

static void note_heap(struct bt_collected *to)
{
	to->heaps = bt_mem_grow(to->heaps, to->heap_n, &to->heap_cap, sizeof(*to->heaps));
	to->heaps[to->heap_n++] = (double)bt_mem_in_use_bytes();
}

static void note_rate(struct bt_collected *to, double rate)
{
	to->rates = bt_mem_grow(to->rates, to->rate_n, &to->rate_cap, sizeof(*to->rates));
	to->rates[to->rate_n++] = rate;
}

/* Which namespaces: those of the operation, or the one of createPods. */
static void choose_spaces(struct bt_bench_run *run, const struct bt_bench_op *op, struct bt_str name)
{
	uint32_t n = op->kind == BT_BENCH_OP_CREATE_PODS ? 1 : op->namespaces.n;

	run->collected_spaces = bt_mem_realloc(run->collected_spaces, n + 1, sizeof(*run->collected_spaces));
	for (uint32_t i = 0; i < n; i++) {
		run->collected_spaces[i] = bt_world_namespace(&run->world,
			op->kind == BT_BENCH_OP_CREATE_PODS ? name : op->namespaces.items[i], NULL);
	}
	run->world.collector = (struct bt_world_watch){
		.spaces = run->collected_spaces,
		.space_n = n,
		.labels = op->kind != BT_BENCH_OP_CREATE_PODS && op->labels.n ? &op->labels : NULL,
	};
	bt_world_watch(&run->world, &run->world.collector);
	run->world.collector.placed_n = 0; /* earlier pods do not count */
}

bool bt_bench_run_collect_begin(struct bt_bench_run *run, const struct bt_bench_op *op, struct bt_str name)
{
	struct bt_bench_run_result *result = run->result;

	if (run->collecting) {
		return bt_bench_run_fail(run, BT_BENCH_RUN_FAILED,
			"%s (line %zu) begins to collect metrics while others are being collected",
			bt_bench_op_word(op->kind), op->line);
	}
	result->collected = bt_mem_grow(
		result->collected, result->collected_n, &result->collected_cap, sizeof(*result->collected));
	struct bt_collected *collected = &result->collected[result->collected_n++];
	*collected = (struct bt_collected){.name = bt_mem_copy(name.ptr ? name.ptr : "", name.len)};
	choose_spaces(run, op, name);
	/* Earlier objects are processed before the clock starts. */
	while (bt_world_step(&run->world) && !bt_interrupt_pending()) {
	}
	if (run->options->stages) {
		bt_mem_free(run->before);
		run->before = bt_stage_latency_create();
		bt_pipeline_stages(run->world.pipeline, run->before);
	}
	note_heap(collected);
	run->collecting = true;
	run->sampling = false;
	run->skipped_n = 0;
	run->cpu_ns = thread_cpu_ns();
	run->collect_ns = bt_clock_monotonic_ns();
	run->sample_ns = run->collect_ns + INTERVAL_NS;
	run->heap_ns = run->collect_ns + INTERVAL_NS / 2;
	return true;
}

/*
 * A second is over. The first one with pods is not counted, as it may have begun late; seconds without any
 * take part in the next one that has some.
 */
static void sample(struct bt_bench_run *run, int64_t now_ns)
{
	struct bt_collected *collected = now_collecting(run);
	uint64_t placed_n = run->world.collector.placed_n;

	if (placed_n == 0) {
		return;
	}
	if (!run->sampling) {
		run->sampling = true;
	} else if (placed_n == run->sampled_n) {
		run->skipped_n++;
		return;
	} else {
		double rate = (double)(placed_n - run->sampled_n) * 1e9 / (double)(now_ns - run->sampled_ns);

		for (uint64_t i = 0; i <= run->skipped_n; i++) {
			note_rate(collected, rate);
		}
	}
	run->skipped_n = 0;
	run->sampled_n = placed_n;
	run->sampled_ns = now_ns;
}

void bt_bench_run_collect_tick(struct bt_bench_run *run, int64_t now_ns)
{
	if (now_ns >= run->sample_ns) {
		sample(run, now_ns);
		run->sample_ns += INTERVAL_NS;
		run->sample_ns = run->sample_ns < now_ns ? now_ns + INTERVAL_NS : run->sample_ns;
	}
	if (now_ns >= run->heap_ns) {
		note_heap(now_collecting(run));
		run->heap_ns = now_ns + INTERVAL_NS / 2;
	}
}

bool bt_bench_run_collect_end(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	if (!run->collecting) {
		return bt_bench_run_fail(run, BT_BENCH_RUN_FAILED,
			"%s (line %zu) ends collecting metrics, which has not begun",
			bt_bench_op_word(op->kind), op->line);
	}
	struct bt_collected *collected = now_collecting(run);
	collected->took_ns = bt_clock_monotonic_ns() - run->collect_ns;
	collected->cpu_ns = thread_cpu_ns() - run->cpu_ns;
	collected->pod_n = run->world.collector.placed_n;
	note_heap(collected);
	run->collecting = run->world.collector.on = false;
	if (run->options->stages) {
		/* The answers to the last bindings are in transit. */
		while (bt_world_step(&run->world) && !bt_interrupt_pending()) {
		}
		collected->stages = bt_stage_latency_create();
		bt_pipeline_stages(run->world.pipeline, collected->stages);
		bt_stage_latency_subtract(collected->stages, run->before);
	}
	return true;
}
