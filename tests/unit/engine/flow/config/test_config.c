/* SPDX-License-Identifier: Apache-2.0
 * The scheduler's configuration as values: defaults, merging, expansion, and validation with its texts.
 * Expected lists and texts are those of kube-scheduler v1.36.3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/rng.h"
#include "engine/flow/config/config.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/volume_binding/volume_binding.h"

/* A configuration of one profile, before defaulting. */
struct fixture {
	struct bt_config config;
	struct bt_profile_config *profile;
	struct bt_config_errors errors;
	struct bt_resolved_profile resolved;
};

static void begin(struct fixture *fixture, uint32_t profile_n)
{
	static const char *const names[] = {"a", "b", "c"};

	*fixture = (struct fixture){.profile = NULL};
	bt_config_init(&fixture->config, NULL);
	fixture->config.profiles =
		bt_arena_zalloc(&fixture->config.arena, profile_n * sizeof *fixture->profile);
	fixture->config.profile_n = profile_n;
	fixture->profile = fixture->config.profiles;
	for (uint32_t i = 0; i < profile_n; i++) {
		fixture->profile[i].scheduler_name = bt_str(names[i]);
		fixture->profile[i].scheduler_name_set = true;
	}
}

static void end(struct fixture *fixture)
{
	bt_config_fini(&fixture->config);
	bt_config_errors_fini(&fixture->errors);
}

/* Adds "Name" or "Name=7". */
static void add(struct fixture *fixture, struct bt_config_plugin_list *list, const char *text)
{
	struct bt_config_plugin *items =
		bt_arena_zalloc(&fixture->config.arena, (list->n + 1) * sizeof *items);
	struct bt_str name = bt_str(text);
	size_t equals = bt_str_find(name, '=', 0);

	for (uint32_t i = 0; i < list->n; i++) {
		items[i] = list->items[i];
	}
	items[list->n].name = bt_str_sub(name, 0, equals);
	items[list->n].weight = equals < name.len ? (int32_t)strtol(text + equals + 1, NULL, 10) : 0;
	list->items = items;
	list->n++;
}

static struct bt_config_plugin_set *set_of(struct fixture *fixture, enum bt_point point)
{
	return &fixture->profile->plugins.points[point];
}

static struct bt_config_args *add_args(struct fixture *fixture, const char *plugin)
{
	struct bt_profile_config *profile = fixture->profile;
	struct bt_config_args *args =
		bt_arena_zalloc(&fixture->config.arena, (profile->arg_n + 1) * sizeof *args);

	for (uint32_t i = 0; i < profile->arg_n; i++) {
		args[i] = profile->args[i];
	}
	args[profile->arg_n] = (struct bt_config_args){.name = bt_str(plugin)};
	bt_config_args_init(&fixture->config, &args[profile->arg_n]);
	profile->args = args;
	return &args[profile->arg_n++];
}

static void expect_point(struct fixture *fixture, enum bt_point point, const char *want)
{
	struct bt_buf got = {.len = 0};

	for (uint32_t i = 0; i < fixture->resolved.points[point].n; i++) {
		struct bt_resolved_plugin plugin = fixture->resolved.points[point].plugins[i];

		bt_buf_text(&got, i ? " " : "");
		bt_buf_str(&got, bt_plugin_name(plugin.id));
		if (point == BT_POINT_SCORE || point == BT_POINT_PLACEMENT_SCORE) {
			bt_buf_printf(&got, "=%d", plugin.weight);
		}
	}
	assert_string_equal(got.ptr ? got.ptr : "", want);
	bt_buf_fini(&got);
}

static void resolve(struct fixture *fixture)
{
	bt_config_default(&fixture->config);
	assert_int_equal(bt_config_validate(&fixture->config, &fixture->errors), BT_OK);
	assert_int_equal(bt_config_resolve(&fixture->config, 0, &fixture->errors, &fixture->resolved), BT_OK);
}

/* Defaulting and validation end with this error. */
static void expect_error(struct fixture *fixture, const char *want)
{
	struct bt_buf text = {.len = 0};
	enum bt_status status;

	bt_config_default(&fixture->config);
	status = bt_config_validate(&fixture->config, &fixture->errors);
	if (status == BT_OK) {
		status = bt_config_check_profiles(&fixture->config, &fixture->errors);
	}
	bt_config_errors_text(&fixture->errors, &text);
	assert_string_equal(text.ptr, want);
	assert_int_equal(status, BT_INVALID);
	bt_buf_fini(&text);
}

