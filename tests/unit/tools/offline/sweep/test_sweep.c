/* SPDX-License-Identifier: Apache-2.0
 * Sweeps: the answers of any number of processes, in order; and what becomes of workers that die.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "caught.h"
#include "engine/base/buf.h"
#include "tools/cli/command.h"
#include "tools/cli/interrupt.h"
#include "tools/offline/sweep/sweep.h"

struct asked {
	struct bt_buf answers; /* taken, one after the other */
	uint64_t next;
	uint64_t bad_ix; /* the question at which something happens */
	size_t bytes;	 /* of an answer */
	void (*happens)(void);
	pid_t caller;
};

static void answer(void *context, uint64_t ix, struct bt_buf *out)
{
	const struct asked *asked = context;

	if (asked->happens && ix == asked->bad_ix) {
		asked->happens();
	}
	bt_buf_printf(out, "%llu.", (unsigned long long)ix);
	while (out->len < asked->bytes) {
		bt_buf_char(out, (char)('a' + ix % 26));
	}
}

static void take(void *context, uint64_t ix, struct bt_str bytes)
{
	struct asked *asked = context;

	assert_int_equal(ix, asked->next++);
	bt_buf_str(&asked->answers, bytes);
}

static int sweep(struct asked *asked, uint64_t question_n, uint32_t job_n)
{
	asked->caller = getpid();
	return bt_sweep_run(&(struct bt_sweep){.command = "whatif",
		.question_n = question_n,
		.job_n = job_n,
		.answer = answer,
		.take = take,
		.context = asked});
}

static void no_process_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Of some bytes an answer. */
static void any_jobs_give_the_same(uint64_t question_n, size_t bytes)
{
	struct asked one = {.bytes = bytes};

	assert_int_equal(sweep(&one, question_n, 1), BT_EXIT_OK);
	for (uint32_t jobs = 2; jobs <= 7; jobs += 5) {
		struct asked more = {.bytes = bytes};

		assert_int_equal(sweep(&more, question_n, jobs), BT_EXIT_OK);
		assert_int_equal(more.next, question_n);
		assert_int_equal(more.answers.len, one.answers.len);
		assert_memory_equal(more.answers.ptr, one.answers.ptr, one.answers.len);
		bt_buf_fini(&more.answers);
		no_process_is_left();
	}
	bt_buf_fini(&one.answers);
}

static void answers_are_in_order_and_equal_for_any_number_of_jobs(void **state)
{
	(void)state;
	any_jobs_give_the_same(1000, 0);
	any_jobs_give_the_same(3, 0); /* fewer than workers */
}

static void answers_larger_than_a_pipe_arrive_whole(void **state)
{
	(void)state;
	any_jobs_give_the_same(15, (size_t)3 << 20);
}

static void no_questions_are_answered_by_nobody(void **state)
{
	struct asked asked = {0};

	(void)state;
	for (uint32_t jobs = 0; jobs < 3; jobs++) {
		assert_int_equal(sweep(&asked, 0, jobs), BT_EXIT_OK);
		assert_int_equal(asked.next, 0);
	}
}

static void kill_self(void)
{
	raise(SIGKILL);
}

static void end_self(void)
{
	_exit(0);
}

static void a_worker_that_dies_is_an_error(void **state)
{
	static const struct {
		void (*happens)(void);
		const char *says;
	} ways[] = {{kill_self, "worker process 2 of 3 was ended by signal 9 (Killed)"},
		{end_self, "worker process 2 of 3 ended with status 0 before its last answer"}};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (uint64_t bad_ix = 1; bad_ix < 100; bad_ix += 48) {
			struct asked asked = {.bad_ix = bad_ix - bad_ix % 3 + 1, .happens = ways[i].happens};

			caught_begin();
			int status = sweep(&asked, 100, 3);
			const char *said = caught_end();
			assert_int_equal(status, BT_EXIT_IO);
			assert_non_null(strstr(said, ways[i].says));
			assert_true(asked.next <= asked.bad_ix);
			bt_buf_fini(&asked.answers);
			no_process_is_left();
		}
	}
}

static void interrupt_caller(void)
{
	kill(getppid(), SIGINT);
	pause(); /* until it is killed */
}

static void an_interrupt_ends_all_workers(void **state)
{
	struct asked asked = {.bad_ix = 4, .happens = interrupt_caller};

	(void)state;
	bt_interrupt_install();
	assert_int_equal(sweep(&asked, 1000, 2), BT_EXIT_INTERRUPTED);
	assert_true(asked.next <= 4);
	bt_interrupt = 0;
	bt_buf_fini(&asked.answers);
	no_process_is_left();
}

static void interrupt_all(void)
{
	kill(0, SIGINT);
}

/* As a terminal does: workers do not die of it, and the caller reports an interrupt, not a dead worker. */
static void an_interrupt_of_the_whole_group_is_one(void **state)
{
	struct asked asked = {.bad_ix = 5, .happens = interrupt_all};
	int status;

	(void)state;
	pid_t group = fork();
	if (group == 0) {
		setpgid(0, 0);
		bt_interrupt_install();
		_exit(sweep(&asked, 1000000, 2));
	}
	while (waitpid(group, &status, 0) < 0 && errno == EINTR) {
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), BT_EXIT_INTERRUPTED);
}

static void the_default_is_at_least_one_job(void **state)
{
	(void)state;
	assert_in_range(bt_sweep_default_jobs(), 1, BT_SWEEP_JOBS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_in_order_and_equal_for_any_number_of_jobs),
		cmocka_unit_test(answers_larger_than_a_pipe_arrive_whole),
		cmocka_unit_test(no_questions_are_answered_by_nobody),
		cmocka_unit_test(a_worker_that_dies_is_an_error),
		cmocka_unit_test(an_interrupt_ends_all_workers),
		cmocka_unit_test(an_interrupt_of_the_whole_group_is_one),
		cmocka_unit_test(the_default_is_at_least_one_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
