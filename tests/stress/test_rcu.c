/* SPDX-License-Identifier: Apache-2.0
 * Read-copy-update under stress: no reader ever sees a reclaimed object, wherever threads are
 * delayed, held or stalled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <time.h>

#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/testpoint.h"
#include "engine/base/rcu.h"
#include "engine/base/rng.h"
#include "seed.h"
#include "stress.h"

#define POISON	UINT64_C(0xdeadbeefdeadbeef)
#define LOST_NS 20000000000 /* a wait of this length will not end */

enum { WORDS = 6, LIMIT_N = 4096 };

/* While the object lives, all words equal its number. */
struct object {
	struct bt_rcu_head head;
	_Atomic uint64_t
		words[WORDS]; /* relaxed; atomic, so that a late reader is detected instead of undefined */
};

static struct {
	struct object *_Atomic published;
	_Atomic uint64_t reclaimed_n, deferred_n, read_n;
	_Atomic uint32_t over, stall_n, stalled_is_known;
	uint64_t seed, writes_max;
	int64_t end_ns;
} world;

static struct object *make_object(uint64_t number)
{
	struct object *object = bt_mem_zalloc(1, sizeof(*object));

	for (int i = 0; i < WORDS; i++) {
		bt_store_relaxed(&object->words[i], number);
	}
	return object;
}

static void reclaim(struct bt_rcu_head *head)
{
	struct object *object = (struct object *)head;

	for (int i = 0; i < WORDS; i++) {
		STRESS_CHECK(bt_load_relaxed(&object->words[i]) != POISON);
		bt_store_relaxed(&object->words[i], POISON);
	}
	bt_add_relaxed(&world.reclaimed_n, 1);
	bt_mem_free(object);
}

static void linger(struct bt_rng *rng)
{
	for (uint32_t turn = bt_rng_below(rng, 64); turn; turn--) {
		bt_cpu_relax();
	}
}

/* Longer than reclamation takes if no reader delays it. */
static void dawdle(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 15000000}, NULL);
}

/* The object published now stays unchanged during this slow read. */
static void read_published(struct bt_rng *rng)
{
	const struct object *object = bt_rcu_get(&world.published);
	uint64_t number = bt_load_relaxed(&object->words[0]);

	STRESS_CHECK(bt_rcu_is_reading() && number != POISON);
	for (int look = 0; look < 3; look++) {
		for (int i = 0; i < WORDS; i++) {
			STRESS_CHECK(bt_load_relaxed(&object->words[i]) == number);
		}
		BT_TESTPOINT("rcu.test.reading");
		if (bt_rng_below(rng, 2000) == 0) {
			dawdle();
		}
		linger(rng);
	}
	bt_add_relaxed(&world.read_n, 1);
}

static void read_registered(void *context, uint32_t ix)
{
	struct bt_rng rng = {world.seed + ix};
	struct bt_eventcount never;

	(void)context;
	bt_eventcount_init(&never);
	bt_rcu_register("stress reader");
	while (!bt_load_acquire(&world.over)) {
		for (uint32_t i = bt_rng_below(&rng, 4) + 1; i; i--) {
			read_published(&rng);
		}
		switch (bt_rng_below(&rng, 16)) {
		case 0:
			bt_rcu_offline();
			linger(&rng);
			bt_rcu_online();
			break;
		case 1:
			bt_eventcount_wait(&never, bt_eventcount_prepare(&never), 5000);
			break;
		case 2:
			bt_rcu_unregister();
			bt_rcu_register("stress reader");
			break;
		default:
			bt_rcu_quiescent();
		}
	}
	bt_rcu_unregister();
}

static void read_visiting(void *context, uint32_t ix)
{
	struct bt_rng rng = {world.seed + ix};

	(void)context;
	while (!bt_load_acquire(&world.over)) {
		bt_rcu_visit_begin();
		read_published(&rng);
		if (bt_rng_below(&rng, 4) == 0) {
			bt_rcu_visit_begin();
			read_published(&rng);
			bt_rcu_visit_end();
		}
		bt_rcu_visit_end();
		linger(&rng);
	}
}

