/* SPDX-License-Identifier: Apache-2.0
 * Costs of the dictionary: lookups of known names and insertion of new ones, with texts as long as pods'. The
 * argument is the number of names.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/model/intern.h"
#include "suites.h"

#define BATCH	   1024
#define TEXT_BYTES 40

struct bench_names {
	char (*texts)[TEXT_BYTES];
	uint32_t n;
};

static struct bench_names make_names(uint32_t n)
{
	struct bench_names names = {bt_mem_zalloc(n, TEXT_BYTES), n};

	for (uint32_t i = 0; i < n; i++) {
		snprintf(names.texts[i], TEXT_BYTES, "application-%u-7d9f8c6b5d-%05u", i % 1000, i);
	}
	return names;
}

static struct bt_str text_of(const struct bench_names *names, uint32_t i)
{
	return bt_str(names->texts[i]);
}

typedef uint32_t look_fn(struct bt_intern *intern, struct bt_str text);

/* Lookups of known names, in random order. */
static void look(struct bt_bench *bench, look_fn *fn)
{
	struct bench_names names = make_names((uint32_t)bt_bench_arg(bench));
	struct bt_intern *intern = bt_intern_create();
	struct bt_rng rng = {.state = 1};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < names.n; i++) {
		bt_intern_add(intern, text_of(&names, i));
	}
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		for (int i = 0; i < BATCH; i++) {
			sum += fn(intern, text_of(&names, (uint32_t)bt_rng_below(&rng, names.n)));
		}
	}
	bt_bench_keep(&sum);
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_intern_destroy(intern);
	bt_mem_free(names.texts);
}

static uint32_t find_const(struct bt_intern *intern, struct bt_str text)
{
	return bt_intern_find(intern, text);
}

static void find(struct bt_bench *bench)
{
	look(bench, find_const);
}

static void add_known(struct bt_bench *bench)
{
	look(bench, bt_intern_add);
}

/* Builds a dictionary with that many names each time. */
static void add_new(struct bt_bench *bench)
{
	struct bench_names names = make_names((uint32_t)bt_bench_arg(bench));

	while (bt_bench_keep_running(bench)) {
		struct bt_intern *intern = bt_intern_create();

		for (uint32_t i = 0; i < names.n; i++) {
			bt_intern_add(intern, text_of(&names, i));
		}
		bt_bench_pause(bench);
		bt_intern_destroy(intern);
		bt_bench_resume(bench);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * (int64_t)names.n);
	bt_mem_free(names.texts);
}

static const struct bt_bench_case cases[] = {
	{.name = "find", .run = find, .args = {1000, 100000, 1000000}, .arg_n = 3},
	{.name = "add_known", .run = add_known, .args = {1000, 100000, 1000000}, .arg_n = 3},
	{.name = "add_new", .run = add_new, .args = {1000, 100000, 1000000}, .arg_n = 3},
};

const struct bt_bench_suite bt_bench_micro_intern = {
	.name = "micro_intern", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
