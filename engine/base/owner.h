/* SPDX-License-Identifier: Apache-2.0
 * The one writer of a state, asserted. Each mutating function of a state asserts that the caller is the
 * thread that claimed it. Until a thread claims it, and after it was handed over, everything passes: the
 * thread that creates, fills or frees the state has it alone. Every build but Release checks; there it costs
 * eight bytes a state.
 */
#pragma once

#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"

/* All zeroes: no thread has claimed it. */
struct bt_owner {
	_Atomic uintptr_t thread; /* private. atomic: the owner writes; assertions read, relaxed */
};

/* The calling thread is the one writer from now on. Requires: no other thread has claimed it. */
void bt_owner_claim(struct bt_owner *owner);

/* The calling thread writes no more; another may claim it. Requires: the calling thread claimed it. */
void bt_owner_hand_over(struct bt_owner *owner);

/* Returns true when the calling thread has claimed it, or no thread has. Context: any thread. */
bool bt_owner_permits(const struct bt_owner *owner);

#define BT_OWNED_BY_THREAD(owner) BT_REQUIRE_HOT(bt_owner_permits(owner))
