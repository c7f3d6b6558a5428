/* SPDX-License-Identifier: Apache-2.0
 * An API server's output about pods.
 */
#include "server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum poison server_poison;

const char *type_of_list(enum form form)
{
	return form == JSON ? "application/json" : "application/vnd.kubernetes.protobuf";
}

const char *type_of_watch(enum form form)
{
	return form == JSON ? "application/json" : "application/vnd.kubernetes.protobuf;stream=watch";
}

/* ---- protobuf ---- */

static void varint(struct bt_buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7) {
		bt_buf_char(out, (char)(value | 0x80));
	}
	bt_buf_char(out, (char)value);
}

static void bytes(struct bt_buf *out, uint32_t number, struct bt_str value)
{
	varint(out, number << 3 | 2);
	varint(out, value.len);
	bt_buf_str(out, value);
}

static void text(struct bt_buf *out, uint32_t number, const char *value)
{
	bytes(out, number, bt_str(value));
}

/* Appends a finished message, and frees it. */
static void message(struct bt_buf *out, uint32_t number, struct bt_buf *in)
{
	bytes(out, number, bt_buf_view(in));
	bt_buf_fini(in);
}

static void number_text(struct bt_buf *out, uint32_t number, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	text(out, number, digits);
}

static void uid_text(char out[40], uint32_t uid)
{
	snprintf(out, 40, "00000000-0000-4000-8000-%012x", uid);
}

static void pod_proto(struct bt_buf *out, const struct pod *pod)
{
	struct bt_buf meta = {0}, spec = {0}, label = {0};
	char uid[40] = "";

	if (pod->uid) {
		uid_text(uid, pod->uid);
	}
	text(&meta, 1, pod->name);
	text(&meta, 3, "team");
	text(&meta, 5, uid);
	number_text(&meta, 6, pod->version);
	if (server_poison == NOT_UTF8) {
		text(&label, 1, "l");
		text(&label, 2, "a\xff");
		message(&meta, 11, &label);
	} else if (server_poison == BAD_VALUE) {
		text(&spec, 25, "high");
	}
	text(&spec, 10, pod->node ? pod->node : "");
	message(out, 1, &meta);
	message(out, 2, &spec);
}

/* Wraps a message in an envelope. */
static void envelope(struct bt_buf *out, const char *kind, struct bt_buf *in)
{
	struct bt_buf type = {0};

	text(&type, 1, "v1");
	text(&type, 2, kind);
	bt_buf_add(out, "k8s", 4);
	message(out, 1, &type);
	message(out, 2, in);
	text(out, 3, "");
	text(out, 4, "");
}

static void frame(struct bt_buf *out, const char *type, const char *kind, struct bt_buf *in)
{
	struct bt_buf body = {0}, object = {0}, event = {0};

	envelope(&body, kind, in);
	message(&object, 1, &body);
	text(&event, 1, type);
	message(&event, 2, &object);
	const uint32_t n = (uint32_t)event.len;
	const char head[] = {(char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n};
	bt_buf_add(out, head, sizeof(head));
	bt_buf_add(out, event.ptr, event.len);
	bt_buf_fini(&event);
}

/* ---- JSON ---- */

static void pod_json(struct bt_buf *out, const struct pod *pod, bool named)
{
	char uid[40] = "";

	if (pod->uid) {
		uid_text(uid, pod->uid);
	}
	bt_buf_printf(out,
		"{%s\"metadata\":{\"name\":\"%s\",\"namespace\":\"team\",\"uid\":\"%s\",\"resourceVersion\":"
		"\"%" PRIu64 "\",\"labels\":{\"a\":\"}]\\\"{%s\"}},\"spec\":{%s%s%s%s}}",
		named ? "\"kind\":\"Pod\",\"apiVersion\":\"v1\"," : "", pod->name, uid, pod->version,
		server_poison == NOT_UTF8 ? "\xff" : "",
		server_poison == BAD_VALUE ? pod->node ? "\"priority\":\"high\"," : "\"priority\":\"high\""
					   : "",
		pod->node ? "\"nodeName\":\"" : "", pod->node ? pod->node : "", pod->node ? "\"" : "");
}

void write_list(struct bt_buf *out, enum form form, uint64_t version, const char *continue_,
	const struct pod *pods, uint32_t n)
{
	struct bt_buf meta = {0}, list = {0}, pod = {0};

	if (form == JSON) {
		bt_buf_printf(out,
			"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
			"\"%" PRIu64 "\",\"continue\":\"%s\"},\"items\":[",
			version, continue_);
		for (uint32_t i = 0; i < n; i++) {
			bt_buf_text(out, i ? "," : "");
			pod_json(out, &pods[i], false);
		}
		bt_buf_text(out, "]}\n");
		return;
	}
	text(&meta, 1, "");
	number_text(&meta, 2, version);
	text(&meta, 3, continue_);
	message(&list, 1, &meta);
	for (uint32_t i = 0; i < n; i++) {
		pod_proto(&pod, &pods[i]);
		message(&list, 2, &pod);
		pod = (struct bt_buf){0};
	}
	envelope(out, "PodList", &list);
}

void write_event(struct bt_buf *out, enum form form, const char *type, const struct pod *pod)
{
	struct bt_buf object = {0};

	if (form == PROTO) {
		pod_proto(&object, pod);
		frame(out, type, "Pod", &object);
		return;
	}
	bt_buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
	pod_json(out, pod, true);
	bt_buf_text(out, "}\n");
}

void write_bookmark(struct bt_buf *out, enum form form, uint64_t version, bool initial_end)
{
	struct bt_buf object = {0}, meta = {0}, note = {0};
	const char key[] = "k8s.io/initial-events-end";

	if (form == JSON) {
		bt_buf_printf(out,
			"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
			"\"metadata\":{"
			"\"resourceVersion\":\"%" PRIu64 "\"%s%s%s},\"spec\":{},\"status\":{}}}\n",
			version, initial_end ? ",\"annotations\":{\"" : "", initial_end ? key : "",
			initial_end ? "\":\"true\"}" : "");
		return;
	}
	number_text(&meta, 6, version);
	if (initial_end) {
		text(&note, 1, key);
		text(&note, 2, "true");
		message(&meta, 12, &note);
	}
	message(&object, 1, &meta);
	frame(out, "BOOKMARK", "Pod", &object);
}

void write_status(struct bt_buf *out, int32_t code, const char *reason, const char *message_)
{
	bt_buf_printf(out,
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		"\"message\":\"%s\","
		"\"reason\":\"%s\",\"code\":%d}\n",
		message_, reason, code);
}

void write_status_event(
	struct bt_buf *out, enum form form, int32_t code, const char *reason, const char *message_)
{
	struct bt_buf status = {0};

	if (form == JSON) {
		bt_buf_text(out, "{\"type\":\"ERROR\",\"object\":");
		write_status(out, code, reason, message_);
		bt_buf_text(out, "}\n");
		return;
	}
	text(&status, 2, "Failure");
	text(&status, 3, message_);
	text(&status, 4, reason);
	varint(&status, 6 << 3);
	varint(&status, (uint64_t)code);
	frame(out, "ERROR", "Status", &status);
}
