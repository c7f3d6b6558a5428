/* SPDX-License-Identifier: Apache-2.0
 * The order of waiting pods, and the queues in which they wait.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "queue/queue.h"

#define POD_N  60
#define SECOND BT_QUEUE_SECOND

static const struct bt_queue_options usual = {.initial_backoff_ns = SECOND,
	.max_backoff_ns = 10 * SECOND,
	.max_unschedulable_ns = 300 * SECOND,
	.pop_from_backoff = true};

static const struct bt_cluster_event node_added = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};

/* The only hint plugin, for hooks. */
#define PLUGIN 43
#define MASK   (UINT64_C(1) << PLUGIN)

static struct bt_queue_kind kind(uint32_t signature_ix, int32_t priority)
{
	return (struct bt_queue_kind){.signature_ix = signature_ix, .priority = priority};
}

/* Pops a pod and refuses it. */
static enum bt_wait refuse(
	struct bt_queue *queue, uint32_t pod, bt_plugin_set unschedulable_plugins, int64_t now_ns)
{
	assert_int_equal(bt_queue_pop(queue), pod);
	return bt_queue_refuse(queue, pod, unschedulable_plugins, 0, now_ns);
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

static void only_pods_in_flight_or_unschedulable_need_events(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	assert_false(bt_queue_may_requeue(queue) || bt_queue_is_busy(queue));
	bt_queue_add(queue, 0, kind(0, 0), 1);
	bt_queue_add(queue, 1, kind(1, 0), 2);
	assert_false(bt_queue_may_requeue(queue) || bt_queue_is_busy(queue));
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_true(bt_queue_may_requeue(queue) && bt_queue_is_busy(queue));
	bt_queue_done(queue, 0);
	assert_false(bt_queue_may_requeue(queue) || bt_queue_is_busy(queue));
	/* An event is stored as long as cycles that were open when it came. */
	assert_int_equal(bt_queue_pop(queue), 1);
	bt_queue_move(queue, &node_added, INT32_MAX, BT_QUEUE_EMPTY, 3);
	assert_true(bt_queue_keeps_events(queue));
	bt_queue_done(queue, 1);
	assert_false(bt_queue_keeps_events(queue) || bt_queue_is_busy(queue));
	bt_queue_add(queue, 2, kind(1, 0), 4);
	refuse(queue, 2, MASK, 5);
	assert_true(bt_queue_may_requeue(queue));
	assert_false(bt_queue_is_busy(queue));
	bt_queue_remove(queue, 2);
	assert_false(bt_queue_may_requeue(queue));
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

static void a_prefetch_list_is_exact_where_all_pods_are_in_one_line(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	assert_int_equal(bt_queue_guess(queue, 0), BT_QUEUE_EMPTY);
	for (uint32_t pod = 0; pod < 9; pod++) {
		bt_queue_add(queue, pod, kind(pod % 2, 0), pod);
	}
	for (uint32_t i = 0; i < 9; i++) {
		uint32_t guessed = bt_queue_guess(queue, 8 - i);

		assert_int_equal(guessed, 8);
		assert_int_equal(bt_queue_guess(queue, 9 - i), BT_QUEUE_EMPTY);
		assert_int_equal(bt_queue_pop(queue), i);
	}
	bt_queue_destroy(queue);
}

static void a_pod_with_another_index_waits_as_before(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	/* In backoff, unschedulable, being bound, and three that are active. */
	for (uint32_t pod = 10; pod < 16; pod++) {
		bt_queue_add(queue, pod, kind(pod % 2, 0), pod);
	}
	assert_int_equal(refuse(queue, 10, 0, SECOND), BT_WAIT_BACKOFF);
	assert_int_equal(refuse(queue, 11, MASK, SECOND), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_queue_pop(queue), 12);
	bt_queue_done(queue, 12);
	for (uint32_t pod = 10; pod < 16; pod++) {
		const struct bt_queue_info before = bt_queue_info(queue, pod);

		bt_queue_move_pod(queue, pod, 15 - pod);
		const struct bt_queue_info after = bt_queue_info(queue, 15 - pod);
		assert_int_equal(after.where, before.where);
		assert_int_equal(after.unschedulable_plugins, before.unschedulable_plugins);
		assert_int_equal(after.attempts, before.attempts);
		assert_int_equal(after.timestamp_ns, before.timestamp_ns);
		assert_int_equal(after.expiry_ns, before.expiry_ns);
		assert_int_equal(after.order, before.order);
		assert_int_equal(bt_queue_info(queue, pod).where, BT_WAIT_NOWHERE);
	}
	bt_queue_move_pod(queue, 77, 66); /* a pod that it does not know */
	assert_int_equal(bt_queue_pop(queue), 2);
	assert_int_equal(bt_queue_pop(queue), 1);
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_flush_backoff(queue, 20 * SECOND);
	assert_int_equal(bt_queue_pop(queue), 5);
	bt_queue_activate(queue, 4, 20 * SECOND);
	assert_int_equal(bt_queue_pop(queue), 4);
	for (uint32_t pod = 0; pod < 6; pod++) {
		assert_int_equal(bt_queue_remove(queue, pod), BT_OK);
	}
	bt_queue_trim(queue, 0);
	bt_queue_destroy(queue);
}

static void pods_wait_as_before_when_room_is_given_up(void **state)
{
	enum { MANY = 2000, LEFT = 1300 };
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	/* One waits for an event, one for its backoff, and the others are decided. */
	for (uint32_t pod = 0; pod < MANY; pod++) {
		bt_queue_add(queue, pod, kind(pod % 7, 0), pod);
	}
	for (uint32_t pod = 0; pod < MANY; pod++) {
		assert_int_equal(bt_queue_pop(queue), pod);
		if (pod == 5) {
			bt_queue_refuse(queue, pod, MASK, 0, MANY);
		} else if (pod == LEFT) {
			bt_queue_refuse(queue, pod, 0, 0, MANY);
		} else {
			assert_int_equal(bt_queue_remove(queue, pod), BT_OK);
		}
	}
	bt_queue_trim(queue, LEFT + 1);
	assert_int_equal(bt_queue_counts(queue).unschedulable, 1);
	assert_int_equal(bt_queue_counts(queue).backoff, 1);
	assert_int_equal(bt_queue_info(queue, 5).where, BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_queue_info(queue, LEFT).where, BT_WAIT_BACKOFF);
	assert_int_equal(bt_queue_remove(queue, LEFT), BT_OK);
	bt_queue_trim(queue, 6);
	assert_int_equal(bt_queue_info(queue, 5).where, BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_queue_info(queue, LEFT).where, BT_WAIT_NOWHERE);
	for (uint32_t pod = 6; pod < MANY; pod++) {
		bt_queue_add(queue, pod, kind(pod % 5, 0), pod);
	}
	for (uint32_t pod = 6; pod < MANY; pod++) {
		assert_int_equal(bt_queue_pop(queue), pod);
	}
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

static void a_prefetch_list_has_no_deleted_pods(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	for (uint32_t pod = 0; pod < 3; pod++) {
		bt_queue_add(queue, pod, kind(0, 0), pod);
	}
	assert_int_equal(bt_queue_remove(queue, 1), BT_OK);
	assert_int_equal(bt_queue_guess(queue, 1), BT_QUEUE_EMPTY);
	assert_int_equal(bt_queue_guess(queue, 2), 2);
	/* Ahead of all others: no kind's line has the next pod. */
	bt_queue_add(queue, 7, kind(1, 5), 9);
	assert_int_equal(bt_queue_guess(queue, 0), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

static void a_refused_pod_waits_for_an_event_and_then_for_its_backoff(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	assert_int_equal(refuse(queue, 0, MASK, 12 * SECOND + 700000000), BT_WAIT_UNSCHEDULABLE);
	bt_queue_move(queue, &node_added, INT32_MAX, BT_QUEUE_EMPTY, 12 * SECOND + 800000000);
	assert_int_equal(bt_queue_info(queue, 0).where, BT_WAIT_BACKOFF);
	assert_int_equal(bt_queue_info(queue, 0).expiry_ns, 13 * SECOND);
	bt_queue_flush_backoff(queue, 13 * SECOND);
	assert_int_equal(bt_queue_counts(queue).backoff, 1);
	bt_queue_flush_backoff(queue, 14 * SECOND);
	assert_int_equal(bt_queue_counts(queue).active, 1);
	bt_queue_destroy(queue);
}

static void a_pod_in_backoff_is_popped_when_none_is_active_but_not_one_that_failed(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_add(queue, 1, kind(0, 0), 1);
	assert_int_equal(refuse(queue, 0, MASK, SECOND), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(refuse(queue, 1, 0, SECOND), BT_WAIT_BACKOFF);
	bt_queue_move(queue, &node_added, INT32_MAX, BT_QUEUE_EMPTY, SECOND);
	assert_int_equal(bt_queue_counts(queue).backoff, 2);
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

static void an_event_during_a_pods_cycle_is_not_lost(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	assert_int_equal(bt_queue_pop(queue), 0);
	bt_queue_move(queue, &node_added, INT32_MAX, BT_QUEUE_EMPTY, SECOND);
	assert_true(bt_queue_keeps_events(queue));
	assert_int_equal(bt_queue_refuse(queue, 0, MASK, 0, SECOND), BT_WAIT_BACKOFF);
	assert_false(bt_queue_keeps_events(queue));
	bt_queue_destroy(queue);
}

static void too_many_events_requeue_pods_in_flight(void **state)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_DELETE};
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

static bool refuse_events(void *context, enum bt_mem_use use, size_t bytes)
{
	(void)context;
	(void)bytes;
	return use == BT_MEM_EVENT;
}

static void when_memory_is_short_for_events_pods_in_flight_are_tried_again(void **state)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_DELETE};
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_add(queue, 1, kind(0, 0), 1);
	assert_int_equal(bt_queue_pop(queue), 0);
	bt_mem_set_refuser(refuse_events, NULL);
	bt_queue_move(queue, &event, INT32_MAX, BT_QUEUE_EMPTY, SECOND);
	bt_mem_set_refuser(NULL, NULL);
	assert_int_equal(bt_queue_counts(queue).overflow_n, 1);
	assert_false(bt_queue_keeps_events(queue));
	/* A pod added later has missed no event. */
	assert_int_equal(bt_queue_pop(queue), 1);
	assert_int_equal(bt_queue_refuse(queue, 1, MASK, 0, SECOND), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_queue_refuse(queue, 0, MASK, 0, SECOND), BT_WAIT_BACKOFF);
	bt_queue_destroy(queue);
}

static void a_parked_kind_is_listed_after_all_others(void **state)
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

static void times_and_waits_at_the_ends_of_their_range_do_no_harm(void **state)
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
	/* A new one still goes before the rest. */
	bt_queue_add(queue, 9, kind(1, 0), 20);
	assert_int_equal(bt_queue_pop(queue), 9);
	/* One of them fits after all: the last one is not parked any more. */
	assert_int_equal(bt_queue_pop(queue), 2);
	bt_queue_done(queue, 2);
	assert_int_equal(bt_queue_counts(queue).parked, 0);
	bt_queue_add(queue, 8, kind(1, 0), 20);
	assert_int_equal(bt_queue_pop(queue), 3);
	assert_int_equal(bt_queue_pop(queue), 8);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

/* ---- hooks controlled by the test ---- */

struct hooked {
	bt_plugin_set gates[16];  /* by pod: its gating plugins */
	int asked_first[16];	  /* by pod: the plugin to run first at the last call */
	bt_plugin_set interested; /* the plugins registered for the event */
	bt_plugin_set likes;	  /* the plugins whose hint returns Queue */
	uint64_t gate_n, hint_n;
};

static int hooked_gate(void *context, uint32_t pod_ix, int first)
{
	struct hooked *h = context;

	h->gate_n++;
	h->asked_first[pod_ix] = first;
	if (first >= 0 && bt_plugin_set_has(h->gates[pod_ix], (uint32_t)first)) {
		return first;
	}
	return h->gates[pod_ix] ? (int)bt_plugin_set_first(h->gates[pod_ix]) : BT_QUEUE_NO_GATE;
}

static bt_plugin_set hooked_interested(void *context, uint32_t pod_ix, const struct bt_cluster_event *event)
{
	(void)pod_ix;
	(void)event;
	return ((const struct hooked *)context)->interested;
}

static bt_plugin_set hooked_matters(void *context, const struct bt_cluster_event *event)
{
	return hooked_interested(context, 0, event);
}

static bool hooked_hint(
	void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins)
{
	struct hooked *h = context;

	(void)pod_ix;
	(void)event;
	h->hint_n++;
	return (h->likes & plugins) != 0;
}

/* Plugin 0 knows when its condition is met. */
static bool hooked_stuck(void *context, uint32_t pod_ix, int gate)
{
	return gate == 0 && !(((const struct hooked *)context)->gates[pod_ix] & 1);
}

static struct bt_queue *make_hooked(struct hooked *h)
{
	struct bt_queue_options options = usual;

	options.hooks = (struct bt_queue_hooks){
		hooked_gate, hooked_interested, hooked_matters, hooked_hint, hooked_stuck, NULL, h};
	return bt_queue_create(&options);
}

static void move(struct bt_queue *queue, int64_t now_ns)
{
	bt_queue_move(queue, &node_added, INT32_MAX, BT_QUEUE_EMPTY, now_ns);
}

static enum bt_wait where(const struct bt_queue *queue, uint32_t pod)
{
	return bt_queue_info(queue, pod).where;
}

/* ---- backoff ---- */

/* Backs a pod off this many times, refused or after errors, and returns its remaining backoff. */
static int64_t backoff_after(struct bt_queue_options options, uint32_t times, bool refused, int64_t now_ns)
{
	struct bt_queue *queue = bt_queue_create(&options);

	bt_queue_add(queue, 0, kind(0, 0), 0);
	for (uint32_t i = 0; i < times; i++) {
		bt_queue_take(queue, 0);
		bt_queue_refuse(queue, 0, refused ? MASK : 0, 0, now_ns);
	}
	int64_t expiry_ns = bt_queue_info(queue, 0).expiry_ns;
	bt_queue_destroy(queue);
	return expiry_ns == INT64_MIN ? -1 : expiry_ns - now_ns;
}

static void backoff_doubles_up_to_the_most_and_ends_at_whole_seconds(void **state)
{
	static const struct {
		int64_t first, most;
		bool windows;
		uint32_t times;
		int64_t now, wait; /* milliseconds; wait -1: none */
	} cases[] = {
		{1000, 10000, true, 1, 5000, 1000},
		{1000, 10000, true, 2, 5000, 2000},
		{1000, 10000, true, 4, 5000, 8000},
		{1000, 10000, true, 5, 5000, 10000},
		{1000, 10000, true, 60, 5000, 10000},
		{1000, 10000, true, 1000, 5000, 10000},
		{1000, 10000, true, 1, 5700, 300},
		{1000, 10000, true, 3, 5001, 3999},
		{1000, 10000, true, 1, 5999, 1},
		{1000, 10000, false, 1, 5700, 1000},
		{1000, 10000, false, 3, 5001, 4000},
		{3000, 3000, true, 7, 5000, 3000},
		{5000, 7000, true, 2, 5000, 7000},
		{1000, 0, true, 3, 5000, -1},
		{0, 10000, true, 3, 5000, 0},
		{9000, 4000, true, 1, 5000, 4000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct bt_queue_options options = {.initial_backoff_ns = cases[i].first * 1000000,
			.max_backoff_ns = cases[i].most * 1000000,
			.max_unschedulable_ns = 300 * SECOND,
			.pop_from_backoff = cases[i].windows};
		int64_t want = cases[i].wait < 0 ? -1 : cases[i].wait * 1000000;

		for (int refused = 0; refused < 2; refused++) {
			assert_int_equal(
				backoff_after(options, cases[i].times, refused, cases[i].now * 1000000),
				want);
		}
	}
}

static void errors_in_a_row_count_for_themselves_and_a_refusal_ends_the_row(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);
	static const struct {
		bt_plugin_set unschedulable_plugins;
		int64_t wait;
	} turns[] = {{MASK, 1}, {MASK, 2}, {MASK, 4}, {0, 1}, {0, 2}, {MASK, 8}, {0, 1}, {MASK, 10}};

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		assert_int_equal(bt_queue_take(queue, 0), BT_OK);
		bt_queue_refuse(queue, 0, turns[i].unschedulable_plugins, 0, 100 * SECOND);
		assert_int_equal(bt_queue_info(queue, 0).expiry_ns, (100 + turns[i].wait) * SECOND);
	}
	assert_int_equal(bt_queue_info(queue, 0).attempts, sizeof(turns) / sizeof(turns[0]));
	bt_queue_destroy(queue);
}

static void in_one_window_the_higher_priority_leaves_backoff_first(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_add(queue, 1, kind(0, 9), 0);
	bt_queue_take(queue, 0);
	bt_queue_refuse(queue, 0, MASK, 0, 5 * SECOND + 1);
	bt_queue_take(queue, 1);
	bt_queue_refuse(queue, 1, MASK, 0, 5 * SECOND + 900000000);
	move(queue, 5 * SECOND + 900000000);
	assert_int_equal(bt_queue_next_expiry(queue), 6 * SECOND);
	assert_int_equal(bt_queue_pop(queue), 1);
	assert_int_equal(bt_queue_pop(queue), 0);
	bt_queue_destroy(queue);
}

/* ---- gates ---- */

static void a_gated_pod_is_looked_at_for_events_of_its_plugin_alone(void **state)
{
	struct hooked h = {.gates = {bt_plugin_set_of(4)}, .interested = MASK, .likes = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	assert_int_equal(bt_queue_add(queue, 0, kind(0, 0), 0), BT_WAIT_GATED);
	assert_int_equal(bt_queue_info(queue, 0).gate, 4);
	assert_int_equal(bt_queue_info(queue, 0).unschedulable_plugins, bt_plugin_set_of(4));
	h.gates[0] = 0;
	uint64_t asked = h.gate_n;
	move(queue, SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_GATED);
	assert_int_equal(h.gate_n, asked);
	h.interested = bt_plugin_set_of(4);
	move(queue, SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_info(queue, 0).gate, BT_QUEUE_NO_GATE);
	bt_queue_destroy(queue);
}

static void the_gating_plugin_is_called_first(void **state)
{
	struct hooked h = {
		.gates = {bt_plugin_set_of(5)}, .interested = BT_PLUGIN_SET_ALL, .likes = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	assert_int_equal(h.asked_first[0], BT_QUEUE_NO_GATE);
	h.gates[0] = bt_plugin_set_of(5) | bt_plugin_set_of(2);
	move(queue, SECOND);
	assert_int_equal(h.asked_first[0], 5);
	assert_int_equal(bt_queue_info(queue, 0).gate, 5);
	h.gates[0] = bt_plugin_set_of(2);
	move(queue, SECOND);
	assert_int_equal(bt_queue_info(queue, 0).gate, 2);
	assert_int_equal(
		bt_queue_info(queue, 0).unschedulable_plugins, bt_plugin_set_of(5) | bt_plugin_set_of(2));
	bt_queue_destroy(queue);
}

static void a_pod_that_its_gate_closes_for_on_the_way_to_backoff_is_gated(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL, .likes = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	refuse(queue, 0, MASK, SECOND);
	h.gates[0] = 1;
	move(queue, SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_GATED);
	assert_int_equal(bt_queue_counts(queue).moved_n, 0);
	assert_int_equal(bt_queue_take(queue, 0), BT_NOT_FOUND);
	bt_queue_destroy(queue);
}

/* ---- flushes, activation ---- */

static void five_minutes_let_an_unschedulable_pod_back_but_not_a_gated_one(void **state)
{
	struct hooked h = {.gates = {0, 1}};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_add(queue, 1, kind(0, 0), 0);
	bt_queue_add(queue, 2, kind(1, 0), 0);
	refuse(queue, 0, MASK, SECOND);
	assert_int_equal(bt_queue_pop(queue), 2);
	bt_queue_flush_unschedulable(queue, 301 * SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_UNSCHEDULABLE);
	bt_queue_flush_unschedulable(queue, 301 * SECOND + 1);
	assert_int_equal(where(queue, 0), BT_WAIT_ACTIVE);
	assert_true(bt_queue_info(queue, 0).flushed);
	assert_int_equal(where(queue, 1), BT_WAIT_GATED);
	assert_int_equal(bt_queue_counts(queue).flushed_n, 1);
	/* For the pod in flight it is an event for which every hint returns Queue. */
	assert_int_equal(bt_queue_refuse(queue, 2, MASK, 0, 302 * SECOND), BT_WAIT_BACKOFF);
	bt_queue_destroy(queue);
}

static void five_minutes_let_a_pod_back_whose_gate_has_opened_unnoticed(void **state)
{
	struct hooked h = {.gates = {1, 1, 2}};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		bt_queue_add(queue, i, kind(0, 0), SECOND);
	}
	h.gates[0] = h.gates[2] = 0;
	assert_int_equal(bt_queue_oldest(queue, 2 * SECOND), SECOND);
	bt_queue_flush_unschedulable(queue, 301 * SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_GATED);
	bt_queue_flush_unschedulable(queue, 301 * SECOND + 1);
	assert_int_equal(where(queue, 0), BT_WAIT_ACTIVE);
	assert_int_equal(where(queue, 1), BT_WAIT_GATED);
	assert_int_equal(where(queue, 2), BT_WAIT_GATED);
	assert_int_equal(bt_queue_counts(queue).flushed_n, 1);
	assert_int_equal(bt_queue_oldest(queue, 400 * SECOND), INT64_MAX);
	bt_queue_destroy(queue);
}

static void a_retried_pod_is_not_popped_before_its_backoff_ends(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_add(queue, 1, kind(1, 0), 1);
	refuse(queue, 0, MASK, SECOND);
	bt_queue_try_again(queue, 0, SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_BACKOFF);
	assert_true(bt_queue_info(queue, 0).patient);
	assert_int_equal(bt_queue_pop(queue), 1);
	/* In flight the effect is the same, after the refusal. */
	bt_queue_try_again(queue, 1, SECOND);
	assert_int_equal(bt_queue_refuse(queue, 1, MASK, 0, SECOND), BT_WAIT_BACKOFF);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_flush_backoff(queue, 3 * SECOND);
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_int_equal(bt_queue_pop(queue), 1);
	/* A pod that an event has requeued before waits all the same. */
	bt_queue_back_off(queue, 1);
	assert_int_equal(bt_queue_refuse(queue, 1, MASK, 0, 3 * SECOND), BT_WAIT_BACKOFF);
	bt_queue_try_again(queue, 1, 3 * SECOND);
	assert_true(bt_queue_info(queue, 1).patient);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	assert_int_equal(bt_queue_counts(queue).backoff, 1);
	assert_int_equal(bt_queue_take(queue, 1), BT_OK);
	/* The next time it behaves like any other pod. */
	assert_int_equal(bt_queue_refuse(queue, 0, MASK, 0, 3 * SECOND), BT_WAIT_UNSCHEDULABLE);
	/* A pod after its backoff becomes active at once, and PreEnqueue runs. */
	bt_queue_try_again(queue, 0, 9 * SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_refuse(queue, 1, MASK, 0, 9 * SECOND), BT_WAIT_UNSCHEDULABLE);
	h.gates[1] = 1;
	bt_queue_try_again(queue, 1, 99 * SECOND);
	assert_int_equal(where(queue, 1), BT_WAIT_GATED);
	bt_queue_try_again(queue, 7, 99 * SECOND);
	bt_queue_destroy(queue);
}

static void activation_in_flight_concerns_that_pod_alone(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_add(queue, 1, kind(0, 0), 1);
	bt_queue_pop(queue);
	bt_queue_pop(queue);
	bt_queue_activate(queue, 1, SECOND);
	assert_int_equal(bt_queue_refuse(queue, 0, MASK, 0, SECOND), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(bt_queue_refuse(queue, 1, MASK, 0, SECOND), BT_WAIT_BACKOFF);
	bt_queue_activate(queue, 0, SECOND);
	bt_queue_activate(queue, 1, SECOND);
	bt_queue_activate(queue, 7, SECOND);
	assert_int_equal(bt_queue_counts(queue).active, 2);
	bt_queue_destroy(queue);
}

/* ---- updates and removals, by queue ---- */

/* Moves pod 0 into a queue. */
static void bring(struct bt_queue *queue, struct hooked *h, enum bt_wait place)
{
	*h = (struct hooked){.interested = BT_PLUGIN_SET_ALL,
		.gates = {place == BT_WAIT_GATED},
		.likes = place == BT_WAIT_BACKOFF};
	bt_queue_add(queue, 0, kind(0, 0), 0);
	if (place == BT_WAIT_ACTIVE || place == BT_WAIT_GATED) {
		return;
	}
	assert_int_equal(bt_queue_pop(queue), 0);
	if (place == BT_WAIT_BINDING) {
		bt_queue_done(queue, 0);
	} else if (place != BT_WAIT_IN_FLIGHT) {
		bt_queue_refuse(queue, 0, 1, 0, SECOND);
		move(queue, SECOND);
	}
	h->likes = 0;
}

static void a_pod_can_be_removed_from_every_place_and_added_again(void **state)
{
	struct hooked h;
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	for (enum bt_wait place = BT_WAIT_ACTIVE; place <= BT_WAIT_BINDING; place++) {
		bring(queue, &h, place);
		assert_int_equal(where(queue, 0), place);
		assert_int_equal(bt_queue_remove(queue, 0), BT_OK);
		assert_int_equal(where(queue, 0), BT_WAIT_NOWHERE);
		for (enum bt_wait other = BT_WAIT_ACTIVE; other < BT_WAIT_N; other++) {
			assert_int_equal(bt_queue_list(queue, other, NULL, 0), 0);
		}
	}
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	assert_int_equal(bt_queue_next_expiry(queue), INT64_MAX);
	bt_queue_destroy(queue);
}

static void an_update_keeps_a_pod_in_its_place_unless_a_hint_likes_it(void **state)
{
	static const enum bt_wait liked[BT_WAIT_N] = {[BT_WAIT_ACTIVE] = BT_WAIT_ACTIVE,
		[BT_WAIT_BACKOFF] = BT_WAIT_BACKOFF,
		[BT_WAIT_UNSCHEDULABLE] = BT_WAIT_BACKOFF,
		[BT_WAIT_GATED] = BT_WAIT_ACTIVE,
		[BT_WAIT_IN_FLIGHT] = BT_WAIT_IN_FLIGHT,
		[BT_WAIT_BINDING] = BT_WAIT_BINDING};
	const struct bt_cluster_event changed = {
		.resource = BT_CLUSTER_EVENT_UNSCHEDULED_POD, .action = BT_UPDATE_POD_LABEL};
	struct hooked h = {0};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	for (enum bt_wait place = BT_WAIT_ACTIVE; place <= BT_WAIT_BINDING; place++) {
		bring(queue, &h, place);
		assert_int_equal(bt_queue_update(queue, 0, kind(1, 5), &changed, 1, SECOND), place);
		h.likes = BT_PLUGIN_SET_ALL;
		h.gates[0] = 0;
		assert_int_equal(bt_queue_update(queue, 0, kind(2, 7), &changed, 1, SECOND), liked[place]);
		bt_queue_remove(queue, 0);
	}
	assert_int_equal(bt_queue_update(queue, 3, kind(0, 0), &changed, 1, SECOND), BT_WAIT_ACTIVE);
	bt_queue_destroy(queue);
}

static void a_changed_priority_changes_the_order_of_active_pods(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 5), 0);
	bt_queue_add(queue, 1, kind(0, 4), 0);
	bt_queue_update(queue, 1, kind(0, 6), NULL, 0, SECOND);
	assert_int_equal(bt_queue_pop(queue), 1);
	assert_int_equal(bt_queue_pop(queue), 0);
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

/* ---- events ---- */

static void an_event_reaches_pods_up_to_its_priority(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		bt_queue_add(queue, i, kind(0, 10 * (int32_t)i), 0);
		refuse(queue, i, MASK, SECOND);
	}
	bt_queue_move(queue, &node_added, 10, BT_QUEUE_EMPTY, SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_BACKOFF);
	assert_int_equal(where(queue, 1), BT_WAIT_BACKOFF);
	assert_int_equal(where(queue, 2), BT_WAIT_UNSCHEDULABLE);
	bt_queue_destroy(queue);
}

static void an_event_without_registered_plugins_is_not_kept(void **state)
{
	struct hooked h = {.likes = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_pop(queue);
	move(queue, SECOND);
	assert_false(bt_queue_keeps_events(queue));
	assert_int_equal(bt_queue_refuse(queue, 0, MASK, 0, SECOND), BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(h.hint_n, 0);
	bt_queue_destroy(queue);
}

static void a_pod_that_let_itself_wait_is_active_at_once(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL, .likes = bt_plugin_set_of(6)};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 0);
	bt_queue_pop(queue);
	bt_queue_refuse(queue, 0, MASK, bt_plugin_set_of(6), SECOND);
	move(queue, SECOND);
	assert_int_equal(where(queue, 0), BT_WAIT_ACTIVE);
	bt_queue_destroy(queue);
}

static void a_hundred_thousand_pods_of_a_kind_cost_one_hint(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL};
	struct bt_queue_options options = usual;
	const uint32_t n = 100000;

	(void)state;
	options.hooks =
		(struct bt_queue_hooks){NULL, hooked_interested, hooked_matters, hooked_hint, NULL, NULL, &h};
	struct bt_queue *queue = bt_queue_create(&options);
	for (uint32_t i = 0; i < n; i++) {
		bt_queue_add(queue, i, kind(0, 0), i);
	}
	for (uint32_t i = 0; i < n; i++) {
		refuse(queue, i, MASK, SECOND);
	}
	move(queue, SECOND);
	assert_int_equal(h.hint_n, 1);
	/* The pod of the event is evaluated by its own hint. */
	bt_queue_move(queue, &node_added, INT32_MAX, 17, SECOND);
	assert_int_equal(h.hint_n, 3);
	h.likes = MASK;
	move(queue, SECOND);
	assert_int_equal(h.hint_n, 4);
	assert_int_equal(bt_queue_counts(queue).backoff, n);
	assert_int_equal(bt_queue_counts(queue).moved_n, n);
	bt_queue_destroy(queue);
}

/* ---- parking ---- */

/* Three pods of a parked kind, and one of another kind behind them. */
static struct bt_queue *make_parked(struct hooked *h)
{
	struct bt_queue *queue = make_hooked(h);

	for (uint32_t i = 0; i < 4; i++) {
		bt_queue_add(queue, i, kind(0, 100), i);
	}
	refuse(queue, 0, MASK, 10);
	bt_queue_park(queue, 0, MASK);
	bt_queue_add(queue, 5, kind(1, 0), 9);
	return queue;
}

static void a_parked_kind_is_unparked_by_a_hint_that_returns_queue(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_parked(&h);

	(void)state;
	move(queue, SECOND);
	assert_int_equal(bt_queue_counts(queue).parked, 1);
	assert_int_equal(bt_queue_pop(queue), 5);
	bt_queue_refuse(queue, 5, 1, 0, SECOND);
	h.likes = MASK;
	move(queue, SECOND);
	assert_int_equal(bt_queue_counts(queue).parked, 0);
	bt_queue_add(queue, 6, kind(1, 0), 9);
	assert_int_equal(bt_queue_pop(queue), 1);
	bt_queue_destroy(queue);
}

static void a_parked_kind_without_its_example_pod_is_unparked(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_parked(&h);

	(void)state;
	bt_queue_remove(queue, 0);
	move(queue, SECOND);
	assert_int_equal(bt_queue_pop(queue), 1);
	bt_queue_destroy(queue);
}

/* A later kind with the same numbers may be another one. */
static void a_kind_without_pods_is_forgotten(void **state)
{
	struct hooked h = {0};
	struct bt_queue *queue = make_parked(&h);

	(void)state;
	for (uint32_t pod = 0; pod < 4; pod++) {
		assert_int_equal(bt_queue_counts(queue).parked, 1);
		assert_int_equal(bt_queue_remove(queue, pod), BT_OK);
	}
	assert_int_equal(bt_queue_counts(queue).parked, 0);
	/* It has a higher priority, and its earlier refusal is not stored. */
	bt_queue_add(queue, 6, kind(0, 100), 10);
	assert_int_equal(bt_queue_pop(queue), 6);
	assert_int_equal(bt_queue_pop(queue), 5);
	bt_queue_destroy(queue);
}

static void kinds_that_have_gone_make_room_for_others(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);
	size_t before = 0;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		if (i == 2000) {
			before = bt_mem_in_use_bytes();
		}
		bt_queue_add(queue, i % 100, kind(i, (int32_t)(i % 7)), i);
		if (i >= 99) {
			assert_int_equal(bt_queue_remove(queue, (i + 1) % 100), BT_OK);
		}
	}
	assert_true(bt_mem_in_use_bytes() <= before);
	bt_queue_destroy(queue);
}