/* Replaces the published object, as a reader or not, with at most the limit pending. */
static void write_published(void *context, uint32_t ix)
{
	struct bt_rng rng = {world.seed + ix};
	bool is_reader = bt_rng_below(&rng, 2);

	(void)context;
	if (is_reader) {
		bt_rcu_register("stress writer");
	}
	for (uint64_t number = 1; number <= world.writes_max && stress_goes_on(world.end_ns); number++) {
		STRESS_CHECK(bt_rcu_throttle(LOST_NS));
		struct object *old = bt_load_relaxed(&world.published);

		bt_rcu_publish(&world.published, make_object(number));
		bt_rcu_defer(&old->head, reclaim, sizeof(*old));
		bt_add_owned(&world.deferred_n, 1);
		STRESS_CHECK(bt_rcu_stats_read().pending_n <= LIMIT_N + 1);
		if (is_reader) {
			bt_rcu_quiescent();
		}
	}
	if (is_reader) {
		bt_rcu_unregister();
	}
	bt_store_release(&world.over, 1);
}

static void begin(uint64_t seed, uint64_t writes_max)
{
	const struct bt_rcu_options options = {.backlog_n = LIMIT_N};

	/* While this thread is a reader, no object is reclaimed immediately. */
	bt_rcu_visit_begin();
	bt_rcu_visit_end();
	bt_rcu_configure(&options);
	world.seed = seed;
	world.writes_max = writes_max;
	world.end_ns = writes_max == UINT64_MAX ? stress_end_ns() : INT64_MAX;
	bt_store_relaxed(&world.over, 0);
	bt_store_relaxed(&world.reclaimed_n, 0);
	bt_store_relaxed(&world.deferred_n, 0);
	bt_store_relaxed(&world.read_n, 0);
	bt_store_relaxed(&world.published, make_object(0));
}

static void end(void)
{
	bt_rcu_drain();
	STRESS_CHECK(bt_load_relaxed(&world.reclaimed_n) == bt_load_relaxed(&world.deferred_n));
	struct bt_rcu_stats stats = bt_rcu_stats_read();
	STRESS_CHECK(stats.pending_n == 0 && stats.pending_bytes == 0);
	bt_mem_free(bt_load_relaxed(&world.published));
	bt_rcu_shutdown();
}

static void run_world(void *context)
{
	struct stress_team team = {.member_n = 0};

	begin(((const struct bt_rng *)context)->state, world.writes_max);
	stress_add(&team, read_registered, NULL);
	stress_add(&team, read_visiting, NULL);
	stress_add(&team, read_registered, NULL);
	stress_add(&team, write_published, NULL);
	stress_run(&team);
	end();
	printf("%" PRIu64 " replaced, %" PRIu64 " reads\n", bt_load_relaxed(&world.deferred_n),
		bt_load_relaxed(&world.read_n));
}

/* EDGE rcu.pointer, EDGE rcu.grace, EDGE rcu.graces. */
static void no_reader_sees_a_reclaimed_object(void **state)
{
	struct bt_rng rng = {seed_of_test()};

	(void)state;
	world.writes_max = UINT64_MAX;
	for (int i = 0; i < 2; i++) {
		run_world(&rng);
		rng.state++;
	}
}

static void nor_when_threads_are_delayed_anywhere(void **state)
{
	struct bt_rng rng = {seed_of_test()};

	(void)state;
	world.writes_max = UINT64_MAX;
	for (int i = 0; i < 2; i++) {
		bt_testpoint_delay(rng.state);
		run_world(&rng);
		bt_testpoint_off();
		rng.state++;
	}
}

static void nor_when_one_is_held_at_any_point(void **state)
{
	struct bt_rng rng = {seed_of_test()};

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	world.writes_max = 300;
	stress_hold_at_each("rcu.", 10, run_world, &rng, rng.state);
}

