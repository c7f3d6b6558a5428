/* SPDX-License-Identifier: Apache-2.0
 * Workload files of kube-scheduler's scheduler_perf (performance-config.yaml) as values: test cases, each
 * with a list of operations and workloads that give its parameters numbers. Unknown or invalid fields are
 * reported with file, line and field, and the file is rejected, as upstream. Context: one thread; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/model/object.h"
#include "tools/format/diagnosis.h"

enum bt_bench_op_kind {
	BT_BENCH_OP_ALLOC_CLAIMS = 0,
	BT_BENCH_OP_CREATE_ANY,
	BT_BENCH_OP_CREATE_NODES,
	BT_BENCH_OP_CREATE_NAMESPACES,
	BT_BENCH_OP_CREATE_PODS,
	BT_BENCH_OP_CREATE_POD_SETS,
	BT_BENCH_OP_DELETE_PODS,
	BT_BENCH_OP_CREATE_CLAIMS,
	BT_BENCH_OP_CREATE_DRIVER,
	BT_BENCH_OP_CHURN,
	BT_BENCH_OP_UPDATE_ANY,
	BT_BENCH_OP_BARRIER,
	BT_BENCH_OP_SLEEP,
	BT_BENCH_OP_START_METRICS,
	BT_BENCH_OP_STOP_METRICS,
	BT_BENCH_OP_N
};

/* A CSI driver and how many volumes it attaches to a node. */
struct bt_bench_op_driver {
	struct bt_str name;
	int32_t count;
	bool has_count;
};

/* nodeAllocatableStrategy, labelNodePrepareStrategy and uniqueNodeLabelStrategy of createNodes. */
struct bt_bench_op_nodes {
	bool sets_allocatable, sets_label, sets_unique_label;
	struct bt_resource_list allocatable;
	struct bt_bench_op_driver *drivers;
	uint32_t driver_n;
	struct bt_str_list migrated, label_values;
	struct bt_str label_key, unique_label_key;
};

/* An operation. The kind determines which fields are used; empty ones were not given. */
struct bt_bench_op {
	enum bt_bench_op_kind kind;
	size_t line;
	/* The number, or its parameter ($name). */
	int64_t count;
	struct bt_str count_param;
	/* Where. */
	struct bt_str namespace_, prefix, name;
	struct bt_str_list namespaces;
	struct bt_str_map labels;
	/* What. */
	struct bt_str template_path, pod_template, node_template, namespace_template, volume_template,
		claim_template;
	struct bt_str_list templates, subresources;
	struct bt_bench_op_nodes nodes;
	/* How. */
	bool collects, no_wait, steady, has_count;
	struct bt_str steady_param, duration_text, duration_param;
	int64_t duration_ns;
	int64_t per_second;  /* deletePods, updateAny; 0: all at once */
	int64_t interval_ms; /* churn */
	struct bt_str mode, stage, driver, node_pattern;
	struct bt_bench_op *pods; /* createPodSets */
};

/* A threshold of a metric. */
struct bt_threshold {
	struct bt_str topic; /* empty: for all other topics */
	double value;
};

/* The metric that the threshold is for. */
struct bt_threshold_metric {
	bool set;
	struct bt_str name, bucket;
	struct bt_str_map labels;
	bool lower; /* the value must stay below */
};

struct bt_gate_setting {
	struct bt_str name;
	bool on;
};

enum bt_param_type { BT_PARAM_NUMBER, BT_PARAM_TEXT, BT_PARAM_BOOL };

struct bt_param {
	struct bt_str name, text;
	enum bt_param_type type;
	double number;
	bool truth, used;
};

struct bt_workload {
	struct bt_str name;
	size_t line;
	struct bt_param *params;
	uint32_t param_n;
	struct bt_str_list labels;
	struct bt_threshold *thresholds;
	uint32_t threshold_n;
	struct bt_threshold_metric metric;
	struct bt_gate_setting *gates;
	uint32_t gate_n;
};

struct bt_test_case {
	struct bt_str name;
	size_t line;
	struct bt_gate_setting *gates;
	uint32_t gate_n;
	struct bt_bench_op *ops;
	uint32_t op_n;
	struct bt_workload *workloads;
	uint32_t workload_n;
	struct bt_str config_path, pod_template;
	struct bt_str_list labels;
	struct bt_threshold_metric metric;
};

/* A file. Owns: bt_workload_file_fini. */
struct bt_workload_file {
	const char *path;     /* as it was given; in arena */
	struct bt_str folder; /* of the path; "." for none */
	struct bt_test_case *cases;
	uint32_t case_n;
	struct bt_arena arena;
};

/* Maximum count of an operation; createPodSets expands to as many operations. */
#define BT_BENCH_OP_COUNT_MAX	 INT64_C(100000000)
#define BT_BENCH_OP_POD_SETS_MAX INT64_C(100000)

static inline int64_t bt_bench_op_count_max(enum bt_bench_op_kind kind)
{
	return kind == BT_BENCH_OP_CREATE_POD_SETS ? BT_BENCH_OP_POD_SETS_MAX : BT_BENCH_OP_COUNT_MAX;
}

/* The opcode's text. */
const char *bt_bench_op_word(enum bt_bench_op_kind kind);

/*
 * Reads and checks a file. Returns: BT_OK; otherwise errors have been reported, and the file is empty.
 */
enum bt_status bt_workload_file_read(
	struct bt_workload_file *file, const char *path, bt_diagnosis_fn *report, void *context);

/* The same for a text, with a path for diagnoses and for the folder. */
enum bt_status bt_workload_file_parse(struct bt_workload_file *file, const char *path, struct bt_str text,
	bt_diagnosis_fn *report, void *context);
void bt_workload_file_fini(struct bt_workload_file *file);

/* The operations of a workload with parameters replaced and createPodSets expanded. */
struct bt_bench_op_list {
	struct bt_bench_op *ops; /* in the file's arena */
	uint32_t n;
};

/*
 * Returns: BT_OK; BT_INVALID when a parameter is missing, has the wrong type, or is unused; that has been
 * reported.
 */
enum bt_status bt_workload_ops(struct bt_workload_file *file, const struct bt_test_case *test_case,
	struct bt_workload *workload, struct bt_bench_op_list *out_ops, bt_diagnosis_fn *report,
	void *context);

/* The parameter of that name, marked as used; NULL: none. */
const struct bt_param *bt_workload_param(struct bt_workload *workload, struct bt_str name);

/* The threshold for a topic; 0: none. */
double bt_workload_threshold(const struct bt_workload *workload, struct bt_str topic);

/* Does the filter select a workload with these labels? The filter is "a,+b,-c": with a and b, without c. */
bool bt_labels_wanted(
	const struct bt_test_case *test_case, const struct bt_workload *workload, struct bt_str filter);