static void the_default_profile_is_upstreams(void **state)
{
	struct fixture fixture = {.profile = NULL};

	(void)state;
	bt_config_init_default(&fixture.config, NULL);
	assert_int_equal(bt_config_validate(&fixture.config, &fixture.errors), BT_OK);
	assert_int_equal(bt_config_check_profiles(&fixture.config, &fixture.errors), BT_OK);
	assert_int_equal(bt_config_resolve(&fixture.config, 0, &fixture.errors, &fixture.resolved), BT_OK);
	assert_true(bt_str_is(fixture.resolved.scheduler_name, "default-scheduler"));
	expect_point(&fixture, BT_POINT_PRE_ENQUEUE, "SchedulingGates DynamicResources DefaultPreemption");
	expect_point(&fixture, BT_POINT_QUEUE_SORT, "PrioritySort");
	expect_point(&fixture, BT_POINT_PRE_FILTER,
		"NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
		"VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
		"PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures");
	expect_point(&fixture, BT_POINT_FILTER,
		"NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
		"VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
		"InterPodAffinity "
		"DynamicResources NodeDeclaredFeatures");
	expect_point(&fixture, BT_POINT_POST_FILTER, "DynamicResources DefaultPreemption");
	expect_point(&fixture, BT_POINT_PRE_SCORE,
		"TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
		"InterPodAffinity "
		"NodeResourcesBalancedAllocation");
	expect_point(&fixture, BT_POINT_SCORE,
		"TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 "
		"InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1");
	expect_point(&fixture, BT_POINT_RESERVE, "VolumeBinding DynamicResources");
	expect_point(&fixture, BT_POINT_PERMIT, "");
	expect_point(&fixture, BT_POINT_PRE_BIND, "VolumeBinding DynamicResources");
	expect_point(&fixture, BT_POINT_BIND, "DefaultBinder");
	expect_point(&fixture, BT_POINT_POST_BIND, "");
	end(&fixture);
}

static void absent_values_get_upstreams_defaults(void **state)
{
	struct fixture fixture = {.profile = NULL};
	struct bt_config *config = &fixture.config;

	(void)state;
	bt_config_init_default(config, NULL);
	assert_int_equal(config->parallelism.value, 16);
	assert_int_equal(config->percentage_of_nodes_to_score.value, 0);
	assert_int_equal(config->pod_initial_backoff_s.value, 1);
	assert_int_equal(config->pod_max_backoff_s.value, 10);
	assert_true(config->leader_election.leader_elect.value);
	assert_int_equal(config->leader_election.lease_duration_ns, INT64_C(15000000000));
	assert_true(bt_str_is(config->leader_election.resource_namespace, "kube-system"));
	assert_int_equal(config->client_connection.burst, 100);
	assert_int_equal(bt_config_resolve(config, 0, &fixture.errors, &fixture.resolved), BT_OK);
	const struct bt_default_preemption_args *preemption =
		bt_resolved_args(&fixture.resolved, "DefaultPreemption");
	const struct bt_inter_pod_affinity_args *inter_pod =
		bt_resolved_args(&fixture.resolved, "InterPodAffinity");
	const struct bt_node_resources_fit_args *fit =
		bt_resolved_args(&fixture.resolved, "NodeResourcesFit");
	const struct bt_balanced_allocation_args *balanced =
		bt_resolved_args(&fixture.resolved, "NodeResourcesBalancedAllocation");
	const struct bt_pod_topology_spread_args *spread =
		bt_resolved_args(&fixture.resolved, "PodTopologySpread");
	const struct bt_volume_binding_args *volumes = bt_resolved_args(&fixture.resolved, "VolumeBinding");
	const struct bt_node_affinity_args *affinity = bt_resolved_args(&fixture.resolved, "NodeAffinity");
	assert_int_equal(preemption->min_candidate_nodes_absolute.value, 100);
	assert_int_equal(inter_pod->hard_pod_affinity_weight.value, 1);
	assert_true(bt_str_is(fit->strategy.type, "LeastAllocated"));
	assert_int_equal(fit->strategy.resources.n, 2);
	assert_true(bt_str_is(balanced->resources.items[1].name, "memory"));
	assert_true(bt_str_is(spread->defaulting_type, "System"));
	assert_int_equal(volumes->bind_timeout_s.value, 600);
	assert_false(affinity->added_affinity.set);
	end(&fixture);
}

