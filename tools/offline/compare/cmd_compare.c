/* SPDX-License-Identifier: Apache-2.0
 * berth compare: decisions that differ between two releases of Kubernetes for a cluster, and by which of
 * their differences.
 */
#include <inttypes.h>
#include <string.h>

#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/cli/print.h"
#include "tools/format/input.h"
#include "tools/kube/config/config_decode.h"
#include "tools/kube/config/config_file.h"
#include "tools/kube/config/recording.h"
#include "tools/kube/objects/watch_event.h"
#include "tools/offline/compare/causes.h"
#include "tools/offline/compare/record.h"

#define SCHEMA	   "berth.compare/v1"
#define TABLE_ROWS 3 /* of differences of a kind, without --all */

struct comparing {
	struct bt_invocation *invocation;
	struct bt_input *files[2]; /* --config, and the operand if that is a journal */
	struct bt_str config;	   /* its text */
	bool has_config;
	const char *config_name;
	struct bt_str journal;
	struct bt_recorded recorded; /* without a journal */
	struct bt_watch_event_maker maker;
	struct bt_comparison comparison;
	struct bt_buf refused; /* flags and configuration that the newer release rejects */
};

static const char *option(const struct comparing *c, const char *name)
{
	return bt_invocation_text(c->invocation, name);
}

static void diagnose(void *context, const struct bt_diagnosis *diagnosis)
{
	const struct comparing *c = context;
	struct bt_buf text = {0};

	bt_diagnosis_text(diagnosis, &text);
	bt_message("berth %s: %s\n", c->invocation->command->name, text.ptr);
	bt_buf_fini(&text);
}

/* Reads a whole file. Returns: false with a message on standard error. */
static bool read_file(struct comparing *c, struct bt_input **input, const char *path, struct bt_str *out_text)
{
	struct bt_input_file file;

	*input = bt_input_create(diagnose, c);
	if (bt_input_add(*input, path) != BT_OK || !bt_input_next(*input, &file)) {
		return false;
	}
	*out_text = file.text;
	return true;
}

static bool make_config(
	void *context, const struct bt_gates *gates, struct bt_config *out_config, struct bt_buf *out_error)
{
	const struct comparing *c = context;

	bt_config_init(out_config, gates);
	if (!c->has_config) {
		bt_config_default(out_config);
		return true;
	}
	return bt_config_load(out_config, c->config_name, c->config, out_error) == BT_OK;
}

/* ---- inputs ---- */

/* Uses the journal's configuration, unless there is --config. */
static int open_journal(struct comparing *c)
{
	const char *path = option(c, "journal");
	struct bt_journal_reader reader;
	struct bt_journal_header header;
	struct bt_buf error = {0};
	int status = BT_EXIT_OK;

	if (!path) {
		return BT_EXIT_OK;
	}
	if (bt_invocation_input(c->invocation, 0)) {
		return bt_invocation_wrong(
			c->invocation->command, "--journal and a cluster's files exclude each other");
	}
	if (!read_file(c, &c->files[1], path, &c->journal)) {
		return BT_EXIT_INPUT;
	}
	if (bt_journal_open(c->journal, &reader, &header, &error) != BT_OK) {
		bt_message("berth compare: %s: %s\n", path, error.ptr);
		status = BT_EXIT_INPUT;
	} else if (!c->has_config) {
		size_t end = bt_str_find(header.config, '\n', 0);

		c->config =
			bt_str_sub(header.config, end < header.config.len ? end + 1 : end, header.config.len);
		c->config_name = "the journal's configuration";
		c->has_config = true;
	}
	bt_buf_fini(&error);
	return status;
}

/* The older release must accept the configuration. */
static int check_older(struct comparing *c)
{
	struct bt_config config;
	struct bt_buf error = {0};
	int status = BT_EXIT_OK;

	if (!make_config(c, &c->comparison.from, &config, &error)) {
		bt_message("berth compare: %s\n", error.ptr);
		status = BT_EXIT_INPUT;
	} else if (config.extender_n) {
		status = bt_invocation_wrong(c->invocation->command,
			"%s has extenders, whose answers are not known; leave them out", c->config_name);
	}
	bt_config_fini(&config);
	bt_buf_fini(&error);
	return status;
}

