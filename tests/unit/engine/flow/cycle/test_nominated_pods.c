/* SPDX-License-Identifier: Apache-2.0
 * Which nominated pods count on their nodes while another pod is evaluated.
 */
#include "object_fixture.h"

#include "engine/flow/cycle/nominated_pods.h"

#define SPEC(priority) "priority: " priority ", containers: [{name: a, resources: {requests: {cpu: '1'}}}]"

/* A nominated pod's node, and the pod of the cycle. */
struct scene {
	struct bt_queue *queue;
	struct bt_nominated_pods nominated;
	uint32_t node_ix, nominated_ix;
};

static void enqueue(struct scene *s, struct fixture *f, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(f->cache->ledger, pod_ix);

	bt_queue_add(s->queue, pod_ix,
		(struct bt_queue_kind){.signature_ix = pod->signature->ix, .priority = pod->priority}, 0);
}

static void set_scene(struct scene *s, struct fixture *f, const char *nominated)
{
	s->queue = bt_queue_create(&(struct bt_queue_options){.max_backoff_ns = 0});
	s->node_ix = fixture_node(f, "name: n1", "", "allocatable: {cpu: '4', pods: '10'}");
	s->nominated_ix = fixture_pod(f, nominated);
	bt_ledger_nominate(f->cache->ledger, s->nominated_ix, s->node_ix);
	bt_nominated_pods_init(&s->nominated, f->cache, s->queue, bt_release_default());
}

static int64_t used_cpu(struct fixture *f, const struct scene *s)
{
	return bt_ledger_usage(f->cache->ledger)->nodes[s->node_ix].used[BT_CPU];
}

static int64_t pod_n(struct fixture *f, const struct scene *s)
{
	return bt_ledger_usage(f->cache->ledger)->nodes[s->node_ix].pod_n;
}

static void one_of_an_equal_priority_counts_during_the_evaluation_only(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	set_scene(&s, f, SPEC("5"));
	enqueue(&s, f, s.nominated_ix);
	const struct bt_nominations_ahead *yields =
		bt_nominated_pods_begin(&s.nominated, fixture_pod(f, SPEC("5")));

	assert_non_null(yields);
	assert_int_equal(used_cpu(f, &s), 0);
	assert_true(yields->put(yields->context, s.node_ix));
	assert_int_equal(used_cpu(f, &s), 1000);
	assert_int_equal(pod_n(f, &s), 1);
	yields->take(yields->context, s.node_ix);
	assert_int_equal(used_cpu(f, &s), 0);
	assert_int_equal(pod_n(f, &s), 0);
	bt_queue_destroy(s.queue);
}

static void one_of_a_lower_priority_does_not_matter(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	set_scene(&s, f, SPEC("4"));
	enqueue(&s, f, s.nominated_ix);
	assert_null(bt_nominated_pods_begin(&s.nominated, fixture_pod(f, SPEC("5"))));
	const struct bt_nominations_ahead *yields = bt_nominated_pods_ahead(&s.nominated);

	assert_false(yields->put(yields->context, s.node_ix));
	assert_int_equal(pod_n(f, &s), 0);
	bt_queue_destroy(s.queue);
}

static void a_pod_does_not_count_for_itself(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	set_scene(&s, f, SPEC("5"));
	enqueue(&s, f, s.nominated_ix);
	assert_null(bt_nominated_pods_begin(&s.nominated, s.nominated_ix));
	const struct bt_nominations_ahead *yields = bt_nominated_pods_ahead(&s.nominated);

	assert_false(yields->put(yields->context, s.node_ix));
	assert_int_equal(used_cpu(f, &s), 0);
	bt_queue_destroy(s.queue);
}

static void one_in_no_queue_counts_without_requests_and_with_priority_0(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	set_scene(&s, f, SPEC("5"));
	const struct bt_nominations_ahead *yields =
		bt_nominated_pods_begin(&s.nominated, fixture_pod(f, SPEC("0")));

	assert_non_null(yields);
	assert_true(yields->put(yields->context, s.node_ix));
	assert_int_equal(used_cpu(f, &s), 0);
	assert_int_equal(pod_n(f, &s), 1);
	yields->take(yields->context, s.node_ix);
	assert_int_equal(pod_n(f, &s), 0);
	bt_nominated_pods_set(&s.nominated, fixture_pod(f, SPEC("1")));
	assert_false(yields->put(yields->context, s.node_ix));
	bt_queue_destroy(s.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(one_of_an_equal_priority_counts_during_the_evaluation_only),
		FIXTURE_TEST(one_of_a_lower_priority_does_not_matter),
		FIXTURE_TEST(a_pod_does_not_count_for_itself),
		FIXTURE_TEST(one_in_no_queue_counts_without_requests_and_with_priority_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
