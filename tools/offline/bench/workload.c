/* SPDX-License-Identifier: Apache-2.0
 * Workload files: text to values. Field names and rules are scheduler_perf's; as there, unknown fields are
 * errors and the case of letters does not matter. Source: operations.go and scheduler_perf.go, v1.36.3.
 */
#include "tools/offline/bench/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/format/input.h"
#include "tools/format/schema.h"
#include "tools/format/yaml.h"

/* Decoding of a file. decode is first: custom readers get it and find the rest. */
struct workload_reading {
	struct bt_decode decode;
	struct bt_yaml *yaml;
	struct bt_workload_file *file;
	bt_diagnosis_fn *report;
	void *context;
};

static size_t line_at(struct bt_decode *decode, size_t offset)
{
	return bt_yaml_line(((struct workload_reading *)decode)->yaml, offset);
}

/* ---- values that are not structs ---- */

/* An array that grows in the arena; old copies stay allocated. */
static void *grow(struct bt_arena *arena, const void *items, uint32_t n, size_t bytes)
{
	bool full = (n & (n - 1)) == 0;

	if (!full) {
		return (void *)(uintptr_t)items;
	}
	char *bigger = bt_arena_zalloc(arena, (n ? 2 * (size_t)n : 1) * bytes);
	if (n) {
		memcpy(bigger, items, n * bytes);
	}
	return bigger;
}

static bool passed(struct bt_decode *decode)
{
	const struct bt_json_error *error = bt_json_error(decode->json);

	if (error->status == BT_OK) {
		return true;
	}
	bool ok = bt_decode_fail(decode, error->status, error->offset, "write it as another kind of value",
		"%s", error->text ? error->text : "wrong type");
	decode->error.syntax = error->syntax;
	return ok;
}

static bool read_gates(struct bt_decode *decode, struct bt_gate_setting **out, uint32_t *out_n)
{
	struct bt_str key;

	if (!bt_json_enter_object(decode->json)) {
		return passed(decode);
	}
	while (bt_json_next_key(decode->json, &key)) {
		*out = grow(decode->arena, *out, *out_n, sizeof(**out));
		(*out)[*out_n].name = key;
		if (!bt_json_bool(decode->json, &(*out)[*out_n].on)) {
			return passed(decode);
		}
		(*out_n)++;
	}
	return passed(decode);
}

static bool read_case_gates(struct bt_decode *decode, void *field)
{
	struct bt_test_case *test_case = field;

	return read_gates(decode, &test_case->gates, &test_case->gate_n);
}

static bool read_workload_gates(struct bt_decode *decode, void *field)
{
	struct bt_workload *workload = field;

	return read_gates(decode, &workload->gates, &workload->gate_n);
}

/* A decimal number of a JSON text, which has been checked. */
static double number_of(struct bt_str text)
{
	char word[64];

	snprintf(word, sizeof(word), "%.*s", BT_STR_ARG(text));
	return strtod(word, NULL);
}

static bool read_param(struct bt_decode *decode, struct bt_param *param)
{
	switch (bt_json_peek(decode->json)) {
	case BT_JSON_NUMBER:
		param->type = BT_PARAM_NUMBER;
		if (bt_json_number(decode->json, &param->text)) {
			param->number = number_of(param->text);
		}
		break;
	case BT_JSON_STRING:
		param->type = BT_PARAM_TEXT;
		bt_json_string(decode->json, &param->text);
		break;
	case BT_JSON_BOOL:
		param->type = BT_PARAM_BOOL;
		bt_json_bool(decode->json, &param->truth);
		break;
	default:
		return bt_decode_fail(decode, BT_INVALID, bt_json_offset(decode->json),
			"give it a number, a string, true or false", "parameter %.*s is none of them",
			BT_STR_ARG(param->name));
	}
	return passed(decode);
}

static bool read_params(struct bt_decode *decode, void *field)
{
	struct bt_workload *workload = field;
	struct bt_str key;

	if (!bt_json_enter_object(decode->json)) {
		return passed(decode);
	}
	while (bt_json_next_key(decode->json, &key)) {
		workload->params =
			grow(decode->arena, workload->params, workload->param_n, sizeof(*workload->params));
		struct bt_param *param = &workload->params[workload->param_n++];
		param->name = key;
		if (!read_param(decode, param)) {
			return false;
		}
	}
	return passed(decode);
}

