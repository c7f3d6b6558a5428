/* SPDX-License-Identifier: Apache-2.0
 * The alternate screen, with a pipe for a terminal: what is written for pictures, and what restores the
 * original content.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/offline/live/screen.h"

#define ENTER "\033[?1049h\033[?25l\033[2J"
#define LEAVE "\033[?25h\033[?1049l"

static int ends[2]; /* of the pipe */

static int make_pipe(void **state)
{
	(void)state;
	return pipe(ends);
}

static int close_pipe(void **state)
{
	(void)state;
	return close(ends[0]) | close(ends[1]);
}

/* What has been written to the screen: this text, and no more. */
static void expect_written(const char *text)
{
	char got[512] = "";

	assert_int_equal(write(ends[1], "", 1), 1); /* an end, so that reading does not wait */
	assert_true(read(ends[0], got, sizeof(got)) > 0);
	assert_string_equal(got, text);
}

static void the_first_picture_enters_the_screen_and_the_end_leaves_it(void **state)
{
	(void)state;
	bt_screen_begin(ends[1]);
	expect_written("");
	bt_screen_show(bt_str("a\r\nb"));
	expect_written(ENTER "\033[Ha\033[K\r\nb\033[K\033[J");
	bt_screen_show(bt_str("c"));
	expect_written("\033[Hc\033[K\033[J");
	bt_screen_end();
	expect_written(LEAVE);
	bt_screen_end();
	expect_written("");
}

static void a_screen_without_a_picture_has_nothing_to_restore(void **state)
{
	(void)state;
	bt_screen_begin(ends[1]);
	bt_screen_end();
	expect_written("");
}

static void a_signal_that_ends_the_program_restores_the_content_first(void **state)
{
	int status = 0;

	(void)state;
	pid_t pid = fork();
	if (!pid) {
		signal(SIGHUP, SIG_DFL);
		bt_screen_begin(ends[1]);
		bt_screen_show(bt_str("a"));
		raise(SIGHUP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
	expect_written(ENTER "\033[Ha\033[K\033[J" LEAVE);
}

static void handlers_are_those_from_before_once_it_ends(void **state)
{
	struct sigaction now;

	(void)state;
	signal(SIGHUP, SIG_IGN);
	bt_screen_begin(ends[1]);
	sigaction(SIGHUP, NULL, &now);
	assert_true(now.sa_handler != SIG_IGN);
	bt_screen_end();
	sigaction(SIGHUP, NULL, &now);
	assert_true(now.sa_handler == SIG_IGN);
	signal(SIGHUP, SIG_DFL);
}

static void a_file_is_no_terminal_and_has_the_default_size(void **state)
{
	(void)state;
	assert_false(bt_screen_works(ends[1]));
	assert_int_equal(bt_screen_size(ends[1]).columns, 80);
	assert_int_equal(bt_screen_size(ends[1]).rows, 24);
}

#define PIPE_TEST(test) cmocka_unit_test_setup_teardown(test, make_pipe, close_pipe)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PIPE_TEST(the_first_picture_enters_the_screen_and_the_end_leaves_it),
		PIPE_TEST(a_screen_without_a_picture_has_nothing_to_restore),
		PIPE_TEST(a_signal_that_ends_the_program_restores_the_content_first),
		PIPE_TEST(handlers_are_those_from_before_once_it_ends),
		PIPE_TEST(a_file_is_no_terminal_and_has_the_default_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
