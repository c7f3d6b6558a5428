/* SPDX-License-Identifier: Apache-2.0
 * Threads by pthreads. A thread waits until its creator has pinned it, so that it allocates near its CPU and
 * the creator sees failures.
 */
#include "engine/base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/rcu.h"

/* Far more than Linux has. */
#define CPU_MAX 65535

struct bt_thread {
	pthread_t id;			 /* owner: the joiner */
	void (*run)(void *context);	 /* init: */
	void *context;			 /* init: */
	char name[BT_THREAD_NAME_BYTES]; /* init: */
	bool reads_rcu;			 /* init: */
	struct bt_lock start;		 /* held by the creator until the thread may run */
};

static _Thread_local const char *current_name = "main";
static _Thread_local void *stack_base; /* NULL: a thread not started here */

static void *thread_enter(void *argument)
{
	struct bt_thread *thread = argument;

	bt_lock_acquire(&thread->start);
	bt_lock_release(&thread->start);
	current_name = thread->name;
	stack_base = __builtin_frame_address(0);
	pthread_setname_np(pthread_self(), thread->name);
	if (thread->reads_rcu) {
		bt_rcu_register(thread->name);
	}
	thread->run(thread->context);
	if (thread->reads_rcu) {
		bt_rcu_unregister();
	}
	return NULL;
}

static void thread_explain(
	struct bt_buf *out_why, const char *name, const char *what, int error, const char *remedy)
{
	if (out_why) {
		bt_buf_printf(out_why, "thread %s: %s: %s; %s", name, what, strerror(error), remedy);
	}
}

/* Pins the thread. Returns 0 or an errno value. */
static int pin(pthread_t id, uint32_t cpu)
{
	if (cpu > CPU_MAX) {
		return EINVAL;
	}
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = bt_mem_zalloc(1, bytes);
	CPU_SET_S(cpu, bytes, set);
	int error = pthread_setaffinity_np(id, bytes, set);
	bt_mem_free(set);
	return error;
}

static void explain_refusal(const struct bt_thread *thread, uint32_t cpu, int refusal, struct bt_buf *out_why)
{
	if (out_why) {
		bt_buf_printf(out_why,
			"thread %s: CPU %u was refused: %s; it runs on any CPU of the process: give the "
			"process that CPU (cpuset of the container, taskset) or choose another",
			thread->name, cpu, strerror(refusal));
	}
}

/* Creates the thread, which waits until it is pinned. Returns 0 or an errno value. */
static int create(struct bt_thread *thread, const pthread_attr_t *attributes,
	const struct bt_thread_options *options, struct bt_buf *out_why)
{
	sigset_t all, before;

	sigfillset(&all);
	sigdelset(&all, SIGPROF);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bt_lock_acquire(&thread->start);
	int error = pthread_create(&thread->id, attributes, thread_enter, thread);
	if (!error && options->pinned) {
		int refusal = pin(thread->id, options->cpu);

		if (refusal) {
			explain_refusal(thread, options->cpu, refusal, out_why);
		}
	}
	bt_lock_release(&thread->start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

enum bt_status bt_thread_start(const struct bt_thread_options *options, void (*run)(void *context),
	void *context, struct bt_thread **out_thread, struct bt_buf *out_why)
{
	pthread_attr_t attributes;

	BT_REQUIRE(run && out_thread);
	if (!options->name || !options->name[0]) {
		thread_explain(out_why, "?", "no name", EINVAL, "give it one");
		return BT_INVALID;
	}
	pthread_attr_init(&attributes);
	if (options->stack_bytes && pthread_attr_setstacksize(&attributes, options->stack_bytes)) {
		thread_explain(out_why, options->name, "its stack is too small or not whole pages", EINVAL,
			"request 64 KiB or more");
		pthread_attr_destroy(&attributes);
		return BT_INVALID;
	}
	struct bt_thread *thread = bt_mem_zalloc(1, sizeof(*thread));
	*thread = (struct bt_thread){.run = run, .context = context, .reads_rcu = options->reads_rcu};
	strncpy(thread->name, options->name, sizeof(thread->name) - 1);
	bt_lock_init(&thread->start);
	int error = create(thread, &attributes, options, out_why);
	pthread_attr_destroy(&attributes);
	if (error) {
		thread_explain(out_why, thread->name, "could not be started", error,
			"start fewer, or raise the limit (ulimit -u, pids.max of the cgroup)");
		bt_lock_fini(&thread->start);
		bt_mem_free(thread);
		return BT_IO;
	}
	*out_thread = thread;
	return BT_OK;
}

void bt_thread_join(struct bt_thread **thread)
{
	if (*thread) {
		BT_REQUIRE(pthread_join((*thread)->id, NULL) == 0);
		bt_lock_fini(&(*thread)->start);
		bt_mem_free(*thread);
		*thread = NULL;
	}
}

void bt_thread_name_process(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

const char *bt_thread_name(void)
{
	return current_name;
}

const void *bt_thread_stack_base(void)
{
	return stack_base;
}

uint32_t bt_thread_usable_cpu_n(void)
{
	/* The kernel rejects a set that is smaller than its own. */
	for (uint32_t cpus = 1024; cpus <= 1u << 20; cpus *= 2) {
		size_t bytes = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *set = bt_mem_zalloc(1, bytes);
		bool done = sched_getaffinity(0, bytes, set) == 0;
		int n = done ? CPU_COUNT_S(bytes, set) : 0;

		bt_mem_free(set);
		if (done) {
			return n > 0 ? (uint32_t)n : 1;
		}
		if (errno != EINVAL) {
			break;
		}
	}
	return 1;
}

void bt_thread_yield(void)
{
	sched_yield();
}

void bt_lock_init(struct bt_lock *lock)
{
	BT_REQUIRE(pthread_mutex_init(&lock->mutex, NULL) == 0);
}

void bt_lock_fini(struct bt_lock *lock)
{
	BT_REQUIRE(pthread_mutex_destroy(&lock->mutex) == 0);
}

void bt_lock_acquire(struct bt_lock *lock)
{
	BT_REQUIRE(pthread_mutex_lock(&lock->mutex) == 0);
}

void bt_lock_release(struct bt_lock *lock)
{
	BT_REQUIRE(pthread_mutex_unlock(&lock->mutex) == 0);
}