static void gates_add_plugins_to_the_default_list(void **state)
{
	struct fixture fixture = {.profile = NULL};
	struct bt_gates gates;

	(void)state;
	bt_gates_init(&gates, bt_release_default());
	gates.on[BT_GATE_GENERIC_WORKLOAD] = true;
	gates.on[BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING] = true;
	gates.on[BT_GATE_NODE_DECLARED_FEATURES] = false;
	bt_config_init_default(&fixture.config, &gates);
	assert_int_equal(bt_config_resolve(&fixture.config, 0, &fixture.errors, &fixture.resolved), BT_OK);
	expect_point(&fixture, BT_POINT_PRE_ENQUEUE,
		"SchedulingGates DynamicResources DefaultPreemption GangScheduling");
	expect_point(&fixture, BT_POINT_PERMIT, "GangScheduling");
	expect_point(&fixture, BT_POINT_PLACEMENT_GENERATE, "TopologyPlacementGenerator");
	expect_point(&fixture, BT_POINT_PLACEMENT_SCORE, "NodeResourcesFit=1 PodGroupPodsCount=1");
	end(&fixture);
}

static void a_plugin_enabled_again_keeps_its_place_and_takes_the_new_weight(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	add(&fixture, &fixture.profile->plugins.multi_point.enabled, "InterPodAffinity=7");
	resolve(&fixture);
	expect_point(&fixture, BT_POINT_SCORE,
		"TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 "
		"InterPodAffinity=7 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1");
	end(&fixture);
}

static void a_points_own_list_comes_first_in_its_own_order(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	add(&fixture, &fixture.profile->plugins.multi_point.disabled, "VolumeBinding");
	add(&fixture, &set_of(&fixture, BT_POINT_SCORE)->enabled, "ImageLocality=9");
	add(&fixture, &set_of(&fixture, BT_POINT_SCORE)->enabled, "VolumeBinding");
	add(&fixture, &set_of(&fixture, BT_POINT_SCORE)->enabled, "NodeAffinity");
	add(&fixture, &set_of(&fixture, BT_POINT_SCORE)->disabled, "DynamicResources");
	resolve(&fixture);
	expect_point(&fixture, BT_POINT_SCORE,
		"ImageLocality=9 NodeAffinity=1 TaintToleration=3 NodeResourcesFit=1 PodTopologySpread=2 "
		"InterPodAffinity=2 NodeResourcesBalancedAllocation=1 VolumeBinding=1");
	end(&fixture);
}

static void a_star_stops_the_expansion_of_its_point(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	add(&fixture, &set_of(&fixture, BT_POINT_SCORE)->disabled, "*");
	add(&fixture, &set_of(&fixture, BT_POINT_SCORE)->enabled, "NodeResourcesFit");
	add(&fixture, &set_of(&fixture, BT_POINT_FILTER)->disabled, "*");
	resolve(&fixture);
	expect_point(&fixture, BT_POINT_SCORE, "NodeResourcesFit=1");
	expect_point(&fixture, BT_POINT_FILTER, "");
	end(&fixture);
}

static void a_star_in_multi_point_drops_the_default_list(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	add(&fixture, &fixture.profile->plugins.multi_point.disabled, "*");
	add(&fixture, &fixture.profile->plugins.multi_point.enabled, "DefaultBinder");
	add(&fixture, &fixture.profile->plugins.multi_point.enabled, "NodeAffinity");
	add(&fixture, &fixture.profile->plugins.multi_point.enabled, "PrioritySort");
	resolve(&fixture);
	expect_point(&fixture, BT_POINT_FILTER, "NodeAffinity");
	expect_point(&fixture, BT_POINT_SCORE, "NodeAffinity=1");
	expect_point(&fixture, BT_POINT_PRE_ENQUEUE, "");
	assert_int_equal(fixture.config.profiles[0].arg_n, 1);
	end(&fixture);
}

