/* SPDX-License-Identifier: Apache-2.0
 * The progress bar's line: its content, limited to the terminal's width.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/cli/progress.h"
#include "tools/cli/terminal.h"

#define LABEL "SchedulingRequiredPodAntiAffinityWithNSSelector/5000Nodes_2000Pods"

static const char *line(const char *label, uint64_t done, uint64_t total, unsigned columns)
{
	static char text[1000];
	const struct bt_progress progress = {.label = label, .done = done, .total = total};

	bt_progress_text(&progress, 2, columns, text, sizeof(text));
	return text;
}

static void a_wide_terminal_shows_everything(void **state)
{
	(void)state;
	assert_string_equal(line("placing pods", 50, 200, 79),
		"placing pods [#######.......................]  25%  25/s");
	assert_string_equal(line("placing pods", 200, 200, 79),
		"placing pods [##############################] 100%  100/s");
	assert_string_equal(line("reading", 50, 0, 79), "reading  50  25/s");
}

static void a_narrow_one_gets_a_shorter_bar_then_none_then_less_of_the_label(void **state)
{
	(void)state;
	assert_string_equal(line("placing pods", 50, 200, 40), "placing pods [###...........]  25%  25/s");
	assert_string_equal(line("placing pods", 50, 200, 26), "placing pods  25%  25/s");
	assert_string_equal(line("placing pods", 50, 200, 20), "placing p  25%  25/s");
	assert_string_equal(line(LABEL, 50, 200, 79), LABEL "  25%  25/s");
	assert_string_equal(line("placing pods", 50, 200, 3), "  2");
	assert_string_equal(line("placing pods", 50, 200, 0), "");
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	(void)state;
	for (unsigned columns = 0; columns < 200; columns++) {
		for (unsigned n = 0; n <= strlen(LABEL); n++) {
			assert_true(strlen(line(&LABEL[n], UINT64_MAX, columns % 2 ? UINT64_MAX : 0,
					    columns)) <= columns);
		}
	}
	assert_true(strlen(line(LABEL, 1, 1, UINT32_MAX)) < 200);
}

static void a_terminal_that_does_not_know_its_width_has_80_columns(void **state)
{
	(void)state;
	assert_int_equal(bt_terminal_columns(-1), 80);
}

static void a_dumb_terminal_is_detected(void **state)
{
	(void)state;
	assert_int_equal(setenv("TERM", "dumb", 1), 0);
	assert_true(bt_terminal_is_dumb());
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	assert_false(bt_terminal_is_dumb());
	assert_int_equal(unsetenv("TERM"), 0);
	assert_false(bt_terminal_is_dumb());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wide_terminal_shows_everything),
		cmocka_unit_test(a_narrow_one_gets_a_shorter_bar_then_none_then_less_of_the_label),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(a_terminal_that_does_not_know_its_width_has_80_columns),
		cmocka_unit_test(a_dumb_terminal_is_detected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