static void a_parked_kind_is_unparked_by_the_next_flush(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_parked(&h);

	(void)state;
	bt_queue_flush_backoff(queue, SECOND);
	assert_int_equal(bt_queue_counts(queue).parked, 0);
	assert_int_equal(bt_queue_pop(queue), 1);
	bt_queue_destroy(queue);
}

static void parked_kinds_alone_are_popped_in_order_and_stay_parked(void **state)
{
	struct hooked h = {.interested = BT_PLUGIN_SET_ALL};
	struct bt_queue *queue = make_hooked(&h);

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		bt_queue_add(queue, i, kind(i % 2, 0), i);
	}
	for (uint32_t i = 0; i < 2; i++) {
		refuse(queue, i, MASK, SECOND);
		bt_queue_park(queue, i, MASK);
	}
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t pod = bt_queue_pop(queue);

		assert_int_equal(pod, 2 + i);
		assert_int_equal(bt_queue_counts(queue).parked, 2);
		bt_queue_refuse(queue, pod, MASK, 0, SECOND);
		if (i == 2) {
			bt_queue_add(queue, 9, kind(7, -50), 99);
			assert_int_equal(bt_queue_pop(queue), 9);
		}
	}
	assert_int_equal(bt_queue_pop(queue), BT_QUEUE_EMPTY);
	bt_queue_destroy(queue);
}

