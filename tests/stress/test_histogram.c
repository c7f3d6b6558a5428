/* SPDX-License-Identifier: Apache-2.0
 * A histogram that is read while values are recorded: a reader sees the values recorded before
 * its call and some of those recorded during it. Reads are not ordered with each other, so each
 * number is checked on its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/base/histogram.h"
#include "engine/base/mem.h"
#include "stress.h"

enum { READERS = 2 };

static struct {
	struct bt_histogram *histogram;
	_Atomic uint64_t recorded_n; /* values 1 to this one are recorded */
	_Atomic uint32_t over;
	uint64_t read_n[READERS + 1];
	int64_t end_ns;
} world;

/* The n-th value is n. */
static void record(void *context, uint32_t ix)
{
	uint64_t n = 0;

	(void)context;
	(void)ix;
	do {
		for (int i = 0; i < 100; i++) {
			bt_histogram_record(world.histogram, (int64_t)++n);
			bt_store_release(&world.recorded_n, n);
		}
	} while (stress_goes_on(world.end_ns));
	bt_store_release(&world.over, 1);
}

/* EDGE histogram.counts, EDGE histogram.max. */
static void read(void *context, uint32_t ix)
{
	uint64_t last_n = 0;
	int64_t last_max = 0;

	(void)context;
	do {
		uint64_t before_n = bt_load_acquire(&world.recorded_n);
		uint64_t n = bt_histogram_count(world.histogram);
		int64_t max = bt_histogram_max(world.histogram);
		int64_t half = bt_histogram_quantile(world.histogram, 500000);
		uint64_t after_n = bt_load_acquire(&world.recorded_n);

		/* A value is counted shortly before recorded_n includes it. */
		STRESS_CHECK(n >= before_n && n <= after_n + 1 && n >= last_n);
		STRESS_CHECK(max >= (int64_t)before_n && max <= (int64_t)after_n + 1 && max >= last_max);
		STRESS_CHECK(half >= (int64_t)(before_n / 2) && half <= (int64_t)after_n + 1);
		last_n = n;
		last_max = max;
		world.read_n[ix]++;
	} while (!bt_load_acquire(&world.over));
}

static void readers_see_a_histogram_that_only_grows(void **state)
{
	struct stress_team team = {.member_n = 0};

	(void)state;
	world.histogram = bt_histogram_create();
	world.end_ns = stress_end_ns();
	stress_add(&team, record, NULL);
	for (int i = 0; i < READERS; i++) {
		stress_add(&team, read, NULL);
	}
	stress_run(&team);
	uint64_t n = bt_load_relaxed(&world.recorded_n);
	printf("%lu values, %lu and %lu looks\n", (unsigned long)n, (unsigned long)world.read_n[1],
		(unsigned long)world.read_n[2]);
	assert_true(bt_histogram_count(world.histogram) == n);
	assert_true(bt_histogram_max(world.histogram) == (int64_t)n);
	bt_mem_free(world.histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_see_a_histogram_that_only_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
