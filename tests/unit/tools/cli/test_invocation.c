/* SPDX-License-Identifier: Apache-2.0
 * Command lines are checked against the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "command_line.h"

static enum bt_parse parse(const char *name, const char *words, struct bt_invocation *out_invocation)
{
	static struct command_line line;
	enum bt_parse result = command_line_parse(&line, name, words);

	*out_invocation = line.invocation;
	return result;
}

static void options_and_operands_are_distinguished(void **state)
{
	struct bt_invocation invocation;

	(void)state;
	assert_int_equal(
		parse("simulate", "a.yaml -f b --seed=7 --quiet --objects c -oyaml - -- -d", &invocation),
		BT_PARSE_RUN);
	assert_int_equal(invocation.operand_n, 3);
	assert_string_equal(invocation.operands[0], "a.yaml");
	assert_string_equal(invocation.operands[1], "-");
	assert_string_equal(invocation.operands[2], "-d");
	assert_string_equal(bt_invocation_item(&invocation, "filename", 0), "b");
	assert_string_equal(bt_invocation_item(&invocation, "filename", 1), "c");
	assert_null(bt_invocation_item(&invocation, "filename", 2));
	assert_int_equal(bt_invocation_number(&invocation, "seed"), 7);
	assert_string_equal(bt_invocation_text(&invocation, "output"), "yaml");
	assert_true(bt_invocation_has(&invocation, "quiet"));
	assert_false(bt_invocation_has(&invocation, "strict"));
	bt_invocation_fini(&invocation);
}

static void defaults_come_from_the_table(void **state)
{
	struct bt_invocation invocation;

	(void)state;
	assert_int_equal(parse("generate", "", &invocation), BT_PARSE_RUN);
	assert_int_equal(bt_invocation_number(&invocation, "seed"), 1);
	assert_int_equal(bt_invocation_number(&invocation, "zones"), 5);
	assert_true(bt_invocation_fraction(&invocation, "bound") == 0);
	assert_null(bt_invocation_text(&invocation, "trace"));
	assert_false(bt_invocation_has(&invocation, "seed"));
	bt_invocation_fini(&invocation);
}

static void the_last_value_wins(void **state)
{
	struct bt_invocation invocation;

	(void)state;
	assert_int_equal(
		parse("simulate", "--seed 1 --seed 18446744073709551615", &invocation), BT_PARSE_RUN);
	assert_true(bt_invocation_number(&invocation, "seed") == UINT64_MAX);
	bt_invocation_fini(&invocation);
}

static void help_is_recognised_even_beside_errors_that_follow(void **state)
{
	struct bt_invocation invocation;

	(void)state;
	assert_int_equal(parse("simulate", "--help --nonsense", &invocation), BT_PARSE_HELP);
	bt_invocation_fini(&invocation);
	assert_int_equal(parse("simulate", "-qh", &invocation), BT_PARSE_HELP);
	bt_invocation_fini(&invocation);
}

static void wrong_lines_are_refused(void **state)
{
	static const char *const lines[] = {"--nonsense", "-x", "--seed", "--seed x", "--seed -1",
		"--seed 1x", "--seed 18446744073709551616", "--output xml", "--output table|json",
		"--quiet=1", "--no", "-f"};
	struct bt_invocation invocation;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse("simulate", lines[i], &invocation), BT_PARSE_WRONG);
		bt_invocation_fini(&invocation);
	}
	assert_int_equal(parse("generate", "operand", &invocation), BT_PARSE_WRONG);
	bt_invocation_fini(&invocation);
	assert_int_equal(parse("generate", "--bound 1.1", &invocation), BT_PARSE_WRONG);
	bt_invocation_fini(&invocation);
	assert_int_equal(parse("generate", "--zones 0", &invocation), BT_PARSE_WRONG);
	bt_invocation_fini(&invocation);
	assert_int_equal(parse("generate", "--zones 1001", &invocation), BT_PARSE_WRONG);
	bt_invocation_fini(&invocation);
	assert_int_equal(parse("verdict", "", &invocation), BT_PARSE_WRONG);
	bt_invocation_fini(&invocation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_operands_are_distinguished),
		cmocka_unit_test(defaults_come_from_the_table),
		cmocka_unit_test(the_last_value_wins),
		cmocka_unit_test(help_is_recognised_even_beside_errors_that_follow),
		cmocka_unit_test(wrong_lines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
