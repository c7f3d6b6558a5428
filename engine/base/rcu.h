/* SPDX-License-Identifier: Apache-2.0
 * Read-copy-update: readers follow published pointers without waiting, and what a writer has replaced is
 * reclaimed once nobody can hold it any more. Threads of the pipeline register (liburcu's QSBR: reading costs
 * nothing, and they say when they hold nothing); anybody else visits (liburcu's memb flavour). One domain for
 * the whole process.
 *
 * A registered thread is online or offline. Online it may hold what bt_rcu_get gave it until its next
 * bt_rcu_quiescent; offline it holds nothing, and nobody waits for it. A thread that sleeps must be offline:
 * bt_eventcount_wait and all that wait by it (rings, bt_rcu_throttle, bt_rcu_drain) see to that themselves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/compiler.h"

/* Embedded in what is reclaimed. private to rcu.c while it is pending */
struct bt_rcu_head {
	void *link[2];	  /* liburcu's */
	uint64_t grace_n; /* begun before it was deferred */
	void (*reclaim)(struct bt_rcu_head *head);
	size_t bytes;
};

enum {
	BT_RCU_NAME_BYTES = 32 /* a reader's name with its NUL; longer ones are cut */
};

/* A zero means the default. */
struct bt_rcu_options {
	uint64_t backlog_n;	/* bt_rcu_throttle waits while more than this is pending (262,144) */
	uint64_t backlog_bytes; /* or more than this (256 MiB) */
	int64_t stall_ns;	/* a reader that reclaim has waited for this long is stalled (1 s) */
	/* Called once for each stall, from a thread of rcu.c, with a copy of the reader's name; must not
	 * defer. */
	void (*stalled)(void *context, const char *reader, int64_t held_ns);
	void *context;
};

struct bt_rcu_stats {
	uint64_t pending_n, pending_bytes; /* deferred and not reclaimed yet */
	uint64_t high_n, high_bytes;	   /* the most that was ever pending */
	uint64_t reclaimed_n;
	uint64_t grace_n;    /* grace periods */
	uint64_t throttle_n; /* how often bt_rcu_throttle had to wait */
	uint64_t stall_n;    /* stalls of readers */
};

/* Sets the options. Context: any thread; the limits hold at once, for everybody. */
void bt_rcu_configure(const struct bt_rcu_options *options);

/*
 * Makes the calling thread a reader, online. Context: a thread that is not registered; takes a lock.
 * Owns: end with bt_rcu_unregister in the same thread.
 */
void bt_rcu_register(const char *name);
void bt_rcu_unregister(void);
bool bt_rcu_is_registered(void);

/* This thread holds nothing that it got before. Context: registered and online; wait-free, nanoseconds. */
void bt_rcu_quiescent(void);

/* Around waits that are not by a park. offline says what bt_rcu_quiescent says. Context: registered. */
void bt_rcu_offline(void);
void bt_rcu_online(void);

/* For those who put a thread to sleep: offline if it is registered and online, and back as it was. */
bool bt_rcu_pause(void);
void bt_rcu_resume(bool was_online);

/* A read section of any thread, registered or not; they nest. No waiting inside. */
void bt_rcu_visit_begin(void);
void bt_rcu_visit_end(void);

/* Whether this thread may follow published pointers now: it is online or visits. */
bool bt_rcu_is_reading(void);

/* Whether any thread is a reader of either kind. If not, who becomes one finds what was published before the
 * call. Context: any thread; a full fence. */
bool bt_rcu_has_readers(void);

/* Publishes a pointer: *target is a T *_Atomic. EDGE rcu.pointer release: the object is whole before the
 * pointer. */
#define bt_rcu_publish(target, pointer) bt_store_release((target), (pointer))

/* The published pointer, valid as bt_rcu_is_reading says. EDGE rcu.pointer acquire: what it points to is
 * whole. */
#define bt_rcu_get(target) bt_load_acquire(target)

/*
 * Calls reclaim(head) in a thread of liburcu's after every reader of both kinds has given up what it may hold
 * now, in the order of the calls; at once and here while no thread is a reader of either kind, as in a
 * process with one thread. No published pointer leads to the object any more. The first call that has to wait
 * starts the threads. liburcu's lets 10 ms pass between its turns, so that a grace period serves many.
 * Context: any thread, also a reader or a reclaim function; lock-free but for waking. A reclaim function
 *	    does not visit.
 * Owns   : head until reclaim is called; bytes is what reclaiming it will free.
 */
void bt_rcu_defer(struct bt_rcu_head *head, void (*reclaim)(struct bt_rcu_head *head), size_t bytes);

/*
 * Back-pressure for writers: waits while more is pending than the limits allow, at least 10 ms.
 * Context: a writer that holds nothing from a read section, before it makes something new; neither visiting
 *	    nor in a reclaim function. Two loads when there is no need to wait.
 * Returns: false when timeout_ns (BT_EVENTCOUNT_FOREVER: none) passed and it is still more.
 */
bool bt_rcu_throttle(int64_t timeout_ns);

/* Waits until nothing is pending. Context: as for bt_rcu_throttle; writers have stopped. */
void bt_rcu_drain(void);

/* bt_rcu_drain, and ends the threads that reclaim, which the next bt_rcu_defer starts again.
 * Context: nobody else uses rcu.h meanwhile but to unregister. */
void bt_rcu_shutdown(void);

struct bt_rcu_stats bt_rcu_stats_read(void);
