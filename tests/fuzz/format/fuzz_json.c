/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as JSON: skipping and walking find the same errors. The object reader terminates, with the same
 * objects and problems when helpers read ahead.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/format/encode.h"
#include "tools/format/json.h"
#include "tools/format/object_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *context, const struct bt_diagnosis *diagnosis)
{
	bt_diagnosis_text(diagnosis, context);
}

static void read_scalar(struct bt_json *json, enum bt_json_type type)
{
	struct bt_str text;
	bool truth;

	switch (type) {
	case BT_JSON_STRING:
		bt_json_string(json, &text);
		break;
	case BT_JSON_NUMBER:
		bt_json_number(json, &text);
		break;
	case BT_JSON_BOOL:
		bt_json_bool(json, &truth);
		break;
	default:
		bt_json_null(json);
		break;
	}
}

/* Reads one value by every function of the cursor, as deep as the cursor allows. */
static void walk(struct bt_json *json)
{
	enum bt_json_type type = bt_json_peek(json);
	struct bt_str key;

	if (type == BT_JSON_OBJECT && bt_json_enter_object(json)) {
		while (bt_json_next_key(json, &key)) {
			walk(json);
		}
	} else if (type == BT_JSON_ARRAY && bt_json_enter_array(json)) {
		while (bt_json_next_element(json)) {
			walk(json);
		}
	} else {
		read_scalar(json, type);
	}
}

static void compare(struct bt_str text)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};

	bt_json_begin(json, text, &arena);
	while (bt_json_more(json) && bt_json_skip(json)) {
	}
	struct bt_json_error skipped = *bt_json_error(json);
	bt_json_begin(json, text, &arena);
	while (bt_json_more(json) && bt_json_error(json)->status == BT_OK) {
		walk(json);
	}
	/* Skipped values may be nested more deeply. */
	if (bt_json_error(json)->status != BT_DEPTH) {
		BT_REQUIRE(bt_json_error(json)->status == skipped.status);
		BT_REQUIRE(bt_json_error(json)->offset == skipped.offset);
	}
	bt_json_destroy(json);
	bt_arena_fini(&arena);
}

/* The objects and problems of a text. */
static struct bt_buf read_objects(struct bt_str text, uint32_t helper_n)
{
	struct bt_buf out = {0};
	struct bt_object_reader *reader = bt_object_reader_create(note, &out);
	const struct bt_object *object;

	bt_object_reader_read_ahead(reader, helper_n, 48);
	bt_object_reader_begin_text(reader, "fuzz", text, BT_FORMAT_JSON);
	while ((object = bt_object_reader_next(reader))) {
		bt_object_encode(object, &out);
	}
	bt_object_reader_destroy(reader);
	return out;
}

static void compare_readers(struct bt_str text)
{
	struct bt_buf alone = read_objects(text, 0), ahead = read_objects(text, 1);

	BT_REQUIRE(bt_str_eq(bt_buf_view(&alone), bt_buf_view(&ahead)));
	bt_buf_fini(&alone);
	bt_buf_fini(&ahead);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size, so that reads past its end are detected. */
	char *bytes = bt_mem_realloc(NULL, 1, size + !size);
	struct bt_str text = {bytes, size};

	if (size) {
		memcpy(bytes, data, size);
	}
	compare(text);
	compare_readers(text);
	bt_mem_free(bytes);
	return 0;
}