static bool add_threshold(struct bt_decode *decode, struct bt_workload *workload, struct bt_str topic)
{
	size_t offset = bt_json_offset(decode->json);
	struct bt_str text;

	if (!bt_json_number(decode->json, &text)) {
		return passed(decode);
	}
	workload->thresholds = grow(
		decode->arena, workload->thresholds, workload->threshold_n, sizeof(*workload->thresholds));
	workload->thresholds[workload->threshold_n++] = (struct bt_threshold){topic, number_of(text)};
	return number_of(text) >= 0 ||
	       bt_decode_fail(decode, BT_RANGE, offset, "write 0 or more", "a threshold is below zero");
}

/* A number, or a number for each topic. */
static bool read_threshold(struct bt_decode *decode, void *field)
{
	struct bt_workload *workload = field;
	struct bt_str key;

	if (bt_json_peek(decode->json) == BT_JSON_NUMBER) {
		return add_threshold(decode, workload, (struct bt_str){.len = 0});
	}
	if (!bt_json_enter_object(decode->json)) {
		return bt_decode_fail(decode, BT_INVALID, bt_json_offset(decode->json),
			"write a number, or a number for each topic", "a threshold is neither");
	}
	while (bt_json_next_key(decode->json, &key)) {
		if (!add_threshold(decode, workload, key)) {
			return false;
		}
	}
	return passed(decode);
}

/* ---- operations ---- */

#define FIELD(word, kind, member)                                                                            \
	{                                                                                                    \
		.name = BT_STR(word), .type = BT_FIELD_##kind,                                               \
		.offset = offsetof(struct bt_bench_op, member)                                               \
	}
#define FLAGGED(word, kind, member, mark)                                                                    \
	{                                                                                                    \
		.name = BT_STR(word), .type = BT_FIELD_##kind,                                               \
		.offset = offsetof(struct bt_bench_op, member), .flag = BT_MEMBER(struct bt_bench_op, mark)  \
	}
#define OPCODE                                                                                               \
	{                                                                                                    \
		.name = BT_STR("opcode"), .type = BT_FIELD_IGNORED                                           \
	}
#define COUNT FLAGGED("count", I64, count, has_count), FIELD("countParam", STR, count_param)

static const struct bt_field csi_count_fields[] = {
	{.name = BT_STR("count"),
		.type = BT_FIELD_I32,
		.offset = offsetof(struct bt_bench_op_driver, count),
		.flag = BT_MEMBER(struct bt_bench_op_driver, has_count)},
};
static const struct bt_schema csi_count = BT_SCHEMA(csi_count_fields, struct bt_bench_op_driver);

static const struct bt_field allocatable_fields[] = {
	{.name = BT_STR("nodeAllocatable"),
		.type = BT_FIELD_RESOURCES,
		.offset = offsetof(struct bt_bench_op_nodes, allocatable)},
	{.name = BT_STR("csiNodeAllocatable"),
		.type = BT_FIELD_MAP,
		.offset = offsetof(struct bt_bench_op_nodes, drivers),
		.count = BT_MEMBER(struct bt_bench_op_nodes, driver_n),
		.schema = &csi_count},
	{.name = BT_STR("migratedPlugins"),
		.type = BT_FIELD_STR_LIST,
		.offset = offsetof(struct bt_bench_op_nodes, migrated)},
};
static const struct bt_schema allocatable = BT_SCHEMA(allocatable_fields, struct bt_bench_op_nodes);

static const struct bt_field label_fields[] = {
	{.name = BT_STR("labelKey"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct bt_bench_op_nodes, label_key)},
	{.name = BT_STR("labelValues"),
		.type = BT_FIELD_STR_LIST,
		.offset = offsetof(struct bt_bench_op_nodes, label_values)},
};
static const struct bt_schema label = BT_SCHEMA(label_fields, struct bt_bench_op_nodes);

