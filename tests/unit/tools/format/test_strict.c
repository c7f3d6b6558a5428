/* SPDX-License-Identifier: Apache-2.0
 * The strict decoder by itself: what it collects, what ends a decoding, and how both name the place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model/object.h"
#include "tools/format/strict.h"

struct inner {
	struct bt_str name;
	int32_t weight;
};

struct outer {
	bool flag;
	int32_t small;
	int64_t span;
	struct bt_str bytes;
	struct bt_str_list words;
	struct bt_str_map labels;
	struct inner *items;
	uint32_t item_n;
};

static const struct bt_field inner_fields[] = {
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = offsetof(struct inner, name)},
	{.name = BT_STR("weight"), .type = BT_FIELD_I32, .offset = offsetof(struct inner, weight)},
};
static const struct bt_schema inner = {.fields = inner_fields,
	.field_n = 2,
	.bytes = sizeof(struct inner),
	.go_package = "v1",
	.go_name = "Inner"};

static const struct bt_field outer_fields[] = {
	{.name = BT_STR("flag"),
		.type = BT_FIELD_BOOL,
		.offset = offsetof(struct outer, flag),
		.go_inline = "Embedded"},
	{.name = BT_STR("small"), .type = BT_FIELD_I32, .offset = offsetof(struct outer, small)},
	{.name = BT_STR("span"), .type = BT_FIELD_DURATION, .offset = offsetof(struct outer, span)},
	{.name = BT_STR("bytes"), .type = BT_FIELD_BYTES, .offset = offsetof(struct outer, bytes)},
	{.name = BT_STR("words"), .type = BT_FIELD_STR_LIST, .offset = offsetof(struct outer, words)},
	{.name = BT_STR("labels"), .type = BT_FIELD_STR_MAP, .offset = offsetof(struct outer, labels)},
	{.name = BT_STR("items"),
		.type = BT_FIELD_ARRAY,
		.offset = offsetof(struct outer, items),
		.count = BT_MEMBER(struct outer, item_n),
		.schema = &inner},
};
static const struct bt_schema outer = {.fields = outer_fields,
	.field_n = sizeof(outer_fields) / sizeof(outer_fields[0]),
	.bytes = sizeof(struct outer),
	.go_package = "v1",
	.go_name = "Outer"};

struct reading {
	struct bt_json *json;
	struct bt_arena arena;
	struct bt_strict strict;
	struct outer outer;
	bool good;
};

static void begin(struct reading *r, const char *text, bool sorted)
{
	*r = (struct reading){.json = bt_json_create()};
	bt_json_begin(r->json, bt_str(text), &r->arena);
	r->strict = (struct bt_strict){.json = r->json, .arena = &r->arena, .sorted = sorted};
	r->good = bt_strict_decode(&r->strict, &outer, &r->outer);
}

static void end(struct reading *r)
{
	bt_strict_fini(&r->strict);
	bt_arena_fini(&r->arena);
	bt_json_destroy(r->json);
}

/* It decodes, with these faults. */
static void expect_faults(const char *text, bool sorted, const char *faults, size_t offset)
{
	struct reading r;

	begin(&r, text, sorted);
	assert_true(r.good);
	assert_string_equal(r.strict.faults.len ? r.strict.faults.ptr : "", faults);
	assert_int_equal(r.strict.has_offset, *faults != 0);
	assert_int_equal(r.strict.offset, offset);
	end(&r);
}

static void expect_fatal(const char *text, const char *fatal, size_t offset)
{
	struct reading r;

	begin(&r, text, false);
	assert_false(r.good);
	assert_string_equal(r.strict.fatal.ptr, fatal);
	assert_int_equal(r.strict.offset, offset);
	end(&r);
}

static void known_fields_are_decoded_without_diagnostics(void **state)
{
	struct reading r;

	(void)state;
	begin(&r,
		"{\"flag\":true,\"small\":7,\"span\":\"1s\",\"words\":[\"a\"],\"labels\":{\"k\":\"v\"},"
		"\"items\":[{\"name\":\"x\",\"weight\":2}]}",
		false);
	assert_true(r.good);
	assert_int_equal(r.strict.faults.len, 0);
	assert_false(r.strict.has_offset);
	assert_true(r.outer.flag && r.outer.small == 7 && r.outer.span == 1000000000);
	assert_int_equal(r.outer.items[0].weight, 2);
	end(&r);
}

static void faults_are_collected_with_their_paths_and_the_rest_is_read(void **state)
{
	struct reading r;

	(void)state;
	expect_faults("{\"a\":1,\"items\":[{\"b\":2},{\"weight\":1,\"c\":3}]}", false,
		"unknown field \"a\", unknown field \"items[0].b\", unknown field \"items[1].c\"", 5);
	expect_faults("{\"small\":1,\"small\":2,\"labels\":{\"k\":\"v\",\"k\":\"w\"}}", false,
		"duplicate field \"small\", duplicate field \"labels.k\"", 19);
	begin(&r, "{\"a\":1,\"small\":5}", false);
	assert_int_equal(r.outer.small, 5);
	end(&r);
}