/* ---- memory ---- */

static void slots_of_pods_that_have_gone_are_used_again(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);
	size_t before = 0;

	(void)state;
	for (int round = 0; round < 400; round++) {
		if (round == 100) {
			before = bt_mem_in_use_bytes();
		}
		for (uint32_t i = 0; i < POD_N; i++) {
			bt_queue_add(queue, i, kind(i % 7, (int32_t)(i % 3)), round);
		}
		for (uint32_t i = 0; i < POD_N; i++) {
			uint32_t pod = bt_queue_pop(queue);

			move(queue, round);
			if (bt_queue_refuse(queue, pod, i % 3 ? MASK : 0, 0, round) ==
				BT_WAIT_UNSCHEDULABLE) {
				bt_queue_park(queue, pod, MASK);
			}
		}
		for (uint32_t i = 0; i < POD_N; i++) {
			assert_int_equal(bt_queue_remove(queue, i), BT_OK);
		}
	}
	assert_int_equal(bt_mem_in_use_bytes(), before);
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

/* A plain model: a list of pods. */
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
	struct bt_rng rng = {seed_or(7)};
	struct bt_queue *queue = bt_queue_create(&usual);
	struct waiting pods[POD_N] = {0};
	uint64_t arrivals = 0;

	(void)state;
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

