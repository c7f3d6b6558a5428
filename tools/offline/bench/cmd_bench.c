/* SPDX-License-Identifier: Apache-2.0
 * berth bench: runs workload files of scheduler_perf in the engine, and reports pods a second.
 */
#include <dirent.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "tools/offline/bench/report.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/cli/terminal.h"
#include "tools/kube/config/config_file.h"

#define FILE_NAME  "performance-config.yaml"
#define DEPTH_MAX  16
#define WRAP	   100
#define DEFAULT_IN "performance,short" /* labels of what runs without arguments */

struct bench {
	struct bt_invocation *invocation;
	const struct bt_release *release;
	struct bt_buf *paths; /* of workload files */
	size_t path_n, path_cap;
	struct bt_workload_file *files;
	struct bt_specs specs;
	regex_t pattern;
	bool has_pattern, bad, quiet;
	struct bt_bench_options options;
	struct bt_bench_run_plan *plans;
	struct bt_bench_result *results; /* one for each plan */
	size_t plan_n, plan_cap, result_cap;
	struct bt_emit *emit;
};

static void cmd_bench_diagnose(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bench *b = context;
	struct bt_buf text = {0};

	b->bad = true;
	bt_diagnosis_text(diagnosis, &text);
	bt_message("berth bench: %s\n", text.ptr);
	bt_buf_fini(&text);
}

/* ---- which files ---- */

static void add_path(struct bench *b, const char *path)
{
	b->paths = bt_mem_grow(b->paths, b->path_n, &b->path_cap, sizeof(*b->paths));
	b->paths[b->path_n] = (struct bt_buf){0};
	bt_buf_text(&b->paths[b->path_n++], path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct bt_buf *)a)->ptr, ((const struct bt_buf *)b)->ptr);
}

/* Every performance-config.yaml below a folder, in the order of their paths. */
static void find_files(struct bench *b, const char *folder, int depth)
{
	DIR *dir = depth < DEPTH_MAX ? opendir(folder) : NULL;
	struct bt_buf path = {0};
	struct stat about;

	if (!dir) {
		return;
	}
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.') {
			continue;
		}
		bt_buf_clear(&path);
		bt_buf_printf(&path, "%s/%s", folder, entry->d_name);
		if (stat(path.ptr, &about) != 0) {
			continue;
		}
		if (S_ISDIR(about.st_mode)) {
			find_files(b, path.ptr, depth + 1);
		} else if (strcmp(entry->d_name, FILE_NAME) == 0) {
			add_path(b, path.ptr);
		}
	}
	closedir(dir);
	bt_buf_fini(&path);
}

static int add_operand(struct bench *b, const char *operand)
{
	size_t before = b->path_n;
	struct stat about;

	if (stat(operand, &about) != 0) {
		bt_message("berth bench: %s: there is no such file\n", operand);
		return BT_EXIT_INPUT;
	}
	if (!S_ISDIR(about.st_mode)) {
		add_path(b, operand);
		return BT_EXIT_OK;
	}
	struct bt_buf folder = {0};
	bt_buf_text(&folder, operand);
	while (folder.len > 1 && folder.ptr[folder.len - 1] == '/') {
		folder.ptr[--folder.len] = 0;
	}
	find_files(b, folder.ptr, 0);
	bt_buf_fini(&folder);
	if (b->path_n == before) {
		bt_message("berth bench: %s: there is no " FILE_NAME " in this folder\n", operand);
		return BT_EXIT_INPUT;
	}
	qsort(b->paths + before, b->path_n - before, sizeof(*b->paths), by_name);
	return BT_EXIT_OK;
}

/* Berth's own workloads: where they were installed beside the program, or where it was built. */
static int add_own(struct bench *b)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	struct stat about;

	for (int up = 0; up < 2 && n > 0; up++) {
		while (n > 0 && path[--n] != '/') {
		}
	}
	if (n > 0) {
		snprintf(path + n, sizeof(path) - (size_t)n, "/share/berth/workloads");
		if (stat(path, &about) == 0) {
			return add_operand(b, path);
		}
	}
	if (stat(BT_WORKLOADS_DIR, &about) == 0) {
		return add_operand(b, BT_WORKLOADS_DIR);
	}
	bt_message("berth bench: berth's own workloads are neither in %s nor in %s; name a file\n",
		n > 0 ? path : "share/berth", BT_WORKLOADS_DIR);
	return BT_EXIT_INPUT;
}