static const struct bt_field unique_label_fields[] = {
	{.name = BT_STR("labelKey"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct bt_bench_op_nodes, unique_label_key)},
};
static const struct bt_schema unique_label = BT_SCHEMA(unique_label_fields, struct bt_bench_op_nodes);

#define STRATEGY(word, table, mark)                                                                          \
	{                                                                                                    \
		.name = BT_STR(word), .type = BT_FIELD_OBJECT,                                               \
		.offset = offsetof(struct bt_bench_op, nodes),                                               \
		.flag = BT_MEMBER(struct bt_bench_op, nodes.mark), .schema = &(table)                        \
	}

static bool read_op(struct bt_decode *decode, struct bt_bench_op *out);

static bool read_pods_op(struct bt_decode *decode, void *field)
{
	struct bt_bench_op *op = field;
	size_t offset = bt_json_offset(decode->json);

	op->pods = bt_arena_zalloc(decode->arena, sizeof(*op->pods));
	if (!read_op(decode, op->pods)) {
		return false;
	}
	return op->pods->kind == BT_BENCH_OP_CREATE_PODS ||
	       bt_decode_fail(decode, BT_INVALID, offset, "write createPods there",
		       "createPodsOp is an operation %s", bt_bench_op_word(op->pods->kind));
}

static const struct bt_field alloc_claims_fields[] = {OPCODE, FIELD("namespace", STR, namespace_)};
static const struct bt_field create_any_fields[] = {
	OPCODE, FIELD("namespace", STR, namespace_), FIELD("templatePath", STR, template_path), COUNT};
static const struct bt_field create_nodes_fields[] = {OPCODE, COUNT,
	FIELD("nodeTemplatePath", STR, node_template),
	STRATEGY("nodeAllocatableStrategy", allocatable, sets_allocatable),
	STRATEGY("labelNodePrepareStrategy", label, sets_label),
	STRATEGY("uniqueNodeLabelStrategy", unique_label, sets_unique_label)};
static const struct bt_field create_namespaces_fields[] = {
	OPCODE, FIELD("prefix", STR, prefix), COUNT, FIELD("namespaceTemplatePath", STR, namespace_template)};
static const struct bt_field create_pods_fields[] = {OPCODE, COUNT, FIELD("steadyState", BOOL, steady),
	FIELD("steadyStateParam", STR, steady_param), FIELD("duration", STR, duration_text),
	FIELD("durationParam", STR, duration_param), FIELD("collectMetrics", BOOL, collects),
	FIELD("namespace", STR, namespace_), FIELD("podTemplatePath", STR, pod_template),
	FIELD("skipWaitToCompletion", BOOL, no_wait),
	FIELD("persistentVolumeTemplatePath", STR, volume_template),
	FIELD("persistentVolumeClaimTemplatePath", STR, claim_template)};
static const struct bt_field create_pod_sets_fields[] = {OPCODE, COUNT, FIELD("namespacePrefix", STR, prefix),
	{.name = BT_STR("createPodsOp"), .type = BT_FIELD_CUSTOM, .read = read_pods_op}};
static const struct bt_field delete_pods_fields[] = {OPCODE, FIELD("namespace", STR, namespace_),
	FIELD("labelSelector", STR_MAP, labels), FIELD("skipWaitToCompletion", BOOL, no_wait),
	FIELD("deletePodsPerSecond", I64, per_second)};
static const struct bt_field create_claims_fields[] = {
	OPCODE, COUNT, FIELD("namespace", STR, namespace_), FIELD("templatePath", STR, template_path)};
static const struct bt_field create_driver_fields[] = {OPCODE, FIELD("driverName", STR, driver),
	FIELD("maxClaimsPerNode", I64, count), FIELD("maxClaimsPerNodeParam", STR, count_param),
	FIELD("nodes", STR, node_pattern)};
static const struct bt_field churn_fields[] = {OPCODE, FIELD("mode", STR, mode), FIELD("number", I64, count),
	FIELD("intervalMilliseconds", I64, interval_ms), FIELD("namespace", STR, namespace_),
	FIELD("templatePaths", STR_LIST, templates)};
static const struct bt_field update_any_fields[] = {OPCODE, FIELD("namespace", STR, namespace_),
	FIELD("templatePath", STR, template_path), COUNT, FIELD("updatePerSecond", I64, per_second),
	FIELD("subresources", STR_LIST, subresources)};
