/* SPDX-License-Identifier: Apache-2.0
 * Costs of the leaf library: arena allocations, hashes by length, the map by size, histograms and
 * counters.
 */
#include <string.h>

#include "suites.h"
#include "engine/base/arena.h"
#include "engine/base/hash.h"
#include "engine/base/histogram.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"

#define BATCH 1024

/* Objects of the argument's size, a thousand between two resets. */
static void arena_alloc(struct bt_bench *bench)
{
	size_t size = (size_t)bt_bench_arg(bench);
	struct bt_arena arena = {0};

	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			bt_bench_keep(bt_arena_alloc(&arena, size, 8));
		}
		bt_arena_reset(&arena);
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_arena_fini(&arena);
}

/* Texts of the argument's length. */
static void hash_bytes(struct bt_bench *bench)
{
	size_t len = (size_t)bt_bench_arg(bench);
	char *text = bt_mem_zalloc(len, 1);
	uint64_t sum = 0;

	memset(text, 'x', len);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			bt_bench_keep(text);
			sum += bt_hash_bytes(text, len);
		}
	}
	bt_bench_keep(&sum);
	bt_bench_bytes(bench, bt_bench_iterations(bench) * (int64_t)len);
	bt_mem_free(text);
}

/* Look-ups of present keys, in random order, in a map of the argument's size. */
static void map_get(struct bt_bench *bench)
{
	uint32_t key_n = (uint32_t)bt_bench_arg(bench), value = 0;
	struct bt_map map = {0};
	struct bt_rng rng = {.state = 1};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < key_n; i++) {
		bt_map_put(&map, (uint64_t)i + 1, i);
	}
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			sum += bt_map_get(&map, (uint64_t)bt_rng_below(&rng, key_n) + 1, &value);
			sum += value;
		}
	}
	bt_bench_keep(&sum);
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_map_fini(&map);
}

/* Values of random magnitude. */
static void histogram_record(struct bt_bench *bench)
{
	static int64_t values[BATCH];
	struct bt_histogram *histogram = bt_histogram_create();
	struct bt_rng rng = {.state = 1};

	for (int i = 0; i < BATCH; i++) {
		values[i] = (int64_t)(bt_rng_next(&rng) >> (20 + bt_rng_below(&rng, 40)));
	}
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			bt_histogram_record(histogram, values[i]);
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_mem_free(histogram);
}

static const struct bt_bench_case cases[] = {
	{.name = "arena_alloc", .run = arena_alloc, .args = {16, 256}, .arg_n = 2},
	{.name = "hash_bytes", .run = hash_bytes, .args = {8, 32, 256, 4096}, .arg_n = 4},
	{.name = "map_get", .run = map_get, .args = {1000, 100000, 1000000}, .arg_n = 3},
	{.name = "histogram_record", .run = histogram_record},
};

const struct bt_bench_suite bt_bench_micro_base = {
	.name = "micro_base", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
