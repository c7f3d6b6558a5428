/* SPDX-License-Identifier: Apache-2.0
 * The table-driven decoder alone: every type of field, strict mode, and large maps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/model/object.h"
#include "tools/format/schema.h"

struct inner {
	struct bt_str name;
	int32_t weight;
};

struct outer {
	struct bt_str text, raw;
	bool flag, has_number, is_on;
	int32_t small;
	int64_t large;
	struct bt_str_map map;
	struct bt_str_list keys, names;
	struct inner *items;
	uint32_t item_n, tag;
	int64_t custom, span;
	float share;
	struct bt_str bytes;
};

static bool read_double(struct bt_decode *decode, void *field)
{
	if (!bt_json_int64(decode->json, field)) {
		return bt_decode_fail(
			decode, BT_INVALID, bt_json_offset(decode->json), "write a number", "not a number");
	}
	*(int64_t *)field *= 2;
	return true;
}

static const struct bt_field inner_fields[] = {
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = offsetof(struct inner, name)},
	{.name = BT_STR("weight"), .type = BT_FIELD_I32, .offset = offsetof(struct inner, weight)},
};
static const struct bt_schema inner = BT_SCHEMA(inner_fields, struct inner);
static const struct bt_field name_fields[] = {{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = 0}};
static const struct bt_schema name = BT_SCHEMA(name_fields, struct bt_str);

static const struct bt_field outer_fields[] = {
	{.name = BT_STR("text"), .type = BT_FIELD_STR, .offset = offsetof(struct outer, text)},
	{.name = BT_STR("raw"), .type = BT_FIELD_RAW, .offset = offsetof(struct outer, raw)},
	{.name = BT_STR("flag"), .type = BT_FIELD_BOOL, .offset = offsetof(struct outer, flag)},
	{.name = BT_STR("small"),
		.type = BT_FIELD_I32,
		.offset = offsetof(struct outer, small),
		.flag = BT_MEMBER(struct outer, has_number),
		.tag = BT_MEMBER(struct outer, tag),
		.tag_value = 9},
	{.name = BT_STR("large"), .type = BT_FIELD_I64, .offset = offsetof(struct outer, large)},
	{.name = BT_STR("mode"), .type = BT_FIELD_IS, .offset = offsetof(struct outer, is_on), .word = "on"},
	{.name = BT_STR("map"), .type = BT_FIELD_STR_MAP, .offset = offsetof(struct outer, map)},
	{.name = BT_STR("keys"), .type = BT_FIELD_KEYS, .offset = offsetof(struct outer, keys)},
	{.name = BT_STR("names"),
		.type = BT_FIELD_NAMES,
		.offset = offsetof(struct outer, names),
		.schema = &name},
	{.name = BT_STR("items"),
		.type = BT_FIELD_ARRAY,
		.offset = offsetof(struct outer, items),
		.count = BT_MEMBER(struct outer, item_n),
		.schema = &inner},
	{.name = BT_STR("custom"),
		.type = BT_FIELD_CUSTOM,
		.offset = offsetof(struct outer, custom),
		.read = read_double},
	{.name = BT_STR("known"), .type = BT_FIELD_IGNORED},
	{.name = BT_STR("span"), .type = BT_FIELD_DURATION, .offset = offsetof(struct outer, span)},
	{.name = BT_STR("share"), .type = BT_FIELD_F32, .offset = offsetof(struct outer, share)},
	{.name = BT_STR("bytes"), .type = BT_FIELD_BYTES, .offset = offsetof(struct outer, bytes)},
};
static const struct bt_schema outer = BT_SCHEMA(outer_fields, struct outer);

static struct bt_arena arena;
static struct bt_decode decode;

static bool run(struct bt_str text, bool strict, struct outer *out)
{
	bt_json_begin(decode.json, text, &arena);
	decode = (struct bt_decode){.json = decode.json, .arena = &arena, .strict = strict};
	return bt_schema_decode(&decode, &outer, out);
}

static void refuses(const char *text, enum bt_status status, const char *path, const char *message)
{
	struct outer out = {0};

	assert_false(run(bt_str(text), true, &out));
	assert_int_equal(decode.error.status, status);
	assert_string_equal(decode.error.path, path);
	assert_string_equal(decode.error.message, message);
	assert_null(decode.path);
}

static void every_type_of_field_is_read(void **state)
{
	struct outer out = {.large = 77};

	(void)state;
	assert_true(run(
		(struct bt_str)BT_STR(
			"{\"text\":\"t\",\"raw\": {\"x\": [1]} ,\"flag\":true,\"small\":-3,\"mode\":\"on\","
			"\"map\":{\"b\":\"1\",\"a\":null},\"keys\":{\"k\":{},\"l\":1},\"names\":[{\"name\":"
			"\"n\"},null],"
			"\"items\":[{\"weight\":5},{\"name\":\"i\"}],\"custom\":21,\"known\":[{}],\"large\":"
			"null,\"span\":\"1m30s\",\"share\":2.5e-1,\"bytes\":\"aGk=\"}"),
		true, &out));
	assert_true(out.span == INT64_C(90000000000) && out.share == 0.25F && bt_str_is(out.bytes, "hi"));
	assert_true(bt_str_is(out.text, "t") && bt_str_is(out.raw, "{\"x\": [1]}") && out.flag && out.is_on);
	assert_true(out.small == -3 && out.has_number && out.tag == 9 && out.large == 77 && out.custom == 42);
	assert_true(out.map.set && out.map.n == 2 && bt_str_is(out.map.items[0].key, "b") &&
		    out.map.items[1].value.len == 0);
	assert_true(out.keys.n == 2 && bt_str_is(out.keys.items[1], "l"));
	assert_true(out.names.n == 2 && bt_str_is(out.names.items[0], "n") && out.names.items[1].len == 0);
	assert_true(out.item_n == 2 && out.items[0].weight == 5 && bt_str_is(out.items[1].name, "i"));
}

static void absent_and_null_leave_what_was_there(void **state)
{
	struct outer out = {.small = 8};

	(void)state;
	assert_true(run((struct bt_str)BT_STR("{\"small\":null}"), true, &out));
	assert_true(out.small == 8 && !out.has_number && out.tag == 0 && !out.map.set);
}

static void strict_refuses_what_no_table_names(void **state)
{
	struct outer out = {0};

	(void)state;
	refuses("{\"items\":[{},{\"nope\":1}]}", BT_INVALID, "items[1].nope", "unknown field");
	assert_true(run((struct bt_str)BT_STR("{\"nope\":{\"a\":[]},\"text\":\"t\"}"), false, &out));
	assert_true(bt_str_is(out.text, "t"));
}

static void the_case_of_names_counts_unless_it_is_folded(void **state)
{
	struct outer out = {0};

	(void)state;
	refuses("{\"Text\":\"t\"}", BT_INVALID, "Text", "unknown field");
	bt_json_begin(decode.json, bt_str("{\"Text\":\"t\",\"ITEMS\":[{\"Weight\":5}]}"), &arena);
	decode = (struct bt_decode){.json = decode.json, .arena = &arena, .strict = true, .fold = true};
	assert_true(bt_schema_decode(&decode, &outer, &out));
	assert_true(bt_str_is(out.text, "t") && out.item_n == 1 && out.items[0].weight == 5);
	bt_json_begin(decode.json, bt_str("{\"Text\":\"t\",\"text\":\"u\"}"), &arena);
	assert_false(bt_schema_decode(&decode, &outer, &out));
	assert_int_equal(decode.error.status, BT_EXISTS);
}

static void errors_carry_the_path(void **state)
{
	(void)state;
	refuses("[]", BT_INVALID, "", "expected an object, found an array");
	refuses("{\"items\":[{\"weight\":2147483648}]}", BT_RANGE, "items[0].weight",
		"2147483648 is outside -2147483648 to 2147483647");
	refuses("{\"map\":{\"a.b/c\":1}}", BT_INVALID, "map[a.b/c]", "expected a string, found a number");
	refuses("{\"text\":\"a\",\"text\":\"b\"}", BT_EXISTS, "text", "the key appears twice");
	refuses("{\"large\":99999999999999999999}", BT_RANGE, "large",
		"the number does not fit into 64 bits");
	refuses("{\"flag\":\"yes\"}", BT_INVALID, "flag", "expected true or false, found a string");
	refuses("{\"custom\":\"x\"}", BT_INVALID, "custom", "not a number");
	refuses("{\"span\":\"soon\"}", BT_INVALID, "span", "time: invalid duration \"soon\"");
	refuses("{\"span\":null}", BT_INVALID, "span", "time: invalid duration \"\"");
	refuses("{\"share\":1e39}", BT_RANGE, "share", "the number does not fit into 32 bits");
	refuses("{\"share\":\"1\"}", BT_INVALID, "share", "expected a number, found a string");
	refuses("{\"bytes\":\"a\"}", BT_INVALID, "bytes", "illegal base64 data at input byte 0");
	refuses("{\"bytes\":[1,256]}", BT_RANGE, "bytes[1]", "256 is outside 0 to 255");
	refuses("{\"bytes\":{}}", BT_INVALID, "bytes", "expected bytes in base64, found an object");
	refuses("{\"flag\":", BT_TRUNCATED, "flag", "the text ends too early");
}

static void duplicates_are_found_in_large_maps(void **state)
{
	struct bt_buf text = {0};
	struct outer out = {0};

	(void)state;
	bt_buf_text(&text, "{\"map\":{\"k0\":\"\"");
	for (int i = 1; i < 3000; i++) {
		bt_buf_printf(&text, ",\"k%d\":\"\"", i);
	}
	size_t len = text.len;
	bt_buf_text(&text, "}}");
	assert_true(run(bt_buf_view(&text), true, &out));
	assert_int_equal(out.map.n, 3000);
	text.len = len;
	bt_buf_text(&text, ",\"k1234\":\"\"}}");
	assert_false(run(bt_buf_view(&text), true, &out));
	assert_int_equal(decode.error.status, BT_EXISTS);
	assert_string_equal(decode.error.path, "map.k1234");
	bt_buf_fini(&text);
}

static int setup(void **state)
{
	(void)state;
	decode.json = bt_json_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_json_destroy(decode.json);
	bt_arena_fini(&arena);
	return 0;
}

/* Decodes with tolerance. Returns: the first error that was skipped, as PATH: MESSAGE. */
static const char *tolerate(const char *text, struct outer *out)
{
	static char error[BT_PATH_MAX + BT_MESSAGE_MAX + 4];

	decode = (struct bt_decode){.json = decode.json, .arena = &arena, .tolerant = true};
	*out = (struct outer){0};
	bt_json_begin(decode.json, bt_str(text), &arena);
	assert_true(bt_schema_decode(&decode, &outer, out));
	snprintf(error, sizeof(error), "%s: %s", decode.spared.path, decode.spared.message);
	return error;
}

