/* SPDX-License-Identifier: Apache-2.0
 * The openb traces: rows to API objects, with a diagnostic for each row that is wrong.
 */
#include "tools/offline/trace/openb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "tools/offline/generate/build.h"
#include "tools/offline/trace/csv.h"

#define FILE_BYTES_MAX	((size_t)1 << 30)
#define NAME_BYTES_MAX	253
#define LABEL_BYTES_MAX 63
#define CPU_MILLI_MAX	INT64_C(1000000000)
#define MEMORY_MIB_MAX	INT64_C(1000000000)
#define GPU_MAX		1000
#define SECONDS_MAX	(INT64_C(1) << 32)
#define COLUMN_MAX	16
#define NS		INT64_C(1000000000)
#define READ_BYTES	((size_t)1 << 20)
#define ROWS_AT_FIRST	((size_t)1 << 16) /* initial maximum; grows as needed */

#define MODEL_LABEL "openb.berth.dev/gpu-model"
#define QOS_LABEL   "openb.berth.dev/qos"
#define PHASE_LABEL "openb.berth.dev/phase"
#define GPU_MILLI   "openb.berth.dev/gpu-milli"

struct openb_column {
	const char *name;
	bool required;
};

/* One file being read. */
struct openb_table {
	const struct bt_openb_reader *reader;
	const char *name;
	struct bt_trace *trace;
	struct bt_csv csv;
	const struct openb_column *columns;
	size_t column_ix[COLUMN_MAX]; /* where in a record each of columns is; SIZE_MAX: nowhere */
	struct bt_map names;	      /* hashes of the names seen */
	bool row_wrong;
};

void bt_trace_fini(struct bt_trace *trace)
{
	bt_mem_free(trace->nodes);
	bt_mem_free(trace->pods);
	bt_arena_fini(&trace->arena);
	*trace = (struct bt_trace){0};
}

static void openb_diagnose(struct openb_table *table, const char *format, ...) BT_PRINTF(2, 3);

static void openb_diagnose(struct openb_table *table, const char *format, ...)
{
	struct bt_buf message = {0};
	va_list args;

	table->row_wrong = true;
	if (!table->reader->diagnose) {
		return;
	}
	bt_buf_printf(&message, "%s:", table->name);
	if (table->csv.line > 0) {
		bt_buf_printf(&message, "%llu:", (unsigned long long)table->csv.line);
	}
	bt_buf_char(&message, ' ');
	va_start(args, format);
	bt_buf_vprintf(&message, format, args);
	va_end(args);
	table->reader->diagnose(table->reader->context, message.ptr);
	bt_buf_fini(&message);
}

static struct bt_str field(const struct openb_table *table, size_t column)
{
	size_t ix = table->column_ix[column];

	return ix < table->csv.field_n ? table->csv.fields[ix] : (struct bt_str){0};
}

/* The column's number; for an empty column, the given default. Reports an error and
 * returns 0 when it is wrong. */
static int64_t number(struct openb_table *table, size_t column, int64_t max, int64_t when_empty)
{
	struct bt_str text = field(table, column);
	int64_t value = 0;

	if (text.len == 0 && when_empty >= 0) {
		return when_empty;
	}
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9' || value > max) {
			value = max + 1;
			break;
		}
		value = value * 10 + (text.ptr[i] - '0');
	}
	if (text.len == 0 || value > max) {
		openb_diagnose(table,
			"column %s: \"%.*s\" is not a whole number from 0 to %lld; correct it or remove the "
			"row",
			table->columns[column].name, (int)(text.len < 40 ? text.len : 40),
			text.ptr ? text.ptr : "", (long long)max);
		return 0;
	}
	return value;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static bool is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_label_value(struct bt_str text)
{
	if (text.len == 0) {
		return true;
	}
	if (text.len > LABEL_BYTES_MAX || !is_alphanumeric(text.ptr[0]) ||
		!is_alphanumeric(text.ptr[text.len - 1])) {
		return false;
	}
	for (size_t i = 0; i < text.len; i++) {
		if (!is_alphanumeric(text.ptr[i]) && !strchr("-_.", text.ptr[i])) {
			return false;
		}
	}
	return true;
}

