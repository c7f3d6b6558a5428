/* SPDX-License-Identifier: Apache-2.0
 * Threads with a name and a CPU, and a lock for cold paths. Hot-path threads synchronize with rings and the
 * RCU pointer; a bt_lock is for start, stop, registration and misses of shared tables, never held across a
 * wait.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/compiler.h"
#include "engine/base/status.h"

/* The kernel's limit of a thread's name, with its NUL. */
#define BT_THREAD_NAME_BYTES 16

struct bt_thread;

struct bt_thread_options {
	const char *name;   /* for ps, top and reports; truncated to 15 bytes */
	bool pinned;	    /* runs on cpu alone; otherwise wherever the process may */
	uint32_t cpu;	    /* the kernel's CPU number, as in taskset */
	size_t stack_bytes; /* 0: the system's default */
	bool reads_rcu;	    /* registered with rcu.h while it runs, under its name, online */
};

/*
 * Starts a thread that calls run(context) and ends when that returns. All signals are blocked except SIGPROF,
 * for profilers; so blocking calls may return EINTR. A CPU that the system refuses (a container's cpuset) is
 * not a failure: the thread runs unpinned, and out_why reports it.
 * Context : any thread; allocates.
 * Returns : BT_OK; BT_INVALID (no name, or a stack smaller than the system allows), BT_IO (no more threads
 *           available), with the reason and the remedy appended to out_why (may be NULL).
 * Owns    : *out_thread ends in bt_thread_join.
 */
BT_MUST_CHECK enum bt_status bt_thread_start(const struct bt_thread_options *options,
	void (*run)(void *context), void *context, struct bt_thread **out_thread, struct bt_buf *out_why);

/* Waits for the thread's end, frees it, and sets *thread to NULL; NULL is ignored. The thread's writes are
 * visible afterwards. Context: any thread but itself; blocks. */
void bt_thread_join(struct bt_thread **thread);

/* The name of the calling thread; "main" for threads that were not started here. */
const char *bt_thread_name(void);

/* The highest frame of the calling thread's stack: all memory between the stack pointer and this belongs to
 * the thread. NULL for threads that were not started here. Context: any thread; a signal's handler. */
const void *bt_thread_stack_base(void);

/* Sets the process name in ps and top: the name of its first thread. Context: that thread. */
void bt_thread_name_process(const char *name);

/* The number of CPUs that the calling thread may run on (cpuset, taskset), at least 1. */
uint32_t bt_thread_usable_cpu_n(void);

/* Yields the CPU; for waits that are too long for bt_cpu_relax (atomic.h). */
void bt_thread_yield(void);

/* A mutex. Not recursive; the same function acquires and releases it. */
struct bt_lock {
	pthread_mutex_t mutex; /* private */
};

#define BT_LOCK_INIT                                                                                         \
	{                                                                                                    \
		PTHREAD_MUTEX_INITIALIZER                                                                    \
	}

void bt_lock_init(struct bt_lock *lock);
void bt_lock_fini(struct bt_lock *lock);
void bt_lock_acquire(struct bt_lock *lock);
void bt_lock_release(struct bt_lock *lock);
