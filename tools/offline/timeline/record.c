/* SPDX-License-Identifier: Apache-2.0
 * The rows of a timeline.
 */
#include "tools/offline/timeline/record.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/hints.h"
#include "tools/format/time.h"

#define NS_PER_S	INT64_C(1000000000)
#define DEFAULT_GRACE_S 30

static struct bt_str own_text(struct bt_timeline *t, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&t->arena, text.len ? text.ptr : "", text.len), text.len};
}

/* Adds a row with the text as its detail. */
static void add_row(struct bt_timeline *t, const char *what)
{
	t->rows = bt_mem_grow(t->rows, t->row_n, &t->row_cap, sizeof(*t->rows));
	t->rows[t->row_n++] = (struct bt_timeline_row){.at_ns = *t->now_ns,
		.what = what,
		.detail = own_text(t, bt_buf_view(&t->text)),
		.first_change = t->change_n};
	bt_buf_clear(&t->text);
}

/* ---- the object ---- */

static void note_change(void *context, struct bt_str path, struct bt_str before, struct bt_str after)
{
	struct bt_timeline *t = context;
	struct bt_timeline_row *row = &t->rows[t->row_n - 1];

	BT_REQUIRE(t->row_n && row->first_change + row->change_n == t->change_n);
	t->changes = bt_mem_grow(t->changes, t->change_n, &t->change_cap, sizeof(*t->changes));
	t->changes[t->change_n++] =
		(struct bt_timeline_change){own_text(t, path), own_text(t, before), own_text(t, after)};
	row->change_n++;
}

/* Changes belong to the last row. */
static void set_field(struct bt_timeline *t, const char *path, struct bt_str value)
{
	const struct bt_pod_field_observer observer = {note_change, t};

	bt_pod_fields_set(&t->fields, bt_str(path), value, &observer);
}

static void set_condition_field(
	struct bt_timeline *t, struct bt_str type, const char *field, struct bt_str value)
{
	struct bt_buf path = {.len = 0};

	bt_buf_printf(&path, "status.conditions[%.*s].%s", BT_STR_ARG(type), field);
	set_field(t, path.ptr, value);
	bt_buf_fini(&path);
}

static void set_time(struct bt_timeline *t, const char *path, int64_t ns)
{
	char text[BT_TIME_TEXT_MAX];

	set_field(t, path, (struct bt_str){text, bt_time_text(ns, text)});
}

static void set_condition(struct bt_timeline *t, const struct bt_pod_condition *condition)
{
	char text[BT_TIME_TEXT_MAX];
	size_t n = bt_time_text(condition->transition_s * NS_PER_S, text);

	set_condition_field(t, condition->type, "type", condition->type);
	set_condition_field(t, condition->type, "status", condition->status);
	set_condition_field(t, condition->type, "reason", condition->reason);
	set_condition_field(t, condition->type, "message", condition->message);
	set_condition_field(t, condition->type, "lastTransitionTime", (struct bt_str){text, n});
}

static void change_status(struct bt_timeline *t, const struct bt_api_status *status)
{
	if (status->has_condition) {
		set_condition(t, &status->condition);
	}
	if (status->nomination != BT_NOMINATION_LEAVE) {
		set_field(t, "status.nominatedNodeName", status->nominated_node_name);
	}
}

static void delete_object(struct bt_timeline *t)
{
	char seconds[24];

	set_time(t, "metadata.deletionTimestamp",
		(*t->now_ns / NS_PER_S + (t->grace_s > 0 ? t->grace_s : 1)) * NS_PER_S);
	snprintf(seconds, sizeof(seconds), "%lld", (long long)(t->grace_s > 0 ? t->grace_s : 1));
	set_field(t, "metadata.deletionGracePeriodSeconds", bt_str(seconds));
}

bool bt_timeline_is_of(const struct bt_timeline *t, const struct bt_pod_object *pod)
{
	return bt_str_eq(pod->meta.name, t->name) && bt_str_eq(pod->meta.namespace_, t->namespace_);
}

static void note_pod(struct bt_timeline *t, const struct bt_pod_object *pod)
{
	t->known = true;
	t->gone = false;
	t->grace_s = pod->spec.has_termination_grace ? pod->spec.termination_grace_s : DEFAULT_GRACE_S;
}

/* The creation comes before what the queue did with the pod while it was loaded. */
static void add_created(struct bt_timeline *t, int64_t at_ns)
{
	add_row(t, "created");
	struct bt_timeline_row row = t->rows[t->row_n - 1];
	size_t ix = t->known ? t->row_n - 1 : 0;

	row.at_ns = at_ns;
	memmove(&t->rows[ix + 1], &t->rows[ix], (t->row_n - 1 - ix) * sizeof(row));
	t->rows[ix] = row;
}