static const struct bt_field barrier_fields[] = {OPCODE, FIELD("namespaces", STR_LIST, namespaces),
	FIELD("labelSelector", STR_MAP, labels), FIELD("stageRequirement", STR, stage)};
static const struct bt_field sleep_fields[] = {
	OPCODE, FIELD("duration", STR, duration_text), FIELD("durationParam", STR, duration_param)};
static const struct bt_field start_metrics_fields[] = {OPCODE, FIELD("name", STR, name),
	FIELD("namespaces", STR_LIST, namespaces), FIELD("labelSelector", STR_MAP, labels)};
static const struct bt_field stop_metrics_fields[] = {OPCODE};

static const struct {
	const char *word;
	struct bt_schema schema;
} opcodes[BT_BENCH_OP_N] = {
	[BT_BENCH_OP_ALLOC_CLAIMS] = {"allocResourceClaims",
		BT_SCHEMA(alloc_claims_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CREATE_ANY] = {"createAny", BT_SCHEMA(create_any_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CREATE_NODES] = {"createNodes", BT_SCHEMA(create_nodes_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CREATE_NAMESPACES] = {"createNamespaces",
		BT_SCHEMA(create_namespaces_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CREATE_PODS] = {"createPods", BT_SCHEMA(create_pods_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CREATE_POD_SETS] = {"createPodSets",
		BT_SCHEMA(create_pod_sets_fields, struct bt_bench_op)},
	[BT_BENCH_OP_DELETE_PODS] = {"deletePods", BT_SCHEMA(delete_pods_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CREATE_CLAIMS] = {"createResourceClaims",
		BT_SCHEMA(create_claims_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CREATE_DRIVER] = {"createResourceDriver",
		BT_SCHEMA(create_driver_fields, struct bt_bench_op)},
	[BT_BENCH_OP_CHURN] = {"churn", BT_SCHEMA(churn_fields, struct bt_bench_op)},
	[BT_BENCH_OP_UPDATE_ANY] = {"updateAny", BT_SCHEMA(update_any_fields, struct bt_bench_op)},
	[BT_BENCH_OP_BARRIER] = {"barrier", BT_SCHEMA(barrier_fields, struct bt_bench_op)},
	[BT_BENCH_OP_SLEEP] = {"sleep", BT_SCHEMA(sleep_fields, struct bt_bench_op)},
	[BT_BENCH_OP_START_METRICS] = {"startCollectingMetrics",
		BT_SCHEMA(start_metrics_fields, struct bt_bench_op)},
	[BT_BENCH_OP_STOP_METRICS] = {"stopCollectingMetrics",
		BT_SCHEMA(stop_metrics_fields, struct bt_bench_op)},
};

const char *bt_bench_op_word(enum bt_bench_op_kind kind)
{
	return opcodes[kind].word;
}

/* The error of an operation regardless of its parameters, or NULL; the remedy goes to out_remedy. */
static const char *fault_of_pods(const struct bt_bench_op *op, const char **out_remedy)
{
	*out_remedy = "leave one of them out";
	if (op->collects && op->no_wait) {
		return "collectMetrics and skipWaitToCompletion exclude each other";
	}
	if (op->no_wait && op->steady) {
		return "skipWaitToCompletion and steadyState exclude each other";
	}
	if (op->claim_template.len && !op->volume_template.len) {
		*out_remedy = "add persistentVolumeTemplatePath";
		return "a persistentVolumeClaimTemplatePath needs volumes";
	}
	return NULL;
}

static const char *fault_of_churn(const struct bt_bench_op *op, const char **out_remedy)
{
	if (!bt_str_is(op->mode, "create") && !bt_str_is(op->mode, "recreate")) {
		*out_remedy = "write create or recreate";
		return "there is no such mode";
	}
	if (bt_str_is(op->mode, "recreate") && op->count == 0) {
		*out_remedy = "give the number of objects before they are deleted";
		return "mode recreate needs a number";
	}
	*out_remedy = "name at least one file";
	return op->templates.n == 0 ? "there are no templatePaths" : NULL;
}

static const char *fault_of_driver(const struct bt_bench_op *op, const char **out_remedy)
{
	*out_remedy = "add it";
	if (op->driver.len == 0) {
		return "driverName is missing";
	}
	return op->node_pattern.len == 0 ? "nodes, a pattern of names, is missing" : NULL;
}

static const char *fault_of(const struct bt_bench_op *op, const char **out_remedy)
{
	*out_remedy = "add it";
	switch (op->kind) {
	case BT_BENCH_OP_CREATE_PODS:
		return fault_of_pods(op, out_remedy);
	case BT_BENCH_OP_CHURN:
		return fault_of_churn(op, out_remedy);
	case BT_BENCH_OP_CREATE_DRIVER:
		return fault_of_driver(op, out_remedy);
	case BT_BENCH_OP_CREATE_POD_SETS:
		return op->pods ? NULL : "createPodsOp is missing";
	case BT_BENCH_OP_CREATE_CLAIMS:
		if (op->namespace_.len == 0) {
			return "namespace is missing";
		}
		return op->template_path.len ? NULL : "templatePath is missing";
	case BT_BENCH_OP_CREATE_ANY:
	case BT_BENCH_OP_UPDATE_ANY:
		return op->template_path.len ? NULL : "templatePath is missing";
	case BT_BENCH_OP_START_METRICS:
		return op->namespaces.n ? NULL : "namespaces is missing";
	case BT_BENCH_OP_BARRIER:
		*out_remedy = "write Scheduled or Attempted";
		return op->stage.len && !bt_str_is(op->stage, "Scheduled") &&
				       !bt_str_is(op->stage, "Attempted")
			       ? "there is no such stageRequirement"
			       : NULL;
	case BT_BENCH_OP_CREATE_NODES:
		*out_remedy = "give it values";
		return op->nodes.sets_label && op->nodes.label_values.n == 0
			       ? "labelNodePrepareStrategy has no labelValues"
			       : NULL;
	default:
		return NULL;
	}
}

static bool check_param_name(struct bt_decode *decode, struct bt_str name, size_t offset)
{
	return name.len == 0 || (bt_str_starts(name, "$") && name.len > 1) ||
	       bt_decode_fail(decode, BT_INVALID, offset, "write $ before the parameter's name",
		       "\"%.*s\" names no parameter", BT_STR_ARG(name));
}

static bool check_op(struct bt_decode *decode, const struct bt_bench_op *op, size_t offset)
{
	const char *remedy, *fault = fault_of(op, &remedy);

	if (fault) {
		return bt_decode_fail(
			decode, BT_INVALID, offset, remedy, "%s: %s", bt_bench_op_word(op->kind), fault);
	}
	if (op->count < 0 || op->per_second < 0 || op->interval_ms < 0) {
		return bt_decode_fail(decode, BT_RANGE, offset, "write 0 or more",
			"%s: a number is below zero", bt_bench_op_word(op->kind));
	}
	if (op->count > bt_bench_op_count_max(op->kind)) {
		return bt_decode_fail(decode, BT_RANGE, offset, "write less",
			"%s: %lld are too many, the most is %lld", bt_bench_op_word(op->kind),
			(long long)op->count, (long long)bt_bench_op_count_max(op->kind));
	}
	return check_param_name(decode, op->count_param, offset) &&
	       check_param_name(decode, op->steady_param, offset) &&
	       check_param_name(decode, op->duration_param, offset);
}

static bool find_opcode(
	struct bt_decode *decode, struct bt_str word, size_t offset, enum bt_bench_op_kind *out)
{
	for (int kind = 0; kind < BT_BENCH_OP_N; kind++) {
		if (bt_str_is(word, opcodes[kind].word)) {
			*out = (enum bt_bench_op_kind)kind;
			return true;
		}
	}
	return bt_decode_fail(decode, BT_UNSUPPORTED, offset,
		"the opcodes are those of scheduler_perf: see perf/workloads/README.md",
		word.len ? "there is no opcode \"%.*s\"" : "the operation has no opcode%.*s",
		BT_STR_ARG(word));
}

/* Reads the operation at the cursor: its opcode first, which determines the other members. */
static bool read_op(struct bt_decode *decode, struct bt_bench_op *out)
{
	static const struct bt_field fields[] = {
		{.name = BT_STR("opcode"), .type = BT_FIELD_STR, .offset = 0}};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct bt_str);
	struct bt_json_mark start = bt_json_mark(decode->json);
	size_t offset = bt_json_offset(decode->json);
	struct bt_str word = {.len = 0};

	*out = (struct bt_bench_op){.line = line_at(decode, offset)};
	decode->strict = false;
	bool ok = bt_schema_decode(decode, &schema, &word);
	decode->strict = true;
	if (!ok || !find_opcode(decode, word, offset, &out->kind)) {
		return false;
	}
	bt_json_seek(decode->json, start);
	return bt_schema_decode(decode, &opcodes[out->kind].schema, out) && check_op(decode, out, offset);
}

/*
 * Reads the elements of the array that was entered, for each of which read_item has to record its position.
 */
static bool read_items(struct bt_decode *decode, void *holder,
	bool (*read_item)(struct bt_decode *decode, void *holder, uint32_t *out_index))
{
	struct bt_path step = {.up = decode->path};

	decode->path = &step;
	while (bt_json_next_element(decode->json)) {
		if (!read_item(decode, holder, &step.index)) {
			return false;
		}
	}
	decode->path = step.up;
	return passed(decode);
}

static bool read_op_of(struct bt_decode *decode, void *holder, uint32_t *out_index)
{
	struct bt_test_case *test_case = holder;

	test_case->ops = grow(decode->arena, test_case->ops, test_case->op_n, sizeof(*test_case->ops));
	*out_index = test_case->op_n;
	if (!read_op(decode, &test_case->ops[test_case->op_n])) {
		return false;
	}
	test_case->op_n++;
	return true;
}

static bool read_ops(struct bt_decode *decode, void *field)
{
	return bt_json_enter_array(decode->json) ? read_items(decode, field, read_op_of) : passed(decode);
}

/* ---- test cases ---- */

static const struct bt_field metric_fields[] = {
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_threshold_metric, name)},
	{.name = BT_STR("labels"),
		.type = BT_FIELD_STR_MAP,
		.offset = offsetof(struct bt_threshold_metric, labels)},
	{.name = BT_STR("dataBucket"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct bt_threshold_metric, bucket)},
	{.name = BT_STR("expectLower"),
		.type = BT_FIELD_BOOL,
		.offset = offsetof(struct bt_threshold_metric, lower)},
};
static const struct bt_schema metric = BT_SCHEMA(metric_fields, struct bt_threshold_metric);

/* A threshold must name its bucket. Source: thresholdMetricSelector.isValid, v1.36.3. */
static bool read_metric(struct bt_decode *decode, struct bt_threshold_metric *out)
{
	static const char *const buckets[] = {"Average", "Perc50", "Perc90", "Perc95", "Perc99"};
	size_t offset = bt_json_offset(decode->json), i = 0, n = sizeof(buckets) / sizeof(buckets[0]);

	if (bt_json_peek(decode->json) == BT_JSON_NULL) {
		return bt_json_null(decode->json);
	}
	if (!bt_schema_decode(decode, &metric, out)) {
		return false;
	}
	while (i < n && !bt_str_is(out->bucket, buckets[i])) {
		i++;
	}
	out->set = true;
	return i < n ||
	       bt_decode_fail(decode, BT_INVALID, offset, "write Average, Perc50, Perc90, Perc95 or Perc99",
		       out->bucket.len ? "there is no dataBucket \"%.*s\"" : "dataBucket is missing%.*s",
		       BT_STR_ARG(out->bucket));
}

static bool read_case_metric(struct bt_decode *decode, void *field)
{
	return read_metric(decode, &((struct bt_test_case *)field)->metric);
}

static bool read_workload_metric(struct bt_decode *decode, void *field)
{
	return read_metric(decode, &((struct bt_workload *)field)->metric);
}

static const struct bt_field workload_fields[] = {
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_workload, name)},
	{.name = BT_STR("featureGates"), .type = BT_FIELD_CUSTOM, .read = read_workload_gates},
	{.name = BT_STR("labels"), .type = BT_FIELD_STR_LIST, .offset = offsetof(struct bt_workload, labels)},
	{.name = BT_STR("threshold"), .type = BT_FIELD_CUSTOM, .read = read_threshold},
	{.name = BT_STR("thresholdMetricSelector"), .type = BT_FIELD_CUSTOM, .read = read_workload_metric},
	{.name = BT_STR("params"), .type = BT_FIELD_CUSTOM, .read = read_params},
};
static const struct bt_schema workload_schema = BT_SCHEMA(workload_fields, struct bt_workload);

static bool read_workload_of(struct bt_decode *decode, void *holder, uint32_t *out_index)
{
	struct bt_test_case *test_case = holder;
	size_t offset = bt_json_offset(decode->json);

	test_case->workloads = grow(
		decode->arena, test_case->workloads, test_case->workload_n, sizeof(*test_case->workloads));
	struct bt_workload *workload = &test_case->workloads[test_case->workload_n];
	*workload = (struct bt_workload){.line = line_at(decode, offset)};
	*out_index = test_case->workload_n++;
	if (!bt_schema_decode(decode, &workload_schema, workload)) {
		return false;
	}
	for (uint32_t i = 0; i + 1 < test_case->workload_n; i++) {
		if (bt_str_eq(test_case->workloads[i].name, workload->name)) {
			return bt_decode_fail(decode, BT_EXISTS, offset, "give it another name",
				"there is a workload \"%.*s\" already", BT_STR_ARG(workload->name));
		}
	}
	return true;
}

static bool read_workloads(struct bt_decode *decode, void *field)
{
	return bt_json_enter_array(decode->json) ? read_items(decode, field, read_workload_of)
						 : passed(decode);
}

static const struct bt_field case_fields[] = {
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_test_case, name)},
	{.name = BT_STR("featureGates"), .type = BT_FIELD_CUSTOM, .read = read_case_gates},
	{.name = BT_STR("metricsCollectorConfig"), .type = BT_FIELD_IGNORED},
	{.name = BT_STR("workloadTemplate"), .type = BT_FIELD_CUSTOM, .read = read_ops},
	{.name = BT_STR("workloads"), .type = BT_FIELD_CUSTOM, .read = read_workloads},
	{.name = BT_STR("schedulerConfigPath"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct bt_test_case, config_path)},
	{.name = BT_STR("defaultPodTemplatePath"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct bt_test_case, pod_template)},
	{.name = BT_STR("labels"),
		.type = BT_FIELD_STR_LIST,
		.offset = offsetof(struct bt_test_case, labels)},
	{.name = BT_STR("defaultThresholdMetricSelector"), .type = BT_FIELD_CUSTOM, .read = read_case_metric},
};
static const struct bt_schema case_schema = BT_SCHEMA(case_fields, struct bt_test_case);