static void defer_many(void *context, uint32_t ix)
{
	(void)context;
	for (uint64_t i = 0; i < 3000; i++) {
		if (ix % 2) {
			STRESS_CHECK(bt_rcu_throttle(LOST_NS));
		}
		struct object *object = make_object(i);
		bt_rcu_defer(&object->head, reclaim, sizeof(*object));
	}
}

/* EDGE rcu.deferred, EDGE rcu.running, EDGE rcu.pending. */
static void everything_that_several_threads_defer_is_reclaimed_once(void **state)
{
	struct stress_team team = {.member_n = 0};

	(void)state;
	begin(seed_of_test(), 0);
	bt_testpoint_delay(world.seed);
	for (int i = 0; i < 4; i++) {
		stress_add(&team, defer_many, NULL);
	}
	stress_run(&team);
	bt_testpoint_off();
	bt_store_relaxed(&world.deferred_n, 12000);
	end();
}

static void note_stall(void *context, const char *reader, int64_t held_ns)
{
	STRESS_CHECK(strcmp(reader, context) == 0 && held_ns > 0);
	bt_add(&world.stall_n, 1);
}

/* Keeps reading without a quiescent state until the stall is reported. */
static void stall(void *context, uint32_t ix)
{
	struct bt_rng rng = {world.seed + ix};
	uint32_t turns = 0;

	(void)context;
	bt_rcu_register("the stalled one");
	read_published(&rng);
	while (!bt_load_acquire(&world.stalled_is_known)) {
		stress_wait_turn(&turns);
	}
	bt_rcu_quiescent();
	while (!bt_load_acquire(&world.over)) {
		read_published(&rng);
		bt_rcu_quiescent();
	}
	bt_rcu_unregister();
}

static void write_against_a_stall(void *context, uint32_t ix)
{
	struct bt_rng rng = {world.seed + ix};

	(void)context;
	for (uint64_t number = 1; number <= world.writes_max; number++) {
		while (!bt_rcu_throttle(1000000)) {
			STRESS_CHECK(bt_rcu_stats_read().pending_n <= LIMIT_N + 1);
			bt_store_release(&world.stalled_is_known, bt_load_acquire(&world.stall_n) > 0);
		}
		struct object *old = bt_load_relaxed(&world.published);

		bt_rcu_publish(&world.published, make_object(number));
		bt_rcu_defer(&old->head, reclaim, sizeof(*old));
		bt_add_owned(&world.deferred_n, 1);
		linger(&rng);
	}
	bt_store_release(&world.stalled_is_known, 1);
	bt_store_release(&world.over, 1);
}

static void a_stalled_reader_stops_the_writer_at_the_limit_and_is_named(void **state)
{
	static char name[] = "the stalled one";
	const struct bt_rcu_options options = {
		.backlog_n = LIMIT_N, .stall_ns = 3000000, .stalled = note_stall, .context = name};
	struct stress_team team = {.member_n = 0};

	(void)state;
	begin(seed_of_test(), 3 * LIMIT_N);
	bt_rcu_configure(&options);
	bt_store_relaxed(&world.stall_n, 0);
	bt_store_relaxed(&world.stalled_is_known, 0);
	stress_add(&team, stall, NULL);
	stress_add(&team, write_against_a_stall, NULL);
	stress_run(&team);
	end();
	assert_true(bt_load_relaxed(&world.stall_n) >= 1);
	assert_true(bt_rcu_stats_read().throttle_n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_reader_sees_a_reclaimed_object),
		cmocka_unit_test(nor_when_threads_are_delayed_anywhere),
		cmocka_unit_test(nor_when_one_is_held_at_any_point),
		cmocka_unit_test(everything_that_several_threads_defer_is_reclaimed_once),
		cmocka_unit_test(a_stalled_reader_stops_the_writer_at_the_limit_and_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
