/* SPDX-License-Identifier: Apache-2.0
 * A latch: a lock guards the state, an eventcount does the wait.
 */
#include "tools/cluster/net/latch.h"

#include "engine/base/clock.h"

void bt_latch_init(struct bt_latch *latch)
{
	bt_eventcount_init(&latch->park);
	bt_lock_init(&latch->lock);
	latch->state = 0;
}

void bt_latch_fini(struct bt_latch *latch)
{
	bt_lock_fini(&latch->lock);
}

static void set_state(struct bt_latch *latch, uint32_t state)
{
	bt_lock_acquire(&latch->lock);
	latch->state = state;
	bt_lock_release(&latch->lock);
}

static uint32_t state_of(struct bt_latch *latch)
{
	bt_lock_acquire(&latch->lock);
	uint32_t state = latch->state;

	bt_lock_release(&latch->lock);
	return state;
}

void bt_latch_open(struct bt_latch *latch)
{
	set_state(latch, 1);
	bt_eventcount_wake(&latch->park);
	set_state(latch, 2);
}

bool bt_latch_wait(struct bt_latch *latch, int64_t limit_ns)
{
	int64_t began_ns = bt_clock_monotonic_ns();

	while (!state_of(latch)) {
		uint32_t key = bt_eventcount_prepare(&latch->park);
		int64_t left_ns = limit_ns == BT_EVENTCOUNT_FOREVER
					  ? BT_EVENTCOUNT_FOREVER
					  : limit_ns - (bt_clock_monotonic_ns() - began_ns);

		if (state_of(latch)) {
			break;
		}
		if (left_ns <= 0) {
			return false;
		}
		bt_eventcount_wait(&latch->park, key, left_ns);
	}
	while (state_of(latch) != 2) {
		bt_thread_yield();
	}
	return true;
}