static int record(struct comparing *c)
{
	struct bt_config config;
	struct bt_buf error = {0};

	make_config(c, &c->comparison.from, &config, &error);
	int status = bt_record_run(c->invocation, &config, &c->recorded);
	c->journal = bt_buf_view(&c->recorded.journal);
	bt_config_fini(&config);
	bt_buf_fini(&error);
	return status;
}

/* Collects what the newer release rejects. Returns: whether it accepts everything. */
static bool is_accepted(struct comparing *c)
{
	const struct bt_release *to = c->comparison.to.release;
	struct bt_config config;
	struct bt_buf *error = &c->refused;

	const char *gates =
		bt_invocation_has(c->invocation, "to-feature-gates") ? "to-feature-gates" : "feature-gates";

	if (!bt_configuration_try_gates(c->invocation, gates, to, &c->comparison.to, error)) {
		return false;
	}
	bool good = make_config(c, &c->comparison.to, &config, error);
	bt_config_fini(&config);
	return good;
}

/* ---- report ---- */

static const char *const kinds[BT_DIFFERENCE_N] = {
	[BT_DIFFERENT_NODE] = "another node",
	[BT_PLACED_INSTEAD] = "placed, not refused",
	[BT_REFUSED_INSTEAD] = "refused, not placed",
	[BT_DIFFERENT_PREEMPTION] = "another preemption",
	[BT_DIFFERENT_FAILURE] = "an error in one alone",
	[BT_DIFFERENT_MESSAGE] = "another message",
};

/* difference: one with several causes, all of which are named; or NULL. */
static void add_cause(struct bt_emit *emit, const struct bt_comparison *c, uint32_t cause,
	const struct bt_difference *difference)
{
	struct bt_buf name = {0};

	if (cause == BT_NO_CAUSE) {
		bt_buf_text(&name, "not known");
	} else {
		bt_cause_name(&c->causes[cause], &name);
	}
	for (uint32_t i = 0; difference && i < difference->other_n; i++) {
		bt_buf_text(&name, " and ");
		bt_cause_name(&c->causes[difference->others[i]], &name);
	}
	if (difference) {
		bt_buf_text(&name,
			difference->more_n || !difference->other_n ? " and others together" : " together");
	}
	bt_emit_str(emit, "cause", bt_buf_view(&name));
	bt_buf_fini(&name);
}

