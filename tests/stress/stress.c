/* SPDX-License-Identifier: Apache-2.0
 * Shared by stress tests.
 */
#include "stress.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/clock.h"
#include "engine/base/testpoint.h"
#include "engine/base/rng.h"

enum {
	USUAL_NS = 120000000,
	HELD_NS = 15000000, /* longer than reclamation takes if no reader delays it */
	TURNS_BEFORE_YIELD = 500,
	POINTS_MAX = 64,
	RUNS_MAX = 50
};

int64_t stress_end_ns(void)
{
	const char *seconds = getenv("BT_STRESS_SECONDS");
	int64_t lasts_ns = seconds ? (int64_t)(strtod(seconds, NULL) * 1e9) : USUAL_NS;

	return bt_clock_monotonic_ns() + lasts_ns;
}

bool stress_goes_on(int64_t end_ns)
{
	return bt_clock_monotonic_ns() < end_ns;
}

void stress_wait_turn(uint32_t *turns)
{
	if (++*turns % TURNS_BEFORE_YIELD == 0) {
		sched_yield();
	}
	bt_cpu_relax();
}

void stress_pin(uint32_t ix)
{
	cpu_set_t usable, one;

	STRESS_CHECK(sched_getaffinity(0, sizeof(usable), &usable) == 0);
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &usable) && ix-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			STRESS_CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
			return;
		}
	}
}

static void *run_member(void *context)
{
	struct stress_member *member = context;
	uint32_t turns = 0;

	while (!bt_load_acquire(&member->team->begins)) {
		stress_wait_turn(&turns);
	}
	member->run(member->context, member->ix);
	return NULL;
}

void stress_add(struct stress_team *team, void (*run)(void *context, uint32_t ix), void *context)
{
	STRESS_CHECK(team->member_n < STRESS_THREADS_MAX);
	uint32_t ix = team->member_n++;

	team->members[ix] = (struct stress_member){.team = team, .run = run, .context = context, .ix = ix};
	STRESS_CHECK(pthread_create(&team->members[ix].thread, NULL, run_member, &team->members[ix]) == 0);
}

void stress_run(struct stress_team *team)
{
	bt_store_release(&team->begins, 1);
	for (uint32_t i = 0; i < team->member_n; i++) {
		pthread_join(team->members[i].thread, NULL);
	}
	bt_store_relaxed(&team->begins, 0);
	team->member_n = 0;
}

static void *hold_for_a_moment(void *out_held)
{
	*(bool *)out_held = bt_testpoint_await_held(INT64_MAX / 2); /* or until the scenario has ended */
	if (*(bool *)out_held) {
		nanosleep(&(struct timespec){.tv_nsec = HELD_NS}, NULL);
	}
	bt_testpoint_release();
	return NULL;
}

static bool hold_at(const char *point, uint64_t skip_n, void (*scenario)(void *context), void *context)
{
	pthread_t holder;
	bool held = false;

	bt_testpoint_hold(point, skip_n);
	STRESS_CHECK(pthread_create(&holder, NULL, hold_for_a_moment, &held) == 0);
	scenario(context);
	bt_testpoint_release(); /* no thread reached the point */
	pthread_join(holder, NULL);
	bt_testpoint_off();
	return held;
}

/* The testpoints that the scenario hits; runs it until there are enough, because a
 * busy machine may miss some. */
static size_t find_points(const char **out_points, const char *prefix, size_t wanted_n,
	void (*scenario)(void *context), void *context)
{
	const char *all[POINTS_MAX];
	size_t point_n = 0;

	bt_testpoint_off();
	bt_testpoint_record();
	for (int run = 0; run < RUNS_MAX && point_n < wanted_n; run++) {
		scenario(context);
		size_t all_n = bt_testpoint_points(all, POINTS_MAX);

		STRESS_CHECK(all_n <= POINTS_MAX);
		point_n = 0;
		for (size_t i = 0; i < all_n; i++) {
			if (strncmp(all[i], prefix, strlen(prefix)) == 0) {
				out_points[point_n++] = all[i];
			}
		}
	}
	bt_testpoint_off();
	return point_n;
}

void stress_hold_at_each(
	const char *prefix, size_t point_n, void (*scenario)(void *context), void *context, uint64_t seed)
{
	const char *points[POINTS_MAX];
	size_t found_n = find_points(points, prefix, point_n, scenario, context);
	struct bt_rng rng = {seed};

	STRESS_CHECK(found_n >= point_n);
	for (size_t i = 0; i < found_n; i++) {
		bool first = false;

		for (int run = 0; run < RUNS_MAX && !first; run++) {
			first = hold_at(points[i], 0, scenario, context);
		}
		STRESS_CHECK(first);
		bool later = hold_at(points[i], bt_rng_below(&rng, 20) + 1, scenario, context);

		printf("held at %s: the first%s\n", points[i], later ? ", a later one" : "");
	}
}

void stress_failed(const char *file, int line, const char *condition)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
	abort();
}
