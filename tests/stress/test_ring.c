/* SPDX-License-Identifier: Apache-2.0
 * Rings under stress: every entry is popped once, complete and in order, with full and empty rings, wherever
 * threads are delayed or held.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/base/clock.h"
#include "engine/base/testpoint.h"
#include "engine/base/ring.h"
#include "engine/base/rng.h"
#include "seed.h"
#include "stress.h"

#define LOST_NS 20000000000 /* a wait of this length has lost its wake-up */

enum { AT_ONCE_MAX = 12, PRODUCERS = 3 };

/* An entry copied half-way is inconsistent. */
struct entry {
	uint64_t number, mixed, number_again;
};

static struct entry entry_of(uint64_t number)
{
	return (struct entry){number, bt_rng_at(17, number), number};
}

static void check_entry(const struct entry *entry, uint64_t number)
{
	STRESS_CHECK(entry->number == number && entry->number_again == number);
	STRESS_CHECK(entry->mixed == bt_rng_at(17, number));
}

struct flow {
	struct bt_ring rings[PRODUCERS], *all[PRODUCERS];
	struct bt_inbox inbox;
	uint64_t pushed_n[PRODUCERS], popped_n[PRODUCERS];
	_Atomic uint32_t ended_n;
	uint32_t capacity, producer_n;
	uint64_t seed, entries_max;
	int64_t end_ns;
};

static void flow_init(struct flow *flow)
{
	*flow = (struct flow){.capacity = flow->capacity,
		.producer_n = flow->producer_n,
		.seed = flow->seed,
		.entries_max = flow->entries_max,
		.end_ns = flow->entries_max == UINT64_MAX ? stress_end_ns() : INT64_MAX};
	for (uint32_t i = 0; i < flow->producer_n; i++) {
		bt_ring_init(&flow->rings[i], flow->capacity, sizeof(struct entry), "stress");
		flow->all[i] = &flow->rings[i];
	}
}

static void flow_fini(struct flow *flow)
{
	for (uint32_t i = 0; i < flow->producer_n; i++) {
		bt_ring_fini(&flow->rings[i]);
	}
}

static void dawdle(struct bt_rng *rng)
{
	if (bt_rng_below(rng, 8) == 0) {
		for (uint32_t turn = bt_rng_below(rng, 3000); turn; turn--) {
			bt_cpu_relax();
		}
	}
}

/* Pushes by a random function. Returns: the number of pushed entries. */
static uint32_t push_somehow(struct bt_ring *ring, struct bt_rng *rng, uint64_t first)
{
	struct entry entries[AT_ONCE_MAX];
	uint32_t n = bt_rng_below(rng, AT_ONCE_MAX) + 1;

	for (uint32_t i = 0; i < n; i++) {
		entries[i] = entry_of(first + i);
	}
	switch (bt_rng_below(rng, 5)) {
	case 0:
		return bt_ring_try_push_n(ring, entries, n);
	case 1:
		return bt_ring_try_push(ring, entries);
	case 2:
		return bt_ring_push_n(ring, entries, n, bt_rng_below(rng, 30000));
	case 3:
		STRESS_CHECK(bt_ring_push(ring, entries, LOST_NS) || bt_ring_is_abandoned(ring));
		return 1;
	default: {
		uint32_t done_n = bt_ring_push_n(ring, entries, n, LOST_NS);
		STRESS_CHECK(done_n == n || bt_ring_is_abandoned(ring));
		return done_n;
	}
	}
}

static uint32_t push_some(struct bt_ring *ring, struct bt_rng *rng, uint64_t first)
{
	int64_t begin_ns = bt_clock_monotonic_ns();
	uint32_t done_n = push_somehow(ring, rng, first);

	STRESS_CHECK(bt_clock_monotonic_ns() - begin_ns < LOST_NS);
	return done_n;
}

static void produce(void *context, uint32_t ix)
{
	struct flow *flow = context;
	struct bt_ring *ring = &flow->rings[ix];
	struct bt_rng rng = {flow->seed + ix};
	uint64_t pushed_n = 0;

	while (pushed_n < flow->entries_max && stress_goes_on(flow->end_ns) && !bt_ring_is_abandoned(ring)) {
		pushed_n += push_some(ring, &rng, pushed_n);
		dawdle(&rng);
	}
	flow->pushed_n[ix] = pushed_n;
	bt_ring_close(ring);
}