/* The column as an object's name, copied. Complains when it is none, or was there before. */
static struct bt_str unique_name(struct openb_table *table, size_t column)
{
	struct bt_str text = field(table, column);
	bool good = text.len > 0 && text.len <= NAME_BYTES_MAX;

	for (size_t i = 0; good && i < text.len; i++) {
		good = is_name_char(text.ptr[i]) &&
		       ((i > 0 && i + 1 < text.len) || (text.ptr[i] != '-' && text.ptr[i] != '.'));
	}
	if (!good) {
		openb_diagnose(table,
			"column %s: \"%.*s\" is not a name of lower-case letters, digits, '-' and '.'; "
			"rename it",
			table->columns[column].name, (int)(text.len < 40 ? text.len : 40),
			text.ptr ? text.ptr : "");
		return (struct bt_str){0};
	}
	uint64_t hash = bt_hash_bytes(text.ptr, text.len) | 1;
	uint32_t before;

	if (bt_map_get(&table->names, hash, &before)) {
		openb_diagnose(table, "column %s: %.*s is there twice; rename or remove one",
			table->columns[column].name, BT_STR_ARG(text));
		return (struct bt_str){0};
	}
	bt_map_put(&table->names, hash, 1);
	return (struct bt_str){bt_arena_copy(&table->trace->arena, text.ptr, text.len), text.len};
}

/* A word that becomes a label's value, copied; empty is fine. */
static struct bt_str word(struct openb_table *table, size_t column, struct bt_str text)
{
	if (!is_label_value(text)) {
		openb_diagnose(table,
			"column %s: \"%.*s\" cannot be a label's value; use letters, digits, '-', '_' and "
			"'.'",
			table->columns[column].name, (int)(text.len < 40 ? text.len : 40),
			text.ptr ? text.ptr : "");
		return (struct bt_str){0};
	}
	return (struct bt_str){
		bt_arena_copy(&table->trace->arena, text.ptr ? text.ptr : "", text.len), text.len};
}

static bool find_columns(struct openb_table *table)
{
	enum bt_status status = bt_csv_next(&table->csv);

	if (status != BT_OK) {
		table->csv.line = table->csv.line ? table->csv.line : 1;
		openb_diagnose(table, "%s",
			status == BT_INVALID ? table->csv.error : "the file is empty; it needs a header");
		return false;
	}
	for (size_t c = 0; table->columns[c].name; c++) {
		table->column_ix[c] = SIZE_MAX;
		for (size_t i = 0; i < table->csv.field_n; i++) {
			if (bt_str_is(table->csv.fields[i], table->columns[c].name)) {
				table->column_ix[c] = i;
			}
		}
		if (table->column_ix[c] == SIZE_MAX && table->columns[c].required) {
			openb_diagnose(table,
				"the header has no column %s; is this an openb file of the right kind?",
				table->columns[c].name);
			return false;
		}
	}
	return true;
}

enum node_column { NODE_SN, NODE_CPU, NODE_MEMORY, NODE_GPU, NODE_MODEL };

static const struct openb_column node_columns[] = {
	{"sn", true}, {"cpu_milli", true}, {"memory_mib", true}, {"gpu", true}, {"model", false}, {0}};

