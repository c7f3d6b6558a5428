/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesBalancedAllocation, with kube-scheduler's numbers.
 */
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugin_fixture.h"

#define PLUGIN (&bt_plugin_node_resources_balanced_allocation)

static const int slots[] = {BT_CPU, BT_MEMORY};
static const struct bt_balanced_settings settings = {slots, 2, false}, as_is = {slots, 2, true};

/* A node that the pod balances, and an empty one. */
static void assert_scores(
	struct fixture *f, const struct bt_balanced_settings *by, int64_t evened_out, int64_t empty)
{
	uint32_t n1 = fixture_node(f, "name: n1", "", "allocatable: {cpu: '4', memory: 8Gi, pods: '10'}");
	uint32_t n2 = fixture_node(f, "name: n2", "", "allocatable: {cpu: '4', memory: 8Gi, pods: '10'}");

	fixture_pod(
		f, "nodeName: n1, containers: [{name: a, resources: {requests: {cpu: '2', memory: 1Gi}}}]");
	struct subject subject = compile_pod(
		f, PLUGIN, by, "containers: [{name: a, resources: {requests: {cpu: 100m, memory: 3Gi}}}]");
	assert_int_equal(score(&subject, n1), evened_out);
	assert_int_equal(score(&subject, n2), empty);
}

static void evening_out_is_liked(void **state)
{
	assert_scores(*state, &settings, 83, 66);
}

static void a_node_is_worth_its_balance_where_a_release_has_it_so(void **state)
{
	assert_scores(*state, &as_is, 98, 82);
}

static void a_pod_without_such_requests_skips_the_plugin(void **state)
{
	struct subject subject = compile_pod(
		*state, PLUGIN, &settings, "containers: [{name: a, resources: {requests: {cpu: '0'}}}]");

	assert_true(subject.compiled.score_skip);
}

static void one_resource_is_always_in_balance(void **state)
{
	struct fixture *f = *state;
	uint32_t n = fixture_node(f, "name: n1", "", "allocatable: {cpu: '4', pods: '10'}");
	struct subject subject = compile_pod(f, PLUGIN, &settings,
		"containers: [{name: a, resources: {requests: {cpu: '3', memory: 1Gi}}}]");

	assert_int_equal(score(&subject, n), 75);
}

static void use_beyond_what_there_is_counts_as_all(void **state)
{
	struct fixture *f = *state;
	uint32_t n = fixture_node(f, "name: n1", "", "allocatable: {cpu: '1', memory: 1Gi, pods: '10'}");

	fixture_pod(
		f, "nodeName: n1, containers: [{name: a, resources: {requests: {cpu: '9', memory: 9Gi}}}]");
	struct subject subject = compile_pod(
		f, PLUGIN, &settings, "containers: [{name: a, resources: {requests: {cpu: '1'}}}]");
	assert_int_equal(score(&subject, n), 75);
}

static void its_resources_are_what_it_reads(void **state)
{
	struct subject subject = compile_pod(*state, PLUGIN, &settings,
		"containers: [{name: a, resources: {requests: {cpu: '1', ephemeral-storage: 1Gi}}}]");

	assert_int_equal(PLUGIN->reads(subject.compiled.term), 1 << BT_CPU | 1 << BT_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(evening_out_is_liked),
		FIXTURE_TEST(a_node_is_worth_its_balance_where_a_release_has_it_so),
		FIXTURE_TEST(a_pod_without_such_requests_skips_the_plugin),
		FIXTURE_TEST(one_resource_is_always_in_balance),
		FIXTURE_TEST(use_beyond_what_there_is_counts_as_all),
		FIXTURE_TEST(its_resources_are_what_it_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
