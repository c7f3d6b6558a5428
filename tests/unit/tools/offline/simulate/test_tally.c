/* SPDX-License-Identifier: Apache-2.0
 * A report's counts of attempts, waits and preemptions.
 */
#include "trial.h"

#include "tools/offline/simulate/tally.h"

static void place(
	struct bt_simulate_tally *tally, uint32_t pod_ix, uint32_t node_ix, uint32_t attempts, int64_t now_ns)
{
	const struct bt_decision decision = {
		.pod_ix = pod_ix, .outcome = BT_PLACED, .node_ix = node_ix, .nominated_ix = BT_NO_NODE};
	const struct bt_queue_info info = {.attempts = attempts};

	bt_simulate_tally_decision(tally, &decision, &info, 10, now_ns);
}

static void preempt(struct bt_simulate_tally *tally, uint32_t pod_ix, uint32_t node_ix,
	const struct bt_victim *victim, int64_t now_ns)
{
	const struct bt_decision decision = {.pod_ix = pod_ix,
		.outcome = BT_REFUSED,
		.nominated_ix = node_ix,
		.victims = victim,
		.victim_n = 1};

	bt_simulate_tally_decision(tally, &decision, &(struct bt_queue_info){.attempts = 1}, 10, now_ns);
}

static void attempts_fall_into_buckets_and_waits_are_those_of_pods_that_waited(void **state)
{
	struct trial t = begin(state);
	struct bt_simulate_tally tally = {.engine = t.engine};
	uint32_t pod = add_pod(&t, "name: a", CPU("1"), "");

	for (uint32_t attempts = 1; attempts <= 6; attempts++) {
		place(&tally, pod, 0, attempts, attempts == 1 ? 10 : 10 + attempts);
	}
	assert_int_equal(tally.attempts.pod_n, 6);
	assert_int_equal(tally.attempts.sum, 21);
	assert_int_equal(tally.attempts.most, 6);
	assert_int_equal(tally.attempts.buckets[0], 1);
	assert_int_equal(tally.attempts.buckets[1], 1);
	assert_int_equal(tally.attempts.buckets[2], 3);
	assert_int_equal(tally.attempts.buckets[3], 1);
	assert_int_equal(tally.unwaited_n, 1);
	assert_int_equal(tally.wait_n, 5);
	assert_int_equal(tally.waits[0], 2);
	bt_simulate_tally_fini(&tally);
	end(&t);
}

static void a_preemption_fails_unless_its_pod_is_bound_to_the_nominated_node(void **state)
{
	struct trial t = begin(state);
	struct bt_simulate_tally tally = {.engine = t.engine};
	uint32_t n0 = add_node(&t, "n0", "4"), n1 = add_node(&t, "n1", "4");
	uint32_t pod = add_pod(&t, "name: a", CPU("1"), ""), other = add_pod(&t, "name: b", CPU("1"), "");
	const struct bt_victim victim = {.pod_ix = other};

	preempt(&tally, pod, n0, &victim, 20);
	preempt(&tally, pod, n1, &victim, 30); /* it has chosen another node */
	place(&tally, pod, n1, 3, 40);
	assert_int_equal(tally.preemption_n, 2);
	assert_int_equal(tally.preemptor_n, 1);
	assert_int_equal(tally.victim_n, 2);
	assert_int_equal(tally.preemptions[0].end, BT_PREEMPTION_UNUSED);
	assert_int_equal(tally.preemptions[0].end_ns, 30);
	assert_int_equal(tally.preemptions[1].end, BT_PREEMPTION_PLACED);
	assert_int_equal(tally.preemptions[1].end_ns, 40);

	preempt(&tally, other, n0, &victim, 50);
	place(&tally, other, n1, 2, 60); /* on another node than that of its preemption */
	assert_int_equal(tally.preemptions[2].end, BT_PREEMPTION_UNUSED);
	bt_simulate_tally_fini(&tally);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(attempts_fall_into_buckets_and_waits_are_those_of_pods_that_waited),
		FIXTURE_TEST(a_preemption_fails_unless_its_pod_is_bound_to_the_nominated_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