static bool collects(const struct bt_test_case *test_case)
{
	for (uint32_t i = 0; i < test_case->op_n; i++) {
		const struct bt_bench_op *op = &test_case->ops[i];

		if (op->collects || op->kind == BT_BENCH_OP_STOP_METRICS ||
			(op->pods && op->pods->collects)) {
			return true;
		}
	}
	return false;
}

static bool check_case(struct bt_decode *decode, const struct bt_workload_file *file, size_t offset)
{
	const struct bt_test_case *last = &file->cases[file->case_n - 1];

	for (const struct bt_test_case *other = file->cases; other < last; other++) {
		if (bt_str_eq(other->name, last->name)) {
			return bt_decode_fail(decode, BT_EXISTS, offset, "give it another name",
				"there is a test case \"%.*s\" already", BT_STR_ARG(last->name));
		}
	}
	if (last->workload_n == 0) {
		return bt_decode_fail(
			decode, BT_INVALID, offset, "add one", "the test case has no workloads");
	}
	if (last->op_n == 0) {
		return bt_decode_fail(
			decode, BT_INVALID, offset, "add one", "the test case has no workloadTemplate");
	}
	return collects(last) || bt_decode_fail(decode, BT_INVALID, offset,
					 "let an operation have collectMetrics: true, or add "
					 "startCollectingMetrics and stopCollectingMetrics",
					 "no operation of the test case collects metrics");
}

