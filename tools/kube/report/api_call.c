/* SPDX-License-Identifier: Apache-2.0
 * Calls to the API server as lines of JSON.
 */
#include "tools/kube/report/api_call.h"

#include <stdio.h>
#include <time.h>

#include "engine/base/check.h"
#include "tools/cli/json_write.h"

#define NS_PER_S INT64_C(1000000000)
/* Upstream uses a random name when the pod's is too long for a time suffix. */
#define EVENT_STEM_BYTES (253 - 17)

static void member(struct bt_json_writer *json, const char *key, struct bt_str value)
{
	bt_json_write_key(json, key);
	bt_json_write_str(json, value);
}

static void member_unless_empty(struct bt_json_writer *json, const char *key, struct bt_str value)
{
	if (value.len) {
		member(json, key, value);
	}
}

/* With microseconds for events, without for conditions. */
static void write_time(struct bt_json_writer *json, const char *key, int64_t ns, bool micro)
{
	int64_t second = ns / NS_PER_S - (ns % NS_PER_S < 0);
	time_t clock = (time_t)second;
	struct bt_buf text = {.len = 0};
	struct tm tm;

	gmtime_r(&clock, &tm);
	bt_buf_printf(&text, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (micro) {
		bt_buf_printf(&text, ".%06d", (int)((ns - second * NS_PER_S) / 1000));
	}
	bt_buf_char(&text, 'Z');
	member(json, key, bt_buf_view(&text));
	bt_buf_fini(&text);
}

/* ---- patches ---- */

/* A field of a condition: written when it differs, as null when removed. always: a required field. */
static void write_change(struct bt_json_writer *json, const char *key, const struct bt_str *old,
	struct bt_str value, bool always)
{
	if (always) {
		if (!old || !bt_str_eq(*old, value)) {
			member(json, key, value);
		}
	} else if (!old) {
		member_unless_empty(json, key, value);
	} else if (!bt_str_eq(*old, value)) {
		bt_json_write_key(json, key);
		if (value.len) {
			bt_json_write_str(json, value);
		} else {
			bt_json_write_null(json);
		}
	}
}

static void write_generation(struct bt_json_writer *json, int64_t old, int64_t generation)
{
	if (old == generation) {
		return;
	}
	bt_json_write_key(json, "observedGeneration");
	if (generation) {
		bt_json_write_int(json, generation);
	} else {
		bt_json_write_null(json);
	}
}

/* The differences from the old condition, in order of names. */
static void write_condition(struct bt_json_writer *json, const struct bt_pod_condition *condition,
	const struct bt_pod_condition *old, bool of_group)
{
	bt_json_write_begin_object(json);
	if (!old && !of_group) {
		bt_json_write_key(json, "lastProbeTime");
		bt_json_write_null(json);
	}
	if (!old || old->transition_s != condition->transition_s) {
		write_time(json, "lastTransitionTime", condition->transition_s * NS_PER_S, false);
	}
	write_change(json, "message", old ? &old->message : NULL, condition->message, of_group);
	write_generation(json, old ? old->observed_generation : 0, condition->observed_generation);
	write_change(json, "reason", old ? &old->reason : NULL, condition->reason, of_group);
	write_change(json, "status", old ? &old->status : NULL, condition->status, of_group);
	member(json, "type", condition->type);
	bt_json_write_end(json);
}

static bool conditions_equal(const struct bt_pod_condition *a, const struct bt_pod_condition *b)
{
	return a && a->transition_s == b->transition_s && a->observed_generation == b->observed_generation &&
	       bt_str_eq(a->status, b->status) && bt_str_eq(a->reason, b->reason) &&
	       bt_str_eq(a->message, b->message);
}

static void write_type(struct bt_json_writer *json, struct bt_str type)
{
	bt_json_write_begin_object(json);
	member(json, "type", type);
	bt_json_write_end(json);
}

static void write_conditions(struct bt_json_writer *json, const struct bt_api_pod *pod,
	const struct bt_pod_condition *condition, bool of_group)
{
	const struct bt_pod_condition *old = bt_api_condition(pod, condition->type);

	if (conditions_equal(old, condition)) {
		return;
	}
	if (pod->condition_n) {
		bt_json_write_key(json, "$setElementOrder/conditions");
		bt_json_write_begin_array(json);
		for (uint32_t i = 0; i < pod->condition_n; i++) {
			write_type(json, pod->conditions[i].type);
		}
		if (!old) {
			write_type(json, condition->type);
		}
		bt_json_write_end(json);
	}
	bt_json_write_key(json, "conditions");
	bt_json_write_begin_array(json);
	write_condition(json, condition, old, of_group);
	bt_json_write_end(json);
}

static void write_patch(struct bt_json_writer *json, const struct bt_api_call *call)
{
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "status");
	bt_json_write_begin_object(json);
	if (call->status.has_condition) {
		write_conditions(json, call->pod, &call->status.condition, call->verb == BT_API_PATCH_GROUP);
	}
	if (call->status.nomination == BT_NOMINATION_SET) {
		member(json, "nominatedNodeName", call->status.nominated_node_name);
	} else if (call->status.nomination == BT_NOMINATION_CLEAR) {
		bt_json_write_key(json, "nominatedNodeName");
		bt_json_write_null(json);
	}
	bt_json_write_end(json);
	bt_json_write_end(json);
}

