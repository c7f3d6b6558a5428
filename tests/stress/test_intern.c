/* SPDX-License-Identifier: Apache-2.0
 * The dictionary under stress: threads hold, release, add and look up the same few strings, whose lengths
 * make them reuse each other's memory. A held number keeps its string, and lookups always find a held string,
 * while tables grow and shrink and memory is freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/testpoint.h"
#include "engine/base/rng.h"
#include "engine/model/intern.h"
#include "seed.h"
#include "stress.h"

enum { COMING_N = 300, STAYING_N = 40, HELD_MAX = 16, TEXT_MAX = 700, HOLDERS = 3, FLOOD = 30000 };

struct work {
	struct bt_intern *intern;
	uint32_t staying[STAYING_N]; /* numbers of strings that are never released */
	uint64_t seed, steps_max;
	bool floods; /* many strings are added and released */
	int64_t end_ns;
	_Atomic uint64_t step_n;
	_Atomic uint32_t added_n, flood_n;
};

/* Strings that share memory: some have equal lengths, and some exceed a record. */
static struct bt_str make_text(char *out, char kind, uint32_t ix)
{
	static const size_t lens[] = {1, 9, 14, 24, 40, 300, 600};
	size_t len = lens[ix % (sizeof(lens) / sizeof(lens[0]))];
	int n = snprintf(out, TEXT_MAX, "%c%u.", kind, ix);

	memset(out + n, 'a' + (int)(ix % 26), TEXT_MAX - (size_t)n);
	return (struct bt_str){out, (size_t)n + len};
}

static void check_text(const struct work *work, uint32_t name, struct bt_str text)
{
	struct bt_str got = bt_intern_str(work->intern, name);

	STRESS_CHECK(bt_str_eq(got, text));
	STRESS_CHECK(got.ptr[got.len] == 0);
}

static bool goes_on(struct work *work)
{
	return bt_add_relaxed(&work->step_n, 1) < work->steps_max &&
	       (work->end_ns == INT64_MAX || stress_goes_on(work->end_ns));
}

/* Holds a few strings at a time. */
static void hold(void *context, uint32_t ix)
{
	struct work *work = context;
	struct bt_rng rng = {work->seed + ix};
	uint32_t names[HELD_MAX] = {0}, ixs[HELD_MAX] = {0};
	char text[TEXT_MAX];

	while (goes_on(work)) {
		uint32_t at = (uint32_t)bt_rng_below(&rng, HELD_MAX);

		if (names[at]) {
			check_text(work, names[at], make_text(text, 'c', ixs[at]));
			bt_intern_release(work->intern, names[at]);
		}
		ixs[at] = (uint32_t)bt_rng_below(&rng, COMING_N);
		struct bt_str wanted = make_text(text, 'c', ixs[at]);
		names[at] = bt_intern_hold(work->intern, wanted);
		check_text(work, names[at], wanted);
		STRESS_CHECK(bt_intern_find(work->intern, wanted) == names[at]);
		STRESS_CHECK(bt_intern_hold(work->intern, wanted) == names[at]);
		bt_intern_release(work->intern, names[at]);
	}
	for (uint32_t at = 0; at < HELD_MAX; at++) {
		bt_intern_release(work->intern, names[at]);
	}
}

/* Looks up strings that always exist, while tables grow. */
static void find(void *context, uint32_t ix)
{
	struct work *work = context;
	struct bt_rng rng = {work->seed + ix};
	char text[TEXT_MAX];

	while (goes_on(work)) {
		uint32_t i = (uint32_t)bt_rng_below(&rng, STAYING_N);
		struct bt_str wanted = make_text(text, 's', i);

		STRESS_CHECK(bt_intern_find(work->intern, wanted) == work->staying[i]);
		check_text(work, work->staying[i], wanted);
		(void)bt_intern_find(work->intern, make_text(text, 'c', i));
		STRESS_CHECK(bt_intern_find(work->intern, make_text(text, 'n', i)) == BT_NAME_NONE);
		if (bt_rng_below(&rng, 16) == 0) {
			uint32_t added = bt_add_relaxed(&work->added_n, 1);
			wanted = make_text(text, 'p', added % 200);
			check_text(work, bt_intern_add(work->intern, wanted), wanted);
		}
	}
}

/* Holds very many strings, then none: tables and memory grow and shrink. */
static void flood(void *context, uint32_t ix)
{
	static uint32_t names[FLOOD];
	struct work *work = context;
	char text[TEXT_MAX];

	(void)ix;
	while (goes_on(work)) {
		uint32_t n = 0;

		for (; n < FLOOD && goes_on(work); n++) {
			names[n] = bt_intern_hold(work->intern, make_text(text, 'f', n));
		}
		for (uint32_t i = 0; i < n; i++) {
			check_text(work, names[i], make_text(text, 'f', i));
			bt_intern_release(work->intern, names[i]);
		}
		bt_add_relaxed(&work->flood_n, 1);
	}
}

static void run(void *context)
{
	struct work *work = context;
	struct stress_team team = {.member_n = 0};
	char text[TEXT_MAX];

	work->intern = bt_intern_create();
	work->end_ns = work->steps_max == UINT64_MAX ? stress_end_ns() : INT64_MAX;
	bt_store_relaxed(&work->step_n, 0);
	bt_store_relaxed(&work->added_n, 0);
	for (uint32_t i = 0; i < STAYING_N; i++) {
		work->staying[i] =
			(i % 2 ? bt_intern_add : bt_intern_hold)(work->intern, make_text(text, 's', i));
	}
	for (uint32_t i = 0; i < HOLDERS; i++) {
		stress_add(&team, hold, work);
	}
	stress_add(&team, find, work);
	if (work->floods) {
		stress_add(&team, flood, work);
	}
	stress_run(&team);
	uint32_t added_n = bt_load_relaxed(&work->added_n);
	STRESS_CHECK(bt_intern_count(work->intern) ==
		     BT_NAME_FIXED_N - 1 + STAYING_N + (added_n < 200 ? added_n : 200));
	bt_intern_destroy(work->intern);
}

/* EDGE intern.chunk, EDGE intern.text, EDGE intern.state, EDGE intern.table, EDGE intern.slot,
 * EDGE intern.moves, EDGE intern.runs. */
static void held_numbers_mean_their_strings(void **state)
{
	struct work work = {.seed = seed_of_test(), .steps_max = UINT64_MAX};

	(void)state;
	run(&work);
	print_message("%lu steps\n", (unsigned long)bt_load_relaxed(&work.step_n));
}

static void references_stay_valid_while_many_strings_are_added_and_freed(void **state)
{
	struct work work = {.seed = seed_of_test(), .steps_max = UINT64_MAX, .floods = true};

	(void)state;
	run(&work);
	print_message("%lu steps, %u floods\n", (unsigned long)bt_load_relaxed(&work.step_n),
		bt_load_relaxed(&work.flood_n));
}

static void also_when_threads_are_delayed_anywhere(void **state)
{
	struct work work = {.seed = seed_of_test(), .steps_max = UINT64_MAX};

	(void)state;
	bt_testpoint_delay(work.seed);
	run(&work);
	bt_testpoint_off();
}

static void also_when_one_is_held_at_any_point(void **state)
{
	struct work work = {.seed = seed_of_test(), .steps_max = 20000};

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	stress_hold_at_each("intern.", 4, run, &work, work.seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_numbers_mean_their_strings),
		cmocka_unit_test(references_stay_valid_while_many_strings_are_added_and_freed),
		cmocka_unit_test(also_when_threads_are_delayed_anywhere),
		cmocka_unit_test(also_when_one_is_held_at_any_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
