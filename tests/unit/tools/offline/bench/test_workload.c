/* SPDX-License-Identifier: Apache-2.0
 * Workload files: every opcode and its fields, errors, parameters, labels, thresholds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/offline/bench/workload.h"

static struct bt_buf said;

static const char *what_was_said(void)
{
	return said.ptr ? said.ptr : "";
}

static void record_diagnosis(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	bt_diagnosis_text(diagnosis, &said);
	bt_buf_char(&said, '\n');
}

static int forget(void **state)
{
	(void)state;
	bt_buf_fini(&said);
	return 0;
}

static void parse(struct bt_workload_file *file, const char *text)
{
	if (bt_workload_file_parse(file, "some/folder/file.yaml", bt_str(text), record_diagnosis, NULL) !=
		BT_OK) {
		fail_msg("%s", what_was_said());
	}
}

/* A file is rejected with this message. */
static void refuse(const char *text, const char *wanted)
{
	struct bt_workload_file file;

	bt_buf_clear(&said);
	assert_int_not_equal(
		bt_workload_file_parse(&file, "some/folder/file.yaml", bt_str(text), record_diagnosis, NULL),
		BT_OK);
	if (!strstr(what_was_said(), wanted)) {
		fail_msg("\"%s\" does not say \"%s\"", what_was_said(), wanted);
	}
}

/* A file with these operations, after one that collects metrics. */
#define FILE_OF(ops)                                                                                         \
	"- name: Case\n"                                                                                     \
	"  workloads:\n"                                                                                     \
	"  - {name: one, params: {num: 3, size: 7, long: 5s, steady: true}}\n"                               \
	"  workloadTemplate:\n"                                                                              \
	"  - {opcode: createPods, count: 1, collectMetrics: true}\n" ops

static const struct bt_bench_op *op_of(struct bt_workload_file *file, const char *text)
{
	parse(file, text);
	assert_int_equal(file->cases[0].op_n, 2);
	return &file->cases[0].ops[1];
}

static void a_file_is_cases_with_operations_and_workloads(void **state)
{
	struct bt_workload_file file;

	(void)state;
	parse(&file, "- name: First\n"
		     "  featureGates: {A: true, B: false}\n"
		     "  defaultPodTemplatePath: pod.yaml\n"
		     "  schedulerConfigPath: config.yaml\n"
		     "  metricsCollectorConfig: {metrics: {any: null}}\n"
		     "  labels: [common]\n"
		     "  defaultThresholdMetricSelector: {name: SchedulingThroughput, dataBucket: Perc50}\n"
		     "  workloadTemplate:\n"
		     "  - opcode: createNodes\n"
		     "    countParam: $nodes\n"
		     "  - {opcode: createPods, countParam: $pods, collectMetrics: true}\n"
		     "  workloads:\n"
		     "  - name: small\n"
		     "    labels: [short]\n"
		     "    params: {nodes: 5, pods: 10}\n"
		     "  - name: large\n"
		     "    featureGates: {A: false}\n"
		     "    threshold: 12.5\n"
		     "    thresholdMetricSelector: {name: x, dataBucket: Perc99, expectLower: true, labels: "
		     "{a: b}}\n"
		     "    params: {nodes: 5000, pods: 10000}\n"
		     "- name: Second\n"
		     "  workloadTemplate: [{opcode: createPods, count: 1, collectMetrics: true}]\n"
		     "  workloads: [{name: only, threshold: {misc: 3, dra: 4}}]\n");
	assert_int_equal(file.case_n, 2);
	const struct bt_test_case *first = &file.cases[0];
	assert_true(bt_str_is(file.folder, "some/folder"));
	assert_true(bt_str_is(first->name, "First") && first->line == 1);
	assert_int_equal(first->gate_n, 2);
	assert_true(bt_str_is(first->gates[1].name, "B") && !first->gates[1].on);
	assert_true(
		bt_str_is(first->pod_template, "pod.yaml") && bt_str_is(first->config_path, "config.yaml"));
	assert_true(first->metric.set && bt_str_is(first->metric.bucket, "Perc50"));
	assert_int_equal(first->op_n, 2);
	assert_int_equal(first->ops[0].line, 9);
	assert_int_equal(first->workload_n, 2);
	assert_int_equal(first->workloads[1].line, 16);
	assert_true(first->workloads[1].metric.set && first->workloads[1].metric.lower);
	assert_int_equal(first->workloads[1].metric.labels.n, 1);
	assert_true(bt_workload_threshold(&first->workloads[1], bt_str("any")) == 12.5);
	assert_true(bt_workload_threshold(&first->workloads[0], bt_str("any")) == 0);
	assert_true(bt_workload_threshold(&file.cases[1].workloads[0], bt_str("dra")) == 4);
	assert_true(bt_workload_threshold(&file.cases[1].workloads[0], bt_str("other")) == 0);
	bt_workload_file_fini(&file);
}

