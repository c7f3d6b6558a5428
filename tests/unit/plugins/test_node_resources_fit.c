/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesFit: reasons and the three strategies, with kube-scheduler's numbers.
 */
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugin_fixture.h"

#define REQUEST(amounts)  "containers: [{name: a, resources: {requests: {" amounts "}}}]"
#define ON(node, amounts) "nodeName: " node ", " REQUEST(amounts)

static const struct bt_fit_resource cpu_and_memory[] = {{BT_CPU, 1}, {BT_MEMORY, 1}};
static const struct bt_fit_settings least = {.resources = cpu_and_memory, .resource_n = 2};

static uint32_t node(struct fixture *f, const char *name, const char *allocatable)
{
	char metadata[64], status[256];

	snprintf(metadata, sizeof(metadata), "name: %s", name);
	snprintf(status, sizeof(status), "allocatable: {%s}", allocatable);
	return fixture_node(f, metadata, "", status);
}

static void every_reason_is_given(void **state)
{
	struct fixture *f = *state;
	uint32_t small = node(f, "n1", "cpu: '1', memory: 8Gi, pods: '10'");
	uint32_t full = node(f, "n2", "cpu: '4', memory: 8Gi, pods: '10'");
	uint32_t crowded = node(f, "n3", "cpu: '2', memory: 512Mi, pods: '1'");

	fixture_pod(f, ON("n2", "cpu: '3', memory: 8Gi"));
	fixture_pod(f, ON("n3", "cpu: '1'"));
	struct asked asked = ask(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '2', memory: 1Gi"));
	assert_refused(&asked, small, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient cpu");
	assert_refused(&asked, full, BT_UNSCHEDULABLE, "Insufficient cpu; Insufficient memory");
	assert_refused(&asked, crowded, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"Too many pods; Insufficient cpu; Insufficient memory");
}

static void refusals_carry_their_numbers(void **state)
{
	struct fixture *f = *state;
	uint32_t full = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '10'");
	struct bt_rejection rejection;

	fixture_pod(f, ON("n1", "cpu: 800m"));
	struct asked asked = ask(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '4'"));
	bt_plugin_reject(asked.plugin, asked.compiled.term, &f->cache->view, full, &rejection);
	assert_int_equal(rejection.n, 1);
	assert_true(rejection.reasons[0].has_numbers);
	assert_int_equal(rejection.reasons[0].wanted, 4000);
	assert_int_equal(rejection.reasons[0].available, 3200);
}

static void what_is_not_asked_for_is_not_missed(void **state)
{
	struct fixture *f = *state;
	uint32_t full = node(f, "n1", "cpu: '1', memory: 1Gi, pods: '10'");

	fixture_pod(f, ON("n1", "cpu: '9'"));
	struct asked asked = ask(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '0', memory: 1Gi"));
	assert_true(passes(&asked, full));
	asked = ask(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: 1m"));
	assert_false(passes(&asked, full));
}

static void the_last_bit_fits(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '1'");
	struct asked asked = ask(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '4', memory: 8Gi"));

	assert_true(passes(&asked, n));
	asked = ask(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: 4001m"));
	assert_refused(&asked, n, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient cpu");
}

static void extended_resources_can_be_ignored(void **state)
{
	static const struct bt_str names[] = {BT_STR("example.com/a")}, groups[] = {BT_STR("example.org")};
	static const struct bt_fit_settings settings = {
		.resources = cpu_and_memory,
		.resource_n = 2,
		.ignored = names,
		.ignored_n = 1,
		.ignored_groups = groups,
		.ignored_group_n = 1,
	};
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '10'");
	struct asked asked = ask(f, &bt_plugin_node_resources_fit, &settings,
		REQUEST("example.com/a: '1', example.org/x: '1', hugepages-2Mi: 0"));

	assert_true(passes(&asked, n));
	asked = ask(f, &bt_plugin_node_resources_fit, &settings, REQUEST("example.com/b: '1'"));
	assert_refused(&asked, n, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient example.com/b");
}

/* A node with 4 cpu and 8Gi that holds 2 cpu and 1Gi, the same node empty, and a pod of 100m and 3Gi. */
static void assert_scores(
	struct fixture *f, const struct bt_fit_settings *settings, int64_t used, int64_t empty)
{
	uint32_t holds = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '10'");
	uint32_t free_one = node(f, "n2", "cpu: '4', memory: 8Gi, pods: '10'");

	fixture_pod(f, ON("n1", "cpu: '2', memory: 1Gi"));
	struct asked asked =
		ask(f, &bt_plugin_node_resources_fit, settings, REQUEST("cpu: 100m, memory: 3Gi"));
	assert_int_equal(score(&asked, holds), used);
	assert_int_equal(score(&asked, free_one), empty);
}

static void least_allocated_likes_empty_nodes(void **state)
{
	assert_scores(*state, &least, 48, 79);
}

static void most_allocated_likes_full_nodes(void **state)
{
	static const struct bt_fit_settings settings = {
		.strategy = BT_MOST_ALLOCATED, .resources = cpu_and_memory, .resource_n = 2};

	assert_scores(*state, &settings, 51, 19);
}

static void a_rising_shape_rounds_to_the_nearest(void **state)
{
	static const struct bt_shape_point shape[] = {{0, 0}, {100, 100}};
	static const struct bt_fit_settings settings = {.strategy = BT_REQUESTED_TO_CAPACITY_RATIO,
		.resources = cpu_and_memory,
		.resource_n = 2,
		.shape = shape,
		.shape_n = 2};

	assert_scores(*state, &settings, 51, 20);
}

static void a_falling_shape_truncates_inside(void **state)
{
	static const struct bt_fit_resource weighted[] = {{BT_CPU, 3}, {BT_MEMORY, 2}};
	static const struct bt_shape_point shape[] = {{0, 100}, {40, 80}, {100, 0}};
	static const struct bt_fit_settings settings = {.strategy = BT_REQUESTED_TO_CAPACITY_RATIO,
		.resources = weighted,
		.resource_n = 2,
		.shape = shape,
		.shape_n = 3};

	assert_scores(*state, &settings, 65, 92);
}

static void scalars_count_only_when_asked_for(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, nvidia.com/gpu: '4', pods: '10'");
	struct bt_fit_resource resources[] = {
		{BT_CPU, 1}, {bt_resource_find(f->cache->dictionary, bt_str("nvidia.com/gpu")), 5}};
	struct bt_fit_settings settings = {
		.strategy = BT_MOST_ALLOCATED, .resources = resources, .resource_n = 2};
	struct asked asked =
		ask(f, &bt_plugin_node_resources_fit, &settings, REQUEST("cpu: '1', nvidia.com/gpu: '2'"));

	assert_int_equal(score(&asked, n), 45);
	asked = ask(f, &bt_plugin_node_resources_fit, &settings, REQUEST("cpu: '1'"));
	assert_int_equal(score(&asked, n), 25);
}

static void the_pods_own_part_ignores_pod_level_requests(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '10'");
	static const char spec[] = "resources: {requests: {cpu: '2', memory: 4Gi}}, containers: [{name: a}]";
	struct asked asked = ask(f, &bt_plugin_node_resources_fit, &least, spec);

	assert_int_equal(score(&asked, n), 97);
	fixture_pod(
		f, "nodeName: n1, resources: {requests: {cpu: '2', memory: 4Gi}}, containers: [{name: a}]");
	assert_int_equal(score(&asked, n), 47);
}

static void nodes_without_any_resource_score_nothing(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "pods: '10'");
	struct asked asked = ask(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '0'"));

	assert_true(passes(&asked, n));
	assert_int_equal(score(&asked, n), 0);
}

static void what_is_asked_for_and_what_is_scored_is_read(void **state)
{
	const struct bt_plugin *plugin = &bt_plugin_node_resources_fit;
	struct asked asked = ask(*state, plugin, &least, REQUEST("cpu: '1', ephemeral-storage: 1Gi"));

	assert_int_equal(
		plugin->reads(asked.compiled.term), 1 << BT_CPU | 1 << BT_MEMORY | 1 << BT_EPHEMERAL_STORAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(every_reason_is_given),
		FIXTURE_TEST(refusals_carry_their_numbers),
		FIXTURE_TEST(what_is_not_asked_for_is_not_missed),
		FIXTURE_TEST(the_last_bit_fits),
		FIXTURE_TEST(extended_resources_can_be_ignored),
		FIXTURE_TEST(least_allocated_likes_empty_nodes),
		FIXTURE_TEST(most_allocated_likes_full_nodes),
		FIXTURE_TEST(a_rising_shape_rounds_to_the_nearest),
		FIXTURE_TEST(a_falling_shape_truncates_inside),
		FIXTURE_TEST(scalars_count_only_when_asked_for),
		FIXTURE_TEST(the_pods_own_part_ignores_pod_level_requests),
		FIXTURE_TEST(nodes_without_any_resource_score_nothing),
		FIXTURE_TEST(what_is_asked_for_and_what_is_scored_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
