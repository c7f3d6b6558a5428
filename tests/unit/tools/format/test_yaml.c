/* SPDX-License-Identifier: Apache-2.0
 * YAML as kubectl reads it: scalars, documents, merges, limits, and errors with their lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tools/format/yaml.h"

static struct bt_yaml *yaml;

static int setup(void **state)
{
	(void)state;
	yaml = bt_yaml_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_yaml_destroy(yaml);
	return 0;
}

/* The next document without the spaces left by replaced members. */
static void expect_next(const char *json)
{
	struct bt_buf squeezed = {0};
	struct bt_str out;

	assert_int_equal(bt_yaml_next(yaml, &out), BT_OK);
	for (size_t i = 0; i < out.len; i++) {
		if (out.ptr[i] != ' ') {
			bt_buf_char(&squeezed, out.ptr[i]);
		}
	}
	assert_string_equal(squeezed.ptr, json);
	bt_buf_fini(&squeezed);
}

static void expect_end(void)
{
	struct bt_str out;

	assert_int_equal(bt_yaml_next(yaml, &out), BT_NOT_FOUND);
}

static void converts(const char *text, const char *json)
{
	bt_yaml_begin(yaml, bt_str(text));
	expect_next(json);
	expect_end();
}

static void refuses_bytes(
	struct bt_str text, enum bt_status status, size_t line, const char *message, const char *remedy)
{
	struct bt_str out;

	bt_yaml_begin(yaml, text);
	assert_int_equal(bt_yaml_next(yaml, &out), status);
	assert_string_equal(bt_yaml_error(yaml)->message, message);
	assert_string_equal(bt_yaml_error(yaml)->remedy, remedy);
	assert_int_equal(bt_yaml_error(yaml)->line, line);
	expect_end();
}

static void refuses(
	const char *text, enum bt_status status, size_t line, const char *message, const char *remedy)
{
	refuses_bytes(bt_str(text), status, line, message, remedy);
}

/* Each pair was compared with the result of sigs.k8s.io/yaml. */
static void plain_scalars_mean_what_they_mean_to_kubectl(void **state)
{
	static const char *const cases[][2] = {{"y", "true"}, {"Yes", "true"}, {"on", "true"},
		{"OFF", "false"}, {"n", "false"}, {"tRue", "\"tRue\""}, {"~", "null"}, {"", "null"},
		{"Null", "null"}, {"nULL", "\"nULL\""}, {"010", "8"}, {"-010", "-8"}, {"08", "8"},
		{"0x1F", "31"}, {"-0x1F", "-31"}, {"0b11", "3"}, {"0o17", "15"}, {"1_000", "1000"},
		{"_1", "\"_1\""}, {"+1", "1"}, {"-0", "0"}, {"1.5", "1.5"}, {"1.", "1"}, {".5", "0.5"},
		{".5_0", "0.5"}, {"._5", "\"._5\""}, {"1e3", "1000"}, {"1e-7", "1e-7"}, {"1e21", "1e+21"},
		{"-0.0", "-0"}, {"0.30000000000000004", "0.30000000000000004"},
		{"9223372036854775808", "9223372036854775808"},
		{"18446744073709551616", "18446744073709552000"}, {"1e400", "\"1e400\""},
		{"2001-01-01", "\"2001-01-01\""}, {"12:30", "\"12:30\""}, {"500m", "\"500m\""},
		{"1.5Gi", "\"1.5Gi\""}, {"0x", "\"0x\""}, {"1.2.3", "\"1.2.3\""}, {"\"1\"", "\"1\""},
		{"'yes'", "\"yes\""}, {"!!str 1", "\"1\""}, {"!!int \"2\"", "2"}, {"!x 4", "\"4\""},
		{"|\n  1\n", "\"1\\n\""}, {">-\n  a\n  b\n", "\"ab\""}, {"\"\\0\\t\"", "\"\\u0000\\t\""}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64], json[64];

		snprintf(text, sizeof(text), "a: %s\n", cases[i][0]);
		snprintf(json, sizeof(json), "{\"a\":%s}", cases[i][1]);
		converts(text, json);
	}
}

