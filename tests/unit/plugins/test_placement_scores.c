/* SPDX-License-Identifier: Apache-2.0
 * PlacementScore: PodGroupPodsCount and NodeResourcesFit score the placements of a PodGroup.
 */
#include "plugin_fixture.h"

#include "plugins/node_resources_fit/node_resources_fit.h"

extern const struct bt_plugin bt_plugin_pod_group_pods_count;

static void more_pods_are_better_in_proportion_to_the_most(void **state)
{
	const struct bt_group_state group = {.scheduled_n = 1};
	struct bt_placement_score_env env = {.group = &group, .pod_n = 3};
	int64_t scores[] = {bt_plugin_pod_group_pods_count.placement_score(&env), 3, 1};

	(void)state;
	assert_int_equal(scores[0], 4);
	assert_null(bt_plugin_pod_group_pods_count.placement_normalize(scores, 3));
	assert_int_equal(scores[0], 100);
	assert_int_equal(scores[1], 75);
	assert_int_equal(scores[2], 25);
}

static void placements_without_members_cannot_be_compared(void **state)
{
	int64_t scores[] = {0, 0};

	(void)state;
	assert_string_equal(bt_plugin_pod_group_pods_count.placement_normalize(scores, 2),
		"no pods from pod group are assigned to any of the candidate placements");
}

/* Of 4 and 12 CPUs, 2 of them in use, and of 16 and 48 Gi of memory. */
static void the_fuller_placement_is_better_whatever_the_strategy(void **state)
{
	struct fixture *f = *state;
	const struct bt_fit_resource resources[] = {{BT_CPU, 1}, {BT_MEMORY, 3}, {-1, 100}};
	const struct bt_fit_settings settings = {
		.strategy = BT_LEAST_ALLOCATED, .resources = resources, .resource_n = 3};
	const struct bt_signature *pod = fixture_signature(
		f, "containers: [{name: a, resources: {requests: {cpu: '2', memory: 8Gi}}}]");
	const struct bt_signature *pods[] = {pod, pod};
	const uint32_t nodes[] = {0, 1};

	fixture_node(f, "name: n0", "", "allocatable: {cpu: '4', memory: 16Gi, pods: '10'}");
	fixture_node(f, "name: n1", "", "allocatable: {cpu: '12', memory: 48Gi, pods: '10'}");
	fixture_pod(
		f, "nodeName: n0, containers: [{name: a, resources: {requests: {cpu: '2', memory: 1Gi}}}]");
	struct bt_placement_score_env env = {.view = &f->cache->view,
		.settings = &settings,
		.nodes = nodes,
		.node_n = 2,
		.pods = pods,
		.pod_n = 2};

	/* CPU 6 of 16, memory 17 of 64: (37 + 3 * 26) / 4. */
	assert_int_equal(bt_plugin_node_resources_fit.placement_score(&env), 28);
	/* CPU 6 of 4, memory 17 of 16 Gi: capped at full. */
	env.node_n = 1;
	assert_int_equal(bt_plugin_node_resources_fit.placement_score(&env), 100);
	env.node_n = 0;
	assert_int_equal(bt_plugin_node_resources_fit.placement_score(&env), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(more_pods_are_better_in_proportion_to_the_most),
		FIXTURE_TEST(placements_without_members_cannot_be_compared),
		FIXTURE_TEST(the_fuller_placement_is_better_whatever_the_strategy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
