/* SPDX-License-Identifier: Apache-2.0
 * What the parts of a stream mean.
 */
#include "tools/watch/event_int.h"

#include <stdio.h>

#include "tools/codec/object_schema.h"
#include "tools/watch/listed.h"

void bt_event_reader_init(struct bt_event_reader *reader)
{
	*reader = (struct bt_event_reader){.proto = bt_proto_create(), .json = bt_json_create()};
}

void bt_event_reader_fini(struct bt_event_reader *reader)
{
	bt_proto_destroy(reader->proto);
	bt_json_destroy(reader->json);
	bt_arena_fini(&reader->arena);
}

static bool proto_failed(struct bt_event_reader *reader, const struct bt_proto_error *error)
{
	snprintf(reader->error, sizeof(reader->error), "%s%s%s, at byte %zu",
		error->field ? error->field : "", error->field ? ": " : "", error->text, error->offset);
	return false;
}

static bool json_failed(struct bt_event_reader *reader, const struct bt_decode *decode)
{
	snprintf(reader->error, sizeof(reader->error), "%s%s%s", decode->error.path,
		decode->error.path[0] ? ": " : "", decode->error.message);
	return false;
}

static bool decode_json(
	struct bt_event_reader *reader, const struct bt_schema *schema, struct bt_str text, void *out)
{
	struct bt_decode decode = {.json = reader->json, .arena = &reader->arena};

	bt_arena_reset(&reader->arena);
	bt_json_begin(reader->json, text, &reader->arena);
	return bt_schema_decode(&decode, schema, out) || json_failed(reader, &decode);
}

/* ---- objects ---- */

static bool is_name(struct bt_str name)
{
	return name.len <= BT_LISTED_NAME_BYTES && bt_str_find(name, '\0', 0) == name.len;
}

/* Every object has a name once the API server has taken it. */
bool bt_event_check_name(struct bt_event_reader *reader, struct bt_object *object)
{
	struct bt_meta_object *meta = &object->meta;

	if (meta->name.len && is_name(meta->name) && is_name(meta->namespace_)) {
		return true;
	}
	snprintf(reader->error, sizeof(reader->error), "metadata.name: %s",
		meta->name.len ? "no object is called that" : "the object has no name");
	meta->name = (struct bt_str){0};
	return false;
}

static bool decode_json_object(struct bt_event_reader *reader, const struct bt_watch_kind *kind,
	struct bt_str text, struct bt_arena *arena, struct bt_object *out)
{
	const struct bt_kind_schema *schema = bt_kind_schema_of(kind->kind);

	memset(&out->meta, 0, schema->schema.bytes);
	out->kind = kind->kind;
	out->api_version = schema->api_version;
	out->kind_name = schema->kind;
	bool ok = decode_json(reader, &schema->schema, text, &out->meta);
	if (ok) {
		bt_schema_own(&schema->schema, arena, &out->meta);
	}
	return ok;
}

bool bt_event_object(struct bt_event_reader *reader, bool is_proto, const struct bt_watch_kind *kind,
	struct bt_str bytes, struct bt_arena *arena, struct bt_object *out)
{
	struct bt_proto_error error;
	bool ok = is_proto ? bt_proto_decode(reader->proto, kind->kind, bytes, arena, out, &error) ||
				     proto_failed(reader, &error)
			   : decode_json_object(reader, kind, bytes, arena, out);

	if (!ok && !(is_name(out->meta.name) && is_name(out->meta.namespace_))) {
		out->meta.name = (struct bt_str){0};
	}
	return ok;
}

/* ---- events ---- */

static enum bt_event_type type_of(struct bt_str word)
{
	static const struct bt_str words[] = {
		BT_STR("ADDED"), BT_STR("MODIFIED"), BT_STR("DELETED"), BT_STR("BOOKMARK"), BT_STR("ERROR")};
	uint32_t type = 0;

	while (type < BT_EVENT_OTHER && !bt_str_eq(words[type], word)) {
		type++;
	}
	return (enum bt_event_type)type;
}

struct json_event {
	struct bt_str type, object;
};

static bool open_json(struct bt_event_reader *reader, struct bt_str bytes, struct json_event *out)
{
	static const struct bt_field fields[] = {
		{.name = BT_STR("type"), .type = BT_FIELD_STR, .offset = offsetof(struct json_event, type)},
		{.name = BT_STR("object"),
			.type = BT_FIELD_RAW,
			.offset = offsetof(struct json_event, object)},
	};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct json_event);

	*out = (struct json_event){0};
	return decode_json(reader, &schema, bytes, out);
}

static bool open_proto(struct bt_event_reader *reader, const struct bt_watch_kind *kind, struct bt_str bytes,
	enum bt_event_type *out_type, struct bt_str *out_object)
{
	struct bt_proto_error error;
	struct bt_proto_event event;
	struct bt_proto_unknown unknown;

	if (!bt_proto_event(bytes, &event, &error) || !bt_proto_open(event.raw, &unknown, &error)) {
		return proto_failed(reader, &error);
	}
	*out_type = type_of(event.type);
	*out_object = unknown.raw;
	if (!bt_str_is(unknown.kind, *out_type == BT_EVENT_ERROR ? "Status" : kind->name)) {
		snprintf(reader->error, sizeof(reader->error), "the object of an event is a %.*s",
			(int)(unknown.kind.len < 64 ? unknown.kind.len : 64), unknown.kind.ptr);
		return false;
	}
	return true;
}

bool bt_event_open(struct bt_event_reader *reader, bool is_proto, const struct bt_watch_kind *kind,
	struct bt_str bytes, enum bt_event_type *out_type, struct bt_str *out_object)
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

bool bt_event_status(
	struct bt_event_reader *reader, bool is_proto, struct bt_str bytes, struct bt_proto_status *out)
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

bool bt_event_list_meta(
	struct bt_event_reader *reader, bool is_proto, struct bt_str bytes, struct bt_proto_list_meta *out)
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
	if (is_proto) {
		return bt_proto_list_meta(bytes, out, &error) || proto_failed(reader, &error);
	}
	return decode_json(reader, &schema, bytes, out);
}
