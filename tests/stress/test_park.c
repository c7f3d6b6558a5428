/* SPDX-License-Identifier: Apache-2.0
 * Eventcounts under stress: no wake-up is lost, wherever threads are delayed or held.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/eventcount.h"
#include "engine/base/testpoint.h"
#include "engine/base/rng.h"
#include "seed.h"
#include "stress.h"

#define LOST_NS 20000000000 /* a wait of this length has lost its wake-up */

/* A number that threads wait for, each on an eventcount. */
struct meeting {
	struct bt_eventcount parks[2];
	alignas(BT_CACHELINE) _Atomic uint64_t number;
	_Atomic uint64_t given_n, taken_n, over;
	int64_t end_ns;
	uint64_t seed, rounds_max;
};

static void init_meeting(struct meeting *meeting, uint64_t seed)
{
	*meeting = (struct meeting){.end_ns = stress_end_ns(), .seed = seed, .rounds_max = UINT64_MAX};
	bt_eventcount_init(&meeting->parks[0]);
	bt_eventcount_init(&meeting->parks[1]);
}

/* Two threads increase the number alternately; each waits until it is next. */
static void take_turns(void *context, uint32_t ix)
{
	struct meeting *meeting = context;
	bool over = false;

	for (uint64_t own = ix; !over; own += 2) {
		while (bt_load_acquire(&meeting->number) != own) {
			uint32_t key = bt_eventcount_prepare(&meeting->parks[ix]);

			if (bt_load_acquire(&meeting->number) != own) {
				STRESS_CHECK(bt_eventcount_wait(&meeting->parks[ix], key, LOST_NS));
			}
		}
		over = bt_load_acquire(&meeting->over);
		if (!stress_goes_on(meeting->end_ns) || own >= meeting->rounds_max) {
			bt_store_release(&meeting->over, 1);
		}
		bt_store_release(&meeting->number, own + 1);
		bt_eventcount_wake(&meeting->parks[!ix]);
	}
}

static void play_turns(struct meeting *meeting)
{
	struct stress_team team = {.member_n = 0};

	stress_add(&team, take_turns, meeting);
	stress_add(&team, take_turns, meeting);
	stress_run(&team);
	STRESS_CHECK(bt_load_relaxed(&meeting->number) > 1);
}

/* EDGE park.armed, EDGE park.epoch. */
static void two_threads_that_wake_each_other_never_both_sleep(void **state)
{
	struct meeting meeting;

	(void)state;
	init_meeting(&meeting, seed_of_test());
	play_turns(&meeting);
	printf("%" PRIu64 " turns\n", bt_load_relaxed(&meeting.number));
}

static void nor_when_they_are_delayed_anywhere(void **state)
{
	struct meeting meeting;

	(void)state;
	init_meeting(&meeting, seed_of_test());
	bt_testpoint_delay(meeting.seed);
	play_turns(&meeting);
	bt_testpoint_off();
	printf("%" PRIu64 " turns\n", bt_load_relaxed(&meeting.number));
}

static void play_forty_turns(void *context)
{
	struct meeting *meeting = context;

	init_meeting(meeting, meeting->seed);
	meeting->rounds_max = 40;
	meeting->end_ns = INT64_MAX;
	play_turns(meeting);
}

static void nor_when_one_is_held_at_any_point(void **state)
{
	struct meeting meeting = {.seed = seed_of_test()};

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	stress_hold_at_each("park.", 7, play_forty_turns, &meeting, meeting.seed);
}

/* Several wakers post tokens at one eventcount; two waiters take them, with various timeouts. */
enum { GIVERS = 3, TAKERS = 2 };

static void give(void *context, uint32_t ix)
{
	struct meeting *meeting = context;
	struct bt_rng rng = {meeting->seed + ix};

	while (stress_goes_on(meeting->end_ns)) {
		for (uint32_t i = bt_rng_below(&rng, 50); i; i--) {
			bt_add_relaxed(&meeting->given_n, 1);
			bt_add(&meeting->number, 1);
			bt_eventcount_wake(&meeting->parks[0]);
		}
		for (uint32_t turn = bt_rng_below(&rng, 2000); turn; turn--) {
			bt_cpu_relax();
		}
	}
	/* A giver's last token ends one taker. */
	if (ix < TAKERS) {
		bt_add(&meeting->over, 1);
		bt_eventcount_wake(&meeting->parks[0]);
	}
}

static bool take_one(_Atomic uint64_t *tokens)
{
	uint64_t seen = bt_load_acquire(tokens);

	while (seen && !bt_cas(tokens, &seen, seen - 1)) {
		bt_cpu_relax();
	}
	return seen;
}

static void take(void *context, uint32_t ix)
{
	struct meeting *meeting = context;
	struct bt_rng rng = {meeting->seed + ix};

	for (;;) {
		while (take_one(&meeting->number)) {
			bt_add_relaxed(&meeting->taken_n, 1);
		}
		uint32_t key = bt_eventcount_prepare(&meeting->parks[0]);

		if (bt_load_acquire(&meeting->number)) {
			continue;
		}
		if (bt_load_acquire(&meeting->over) == TAKERS) {
			return;
		}
		bool patient = bt_rng_below(&rng, 4);
		bool woken = bt_eventcount_wait(
			&meeting->parks[0], key, patient ? LOST_NS : bt_rng_below(&rng, 20000));
		STRESS_CHECK(woken || !patient);
	}
}

static void check_tokens(uint64_t seed)
{
	struct meeting meeting;
	struct stress_team team = {.member_n = 0};

	init_meeting(&meeting, seed);
	for (int i = 0; i < GIVERS; i++) {
		stress_add(&team, give, &meeting);
	}
	for (int i = 0; i < TAKERS; i++) {
		stress_add(&team, take, &meeting);
	}
	stress_run(&team);
	/* The last giver may end after the takers. */
	STRESS_CHECK(bt_load_relaxed(&meeting.given_n) ==
		     bt_load_relaxed(&meeting.taken_n) + bt_load_relaxed(&meeting.number));
	printf("%" PRIu64 " tokens, %" PRIu64 " wake-ups\n", bt_load_relaxed(&meeting.given_n),
		bt_load_relaxed(&meeting.parks[0].wakes));
}

static void waiters_at_one_park_see_every_change(void **state)
{
	uint64_t seed = seed_of_test();

	(void)state;
	check_tokens(seed);
	bt_testpoint_delay(seed);
	check_tokens(seed + 1);
	bt_testpoint_off();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads_that_wake_each_other_never_both_sleep),
		cmocka_unit_test(nor_when_they_are_delayed_anywhere),
		cmocka_unit_test(nor_when_one_is_held_at_any_point),
		cmocka_unit_test(waiters_at_one_park_see_every_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