static void a_tolerant_reader_leaves_out_what_it_cannot_read(void **state)
{
	struct outer o;

	(void)state;
	assert_string_equal(tolerate("{\"text\": \"a\", \"small\": 1}", &o), ": ");
	assert_string_equal(tolerate("{\"flag\": [{}, 1], \"small\": 99999999999, \"text\": \"a\"}", &o),
		"flag: expected true or false, found an array");
	assert_false(o.has_number);
	assert_true(bt_str_is(o.text, "a"));
	assert_string_equal(tolerate("{\"items\": [{\"weight\": \"x\", \"name\": \"n\"}, {\"weight\": 2}], "
				     "\"large\": 3}",
				    &o),
		"items[0].weight: expected a whole number, found a string");
	assert_int_equal(o.item_n, 2);
	assert_true(bt_str_is(o.items[0].name, "n"));
	assert_int_equal(o.items[1].weight, 2);
	assert_int_equal(o.large, 3);
	assert_string_equal(
		tolerate("{\"map\": {\"k\": 1, \"l\": \"m\", \"l\": \"o\"}, \"large\": 3, \"large\": 4}", &o),
		"map.k: expected a string, found a number");
	assert_int_equal(o.map.n, 2);
	assert_true(bt_str_is(o.map.items[1].value, "m"));
	assert_int_equal(o.large, 3);
	assert_string_equal(tolerate("{\"custom\": \"x\", \"text\": \"b\"}", &o), "custom: not a number");
	assert_true(bt_str_is(o.text, "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_of_field_is_read),
		cmocka_unit_test(absent_and_null_leave_what_was_there),
		cmocka_unit_test(strict_refuses_what_no_table_names),
		cmocka_unit_test(the_case_of_names_counts_unless_it_is_folded),
		cmocka_unit_test(errors_carry_the_path),
		cmocka_unit_test(duplicates_are_found_in_large_maps),
		cmocka_unit_test(a_tolerant_reader_leaves_out_what_it_cannot_read),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
