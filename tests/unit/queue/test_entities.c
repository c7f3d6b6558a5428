/* SPDX-License-Identifier: Apache-2.0
 * PodGroups in the queue: a group is queued as a whole, with its pods in it. Queues and orders are those of
 * kube-scheduler v1.37.2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "queue/queue.h"

enum { RING = 0, STAR, GROUPS, PODS = 16 };
#define SECOND BT_QUEUE_SECOND

/* Pods 0 to 5 belong to the ring, 6 and 7 to the star, the others to no group. */
struct grouped_world {
	struct bt_queue *queue;
	bool known[GROUPS];
	int32_t priority[GROUPS];
	bool gated[PODS];
	bool tree;	/* the star is in the ring's tree */
	uint32_t likes; /* pods for which a hint returns Queue, one bit each */
};

static bool group_of(void *context, uint32_t pod_ix, struct bt_queue_pod_group *out)
{
	const struct grouped_world *w = context;
	uint32_t leaf = pod_ix < 6 ? RING : STAR, number = w->tree && w->known[STAR] ? RING : leaf;

	*out = (struct bt_queue_pod_group){number, leaf, w->known[leaf], w->priority[number]};
	return pod_ix < 8;
}

static int gate(void *context, uint32_t pod_ix, int first)
{
	(void)first;
	return ((const struct grouped_world *)context)->gated[pod_ix] ? 3 : BT_QUEUE_NO_GATE;
}

static bt_plugin_set interested(void *context, uint32_t pod_ix, const struct bt_cluster_event *event)
{
	(void)context;
	(void)pod_ix;
	(void)event;
	return BT_PLUGIN_SET_ALL;
}

static bt_plugin_set matters(void *context, const struct bt_cluster_event *event)
{
	return interested(context, 0, event);
}

static bool hint(void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins)
{
	(void)event;
	return plugins && ((const struct grouped_world *)context)->likes >> pod_ix & 1;
}

static void begin(struct grouped_world *w)
{
	const struct bt_queue_options options = {.initial_backoff_ns = BT_QUEUE_INITIAL_BACKOFF,
		.max_backoff_ns = BT_QUEUE_MAX_BACKOFF,
		.max_unschedulable_ns = BT_QUEUE_MAX_UNSCHEDULABLE,
		.flush_runs_pre_enqueue = true,
		.pop_from_backoff = true,
		.hooks = {gate, interested, matters, hint, NULL, group_of, w}};

	*w = (struct grouped_world){.known = {[RING] = true, [STAR] = true}};
	w->queue = bt_queue_create(&options);
}

static enum bt_wait add_of(struct grouped_world *w, uint32_t pod_ix, int32_t priority, int64_t now_ns)
{
	return bt_queue_add(w->queue, pod_ix,
		(struct bt_queue_kind){.signature_ix = pod_ix, .priority = priority}, now_ns);
}

static enum bt_wait add(struct grouped_world *w, uint32_t pod_ix, int64_t now_ns)
{
	return add_of(w, pod_ix, 0, now_ns);
}

static enum bt_wait where(const struct grouped_world *w, uint32_t pod_ix)
{
	return bt_queue_info(w->queue, pod_ix).where;
}

static void move(struct grouped_world *w, int64_t now_ns)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};

	bt_queue_move(w->queue, &event, INT32_MAX, BT_QUEUE_EMPTY, now_ns);
}

static void assert_members(const struct grouped_world *w, uint32_t pod_ix, const uint32_t *want, uint32_t n)
{
	uint32_t got[PODS];

	assert_int_equal(bt_queue_members(w->queue, pod_ix, got, PODS), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(got[i], want[i]);
	}
}

static void pods_of_a_group_are_popped_together(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	add(&w, 0, 1);
	add(&w, 8, 2);
	add(&w, 1, 3);
	assert_int_equal(bt_queue_counts(w.queue).active, 3);
	assert_int_equal(bt_queue_counts(w.queue).pod_groups[BT_WAIT_ACTIVE], 1);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	assert_int_equal(where(&w, 0), BT_WAIT_IN_FLIGHT);
	assert_int_equal(where(&w, 1), BT_WAIT_IN_FLIGHT);
	assert_members(&w, 0, (const uint32_t[]){0, 1}, 2);
	assert_int_equal(bt_queue_pop(w.queue), 8);
	assert_int_equal(bt_queue_pop(w.queue), BT_QUEUE_EMPTY);
	/* Metrics keep the series of a queue in which a group has been. */
	assert_int_equal(bt_queue_counts(w.queue).pod_groups[BT_WAIT_ACTIVE], 0);
	assert_true(bt_queue_counts(w.queue).had_pod_groups[BT_WAIT_ACTIVE]);
	assert_false(bt_queue_counts(w.queue).had_pod_groups[BT_WAIT_BACKOFF]);
	bt_queue_destroy(w.queue);
}

