/* SPDX-License-Identifier: Apache-2.0
 * Plays histories in child processes, and removes steps from failing ones.
 */
#include "minimize.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"

#define PATIENCE_S 20

void sim_limit_cpu(uint32_t seconds)
{
	const struct rlimit limit = {seconds, seconds + 1};

	setrlimit(RLIMIT_CPU, &limit);
}

static void write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, bytes, n);

		if (done <= 0) {
			_exit(2);
		}
		bytes += done;
		n -= (size_t)done;
	}
}

/* In the child: its first line is the invariant, the rest the message. */
BT_NORETURN static void play_and_tell(const struct sim_history *history, bool trace, int fd)
{
	sim_limit_cpu(PATIENCE_S);
	if (!trace) {
		/* While steps are removed, output of assertions is useless. */
		(void)!freopen("/dev/null", "w", stderr);
	}
	struct sim *sim = sim_play(history, trace);
	if (sim->failed) {
		write_all(fd, sim->invariant, strlen(sim->invariant));
		write_all(fd, "\n", 1);
		write_all(fd, sim->notes.ptr, sim->notes.len);
		write_all(fd, sim->message.ptr, sim->message.len);
	}
	_exit(0);
}

static void read_all(int fd, struct bt_buf *out)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0) {
		bt_buf_str(out, (struct bt_str){part, (size_t)n});
	}
}

struct sim_verdict sim_try(const struct sim_history *history, bool trace, struct bt_buf *out_message)
{
	struct sim_verdict verdict = {""};
	struct bt_buf shown = {0};
	int ends[2], status = 0;

	if (pipe(ends) != 0) {
		abort();
	}
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		play_and_tell(history, trace, ends[1]);
	}
	close(ends[1]);
	read_all(ends[0], &shown);
	close(ends[0]);
	waitpid(child, &status, 0);
	struct bt_str text = bt_buf_view(&shown);
	size_t line = bt_str_find(text, '\n', 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;

		snprintf(verdict.text, sizeof(verdict.text), "%s", hung ? "hang" : "crash");
	} else if (text.len) {
		snprintf(verdict.text, sizeof(verdict.text), "%.*s", (int)line, text.ptr);
	}
	if (out_message && line < text.len) {
		bt_buf_str(out_message, bt_str_sub(text, line + 1, text.len));
	}
	bt_buf_fini(&shown);
	return verdict;
}

/* The history without n steps, from from on. */
static struct sim_history without(const struct sim_history *history, uint32_t from, uint32_t n)
{
	struct sim_history shorter = {.seed = history->seed, .piped = history->piped};

	for (uint32_t i = 0; i < history->step_n; i++) {
		if (i < from || i >= from + n) {
			sim_history_add(&shorter, history->steps[i]);
		}
	}
	return shorter;
}

static bool take_out(struct sim_history *history, struct sim_verdict verdict, uint32_t from, uint32_t n)
{
	struct sim_history shorter = without(history, from, n);

	if (strcmp(sim_try(&shorter, false, NULL).text, verdict.text) != 0) {
		sim_history_fini(&shorter);
		return false;
	}
	sim_history_fini(history);
	*history = shorter;
	return true;
}

void sim_minimize(struct sim_history *history, struct sim_verdict verdict)
{
	uint32_t n = history->step_n / 2;
	bool any = true;

	while (n > 0) {
		any = false;
		for (uint32_t from = 0; from < history->step_n;) {
			if (take_out(history, verdict, from, n)) {
				any = true;
			} else {
				from += n;
			}
		}
		if (n > 1) {
			n /= 2;
		} else if (!any) {
			n = 0;
		}
	}
}