static uint32_t pop_some(struct bt_ring *ring, struct bt_rng *rng, struct entry *out_entries)
{
	switch (bt_rng_below(rng, 4)) {
	case 0:
		return bt_ring_try_pop_n(ring, out_entries, AT_ONCE_MAX);
	case 1:
		return bt_ring_pop_n(ring, out_entries, AT_ONCE_MAX, bt_rng_below(rng, 30000));
	case 2:
		return bt_ring_pop(ring, out_entries, LOST_NS);
	default:
		return bt_ring_pop_n(ring, out_entries, bt_rng_below(rng, AT_ONCE_MAX) + 1, LOST_NS);
	}
}

static void consume(void *context, uint32_t ix)
{
	struct flow *flow = context;
	struct bt_ring *ring = &flow->rings[0];
	struct bt_rng rng = {flow->seed + 100 + ix};
	struct entry entries[AT_ONCE_MAX];
	uint64_t popped_n = 0;

	while (!bt_ring_is_drained(ring)) {
		uint32_t n = pop_some(ring, &rng, entries);

		for (uint32_t i = 0; i < n; i++) {
			check_entry(&entries[i], popped_n++);
		}
		dawdle(&rng);
	}
	flow->popped_n[0] = popped_n;
	bt_add(&flow->ended_n, 1);
}

/* A third thread reads consistent numbers. */
static void look_on(void *context, uint32_t ix)
{
	struct flow *flow = context;
	uint32_t turns = ix;

	while (!bt_load_acquire(&flow->ended_n)) {
		STRESS_CHECK(bt_ring_count(&flow->rings[0]) <= flow->capacity);
		STRESS_CHECK(bt_ring_stats_read(&flow->rings[0]).high_water <= flow->capacity);
		stress_wait_turn(&turns);
	}
}

static void run_flow(void *context)
{
	struct flow *flow = context;
	struct stress_team team = {.member_n = 0};

	flow_init(flow);
	stress_add(&team, produce, flow);
	stress_add(&team, consume, flow);
	stress_add(&team, look_on, flow);
	stress_run(&team);
	STRESS_CHECK(flow->popped_n[0] == flow->pushed_n[0]);
	struct bt_ring_stats stats = bt_ring_stats_read(&flow->rings[0]);
	STRESS_CHECK((stats.high_water > 0) == (flow->pushed_n[0] > 0) && stats.high_water <= flow->capacity);
	if (flow->entries_max == UINT64_MAX) {
		printf("capacity %" PRIu32 ": %" PRIu64 " entries, at most %" PRIu32
		       " at a time, full %" PRIu64 " times, slept %" PRIu64 " and %" PRIu64 " times\n",
			flow->capacity, flow->popped_n[0], stats.high_water, stats.full_n,
			stats.producer_parks, stats.consumer_parks);
	}
	flow_fini(flow);
}

static void check_flows(bool delayed)
{
	uint64_t seed = seed_of_test();

	for (uint32_t capacity = 4; capacity <= 1024; capacity *= 16) {
		struct flow flow = {
			.capacity = capacity, .producer_n = 1, .seed = seed, .entries_max = UINT64_MAX};

		if (delayed) {
			bt_testpoint_delay(seed + capacity);
		}
		run_flow(&flow);
		bt_testpoint_off();
	}
}

/* EDGE ring.tail, EDGE ring.head. */
static void every_entry_is_popped_once_whole_and_in_order(void **state)
{
	(void)state;
	check_flows(false);
}

static void also_when_threads_are_delayed_anywhere(void **state)
{
	(void)state;
	check_flows(true);
}

static void also_when_one_is_held_at_any_point(void **state)
{
	struct flow flow = {.capacity = 4, .producer_n = 1, .seed = seed_of_test(), .entries_max = 3000};

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	stress_hold_at_each("ring.", 6, run_flow, &flow, flow.seed);
	stress_hold_at_each("park.", 7, run_flow, &flow, flow.seed);
}

/* EDGE ring.closed. */
static void nothing_is_left_behind_when_a_ring_closes(void **state)
{
	struct flow flow = {.capacity = 4, .producer_n = 1, .seed = seed_of_test()};
	int64_t end_ns = stress_end_ns();
	uint64_t round_n = 0;

	(void)state;
	for (; stress_goes_on(end_ns); round_n++) {
		flow.seed++;
		flow.entries_max = round_n % 6;
		bt_testpoint_delay(flow.seed);
		run_flow(&flow);
		bt_testpoint_off();
	}
	printf("%" PRIu64 " rounds\n", round_n);
	flow.entries_max = 1;
	if (bt_testpoint_is_built()) {
		stress_hold_at_each("ring.", 6, run_flow, &flow, flow.seed);
	}
}

