/* SPDX-License-Identifier: Apache-2.0
 * A sweep: forks, reads, delivers in order, reaps.
 */
#include "tools/offline/sweep/sweep.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/topo.h"
#include "tools/cli/command.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"
#include "tools/offline/sweep/frames.h"

#define LOOK_MS 100 /* between two looks at the interrupt and the progress */

struct sweep_worker {
	pid_t pid;
	int fd;	 /* -1: closed */
	int how; /* once its pipe is closed: how it ended, as waitpid has it */
	struct bt_frames frames;
};

struct running {
	const struct bt_sweep *sweep;
	struct sweep_worker *workers;
	struct pollfd *polls;
	uint32_t worker_n, job_n;
	uint64_t next; /* the question whose answer is delivered next */
};

uint32_t bt_sweep_default_jobs(void)
{
	struct bt_topo *topo;
	struct bt_buf why = {0};
	uint32_t n = 1;

	if (bt_topo_discover(&topo, &why) == BT_OK) {
		const struct bt_topo_machine machine = bt_topo_machine(topo);

		n = machine.usable_cpu_n;
		n = machine.quota_n && machine.quota_n < n ? machine.quota_n : n;
		bt_topo_destroy(topo);
	}
	bt_buf_fini(&why);
	return n == 0 ? 1 : n < BT_SWEEP_JOBS_MAX ? n : BT_SWEEP_JOBS_MAX;
}

/* ---- in this process ---- */

static void note_progress(const struct bt_sweep *sweep, uint64_t done)
{
	if (sweep->progress) {
		bt_progress_update(sweep->progress, done);
	}
}

static int answer_here(const struct bt_sweep *sweep)
{
	struct bt_buf answer = {0};

	for (uint64_t i = 0; i < sweep->question_n && !bt_interrupt_pending(); i++) {
		bt_buf_clear(&answer);
		sweep->answer(sweep->context, i, &answer);
		sweep->take(sweep->context, i, bt_buf_view(&answer));
		note_progress(sweep, i + 1);
	}
	bt_buf_fini(&answer);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : BT_EXIT_OK;
}

/* ---- a worker ---- */

/* The caller handles interrupts. A terminal sends them to all processes. */
static void become_worker(pid_t caller)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	/* The caller may have died before this call. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != caller) {
		_exit(BT_EXIT_IO);
	}
}

static void work(const struct bt_sweep *sweep, uint64_t first, uint64_t step, int fd)
{
	struct bt_buf answer = {0};

	for (uint64_t i = first; i < sweep->question_n; i += step) {
		bt_buf_clear(&answer);
		sweep->answer(sweep->context, i, &answer);
		if (!bt_frame_write(fd, i, bt_buf_view(&answer))) {
			_exit(BT_EXIT_IO);
		}
	}
	_exit(bt_frame_write(fd, BT_FRAME_LAST, (struct bt_str){0}) ? BT_EXIT_OK : BT_EXIT_IO);
}

static int cannot_start(const struct running *r, const char *what)
{
	bt_message("berth %s: worker process %u of %u cannot be started: %s: %s; give a lower --jobs\n",
		r->sweep->command, r->worker_n + 1, r->job_n, what, strerror(errno));
	return BT_EXIT_IO;
}

static int start_worker(struct running *r)
{
	int fds[2];
	pid_t caller = getpid();

	if (pipe(fds) != 0) {
		return cannot_start(r, "pipe");
	}
	pid_t pid = fork();
	if (pid < 0) {
		int status = cannot_start(r, "fork");

		close(fds[0]);
		close(fds[1]);
		return status;
	}
	if (pid == 0) {
		become_worker(caller);
		close(fds[0]);
		for (uint32_t i = 0; i < r->worker_n; i++) {
			close(r->workers[i].fd);
		}
		work(r->sweep, r->worker_n, r->job_n, fds[1]);
	}
	close(fds[1]);
	r->workers[r->worker_n++] = (struct sweep_worker){.pid = pid, .fd = fds[0]};
	return BT_EXIT_OK;
}

/* ---- reading ---- */

/* The number of open pipes, which come first in polls, each with its worker's index in ixs. */
static uint32_t list_open(const struct running *r, uint32_t *ixs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->worker_n; i++) {
		if (r->workers[i].fd >= 0) {
			r->polls[n] = (struct pollfd){.fd = r->workers[i].fd, .events = POLLIN};
			ixs[n++] = i;
		}
	}
	return n;
}

/* Delivers the answers that have come, up to the first one that has not. */
static void deliver(struct running *r)
{
	const struct bt_sweep *sweep = r->sweep;
	struct bt_frame frame;

	while (r->next < sweep->question_n &&
		bt_frames_take(&r->workers[r->next % r->job_n].frames, &frame)) {
		BT_REQUIRE(frame.number == r->next);
		sweep->take(sweep->context, r->next++, frame.bytes);
	}
	note_progress(sweep, r->next);
}