void bt_timeline_shown(struct bt_timeline *t, const struct bt_pod_object *pod)
{
	const struct bt_pod_field_observer observer = {note_change, t};
	const bool is_new = !t->known || t->gone;
	const size_t change_n = t->change_n;

	if (is_new) {
		bt_pod_fields_fini(&t->fields);
		add_created(t, pod->meta.creation_ns);
		note_pod(t, pod);
		bt_pod_fields_show(&t->fields, pod, NULL);
		return;
	}
	note_pod(t, pod);
	add_row(t, "updated");
	bt_pod_fields_show(&t->fields, pod, &observer);
	if (t->change_n == change_n) { /* the API server shows what was known */
		t->row_n--;
	}
}

void bt_timeline_deleted(struct bt_timeline *t)
{
	if (t->known && !t->gone) {
		add_row(t, "deleted");
		t->gone = true;
	}
}

void bt_timeline_loaded(struct bt_timeline *t, int64_t begin_ns)
{
	for (size_t i = 0; i < t->row_n; i++) {
		if (t->rows[i].at_ns == 0) {
			t->rows[i].at_ns = begin_ns;
		}
	}
}

void bt_timeline_ignored(struct bt_timeline *t, const struct bt_pod_object *pod, const char *why)
{
	if (!t->known) {
		bt_timeline_shown(t, pod);
		t->ignored = why;
		bt_buf_text(&t->text, why);
		add_row(t, "ignored");
	}
}

/* ---- the queue ---- */

static struct bt_str name_text(const struct bt_timeline *t, uint32_t name)
{
	return bt_intern_str(bt_engine_cache(*t->engine)->dictionary->intern, name);
}

static bool is_it(const struct bt_timeline *t, uint32_t pod_ix)
{
	const struct bt_pod *pod =
		*t->engine ? bt_ledger_pod(bt_engine_cache(*t->engine)->ledger, pod_ix) : NULL;

	return pod && bt_str_eq(name_text(t, pod->name), t->name) &&
	       bt_str_eq(name_text(t, pod->signature->namespace_), t->namespace_);
}

static void add_plugins(struct bt_timeline *t, bt_plugin_set plugins)
{
	for (bt_plugin_set rest = plugins; rest; rest = bt_plugin_set_rest(rest)) {
		bt_buf_printf(&t->text, "%s%s", rest == plugins ? "" : ", ",
			bt_hints_name(bt_plugin_set_first(rest)));
	}
}

static void add_cause(struct bt_timeline *t, uint32_t cause)
{
	char text[BT_CLUSTER_EVENT_LABEL_BYTES];

	bt_queue_cause_text(bt_engine_kubernetes(*t->engine), cause, text);
	bt_buf_text(&t->text, text);
}

static void note_move(void *context, uint32_t pod_ix, enum bt_wait to, uint32_t cause)
{
	struct bt_timeline *t = context;
	char until[BT_TIME_TEXT_MAX];

	if (!is_it(t, pod_ix)) {
		return;
	}
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(*t->engine), pod_ix);
	t->gated = to == BT_WAIT_GATED;
	switch (to) {
	case BT_WAIT_ACTIVE:
		bt_buf_text(&t->text, "active");
		break;
	case BT_WAIT_BACKOFF:
		bt_buf_text(&t->text, "backoff");
		if (info.expiry_ns != INT64_MIN) {
			bt_buf_printf(
				&t->text, " until %.*s", (int)bt_time_text(info.expiry_ns, until), until);
		}
		break;
	case BT_WAIT_GATED:
		bt_buf_text(&t->text, "gated");
		break;
	default:
		bt_buf_text(&t->text, "unschedulable");
	}
	bt_buf_text(&t->text, ", after ");
	add_cause(t, cause);
	if (to == BT_WAIT_UNSCHEDULABLE && (info.unschedulable_plugins | info.pending)) {
		bt_buf_text(&t->text, "; waits for events that concern ");
		add_plugins(t, info.unschedulable_plugins | info.pending);
	}
	add_row(t, "queue");
}

static void note_hint(void *context, uint32_t pod_ix, uint32_t cause, bt_plugin_set plugins, int by)
{
	struct bt_timeline *t = context;

	if (!is_it(t, pod_ix)) {
		return;
	}
	add_plugins(t, by >= 0 ? bt_plugin_set_of((uint32_t)by) : plugins);
	bt_buf_printf(&t->text, ": %s at ", by >= 0 ? "Queue" : "QueueSkip");
	add_cause(t, cause);
	add_row(t, "hint");
}