static void keys_become_strings(void **state)
{
	(void)state;
	converts("1: a\n010: b\n1.5: c\nyes: d\n'x y': e\n1e20: f\n",
		"{\"1\":\"a\",\"8\":\"b\",\"1.5\":\"c\",\"true\":\"d\",\"xy\":\"e\","
		"\"1e+20\":\"f\"}");
	refuses("~: a\n", BT_INVALID, 1, "\"~\" cannot be a key",
		"put it into quotes if it is meant as text");
	refuses("? [a]\n: b\n", BT_INVALID, 1, "a sequence cannot be a key",
		"use a plain word as the key, and put words with braces into quotes");
}

static void aliases_and_merges_are_expanded(void **state)
{
	(void)state;
	converts("a: &x {b: 1}\nc: *x\n", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}");
	converts("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n",
		"{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":1,\"c\":3}}");
	converts("a: &x {b: 1}\nc: {b: 2, <<: *x}\n", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}");
	converts("a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne:\n  <<: [*x, *y]\n",
		"{\"a\":{\"b\":1},\"c\":{\"b\":2,\"d\":3},\"e\":{\"d\":3,\"b\":1}}");
	refuses("a: *b\n", BT_INVALID, 1, "unknown anchor \"b\"", "define the anchor before it is used");
	refuses("a: &a\n  b: *a\n", BT_INVALID, 2, "the anchor \"a\" contains itself",
		"write the values out");
	refuses("a:\n  <<: 1\n", BT_INVALID, 2, "a merge key needs a mapping or a sequence of mappings",
		"merge an alias of a mapping");
}

static void a_bomb_of_aliases_is_refused(void **state)
{
	struct bt_buf text = {0};

	(void)state;
	bt_buf_text(&text, "a0: &a0 [xxxxxxxxxxxxxxxx]\n");
	for (int i = 1; i < 9; i++) {
		bt_buf_printf(&text, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++) {
			bt_buf_printf(&text, "*a%d,", i - 1);
		}
		bt_buf_text(&text, "]\n");
	}
	bt_yaml_begin(yaml, bt_buf_view(&text));
	struct bt_str out;
	assert_int_equal(bt_yaml_next(yaml, &out), BT_RANGE);
	assert_string_equal(bt_yaml_error(yaml)->message, "aliases expand to more than 67108864 bytes");
	bt_buf_fini(&text);
}

static void duplicate_keys_are_refused_with_their_line(void **state)
{
	(void)state;
	refuses("a: 1\nb: 2\na: 3\n", BT_EXISTS, 3, "the key \"a\" appears twice", "keep one of them");
	refuses("a:\n  1: x\n  '1': y\n", BT_EXISTS, 3, "the key \"1\" appears twice", "keep one of them");
	converts("a: {b: 1}\nb: {b: 2, a: 1}\n", "{\"a\":{\"b\":1},\"b\":{\"b\":2,\"a\":1}}");
}

struct duplicates {
	struct bt_buf text;
};

static void note_duplicate(void *context, struct bt_str key, size_t line)
{
	struct duplicates *duplicates = context;

	bt_buf_printf(&duplicates->text, "%zu%.*s ", line, BT_STR_ARG(key));
}

static void duplicate_keys_are_reported_on_request_and_the_last_counts(void **state)
{
	struct duplicates duplicates = {.text = {0}};

	(void)state;
	bt_yaml_report_duplicates(yaml, note_duplicate, &duplicates);
	converts("a: 1\nb: {c: 1, d: 2, c: 3}\na:\n- x\n- q: 1\n  q:\n    z: 2\na: &n last\nb: *n\n",
		"{\"a\":\"last\",\"b\":\"last\"}");
	assert_string_equal(duplicates.text.ptr, "2\"c\" 7\"q\" 4\"a\" 8\"a\" 9\"b\" ");
	bt_buf_clear(&duplicates.text);
	converts("a: &n {b: 1}\nc:\n  <<: *n\n  b: 2\nd:\n  b: 3\n  <<: *n\n",
		"{\"a\":{\"b\":1},\"c\":{\"b\":2},\"d\":{\"b\":1}}");
	assert_string_equal(duplicates.text.ptr, "4\"b\" 7\"b\" ");
	bt_yaml_report_duplicates(yaml, NULL, NULL);
	bt_buf_fini(&duplicates.text);
}

