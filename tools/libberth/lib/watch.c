/* SPDX-License-Identifier: Apache-2.0
 * Watch events as an API server sends them: {"type": "ADDED", "object": {...}}, one after another.
 */
#include <stdio.h>

#include "tools/libberth/lib/lib_int.h"

struct watch_line {
	struct bt_str type;
	struct bt_json_mark object, end;
	bool has_object;
};

static void watch_diagnose(struct bt_lib *lib, struct bt_str text, size_t offset, const char *path,
	const char *message, const char *remedy)
{
	struct bt_diagnosis diagnosis = {.file = "text", .path = path, .message = message, .remedy = remedy};

	bt_json_place(text, offset, &diagnosis.line, &diagnosis.column);
	bt_lib_report(lib, &diagnosis);
}

/* Finds the members of an event. Returns: false after an error of the cursor. */
static bool find_parts(struct bt_json *json, struct watch_line *out)
{
	struct bt_str key;

	*out = (struct watch_line){.has_object = false};
	if (!bt_json_enter_object(json)) {
		return false;
	}
	while (bt_json_next_key(json, &key)) {
		if (bt_str_is(key, "type")) {
			if (!bt_json_string(json, &out->type)) {
				return false;
			}
			continue;
		}
		if (bt_str_is(key, "object")) {
			out->object = bt_json_mark(json);
			out->has_object = true;
		}
		if (!bt_json_skip(json)) {
			return false;
		}
	}
	out->end = bt_json_mark(json);
	return bt_json_error(json)->status == BT_OK;
}

/* Applies the event's object. The cursor ends after the event. */
static void take_event(
	struct bt_lib *lib, struct bt_json *json, struct bt_str text, const struct watch_line *event)
{
	const struct bt_path path = {.key = BT_STR("object")};
	struct bt_decode decode = {.json = json, .arena = &lib->compact, .path = &path};
	bool gone = bt_str_is(event->type, "DELETED");
	struct bt_object object;

	if (bt_str_is(event->type, "BOOKMARK")) {
		lib->job->applied.ignored++;
		return;
	}
	if (!event->has_object ||
		(!gone && !bt_str_is(event->type, "ADDED") && !bt_str_is(event->type, "MODIFIED"))) {
		watch_diagnose(lib, text, event->end.offset ? event->end.offset - 1 : 0, "type",
			"this is no event of an object: its type is none of ADDED, MODIFIED, DELETED and "
			"BOOKMARK, or it has no object",
			"start a new watch after an ERROR");
		return;
	}
	bt_json_seek(json, event->object);
	if (bt_object_decode(&decode, &object)) {
		lib->job->applied.objects++;
		bt_lib_take_event(lib, &object, gone);
	} else {
		watch_diagnose(lib, text, decode.error.offset, decode.error.path, decode.error.message,
			decode.error.remedy);
	}
	bt_json_seek(json, event->end);
}

void bt_lib_read_events(struct bt_lib *lib, struct bt_str text)
{
	struct bt_json *json = bt_json_create();
	struct watch_line event;

	bt_arena_reset(&lib->compact);
	bt_json_begin(json, text, &lib->compact);
	while (!lib->job->stop && bt_json_more(json)) {
		if (!find_parts(json, &event)) {
			break;
		}
		take_event(lib, json, text, &event);
		bt_arena_reset(&lib->compact);
	}
	const struct bt_json_error *error = bt_json_error(json);
	if (error->status != BT_OK) {
		watch_diagnose(lib, text, error->offset, NULL, error->text,
			"write one event after another: {\"type\": \"ADDED\", \"object\": {...}}");
	}
	bt_json_destroy(json);
}