static void nodes_are_prepared_in_three_ways(void **state)
{
	struct bt_workload_file file;
	const struct bt_bench_op *op =
		op_of(&file, FILE_OF("  - opcode: createNodes\n"
				     "    count: 4\n"
				     "    nodeTemplatePath: node.yaml\n"
				     "    nodeAllocatableStrategy:\n"
				     "      nodeAllocatable: {example.com/x: \"39\"}\n"
				     "      csiNodeAllocatable: {a.b.c: {count: 39}, d: {}}\n"
				     "      migratedPlugins: [kubernetes.io/aws-ebs]\n"));

	(void)state;
	assert_int_equal(op->kind, BT_BENCH_OP_CREATE_NODES);
	assert_true(op->nodes.sets_allocatable && !op->nodes.sets_label && op->count == 4);
	assert_int_equal(op->nodes.allocatable.n, 1);
	assert_int_equal(op->nodes.driver_n, 2);
	assert_true(op->nodes.drivers[0].count == 39 && op->nodes.drivers[0].has_count);
	assert_true(bt_str_is(op->nodes.drivers[1].name, "d") && !op->nodes.drivers[1].has_count);
	assert_int_equal(op->nodes.migrated.n, 1);
	bt_workload_file_fini(&file);
	op = op_of(
		&file, FILE_OF("  - {opcode: createNodes, count: 1, labelNodePrepareStrategy: {labelKey: k, "
			       "labelValues: [a, b]}}\n"));
	assert_true(
		op->nodes.sets_label && op->nodes.label_values.n == 2 && bt_str_is(op->nodes.label_key, "k"));
	bt_workload_file_fini(&file);
	op = op_of(&file,
		FILE_OF("  - {opcode: createNodes, count: 1, uniqueNodeLabelStrategy: {labelKey: k}}\n"));
	assert_true(op->nodes.sets_unique_label && bt_str_is(op->nodes.unique_label_key, "k"));
	bt_workload_file_fini(&file);
}

