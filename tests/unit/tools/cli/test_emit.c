/* SPDX-License-Identifier: Apache-2.0
 * Reports in four formats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "rendered.h"

static struct bt_emit *make_report(void)
{
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schemaVersion", "1");
	bt_emit_hide(emit);
	bt_emit_int(emit, "pods", 1234567);
	bt_emit_begin_object(emit, "time");
	bt_emit_label(emit, "Time");
	bt_emit_real(emit, "read_s", 1.5, 2);
	bt_emit_label(emit, "reading");
	bt_emit_unit(emit, "s");
	bt_emit_null(emit, "decide_s");
	bt_emit_end(emit);
	bt_emit_begin_array(emit, "resources");
	bt_emit_label(emit, "Resources");
	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "name", "cpu");
	bt_emit_begin_object(emit, "used");
	bt_emit_real(emit, "mean", 81.25, 1);
	bt_emit_unit(emit, "%");
	bt_emit_end(emit);
	bt_emit_end(emit);
	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "name", "a, \"b\"");
	bt_emit_begin_object(emit, "used");
	bt_emit_real(emit, "mean", 5, 1);
	bt_emit_unit(emit, "%");
	bt_emit_end(emit);
	bt_emit_int(emit, "extra", 7);
	bt_emit_end(emit);
	bt_emit_end(emit);
	bt_emit_begin_array(emit, "notes");
	bt_emit_text(emit, NULL, "one");
	bt_emit_text(emit, NULL, "two");
	bt_emit_end(emit);
	return emit;
}

static void expect(enum bt_emit_format format, const char *want)
{
	struct bt_emit *emit = make_report();

	assert_string_equal(rendered(emit, format), want);
	bt_emit_destroy(emit);
}

static void table_aligns_columns_and_numbers(void **state)
{
	(void)state;
	expect(BT_EMIT_TABLE,
		"pods  1,234,567\n\nTime\n  reading   1.50 s\n  decide_s  -\n\nResources\n"
		"  name    used mean  extra\n  cpu         81.2%       \n  a, \"b\"       5.0%      7\n\n"
		"notes\n  one\n  two\n");
}

static void csv_has_a_header_for_each_section(void **state)
{
	(void)state;
	expect(BT_EMIT_CSV,
		"section,key,value\n,schemaVersion,1\n,pods,1234567\n\nsection,key,value\ntime,read_s,1.50\n"
		"time,decide_s,\n\nsection,name,used.mean,extra\nresources,cpu,81.2,\n"
		"resources,\"a, \"\"b\"\"\",5.0,7\n\nsection,value\nnotes,one\nnotes,two\n");
}

static void json_has_every_value_and_no_label(void **state)
{
	(void)state;
	expect(BT_EMIT_JSON,
		"{\n  \"schemaVersion\": \"1\",\n  \"pods\": 1234567,\n  \"time\": {\n    \"read_s\": 1.50,\n"
		"    \"decide_s\": null\n  },\n  \"resources\": [\n    {\n      \"name\": \"cpu\",\n      "
		"\"used\": {\n"
		"        \"mean\": 81.2\n      }\n    },\n    {\n      \"name\": \"a, \\\"b\\\"\",\n      "
		"\"used\": {\n"
		"        \"mean\": 5.0\n      },\n      \"extra\": 7\n    }\n  ],\n  \"notes\": [\n    "
		"\"one\",\n"
		"    \"two\"\n  ]\n}\n");
}

static void yaml_has_every_value(void **state)
{
	(void)state;
	expect(BT_EMIT_YAML, "schemaVersion: \"1\"\npods: 1234567\ntime:\n  read_s: 1.50\n  decide_s: "
			     "null\nresources:\n- name: cpu\n"
			     "  used:\n    mean: 81.2\n- name: \"a, \\\"b\\\"\"\n  used:\n    mean: 5.0\n  "
			     "extra: 7\nnotes:\n- one\n- two\n");
}

static void an_empty_report_is_written_in_every_format(void **state)
{
	struct bt_emit *emit = bt_emit_create();

	(void)state;
	assert_string_equal(rendered(emit, BT_EMIT_JSON), "{}\n");
	assert_string_equal(rendered(emit, BT_EMIT_YAML), "{}\n");
	assert_string_equal(rendered(emit, BT_EMIT_TABLE), "");
	assert_string_equal(rendered(emit, BT_EMIT_CSV), "section,key,value\n");
	bt_emit_destroy(emit);
}

static void empty_sections_are_left_out_of_the_table(void **state)
{
	struct bt_emit *emit = bt_emit_create();

	(void)state;
	bt_emit_begin_array(emit, "none");
	bt_emit_end(emit);
	bt_emit_begin_object(emit, "nothing");
	bt_emit_end(emit);
	assert_string_equal(rendered(emit, BT_EMIT_TABLE), "");
	assert_string_equal(rendered(emit, BT_EMIT_YAML), "none: []\nnothing: {}\n");
	bt_emit_destroy(emit);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
	struct bt_emit *emit = bt_emit_create();

	(void)state;
	bt_emit_text(emit, "name", "a\n\x1b[31mb");
	assert_string_equal(rendered(emit, BT_EMIT_TABLE), "name  a\\n\\x1b[31mb\n");
	bt_emit_text(emit, "next", "c\xc2\x9b\r\td");
	assert_string_equal(rendered(emit, BT_EMIT_CSV),
		"section,key,value\n,name,\"a\n\\x1b[31mb\"\n,next,\"c\\u009b\\r\td\"\n");
	bt_emit_destroy(emit);
}

static void csv_quotes_each_character_that_needs_it(void **state)
{
	struct bt_emit *emit = bt_emit_create();

	(void)state;
	bt_emit_text(emit, "a", "x,y");
	bt_emit_text(emit, "b", "\"");
	bt_emit_text(emit, "c", "x\ny");
	assert_string_equal(
		rendered(emit, BT_EMIT_CSV), "section,key,value\n,a,\"x,y\"\n,b,\"\"\"\"\n,c,\"x\ny\"\n");
	bt_emit_destroy(emit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_aligns_columns_and_numbers),
		cmocka_unit_test(csv_has_a_header_for_each_section),
		cmocka_unit_test(csv_quotes_each_character_that_needs_it),
		cmocka_unit_test(json_has_every_value_and_no_label),
		cmocka_unit_test(yaml_has_every_value),
		cmocka_unit_test(an_empty_report_is_written_in_every_format),
		cmocka_unit_test(empty_sections_are_left_out_of_the_table),
		cmocka_unit_test(control_characters_do_not_reach_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
