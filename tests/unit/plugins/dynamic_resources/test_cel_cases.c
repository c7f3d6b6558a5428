/* SPDX-License-Identifier: Apache-2.0
 * Expressions on devices: result, cost and text equal those of upstream's package. The first argument is the
 * file of cases; cases.txt describes how it was made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "case_file.h"

static const char *path;

static const char *run(
	const struct cel_case *test, struct bt_cel_scratch *scratch, struct bt_buf *text, uint64_t *cost)
{
	static const char *const names[] = {
		[BT_CEL_FALSE] = "false", [BT_CEL_TRUE] = "true", [BT_CEL_ERROR] = "error"};
	struct bt_cel *cel = bt_cel_compile(test->expression, test->language, text);

	*cost = 0;
	if (!cel) {
		return "compile";
	}
	const char *name = names[bt_cel_match_cost(cel, test->device, scratch, text, cost)];
	bt_cel_destroy(cel);
	return name;
}

/* Does our result equal upstream's? Prints the difference otherwise. */
static bool check(const struct cel_case *test, struct bt_cel_scratch *scratch)
{
	struct bt_buf text = {0};
	uint64_t cost;
	const char *result = run(test, scratch, &text, &cost);
	bool syntax = bt_str_is(test->result, "syntax");
	bool same = bt_str_is(test->result, result) || (syntax && strcmp(result, "compile") == 0);

	same = same && (syntax || bt_str_eq(bt_buf_view(&text), test->text)) &&
	       (cost == test->cost || bt_str_is(test->result, "error"));
	if (!same) {
		print_error("%.*s\n  expected %.*s %llu %.*s\n  found    %s %llu %.*s\n",
			BT_STR_ARG(test->expression), BT_STR_ARG(test->result),
			(unsigned long long)test->cost, BT_STR_ARG(test->text), result,
			(unsigned long long)cost, BT_STR_ARG(bt_buf_view(&text)));
	}
	bt_buf_fini(&text);
	return same;
}

static void answers_are_upstreams(void **state)
{
	struct bt_cel_scratch scratch = {0};
	struct cel_case test;
	struct case_file *file = calloc(1, sizeof(*file));
	uint32_t case_n = 0;
	uint32_t wrong_n = 0;

	(void)state;
	case_file_open(file, path);
	for (; case_file_next(file, &test); case_n++) {
		assert_non_null(test.device);
		wrong_n += !check(&test, &scratch);
	}
	case_file_close(file);
	bt_cel_scratch_fini(&scratch);
	free(file);
	print_message("%u cases, %u differ\n", case_n, wrong_n);
	assert_true(case_n > 0);
	assert_int_equal(wrong_n, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_upstreams)};

	if (argc != 2) {
		fprintf(stderr, "usage: %s CASES\n", argv[0]);
		return 2;
	}
	path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