static int find_all(struct bench *b)
{
	int status = BT_EXIT_OK;

	if (b->invocation->operand_n == 0) {
		return add_own(b);
	}
	for (size_t i = 0; i < b->invocation->operand_n && status == BT_EXIT_OK; i++) {
		status = add_operand(b, b->invocation->operands[i]);
	}
	return status;
}

/* ---- which workloads ---- */

static bool is_wanted(
	const struct bench *b, const struct bt_test_case *test_case, const struct bt_workload *workload)
{
	const char *filter = bt_invocation_text(b->invocation, "label-filter");
	struct bt_buf name = {0};
	bool wanted;

	if (!filter) {
		filter = b->has_pattern ? "all" : b->invocation->operand_n ? "performance" : DEFAULT_IN;
	}
	filter = strcmp(filter, "all") == 0 ? "" : filter;
	bt_buf_printf(&name, "%.*s/%.*s", BT_STR_ARG(test_case->name), BT_STR_ARG(workload->name));
	wanted = bt_labels_wanted(test_case, workload, bt_str(filter)) &&
		 (!b->has_pattern || regexec(&b->pattern, name.ptr, 0, NULL, 0) == 0);
	bt_buf_fini(&name);
	return wanted;
}

/* Plans a workload. Unsupported ones get their result here. */
static void plan(struct bench *b, struct bt_workload_file *file, struct bt_test_case *test_case,
	struct bt_workload *workload)
{
	struct bt_bench_run_plan made;
	struct bt_buf why = {0};
	enum bt_status status =
		bt_bench_run_plan(b->release, file, test_case, workload, cmd_bench_diagnose, b, &made, &why);

	b->plans = bt_mem_grow(b->plans, b->plan_n, &b->plan_cap, sizeof(*b->plans));
	b->results = bt_mem_grow(b->results, b->plan_n, &b->result_cap, sizeof(*b->results));
	b->plans[b->plan_n] = made;
	b->results[b->plan_n++] = (struct bt_bench_result){
		.end = status == BT_OK		  ? BT_BENCH_RUN_DONE
		       : status == BT_UNSUPPORTED ? BT_BENCH_RUN_UNSUPPORTED
						  : BT_BENCH_RUN_FAILED,
		.why = why,
	};
}

static void plan_file(struct bench *b, struct bt_workload_file *file)
{
	for (uint32_t c = 0; c < file->case_n; c++) {
		struct bt_test_case *test_case = &file->cases[c];

		for (uint32_t w = 0; w < test_case->workload_n; w++) {
			if (is_wanted(b, test_case, &test_case->workloads[w])) {
				plan(b, file, test_case, &test_case->workloads[w]);
			}
		}
	}
}

static int plan_all(struct bench *b)
{
	b->files = bt_mem_zalloc(b->path_n, sizeof(*b->files));
	for (size_t i = 0; i < b->path_n; i++) {
		if (bt_workload_file_read(&b->files[i], b->paths[i].ptr, cmd_bench_diagnose, b) == BT_OK) {
			plan_file(b, &b->files[i]);
		}
	}
	if (b->bad) {
		return BT_EXIT_INPUT;
	}
	if (b->plan_n == 0) {
		bt_message("berth bench: no workload has these labels and this name; berth bench --list "
			   "--label-filter all shows all\n");
		return BT_EXIT_INPUT;
	}
	return BT_EXIT_OK;
}

/* ---- listing ---- */

static void list_params(struct bt_emit *emit, const struct bt_workload *workload)
{
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < workload->param_n; i++) {
		const struct bt_param *param = &workload->params[i];

		bt_buf_printf(&text, "%s%.*s=", i ? " " : "", BT_STR_ARG(param->name));
		if (param->type == BT_PARAM_BOOL) {
			bt_buf_text(&text, param->truth ? "true" : "false");
		} else {
			bt_buf_str(&text, param->text);
		}
	}
	bt_emit_str(emit, "params", bt_buf_view(&text));
	bt_buf_fini(&text);
}