static void the_groups_priority_counts_in_the_queue_and_the_pods_in_the_group(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	w.priority[STAR] = 5;
	add_of(&w, 0, 10, 1);
	add_of(&w, 1, 20, 2);
	add_of(&w, 8, 7, 3);
	add_of(&w, 6, 1, 4);
	assert_int_equal(bt_queue_pop(w.queue), 8);
	assert_int_equal(bt_queue_pop(w.queue), 6);
	assert_int_equal(bt_queue_pop(w.queue), 1);
	assert_members(&w, 0, (const uint32_t[]){1, 0}, 2);
	bt_queue_destroy(w.queue);
}

static void pods_wait_for_the_object_of_their_group(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	w.known[RING] = false;
	assert_int_equal(add(&w, 0, 1), BT_WAIT_INCOMPLETE);
	assert_int_equal(bt_queue_counts(w.queue).incomplete, 1);
	assert_int_equal(bt_queue_pop(w.queue), BT_QUEUE_EMPTY);
	w.known[RING] = true;
	bt_queue_pod_groups_added(w.queue, (uint32_t[]){RING}, 1, 2);
	assert_int_equal(where(&w, 0), BT_WAIT_ACTIVE);
	w.known[RING] = false;
	bt_queue_pod_groups_deleted(w.queue, RING, (uint32_t[]){RING}, 1);
	assert_int_equal(where(&w, 0), BT_WAIT_INCOMPLETE);
	assert_int_equal(bt_queue_remove(w.queue, 0), BT_OK);
	assert_int_equal(bt_queue_counts(w.queue).incomplete, 0);
	bt_queue_destroy(w.queue);
}

static void a_group_whose_object_comes_late_waits_since_its_first_pod(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	w.known[RING] = false;
	add(&w, 1, 5);
	add(&w, 0, 2);
	add(&w, 8, 3);
	w.known[RING] = true;
	bt_queue_pod_groups_added(w.queue, (uint32_t[]){RING}, 1, 6);
	assert_members(&w, 0, (const uint32_t[]){0, 1}, 2);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	assert_int_equal(bt_queue_pop(w.queue), 8);
	bt_queue_destroy(w.queue);
}

static void pods_of_a_tree_wait_together_until_one_of_its_groups_goes(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	w.tree = true;
	w.known[STAR] = false;
	add(&w, 0, 1);
	assert_int_equal(add(&w, 6, 2), BT_WAIT_INCOMPLETE);
	w.known[STAR] = true;
	bt_queue_pod_groups_added(w.queue, (uint32_t[]){STAR}, 1, 3);
	assert_int_equal(bt_queue_counts(w.queue).pod_groups[BT_WAIT_ACTIVE], 1);
	assert_members(&w, 6, (const uint32_t[]){0, 6}, 2);
	w.known[STAR] = false;
	bt_queue_pod_groups_deleted(w.queue, RING, (uint32_t[]){STAR}, 1);
	assert_int_equal(where(&w, 6), BT_WAIT_INCOMPLETE);
	assert_int_equal(where(&w, 0), BT_WAIT_ACTIVE);
	assert_members(&w, 0, (const uint32_t[]){0}, 1);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	bt_queue_destroy(w.queue);
}

static void pods_added_during_a_trees_cycle_wait_for_their_deleted_group(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	w.tree = true;
	add(&w, 0, 1);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	assert_int_equal(add(&w, 6, 2), BT_WAIT_PENDING);
	assert_int_equal(add(&w, 1, 2), BT_WAIT_PENDING);
	w.known[STAR] = false;
	bt_queue_pod_groups_deleted(w.queue, RING, (uint32_t[]){STAR}, 1);
	assert_int_equal(where(&w, 6), BT_WAIT_INCOMPLETE);
	assert_int_equal(where(&w, 1), BT_WAIT_PENDING);
	bt_queue_done(w.queue, 0);
	bt_queue_end_group(w.queue, RING, BT_ATTEMPT_SUCCEEDED, false, 3);
	assert_int_equal(where(&w, 1), BT_WAIT_ACTIVE);
	assert_int_equal(where(&w, 6), BT_WAIT_INCOMPLETE);
	bt_queue_destroy(w.queue);
}

