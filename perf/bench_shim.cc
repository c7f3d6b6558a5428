/* SPDX-License-Identifier: Apache-2.0
 * The seam to Google Benchmark, and the only C++ in perf/. struct bt_bench is a benchmark::State that C
 * cannot see into.
 */
#include "bench.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

static_assert(sizeof(int64_t) == sizeof(benchmark::IterationCount), "iterations are 64 bits");

static bool skipped;
static const struct bt_bench_case *current; /* one runs at a time */

static benchmark::State *state_of(struct bt_bench *bench)
{
	return reinterpret_cast<benchmark::State *>(bench);
}

static const benchmark::State *state_of(const struct bt_bench *bench)
{
	return reinterpret_cast<const benchmark::State *>(bench);
}

int64_t bt_bench_arg(const struct bt_bench *bench)
{
	return current->arg_n ? state_of(bench)->range(0) : 0;
}

const void *bt_bench_subject(const struct bt_bench *)
{
	return current->subject;
}

bool bt_bench_keep_running(struct bt_bench *bench)
{
	return state_of(bench)->KeepRunning();
}

bool bt_bench_keep_running_batch(struct bt_bench *bench, int64_t n)
{
	return state_of(bench)->KeepRunningBatch(n);
}

int64_t bt_bench_iterations(const struct bt_bench *bench)
{
	return state_of(bench)->iterations();
}

void bt_bench_pause(struct bt_bench *bench)
{
	state_of(bench)->PauseTiming();
}

void bt_bench_resume(struct bt_bench *bench)
{
	state_of(bench)->ResumeTiming();
}

void bt_bench_items(struct bt_bench *bench, int64_t item_n)
{
	state_of(bench)->SetItemsProcessed(item_n);
}

void bt_bench_bytes(struct bt_bench *bench, int64_t bytes)
{
	state_of(bench)->SetBytesProcessed(bytes);
}

void bt_bench_counter(struct bt_bench *bench, const char *name, double value)
{
	state_of(bench)->counters[name] = benchmark::Counter(value);
}

void bt_bench_counter_mean(struct bt_bench *bench, const char *name, double total)
{
	state_of(bench)->counters[name] = benchmark::Counter(total, benchmark::Counter::kAvgIterations);
}

void bt_bench_skip(struct bt_bench *bench, const char *why)
{
	skipped = true;
	state_of(bench)->SkipWithError(why);
}

static void register_case(const struct bt_bench_suite *suite, const struct bt_bench_case *one)
{
	const std::string name = one->name ? std::string(suite->name) + "/" + one->name : suite->name;
	auto *registered = benchmark::RegisterBenchmark(name.c_str(), [one](benchmark::State &state) {
		current = one;
		one->run(reinterpret_cast<struct bt_bench *>(&state));
	});

	/* In brief mode, used by ctest, only the first argument is run. */
	const int arg_n = std::getenv("BT_BENCH_BRIEF") && one->arg_n ? 1 : one->arg_n;
	for (int i = 0; i < arg_n; i++) {
		registered->Arg(one->args[i]);
	}
	if (one->wall) {
		registered->UseRealTime();
	}
	if (one->iterations) {
		registered->Iterations(one->iterations);
	}
}

int bt_bench_main(int argc, char **argv, const struct bt_bench_suite *const *suites, int suite_n)
{
	benchmark::AddCustomContext("berth_invariants",
		BT_INVARIANTS ? "on (state no figures of this build; use the preset release)" : "off");
	for (int i = 0; i < suite_n; i++) {
		for (int j = 0; j < suites[i]->case_n; j++) {
			register_case(suites[i], &suites[i]->cases[j]);
		}
	}
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
		return 1;
	}
	const size_t run_n = benchmark::RunSpecifiedBenchmarks();
	benchmark::Shutdown();
	return run_n == 0 || skipped;
}