static void managed_resources_of_extenders_replace_ignored_resources(void **state)
{
	struct bt_extender_resource resources[] = {{bt_str("a.com/x"), true}, {bt_str("a.com/y"), false}};
	struct bt_extender_config extender = {.resources = resources, .resource_n = 2};
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	fixture.config.extenders = &extender;
	fixture.config.extender_n = 1;
	resolve(&fixture);
	const struct bt_args_env env = bt_config_args_env(&fixture.config);
	const struct bt_str_list *ignored =
		bt_fit_ignored_resources(bt_resolved_args(&fixture.resolved, "NodeResourcesFit"), &env);
	assert_ptr_equal(ignored, fixture.resolved.extender_resources);
	assert_int_equal(ignored->n, 1);
	assert_true(bt_str_is(ignored->items[0], "a.com/x"));
	assert_int_equal(extender.http_timeout_ns, INT64_C(5000000000));
	end(&fixture);
}

static void global_values_are_checked(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	fixture.config.parallelism = (struct bt_config_int){.set = true};
	fixture.config.percentage_of_nodes_to_score = (struct bt_config_int){.value = 101, .set = true};
	fixture.config.pod_initial_backoff_s = (struct bt_config_int64){.set = true};
	fixture.config.pod_max_backoff_s = (struct bt_config_int64){.value = -1, .set = true};
	fixture.config.leader_election.lease_duration_ns = INT64_C(10000000000);
	fixture.config.leader_election.resource_lock = bt_str("endpoints");
	fixture.config.client_connection.burst = -1;
	expect_error(&fixture,
		"[clientConnection.burst: Invalid value: -1: must be non-negative, "
		"leaderElection.leaseDuration: Invalid "
		"value: \"10s\": must be greater than `RenewDeadline`, leaderElection.resourceLock: Invalid "
		"value: "
		"\"endpoints\": resourceLock value must be \"leases\", parallelism: Invalid value: 0: should "
		"be an "
		"integer value greater than zero, percentageOfNodesToScore: Invalid value: 101: not in valid "
		"range "
		"[0-100], podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, "
		"podMaxBackoffSeconds: "
		"Invalid value: -1: must be greater than or equal to PodInitialBackoffSeconds]");
	end(&fixture);
}

static void profiles_need_names_of_their_own(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 3);
	fixture.profile[1].scheduler_name = bt_str("a");
	fixture.profile[2].scheduler_name_set = false;
	fixture.profile[2].scheduler_name = bt_str("");
	expect_error(&fixture, "[profiles[1].schedulerName: Duplicate value: {}, profiles[2].schedulerName: "
			       "Required value]");
	end(&fixture);
}

static void all_profiles_sort_the_queue_alike(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 2);
	add(&fixture, &fixture.profile[1].plugins.points[BT_POINT_QUEUE_SORT].enabled, "Foo");
	add(&fixture, &fixture.profile[1].plugins.points[BT_POINT_QUEUE_SORT].disabled, "*");
	expect_error(&fixture,
		"profiles[1].plugins.queueSort: Invalid value: "
		"{\"Enabled\":[{\"Name\":\"Foo\",\"Weight\":0}],"
		"\"Disabled\":[{\"Name\":\"*\",\"Weight\":0}]}: must be the same for all profiles");
	end(&fixture);
}

static void removed_plugins_are_refused(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	add(&fixture, &set_of(&fixture, BT_POINT_SCORE)->enabled, "EBSLimits");
	expect_error(&fixture, "profiles[0].plugins.score.enabled[0]: Invalid value: \"EBSLimits\": was "
			       "invalid in version \"v1\" "
			       "(KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")");
	end(&fixture);
}

