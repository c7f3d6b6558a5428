/* SPDX-License-Identifier: Apache-2.0
 * A workload's numbers in the place of parameters; thresholds and labels.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/duration.h"
#include "tools/offline/bench/workload.h"

struct unrolling {
	struct bt_workload_file *file;
	struct bt_workload *workload;
	struct bt_bench_op_list list;
	size_t cap;
	bt_diagnosis_fn *report;
	void *context;
};

static bool unroll_refuse(struct unrolling *u, size_t line, const char *remedy, const char *format, ...)
	BT_PRINTF(4, 5);

static bool unroll_refuse(struct unrolling *u, size_t line, const char *remedy, const char *format, ...)
{
	struct bt_buf message = {0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&message, format, args);
	va_end(args);
	u->report(u->context,
		&(struct bt_diagnosis){
			.file = u->file->path, .line = line, .message = message.ptr, .remedy = remedy});
	bt_buf_fini(&message);
	return false;
}

/* The parameter of a reference such as "$initPods". */
static const struct bt_param *param_of(
	struct unrolling *u, const struct bt_bench_op *op, struct bt_str reference, enum bt_param_type type)
{
	static const char *const words[] = {"a number", "a string", "true or false"};
	const struct bt_param *param =
		bt_workload_param(u->workload, bt_str_sub(reference, 1, reference.len));

	if (!param) {
		unroll_refuse(u, op->line, "add it to the workload's params",
			"workload %.*s has no parameter %.*s, which %s needs", BT_STR_ARG(u->workload->name),
			BT_STR_ARG(reference), bt_bench_op_word(op->kind));
		return NULL;
	}
	if (param->type != type) {
		unroll_refuse(u, u->workload->line, "correct its value",
			"parameter %.*s of workload %.*s is not %s", BT_STR_ARG(reference),
			BT_STR_ARG(u->workload->name), words[type]);
		return NULL;
	}
	return param;
}

static bool patch_count(struct unrolling *u, struct bt_bench_op *op)
{
	const struct bt_param *param;

	if (op->count_param.len == 0) {
		if (!op->has_count &&
			(op->kind == BT_BENCH_OP_CREATE_ANY || op->kind == BT_BENCH_OP_UPDATE_ANY)) {
			op->count = 1;
		}
		return true;
	}
	param = param_of(u, op, op->count_param, BT_PARAM_NUMBER);
	if (!param) {
		return false;
	}
	if (!(param->number >= 0 && param->number <= (double)bt_bench_op_count_max(op->kind))) {
		return unroll_refuse(u, u->workload->line, "write a number that is not below 0, and less",
			"parameter %.*s of workload %.*s is out of range: the most for %s is %lld",
			BT_STR_ARG(op->count_param), BT_STR_ARG(u->workload->name),
			bt_bench_op_word(op->kind), (long long)bt_bench_op_count_max(op->kind));
	}
	op->count = (int64_t)param->number;
	return true;
}

static bool patch_duration(struct unrolling *u, struct bt_bench_op *op)
{
	struct bt_str text = op->duration_text;

	if (op->duration_param.len) {
		const struct bt_param *param = param_of(u, op, op->duration_param, BT_PARAM_TEXT);

		if (!param) {
			return false;
		}
		text = param->text;
	}
	if (text.len && (!bt_duration_parse(text, &op->duration_ns, NULL) || op->duration_ns < 0)) {
		return unroll_refuse(u, op->line, "write a duration such as 10s or 1m30s",
			"\"%.*s\" is no duration", BT_STR_ARG(text));
	}
	return true;
}

static bool patch(struct unrolling *u, struct bt_bench_op *op)
{
	if (!patch_count(u, op) || !patch_duration(u, op)) {
		return false;
	}
	if (op->steady_param.len) {
		const struct bt_param *param = param_of(u, op, op->steady_param, BT_PARAM_BOOL);

		if (!param) {
			return false;
		}
		op->steady = param->truth;
	}
	if (op->steady && op->duration_ns <= 0) {
		return unroll_refuse(
			u, op->line, "give it a duration above zero", "steadyState needs a duration");
	}
	return !(op->steady && op->count == 0) ||
	       unroll_refuse(u, op->line, "give it a count above zero", "steadyState needs pods");
}

