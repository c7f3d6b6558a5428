/* SPDX-License-Identifier: Apache-2.0
 * Watch events for a pipeline that is sometimes full: in order, each once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "tools/cluster/watch/backpressure_queue_int.h"

static void put(struct bt_backpressure_queue *queue, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "pod-%u", number);
	struct bt_watch_event *event = bt_watch_event_create(BT_WATCH_EVENT_DELETE);
	event->object.kind = BT_KIND_POD;
	event->object.meta.name =
		(struct bt_str){bt_arena_copy(&event->arena, name, sizeof(name)), strlen(name)};
	bt_backpressure_queue_put(queue, event);
}

static void assert_fed(uint32_t n)
{
	assert_int_equal(fake_fed_n, n);
	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "pod-%u", i);
		assert_string_equal(fake_fed[i].name, name);
		assert_int_equal(fake_fed[i].source, 3);
	}
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static void entries_within_the_capacity_do_not_wait(void **state)
{
	struct bt_backpressure_queue queue = {.source = 3};

	(void)state;
	put(&queue, 0);
	assert_fed(1);
	assert_int_equal(queue.n, 0);
	bt_backpressure_queue_fini(&queue);
}

static void entries_beyond_the_capacity_wait_in_order(void **state)
{
	struct bt_backpressure_queue queue = {.source = 3};

	(void)state;
	fake_room = 1;
	put(&queue, 0);
	put(&queue, 1);
	fake_room = UINT32_MAX;
	put(&queue, 2); /* there is room again, but another event waits */
	assert_fed(1);
	bt_backpressure_queue_drain(&queue);
	assert_fed(3);
	bt_backpressure_queue_fini(&queue);
}

/* More wait than its first array holds; the ring buffer has wrapped when it grows. */
static void any_number_may_wait(void **state)
{
	struct bt_backpressure_queue queue = {.source = 3};

	(void)state;
	fake_full = BT_NO_MEMORY;
	fake_room = 0;
	for (uint32_t i = 0; i < 60; i++) {
		put(&queue, i);
	}
	fake_room = 50;
	bt_backpressure_queue_drain(&queue);
	for (uint32_t i = 60; i < 300; i++) {
		put(&queue, i);
	}
	assert_fed(50);
	fake_room = UINT32_MAX;
	bt_backpressure_queue_drain(&queue);
	assert_fed(300);
	bt_backpressure_queue_fini(&queue);
}

static void a_pipeline_that_has_ended_is_fed_nothing_more(void **state)
{
	struct bt_backpressure_queue queue = {.source = 3};

	(void)state;
	fake_room = 0;
	fake_full = BT_CONFLICT;
	put(&queue, 0);
	assert_int_equal(queue.n, 0);
	fake_room = UINT32_MAX;
	put(&queue, 1);
	assert_fed(0);
	bt_backpressure_queue_fini(&queue);
}

static void waiting_entries_are_freed_with_the_queue(void **state)
{
	struct bt_backpressure_queue queue = {.source = 3};

	(void)state;
	fake_room = 0;
	put(&queue, 0);
	assert_int_equal(queue.n, 1);
	bt_backpressure_queue_fini(&queue);
	assert_int_equal(queue.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(entries_within_the_capacity_do_not_wait, setup),
		cmocka_unit_test_setup(entries_beyond_the_capacity_wait_in_order, setup),
		cmocka_unit_test_setup(any_number_may_wait, setup),
		cmocka_unit_test_setup(a_pipeline_that_has_ended_is_fed_nothing_more, setup),
		cmocka_unit_test_setup(waiting_entries_are_freed_with_the_queue, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