static void list_labels(
	struct bt_emit *emit, const struct bt_test_case *test_case, const struct bt_workload *workload)
{
	const struct bt_str_list *lists[] = {&test_case->labels, &workload->labels};
	struct bt_buf text = {0};

	for (int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < lists[k]->n; i++) {
			bt_buf_printf(&text, "%s%.*s", text.len ? "," : "", BT_STR_ARG(lists[k]->items[i]));
		}
	}
	bt_emit_str(emit, "labels", bt_buf_view(&text));
	bt_buf_fini(&text);
}

static void list_one(struct bench *b, struct bt_bench_run_plan *made, struct bt_bench_result *result)
{
	struct bt_str topic = bt_bench_topic(made->file);
	struct bt_buf name = {0};

	if (result->end == BT_BENCH_RUN_DONE) {
		switch (bt_bench_run_check(made, &b->specs, &result->why)) {
		case BT_OK:
			break;
		case BT_UNSUPPORTED:
			result->end = BT_BENCH_RUN_UNSUPPORTED;
			break;
		default:
			result->end = BT_BENCH_RUN_FAILED;
		}
	}
	bt_emit_begin_object(b->emit, NULL);
	bt_buf_printf(
		&name, "%.*s/%.*s", BT_STR_ARG(made->test_case->name), BT_STR_ARG(made->workload->name));
	bt_emit_str(b->emit, "workload", bt_buf_view(&name));
	bt_emit_text(b->emit, "file", made->file->path);
	bt_emit_hide(b->emit);
	bt_emit_text(b->emit, "status",
		result->end == BT_BENCH_RUN_DONE	  ? "ok"
		: result->end == BT_BENCH_RUN_UNSUPPORTED ? "not supported"
							  : "failed");
	bt_emit_int(b->emit, "operations", made->ops.n);
	bt_emit_real(b->emit, "threshold", bt_workload_threshold(made->workload, topic), 0);
	list_labels(b->emit, made->test_case, made->workload);
	list_params(b->emit, made->workload);
	bt_emit_text(b->emit, "why", result->why.len ? result->why.ptr : "");
	bt_emit_end(b->emit);
	bt_buf_fini(&name);
}

static void list(struct bench *b)
{
	bt_emit_begin_array(b->emit, "workloads");
	for (size_t i = 0; i < b->plan_n; i++) {
		list_one(b, &b->plans[i], &b->results[i]);
	}
	bt_emit_end(b->emit);
}

/* ---- running ---- */

static void run(struct bench *b)
{
	for (size_t i = 0; i < b->plan_n; i++) {
		struct bt_bench_result *result = &b->results[i];

		if (result->end == BT_BENCH_RUN_DONE && !bt_interrupt_pending()) {
			bt_bench_workload(&b->plans[i], &b->options, &b->specs,
				bt_bench_topic(b->plans[i].file), result);
		} else if (result->end == BT_BENCH_RUN_DONE) {
			result->end = BT_BENCH_RUN_INTERRUPTED;
		}
		result->plan = &b->plans[i];
	}
	bt_bench_report(b->emit, b->results, b->plan_n, b->options.run.speed);
}

/* Notes below a table: the meaning of figures, wrapped. */
static void write_footer(struct bt_output *output)
{
	const char *text = BT_BENCH_DIFFERENCES;
	size_t n = strlen(text), at = 0;

	bt_output_str(output, bt_str("\n"));
	while (at < n) {
		size_t end = at + WRAP < n ? at + WRAP : n;

		while (end < n && text[end] != ' ') {
			end--;
		}
		bt_output_add(output, text + at, end - at);
		bt_output_str(output, bt_str("\n"));
		at = end + 1;
	}
}

