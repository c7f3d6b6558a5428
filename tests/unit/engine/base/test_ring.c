/* SPDX-License-Identifier: Apache-2.0
 * Rings: order, full capacity, waiting, and closing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>

#include "engine/base/ring.h"
#include "engine/base/rng.h"
#include "seed.h"

enum { MILLISECOND_NS = 1000000 };

static void a_ring_holds_exactly_its_capacity(void **state)
{
	struct bt_ring ring;

	(void)state;
	for (uint32_t capacity = 4; capacity <= 64; capacity *= 2) {
		bt_ring_init(&ring, capacity, sizeof(uint32_t), "test");
		assert_int_equal(bt_ring_capacity(&ring), capacity);
		for (uint32_t i = 0; i < capacity; i++) {
			assert_int_equal(bt_ring_count(&ring), i);
			assert_true(bt_ring_try_push(&ring, &i));
		}
		assert_false(bt_ring_try_push(&ring, &capacity));
		assert_int_equal(bt_ring_count(&ring), capacity);
		for (uint32_t i = 0, got; i < capacity; i++) {
			assert_true(bt_ring_try_pop(&ring, &got));
			assert_int_equal(got, i);
		}
		assert_false(bt_ring_try_pop(&ring, &capacity));
		assert_int_equal(bt_ring_stats_read(&ring).high_water, capacity);
		bt_ring_fini(&ring);
	}
}

static void a_ring_has_its_name(void **state)
{
	struct bt_ring ring;

	(void)state;
	bt_ring_init(&ring, 4, 1, "binds");
	assert_string_equal(bt_ring_name(&ring), "binds");
	bt_ring_fini(&ring);
}

/* Entries come out in order and complete, for any size of entry and batch; a plain counter is the model. */
static void check_random_use(struct bt_rng *rng, uint32_t capacity, size_t entry_bytes)
{
	struct bt_ring ring;
	unsigned char in[20 * 40], out[20 * 40];
	uint64_t pushed = 0, popped = 0;
	uint32_t high_water = 0;

	bt_ring_init(&ring, capacity, entry_bytes, "test");
	for (int step = 0; step < 2000; step++) {
		uint32_t n = bt_rng_below(rng, 20);

		if (bt_rng_below(rng, 2)) {
			for (size_t i = 0; i < n * entry_bytes; i++) {
				in[i] = (unsigned char)bt_rng_at(pushed + i / entry_bytes, i % entry_bytes);
			}
			uint32_t room = capacity - (uint32_t)(pushed - popped);
			uint32_t done = bt_ring_try_push_n(&ring, in, n);
			assert_int_equal(done, n < room ? n : room);
			pushed += done;
		} else {
			uint32_t there = (uint32_t)(pushed - popped);
			uint32_t done = bt_ring_try_pop_n(&ring, out, n);
			assert_int_equal(done, n < there ? n : there);
			for (size_t i = 0; i < done * entry_bytes; i++) {
				assert_int_equal(out[i],
					(unsigned char)bt_rng_at(popped + i / entry_bytes, i % entry_bytes));
			}
			popped += done;
		}
		high_water = pushed - popped > high_water ? (uint32_t)(pushed - popped) : high_water;
		assert_int_equal(bt_ring_count(&ring), pushed - popped);
		assert_int_equal(bt_ring_stats_read(&ring).high_water, high_water);
	}
	bt_ring_fini(&ring);
}

static void entries_are_popped_whole_and_in_order(void **state)
{
	struct bt_rng rng = {seed_of_test()};
	const size_t sizes[] = {1, 3, 8, 16, 24, 32, 40};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_random_use(&rng, 4, sizes[i]);
		check_random_use(&rng, 16, sizes[i]);
	}
}

static void the_counters_may_run_over(void **state)
{
	struct bt_ring ring;
	uint32_t got[6];

	(void)state;
	bt_ring_init(&ring, 8, sizeof(uint32_t), "test");
	/* As after 2^32 - 3 entries; only this test writes the ring's fields. */
	ring.ck.p_tail = ring.ck.p_head = ring.ck.c_head = ring.seen_head = ring.seen_tail = UINT32_MAX - 2;
	for (uint32_t begin = 0; begin < 60; begin += 6) {
		const uint32_t six[] = {begin, begin + 1, begin + 2, begin + 3, begin + 4, begin + 5};

		assert_int_equal(bt_ring_try_push_n(&ring, six, 6), 6);
		assert_int_equal(bt_ring_count(&ring), 6);
		assert_int_equal(bt_ring_try_push_n(&ring, six, 6), 2);
		assert_int_equal(bt_ring_try_pop_n(&ring, got, 6), 6);
		assert_memory_equal(got, six, sizeof(six));
		assert_int_equal(bt_ring_try_pop_n(&ring, got, 6), 2);
	}
	assert_int_equal(bt_ring_stats_read(&ring).high_water, 8);
	bt_ring_fini(&ring);
}

static void a_wait_for_room_or_entries_ends_with_its_time(void **state)
{
	struct bt_ring ring;
	uint64_t entry[6] = {0};

	(void)state;
	bt_ring_init(&ring, 4, sizeof(uint64_t), "test");
	assert_false(bt_ring_pop(&ring, entry, 0));
	assert_false(bt_ring_pop(&ring, entry, MILLISECOND_NS));
	assert_int_equal(bt_ring_stats_read(&ring).consumer_parks, 1);
	assert_int_equal(bt_ring_push_n(&ring, entry, 6, MILLISECOND_NS), 4);
	assert_false(bt_ring_push(&ring, entry, MILLISECOND_NS));
	assert_false(bt_ring_push(&ring, entry, 0));
	assert_int_equal(bt_ring_stats_read(&ring).full_n, 2);
	assert_int_equal(bt_ring_stats_read(&ring).producer_parks, 2);
	assert_int_equal(bt_ring_pop_n(&ring, entry, 6, 0), 4);
	bt_ring_fini(&ring);
}

