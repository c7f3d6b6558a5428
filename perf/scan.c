/* SPDX-License-Identifier: Apache-2.0
 * What it costs to look at every node, by version of the scan; items are nodes. The argument is their number.
 * bare: a loop that reads the same columns and does next to nothing. Values are as after some placements: a
 * hundred different totals, one node in ten is out.
 */
#include "engine/score/scan.h"

#include "bare.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "suites.h"

#define SEED	1
#define BATCH	16
#define CLASSES 40

struct columns {
	uint16_t *a, *b, *of, *totals;
	uint16_t worth[BT_SCAN_WORTHS];
	size_t padded_n;
	struct bt_rng rng;
};

static void begin(struct columns *c, struct bt_bench *bench)
{
	size_t n = (size_t)bt_bench_arg(bench);

	*c = (struct columns){.padded_n = bt_scan_padded(n), .rng.state = SEED};
	c->a = bt_mem_column(c->padded_n, sizeof(*c->a));
	c->b = bt_mem_column(c->padded_n, sizeof(*c->b));
	c->of = bt_mem_column(c->padded_n, sizeof(*c->of));
	c->totals = bt_mem_column(c->padded_n, sizeof(*c->totals));
	for (size_t i = 0; i < n; i++) {
		bool out = bt_rng_below(&c->rng, 10) == 0;

		c->a[i] = out ? 0 : (uint16_t)(1 + bt_rng_below(&c->rng, 100));
		c->b[i] = (uint16_t)(100 + 100 * bt_rng_below(&c->rng, 2));
		c->of[i] = (uint16_t)(1 + bt_rng_below(&c->rng, CLASSES - 1));
	}
	for (uint32_t i = 1; i < CLASSES; i++) {
		c->worth[i] = (uint16_t)(100 + i);
	}
}

static void end(struct columns *c)
{
	bt_mem_free(c->a);
	bt_mem_free(c->b);
	bt_mem_free(c->of);
	bt_mem_free(c->totals);
}

/* Each scan starts somewhere else, as those of cycles do. */
typedef size_t scan_fn(struct columns *c, size_t start);

static void measure(struct bt_bench *bench, scan_fn *scan)
{
	size_t sum = 0;
	struct columns c;

	begin(&c, bench);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			sum += scan(&c, bt_rng_below(&c.rng, (uint32_t)bt_bench_arg(bench)));
		}
	}
	bt_bench_keep(&sum);
	bt_bench_items(bench, bt_bench_iterations(bench) * bt_bench_arg(bench));
	end(&c);
}

static size_t best_of(struct columns *c, size_t start)
{
	return bt_scan_best(c->a, c->b, c->padded_n, start);
}

static size_t best_portable_of(struct columns *c, size_t start)
{
	return bt_scan_best_portable(c->a, c->b, c->padded_n, start);
}

static size_t bare_portable_of(struct columns *c, size_t start)
{
	(void)start;
	return bt_bare_portable(c->a, c->b, c->padded_n);
}

static struct bt_scan_classes classes_of(struct columns *c)
{
	return (struct bt_scan_classes){.value = c->a,
		.of = c->of,
		.worth = c->worth,
		.class_n = CLASSES,
		.padded_n = c->padded_n,
		.totals = c->totals};
}

static size_t best_of_classes(struct columns *c, size_t start)
{
	const struct bt_scan_classes classes = classes_of(c);

	return bt_scan_best_of_classes(&classes, start);
}

static size_t best_of_classes_portable(struct columns *c, size_t start)
{
	const struct bt_scan_classes classes = classes_of(c);

	return bt_scan_best_of_classes_portable(&classes, start);
}

static void best(struct bt_bench *bench)
{
	measure(bench, best_of);
}

static void best_portable(struct bt_bench *bench)
{
	measure(bench, best_portable_of);
}

static void bare_portable(struct bt_bench *bench)
{
	measure(bench, bare_portable_of);
}

static void classes_best(struct bt_bench *bench)
{
	measure(bench, best_of_classes);
}

static void classes_portable(struct bt_bench *bench)
{
	measure(bench, best_of_classes_portable);
}

uint16_t bt_bare_portable(const uint16_t *a, const uint16_t *b, size_t n)
{
	uint16_t bits = 0;

	for (size_t i = 0; i < n; i++) {
		bits |= a[i] | b[i];
	}
	return bits;
}

#define NODE_ARGS .args = {1000, 5000, 20000, 100000, 1000000}, .arg_n = 5

#ifdef BT_HAVE_AVX2

static size_t best_avx2_of(struct columns *c, size_t start)
{
	return bt_scan_best_avx2(c->a, c->b, c->padded_n, start);
}

static size_t bare_avx2_of(struct columns *c, size_t start)
{
	(void)start;
	return bt_bare_avx2(c->a, c->b, c->padded_n);
}

static void with_avx2(struct bt_bench *bench, scan_fn *scan)
{
	if (__builtin_cpu_supports("avx2")) {
		measure(bench, scan);
	} else {
		bt_bench_skip(bench, "this processor has no AVX2");
	}
}

static void best_avx2(struct bt_bench *bench)
{
	with_avx2(bench, best_avx2_of);
}

static void bare_avx2(struct bt_bench *bench)
{
	with_avx2(bench, bare_avx2_of);
}

#endif

static const struct bt_bench_case cases[] = {
	{.name = NULL, .run = best, NODE_ARGS},
#ifdef BT_HAVE_AVX2
	{.name = "avx2", .run = best_avx2, NODE_ARGS},
	{.name = "bare_avx2", .run = bare_avx2, NODE_ARGS},
#endif
	{.name = "portable", .run = best_portable, NODE_ARGS},
	{.name = "bare_portable", .run = bare_portable, NODE_ARGS},
	{.name = "classes", .run = classes_best, NODE_ARGS},
	{.name = "classes_portable", .run = classes_portable, NODE_ARGS},
};

const struct bt_bench_suite bt_bench_scan = {
	.name = "scan", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