struct bt_queue_observer bt_timeline_queue_observer(struct bt_timeline *t)
{
	return (struct bt_queue_observer){.moved = note_move, .hinted = note_hint, .context = t};
}

/* ---- cycles and calls ---- */

void bt_timeline_cycle_begins(struct bt_timeline *t, uint32_t pod_ix)
{
	if (is_it(t, pod_ix)) {
		bt_buf_printf(&t->text, "%u", ++t->attempt_n);
		add_row(t, "attempt");
	}
}

static void note_wait(void *context, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_timeline *t = context;

	if (is_it(t, pod_ix)) {
		const struct bt_snapshot *snapshot = bt_engine_cache(*t->engine)->view.snapshot;

		bt_buf_printf(&t->text, "at Permit, assumed on %.*s",
			BT_STR_ARG(name_text(t, snapshot->nodes[node_ix].name)));
		add_row(t, "waits");
	}
}

static bool is_named(const struct bt_timeline *t, const struct bt_api_pod *pod)
{
	return !pod->group_version.len && bt_str_eq(pod->name, t->name) &&
	       bt_str_eq(pod->namespace_, t->namespace_);
}

static void describe_patch(struct bt_timeline *t, const struct bt_api_call *call)
{
	const struct bt_api_status *status = &call->status;

	if (status->has_condition) {
		bt_buf_printf(&t->text, "%.*s=%.*s%s%.*s", BT_STR_ARG(status->condition.type),
			BT_STR_ARG(status->condition.status), status->condition.reason.len ? " " : "",
			BT_STR_ARG(status->condition.reason));
	}
	if (status->nomination == BT_NOMINATION_SET) {
		bt_buf_printf(&t->text, "%snominated to %.*s", t->text.len ? ", " : "",
			BT_STR_ARG(status->nominated_node_name));
	} else if (status->nomination == BT_NOMINATION_CLEAR) {
		bt_buf_printf(&t->text, "%snomination cleared", t->text.len ? ", " : "");
	}
	bt_buf_text(&t->text, call->caller == BT_API_SERVER ? " (by the API server)" : "");
}

static void note_own_call(struct bt_timeline *t, const struct bt_api_pod *by, const struct bt_api_call *call)
{
	switch (call->verb) {
	case BT_API_EVENT:
		bt_buf_printf(&t->text, "%s %s: %.*s", call->event.warning ? "Warning" : "Normal",
			call->event.reason, BT_STR_ARG(call->event.note));
		add_row(t, "event");
		break;
	case BT_API_PATCH_STATUS:
		describe_patch(t, call);
		add_row(t, "patch");
		change_status(t, &call->status);
		break;
	case BT_API_BIND:
		bt_buf_str(&t->text, call->node);
		add_row(t, "bind");
		set_field(t, "spec.nodeName", call->node);
		break;
	case BT_API_DELETE:
		if (call->caller == BT_API_TAINT_EVICTION) {
			bt_buf_text(&t->text, "by a NoExecute taint of the node");
		} else {
			bt_buf_printf(
				&t->text, "for %.*s/%.*s", BT_STR_ARG(by->namespace_), BT_STR_ARG(by->name));
		}
		add_row(t, "evicted");
		delete_object(t);
		break;
	case BT_API_PATCH_GROUP:
		break;
	}
}

static void note_call(void *context, const struct bt_api_pod *by, const struct bt_api_call *call)
{
	struct bt_timeline *t = context;

	if (is_named(t, call->pod)) {
		note_own_call(t, by, call);
	} else if (is_named(t, by) && call->verb == BT_API_DELETE) {
		bt_buf_printf(&t->text, "%.*s/%.*s", BT_STR_ARG(call->pod->namespace_),
			BT_STR_ARG(call->pod->name));
		add_row(t, "evicts");
	}
}

static void note_deletion(void *context, uint32_t pod_ix)
{
	struct bt_timeline *t = context;

	if (is_it(t, pod_ix)) {
		bt_timeline_deleted(t);
	}
}

struct bt_api_log_observer bt_timeline_call_observer(struct bt_timeline *t)
{
	return (struct bt_api_log_observer){
		.called = note_call, .waits = note_wait, .deleted = note_deletion, .context = t};
}

void bt_timeline_fini(struct bt_timeline *t)
{
	bt_pod_fields_fini(&t->fields);
	bt_mem_free(t->rows);
	bt_mem_free(t->changes);
	bt_arena_fini(&t->arena);
	bt_buf_fini(&t->text);
}
