/* SPDX-License-Identifier: Apache-2.0
 * Decodes the parts of a stream.
 */
#include "tools/cluster/watch/frame_int.h"

#include <stdio.h>
#include <string.h>

#include "tools/format/json_repair.h"
#include "tools/format/object_schema.h"
#include "tools/cluster/watch/store.h"

void bt_watch_frame_reader_init(struct bt_watch_frame_reader *reader)
{
	*reader = (struct bt_watch_frame_reader){.proto = bt_proto_create(), .json = bt_json_create()};
}

void bt_watch_frame_reader_fini(struct bt_watch_frame_reader *reader)
{
	bt_proto_destroy(reader->proto);
	bt_json_destroy(reader->json);
	bt_arena_fini(&reader->arena);
	bt_buf_fini(&reader->repaired);
}

static bool proto_failed(struct bt_watch_frame_reader *reader, const struct bt_proto_error *error)
{
	snprintf(reader->error, sizeof(reader->error), "%s%s%s, at byte %zu",
		error->field ? error->field : "", error->field ? ": " : "", error->text, error->offset);
	return false;
}

static void set_json_error(struct bt_watch_frame_reader *reader, const struct bt_decode_error *error)
{
	snprintf(reader->error, sizeof(reader->error), "%s%s%s, at byte %zu", error->path,
		error->path[0] ? ": " : "", error->message, error->offset);
}

static bool json_failed(struct bt_watch_frame_reader *reader, const struct bt_decode *decode)
{
	set_json_error(reader, &decode->error);
	return false;
}

static bool decode_json(
	struct bt_watch_frame_reader *reader, const struct bt_schema *schema, struct bt_str text, void *out)
{
	struct bt_decode decode = {.json = reader->json, .arena = &reader->arena};

	bt_arena_reset(&reader->arena);
	bt_json_begin(reader->json, text, &reader->arena);
	return bt_schema_decode(&decode, schema, out) || json_failed(reader, &decode);
}

/* ---- objects ---- */

static bool is_name(struct bt_str name)
{
	return name.len <= BT_STORE_NAME_BYTES && bt_str_find(name, '\0', 0) == name.len;
}

/* The API server accepts no object without a name. */
bool bt_watch_frame_check_name(struct bt_watch_frame_reader *reader, const struct bt_object *object)
{
	const struct bt_meta_object *meta = &object->meta;

	if (meta->name.len && is_name(meta->name) && is_name(meta->namespace_)) {
		return true;
	}
	snprintf(reader->error, sizeof(reader->error), "metadata.name: %s",
		meta->name.len ? "no object is called that" : "the object has no name");
	return false;
}

/* Decodes as much as possible. Returns: false: the text is not valid JSON. */
static bool decode_tolerantly(struct bt_watch_frame_reader *reader, const struct bt_kind_schema *schema,
	struct bt_str text, struct bt_object *out, struct bt_decode_error *out_error)
{
	struct bt_decode decode = {.json = reader->json, .arena = &reader->arena, .tolerant = true};

	memset(&out->meta, 0, schema->schema.bytes);
	bt_arena_reset(&reader->arena);
	bt_json_begin(reader->json, text, &reader->arena);
	bool ok = bt_schema_decode(&decode, &schema->schema, &out->meta);
	*out_error = ok ? decode.spared : decode.error;
	return ok;
}

static enum bt_proto_extent decode_json_object(struct bt_watch_frame_reader *reader,
	const struct bt_kind_info *kind, struct bt_str text, struct bt_arena *arena, struct bt_object *out)
{
	const struct bt_kind_schema *schema = bt_kind_schema_of(kind->kind);
	enum bt_proto_extent extent = reader->is_repaired ? BT_PROTO_REPLACED : BT_PROTO_WHOLE;
	struct bt_decode_error error;

	out->kind = kind->kind;
	out->api_version = bt_kind_api_version(kind);
	out->kind_name = bt_str(kind->name);
	if (!decode_tolerantly(reader, schema, text, out, &error) && !reader->is_repaired &&
		bt_json_repair(text, &reader->repaired)) {
		set_json_error(reader, &error);
		extent = BT_PROTO_REPLACED;
		(void)decode_tolerantly(reader, schema, bt_buf_view(&reader->repaired), out, &error);
	}
	if (error.status != BT_OK) {
		extent = BT_PROTO_IN_PART;
		set_json_error(reader, &error);
	}
	reader->is_repaired = false;
	bt_schema_own(&schema->schema, arena, &out->meta);
	return extent;
}

/* No decision may depend on a partly decoded object. */
static void mark_in_part(struct bt_watch_frame_reader *reader, struct bt_arena *arena, struct bt_object *out)
{
	size_t n = strlen(reader->error);

	if (out->kind == BT_KIND_POD) {
		out->pod.spec.incomplete = (struct bt_str){bt_arena_copy(arena, reader->error, n), n};
	} else if (out->kind == BT_KIND_NODE) {
		out->node.unschedulable = true;
	}
}

enum bt_proto_extent bt_watch_frame_object(struct bt_watch_frame_reader *reader, bool is_proto,
	const struct bt_kind_info *kind, struct bt_str bytes, struct bt_arena *arena, struct bt_object *out)
{
	struct bt_proto_error error;
	enum bt_proto_extent extent;

	if (is_proto) {
		extent = bt_proto_decode(reader->proto, kind->kind, bytes, arena, out, &error);
		if (extent != BT_PROTO_WHOLE) {
			(void)proto_failed(reader, &error);
		}
	} else {
		extent = decode_json_object(reader, kind, bytes, arena, out);
	}
	if (extent == BT_PROTO_IN_PART) {
		mark_in_part(reader, arena, out);
	}
	return extent;
}

