/* SPDX-License-Identifier: Apache-2.0
 * The order of waiting pods, and the places where they wait.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "queue/queue.h"

#define POD_N  60
#define SECOND BT_QUEUE_SECOND

static const struct bt_queue_options usual = {.initial_backoff_ns = SECOND,
	.max_backoff_ns = 10 * SECOND,
	.max_unschedulable_ns = 300 * SECOND,
	.pop_from_backoff = true};

/* A plugin that is asked about everything, for hooks. */
#define PLUGIN 3
#define MASK   (1u << PLUGIN)

static struct bt_queue_kind kind(uint32_t signature_ix, int32_t priority)
{
	return (struct bt_queue_kind){signature_ix, priority};
}

/* Pops a pod and refuses it. */
static enum bt_wait refuse(struct bt_queue *queue, uint32_t pod, uint32_t rejectors, int64_t now_ns)
{
	assert_int_equal(bt_queue_pop(queue), pod);
	return bt_queue_refuse(queue, pod, rejectors, 0, now_ns);
}

static void higher_priority_goes_first(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, -5), 1);
	bt_queue_add(queue, 1, kind(0, 7), 9);
	bt_queue_add(queue, 2, kind(0, 0), 1);
	assert_int_equal(bt_queue_pop(queue), 1);
	assert_int_equal(bt_queue_pop(queue), 2);
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

static void among_equals_the_longest_wait_goes_first_then_arrival(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 5, kind(0, 0), 20);
	bt_queue_add(queue, 4, kind(1, 0), 10);
	bt_queue_add(queue, 3, kind(0, 0), 10);
	assert_int_equal(bt_queue_pop(queue), 4);
	assert_int_equal(bt_queue_pop(queue), 3);
	assert_int_equal(bt_queue_pop(queue), 5);
	bt_queue_destroy(queue);
}

static void a_refused_pod_waits_for_an_event_and_then_for_its_backoff(void **state)
{
	const struct bt_event event = {.resource = BT_EVENT_NODE, .action = BT_ADD};
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	assert_int_equal(refuse(queue, 0, MASK, 12 * SECOND + 700000000), BT_WAIT_UNSCHEDULABLE);
	bt_queue_move(queue, &event, INT32_MAX, BT_QUEUE_EMPTY, 12 * SECOND + 800000000);
	assert_int_equal(bt_queue_info(queue, 0).where, BT_WAIT_BACKOFF);
	assert_int_equal(bt_queue_info(queue, 0).expiry_ns, 13 * SECOND);
	bt_queue_flush_backoff(queue, 13 * SECOND);
	assert_int_equal(bt_queue_counts(queue).backoff, 1);
	bt_queue_flush_backoff(queue, 14 * SECOND);
	assert_int_equal(bt_queue_counts(queue).active, 1);
	bt_queue_destroy(queue);
}

static void times_and_waits_at_the_ends_of_what_can_be_told_do_no_harm(void **state)
{
	static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
	static const int64_t waits[] = {1, SECOND, INT64_MAX - 1, INT64_MAX};

	(void)state;
	for (size_t i = 0; i < 6 * 4 * 4; i++) {
		struct bt_queue_options options = usual;

		options.initial_backoff_ns = waits[i / 6 % 4];
		options.max_backoff_ns = waits[i / 24];
		struct bt_queue *queue = bt_queue_create(&options);
		bt_queue_add(queue, 0, kind(0, 0), times[i % 6]);
		for (int attempt = 0; attempt < 70; attempt++) {
			refuse(queue, 0, MASK, times[i % 6]);
			bt_queue_flush_backoff(queue, 0);
			bt_queue_activate(queue, 0, 0);
		}
		refuse(queue, 0, MASK, times[i % 6]);
		bt_queue_flush_unschedulable(queue, SECOND);
		assert_int_equal(bt_queue_info(queue, 0).flushed, times[i % 6] < -1);
		bt_queue_destroy(queue);
	}
}