static uint64_t incoming(const struct bt_queue *queue, enum bt_wait where, const char *wanted)
{
	uint64_t n = 0;

	for (uint32_t cause = 0; cause < BT_CAUSE_N; cause++) {
		char text[BT_CLUSTER_EVENT_LABEL_BYTES];

		bt_queue_cause_text(bt_release_find(bt_str("1.36")), cause, text);
		n += strcmp(text, wanted) == 0 ? bt_queue_incoming(queue, where, cause) : 0;
	}
	return n;
}

static void pods_that_enter_a_place_are_counted_by_what_let_them_in(void **state)
{
	const struct bt_cluster_event node = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 1);
	bt_queue_add(queue, 1, kind(0, 0), 2);
	bt_queue_update(queue, 2, kind(0, 0), NULL, 0, 3);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "UnschedulablePodAdd"), 2);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "UnschedulablePodUpdate"), 1);
	refuse(queue, 0, 1, SECOND);
	refuse(queue, 1, 0, SECOND); /* failed: it backs off at once */
	refuse(queue, 2, 1, SECOND);
	assert_int_equal(incoming(queue, BT_WAIT_UNSCHEDULABLE, "ScheduleAttemptFailure"), 2);
	assert_int_equal(incoming(queue, BT_WAIT_BACKOFF, "ScheduleAttemptFailure"), 1);
	bt_queue_move(queue, &node, INT32_MAX, BT_QUEUE_EMPTY, SECOND + 1);
	assert_int_equal(incoming(queue, BT_WAIT_BACKOFF, "NodeAdd"), 2);
	assert_true(bt_queue_pop(queue) != BT_QUEUE_EMPTY);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "PopFromBackoffQ"), 1);
	bt_queue_flush_backoff(queue, 100 * SECOND);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "BackoffComplete"), 2);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "UnschedulablePodAdd"), 2);
	bt_queue_destroy(queue);
}

