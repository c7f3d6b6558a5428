/* SPDX-License-Identifier: Apache-2.0
 * The JSON writer: nested containers, commas, indentation, and numbers without a JSON form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tools/cli/json_write.h"

static void write_sample(struct bt_json_writer *json)
{
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "name");
	bt_json_write_text(json, "a\"b\n");
	bt_json_write_key_str(json, bt_str("list"));
	bt_json_write_begin_array(json);
	bt_json_write_int(json, INT64_MIN);
	bt_json_write_bool(json, true);
	bt_json_write_null(json);
	bt_json_write_end(json);
	bt_json_write_key(json, "none");
	bt_json_write_begin_object(json);
	bt_json_write_end(json);
	bt_json_write_end(json);
}

static void expect(bool pretty, void (*write)(struct bt_json_writer *json), const char *wanted)
{
	struct bt_buf out = {0};
	struct bt_json_writer json = {.out = &out, .pretty = pretty};

	write(&json);
	bt_buf_char(&out, 0);
	assert_string_equal(out.ptr, wanted);
	bt_buf_fini(&out);
}

static void compact_text_has_no_blanks(void **state)
{
	(void)state;
	expect(false, write_sample,
		"{\"name\":\"a\\\"b\\n\",\"list\":[-9223372036854775808,true,null],\"none\":{}}");
}

static void pretty_text_indents_members_by_two(void **state)
{
	(void)state;
	expect(true, write_sample,
		"{\n  \"name\": \"a\\\"b\\n\",\n  \"list\": [\n    -9223372036854775808,\n    true,\n    "
		"null\n  ],\n"
		"  \"none\": {}\n}");
}

static void write_reals(struct bt_json_writer *json)
{
	bt_json_write_begin_array(json);
	bt_json_write_real(json, 2.0 / 3, 2);
	bt_json_write_real(json, -0.5, 0);
	bt_json_write_real(json, NAN, 2);
	bt_json_write_real(json, -INFINITY, 2);
	bt_json_write_end(json);
}

static void reals_have_the_requested_digits_and_are_valid_json(void **state)
{
	(void)state;
	expect(false, write_reals, "[0.67,-0,null,null]");
}

static void write_deep(struct bt_json_writer *json)
{
	for (int i = 0; i < BT_JSON_WRITE_DEPTH_MAX; i++) {
		bt_json_write_begin_array(json);
	}
	for (int i = 0; i < BT_JSON_WRITE_DEPTH_MAX; i++) {
		bt_json_write_end(json);
	}
}

static void containers_nest_as_deep_as_the_limit(void **state)
{
	char wanted[2 * BT_JSON_WRITE_DEPTH_MAX + 1] = {0};

	(void)state;
	memset(wanted, '[', BT_JSON_WRITE_DEPTH_MAX);
	memset(wanted + BT_JSON_WRITE_DEPTH_MAX, ']', BT_JSON_WRITE_DEPTH_MAX);
	expect(false, write_deep, wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compact_text_has_no_blanks),
		cmocka_unit_test(pretty_text_indents_members_by_two),
		cmocka_unit_test(reals_have_the_requested_digits_and_are_valid_json),
		cmocka_unit_test(containers_nest_as_deep_as_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
