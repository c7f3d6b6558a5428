/* SPDX-License-Identifier: Apache-2.0
 * Streams of objects: JSON is the encoder's, and YAML is made of it.
 */
#include "tools/offline/generate/serialize.h"

#include "engine/base/arena.h"
#include "engine/base/check.h"
#include "tools/format/encode.h"
#include "tools/format/json.h"

/* Copies one value from JSON of the encoder's, which has whole numbers alone. */
static void copy_value(struct bt_json *json, struct bt_doc *doc)
{
	struct bt_str text;
	int64_t number;
	bool flag;

	switch (bt_json_peek(json)) {
	case BT_JSON_OBJECT:
		bt_doc_begin_object(doc);
		bt_json_enter_object(json);
		while (bt_json_next_key(json, &text)) {
			bt_doc_key_str(doc, text);
			copy_value(json, doc);
		}
		bt_doc_end(doc);
		break;
	case BT_JSON_ARRAY:
		bt_doc_begin_array(doc);
		bt_json_enter_array(json);
		while (bt_json_next_element(json)) {
			copy_value(json, doc);
		}
		bt_doc_end(doc);
		break;
	case BT_JSON_STRING:
		if (bt_json_string(json, &text)) {
			bt_doc_str(doc, text);
		}
		break;
	case BT_JSON_NUMBER:
		if (bt_json_int64(json, &number)) {
			bt_doc_int(doc, number);
		}
		break;
	case BT_JSON_BOOL:
		if (bt_json_bool(json, &flag)) {
			bt_doc_bool(doc, flag);
		}
		break;
	default:
		if (bt_json_null(json)) {
			bt_doc_null(doc);
		}
		break;
	}
}

static void write_yaml(const struct bt_object *object, struct bt_buf *out)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf text = {0};
	struct bt_doc doc;

	bt_object_encode(object, &text);
	bt_doc_init(&doc, BT_DOC_YAML, out);
	bt_json_begin(json, bt_buf_view(&text), &arena);
	copy_value(json, &doc);
	BT_INVARIANT(bt_json_error(json)->status == BT_OK);
	bt_buf_fini(&text);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

void bt_serialize_begin(struct bt_serialize_stream *stream, enum bt_doc_style style, struct bt_buf *out)
{
	*stream = (struct bt_serialize_stream){.style = style};
	if (style != BT_DOC_YAML) {
		bt_buf_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n");
	}
}

void bt_serialize_next(struct bt_serialize_stream *stream, const struct bt_object *object, struct bt_buf *out)
{
	bool yaml = stream->style == BT_DOC_YAML;

	if (stream->any) {
		bt_buf_text(out, yaml ? "---\n" : ",\n");
	}
	stream->any = true;
	if (yaml) {
		write_yaml(object, out);
	} else {
		bt_object_encode(object, out);
	}
}

void bt_serialize_end(struct bt_serialize_stream *stream, struct bt_buf *out)
{
	if (stream->style != BT_DOC_YAML) {
		bt_buf_text(out, stream->any ? "\n]}\n" : "]}\n");
	}
}