static int closed(void *context, uint32_t pod_ix, int first)
{
	(void)pod_ix, (void)first;
	return *(const bool *)context ? PLUGIN : BT_QUEUE_NO_GATE;
}

static bt_plugin_set everybody(void *context, uint32_t pod_ix, const struct bt_cluster_event *event)
{
	(void)context, (void)pod_ix, (void)event;
	return MASK;
}

static void a_flush_with_pre_enqueue_requeues_pods_or_restarts_their_wait(void **state)
{
	struct bt_queue_options options = usual;
	bool is_closed = true;

	(void)state;
	options.flush_runs_pre_enqueue = true;
	options.hooks =
		(struct bt_queue_hooks){.gate = closed, .interested = everybody, .context = &is_closed};
	struct bt_queue *queue = bt_queue_create(&options);

	bt_queue_add(queue, 0, kind(0, 0), SECOND);
	bt_queue_flush_unschedulable(queue, 301 * SECOND);
	assert_int_equal(bt_queue_counts(queue).flushed_n, 0);
	bt_queue_flush_unschedulable(queue, 330 * SECOND);
	assert_int_equal(bt_queue_counts(queue).flushed_n, 1);
	assert_int_equal(bt_queue_info(queue, 0).where, BT_WAIT_GATED);
	is_closed = false;
	bt_queue_flush_unschedulable(queue, 630 * SECOND);
	assert_int_equal(bt_queue_info(queue, 0).where, BT_WAIT_GATED);
	bt_queue_flush_unschedulable(queue, 630 * SECOND + 1);
	assert_int_equal(bt_queue_info(queue, 0).where, BT_WAIT_ACTIVE);
	assert_true(bt_queue_info(queue, 0).flushed);
	assert_int_equal(bt_queue_info(queue, 0).timestamp_ns, SECOND);
	bt_queue_destroy(queue);
}

