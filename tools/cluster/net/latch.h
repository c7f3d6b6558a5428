/* SPDX-License-Identifier: Apache-2.0
 * A door that one thread waits at until another has opened it, once. When the wait is over nobody looks at
 * the latch any more, so it may lie on the waiter's stack.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/eventcount.h"
#include "engine/base/thread.h"

struct bt_latch {
	struct bt_eventcount park;
	struct bt_lock lock;
	uint32_t state; /* lock(lock): 0; 1: open; 2: and the opener has left */
};

void bt_latch_init(struct bt_latch *latch);
void bt_latch_fini(struct bt_latch *latch);

/* Context: any thread; at most once. What it wrote before is seen by the waiter. */
void bt_latch_open(struct bt_latch *latch);

/* Waits at most so long (BT_EVENTCOUNT_FOREVER). Context: blocks. Returns: whether it is open. */
bool bt_latch_wait(struct bt_latch *latch, int64_t limit_ns);
