/* SPDX-License-Identifier: Apache-2.0
 * The address of a thread-local variable identifies a thread.
 */
#include "engine/base/owner.h"

static uintptr_t this_thread(void)
{
	static _Thread_local char mark;

	return (uintptr_t)&mark;
}

void bt_owner_claim(struct bt_owner *owner)
{
	BT_REQUIRE(bt_owner_permits(owner));
	bt_store_relaxed(&owner->thread, this_thread());
}

void bt_owner_hand_over(struct bt_owner *owner)
{
	BT_REQUIRE(bt_load_relaxed(&owner->thread) == this_thread());
	bt_store_relaxed(&owner->thread, (uintptr_t)0);
}

bool bt_owner_permits(const struct bt_owner *owner)
{
	uintptr_t thread = bt_load_relaxed(&owner->thread);

	return thread == 0 || thread == this_thread();
}
