/* SPDX-License-Identifier: Apache-2.0
 * Read-copy-update: readers follow published pointers without waiting, and replaced objects are reclaimed
 * after a grace period. Threads of the pipeline register (liburcu's QSBR: reading is free, and they announce
 * quiescent states); other threads visit (liburcu's memb flavour). One domain for the whole process.
 *
 * A registered thread is online or offline. Online it may hold pointers from bt_rcu_get until its next
 * bt_rcu_quiescent; offline it holds none, and grace periods do not wait for it. A thread that sleeps must be
 * offline: bt_eventcount_wait and its users (rings, bt_rcu_throttle, bt_rcu_drain) handle that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/compiler.h"

/* Embedded in reclaimed objects. private to rcu.c while it is pending */
struct bt_rcu_head {
	void *link[2];	  /* liburcu's */
	uint64_t grace_n; /* grace periods begun before it was deferred */
	void (*reclaim)(struct bt_rcu_head *head);
	size_t bytes;
};

enum {
	BT_RCU_NAME_BYTES = 32 /* a reader's name with its NUL; longer ones are truncated */
};

/* A zero means the default. */
struct bt_rcu_options {
	uint64_t backlog_n;	/* bt_rcu_throttle waits while more than this is pending (262,144) */
	uint64_t backlog_bytes; /* or more than this (256 MiB) */
	int64_t stall_ns;	/* a reader that delays reclaim for this long is stalled (1 s) */
	/* Called once for each stall, from a thread of rcu.c, with a copy of the reader's name; must not
	 * defer. */
	void (*stalled)(void *context, const char *reader, int64_t held_ns);
	void *context;
};

struct bt_rcu_stats {
	uint64_t pending_n, pending_bytes; /* deferred and not reclaimed yet */
	uint64_t high_n, high_bytes;	   /* peak of pending */
	uint64_t reclaimed_n;
	uint64_t grace_n;    /* grace periods */
	uint64_t throttle_n; /* how often bt_rcu_throttle had to wait */
	uint64_t stall_n;    /* stalls of readers */
};

/* Sets the options. Context: any thread; the limits take effect immediately, for all threads. */
void bt_rcu_configure(const struct bt_rcu_options *options);

/*
 * Makes the calling thread a reader, online. Context: a thread that is not registered; takes a lock.
 * Owns: end with bt_rcu_unregister in the same thread.
 */
void bt_rcu_register(const char *name);
void bt_rcu_unregister(void);
bool bt_rcu_is_registered(void);

/*
 * Quiescent state: this thread holds no earlier pointers. Context: registered and online; wait-free,
 * nanoseconds.
 */
void bt_rcu_quiescent(void);

/* Around waits without an event count. Offline implies a quiescent state. Context: registered. */
void bt_rcu_offline(void);
void bt_rcu_online(void);

/* For code that blocks a thread: goes offline if it is registered and online, and restores that state. */
bool bt_rcu_pause(void);
void bt_rcu_resume(bool was_online);

/* A read section of any thread, registered or not; they nest. No waiting inside. */
void bt_rcu_visit_begin(void);
void bt_rcu_visit_end(void);

/* May this thread follow published pointers now? It is online or visits. */
bool bt_rcu_is_reading(void);

/* Is any thread a reader of either kind? If not, a new reader sees all publications before the call. Context:
 * any thread; a full fence. */
bool bt_rcu_has_readers(void);

/* Publishes a pointer: *target is a T *_Atomic. EDGE rcu.pointer release: the object is initialized before
 * the pointer is stored. */
#define bt_rcu_publish(target, pointer) bt_store_release((target), (pointer))

/* The published pointer, valid as by bt_rcu_is_reading. EDGE rcu.pointer acquire: the object is
 * initialized. */
#define bt_rcu_get(target) bt_load_acquire(target)

/*
 * Calls reclaim(head) in liburcu's thread after a grace period of both reader kinds, in the order of the
 * calls; immediately, in this thread, while there are no readers of either kind, as in a single-threaded
 * process. No published pointer may refer to the object. The first call that has to wait starts the threads.
 * liburcu's thread waits 10 ms between batches, so that one grace period serves many.
 * Context: any thread, also a reader or a reclaim function; lock-free except for wake-ups. A reclaim function
 *	    does not visit.
 * Owns   : head until reclaim is called; bytes: the memory that reclaim frees.
 */
void bt_rcu_defer(struct bt_rcu_head *head, void (*reclaim)(struct bt_rcu_head *head), size_t bytes);

/*
 * Back-pressure for writers: while the backlog exceeds the limits, waits for at least 10 ms.
 * Context: a writer that holds nothing from a read section, before it allocates new objects; neither visiting
 *	    nor in a reclaim function. Two loads if it need not wait.
 * Returns: false when timeout_ns (BT_EVENTCOUNT_FOREVER: none) passed and the backlog is still too large.
 */
bool bt_rcu_throttle(int64_t timeout_ns);

/* Waits until nothing is pending. Context: as for bt_rcu_throttle; writers have stopped. */
void bt_rcu_drain(void);

/* bt_rcu_drain, then ends the reclaiming threads; the next bt_rcu_defer restarts them.
 * Context: no concurrent use of rcu.h except to unregister. */
void bt_rcu_shutdown(void);

struct bt_rcu_stats bt_rcu_stats_read(void);