static void arguments_are_validated_and_an_error_is_reported_once(void **state)
{
	struct bt_spread_constraint_object constraints[2] = {
		{.max_skew = 0, .topology_key = bt_str("a"), .when_unsatisfiable = bt_str("DoNotSchedule")},
		{.max_skew = 1, .topology_key = bt_str("a"), .when_unsatisfiable = bt_str("DoNotSchedule")}};
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	struct bt_pod_topology_spread_args *spread = add_args(&fixture, "PodTopologySpread")->value;
	spread->constraints = constraints;
	spread->constraint_n = 2;
	struct bt_default_preemption_args *preemption = add_args(&fixture, "DefaultPreemption")->value;
	preemption->min_candidate_nodes_percentage.set = true;
	preemption->min_candidate_nodes_absolute.set = true;
	add_args(&fixture, "DefaultPreemption");
	expect_error(&fixture,
		"[profiles[0].pluginConfig[0].args.defaultingType: Invalid value: \"System\": when "
		".defaultConstraints are "
		"not empty, profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: Invalid value: "
		"0: not in "
		"valid range (0, inf), profiles[0].pluginConfig[0].args.defaultConstraints[1]: Duplicate "
		"value: \"{a, "
		"DoNotSchedule}\", profiles[0].pluginConfig[1].args.minCandidateNodesPercentage: Invalid "
		"value: 0: "
		"cannot be zero at the same time as minCandidateNodesAbsolute, "
		"profiles[0].pluginConfig[1].args.minCandidateNodesAbsolute: Invalid value: 0: cannot be "
		"zero at the "
		"same time as minCandidateNodesPercentage, profiles[0].pluginConfig[2]: Duplicate value: "
		"\"DefaultPreemption\"]");
	end(&fixture);
}

static void added_affinity_must_be_a_selector(void **state)
{
	struct bt_requirement_object expression = {.key = bt_str("zone"), .operator_ = bt_str("Foo")};
	struct bt_node_term_object term = {.match_expressions = {&expression, 1}};
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	struct bt_node_affinity_args *args = add_args(&fixture, "NodeAffinity")->value;
	args->added_affinity = (struct bt_node_affinity_object){
		.set = true, .required = {.set = true, .terms = &term, .term_n = 1}};
	expect_error(&fixture, "profiles[0].pluginConfig[0].args.addedAffinity."
			       "requiredDuringSchedulingIgnoredDuringExecution."
			       "nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "
			       "\"Foo\": supported values: "
			       "\"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"");
	end(&fixture);
}

#define BUILDING "initializing profiles: creating profile for scheduler name a: "

static void fit_arguments_are_checked_when_the_plugin_is_built(void **state)
{
	struct bt_str group = bt_str("a/b");
	struct bt_config_resource resource = {bt_str("cpu"), 101};
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	struct bt_node_resources_fit_args *fit = add_args(&fixture, "NodeResourcesFit")->value;
	fit->ignored_resource_groups = (struct bt_str_list){&group, 1, true};
	fit->strategy = (struct bt_scoring_strategy){
		.set = true, .type = bt_str("RequestedToCapacityRatio"), .resources = {&resource, 1}};
	expect_error(&fixture, BUILDING
		"initializing plugin \"NodeResourcesFit\": [ignoredResourceGroups[0]: Invalid value: "
		"\"a/b\": "
		"resource group name can't contain '/', scoringStrategy.resources[0].weight: Invalid value: "
		"101: resource weight of cpu not in valid range (0, 100], "
		"scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
		"RequestedToCapacityRatio]");
	end(&fixture);
}

static void expect_build_error(enum bt_point point, const char *first, const char *second, const char *want)
{
	struct fixture fixture;

	begin(&fixture, 1);
	add(&fixture, &set_of(&fixture, point)->enabled, first);
	if (second) {
		add(&fixture, &set_of(&fixture, point)->enabled, second);
	}
	expect_error(&fixture, want);
	end(&fixture);
}

static void building_a_profile_fails_with_upstreams_texts(void **state)
{
	(void)state;
	expect_build_error(BT_POINT_SCORE, "Nope", NULL, BUILDING "ScorePlugin \"Nope\" does not exist");
	expect_build_error(BT_POINT_SCORE, "NodeName", NULL,
		BUILDING "plugin \"NodeName\" does not extend ScorePlugin plugin");
	expect_build_error(BT_POINT_SCORE, "ImageLocality", "ImageLocality",
		BUILDING "plugin \"ImageLocality\" already registered as \"ScorePlugin\"");
	expect_build_error(BT_POINT_SCORE, "ImageLocality=-1", NULL,
		BUILDING "score plugins: total score of Score plugins could overflow");
}

static void a_profile_needs_a_binder_and_one_order_of_the_queue(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture, 1);
	add(&fixture, &set_of(&fixture, BT_POINT_BIND)->disabled, "*");
	expect_error(&fixture,
		BUILDING "at least one bind plugin is needed for profile with scheduler name \"a\"");
	end(&fixture);
	begin(&fixture, 1);
	add(&fixture, &set_of(&fixture, BT_POINT_QUEUE_SORT)->disabled, "*");
	expect_error(&fixture, BUILDING
		"only one queue sort plugin required for profile with scheduler name \"a\", but got 0");
	end(&fixture);
}

