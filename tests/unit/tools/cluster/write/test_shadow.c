/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode: nothing is written, and every binding ends with the pod's actual node.
 */
#include "fake.h"

static int begin(void **state)
{
	(void)state;
	fake_begin((struct bt_writer_options){.qps = -1, .dry = true});
	show("p", "7", "");
	return 0;
}

static int finish(void **state)
{
	(void)state;
	assert_int_equal(fake.call_n, 0);
	fake_finish();
	return 0;
}

static void with_the_same_node_it_is_bound_once_the_pipeline_has_seen_it(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	expect_reports("");
	show("p", "8", "n1");
	expect_reports("");
	fake_pass(FAKE_S);
	expect_reports("bound 1\n");
}

static void with_another_node_it_has_failed_once_the_pipeline_has_seen_it(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	show("p", "8", "n2");
	expect_reports("");
	fake_pass(2 * FAKE_S);
	expect_reports("failed 1 another scheduler has bound the pod\n");
}

static void with_a_pod_that_goes_it_has_failed(void **state)
{
	const struct bt_object pod = fake_pod("p", "u", "8", "");

	(void)state;
	bind(1, "p", "n1");
	show_object(BT_WATCH_EVENT_DELETE, &pod);
	fake_pass(2 * FAKE_S);
	expect_reports("failed 1 another scheduler has bound the pod\n");
}

static void a_pod_bound_before_its_decision_ends_at_once(void **state)
{
	(void)state;
	show("p", "8", "n2");
	bind(1, "p", "n1");
	expect_reports("");
	fake_pass(FAKE_S);
	expect_reports("failed 1 another scheduler has bound the pod\n");
}

static void a_pod_that_the_other_scheduler_does_not_bind_is_decided_again(void **state)
{
	(void)state;
	show("q", "7", "");
	bind(1, "p", "n1");
	fake_pass(3 * FAKE_S);
	bind(2, "q", "n1");
	expect_reports("");
	fake_pass(3 * FAKE_S);
	expect_reports("failed 1 the other scheduler has not bound the pod\n");
	fake_pass(3 * FAKE_S);
	expect_reports("failed 2 the other scheduler has not bound the pod\n");
	show("p", "9", "n1"); /* too late to belong to a decision */
	bind(3, "q", "n2");
	show("q", "9", "n2");
	fake_pass(FAKE_S);
	expect_reports("bound 3\n");
}

static void a_timer_that_is_not_needed_any_more_rings_once(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		show("q", "8", "n2");
		bind(1, "q", "n1"); /* which is decided soon */
		fake_pass(FAKE_S / 100);
		show("r", "7", "");
		bind(2, "r", "n1"); /* which waits */
		show("r", "8", "n1");
	}
	for (int i = 0; i < 4; i++) {
		show("p", "7", "");
		bind(3, "p", "n1");
		fake_pass(4 * FAKE_S);
		show("p", "8", "n1");
	}
	assert_true(fake.timer_n <= 4);
	bt_buf_clear(&fake.reported);
}

static void victims_stay(void **state)
{
	(void)state;
	show("v", "7", "n1");
	evict(1, "v", "n1", "p");
	fake_pass(4 * FAKE_S); /* the other scheduler may still delete it */
	expect_reports("");
	fake_pass(2 * FAKE_S);
	expect_reports("evict failed 1 nothing is written in shadow mode\n");
}

static void a_claim_that_keeps_a_pod_out_stays(void **state)
{
	(void)state;
	release_claim(1, "p", "c");
	fake_pass(4 * FAKE_S);
	expect_reports("");
	fake_pass(2 * FAKE_S);
	expect_reports("evict failed 1 nothing is written in shadow mode\n");
}

static void the_end_does_not_wait_for_victims(void **state)
{
	(void)state;
	evict(1, "v", "n1", "p");
	bt_writer_shutdown(fake.writer, 0);
	fake_pass(0);
	assert_true(bt_writer_drain(fake.writer, 0));
	expect_reports("evict failed 1 the scheduler ends\n");
}

static void a_check_may_be_inconclusive(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	check(2, 1, "p", "n1");
	expect_reports("unknown 2\n");
}

static void nothing_is_on_its_way_while_decisions_are_kept(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void pods_not_yet_bound_are_unknown_at_the_end(void **state)
{
	(void)state;
	show("q", "7", "");
	bind(1, "p", "n1");
	bind(2, "q", "n1");
	fake_stop();
	expect_reports("unknown 1\nunknown 2\n");
	bt_buf_fini(&fake.reported);
	begin(state);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		CASE(with_the_same_node_it_is_bound_once_the_pipeline_has_seen_it),
		CASE(with_another_node_it_has_failed_once_the_pipeline_has_seen_it),
		CASE(with_a_pod_that_goes_it_has_failed),
		CASE(a_pod_bound_before_its_decision_ends_at_once),
		CASE(a_pod_that_the_other_scheduler_does_not_bind_is_decided_again),
		CASE(a_timer_that_is_not_needed_any_more_rings_once),
		CASE(victims_stay),
		CASE(a_claim_that_keeps_a_pod_out_stays),
		CASE(the_end_does_not_wait_for_victims),
		CASE(a_check_may_be_inconclusive),
		CASE(nothing_is_on_its_way_while_decisions_are_kept),
		CASE(pods_not_yet_bound_are_unknown_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
