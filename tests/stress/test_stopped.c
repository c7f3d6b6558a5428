/* SPDX-License-Identifier: Apache-2.0
 * A thread of a pipeline that makes no progress, because a debugger has stopped it or the system does not
 * schedule it: it is reported, the others are not, and no data is lost when it continues.
 */
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/testpoint.h"
#include "engine/base/thread.h"
#include "lab.h"

enum { NODES = 20, PODS = 30, THREADS = 4, STALL_NS = 30000000 };

/* The threads, and where each can be held during work. */
static const struct {
	const char *name, *point;
} threads[THREADS] = {{"ingest", "pipeline.ingest"}, {"publish", "pipeline.publish"},
	{"schedule", "pipeline.decide"}, {"bind", "stopped.test.bind"}};

static void feed_all(struct lab *lab)
{
	char name[16];

	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(lab, name);
	}
	for (int i = 0; i < PODS; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		lab_pod(lab, name, "");
	}
}

static void bind(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	(void)context;
	BT_TESTPOINT("stopped.test.bind");
	bt_pipeline_bound(pipeline, request->handle);
}

static bool is_stalled(const struct lab *lab, const char *name)
{
	struct bt_pipeline_thread seen[THREADS];

	assert_int_equal(bt_pipeline_threads(lab->pipeline, seen, THREADS), THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		if (strcmp(seen[i].name, name) == 0) {
			return seen[i].stalled;
		}
	}
	fail();
	return false;
}

/* Waits until only that thread is reported. On a busy machine another may be reported for a while. */
static void await_stall_of(const struct lab *lab, const char *name)
{
	for (uint32_t alone = 0; !alone;) {
		alone = is_stalled(lab, name);
		for (uint32_t i = 0; i < THREADS; i++) {
			alone &= strcmp(threads[i].name, name) == 0 || !is_stalled(lab, threads[i].name);
		}
		bt_thread_yield();
	}
}

static bool all_wait(const struct lab *lab)
{
	struct bt_pipeline_thread seen[THREADS];

	bt_pipeline_threads(lab->pipeline, seen, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		if (seen[i].state != BT_THREAD_WAITS) {
			return false;
		}
	}
	return true;
}

/* An idle pipeline of four threads. */
static void begin(struct lab *lab)
{
	struct bt_pipeline_options options = lab_options(lab);
	struct bt_buf why = {0};

	options.limits = bt_limits_default();
	options.limits.stall_ns = STALL_NS;
	options.limits.decisions = 64;
	options.sink.decided = NULL;
	options.binder.bind = bind;
	lab_begin(lab, &options);
	assert_int_equal(bt_pipeline_start(lab->pipeline, &why), BT_OK);
	while (!all_wait(lab)) {
		bt_thread_yield();
	}
}

/* All pods that were fed have been decided and bound. */
static void end(struct lab *lab)
{
	struct bt_pipeline_decision *decision;

	assert_true(bt_pipeline_stop(lab->pipeline, BT_END_DRAIN, 20 * LAB_SECOND));
	for (int i = 0; i < PODS; i++) {
		decision = bt_pipeline_poll(lab->pipeline, 0);
		assert_non_null(decision);
		assert_int_equal(decision->outcome, BT_PLACED);
		bt_pipeline_decision_free(decision);
	}
	assert_null(bt_pipeline_poll(lab->pipeline, BT_FOREVER));
	lab_assert_sets(lab, 0, 0, PODS);
	lab_end(lab);
}

/* ---- a debugger ---- */

/* The kernel's ID of the thread with this name. */
static pid_t find_thread(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	pid_t found = 0;

	assert_non_null(tasks);
	for (struct dirent *entry; !found && (entry = readdir(tasks));) {
		char path[300], comm[64] = "";
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");

		if (file && fgets(comm, sizeof(comm), file)) {
			comm[strcspn(comm, "\n")] = 0;
			found = strcmp(comm, name) == 0 ? (pid_t)atoi(entry->d_name) : 0;
		}
		if (file) {
			fclose(file);
		}
	}
	closedir(tasks);
	return found;
}

struct debugger {
	pid_t id;
	int from_thread[2], to_thread[2]; /* pipes */
};

/* The debugger process: stops the thread, reports that, and continues it on request. */
static void debug(const struct debugger *d, pid_t thread)
{
	int status;
	char byte = 0;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) ||
		waitpid(thread, &status, __WALL) != thread || write(d->from_thread[1], &byte, 1) != 1 ||
		read(d->to_thread[0], &byte, 1) != 1) {
		_exit(1);
	}
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
	_exit(0);
}

/* Returns: false when the system does not allow debugging another process. */
static bool stop_thread(struct debugger *d, pid_t thread)
{
	char byte;

	assert_true(pipe(d->from_thread) == 0 && pipe(d->to_thread) == 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	d->id = fork();
	assert_true(d->id >= 0);
	if (d->id == 0) {
		debug(d, thread);
	}
	close(d->from_thread[1]);
	return read(d->from_thread[0], &byte, 1) == 1;
}

static void let_go(struct debugger *d)
{
	int status;
	char byte = 0;

	(void)!write(d->to_thread[1], &byte, 1);
	assert_int_equal(waitpid(d->id, &status, 0), d->id);
	close(d->from_thread[0]);
	close(d->to_thread[0]);
	close(d->to_thread[1]);
}

/* Stops it while it sleeps, so that it holds no lock of the C library. */
static void a_thread_that_a_debugger_has_stopped_is_named_and_loses_nothing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < THREADS; i++) {
		struct lab lab = {.now_ns = 1};
		struct debugger debugger;

		begin(&lab);
		bool stopped = stop_thread(&debugger, find_thread(threads[i].name));
		feed_all(&lab);
		if (stopped) {
			await_stall_of(&lab, threads[i].name);
		}
		let_go(&debugger);
		end(&lab);
		if (!stopped) {
			skip();
		}
	}
}

/* ---- held during work ---- */

static void a_thread_that_is_held_at_work_is_named_and_loses_nothing(void **state)
{
	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		struct lab lab = {.now_ns = 1};

		begin(&lab);
		bt_testpoint_hold(threads[i].point, 2);
		feed_all(&lab);
		assert_true(bt_testpoint_await_held(20 * LAB_SECOND));
		await_stall_of(&lab, threads[i].name);
		bt_testpoint_off();
		end(&lab);
	}
}

static void idle_threads_are_not_named(void **state)
{
	struct lab lab = {.now_ns = 1};
	int64_t end_ns = bt_clock_monotonic_ns() + 4 * STALL_NS;

	(void)state;
	begin(&lab);
	while (bt_clock_monotonic_ns() < end_ns) {
		bt_thread_yield();
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		while (is_stalled(&lab, threads[i].name)) {
			bt_thread_yield(); /* temporary: the machine is busy */
		}
	}
	feed_all(&lab);
	end(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_a_debugger_has_stopped_is_named_and_loses_nothing),
		cmocka_unit_test(a_thread_that_is_held_at_work_is_named_and_loses_nothing),
		cmocka_unit_test(idle_threads_are_not_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
