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

#define POD_N 60

static void higher_priority_goes_first(void **state)
{
	struct bt_queue *queue = bt_queue_create();

	(void)state;
	bt_queue_push(queue, 0, -5, 1, BT_WAIT_ACTIVE);
	bt_queue_push(queue, 1, 7, 9, BT_WAIT_ACTIVE);
	bt_queue_push(queue, 2, 0, 1, BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_pop(queue), 1);
	assert_int_equal(bt_queue_pop(queue), 2);
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

static void among_equals_the_longest_wait_goes_first_then_arrival(void **state)
{
	struct bt_queue *queue = bt_queue_create();

	(void)state;
	bt_queue_push(queue, 5, 0, 20, BT_WAIT_ACTIVE);
	bt_queue_push(queue, 4, 0, 10, BT_WAIT_ACTIVE);
	bt_queue_push(queue, 3, 0, 10, BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_pop(queue), 4);
	assert_int_equal(bt_queue_pop(queue), 3);
	assert_int_equal(bt_queue_pop(queue), 5);
	bt_queue_destroy(queue);
}

static void pods_set_aside_come_back_with_their_places(void **state)
{
	struct bt_queue *queue = bt_queue_create();

	(void)state;
	bt_queue_push(queue, 0, 0, 1, BT_WAIT_UNSCHEDULABLE);
	bt_queue_push(queue, 1, 0, 1, BT_WAIT_UNSCHEDULABLE);
	bt_queue_push(queue, 2, 0, 1, BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_counts(queue).unschedulable, 2);
	bt_queue_move_all(queue);
	assert_int_equal(bt_queue_counts(queue).unschedulable, 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(bt_queue_pop(queue), i);
	}
	bt_queue_destroy(queue);
}

static void gated_pods_stay_where_they_are(void **state)
{
	struct bt_queue *queue = bt_queue_create();

	(void)state;
	bt_queue_push(queue, 0, 0, 1, BT_WAIT_GATED);
	bt_queue_move_all(queue);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	assert_int_equal(bt_queue_counts(queue).gated, 1);
	assert_int_equal(bt_queue_remove(queue, 0), BT_OK);
	assert_int_equal(bt_queue_counts(queue).gated, 0);
	bt_queue_destroy(queue);
}

static void pods_that_do_not_wait_cannot_be_removed(void **state)
{
	struct bt_queue *queue = bt_queue_create();

	(void)state;
	assert_int_equal(bt_queue_remove(queue, 3), BT_NOT_FOUND);
	bt_queue_push(queue, 3, 0, 1, BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_remove(queue, 2), BT_NOT_FOUND);
	assert_int_equal(bt_queue_remove(queue, 3), BT_OK);
	assert_int_equal(bt_queue_remove(queue, 3), BT_NOT_FOUND);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

/* The same, plainly: a list of pods. */
struct waiting {
	bool waits;
	enum bt_wait where;
	int32_t priority;
	int64_t timestamp_ns;
	uint64_t arrival;
};

static uint32_t first_of(const struct waiting *pods)
{
	uint32_t best = BT_QUEUE_EMPTY;

	for (uint32_t i = 0; i < POD_N; i++) {
		const struct waiting *p = &pods[i], *b = best == BT_QUEUE_EMPTY ? NULL : &pods[best];

		if (!p->waits || p->where != BT_WAIT_ACTIVE) {
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
		}
		return;
	case 1:
		assert_int_equal(bt_queue_remove(queue, pod), pods[pod].waits ? BT_OK : BT_NOT_FOUND);
		pods[pod].waits = false;
		return;
	case 2:
		bt_queue_move_all(queue);
		for (uint32_t i = 0; i < POD_N; i++) {
			pods[i].where =
				pods[i].where == BT_WAIT_UNSCHEDULABLE ? BT_WAIT_ACTIVE : pods[i].where;
		}
		return;
	default:
		if (pods[pod].waits) {
			return;
		}
		pods[pod] = (struct waiting){true, (enum bt_wait)bt_rng_below(rng, 3),
			(int32_t)bt_rng_below(rng, 3), bt_rng_below(rng, 3), 0};
		pods[pod].arrival = (*arrivals)++;
		bt_queue_push(queue, pod, pods[pod].priority, pods[pod].timestamp_ns, pods[pod].where);
	}
}

static void random_histories_pop_in_order(void **state)
{
	const char *given = getenv("BT_SEED");
	struct bt_rng rng = {given ? strtoull(given, NULL, 10) : 7};
	struct bt_queue *queue = bt_queue_create();
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
	}
	assert_int_equal(bt_queue_counts(queue).active, 0);
	bt_queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(higher_priority_goes_first),
		cmocka_unit_test(among_equals_the_longest_wait_goes_first_then_arrival),
		cmocka_unit_test(pods_set_aside_come_back_with_their_places),
		cmocka_unit_test(gated_pods_stay_where_they_are),
		cmocka_unit_test(pods_that_do_not_wait_cannot_be_removed),
		cmocka_unit_test(random_histories_pop_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
