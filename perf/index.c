/* SPDX-License-Identifier: Apache-2.0
 * Cost of a column's index; the argument is the number of nodes. rekey: a node's value decreases slightly, as
 * when a pod is assumed there, and wraps from the bottom to the top; items are changes. first: the best node
 * from any start. build: indexes a column; items are nodes.
 */
#include "engine/score/index.h"

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "suites.h"

#define SEED	1
#define BATCH	256
#define VALUES	201
#define SPREAD	40 /* values that occur at a time */
#define HIGHEST (VALUES - 1)
#define LOWEST	(VALUES - SPREAD)

struct indexed {
	uint16_t *values;
	uint32_t slot_n;
	struct bt_index index;
	struct bt_rng rng;
};

static void begin(struct indexed *s, struct bt_bench *bench)
{
	*s = (struct indexed){.slot_n = (uint32_t)bt_bench_arg(bench), .rng.state = SEED};
	s->values = bt_mem_column((s->slot_n + 63) / 64 * 64, sizeof(*s->values));
	for (uint32_t i = 0; i < s->slot_n; i++) {
		s->values[i] = (uint16_t)(LOWEST + bt_rng_below(&s->rng, SPREAD));
	}
	bt_index_build(&s->index, s->values, s->slot_n, VALUES);
}

static void end(struct indexed *s)
{
	bt_index_fini(&s->index);
	bt_mem_free(s->values);
}

static void rekey(struct bt_bench *bench)
{
	struct indexed s;

	begin(&s, bench);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			uint32_t slot = bt_rng_below(&s.rng, s.slot_n);
			uint16_t from = s.values[slot], to = from == LOWEST ? HIGHEST : (uint16_t)(from - 1);

			bt_index_move(&s.index, slot, from, to);
			s.values[slot] = to;
		}
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	end(&s);
}

static void first(struct bt_bench *bench)
{
	uint64_t sum = 0;
	struct indexed s;

	begin(&s, bench);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			uint32_t best = bt_index_highest(&s.index);

			sum += bt_index_first(&s.index, best, NULL, bt_rng_below(&s.rng, s.slot_n));
		}
	}
	bt_bench_keep(&sum);
	bt_bench_items(bench, bt_bench_iterations(bench));
	end(&s);
}

static void build(struct bt_bench *bench)
{
	struct indexed s;

	begin(&s, bench);
	while (bt_bench_keep_running(bench)) {
		bt_index_build(&s.index, s.values, s.slot_n, VALUES);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * s.slot_n);
	end(&s);
}

#define NODE_ARGS .args = {1000, 5000, 20000, 100000, 1000000}, .arg_n = 5

static const struct bt_bench_case cases[] = {
	{.name = "rekey", .run = rekey, NODE_ARGS},
	{.name = "first", .run = first, NODE_ARGS},
	{.name = "build", .run = build, NODE_ARGS},
};

const struct bt_bench_suite bt_bench_index = {
	.name = "index", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