static void read_node(struct openb_table *table)
{
	struct bt_trace *trace = table->trace;
	struct bt_arena *arena = &trace->arena;

	trace->nodes = bt_mem_grow(trace->nodes, trace->node_n, &trace->node_cap, sizeof(*trace->nodes));
	struct bt_object *object = &trace->nodes[trace->node_n];
	*object = (struct bt_object){
		.kind = BT_KIND_NODE, .api_version = BT_STR("v1"), .kind_name = BT_STR("Node")};
	struct bt_node_object *node = &object->node;
	int64_t cpu = number(table, NODE_CPU, CPU_MILLI_MAX, -1);
	int64_t memory = number(table, NODE_MEMORY, MEMORY_MIB_MAX, -1);
	int64_t gpus = number(table, NODE_GPU, GPU_MAX, 0);
	struct bt_str model = word(table, NODE_MODEL, field(table, NODE_MODEL));

	node->meta.name = table->row_wrong ? (struct bt_str){0} : unique_name(table, NODE_SN);
	if (table->row_wrong) {
		return;
	}
	bt_build_pair(arena, &node->meta.labels, bt_str("kubernetes.io/hostname"), node->meta.name);
	if (model.len > 0) {
		bt_build_pair(arena, &node->meta.labels, bt_str(MODEL_LABEL), model);
	}
	bt_build_quantity(arena, &node->allocatable, "cpu", bt_build_milli(cpu));
	bt_build_quantity(arena, &node->allocatable, "memory", bt_build_mib(memory));
	bt_build_quantity(arena, &node->allocatable, "pods", bt_build_count(GPU_MAX));
	if (gpus > 0) {
		bt_build_quantity(arena, &node->allocatable, GPU_MILLI, bt_build_count(gpus * 1000));
	}
	node->capacity = node->allocatable;
	trace->node_n++;
}

enum pod_column {
	POD_NAME,
	POD_CPU,
	POD_MEMORY,
	POD_GPU,
	POD_GPU_MILLI,
	POD_SPEC,
	POD_QOS,
	POD_PHASE,
	POD_CREATED,
	POD_DELETED
};

static const struct openb_column pod_columns[] = {{"name", true}, {"cpu_milli", true}, {"memory_mib", true},
	{"num_gpu", true}, {"gpu_milli", true}, {"gpu_spec", false}, {"qos", false}, {"pod_phase", false},
	{"creation_time", true}, {"deletion_time", true}, {0}};

/* gpu_spec lists the models that the pod can use, with | between them. */
static void add_models(struct openb_table *table, struct bt_pod_spec_object *spec)
{
	struct bt_str list = field(table, POD_SPEC);
	struct bt_arena *arena = &table->trace->arena;
	struct bt_str_list models = {0};

	for (size_t from = 0; from < list.len;) {
		size_t to = bt_str_find(list, '|', from);

		if (to > from) {
			bt_build_item(arena, &models, word(table, POD_SPEC, bt_str_sub(list, from, to)));
		}
		from = to + 1;
	}
	if (models.n > 0) {
		struct bt_node_term_object *term =
			bt_build_required_term(arena, &spec->affinity.node_affinity);

		bt_build_requirement(arena, &term->match_expressions, MODEL_LABEL, "In")->values = models;
	}
}

static void add_requests(struct openb_table *table, struct bt_container_object *container)
{
	struct bt_arena *arena = &table->trace->arena;
	struct bt_requirements_object *resources = &container->resources;
	int64_t cpu = number(table, POD_CPU, CPU_MILLI_MAX, -1);
	int64_t memory = number(table, POD_MEMORY, MEMORY_MIB_MAX, -1);
	int64_t gpus = number(table, POD_GPU, GPU_MAX, 0);
	int64_t milli = number(table, POD_GPU_MILLI, 1000, 0);

	resources->set = true;
	bt_build_quantity(arena, &resources->requests, "cpu", bt_build_milli(cpu));
	bt_build_quantity(arena, &resources->requests, "memory", bt_build_mib(memory));
	if (gpus == 0 || milli == 0) {
		return;
	}
	bt_build_quantity(arena, &resources->requests, GPU_MILLI, bt_build_count(gpus * milli));
	bt_build_quantity(arena, &resources->limits, GPU_MILLI, bt_build_count(gpus * milli));
}

