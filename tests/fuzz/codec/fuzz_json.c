/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as JSON: skipping and walking find the same errors, and the object reader ends.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/codec/json.h"
#include "tools/codec/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_buf text = {0};

	(void)context;
	bt_diagnosis_text(diagnosis, &text);
	bt_buf_fini(&text);
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

/* Reads one value with every call of the cursor; as deep as the cursor allows. */
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
	BT_REQUIRE(bt_json_error(json)->status == skipped.status);
	BT_REQUIRE(bt_json_error(json)->offset == skipped.offset);
	bt_json_destroy(json);
	bt_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its own size, so that a byte too far is noticed. */
	char *bytes = bt_mem_realloc(NULL, 1, size + !size);
	struct bt_str text = {bytes, size};
	struct bt_object_reader *reader = bt_object_reader_create(ignore, NULL);

	if (size) {
		memcpy(bytes, data, size);
	}
	compare(text);
	bt_object_reader_begin_text(reader, "fuzz", text, BT_FORMAT_JSON);
	while (bt_object_reader_next(reader)) {
	}
	bt_object_reader_destroy(reader);
	bt_mem_free(bytes);
	return 0;
}