static void a_pod_added_during_the_groups_cycle_is_in_the_next_one(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	add(&w, 0, 1);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	assert_int_equal(add(&w, 1, 2), BT_WAIT_PENDING);
	assert_int_equal(bt_queue_counts(w.queue).pending, 1);
	assert_int_equal(bt_queue_refuse(w.queue, 0, 1, 0, SECOND), BT_WAIT_PENDING);
	bt_queue_end_group(w.queue, RING, BT_ATTEMPT_REJECTED, false, SECOND);
	assert_int_equal(where(&w, 0), BT_WAIT_BACKOFF);
	assert_int_equal(where(&w, 1), BT_WAIT_BACKOFF);
	/* A group that was tried before goes first. */
	bt_queue_flush_backoff(w.queue, 3 * SECOND);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	assert_members(&w, 0, (const uint32_t[]){0, 1}, 2);
	bt_queue_destroy(w.queue);
}

static void remaining_members_after_a_success_are_active_in_order(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	add(&w, 0, 1);
	add(&w, 1, 2);
	add(&w, 8, 3);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	bt_queue_done(w.queue, 0);
	bt_queue_refuse(w.queue, 1, 1, 0, SECOND);
	bt_queue_end_group(w.queue, RING, BT_ATTEMPT_SUCCEEDED, false, SECOND);
	assert_int_equal(where(&w, 0), BT_WAIT_BINDING);
	assert_int_equal(where(&w, 1), BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_pop(w.queue), 1);
	bt_queue_done(w.queue, 1);
	bt_queue_end_group(w.queue, RING, BT_ATTEMPT_SUCCEEDED, false, SECOND);
	assert_int_equal(bt_queue_pop(w.queue), 8);
	bt_queue_destroy(w.queue);
}

static void a_pod_whose_binding_fails_recreates_its_group(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	add(&w, 0, 1);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	bt_queue_done(w.queue, 0);
	bt_queue_end_group(w.queue, RING, BT_ATTEMPT_SUCCEEDED, false, 2);
	assert_int_equal(bt_queue_refuse(w.queue, 0, 0, 0, SECOND), BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_info(w.queue, 0).attempts, 1);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	bt_queue_destroy(w.queue);
}

/* Fails the ring of n pods; returns its backoff. */
static int64_t backs_off(struct grouped_world *w, uint32_t n, int64_t now_ns)
{
	bt_queue_flush_backoff(w->queue, now_ns);
	assert_int_equal(bt_queue_pop(w->queue), 0);
	for (uint32_t i = 0; i < n; i++) {
		bt_queue_refuse(w->queue, i, 1, 0, now_ns);
	}
	bt_queue_end_group(w->queue, RING, BT_ATTEMPT_REJECTED, false, now_ns);
	assert_int_equal(where(w, 0), BT_WAIT_BACKOFF);
	assert_true(bt_queue_info(w->queue, 0).patient);
	return bt_queue_info(w->queue, 0).expiry_ns - now_ns;
}

static void the_longest_backoff_grows_with_the_root_of_the_pods(void **state)
{
	static const int64_t want_s[] = {1, 2, 4, 8, 16, 20, 20};
	struct grouped_world w;

	(void)state;
	begin(&w);
	for (uint32_t i = 0; i < 4; i++) {
		add(&w, i, 1);
	}
	for (size_t i = 0; i < sizeof(want_s) / sizeof(want_s[0]); i++) {
		assert_int_equal(backs_off(&w, 4, (int64_t)(i + 1) * 100 * SECOND), want_s[i] * SECOND);
	}
	bt_queue_destroy(w.queue);
}