static void a_fault_is_reported_once_for_each_path(void **state)
{
	(void)state;
	expect_faults(
		"{\"a\":1,\"a\":2,\"b\":3,\"a\":4}", false, "unknown field \"a\", unknown field \"b\"", 5);
}

static void members_of_yaml_are_read_by_name(void **state)
{
	(void)state;
	expect_faults("{\"z\":1,\"y\":2}", false, "unknown field \"z\", unknown field \"y\"", 5);
	expect_faults("{\"z\":1,\"y\":2}", true, "unknown field \"y\", unknown field \"z\"", 11);
}

static void only_the_first_hundred_faults_are_kept(void **state)
{
	struct bt_buf text = {0};
	struct reading r;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < BT_STRICT_FAULT_MAX + 5; i++) {
		bt_buf_printf(&text, "%s\"f%d\":1", i ? "," : "{", i);
	}
	bt_buf_char(&text, '}');
	begin(&r, text.ptr, false);
	assert_true(r.good);
	for (const char *at = r.strict.faults.ptr; (at = strstr(at, "unknown")); at++) {
		n++;
	}
	assert_int_equal(n, BT_STRICT_FAULT_MAX);
	assert_non_null(strstr(r.strict.faults.ptr, "\"f99\""));
	assert_null(strstr(r.strict.faults.ptr, "\"f100\""));
	end(&r);
	bt_buf_fini(&text);
}

static void a_value_of_a_wrong_type_names_gos_struct_and_type(void **state)
{
	(void)state;
	expect_fatal("{\"small\":\"x\"}",
		"json: cannot unmarshal string into Go struct field Outer.small of type int32", 9);
	expect_fatal("{\"flag\":{}}",
		"json: cannot unmarshal object into Go struct field Outer.Embedded.flag of type bool", 8);
	expect_fatal("{\"words\":true}",
		"json: cannot unmarshal bool into Go struct field Outer.words of type []string", 9);
	expect_fatal("{\"words\":[[]]}",
		"json: cannot unmarshal array into Go struct field Outer.words of type string", 10);
	expect_fatal("{\"labels\":1}",
		"json: cannot unmarshal number into Go struct field Outer.labels of type map[string]string",
		10);
	expect_fatal("{\"labels\":{\"k\":1}}",
		"json: cannot unmarshal number into Go struct field Outer.labels of type string", 15);
	expect_fatal("{\"items\":3}",
		"json: cannot unmarshal number into Go struct field Outer.items of type []v1.Inner", 9);
	expect_fatal("{\"items\":[{\"weight\":99999999999}]}",
		"json: cannot unmarshal number 99999999999 into Go struct field Inner.items.weight of type "
		"int32",
		20);
}

static void the_first_wrong_value_is_reported_unless_a_duration_follows(void **state)
{
	(void)state;
	expect_fatal("{\"small\":\"x\",\"flag\":1}",
		"json: cannot unmarshal string into Go struct field Outer.small of type int32", 9);
	expect_fatal("{\"small\":\"x\",\"span\":\"1d\",\"flag\":1}",
		"time: unknown unit \"d\" in duration \"1d\"", 20);
	expect_fatal("{\"bytes\":\"!!\",\"small\":\"x\"}", "illegal base64 data at input byte 0", 9);
}

static void faults_do_not_hide_what_is_fatal(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, "{\"a\":1,\"small\":\"x\"}", false);
	assert_false(r.good);
	assert_string_equal(r.strict.faults.ptr, "unknown field \"a\"");
	assert_int_equal(r.strict.offset, 15); /* of the error that is reported */
	end(&r);
}

static void types_have_the_words_of_gos_decoder(void **state)
{
	(void)state;
	assert_string_equal(bt_strict_type_word(BT_JSON_OBJECT), "object");
	assert_string_equal(bt_strict_type_word(BT_JSON_ARRAY), "array");
	assert_string_equal(bt_strict_type_word(BT_JSON_STRING), "string");
	assert_string_equal(bt_strict_type_word(BT_JSON_NUMBER), "number");
	assert_string_equal(bt_strict_type_word(BT_JSON_BOOL), "bool");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_fields_are_decoded_without_diagnostics),
		cmocka_unit_test(faults_are_collected_with_their_paths_and_the_rest_is_read),
		cmocka_unit_test(a_fault_is_reported_once_for_each_path),
		cmocka_unit_test(members_of_yaml_are_read_by_name),
		cmocka_unit_test(only_the_first_hundred_faults_are_kept),
		cmocka_unit_test(a_value_of_a_wrong_type_names_gos_struct_and_type),
		cmocka_unit_test(the_first_wrong_value_is_reported_unless_a_duration_follows),
		cmocka_unit_test(faults_do_not_hide_what_is_fatal),
		cmocka_unit_test(types_have_the_words_of_gos_decoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
