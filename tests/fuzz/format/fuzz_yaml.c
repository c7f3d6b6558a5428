/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as YAML: the output is valid JSON, each byte of it has a line, and the object reader terminates.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/format/json.h"
#include "tools/format/object_reader.h"
#include "tools/format/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_buf text = {0};

	(void)context;
	bt_diagnosis_text(diagnosis, &text);
	bt_buf_fini(&text);
}

static void convert(struct bt_str text)
{
	struct bt_yaml *yaml = bt_yaml_create();
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_str out;
	enum bt_status rc;

	bt_yaml_begin(yaml, text);
	while ((rc = bt_yaml_next(yaml, &out)) != BT_NOT_FOUND) {
		if (rc != BT_OK) {
			continue;
		}
		bt_json_begin(json, out, &arena);
		/* Nested aliases may exceed the depth limit without a syntax error. */
		bool ok = bt_json_skip(json) && !bt_json_more(json);
		BT_REQUIRE(ok || bt_json_error(json)->status == BT_DEPTH);
		BT_REQUIRE(bt_yaml_line(yaml, out.len) >= bt_yaml_line(yaml, 0));
	}
	bt_arena_fini(&arena);
	bt_json_destroy(json);
	bt_yaml_destroy(yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size, so that reads past its end are detected. */
	char *bytes = bt_mem_realloc(NULL, 1, size + !size);
	struct bt_str text = {bytes, size};
	struct bt_object_reader *reader = bt_object_reader_create(ignore, NULL);

	if (size) {
		memcpy(bytes, data, size);
	}
	convert(text);
	bt_object_reader_begin_text(reader, "fuzz", text, BT_FORMAT_YAML);
	while (bt_object_reader_next(reader)) {
	}
	bt_object_reader_destroy(reader);
	bt_mem_free(bytes);
	return 0;
}
