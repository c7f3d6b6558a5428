/* SPDX-License-Identifier: Apache-2.0
 * PodGroups: members, PreEnqueue's messages, and removal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/flow/cycle/pod_groups.h"
#include "plugins/registry.h"

enum { SPACE = 3, OTHER_SPACE = 4, RING = 7, STAR = 8 };

enum gate { OPEN = 0, GATED };

/* GangScheduling's PreEnqueue result for the group. */
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

/* ---- trees ---- */

/* A tree: the composite train has the composite cars, which has ring and star, and the PodGroup engine. */
struct tree {
	struct bt_intern *intern;
	struct bt_pod_groups groups;
	uint32_t space;
};

static void tree_begin(struct tree *t)
{
	struct bt_gates gates = {.release = bt_release_default()};

	gates.on[BT_GATE_GENERIC_WORKLOAD] = gates.on[BT_GATE_COMPOSITE_POD_GROUP] = true;
	t->intern = bt_intern_create();
	t->space = bt_intern_hold(t->intern, bt_str("space"));
	bt_pod_groups_init(&t->groups, t->intern, &gates);
	assert_true(bt_pod_groups_have_trees(&t->groups));
}

static void tree_end(struct tree *t)
{
	bt_pod_groups_fini(&t->groups);
	bt_intern_destroy(t->intern);
}

static uint32_t name(struct tree *t, const char *text)
{
	return bt_intern_hold(t->intern, bt_str(text));
}

static void composite(struct tree *t, const char *own, const char *parent, int32_t min_count)
{
	assert_false(
		bt_pod_groups_apply_composite(&t->groups, t->space, name(t, own), min_count > 0, min_count));
	bt_pod_groups_place(&t->groups,
		bt_pod_groups_number(
			&t->groups, bt_pod_groups_find_composite(&t->groups, t->space, name(t, own))),
		bt_str(parent), 0);
}

static const struct bt_pod_group *leaf(struct tree *t, const char *own)
{
	return bt_pod_groups_find(&t->groups, t->space, name(t, own));
}

static void pod_group(struct tree *t, const char *own, const char *parent, int64_t creation_ns)
{
	assert_false(bt_pod_groups_apply(&t->groups, t->space, name(t, own), true, 2));
	bt_pod_groups_place(
		&t->groups, bt_pod_groups_number(&t->groups, leaf(t, own)), bt_str(parent), creation_ns);
}

static void grow(struct tree *t)
{
	pod_group(t, "star", "cars", 7);
	pod_group(t, "ring", "cars", 7);
	composite(t, "cars", "train", 1);
	pod_group(t, "engine", "train", 5);
	composite(t, "train", "", 2);
}

static void assert_root(struct tree *t, const char *of, const char *want)
{
	const struct bt_pod_group *root = bt_pod_groups_root(&t->groups, leaf(t, of));

	if (!want) {
		assert_null(root);
		return;
	}
	assert_non_null(root);
	assert_int_equal(root->name, name(t, want));
}

static void a_tree_has_a_root_once_all_objects_above_a_group_are_there(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	pod_group(&t, "ring", "cars", 0);
	assert_root(&t, "ring", NULL);
	composite(&t, "cars", "train", 1);
	assert_root(&t, "ring", NULL);
	composite(&t, "train", "", 1);
	assert_root(&t, "ring", "train");
	assert_int_equal(bt_pod_groups_remove_composite(&t.groups, t.space, name(&t, "cars")), BT_OK);
	assert_root(&t, "ring", NULL);
	assert_int_equal(bt_pod_groups_remove(&t.groups, t.space, name(&t, "ring")), BT_OK);
	/* cars has no references any more. */
	assert_null(bt_pod_groups_find_composite(&t.groups, t.space, name(&t, "cars")));
	tree_end(&t);
}

static bool is_complete(struct tree *t, const char *own)
{
	return bt_pod_groups_state(&t->groups, t->space, name(t, own)).tree_is_complete;
}

static void a_group_below_five_composites_waits_for_ever(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	composite(&t, "c1", "", 0);
	composite(&t, "c2", "c1", 0);
	composite(&t, "c3", "c2", 0);
	composite(&t, "c4", "c3", 0);
	assert_false(bt_pod_groups_apply(&t.groups, t.space, name(&t, "ring"), true, 0));
	bt_pod_groups_place(&t.groups, bt_pod_groups_number(&t.groups, leaf(&t, "ring")), bt_str("c4"), 0);
	assert_true(is_complete(&t, "ring"));
	composite(&t, "c0", "", 0);
	bt_pod_groups_place(&t.groups,
		bt_pod_groups_number(
			&t.groups, bt_pod_groups_find_composite(&t.groups, t.space, name(&t, "c1"))),
		bt_str("c0"), 0);
	assert_root(&t, "ring", "c0");
	assert_false(is_complete(&t, "ring"));
	tree_end(&t);
}

