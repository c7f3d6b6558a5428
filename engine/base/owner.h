/* SPDX-License-Identifier: Apache-2.0
 * The single writer of a state, asserted. Each mutating function asserts that the calling thread has claimed
 * the state. While it is unclaimed the assertion passes: the thread that creates, fills or frees the state
 * has exclusive access. Every build but Release checks; in Release it costs eight bytes per state.
 */
#pragma once

#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"

/* All zeroes: no thread has claimed it. */
struct bt_owner {
	_Atomic uintptr_t thread; /* private. atomic: the owner writes; assertions read, relaxed */
};

/* Makes the calling thread the single writer. Requires: no other thread has claimed it. */
void bt_owner_claim(struct bt_owner *owner);

/* Ends the calling thread's claim; another thread may claim it. Requires: the calling thread claimed it. */
void bt_owner_hand_over(struct bt_owner *owner);

/* Returns true when the calling thread has claimed it, or no thread has. Context: any thread. */
bool bt_owner_permits(const struct bt_owner *owner);

#define BT_OWNED_BY_THREAD(owner) BT_REQUIRE_HOT(bt_owner_permits(owner))
