/* SPDX-License-Identifier: Apache-2.0
 * Selectors: which requirements are valid, and what each matches.
 */
#include "object_fixture.h"

static void integers_are_read_as_upstream_does(void **state)
{
	static const struct {
		const char *text;
		bool good;
		int64_t number;
	} rows[] = {
		{"0", true, 0},
		{"-0", true, 0},
		{"+7", true, 7},
		{"007", true, 7},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775808", false, 0},
		{"-9223372036854775809", false, 0},
		{"", false, 0},
		{"-", false, 0},
		{"+", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"1.0", false, 0},
		{"0x1", false, 0},
		{"1_0", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t number = 0;

		assert_int_equal(bt_parse_int64(bt_str(rows[i].text), &number), rows[i].good);
		assert_int_equal(number, rows[i].number);
	}
}

static void keys_and_values_follow_the_api(void **state)
{
	char long_part[65];

	(void)state;
	memset(long_part, 'a', sizeof(long_part) - 1);
	long_part[64] = '\0';
	assert_true(bt_is_qualified_name(bt_str("app")));
	assert_true(bt_is_qualified_name(bt_str("example.com/App_1.x-y")));
	assert_false(bt_is_qualified_name(bt_str("")));
	assert_false(bt_is_qualified_name(bt_str("/a")));
	assert_false(bt_is_qualified_name(bt_str("a/")));
	assert_false(bt_is_qualified_name(bt_str("a/b/c")));
	assert_false(bt_is_qualified_name(bt_str("Example.com/a")));
	assert_false(bt_is_qualified_name(bt_str("-a")));
	assert_false(bt_is_qualified_name(bt_str("a-")));
	assert_false(bt_is_qualified_name(bt_str(long_part)));
	assert_true(bt_is_qualified_name(bt_str(long_part + 1)));
	assert_true(bt_is_label_value(bt_str("")));
	assert_true(bt_is_label_value(bt_str("a_b.c-D")));
	assert_false(bt_is_label_value(bt_str("a b")));
	assert_false(bt_is_label_value(bt_str("-1")));
	assert_false(bt_is_label_value(bt_str(long_part)));
}

/* A node term with one expression on the key "gen": is it valid, and which values does it match? */
struct expression {
	const char *operator_;
	const char *values[2];
	bool allowed;
	const char *matches[2], *misses[2]; /* NULL: none */
	bool matches_absent;
};

static const struct expression expressions[] = {
	{"In", {"1", "2"}, true, {"1", "2"}, {"3", ""}, false},
	{"In", {""}, true, {""}, {"1"}, false},
	{"In", {NULL}, false, {NULL}, {"1", ""}, false},
	{"In", {"a b"}, false, {NULL}, {"a b"}, false},
	{"NotIn", {"1", "2"}, true, {"3", ""}, {"1", "2"}, true},
	{"NotIn", {NULL}, false, {NULL}, {"1"}, false},
	{"Exists", {NULL}, true, {"1", ""}, {NULL}, false},
	{"Exists", {"1"}, false, {NULL}, {"1"}, false},
	{"DoesNotExist", {NULL}, true, {NULL}, {"1", ""}, true},
	{"DoesNotExist", {"1"}, false, {NULL}, {"1"}, false},
	{"Gt", {"5"}, true, {"6", "9223372036854775807"}, {"5", "x"}, false},
	{"Gt", {"05"}, true, {"+6", "06"}, {"5", "9223372036854775808"}, false},
	{"Lt", {"5"}, true, {"4", "-6"}, {"5", ""}, false},
	{"Gt", {"x"}, false, {NULL}, {"6"}, false},
	{"Gt", {"1", "2"}, false, {NULL}, {"6"}, false},
	{"Gt", {NULL}, false, {NULL}, {"6"}, false},
	{"Lt", {"-1"}, false, {NULL}, {"-2"}, false}, /* no label value starts with a sign */
	{"Near", {"5"}, false, {NULL}, {"5"}, false},
	{"in", {"5"}, false, {NULL}, {"5"}, false},
	{"", {"5"}, false, {NULL}, {"5"}, false},
};

static bool matches(struct fixture *f, const struct bt_node_term *term, const char *value)
{
	struct bt_label label = {fixture_name(f, "gen"), value ? fixture_name(f, value) : 0};
	struct bt_labels labels = {&label, value ? 1 : 0};

	return bt_node_term_matches(f->cache->dictionary->intern, term, labels, fixture_name(f, "n1"));
}

static void check_expression(struct fixture *f, const struct expression *row)
{
	struct bt_str values[2] = {bt_str(row->values[0]), bt_str(row->values[1])};
	struct bt_requirement_object r = {.key = BT_STR("gen"),
		.operator_ = bt_str(row->operator_),
		.values = {values, (uint32_t)((row->values[0] != NULL) + (row->values[1] != NULL)), true}};
	struct bt_node_term_object object = {.match_expressions = {&r, 1}};
	struct bt_node_term term;
	struct bt_buf why = {0};

	assert_true(bt_node_term_compile(&f->cache->dictionary->for_ever, &f->arena, &object, &term, &why));
	assert_int_equal(!term.invalid, row->allowed);
	assert_int_equal(why.len == 0, row->allowed);
	for (int i = 0; i < 2; i++) {
		assert_true(!row->matches[i] || matches(f, &term, row->matches[i]));
		assert_false(row->misses[i] && matches(f, &term, row->misses[i]));
	}
	assert_int_equal(matches(f, &term, NULL), row->matches_absent);
	bt_buf_fini(&why);
}

static void expressions_match_as_upstream_does(void **state)
{
	for (size_t i = 0; i < COUNT_OF(expressions); i++) {
		check_expression(*state, &expressions[i]);
	}
}

/* Does the node selector in a pod's spec match a node? */
static bool selects(struct fixture *f, const char *terms, const char *node)
{
	char spec[512];

	snprintf(spec, sizeof(spec),
		"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
		"{nodeSelectorTerms: [%s]}}}",
		terms);
	struct bt_node_selector selector = bt_node_selector_compile(&f->cache->dictionary->for_ever,
		&f->arena, &fixture_read_pod(f, spec)->spec.affinity.node_affinity.required);
	struct bt_label label = {fixture_name(f, "a"), fixture_name(f, "1")};

	return bt_node_selector_matches(f->cache->dictionary->intern, &selector,
		(struct bt_labels){&label, 1}, fixture_name(f, node));
}

static void terms_are_alternatives_and_their_parts_are_not(void **state)
{
	struct fixture *f = *state;

	assert_true(selects(f,
		"{matchExpressions: [{key: b, operator: Exists}]}, {matchExpressions: [{key: a, operator: "
		"Exists}]}",
		"n1"));
	assert_false(selects(
		f, "{matchExpressions: [{key: b, operator: Exists}, {key: a, operator: Exists}]}", "n1"));
	assert_true(selects(f,
		"{matchExpressions: [{key: a, operator: Exists}], matchFields: [{key: metadata.name, "
		"operator: In, "
		"values: [n1]}]}",
		"n1"));
	assert_false(selects(f,
		"{matchExpressions: [{key: a, operator: Exists}], matchFields: [{key: metadata.name, "
		"operator: In, "
		"values: [n1]}]}",
		"n2"));
}

static void empty_terms_match_nothing(void **state)
{
	struct fixture *f = *state;

	assert_false(selects(f, "", "n1"));
	assert_false(selects(f, "{}", "n1"));
	assert_false(selects(f, "{}, {matchExpressions: []}", "n1"));
}

static void fields_take_one_value(void **state)
{
	struct fixture *f = *state;

	assert_true(selects(f, "{matchFields: [{key: metadata.name, operator: NotIn, values: [n2]}]}", "n1"));
	assert_false(
		selects(f, "{matchFields: [{key: metadata.name, operator: In, values: [n1, n2]}]}", "n1"));
	assert_false(selects(f, "{matchFields: [{key: metadata.name, operator: Exists}]}", "n1"));
	/* A missing node field reads as the empty string. */
	assert_false(
		selects(f, "{matchFields: [{key: metadata.namespace, operator: In, values: [x]}]}", "n1"));
	assert_true(
		selects(f, "{matchFields: [{key: metadata.namespace, operator: NotIn, values: [x]}]}", "n1"));
}

static void label_selectors_differ_when_absent_and_when_empty(void **state)
{
	struct fixture *f = *state;
	struct bt_intern *intern = f->cache->dictionary->intern;
	struct bt_label_selector_object object = {.set = false};
	struct bt_label label = {fixture_name(f, "a"), fixture_name(f, "1")};
	struct bt_selector selector;

	assert_int_equal(
		bt_selector_compile(&f->cache->dictionary->for_ever, &f->arena, &object, &selector, NULL),
		BT_OK);
	assert_false(bt_selector_matches(intern, &selector, (struct bt_labels){&label, 1}));
	object.set = true;
	assert_int_equal(
		bt_selector_compile(&f->cache->dictionary->for_ever, &f->arena, &object, &selector, NULL),
		BT_OK);
	assert_true(bt_selector_matches(intern, &selector, (struct bt_labels){&label, 1}));
	assert_true(bt_selector_matches(intern, &selector, (struct bt_labels){NULL, 0}));
}

static void label_selectors_know_no_comparison(void **state)
{
	struct fixture *f = *state;
	struct bt_str five = BT_STR("5");
	struct bt_requirement_object r = {BT_STR("gen"), BT_STR("Gt"), {&five, 1, true}};
	struct bt_label_selector_object object = {.set = true, .match_expressions = {&r, 1}};
	struct bt_selector selector;
	struct bt_buf why = {0};

	assert_int_equal(
		bt_selector_compile(&f->cache->dictionary->for_ever, &f->arena, &object, &selector, &why),
		BT_INVALID);
	assert_string_equal(why.ptr, "\"Gt\" is not a valid label selector operator");
	bt_buf_fini(&why);
}

static void labels_are_found_by_key(void **state)
{
	const struct bt_label items[] = {{2, 20}, {5, 50}, {9, 90}};
	struct bt_labels labels = {items, 3};

	(void)state;
	for (uint32_t key = 0; key < 12; key++) {
		assert_int_equal(bt_labels_get(labels, key),
			key == 2 || key == 5 || key == 9 ? key * 10 : BT_NAME_NONE);
	}
	assert_int_equal(bt_labels_get((struct bt_labels){NULL, 0}, 2), BT_NAME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_read_as_upstream_does),
		cmocka_unit_test(keys_and_values_follow_the_api),
		FIXTURE_TEST(expressions_match_as_upstream_does),
		FIXTURE_TEST(terms_are_alternatives_and_their_parts_are_not),
		FIXTURE_TEST(empty_terms_match_nothing),
		FIXTURE_TEST(fields_take_one_value),
		FIXTURE_TEST(label_selectors_differ_when_absent_and_when_empty),
		FIXTURE_TEST(label_selectors_know_no_comparison),
		cmocka_unit_test(labels_are_found_by_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
