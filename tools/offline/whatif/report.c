/* SPDX-License-Identifier: Apache-2.0
 * The report of berth whatif.
 */
#include "tools/offline/whatif/report.h"

#include <stdlib.h>

#include "engine/base/mem.h"
#include "tools/cli/emit.h"
#include "tools/cli/print.h"

#define SCHEMA	 "berth.whatif/v1"
#define ROWS_MAX 20 /* rows of a section for people */

/* Numbers of a row. Of those that may be hidden the table has the ones that are not 0 in every row. */
struct number {
	const char *key, *label;
	bool may_hide;
	uint64_t (*of)(const struct bt_whatif_answer *answer);
};

static uint64_t nodes(const struct bt_whatif_answer *a)
{
	return a->node_n;
}

static uint64_t displaced(const struct bt_whatif_answer *a)
{
	return a->displaced_n;
}

static uint64_t placed(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_PLACED];
}

static uint64_t unplaced(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_UNPLACED];
}

static uint64_t not_recreated(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_NOT_RECREATED];
}

static uint64_t lost(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_LOST];
}

static uint64_t now_fit(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_NOW_FITS];
}

static uint64_t pending(const struct bt_whatif_answer *a)
{
	return a->pending_n;
}

static uint64_t added(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_ADDED];
}

static uint64_t added_pending(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_ADDED_PENDING];
}

static uint64_t deleted(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_DELETED];
}

static uint64_t preempted(const struct bt_whatif_answer *a)
{
	return a->preemption_n;
}

static uint64_t preempted_unplaced(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_PREEMPTED_UNPLACED];
}

static uint64_t preempted_ended(const struct bt_whatif_answer *a)
{
	return a->fates[BT_FATE_PREEMPTED_ENDED];
}

static uint64_t violated(const struct bt_whatif_answer *a)
{
	return a->violated_n;
}

static uint64_t forbidden(const struct bt_whatif_answer *a)
{
	return a->forbidden_n;
}

static const struct number numbers[] = {
	{"nodes", "nodes", false, nodes},
	{"displaced", "displaced", false, displaced},
	{"placed", "placed", false, placed},
	{"unplaced", "unplaced", false, unplaced},
	{"not_recreated", "not recreated", false, not_recreated},
	{"lost", "lost", true, lost},
	{"now_fit", "now fit", true, now_fit},
	{"pending", "still pending", true, pending},
	{"added", "new, placed", true, added},
	{"added_pending", "new, unplaced", true, added_pending},
	{"deleted", "deleted", true, deleted},
	{"preempted", "preempted", true, preempted},
	{"preempted_unplaced", "preempted, unplaced", true, preempted_unplaced},
	{"preempted_not_recreated", "preempted, not recreated", true, preempted_ended},
	{"violated", "budget violated", true, violated},
	{"forbidden", "forbidden by budget", false, forbidden},
};
#define NUMBER_N (sizeof(numbers) / sizeof(numbers[0]))

/* ---- lists of a question ---- */

