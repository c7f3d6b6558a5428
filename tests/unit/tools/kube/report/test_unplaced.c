/* SPDX-License-Identifier: Apache-2.0
 * Which pods count as not placed, in which groups, and which are blocked only by fragmentation.
 */
#include "trial.h"

#include "tools/kube/report/unplaced.h"

/* Schedules it; it must be refused. */
static void refuse(struct trial *t, const char *metadata, const char *spec)
{
	assert_int_equal(decide(t, add_pod(t, metadata, spec, "")).outcome, BT_REFUSED);
}

static void equal_pods_are_one_group_and_the_largest_is_first(void **state)
{
	struct trial t = begin(state);
	struct bt_unplaced unplaced;

	add_node(&t, "n0", "4");
	refuse(&t, "name: a", CPU("9"));
	refuse(&t, "name: b", CPU("8"));
	refuse(&t, "name: c", CPU("8"));
	assert_int_equal(decide(&t, add_pod(&t, "name: d", CPU("1"), "")).outcome, BT_PLACED);
	bt_unplaced_collect(t.engine, &unplaced);
	assert_int_equal(unplaced.group_n, 2);
	assert_int_equal(unplaced.groups[0].pod_n, 2);
	assert_int_equal(unplaced.groups[1].pod_n, 1);
	assert_int_equal(unplaced.refused_n, 3);
	assert_int_equal(unplaced.gated_n, 0);
	bt_unplaced_fini(&unplaced);
	end(&t);
}

static void gated_pods_are_counted_apart(void **state)
{
	struct trial t = begin(state);
	struct bt_unplaced unplaced;

	add_node(&t, "n0", "4");
	add_pod(&t, "name: a", "schedulingGates: [{name: g}], " CPU("1"), "");
	refuse(&t, "name: b", CPU("9"));
	bt_unplaced_collect(t.engine, &unplaced);
	assert_int_equal(unplaced.group_n, 2);
	assert_int_equal(unplaced.gated_n, 1);
	assert_int_equal(unplaced.refused_n, 1);
	bt_unplaced_fini(&unplaced);
	end(&t);
}

static void pods_that_were_not_tried_are_in_no_group(void **state)
{
	struct trial t = begin(state);
	struct bt_unplaced unplaced;

	add_node(&t, "n0", "4");
	refuse(&t, "name: a", CPU("9"));
	add_pod(&t, "name: b", CPU("9"), "");
	bt_unplaced_collect(t.engine, &unplaced);
	assert_int_equal(unplaced.untried_n, 1);
	assert_int_equal(unplaced.group_n, 1);
	assert_int_equal(unplaced.groups[0].pod_n, 1);
	bt_unplaced_fini(&unplaced);
	end(&t);
}

/* The number of refused pods of this kind that only fragmentation blocks. */
static uint64_t fragmented(void **state, const char *spec)
{
	struct trial t = begin(state);
	struct bt_unplaced unplaced;

	add_labeled_nodes(&t, 2);
	refuse(&t, "name: a", spec);
	bt_unplaced_collect(t.engine, &unplaced);
	const uint64_t n = unplaced.fragmented_n;
	bt_unplaced_fini(&unplaced);
	end(&t);
	return n;
}

static void pods_that_fit_the_sum_but_no_node_are_fragmented(void **state)
{
	assert_int_equal(fragmented(state, CPU("6")), 1);
	assert_int_equal(fragmented(state, CPU("9")), 0);
}

static void only_nodes_count_that_lack_resources_alone(void **state)
{
	assert_int_equal(fragmented(state, "nodeSelector: {kubernetes.io/hostname: n0}, " CPU("6")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(equal_pods_are_one_group_and_the_largest_is_first),
		FIXTURE_TEST(gated_pods_are_counted_apart),
		FIXTURE_TEST(pods_that_were_not_tried_are_in_no_group),
		FIXTURE_TEST(pods_that_fit_the_sum_but_no_node_are_fragmented),
		FIXTURE_TEST(only_nodes_count_that_lack_resources_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
