/* SPDX-License-Identifier: Apache-2.0
 * Event counts over futex, and the asymmetric fence over membarrier.
 */
#include "engine/base/eventcount.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/time_types.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/testpoint.h"
#include "engine/base/rcu.h"

_Atomic uint32_t bt_fence_is_asymmetric;

static void register_membarrier(void)
{
	long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (known > 0 && known & MEMBARRIER_CMD_PRIVATE_EXPEDITED &&
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
		bt_store_release(&bt_fence_is_asymmetric, 1);
	}
}

static void register_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_membarrier);
}

/* A light half that ran before the choice was made was a full fence, which pairs with either heavy half. */
void bt_fence_heavy(void)
{
	register_once();
	if (!bt_load_relaxed(&bt_fence_is_asymmetric)) {
		bt_fence_full(); /* WHY: the light half is a full fence too */
		return;
	}
	bt_fence_compiler();
	while (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
		sched_yield(); /* the kernel is out of memory */
	}
	bt_fence_compiler();
}

void bt_eventcount_init(struct bt_eventcount *park)
{
	register_once();
	bt_store_relaxed(&park->armed, 0);
	bt_store_relaxed(&park->epoch, 0);
	bt_store_relaxed(&park->wakes, 0);
}

/*
 * A waker clears armed, then increments epoch. The key is read before armed is set, so a waker that saw this
 * thread's armed makes the key stale. A waker that cleared armed for an earlier waiter either has yet to
 * increment epoch, or did so before this thread checks its condition; then this thread sees the change.
 */
uint32_t bt_eventcount_prepare(struct bt_eventcount *park)
{
	/* EDGE park.epoch acquire: a reader of the new key sees the change that it was raised for. */
	uint32_t key = bt_load_acquire(&park->epoch);

	BT_TESTPOINT("park.prepare.before_armed");
	/* EDGE park.armed release: the key was read before, so a waker that sees armed increments epoch past
	 * the key. */
	bt_store_release(&park->armed, 1);
	bt_fence_heavy(); /* EDGE park.armed: armed is set before the caller checks its condition */
	BT_TESTPOINT("park.prepare.after_armed");
	return key;
}

/* Sleeps until epoch differs from key, or until the deadline on the monotonic clock. */
static bool sleep_on(struct bt_eventcount *park, uint32_t key, const struct __kernel_timespec *deadline)
{
	return syscall(SYS_futex, &park->epoch, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, key, deadline, NULL,
		       FUTEX_BITSET_MATCH_ANY) == 0 ||
	       errno != ETIMEDOUT;
}

bool bt_eventcount_wait(struct bt_eventcount *park, uint32_t key, int64_t timeout_ns)
{
	bool was_online = bt_rcu_pause();
	bool in_time;

	BT_TESTPOINT("park.wait.before_sleep");
	if (timeout_ns == BT_EVENTCOUNT_FOREVER) {
		in_time = sleep_on(park, key, NULL);
	} else {
		int64_t now_ns = bt_clock_monotonic_ns();
		int64_t deadline_ns = timeout_ns < INT64_MAX - now_ns ? now_ns + timeout_ns : INT64_MAX;
		struct __kernel_timespec deadline = {
			.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};

		in_time = timeout_ns > 0 && sleep_on(park, key, &deadline);
	}
	BT_TESTPOINT("park.wait.after_sleep");
	bt_rcu_resume(was_online);
	/* EDGE park.epoch acquire: sees changes made before the wake-up. */
	return bt_load_acquire(&park->epoch) != key || in_time;
}

void bt_eventcount_wake_armed(struct bt_eventcount *park)
{
	BT_TESTPOINT("park.wake.before_claim");
	/* EDGE park.armed acquire: every waiter cleared here has read its key before epoch is incremented. */
	if (!bt_exchange(&park->armed, 0)) {
		return; /* another waker cleared it, and increments epoch */
	}
	BT_TESTPOINT("park.wake.before_raise");
	bt_add(&park->epoch, 1); /* EDGE park.epoch release: publishes the change with the new epoch */
	bt_add_relaxed(&park->wakes, 1);
	BT_TESTPOINT("park.wake.before_futex");
	syscall(SYS_futex, &park->epoch, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
}