static void a_closed_ring_is_drained_once_it_is_empty(void **state)
{
	struct bt_ring ring;
	uint64_t entry = 17;

	(void)state;
	bt_ring_init(&ring, 4, sizeof(entry), "test");
	assert_false(bt_ring_is_drained(&ring));
	assert_true(bt_ring_try_push(&ring, &entry));
	bt_ring_close(&ring);
	assert_false(bt_ring_is_drained(&ring));
	entry = 0;
	assert_true(bt_ring_pop(&ring, &entry, BT_EVENTCOUNT_FOREVER));
	assert_true(entry == 17);
	assert_true(bt_ring_is_drained(&ring));
	assert_false(bt_ring_pop(&ring, &entry, BT_EVENTCOUNT_FOREVER));
	bt_ring_fini(&ring);
}

static void pushing_into_an_abandoned_ring_does_not_wait(void **state)
{
	struct bt_ring ring;
	uint64_t entries[6] = {0};

	(void)state;
	bt_ring_init(&ring, 4, sizeof(uint64_t), "test");
	assert_false(bt_ring_is_abandoned(&ring));
	bt_ring_abandon(&ring);
	assert_true(bt_ring_is_abandoned(&ring));
	assert_int_equal(bt_ring_push_n(&ring, entries, 6, BT_EVENTCOUNT_FOREVER), 4);
	assert_false(bt_ring_push(&ring, entries, BT_EVENTCOUNT_FOREVER));
	bt_ring_fini(&ring);
}

static void *produce(void *context)
{
	struct bt_ring *ring = context;

	for (uint64_t i = 0; i < 5000; i++) {
		if (!bt_ring_push(ring, &i, BT_EVENTCOUNT_FOREVER)) {
			return NULL;
		}
	}
	bt_ring_close(ring);
	return NULL;
}

static void a_producer_that_is_faster_waits_and_loses_nothing(void **state)
{
	struct bt_ring ring;
	pthread_t producer;
	uint64_t got, expected = 0;

	(void)state;
	bt_ring_init(&ring, 4, sizeof(uint64_t), "test");
	assert_int_equal(pthread_create(&producer, NULL, produce, &ring), 0);
	while (!bt_ring_stats_read(&ring).full_n) {
		bt_cpu_relax();
	}
	while (bt_ring_pop(&ring, &got, BT_EVENTCOUNT_FOREVER)) {
		assert_true(got == expected);
		expected++;
	}
	assert_true(expected == 5000);
	assert_true(bt_ring_is_drained(&ring));
	pthread_join(producer, NULL);
	bt_ring_fini(&ring);
}

static void abandoning_releases_a_producer_that_sleeps(void **state)
{
	struct bt_ring ring;
	pthread_t producer;

	(void)state;
	bt_ring_init(&ring, 4, sizeof(uint64_t), "test");
	assert_int_equal(pthread_create(&producer, NULL, produce, &ring), 0);
	while (!bt_ring_stats_read(&ring).producer_parks) {
		bt_cpu_relax();
	}
	bt_ring_abandon(&ring);
	pthread_join(producer, NULL);
	assert_int_equal(bt_ring_count(&ring), 4);
	bt_ring_fini(&ring);
}

static void an_inbox_gives_every_ring_its_turn(void **state)
{
	struct bt_ring rings[3], *all[3] = {&rings[0], &rings[1], &rings[2]};
	struct bt_inbox inbox;
	uint64_t entry[4];
	uint32_t ring_ix;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		bt_ring_init(&rings[i], 4, sizeof(uint64_t), "test");
	}
	bt_inbox_init(&inbox, all, 3);
	assert_int_equal(bt_inbox_pop_n(&inbox, entry, 4, 0, &ring_ix), 0);
	assert_int_equal(bt_inbox_pop_n(&inbox, entry, 4, MILLISECOND_NS, &ring_ix), 0);
	for (uint64_t i = 0; i < 4; i++) {
		assert_true(bt_ring_try_push(&rings[0], &i));
		assert_true(bt_ring_try_push(&rings[2], &i));
	}
	for (uint32_t turn = 0; turn < 8; turn++) {
		assert_int_equal(bt_inbox_pop_n(&inbox, entry, 1, BT_EVENTCOUNT_FOREVER, &ring_ix), 1);
		assert_int_equal(ring_ix, turn % 2 * 2);
		assert_true(entry[0] == turn / 2);
	}
	for (int i = 0; i < 3; i++) {
		assert_false(bt_inbox_is_drained(&inbox));
		bt_ring_close(&rings[i]);
	}
	assert_true(bt_inbox_is_drained(&inbox));
	assert_int_equal(bt_inbox_pop_n(&inbox, entry, 4, BT_EVENTCOUNT_FOREVER, &ring_ix), 0);
	for (int i = 0; i < 3; i++) {
		bt_ring_fini(&rings[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_holds_exactly_its_capacity),
		cmocka_unit_test(a_ring_has_its_name),
		cmocka_unit_test(entries_are_popped_whole_and_in_order),
		cmocka_unit_test(the_counters_may_run_over),
		cmocka_unit_test(a_wait_for_room_or_entries_ends_with_its_time),
		cmocka_unit_test(a_closed_ring_is_drained_once_it_is_empty),
		cmocka_unit_test(pushing_into_an_abandoned_ring_does_not_wait),
		cmocka_unit_test(a_producer_that_is_faster_waits_and_loses_nothing),
		cmocka_unit_test(abandoning_releases_a_producer_that_sleeps),
		cmocka_unit_test(an_inbox_gives_every_ring_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