static void every_opcode_is_read(void **state)
{
	static const struct {
		const char *text;
		enum bt_bench_op_kind kind;
	} rows[] = {
		{"  - {opcode: allocResourceClaims, namespace: a}\n", BT_BENCH_OP_ALLOC_CLAIMS},
		{"  - {opcode: createAny, namespace: a, templatePath: x, countParam: $num}\n",
			BT_BENCH_OP_CREATE_ANY},
		{"  - {opcode: createNodes, countParam: $num}\n", BT_BENCH_OP_CREATE_NODES},
		{"  - {opcode: createNamespaces, prefix: p, count: 2, namespaceTemplatePath: x}\n",
			BT_BENCH_OP_CREATE_NAMESPACES},
		{"  - {opcode: createPods, count: 2, namespace: a, podTemplatePath: x, skipWaitToCompletion: "
		 "true,"
		 " persistentVolumeTemplatePath: x, persistentVolumeClaimTemplatePath: z}\n",
			BT_BENCH_OP_CREATE_PODS},
		{"  - {opcode: createPods, count: 2, steadyStateParam: $steady, durationParam: $long}\n",
			BT_BENCH_OP_CREATE_PODS},
		{"  - {opcode: createPodSets, countParam: $num, namespacePrefix: p, createPodsOp: {opcode: "
		 "createPods,"
		 " countParam: $size}}\n",
			BT_BENCH_OP_CREATE_POD_SETS},
		{"  - {opcode: deletePods, namespace: a, labelSelector: {k: v}, deletePodsPerSecond: 5,"
		 " skipWaitToCompletion: true}\n",
			BT_BENCH_OP_DELETE_PODS},
		{"  - {opcode: createResourceClaims, namespace: a, templatePath: x, count: 3}\n",
			BT_BENCH_OP_CREATE_CLAIMS},
		{"  - {opcode: createResourceDriver, driverName: d, nodes: \"n-*\", maxClaimsPerNodeParam: "
		 "$num}\n",
			BT_BENCH_OP_CREATE_DRIVER},
		{"  - {opcode: churn, mode: recreate, number: 2, intervalMilliseconds: 5, namespace: a,"
		 " templatePaths: [x, z]}\n",
			BT_BENCH_OP_CHURN},
		{"  - {opcode: updateAny, namespace: a, templatePath: x, count: 2, updatePerSecond: 9,"
		 " subresources: [resize]}\n",
			BT_BENCH_OP_UPDATE_ANY},
		{"  - {opcode: barrier, namespaces: [a], labelSelector: {k: v}, stageRequirement: "
		 "Attempted}\n",
			BT_BENCH_OP_BARRIER},
		{"  - {opcode: sleep, durationParam: $long}\n", BT_BENCH_OP_SLEEP},
		{"  - {opcode: startCollectingMetrics, name: x, namespaces: [a], labelSelector: {k: v}}\n",
			BT_BENCH_OP_START_METRICS},
		{"  - {opcode: stopCollectingMetrics}\n", BT_BENCH_OP_STOP_METRICS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_workload_file file;
		char text[2000];

		snprintf(text, sizeof(text), "%s%s", FILE_OF(""), rows[i].text);
		assert_int_equal(op_of(&file, text)->kind, rows[i].kind);
		bt_workload_file_fini(&file);
	}
}

/* Upstream's decoder ignores the case of letters. */
static void the_case_of_field_names_does_not_matter(void **state)
{
	struct bt_workload_file file;

	(void)state;
	parse(&file, "- Name: Case\n"
		     "  WorkloadTemplate: [{Opcode: createPods, COUNT: 7, CollectMetrics: true}]\n"
		     "  workloads: [{NAME: w}]\n");
	assert_int_equal(file.cases[0].ops[0].count, 7);
	bt_workload_file_fini(&file);
}

static void unknown_words_are_refused_with_their_place(void **state)
{
	(void)state;
	refuse(FILE_OF("  - {opcode: createPod, count: 1}\n"),
		"some/folder/file.yaml:6: [0].workloadTemplate[1]: there is no opcode \"createPod\"");
	refuse(FILE_OF("  - {count: 1}\n"), "the operation has no opcode");
	refuse(FILE_OF("  - opcode: createNodes\n    count: 1\n    nodeTemplate: x\n"),
		"some/folder/file.yaml:8: [0].workloadTemplate[1].nodeTemplate: unknown field");
	refuse("- name: a\n  workload: []\n", "file.yaml:2: [0].workload: unknown field");
	refuse(FILE_OF("  - {opcode: barrier, stageRequirement: Bound}\n"),
		"there is no such stageRequirement");
	refuse(FILE_OF("  - {opcode: churn, mode: often, templatePaths: [x]}\n"), "there is no such mode");
}

static void malformed_files_are_refused(void **state)
{
	(void)state;
	refuse("", "the file is empty");
	refuse("name: x\n", "the file is no list of test cases");
	refuse("[]", "the file has no test cases");
	refuse("- name: [\n", "file.yaml:");
	refuse("- name: a\n- b\n", "[");
	refuse("- name: a\n  name: b\n", "twice");
	refuse("- name: a\n  workloadTemplate: [{opcode: createPods, count: 1, collectMetrics: true}]\n",
		"the test case has no workloads");
	refuse("- name: a\n  workloads: [{name: b}]\n", "the test case has no workloadTemplate");
	refuse("- name: a\n  workloads: [{name: b}]\n  workloadTemplate: [{opcode: createPods, count: 1}]\n",
		"no operation of the test case collects metrics");
	refuse("- name: a\n  workloads: [{name: b}, {name: b}]\n", "there is a workload \"b\" already");
	refuse("- name: a\n  workloads: [{name: b, threshold: -1}]\n", "a threshold is below zero");
	refuse("- name: a\n  workloads: [{name: b, threshold: x}]\n",
		"write a number, or a number for each topic");
	refuse("- name: a\n  workloads: [{name: b, params: {x: [1]}}]\n", "parameter x is none of them");
	refuse("- name: a\n  featureGates: {A: yes please}\n", "");
	refuse("- name: a\n  workloads: [{name: b, thresholdMetricSelector: {name: SchedulingThroughput}}]\n",
		"dataBucket is missing");
	refuse("- name: a\n  defaultThresholdMetricSelector:\n    name: SchedulingThroughput\n"
	       "    dataBucket: Perc42\n",
		"there is no dataBucket \"Perc42\"");
}

static void operations_with_missing_fields_are_rejected(void **state)
{
	static const struct {
		const char *op, *wanted;
	} rows[] = {
		{"createAny", "templatePath is missing"},
		{"updateAny", "templatePath is missing"},
		{"createResourceClaims", "namespace is missing"},
		{"createResourceClaims, namespace: a", "templatePath is missing"},
		{"createResourceDriver", "driverName is missing"},
		{"createResourceDriver, driverName: a", "nodes, a pattern of names, is missing"},
		{"createPodSets, count: 1", "createPodsOp is missing"},
		{"createPodSets, count: 1, createPodsOp: {opcode: sleep}",
			"createPodsOp is an operation sleep"},
		{"startCollectingMetrics", "namespaces is missing"},
		{"churn, mode: create", "there are no templatePaths"},
		{"churn, mode: recreate, templatePaths: [x]", "mode recreate needs a number"},
		{"createPods, count: 1, collectMetrics: true, skipWaitToCompletion: true",
			"exclude each other"},
		{"createPods, count: 1, steadyState: true, skipWaitToCompletion: true", "exclude each other"},
		{"createPods, count: 1, persistentVolumeClaimTemplatePath: x", "needs volumes"},
		{"createPods, count: -1", "a number is below zero"},
		{"createPods, count: 100000001", "createPods: 100000001 are too many"},
		{"createNodes, count: 2305843009213693953", "are too many, the most is 100000000"},
		{"createPodSets, count: 100001, createPodsOp: {opcode: createPods, count: 1}",
			"createPodSets: 100001 are too many, the most is 100000"},
		{"churn, mode: recreate, number: 9223372036854775807, templatePaths: [x]", "are too many"},
		{"createResourceDriver, driverName: a, nodes: b, maxClaimsPerNode: 9223372036854775807",
			"are too many"},
		{"createPods, count: 9223372036854775808", ""},
		{"createPods, count: 1.5", ""},
		{"createPods, count: many", ""},
		{"createPods, countParam: pods", "\"pods\" names no parameter"},
		{"createPods, countParam: $", "\"$\" names no parameter"},
		{"createNodes, count: 1, labelNodePrepareStrategy: {labelKey: k}", "has no labelValues"},
		{"deletePods, deletePodsPerSecond: -5", "a number is below zero"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[2000];

		snprintf(text, sizeof(text), "%s  - {opcode: %s}\n", FILE_OF(""), rows[i].op);
		refuse(text, rows[i].wanted);
	}
}

/* ---- parameters ---- */

static enum bt_status unroll(struct bt_workload_file *file, struct bt_bench_op_list *list)
{
	bt_buf_clear(&said);
	return bt_workload_ops(
		file, &file->cases[0], &file->cases[0].workloads[0], list, record_diagnosis, NULL);
}

static void parameters_become_numbers(void **state)
{
	struct bt_workload_file file;
	struct bt_bench_op_list list;

	(void)state;
	parse(&file, FILE_OF("  - {opcode: createNodes, countParam: $num}\n"
			     "  - {opcode: createPodSets, countParam: $num, namespacePrefix: set, "
			     "createPodsOp: {opcode: "
			     "createPods, countParam: $size}}\n"
			     "  - {opcode: createPods, count: 2, steadyStateParam: $steady, durationParam: "
			     "$long}\n"
			     "  - {opcode: createAny, templatePath: x}\n"
			     "  - {opcode: createAny, templatePath: x, count: 0}\n"));
	assert_int_equal(unroll(&file, &list), BT_OK);
	assert_int_equal(list.n, 8);
	assert_int_equal(list.ops[1].count, 3);
	assert_true(list.ops[2].kind == BT_BENCH_OP_CREATE_PODS && list.ops[2].count == 7);
	assert_true(bt_str_is(list.ops[2].namespace_, "set-0") && bt_str_is(list.ops[4].namespace_, "set-2"));
	assert_true(list.ops[5].steady && list.ops[5].duration_ns == INT64_C(5000000000));
	assert_int_equal(list.ops[6].count, 1);
	assert_int_equal(list.ops[7].count, 0);
	bt_workload_file_fini(&file);
}

/* A file is rejected whose first workload has these parameters, and that has this operation. */
static void refuse_params(const char *params, const char *op, const char *wanted)
{
	struct bt_workload_file file;
	struct bt_bench_op_list list;
	char text[1000];

	snprintf(text, sizeof(text),
		"- name: a\n  workloads: [{name: b, params: {%s}}]\n  workloadTemplate:\n"
		"  - {opcode: createPods, count: 1, collectMetrics: true}\n  - {opcode: %s}\n",
		params, op);
	parse(&file, text);
	assert_int_equal(unroll(&file, &list), BT_INVALID);
	if (!strstr(what_was_said(), wanted)) {
		fail_msg("\"%s\" does not say \"%s\"", what_was_said(), wanted);
	}
	bt_workload_file_fini(&file);
}

static void parameters_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	refuse_params("m: 1", "createNodes, countParam: $num",
		"file.yaml:5: workload b has no parameter $num, which createNodes needs");
	refuse_params(
		"num: x", "createNodes, countParam: $num", "parameter $num of workload b is not a number");
	refuse_params("num: -1", "createNodes, countParam: $num", "out of range");
	refuse_params("num: 1e10", "createNodes, countParam: $num",
		"out of range: the most for createNodes is 100000000");
	refuse_params("num: 100001", "createPodSets, countParam: $num, createPodsOp: {opcode: createPods}",
		"the most for createPodSets is 100000");
	refuse_params("num: 5", "sleep, durationParam: $num", "is not a string");
	refuse_params("num: 5x", "sleep, durationParam: $num", "\"5x\" is no duration");
	refuse_params("num: -5s", "sleep, durationParam: $num", "\"-5s\" is no duration");
	refuse_params("num: 5", "createPods, count: 1, steadyStateParam: $num", "is not true or false");
	refuse_params(
		"num: true", "createPods, count: 1, steadyStateParam: $num", "steadyState needs a duration");
	refuse_params("num: 1, typo: 2", "createNodes, countParam: $num",
		"file.yaml:2: parameter typo of workload b is used by no operation");
	refuse_params(
		"num: 0", "createPods, countParam: $num, steadyState: true, duration: 1s", "needs pods");
}

static void labels_filter_as_upstream(void **state)
{
	struct bt_workload_file file;

	(void)state;
	parse(&file, "- name: a\n  labels: [all]\n  workloads: [{name: b, labels: [performance, short]}]\n"
		     "  workloadTemplate: [{opcode: createPods, count: 1, collectMetrics: true}]\n");
	static const struct {
		const char *filter;
		bool wanted;
	} rows[] = {{"", true}, {"performance", true}, {"+performance", true}, {"-performance", false},
		{"all", true}, {"short,all", true}, {"short,slow", false}, {"performance,-slow", true},
		{"performance,-short", false}, {",,", true}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
			bt_labels_wanted(&file.cases[0], &file.cases[0].workloads[0], bt_str(rows[i].filter)),
			rows[i].wanted);
	}
	bt_workload_file_fini(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_file_is_cases_with_operations_and_workloads, forget),
		cmocka_unit_test_teardown(nodes_are_prepared_in_three_ways, forget),
		cmocka_unit_test_teardown(every_opcode_is_read, forget),
		cmocka_unit_test_teardown(the_case_of_field_names_does_not_matter, forget),
		cmocka_unit_test_teardown(unknown_words_are_refused_with_their_place, forget),
		cmocka_unit_test_teardown(malformed_files_are_refused, forget),
		cmocka_unit_test_teardown(operations_with_missing_fields_are_rejected, forget),
		cmocka_unit_test_teardown(parameters_become_numbers, forget),
		cmocka_unit_test_teardown(parameters_that_do_not_fit_are_refused, forget),
		cmocka_unit_test_teardown(labels_filter_as_upstream, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
