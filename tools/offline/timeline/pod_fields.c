/* SPDX-License-Identifier: Apache-2.0
 * A pod as paths and values.
 */
#include "tools/offline/timeline/pod_fields.h"

#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/format/encode.h"
#include "tools/format/json.h"

struct bt_pod_field {
	char *path, *value;
	size_t path_len, value_len;
	bool shown; /* by the object that is read now */
};

/* Reads an object's JSON into fields. */
struct reader {
	struct bt_pod_fields *fields;
	const struct bt_pod_field_observer *observer;
	struct bt_json *json;
	struct bt_buf path;
};

static void read_value(struct reader *r);

static struct bt_pod_field *find_field(const struct bt_pod_fields *fields, struct bt_str path)
{
	for (size_t i = 0; i < fields->n; i++) {
		struct bt_pod_field *field = &fields->items[i];

		if (bt_str_eq((struct bt_str){field->path, field->path_len}, path)) {
			return field;
		}
	}
	return NULL;
}

static void free_field(struct bt_pod_field *field)
{
	bt_mem_free(field->path);
	bt_mem_free(field->value);
}

static struct bt_str value_of(const struct bt_pod_field *field)
{
	return field ? (struct bt_str){field->value, field->value_len} : (struct bt_str){.len = 0};
}

static struct bt_pod_field *add_field(struct bt_pod_fields *fields, struct bt_str path)
{
	fields->items = bt_mem_grow(fields->items, fields->n, &fields->cap, sizeof(*fields->items));
	fields->items[fields->n] =
		(struct bt_pod_field){.path = bt_mem_copy(path.ptr, path.len), .path_len = path.len};
	return &fields->items[fields->n++];
}

static void remove_field(struct bt_pod_fields *fields, struct bt_pod_field *field)
{
	size_t ix = (size_t)(field - fields->items);

	free_field(field);
	memmove(field, field + 1, (fields->n - ix - 1) * sizeof(*field));
	fields->n--;
}

void bt_pod_fields_set(struct bt_pod_fields *fields, struct bt_str path, struct bt_str value,
	const struct bt_pod_field_observer *observer)
{
	struct bt_pod_field *field = find_field(fields, path);
	const struct bt_str before = value_of(field);

	BT_REQUIRE(path.len);
	if (bt_str_eq(before, value)) {
		if (field) {
			field->shown = true;
		}
		return;
	}
	if (observer) {
		observer->changed(observer->context, path, before, value);
	}
	if (!value.len) {
		remove_field(fields, field);
		return;
	}
	field = field ? field : add_field(fields, path);
	char *old = field->value;
	field->value = bt_mem_copy(value.ptr, value.len);
	field->value_len = value.len;
	field->shown = true;
	bt_mem_free(old);
}

struct bt_str bt_pod_fields_get(const struct bt_pod_fields *fields, struct bt_str path)
{
	return value_of(find_field(fields, path));
}

/* ---- reading an object ---- */

static bool is_key_of_lists(struct bt_str key)
{
	return bt_str_is(key, "name") || bt_str_is(key, "type");
}

/* Appends what tells the element at the cursor from others of its list: its name or type, else its index. */
static void name_element(struct reader *r, size_t ix)
{
	const struct bt_json_mark mark = bt_json_mark(r->json);
	struct bt_str key, name = {.len = 0};

	if (bt_json_peek(r->json) == BT_JSON_OBJECT && bt_json_enter_object(r->json)) {
		while (!name.len && bt_json_next_key(r->json, &key)) {
			if (!is_key_of_lists(key) || !bt_json_string(r->json, &name)) {
				bt_json_skip(r->json);
			}
		}
	}
	bt_json_seek(r->json, mark);
	if (name.len) {
		bt_buf_printf(&r->path, "[%.*s]", BT_STR_ARG(name));
	} else {
		bt_buf_printf(&r->path, "[%zu]", ix);
	}
}

static void read_array(struct reader *r)
{
	const size_t stem = r->path.len;

	bt_json_enter_array(r->json);
	for (size_t i = 0; bt_json_next_element(r->json); i++) {
		name_element(r, i);
		read_value(r);
		r->path.len = stem;
	}
}

static void read_object(struct reader *r)
{
	const size_t stem = r->path.len;
	struct bt_str key;

	bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		bt_buf_printf(&r->path, "%s%.*s", stem ? "." : "", BT_STR_ARG(key));
		read_value(r);
		r->path.len = stem;
	}
}

static void read_value(struct reader *r)
{
	struct bt_str value;

	switch (bt_json_peek(r->json)) {
	case BT_JSON_OBJECT:
		read_object(r);
		return;
	case BT_JSON_ARRAY:
		read_array(r);
		return;
	case BT_JSON_STRING:
		if (!bt_json_string(r->json, &value)) {
			return;
		}
		break;
	default:
		if (!bt_json_raw(r->json, &value)) {
			return;
		}
	}
	bt_pod_fields_set(r->fields, bt_buf_view(&r->path), value, r->observer);
}

void bt_pod_fields_show(struct bt_pod_fields *fields, const struct bt_pod_object *pod,
	const struct bt_pod_field_observer *observer)
{
	const struct bt_object object = {
		.kind = BT_KIND_POD, .api_version = bt_str("v1"), .kind_name = bt_str("Pod"), .pod = *pod};
	struct reader r = {.fields = fields, .observer = observer, .json = bt_json_create()};
	struct bt_arena arena = {0};
	struct bt_buf text = {0};

	for (size_t i = 0; i < fields->n; i++) {
		fields->items[i].shown = false;
	}
	bt_object_encode(&object, &text);
	bt_json_begin(r.json, bt_buf_view(&text), &arena);
	read_value(&r);
	for (size_t i = fields->n; i-- > 0;) {
		if (!fields->items[i].shown) {
			const struct bt_pod_field gone = fields->items[i];

			if (observer) {
				observer->changed(observer->context,
					(struct bt_str){gone.path, gone.path_len}, value_of(&gone),
					(struct bt_str){.len = 0});
			}
			remove_field(fields, &fields->items[i]);
		}
	}
	bt_json_destroy(r.json);
	bt_arena_fini(&arena);
	bt_buf_fini(&text);
	bt_buf_fini(&r.path);
}

void bt_pod_fields_fini(struct bt_pod_fields *fields)
{
	for (size_t i = 0; i < fields->n; i++) {
		free_field(&fields->items[i]);
	}
	bt_mem_free(fields->items);
	*fields = (struct bt_pod_fields){.n = 0};
}