static void add_pod_labels(struct openb_table *table, struct bt_pod_object *pod)
{
	struct bt_str qos = word(table, POD_QOS, field(table, POD_QOS));
	struct bt_str phase = word(table, POD_PHASE, field(table, POD_PHASE));

	if (qos.len > 0) {
		bt_build_pair(&table->trace->arena, &pod->meta.labels, bt_str(QOS_LABEL), qos);
	}
	if (phase.len > 0) {
		bt_build_pair(&table->trace->arena, &pod->meta.labels, bt_str(PHASE_LABEL), phase);
	}
}

static void read_pod(struct openb_table *table)
{
	struct bt_trace *trace = table->trace;
	struct bt_container_object *container = bt_arena_zalloc(&trace->arena, sizeof(*container));

	trace->pods = bt_mem_grow(trace->pods, trace->pod_n, &trace->pod_cap, sizeof(*trace->pods));
	struct bt_trace_pod *row = &trace->pods[trace->pod_n];
	*row = (struct bt_trace_pod){
		.object = {.kind = BT_KIND_POD, .api_version = BT_STR("v1"), .kind_name = BT_STR("Pod")},
		.order = trace->pod_n};
	struct bt_pod_object *pod = &row->object.pod;
	row->create_s = number(table, POD_CREATED, SECONDS_MAX, -1);
	row->delete_s =
		field(table, POD_DELETED).len ? number(table, POD_DELETED, SECONDS_MAX, -1) : INT64_MAX;
	if (!table->row_wrong && row->delete_s < row->create_s) {
		openb_diagnose(
			table, "column deletion_time is before creation_time; correct it or leave it empty");
	}
	container->name = bt_str("main");
	add_requests(table, container);
	add_pod_labels(table, pod);
	add_models(table, &pod->spec);
	pod->meta.name = table->row_wrong ? (struct bt_str){0} : unique_name(table, POD_NAME);
	if (table->row_wrong) {
		return;
	}
	pod->meta.namespace_ = bt_str("default");
	pod->meta.creation_ns = (BT_TRACE_EPOCH_S + row->create_s) * NS;
	pod->phase = bt_str("Pending");
	pod->spec.scheduler_name = bt_str("default-scheduler");
	pod->spec.restart_policy = bt_str("Always");
	pod->spec.preemption_policy = bt_str("PreemptLowerPriority");
	pod->spec.has_priority = true;
	pod->spec.containers = container;
	pod->spec.container_n = 1;
	trace->pod_n++;
}

/* How many rows to make room for: those that a text may have, within reason. */
static size_t rows_of(struct bt_str text)
{
	size_t n = 1;

	for (size_t at = bt_str_find(text, '\n', 0); at < text.len && n < ROWS_AT_FIRST;
		at = bt_str_find(text, '\n', at + 1)) {
		n++;
	}
	return n;
}

/* Reserves n more rows, so that they are not moved. */
static void *make_room(void *rows, size_t row_n, size_t *cap, size_t n, size_t bytes)
{
	if (row_n + n <= *cap) {
		return rows;
	}
	*cap = row_n + n;
	return bt_mem_realloc(rows, *cap, bytes);
}

static enum bt_status parse(
	struct openb_table *table, struct bt_str text, void (*read_row)(struct openb_table *table))
{
	enum bt_status status;
	size_t good_n = 0, wrong_n = 0;

	bt_csv_init(&table->csv, text, &table->trace->arena);
	if (!find_columns(table)) {
		bt_map_fini(&table->names);
		return BT_INVALID;
	}
	while ((status = bt_csv_next(&table->csv)) != BT_NOT_FOUND &&
		(wrong_n == 0 || !table->reader->strict)) {
		table->row_wrong = false;
		if (status == BT_INVALID) {
			openb_diagnose(table, "%s", table->csv.error);
		} else {
			read_row(table);
		}
		wrong_n += table->row_wrong;
		good_n += !table->row_wrong;
	}
	table->trace->skipped_n += wrong_n;
	if (good_n == 0 && wrong_n == 0) {
		openb_diagnose(table, "there is nothing below the header; is the file cut off?");
	}
	bt_map_fini(&table->names);
	return good_n == 0 || (table->reader->strict && wrong_n > 0) ? BT_INVALID : BT_OK;
}

