/* SPDX-License-Identifier: Apache-2.0
 * The single writer of a state: which thread may write before a claim, during it, and after a hand-over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/owner.h"
#include "engine/base/thread.h"

struct question {
	struct bt_owner *owner;
	bool permitted;
};

static void check_from_thread(void *context)
{
	struct question *question = context;

	question->permitted = bt_owner_permits(question->owner);
}

static bool permits_another_thread(struct bt_owner *owner)
{
	struct question question = {.owner = owner};
	struct bt_thread *thread;

	assert_int_equal(bt_thread_start(&(struct bt_thread_options){.name = "other"}, check_from_thread,
				 &question, &thread, NULL),
		BT_OK);
	bt_thread_join(&thread);
	return question.permitted;
}

static void an_unclaimed_state_permits_every_thread(void **state)
{
	struct bt_owner owner = {0};

	(void)state;
	assert_true(bt_owner_permits(&owner));
	assert_true(permits_another_thread(&owner));
}

static void a_claimed_state_permits_its_thread_alone(void **state)
{
	struct bt_owner owner = {0};

	(void)state;
	bt_owner_claim(&owner);
	BT_OWNED_BY_THREAD(&owner);
	assert_true(bt_owner_permits(&owner));
	assert_false(permits_another_thread(&owner));
}

static void a_state_that_was_handed_over_permits_every_thread_again(void **state)
{
	struct bt_owner owner = {0};

	(void)state;
	bt_owner_claim(&owner);
	bt_owner_hand_over(&owner);
	assert_true(permits_another_thread(&owner));
	bt_owner_claim(&owner);
	assert_false(permits_another_thread(&owner));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unclaimed_state_permits_every_thread),
		cmocka_unit_test(a_claimed_state_permits_its_thread_alone),
		cmocka_unit_test(a_state_that_was_handed_over_permits_every_thread_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