static void take_from_all(void *context, uint32_t ix)
{
	struct flow *flow = context;
	struct bt_rng rng = {flow->seed + 100 + ix};
	struct entry entries[AT_ONCE_MAX];
	uint32_t ring_ix = 0;

	while (!bt_inbox_is_drained(&flow->inbox)) {
		bool patient = bt_rng_below(&rng, 2);
		uint32_t n = bt_inbox_pop_n(&flow->inbox, entries, bt_rng_below(&rng, AT_ONCE_MAX) + 1,
			patient ? LOST_NS : bt_rng_below(&rng, 30000), &ring_ix);

		STRESS_CHECK(n || !patient || bt_inbox_is_drained(&flow->inbox));
		for (uint32_t i = 0; i < n; i++) {
			check_entry(&entries[i], flow->popped_n[ring_ix]++);
		}
		dawdle(&rng);
	}
}

static void run_inbox(void *context)
{
	struct flow *flow = context;
	struct stress_team team = {.member_n = 0};

	flow_init(flow);
	bt_inbox_init(&flow->inbox, flow->all, flow->producer_n);
	for (uint32_t i = 0; i < flow->producer_n; i++) {
		stress_add(&team, produce, flow);
	}
	stress_add(&team, take_from_all, flow);
	stress_run(&team);
	for (uint32_t i = 0; i < flow->producer_n; i++) {
		STRESS_CHECK(flow->popped_n[i] == flow->pushed_n[i]);
	}
	printf("capacity %" PRIu32 ": %" PRIu64 ", %" PRIu64 " and %" PRIu64 " entries\n", flow->capacity,
		flow->popped_n[0], flow->popped_n[1], flow->popped_n[2]);
	flow_fini(flow);
}

static void an_inbox_keeps_the_order_of_each_producer(void **state)
{
	struct flow flow = {.producer_n = PRODUCERS, .seed = seed_of_test(), .entries_max = UINT64_MAX};

	(void)state;
	flow.capacity = 4;
	run_inbox(&flow);
	bt_testpoint_delay(flow.seed);
	flow.capacity = 64;
	run_inbox(&flow);
	bt_testpoint_off();
}

static void consume_a_few_and_abandon(void *context, uint32_t ix)
{
	struct flow *flow = context;
	struct bt_rng rng = {flow->seed + 100 + ix};
	uint64_t wanted_n = bt_rng_below(&rng, 40);
	struct entry entry;

	for (uint64_t i = 0; i < wanted_n; i++) {
		STRESS_CHECK(bt_ring_pop(&flow->rings[0], &entry, LOST_NS));
		check_entry(&entry, i);
	}
	dawdle(&rng);
	bt_ring_abandon(&flow->rings[0]);
}

static void a_producer_always_learns_that_it_was_abandoned(void **state)
{
	struct flow flow = {
		.capacity = 4, .producer_n = 1, .seed = seed_of_test(), .entries_max = UINT64_MAX};
	int64_t end_ns = stress_end_ns();
	uint64_t round_n = 0;

	(void)state;
	for (; stress_goes_on(end_ns); round_n++) {
		struct stress_team team = {.member_n = 0};

		flow.seed++;
		flow_init(&flow);
		flow.end_ns = INT64_MAX;
		bt_testpoint_delay(flow.seed);
		stress_add(&team, produce, &flow);
		stress_add(&team, consume_a_few_and_abandon, &flow);
		stress_run(&team);
		flow_fini(&flow);
	}
	bt_testpoint_off();
	printf("%" PRIu64 " rounds\n", round_n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_is_popped_once_whole_and_in_order),
		cmocka_unit_test(also_when_threads_are_delayed_anywhere),
		cmocka_unit_test(also_when_one_is_held_at_any_point),
		cmocka_unit_test(nothing_is_left_behind_when_a_ring_closes),
		cmocka_unit_test(an_inbox_keeps_the_order_of_each_producer),
		cmocka_unit_test(a_producer_always_learns_that_it_was_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