static void add_causes(struct bt_emit *emit, const struct bt_comparison *c)
{
	bt_emit_begin_array(emit, "causes");
	bt_emit_label(emit, "Causes");
	for (size_t i = 0; i < c->cause_n; i++) {
		const struct bt_cause *cause = &c->causes[i];

		if (cause->decision_n + cause->message_n == 0) {
			continue;
		}
		bt_emit_begin_object(emit, NULL);
		add_cause(emit, c, (uint32_t)i, NULL);
		bt_emit_count(emit, "decisions", "decisions", cause->decision_n);
		bt_emit_count(emit, "messages", "messages alone", cause->message_n);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

/* The differing words of a text, with "..." for equal parts. */
static struct bt_str differing(struct bt_str text, struct bt_str other, struct bt_buf *out)
{
	size_t n = text.len < other.len ? text.len : other.len, head = 0, tail = 0;

	while (head < n && text.ptr[head] == other.ptr[head]) {
		head++;
	}
	while (tail < n - head && text.ptr[text.len - 1 - tail] == other.ptr[other.len - 1 - tail]) {
		tail++;
	}
	while (head && text.ptr[head - 1] != ' ') {
		head--;
	}
	while (tail && text.ptr[text.len - tail] != ' ') {
		tail--;
	}
	bt_buf_clear(out);
	bt_buf_text(out, head ? "... " : "");
	bt_buf_str(out, bt_str_sub(text, head, text.len - tail));
	bt_buf_text(out, tail ? " ..." : "");
	return bt_buf_view(out);
}

static void add_messages(struct bt_emit *emit, const struct bt_difference *d)
{
	struct bt_buf text = {0};

	bt_emit_str(emit, "from", differing(d->from_message, d->to_message, &text));
	bt_emit_str(emit, "to", differing(d->to_message, d->from_message, &text));
	bt_buf_fini(&text);
}

static void add_difference(struct bt_emit *emit, const struct bt_comparison *c, const struct bt_difference *d)
{
	bt_emit_begin_object(emit, NULL);
	bt_emit_int(emit, "decision", (int64_t)d->number);
	bt_emit_hide(emit);
	bt_emit_str(emit, "pod", d->pod);
	bt_emit_text(emit, "difference", kinds[d->kind]);
	if (d->kind == BT_DIFFERENT_MESSAGE) {
		add_messages(emit, d);
	} else {
		bt_emit_str(emit, "from", d->from);
		bt_emit_str(emit, "to", d->to);
	}
	add_cause(emit, c, d->cause, d->together ? d : NULL);
	bt_emit_str(emit, "from_message", d->from_message);
	bt_emit_hide(emit);
	bt_emit_str(emit, "to_message", d->to_message);
	bt_emit_hide(emit);
	bt_emit_end(emit);
}

static void add_differences(struct bt_emit *emit, const struct bt_comparison *c, bool all)
{
	uint64_t shown[BT_DIFFERENCE_N] = {0};

	bt_emit_begin_array(emit, "differences");
	bt_emit_label(emit,
		all ? "Differences" : "Differences (the first of each kind; --all or -o json: every one)");
	for (size_t i = 0; i < c->difference_n; i++) {
		if (all || shown[c->differences[i].kind]++ < TABLE_ROWS) {
			add_difference(emit, c, &c->differences[i]);
		}
	}
	bt_emit_end(emit);
}

static void add_counts(struct bt_emit *emit, const struct bt_comparison *c)
{
	static const struct {
		const char *key, *label;
	} counts[BT_DIFFERENCE_N] = {{"another_node", "    another node"},
		{"placed_instead", "    placed, not refused"}, {"refused_instead", "    refused, not placed"},
		{"another_preemption", "    another preemption"},
		{"another_failure", "    an error in one alone"},
		{"another_message", "  equal with another message"}};

	bt_emit_count(emit, "decisions", "decisions compared", c->decision_n);
	if (c->foreign_n) {
		bt_emit_count(emit, "foreign", "  of the journal that --from would not make", c->foreign_n);
	}
	bt_emit_count(emit, "differ", "  that differ", c->difference_n - c->kind_n[BT_DIFFERENT_MESSAGE]);
	for (int i = 0; i < BT_DIFFERENCE_N; i++) {
		bt_emit_count(emit, counts[i].key, counts[i].label, c->kind_n[i]);
	}
}

static void add_refused(struct bt_emit *emit, struct bt_str text)
{
	bt_emit_begin_array(emit, "refused");
	bt_emit_label(emit, "Refused by the newer release");
	while (text.len) {
		size_t end = bt_str_find(text, '\n', 0);

		bt_emit_begin_object(emit, NULL);
		bt_emit_str(emit, "error", bt_str_sub(text, 0, end));
		bt_emit_end(emit);
		text = bt_str_sub(text, end < text.len ? end + 1 : end, text.len);
	}
	bt_emit_end(emit);
}

/* A text as both releases have it, where one of them may have none. */
static void add_change(struct bt_emit *emit, const char *from, const char *to, const char *none)
{
	bt_emit_text(emit, "from", from ? from : none);
	bt_emit_text(emit, "to", to ? to : none);
}

static void add_metric(struct bt_emit *emit, const struct bt_metric_change *change)
{
	bool labels = !change->from_labels || !change->to_labels ||
		      strcmp(change->from_labels, change->to_labels) != 0;

	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "metric", change->metric);
	bt_emit_text(emit, "change",
		!change->from_labels ? "new"
		: !change->to_labels ? "gone"
		: labels	     ? "labels"
				     : "help");
	if (labels) {
		add_change(emit, change->from_labels, change->to_labels, "");
	} else {
		add_change(emit, change->from_help, change->to_help, "(the usual help)");
	}
	bt_emit_end(emit);
}

/* Texts that change in any cluster: metrics, and texts of events. */
static void add_words(struct bt_emit *emit, const struct bt_release *from, const struct bt_release *to)
{
	struct bt_metric_change change;

	bt_emit_begin_array(emit, "metrics");
	bt_emit_label(emit, "Metrics that change");
	for (uint32_t i = 0; bt_release_metric_change(from, to, i, &change); i++) {
		add_metric(emit, &change);
	}
	bt_emit_end(emit);
	bt_emit_begin_array(emit, "texts");
	bt_emit_label(emit, "Texts of events and conditions that change");
	for (unsigned text = 0; text < BT_TEXT_N; text++) {
		const char *older = bt_release_text(from, (enum bt_release_text)text);
		const char *newer = bt_release_text(to, (enum bt_release_text)text);

		if (strcmp(older, newer) != 0) {
			bt_emit_begin_object(emit, NULL);
			add_change(emit, older, newer, "");
			bt_emit_end(emit);
		}
	}
	bt_emit_end(emit);
}

static int report(const struct comparing *c)
{
	const struct bt_comparison *comparison = &c->comparison;
	enum bt_emit_format format = bt_emit_format_of(option(c, "output"));
	bool all = format != BT_EMIT_TABLE || bt_invocation_has(c->invocation, "all");
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_text(emit, "from", comparison->from.release->version);
	bt_emit_text(emit, "to", comparison->to.release->version);
	if (c->recorded.node_n) {
		bt_emit_count(emit, "nodes", "nodes", c->recorded.node_n);
	}
	add_refused(emit, bt_buf_view(&c->refused));
	if (!c->refused.len) {
		add_counts(emit, comparison);
		add_causes(emit, comparison);
		add_differences(emit, comparison, all);
	}
	if (all) {
		add_words(emit, comparison->from.release, comparison->to.release);
	}
	return bt_print_report(emit, c->invocation);
}

/* ---- the command ---- */

static int begin(struct comparing *c)
{
	const struct bt_release *from, *to;
	int status = bt_configuration_release_of(c->invocation, "from", &from);

	if (!status) {
		status = bt_configuration_release_of(c->invocation, "to", &to);
	}
	if (!status && from == to && !bt_invocation_has(c->invocation, "to-feature-gates")) {
		status = bt_invocation_wrong(c->invocation->command,
			"--from and --to are the same release; give --to-feature-gates to compare feature "
			"gates");
	}
	if (!status) {
		status = bt_configuration_gates_of(c->invocation, from, &c->comparison.from);
		c->comparison.to.release = to;
	}
	if (!status) {
		status = bt_configuration_plugins(c->invocation);
	}
	if (!status && option(c, "config")) {
		c->config_name = option(c, "config");
		c->has_config = true;
		status = read_file(c, &c->files[0], c->config_name, &c->config) ? BT_EXIT_OK : BT_EXIT_INPUT;
	}
	if (!status) {
		status = open_journal(c);
	}
	return status ? status : check_older(c);
}

static int compare(struct comparing *c)
{
	struct bt_buf error = {0};
	int status = begin(c);

	if (!status && !is_accepted(c)) {
		status = report(c);
		return status ? status : BT_EXIT_NO;
	}
	if (!status && !c->journal.len) {
		status = record(c);
	}
	if (status) {
		return status;
	}
	c->comparison.make_config = make_config;
	c->comparison.context = c;
	c->comparison.codec = bt_journal_json(&c->maker);
	c->comparison.stop = bt_interrupt_pending;
	if (bt_compare_journal(&c->comparison, c->journal, &error) != BT_OK) {
		bt_message("berth compare: %s\n", error.ptr);
		status = BT_EXIT_INPUT;
	}
	bt_buf_fini(&error);
	if (!status) {
		status = bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : report(c);
	}
	return status || !c->comparison.difference_n ? status : BT_EXIT_NO;
}

int bt_cmd_compare(struct bt_invocation *invocation)
{
	struct comparing c = {.invocation = invocation};

	bt_watch_event_maker_init(&c.maker);
	int status = compare(&c);
	for (size_t i = 0; i < sizeof(c.files) / sizeof(*c.files); i++) {
		if (c.files[i]) {
			bt_input_destroy(c.files[i]);
		}
	}
	bt_comparison_fini(&c.comparison);
	bt_watch_event_maker_fini(&c.maker);
	bt_buf_fini(&c.recorded.journal);
	bt_buf_fini(&c.refused);
	return status;
}
