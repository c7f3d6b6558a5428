/* SPDX-License-Identifier: Apache-2.0
 * Decoding KubeSchedulerConfiguration: every error has the file and line, then the text of kube-scheduler
 * v1.36.3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config_fixture.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "tools/kube/config/config_decode.h"
#include "tools/format/strict.h"

#define YAML "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
#define JSON "{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":\"KubeSchedulerConfiguration\""
#define ARGS "profiles:\n- pluginConfig:\n"

static void expect_error(const char *text, const char *want)
{
	expect_config_error(bt_str(text), want);
}

static void load(struct bt_config *config, const char *text)
{
	struct bt_buf error = {.len = 0};
	char *copy = strdup(text);

	bt_config_init(config, NULL);
	if (bt_config_load(config, "f.yaml", bt_str(copy), &error) != BT_OK) {
		fail_msg("%s", error.ptr);
	}
	memset(copy, 'x', strlen(copy));
	free(copy);
	bt_buf_fini(&error);
}

static const char every_field[] = YAML
	"parallelism: 3\n"
	"percentageOfNodesToScore: 40\n"
	"podInitialBackoffSeconds: 2\n"
	"podMaxBackoffSeconds: 20\n"
	"delayCacheUntilActive: true\n"
	"enableProfiling: false\n"
	"leaderElection: {leaderElect: false, leaseDuration: 1m30s, resourceName: me}\n"
	"clientConnection: {kubeconfig: /k, qps: 2.5, burst: 7}\n"
	"extenders:\n"
	"- urlPrefix: http://x\n"
	"  prioritizeVerb: p\n"
	"  weight: 5\n"
	"  httpTimeout: 2s\n"
	"  tlsConfig: {caData: aGVsbG8=}\n"
	"  managedResources: [{name: a.com/x, ignoredByScheduler: true}]\n"
	"profiles:\n"
	"- schedulerName: one\n"
	"  percentageOfNodesToScore: 0\n"
	"  plugins:\n"
	"    score:\n"
	"      enabled: [{name: ImageLocality, weight: 9}]\n"
	"      disabled: [{name: '*'}]\n"
	"  pluginConfig:\n"
	"  - name: NodeAffinity\n"
	"    args:\n"
	"      addedAffinity:\n"
	"        requiredDuringSchedulingIgnoredDuringExecution:\n"
	"          nodeSelectorTerms: [{matchExpressions: [{key: z, operator: In, values: [a, b]}]}]\n"
	"  - name: PodTopologySpread\n"
	"    args:\n"
	"      defaultingType: List\n"
	"      defaultConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]\n"
	"  - name: NodeResourcesFit\n"
	"    args:\n"
	"      scoringStrategy:\n"
	"        type: RequestedToCapacityRatio\n"
	"        requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: "
	"10}]}\n"
	"  - name: DynamicResources\n"
	"    args: {kind: DynamicResourcesArgs, filterTimeout: 1.5s}\n"
	"- schedulerName: two\n";

static void every_part_of_a_file_arrives_and_outlives_it(void **state)
{
	struct bt_config config;
	struct bt_config_errors errors = {.n = 0};
	struct bt_resolved_profile one, two;

	(void)state;
	load(&config, every_field);
	assert_int_equal(config.parallelism.value, 3);
	assert_int_equal(config.pod_max_backoff_s.value, 20);
	assert_true(config.delay_cache_until_active);
	assert_false(config.enable_profiling.value);
	assert_false(config.enable_contention_profiling.value);
	assert_int_equal(config.leader_election.lease_duration_ns, INT64_C(90000000000));
	assert_true(config.client_connection.qps == 2.5F);
	assert_true(bt_str_is(config.extenders[0].tls.ca_data, "hello"));
	assert_int_equal(bt_config_resolve(&config, 0, &errors, &one), BT_OK);
	assert_int_equal(bt_config_resolve(&config, 1, &errors, &two), BT_OK);
	assert_int_equal(one.percentage_of_nodes_to_score, 0);
	assert_int_equal(two.percentage_of_nodes_to_score, 40);
	assert_int_equal(one.points[BT_POINT_SCORE].n, 1);
	assert_int_equal(one.points[BT_POINT_SCORE].plugins[0].weight, 9);
	assert_int_equal(two.points[BT_POINT_SCORE].n, 9);
	const struct bt_node_affinity_args *affinity = bt_resolved_args(&one, "NodeAffinity");
	const struct bt_pod_topology_spread_args *spread = bt_resolved_args(&one, "PodTopologySpread");
	const struct bt_node_resources_fit_args *fit = bt_resolved_args(&one, "NodeResourcesFit");
	const struct bt_dynamic_resources_args *devices = bt_resolved_args(&one, "DynamicResources");
	assert_true(bt_str_is(
		affinity->added_affinity.required.terms[0].match_expressions.items[0].values.items[1], "b"));
	assert_int_equal(spread->constraints[0].max_skew, 2);
	assert_true(bt_str_is(spread->constraints[0].topology_key, "zone"));
	assert_int_equal(fit->strategy.ratio_shape.items[1].score, 10);
	const struct bt_args_env env = bt_config_args_env(&config);
	assert_true(bt_str_is(bt_fit_ignored_resources(fit, &env)->items[0], "a.com/x"));
	assert_int_equal(devices->filter_timeout.ns, INT64_C(1500000000));
	assert_int_equal(devices->binding_timeout.ns, INT64_C(600000000000));
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
}

static void absent_null_and_empty_mean_the_default(void **state)
{
	static const char *const texts[] = {YAML, JSON "}", YAML "parallelism: null\nprofiles: []\n",
		YAML ARGS "  - name: NodeAffinity\n  - {name: VolumeBinding, args: null}\n",
		YAML "---\nnot: read\n"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct bt_config config;

		load(&config, texts[i]);
		assert_int_equal(config.parallelism.value, 16);
		assert_int_equal(config.profile_n, 1);
		assert_true(bt_str_is(config.profiles[0].scheduler_name, "default-scheduler"));
		bt_config_fini(&config);
	}
}

static void kind_and_version_come_first(void **state)
{
	(void)state;
	expect_error("", "f.yaml: Object 'Kind' is missing in ''");
	expect_error("{}", "f.yaml: Object 'Kind' is missing in '{}'");
	expect_error("kind: X", "f.yaml: Object 'apiVersion' is missing in 'kind: X'");
	expect_error(
		"apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\nfoo: 1\n",
		"f.yaml:1: no kind \"KubeSchedulerConfiguration\" is registered for version "
		"\"kubescheduler.config.k8s.io/v1beta3\" in scheme \"pkg/runtime/scheme.go:111\"");
	expect_error("apiVersion: a/b/c\nkind: Pod\n", "f.yaml:1: unexpected GroupVersion string: a/b/c");
	expect_error("apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\n",
		"f.yaml: couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
		"Kind=NodeAffinityArgs: ");
}

static void unknown_and_repeated_members_are_errors(void **state)
{
	(void)state;
	expect_error(YAML "foo: 1\nprofiles:\n- plugins: {score: {enabled: [{name: a, w: 1}]}}\n",
		"f.yaml:3: strict decoding error: unknown field \"foo\", unknown field "
		"\"profiles[0].plugins.score.enabled[0].w\"");
	expect_error(JSON ",\n\"parallelism\":1,\n\"parallelism\":2}",
		"f.yaml:3: strict decoding error: duplicate field \"parallelism\"");
	expect_error(JSON ",\"profiles\":[{\"pluginConfig\":[{\"name\":\"PodTopologySpread\",\"args\":\n"
			  "{\"defaultConstraints\":[{\"labelSelector\":{\"matchLabels\":{\"a\":\"1\",\"a\":"
			  "\"2\"}}}]}}]}]}",
		"f.yaml:2: strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding "
		"error: decoding args for plugin PodTopologySpread: strict decoding error: duplicate field "
		"\"defaultConstraints[0].labelSelector.matchLabels.a\"");
	expect_error(YAML "parallelism: 1\nparallelism: 2\n",
		"f.yaml:4: strict decoding error: yaml: unmarshal errors:\n  line 4: key \"parallelism\" "
		"already set in "
		"map");
	expect_error(YAML "foo: 1\nprofiles: []\nextenders:\n- weight: 1\n  weight: 2\nprofiles:\n- {}\n",
		"f.yaml:7: strict decoding error: yaml: unmarshal errors:\n"
		"  line 7: key \"weight\" already set in map\n  line 9: key \"profiles\" already set in map, "
		"unknown field \"foo\"");
	expect_error(
		YAML "Parallelism: 1\n", "f.yaml:3: strict decoding error: unknown field \"Parallelism\"");
}

static void values_of_a_wrong_type_name_it_as_upstream(void **state)
{
	(void)state;
	expect_error(YAML "parallelism: '1'\n", "f.yaml:3: json: cannot unmarshal string into Go struct "
						"field KubeSchedulerConfiguration.parallelism of "
						"type int32");
	expect_error(YAML "enableProfiling: 3\n",
		"f.yaml:3: json: cannot unmarshal number into Go struct field "
		"KubeSchedulerConfiguration.DebuggingConfiguration.enableProfiling of type bool");
	expect_error(YAML "profiles:\n- plugins: {multiPoint: {enabled: [{name: a, weight: 99999999999}]}}\n",
		"f.yaml:4: json: cannot unmarshal number 99999999999 into Go struct field "
		"Plugin.profiles.plugins.multiPoint.enabled.weight of type int32");
	expect_error(YAML "profiles: {}\n", "f.yaml:3: json: cannot unmarshal object into Go struct field "
					    "KubeSchedulerConfiguration.profiles of type "
					    "[]v1.KubeSchedulerProfile");
	expect_error(YAML "extenders: [{tlsConfig: {certData: '!!'}}]\n",
		"f.yaml:3: illegal base64 data at input byte 0");
	expect_error(YAML "extenders: [{tlsConfig: {certData: 'aaaaa'}}]\n",
		"f.yaml:3: illegal base64 data at input byte 4");
	expect_error(YAML "extenders: [{tlsConfig: {certData: 'aa='}}]\n",
		"f.yaml:3: illegal base64 data at input byte 3");
	expect_error(YAML "extenders: [{tlsConfig: {certData: [1, 300]}}]\n",
		"f.yaml:3: json: cannot unmarshal number 300 into Go struct field "
		"ExtenderTLSConfig.extenders.tlsConfig.certData of type uint8");
}

static void durations_are_gos(void **state)
{
	(void)state;
	expect_error(YAML "parallelism: x\nleaderElection: {leaseDuration: 1d}\n",
		"f.yaml:4: time: unknown unit \"d\" in duration \"1d\"");
	expect_error(YAML "extenders:\n- x\n- {httpTimeout: 5}\n",
		"f.yaml:5: json: cannot unmarshal number into Go struct field "
		"Extender.extenders.httpTimeout of type string");
	expect_error(YAML "leaderElection: {leaseDuration: ''}\n", "f.yaml:3: time: invalid duration \"\"");
	expect_error(YAML "leaderElection: {leaseDuration: '10'}\n",
		"f.yaml:3: time: missing unit in duration \"10\"");
}

static void arguments_are_as_strict_as_the_rest(void **state)
{
	(void)state;
	expect_error(YAML ARGS "  - name: InterPodAffinity\n    args: {nope: 1}\n",
		"f.yaml:6: strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding "
		"error: decoding "
		"args for plugin InterPodAffinity: strict decoding error: unknown field \"nope\"");
	expect_error(YAML ARGS "  - {name: NodeAffinity, args: {kind: InterPodAffinityArgs}}\n",
		"f.yaml:5: decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of "
		"type "
		"NodeAffinityArgs.kubescheduler.config.k8s.io, got "
		"InterPodAffinityArgs.kubescheduler.config.k8s.io");
	expect_error(YAML ARGS "  - {name: NodeAffinity, args: {kind: FooArgs}}\n",
		"f.yaml:5: decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: no "
		"kind \"FooArgs\" "
		"is registered for version \"kubescheduler.config.k8s.io/v1\" in scheme "
		"\"pkg/runtime/scheme.go:111\"");
	expect_error(YAML ARGS "  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: a\n",
		"f.yaml:7: decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: "
		"json: cannot "
		"unmarshal string into Go struct field InterPodAffinityArgs.hardPodAffinityWeight of type "
		"int32");
}

static void rules_and_profiles_are_checked_after_decoding(void **state)
{
	(void)state;
	expect_error(YAML "parallelism: 0\n",
		"f.yaml: parallelism: Invalid value: 0: should be an integer value greater than zero");
	expect_error(YAML "profiles:\n- plugins: {score: {enabled: [{name: Nope}]}}\n",
		"f.yaml: initializing profiles: creating profile for scheduler name default-scheduler: "
		"ScorePlugin "
		"\"Nope\" does not exist");
	expect_error(YAML "profiles:\n"
			  "- {schedulerName: a, pluginConfig: [{name: PrioritySort, args: {x: 1}}]}\n"
			  "- {schedulerName: b}\n",
		"f.yaml: initializing profiles: different queue sort plugin args for profile \"b\"");
	struct bt_config config;
	load(&config, JSON ",\"profiles\":["
			   "{\"schedulerName\":\"a\",\"pluginConfig\":[{\"name\":\"PrioritySort\",\"args\":{"
			   "\"a\": \"\\\" \"}}]},"
			   "{\"schedulerName\":\"b\",\"pluginConfig\":[{\"name\":\"PrioritySort\",\"args\":{ "
			   "\"a\":\"\\\" \"}}]}]}");
	assert_true(bt_str_is(config.profiles[0].args[0].raw, "{\"a\":\"\\\" \"}"));
	bt_config_fini(&config);
}

static void unreadable_files_end_with_a_place(void **state)
{
	(void)state;
	expect_error(JSON ",\n\"a\":1,}",
		"f.yaml:2: couldn't get version/kind; json parse error: invalid character "
		"'}' looking for beginning of object key string");
	expect_error(JSON "} x", "f.yaml:1: couldn't get version/kind; json parse error: invalid character "
				 "'x' after top-level value");
	expect_error(
		YAML "a: b: c\n", "f.yaml:3: yaml: line 3: mapping values are not allowed in this context");
}

static void a_file_that_is_too_large_is_refused(void **state)
{
	struct bt_config config;
	struct bt_buf error = {.len = 0};
	char *text = malloc(BT_CONFIG_FILE_BYTES + 1);

	(void)state;
	memset(text, ' ', BT_CONFIG_FILE_BYTES + 1);
	bt_config_init(&config, NULL);
	assert_int_equal(
		bt_config_load(&config, "f", (struct bt_str){text, BT_CONFIG_FILE_BYTES + 1}, &error),
		BT_RANGE);
	assert_string_equal(
		error.ptr, "f: the configuration has 1048577 bytes, more than the 1048576 that are read");
	bt_buf_fini(&error);
	bt_config_fini(&config);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_of_a_file_arrives_and_outlives_it),
		cmocka_unit_test(absent_null_and_empty_mean_the_default),
		cmocka_unit_test(kind_and_version_come_first),
		cmocka_unit_test(unknown_and_repeated_members_are_errors),
		cmocka_unit_test(values_of_a_wrong_type_name_it_as_upstream),
		cmocka_unit_test(durations_are_gos),
		cmocka_unit_test(arguments_are_as_strict_as_the_rest),
		cmocka_unit_test(rules_and_profiles_are_checked_after_decoding),
		cmocka_unit_test(unreadable_files_end_with_a_place),
		cmocka_unit_test(a_file_that_is_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
