/* SPDX-License-Identifier: Apache-2.0
 * An event count: a thread sleeps until somebody has changed what it waits for. The state itself (a ring, a
 * counter, a flag) lies elsewhere. The waiter looks at it between bt_eventcount_prepare and
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
 * A thread may wait for several things by one park. Wake-ups may come for nothing: look again after each.
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
		armed;		/* atomic: EDGE park.armed; somebody waits, or is about to */
	_Atomic uint32_t epoch; /* atomic: EDGE park.epoch; wake-ups so far, what the kernel compares */
	_Atomic uint64_t wakes; /* atomic: how often bt_eventcount_wake had somebody to wake */
};

/* Context: before any other thread sees it. There is nothing to free. */
void bt_eventcount_init(struct bt_eventcount *park);

/*
 * Says that this thread is about to wait: after it, a change that this thread does not see wakes it.
 * Context: any thread that is idle: a system call that interrupts the other threads (below a microsecond).
 * Returns: the key for bt_eventcount_wait. Not waiting after all needs no call.
 */
uint32_t bt_eventcount_prepare(struct bt_eventcount *park);

/*
 * Sleeps until somebody wakes the park after bt_eventcount_prepare gave key, or timeout_ns have passed.
 * Context : any thread that holds no pointer of a read section: it is offline while it sleeps (rcu.h).
 * Returns : false when the time was over; true else, also for nothing.
 */
bool bt_eventcount_wait(struct bt_eventcount *park, uint32_t key, int64_t timeout_ns);

/* private: the part of bt_eventcount_wake behind its load */
void bt_eventcount_wake_armed(struct bt_eventcount *park);

/*
 * The two halves of an asymmetric full fence (Linux's membarrier): two threads that each store, fence and
 * load what the other stored cannot both miss the other's store, if one of them used the heavy half. The
 * light half is nothing but a load where the kernel has membarrier, and a full fence elsewhere; the heavy
 * half is a system call.
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

/* Wakes all that wait. Context: any thread, after the change that they wait for; two loads for nobody. */
BT_INLINE void bt_eventcount_wake(struct bt_eventcount *park)
{
	bt_fence_light(); /* EDGE park.armed: the change, then the look at whether somebody waits */
	if (BT_UNLIKELY(bt_load_relaxed(&park->armed))) {
		bt_eventcount_wake_armed(park);
	}
}
