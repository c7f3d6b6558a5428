/* SPDX-License-Identifier: Apache-2.0
 * JSON and YAML as a stream of calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/cli/doc_write.h"

static void fill(struct bt_doc *doc)
{
	bt_doc_begin_object(doc);
	bt_doc_key(doc, "name");
	bt_doc_text(doc, "a: b");
	bt_doc_key(doc, "empty");
	bt_doc_begin_object(doc);
	bt_doc_end(doc);
	bt_doc_key(doc, "list");
	bt_doc_begin_array(doc);
	bt_doc_int(doc, -1);
	bt_doc_begin_object(doc);
	bt_doc_key(doc, "x");
	bt_doc_bool(doc, true);
	bt_doc_key(doc, "y");
	bt_doc_begin_array(doc);
	bt_doc_null(doc);
	bt_doc_begin_array(doc);
	bt_doc_end(doc);
	bt_doc_end(doc);
	bt_doc_end(doc);
	bt_doc_begin_array(doc);
	bt_doc_real(doc, 1.25, 1);
	bt_doc_int(doc, 2);
	bt_doc_end(doc);
	bt_doc_end(doc);
	bt_doc_end(doc);
}

static void expect(enum bt_doc_style style, const char *want)
{
	struct bt_buf out = {0};
	struct bt_doc doc;

	bt_doc_init(&doc, style, &out);
	fill(&doc);
	assert_string_equal(out.ptr, want);
	bt_buf_fini(&out);
}

static void json_is_compact(void **state)
{
	(void)state;
	expect(BT_DOC_JSON,
		"{\"name\":\"a: b\",\"empty\":{},\"list\":[-1,{\"x\":true,\"y\":[null,[]]},[1.2,2]]}");
}

static void pretty_json_is_indented_and_keeps_empty_containers_short(void **state)
{
	(void)state;
	expect(BT_DOC_JSON_PRETTY, "{\n  \"name\": \"a: b\",\n  \"empty\": {},\n  \"list\": [\n    -1,\n    "
				   "{\n      \"x\": true,\n"
				   "      \"y\": [\n        null,\n        []\n      ]\n    },\n    [\n      "
				   "1.2,\n      2\n    ]\n  ]\n}");
}

static void yaml_is_in_block_style(void **state)
{
	(void)state;
	expect(BT_DOC_YAML, "name: \"a: b\"\nempty: {}\nlist:\n- -1\n- x: true\n  \"y\":\n  - null\n  - "
			    "[]\n- - 1.2\n  - 2\n");
}

static void yaml_quotes_what_would_not_be_read_as_a_string(void **state)
{
	static const char *const quoted[] = {"", "true", "Yes", "NO", "null", "~", "1", "1.5", "0x1f", "-",
		"- a", "a b", "a: b", "#c", "y", "inf", "*a", "2026-01-01T00:00:00Z", " a", "a\nb", "@x",
		"1Gi"};
	static const char *const plain[] = {"web", "example.com/disk", "node-1", "Running", "nope", "kube_x"};
	struct bt_doc doc;
	struct bt_buf out = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
		bt_buf_clear(&out);
		bt_doc_init(&doc, BT_DOC_YAML, &out);
		bt_doc_text(&doc, quoted[i]);
		assert_int_equal(out.ptr[0], '"');
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		bt_buf_clear(&out);
		bt_doc_init(&doc, BT_DOC_YAML, &out);
		bt_doc_text(&doc, plain[i]);
		assert_string_equal(out.ptr, plain[i]);
	}
	bt_buf_fini(&out);
}

static void numbers_that_are_not_finite_are_null(void **state)
{
	struct bt_buf out = {0};
	struct bt_json_writer json = {.out = &out};

	(void)state;
	bt_json_write_begin_array(&json);
	bt_json_write_real(&json, __builtin_nan(""), 2);
	bt_json_write_real(&json, __builtin_inf(), 2);
	bt_json_write_int(&json, INT64_MIN);
	bt_json_write_end(&json);
	assert_string_equal(out.ptr, "[null,null,-9223372036854775808]");
	bt_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_compact),
		cmocka_unit_test(pretty_json_is_indented_and_keeps_empty_containers_short),
		cmocka_unit_test(yaml_is_in_block_style),
		cmocka_unit_test(yaml_quotes_what_would_not_be_read_as_a_string),
		cmocka_unit_test(numbers_that_are_not_finite_are_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
