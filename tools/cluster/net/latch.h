/* SPDX-License-Identifier: Apache-2.0
 * A one-shot latch: one thread waits until another opens it. After the wait no thread accesses the latch, so
 * it may be on the waiter's stack.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/eventcount.h"
#include "engine/base/thread.h"

struct bt_latch {
	struct bt_eventcount park;
	struct bt_lock lock;
	uint32_t state; /* lock(lock): 0; 1: open; 2: the opener has finished */
};

void bt_latch_init(struct bt_latch *latch);
void bt_latch_fini(struct bt_latch *latch);

/* Context: any thread; at most once. The waiter sees all earlier writes of the opener. */
void bt_latch_open(struct bt_latch *latch);

/* Waits at most limit_ns (or BT_EVENTCOUNT_FOREVER). Context: blocks. Returns: whether it is open. */
bool bt_latch_wait(struct bt_latch *latch, int64_t limit_ns);
