/* SPDX-License-Identifier: Apache-2.0
 * berth timeline: what happens to a pod, and how its object changes.
 */
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/print.h"
#include "tools/format/time.h"
#include "tools/offline/simulate/pod_names.h"
#include "tools/offline/timeline/source.h"

#define SCHEMA	 "berth.timeline/v1"
#define NS_PER_S 1e9

static const char *state_of(const struct bt_timeline *t)
{
	if (t->gone) {
		return "gone";
	}
	if (t->ignored) {
		return "ignored";
	}
	if (bt_pod_fields_get(&t->fields, bt_str("spec.nodeName")).len) {
		return "placed";
	}
	return t->gated ? "gated" : "pending";
}

static void add_time(struct bt_emit *emit, const struct bt_timeline *t, const struct bt_timeline_row *row)
{
	char text[BT_TIME_TEXT_MAX];

	bt_emit_str(emit, "time", (struct bt_str){text, bt_time_text(row->at_ns, text)});
	bt_emit_hide(emit);
	bt_emit_real(emit, "after_s", (double)(row->at_ns - t->rows[0].at_ns) / NS_PER_S, 3);
	bt_emit_label(emit, "after s");
}

static void add_rows(struct bt_emit *emit, const struct bt_timeline *t)
{
	bt_emit_begin_array(emit, "timeline");
	bt_emit_label(emit, "What happens to the pod");
	for (size_t i = 0; i < t->row_n; i++) {
		bt_emit_begin_object(emit, NULL);
		bt_emit_int(emit, "step", (int64_t)i + 1);
		add_time(emit, t, &t->rows[i]);
		bt_emit_text(emit, "what", t->rows[i].what);
		bt_emit_str(emit, "detail", t->rows[i].detail);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

static void add_side(struct bt_emit *emit, const char *key, struct bt_str value)
{
	if (value.len) {
		bt_emit_str(emit, key, value);
	} else {
		bt_emit_null(emit, key);
	}
}

static void add_changes(struct bt_emit *emit, const struct bt_timeline *t)
{
	bt_emit_begin_array(emit, "changes");
	bt_emit_label(emit, "Changes of the object");
	for (size_t i = 0; i < t->row_n; i++) {
		for (size_t k = 0; k < t->rows[i].change_n; k++) {
			const struct bt_timeline_change *change = &t->changes[t->rows[i].first_change + k];

			bt_emit_begin_object(emit, NULL);
			bt_emit_int(emit, "step", (int64_t)i + 1);
			bt_emit_str(emit, "field", change->path);
			add_side(emit, "after", change->after);
			add_side(emit, "before", change->before);
			bt_emit_end(emit);
		}
	}
	bt_emit_end(emit);
}

static int report_timeline(
	const struct bt_timeline *t, const struct bt_invocation *invocation, const char *pod)
{
	struct bt_emit *emit = bt_emit_create();
	const struct bt_str node = bt_pod_fields_get(&t->fields, bt_str("spec.nodeName"));
	char begin[BT_TIME_TEXT_MAX];

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_text(emit, "pod", pod);
	bt_emit_text(emit, "state", state_of(t));
	bt_emit_str(emit, "node", node);
	if (!node.len) {
		bt_emit_hide(emit);
	}
	bt_emit_count(emit, "attempts", "attempts", t->attempt_n);
	bt_emit_str(emit, "begin", (struct bt_str){begin, bt_time_text(t->rows[0].at_ns, begin)});
	bt_emit_label(emit, "created at");
	add_rows(emit, t);
	add_changes(emit, t);
	int status = bt_print_report(emit, invocation);

	return status != BT_EXIT_OK ? status : node.len && !t->gone ? BT_EXIT_OK : BT_EXIT_NO;
}

int bt_cmd_timeline(struct bt_invocation *invocation)
{
	const char *typed = bt_invocation_take_last(invocation), *path;
	struct bt_timeline timeline = {.now_ns = NULL};
	struct bt_buf pod = {0};
	int status;

	if (!typed) {
		return bt_invocation_wrong(
			invocation->command, "no pod; give NAMESPACE/NAME as the last argument");
	}
	if (!bt_pod_names_read(typed, &pod, &timeline.namespace_, &timeline.name)) {
		status = bt_invocation_wrong(invocation->command,
			"'%s' is no pod; give NAMESPACE/NAME as the last argument", typed);
	} else {
		path = bt_invocation_input(invocation, 0);
		status = path && !bt_invocation_input(invocation, 1) && bt_timeline_is_journal(path)
				 ? bt_timeline_from_journal(&timeline, invocation)
				 : bt_timeline_from_cluster(&timeline, invocation);
	}
	if (status == BT_EXIT_OK) {
		status = report_timeline(&timeline, invocation, pod.ptr);
	}
	bt_timeline_fini(&timeline);
	bt_buf_fini(&pod);
	return status;
}