static bool read_case_of(struct bt_decode *decode, void *holder, uint32_t *out_index)
{
	struct bt_workload_file *file = holder;
	size_t offset = bt_json_offset(decode->json);

	file->cases = grow(decode->arena, file->cases, file->case_n, sizeof(*file->cases));
	file->cases[file->case_n] = (struct bt_test_case){.line = line_at(decode, offset)};
	*out_index = file->case_n++;
	return bt_schema_decode(decode, &case_schema, &file->cases[*out_index]) &&
	       check_case(decode, file, offset);
}

static bool read_cases(struct bt_decode *decode, struct bt_workload_file *file)
{
	if (!bt_json_enter_array(decode->json)) {
		return bt_decode_fail(decode, BT_INVALID, 0, "begin with \"- name: ...\"",
			"the file is no list of test cases");
	}
	return read_items(decode, file, read_case_of) &&
	       (file->case_n > 0 || bt_decode_fail(decode, BT_INVALID, 0, "begin with \"- name: ...\"",
					    "the file has no test cases"));
}

/* ---- files ---- */

static void workload_refuse(
	struct workload_reading *r, size_t line, const char *path, const char *message, const char *remedy)
{
	r->report(r->context, &(struct bt_diagnosis){.file = r->file->path,
				      .line = line,
				      .path = path,
				      .message = message,
				      .remedy = remedy});
}

