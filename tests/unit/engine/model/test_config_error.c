/* SPDX-License-Identifier: Apache-2.0
 * Errors of a configuration, in upstream's words, and the set that finds the first occurrence of a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/model/config_error.h"

#define PATH  ((struct bt_str)BT_STR("profiles[0].x"))
#define VALUE ((struct bt_str)BT_STR("a\"b"))

/* Checks all errors, joined into a line; clears them. */
static void assert_line(struct bt_config_errors *errors, const char *want)
{
	struct bt_buf line = {0};

	bt_buf_text(&line, "> "); /* appends to existing text */
	bt_config_errors_text(errors, &line);
	assert_string_equal(line.ptr + 2, want);
	bt_buf_fini(&line);
	bt_config_errors_fini(errors);
	assert_int_equal(errors->n, 0);
}

static void one_error_stands_alone_and_several_in_brackets(void **state)
{
	struct bt_config_errors errors = {0};

	(void)state;
	bt_config_errors_add(&errors, "%s %d", "one", 1);
	assert_line(&errors, "one 1");
	bt_config_errors_add(&errors, "one");
	bt_config_errors_add(&errors, "two");
	bt_config_errors_add(&errors, "three");
	assert_line(&errors, "[one, two, three]");
}

static void repeated_errors_are_reported_once(void **state)
{
	struct bt_config_errors errors = {0};

	(void)state;
	bt_config_errors_add(&errors, "one");
	bt_config_errors_add(&errors, "one");
	assert_line(&errors, "one");
	bt_config_errors_add(&errors, "one");
	bt_config_errors_add(&errors, "two");
	bt_config_errors_add(&errors, "one");
	assert_line(&errors, "[one, two]");
}

static void each_kind_of_error_is_spelled_as_a_field_error(void **state)
{
	struct bt_config_errors errors = {0};

	(void)state;
	bt_config_required(&errors, PATH, "");
	assert_line(&errors, "profiles[0].x: Required value");
	bt_config_required(&errors, PATH, "why");
	assert_line(&errors, "profiles[0].x: Required value: why");
	bt_config_forbidden(&errors, PATH, "why");
	assert_line(&errors, "profiles[0].x: Forbidden: why");
	bt_config_duplicate(&errors, PATH, VALUE);
	assert_line(&errors, "profiles[0].x: Duplicate value: \"a\\\"b\"");
	bt_config_invalid_int(&errors, PATH, INT64_MIN, "why");
	assert_line(&errors, "profiles[0].x: Invalid value: -9223372036854775808: why");
	bt_config_invalid_text(&errors, PATH, VALUE, "why");
	assert_line(&errors, "profiles[0].x: Invalid value: \"a\\\"b\": why");
	bt_config_invalid_raw(&errors, PATH, VALUE, "why");
	assert_line(&errors, "profiles[0].x: Invalid value: a\"b: why");
	bt_config_invalid_duration(&errors, PATH, 90000000000, "why");
	assert_line(&errors, "profiles[0].x: Invalid value: \"1m30s\": why");
	bt_config_unsupported(&errors, PATH, (struct bt_str)BT_STR("<b>"), "supported values: \"c\"");
	assert_line(
		&errors, "profiles[0].x: Unsupported value: \"\\u003cb\\u003e\": supported values: \"c\"");
}

static void a_label_key_has_an_error_for_each_fault(void **state)
{
	struct bt_config_errors errors = {0};

	(void)state;
	bt_config_check_label_key(&errors, PATH, (struct bt_str)BT_STR("example.com/zone"));
	assert_int_equal(errors.n, 0);
	bt_config_check_label_key(&errors, PATH, (struct bt_str)BT_STR("/"));
	assert_int_equal(errors.n, 3);
	assert_true(bt_str_is(
		errors.items[0], "profiles[0].x: Invalid value: \"/\": prefix part must be non-empty"));
	bt_config_errors_fini(&errors);
}

static void a_path_lives_as_long_as_the_errors(void **state)
{
	struct bt_config_errors errors = {0};
	struct bt_str path = bt_config_path(&errors, "profiles[%d]", 7);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		bt_config_path(&errors, "another[%d]", i);
	}
	assert_true(bt_str_is(path, "profiles[7]"));
	assert_int_equal(errors.n, 0);
	bt_config_errors_fini(&errors);
}

static void a_set_keeps_the_first_position_of_each_text(void **state)
{
	struct bt_config_seen seen = {0};
	char texts[200][8];
	uint32_t first = UINT32_MAX;

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		size_t n = (size_t)snprintf(texts[i], sizeof(texts[i]), "%u", i);

		assert_true(bt_config_seen_add(&seen, (struct bt_str){texts[i], n}, 1000 + i, &first));
	}
	assert_int_equal(first, UINT32_MAX);
	for (uint32_t i = 0; i < 200; i++) {
		assert_false(bt_config_seen_add(&seen, bt_str(texts[i]), 5000, &first));
		assert_int_equal(first, 1000 + i);
	}
	assert_int_equal(seen.n, 200);
	assert_true(bt_config_seen_add(&seen, (struct bt_str){0}, 1, &first));
	bt_config_seen_fini(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_error_stands_alone_and_several_in_brackets),
		cmocka_unit_test(repeated_errors_are_reported_once),
		cmocka_unit_test(each_kind_of_error_is_spelled_as_a_field_error),
		cmocka_unit_test(a_label_key_has_an_error_for_each_fault),
		cmocka_unit_test(a_path_lives_as_long_as_the_errors),
		cmocka_unit_test(a_set_keeps_the_first_position_of_each_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