static struct bt_bench_op *unroll_add(struct unrolling *u, const struct bt_bench_op *op)
{
	if (u->list.n == u->cap) {
		struct bt_bench_op *bigger =
			bt_arena_zalloc(&u->file->arena, (u->cap ? 2 * u->cap : 16) * sizeof(*bigger));

		if (u->list.n) {
			memcpy(bigger, u->list.ops, u->list.n * sizeof(*bigger));
		}
		u->list.ops = bigger;
		u->cap = u->cap ? 2 * u->cap : 16;
	}
	u->list.ops[u->list.n] = *op;
	return &u->list.ops[u->list.n++];
}

/* createPodSets is a createPods for each namespace. */
static bool take_apart(struct unrolling *u, const struct bt_bench_op *sets)
{
	for (int64_t i = 0; i < sets->count; i++) {
		struct bt_bench_op *pods = unroll_add(u, sets->pods);
		char name[300];
		int n = snprintf(name, sizeof(name), "%.*s-%lld", BT_STR_ARG(sets->prefix), (long long)i);

		pods->namespace_ =
			(struct bt_str){bt_arena_copy(&u->file->arena, name,
						(size_t)n < sizeof(name) ? (size_t)n : sizeof(name) - 1),
				(size_t)n < sizeof(name) ? (size_t)n : sizeof(name) - 1};
		if (!patch(u, pods)) {
			return false;
		}
	}
	return true;
}

/* Unused parameters are errors, except one that upstream's program reads. */
static bool all_used(struct unrolling *u)
{
	for (uint32_t i = 0; i < u->workload->param_n; i++) {
		const struct bt_param *param = &u->workload->params[i];

		if (!param->used && !bt_str_is(param->name, "numNodeDeclaredFeatures")) {
			return unroll_refuse(u, u->workload->line, "remove it, or correct its name",
				"parameter %.*s of workload %.*s is used by no operation",
				BT_STR_ARG(param->name), BT_STR_ARG(u->workload->name));
		}
	}
	return true;
}

enum bt_status bt_workload_ops(struct bt_workload_file *file, const struct bt_test_case *test_case,
	struct bt_workload *workload, struct bt_bench_op_list *out_ops, bt_diagnosis_fn *report,
	void *context)
{
	struct unrolling u = {.file = file, .workload = workload, .report = report, .context = context};

	for (uint32_t i = 0; i < test_case->op_n; i++) {
		struct bt_bench_op op = test_case->ops[i];

		if (!patch(&u, &op)) {
			return BT_INVALID;
		}
		if (op.kind != BT_BENCH_OP_CREATE_POD_SETS) {
			unroll_add(&u, &op);
		} else if (!take_apart(&u, &op)) {
			return BT_INVALID;
		}
	}
	if (!all_used(&u)) {
		return BT_INVALID;
	}
	*out_ops = u.list;
	return BT_OK;
}

const struct bt_param *bt_workload_param(struct bt_workload *workload, struct bt_str name)
{
	for (uint32_t i = 0; i < workload->param_n; i++) {
		if (bt_str_eq(workload->params[i].name, name)) {
			workload->params[i].used = true;
			return &workload->params[i];
		}
	}
	return NULL;
}

double bt_workload_threshold(const struct bt_workload *workload, struct bt_str topic)
{
	double general = 0;

	for (uint32_t i = 0; i < workload->threshold_n; i++) {
		const struct bt_threshold *threshold = &workload->thresholds[i];

		if (threshold->topic.len == 0) {
			general = threshold->value;
		} else if (bt_str_eq(threshold->topic, topic)) {
			return threshold->value;
		}
	}
	return general;
}

static bool has_label(const struct bt_str_list *labels, struct bt_str label)
{
	for (uint32_t i = 0; i < labels->n; i++) {
		if (bt_str_eq(labels->items[i], label)) {
			return true;
		}
	}
	return false;
}

bool bt_labels_wanted(
	const struct bt_test_case *test_case, const struct bt_workload *workload, struct bt_str filter)
{
	size_t at = 0;

	while (at < filter.len) {
		size_t end = bt_str_find(filter, ',', at);
		struct bt_str label = bt_str_sub(filter, at, end);
		bool wanted = !bt_str_starts(label, "-");

		at = end + 1;
		if (label.len == 0) {
			continue;
		}
		if (!wanted || bt_str_starts(label, "+")) {
			label = bt_str_sub(label, 1, label.len);
		}
		if (wanted != (has_label(&test_case->labels, label) || has_label(&workload->labels, label))) {
			return false;
		}
	}
	return true;
}