static void a_flush_without_pre_enqueue_skips_gated_pods(void **state)
{
	struct bt_queue_options options = usual;
	bool is_closed = true;

	(void)state;
	options.hooks =
		(struct bt_queue_hooks){.gate = closed, .interested = everybody, .context = &is_closed};
	struct bt_queue *queue = bt_queue_create(&options);

	bt_queue_add(queue, 0, kind(0, 0), SECOND);
	is_closed = false;
	bt_queue_flush_unschedulable(queue, 330 * SECOND);
	assert_int_equal(bt_queue_info(queue, 0).where, BT_WAIT_GATED);
	bt_queue_destroy(queue);
}

static void an_update_may_bring_a_newcomer(void **state)
{
	struct bt_queue_options options = usual;

	(void)state;
	options.late_are_new = true;
	struct bt_queue *queue = bt_queue_create(&options);

	bt_queue_update(queue, 2, kind(0, 0), NULL, 0, 3);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "UnschedulablePodAdd"), 1);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "UnschedulablePodUpdate"), 0);
	bt_queue_destroy(queue);
}

static void a_pod_that_stays_gated_is_not_counted_again(void **state)
{
	const struct bt_cluster_event node = {
		.resource = BT_CLUSTER_EVENT_NODE, .action = BT_UPDATE_NODE_LABEL};
	struct bt_queue_options options = usual;
	bool is_closed = true;

	(void)state;
	options.hooks =
		(struct bt_queue_hooks){.gate = closed, .interested = everybody, .context = &is_closed};
	struct bt_queue *queue = bt_queue_create(&options);

	bt_queue_add(queue, 0, kind(0, 0), 1);
	assert_int_equal(incoming(queue, BT_WAIT_UNSCHEDULABLE, "UnschedulablePodAdd"), 1);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "UnschedulablePodAdd"), 0);
	bt_queue_move(queue, &node, INT32_MAX, BT_QUEUE_EMPTY, 2);
	assert_int_equal(incoming(queue, BT_WAIT_UNSCHEDULABLE, "NodeUpdateNodeLabel"), 0);
	is_closed = false;
	bt_queue_activate(queue, 0, 3);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "ForceActivate"), 1);
	bt_queue_destroy(queue);
}

