/* SPDX-License-Identifier: Apache-2.0
 * PodGroups: who is a member, what PreEnqueue says, and what is forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/flow/cycle/pod_groups.h"
#include "plugins/registry.h"

enum { SPACE = 3, OTHER_SPACE = 4, RING = 7, STAR = 8 };

enum gate { OPEN = 0, GATED };

/* What GangScheduling says of the group. */
static enum gate gate(const struct bt_pod_groups *groups, uint32_t namespace_, uint32_t name)
{
	struct bt_group_state group = bt_pod_groups_state(groups, namespace_, name);
	const struct bt_pod_env env = {.traits = BT_TRAIT_GROUP, .group = &group};

	return bt_plugin_at(bt_plugin_find(bt_str("GangScheduling")))->pre_enqueue(&env, NULL) ? GATED : OPEN;
}

static void assert_gate(const struct bt_pod_groups *groups, uint32_t name, enum gate want)
{
	assert_int_equal(gate(groups, SPACE, name), want);
}

static void a_gang_waits_for_its_object_and_for_enough_members(void **state)
{
	struct bt_pod_groups groups = {.tracked = true};

	(void)state;
	bt_pod_groups_join(&groups, SPACE, RING, 0);
	assert_gate(&groups, RING, GATED);
	assert_false(bt_pod_groups_apply(&groups, SPACE, RING, true, 2));
	assert_gate(&groups, RING, GATED);
	bt_pod_groups_join(&groups, SPACE, RING, 5);
	assert_gate(&groups, RING, OPEN);
	bt_pod_groups_leave(&groups, SPACE, RING, 0);
	assert_gate(&groups, RING, GATED);
	assert_true(bt_pod_groups_apply(&groups, SPACE, RING, true, 1));
	assert_gate(&groups, RING, OPEN);
	bt_pod_groups_fini(&groups);
}

static void a_basic_group_waits_for_its_object_only(void **state)
{
	struct bt_pod_groups groups = {.tracked = true};

	(void)state;
	assert_gate(&groups, RING, GATED);
	bt_pod_groups_apply(&groups, SPACE, RING, false, 0);
	assert_gate(&groups, RING, OPEN);
	assert_gate(&groups, STAR, GATED);
	bt_pod_groups_fini(&groups);
}

static void groups_of_one_name_in_two_namespaces_are_two(void **state)
{
	struct bt_pod_groups groups = {.tracked = true};

	(void)state;
	bt_pod_groups_apply(&groups, SPACE, RING, false, 0);
	assert_int_equal(gate(&groups, OTHER_SPACE, RING), GATED);
	bt_pod_groups_join(&groups, OTHER_SPACE, RING, 1);
	assert_int_equal(bt_pod_groups_find(&groups, SPACE, RING)->member_n, 0);
	assert_int_equal(bt_pod_groups_find(&groups, OTHER_SPACE, RING)->member_n, 1);
	bt_pod_groups_fini(&groups);
}

static void without_the_gate_a_gang_is_never_let_in(void **state)
{
	struct bt_pod_groups groups = {.tracked = false};

	(void)state;
	bt_pod_groups_apply(&groups, SPACE, RING, true, 1);
	bt_pod_groups_apply(&groups, SPACE, STAR, false, 0);
	assert_gate(&groups, RING, GATED);
	assert_gate(&groups, STAR, OPEN);
	bt_pod_groups_fini(&groups);
}

static void a_group_without_object_and_members_is_forgotten(void **state)
{
	struct bt_pod_groups groups = {.tracked = true};

	(void)state;
	assert_int_equal(bt_pod_groups_remove(&groups, SPACE, RING), BT_NOT_FOUND);
	for (uint32_t round = 0; round < 100; round++) {
		bt_pod_groups_apply(&groups, SPACE, 10 + round, true, 1);
		bt_pod_groups_join(&groups, SPACE, 10 + round, round);
		assert_int_equal(bt_pod_groups_remove(&groups, SPACE, 10 + round), BT_OK);
		assert_gate(&groups, 10 + round, GATED);
		assert_int_equal(bt_pod_groups_remove(&groups, SPACE, 10 + round), BT_NOT_FOUND);
		assert_non_null(bt_pod_groups_find(&groups, SPACE, 10 + round));
		bt_pod_groups_leave(&groups, SPACE, 10 + round, round);
		assert_null(bt_pod_groups_find(&groups, SPACE, 10 + round));
	}
	assert_int_equal(groups.group_n, 1);
	bt_pod_groups_fini(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_waits_for_its_object_and_for_enough_members),
		cmocka_unit_test(a_basic_group_waits_for_its_object_only),
		cmocka_unit_test(groups_of_one_name_in_two_namespaces_are_two),
		cmocka_unit_test(without_the_gate_a_gang_is_never_let_in),
		cmocka_unit_test(a_group_without_object_and_members_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