/* ---- events ---- */

static enum bt_watch_frame_type type_of(struct bt_str word)
{
	static const struct bt_str words[] = {
		BT_STR("ADDED"), BT_STR("MODIFIED"), BT_STR("DELETED"), BT_STR("BOOKMARK"), BT_STR("ERROR")};
	uint32_t type = 0;

	while (type < BT_WATCH_FRAME_OTHER && !bt_str_eq(words[type], word)) {
		type++;
	}
	return (enum bt_watch_frame_type)type;
}

struct json_event {
	struct bt_str type, object;
};

/* out: views of bytes, or of a repaired copy. */
static bool open_json(struct bt_watch_frame_reader *reader, struct bt_str bytes, struct json_event *out)
{
	static const struct bt_field fields[] = {
		{.name = BT_STR("type"), .type = BT_FIELD_STR, .offset = offsetof(struct json_event, type)},
		{.name = BT_STR("object"),
			.type = BT_FIELD_RAW,
			.offset = offsetof(struct json_event, object)},
	};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct json_event);

	*out = (struct json_event){0};
	reader->is_repaired = false;
	if (decode_json(reader, &schema, bytes, out)) {
		return true;
	}
	*out = (struct json_event){0};
	reader->is_repaired = bt_json_repair(bytes, &reader->repaired) &&
			      decode_json(reader, &schema, bt_buf_view(&reader->repaired), out);
	return reader->is_repaired;
}

static bool open_proto(struct bt_watch_frame_reader *reader, const struct bt_kind_info *kind,
	struct bt_str bytes, enum bt_watch_frame_type *out_type, struct bt_str *out_object)
{
	struct bt_proto_error error;
	struct bt_proto_event event;
	struct bt_proto_unknown unknown;

	if (!bt_proto_event(bytes, &event, &error) || !bt_proto_open(event.raw, &unknown, &error)) {
		return proto_failed(reader, &error);
	}
	*out_type = type_of(event.type);
	*out_object = unknown.raw;
	if (!bt_str_is(unknown.kind, *out_type == BT_WATCH_FRAME_ERROR ? "Status" : kind->name)) {
		snprintf(reader->error, sizeof(reader->error), "the object of an event is a %.*s",
			(int)(unknown.kind.len < 64 ? unknown.kind.len : 64), unknown.kind.ptr);
		return false;
	}
	return true;
}

bool bt_watch_frame_open(struct bt_watch_frame_reader *reader, bool is_proto, const struct bt_kind_info *kind,
	struct bt_str bytes, enum bt_watch_frame_type *out_type, struct bt_str *out_object)
{
	struct json_event event;

	if (is_proto) {
		return open_proto(reader, kind, bytes, out_type, out_object);
	}
	if (!open_json(reader, bytes, &event)) {
		return false;
	}
	if (!event.object.len) {
		snprintf(reader->error, sizeof(reader->error), "an event has no object");
		return false;
	}
	*out_type = type_of(event.type);
	*out_object = event.object;
	return true;
}

/* ---- statuses and lists ---- */

bool bt_watch_frame_status(
	struct bt_watch_frame_reader *reader, bool is_proto, struct bt_str bytes, struct bt_proto_status *out)
{
	static const struct bt_field detail_fields[] = {
		{.name = BT_STR("retryAfterSeconds"),
			.type = BT_FIELD_I32,
			.offset = offsetof(struct bt_proto_status, retry_after_s)},
	};
	static const struct bt_schema details = BT_SCHEMA(detail_fields, struct bt_proto_status);
	static const struct bt_field fields[] = {
		{.name = BT_STR("code"),
			.type = BT_FIELD_I32,
			.offset = offsetof(struct bt_proto_status, code)},
		{.name = BT_STR("details"), .type = BT_FIELD_OBJECT, .schema = &details},
		{.name = BT_STR("message"),
			.type = BT_FIELD_STR,
			.offset = offsetof(struct bt_proto_status, message)},
		{.name = BT_STR("reason"),
			.type = BT_FIELD_STR,
			.offset = offsetof(struct bt_proto_status, reason)},
	};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct bt_proto_status);
	struct bt_proto_error error;

	*out = (struct bt_proto_status){0};
	if (is_proto) {
		return bt_proto_status(bytes, out, &error) || proto_failed(reader, &error);
	}
	return decode_json(reader, &schema, bytes, out);
}

bool bt_watch_frame_list_meta(struct bt_watch_frame_reader *reader, bool is_proto, struct bt_str bytes,
	struct bt_proto_list_meta *out)
{
	static const struct bt_field meta_fields[] = {
		{.name = BT_STR("continue"),
			.type = BT_FIELD_STR,
			.offset = offsetof(struct bt_proto_list_meta, continue_)},
		{.name = BT_STR("resourceVersion"),
			.type = BT_FIELD_STR,
			.offset = offsetof(struct bt_proto_list_meta, resource_version)},
	};
	static const struct bt_schema meta = BT_SCHEMA(meta_fields, struct bt_proto_list_meta);
	static const struct bt_field fields[] = {
		{.name = BT_STR("metadata"), .type = BT_FIELD_OBJECT, .schema = &meta},
	};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct bt_proto_list_meta);
	struct bt_proto_error error;

	*out = (struct bt_proto_list_meta){0};
	if (is_proto ? !bt_proto_list_meta(bytes, out, &error) && !proto_failed(reader, &error)
		     : !decode_json(reader, &schema, bytes, out)) {
		return false;
	}
	/* An object without one, such as {}, is not a list: it must not delete other objects. */
	if (!out->resource_version.len) {
		snprintf(reader->error, sizeof(reader->error), "a list without metadata.resourceVersion");
	}
	return out->resource_version.len != 0;
}