static void one_gated_pod_keeps_its_group_out_and_any_pods_hint_lets_it_back(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	add(&w, 0, 1);
	w.gated[1] = true;
	assert_int_equal(add(&w, 1, 2), BT_WAIT_GATED);
	assert_int_equal(where(&w, 0), BT_WAIT_GATED);
	assert_int_equal(bt_queue_info(w.queue, 0).gate, 3);
	assert_int_equal(bt_queue_counts(w.queue).gated, 2);
	/* The pod without a refusing plugin lets any event run PreEnqueue again. */
	move(&w, 3);
	assert_int_equal(where(&w, 0), BT_WAIT_GATED);
	w.gated[1] = false;
	move(&w, 4);
	assert_int_equal(where(&w, 1), BT_WAIT_ACTIVE);
	bt_queue_destroy(w.queue);
}

static void by_events_a_group_waits_until_one_of_its_pods_is_helped(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	add(&w, 0, 1);
	add(&w, 1, 2);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	bt_queue_refuse(w.queue, 0, 1, 0, SECOND);
	bt_queue_refuse(w.queue, 1, 2, 0, SECOND);
	bt_queue_end_group(w.queue, RING, BT_ATTEMPT_REJECTED, true, SECOND);
	assert_int_equal(where(&w, 0), BT_WAIT_UNSCHEDULABLE);
	move(&w, 10 * SECOND);
	assert_int_equal(where(&w, 0), BT_WAIT_UNSCHEDULABLE);
	w.likes = 1 << 1;
	move(&w, 10 * SECOND);
	assert_int_equal(where(&w, 0), BT_WAIT_ACTIVE);
	assert_int_equal(where(&w, 1), BT_WAIT_ACTIVE);
	bt_queue_destroy(w.queue);
}

static void a_pod_can_be_removed_from_every_place(void **state)
{
	struct grouped_world w;
	struct bt_queue_counts counts;

	(void)state;
	begin(&w);
	add(&w, 0, 1);
	add(&w, 1, 2);
	assert_int_equal(bt_queue_remove(w.queue, 0), BT_OK);
	assert_int_equal(where(&w, 1), BT_WAIT_ACTIVE);
	assert_int_equal(bt_queue_pop(w.queue), 1);
	add(&w, 2, 3);
	assert_int_equal(bt_queue_remove(w.queue, 2), BT_OK);
	assert_int_equal(bt_queue_remove(w.queue, 1), BT_OK);
	bt_queue_end_group(w.queue, RING, BT_ATTEMPT_REJECTED, false, 4);
	assert_int_equal(backs_off((add(&w, 0, 5), &w), 1, 100 * SECOND), SECOND);
	assert_int_equal(bt_queue_remove(w.queue, 0), BT_OK);
	counts = bt_queue_counts(w.queue);
	assert_int_equal(counts.active | counts.backoff | counts.unschedulable | counts.gated |
				 counts.in_flight | counts.incomplete | counts.pending,
		0);
	assert_int_equal(bt_queue_next_expiry(w.queue), INT64_MAX);
	bt_queue_destroy(w.queue);
}

static void a_group_whose_priority_changes_has_another_turn(void **state)
{
	struct grouped_world w;

	(void)state;
	begin(&w);
	add(&w, 8, 1);
	add(&w, 0, 2);
	bt_queue_pod_group_changed(w.queue, RING, 3);
	assert_int_equal(bt_queue_pop(w.queue), 0);
	bt_queue_destroy(w.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_a_group_are_popped_together),
		cmocka_unit_test(the_groups_priority_counts_in_the_queue_and_the_pods_in_the_group),
		cmocka_unit_test(pods_wait_for_the_object_of_their_group),
		cmocka_unit_test(a_group_whose_object_comes_late_waits_since_its_first_pod),
		cmocka_unit_test(pods_of_a_tree_wait_together_until_one_of_its_groups_goes),
		cmocka_unit_test(pods_added_during_a_trees_cycle_wait_for_their_deleted_group),
		cmocka_unit_test(a_pod_added_during_the_groups_cycle_is_in_the_next_one),
		cmocka_unit_test(remaining_members_after_a_success_are_active_in_order),
		cmocka_unit_test(a_pod_whose_binding_fails_recreates_its_group),
		cmocka_unit_test(the_longest_backoff_grows_with_the_root_of_the_pods),
		cmocka_unit_test(one_gated_pod_keeps_its_group_out_and_any_pods_hint_lets_it_back),
		cmocka_unit_test(by_events_a_group_waits_until_one_of_its_pods_is_helped),
		cmocka_unit_test(a_pod_can_be_removed_from_every_place),
		cmocka_unit_test(a_group_whose_priority_changes_has_another_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
