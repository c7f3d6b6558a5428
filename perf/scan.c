/* SPDX-License-Identifier: Apache-2.0
 * The cost of scanning all nodes, by version of the scan; items are nodes. The argument is their number.
 * bare: a loop that only reads the same columns. Values are as after some placements: a hundred different
 * totals, one node in ten is infeasible.
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
	uint16_t static_score[BT_SCAN_CLASSES];
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
		c->static_score[i] = (uint16_t)(100 + i);
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
typedef size_t scan_fn(const struct bt_scan_version *version, struct columns *c, size_t start);

/* version: a name; NULL is the one that runs. */
static void measure(struct bt_bench *bench, scan_fn *scan, const char *name)
{
	const struct bt_scan_version *version = name ? bt_scan_version(name) : bt_scan_chosen();
	size_t sum = 0;
	struct columns c;

	if (!version) {
		bt_bench_skip(bench, "this processor does not run it");
		return;
	}
	begin(&c, bench);
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			sum += scan(version, &c, bt_rng_below(&c.rng, (uint32_t)bt_bench_arg(bench)));
		}
	}
	bt_bench_keep(&sum);
	bt_bench_items(bench, bt_bench_iterations(bench) * bt_bench_arg(bench));
	end(&c);
}

static size_t best_of(const struct bt_scan_version *version, struct columns *c, size_t start)
{
	return version->best(c->a, c->b, c->padded_n, start);
}

static size_t best_of_classes(const struct bt_scan_version *version, struct columns *c, size_t start)
{
	const struct bt_scan_classes classes = {.value = c->a,
		.of = c->of,
		.static_score = c->static_score,
		.class_n = CLASSES,
		.padded_n = c->padded_n,
		.totals = c->totals};

	return version->best_of_classes(&classes, start);
}

static size_t bare_portable_of(const struct bt_scan_version *version, struct columns *c, size_t start)
{
	(void)version;
	(void)start;
	return bt_bare_portable(c->a, c->b, c->padded_n);
}

static void chosen(struct bt_bench *bench)
{
	measure(bench, best_of, NULL);
}

static void portable(struct bt_bench *bench)
{
	measure(bench, best_of, "portable");
}

static void avx2(struct bt_bench *bench)
{
	measure(bench, best_of, "avx2");
}

static void avx512(struct bt_bench *bench)
{
	measure(bench, best_of, "avx512");
}

static void bare_portable(struct bt_bench *bench)
{
	measure(bench, bare_portable_of, "portable");
}

static void classes(struct bt_bench *bench)
{
	measure(bench, best_of_classes, NULL);
}

static void classes_portable(struct bt_bench *bench)
{
	measure(bench, best_of_classes, "portable");
}

static void classes_avx2(struct bt_bench *bench)
{
	measure(bench, best_of_classes, "avx2");
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

static size_t bare_avx2_of(const struct bt_scan_version *version, struct columns *c, size_t start)
{
	(void)version;
	(void)start;
	return bt_bare_avx2(c->a, c->b, c->padded_n);
}

static void bare_avx2(struct bt_bench *bench)
{
	measure(bench, bare_avx2_of, "avx2");
}

#endif

static const struct bt_bench_case cases[] = {
	{.name = NULL, .run = chosen, NODE_ARGS},
	{.name = "avx512", .run = avx512, NODE_ARGS},
	{.name = "avx2", .run = avx2, NODE_ARGS},
#ifdef BT_HAVE_AVX2
	{.name = "bare_avx2", .run = bare_avx2, NODE_ARGS},
#endif
	{.name = "portable", .run = portable, NODE_ARGS},
	{.name = "bare_portable", .run = bare_portable, NODE_ARGS},
	{.name = "classes", .run = classes, NODE_ARGS},
	{.name = "classes_avx2", .run = classes_avx2, NODE_ARGS},
	{.name = "classes_portable", .run = classes_portable, NODE_ARGS},
};

const struct bt_bench_suite bt_bench_scan = {
	.name = "scan", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
