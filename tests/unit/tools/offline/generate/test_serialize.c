/* SPDX-License-Identifier: Apache-2.0
 * Streams of objects: in both styles they are read back as they were, however many there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/format/object_reader.h"
#include "tools/offline/generate/serialize.h"

static void report(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	fail_msg("%s", diagnosis->message);
}

/* Writes what the reader reads of a text as a stream of this style. Returns: how many objects. */
static size_t convert(struct bt_str text, enum bt_format format, enum bt_doc_style style, struct bt_buf *out)
{
	struct bt_object_reader *reader = bt_object_reader_create(report, NULL);
	struct bt_serialize_stream stream;
	const struct bt_object *object;
	size_t n = 0;

	bt_object_reader_begin_text(reader, "test", text, format);
	bt_serialize_begin(&stream, style, out);
	for (; (object = bt_object_reader_next(reader)); n++) {
		bt_serialize_next(&stream, object, out);
	}
	bt_serialize_end(&stream, out);
	bt_object_reader_destroy(reader);
	return n;
}

#define NODE                                                                                                 \
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"yes\","   \
	"\"b\":\"1\",\"c\":\"x: # y\"}},\"spec\":{\"unschedulable\":true},\"status\":{\"allocatable\":"      \
	"{\"cpu\":\"4\",\"pods\":\"10\"}}}"
#define POD                                                                                                  \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"d\"},"         \
	"\"spec\":{\"priority\":-5,\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"    \
	"\"100m\"}}}]}}"

static void yaml_decodes_as_json(void **state)
{
	struct bt_buf json = {0}, yaml = {0}, again = {0};

	(void)state;
	assert_int_equal(convert(bt_str(NODE "\n" POD), BT_FORMAT_JSON, BT_DOC_JSON, &json), 2);
	assert_int_equal(convert(bt_buf_view(&json), BT_FORMAT_JSON, BT_DOC_YAML, &yaml), 2);
	assert_int_equal(convert(bt_buf_view(&yaml), BT_FORMAT_YAML, BT_DOC_JSON, &again), 2);
	assert_string_equal(again.ptr, json.ptr);
	assert_non_null(strstr(json.ptr, "\"x: # y\""));
	assert_non_null(strstr(json.ptr, "-5"));
	bt_buf_fini(&json);
	bt_buf_fini(&yaml);
	bt_buf_fini(&again);
}

static void json_is_one_list_with_an_object_a_line(void **state)
{
	struct bt_buf json = {0};

	(void)state;
	convert(bt_str(NODE "\n" POD "\n" POD), BT_FORMAT_JSON, BT_DOC_JSON, &json);
	const char *begin = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{";
	assert_memory_equal(json.ptr, begin, strlen(begin));
	size_t line_n = 0;
	for (const char *at = json.ptr; (at = strchr(at, '\n')); at++) {
		line_n++;
	}
	assert_int_equal(line_n, 5);
	assert_string_equal(json.ptr + json.len - 5, "}\n]}\n");
	bt_buf_fini(&json);
}

static void yaml_is_a_document_an_object(void **state)
{
	struct bt_buf yaml = {0};

	(void)state;
	convert(bt_str(POD "\n" POD), BT_FORMAT_JSON, BT_DOC_YAML, &yaml);
	assert_memory_equal(yaml.ptr, "apiVersion: v1\n", 15);
	const char *second = strstr(yaml.ptr, "\n---\napiVersion: v1\n");
	assert_non_null(second);
	assert_null(strstr(second + 1, "\n---\n"));
	bt_buf_fini(&yaml);
}

static void a_stream_without_objects_is_valid(void **state)
{
	struct bt_serialize_stream stream;
	struct bt_buf json = {0}, yaml = {0};

	(void)state;
	bt_serialize_begin(&stream, BT_DOC_JSON, &json);
	bt_serialize_end(&stream, &json);
	assert_string_equal(json.ptr, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n]}\n");
	bt_serialize_begin(&stream, BT_DOC_YAML, &yaml);
	bt_serialize_end(&stream, &yaml);
	assert_int_equal(yaml.len, 0);
	bt_buf_fini(&json);
	bt_buf_fini(&yaml);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yaml_decodes_as_json),
		cmocka_unit_test(json_is_one_list_with_an_object_a_line),
		cmocka_unit_test(yaml_is_a_document_an_object),
		cmocka_unit_test(a_stream_without_objects_is_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