void bt_api_patch_write(const struct bt_api_call *call, struct bt_buf *out_patch)
{
	struct bt_json_writer json = {.out = out_patch};

	BT_REQUIRE(call->verb == BT_API_PATCH_STATUS || call->verb == BT_API_PATCH_GROUP);
	write_patch(&json, call);
}

/* ---- objects ---- */

static const char *kind_of(const struct bt_api_pod *pod)
{
	if (!pod->group_version.len) {
		return "Pod";
	}
	return pod->composite ? "CompositePodGroup" : "PodGroup";
}

static void write_reference(struct bt_json_writer *json, const char *key, const struct bt_api_pod *pod)
{
	bt_json_write_key(json, key);
	bt_json_write_begin_object(json);
	member(json, "kind", bt_str(kind_of(pod)));
	member(json, "namespace", pod->namespace_);
	member(json, "name", pod->name);
	member_unless_empty(json, "uid", pod->uid);
	member(json, "apiVersion", pod->group_version.len ? pod->group_version : bt_str("v1"));
	member_unless_empty(json, "resourceVersion", pod->resource_version);
	bt_json_write_end(json);
}

static void write_series(struct bt_json_writer *json, const struct bt_api_series *series)
{
	bt_json_write_key(json, "series");
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "count");
	bt_json_write_int(json, series->count);
	write_time(json, "lastObservedTime", series->last_ns, true);
	bt_json_write_end(json);
}

static void write_event(struct bt_json_writer *json, const struct bt_api_call *call, struct bt_str name,
	int64_t now_ns, const struct bt_api_series *series)
{
	const struct bt_api_event *event = &call->event;

	bt_json_write_begin_object(json);
	member(json, "kind", bt_str("Event"));
	member(json, "apiVersion", bt_str("events.k8s.io/v1"));
	bt_json_write_key(json, "metadata");
	bt_json_write_begin_object(json);
	member(json, "name", name);
	member(json, "namespace", call->pod->namespace_);
	bt_json_write_end(json);
	write_time(json, "eventTime", now_ns, true);
	if (series && series->count) {
		write_series(json, series);
	}
	member(json, "reportingController", event->reporting_controller);
	member(json, "reportingInstance", event->reporting_instance);
	member(json, "action", bt_str(event->action));
	member(json, "reason", bt_str(event->reason));
	write_reference(json, "regarding", call->pod);
	if (event->related) {
		write_reference(json, "related", event->related);
	}
	member(json, "note", event->note);
	member(json, "type", bt_str(event->warning ? "Warning" : "Normal"));
	bt_json_write_end(json);
}

