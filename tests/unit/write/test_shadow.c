/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode: nothing is written, and every decision is compared with where the pod has gone.
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

static void judged(const char *lines)
{
	assert_string_equal(fake.judged.len ? fake.judged.ptr : "", lines);
}

static void the_same_node_is_agreement(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	told("");
	show("p", "8", "n1");
	told("bound 1\n");
	judged("p n1 n1\n");
	assert_int_equal(bt_writer_counts(fake.writer).agreed_n, 1);
}

static void another_node_is_a_difference_that_is_told_when_the_pipeline_has_seen_it(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	show("p", "8", "n2");
	judged("p n1 n2\n");
	told("");
	fake_pass(2 * FAKE_S);
	told("failed 1 another scheduler has bound the pod\n");
	assert_int_equal(bt_writer_counts(fake.writer).differed_n, 1);
}

static void a_pod_that_goes_is_not_judged(void **state)
{
	const struct bt_object pod = fake_pod("p", "u", "8", "");

	(void)state;
	bind(1, "p", "n1");
	hear(BT_PARCEL_DELETE, &pod);
	fake_pass(2 * FAKE_S);
	told("failed 1 another scheduler has bound the pod\n");
	judged("");
}

static void pods_that_nobody_decided_are_not_judged(void **state)
{
	(void)state;
	show("p", "8", "n1");
	show("q", "8", "n1");
	judged("");
}

static void victims_stay(void **state)
{
	(void)state;
	evict(1, "v", "n1", "p");
	told("evict failed 1 nothing is written in shadow mode\n");
}

static void a_check_cannot_tell(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	check(2, 1, "p", "n1");
	told("unknown 2\n");
}

static void nothing_is_on_its_way_while_decisions_are_kept(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void at_the_end_nobody_knows(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	bind(2, "q", "n1");
	bt_writer_destroy(fake.writer);
	told("unknown 1\nunknown 2\n");
	bt_buf_fini(&fake.told);
	begin(state);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		CASE(the_same_node_is_agreement),
		CASE(another_node_is_a_difference_that_is_told_when_the_pipeline_has_seen_it),
		CASE(a_pod_that_goes_is_not_judged),
		CASE(pods_that_nobody_decided_are_not_judged),
		CASE(victims_stay),
		CASE(a_check_cannot_tell),
		CASE(nothing_is_on_its_way_while_decisions_are_kept),
		CASE(at_the_end_nobody_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
