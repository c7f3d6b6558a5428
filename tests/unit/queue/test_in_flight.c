/* SPDX-License-Identifier: Apache-2.0
 * Pods in flight, and the events stored for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "queue/queue_int.h"

#define SLOT_N 4

/* A queue with the fields that in_flight.c reads: slots and the log. */
struct flight_test {
	struct bt_queue queue;
	struct bt_slot slots[SLOT_N];
	uint32_t kept_n;
};

static void kept(void *context, uint32_t cause)
{
	struct flight_test *t = context;

	assert_true(cause < BT_CAUSE_N);
	t->kept_n++;
}

static int setup(void **state)
{
	struct flight_test *t = calloc(1, sizeof(*t));

	t->queue = (struct bt_queue){.slots = t->slots,
		.slot_n = SLOT_N,
		.options = {.log_limit = 3, .observer = {.kept = kept, .context = t}}};
	for (uint32_t i = 0; i < SLOT_N; i++) {
		t->slots[i].where = BT_WAIT_ACTIVE;
	}
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct flight_test *t = *state;

	bt_mem_free(t->queue.flying);
	bt_mem_free(t->queue.log);
	free(t);
	return 0;
}

/* An event identified by its pod. */
static void log_event(struct flight_test *t, uint32_t only)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};

	bt_in_flight_log(&t->queue, &event, only);
}

static void without_pods_in_flight_no_event_is_kept(void **state)
{
	struct flight_test *t = *state;

	log_event(t, BT_QUEUE_EMPTY);
	assert_int_equal(t->queue.log_n, 0);
	assert_int_equal(t->kept_n, 0);
}

static void a_pod_in_flight_is_counted_and_its_attempt_too(void **state)
{
	struct flight_test *t = *state;

	t->slots[1].missed = t->slots[1].patient = true;
	bt_in_flight_begin(&t->queue, 1);
	assert_int_equal(t->slots[1].where, BT_WAIT_IN_FLIGHT);
	assert_int_equal(t->slots[1].attempts, 1);
	assert_false(t->slots[1].missed || t->slots[1].patient);
	assert_int_equal(t->queue.counts.in_flight, 1);
	bt_in_flight_end(&t->queue, 1);
	assert_int_equal(t->queue.counts.in_flight, 0);
}

static void a_pod_sees_the_events_since_it_took_off(void **state)
{
	struct flight_test *t = *state;

	bt_in_flight_begin(&t->queue, 0);
	log_event(t, 10);
	bt_in_flight_begin(&t->queue, 1);
	log_event(t, 11);
	assert_int_equal(t->kept_n, 2);
	assert_int_equal(t->slots[0].log_begin, t->queue.log_begin);
	assert_int_equal(t->slots[1].log_begin, t->queue.log_begin + 1);
	assert_int_equal(t->queue.log[t->slots[1].log_begin - t->queue.log_begin].only, 11);
}

static void events_are_dropped_once_no_pod_in_flight_needs_them(void **state)
{
	struct flight_test *t = *state;

	bt_in_flight_begin(&t->queue, 0);
	log_event(t, 10);
	bt_in_flight_begin(&t->queue, 1);
	log_event(t, 11);
	bt_in_flight_begin(&t->queue, 2);
	bt_in_flight_end(&t->queue, 1); /* the oldest pod still needs both */
	assert_int_equal(t->queue.log_n, 2);
	bt_in_flight_begin(&t->queue, 3);
	bt_in_flight_end(&t->queue, 0);
	assert_int_equal(t->queue.log_n, 0);
	log_event(t, 12);
	assert_int_equal(t->queue.log_n, 1);
	assert_int_equal(t->slots[2].log_begin, t->queue.log_begin);
	assert_int_equal(t->queue.log[0].only, 12);
	bt_in_flight_end(&t->queue, 2);
	assert_int_equal(t->queue.log_n, 1);
	bt_in_flight_end(&t->queue, 3);
	assert_int_equal(t->queue.log_n, 0);
}

static void the_events_that_are_left_keep_their_order(void **state)
{
	struct flight_test *t = *state;

	bt_in_flight_begin(&t->queue, 0);
	log_event(t, 10);
	bt_in_flight_begin(&t->queue, 1);
	log_event(t, 11);
	log_event(t, 12);
	bt_in_flight_end(&t->queue, 0);
	assert_int_equal(t->queue.log_n, 2);
	assert_int_equal(t->slots[1].log_begin, t->queue.log_begin);
	assert_int_equal(t->queue.log[0].only, 11);
	assert_int_equal(t->queue.log[1].only, 12);
	bt_in_flight_end(&t->queue, 1);
}

static void a_full_log_is_dropped_and_pods_in_flight_know_it(void **state)
{
	struct flight_test *t = *state;

	bt_in_flight_begin(&t->queue, 0);
	for (uint32_t i = 0; i < 3; i++) {
		log_event(t, i);
	}
	assert_false(t->slots[0].missed);
	log_event(t, 3);
	assert_true(t->slots[0].missed);
	assert_int_equal(t->queue.counts.overflow_n, 1);
	assert_int_equal(t->queue.log_n, 1);
	assert_int_equal(t->slots[0].log_begin, t->queue.log_begin);
	bt_in_flight_begin(&t->queue, 1);
	assert_false(t->slots[1].missed);
	bt_in_flight_end(&t->queue, 0);
	assert_int_equal(t->queue.log_n, 0);
	bt_in_flight_end(&t->queue, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_pods_in_flight_no_event_is_kept),
		TEST(a_pod_in_flight_is_counted_and_its_attempt_too),
		TEST(a_pod_sees_the_events_since_it_took_off),
		TEST(events_are_dropped_once_no_pod_in_flight_needs_them),
		TEST(the_events_that_are_left_keep_their_order),
		TEST(a_full_log_is_dropped_and_pods_in_flight_know_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