static int write_report(struct bench *b)
{
	enum bt_emit_format format = bt_emit_format_of(bt_invocation_text(b->invocation, "output"));
	struct bt_output output;

	bt_output_open_standard(false, &output);
	bt_emit_write(b->emit, format,
		bt_terminal_color(bt_invocation_text(b->invocation, "color"), STDOUT_FILENO), &output);
	if (format == BT_EMIT_TABLE && !bt_invocation_has(b->invocation, "list")) {
		write_footer(&output);
	}
	return bt_output_close(&output);
}

/* ---- options ---- */

static bool read_number(const struct bench *b, const char *name, double min, double *out)
{
	const char *text = bt_invocation_text(b->invocation, name);
	char *behind;

	*out = strtod(text, &behind);
	return text[strspn(text, "0123456789.")] == 0 && behind != text && *behind == 0 && *out > min &&
	       *out <= 1e9;
}

static int read_options(struct bench *b)
{
	const struct bt_command *command = b->invocation->command;
	const char *pattern = bt_invocation_text(b->invocation, "run");
	double timeout_s;

	if (!read_number(b, "speed", 0, &b->options.run.speed)) {
		return bt_invocation_wrong(command,
			"--speed is a number above 0, such as 1 or 1000, not '%s'",
			bt_invocation_text(b->invocation, "speed"));
	}
	if (!read_number(b, "timeout", 0, &timeout_s)) {
		return bt_invocation_wrong(command, "--timeout is a number of seconds above 0, not '%s'",
			bt_invocation_text(b->invocation, "timeout"));
	}
	if (pattern) {
		if (regcomp(&b->pattern, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
			return bt_invocation_wrong(command, "--run '%s' is no regular expression", pattern);
		}
		b->has_pattern = true;
	}
	int status = bt_configuration_release(b->invocation, &b->release);
	b->options.run.timeout_ns = (int64_t)(timeout_s * 1e9);
	b->options.run.seed = bt_invocation_number(b->invocation, "seed");
	b->options.run_n = (uint32_t)bt_invocation_number(b->invocation, "runs");
	b->options.quiet = b->quiet = bt_invocation_has(b->invocation, "quiet");
	return status;
}

/* The exit status after the report. */
static int verdict(const struct bench *b)
{
	if (bt_interrupt_pending()) {
		return BT_EXIT_INTERRUPTED;
	}
	if (b->bad) {
		return BT_EXIT_INPUT;
	}
	for (size_t i = 0; i < b->plan_n; i++) {
		for (size_t k = 0; k < b->results[i].item_n; k++) {
			if (b->results[i].items[k].missed) {
				return BT_EXIT_NO;
			}
		}
		if (b->results[i].end != BT_BENCH_RUN_DONE) {
			return BT_EXIT_NO;
		}
	}
	return BT_EXIT_OK;
}

static int bench(struct bench *b)
{
	int status = read_options(b);

	if (status == BT_EXIT_OK) {
		status = find_all(b);
	}
	if (status == BT_EXIT_OK) {
		status = plan_all(b);
	}
	if (status != BT_EXIT_OK) {
		return status;
	}
	bt_bench_report_begin(b->emit);
	if (bt_invocation_has(b->invocation, "list")) {
		list(b);
	} else {
		run(b);
	}
	status = write_report(b);
	return status == BT_EXIT_OK ? verdict(b) : status;
}

int bt_cmd_bench(struct bt_invocation *invocation)
{
	struct bench b = {.invocation = invocation, .emit = bt_emit_create()};

	bt_specs_init(&b.specs, cmd_bench_diagnose, &b);
	int status = bench(&b);

	for (size_t i = 0; i < b.plan_n; i++) {
		bt_bench_result_fini(&b.results[i]);
	}
	for (size_t i = 0; i < b.path_n; i++) {
		bt_buf_fini(&b.paths[i]);
		if (b.files) {
			bt_workload_file_fini(&b.files[i]);
		}
	}
	bt_mem_free(b.plans);
	bt_mem_free(b.results);
	bt_mem_free(b.paths);
	bt_mem_free(b.files);
	if (b.has_pattern) {
		regfree(&b.pattern);
	}
	bt_specs_fini(&b.specs);
	bt_emit_destroy(b.emit);
	return status;
}
