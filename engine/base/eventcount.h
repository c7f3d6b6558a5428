/* SPDX-License-Identifier: Apache-2.0
 * An event count: a thread sleeps until another thread has changed a condition. The condition's state (a
 * ring, a counter, a flag) is stored elsewhere. The waiter checks it between bt_eventcount_prepare and
 * bt_eventcount_wait, and the thread that changes it calls bt_eventcount_wake afterwards. No wake-up is lost.
 * A wake-up without a waiter costs one load.
 *
 *	while (!there_is_work()) {
 *		uint32_t key = bt_eventcount_prepare(&park);
 *
 *		if (there_is_work() || !bt_eventcount_wait(&park, key, timeout_ns)) {
 *			break;
 *		}
 *	}
 *
 * A thread may wait for several conditions with one event count. Wake-ups may be spurious: check the
 * condition after each.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/compiler.h"

#define BT_EVENTCOUNT_FOREVER INT64_MAX

struct bt_eventcount {
	alignas(BT_CACHELINE) _Atomic uint32_t
		armed;		/* atomic: EDGE park.armed; there is a waiter, or soon will be */
	_Atomic uint32_t epoch; /* atomic: EDGE park.epoch; number of wake-ups; the futex word */
	_Atomic uint64_t wakes; /* atomic: how often bt_eventcount_wake found a waiter */
};

/* Context: before it is shared. Needs no cleanup. */
void bt_eventcount_init(struct bt_eventcount *park);

/*
 * Announces that this thread is about to wait: a later change that this thread does not see wakes it.
 * Context: an idle thread: makes a system call that interrupts the other threads (below a microsecond).
 * Returns: the key for bt_eventcount_wait. No call is needed to cancel.
 */
uint32_t bt_eventcount_prepare(struct bt_eventcount *park);

/*
 * Sleeps until a wake-up after bt_eventcount_prepare returned key, or until timeout_ns have passed.
 * Context : any thread that holds no pointer of a read section: it is offline while it sleeps (rcu.h).
 * Returns : false on timeout; else true, also for spurious wake-ups.
 */
bool bt_eventcount_wait(struct bt_eventcount *park, uint32_t key, int64_t timeout_ns);

/* private: the slow path of bt_eventcount_wake */
void bt_eventcount_wake_armed(struct bt_eventcount *park);

/*
 * The two halves of an asymmetric full fence (Linux's membarrier): when two threads each store, fence and
 * load the other's word, they cannot both miss the other's store if one of them used the heavy half. The
 * light half is only a load where the kernel has membarrier, and a full fence elsewhere; the heavy half is a
 * system call.
 */
extern _Atomic uint32_t
	bt_fence_is_asymmetric; /* private: set once, by the first bt_eventcount_init or bt_fence_heavy */

BT_INLINE void bt_fence_light(void)
{
	if (BT_LIKELY(bt_load_relaxed(&bt_fence_is_asymmetric))) {
		bt_fence_compiler();
	} else {
		bt_fence_full(); /* WHY: the other half is a full fence too */
	}
}

void bt_fence_heavy(void);

/* Wakes all waiters. Context: any thread, after the change of the condition; two loads without waiters. */
BT_INLINE void bt_eventcount_wake(struct bt_eventcount *park)
{
	bt_fence_light(); /* EDGE park.armed: the change comes before the check for waiters */
	if (BT_UNLIKELY(bt_load_relaxed(&park->armed))) {
		bt_eventcount_wake_armed(park);
	}
}
