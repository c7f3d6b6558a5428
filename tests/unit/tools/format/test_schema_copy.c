/* SPDX-License-Identifier: Apache-2.0
 * Deep copies of decoded structs: no type of field refers to the source afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model/object.h"
#include "tools/format/schema.h"

struct part {
	struct bt_str key, name;
	uint32_t number;
};

struct whole {
	struct bt_str text, raw;
	struct bt_str_list list, keys, names;
	struct bt_str_map map;
	struct bt_resource_list resources;
	struct part object;
	struct part *array, *members;
	uint32_t array_n, member_n;
	struct bt_quantity *quantities;
	uint32_t quantity_n, int_n, bool_n;
	int64_t *ints;
	bool *bools;
	uint32_t tag; /* which of the members below is set */
	union {
		struct bt_str one;
		uint64_t other[2];
	};
};

#define FIELD(label, kind, member)                                                                           \
	.name = BT_STR(label), .type = (kind), .offset = offsetof(struct whole, member)

static const struct bt_field part_fields[] = {
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = offsetof(struct part, name)},
	{.name = BT_STR("number"), .type = BT_FIELD_I32, .offset = offsetof(struct part, number)},
};
static const struct bt_schema part = BT_SCHEMA(part_fields, struct part);
static const struct bt_field name_fields[] = {{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = 0}};
static const struct bt_schema name = BT_SCHEMA(name_fields, struct bt_str);
static const struct bt_field whole_fields[] = {
	{FIELD("text", BT_FIELD_STR, text)},
	{FIELD("raw", BT_FIELD_RAW, raw)},
	{FIELD("list", BT_FIELD_STR_LIST, list)},
	{FIELD("keys", BT_FIELD_KEYS, keys)},
	{FIELD("names", BT_FIELD_NAMES, names), .schema = &name},
	{FIELD("map", BT_FIELD_STR_MAP, map)},
	{FIELD("resources", BT_FIELD_RESOURCES, resources)},
	{FIELD("object", BT_FIELD_OBJECT, object), .schema = &part},
	{FIELD("array", BT_FIELD_ARRAY, array), .count = BT_MEMBER(struct whole, array_n), .schema = &part},
	{FIELD("members", BT_FIELD_MAP, members), .count = BT_MEMBER(struct whole, member_n),
		.schema = &part},
	{FIELD("quantities", BT_FIELD_QUANTITIES, quantities), .count = BT_MEMBER(struct whole, quantity_n)},
	{FIELD("ints", BT_FIELD_INTS, ints), .count = BT_MEMBER(struct whole, int_n)},
	{FIELD("bools", BT_FIELD_BOOLS, bools), .count = BT_MEMBER(struct whole, bool_n)},
	{FIELD("one", BT_FIELD_STR, one), .tag = BT_MEMBER(struct whole, tag), .tag_value = 1},
	{FIELD("other", BT_FIELD_IGNORED, other), .tag = BT_MEMBER(struct whole, tag), .tag_value = 2},
};
static const struct bt_schema whole = BT_SCHEMA(whole_fields, struct whole);

/* The memory that a struct points to: overwritten after the copy. */
struct source {
	char letters[26];
	struct bt_str list[2], names[1];
	struct bt_str_pair map[1];
	struct bt_named_quantity resources[1];
	struct part array[2], members[1];
	struct bt_quantity quantities[2];
	int64_t ints[3];
	bool bools[2];
};

static struct bt_str letter(struct source *source, char c)
{
	source->letters[c - 'a'] = c;
	return (struct bt_str){&source->letters[c - 'a'], 1};
}

static struct whole fill(struct source *s)
{
	s->list[0] = letter(s, 'c');
	s->list[1] = letter(s, 'd');
	s->names[0] = letter(s, 'e');
	s->map[0].key = letter(s, 'f');
	s->map[0].value = letter(s, 'g');
	s->resources[0].name = letter(s, 'h');
	s->array[0] = (struct part){.name = letter(s, 'j'), .number = 7};
	s->array[1] = (struct part){.name = letter(s, 'k'), .number = 8};
	s->members[0] = (struct part){.key = letter(s, 'l'), .name = letter(s, 'm')};
	s->quantities[1] = (struct bt_quantity){.nano = 5};
	s->ints[2] = 9;
	s->bools[1] = true;
	return (struct whole){.text = letter(s, 'a'),
		.raw = letter(s, 'b'),
		.list = {s->list, 2, false},
		.keys = {s->list, 1, false},
		.names = {s->names, 1, false},
		.map = {.items = s->map, .n = 1, .set = true},
		.resources = {.items = s->resources, .n = 1},
		.object = {.name = letter(s, 'i'), .number = 6},
		.array = s->array,
		.array_n = 2,
		.members = s->members,
		.member_n = 1,
		.quantities = s->quantities,
		.quantity_n = 2,
		.ints = s->ints,
		.int_n = 3,
		.bools = s->bools,
		.bool_n = 2,
		.tag = 1,
		.one = letter(s, 'n')};
}

static void a_copy_needs_nothing_of_what_it_was_made_of(void **state)
{
	struct source source;
	struct whole copy = fill(&source);
	struct bt_arena arena = {0};

	(void)state;
	bt_schema_own(&whole, &arena, &copy);
	memset(&source, '#', sizeof(source));
	assert_true(bt_str_is(copy.text, "a") && bt_str_is(copy.raw, "b"));
	assert_true(bt_str_is(copy.list.items[0], "c") && bt_str_is(copy.list.items[1], "d"));
	assert_true(bt_str_is(copy.keys.items[0], "c") && bt_str_is(copy.names.items[0], "e"));
	assert_true(bt_str_is(copy.map.items[0].key, "f") && bt_str_is(copy.map.items[0].value, "g"));
	assert_true(copy.map.set);
	assert_true(bt_str_is(copy.resources.items[0].name, "h"));
	assert_true(bt_str_is(copy.object.name, "i") && copy.object.number == 6);
	assert_true(bt_str_is(copy.array[0].name, "j") && copy.array[0].number == 7);
	assert_true(bt_str_is(copy.array[1].name, "k") && copy.array[1].number == 8);
	assert_true(bt_str_is(copy.members[0].key, "l") && bt_str_is(copy.members[0].name, "m"));
	assert_true(copy.quantities[1].nano == 5);
	assert_true(copy.ints[2] == 9 && copy.bools[1]);
	assert_true(bt_str_is(copy.one, "n"));
	bt_arena_fini(&arena);
}

static void only_the_member_that_the_tag_names_is_copied(void **state)
{
	struct source source;
	struct whole copy = fill(&source);
	struct bt_arena arena = {0};

	(void)state;
	copy.tag = 2;
	copy.other[0] = 1; /* would be a pointer to a string */
	copy.other[1] = 4;
	bt_schema_own(&whole, &arena, &copy);
	assert_int_equal(copy.other[0], 1);
	assert_int_equal(copy.other[1], 4);
	bt_arena_fini(&arena);
}

static void an_empty_struct_stays_empty(void **state)
{
	struct whole copy = {.tag = 2};
	struct bt_arena arena = {0};

	(void)state;
	bt_schema_own(&whole, &arena, &copy);
	assert_int_equal(copy.text.len, 0);
	assert_int_equal(copy.list.n, 0);
	assert_null(copy.array);
	assert_null(copy.quantities);
	assert_false(copy.map.set);
	bt_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_needs_nothing_of_what_it_was_made_of),
		cmocka_unit_test(only_the_member_that_the_tag_names_is_copied),
		cmocka_unit_test(an_empty_struct_stays_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