static void write_binding(struct bt_json_writer *json, const struct bt_api_call *call)
{
	bt_json_write_begin_object(json);
	member(json, "kind", bt_str("Binding"));
	member(json, "apiVersion", bt_str("v1"));
	bt_json_write_key(json, "metadata");
	bt_json_write_begin_object(json);
	member(json, "name", call->pod->name);
	member(json, "namespace", call->pod->namespace_);
	member_unless_empty(json, "uid", call->pod->uid);
	bt_json_write_end(json);
	bt_json_write_key(json, "target");
	bt_json_write_begin_object(json);
	member(json, "kind", bt_str("Node"));
	member(json, "name", call->node);
	bt_json_write_end(json);
	bt_json_write_end(json);
}

static void begin_call(struct bt_json_writer *json, const struct bt_api_call *call, int64_t now_ns,
	const char *verb, const char *resource)
{
	static const char *const callers[] = {
		"kube-scheduler", "kube-apiserver", "taint-eviction-controller"};

	bt_json_write_begin_object(json);
	write_time(json, "time", now_ns, true);
	member(json, "user", bt_str(callers[call->caller]));
	member(json, "verb", bt_str(verb));
	member(json, "resource", bt_str(resource));
	member(json, "namespace", call->pod->namespace_);
}

void bt_api_event_name(struct bt_str pod, int64_t now_ns, struct bt_buf *out_name)
{
	struct bt_str stem =
		bt_str_sub(pod, 0, pod.len < EVENT_STEM_BYTES ? pod.len : (size_t)EVENT_STEM_BYTES);

	bt_buf_printf(out_name, "%.*s.%llx", BT_STR_ARG(stem), (unsigned long long)now_ns);
}

void bt_api_event_write(const struct bt_api_call *call, struct bt_str name, int64_t now_ns,
	const struct bt_api_series *series, struct bt_buf *out_event)
{
	struct bt_json_writer json = {.out = out_event};

	BT_REQUIRE(call->verb == BT_API_EVENT);
	write_event(&json, call, name, now_ns, series);
}

void bt_api_series_write(const struct bt_api_series *series, struct bt_buf *out_patch)
{
	struct bt_json_writer json = {.out = out_patch};

	bt_json_write_begin_object(&json);
	write_series(&json, series);
	bt_json_write_end(&json);
}

void bt_api_binding_write(const struct bt_api_call *call, struct bt_buf *out_binding)
{
	struct bt_json_writer json = {.out = out_binding};

	BT_REQUIRE(call->verb == BT_API_BIND);
	write_binding(&json, call);
}

static void write_event_call(struct bt_json_writer *json, const struct bt_api_call *call, int64_t now_ns)
{
	struct bt_buf name = {.len = 0};

	bt_api_event_name(call->pod->name, now_ns, &name);
	begin_call(json, call, now_ns, "create", "events");
	member(json, "name", bt_buf_view(&name));
	bt_json_write_key(json, "object");
	write_event(json, call, bt_buf_view(&name), now_ns, NULL);
	bt_buf_fini(&name);
}

void bt_api_call_write(const struct bt_api_call *call, int64_t now_ns, struct bt_buf *out_line)
{
	struct bt_json_writer json = {.out = out_line};

	switch (call->verb) {
	case BT_API_EVENT:
		write_event_call(&json, call, now_ns);
		break;
	case BT_API_PATCH_STATUS:
	case BT_API_PATCH_GROUP:
		begin_call(&json, call, now_ns, "patch",
			call->verb == BT_API_PATCH_GROUP ? "podgroups/status" : "pods/status");
		member(&json, "name", call->pod->name);
		bt_json_write_key(&json, "object");
		write_patch(&json, call);
		break;
	case BT_API_BIND:
		begin_call(&json, call, now_ns, "create", "pods/binding");
		member(&json, "name", call->pod->name);
		bt_json_write_key(&json, "object");
		write_binding(&json, call);
		break;
	case BT_API_DELETE:
		begin_call(&json, call, now_ns, "delete", "pods");
		member(&json, "name", call->pod->name);
		break;
	}
	bt_json_write_end(&json);
	bt_buf_char(out_line, '\n');
}