static void add_pods(struct bt_emit *emit, const struct bt_whatif_answer *answer)
{
	bt_emit_begin_array(emit, "pods");
	bt_emit_label(emit, "Pods");
	for (uint64_t i = 0; i < answer->pod_n; i++) {
		const struct bt_answer_pod *pod = &answer->pods[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "pod", pod->name);
		bt_emit_str(emit, "from", pod->from);
		bt_emit_str(emit, "to", pod->to);
		bt_emit_text(emit, "result", bt_fate_text((enum bt_fate)pod->fate));
		bt_emit_str(emit, "reason", pod->reason);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_budgets(struct bt_emit *emit, const struct bt_whatif_answer *answer)
{
	bt_emit_begin_array(emit, "budgets");
	bt_emit_label(emit, "PodDisruptionBudgets that forbid evictions, or that preemptions violate");
	for (uint64_t i = 0; i < answer->budget_n; i++) {
		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "budget", answer->budgets[i].name);
		bt_emit_int(emit, "pods", (int64_t)answer->budgets[i].pod_n);
		bt_emit_label(emit, "forbidden");
		bt_emit_int(emit, "violated", (int64_t)answer->budgets[i].preempted_n);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_preemptions(struct bt_emit *emit, const struct bt_whatif_answer *answer)
{
	bt_emit_begin_array(emit, "preemptions");
	bt_emit_label(emit, "Preempted pods");
	for (uint64_t i = 0; i < answer->preemption_n; i++) {
		const struct bt_answer_preemption *preemption = &answer->preemptions[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "pod", preemption->pod);
		bt_emit_str(emit, "node", preemption->node);
		bt_emit_str(emit, "by", preemption->by);
		bt_emit_str(emit, "budget", preemption->budget);
		bt_emit_label(emit, "violated budget");
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_uses(struct bt_emit *emit, const struct bt_whatif_answer *answer)
{
	bt_emit_begin_array(emit, "utilization");
	bt_emit_label(emit, "Requested resources (% of allocatable)");
	for (uint64_t i = 0; i < answer->use_n; i++) {
		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "resource", answer->uses[i].resource);
		bt_emit_real(emit, "before", answer->uses[i].before, 1);
		bt_emit_real(emit, "after", answer->uses[i].after, 1);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_lists(struct bt_emit *emit, const struct bt_whatif_answer *answer)
{
	add_pods(emit, answer);
	add_preemptions(emit, answer);
	add_budgets(emit, answer);
	add_uses(emit, answer);
}

/* ---- rows ---- */

struct report {
	const struct bt_whatif_row *rows;
	size_t n;
	enum bt_emit_format format;
	bool hidden[NUMBER_N];
};

static bool is_nested(const struct report *report)
{
	return report->format == BT_EMIT_JSON || report->format == BT_EMIT_YAML;
}

static void add_row(const struct report *report, struct bt_emit *emit, const struct bt_whatif_row *row)
{
	const struct bt_whatif_answer *answer = &row->answer;

	bt_emit_begin_object(emit, NULL);
	bt_emit_str(emit, "question", row->question);
	for (size_t i = 0; i < NUMBER_N; i++) {
		bt_emit_int(emit, numbers[i].key, (int64_t)numbers[i].of(answer));
		bt_emit_label(emit, numbers[i].label);
		if (report->hidden[i]) {
			bt_emit_hide(emit);
		}
	}
	bt_emit_str(emit, "budget", answer->budget_n ? answer->budgets[0].name : (struct bt_str){0});
	bt_emit_str(emit, "example", answer->example);
	bt_emit_str(emit, "reason", answer->reason);
	if (is_nested(report)) {
		add_lists(emit, answer);
	}
	bt_emit_end(emit);
}

/* The questions that people see first: those with trouble. */
static int by_trouble(const void *a, const void *b)
{
	const struct bt_whatif_row *x = *(const struct bt_whatif_row *const *)a;
	const struct bt_whatif_row *y = *(const struct bt_whatif_row *const *)b;
	uint64_t x_n = unplaced(&x->answer) + added_pending(&x->answer) + preempted_unplaced(&x->answer),
		 y_n = unplaced(&y->answer) + added_pending(&y->answer) + preempted_unplaced(&y->answer);

	if (x_n != y_n) {
		return x_n > y_n ? -1 : 1;
	}
	if (x->answer.forbidden_n != y->answer.forbidden_n) {
		return x->answer.forbidden_n > y->answer.forbidden_n ? -1 : 1;
	}
	return bt_str_cmp(x->question, y->question);
}

static void add_rows(const struct report *report, struct bt_emit *emit)
{
	const bool all = report->format != BT_EMIT_TABLE;
	const struct bt_whatif_row **order = bt_mem_zalloc(report->n, sizeof(*order));
	size_t shown = all || report->n < ROWS_MAX ? report->n : ROWS_MAX, bad_n = 0;

	for (size_t i = 0; i < report->n; i++) {
		order[i] = &report->rows[i];
		bad_n += bt_answer_is_bad(&report->rows[i].answer);
	}
	if (!all) {
		qsort(order, report->n, sizeof(*order), by_trouble);
	}
	bt_emit_count(emit, "questions", "questions", report->n);
	bt_emit_count(emit, "with_trouble", "of them with pods that do not move", bad_n);
	bt_emit_begin_array(emit, "whatif");
	bt_emit_label(emit, "Questions");
	for (size_t i = 0; i < shown; i++) {
		add_row(report, emit, order[i]);
	}
	bt_emit_end(emit);
	if (shown < report->n) {
		bt_emit_count(
			emit, "more", "more questions, not shown (-o json shows them)", report->n - shown);
	}
	bt_mem_free(order);
}

static struct report report_of(const struct bt_whatif_row *rows, size_t n, enum bt_emit_format format)
{
	struct report report = {.rows = rows, .n = n, .format = format};

	for (size_t i = 0; i < NUMBER_N; i++) {
		report.hidden[i] = numbers[i].may_hide;
		for (size_t r = 0; r < n && report.hidden[i]; r++) {
			report.hidden[i] = numbers[i].of(&rows[r].answer) == 0;
		}
	}
	return report;
}

int bt_whatif_report(const struct bt_loaded_cluster *cluster, const struct bt_whatif_row *rows, size_t n)
{
	const struct bt_invocation *invocation = cluster->invocation;
	const struct report report =
		report_of(rows, n, bt_emit_format_of(bt_invocation_text(invocation, "output")));
	struct bt_emit *emit = bt_emit_create();
	bool bad = false;

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_str(emit, "source", bt_buf_view(&cluster->source));
	bt_emit_count(emit, "nodes", "nodes", cluster->intake.counts.nodes);
	bt_emit_count(emit, "pods_on_nodes", "pods on nodes", cluster->intake.counts.scheduled);
	bt_emit_count(emit, "pods_placed_first", "pending pods placed first", cluster->placed_n);
	add_rows(&report, emit);
	if (n == 1 && !is_nested(&report)) {
		add_lists(emit, &rows[0].answer);
	}
	for (size_t i = 0; i < n; i++) {
		bad |= bt_answer_is_bad(&rows[i].answer);
	}
	int status = bt_print_report(emit, invocation);

	return status != BT_EXIT_OK ? status : bad ? BT_EXIT_NO : BT_EXIT_OK;
}