static void reap(struct sweep_worker *worker)
{
	close(worker->fd);
	worker->fd = -1;
	while (waitpid(worker->pid, &worker->how, 0) < 0 && errno == EINTR) {
	}
}

/* Returns: false when the worker has died. */
static bool read_worker(struct sweep_worker *worker)
{
	long n = bt_frames_read(&worker->frames, worker->fd);

	if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN))) {
		return true;
	}
	reap(worker);
	return worker->how == 0;
}

/* Has the worker of the next answer ended without it? */
static bool lacks_next(const struct running *r)
{
	return r->next < r->sweep->question_n && r->workers[r->next % r->job_n].fd < 0;
}

/* Reads until every pipe is closed, or a worker has died. */
static int read_all(struct running *r)
{
	uint32_t *ixs = bt_mem_zalloc(r->job_n, sizeof(*ixs)), n;
	int status = BT_EXIT_OK;

	while (status == BT_EXIT_OK && !bt_interrupt_pending() && (n = list_open(r, ixs)) > 0) {
		int ready = poll(r->polls, n, LOOK_MS);

		for (uint32_t i = 0; ready > 0 && i < n; i++) {
			if (r->polls[i].revents && !read_worker(&r->workers[ixs[i]])) {
				status = BT_EXIT_IO;
			}
		}
		deliver(r);
		if (lacks_next(r)) {
			status = BT_EXIT_IO;
		}
		if (r->sweep->progress) {
			bt_progress_poll(r->sweep->progress);
		}
	}
	bt_mem_free(ixs);
	return bt_interrupt_pending() ? BT_EXIT_INTERRUPTED : status;
}

/* ---- the end ---- */

static void diagnose(const struct running *r, uint32_t ix)
{
	const int how = r->workers[ix].how;
	struct bt_buf text = {0};

	if (WIFSIGNALED(how)) {
		bt_buf_printf(&text, "was ended by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
	} else {
		bt_buf_printf(&text, "ended with status %d before its last answer", WEXITSTATUS(how));
	}
	bt_message("berth %s: worker process %u of %u %s, so there is no result; "
		   "if memory was short, give a lower --jobs\n",
		r->sweep->command, ix + 1, r->job_n, text.ptr);
	bt_buf_fini(&text);
}

/* After its answers a worker sends the last frame, and then nothing. */
static bool has_ended_well(struct sweep_worker *worker)
{
	struct bt_frame frame;

	return worker->how == 0 && bt_frames_take(&worker->frames, &frame) && frame.number == BT_FRAME_LAST;
}

/* Reports the first worker that has died, or has not sent everything. */
static int check_workers(struct running *r)
{
	for (uint32_t i = 0; i < r->worker_n; i++) {
		if (r->workers[i].fd < 0 && r->workers[i].how != 0) {
			diagnose(r, i);
			return BT_EXIT_IO;
		}
	}
	if (lacks_next(r)) {
		diagnose(r, (uint32_t)(r->next % r->job_n));
		return BT_EXIT_IO;
	}
	for (uint32_t i = 0; i < r->worker_n; i++) {
		if (!has_ended_well(&r->workers[i])) {
			diagnose(r, i);
			return BT_EXIT_IO;
		}
	}
	return BT_EXIT_OK;
}

static void end_workers(struct running *r)
{
	for (uint32_t i = 0; i < r->worker_n; i++) {
		if (r->workers[i].fd >= 0) {
			kill(r->workers[i].pid, SIGKILL);
			reap(&r->workers[i]);
		}
		bt_frames_fini(&r->workers[i].frames);
	}
	bt_mem_free(r->workers);
	bt_mem_free(r->polls);
}

int bt_sweep_run(const struct bt_sweep *sweep)
{
	uint32_t job_n = sweep->job_n ? sweep->job_n : bt_sweep_default_jobs();
	struct running r = {.sweep = sweep};
	int status = BT_EXIT_OK;

	BT_REQUIRE(job_n <= BT_SWEEP_JOBS_MAX && sweep->answer && sweep->take);
	r.job_n = job_n < sweep->question_n ? job_n : (uint32_t)sweep->question_n;
	if (r.job_n <= 1) {
		return answer_here(sweep);
	}
	r.workers = bt_mem_zalloc(r.job_n, sizeof(*r.workers));
	r.polls = bt_mem_zalloc(r.job_n, sizeof(*r.polls));
	while (status == BT_EXIT_OK && r.worker_n < r.job_n) {
		status = start_worker(&r);
	}
	if (status == BT_EXIT_OK) {
		status = read_all(&r);
		status = status == BT_EXIT_INTERRUPTED ? status : check_workers(&r);
	}
	end_workers(&r);
	return status;
}
