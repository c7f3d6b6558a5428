/* SPDX-License-Identifier: Apache-2.0
 * Backoff alone: duration, end, and the order in which pods leave it.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "seed.h"
#include "queue/queue_int.h"

#define SECOND BT_QUEUE_SECOND
#define SLOT_N 200

/* A queue with the fields that backoff.c reads: options, priorities of kinds, and slots. */
struct backoff_test {
	struct bt_queue queue;
	struct bt_kind_line kinds[3]; /* priorities 0, 1, 2 */
	struct bt_slot slots[SLOT_N];
};

static int setup(void **state)
{
	struct backoff_test *t = calloc(1, sizeof(*t));

	for (int32_t i = 0; i < 3; i++) {
		t->kinds[i].kind.priority = i;
	}
	t->queue = (struct bt_queue){.slots = t->slots,
		.slot_n = SLOT_N,
		.active.kinds = t->kinds,
		.active.kind_n = 3,
		.options = {.initial_backoff_ns = SECOND, .max_backoff_ns = 10 * SECOND}};
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static int64_t wait_of(const struct backoff_test *t, uint32_t unschedulable_n, uint32_t error_n)
{
	struct bt_slot slot = {.unschedulable_n = unschedulable_n, .error_n = error_n};

	return bt_pod_backoff_expiry(&t->queue, &slot);
}

static void backoff_doubles_with_each_failure_up_to_its_limit(void **state)
{
	struct backoff_test *t = *state;

	assert_int_equal(wait_of(t, 1, 0), SECOND);
	assert_int_equal(wait_of(t, 2, 0), 2 * SECOND);
	assert_int_equal(wait_of(t, 4, 0), 8 * SECOND);
	assert_int_equal(wait_of(t, 5, 0), 10 * SECOND);
	assert_int_equal(wait_of(t, 63, 0), 10 * SECOND);
	assert_int_equal(wait_of(t, 66, 0), 10 * SECOND); /* 65 doublings exceed an int64 */
	assert_int_equal(wait_of(t, UINT32_MAX, 0), 10 * SECOND);
}

static void failures_by_an_error_count_before_refusals(void **state)
{
	struct backoff_test *t = *state;

	assert_int_equal(wait_of(t, 4, 1), SECOND);
	assert_int_equal(wait_of(t, 0, 3), 4 * SECOND);
}

static void without_failures_or_a_limit_there_is_no_backoff(void **state)
{
	struct backoff_test *t = *state;

	assert_int_equal(wait_of(t, 0, 0), BT_EXPIRED);
	t->queue.options.max_backoff_ns = 0;
	assert_int_equal(wait_of(t, 3, 2), BT_EXPIRED);
}

static void an_end_beyond_all_time_saturates(void **state)
{
	struct backoff_test *t = *state;
	const struct bt_slot slot = {.unschedulable_n = 1, .timestamp_ns = INT64_MAX - 5};

	assert_int_equal(bt_pod_backoff_expiry(&t->queue, &slot), INT64_MAX);
	t->queue.options.max_backoff_ns = INT64_MAX;
	assert_int_equal(wait_of(t, 62, 0), INT64_MAX);
}

static void backoff_ends_at_whole_seconds_where_pods_are_popped_from_it(void **state)
{
	struct backoff_test *t = *state;
	struct bt_slot slot = {.unschedulable_n = 1, .timestamp_ns = 3 * SECOND + 7};

	assert_int_equal(bt_pod_backoff_expiry(&t->queue, &slot), 4 * SECOND + 7);
	t->queue.options.pop_from_backoff = true;
	assert_int_equal(bt_pod_backoff_expiry(&t->queue, &slot), 4 * SECOND);
	slot.timestamp_ns = -3 * SECOND - 7;
	assert_int_equal(bt_pod_backoff_expiry(&t->queue, &slot), -3 * SECOND);
}

static void backoff_lasts_through_the_window_of_its_end(void **state)
{
	struct backoff_test *t = *state;
	struct bt_slot slot = {.expiry_ns = 4 * SECOND};

	assert_true(bt_pod_backoff_lasts(&t->queue, &slot, 4 * SECOND));
	assert_false(bt_pod_backoff_lasts(&t->queue, &slot, 4 * SECOND + 1));
	t->queue.options.pop_from_backoff = true;
	assert_true(bt_pod_backoff_lasts(&t->queue, &slot, 5 * SECOND - 1));
	assert_false(bt_pod_backoff_lasts(&t->queue, &slot, 5 * SECOND));
	slot.expiry_ns = BT_EXPIRED;
	assert_false(bt_pod_backoff_lasts(&t->queue, &slot, INT64_MIN));
}

static bool is_before(const struct backoff_test *t, struct bt_slot a, struct bt_slot b, bool error)
{
	bool yes = bt_pod_backoff_before(&t->queue, &a, &b, error);

	assert_false(yes && bt_pod_backoff_before(&t->queue, &b, &a, error));
	return yes;
}

static void the_order_is_expiry_then_priority_then_time_then_arrival(void **state)
{
	struct backoff_test *t = *state;
	const struct bt_slot base = {.expiry_ns = 9, .kind = 1, .timestamp_ns = 5, .order = 5};
	struct bt_slot sooner = base, higher = base, longer = base, earlier = base;

	t->queue.options.pop_from_backoff = true;
	sooner = (struct bt_slot){.expiry_ns = 8, .kind = 0, .timestamp_ns = 6, .order = 6};
	higher = (struct bt_slot){.expiry_ns = 9, .kind = 2, .timestamp_ns = 6, .order = 6};
	longer = (struct bt_slot){.expiry_ns = 9, .kind = 1, .timestamp_ns = 4, .order = 6};
	earlier.order = 4;
	assert_true(is_before(t, sooner, base, false));
	assert_true(is_before(t, higher, base, false));
	assert_true(is_before(t, longer, base, false));
	assert_true(is_before(t, earlier, base, false));
	assert_false(is_before(t, base, base, false));
}

static void without_popping_from_backoff_equal_ends_leave_in_order_of_arrival(void **state)
{
	struct backoff_test *t = *state;
	const struct bt_slot late = {.expiry_ns = 9, .kind = 2, .timestamp_ns = 1, .order = 7},
			     early = {.expiry_ns = 9, .kind = 0, .timestamp_ns = 2, .order = 3};

	assert_true(is_before(t, early, late, false));
	assert_true(is_before(t, late, early, true)); /* except pods that failed with an error */
}

/* Is every slot of the heap after its parent, with the right index? */
static void assert_heap(const struct backoff_test *t, const struct bt_pod_backoff *heap)
{
	for (size_t i = 0; i < heap->n; i++) {
		assert_int_equal(t->slots[heap->slots[i]].heap_ix, i);
		assert_false(i > 0 && bt_pod_backoff_before(&t->queue, &t->slots[heap->slots[i]],
					      &t->slots[heap->slots[(i - 1) / 2]], heap->error));
	}
}

static void the_first_of_the_heap_is_the_least_whatever_leaves_it(void **state)
{
	struct backoff_test *t = *state;
	struct bt_pod_backoff heap = {0};
	struct bt_rng rng = {seed_of_test()};
	uint32_t left[SLOT_N];

	t->queue.options.pop_from_backoff = true;
	for (uint32_t i = 0; i < SLOT_N; i++) {
		t->slots[i] = (struct bt_slot){
			.expiry_ns = bt_rng_below(&rng, 20), .kind = bt_rng_below(&rng, 3), .order = i};
		bt_pod_backoff_push(&t->queue, &heap, i);
		left[i] = i;
		assert_heap(t, &heap);
	}
	for (uint32_t n = SLOT_N; n > 0; n--) {
		uint32_t at = bt_rng_below(&rng, n);

		bt_pod_backoff_remove(&t->queue, &heap, left[at]);
		left[at] = left[n - 1];
		assert_int_equal(heap.n, n - 1);
		assert_heap(t, &heap);
	}
	bt_mem_free(heap.slots);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(backoff_doubles_with_each_failure_up_to_its_limit),
		TEST(failures_by_an_error_count_before_refusals),
		TEST(without_failures_or_a_limit_there_is_no_backoff),
		TEST(an_end_beyond_all_time_saturates),
		TEST(backoff_ends_at_whole_seconds_where_pods_are_popped_from_it),
		TEST(backoff_lasts_through_the_window_of_its_end),
		TEST(the_order_is_expiry_then_priority_then_time_then_arrival),
		TEST(without_popping_from_backoff_equal_ends_leave_in_order_of_arrival),
		TEST(the_first_of_the_heap_is_the_least_whatever_leaves_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
