/* SPDX-License-Identifier: Apache-2.0
 * NodeResourcesFit: reasons and the three strategies, with kube-scheduler's numbers.
 */
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugin_fixture.h"
#include "plugins/resource_ranges.h"

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
	struct subject subject =
		compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '2', memory: 1Gi"));
	assert_refused(&subject, small, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient cpu");
	assert_refused(&subject, full, BT_UNSCHEDULABLE, "Insufficient cpu; Insufficient memory");
	assert_refused(&subject, crowded, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"Too many pods; Insufficient cpu; Insufficient memory");
}

static void refusals_carry_their_numbers(void **state)
{
	struct fixture *f = *state;
	uint32_t full = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '10'");
	struct bt_rejection rejection;

	fixture_pod(f, ON("n1", "cpu: 800m"));
	struct subject subject = compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '4'"));
	bt_plugin_reject(subject.plugin, subject.compiled.term, &f->cache->view, full, &rejection);
	assert_int_equal(rejection.n, 1);
	assert_true(rejection.reasons[0].has_numbers);
	assert_int_equal(rejection.reasons[0].wanted, 4000);
	assert_int_equal(rejection.reasons[0].available, 3200);
}

static void resources_that_are_not_requested_may_be_exhausted(void **state)
{
	struct fixture *f = *state;
	uint32_t full = node(f, "n1", "cpu: '1', memory: 1Gi, pods: '10'");

	fixture_pod(f, ON("n1", "cpu: '9'"));
	struct subject subject =
		compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '0', memory: 1Gi"));
	assert_true(passes(&subject, full));
	subject = compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: 1m"));
	assert_false(passes(&subject, full));
}