enum bt_status bt_openb_parse_nodes(
	const struct bt_openb_reader *reader, const char *name, struct bt_str text, struct bt_trace *trace)
{
	struct openb_table table = {.reader = reader, .name = name, .trace = trace, .columns = node_columns};

	trace->nodes = make_room(
		trace->nodes, trace->node_n, &trace->node_cap, rows_of(text), sizeof(*trace->nodes));
	return parse(&table, text, read_node);
}

/* By creation, then as in the file. */
static int compare_pods(const void *a, const void *b)
{
	const struct bt_trace_pod *left = a, *right = b;

	if (left->create_s != right->create_s) {
		return left->create_s < right->create_s ? -1 : 1;
	}
	return left->order < right->order ? -1 : left->order > right->order;
}

enum bt_status bt_openb_parse_pods(
	const struct bt_openb_reader *reader, const char *name, struct bt_str text, struct bt_trace *trace)
{
	struct openb_table table = {.reader = reader, .name = name, .trace = trace, .columns = pod_columns};

	trace->pods =
		make_room(trace->pods, trace->pod_n, &trace->pod_cap, rows_of(text), sizeof(*trace->pods));
	enum bt_status status = parse(&table, text, read_pod);
	size_t sorted_n = 1;
	while (sorted_n < trace->pod_n &&
		compare_pods(&trace->pods[sorted_n - 1], &trace->pods[sorted_n]) < 0) {
		sorted_n++;
	}
	if (sorted_n < trace->pod_n) {
		qsort(trace->pods, trace->pod_n, sizeof(*trace->pods), compare_pods);
	}
	return status;
}

static enum bt_status read_file(struct openb_table *table, struct bt_buf *out)
{
	FILE *file = fopen(table->name, "rb");
	enum bt_status status = BT_OK;
	size_t n = READ_BYTES;

	if (!file) {
		openb_diagnose(table, "cannot read: %s", strerror(errno));
		return BT_IO;
	}
	while (n == READ_BYTES && status == BT_OK) {
		bt_buf_reserve(out, READ_BYTES);
		n = fread(out->ptr + out->len, 1, READ_BYTES, file);
		out->len += n;
		status = out->len > FILE_BYTES_MAX ? BT_RANGE : BT_OK;
	}
	if (ferror(file)) {
		openb_diagnose(table, "cannot read: %s", strerror(errno));
		status = BT_IO;
	} else if (status == BT_RANGE) {
		openb_diagnose(table, "larger than a gigabyte; split it");
	}
	fclose(file);
	return status;
}

enum bt_status bt_openb_read_nodes(
	const struct bt_openb_reader *reader, const char *path, struct bt_trace *trace)
{
	struct openb_table table = {.reader = reader, .name = path, .trace = trace};
	struct bt_buf text = {0};
	enum bt_status status = read_file(&table, &text);

	if (status == BT_OK) {
		status = bt_openb_parse_nodes(reader, path, bt_buf_view(&text), trace);
	}
	bt_buf_fini(&text);
	return status;
}

enum bt_status bt_openb_read_pods(
	const struct bt_openb_reader *reader, const char *path, struct bt_trace *trace)
{
	struct openb_table table = {.reader = reader, .name = path, .trace = trace};
	struct bt_buf text = {0};
	enum bt_status status = read_file(&table, &text);

	if (status == BT_OK) {
		status = bt_openb_parse_pods(reader, path, bt_buf_view(&text), trace);
	}
	bt_buf_fini(&text);
	return status;
}
