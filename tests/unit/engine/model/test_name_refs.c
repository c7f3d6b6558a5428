/* SPDX-License-Identifier: Apache-2.0
 * The names that an owner holds: they live as long as somebody holds them, and are released together.
 */
#include "object_fixture.h"

static bool is_known(struct bt_intern *intern, const char *text)
{
	return bt_intern_find(intern, bt_str(text)) != BT_NAME_NONE;
}

static void names_go_when_their_owner_lets_them_go(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_name_refs one = {.intern = intern}, two = {.intern = intern};

	(void)state;
	bt_name_refs_add(&one, bt_str("alone"));
	uint32_t shared = bt_name_refs_add(&one, bt_str("shared"));
	bt_name_refs_add_name(&two, shared);
	assert_int_equal(bt_name_refs_add(&one, bt_str("")), BT_NAME_EMPTY);
	bt_name_refs_release(&one);
	assert_false(is_known(intern, "alone"));
	assert_true(is_known(intern, "shared"));
	assert_true(is_known(intern, "")); /* a predefined name stays */
	bt_name_refs_release(&two);
	assert_false(is_known(intern, "shared"));
	bt_name_refs_release(&two); /* nothing left to release */
	bt_intern_destroy(intern);
}

static void moved_objects_belong_to_the_new_owner(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_name_refs from = {.intern = intern}, to = {.intern = intern};

	(void)state;
	bt_name_refs_add(&to, bt_str("own"));
	bt_name_refs_add(&from, bt_str("moved"));
	bt_name_refs_move(&to, &from);
	assert_int_equal(from.n, 0);
	bt_name_refs_release(&from);
	assert_true(is_known(intern, "moved"));
	bt_name_refs_release(&to);
	assert_false(is_known(intern, "moved"));
	bt_intern_destroy(intern);
}

static void pinned_names_stay(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_name_refs keep = bt_name_refs_pinned(intern), owner = {.intern = intern};

	(void)state;
	bt_name_refs_add(&keep, bt_str("kept"));
	bt_name_refs_add_name(&keep, bt_name_refs_add(&owner, bt_str("pinned")));
	bt_name_refs_release(&keep);
	bt_name_refs_release(&owner);
	assert_true(is_known(intern, "kept") && is_known(intern, "pinned"));
	bt_intern_destroy(intern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_go_when_their_owner_lets_them_go),
		cmocka_unit_test(moved_objects_belong_to_the_new_owner),
		cmocka_unit_test(pinned_names_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