static void groups_that_are_their_own_ancestors_have_no_root(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	composite(&t, "train", "cars", 1);
	composite(&t, "cars", "train", 1);
	pod_group(&t, "ring", "cars", 0);
	assert_root(&t, "ring", NULL);
	tree_end(&t);
}

static void leaves_are_ordered_by_creation_and_then_by_name(void **state)
{
	static const char *const want[] = {"ring", "star", "engine"};
	struct tree t;
	size_t n;

	(void)state;
	tree_begin(&t);
	grow(&t);
	const uint32_t *leaves = bt_pod_groups_leaves(&t.groups,
		bt_pod_groups_number(&t.groups, bt_pod_groups_root(&t.groups, leaf(&t, "star"))), &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(bt_pod_groups_at(&t.groups, leaves[i])->name, name(&t, want[i]));
	}
	tree_end(&t);
}

static void a_tree_waits_for_as_many_groups_as_it_needs(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	grow(&t);
	bt_pod_groups_join(&t.groups, t.space, name(&t, "engine"), 0);
	bt_pod_groups_join(&t.groups, t.space, name(&t, "engine"), 1);
	bt_pod_groups_join(&t.groups, t.space, name(&t, "ring"), 2);
	assert_int_equal(gate(&t.groups, t.space, name(&t, "engine")), GATED);
	bt_pod_groups_join(&t.groups, t.space, name(&t, "ring"), 3);
	assert_int_equal(gate(&t.groups, t.space, name(&t, "engine")), OPEN);
	assert_int_equal(gate(&t.groups, t.space, name(&t, "star")), OPEN);
	bt_pod_groups_leave(&t.groups, t.space, name(&t, "engine"), 0);
	assert_int_equal(gate(&t.groups, t.space, name(&t, "ring")), GATED);
	tree_end(&t);
}

static void pods_go_with_the_highest_group_that_goes_together(void **state)
{
	struct bt_group_terms terms = {.priority = 9};
	struct tree t;
	int32_t priority = 0;

	(void)state;
	tree_begin(&t);
	grow(&t);
	bt_pod_groups_set_terms(&t.groups,
		bt_pod_groups_number(
			&t.groups, bt_pod_groups_find_composite(&t.groups, t.space, name(&t, "train"))),
		&terms);
	assert_null(bt_pod_groups_unit(&t.groups, leaf(&t, "ring"), &priority));
	assert_int_equal(priority, 9);
	terms = (struct bt_group_terms){.priority = 1, .together = true};
	bt_pod_groups_set_terms(&t.groups, bt_pod_groups_number(&t.groups, leaf(&t, "ring")), &terms);
	assert_ptr_equal(bt_pod_groups_unit(&t.groups, leaf(&t, "ring"), &priority), leaf(&t, "ring"));
	bt_pod_groups_set_terms(&t.groups,
		bt_pod_groups_number(
			&t.groups, bt_pod_groups_find_composite(&t.groups, t.space, name(&t, "cars"))),
		&terms);
	assert_int_equal(bt_pod_groups_unit(&t.groups, leaf(&t, "ring"), &priority)->name, name(&t, "cars"));
	assert_int_equal(priority, 9);
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_waits_for_its_object_and_for_enough_members),
		cmocka_unit_test(a_basic_group_waits_for_its_object_only),
		cmocka_unit_test(groups_of_one_name_in_two_namespaces_are_two),
		cmocka_unit_test(without_the_gate_a_gang_is_never_let_in),
		cmocka_unit_test(a_group_without_object_and_members_is_forgotten),
		cmocka_unit_test(a_tree_has_a_root_once_all_objects_above_a_group_are_there),
		cmocka_unit_test(a_group_below_five_composites_waits_for_ever),
		cmocka_unit_test(groups_that_are_their_own_ancestors_have_no_root),
		cmocka_unit_test(leaves_are_ordered_by_creation_and_then_by_name),
		cmocka_unit_test(a_tree_waits_for_as_many_groups_as_it_needs),
		cmocka_unit_test(pods_go_with_the_highest_group_that_goes_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
