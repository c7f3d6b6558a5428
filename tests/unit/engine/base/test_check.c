/* SPDX-License-Identifier: Apache-2.0
 * Assertions: a failed one prints its place and text, and aborts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/base/check.h"

/* Breaks an assertion in a child; returns the signal that ended it. */
static int break_in_child(void (*broken)(int), char *out_text, size_t text_size)
{
	int ends[2], status = 0;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		broken(3);
		_Exit(0);
	}
	close(ends[1]);
	ssize_t got = read(ends[0], out_text, text_size - 1);
	out_text[got > 0 ? got : 0] = '\0';
	close(ends[0]);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void require_two(int number)
{
	BT_REQUIRE(number == 2);
}

static void require_two_hot(int number)
{
	BT_REQUIRE_HOT(number == 2);
}

static void invariant_two(int number)
{
	BT_INVARIANT(number == 2);
}

static void a_broken_requirement_prints_its_place_and_aborts(void **state)
{
	char text[512];

	(void)state;
	require_two(2);
	assert_int_equal(break_in_child(require_two, text, sizeof(text)), SIGABRT);
	assert_non_null(strstr(text, "test_check.c:"));
	assert_non_null(strstr(text, "requirement does not hold: number == 2"));
}

static void a_broken_invariant_aborts_where_invariants_are_on(void **state)
{
	char text[512];

	(void)state;
	invariant_two(2);
	assert_int_equal(break_in_child(invariant_two, text, sizeof(text)), BT_INVARIANTS ? SIGABRT : 0);
	assert_true(!BT_INVARIANTS || strstr(text, "invariant does not hold: number == 2"));
}

static void a_broken_requirement_of_a_hot_call_aborts_where_invariants_are_on(void **state)
{
	char text[512];

	(void)state;
	require_two_hot(2);
	assert_int_equal(break_in_child(require_two_hot, text, sizeof(text)), BT_INVARIANTS ? SIGABRT : 0);
	assert_true(!BT_INVARIANTS || strstr(text, "requirement does not hold: number == 2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broken_requirement_prints_its_place_and_aborts),
		cmocka_unit_test(a_broken_requirement_of_a_hot_call_aborts_where_invariants_are_on),
		cmocka_unit_test(a_broken_invariant_aborts_where_invariants_are_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