static void a_pod_in_backoff_is_popped_when_none_is_active_but_not_one_that_failed(void **state)
{
	const struct bt_event event = {.resource = BT_EVENT_NODE, .action = BT_ADD};
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_add(queue, 1, kind(0, 0), 1);
	assert_int_equal(refuse(queue, 0, MASK, SECOND), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(refuse(queue, 1, 0, SECOND), BT_WAIT_BACKOFF);
	bt_queue_move(queue, &event, INT32_MAX, BT_QUEUE_EMPTY, SECOND);
	assert_int_equal(bt_queue_counts(queue).backoff, 2);
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

static void an_event_that_comes_while_a_pod_is_in_flight_is_not_lost(void **state)
{
	const struct bt_event event = {.resource = BT_EVENT_NODE, .action = BT_ADD};
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	assert_int_equal(bt_queue_pop(queue), 0);
	bt_queue_move(queue, &event, INT32_MAX, BT_QUEUE_EMPTY, SECOND);
	assert_true(bt_queue_keeps_events(queue));
	assert_int_equal(bt_queue_refuse(queue, 0, MASK, 0, SECOND), BT_WAIT_BACKOFF);
	assert_false(bt_queue_keeps_events(queue));
	bt_queue_destroy(queue);
}

static void when_too_many_events_come_pods_in_flight_are_tried_again(void **state)
{
	const struct bt_event event = {.resource = BT_EVENT_NODE, .action = BT_DELETE};
	struct bt_queue_options options = usual;

	(void)state;
	options.log_limit = 4;
	struct bt_queue *queue = bt_queue_create(&options);
	bt_queue_add(queue, 0, kind(0, 0), 0);
	assert_int_equal(bt_queue_pop(queue), 0);
	for (int i = 0; i < 9; i++) {
		bt_queue_move(queue, &event, INT32_MAX, BT_QUEUE_EMPTY, SECOND);
	}
	assert_int_equal(bt_queue_counts(queue).overflow_n, 2);
	assert_int_equal(bt_queue_refuse(queue, 0, MASK, 0, SECOND), BT_WAIT_BACKOFF);
	bt_queue_destroy(queue);
}

static void a_parked_kind_comes_after_all_others(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		bt_queue_add(queue, i, kind(0, 100), i);
	}
	bt_queue_add(queue, 9, kind(1, 0), 9);
	assert_int_equal(refuse(queue, 0, MASK, 10), BT_WAIT_UNSCHEDULABLE);
	bt_queue_park(queue, 0, MASK);
	assert_int_equal(bt_queue_pop(queue), 9);
	assert_int_equal(bt_queue_pop(queue), 1);
	bt_queue_destroy(queue);
}

static void a_kind_stays_parked_while_its_pods_have_their_turn(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		bt_queue_add(queue, i, kind(0, 100), i);
	}
	assert_int_equal(refuse(queue, 0, MASK, 10), BT_WAIT_UNSCHEDULABLE);
	bt_queue_park(queue, 0, MASK);
	assert_int_equal(refuse(queue, 1, MASK, 10), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_queue_counts(queue).parked, 1);
	/* One that comes now still goes before the rest. */
	bt_queue_add(queue, 9, kind(1, 0), 20);
	assert_int_equal(bt_queue_pop(queue), 9);
	/* One of them fits after all: the last one does not wait for others any more. */
	assert_int_equal(bt_queue_pop(queue), 2);
	bt_queue_done(queue, 2);
	assert_int_equal(bt_queue_counts(queue).parked, 0);
	bt_queue_add(queue, 8, kind(1, 0), 20);
	assert_int_equal(bt_queue_pop(queue), 3);
	assert_int_equal(bt_queue_pop(queue), 8);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

static void pods_that_are_nowhere_cannot_be_removed(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	assert_int_equal(bt_queue_remove(queue, 3), BT_NOT_FOUND);
	bt_queue_add(queue, 3, kind(0, 0), 1);
	assert_int_equal(bt_queue_remove(queue, 2), BT_NOT_FOUND);
	assert_int_equal(bt_queue_remove(queue, 3), BT_OK);
	assert_int_equal(bt_queue_remove(queue, 3), BT_NOT_FOUND);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

/* The same, plainly: a list of pods. */
struct waiting {
	bool waits;
	int32_t priority;
	int64_t timestamp_ns;
	uint64_t arrival;
};

static uint32_t first_of(const struct waiting *pods)
{
	uint32_t best = BT_QUEUE_EMPTY;

	for (uint32_t i = 0; i < POD_N; i++) {
		const struct waiting *p = &pods[i], *b = best == BT_QUEUE_EMPTY ? NULL : &pods[best];

		if (!p->waits) {
			continue;
		}
		if (!b || p->priority > b->priority ||
			(p->priority == b->priority && p->timestamp_ns < b->timestamp_ns) ||
			(p->priority == b->priority && p->timestamp_ns == b->timestamp_ns &&
				p->arrival < b->arrival)) {
			best = i;
		}
	}
	return best;
}

static void random_step(struct bt_queue *queue, struct waiting *pods, struct bt_rng *rng, uint64_t *arrivals)
{
	uint32_t pod = bt_rng_below(rng, POD_N), first = first_of(pods);

	switch (bt_rng_below(rng, 8)) {
	case 0:
		assert_int_equal(bt_queue_pop(queue), first);
		if (first != BT_QUEUE_EMPTY) {
			pods[first].waits = false;
			bt_queue_remove(queue, first);
		}
		return;
	case 1:
		assert_int_equal(bt_queue_remove(queue, pod), pods[pod].waits ? BT_OK : BT_NOT_FOUND);
		pods[pod].waits = false;
		return;
	default:
		if (pods[pod].waits) {
			return;
		}
		pods[pod] = (struct waiting){
			true, (int32_t)bt_rng_below(rng, 3), bt_rng_below(rng, 3), (*arrivals)++};
		bt_queue_add(
			queue, pod, kind(bt_rng_below(rng, 5), pods[pod].priority), pods[pod].timestamp_ns);
	}
}

static void random_histories_pop_in_order(void **state)
{
	const char *given = getenv("BT_SEED");
	struct bt_rng rng = {given ? strtoull(given, NULL, 10) : 7};
	struct bt_queue *queue = bt_queue_create(&usual);
	struct waiting pods[POD_N] = {0};
	uint64_t arrivals = 0;

	(void)state;
	print_message("BT_SEED=%" PRIu64 "\n", rng.state);
	for (int i = 0; i < 50000; i++) {
		random_step(queue, pods, &rng, &arrivals);
	}
	for (uint32_t first; (first = first_of(pods)) != BT_QUEUE_EMPTY;) {
		assert_int_equal(bt_queue_pop(queue), first);
		pods[first].waits = false;
		bt_queue_remove(queue, first);
	}
	assert_int_equal(bt_queue_counts(queue).active, 0);
	bt_queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(higher_priority_goes_first),
		cmocka_unit_test(among_equals_the_longest_wait_goes_first_then_arrival),
		cmocka_unit_test(a_refused_pod_waits_for_an_event_and_then_for_its_backoff),
		cmocka_unit_test(times_and_waits_at_the_ends_of_what_can_be_told_do_no_harm),
		cmocka_unit_test(a_pod_in_backoff_is_popped_when_none_is_active_but_not_one_that_failed),
		cmocka_unit_test(an_event_that_comes_while_a_pod_is_in_flight_is_not_lost),
		cmocka_unit_test(when_too_many_events_come_pods_in_flight_are_tried_again),
		cmocka_unit_test(a_parked_kind_comes_after_all_others),
		cmocka_unit_test(a_kind_stays_parked_while_its_pods_have_their_turn),
		cmocka_unit_test(pods_that_are_nowhere_cannot_be_removed),
		cmocka_unit_test(random_histories_pop_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
