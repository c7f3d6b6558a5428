/* SPDX-License-Identifier: Apache-2.0
 * A file of documents: which lines are answered, the errors of the others, and the exit status.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "caught.h"
#include "tools/cli/interrupt.h"
#include "tools/offline/verdict/lines.h"

static char path[] = "/tmp/berth-lines-XXXXXX";

/* Doubles the number in the document. A negative one interrupts; 13 is rejected with its own remedy. */
static bool twice(const void *context, struct bt_json *json, struct bt_arena *arena, struct bt_buf *out_line,
	struct bt_buf *out_error, const char **out_remedy)
{
	int64_t number;

	(void)context, (void)arena;
	if (!bt_json_int64(json, &number)) {
		bt_buf_text(out_error, "not a number");
		return false;
	}
	if (number == 13) {
		bt_buf_text(out_error, "unlucky");
		*out_remedy = "take another one";
		return false;
	}
	bt_buf_printf(out_line, "%d\n", (int)(2 * number));
	if (number < 0) {
		bt_interrupt = 1;
	}
	return true;
}

struct outcome {
	int status;
	char output[4096];
	const char *errors; /* valid until the next run */
};

static struct outcome run(const char *text)
{
	static const struct bt_lines_answer answer = {
		.command = "double", .what = "number", .plural = "numbers", .answer = twice};
	const char *operands[] = {path};
	const struct bt_invocation invocation = {.operands = operands, .operand_n = 1};
	struct outcome outcome = {0};
	FILE *file = fopen(path, "w"), *output = tmpfile();
	int saved = dup(STDOUT_FILENO);

	assert_true(file && output && saved >= 0);
	assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
	fflush(stdout);
	assert_true(dup2(fileno(output), STDOUT_FILENO) >= 0);
	caught_begin();
	outcome.status = bt_lines_run(&invocation, &answer);
	outcome.errors = caught_end();
	assert_true(dup2(saved, STDOUT_FILENO) >= 0);
	close(saved);
	rewind(output);
	assert_true(
		fread(outcome.output, 1, sizeof(outcome.output) - 1, output) < sizeof(outcome.output) - 1);
	fclose(output);
	return outcome;
}

static void each_line_has_its_answer_in_order(void **state)
{
	(void)state;
	const struct outcome outcome = run("1\n2\n\n  \n3");
	assert_int_equal(outcome.status, BT_EXIT_OK);
	assert_string_equal(outcome.output, "2\n4\n6\n");
	assert_string_equal(outcome.errors, "");
}

static void a_wrong_line_is_reported_by_number_and_later_lines_are_answered(void **state)
{
	(void)state;
	const struct outcome outcome = run("1\n\n\"x\"\n13\n2\n");
	assert_int_equal(outcome.status, BT_EXIT_INPUT);
	assert_string_equal(outcome.output, "2\n4\n");
	assert_non_null(strstr(outcome.errors, "berth double: "));
	assert_non_null(
		strstr(outcome.errors, ":3: not a number; a number is one JSON document on one line"));
	assert_non_null(strstr(outcome.errors, ":4: unlucky; take another one"));
}

static void a_line_that_is_not_json_is_reported(void **state)
{
	(void)state;
	const struct outcome outcome = run("{\n\xff\n5\n");
	assert_int_equal(outcome.status, BT_EXIT_INPUT);
	assert_string_equal(outcome.output, "10\n");
	assert_non_null(strstr(outcome.errors, ":1: "));
	assert_non_null(strstr(outcome.errors, ":2: "));
}

static void a_file_without_documents_is_wrong(void **state)
{
	(void)state;
	const struct outcome outcome = run("\n \n");
	assert_int_equal(outcome.status, BT_EXIT_INPUT);
	assert_string_equal(outcome.output, "");
	assert_non_null(strstr(outcome.errors, "the file holds no numbers; write one JSON document a line"));
}

static void an_interruption_keeps_complete_answers(void **state)
{
	(void)state;
	const struct outcome outcome = run("1\n-2\n3\n");
	bt_interrupt = 0;
	assert_int_equal(outcome.status, BT_EXIT_INTERRUPTED);
	assert_string_equal(outcome.output, "2\n-4\n");
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_has_its_answer_in_order),
		cmocka_unit_test(a_wrong_line_is_reported_by_number_and_later_lines_are_answered),
		cmocka_unit_test(a_line_that_is_not_json_is_reported),
		cmocka_unit_test(a_file_without_documents_is_wrong),
		cmocka_unit_test(an_interruption_keeps_complete_answers),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