static void a_wait_that_was_too_long_is_a_cause(void **state)
{
	struct bt_queue *queue = bt_queue_create(&usual);

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 1);
	refuse(queue, 0, MASK, SECOND);
	bt_queue_flush_unschedulable(queue, 302 * SECOND);
	assert_int_equal(incoming(queue, BT_WAIT_ACTIVE, "UnschedulableTimeout"), 1);
	bt_queue_destroy(queue);
}

static void events_that_are_kept_are_counted_by_what_they_are(void **state)
{
	const struct bt_cluster_event node = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};
	struct bt_queue *queue = bt_queue_create(&usual);
	uint64_t n[BT_CAUSE_N];

	(void)state;
	bt_queue_add(queue, 0, kind(0, 0), 1);
	assert_int_equal(bt_queue_pop(queue), 0);
	bt_queue_move(queue, &node, INT32_MAX, BT_QUEUE_EMPTY, 2);
	bt_queue_move(queue, &node, INT32_MAX, BT_QUEUE_EMPTY, 2);
	bt_queue_activate(queue, 0, 3);
	bt_queue_logged(queue, n);
	assert_int_equal(n[bt_cluster_event_label(BT_CLUSTER_EVENT_NODE, BT_ADD)], 2);
	assert_int_equal(n[BT_CAUSE_FORCE_ACTIVATE], 1);
	bt_queue_done(queue, 0);
	bt_queue_logged(queue, n);
	assert_int_equal(n[bt_cluster_event_label(BT_CLUSTER_EVENT_NODE, BT_ADD)], 0);
	bt_queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(higher_priority_goes_first),
		cmocka_unit_test(among_equals_the_longest_wait_goes_first_then_arrival),
		cmocka_unit_test(a_prefetch_list_is_exact_where_all_pods_are_in_one_line),
		cmocka_unit_test(only_pods_in_flight_or_unschedulable_need_events),
		cmocka_unit_test(a_pod_with_another_index_waits_as_before),
		cmocka_unit_test(pods_wait_as_before_when_room_is_given_up),
		cmocka_unit_test(a_prefetch_list_has_no_deleted_pods),
		cmocka_unit_test(a_refused_pod_waits_for_an_event_and_then_for_its_backoff),
		cmocka_unit_test(a_pod_in_backoff_is_popped_when_none_is_active_but_not_one_that_failed),
		cmocka_unit_test(an_event_during_a_pods_cycle_is_not_lost),
		cmocka_unit_test(too_many_events_requeue_pods_in_flight),
		cmocka_unit_test(when_memory_is_short_for_events_pods_in_flight_are_tried_again),
		cmocka_unit_test(a_parked_kind_is_listed_after_all_others),
		cmocka_unit_test(backoff_doubles_up_to_the_most_and_ends_at_whole_seconds),
		cmocka_unit_test(errors_in_a_row_count_for_themselves_and_a_refusal_ends_the_row),
		cmocka_unit_test(in_one_window_the_higher_priority_leaves_backoff_first),
		cmocka_unit_test(a_gated_pod_is_looked_at_for_events_of_its_plugin_alone),
		cmocka_unit_test(the_gating_plugin_is_called_first),
		cmocka_unit_test(a_pod_that_its_gate_closes_for_on_the_way_to_backoff_is_gated),
		cmocka_unit_test(five_minutes_let_an_unschedulable_pod_back_but_not_a_gated_one),
		cmocka_unit_test(five_minutes_let_a_pod_back_whose_gate_has_opened_unnoticed),
		cmocka_unit_test(a_retried_pod_is_not_popped_before_its_backoff_ends),
		cmocka_unit_test(activation_in_flight_concerns_that_pod_alone),
		cmocka_unit_test(a_pod_can_be_removed_from_every_place_and_added_again),
		cmocka_unit_test(an_update_keeps_a_pod_in_its_place_unless_a_hint_likes_it),
		cmocka_unit_test(a_changed_priority_changes_the_order_of_active_pods),
		cmocka_unit_test(an_event_reaches_pods_up_to_its_priority),
		cmocka_unit_test(an_event_without_registered_plugins_is_not_kept),
		cmocka_unit_test(a_pod_that_let_itself_wait_is_active_at_once),
		cmocka_unit_test(a_hundred_thousand_pods_of_a_kind_cost_one_hint),
		cmocka_unit_test(a_parked_kind_is_unparked_by_a_hint_that_returns_queue),
		cmocka_unit_test(a_parked_kind_without_its_example_pod_is_unparked),
		cmocka_unit_test(a_parked_kind_is_unparked_by_the_next_flush),
		cmocka_unit_test(a_kind_without_pods_is_forgotten),
		cmocka_unit_test(kinds_that_have_gone_make_room_for_others),
		cmocka_unit_test(parked_kinds_alone_are_popped_in_order_and_stay_parked),
		cmocka_unit_test(slots_of_pods_that_have_gone_are_used_again),
		cmocka_unit_test(times_and_waits_at_the_ends_of_their_range_do_no_harm),
		cmocka_unit_test(a_kind_stays_parked_while_its_pods_have_their_turn),
		cmocka_unit_test(pods_that_are_nowhere_cannot_be_removed),
		cmocka_unit_test(random_histories_pop_in_order),
		cmocka_unit_test(pods_that_enter_a_place_are_counted_by_what_let_them_in),
		cmocka_unit_test(a_flush_with_pre_enqueue_requeues_pods_or_restarts_their_wait),
		cmocka_unit_test(a_flush_without_pre_enqueue_skips_gated_pods),
		cmocka_unit_test(an_update_may_bring_a_newcomer),
		cmocka_unit_test(a_pod_that_stays_gated_is_not_counted_again),
		cmocka_unit_test(a_wait_that_was_too_long_is_a_cause),
		cmocka_unit_test(events_that_are_kept_are_counted_by_what_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