static struct bt_str folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (struct bt_str){path, slash == path ? 1 : (size_t)(slash - path)}
		     : (struct bt_str)BT_STR(".");
}

static bool parse(struct workload_reading *r, struct bt_str text)
{
	struct bt_arena *arena = &r->file->arena;
	struct bt_str json;

	bt_yaml_begin(r->yaml, text);
	enum bt_status status = bt_yaml_next(r->yaml, &json);
	if (status == BT_NOT_FOUND) {
		workload_refuse(r, 1, NULL, "the file is empty", "begin with \"- name: ...\"");
		return false;
	}
	if (status != BT_OK) {
		const struct bt_yaml_error *error = bt_yaml_error(r->yaml);

		workload_refuse(r, error->line, NULL, error->message, error->remedy);
		return false;
	}
	json.ptr = bt_arena_copy(arena, json.ptr, json.len);
	bt_json_begin(r->decode.json, json, arena);
	if (!read_cases(&r->decode, r->file)) {
		const struct bt_decode_error *error = &r->decode.error;

		workload_refuse(
			r, bt_yaml_line(r->yaml, error->offset), error->path, error->message, error->remedy);
		return false;
	}
	return true;
}

enum bt_status bt_workload_file_parse(struct bt_workload_file *file, const char *path, struct bt_str text,
	bt_diagnosis_fn *report, void *context)
{
	*file = (struct bt_workload_file){.path = NULL};
	file->path = bt_arena_copy(&file->arena, path, strlen(path));
	file->folder = folder_of(file->path);
	struct workload_reading r = {
		.decode = {.json = bt_json_create(), .arena = &file->arena, .strict = true, .fold = true},
		.yaml = bt_yaml_create(),
		.file = file,
		.report = report,
		.context = context,
	};
	bool ok = parse(&r, text);

	bt_yaml_destroy(r.yaml);
	bt_json_destroy(r.decode.json);
	if (!ok) {
		bt_workload_file_fini(file);
	}
	return ok ? BT_OK : BT_INVALID;
}

enum bt_status bt_workload_file_read(
	struct bt_workload_file *file, const char *path, bt_diagnosis_fn *report, void *context)
{
	struct bt_input *input = bt_input_create(report, context);
	enum bt_status status = bt_input_add(input, path);
	struct bt_input_file text;

	*file = (struct bt_workload_file){.path = NULL};
	if (status == BT_OK) {
		status = bt_input_next(input, &text)
				 ? bt_workload_file_parse(file, path, text.text, report, context)
				 : BT_IO;
	}
	bt_input_destroy(input);
	return status;
}

void bt_workload_file_fini(struct bt_workload_file *file)
{
	bt_arena_fini(&file->arena);
	*file = (struct bt_workload_file){.path = NULL};
}