/* For any sets, each plugin occurs at most once at each of its points, and Score weights are not 0. */
static void random_sets_expand_to_lists_without_repetition(void **state)
{
	uint64_t seed = seed_or(20260101);
	struct bt_rng rng = {.state = seed};
	uint32_t good_n = 0;

	(void)state;
	for (uint32_t round = 0; round < 500; round++) {
		struct fixture fixture;

		begin(&fixture, 1);
		for (uint32_t i = 0; i < 4; i++) {
			enum bt_point point = (enum bt_point)(bt_rng_next(&rng) % BT_POINT_N);
			uint32_t id = (uint32_t)(bt_rng_next(&rng) % BT_PLUGIN_IN_TREE);
			struct bt_config_plugin_set *set = bt_rng_next(&rng) % 3
								   ? set_of(&fixture, point)
								   : &fixture.profile->plugins.multi_point;

			add(&fixture, bt_rng_next(&rng) % 2 ? &set->enabled : &set->disabled,
				bt_plugin_name(id).ptr);
		}
		bt_config_default(&fixture.config);
		if (bt_config_resolve(&fixture.config, 0, &fixture.errors, &fixture.resolved) == BT_OK) {
			good_n++;
		}
		for (unsigned point = 0; point < BT_POINT_N; point++) {
			const struct bt_resolved_point *list = &fixture.resolved.points[point];
			bt_plugin_set seen = 0;

			for (uint32_t i = 0; i < list->n; i++) {
				assert_true(bt_plugin_serves(
					list->plugins[i].id, (enum bt_point)point, bt_release_default()));
				assert_false(bt_plugin_set_has(seen, list->plugins[i].id));
				assert_true(point != BT_POINT_SCORE || list->plugins[i].weight > 0);
				seen |= bt_plugin_set_of(list->plugins[i].id);
			}
		}
		end(&fixture);
	}
	assert_true(good_n > 20);
}

static void every_release_enables_plugins_that_are_known(void **state)
{
	(void)state;
	for (uint32_t i = 0; bt_release_at(i); i++) {
		const struct bt_default_plugin *plugin = NULL;
		uint32_t n = 0;

		while ((plugin = bt_release_next_plugin(bt_release_at(i), plugin))) {
			assert_in_range(bt_plugin_find(plugin->name), 0, bt_plugin_n() - 1);
			n++;
		}
		assert_in_range(n, 1, bt_plugin_n());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_profile_is_upstreams),
		cmocka_unit_test(absent_values_get_upstreams_defaults),
		cmocka_unit_test(gates_add_plugins_to_the_default_list),
		cmocka_unit_test(a_plugin_enabled_again_keeps_its_place_and_takes_the_new_weight),
		cmocka_unit_test(a_points_own_list_comes_first_in_its_own_order),
		cmocka_unit_test(a_star_stops_the_expansion_of_its_point),
		cmocka_unit_test(a_star_in_multi_point_drops_the_default_list),
		cmocka_unit_test(managed_resources_of_extenders_replace_ignored_resources),
		cmocka_unit_test(global_values_are_checked),
		cmocka_unit_test(profiles_need_names_of_their_own),
		cmocka_unit_test(all_profiles_sort_the_queue_alike),
		cmocka_unit_test(removed_plugins_are_refused),
		cmocka_unit_test(arguments_are_validated_and_an_error_is_reported_once),
		cmocka_unit_test(added_affinity_must_be_a_selector),
		cmocka_unit_test(fit_arguments_are_checked_when_the_plugin_is_built),
		cmocka_unit_test(building_a_profile_fails_with_upstreams_texts),
		cmocka_unit_test(a_profile_needs_a_binder_and_one_order_of_the_queue),
		cmocka_unit_test(every_release_enables_plugins_that_are_known),
		cmocka_unit_test(random_sets_expand_to_lists_without_repetition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