static void many_keys_are_checked_through_the_table(void **state)
{
	struct bt_buf text = {0};
	struct bt_str out;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		bt_buf_printf(&text, "k%d: {a: 1, b: {c: 2}}\n", i);
	}
	bt_yaml_begin(yaml, bt_buf_view(&text));
	assert_int_equal(bt_yaml_next(yaml, &out), BT_OK);
	bt_buf_text(&text, "k77: 1\n");
	bt_yaml_begin(yaml, bt_buf_view(&text));
	assert_int_equal(bt_yaml_next(yaml, &out), BT_EXISTS);
	assert_int_equal(bt_yaml_error(yaml)->line, 5001);
	bt_buf_fini(&text);
}

static void a_bad_document_does_not_take_the_next_with_it(void **state)
{
	struct bt_str out;

	(void)state;
	bt_yaml_begin(yaml, bt_str("# head\n---\na: 1\n---\nb: [1\n---\n\n---\nc: 2\n...\n---\nd: 3"));
	expect_next("{\"a\":1}");
	assert_int_equal(bt_yaml_next(yaml, &out), BT_INVALID);
	assert_int_equal(bt_yaml_error(yaml)->line, 6);
	expect_next("{\"c\":2}");
	assert_int_equal(bt_yaml_line(yaml, 1), 9);
	expect_next("{\"d\":3}");
	expect_end();
}

static void errors_name_the_line_and_the_remedy(void **state)
{
	(void)state;
	refuses("a:\n\tb: 1\n", BT_INVALID, 2,
		"a tab stands where YAML wants spaces: found character that cannot start any token",
		"indent with spaces");
	refuses("a: {b: [1, 2\n", BT_INVALID, 2,
		"while parsing a flow sequence, did not find expected ',' or ']'",
		"complete the file, it seems to be cut off");
	refuses_bytes((struct bt_str)BT_STR("a: 1\nb: x\0y\n"), BT_INVALID, 2, "NUL byte",
		"write the file again as UTF-8 text");
	refuses("a: 1\nb: \xc3(\n", BT_INVALID, 2, "invalid trailing UTF-8 octet",
		"write the file again as UTF-8 text");
	refuses("a: .inf\n", BT_INVALID, 1, ".inf is no number that can be used",
		"put it into quotes if it is meant as text");
	refuses("a: !!int x\n", BT_INVALID, 1, "the value does not fit its tag tag:yaml.org,2002:int",
		"correct the value or the tag");
}

static void depth_is_bounded(void **state)
{
	struct bt_buf text = {0};
	struct bt_str out;

	(void)state;
	for (int i = 0; i < 300; i++) {
		bt_buf_text(&text, "- ");
	}
	bt_yaml_begin(yaml, bt_buf_view(&text));
	assert_int_equal(bt_yaml_next(yaml, &out), BT_DEPTH);
	assert_string_equal(bt_yaml_error(yaml)->message, "nested deeper than 256 levels");
	bt_buf_fini(&text);
}

static void offsets_lead_back_to_lines(void **state)
{
	struct bt_str out;

	(void)state;
	bt_yaml_begin(yaml, bt_str("a: 1\n\nb:\n- c: x\n- d: y\n"));
	assert_int_equal(bt_yaml_next(yaml, &out), BT_OK);
	assert_int_equal(bt_yaml_line(yaml, bt_str_find(out, '1', 0)), 1);
	assert_int_equal(bt_yaml_line(yaml, bt_str_find(out, 'x', 0)), 4);
	assert_int_equal(bt_yaml_line(yaml, bt_str_find(out, 'y', 0)), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_scalars_mean_what_they_mean_to_kubectl),
		cmocka_unit_test(keys_become_strings),
		cmocka_unit_test(aliases_and_merges_are_expanded),
		cmocka_unit_test(a_bomb_of_aliases_is_refused),
		cmocka_unit_test(duplicate_keys_are_refused_with_their_line),
		cmocka_unit_test(duplicate_keys_are_reported_on_request_and_the_last_counts),
		cmocka_unit_test(many_keys_are_checked_through_the_table),
		cmocka_unit_test(a_bad_document_does_not_take_the_next_with_it),
		cmocka_unit_test(errors_name_the_line_and_the_remedy),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(offsets_lead_back_to_lines),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