static void the_last_bit_fits(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '1'");
	struct subject subject =
		compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '4', memory: 8Gi"));

	assert_true(passes(&subject, n));
	subject = compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: 4001m"));
	assert_refused(&subject, n, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient cpu");
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
	struct subject subject = compile_pod(f, &bt_plugin_node_resources_fit, &settings,
		REQUEST("example.com/a: '1', example.org/x: '1', hugepages-2Mi: 0"));

	assert_true(passes(&subject, n));
	subject = compile_pod(f, &bt_plugin_node_resources_fit, &settings, REQUEST("example.com/b: '1'"));
	assert_refused(&subject, n, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient example.com/b");
}

/* A node with 4 cpu and 8Gi, 2 cpu and 1Gi of them in use, the same node empty, and a pod of 100m and 3Gi. */
static void assert_scores(
	struct fixture *f, const struct bt_fit_settings *settings, int64_t used, int64_t empty)
{
	uint32_t holds = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '10'");
	uint32_t free_one = node(f, "n2", "cpu: '4', memory: 8Gi, pods: '10'");

	fixture_pod(f, ON("n1", "cpu: '2', memory: 1Gi"));
	struct subject subject =
		compile_pod(f, &bt_plugin_node_resources_fit, settings, REQUEST("cpu: 100m, memory: 3Gi"));
	assert_int_equal(score(&subject, holds), used);
	assert_int_equal(score(&subject, free_one), empty);
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

static void scalars_count_only_when_requested(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, nvidia.com/gpu: '4', pods: '10'");
	struct bt_fit_resource resources[] = {
		{BT_CPU, 1}, {bt_resource_find(f->cache->dictionary, bt_str("nvidia.com/gpu")), 5}};
	struct bt_fit_settings settings = {
		.strategy = BT_MOST_ALLOCATED, .resources = resources, .resource_n = 2};
	struct subject subject = compile_pod(
		f, &bt_plugin_node_resources_fit, &settings, REQUEST("cpu: '1', nvidia.com/gpu: '2'"));

	assert_int_equal(score(&subject, n), 45);
	subject = compile_pod(f, &bt_plugin_node_resources_fit, &settings, REQUEST("cpu: '1'"));
	assert_int_equal(score(&subject, n), 25);
}

static void the_pods_own_part_ignores_pod_level_requests(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, pods: '10'");
	static const char spec[] = "resources: {requests: {cpu: '2', memory: 4Gi}}, containers: [{name: a}]";
	struct subject subject = compile_pod(f, &bt_plugin_node_resources_fit, &least, spec);

	assert_int_equal(score(&subject, n), 97);
	fixture_pod(
		f, "nodeName: n1, resources: {requests: {cpu: '2', memory: 4Gi}}, containers: [{name: a}]");
	assert_int_equal(score(&subject, n), 47);
}

static void nodes_without_any_resource_score_nothing(void **state)
{
	struct fixture *f = *state;
	uint32_t n = node(f, "n1", "pods: '10'");
	struct subject subject = compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("cpu: '0'"));

	assert_true(passes(&subject, n));
	assert_int_equal(score(&subject, n), 0);
}

static void rare_resources_are_evaluated_like_others(void **state)
{
	struct fixture *f = *state;

	fixture_crowd(f, BT_FIRST_RARE);
	uint32_t has = node(f, "n1", "cpu: '4', memory: 8Gi, e.com/rare: '2', pods: '10'");
	uint32_t none = node(f, "n2", "cpu: '4', memory: 8Gi, e.com/other: '9', pods: '10'");
	uint32_t little = node(f, "n3", "cpu: '1', memory: 8Gi, e.com/rare: '1', pods: '10'");
	const char *spec = REQUEST("cpu: '2', e.com/rare: '2'");

	struct subject subject = compile_pod(f, &bt_plugin_node_resources_fit, &least, spec);
	assert_true(passes(&subject, has));
	assert_refused(&subject, none, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient e.com/rare");
	assert_refused(&subject, little, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"Insufficient cpu; Insufficient e.com/rare");
	assert_true(subject.plugin->reads(subject.compiled.term) & bt_resource_bit(BT_FIRST_RARE));
	fixture_pod(f, ON("n1", "e.com/rare: '1'"));
	assert_refused(&subject, has, BT_UNSCHEDULABLE, "Insufficient e.com/rare");
	/* Sums require resources with columns. */
	assert_false(subject.plugin->describe(
		subject.compiled.term, true, false, 1, &(struct bt_resource_sum){.fits = false}));
}

static void a_name_that_no_node_has_fits_once_one_has_it(void **state)
{
	struct fixture *f = *state;

	fixture_crowd(f, BT_FIRST_RARE + 100);
	uint32_t n = node(f, "n1", "cpu: '4', pods: '10'");
	struct subject subject =
		compile_pod(f, &bt_plugin_node_resources_fit, &least, REQUEST("e.com/rare: '2'"));
	assert_refused(&subject, n, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient e.com/rare");
	node(f, "n1", "cpu: '4', e.com/rare: '2', pods: '10'");
	assert_true(passes(&subject, n));
	node(f, "n1", "cpu: '4', pods: '10'");
	assert_false(passes(&subject, n));
}

static void pods_that_request_different_rare_names_differ(void **state)
{
	struct fixture *f = *state;

	fixture_crowd(f, BT_FIRST_RARE);
	const struct bt_signature *a = fixture_signature(f, REQUEST("e.com/a: '1'"));
	assert_ptr_not_equal(a, fixture_signature(f, REQUEST("e.com/b: '1'")));
	assert_ptr_not_equal(a, fixture_signature(f, REQUEST("e.com/a: '2'")));
	assert_ptr_equal(a, fixture_signature(f, REQUEST("e.com/a: '1'")));
}

static void rare_resources_can_be_ignored_and_scored(void **state)
{
	struct fixture *f = *state;

	fixture_crowd(f, BT_FIRST_RARE);
	uint32_t n = node(f, "n1", "cpu: '4', memory: 8Gi, nvidia.com/gpu: '4', pods: '10'");
	const struct bt_fit_resource resources[] = {
		{BT_CPU, 1}, {bt_resource_find(f->cache->dictionary, bt_str("nvidia.com/gpu")), 5}};
	const struct bt_str groups[] = {bt_str("nvidia.com")};
	struct bt_fit_settings settings = {
		.strategy = BT_MOST_ALLOCATED, .resources = resources, .resource_n = 2};
	struct subject subject = compile_pod(
		f, &bt_plugin_node_resources_fit, &settings, REQUEST("cpu: '1', nvidia.com/gpu: '2'"));

	assert_int_equal(score(&subject, n), 45);
	fixture_pod(f, ON("n1", "nvidia.com/gpu: '1'"));
	/* cpu: its default counts for scores; (27 + 5 * 75) / 6. */
	assert_int_equal(score(&subject, n), 67);
	assert_false(subject.plugin->describe(
		subject.compiled.term, false, true, 1, &(struct bt_resource_sum){.fits = false}));
	settings.ignored_groups = groups;
	settings.ignored_group_n = 1;
	subject = compile_pod(f, &bt_plugin_node_resources_fit, &settings, REQUEST("nvidia.com/gpu: '9'"));
	assert_true(passes(&subject, n));
}

static void requested_and_scored_resources_are_read(void **state)
{
	const struct bt_plugin *plugin = &bt_plugin_node_resources_fit;
	struct subject subject =
		compile_pod(*state, plugin, &least, REQUEST("cpu: '1', ephemeral-storage: 1Gi"));

	assert_int_equal(plugin->reads(subject.compiled.term),
		1 << BT_CPU | 1 << BT_MEMORY | 1 << BT_EPHEMERAL_STORAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(every_reason_is_given),
		FIXTURE_TEST(refusals_carry_their_numbers),
		FIXTURE_TEST(resources_that_are_not_requested_may_be_exhausted),
		FIXTURE_TEST(the_last_bit_fits),
		FIXTURE_TEST(extended_resources_can_be_ignored),
		FIXTURE_TEST(least_allocated_likes_empty_nodes),
		FIXTURE_TEST(most_allocated_likes_full_nodes),
		FIXTURE_TEST(a_rising_shape_rounds_to_the_nearest),
		FIXTURE_TEST(a_falling_shape_truncates_inside),
		FIXTURE_TEST(scalars_count_only_when_requested),
		FIXTURE_TEST(the_pods_own_part_ignores_pod_level_requests),
		FIXTURE_TEST(nodes_without_any_resource_score_nothing),
		FIXTURE_TEST(requested_and_scored_resources_are_read),
		FIXTURE_TEST(rare_resources_are_evaluated_like_others),
		FIXTURE_TEST(a_name_that_no_node_has_fits_once_one_has_it),
		FIXTURE_TEST(pods_that_request_different_rare_names_differ),
		FIXTURE_TEST(rare_resources_can_be_ignored_and_scored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
